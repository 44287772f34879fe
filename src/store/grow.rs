//! The `main` of a log that is still being written gets longer: steps are added behind those it has, in one transaction.

use rusqlite::params;

use super::columns::Json;
use super::error::StoreError;
use super::lineage::{self, Line};
use super::records::Grown;
use super::{Store, branches, checkpoints, effects, sessions, steps};
use crate::model::{BranchId, Session};

impl Store {
    /// Adds what a log was found to have beyond the steps of `main`. What a person set on the session stays as it is.
    pub fn grow(&self, id: &str, grown: &Grown) -> Result<(), StoreError> {
        let main = BranchId::main(id);
        self.write(|tx| {
            let key = lineage::key(tx, &main)?;
            let before = branches::read(tx, key)?;
            if !before.run.is_over() {
                return Err(StoreError::Refused(format!(
                    "branch {main} is {}: a log is added to a run that is over",
                    before.run.name()
                ))
                .into());
            }
            let line = Line::of_key(tx, key)?;
            let mut chain = steps::recorded_digest(tx, &line, line.len)?
                .ok_or_else(|| steps::no_step(&main, line.len.saturating_sub(1), line.len))?;
            let mut len = line.len;
            for (step, checkpoint, made) in &grown.steps {
                if step.index != len {
                    return Err(branches::out_of_turn(&main, step.index, len));
                }
                chain = steps::insert(tx, key, step, chain)?;
                if let Some(checkpoint) = checkpoint {
                    checkpoints::insert(tx, key, step.index, checkpoint)?;
                }
                effects::insert(tx, key, made)?;
                sessions::count_trial(tx, key, step)?;
                len += 1;
            }
            tx.prepare_cached(
                "UPDATE branch SET steps = ?2, answer = ?3, success = ?4 WHERE id = ?1",
            )?
            .execute(params![key, len, grown.answer, grown.success])?;
            let (session, stored) = sessions::header(tx, id)?;
            let now = Session {
                agents: grown.session.agents.clone(),
                coverage: grown.session.coverage.clone(),
                config: grown.session.config.clone(),
                source_digest: grown.session.source_digest,
                ..stored
            };
            tx.prepare_cached("UPDATE session SET header = ?2, source_digest = ?3 WHERE id = ?1")?
                .execute(params![session, Json(&now), now.source_digest])?;
            let line = Line::of_key(tx, key)?;
            let looked = self.looked(line.branch);
            sessions::count_reached(tx, session, &line, &now.milestones, looked)
        })
    }
}
