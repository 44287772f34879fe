//! What an adapter prints beside the protocol: the log of one run, masked, bounded, in a file of its own.
//!
//! Invariants: no value of an environment variable that is named like a secret is written; a log never grows over its limit.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::runtime::{Level, LogLine};

/// The most bytes of a log.
const MOST: usize = 1 << 20;
/// The longest line that is kept whole.
const LINE: usize = 8 << 10;
/// Lines that are remembered for error sentences.
const TAIL: usize = 40;
/// Logs that are kept, the newest.
const KEPT: usize = 200;

/// The log of one run; clones write to the same.
#[derive(Clone, Debug)]
pub struct RunLog(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    mask: Mask,
    path: Option<PathBuf>,
    file: Option<File>,
    written: usize,
    tail: VecDeque<String>,
    /// Bytes of a line that is not at its end yet.
    open: Vec<u8>,
    /// Who reads along.
    reader: Option<UnboundedSender<LogLine>>,
}

impl RunLog {
    /// A log in a directory, or in memory alone where none can be written.
    pub(super) fn open(dir: Option<&Path>, name: &str) -> Self {
        let path = dir.and_then(|dir| {
            std::fs::create_dir_all(dir).ok()?;
            prune(dir);
            Some(dir.join(format!("{name}-{}.log", unique())))
        });
        Self(Arc::new(Mutex::new(Inner {
            mask: Mask::of_environment(),
            path,
            file: None,
            written: 0,
            tail: VecDeque::new(),
            open: Vec::new(),
            reader: None,
        })))
    }

    /// Its file, once something was written.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let inner = self.inner();
        inner.path.clone().filter(|_| inner.file.is_some())
    }

    /// Takes bytes as they come.
    pub(super) fn bytes(&self, bytes: &[u8]) {
        let mut inner = self.inner();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            // Of a line without end only the beginning is kept.
            let room = LINE.saturating_sub(inner.open.len());
            inner.open.extend(part.iter().take(room));
            if part.ends_with(b"\n") {
                inner.close();
            }
        }
    }

    /// Takes text of dover's own or of the protocol.
    pub(super) fn text(&self, text: &str) {
        let mut inner = self.inner();
        inner.close();
        for line in text.lines() {
            inner.line(line);
        }
    }

    /// What comes from now on, for one reader.
    pub(super) fn follow(&self) -> UnboundedReceiver<LogLine> {
        let (reader, lines) = mpsc::unbounded_channel();
        self.inner().reader = Some(reader);
        lines
    }

    /// The last line that says something.
    pub(super) fn last(&self) -> Option<String> {
        let mut inner = self.inner();
        inner.close();
        let said = inner.tail.iter().rev().find(|line| !line.trim().is_empty());
        said.map(|line| line.trim().chars().take(200).collect())
    }

    /// Text without secrets.
    pub(super) fn masked(&self, text: &str) -> String {
        self.inner().mask.text(text)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Ends the line that is being read.
    fn close(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.open);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        self.line(text.trim_end());
    }

    fn line(&mut self, line: &str) {
        let line = self.mask.text(line);
        if self.written < MOST {
            self.written += line.len() + 1;
            let more = if self.written >= MOST {
                "\n… the log is cut here\n"
            } else {
                "\n"
            };
            if self.file.is_none() {
                self.file = self.path.as_ref().and_then(|path| File::create(path).ok());
            }
            // A full disk must not end the run; the tail is still in memory.
            if let Some(file) = &mut self.file {
                let _ = file.write_all(format!("{line}{more}").as_bytes());
            }
        }
        let told = LogLine {
            level: Level::of(&line),
            text: line.clone(),
        };
        // A reader that went away needs no more.
        self.reader = self.reader.take().filter(|it| it.send(told).is_ok());
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(line);
    }
}

/// A name that no other run has.
fn unique() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{time}-{}-{count}", std::process::id())
}

/// Removes the oldest logs; their names begin with the time within a name, so the files' own time decides.
fn prune(dir: &Path) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    let mut logs: Vec<_> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .filter(|(_, path)| path.extension().is_some_and(|ext| ext == "log"))
        .collect();
    logs.sort();
    let many = logs.len().saturating_sub(KEPT);
    for (_, path) in logs.into_iter().take(many) {
        let _ = std::fs::remove_file(path);
    }
}

/// Values that must not be written.
#[derive(Clone, Debug, Default)]
struct Mask(Vec<String>);

impl Mask {
    /// Values of environment variables whose names say that they are secret.
    fn of_environment() -> Self {
        Self::of(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }))
    }

    fn of(variables: impl Iterator<Item = (String, String)>) -> Self {
        const WORDS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];
        // A short value would blot out ordinary words.
        const SHORTEST: usize = 8;
        let secret = |name: &str| {
            let name = name.to_uppercase();
            WORDS.iter().any(|word| name.contains(word))
        };
        let values =
            variables.filter(|(name, value)| secret(name) && value.trim().len() >= SHORTEST);
        Self(values.map(|(_, value)| value.trim().to_owned()).collect())
    }

    fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            if text.contains(secret.as_str()) {
                text.replace(secret.as_str(), "***")
            } else {
                text
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_bounded_and_its_tail_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let log = RunLog::open(Some(dir.path()), "x");
        assert_eq!(log.path(), None);
        log.bytes(b"first\nhalf");
        log.bytes(b" a line\n\n");
        assert_eq!(log.last().as_deref(), Some("half a line"));
        let path = log.path().unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "first\nhalf a line\n\n"
        );
        let flood = vec![b'x'; LINE * 3];
        for _ in 0..MOST / LINE + 10 {
            log.bytes(&flood);
            log.bytes(b"\n");
        }
        log.bytes(b"the end");
        assert_eq!(log.last().as_deref(), Some("the end"));
        let size = usize::try_from(path.metadata().unwrap().len()).unwrap();
        assert!(size < MOST + LINE + 100, "{size}");
    }

    #[test]
    fn secrets_of_the_environment_are_masked() {
        let variables = [
            ("MY_API_KEY", "sk-1234567"),
            ("SHORT_KEY", "abc"),
            ("PATH", "/usr/bin"),
        ];
        let mask = Mask::of(
            variables
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        assert_eq!(
            mask.text("key sk-1234567 in /usr/bin abc"),
            "key *** in /usr/bin abc"
        );
    }
}
