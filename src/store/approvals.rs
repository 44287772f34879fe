//! Approvals: what owners signed, kept as they signed it. Each is used once, by the fork that it allows.

use rusqlite::{Connection, Transaction, params};

use super::Store;
use super::error::{Fault, StoreError};
use super::records::Kept;
use super::{receipts, sessions};
use crate::gate::receipt::{About, Word};
use crate::model::{BranchId, Digest, Intervention};

impl Store {
    /// Keeps an approval, with its receipt. Kept twice, it is the same one.
    pub fn approve(
        &self,
        intervention: &Intervention,
        owner: &str,
        text: &str,
    ) -> Result<(), StoreError> {
        self.write(|tx| {
            let (session, number) = place(tx, &intervention.id)?;
            let added = tx
                .prepare_cached(
                    "INSERT OR IGNORE INTO approval (session, intervention, digest, body) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![session, number, Digest::of(text), text])?;
            if added == 0 {
                return Ok(());
            }
            let receipt = receipts::decided(
                About::Approval,
                &intervention.parent,
                &intervention.id,
                Word::Approved,
                text,
                owner,
            );
            self.receipt(tx, receipt)
        })
    }

    /// What owners signed for an intervention, oldest first.
    pub fn approvals(&self, intervention: &str) -> Result<Vec<Kept>, StoreError> {
        self.read(|conn| of(conn, intervention))
    }
}

/// What owners signed for an intervention, oldest first.
pub(super) fn of(conn: &Connection, intervention: &str) -> Result<Vec<Kept>, Fault> {
    let (session, number) = place(conn, intervention)?;
    let rows: rusqlite::Result<Vec<Kept>> = conn
        .prepare_cached(
            "SELECT body, used FROM approval WHERE session = ?1 AND intervention = ?2 ORDER BY id",
        )?
        .query_map(params![session, number], |row| {
            Ok(Kept {
                text: row.get(0)?,
                used: row.get(1)?,
            })
        })?
        .collect();
    Ok(rows?)
}

/// Marks an approval as used. The database refuses a second time.
pub(super) fn spend(tx: &Transaction<'_>, intervention: &str, text: &str) -> Result<(), Fault> {
    let (session, number) = place(tx, intervention)?;
    let spent = tx
        .prepare_cached(
            "UPDATE approval SET used = 1 WHERE session = ?1 AND intervention = ?2 AND digest = ?3 AND used = 0",
        )?
        .execute(params![session, number, Digest::of(text)])?;
    if spent == 1 {
        return Ok(());
    }
    Err(StoreError::Refused(format!(
        "the approval of {intervention} was used before: nothing was written. Ask for another"
    ))
    .into())
}

/// Row of the session and number of an intervention.
pub(super) fn place(conn: &Connection, intervention: &str) -> Result<(i64, i64), Fault> {
    let id = BranchId::parse(intervention);
    let number = id.name().strip_prefix('i').and_then(|n| n.parse().ok());
    let number = number.ok_or_else(|| {
        StoreError::Refused(format!(
            "{intervention} is no intervention: say one such as {}/i1",
            id.session()
        ))
    })?;
    Ok((sessions::header(conn, id.session())?.0, number))
}
