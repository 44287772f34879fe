//! What a subcommand may fail with, and the exit status that says so (SPEC 6).

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use crate::export::ExportError;
use crate::gate::receipt::Fault;
use crate::pipeline::PipelineError;
use crate::runtime::RuntimeError;
use crate::runtime::adapter::AdapterError;
use crate::store::StoreError;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done: any verdict, a partial import with its coverage line.
    Done = 0,
    /// Held by a gate, or a run failed or was stopped.
    Held = 1,
    /// Bad usage or unreadable input.
    Usage = 2,
    /// The screen was ended by SIGHUP: 128 and the signal's number, as a shell tells it.
    HungUp = 129,
    /// By SIGINT.
    Interrupted = 130,
    /// By SIGTERM.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a subcommand could not do it.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The words of the command make no sense; the sentence says what would.
    #[error("{0}")]
    Usage(String),
    /// The loop.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something that cannot be taken along.
    #[error(transparent)]
    Export(ExportError),
    /// A runtime.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A file named on the command line, or the log that `DOVER_LOG` names.
    #[error("{path}: {source}. {mend}")]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
        /// What to do.
        mend: &'static str,
    },
    /// A file that could not be written to its end, such as on a full disk.
    #[error("{}: {source}. Nothing was written. Free some room, or name a file elsewhere", path.display())]
    Unwritten {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The store's own chain of receipts is broken.
    #[error(
        "the store's receipts do not verify: {0}. Something other than dover wrote to it: restore the store from a copy"
    )]
    Damaged(Fault),
    /// A second Ctrl-C, while the runs were being stopped.
    #[error(
        "broken off before every run had stopped; the branches will be shown as interrupted, each with its whole steps"
    )]
    BrokenOff,
    /// The threads that run a replay could not be started.
    #[error("the replay could not be started: {0}. Close other programs and try again")]
    Threads(io::Error),
    /// Nobody reads the output any more, or it cannot be written.
    #[error("the output could not be written: {0}. Check the disk or the pipe that it goes to")]
    Output(#[from] io::Error),
}

impl From<ExportError> for CliError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Store(error) => Self::Store(error),
            ExportError::Pipeline(error) => Self::Pipeline(error),
            ExportError::Output(error) => Self::Output(error),
            other @ ExportError::Redaction(_) => Self::Export(other),
        }
    }
}

impl CliError {
    /// The exit status. A reader that has seen enough (`| head`) is no failure.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Self::Pipeline(PipelineError::Runtime(error)) | Self::Runtime(error) => match error {
                // What was named is not there, cannot be started, or is of something else; else the run broke down.
                RuntimeError::Missing { .. }
                | RuntimeError::World { .. }
                | RuntimeError::Adapter(
                    AdapterError::Start { .. }
                    | AdapterError::Entry { .. }
                    | AdapterError::Incompatible { .. },
                ) => Exit::Usage,
                RuntimeError::Endpoint { .. }
                | RuntimeError::Broken { .. }
                | RuntimeError::Adapter(_) => Exit::Held,
            },
            // The store can be read but an operation failed, such as on a full disk.
            Self::Store(StoreError::Database { .. })
            | Self::Pipeline(
                PipelineError::Store(StoreError::Database { .. }) | PipelineError::Refused(_),
            )
            | Self::Damaged(_)
            | Self::BrokenOff
            | Self::Threads(_)
            | Self::Unwritten { .. }
            | Self::Output(_) => Exit::Held,
            Self::Usage(_)
            | Self::Export(_)
            | Self::Pipeline(_)
            | Self::Store(_)
            | Self::File { .. } => Exit::Usage,
        }
    }
}

/// The error as `--json` prints it, on standard error; standard output stays empty.
#[must_use]
pub fn as_json(exit: Exit, message: &str) -> String {
    json!({ "error": { "status": exit as u8, "message": message } }).to_string()
}
