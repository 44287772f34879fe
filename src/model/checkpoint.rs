//! Checkpoints: the state before a step, key by key, and what a restore gave back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Digest;

/// One named part of σ before a step.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct KeyState {
    /// The runtime's own name for this state, such as a counter or a commit.
    pub revision: String,
    /// Digest of the saved value, free of content.
    pub fingerprint: Digest,
    /// The saved value, if the runtime can save one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

impl KeyState {
    /// Saves a value: the fingerprint is the digest of its JSON text.
    #[must_use]
    pub fn saved(revision: impl Into<String>, value: Value) -> Self {
        Self {
            revision: revision.into(),
            fingerprint: fingerprint(&value),
            value: Some(value),
        }
    }
}

/// Digest of a JSON value's compact text. The runtimes build their values with ordered keys, so equal states have equal texts.
#[must_use]
pub fn fingerprint(value: &Value) -> Digest {
    Digest::of(value.to_string())
}

/// State *before* a step.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub struct Checkpoint {
    /// The step that was about to be committed.
    pub step: usize,
    /// State keys (SPEC 1) and what was recorded of them.
    pub keys: BTreeMap<String, KeyState>,
}

/// What reading one key back gave, before dover compares. A runtime reports; it does not judge.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct RestoredKey {
    /// The state key.
    pub key: String,
    /// Revision read back after the restore.
    pub revision: Option<String>,
    /// Fingerprint of the value read back after the restore; none if the runtime cannot tell.
    pub fingerprint: Option<Digest>,
    /// The test that was made, in a few words, such as "loaded memory hashed again".
    pub test: String,
}

/// dover's judgement over one key (SPEC 3).
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum RestoreResult {
    /// The fingerprint read back equals the recorded one.
    Exact,
    /// It differs.
    Drifted,
    /// Nothing was recorded of this key.
    Missing,
    /// The runtime could not read it back.
    Untested,
}

impl RestoreResult {
    /// The word as it stands in JSON and on the screen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Drifted => "drifted",
            Self::Missing => "missing",
            Self::Untested => "untested",
        }
    }
}
