//! Whether a lesson can be played to its end on its run: what a condition asks for must be possible there.

use super::lesson::{Condition, Deed};
use super::read::Mistake;
use crate::model::{Category, EditClass, Session, StepHead, StepKind, Trial, Verdict};

/// What is known of the run of a lesson.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What the lesson calls it.
    pub name: String,
    /// The session.
    pub session: Session,
    /// Its steps.
    pub heads: Vec<StepHead>,
    /// Its trials.
    pub trials: Vec<Trial>,
    /// Steps whose effects nobody decided about.
    pub effects: Vec<usize>,
}

/// Which of the parts, by their numbers, cannot be completed on the run.
#[must_use]
pub fn check(conditions: &[(usize, Condition)], facts: &Facts) -> Vec<Mistake> {
    let wrong = conditions.iter().filter_map(|(number, condition)| {
        let why = impossible(condition, facts)?;
        Some(Mistake {
            line: condition.line,
            text: format!("part {number}: {why}"),
        })
    });
    wrong.collect()
}

fn impossible(condition: &Condition, facts: &Facts) -> Option<String> {
    let last = facts.heads.len().saturating_sub(1);
    let run = &facts.name;
    let (from, to) = condition.at.unwrap_or((0, last));
    if to > last {
        return Some(format!(
            "there is no step {to}: {run} has steps 0 to {last}"
        ));
    }
    let heads = facts.heads.get(from..=to).unwrap_or_default();
    let place = if from == to {
        format!("step {from}")
    } else {
        format!("a step from {from} to {to}")
    };
    let first = facts.trials.first().map_or(0, |trial| trial.start);
    match condition.deed {
        Deed::Predict if to < first => {
            return Some(format!(
                "this can never be reached: {place} is the task, which cannot be suspected. The first trial begins at step {first}"
            ));
        }
        Deed::Visit | Deed::Predict | Deed::Compare | Deed::Look(_) => return None,
        Deed::Edit | Deed::Run { .. } | Deed::Verdict(_) | Deed::Held(_) | Deed::Passed(_) => {}
    }
    if !heads.iter().any(editable) {
        return Some(format!(
            "this can never be reached: {place} is a word of the machinery and cannot be forked"
        ));
    }
    let categories = heads
        .iter()
        .filter(|head| editable(head))
        .map(|head| Category::of_kind(head.kind));
    let plans = |category| matches!(category, Category::Plan | Category::Instruction);
    if condition.style == Some(EditClass::ChangePlan) && !categories.clone().any(plans) {
        return Some(format!(
            "this can never be reached: only an edit of a plan or an instruction counts as change_plan, and {place} is neither"
        ));
    }
    match condition.deed {
        Deed::Held("effects") if !facts.effects.iter().any(|step| *step >= from) => Some(format!(
            "this can never be reached: {run} left nothing in the world from step {from} on that gate 'effects' could hold"
        )),
        Deed::Held("lineage") => Some(
            "this can never be reached: a fork made on the screen always has its lineage"
                .to_owned(),
        ),
        Deed::Verdict(_)
            if facts.session.verifier.is_none() && facts.session.expected.is_none() =>
        {
            Some(format!(
                "this can never be reached: {run} has no verifier, so no run is judged. `dover set` gives it one"
            ))
        }
        Deed::Verdict(Verdict::Refuted | Verdict::PartiallyValidated)
            if facts.session.milestones.is_empty() =>
        {
            Some(format!(
                "this can never be reached: {run} has no milestones, so nothing shows how far a run came"
            ))
        }
        _ => None,
    }
}

fn editable(head: &StepHead) -> bool {
    !matches!(head.kind, StepKind::Control | StepKind::Thought)
}
