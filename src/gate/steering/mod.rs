//! Steering records: one branch each, told without content, classified by the very gates that a fork passes.
//!
//! A record is told in blocks, one per gate. A block that is missing, null, malformed or at odds with the rest of the record holds
//! its own gate and hides no other; a record that cannot be read at all, stands twice, or lies on a cycle holds gate 1.
//! Nothing is looked up: whether a record is true is for whoever wrote it.

mod blocks;
mod file;
mod read;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{GateResult, Report};
use crate::model::{BranchId, GateStatus};
use blocks::{Blocks, Ending};
pub use file::SteeringError;

/// The JSON Schema of a steering file.
pub const STEERING_SCHEMA: &str = include_str!("schema.json");

/// A record with what the gates make of it.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// Which record of the file, counted from 1.
    pub record: usize,
    /// The branch; none if the record does not tell.
    pub id: Option<BranchId>,
    /// The gates and the status.
    #[serde(flatten)]
    pub report: Report,
}

impl Classified {
    /// The gate that names the status; none where gates 1–5 hold and nothing has run.
    #[must_use]
    pub fn deciding_gate(&self) -> Option<&GateResult> {
        let gates = &self.report.gates;
        match self.report.status {
            GateStatus::ReadyToResume => None,
            GateStatus::Verified => gates.last(),
            _ => gates.iter().find(|gate| gate.holds == Some(false)),
        }
    }

    /// Why the status is what it is, in one line.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.deciding_gate()
            .map_or("gates 1–5 hold, nothing has run", |gate| &gate.found)
    }
}

/// Classifies every record of a file.
///
/// # Errors
/// Only a text in which there are no records: a bad record is held and hides none of the others.
pub fn classify(text: &str) -> Result<Vec<Classified>, SteeringError> {
    let records: Vec<_> = file::records(text)?
        .into_iter()
        .map(|raw| raw.and_then(Blocks::read))
        .collect();
    let family = file::Family::of(&records);
    Ok(records
        .iter()
        .enumerate()
        .map(|(index, record)| Classified {
            record: index + 1,
            id: record.as_ref().ok().and_then(Blocks::id),
            report: match record {
                Ok(blocks) => judge(blocks, &family),
                Err(why) => unreadable(why),
            },
        })
        .collect())
}

/// Classifies one record by itself.
#[must_use]
pub fn classify_one(record: &RawValue) -> Report {
    Blocks::read(record).map_or_else(
        |why| unreadable(&why),
        |blocks| judge(&blocks, &file::Family::default()),
    )
}

/// A record of which nothing is known holds at the first gate.
fn unreadable(why: &str) -> Report {
    judge_by(&Blocks::default(), Err(why.to_owned()))
}

fn judge(blocks: &Blocks, family: &file::Family) -> Report {
    judge_by(blocks, read::lineage(blocks, family))
}

fn judge_by(blocks: &Blocks, lineage: Result<GateResult, String>) -> Report {
    let or_held = |number, name, found: Result<GateResult, String>| {
        found.unwrap_or_else(|why| {
            GateResult::new(number, name)
                .fails(why, "Mend the record: `dover schema steering` says how")
        })
    };
    let report = Report::before_the_run([
        or_held(1, "lineage", lineage),
        or_held(2, "state", read::state(blocks)),
        or_held(3, "effects", read::effects(blocks)),
        or_held(4, "authority", read::authority(blocks)),
        or_held(5, "config", read::config(blocks)),
    ]);
    let status = report.status;
    let judged = match read::outcome(blocks) {
        Ok(Ending::NotYet) => return report,
        Ok(Ending::Over {
            answered,
            judgement,
            diagnostic,
        }) => report.judged(answered.then_some(""), judgement, diagnostic),
        Err(why) => report.unjudged(or_held(6, "outcome", Err(why))),
    };
    // An outcome counts only for a branch that was allowed to have one.
    match status {
        GateStatus::ReadyToResume => judged,
        held => Report {
            status: held,
            ..judged
        },
    }
}

#[cfg(test)]
mod tests;
