//! A fork: ids, facts, ruling and rows in one transaction, before anything runs. It writes no step.

use rusqlite::{Connection, params};

use super::Store;
use super::columns::Json;
use super::error::{Fault, StoreError};
use super::lineage::{self, Line};
use super::records::{ForkDecision, ForkDraft, ForkFacts, ForkRuling};
use super::{approvals, branches, effects, receipts, sessions, steps};
use crate::model::{Branch, BranchId, Digest, Intervention, RunStatus};

impl Store {
    /// Forks in one transaction: gives ids, reads the facts, asks for the ruling, writes the intervention and n branches
    /// (`planned`), or one `held` branch when the ruling is not to go. The ruling must not write to the store itself.
    pub fn fork(
        &self,
        draft: ForkDraft,
        rule: &mut dyn FnMut(&ForkFacts) -> ForkRuling,
    ) -> Result<(Intervention, Vec<Branch>), StoreError> {
        self.write(|tx| {
            if draft.runs.is_empty() {
                let sentence = "a fork needs at least one run: nothing was written";
                return Err(StoreError::Refused(sentence.to_owned()).into());
            }
            let place = Place::find(tx, &draft.intervention.parent, draft.intervention.step)?;
            let again = Some(draft.intervention.id.clone()).filter(|id| !id.is_empty());
            let facts = place.facts(tx, draft.runs.len(), again.as_deref(), self.inner.clock.now())?;
            let ruling = rule(&facts);
            let planned = if ruling.go { draft.runs.len() } else { 1 };
            tx.prepare_cached("UPDATE session SET forks = forks + ?2 WHERE id = ?1")?
                .execute(params![place.session, planned])?;
            let asked = Intervention {
                config: ruling.receipt.settled(),
                ..draft.intervention
            };
            let (number, intervention) = match again {
                Some(_) => held_before(tx, asked)?,
                None => place.write(tx, asked, &facts)?,
            };
            if let Some((_, approval)) = ruling.receipt.approval.as_ref().filter(|_| ruling.go) {
                approvals::spend(tx, &intervention.id, approval)?;
            }
            let owner = ruling.go.then(|| self.owner()).transpose()?;
            let run = if ruling.go { RunStatus::Planned } else { RunStatus::Held };
            let mut made = Vec::with_capacity(planned);
            for (id, (index, seed)) in facts.ids.iter().zip(&draft.runs).take(planned) {
                tx.prepare_cached(
                    "INSERT INTO branch (session, name, parent, fork_step, prefix, intervention, run_index, seed,
                                         runtime, gate, run, diagnostic, reason, created, steps, owner, config, operator)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?4, ?15, ?16, ?17)",
                )?
                .execute(params![
                    place.session,
                    id.name(),
                    place.line.branch,
                    place.step,
                    place.recorded,
                    number,
                    index,
                    seed.cast_signed(),
                    draft.runtime,
                    ruling.gate.name(),
                    run.name(),
                    ruling.diagnostic,
                    ruling.reason,
                    facts.now,
                    owner,
                    ruling.receipt.config.as_ref().filter(|_| ruling.go).map(Json),
                    draft.operator,
                ])?;
                made.push(branches::read(tx, tx.last_insert_rowid())?);
            }
            let receipt =
                receipts::forked(tx, &intervention, &draft.operator, place.recorded, &made, &ruling)?;
            self.receipt(tx, receipt)?;
            for decision in ruling.receipt.decisions.iter().filter(|_| ruling.go) {
                let ForkDecision { about, what, word, evidence } = decision;
                let (parent, operator) = (&intervention.parent, &draft.operator);
                self.receipt(tx, receipts::decided(*about, parent, what, *word, evidence, operator))?;
            }
            Ok((intervention, made))
        })
    }

    /// What a fork of `runs` branches would find now, of a new intervention or of one tried again. Writes nothing; the ids may
    /// be others when the fork is made.
    pub fn fork_facts(
        &self,
        parent: &BranchId,
        step: usize,
        runs: usize,
        again: Option<&str>,
    ) -> Result<ForkFacts, StoreError> {
        let now = self.inner.clock.now();
        self.read(|conn| Place::find(conn, parent, step)?.facts(conn, runs, again, now))
    }

    /// All interventions of a session, oldest first.
    pub fn interventions(&self, session: &str) -> Result<Vec<Intervention>, StoreError> {
        self.read(|conn| {
            let (key, _) = sessions::header(conn, session)?;
            let rows: rusqlite::Result<Vec<_>> = conn
                .prepare_cached("SELECT body FROM intervention WHERE session = ?1 ORDER BY number")?
                .query_map([key], |row| Ok(row.get::<_, Json<_>>(0)?.0))?
                .collect();
            Ok(rows?)
        })
    }
}

/// Where a fork hangs.
struct Place {
    session: i64,
    parent: BranchId,
    line: Line,
    step: usize,
    recorded: Digest,
    forks: usize,
    interventions: i64,
}

impl Place {
    fn find(tx: &Connection, parent: &BranchId, step: usize) -> Result<Self, Fault> {
        let line = Line::of_key(tx, lineage::key(tx, parent)?)?;
        if step >= line.len {
            return Err(steps::no_step(parent, step, line.len));
        }
        let recorded = steps::recorded_digest(tx, &line, step)?
            .ok_or_else(|| steps::no_step(parent, step, line.len))?;
        let (session, forks, interventions) = tx
            .prepare_cached("SELECT id, forks, interventions FROM session WHERE name = ?1")?
            .query_row([parent.session()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        Ok(Self {
            session,
            parent: parent.clone(),
            line,
            step,
            recorded,
            forks,
            interventions,
        })
    }

    fn session_name(&self) -> &str {
        self.parent.session()
    }

    /// Writes a new intervention; its number and what it is now.
    fn write(
        &self,
        tx: &Connection,
        draft: Intervention,
        facts: &ForkFacts,
    ) -> Result<(i64, Intervention), Fault> {
        let number = self.interventions + 1;
        let intervention = Intervention {
            id: facts.intervention.clone(),
            created: facts.now.clone(),
            ..draft
        };
        tx.prepare_cached("UPDATE session SET interventions = ?2 WHERE id = ?1")?
            .execute(params![self.session, number])?;
        tx.prepare_cached("INSERT INTO intervention (session, number, body) VALUES (?1, ?2, ?3)")?
            .execute(params![self.session, number, Json(&intervention)])?;
        Ok((number, intervention))
    }

    fn facts(
        &self,
        tx: &Connection,
        runs: usize,
        again: Option<&str>,
        now: String,
    ) -> Result<ForkFacts, Fault> {
        let ids = (1..=runs)
            .map(|i| BranchId::new(self.session_name(), &format!("b{}", self.forks + i)))
            .collect();
        let mut ancestors = Vec::new();
        for segment in self.line.segments.iter().rev().skip(1) {
            ancestors.push(branches::read(tx, segment.branch)?.id);
        }
        let mut effects = effects::of_line(tx, &self.line)?;
        effects.retain(|effect| effect.step >= self.step);
        let (_, session) = sessions::header(tx, self.session_name())?;
        let intervention = again.map_or_else(
            || format!("{}/i{}", self.session_name(), self.interventions + 1),
            str::to_owned,
        );
        Ok(ForkFacts {
            workflow: session.workflow(),
            approvals: match again {
                Some(id) => approvals::of(tx, id)?,
                None => Vec::new(),
            },
            intervention,
            now,
            ids,
            parent: Some(branches::read(tx, self.line.branch)?),
            ancestors,
            prefix_digest: Some(steps::prefix_digest(tx, &self.line, self.step)?),
            recorded_digest: Some(self.recorded),
            effects,
            config: branches::pinned(tx, &self.line, self.session_name())?,
        })
    }
}

/// The intervention that is tried again, exactly as it stands: an edit that was changed is another intervention.
fn held_before(tx: &Connection, draft: Intervention) -> Result<(i64, Intervention), Fault> {
    let (session, number) = approvals::place(tx, &draft.id)?;
    let stored: Intervention = tx
        .prepare_cached("SELECT body FROM intervention WHERE session = ?1 AND number = ?2")?
        .query_row(params![session, number], |row| {
            Ok(row.get::<_, Json<_>>(0)?.0)
        })?;
    let now = Intervention {
        // What was settled once is what an owner approves until something else is settled.
        config: draft.config.or(stored.config),
        ..draft
    };
    let same = Intervention {
        config: stored.config,
        ..now.clone()
    };
    if same == stored {
        tx.prepare_cached("UPDATE intervention SET body = ?3 WHERE session = ?1 AND number = ?2")?
            .execute(params![session, number, Json(&now)])?;
        return Ok((number, now));
    }
    Err(StoreError::Refused(format!(
        "{} is not what it was when it was held: nothing was written. Fork anew",
        stored.id
    ))
    .into())
}
