//! Gate 4, authority: whoever forks may do so, and an edit of high risk was approved by somebody who may approve it.
//!
//! Waiting for an approval is a normal state and no failure. Signatures are checked by whoever reads an approval, not here.

use super::{GateResult, Risk};
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
    /// The approval that was found, if any.
    pub approval: Option<&'a Approval>,
}

/// Exactly what is approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The branch to be forked.
    pub parent: BranchId,
    /// The step to fork at.
    pub fork_step: usize,
    /// Digest of the pending step as it will be delivered.
    pub edit: Digest,
    /// Planned runs.
    pub n: usize,
    /// The configuration's digest.
    pub config: Digest,
}

/// An owner's word that an intervention may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Who gave it.
    pub owner: String,
    /// Whether that person may approve.
    pub authorised: bool,
    /// Whether its time is over.
    pub expired: bool,
    /// Whether a fork was already made under it.
    pub used: bool,
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
    let gate = gate.rests_on("high_risk");
    let wants = "An owner must approve exactly this edit";
    let why = format!("high risk: {}", input.risk.why);
    let Some(approval) = input.approval else {
        return gate.fails(why, wants);
    };
    let fault = if !approval.authorised {
        Some("may not approve")
    } else if approval.expired {
        Some("approved it, but that has expired")
    } else if approval.used {
        Some("approved it, but that was used before")
    } else if approval.binding != *input.binding {
        Some("approved something else")
    } else {
        None
    };
    match fault {
        None => gate
            .rests_on("approval")
            .holds(format!("high risk, approved by {}", approval.owner))
            .detail(why),
        Some(fault) => gate
            .fails(format!("{} {fault}", approval.owner), wants)
            .detail(why),
    }
}
