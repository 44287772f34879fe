//! A steering file: one record, an array of them, or one per line; and what the records of a file say about each other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use super::blocks::Blocks;
use crate::model::BranchId;

/// Why there is nothing to classify.
#[derive(Debug, thiserror::Error)]
pub enum SteeringError {
    /// The text holds no record.
    #[error("there is no steering record in it. `dover schema steering` says what one looks like")]
    Empty,
    /// The text is no JSON.
    #[error(
        "this is neither a JSON array of steering records nor one record per line: {0}. `dover schema steering` says what one looks like"
    )]
    NotJson(serde_json::Error),
}

type Raw<'a> = Result<&'a RawValue, String>;

/// The records of a file. A line that is no JSON is a bad record among others, as long as there are others.
pub(super) fn records(text: &str) -> Result<Vec<Raw<'_>>, SteeringError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(SteeringError::Empty);
    }
    let whole = if text.starts_with('[') {
        serde_json::from_str::<Vec<&RawValue>>(text)
    } else {
        serde_json::from_str::<&RawValue>(text).map(|record| vec![record])
    };
    let found = match whole {
        Ok(found) => found.into_iter().map(Ok).collect(),
        Err(error) => lines(text).ok_or(SteeringError::NotJson(error))?,
    };
    if found.is_empty() {
        return Err(SteeringError::Empty);
    }
    Ok(found)
}

fn lines(text: &str) -> Option<Vec<Raw<'_>>> {
    let found: Vec<Raw<'_>> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            serde_json::from_str(line).map_err(|error| format!("record cannot be read: {error}"))
        })
        .collect();
    let object = |raw: &Raw<'_>| raw.as_ref().is_ok_and(|raw| raw.get().starts_with('{'));
    found.iter().any(object).then_some(found)
}

/// Who is whose parent, as far as one file tells.
#[derive(Default)]
pub(super) struct Family {
    parents: BTreeMap<BranchId, BranchId>,
    doubled: BTreeSet<BranchId>,
}

impl Family {
    pub(super) fn of<'a>(records: impl IntoIterator<Item = &'a Result<Blocks, String>>) -> Self {
        let mut family = Self::default();
        let mut seen = BTreeSet::new();
        for blocks in records.into_iter().flatten() {
            let Some(id) = blocks.id() else { continue };
            if let Ok(parent) = blocks.parent() {
                family.parents.insert(id.clone(), parent);
            }
            if !seen.insert(id.clone()) {
                family.doubled.insert(id);
            }
        }
        family
    }

    /// Two records of one branch contradict each other or say nothing new; none of them is believed.
    pub(super) fn stands_once(&self, id: &BranchId) -> Result<(), String> {
        if self.doubled.contains(id) {
            return Err("another record has the same id".into());
        }
        Ok(())
    }

    /// A parent's ancestors as the record tells them, nearest first, up to and with the first that comes back: the gate sees the cycle.
    /// Where the file has records of them, both must say the same.
    pub(super) fn ancestors(
        &self,
        parent: &BranchId,
        told: &[BranchId],
    ) -> Result<Vec<BranchId>, String> {
        let mut line = Vec::new();
        let mut seen = BTreeSet::from([parent]);
        let mut at = parent;
        while let Some(next) = self.parents.get(at) {
            line.push(next.clone());
            if !seen.insert(next) {
                return Ok(line);
            }
            at = next;
        }
        if told.starts_with(&line) {
            Ok(told.to_vec())
        } else {
            Err("the ancestors are not those that the other records tell".into())
        }
    }
}
