//! Effects: what tool calls did to the world outside.

use serde::{Deserialize, Serialize};

use super::Digest;

/// What a tool may do to the world (SPEC 3).
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// Changes nothing.
    ReadOnly,
    /// Doing it twice is doing it once.
    Idempotent,
    /// Can be undone.
    Compensable,
    /// Cannot be undone.
    Permanent,
    /// Nobody has said; treated as permanent.
    #[default]
    Unknown,
}

impl EffectClass {
    /// The word as it stands in JSON and on the screen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Idempotent => "idempotent",
            Self::Compensable => "compensable",
            Self::Permanent => "permanent",
            Self::Unknown => "unknown",
        }
    }
}

/// Where an effect stands.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum EffectState {
    /// Evidence from the destination is missing.
    Pending,
    /// Safely undone.
    Reverted,
    /// Stays; the new branch reuses or skips it.
    Reconciled,
    /// Cannot be undone and nobody has decided yet.
    Irreversible,
}

impl EffectState {
    /// The word as it stands in JSON and on the screen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Reverted => "reverted",
            Self::Reconciled => "reconciled",
            Self::Irreversible => "irreversible",
        }
    }
}

/// An external consequence of a tool call.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The step whose tool call caused it.
    pub step: usize,
    /// Who called.
    pub agent: String,
    /// The tool.
    pub tool: String,
    /// The tool's class when it was called.
    pub class: EffectClass,
    /// Stable key at the destination: idempotency key, message id, commit, draft id.
    pub operation_key: String,
    /// Digest of the arguments.
    pub args_sha256: Digest,
    /// What the tool answered, to answer from the record on replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Where it stands.
    pub state: EffectState,
    /// Why it stands there: the evidence or the human decision, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

impl Effect {
    /// Whether it blocks a fork before its step (gate 3).
    #[must_use]
    pub const fn blocks(&self) -> bool {
        !matches!(self.class, EffectClass::ReadOnly)
            && matches!(self.state, EffectState::Pending | EffectState::Irreversible)
    }
}
