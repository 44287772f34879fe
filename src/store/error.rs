//! Why the store could not do it: one sentence each, with the file and the next step.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why the store could not do it. Each sentence names the file or the thing, and the next step.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A schema of a later program.
    #[error(
        "store {path}: made by a newer dover (schema {found}, this program knows {known}): update dover or use --store with another file"
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// The file's schema.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
    /// Not a store at all.
    #[error("store {path}: {what}; nothing was changed: use --store with another file")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// A directory stands where the file should.
    #[error("store {path}: this is a directory: name a file in it, such as {}", path.join("store.db").display())]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// The file cannot be opened or made.
    #[error(
        "store {path}: cannot be opened or made ({reason}): check that the directory exists and is yours, or use --store with another file"
    )]
    Unreachable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// It may be read but not written.
    #[error(
        "store {path}: read-only, so nothing can be recorded: make the file and its directory writable or use --store with another file"
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Another process kept it for too long.
    #[error(
        "store {path}: locked by another process: end that process or try again when it has finished"
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Something stored cannot be understood.
    #[error(
        "store {path}: damaged ({reason}): restore it from a copy or use --store with another file"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// Any other failure of the database, such as a full disk.
    #[error(
        "store {path}: {reason}; nothing of this operation was kept: mend the cause and try again"
    )]
    Database {
        /// The file.
        path: PathBuf,
        /// What it said.
        reason: String,
    },
    /// No session of this id.
    #[error("there is no session '{0}': see `dover sessions`")]
    NoSession(String),
    /// No branch of this id.
    #[error("there is no branch '{0}': see `dover sessions` and the session's branches")]
    NoBranch(String),
    /// No step of this index.
    #[error("branch {branch} has no step {step}: its steps are 0 to {}", len.saturating_sub(1))]
    NoStep {
        /// The branch.
        branch: String,
        /// The index asked for.
        step: usize,
        /// How many steps the branch has.
        len: usize,
    },
    /// A step that is not the next one of its branch.
    #[error("step {step} does not continue {branch}, which has {len} steps: nothing was written")]
    OutOfTurn {
        /// The branch.
        branch: String,
        /// The index of the step.
        step: usize,
        /// How many steps the branch has.
        len: usize,
    },
    /// What was asked for does not fit the state of the store.
    #[error("{0}")]
    Refused(String),
    /// Nowhere to put the store.
    #[error("no data directory is known for this user: give --store PATH or set DOVER_STORE")]
    NoHome,
}

/// A failure inside an operation, before the file's name is added to it.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(rusqlite::Error),
    Told(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Told(error)
    }
}

impl Fault {
    /// Names the file and the next step.
    pub(super) fn at(self, path: &Path) -> StoreError {
        let error = match self {
            Self::Told(told) => return told,
            Self::Sql(error) => error,
        };
        let path = path.to_owned();
        let reason = error.to_string();
        match error {
            rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Locked { path },
                ErrorCode::ReadOnly => StoreError::ReadOnly { path },
                ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
                    StoreError::Unreachable { path, reason }
                }
                ErrorCode::NotADatabase => StoreError::Foreign {
                    path,
                    what: "not a database",
                },
                ErrorCode::DatabaseCorrupt => StoreError::Damaged { path, reason },
                _ => StoreError::Database { path, reason },
            },
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..) => StoreError::Damaged { path, reason },
            _ => StoreError::Database { path, reason },
        }
    }

    /// Whether the database may be there but not be written.
    pub(super) fn is_no_write(&self) -> bool {
        matches!(
            self,
            Self::Sql(rusqlite::Error::SqliteFailure(failure, _)) if matches!(
                failure.code,
                ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied
            )
        )
    }
}
