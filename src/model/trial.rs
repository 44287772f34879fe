//! Trials: from a step that states a plan to just before the next one.

use serde::{Deserialize, Serialize};

use super::StepKind;

/// A run of steps under one plan.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// 1-based number.
    pub index: usize,
    /// First step, 0-based: the one that states the plan.
    pub start: usize,
    /// Last step, 0-based, inclusive.
    pub end: usize,
}

/// Cuts a trajectory of `len` steps at the steps that state a plan. What precedes the first plan (the task) is shown with trial 1 but is not part of it.
/// Without any plan the whole trajectory after its task (and the words of the machinery around it) is one trial. Stalls and ledgers never cut. O(plans).
#[must_use]
pub fn trials(plan_steps: &[usize], first_after_task: usize, len: usize) -> Vec<Trial> {
    let starts: &[usize] = if plan_steps.is_empty() {
        &[first_after_task]
    } else {
        plan_steps
    };
    starts
        .iter()
        .enumerate()
        .filter(|(_, start)| **start < len)
        .map(|(i, &start)| {
            let end = starts.get(i + 1).copied().unwrap_or(len).saturating_sub(1);
            Trial {
                index: i + 1,
                start,
                end,
            }
        })
        .collect()
}

/// [`trials`] from the kinds of all steps.
#[must_use]
pub fn trials_of_kinds(kinds: &[StepKind]) -> Vec<Trial> {
    let plans: Vec<usize> = kinds
        .iter()
        .enumerate()
        .filter(|(_, k)| **k == StepKind::Plan)
        .map(|(i, _)| i)
        .collect();
    let before = |kind: &&StepKind| matches!(kind, StepKind::Task | StepKind::Control);
    let first = kinds.iter().take_while(before).count();
    trials(&plans, first, kinds.len())
}

/// The trial a step belongs to; steps before the first plan are shown with trial 1.
#[must_use]
pub fn trial_of(trials: &[Trial], step: usize) -> Option<&Trial> {
    let after = trials.partition_point(|trial| trial.start <= step);
    trials.get(after.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_only_at_plans() {
        // Who&When hand-crafted case 3 (SPEC 2): 93 steps, plans at 1, 39, 66, 88.
        let got = trials(&[1, 39, 66, 88], 1, 93);
        let spans: Vec<_> = got.iter().map(|t| (t.index, t.start, t.end)).collect();
        assert_eq!(spans, [(1, 1, 38), (2, 39, 65), (3, 66, 87), (4, 88, 92)]);
        assert_eq!(trial_of(&got, 0).unwrap().index, 1);
        assert_eq!(trial_of(&got, 38).unwrap().index, 1);
        assert_eq!(trial_of(&got, 39).unwrap().index, 2);
    }

    #[test]
    fn without_a_plan_is_one_trial_after_the_task() {
        use StepKind::{Control, Ledger, Message, Task};
        let got = trials_of_kinds(&[Task, Message, Ledger, Message]);
        assert_eq!(
            got,
            [Trial {
                index: 1,
                start: 1,
                end: 3
            }]
        );
        // A chat that opens with a system prompt.
        let got = trials_of_kinds(&[Control, Task, Message]);
        assert_eq!(
            got,
            [Trial {
                index: 1,
                start: 2,
                end: 2
            }]
        );
        assert!(trials_of_kinds(&[Task]).is_empty());
        assert!(trials_of_kinds(&[]).is_empty());
    }
}
