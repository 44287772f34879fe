//! Copying a text: handed to the terminal by its own sequence (OSC 52), through tmux or GNU screen where one stands between, and written
//! to a file of the person's own.
//!
//! No terminal answers whether it took a copy. So nothing here claims that one arrived: the sentence says what was done, and the file has
//! the text in any case. Non-goal: pasting.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;
use tempfile::NamedTempFile;
use tokio::process::Command;
use tokio::time::timeout;

/// Terminals drop longer ones, in base64, and do not say so.
const MOST: usize = 74_994;
/// What GNU screen passes on in one piece.
const PIECE: usize = 240;
/// How long tmux may take.
const TMUX: Duration = Duration::from_secs(2);

/// How a text is copied here.
#[derive(Clone, Debug)]
pub struct Clipboard {
    /// The file that has what was copied last; none where there is no place for it.
    pub file: Option<PathBuf>,
    /// The terminal is to have it too.
    pub terminal: bool,
}

/// What stands between dover and the clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    /// A terminal.
    Plain,
    /// tmux.
    Tmux,
    /// GNU screen.
    Screen,
    /// Nothing that takes a copy, and why.
    None(String),
}

impl Clipboard {
    fn way(&self, variable: impl Fn(&str) -> Option<String>) -> Way {
        let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let term = variable("TERM").unwrap_or_default();
        match term.as_str() {
            _ if !self.terminal => Way::None("copy_to_file_only is set in config.toml".to_owned()),
            _ if set("TMUX") => Way::Tmux,
            _ if set("STY") => Way::Screen,
            "" | "dumb" | "linux" => {
                Way::None(format!("this terminal, TERM={term}, takes no copies"))
            }
            _ => Way::Plain,
        }
    }

    /// Where a copy goes from here, in a sentence; whether the terminal has part in it.
    #[must_use]
    pub fn told(&self) -> (String, bool) {
        let by = match self.way(|name| std::env::var(name).ok()) {
            Way::Plain => "by the terminal (OSC 52)".to_owned(),
            Way::Tmux => "through tmux".to_owned(),
            Way::Screen => "through GNU screen (OSC 52)".to_owned(),
            Way::None(why) => return (format!("{}: {why}", self.place("into")), false),
        };
        (format!("{by}, {}", self.place("and into")), true)
    }

    fn place(&self, into: &str) -> String {
        match &self.file {
            Some(file) => format!("{into} {}", file.display()),
            None => "into no file, for want of a directory".to_owned(),
        }
    }

    /// Copies a text; `write` sends a sequence to the terminal.
    ///
    /// # Errors
    /// A sentence, when the text is nowhere.
    pub(super) async fn copy(
        &self,
        text: &str,
        write: impl FnOnce(&str) -> io::Result<()>,
    ) -> Result<String, String> {
        let kept = match self.file.as_deref() {
            Some(file) => keep(text, file)
                .map(|()| file)
                .map_err(|error| format!("{} cannot be written: {error}", file.display())),
            None => Err("there is no directory for it; set DOVER_DATA".to_owned()),
        };
        let sent = match self.way(|name| std::env::var(name).ok()) {
            Way::Tmux => match kept {
                Ok(file) if load(file).await => {
                    Ok("given to tmux, for its buffer and the terminal's clipboard")
                }
                _ => send(text, &Way::Tmux, write),
            },
            Way::None(why) => Err(why),
            way => send(text, &way, write),
        };
        let count = match text.chars().count() {
            1 => "1 character".to_owned(),
            many => format!("{many} characters"),
        };
        match (sent, kept) {
            (Ok(sent), Ok(file)) => Ok(format!("{count} {sent}; also in {}", file.display())),
            (Ok(sent), Err(fault)) => Ok(format!("{count} {sent}, not to a file: {fault}")),
            (Err(why), Ok(file)) => {
                Ok(format!("{count} written to {} only: {why}", file.display()))
            }
            (Err(why), Err(fault)) => Err(format!("Nothing is copied: {why}, and {fault}")),
        }
    }
}

/// Writes the text where nobody else may read it, whole or not at all.
fn keep(text: &str, file: &Path) -> io::Result<()> {
    let dir = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut fresh = NamedTempFile::new_in(dir)?;
    fresh.write_all(text.as_bytes())?;
    fresh.persist(file).map_err(|error| error.error)?;
    Ok(())
}

/// Gives tmux a file as its newest buffer and has it tell the terminal. Unlike a sequence that is sent through it, this works as tmux is
/// configured when nobody configures it, and has no limit.
async fn load(file: &Path) -> bool {
    let words = [
        OsStr::new("load-buffer"),
        OsStr::new("-w"),
        file.as_os_str(),
    ];
    let tmux = Command::new("tmux")
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .status();
    matches!(timeout(TMUX, tmux).await, Ok(Ok(status)) if status.success())
}

fn send(
    text: &str,
    way: &Way,
    write: impl FnOnce(&str) -> io::Result<()>,
) -> Result<&'static str, String> {
    let sequence = sequence(text, way).ok_or("it is more than terminals copy")?;
    write(&sequence).map_err(|error| format!("the terminal does not take it: {error}"))?;
    Ok("sent to the terminal's clipboard")
}

/// What has a terminal copy the text; none if it is too long for one.
fn sequence(text: &str, way: &Way) -> Option<String> {
    let mut osc = String::new();
    CopyToClipboard::to_clipboard_from(text)
        .write_ansi(&mut osc)
        .ok()?;
    let body = osc.strip_suffix("\x1b\\").unwrap_or(&osc);
    if body.len() > MOST + "\x1b]52;c;".len() {
        return None;
    }
    // Every terminal knows the bell as an end, and for GNU screen the other end would be its own.
    let plain = format!("{body}\x07");
    Some(match way {
        Way::Plain | Way::None(_) => plain,
        // One is heard with `set-clipboard on`, the other with `allow-passthrough on`; with both it is copied twice, to the same end.
        Way::Tmux => {
            let inner = plain.replace('\x1b', "\x1b\x1b");
            format!("{plain}\x1bPtmux;{inner}\x1b\\")
        }
        Way::Screen => {
            let pieces = plain.as_bytes().chunks(PIECE).map(String::from_utf8_lossy);
            pieces.fold(String::new(), |all, piece| {
                all + "\x1bP" + &piece + "\x1b\\"
            })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_wrapped_for_what_stands_between() {
        // RFC 4648, section 10: "foobar" is "Zm9vYmFy".
        let plain = "\x1b]52;c;Zm9vYmFy\x07";
        let table = [
            (Way::Plain, plain.to_owned()),
            (
                Way::Tmux,
                format!("{plain}\x1bPtmux;\x1b\x1b]52;c;Zm9vYmFy\x07\x1b\\"),
            ),
            (Way::Screen, format!("\x1bP{plain}\x1b\\")),
        ];
        for (way, expected) in table {
            assert_eq!(sequence("foobar", &way), Some(expected), "{way:?}");
        }
    }

    #[test]
    fn screen_gets_pieces_that_join_to_the_whole() {
        let text = "foobar".repeat(100);
        let whole = sequence(&text, &Way::Plain).unwrap();
        let pieces = sequence(&text, &Way::Screen).unwrap();
        let pieces: Vec<&str> = pieces
            .split_terminator("\x1b\\")
            .map(|piece| piece.strip_prefix("\x1bP").unwrap())
            .collect();
        // 7 before, 800 of base64, the bell: 808 in pieces of 240.
        assert_eq!(pieces.len(), 4);
        assert!(pieces.iter().all(|piece| piece.len() <= 240));
        assert_eq!(pieces.concat(), whole);
    }

    #[test]
    fn what_is_too_long_is_not_sent() {
        // 56,244 bytes are 74,992 characters of base64; three more are 74,996.
        assert!(sequence(&"x".repeat(56_244), &Way::Plain).is_some());
        assert_eq!(sequence(&"x".repeat(56_247), &Way::Plain), None);
    }

    #[test]
    fn the_way_is_told_by_the_environment() {
        let way = |terminal: bool, set: &[(&str, &str)]| {
            let clipboard = Clipboard {
                file: None,
                terminal,
            };
            clipboard.way(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        let none = |way: &Way| matches!(way, Way::None(_));
        assert_eq!(way(true, &[("TERM", "xterm-256color")]), Way::Plain);
        let tmux = [("TERM", "tmux-256color"), ("TMUX", "/tmp/x,1,0")];
        assert_eq!(way(true, &tmux), Way::Tmux);
        let screen = [("TERM", "screen"), ("STY", "1.pts-0"), ("TMUX", "")];
        assert_eq!(way(true, &screen), Way::Screen);
        assert!(none(&way(true, &[("TERM", "linux")])));
        assert!(none(&way(true, &[("TERM", "dumb")])));
        assert!(none(&way(false, &tmux)));
    }

    fn copied(clipboard: &Clipboard, text: &str) -> (Result<String, String>, String) {
        let mut sent = String::new();
        let threads = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let told = threads.block_on(clipboard.copy(text, |sequence| {
            sent.push_str(sequence);
            Ok(())
        }));
        (told, sent)
    }

    #[test]
    fn the_file_has_the_text_and_is_ones_own() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("new/clipboard");
        let clipboard = Clipboard {
            file: Some(file.clone()),
            terminal: false,
        };
        let (told, sent) = copied(&clipboard, "päckchen");
        let told = told.unwrap();
        assert!(told.starts_with("8 characters written to "), "{told}");
        assert!(told.contains(&file.display().to_string()), "{told}");
        assert_eq!(sent, "");
        assert_eq!(fs::read_to_string(&file).unwrap(), "päckchen");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_text_that_is_nowhere_is_said_so() {
        let dir = tempfile::tempdir().unwrap();
        let stands = dir.path().join("stands");
        fs::write(&stands, "a file where a directory is needed").unwrap();
        let clipboard = Clipboard {
            file: Some(stands.join("clipboard")),
            terminal: false,
        };
        let told = copied(&clipboard, "x").0.unwrap_err();
        assert!(told.starts_with("Nothing is copied"), "{told}");
        assert!(told.contains("cannot be written"), "{told}");
    }
}
