//! Sessions as they were taken in, and what a person may set on them afterwards. Counts stand in the rows, so that listing scans no steps.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::Store;
use super::columns::Json;
use super::error::{Fault, StoreError};
use super::lineage::Line;
use super::milestones::Looked;
use super::records::SessionSummary;
use super::{milestones, receipts};
use crate::model::{BranchId, Digest, Milestone, Session, Step, StepKind};

impl Store {
    /// All sessions, newest first.
    pub fn sessions(&self) -> Result<Vec<SessionSummary>, StoreError> {
        self.read(|conn| {
            let rows: rusqlite::Result<Vec<_>> = conn
                .prepare_cached(
                    "SELECT s.name, s.header, m.steps, s.trials, s.forks, m.success, s.reached, s.created
                     FROM session s JOIN branch m ON m.session = s.id AND m.name = 'main'
                     ORDER BY s.id DESC",
                )?
                .query_map([], |row| {
                    let session = Session {
                        id: row.get(0)?,
                        ..row.get::<_, Json<Session>>(1)?.0
                    };
                    let of = session.milestones.len();
                    let reached: usize = row.get(6)?;
                    Ok(SessionSummary {
                        session,
                        steps: row.get(2)?,
                        trials: row.get(3)?,
                        branches: row.get::<_, usize>(4)? + 1,
                        success: row.get(5)?,
                        milestones: (of > 0).then_some((reached, of)),
                        created: row.get(7)?,
                    })
                })?
                .collect();
            Ok(rows?)
        })
    }

    /// The ids of all sessions, newest first.
    pub fn session_ids(&self) -> Result<Vec<String>, StoreError> {
        self.read(|conn| {
            let ids: rusqlite::Result<Vec<_>> = conn
                .prepare_cached("SELECT name FROM session ORDER BY id DESC")?
                .query_map([], |row| row.get(0))?
                .collect();
            Ok(ids?)
        })
    }

    /// One session by id.
    pub fn session(&self, id: &str) -> Result<Session, StoreError> {
        self.read(|conn| Ok(header(conn, id)?.1))
    }

    /// Whether there is such a session.
    pub fn has_session(&self, id: &str) -> Result<bool, StoreError> {
        self.read(|conn| Ok(exists(conn, id)?))
    }

    /// The session that was read from bytes of this digest; the newest if there are several.
    pub fn find_by_source(&self, digest: Digest) -> Result<Option<String>, StoreError> {
        self.read(|conn| by_source(conn, Some(digest)))
    }

    /// Replaces what a person may set: expected answer, verifier, milestones, profile and its place, title. Steps are untouched.
    /// A changed workflow leaves a receipt.
    pub fn update_session(&self, session: &Session, operator: &str) -> Result<(), StoreError> {
        self.write(|tx| {
            let (key, stored) = header(tx, &session.id)?;
            let changed = Session {
                title: session.title.clone(),
                expected: session.expected.clone(),
                verifier: session.verifier.clone(),
                milestones: session.milestones.clone(),
                profile: session.profile.clone(),
                base_dir: session.base_dir.clone(),
                ..stored.clone()
            };
            tx.prepare_cached("UPDATE session SET header = ?2 WHERE id = ?1")?
                .execute(params![key, Json(&changed)])?;
            if changed.workflow() != stored.workflow() {
                self.receipt(tx, receipts::workflow_changed(&changed, operator)?)?;
            }
            let main = Line::of(tx, &BranchId::main(&changed.id))?;
            let looked = self.looked(main.branch);
            count_reached(tx, key, &main, &changed.milestones, looked)
        })
    }
}

/// A session's row and header.
pub(super) fn header(conn: &Connection, id: &str) -> Result<(i64, Session), Fault> {
    conn.prepare_cached("SELECT id, header FROM session WHERE name = ?1")?
        .query_row([id], |row| {
            let session = Session {
                id: id.to_owned(),
                ..row.get::<_, Json<Session>>(1)?.0
            };
            Ok((row.get(0)?, session))
        })
        .optional()?
        .ok_or_else(|| StoreError::NoSession(id.to_owned()).into())
}

/// Whether a session's id is taken.
pub(super) fn exists(conn: &Connection, id: &str) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM session WHERE name = ?1")?
        .exists([id])
}

/// Counts again how many milestones `main` reaches, given what is known of its steps.
pub(super) fn count_reached(
    tx: &Transaction<'_>,
    session: i64,
    main: &Line,
    list: &[Milestone],
    mut looked: Looked,
) -> Result<(), Fault> {
    let reached = milestones::reached(tx, main, list, &mut looked)?
        .into_iter()
        .flatten()
        .count();
    tx.prepare_cached("UPDATE session SET reached = ?2 WHERE id = ?1")?
        .execute(params![session, reached])?;
    Ok(())
}

/// Counts the trials of a `main` that got this step, as [`crate::model::trials`] cuts them. Costs one look into the index over its plans,
/// whatever its length.
pub(super) fn count_trial(tx: &Transaction<'_>, main: i64, step: &Step) -> Result<(), Fault> {
    let planned = tx
        .prepare_cached("SELECT 1 FROM step WHERE branch = ?1 AND idx < ?2 AND kind = 'plan'")?
        .exists(params![main, step.index])?;
    let count = match (step.kind, planned) {
        (StepKind::Plan, true) => "trials + 1",
        // The first plan begins the first trial; until then all that follows the task is one.
        (StepKind::Plan, false) => "1",
        (_, true) | (StepKind::Task | StepKind::Control, false) => return Ok(()),
        (_, false) => "max(trials, 1)",
    };
    tx.prepare_cached(&format!(
        "UPDATE session SET trials = {count} WHERE id = (SELECT session FROM branch WHERE id = ?1)"
    ))?
    .execute([main])?;
    Ok(())
}

/// The session that was read from bytes of this digest; the newest if there are several.
pub(super) fn by_source(
    conn: &Connection,
    digest: Option<Digest>,
) -> Result<Option<String>, Fault> {
    Ok(conn
        .prepare_cached(
            "SELECT name FROM session WHERE source_digest = ?1 ORDER BY id DESC LIMIT 1",
        )?
        .query_row([digest], |row| row.get(0))
        .optional()?)
}
