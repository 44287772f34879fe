//! A branch's way back to `main`, resolved once per call: which steps of which branch make up its trajectory.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::error::{Fault, StoreError};
use crate::model::BranchId;

/// What one branch of the line contributes. May be empty: a fork before its parent's own fork step takes nothing of the parent's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The branch's row.
    pub(super) branch: i64,
    /// The steps of the trajectory that are its own.
    pub(super) steps: Range<usize>,
    /// Own records count up to here; for the branch itself there is no limit.
    pub(super) limit: i64,
}

/// The line of a branch, `main` first.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The branch's row.
    pub(super) branch: i64,
    /// How many steps it has.
    pub(super) len: usize,
    /// Its way from `main` to itself.
    pub(super) segments: Vec<Segment>,
}

/// The row of a branch.
pub(super) fn key(conn: &Connection, id: &BranchId) -> Result<i64, Fault> {
    conn.prepare_cached(
        "SELECT b.id FROM branch b JOIN session s ON s.id = b.session WHERE s.name = ?1 AND b.name = ?2",
    )?
    .query_row(params![id.session(), id.name()], |row| row.get(0))
    .optional()?
    .ok_or_else(|| StoreError::NoBranch(id.to_string()).into())
}

impl Line {
    /// Resolves a branch by id.
    pub(super) fn of(conn: &Connection, id: &BranchId) -> Result<Self, Fault> {
        Self::of_key(conn, key(conn, id)?)
    }

    /// Resolves a branch by row.
    pub(super) fn of_key(conn: &Connection, branch: i64) -> Result<Self, Fault> {
        let mut statement = conn.prepare_cached(
            "WITH RECURSIVE line (id, parent, fork_step, steps, depth) AS (
                 SELECT id, parent, fork_step, steps, 0 FROM branch WHERE id = ?1
                 UNION ALL
                 SELECT b.id, b.parent, b.fork_step, b.steps, depth + 1
                 FROM line JOIN branch b ON b.id = line.parent)
             SELECT id, coalesce(fork_step, 0), steps FROM line ORDER BY depth",
        )?;
        let mut rows = statement.query([branch])?;
        let mut segments = Vec::new();
        let mut len = 0;
        let mut end = usize::MAX;
        while let Some(row) = rows.next()? {
            let (id, start): (i64, usize) = (row.get(0)?, row.get(1)?);
            let own = segments.is_empty();
            if own {
                len = row.get(2)?;
                end = len;
            }
            segments.push(Segment {
                branch: id,
                steps: start.min(end)..end,
                limit: if own {
                    i64::MAX
                } else {
                    i64::try_from(end).unwrap_or(i64::MAX)
                },
            });
            end = end.min(start);
        }
        segments.reverse();
        Ok(Self {
            branch,
            len,
            segments,
        })
    }

    /// The parts of a range, each within one branch's own steps. What lies past the end is left out.
    pub(super) fn clip(&self, range: &Range<usize>) -> impl Iterator<Item = (i64, Range<usize>)> {
        self.segments.iter().filter_map(move |segment| {
            let start = segment.steps.start.max(range.start);
            let end = segment.steps.end.min(range.end);
            (start < end).then_some((segment.branch, start..end))
        })
    }

    /// Hands out the rows of a range in order. The statement takes branch, start and end as ?1, ?2, ?3; answering `false` ends it.
    pub(super) fn each(
        &self,
        conn: &Connection,
        range: &Range<usize>,
        sql: &str,
        mut f: impl FnMut(&Row<'_>) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        let mut statement = conn.prepare_cached(sql)?;
        for (branch, part) in self.clip(range) {
            let mut rows = statement.query(params![branch, part.start, part.end])?;
            while let Some(row) = rows.next()? {
                if !f(row)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// [`Self::each`] row as a value.
    pub(super) fn collect<T>(
        &self,
        conn: &Connection,
        range: &Range<usize>,
        sql: &str,
        mut f: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Fault> {
        let mut found = Vec::with_capacity(range.len().min(self.len));
        self.each(conn, range, sql, |row| {
            found.push(f(row)?);
            Ok(true)
        })?;
        Ok(found)
    }
}
