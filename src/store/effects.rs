//! Effects: what a branch did to the world outside. An effect itself never changes; where it stands does, as evidence comes in.
//!
//! What is learned about an effect is true of the world, so every branch that inherits the effect sees it.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::Store;
use super::columns::Json;
use super::error::{Fault, StoreError};
use super::lineage::Line;
use super::receipts;
use crate::gate::receipt::About;
use crate::model::{BranchId, Effect, EffectState};

impl Store {
    /// All effects of a branch, inherited ones included.
    pub fn effects(&self, id: &BranchId) -> Result<Vec<Effect>, StoreError> {
        self.read(|conn| of_line(conn, &Line::of(conn, id)?))
    }

    /// Records where an effect stands, the evidence or decision for it, and who said so; the receipt goes with it. Whatever tools
    /// share the key, it is said of them all.
    pub fn set_effect(
        &self,
        id: &BranchId,
        operation_key: &str,
        state: EffectState,
        evidence: &str,
        operator: &str,
    ) -> Result<(), StoreError> {
        self.settle(id, None, operation_key, state, evidence, operator)
    }

    /// The same of one tool's effects alone: a destination answers for nobody else.
    pub fn set_effect_of(
        &self,
        id: &BranchId,
        of: &Effect,
        evidence: &str,
        operator: &str,
    ) -> Result<(), StoreError> {
        let (key, state) = (&of.operation_key, of.state);
        self.settle(id, Some(&of.tool), key, state, evidence, operator)
    }

    /// What the newest call of a tool with exactly these arguments answered, whichever run it was in; none if no such answer was kept.
    /// Looks through all effects of the store.
    pub fn answer_on_record(&self, of: &Effect) -> Result<Option<String>, StoreError> {
        self.read(|conn| {
            let found = conn
                .prepare_cached(
                    "SELECT json_extract(body, '$.result') FROM effect
                     WHERE json_extract(body, '$.tool') = ?1 AND json_extract(body, '$.args_sha256') = ?2
                       AND json_extract(body, '$.result') IS NOT NULL
                     ORDER BY branch DESC, seq DESC LIMIT 1",
                )?
                .query_row(params![of.tool, of.args_sha256.to_string()], |row| row.get(0))
                .optional()?;
            Ok(found)
        })
    }

    fn settle(
        &self,
        id: &BranchId,
        tool: Option<&str>,
        operation_key: &str,
        state: EffectState,
        evidence: &str,
        operator: &str,
    ) -> Result<(), StoreError> {
        self.write(|tx| {
            let line = Line::of(tx, id)?;
            let mut found = false;
            for segment in &line.segments {
                for (seq, mut effect) in rows(tx, segment.branch, segment.limit)? {
                    let meant = tool.is_none_or(|tool| tool == effect.tool);
                    if meant && effect.operation_key == operation_key {
                        found = true;
                        effect.state = state;
                        effect.evidence = Some(evidence.to_owned());
                        tx.prepare_cached(
                            "UPDATE effect SET body = ?3 WHERE branch = ?1 AND seq = ?2",
                        )?
                        .execute(params![
                            segment.branch,
                            seq,
                            Json(effect)
                        ])?;
                    }
                }
            }
            if found {
                let receipt = receipts::decided(
                    About::Effect,
                    id,
                    operation_key,
                    state.into(),
                    evidence,
                    operator,
                );
                return self.receipt(tx, receipt);
            }
            Err(StoreError::Refused(format!(
                "branch {id} has no effect with the operation key '{operation_key}': see its effects"
            ))
            .into())
        })
    }
}

/// The effects of a whole line, in the order in which they happened.
pub(super) fn of_line(conn: &Connection, line: &Line) -> Result<Vec<Effect>, Fault> {
    let mut found = Vec::new();
    for segment in &line.segments {
        found.extend(
            rows(conn, segment.branch, segment.limit)?
                .into_iter()
                .map(|(_, effect)| effect),
        );
    }
    Ok(found)
}

/// Writes what a step did, behind the branch's earlier effects.
pub(super) fn insert(tx: &Transaction<'_>, branch: i64, effects: &[Effect]) -> Result<(), Fault> {
    for effect in effects {
        tx.prepare_cached(
            "INSERT INTO effect (branch, seq, step, operation_key, body)
             SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4 FROM effect WHERE branch = ?1",
        )?
        .execute(params![
            branch,
            effect.step,
            effect.operation_key,
            Json(effect)
        ])?;
    }
    Ok(())
}

fn rows(conn: &Connection, branch: i64, limit: i64) -> rusqlite::Result<Vec<(i64, Effect)>> {
    conn.prepare_cached(
        "SELECT seq, body FROM effect WHERE branch = ?1 AND step < ?2 ORDER BY seq",
    )?
    .query_map(params![branch, limit], |row| {
        Ok((row.get(0)?, row.get::<_, Json<_>>(1)?.0))
    })?
    .collect()
}
