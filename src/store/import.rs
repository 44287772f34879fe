//! Taking a session in. Steps are staged in a private temporary database, which spills to disk when it grows, so that a long
//! import holds no lock and no memory; `finish` moves them over in one transaction. Dropped unfinished, nothing of it remains.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::columns::Json;
use super::error::{Fault, StoreError};
use super::lineage::Line;
use super::records::Ending;
use super::{Store, branches, checkpoints, effects, sessions, steps};
use crate::model::{Checkpoint, Digest, Effect, GateStatus, Session, Step, StepKind};

/// Takes in the steps of one new session. Dropped unfinished, nothing of it remains.
pub struct Importer {
    store: Store,
    stage: Connection,
    len: usize,
}

impl Store {
    /// Begins to take in a session.
    pub fn import(&self) -> Result<Importer, StoreError> {
        let path = &self.inner.source.path;
        if self.is_read_only() {
            return Err(StoreError::ReadOnly { path: path.clone() });
        }
        let open = || {
            let stage = Connection::open("")?;
            stage.execute_batch(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
                 CREATE TABLE staged (idx INTEGER PRIMARY KEY, step TEXT, checkpoint TEXT, effects TEXT);
                 BEGIN;",
            )?;
            Ok(stage)
        };
        Ok(Importer {
            stage: open().map_err(|error| Fault::Sql(error).at(path))?,
            store: self.clone(),
            len: 0,
        })
    }
}

impl Importer {
    /// Adds the next step of `main` (its index must continue the list), its checkpoint and effects.
    pub fn push(
        &mut self,
        step: &Step,
        checkpoint: Option<&Checkpoint>,
        made: &[Effect],
    ) -> Result<(), StoreError> {
        if step.index != self.len {
            return Err(self.told(branches::out_of_turn("the import", step.index, self.len)));
        }
        let staged = self
            .stage
            .prepare_cached("INSERT INTO staged VALUES (?1, ?2, ?3, ?4)")
            .and_then(|mut statement| {
                statement.execute(params![
                    step.index,
                    Json(step),
                    checkpoint.map(Json),
                    (!made.is_empty()).then_some(Json(made)),
                ])
            });
        staged.map_err(|error| self.told(error.into()))?;
        self.len += 1;
        Ok(())
    }

    /// Changes the kind and recipient of a step pushed before, when the log's structure is known only later.
    pub fn reclassify(
        &mut self,
        index: usize,
        kind: StepKind,
        to: Option<&str>,
    ) -> Result<(), StoreError> {
        let change = || -> Result<(), Fault> {
            let staged: Option<Json<Step>> = self
                .stage
                .prepare_cached("SELECT step FROM staged WHERE idx = ?1")?
                .query_row([index], |row| row.get(0))
                .optional()?;
            let Some(Json(mut step)) = staged else {
                return Err(StoreError::NoStep {
                    branch: "of the import".to_owned(),
                    step: index,
                    len: self.len,
                }
                .into());
            };
            step.kind = kind;
            step.to = to.map(str::to_owned);
            self.stage
                .prepare_cached("UPDATE staged SET step = ?2 WHERE idx = ?1")?
                .execute(params![index, Json(step)])?;
            Ok(())
        };
        change().map_err(|fault| self.told(fault))
    }

    /// Writes the session with its steps and the ending of `main`; returns the id it was given (made unique by a suffix).
    pub fn finish(self, mut session: Session, main: Ending) -> Result<String, StoreError> {
        let Ending {
            run,
            gate,
            fulfilled,
            success,
            answer,
            milestones,
            reason,
        } = main;
        let created = self.store.inner.clock.now();
        self.store.write(|tx| {
            // Somebody else may have taken the same file in meanwhile: it is the same session.
            if let Some(id) = sessions::by_source(tx, session.source_digest)? {
                session.id = id;
                return Ok(());
            }
            session.id = free_id(tx, &session.id)?;
            tx.execute(
                "INSERT INTO session (name, header, source_digest, created, trials, reached)
                 VALUES (?1, ?2, ?3, ?4, 0, 0)",
                params![session.id, Json(&session), session.source_digest, created],
            )?;
            let key = tx.last_insert_rowid();
            tx.execute(
                "INSERT INTO branch (session, name, run_index, seed, runtime, gate, run, diagnostic, fulfilled,
                                     success, answer, milestones, reason, created, steps)
                 VALUES (?1, 'main', 0, ?2, ?3, ?4, ?5, 0, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                params![
                    key,
                    session.runtime.as_ref().map_or(0, |runtime| runtime.seed).cast_signed(),
                    session.runtime.as_ref().map(|runtime| &runtime.name),
                    gate.map(GateStatus::name),
                    run.name(),
                    fulfilled,
                    success,
                    answer,
                    milestones.map(Json),
                    reason,
                    created,
                    self.len,
                ],
            )?;
            let branch = tx.last_insert_rowid();
            self.move_steps(tx, branch)?;
            let line = Line::of_key(tx, branch)?;
            let trials = steps::trials_of(tx, &line)?.len();
            tx.execute(
                "UPDATE session SET trials = ?2 WHERE id = ?1",
                params![key, trials],
            )?;
            sessions::count_reached(tx, key, &line, &session.milestones)
        })?;
        Ok(session.id)
    }

    fn move_steps(&self, tx: &Transaction<'_>, branch: i64) -> Result<(), Fault> {
        let mut statement = self
            .stage
            .prepare("SELECT step, checkpoint, effects FROM staged ORDER BY idx")?;
        let mut rows = statement.query([])?;
        let mut chain = Digest::ZERO;
        while let Some(row) = rows.next()? {
            let Json(step) = row.get::<_, Json<Step>>(0)?;
            chain = steps::insert(tx, branch, &step, chain)?;
            if let Some(Json(checkpoint)) = row.get::<_, Option<Json<Checkpoint>>>(1)? {
                checkpoints::insert(tx, branch, step.index, &checkpoint)?;
            }
            if let Some(Json(made)) = row.get::<_, Option<Json<Vec<Effect>>>>(2)? {
                effects::insert(tx, branch, &made)?;
            }
        }
        Ok(())
    }

    fn told(&self, fault: Fault) -> StoreError {
        fault.at(&self.store.inner.source.path)
    }
}

/// The wished id, spelt as ids are (lower-case letters, digits, `-`, `_`, `.`), with a suffix if it is taken.
pub(super) fn free_id(tx: &Transaction<'_>, wish: &str) -> Result<String, Fault> {
    let wish = id_of(wish);
    if !sessions::exists(tx, &wish)? {
        return Ok(wish);
    }
    let mut n = 2;
    loop {
        let id = format!("{wish}-{n}");
        if !sessions::exists(tx, &id)? {
            return Ok(id);
        }
        n += 1;
    }
}

fn id_of(wish: &str) -> String {
    let mut id = String::new();
    for c in wish.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') {
            id.push(c);
        } else if !id.ends_with('-') {
            id.push('-');
        }
    }
    let id = id.trim_matches(['-', '.']);
    if id.is_empty() {
        "session".to_owned()
    } else {
        id.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::id_of;

    #[test]
    fn spells_ids_as_ids_are() {
        let table = [
            ("night-picture", "night-picture"),
            ("Night Picture!", "night-picture"),
            ("a/b c", "a-b-c"),
            ("图片", "session"),
            ("", "session"),
            ("../x.json", "x.json"),
        ];
        for (wish, id) in table {
            assert_eq!(id_of(wish), id, "{wish}");
        }
    }
}
