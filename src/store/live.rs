//! A session whose original run is made here, step by step: written at once, so that a process that dies leaves every whole step behind.

use rusqlite::params;

use super::columns::Json;
use super::error::StoreError;
use super::{Store, import};
use crate::model::{RunStatus, Session};

impl Store {
    /// Writes a session whose `main` is running and has no step yet; steps are appended to it and its end is written as a branch's is.
    /// Returns the id it was given (made unique by a suffix).
    pub fn begin(&self, mut session: Session) -> Result<String, StoreError> {
        let created = self.inner.clock.now();
        self.write(|tx| {
            session.id = import::free_id(tx, &session.id)?;
            tx.execute(
                "INSERT INTO session (name, header, created, trials, reached) VALUES (?1, ?2, ?3, 0, 0)",
                params![session.id, Json(&session), created],
            )?;
            let runtime = session.runtime.as_ref();
            tx.execute(
                "INSERT INTO branch (session, name, run_index, seed, runtime, run, diagnostic, created, steps, owner)
                 VALUES (?1, 'main', 0, ?2, ?3, ?4, 0, ?5, 0, ?6)",
                params![
                    tx.last_insert_rowid(),
                    runtime.map_or(0, |runtime| runtime.seed).cast_signed(),
                    runtime.map(|runtime| &runtime.name),
                    RunStatus::Running.name(),
                    created,
                    self.owner()?,
                ],
            )?;
            Ok(session.id)
        })
    }
}
