//! From a hypothesis to one edit: the text at its target, made clear by what the log shows and the task says.
//!
//! Several drafts are made, the surest first; the first that is new, was not tried and does not give the answer away is taken. A draft
//! names things that stand in the log: pages, controls, sources, expressions. Nothing is known of any world.

mod led;
mod seen;
mod talk;

use super::look::{Look, look};
use crate::analyst::{Case, Intervention};
use crate::model::{Aim, Hypothesis, Proposal, Step, Target, Tried, leaks_answer, target};

/// A draft is not longer than this beyond what it replaces, in bytes.
const LONGEST: usize = 1500;

/// What a draft is made from.
struct Desk<'a> {
    case: &'a Case,
    hypothesis: &'a Hypothesis,
    looks: Vec<Look>,
    /// What was tried in vain.
    tried: &'a [Tried],
}

impl Desk<'_> {
    /// Where an edit with this aim goes, and the step as it stands.
    fn target(&self, aim: Aim) -> Option<(Target, &Step)> {
        let target = target(
            &self.case.steps,
            self.hypothesis,
            aim,
            self.case.orchestrated(),
        )?;
        Some((target, self.case.steps.get(target.step)?))
    }

    /// The suspected step as it looks.
    fn look(&self) -> Option<&Look> {
        self.looks.get(self.hypothesis.step)
    }

    /// The steps of the trial.
    fn trial(&self) -> &[Step] {
        self.case.of(&self.hypothesis.trial)
    }
}

/// One edit for a hypothesis.
pub(super) fn intervene(case: &Case, hypothesis: &Hypothesis, tried: &[Tried]) -> Intervention {
    let desk = Desk {
        case,
        hypothesis,
        looks: look(case),
        tried,
    };
    let drafts = if case.orchestrated() {
        led::drafts(&desk)
    } else {
        talk::drafts(&desk)
    };
    if drafts.is_empty() {
        return Intervention::Nothing(format!(
            "No edit: nothing was said to {} before step {} in this trial, and no plan stands there.",
            hypothesis.agent, hypothesis.step
        ));
    }
    let mut leaked = false;
    for draft in drafts {
        let Some(original) = case.steps.get(draft.target.step) else {
            continue;
        };
        if !fresh(&draft, original, tried) {
            continue;
        }
        if leaks(case, &draft) {
            leaked = true;
            continue;
        }
        return Intervention::Edit(draft);
    }
    Intervention::Nothing(
        if leaked {
            "No edit: every one that could be made would give the expected answer away."
        } else {
            "No edit is left: all that could be made of this log were tried."
        }
        .to_owned(),
    )
}

/// Whether a draft says something else than the step, at a reasonable length, and was not tried.
fn fresh(draft: &Proposal, original: &Step, tried: &[Tried]) -> bool {
    let text = draft.text.trim();
    let was = |one: &Tried| {
        one.proposal.target.step == draft.target.step && one.proposal.text.trim() == text
    };
    original.editable()
        && !text.is_empty()
        && text != original.text.trim()
        && draft.text.len() <= original.text.len() + LONGEST
        && !tried.iter().any(was)
}

fn leaks(case: &Case, draft: &Proposal) -> bool {
    let Some(expected) = &case.session.expected else {
        return false;
    };
    let prefix = case.within(0..draft.target.step);
    leaks_answer(
        &draft.text,
        expected,
        &case.session.task,
        prefix.iter().map(|step| step.text.as_str()),
    )
}

/// A sentence with its first letter small, to stand after another; names and quotations stay.
fn continued(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests;
