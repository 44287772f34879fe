//! One adapter process: started in a process group of its own, asked one thing at a time, heard line by line.
//!
//! Invariants: whatever becomes of a call, the group ends with its host, so no process is left behind; every wait has a limit; a line
//! has a limit; what fails is told apart (process, protocol, framework, entry). Dropping the future of a wait loses nothing: the next
//! one goes on from there. Not here: what the answers mean for a run.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use futures::StreamExt as _;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, FramedRead, LinesCodec, LinesCodecError};

use super::error::{AdapterError, Place, meaning, raised};
use super::log::RunLog;
use super::wire::{self, Failure, Line, Notice};

/// How an adapter is started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What a person calls it.
    pub name: String,
    /// The entry that it imports; empty where it has none.
    pub entry: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub dir: PathBuf,
    /// Variables beside dover's own environment.
    pub env: Vec<(String, OsString)>,
    /// Where the run's log is kept.
    pub logs: Option<PathBuf>,
    /// What to do when the program is not there.
    pub mend: String,
}

/// How long an adapter may take, and how much it may say.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For an answer that needs no model, the imports of a framework included.
    pub answer: Duration,
    /// For silence while the team works.
    pub silence: Duration,
    /// The most bytes of a line.
    pub line: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            answer: Duration::from_mins(2),
            silence: Duration::from_mins(10),
            line: 64 << 20,
        }
    }
}

/// How long a process may take to end once it has closed its output.
const FAREWELL: Duration = Duration::from_secs(2);

/// Ends the whole group, whatever became of the call.
pub(super) struct Group(pub(super) Box<dyn ChildWrapper>);

impl Drop for Group {
    fn drop(&mut self) {
        let _already_ended = self.0.start_kill();
    }
}

/// Lines with their ends: what a process leaves behind in the middle of a line is no message.
struct WholeLines(LinesCodec);

impl Decoder for WholeLines {
    type Item = String;
    type Error = LinesCodecError;

    fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<String>, LinesCodecError> {
        self.0.decode(bytes)
    }

    fn decode_eof(&mut self, bytes: &mut BytesMut) -> Result<Option<String>, LinesCodecError> {
        let line = self.0.decode(bytes)?;
        if line.is_none() {
            bytes.clear();
        }
        Ok(line)
    }
}

/// What was heard.
pub(super) enum Heard {
    /// Something told unasked.
    Notice(Box<Notice>),
    /// The answer to what was asked last.
    Answer(Value),
}

/// A running adapter.
pub(super) struct Host {
    group: Group,
    /// Takes in what is printed, until nothing more is.
    keeper: JoinHandle<()>,
    to: mpsc::UnboundedSender<String>,
    lines: FramedRead<ChildStdout, WholeLines>,
    log: RunLog,
    limits: Limits,
    name: String,
    entry: String,
    /// How many things were asked; the last one's id.
    asked: u64,
    /// What is being asked, while no answer is there.
    method: &'static str,
    /// How many messages the run has delivered, for error sentences.
    pub(super) step: Option<usize>,
    /// What was told while an answer was awaited.
    told: VecDeque<Box<Notice>>,
}

impl Host {
    /// Starts the process; nothing is asked yet. Must be called on a tokio runtime.
    pub(super) fn start(launch: &Launch, limits: Limits) -> Result<Self, AdapterError> {
        let cannot = |source| AdapterError::Start {
            adapter: launch.name.clone(),
            command: launch.command.join(" "),
            source,
            mend: launch.mend.clone(),
        };
        let Some((program, arguments)) = launch.command.split_first() else {
            return Err(cannot(std::io::Error::other("there is no command")));
        };
        let mut wrap = CommandWrap::with_new(program, |it| {
            it.args(arguments)
                .current_dir(&launch.dir)
                .envs(launch.env.iter().map(|(name, value)| (name, value)))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
        });
        wrap.wrap(KillOnDrop);
        #[cfg(unix)]
        wrap.wrap(ProcessGroup::leader());
        let mut group = Group(wrap.spawn().map_err(cannot)?);
        let child = group.0.as_mut();
        let pipes = (
            child.stdin().take(),
            child.stdout().take(),
            child.stderr().take(),
        );
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(cannot(std::io::Error::other("it has no pipes")));
        };
        let log = RunLog::open(launch.logs.as_deref(), &launch.name);
        let (to, lines) = mpsc::unbounded_channel();
        tokio::spawn(write(stdin, lines));
        let keeper = tokio::spawn(keep(stderr, log.clone()));
        Ok(Self {
            group,
            keeper,
            to,
            lines: FramedRead::new(
                stdout,
                WholeLines(LinesCodec::new_with_max_length(limits.line)),
            ),
            log,
            limits,
            name: launch.name.clone(),
            entry: launch.entry.clone(),
            asked: 0,
            method: "",
            step: None,
            told: VecDeque::new(),
        })
    }

    /// The run's log.
    pub(super) const fn log(&self) -> &RunLog {
        &self.log
    }

    /// Asks; the answer is heard later.
    pub(super) fn ask(&mut self, method: &'static str, params: &Value) {
        self.asked += 1;
        self.method = method;
        self.send(method, params, Some(self.asked));
    }

    /// Says something that needs no answer here; where one comes it is passed over.
    pub(super) fn tell(&mut self, method: &'static str, params: &Value) {
        self.send(method, params, None);
    }

    fn send(&self, method: &str, params: &Value, id: Option<u64>) {
        // What needs no answer carries an id that is never waited for, for an adapter may refuse a call without one.
        let id = id.unwrap_or(0);
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        // A process that went away is noticed where its answer is awaited.
        let _ = self.to.send(format!("{line}\n"));
    }

    /// What comes next: something told unasked, or the answer.
    pub(super) async fn hear(&mut self) -> Result<Heard, AdapterError> {
        if let Some(notice) = self.told.pop_front() {
            return Ok(Heard::Notice(notice));
        }
        let limit = match self.method {
            "step" | "resume" | "start" | "restore" => self.limits.silence,
            _ => self.limits.answer,
        };
        match tokio::time::timeout(limit, self.line()).await {
            Ok(heard) => heard,
            Err(_) => Err(self.silent(limit)),
        }
    }

    /// Asks and waits for the answer, read as it must be. What is told meanwhile is heard later.
    pub(super) async fn call<T: DeserializeOwned>(
        &mut self,
        method: &'static str,
        params: &Value,
    ) -> Result<T, AdapterError> {
        self.ask(method, params);
        let limit = match method {
            "start" | "restore" => self.limits.silence,
            _ => self.limits.answer,
        };
        // A program that keeps talking must answer all the same.
        let answer = tokio::time::timeout(limit, async {
            loop {
                match self.line().await? {
                    Heard::Answer(value) => return Ok(value),
                    Heard::Notice(notice) => self.told.push_back(notice),
                }
            }
        })
        .await;
        match answer {
            Ok(value) => self.read(value?),
            Err(_) => Err(self.silent(limit)),
        }
    }

    /// Reads an answer as it must be.
    pub(super) fn read<T: DeserializeOwned>(&self, value: Value) -> Result<T, AdapterError> {
        serde_json::from_value(value).map_err(|error| self.shape(error.to_string()))
    }

    /// An answer that is not what the protocol says.
    pub(super) fn shape(&self, what: String) -> AdapterError {
        AdapterError::Shape {
            at: self.at().into(),
            what,
        }
    }

    /// Lets go of what was told and not heard yet.
    pub(super) fn forget(&mut self) {
        self.told.clear();
    }

    /// It speaks another version.
    pub(super) fn version(&self, theirs: &Value) -> AdapterError {
        AdapterError::Version {
            at: self.at().into(),
            theirs: theirs.to_string(),
        }
    }

    /// The team says that it broke down.
    pub(super) fn failed(&self, message: &str) -> AdapterError {
        AdapterError::Framework {
            at: self.at().into(),
            message: self.log.masked(message),
            raised: String::new(),
            traceback: String::new(),
        }
    }

    /// The team asks a person for a word.
    pub(super) fn asks(&self, prompt: String) -> AdapterError {
        AdapterError::Asks {
            at: self.at().into(),
            prompt,
        }
    }

    /// Ends the process and waits until it is gone; false if that takes too long.
    pub(super) async fn ended(mut self) -> bool {
        let _already_ended = self.group.0.start_kill();
        tokio::time::timeout(FAREWELL, self.group.0.wait())
            .await
            .is_ok_and(|status| status.is_ok())
    }

    fn at(&self) -> Place {
        let step = self.step.map_or(String::new(), |step| {
            format!(" after {step} messages delivered")
        });
        Place {
            adapter: self.name.clone(),
            doing: format!("`{}`{step}", self.method),
            log: self.log.path(),
        }
    }

    fn silent(&mut self, limit: Duration) -> AdapterError {
        let _already_ended = self.group.0.start_kill();
        AdapterError::Silent {
            at: self.at().into(),
            limit,
        }
    }

    async fn line(&mut self) -> Result<Heard, AdapterError> {
        loop {
            let line = match self.lines.next().await {
                Some(Ok(line)) if line.trim().is_empty() => continue,
                Some(Ok(line)) => line,
                Some(Err(LinesCodecError::MaxLineLengthExceeded)) => {
                    return Err(AdapterError::Huge {
                        at: self.at().into(),
                        limit: self.limits.line,
                    });
                }
                Some(Err(LinesCodecError::Io(error)))
                    if error.kind() == std::io::ErrorKind::InvalidData =>
                {
                    return Err(self.junk("bytes that are no UTF-8"));
                }
                None | Some(Err(LinesCodecError::Io(_))) => return Err(self.gone().await),
            };
            let Ok(read) = serde_json::from_str::<Line>(&line) else {
                return Err(self.junk(&line));
            };
            if read.jsonrpc != "2.0" {
                return Err(self.junk(&line));
            }
            match (read.method.as_deref(), read.id) {
                (Some("event"), _) => {
                    let told = wire::notice(read.params.unwrap_or_default());
                    return told
                        .map(|notice| Heard::Notice(Box::new(notice)))
                        .map_err(|what| self.shape(what));
                }
                // A notification of a later version.
                (Some(_), _) => self.log.text(&line),
                (None, Some(id)) if id == self.asked => {
                    return match read.error {
                        Some(failure) => Err(self.refused(&failure)),
                        None => Ok(Heard::Answer(read.result.unwrap_or_default())),
                    };
                }
                // What was said beside a question was refused.
                (None, Some(0)) => {
                    if let Some(failure) = read.error {
                        return Err(self.refused(&failure));
                    }
                }
                // An answer that nobody waits for any more.
                (None, Some(id)) if id < self.asked => {}
                (None, Some(id)) => {
                    return Err(
                        self.shape(format!("it answers question {id}, which was not asked"))
                    );
                }
                (None, None) => match read.error {
                    Some(failure) => return Err(self.refused(&failure)),
                    None => return Err(self.junk(&line)),
                },
            }
        }
    }

    fn junk(&self, line: &str) -> AdapterError {
        const SHOWN: usize = 120;
        let masked = self.log.masked(line);
        let mut shown: String = masked.chars().take(SHOWN).collect();
        if shown.len() < masked.len() {
            shown.push('…');
        }
        AdapterError::Junk {
            at: self.at().into(),
            line: format!("`{shown}`"),
        }
    }

    /// Its output is closed: how it ended, and its last words.
    async fn gone(&mut self) -> AdapterError {
        let ended = tokio::time::timeout(FAREWELL, self.group.0.wait()).await;
        let how = match ended {
            Ok(Ok(status)) => how(status),
            Ok(Err(error)) => format!("ended ({error})"),
            Err(_) => "closed its output and did not end".to_owned(),
        };
        // Its last words may still be on their way.
        let _ = tokio::time::timeout(FAREWELL, &mut self.keeper).await;
        AdapterError::Exited {
            said: self
                .log
                .last()
                .map_or(String::new(), |line| format!(" (its last words: {line})")),
            at: self.at().into(),
            how,
        }
    }

    fn refused(&self, failure: &Failure) -> AdapterError {
        let traceback = wire::text(failure.data.get("traceback").unwrap_or(&Value::Null));
        let traceback = self.log.masked(&traceback);
        if !traceback.is_empty() {
            self.log.text(&traceback);
        }
        let message = self.log.masked(failure.message.trim());
        let raised = raised(&traceback);
        let at = Box::new(self.at());
        match failure.code {
            -32030 => AdapterError::Framework {
                at,
                message,
                raised,
                traceback,
            },
            -32031 => {
                // The shared core says all of it, the place included.
                let lead = format!("the entry {} cannot be used: ", self.entry);
                let (message, raised) = match message.strip_prefix(&lead) {
                    Some(why) => (why.to_owned(), String::new()),
                    None => (message, raised),
                };
                AdapterError::Entry {
                    at,
                    entry: self.entry.clone(),
                    message,
                    raised,
                }
            }
            -32010 => AdapterError::Incompatible { at, message },
            code => AdapterError::Refused {
                at,
                code,
                why: meaning(code),
                message,
            },
        }
    }
}

/// How a process ended, as a part of a sentence.
fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("was ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("exited with status {code}"),
        None => "ended".to_owned(),
    }
}

/// Writes line by line, so that a caller who gives up in the middle cuts no line.
async fn write(mut pipe: ChildStdin, mut lines: mpsc::UnboundedReceiver<String>) {
    while let Some(line) = lines.recv().await {
        if pipe.write_all(line.as_bytes()).await.is_err() || pipe.flush().await.is_err() {
            return;
        }
    }
}

/// Keeps what is printed.
async fn keep(mut pipe: ChildStderr, log: RunLog) {
    let mut piece = vec![0; 8192];
    while let Ok(count) = pipe.read(&mut piece).await {
        if count == 0 {
            break;
        }
        log.bytes(piece.get(..count).unwrap_or_default());
    }
}
