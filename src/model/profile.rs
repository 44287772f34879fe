//! The workflow profile (SPEC 3): what is fixed before the run or at import, so that gates have something to hold on to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EffectClass, Session, Verifier};

/// A tool as the workflow profile knows it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(deny_unknown_fields)]
pub struct ToolProfile {
    /// What it may do to the world.
    #[serde(default)]
    pub class: EffectClass,
    /// Where the operation key stands in its arguments, as a dotted path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_key: Option<String>,
    /// Whether it reaches further than local fixtures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// The command that asks the destination what became of an operation; empty if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reconcile: Vec<String>,
    /// Seconds that the command may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<u64>,
}

/// A command that tells revision and value of a state key.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(deny_unknown_fields)]
pub struct KeyProbe {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Seconds that it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<u64>,
}

/// The workflow profile.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// State keys that must have evidence and restore exactly (gate 2).
    #[serde(default)]
    pub required_keys: Vec<String>,
    /// Tools by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ToolProfile>,
    /// Words or values (recipients, budgets, targets) whose change in an edit makes it high risk (gate 4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sensitive: Vec<String>,
    /// Who may approve an edit of high risk: public keys by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub owners: BTreeMap<String, String>,
    /// Whether whoever made an edit may not approve it too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_the_editor: bool,
    /// The directory that the agents work in, a Git work tree; relative to the profile's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// State keys that a command tells, such as `credentials`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, KeyProbe>,
}

/// Everything that is fixed about a session before anything forks: its digest is bound into approvals and receipts.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub struct Workflow {
    /// The profile.
    pub profile: Profile,
    /// How a final answer is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<Verifier>,
    /// The answer that is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
}

impl Session {
    /// The workflow as it stands now.
    #[must_use]
    pub fn workflow(&self) -> Workflow {
        Workflow {
            profile: self.profile.clone(),
            verifier: self.verifier.clone(),
            expected: self.expected.clone(),
        }
    }
}
