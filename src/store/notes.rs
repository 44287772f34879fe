//! Marks and notes on steps. They stand with the branch that owns the step, so that each fork inherits those on its prefix.

use std::ops::Range;

use rusqlite::{OptionalExtension, Row, params};

use super::error::StoreError;
use super::lineage::Line;
use super::{Store, sessions, steps};
use crate::model::{BranchId, BranchNote, Note, StepHead};

fn note(row: &Row<'_>) -> rusqlite::Result<Note> {
    Ok(Note {
        step: row.get(0)?,
        text: row.get(1)?,
        operator: row.get(2)?,
        created: row.get(3)?,
    })
}

impl Store {
    /// The notes on a branch's steps, inherited ones included, by step.
    pub fn notes(&self, id: &BranchId) -> Result<Vec<Note>, StoreError> {
        self.read(|conn| {
            let line = Line::of(conn, id)?;
            line.collect(
                conn,
                &(0..line.len),
                "SELECT step, text, operator, created FROM note
                 WHERE branch = ?1 AND step >= ?2 AND step < ?3 ORDER BY step",
                note,
            )
        })
    }

    /// All notes of a session, by branch and step.
    pub fn all_notes(&self, session: &str) -> Result<Vec<BranchNote>, StoreError> {
        self.read(|conn| {
            let (key, _) = sessions::header(conn, session)?;
            let rows: rusqlite::Result<Vec<_>> = conn
                .prepare_cached(
                    "SELECT n.step, n.text, n.operator, n.created, b.name FROM note n JOIN branch b ON b.id = n.branch
                     WHERE b.session = ?1 ORDER BY b.id, n.step",
                )?
                .query_map([key], |row| {
                    Ok(BranchNote {
                        branch: BranchId::new(session, &row.get::<_, String>(4)?),
                        note: note(row)?,
                    })
                })?
                .collect();
            Ok(rows?)
        })
    }

    /// Writes the note of a step in the place of the one before; without words it is a mark, none takes it away. What somebody
    /// else wrote since `was` was read is kept: the words come behind it.
    pub fn keep_note(
        &self,
        id: &BranchId,
        step: usize,
        text: Option<&str>,
        was: &str,
        operator: &str,
    ) -> Result<(), StoreError> {
        self.write(|tx| {
            let line = Line::of(tx, id)?;
            let Some((branch, _)) = line.clip(&(step..step.saturating_add(1))).next() else {
                return Err(steps::no_step(id, step, line.len));
            };
            let stored: Option<String> = tx
                .prepare_cached("SELECT text FROM note WHERE branch = ?1 AND step = ?2")?
                .query_row(params![branch, step], |row| row.get(0))
                .optional()?;
            let joined = match (stored, text) {
                (Some(theirs), _) if theirs.is_empty() || theirs == was => None,
                (Some(theirs), Some(mine)) if !mine.is_empty() && mine != theirs => {
                    Some(format!("{theirs}; {mine}"))
                }
                (Some(_), _) => return Ok(()),
                (None, _) => None,
            };
            match joined.as_deref().or(text) {
                Some(text) => tx
                    .prepare_cached(
                        "INSERT INTO note (branch, step, text, operator, created) VALUES (?1, ?2, ?3, ?4, ?5)
                         ON CONFLICT DO UPDATE SET text = excluded.text, operator = excluded.operator, created = excluded.created",
                    )?
                    .execute(params![branch, step, text, operator, self.inner.clock.now()])?,
                None => tx
                    .prepare_cached("DELETE FROM note WHERE branch = ?1 AND step = ?2")?
                    .execute(params![branch, step])?,
            };
            Ok(())
        })
    }

    /// The steps of a range that report a failure. Costs a look at every step of it, at no content.
    pub fn failures(
        &self,
        id: &BranchId,
        range: Range<usize>,
    ) -> Result<Vec<StepHead>, StoreError> {
        const FAILED: &str = "SELECT idx, agent, kind, recipient, head, len, error FROM step
             WHERE branch = ?1 AND idx >= ?2 AND idx < ?3 AND error ORDER BY idx";
        self.read(|conn| {
            let line = Line::of(conn, id)?;
            let mut found = Vec::new();
            line.each(conn, &range, FAILED, |row| {
                found.push(steps::head(row)?);
                Ok(true)
            })?;
            Ok(found)
        })
    }
}
