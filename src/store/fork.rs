//! A fork: ids, facts, ruling and rows in one transaction, before anything runs. It writes no step.

use rusqlite::{Connection, params};

use super::Store;
use super::columns::Json;
use super::error::{Fault, StoreError};
use super::lineage::{self, Line};
use super::records::{ForkDecision, ForkDraft, ForkFacts, ForkRuling};
use super::{branches, effects, receipts, sessions, steps};
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
            if draft.seeds.is_empty() {
                let sentence = "a fork needs at least one run: nothing was written";
                return Err(StoreError::Refused(sentence.to_owned()).into());
            }
            let place = Place::find(tx, &draft.intervention.parent, draft.intervention.step)?;
            let facts = place.facts(tx, draft.seeds.len())?;
            let ruling = rule(&facts);
            let intervention = Intervention {
                id: format!("{}/i{}", place.session_name(), place.interventions + 1),
                created: self.inner.clock.now(),
                ..draft.intervention
            };
            let planned = if ruling.go { draft.seeds.len() } else { 1 };
            tx.prepare_cached(
                "UPDATE session SET forks = forks + ?2, interventions = interventions + 1 WHERE id = ?1",
            )?
            .execute(params![place.session, planned])?;
            tx.prepare_cached("INSERT INTO intervention (session, number, body) VALUES (?1, ?2, ?3)")?
                .execute(params![
                    place.session,
                    place.interventions + 1,
                    Json(&intervention)
                ])?;
            let owner = ruling.go.then(|| self.owner()).transpose()?;
            let run = if ruling.go { RunStatus::Planned } else { RunStatus::Held };
            let mut made = Vec::with_capacity(planned);
            for (i, (id, seed)) in facts.ids.iter().zip(&draft.seeds).take(planned).enumerate() {
                tx.prepare_cached(
                    "INSERT INTO branch (session, name, parent, fork_step, prefix, intervention, run_index, seed,
                                         runtime, gate, run, diagnostic, reason, created, steps, owner, config)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?4, ?15, ?16)",
                )?
                .execute(params![
                    place.session,
                    id.name(),
                    place.line.branch,
                    place.step,
                    place.recorded,
                    place.interventions + 1,
                    i + 1,
                    seed.cast_signed(),
                    draft.runtime,
                    ruling.gate.name(),
                    run.name(),
                    ruling.diagnostic,
                    ruling.reason,
                    intervention.created,
                    owner,
                    ruling.receipt.config.as_ref().filter(|_| ruling.go).map(Json),
                ])?;
                made.push(branches::read(tx, tx.last_insert_rowid())?);
            }
            let receipt =
                receipts::forked(tx, &intervention, place.recorded, &made, &ruling)?;
            self.receipt(tx, receipt)?;
            for decision in ruling.receipt.decisions.iter().filter(|_| ruling.go) {
                let ForkDecision { about, what, word, evidence } = decision;
                let (parent, operator) = (&intervention.parent, &intervention.operator);
                self.receipt(tx, receipts::decided(*about, parent, what, *word, evidence, operator))?;
            }
            Ok((intervention, made))
        })
    }

    /// What a fork of `runs` branches would find now. Writes nothing; the ids may be others when the fork is made.
    pub fn fork_facts(
        &self,
        parent: &BranchId,
        step: usize,
        runs: usize,
    ) -> Result<ForkFacts, StoreError> {
        self.read(|conn| Place::find(conn, parent, step)?.facts(conn, runs))
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
    interventions: usize,
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

    fn facts(&self, tx: &Connection, runs: usize) -> Result<ForkFacts, Fault> {
        let ids = (1..=runs)
            .map(|i| BranchId::new(self.session_name(), &format!("b{}", self.forks + i)))
            .collect();
        let mut ancestors = Vec::new();
        for segment in self.line.segments.iter().rev().skip(1) {
            ancestors.push(branches::read(tx, segment.branch)?.id);
        }
        let mut effects = effects::of_line(tx, &self.line)?;
        effects.retain(|effect| effect.step >= self.step);
        Ok(ForkFacts {
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
