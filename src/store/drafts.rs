//! Edits that were not sent yet, so that they outlive the screen on which they were typed.

use rusqlite::params;

use super::Store;
use super::error::StoreError;
use super::lineage::{self, Line};
use super::records::Unsent;
use super::{hypotheses, sessions, steps};
use crate::model::BranchId;

impl Store {
    /// The edits of a session that were not sent, by branch and step.
    pub fn drafts(&self, session: &str) -> Result<Vec<Unsent>, StoreError> {
        self.read(|conn| {
            let (key, _) = sessions::header(conn, session)?;
            let rows: rusqlite::Result<Vec<_>> = conn
                .prepare_cached(
                    "SELECT b.name, d.step, d.text, d.operator, d.hypothesis
                     FROM draft d JOIN branch b ON b.id = d.branch
                     WHERE b.session = ?1 ORDER BY b.id, d.step",
                )?
                .query_map([key], |row| {
                    let name: String = row.get(0)?;
                    Ok(Unsent {
                        branch: BranchId::new(session, &name),
                        step: row.get(1)?,
                        text: Some(row.get(2)?),
                        operator: row.get(3)?,
                        tests: row
                            .get::<_, Option<i64>>(4)?
                            .map(|number| format!("{session}/h{number}")),
                    })
                })?
                .collect();
            Ok(rows?)
        })
    }

    /// Keeps an edit in the place of the one before; without a text there is none any more.
    pub fn keep_draft(&self, unsent: &Unsent) -> Result<(), StoreError> {
        let Unsent {
            branch,
            step,
            text,
            tests,
            operator,
        } = unsent;
        let hypothesis = tests.as_deref().and_then(hypotheses::number);
        self.write(|tx| {
            let key = lineage::key(tx, branch)?;
            let line = Line::of_key(tx, key)?;
            if *step >= line.len {
                return Err(steps::no_step(branch, *step, line.len));
            }
            match text {
                Some(text) => tx
                    .prepare_cached(
                        "INSERT INTO draft (branch, step, text, operator, created, hypothesis) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                         ON CONFLICT DO UPDATE SET text = excluded.text, operator = excluded.operator, created = excluded.created,
                                                   hypothesis = excluded.hypothesis",
                    )?
                    .execute(params![key, step, text, operator, self.inner.clock.now(), hypothesis])?,
                None => tx
                    .prepare_cached("DELETE FROM draft WHERE branch = ?1 AND step = ?2")?
                    .execute(params![key, step])?,
            };
            Ok(())
        })
    }
}
