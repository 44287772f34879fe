//! Gate 2, state: every required key has evidence at the checkpoint and comes back as it was.
//!
//! dover compares what was recorded with what was read back; that a runtime calls its restore exact is not evidence.

use super::{Action, GateResult};
use crate::model::{Checkpoint, Digest, RestoreResult, RestoredKey};

/// The one key whose drift may be acknowledged.
const TOOL_REGISTRY: &str = "tool_registry";

/// What gate 2 judges.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// The keys that the workflow profile requires. If it names none, every key that was recorded is required.
    pub required: &'a [String],
    /// The state recorded before the fork step.
    pub checkpoint: Option<&'a Checkpoint>,
    /// What a disposable run read back.
    pub restored: &'a [RestoredKey],
    /// Whether the operator has acknowledged that the tool registry drifted.
    pub drift_acknowledged: bool,
}

/// dover's judgement over one key, with the test that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyResult {
    /// The state key.
    pub key: String,
    /// How it came back.
    pub result: RestoreResult,
    /// The test, in a few words.
    pub test: String,
    /// The evidence before: the revision, and the fingerprint in short; none if there is none.
    pub before: Option<String>,
    /// The same as it was read back.
    pub after: Option<String>,
}

/// A revision and the fingerprint that goes with it, for a person.
fn evidence(revision: &str, fingerprint: &Digest) -> String {
    format!("{revision} ({})", fingerprint.short())
}

/// Compares each required key as it was read back with its record.
#[must_use]
pub fn compare_keys(input: &State) -> Vec<KeyResult> {
    let recorded = input.checkpoint.map(|checkpoint| &checkpoint.keys);
    let mut required: Vec<&String> = if input.required.is_empty() {
        recorded.into_iter().flat_map(|keys| keys.keys()).collect()
    } else {
        input.required.iter().collect()
    };
    required.sort_unstable();
    required.dedup();
    required
        .into_iter()
        .map(|key| {
            let Some(recorded_as) = recorded.and_then(|keys| keys.get(key)) else {
                return KeyResult {
                    key: key.clone(),
                    result: RestoreResult::Missing,
                    test: "nothing recorded at the checkpoint".into(),
                    before: None,
                    after: None,
                };
            };
            let before = Some(evidence(&recorded_as.revision, &recorded_as.fingerprint));
            let read = input.restored.iter().filter(|read| read.key == *key);
            // A key read back twice counts as its worst reading.
            read.map(|read| {
                let result = match (&read.revision, &read.fingerprint) {
                    (Some(revision), Some(fingerprint))
                        if *revision == recorded_as.revision
                            && *fingerprint == recorded_as.fingerprint =>
                    {
                        RestoreResult::Exact
                    }
                    (Some(_), Some(_)) => RestoreResult::Drifted,
                    _ => RestoreResult::Untested,
                };
                KeyResult {
                    key: key.clone(),
                    result,
                    test: read.test.clone(),
                    before: before.clone(),
                    after: read
                        .revision
                        .as_ref()
                        .zip(read.fingerprint.as_ref())
                        .map(|(revision, fingerprint)| evidence(revision, fingerprint)),
                }
            })
            .max_by_key(|found| found.result)
            .unwrap_or_else(|| KeyResult {
                key: key.clone(),
                result: RestoreResult::Untested,
                test: "not read back".into(),
                before: before.clone(),
                after: None,
            })
        })
        .collect()
}

pub(super) fn gate(input: &State) -> GateResult {
    let mut gate = GateResult::new(2, "state");
    let keys = compare_keys(input);
    for key in &keys {
        gate = gate.rests_on(key.result.name());
    }
    let total = keys.len();
    let acknowledged = |key: &KeyResult| {
        key.key == TOOL_REGISTRY && key.result == RestoreResult::Drifted && input.drift_acknowledged
    };
    // What fails comes first.
    let mut told: Vec<&KeyResult> = keys.iter().collect();
    told.sort_by_key(|key| std::cmp::Reverse(key.result));
    let details = told.into_iter().map(|key| {
        let note = if acknowledged(key) {
            ", acknowledged"
        } else {
            ""
        };
        let values = match (&key.before, &key.after) {
            (None, _) => String::new(),
            (Some(before), Some(after)) if key.result != RestoreResult::Exact => {
                format!("; was {before}, is {after}")
            }
            (Some(before), _) => format!("; was {before}"),
        };
        format!(
            "{} {}{note}: {}{values}",
            key.key,
            key.result.name(),
            key.test
        )
    });
    let details: Vec<String> = details.collect();
    let unsure: Vec<&KeyResult> = keys
        .iter()
        .filter(|key| key.result != RestoreResult::Exact && !acknowledged(key))
        .collect();

    let gate = if keys.is_empty() {
        gate.fails(
            "no state was recorded before this step",
            "Run it as a diagnostic branch, or fork where a checkpoint is",
        )
        .offers(Action::Diagnostic)
    } else if let Some(first) = unsure.first() {
        let found = if unsure.len() == 1 {
            format!("{} {}, of {total} keys", first.key, first.result.name())
        } else {
            let all: Vec<_> = unsure.iter().map(|key| key.result).collect();
            format!("{} of {total} keys not exact: {}", all.len(), tally(&all))
        };
        let only_the_registry = unsure
            .iter()
            .all(|key| key.key == TOOL_REGISTRY && key.result == RestoreResult::Drifted);
        let mend = if only_the_registry {
            "Acknowledge it (--acknowledge-drift), or run it as a diagnostic branch"
        } else {
            "Run it as a diagnostic branch, or fork where the state was saved"
        };
        let gate = gate.fails(found, mend).offers(Action::Diagnostic);
        if only_the_registry {
            gate.offers(Action::Acknowledge)
        } else {
            gate
        }
    } else if keys.iter().any(acknowledged) {
        gate.rests_on("acknowledged").holds(format!(
            "{} of {total} keys exact, tool registry's drift acknowledged",
            total - 1
        ))
    } else {
        gate.holds(format!("{total} of {total} keys exact"))
    };
    gate.details(details)
}

/// Counts results by name, worst last: `1 drifted, 2 missing`.
fn tally(results: &[RestoreResult]) -> String {
    use RestoreResult::{Drifted, Missing, Untested};
    let counts = [Drifted, Missing, Untested].map(|kind| {
        let count = results.iter().filter(|result| **result == kind).count();
        (count, kind.name())
    });
    super::report::counted(counts)
}
