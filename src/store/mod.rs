//! The store: sessions, branches with shared prefixes, checkpoints, effects. One SQLite file in WAL mode.
//!
//! A fork writes rows for the branch alone: its prefix is its parent's. Step contents are addressed by digest and stored once.
//! A fork is one transaction; so is every step. No function edits or deletes a step of an existing branch, and triggers refuse it.
//! Not here: judging. Gates, verdicts and scores are computed by others and only kept.

mod approvals;
mod attempts;
mod branches;
mod brought;
mod checkpoints;
mod columns;
mod connect;
mod drafts;
mod effects;
mod error;
mod fork;
mod grow;
mod held;
mod hypotheses;
mod import;
mod lanes;
mod lineage;
mod live;
mod milestones;
mod notes;
mod owner;
mod receipts;
mod records;
mod schema;
mod search;
mod seats;
mod sessions;
mod steps;
mod watch;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::model::Clock;
use connect::{Access, Source};
use error::Fault;
use held::Held;

pub use error::StoreError;
pub use import::Importer;
pub use records::{
    Ending, ForkDecision, ForkDraft, ForkEvidence, ForkFacts, ForkRuling, Grown, Kept,
    SessionSummary, Unsent,
};
pub use seats::{Around, Request, Role, Seat, Seats};
pub use watch::Watch;

/// How long to wait for another process before saying that the store is locked.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reading connections kept open between calls.
const SPARE_READERS: usize = 4;

/// A handle on the store; clones share it. All methods are synchronous; long ones belong on a blocking thread.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    source: Source,
    clock: Arc<dyn Clock>,
    writer: Mutex<Connection>,
    /// Reads never wait for each other or for a write: each takes a connection and gives it back.
    readers: Mutex<Vec<Connection>>,
    owner: Mutex<Option<Held>>,
    /// Milestones found so far, by the branch's row.
    looked: Mutex<HashMap<i64, milestones::Looked>>,
}

impl Store {
    /// Opens or makes the store and marks branches of vanished processes `interrupted`.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        Self::open_with(path, clock, PATIENCE)
    }

    /// Where the store is when nothing else is said: `DOVER_STORE`, else the platform's data directory.
    pub fn default_path() -> Result<PathBuf, StoreError> {
        connect::default_path()
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.source.path
    }

    /// Whether it can only be read.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.inner.source.access != Access::Write
    }

    fn open_with(
        path: &Path,
        clock: Arc<dyn Clock>,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let (source, writer) = Source::find(path, patience)?;
        let store = Self {
            inner: Arc::new(Inner {
                source,
                clock,
                writer: Mutex::new(writer),
                readers: Mutex::default(),
                owner: Mutex::default(),
                looked: Mutex::default(),
            }),
        };
        if !store.is_read_only() {
            match store.refresh_interrupted() {
                // Somebody is writing for long; the branches wait for the next look.
                Ok(_) | Err(StoreError::Locked { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(store)
    }

    /// Reads in one snapshot.
    fn read<T>(&self, f: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        let spare = guard(&self.inner.readers).pop();
        let result = spare
            .map_or_else(|| self.inner.source.connect(), Ok)
            .and_then(|conn| {
                let value = {
                    let snapshot = conn.unchecked_transaction()?;
                    f(&snapshot)?
                };
                let mut readers = guard(&self.inner.readers);
                if readers.len() < SPARE_READERS {
                    readers.push(conn);
                }
                Ok(value)
            });
        result.map_err(|fault| fault.at(&self.inner.source.path))
    }

    /// Writes in one transaction: all of it or nothing.
    fn write<T>(
        &self,
        f: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let mut writer = guard(&self.inner.writer);
        let run = || {
            let tx = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = f(&tx)?;
            tx.commit()?;
            Ok(value)
        };
        run().map_err(|fault: Fault| fault.at(&self.inner.source.path))
    }
}

/// A panic elsewhere leaves no half-done work here: transactions roll back by themselves.
fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RunStatus, Session, SystemClock};

    #[test]
    fn a_locked_store_is_read_but_says_so_when_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let open = || Store::open_with(&path, Arc::new(SystemClock), Duration::from_millis(20));
        let store = open().unwrap();
        let take_in = || {
            let ending = Ending {
                run: RunStatus::Done,
                gate: None,
                fulfilled: None,
                success: None,
                answer: None,
                milestones: None,
                reason: None,
            };
            store.import().unwrap().finish(Session::default(), ending)
        };
        take_in().unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert_eq!(open().unwrap().session_ids().unwrap(), ["session"]);
        assert_eq!(
            take_in().unwrap_err().to_string(),
            format!(
                "store {}: locked by another process: end that process or try again when it has finished",
                path.display()
            )
        );
        other.execute_batch("ROLLBACK").unwrap();
        take_in().unwrap();
        assert_eq!(store.session_ids().unwrap(), ["session-2", "session"]);
    }

    #[test]
    fn a_store_kept_by_one_process_alone_is_locked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let other = Connection::open(&path).unwrap();
        other
            .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE t (a);")
            .unwrap();
        let opened = Store::open_with(&path, Arc::new(SystemClock), Duration::from_millis(20));
        assert!(matches!(opened, Err(StoreError::Locked { .. })));
    }
}
