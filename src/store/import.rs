//! Taking a session in. Steps are staged in a private temporary database, which spills to disk when it grows, so that a long
//! import holds no lock and no memory; `finish` moves them over in one transaction. Dropped unfinished, nothing of it remains.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::brought::{Brought, BroughtBranch};
use super::columns::Json;
use super::error::{Fault, StoreError};
use super::lineage::Line;
use super::milestones::Looked;
use super::records::Ending;
use super::{Store, branches, checkpoints, effects, sessions, steps};
use crate::gate::receipt::Sealed;
use crate::model::{
    Branch, BranchNote, Checkpoint, CoverageNote, Digest, Effect, Filed, GateStatus, Intervention,
    Manifest, MilestoneMark, Session, Step, StepKind,
};

/// Takes in the steps of one new session. Dropped unfinished, nothing of it remains.
pub struct Importer {
    store: Store,
    stage: Connection,
    /// Steps of `main`.
    len: usize,
    brought: Brought,
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
                 CREATE TABLE staged (branch INTEGER, idx INTEGER, step TEXT, checkpoint TEXT, effects TEXT,
                                      PRIMARY KEY (branch, idx));
                 BEGIN;",
            )?;
            Ok(stage)
        };
        Ok(Importer {
            stage: open().map_err(|error| Fault::Sql(error).at(path))?,
            store: self.clone(),
            len: 0,
            brought: Brought::default(),
        })
    }
}

impl Importer {
    /// Adds the next step of `main`, or of the branch begun last (its index must continue the list), its checkpoint and effects.
    pub fn push(
        &mut self,
        step: &Step,
        checkpoint: Option<&Checkpoint>,
        made: &[Effect],
    ) -> Result<(), StoreError> {
        let branch = self.brought.branches.len();
        let len = self
            .brought
            .branches
            .last()
            .map_or(self.len, |last| last.len);
        if step.index != len {
            return Err(self.told(branches::out_of_turn("the import", step.index, len)));
        }
        let staged = self
            .stage
            .prepare_cached("INSERT INTO staged VALUES (?1, ?2, ?3, ?4, ?5)")
            .and_then(|mut statement| {
                statement.execute(params![
                    branch,
                    step.index,
                    Json(step),
                    checkpoint.map(Json),
                    (!made.is_empty()).then_some(Json(made)),
                ])
            });
        staged.map_err(|error| self.told(error.into()))?;
        *self
            .brought
            .branches
            .last_mut()
            .map_or(&mut self.len, |last| &mut last.len) += 1;
        Ok(())
    }

    /// Begins a branch that the file tells of; the steps that follow are its own. Its parent was begun before it.
    pub fn branch(&mut self, branch: Branch, config: Option<Manifest>) {
        self.brought.branches.push(BroughtBranch {
            len: branch.fork_step.unwrap_or_default(),
            branch,
            config,
        });
    }

    /// Adds an intervention that the file tells of.
    pub fn intervention(&mut self, made: Intervention) {
        self.brought.interventions.push(made);
    }

    /// Adds a hypothesis that the file tells of.
    pub fn hypothesis(&mut self, filed: Filed) {
        self.brought.hypotheses.push(filed);
    }

    /// Takes what the file tells of the end of `main`.
    pub fn main(&mut self, told: Branch) {
        self.brought.main = Some(told);
    }

    /// Adds a receipt that came with the file.
    pub fn receipt(&mut self, sealed: Sealed) {
        self.brought.receipts.push(sealed);
    }

    /// Adds a person's mark that the file tells of.
    pub fn mark(&mut self, mark: MilestoneMark) {
        self.brought.marks.push(mark);
    }

    /// Adds a note on a step that the file tells of.
    pub fn note(&mut self, note: BranchNote) {
        self.brought.notes.push(note);
    }

    /// Changes the kind and recipient of a step of `main` pushed before, when the log's structure is known only later.
    pub fn reclassify(
        &mut self,
        index: usize,
        kind: StepKind,
        to: Option<&str>,
    ) -> Result<(), StoreError> {
        let change = || -> Result<(), Fault> {
            let staged: Option<Json<Step>> = self
                .stage
                .prepare_cached("SELECT step FROM staged WHERE branch = 0 AND idx = ?1")?
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
                .prepare_cached("UPDATE staged SET step = ?2 WHERE branch = 0 AND idx = ?1")?
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
            session.told = self.brought.told();
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
            self.move_steps(tx, 0, branch, Digest::ZERO)?;
            self.brought.write_main(tx, branch)?;
            let line = Line::of_key(tx, branch)?;
            self.move_brought(tx, key, &mut session, &created)?;
            let trials = steps::trials_of(tx, &line)?.len();
            tx.execute(
                "UPDATE session SET trials = ?2 WHERE id = ?1",
                params![key, trials],
            )?;
            sessions::count_reached(tx, key, &line, &session.milestones, Looked::default())
        })?;
        Ok(session.id)
    }

    /// Writes what the file tells of beside `main`, parents before children. What does not fit together is noted on the session.
    fn move_brought(
        &self,
        tx: &Transaction<'_>,
        key: i64,
        session: &mut Session,
        now: &str,
    ) -> Result<(), Fault> {
        self.brought
            .write_interventions(tx, key, &session.id, now)?;
        let noted = session.coverage.notes.len();
        for (staged, one) in (1..).zip(&self.brought.branches) {
            let (branch, same) = one.write(tx, key, &session.id, now)?;
            let line = Line::of_key(tx, branch)?;
            let at = one.branch.fork_step.unwrap_or_default();
            let chain = steps::recorded_digest(tx, &line, at)?
                .ok_or_else(|| steps::no_step(&one.branch.id, at, line.len))?;
            self.move_steps(tx, staged, branch, chain)?;
            if !same {
                session.coverage.notes.push(CoverageNote {
                    place: format!("branch {}", one.branch.id.name()),
                    reason: "it was forked from other steps than those that stand in the file"
                        .to_owned(),
                });
            }
        }
        self.brought.write_rest(tx, key, &session.id)?;
        if session.coverage.notes.len() > noted {
            tx.prepare_cached("UPDATE session SET header = ?2 WHERE id = ?1")?
                .execute(params![key, Json(&*session)])?;
        }
        Ok(())
    }

    fn move_steps(
        &self,
        tx: &Transaction<'_>,
        staged: i64,
        branch: i64,
        mut chain: Digest,
    ) -> Result<(), Fault> {
        let mut statement = self.stage.prepare(
            "SELECT step, checkpoint, effects FROM staged WHERE branch = ?1 ORDER BY idx",
        )?;
        let mut rows = statement.query([staged])?;
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
