//! Hypotheses (SPEC 1, 2.2, 2.3): where a trial went wrong and by whom, where an edit for it goes, and what testing it showed.

use serde::{Deserialize, Serialize};

use super::{BranchId, Category, Step, StepKind, Trial, Verdict};

/// A suspicion about one trial, to be tested. Attribution is a diagnostic; outcomes are the measure.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Hypothesis {
    /// The trial.
    pub trial: Trial,
    /// The suspected step, inside the trial.
    pub step: usize,
    /// The suspected agent, who spoke in the trial.
    pub agent: String,
    /// Why, in a sentence or two.
    pub reason: String,
    /// The steps that speak for it.
    #[serde(default)]
    pub evidence: Vec<usize>,
    /// How strongly they speak, in 0..=1; comparable within one session and one analyst only.
    pub weight: f64,
    /// What the agent lacks, if no message can mend that: a capability finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
}

/// Where an edit goes.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The step whose content is replaced.
    pub step: usize,
    /// `instruction`, `plan` or `message`.
    pub category: Category,
}

/// One edit made for a hypothesis.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Where it goes.
    pub target: Target,
    /// The text that replaces the content.
    pub text: String,
}

/// A hypothesis that was tested before, and what that showed; told to the next attribution of its trial.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Tried {
    /// The hypothesis.
    pub hypothesis: Hypothesis,
    /// The edit.
    pub proposal: Proposal,
    /// What its runs came to; none without a verdict.
    pub verdict: Option<Verdict>,
    /// What was learnt, in a sentence or two: how the runs went on after the edit.
    pub learnt: String,
}

/// What stands with a hypothesis in the store.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Default)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Offered, neither taken nor left.
    #[default]
    Proposed,
    /// Taken up as it is or after an edit by hand; its runs, if any, hang on its intervention.
    Accepted,
    /// No edit can be tested for it; the note says why.
    Untestable,
}

/// A hypothesis as the store keeps it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Filed {
    /// Store-unique id, `SESSION/hN`.
    pub id: String,
    /// The branch it is about.
    pub branch: BranchId,
    /// Which round made it, 1-based; a later one knows what the earlier ones came to.
    pub round: usize,
    /// Who made it: `offline`, `model NAME`, or `operator NAME` for one's own.
    pub analyst: String,
    /// The hypothesis.
    pub hypothesis: Hypothesis,
    /// The edit for it, if there can be one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
    /// The intervention that tests it, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervention: Option<String>,
    /// Where it stands.
    #[serde(default)]
    pub standing: Standing,
    /// Why it cannot be tested, or what was learnt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What kind of edit a hypothesis wants.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// What the suspected agent was told.
    Instruction,
    /// What the orchestrator meant to do.
    Plan,
}

/// Where the edit for a hypothesis goes (SPEC 2.3). `steps` are those of the whole trajectory, in order.
///
/// For `instruction`: the last instruction to the suspected agent at or before the suspected step, within the trial; a suspected
/// step that is itself an instruction is that target. For `plan`: the last plan or ledger at or before it. Without an orchestrator: the
/// last message that the suspected agent received. Never a control or thought step. None where there is no such step. O(trial).
#[must_use]
pub fn target(
    steps: &[Step],
    hypothesis: &Hypothesis,
    aim: Aim,
    orchestrated: bool,
) -> Option<Target> {
    let Trial { start, .. } = hypothesis.trial;
    let until = |end: usize| steps.get(start..end.min(steps.len())).unwrap_or_default();
    let within = until(hypothesis.step + 1);
    let at = |step: &Step, category| Target {
        step: step.index,
        category,
    };
    if !orchestrated {
        let heard = until(hypothesis.step).iter().rev().find(|step| {
            step.agent != hypothesis.agent
                && step.editable()
                && step.to.as_deref().is_none_or(|to| to == hypothesis.agent)
        });
        // The task is what the first speaker was told.
        let task = || {
            steps
                .get(..start)?
                .iter()
                .rev()
                .find(|step| step.kind == StepKind::Task)
        };
        return heard.or_else(task).map(|step| at(step, Category::Message));
    }
    match aim {
        Aim::Instruction => {
            let own = within
                .last()
                .filter(|step| step.kind == StepKind::Instruction);
            let told = || {
                within.iter().rev().find(|step| {
                    step.kind == StepKind::Instruction
                        && step.to.as_deref() == Some(hypothesis.agent.as_str())
                })
            };
            own.or_else(told)
                .map(|step| at(step, Category::Instruction))
        }
        Aim::Plan => within
            .iter()
            .rev()
            .find(|step| matches!(step.kind, StepKind::Plan | StepKind::Ledger))
            .map(|step| at(step, Category::Plan)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `agent kind [to]` per step.
    fn steps(lines: &[&str]) -> Vec<Step> {
        let step = |(index, line): (usize, &&str)| {
            let mut words = line.split(' ');
            let agent = words.next().unwrap_or_default().to_owned();
            let name = words.next().unwrap_or_default();
            Step {
                index,
                agent,
                kind: StepKind::ALL
                    .into_iter()
                    .find(|kind| kind.name() == name)
                    .unwrap(),
                to: words.next().map(str::to_owned),
                text: line.to_string(),
                ..Step::default()
            }
        };
        lines.iter().enumerate().map(step).collect()
    }

    fn suspect(trial: (usize, usize), step: usize, agent: &str) -> Hypothesis {
        Hypothesis {
            trial: Trial {
                index: 1,
                start: trial.0,
                end: trial.1,
            },
            step,
            agent: agent.into(),
            reason: String::new(),
            evidence: Vec::new(),
            weight: 1.0,
            capability: None,
        }
    }

    #[test]
    fn an_edit_goes_where_the_rule_says() {
        let log = steps(&[
            "user task",
            "O plan",
            "O ledger",
            "O instruction A",
            "A message",
            "O instruction B",
            "B message",
            "O ledger",
            "O instruction A",
            "O thought",
            "A message",
            "O plan",
            "A message",
        ]);
        let of = |trial, step, agent, aim| {
            target(&log, &suspect(trial, step, agent), aim, true).map(|it| it.step)
        };
        let first = (1, 10);
        assert_eq!(of(first, 10, "A", Aim::Instruction), Some(8));
        assert_eq!(of(first, 6, "A", Aim::Instruction), Some(3));
        assert_eq!(of(first, 6, "B", Aim::Instruction), Some(5));
        // The instruction itself is suspected.
        assert_eq!(of(first, 5, "O", Aim::Instruction), Some(5));
        assert_eq!(of(first, 10, "A", Aim::Plan), Some(7));
        assert_eq!(of(first, 6, "A", Aim::Plan), Some(2));
        // Not across the trial's beginning.
        assert_eq!(of((11, 12), 12, "A", Aim::Instruction), None);
        assert_eq!(of((11, 12), 12, "A", Aim::Plan), Some(11));
    }

    #[test]
    fn without_an_orchestrator_it_is_what_the_agent_heard() {
        let log = steps(&[
            "user task",
            "A message",
            "B message",
            "A message B",
            "C message",
            "A message",
        ]);
        let of = |step, agent| target(&log, &suspect((1, 5), step, agent), Aim::Instruction, false);
        assert_eq!(
            of(5, "A"),
            Some(Target {
                step: 4,
                category: Category::Message
            })
        );
        // What was said to B alone was not heard by C.
        assert_eq!(of(4, "C").map(|it| it.step), Some(2));
        assert_eq!(of(1, "A").map(|it| it.step), Some(0));
    }
}
