//! Gate 4, authority: whoever forks may do so, and an edit of high risk was approved by somebody who may approve it.
//!
//! Waiting for an approval is a normal state and no failure. Signatures are checked by whoever reads an approval, not here.

use serde::{Deserialize, Serialize};

use super::{Action, GateResult, Risk};
use crate::model::{BranchId, Digest};

/// What gate 4 judges.
#[derive(Clone, Copy, Debug)]
pub struct Authority<'a> {
    /// Who asks; none if nobody said.
    pub operator: Option<&'a str>,
    /// Who drives the session.
    pub driver: Option<&'a str>,
    /// What the edit may lead to.
    pub risk: &'a Risk,
    /// What an approval must be bound to.
    pub binding: &'a Binding,
    /// The approval that was found, if any: a good one if there is one.
    pub approval: Option<&'a Approval>,
    /// The intervention's id, once it is written, so that somebody can approve it.
    pub intervention: Option<&'a str>,
}

/// Exactly what is approved. What an old record does not tell is none, and binds to nothing else.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The intervention's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervention: Option<String>,
    /// The branch to be forked.
    pub parent: BranchId,
    /// Digest of the parent's steps before the fork step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Digest>,
    /// The step to fork at.
    pub fork_step: usize,
    /// Digest of what is edited.
    pub edit: Digest,
    /// Planned runs.
    pub n: usize,
    /// The configuration's digest.
    pub config: Digest,
    /// The workflow's digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Digest>,
}

/// What is wrong with an approval, whatever it was given for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The signature does not fit, or the key is none that may sign.
    Signature,
    /// The profile does not name this owner with this key.
    Stranger,
    /// Whoever made the edit may not approve it.
    Editor,
    /// A time in it cannot be read.
    NoTime,
    /// It was given later than now.
    Early,
    /// Its time is over.
    Expired,
    /// A fork was made under it.
    Used,
}

impl Flaw {
    /// What follows the owner's name in a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Signature => "approved it, but the signature is not good",
            Self::Stranger => "may not approve: no owner with this key",
            Self::Editor => "made the edit and may not approve it too",
            Self::NoTime => "approved it, but the approval tells no time",
            Self::Early => "approved it later than now: look at the clock",
            Self::Expired => "approved it, but that has expired",
            Self::Used => "approved it, but that was used before",
        }
    }
}

/// An owner's word that an intervention may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Who gave it.
    pub owner: String,
    /// What is wrong with it.
    pub flaw: Option<Flaw>,
    /// What it was given for.
    pub binding: Binding,
}

pub(super) fn gate(input: &Authority) -> GateResult {
    let gate = GateResult::new(4, "authority");
    let known = |name: Option<&'_ str>| {
        name.map(str::trim)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
    };
    let Some(operator) = known(input.operator) else {
        return gate.fails("nobody is named as operator", "Name one: --operator NAME");
    };
    let Some(driver) = known(input.driver) else {
        return gate.fails("nobody is named as driver", "Take the wheel first");
    };
    if operator != driver {
        return gate.fails(
            format!("{operator} is not the driver, {driver} is"),
            format!("Ask {driver} to fork, or to hand over"),
        );
    }
    if !input.risk.high {
        return gate
            .rests_on("low_risk")
            .holds(format!("low risk: {}, operator {operator}", input.risk.why));
    }
    let gate = gate.rests_on("high_risk").offers(Action::RequestApproval);
    let wants = input.intervention.map_or_else(
        || "An owner must approve exactly this edit".to_owned(),
        |id| format!("Waits for an owner: dover approve {id} --as NAME, then dover resume {id}"),
    );
    let why = format!("high risk: {}", input.risk.why);
    let Some(approval) = input.approval else {
        return gate.fails(why, wants);
    };
    let fault = approval
        .flaw
        .map(Flaw::words)
        .or_else(|| (approval.binding != *input.binding).then_some("approved something else"));
    match fault {
        None => GateResult {
            actions: Vec::new(),
            ..gate
        }
        .rests_on("approval")
        .holds(format!("high risk, approved by {}", approval.owner))
        .detail(why),
        Some(fault) => gate
            .fails(format!("{} {fault}", approval.owner), wants)
            .detail(why),
    }
}
