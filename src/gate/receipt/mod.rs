//! Receipts: what a fork, a refusal, a decision and an outcome leave behind, for a stranger to check offline (SPEC 3).
//!
//! A receipt holds no content: ids and names stand as digests, texts not at all, gates with the kinds of their evidence. Its bytes
//! are canonical JSON (RFC 8785), so there is one spelling only. Numbers are whole, so that every reader keeps them.
//! The chain itself is in [`chain`]; where receipts are kept is the store's.

mod chain;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::GateResult;
use crate::model::{
    Category, Digest, EditClass, EffectState, GateStatus, RunStatus, Tally, Verifier,
};
pub(super) use chain::canonical;
pub use chain::{Fault, Place, Sealed, Verified, export, lines, seal, verify};

/// The JSON Schema of one line of an exported chain.
pub const RECEIPT_SCHEMA: &str = include_str!("schema.json");

/// One receipt, before it is sealed.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Its place in the chain, counted from 1.
    pub seq: usize,
    /// When it was written, RFC 3339. The order is the chain's, not the clock's.
    pub time: String,
    /// SHA-256 of the receipt before it; zeros for the first.
    pub previous: Digest,
    /// What happened.
    #[serde(flatten)]
    pub content: Content,
}

/// What a receipt is about.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Content {
    /// A fork whose branches may run.
    Fork(Forked),
    /// A fork that a gate held: one branch, which never runs.
    Refusal(Forked),
    /// Somebody has said what became of an effect.
    Decision(Decided),
    /// A run came to its end.
    Outcome(Ended),
}

/// A fork and what the gates found.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Forked {
    /// The intervention.
    pub intervention: Digest,
    /// The branch forked.
    pub parent: Digest,
    /// Where.
    pub fork_step: usize,
    /// Digest of the parent's steps before it.
    pub prefix: Digest,
    /// The branches made.
    pub branches: Vec<Digest>,
    /// Category of the edit.
    pub category: Category,
    /// Its coarse class; none for the unedited re-run.
    pub edit_class: Option<EditClass>,
    /// Digest of the step as it is delivered.
    pub edit: Digest,
    /// Planned runs.
    pub runs: usize,
    /// Who asked; none if nobody was named.
    pub operator: Option<Digest>,
    /// Who approved; none if nobody did.
    pub approver: Option<Digest>,
    /// Digest of the approval that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Digest>,
    /// Digest of the workflow: the profile, the verifier, the expected answer.
    pub profile: Digest,
    /// The workflow's digest when the session was taken in, if it has changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_at_start: Option<Digest>,
    /// Digest of the configuration.
    pub config: Option<Digest>,
    /// Whether it runs although the state is not exact.
    pub diagnostic: bool,
    /// Gates 1–5.
    pub gates: Vec<GateNote>,
    /// The status that they name.
    pub status: GateStatus,
}

/// A gate's finding without its words.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct GateNote {
    /// 1 to 5.
    pub gate: u8,
    /// Whether it holds.
    pub holds: bool,
    /// Kinds of evidence and how many there were of each.
    pub evidence: BTreeMap<String, usize>,
}

impl GateNote {
    /// Notes gates 1–5 of a report.
    #[must_use]
    pub fn of(gates: &[GateResult]) -> Vec<Self> {
        let before = gates.iter().filter(|gate| gate.number < 6);
        before
            .map(|gate| Self {
                gate: gate.number,
                holds: gate.holds == Some(true),
                evidence: gate
                    .evidence
                    .iter()
                    .map(|(kind, count)| ((*kind).to_owned(), *count))
                    .collect(),
            })
            .collect()
    }
}

/// Something that somebody decided.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// What kind of thing it is about.
    #[serde(default, skip_serializing_if = "About::is_effect")]
    pub about: About,
    /// The branch that it was said on.
    pub branch: Digest,
    /// What it is about: an effect's operation key, an intervention, a state key.
    pub operation: Digest,
    /// The decision.
    pub state: Word,
    /// Digest of the evidence or the reason given.
    pub evidence: Digest,
    /// Who said it; none if nobody was named.
    pub operator: Option<Digest>,
}

/// What a decision is about.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Default)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// An effect that happened.
    #[default]
    Effect,
    /// An effect that a run was about to have.
    NewEffect,
    /// An intervention that needs an approval.
    Approval,
    /// A tool registry that drifted.
    Drift,
    /// A difference of the configuration.
    Delta,
    /// The workflow profile.
    Profile,
}

impl About {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
    fn is_effect(&self) -> bool {
        *self == Self::Effect
    }
}

/// A decision in one word.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Evidence is missing.
    Pending,
    /// Undone.
    Reverted,
    /// Stays and is not repeated.
    Reconciled,
    /// Cannot be undone, and nobody has decided yet.
    Irreversible,
    /// May happen.
    Allowed,
    /// Must not happen, or was not accepted.
    Refused,
    /// An owner's yes.
    Approved,
    /// Seen, and gone on with.
    Acknowledged,
    /// Meant to be so.
    Accepted,
    /// Set to something else.
    Changed,
}

impl From<EffectState> for Word {
    fn from(state: EffectState) -> Self {
        match state {
            EffectState::Pending => Self::Pending,
            EffectState::Reverted => Self::Reverted,
            EffectState::Reconciled => Self::Reconciled,
            EffectState::Irreversible => Self::Irreversible,
        }
    }
}

impl Word {
    /// The word as it stands in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Reverted => "reverted",
            Self::Reconciled => "reconciled",
            Self::Irreversible => "irreversible",
            Self::Allowed => "allowed",
            Self::Refused => "refused",
            Self::Approved => "approved",
            Self::Acknowledged => "acknowledged",
            Self::Accepted => "accepted",
            Self::Changed => "changed",
        }
    }
}

/// What came of a run.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The branch.
    pub branch: Digest,
    /// How the run ended.
    pub run: RunStatus,
    /// The gates' word after it.
    pub status: Option<GateStatus>,
    /// Not an exact replay.
    pub diagnostic: bool,
    /// Whether there is a final answer.
    pub answered: bool,
    /// Whether the verifier passed it; none if nothing could tell.
    pub success: Option<bool>,
    /// The kind of the verifier.
    pub verifier: Option<VerifierKind>,
    /// Whether the edit was executed.
    pub fulfilled: Option<bool>,
    /// Milestones beside the parent's.
    pub milestones: Option<Tally>,
    /// How many steps it has.
    pub steps: usize,
    /// Digest of all of them.
    pub trajectory: Digest,
}

/// A deterministic verifier without what it compares with.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum VerifierKind {
    /// GAIA's scorer.
    Answer,
    /// The same on a boxed answer or the last number.
    Math,
    /// The answer contains a text.
    Contains,
    /// A command in the run's workspace.
    Command,
    /// A file of the run's workspace.
    File,
}

impl From<&Verifier> for VerifierKind {
    fn from(verifier: &Verifier) -> Self {
        match verifier {
            Verifier::Answer => Self::Answer,
            Verifier::Math => Self::Math,
            Verifier::Contains(_) => Self::Contains,
            Verifier::Command(_) => Self::Command,
            Verifier::File { .. } => Self::File,
        }
    }
}

/// An id or a name as receipts have it. Whoever knows the name can find its receipts; nobody reads it off them.
#[must_use]
pub fn hashed(id: &str) -> Digest {
    Digest::of_fields([b"dover id".as_slice(), id.as_bytes()])
}

/// [`hashed`] for a name that may be blank, which is nobody's.
#[must_use]
pub fn hashed_name(name: &str) -> Option<Digest> {
    let name = name.trim();
    (!name.is_empty()).then(|| hashed(name))
}

/// Digest of a value's canonical JSON.
pub fn canonical_digest(value: &impl Serialize) -> Result<Digest, serde_json::Error> {
    chain::canonical(value).map(Digest::of)
}

#[cfg(test)]
mod tests;
