//! Branches and their life: planned, running, over. Lineage is written once, at the fork.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::Store;
use super::columns::{Json, Named};
use super::error::{Fault, StoreError};
use super::lineage::{self, Line};
use super::records::Ending;
use super::{checkpoints, effects, receipts, sessions, steps};
use crate::model::{
    Branch, BranchId, Checkpoint, ConfigChange, Effect, GateStatus, Intervention, Manifest, Pinned,
    RunStatus, Step, Tally, Usage,
};

const COLUMNS: &str =
    "SELECT s.name, b.name, p.name, b.fork_step, b.prefix, b.intervention, b.run_index, b.seed,
            b.runtime, b.gate, b.run, b.diagnostic, b.fulfilled, b.success, b.answer, b.milestones,
            b.reason, b.created, b.steps, b.operator, b.usage,
            CASE WHEN json_valid(s.header) THEN EXISTS (SELECT 1 FROM json_each(s.header, '$.told') WHERE value = b.name) ELSE 0 END
     FROM branch b JOIN session s ON s.id = b.session LEFT JOIN branch p ON p.id = b.parent";

impl Store {
    /// All branches of a session, `main` first, then in the order they were made.
    pub fn branches(&self, session: &str) -> Result<Vec<Branch>, StoreError> {
        self.read(|conn| {
            let (key, _) = sessions::header(conn, session)?;
            let rows: rusqlite::Result<Vec<_>> = conn
                .prepare_cached(&format!("{COLUMNS} WHERE b.session = ?1 ORDER BY b.id"))?
                .query_map([key], branch)?
                .collect();
            rows?
                .into_iter()
                .map(|branch| self.as_it_went(conn, branch))
                .collect()
        })
    }

    /// One branch.
    pub fn branch(&self, id: &BranchId) -> Result<Branch, StoreError> {
        self.read(|conn| self.as_it_went(conn, read(conn, lineage::key(conn, id)?)?))
    }

    /// A branch of a session by its own name, such as `b3`.
    pub fn branch_by_name(&self, session: &str, name: &str) -> Result<Option<Branch>, StoreError> {
        match self.branch(&BranchId::new(session, name)) {
            Ok(branch) => Ok(Some(branch)),
            Err(StoreError::NoBranch(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Marks a planned branch as running, owned by this process.
    pub fn start(&self, id: &BranchId) -> Result<(), StoreError> {
        self.write(|tx| {
            let (key, _) = self.expect_run(tx, id, &[RunStatus::Planned])?;
            tx.prepare_cached("UPDATE branch SET run = ?2 WHERE id = ?1")?
                .execute(params![key, RunStatus::Running.name()])?;
            Ok(())
        })
    }

    /// Commits one step of a running branch with its checkpoint and effects, in one transaction; costs the same however long the branch is.
    /// Refused on a branch that is not running.
    pub fn append(
        &self,
        id: &BranchId,
        step: &Step,
        checkpoint: Option<&Checkpoint>,
        made: &[Effect],
    ) -> Result<(), StoreError> {
        self.write(|tx| {
            let (key, _) = self.expect_run(tx, id, &[RunStatus::Running])?;
            let line = Line::of_key(tx, key)?;
            if step.index != line.len {
                return Err(out_of_turn(id, step.index, line.len));
            }
            let chain = steps::recorded_digest(tx, &line, line.len)?
                .ok_or_else(|| steps::no_step(id, line.len.saturating_sub(1), line.len))?;
            steps::insert(tx, key, step, chain)?;
            if let Some(checkpoint) = checkpoint {
                checkpoints::insert(tx, key, step.index, checkpoint)?;
            }
            effects::insert(tx, key, made)?;
            tx.prepare_cached("UPDATE branch SET steps = steps + 1 WHERE id = ?1")?
                .execute([key])?;
            if line.segments.len() == 1 {
                sessions::count_trial(tx, key, step)?;
            }
            Ok(())
        })
    }

    /// Writes what the model calls of a run took.
    pub fn used(&self, id: &BranchId, usage: &Usage) -> Result<(), StoreError> {
        self.write(|tx| {
            let (key, _) = self.expect_run(tx, id, &[RunStatus::Running])?;
            tx.prepare_cached("UPDATE branch SET usage = ?2 WHERE id = ?1")?
                .execute(params![key, Json(usage)])?;
            Ok(())
        })
    }

    /// Writes how a run ended. Refused on a branch that is over.
    pub fn end(&self, id: &BranchId, ending: &Ending) -> Result<(), StoreError> {
        self.write(|tx| {
            if !ending.run.is_over() {
                return Err(StoreError::Refused(format!(
                    "branch {id} cannot end as '{}': an ending is done, failed or stopped",
                    ending.run.name()
                ))
                .into());
            }
            let (key, _) = self.expect_run(tx, id, &[RunStatus::Planned, RunStatus::Running])?;
            tx.prepare_cached(
                "UPDATE branch SET run = ?2, gate = coalesce(?3, gate), fulfilled = ?4, success = ?5,
                        answer = ?6, milestones = ?7, reason = ?8, owner = NULL
                 WHERE id = ?1",
            )?
            .execute(params![
                key,
                ending.run.name(),
                ending.gate.map(GateStatus::name),
                ending.fulfilled,
                ending.success,
                ending.answer,
                ending.milestones.map(Json),
                ending.reason,
            ])?;
            self.receipt(tx, receipts::ended(tx, &read(tx, key)?)?)?;
            Ok(())
        })
    }

    /// Writes a verifier's word on a branch that is over, such as `main` after its expected answer was set.
    pub fn set_success(&self, id: &BranchId, success: Option<bool>) -> Result<(), StoreError> {
        self.write(|tx| {
            let key = lineage::key(tx, id)?;
            tx.prepare_cached("UPDATE branch SET success = ?2 WHERE id = ?1")?
                .execute(params![key, success])?;
            Ok(())
        })
    }

    /// Writes what a verifier says of a run that is over, now that the verifier is another; the receipt goes with it.
    pub fn rejudge(
        &self,
        id: &BranchId,
        gate: Option<GateStatus>,
        success: Option<bool>,
        milestones: Option<Tally>,
    ) -> Result<(), StoreError> {
        self.write(|tx| {
            let key = lineage::key(tx, id)?;
            let before = read(tx, key)?;
            if !before.run.is_over() {
                return Err(StoreError::Refused(format!(
                    "branch {id} is {}: it is judged when it is over",
                    before.run.name()
                ))
                .into());
            }
            tx.prepare_cached(
                "UPDATE branch SET gate = ?2, success = ?3, milestones = ?4 WHERE id = ?1",
            )?
            .execute(params![
                key,
                gate.map(GateStatus::name),
                success,
                milestones.map(Json)
            ])?;
            self.receipt(tx, receipts::ended(tx, &read(tx, key)?)?)
        })
    }

    /// The configuration that a branch ran with, or the nearest on its line that is known.
    pub fn branch_config(&self, id: &BranchId) -> Result<Option<Manifest>, StoreError> {
        self.read(|conn| {
            let line = Line::of(conn, id)?;
            Ok(pinned(conn, &line, id.session())?.manifest().cloned())
        })
    }

    /// The configuration that is recorded of a branch itself, not of the line before it.
    pub fn own_config(&self, id: &BranchId) -> Result<Option<Manifest>, StoreError> {
        self.read(|conn| {
            let key = lineage::key(conn, id)?;
            let found: Option<Json<Manifest>> = conn
                .prepare_cached("SELECT config FROM branch WHERE id = ?1")?
                .query_row([key], |row| row.get(0))?;
            Ok(found.map(|json| json.0))
        })
    }

    /// What the forks on the way to a branch changed of the configuration, oldest first. A fork that was held changed nothing.
    pub fn changes(&self, id: &BranchId) -> Result<Vec<ConfigChange>, StoreError> {
        self.read(|conn| {
            let mut found = Vec::new();
            for segment in &Line::of(conn, id)?.segments {
                let made: Option<Json<Intervention>> = conn
                    .prepare_cached(
                        "SELECT i.body FROM branch b
                         JOIN intervention i ON i.session = b.session AND i.number = b.intervention
                         WHERE b.id = ?1 AND b.config IS NOT NULL",
                    )?
                    .query_row([segment.branch], |row| row.get(0))
                    .optional()?;
                found.extend(made.into_iter().flat_map(|Json(made)| made.changes));
            }
            Ok(found)
        })
    }

    /// The row of a branch that is this process's and whose run stands where it must.
    fn expect_run(
        &self,
        tx: &Transaction<'_>,
        id: &BranchId,
        allowed: &[RunStatus],
    ) -> Result<(i64, RunStatus), Fault> {
        let key = lineage::key(tx, id)?;
        let (run, owner): (RunStatus, Option<String>) = tx
            .prepare_cached("SELECT run, owner FROM branch WHERE id = ?1")?
            .query_row([key], |row| Ok((row.get::<_, Named<_>>(0)?.0, row.get(1)?)))?;
        if !allowed.contains(&run) {
            return Err(StoreError::Refused(format!(
                "branch {id} is {}: fork it to go on from one of its steps",
                run.name()
            ))
            .into());
        }
        if owner != Some(self.owner()?) {
            return Err(StoreError::Refused(format!(
                "branch {id} is run by another process: wait for it or fork the same step"
            ))
            .into());
        }
        Ok((key, run))
    }
}

/// The error of a step that does not continue its branch.
pub(super) fn out_of_turn(what: impl std::fmt::Display, index: usize, len: usize) -> Fault {
    StoreError::OutOfTurn {
        branch: what.to_string(),
        step: index,
        len,
    }
    .into()
}

/// What is recorded of the configuration of a line: of its branch, or else of the nearest before it.
pub(super) fn pinned(conn: &Connection, line: &Line, session: &str) -> Result<Pinned, Fault> {
    for segment in line.segments.iter().rev() {
        let found: Option<Json<Manifest>> = conn
            .prepare_cached("SELECT config FROM branch WHERE id = ?1")?
            .query_row([segment.branch], |row| row.get(0))?;
        if let Some(Json(config)) = found {
            return Ok(Pinned::Whole(config));
        }
    }
    let (_, session) = sessions::header(conn, session)?;
    Ok(match session.config {
        None => Pinned::Nothing,
        // A log without a runtime tells what it was written to tell.
        Some(config) if session.runtime.is_none() => Pinned::Told(config),
        Some(config) => Pinned::Whole(config),
    })
}

/// One branch by row.
pub(super) fn read(conn: &Connection, key: i64) -> Result<Branch, Fault> {
    Ok(conn
        .prepare_cached(&format!("{COLUMNS} WHERE b.id = ?1"))?
        .query_row([key], branch)?)
}

fn branch(row: &Row<'_>) -> rusqlite::Result<Branch> {
    let session: String = row.get(0)?;
    let name: String = row.get(1)?;
    let parent: Option<String> = row.get(2)?;
    Ok(Branch {
        id: BranchId::new(&session, &name),
        parent: parent.map(|parent| BranchId::new(&session, &parent)),
        fork_step: row.get(3)?,
        prefix_digest: row.get(4)?,
        intervention: row
            .get::<_, Option<usize>>(5)?
            .map(|number| format!("{session}/i{number}")),
        run_index: row.get(6)?,
        seed: row.get::<_, i64>(7)?.cast_unsigned(),
        runtime: row.get(8)?,
        gate: row.get::<_, Option<Named<_>>>(9)?.map(|named| named.0),
        run: row.get::<_, Named<_>>(10)?.0,
        diagnostic: row.get(11)?,
        fulfilled: row.get(12)?,
        success: row.get(13)?,
        answer: row.get(14)?,
        milestones: row.get::<_, Option<Json<_>>>(15)?.map(|json| json.0),
        reason: row.get(16)?,
        created: row.get(17)?,
        steps: row.get(18)?,
        operator: row.get(19)?,
        usage: row.get::<_, Option<Json<_>>>(20)?.map(|json| json.0),
        told: row.get(21)?,
    })
}
