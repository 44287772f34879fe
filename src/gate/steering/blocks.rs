//! What a steering record may say, strictly: an unknown word, a missing field or a doubled one makes the block unreadable.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::model::{BranchId, Digest, EditClass, EffectState, Judgement, RestoreResult, RunStatus};

/// A record cut into its blocks, none of them read yet.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Blocks {
    id: Option<Box<RawValue>>,
    parent: Option<Box<RawValue>>,
    lineage: Option<Box<RawValue>>,
    state: Option<Box<RawValue>>,
    effects: Option<Box<RawValue>>,
    authority: Option<Box<RawValue>>,
    config: Option<Box<RawValue>>,
    outcome: Option<Box<RawValue>>,
}

impl Blocks {
    pub(super) fn read(record: &RawValue) -> Result<Self, String> {
        serde_json::from_str(record.get()).map_err(|error| unreadable("record", &error))
    }

    /// The branch, if the record tells it.
    pub(super) fn id(&self) -> Option<BranchId> {
        self.own_id().ok()
    }

    pub(super) fn own_id(&self) -> Result<BranchId, String> {
        id("id", self.id.as_deref())
    }

    pub(super) fn parent(&self) -> Result<BranchId, String> {
        id("parent", self.parent.as_deref())
    }

    pub(super) fn lineage(&self) -> Result<Lineage, String> {
        block("lineage", self.lineage.as_deref())
    }

    pub(super) fn state(&self) -> Result<State, String> {
        block("state", self.state.as_deref())
    }

    pub(super) fn effects(&self) -> Result<Vec<Effect>, String> {
        block("effects", self.effects.as_deref())
    }

    pub(super) fn authority(&self) -> Result<Authority, String> {
        block("authority", self.authority.as_deref())
    }

    pub(super) fn config(&self) -> Result<Config, String> {
        block("config", self.config.as_deref())
    }

    pub(super) fn outcome(&self) -> Result<Outcome, String> {
        block("outcome", self.outcome.as_deref())
    }
}

fn block<T: DeserializeOwned>(name: &str, raw: Option<&RawValue>) -> Result<T, String> {
    let raw = raw.ok_or_else(|| format!("the record has no `{name}`"))?;
    serde_json::from_str(raw.get()).map_err(|error| unreadable(&format!("`{name}`"), &error))
}

/// The error without its line and column, which would be those of the block and not of the file.
fn unreadable(what: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let told = text
        .rsplit_once(" at line ")
        .map_or(&*text, |(told, _)| told);
    format!("{what} cannot be read: {told}")
}

/// Ids are opaque, but they are printed, so they are short and hold no control characters.
fn id(name: &str, raw: Option<&RawValue>) -> Result<BranchId, String> {
    let id: BranchId = block(name, raw)?;
    let text = id.as_str();
    let fits = !text.trim().is_empty() && text.len() <= 200 && !text.contains(char::is_control);
    fits.then_some(id)
        .ok_or_else(|| format!("`{name}` must be 1 to 200 bytes without control characters"))
}

/// Gate 1.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lineage {
    pub(super) parent_steps: usize,
    pub(super) fork_step: usize,
    pub(super) ancestors: Vec<BranchId>,
    pub(super) prefix_recorded: Digest,
    pub(super) prefix_recomputed: Digest,
}

/// Gate 2.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    pub(super) required: Vec<String>,
    #[serde(deserialize_with = "each_key_once")]
    pub(super) keys: BTreeMap<String, Key>,
    pub(super) drift_acknowledged: bool,
}

/// The evidence of one state key, before the reset and after.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Key {
    pub(super) revision: String,
    pub(super) fingerprint: Digest,
    pub(super) restored: Option<Restored>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Restored {
    pub(super) revision: Option<String>,
    pub(super) fingerprint: Option<Digest>,
    pub(super) result: RestoreResult,
    pub(super) test: String,
}

/// Gate 3. A read-only call has no effect and does not stand here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Effect {
    pub(super) step: usize,
    pub(super) tool: String,
    pub(super) class: Class,
    pub(super) key: String,
    pub(super) state: EffectState,
    pub(super) evidence: Evidence,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum Class {
    Idempotent,
    Compensable,
    Permanent,
    Unknown,
}

/// What is known of an effect rests on this.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Evidence {
    /// Nothing; only a pending or irreversible effect may say so.
    None,
    /// The destination was asked by the operation key.
    Destination,
    /// A person decided.
    HumanDecision,
}

/// Gate 4.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Authority {
    pub(super) operator: String,
    pub(super) driver: String,
    pub(super) at: Time,
    pub(super) reach: Reach,
    pub(super) changes: Vec<Sensitive>,
    #[serde(rename = "edit_class")]
    pub(super) _class: Option<EditClass>,
    pub(super) edit: Digest,
    pub(super) runs: usize,
    pub(super) approval: Option<Approval>,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reach {
    LocalFixtures,
    World,
}

/// What makes an edit risky (SPEC 3).
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum Sensitive {
    Recipient,
    Budget,
    Permission,
    ProductionTarget,
    DestructiveAction,
}

impl Sensitive {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Recipient => "recipient",
            Self::Budget => "budget",
            Self::Permission => "permission",
            Self::ProductionTarget => "production target",
            Self::DestructiveAction => "destructive action",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Approval {
    pub(super) owner: String,
    pub(super) authorised: bool,
    pub(super) used: bool,
    pub(super) given: Time,
    pub(super) expires: Time,
    pub(super) parent: BranchId,
    pub(super) fork_step: usize,
    pub(super) edit: Digest,
    pub(super) runs: usize,
    pub(super) config: Digest,
}

/// A moment, RFC 3339.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Time(jiff::Timestamp);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(D::Error::custom)
    }
}

/// Gate 5.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    pub(super) pinned: Option<Digest>,
    pub(super) runtime: Option<Digest>,
    pub(super) deltas: Vec<Delta>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Delta {
    pub(super) part: Part,
    pub(super) from: Digest,
    pub(super) to: Digest,
}

/// What a configuration is made of.
#[derive(Deserialize, Serialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum Part {
    Roles,
    Models,
    Prompts,
    Tools,
    Routing,
}

impl Part {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Roles => "roles",
            Self::Models => "models",
            Self::Prompts => "prompts",
            Self::Tools => "tools",
            Self::Routing => "routing",
        }
    }
}

/// Gate 6.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outcome {
    pub(super) run: RunStatus,
    pub(super) diagnostic: bool,
    pub(super) receipt: Option<OwnReceipt>,
    pub(super) final_answer: Option<bool>,
    pub(super) verifier: Option<VerifierKind>,
    pub(super) result: Option<VerifierSaid>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnReceipt {
    pub(super) branch: BranchId,
    #[serde(rename = "sha256")]
    pub(super) _sha256: Digest,
}

/// The deterministic verifiers (SPEC 3). A model's opinion is none of them.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum VerifierKind {
    Answer,
    Math,
    Contains,
    Command,
    File,
}

/// What the verifier said.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum VerifierSaid {
    Passed,
    Rejected,
    NotJudged,
}

/// Gate 6 as the record tells it.
pub(super) enum Ending {
    /// Nothing has come of the branch yet.
    NotYet,
    /// It came to its end.
    Over {
        answered: bool,
        judgement: Judgement,
        diagnostic: bool,
    },
}

/// Reads a map in which a key standing twice is an error: JSON readers disagree on which of the two counts.
fn each_key_once<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, T>, D::Error> {
    struct Keys<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Keys<T> {
        type Value = BTreeMap<String, T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = BTreeMap::new();
            while let Some((key, value)) = map.next_entry::<String, T>()? {
                if found.contains_key(&key) {
                    return Err(A::Error::custom(format!("key `{key}` stands twice")));
                }
                found.insert(key, value);
            }
            Ok(found)
        }
    }
    deserializer.deserialize_map(Keys(PhantomData))
}
