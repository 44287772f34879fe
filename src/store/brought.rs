//! What a session file brings beside its original run: interventions, branches, hypotheses, marks. They are kept as the file tells them,
//! under the id that the session was given here. The prefix of each fork is digested anew; receipts of them there are none.

use std::collections::BTreeSet;

use rusqlite::{Transaction, params};

use super::Store;
use super::columns::Json;
use super::error::{Fault, StoreError};
use super::lineage::Line;
use super::{lineage, sessions, steps};
use crate::gate::receipt::Sealed;
use crate::model::{
    Branch, BranchId, BranchNote, Digest, Filed, GateStatus, Intervention, Manifest, MilestoneMark,
    RunStatus, Session,
};

/// What stands beside `main`, until the session is written.
#[derive(Default)]
pub(super) struct Brought {
    pub branches: Vec<BroughtBranch>,
    pub interventions: Vec<Intervention>,
    pub hypotheses: Vec<Filed>,
    pub marks: Vec<MilestoneMark>,
    pub notes: Vec<BranchNote>,
    pub receipts: Vec<Sealed>,
    /// What the file tells of the end of `main`.
    pub main: Option<Branch>,
}

/// A branch, and how many steps were pushed for it.
pub(super) struct BroughtBranch {
    pub branch: Branch,
    pub config: Option<Manifest>,
    pub len: usize,
}

/// An id of the file, as it is in this session.
fn here(session: &str, id: &BranchId) -> BranchId {
    BranchId::new(session, id.name())
}

/// The number in an id such as `night-picture/i3`.
fn number(id: &str, letter: char) -> Result<i64, Fault> {
    let name = id.rsplit('/').next().unwrap_or_default();
    let number = name.strip_prefix(letter).and_then(|n| n.parse().ok());
    number.filter(|number| *number > 0).ok_or_else(|| {
        StoreError::Refused(format!("{id} is no id such as night-picture/{letter}1")).into()
    })
}

impl Brought {
    /// The branches that say how they ended: until that is checked it is the file's word.
    pub(super) fn told(&self) -> BTreeSet<String> {
        let forks = self.branches.iter().map(|one| &one.branch);
        let all = forks.chain(&self.main).filter(|branch| branch.claims());
        all.map(|branch| branch.id.name().to_owned()).collect()
    }

    /// Writes the interventions, which the branches name.
    pub(super) fn write_interventions(
        &self,
        tx: &Transaction<'_>,
        key: i64,
        session: &str,
        now: &str,
    ) -> Result<(), Fault> {
        let mut most = 0;
        for made in &self.interventions {
            let number = number(&made.id, 'i')?;
            most = most.max(number);
            let kept = Intervention {
                id: format!("{session}/i{number}"),
                parent: here(session, &made.parent),
                created: or_now(&made.created, now),
                hypothesis: made
                    .hypothesis
                    .as_ref()
                    .map(|id| here(session, &BranchId::parse(id)).to_string()),
                ..made.clone()
            };
            tx.prepare_cached(
                "INSERT INTO intervention (session, number, body) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![key, number, Json(&kept)])?;
        }
        // The next ones are counted from here on.
        let named = |one: &BroughtBranch| number_of_branch(one.branch.id.name());
        let forks = self.branches.iter().filter_map(named).max().unwrap_or(0);
        let forks = forks.max(i64::try_from(self.branches.len()).unwrap_or(i64::MAX));
        tx.prepare_cached("UPDATE session SET forks = ?2, interventions = ?3 WHERE id = ?1")?
            .execute(params![key, forks, most])?;
        Ok(())
    }

    /// Writes hypotheses and marks, when all branches stand.
    pub(super) fn write_rest(
        &self,
        tx: &Transaction<'_>,
        key: i64,
        session: &str,
    ) -> Result<(), Fault> {
        for filed in &self.hypotheses {
            let number = number(&filed.id, 'h')?;
            let kept = Filed {
                id: format!("{session}/h{number}"),
                branch: here(session, &filed.branch),
                intervention: filed
                    .intervention
                    .as_ref()
                    .map(|id| here(session, &BranchId::parse(id)).to_string()),
                ..filed.clone()
            };
            tx.prepare_cached(
                "INSERT INTO hypothesis (session, number, body) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![key, number, Json(&kept)])?;
        }
        for mark in &self.marks {
            let branch = lineage::key(tx, &here(session, &mark.branch))?;
            tx.prepare_cached(
                "INSERT INTO mark (branch, milestone, step) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET step = excluded.step",
            )?
            .execute(params![branch, mark.milestone, mark.step])?;
        }
        for BranchNote { branch, note } in &self.notes {
            let line = Line::of(tx, &here(session, branch))?;
            let one = note.step..note.step.saturating_add(1);
            // It stands with the branch that owns the step.
            let Some((owner, _)) = line.clip(&one).next() else {
                return Err(steps::no_step(branch, note.step, line.len));
            };
            tx.prepare_cached(
                "INSERT INTO note (branch, step, text, operator, created) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO UPDATE SET text = excluded.text, operator = excluded.operator, created = excluded.created",
            )?
            .execute(params![owner, note.step, note.text, note.operator, note.created])?;
        }
        for (number, sealed) in (1_i64..).zip(&self.receipts) {
            tx.prepare_cached("INSERT INTO carried (session, number, body) VALUES (?1, ?2, ?3)")?
                .execute(params![key, number, Json(sealed)])?;
        }
        Ok(())
    }

    /// Writes what the file tells of the end of `main` over what was made of it.
    pub(super) fn write_main(&self, tx: &Transaction<'_>, branch: i64) -> Result<(), Fault> {
        let Some(told) = &self.main else {
            return Ok(());
        };
        tx.prepare_cached(
            "UPDATE branch SET runtime = ?2, gate = ?3, run = ?4, diagnostic = ?5, fulfilled = ?6, success = ?7, answer = ?8,
                    milestones = ?9, reason = ?10, created = ?11, operator = ?12, usage = ?13
             WHERE id = ?1",
        )?
        .execute(params![
            branch,
            told.runtime,
            told.gate.map(GateStatus::name),
            ended(told.run).name(),
            told.diagnostic,
            told.fulfilled,
            told.success,
            told.answer,
            told.milestones.map(Json),
            told.reason,
            told.created,
            told.operator,
            told.usage.as_ref().map(Json),
        ])?;
        Ok(())
    }
}

impl Store {
    /// Writes what was found out about the ends that a file tells of, and that it was: `session` names those that stay the file's word.
    pub fn settle_brought(&self, session: &Session, judged: &[Branch]) -> Result<(), StoreError> {
        self.write(|tx| {
            let (key, stored) = sessions::header(tx, &session.id)?;
            let settled = Session {
                told: session.told.clone(),
                coverage: session.coverage.clone(),
                ..stored
            };
            tx.prepare_cached("UPDATE session SET header = ?2 WHERE id = ?1")?
                .execute(params![key, Json(&settled)])?;
            for branch in judged {
                tx.prepare_cached(
                    "UPDATE branch SET gate = ?2, diagnostic = ?3, fulfilled = ?4, success = ?5, milestones = ?6 WHERE id = ?1",
                )?
                .execute(params![
                    lineage::key(tx, &branch.id)?,
                    branch.gate.map(GateStatus::name),
                    branch.diagnostic,
                    branch.fulfilled,
                    branch.success,
                    branch.milestones.map(Json),
                ])?;
            }
            Ok(())
        })
    }

    /// The digest of all steps of a branch, as its outcome's receipt has it.
    pub fn trajectory(&self, id: &BranchId) -> Result<Digest, StoreError> {
        self.read(|conn| {
            let line = Line::of(conn, id)?;
            steps::recorded_digest(conn, &line, line.len)?
                .ok_or_else(|| steps::no_step(id, line.len, line.len))
        })
    }

    /// The receipts that came with a session from the store that it was exported from.
    pub fn carried(&self, session: &str) -> Result<Vec<Sealed>, StoreError> {
        self.read(|conn| {
            let (key, _) = sessions::header(conn, session)?;
            let rows: rusqlite::Result<Vec<_>> = conn
                .prepare_cached("SELECT body FROM carried WHERE session = ?1 ORDER BY number")?
                .query_map([key], |row| Ok(row.get::<_, Json<_>>(0)?.0))?
                .collect();
            Ok(rows?)
        })
    }
}

/// How a run stands here, where nobody runs it.
fn ended(run: RunStatus) -> RunStatus {
    if run.is_over() {
        run
    } else {
        RunStatus::Interrupted
    }
}

/// When it was made; of what does not say so, when it was taken in.
fn or_now(created: &str, now: &str) -> String {
    if created.is_empty() { now } else { created }.to_owned()
}

fn number_of_branch(name: &str) -> Option<i64> {
    name.strip_prefix('b')?.parse().ok()
}

impl BroughtBranch {
    /// Writes the branch's row; its key, and whether its prefix is the one that the file says it was forked from.
    pub(super) fn write(
        &self,
        tx: &Transaction<'_>,
        key: i64,
        session: &str,
        now: &str,
    ) -> Result<(i64, bool), Fault> {
        let told = &self.branch;
        let no_parent = || StoreError::NoBranch(told.id.to_string());
        let parent = told.parent.as_ref().ok_or_else(no_parent)?;
        let at = told.fork_step.ok_or_else(no_parent)?;
        let line = Line::of(tx, &here(session, parent))?;
        let prefix = steps::recorded_digest(tx, &line, at)?
            .filter(|_| at < line.len)
            .ok_or_else(|| steps::no_step(parent, at, line.len))?;
        let intervention = told
            .intervention
            .as_ref()
            .map(|id| number(id, 'i'))
            .transpose()?;
        let run = ended(told.run);
        tx.execute(
            "INSERT INTO branch (session, name, parent, fork_step, prefix, intervention, run_index, seed, runtime, gate,
                                 run, diagnostic, fulfilled, success, answer, milestones, reason, created, steps,
                                 config, operator, usage)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)",
            params![
                key,
                told.id.name(),
                line.branch,
                at,
                prefix,
                intervention,
                told.run_index,
                told.seed.cast_signed(),
                told.runtime,
                told.gate.map(GateStatus::name),
                run.name(),
                told.diagnostic,
                told.fulfilled,
                told.success,
                told.answer,
                told.milestones.map(Json),
                told.reason,
                or_now(&told.created, now),
                self.len,
                self.config.as_ref().map(Json),
                told.operator,
                told.usage.as_ref().map(Json),
            ],
        )?;
        let same = told.prefix_digest.is_none_or(|digest| digest == prefix);
        Ok((tx.last_insert_rowid(), same))
    }
}
