//! A run that a person holds at its boundaries: what waits there is seen and changed before it is committed.
//!
//! Not here: who may order what, and what becomes of a change. A run only does what it is told, or says why it cannot.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{Run, RuntimeError};
use crate::model::{Checkpoint, Step};

/// A message that waits to be committed.
#[derive(Clone, Debug, PartialEq)]
pub struct Queued {
    /// The framework's own id of it.
    pub id: Value,
    /// The step that it will be.
    pub step: Step,
}

/// A change of what waits at a boundary (ADAPTER.md, `edit` and `send`).
#[derive(Clone, Debug, PartialEq)]
pub enum QueueEdit {
    /// Another text for a message, wherever the framework keeps it.
    Replace {
        /// The message.
        id: Value,
        /// What it shall say.
        text: String,
    },
    /// A further message at a place of the queue.
    Insert {
        /// Who says it.
        from: String,
        /// Who is addressed.
        to: String,
        /// What it says.
        text: String,
        /// Its place, 0 being the next to be committed.
        at: usize,
    },
    /// A message less.
    Drop {
        /// The message.
        id: Value,
    },
    /// A further message at the end, from outside the team.
    Send {
        /// An agent or a topic.
        to: String,
        /// What it says.
        text: String,
    },
}

impl QueueEdit {
    /// The same change with these words.
    #[must_use]
    pub fn saying(self, now: String) -> Self {
        match self {
            Self::Replace { id, .. } => Self::Replace { id, text: now },
            Self::Insert { from, to, at, .. } => Self::Insert {
                from,
                to,
                text: now,
                at,
            },
            Self::Send { to, .. } => Self::Send { to, text: now },
            Self::Drop { id } => Self::Drop { id },
        }
    }
}

/// How grave a line of a run's log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// What the program prints, and what happens between the messages.
    Info,
    /// What a person should know.
    Warning,
    /// What failed.
    Error,
}

impl Level {
    /// All, the least first.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Error];

    /// The word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// The level that a line begins with, in the words of Python's logging; else it is said to be info.
    #[must_use]
    pub fn of(line: &str) -> Self {
        let line = line.trim_start_matches(['[', ' ']);
        let begins = |words: &[&str]| {
            words.iter().any(|word| {
                let head = line.get(..word.len());
                head.is_some_and(|head| head.eq_ignore_ascii_case(word))
            })
        };
        if begins(&["error", "critical", "fatal", "traceback", "run.failed"]) {
            Self::Error
        } else if begins(&["warn", "tape.diverged"]) {
            Self::Warning
        } else {
            Self::Info
        }
    }
}

/// A line of a run's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// How grave.
    pub level: Level,
    /// The line, without secrets.
    pub text: String,
}

/// A run that tells what it is about to commit ([`super::Event::Pending`]) and can be changed there. Whatever is refused leaves the run
/// as it was.
#[async_trait]
pub trait Live: Run {
    /// Messages not committed yet, the next one first.
    ///
    /// # Errors
    /// The adapter, or a run that stands at no boundary.
    async fn queue(&mut self) -> Result<Vec<Queued>, RuntimeError>;

    /// Changes what waits; tells how many copies were touched.
    ///
    /// # Errors
    /// A change that the framework cannot make ([`RuntimeError::refusal`]), or a run that broke down.
    async fn change(&mut self, change: &QueueEdit) -> Result<u64, RuntimeError>;

    /// The state before the next message.
    ///
    /// # Errors
    /// As [`Live::queue`].
    async fn look(&mut self) -> Result<Checkpoint, RuntimeError>;

    /// The arguments of the call that is held, if one is.
    fn held_arguments(&self) -> Option<String>;

    /// Answers the call that is held in its tool's place: it does not happen, and the agent reads this.
    fn answer(&mut self, result: &str);

    /// Answers [`super::Event::Question`].
    fn reply(&mut self, text: &str);

    /// What is logged from now on.
    fn follow_log(&self) -> UnboundedReceiver<LogLine>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_how_grave_it_is() {
        let table = [
            ("ERROR:root:no such page", Level::Error),
            ("Traceback (most recent call last):", Level::Error),
            ("[error] the team called sys.exit", Level::Error),
            ("[run.failed] {}", Level::Error),
            ("WARNING:autogen: slow", Level::Warning),
            ("[warning] slow", Level::Warning),
            ("no errors so far", Level::Info),
            ("é", Level::Info),
            ("", Level::Info),
        ];
        for (line, level) in table {
            assert_eq!(Level::of(line), level, "{line:?}");
        }
        assert!(Level::Info < Level::Warning && Level::Warning < Level::Error);
    }
}
