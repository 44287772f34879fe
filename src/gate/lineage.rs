//! Gate 1, lineage: the branch is a new one, its parent is real, and the prefix that it inherits is the recorded one.

use super::GateResult;
use crate::model::{BranchId, Digest};

/// What gate 1 judges.
#[derive(Clone, Copy, Debug)]
pub struct Lineage<'a> {
    /// The ids of the branches to be made: one per run.
    pub branches: &'a [BranchId],
    /// The branch to be forked.
    pub parent: &'a BranchId,
    /// What is known of it; none if there is no such branch.
    pub facts: Option<ParentFacts<'a>>,
    /// The step to fork at.
    pub fork_step: usize,
}

/// A parent as the store has it.
#[derive(Clone, Copy, Debug)]
pub struct ParentFacts<'a> {
    /// How many steps it has.
    pub steps: usize,
    /// Its ancestors, nearest first.
    pub ancestors: &'a [BranchId],
    /// Digest of its steps before the fork step, as recorded when they were written.
    pub recorded: Option<Digest>,
    /// The same digest, computed again from the steps as they are now.
    pub recomputed: Option<Digest>,
}

pub(super) fn gate(input: &Lineage) -> GateResult {
    let gate = GateResult::new(1, "lineage");
    let (parent, step) = (input.parent, input.fork_step);
    if input.branches.is_empty() {
        return gate.fails("the new branch has no id yet", "Give it one");
    }
    if input.branches.contains(parent) {
        return gate.fails(
            format!("the branch would be its own parent, {parent}"),
            "Fork under a new id",
        );
    }
    let Some(facts) = input.facts else {
        return gate.fails(
            format!("there is no branch {parent}"),
            format!("See its branches: dover show {}", parent.session()),
        );
    };
    if step >= facts.steps {
        let mend = facts.steps.checked_sub(1).map_or_else(
            || "Fork a branch that has steps".to_owned(),
            |last| format!("Fork at a step from 0 to {last}"),
        );
        return gate.fails(
            format!("step {step} is outside {parent}, of {} steps", facts.steps),
            mend,
        );
    }
    if has_cycle(input.branches, parent, facts.ancestors) {
        return gate.fails(
            "the ancestors come back to the branch itself",
            "Fork another branch; this one's record is damaged",
        );
    }
    match (facts.recorded, facts.recomputed) {
        (Some(recorded), Some(now)) if recorded == now => gate
            .holds(format!(
                "{} of {}, prefix of {step} steps, digest {}",
                range(input.branches),
                parent.name(),
                now.short()
            ))
            .rests_on("prefix_digest")
            .detail(format!("forked from {parent} at step {step}")),
        (Some(recorded), Some(now)) => gate
            .fails(
                "the parent's prefix is not the recorded one",
                "Import the session anew; this record was changed",
            )
            .detail(format!("recorded {}", recorded.short()))
            .detail(format!("now      {}", now.short())),
        _ => gate.fails(
            "the parent's prefix has no digest to compare",
            "Import the session anew",
        ),
    }
}

/// The new branches' names as one range: `b1`, `b1–b3`.
fn range(branches: &[BranchId]) -> String {
    match branches {
        [first, .., last] => format!("{}–{}", first.name(), last.name()),
        _ => branches.iter().map(BranchId::name).collect(),
    }
}

fn has_cycle(branches: &[BranchId], parent: &BranchId, ancestors: &[BranchId]) -> bool {
    let mut seen = std::collections::HashSet::from([parent]);
    seen.extend(branches);
    ancestors.iter().any(|ancestor| !seen.insert(ancestor))
}
