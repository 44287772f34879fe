//! Hypotheses of a session, in the order they were made. They are kept, not obeyed: testing one makes an intervention like any other.

use rusqlite::{OptionalExtension, params};

use super::columns::Json;
use super::error::StoreError;
use super::{Store, sessions};
use crate::model::{DebugSettings, Filed};

/// The number of a hypothesis in its session.
pub(super) fn number(id: &str) -> Option<i64> {
    let (_, number) = id.rsplit_once("/h")?;
    number.parse().ok()
}

impl Store {
    /// Keeps a hypothesis and gives it its id, `SESSION/hN`.
    pub fn file(&self, filed: Filed) -> Result<Filed, StoreError> {
        self.write(|tx| {
            let session = filed.branch.session().to_owned();
            let (key, _) = sessions::header(tx, &session)?;
            let number: i64 = tx
                .prepare_cached(
                    "SELECT coalesce(max(number), 0) + 1 FROM hypothesis WHERE session = ?1",
                )?
                .query_row([key], |row| row.get(0))?;
            let kept = Filed {
                id: format!("{session}/h{number}"),
                ..filed
            };
            tx.prepare_cached(
                "INSERT INTO hypothesis (session, number, body) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![key, number, Json(&kept)])?;
            Ok(kept)
        })
    }

    /// Writes how a hypothesis stands now: its edit, its intervention, its note. What it says of the trial never changes.
    pub fn refile(&self, filed: &Filed) -> Result<(), StoreError> {
        self.write(|tx| {
            let session = filed.branch.session();
            let (key, _) = sessions::header(tx, session)?;
            let number = number(&filed.id);
            let stored: Option<Json<Filed>> = number
                .map(|number| {
                    tx.prepare_cached(
                        "SELECT body FROM hypothesis WHERE session = ?1 AND number = ?2",
                    )?
                    .query_row(params![key, number], |row| row.get(0))
                    .optional()
                })
                .transpose()?
                .flatten();
            let Some(Json(stored)) = stored else {
                return Err(StoreError::Refused(format!(
                    "there is no hypothesis {} in session {session}",
                    filed.id
                ))
                .into());
            };
            let kept = Filed {
                hypothesis: stored.hypothesis,
                branch: stored.branch,
                ..filed.clone()
            };
            tx.prepare_cached(
                "UPDATE hypothesis SET body = ?3 WHERE session = ?1 AND number = ?2",
            )?
            .execute(params![key, number, Json(&kept)])?;
            Ok(())
        })
    }

    /// Keeps how the loop over a session is asked for, in the place of what was kept before.
    pub fn keep_debugging(&self, settings: &DebugSettings) -> Result<(), StoreError> {
        self.write(|tx| {
            let (key, _) = sessions::header(tx, settings.branch.session())?;
            tx.prepare_cached(
                "INSERT INTO debugging (session, body) VALUES (?1, ?2)
                 ON CONFLICT DO UPDATE SET body = excluded.body",
            )?
            .execute(params![key, Json(settings)])?;
            Ok(())
        })
    }

    /// How the last loop over a session was asked for, if there was one.
    pub fn debugging(&self, session: &str) -> Result<Option<DebugSettings>, StoreError> {
        self.read(|conn| {
            let (key, _) = sessions::header(conn, session)?;
            let kept: Option<Json<_>> = conn
                .prepare_cached("SELECT body FROM debugging WHERE session = ?1")?
                .query_row([key], |row| row.get(0))
                .optional()?;
            Ok(kept.map(|json| json.0))
        })
    }

    /// All hypotheses of a session, oldest first.
    pub fn hypotheses(&self, session: &str) -> Result<Vec<Filed>, StoreError> {
        self.read(|conn| {
            let (key, _) = sessions::header(conn, session)?;
            let rows: rusqlite::Result<Vec<_>> = conn
                .prepare_cached("SELECT body FROM hypothesis WHERE session = ?1 ORDER BY number")?
                .query_map([key], |row| Ok(row.get::<_, Json<_>>(0)?.0))?
                .collect();
            Ok(rows?)
        })
    }
}
