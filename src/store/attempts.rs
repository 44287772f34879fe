//! Attempts at lessons, each beside the copy of the run that it is made on.

use rusqlite::params;

use super::columns::Json;
use super::error::StoreError;
use super::{Store, sessions};
use crate::model::Attempt;

impl Store {
    /// Keeps an attempt as it stands now, unless a newer state of it is kept already.
    pub fn keep_attempt(&self, attempt: &Attempt) -> Result<(), StoreError> {
        let now = self.inner.clock.now();
        self.write(|tx| {
            let (key, _) = sessions::header(tx, &attempt.session)?;
            tx.prepare_cached(
                "INSERT INTO attempt (session, body, started, updated) VALUES (?1, ?2, ?3, ?3)
                 ON CONFLICT DO UPDATE SET body = excluded.body, updated = excluded.updated
                 WHERE json_extract(excluded.body, '$.revision') > json_extract(body, '$.revision')",
            )?
            .execute(params![key, Json(attempt), now])?;
            Ok(())
        })
    }

    /// All attempts, oldest first.
    pub fn attempts(&self) -> Result<Vec<Attempt>, StoreError> {
        self.read(|conn| {
            let rows: rusqlite::Result<Vec<_>> = conn
                .prepare_cached("SELECT body, started, updated FROM attempt ORDER BY session")?
                .query_map([], |row| {
                    Ok(Attempt {
                        started: row.get(1)?,
                        updated: row.get(2)?,
                        ..row.get::<_, Json<Attempt>>(0)?.0
                    })
                })?
                .collect();
            Ok(rows?)
        })
    }
}
