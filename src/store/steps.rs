//! Steps: written once, read by range. A row holds what a list shows; the content stands apart, by its digest.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::Store;
use super::columns::{Json, Named};
use super::error::{Fault, StoreError};
use super::lineage::Line;
use crate::model::{BranchId, Digest, Step, StepHead, StepKind, Trial, trials};

const WHOLE: &str = "SELECT s.idx, s.agent, s.kind, s.recipient, s.meta, c.text
     FROM step s CROSS JOIN content c ON c.digest = s.content
     WHERE s.branch = ?1 AND s.idx >= ?2 AND s.idx < ?3 ORDER BY s.idx";

impl Store {
    /// How many steps a branch has, inherited ones included.
    pub fn step_count(&self, id: &BranchId) -> Result<usize, StoreError> {
        self.read(|conn| Ok(Line::of(conn, id)?.len))
    }

    /// Steps of a branch, inherited ones included. What lies past the end is left out.
    pub fn steps(&self, id: &BranchId, range: Range<usize>) -> Result<Vec<Step>, StoreError> {
        self.read(|conn| Line::of(conn, id)?.collect(conn, &range, WHOLE, whole))
    }

    /// One step.
    pub fn step(&self, id: &BranchId, index: usize) -> Result<Step, StoreError> {
        self.read(|conn| {
            let line = Line::of(conn, id)?;
            let mut found = line.collect(conn, &(index..index.saturating_add(1)), WHOLE, whole)?;
            found.pop().ok_or_else(|| no_step(id, index, line.len))
        })
    }

    /// Steps as a list shows them. Costs the length of the range.
    pub fn heads(&self, id: &BranchId, range: Range<usize>) -> Result<Vec<StepHead>, StoreError> {
        const HEADS: &str = "SELECT idx, agent, kind, recipient, head, len, error FROM step
             WHERE branch = ?1 AND idx >= ?2 AND idx < ?3 ORDER BY idx";
        self.read(|conn| Line::of(conn, id)?.collect(conn, &range, HEADS, head))
    }

    /// What an alignment needs of each step, without its content: a digest over agent, kind, recipient and text, the agent, the kind.
    pub fn digests(
        &self,
        id: &BranchId,
        range: Range<usize>,
    ) -> Result<Vec<(Digest, String, StepKind)>, StoreError> {
        const DIGESTS: &str = "SELECT agent, kind, recipient, content FROM step
             WHERE branch = ?1 AND idx >= ?2 AND idx < ?3 ORDER BY idx";
        self.read(|conn| {
            Line::of(conn, id)?.collect(conn, &range, DIGESTS, |row| {
                let agent: String = row.get(0)?;
                let kind: StepKind = row.get::<_, Named<_>>(1)?.0;
                let to: Option<String> = row.get(2)?;
                let content: Digest = row.get(3)?;
                let digest = Digest::of_fields([
                    agent.as_bytes(),
                    kind.name().as_bytes(),
                    to.as_deref().unwrap_or_default().as_bytes(),
                    content.bytes(),
                ]);
                Ok((digest, agent, kind))
            })
        })
    }

    /// The branch's trials. Costs their number, from the index over the plans.
    pub fn trials(&self, id: &BranchId) -> Result<Vec<Trial>, StoreError> {
        self.read(|conn| trials_of(conn, &Line::of(conn, id)?))
    }
}

/// The trials of a line, from the index over its plans.
pub(super) fn trials_of(conn: &Connection, line: &Line) -> Result<Vec<Trial>, Fault> {
    const PLANS: &str = "SELECT idx FROM step
         WHERE branch = ?1 AND idx >= ?2 AND idx < ?3 AND kind = 'plan' ORDER BY idx";
    const AFTER_TASK: &str = "SELECT idx FROM step
         WHERE branch = ?1 AND idx >= ?2 AND idx < ?3 AND kind NOT IN ('task', 'control') ORDER BY idx";
    let all = 0..line.len;
    let plans = line.collect(conn, &all, PLANS, |row| row.get(0))?;
    let mut after_task = line.len;
    line.each(conn, &all, AFTER_TASK, |row| {
        after_task = row.get(0)?;
        Ok(false)
    })?;
    Ok(trials(&plans, after_task, line.len))
}

/// Digest over a prefix, recomputed from what is stored.
pub(super) fn prefix_digest(conn: &Connection, line: &Line, end: usize) -> Result<Digest, Fault> {
    let mut chain = Digest::ZERO;
    line.each(conn, &(0..end), WHOLE, |row| {
        chain = chain.chain(whole(row)?.digest());
        Ok(true)
    })?;
    Ok(chain)
}

/// Digest over a prefix, as it was recorded when its last step was written; none if a row is missing.
pub(super) fn recorded_digest(
    conn: &Connection,
    line: &Line,
    end: usize,
) -> Result<Option<Digest>, Fault> {
    let Some(last) = end.checked_sub(1) else {
        return Ok(Some(Digest::ZERO));
    };
    let Some((branch, _)) = line.clip(&(last..end)).next() else {
        return Ok(None);
    };
    Ok(conn
        .prepare_cached("SELECT chain FROM step WHERE branch = ?1 AND idx = ?2")?
        .query_row(params![branch, last], |row| row.get(0))
        .optional()?)
}

/// Writes one step behind the prefix that `chain` is the digest of; returns the digest with it.
pub(super) fn insert(
    tx: &Transaction<'_>,
    branch: i64,
    step: &Step,
    chain: Digest,
) -> Result<Digest, Fault> {
    let chain = chain.chain(step.digest());
    let head = StepHead::of(step);
    let meta = (!step.meta.is_empty()).then_some(Json(&step.meta));
    tx.prepare_cached(
        "INSERT INTO step (branch, idx, agent, kind, recipient, content, head, len, error, meta, chain)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(params![
        branch,
        step.index,
        step.agent,
        step.kind.name(),
        step.to,
        keep(tx, &step.text)?,
        head.head,
        head.len,
        head.error,
        meta,
        chain,
    ])?;
    Ok(chain)
}

/// Stores a content unless it is there already; returns its digest.
pub(super) fn keep(tx: &Transaction<'_>, text: &str) -> rusqlite::Result<Digest> {
    let digest = Digest::of(text);
    tx.prepare_cached("INSERT INTO content (digest, text) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
        .execute(params![digest, text])?;
    Ok(digest)
}

/// The error of a step that is not there.
pub(super) fn no_step(id: &BranchId, step: usize, len: usize) -> Fault {
    Fault::Told(StoreError::NoStep {
        branch: id.to_string(),
        step,
        len,
    })
}

/// A step as a list shows it.
pub(super) fn head(row: &Row<'_>) -> rusqlite::Result<StepHead> {
    Ok(StepHead {
        index: row.get(0)?,
        agent: row.get(1)?,
        kind: row.get::<_, Named<_>>(2)?.0,
        to: row.get(3)?,
        head: row.get(4)?,
        len: row.get(5)?,
        error: row.get(6)?,
    })
}

fn whole(row: &Row<'_>) -> rusqlite::Result<Step> {
    Ok(Step {
        index: row.get(0)?,
        agent: row.get(1)?,
        kind: row.get::<_, Named<_>>(2)?.0,
        to: row.get(3)?,
        meta: row
            .get::<_, Option<Json<_>>>(4)?
            .map(|json| json.0)
            .unwrap_or_default(),
        text: row.get(5)?,
    })
}
