//! Why a file could not be taken in: what failed, where, and what to do.

use std::path::PathBuf;

/// What dover reads, for the sentence that refuses something else.
pub(super) const KNOWN: &str = "dover reads Who&When logs, OpenAI chat messages, AutoGen AgentChat streams, results and \
     saved teams, AG2 histories, AGDebugger's sessions, its own JSONL (`dover schema session`), and other lists of messages with a role (or name, source) and content";

/// Why a file could not be taken in.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be opened or read.
    #[error("{file}: cannot be read: {source}. Check the path and its permissions")]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file holds nothing that a known format has.
    #[error("{file}, {place}: {reason}. {mend}")]
    Unknown {
        /// The file.
        file: PathBuf,
        /// Line or byte.
        place: String,
        /// What was found.
        reason: String,
        /// What to do.
        mend: String,
    },
    /// A workflow profile that cannot be understood.
    #[error("workflow profile {file}{place}: {reason}. See `dover schema profile`")]
    Profile {
        /// The file.
        file: PathBuf,
        /// The line, if there is one.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The receiver of the steps failed.
    #[error("{reason}")]
    Sink {
        /// Its own sentence.
        reason: String,
    },
    /// The caller asked to stop.
    #[error("import cancelled; nothing was kept")]
    Cancelled,
}
