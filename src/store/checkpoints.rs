//! Checkpoints: the keys stand in the row, their saved values among the contents, so that a value that does not change is stored once.

use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::{Transaction, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Store;
use super::columns::Json;
use super::error::{Fault, StoreError};
use super::lineage::Line;
use super::steps;
use crate::model::{BranchId, Checkpoint, Digest, KeyState};

/// A [`KeyState`] with its value by digest.
#[derive(Serialize, Deserialize)]
struct SavedKey {
    revision: String,
    fingerprint: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<Digest>,
}

impl Store {
    /// The state recorded before a step.
    pub fn checkpoint(&self, id: &BranchId, step: usize) -> Result<Option<Checkpoint>, StoreError> {
        Ok(self.checkpoints(id, step..step.saturating_add(1))?.pop())
    }

    /// The states recorded before the steps of a range, in order.
    pub fn checkpoints(
        &self,
        id: &BranchId,
        range: Range<usize>,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        const KEYS: &str = "SELECT step, keys FROM checkpoint
             WHERE branch = ?1 AND step >= ?2 AND step < ?3 ORDER BY step";
        self.read(|conn| {
            let line = Line::of(conn, id)?;
            let mut values = conn.prepare_cached("SELECT text FROM content WHERE digest = ?1")?;
            let mut value = |digest: Digest| -> rusqlite::Result<Value> {
                let json: Json<Value> = values.query_row([digest], |row| row.get(0))?;
                Ok(json.0)
            };
            line.collect(conn, &range, KEYS, |row| {
                let Json(saved) = row.get::<_, Json<BTreeMap<String, SavedKey>>>(1)?;
                let mut keys = BTreeMap::new();
                for (key, state) in saved {
                    let state = KeyState {
                        revision: state.revision,
                        fingerprint: state.fingerprint,
                        value: state.value.map(&mut value).transpose()?,
                    };
                    keys.insert(key, state);
                }
                Ok(Checkpoint {
                    step: row.get(0)?,
                    keys,
                })
            })
        })
    }
}

impl Store {
    /// The steps of a branch before which a state was recorded, in order. O(checkpoints).
    pub fn boundaries(&self, id: &BranchId) -> Result<Vec<usize>, StoreError> {
        const SQL: &str = "SELECT step FROM checkpoint WHERE branch = ?1 AND step >= ?2 AND step < ?3 ORDER BY step";
        self.read(|conn| {
            let line = Line::of(conn, id)?;
            line.collect(conn, &(0..line.len), SQL, |row| row.get(0))
        })
    }
}

/// Writes the state before a step. It belongs to the step it is written with, whatever index it carries.
pub(super) fn insert(
    tx: &Transaction<'_>,
    branch: i64,
    step: usize,
    checkpoint: &Checkpoint,
) -> Result<(), Fault> {
    let mut keys = BTreeMap::new();
    for (key, state) in &checkpoint.keys {
        let value = state
            .value
            .as_ref()
            .map(|value| steps::keep(tx, &value.to_string()))
            .transpose()?;
        keys.insert(
            key,
            SavedKey {
                revision: state.revision.clone(),
                fingerprint: state.fingerprint,
                value,
            },
        );
    }
    tx.prepare_cached("INSERT INTO checkpoint (branch, step, keys) VALUES (?1, ?2, ?3)")?
        .execute(params![branch, step, Json(keys)])?;
    Ok(())
}
