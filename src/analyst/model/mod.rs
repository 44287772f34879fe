//! The analyst by a model: any OpenAI-compatible endpoint, asked stage by stage. What it says is held against the log before it counts: a
//! step that is not there, an agent who did not speak, an edit that gives the answer away are refused with the reason and asked again.
//!
//! The expected answer is in no prompt. Dropping a future closes its connection.

mod ask;
mod cut;
mod stage;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use async_trait::async_trait;

use super::{Analyst, AnalystError, Case, Intervention};
use crate::endpoint::{Endpoint, EndpointError, EndpointSettings, Meter, estimate, given};
use crate::model::{
    Aim, Check, Hypothesis, MAX_MILESTONES, Milestone, Proposal, Step, StepKind, Target, Trial,
    Tried, Usage, leaks_answer, target, trials,
};
use ask::Asked;
use stage::{Attributed, Fulfilled, Index, Intervened, Named, Reached, Segmented, Stage};

/// About how many tokens an answer takes, for the estimate.
const ANSWER: u64 = 300;
/// The longest new text beyond the old one, in bytes.
const LONGEST: usize = 8_000;
const FEW_SHOT: &str = include_str!("prompts/few_shot.md");

/// A model that analyses, and the one that judges.
pub struct ModelAnalyst {
    name: String,
    asked: Asked,
    judge: Option<Asked>,
    few_shot: bool,
    meter: Meter,
}

impl ModelAnalyst {
    /// Checks the settings; reaches nothing. Without settings of its own for the judge the same model judges.
    ///
    /// # Errors
    /// What is missing or cannot be right.
    pub fn new(
        model: &EndpointSettings,
        judge: Option<&EndpointSettings>,
        few_shot: bool,
    ) -> Result<Self, EndpointError> {
        let name = given(model.model.as_deref()).unwrap_or_default();
        let by = judge
            .and_then(|judge| given(judge.model.as_deref()))
            .filter(|judge| *judge != name);
        Ok(Self {
            name: match by {
                Some(judge) => format!("model {name}, judged by {judge}"),
                None => format!("model {name}"),
            },
            asked: Asked::new(Endpoint::new(model)?),
            judge: judge
                .map(|judge| Endpoint::new(judge).map(Asked::new))
                .transpose()?,
            few_shot,
            meter: model.meter.clone(),
        })
    }

    fn judge(&self) -> &Asked {
        self.judge.as_ref().unwrap_or(&self.asked)
    }

    fn question(case: &Case, trial: &Trial, tried: &[Tried]) -> String {
        [
            cut::task(case),
            cut::agents(case),
            cut::trial(case, trial),
            cut::tried(tried),
        ]
        .join("\n")
    }
}

#[async_trait]
impl Analyst for ModelAnalyst {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn estimate(&self, case: &Case, trials: &[Trial]) -> Usage {
        let asked = [Stage::Attribute, Stage::Intervene];
        let prompt = trials.iter().map(|trial| {
            let question = estimate(&Self::question(case, trial, &[]));
            asked
                .iter()
                .map(|stage| question + estimate(stage.prompt()))
                .sum::<u64>()
        });
        let (prompt_tokens, calls) = (prompt.sum(), (trials.len() * asked.len()) as u64);
        let completion_tokens = calls * ANSWER;
        Usage {
            calls,
            prompt_tokens,
            completion_tokens,
            estimated: true,
            cost_micros: self.meter.cost(prompt_tokens, completion_tokens),
        }
    }

    fn used(&self) -> Usage {
        let mut used = self.asked.used();
        if let Some(judge) = &self.judge {
            used.add(&judge.used());
        }
        used
    }

    async fn segment(&self, case: &Case) -> Result<Vec<Trial>, AnalystError> {
        let question = format!(
            "{}\n{}",
            cut::task(case),
            cut::steps(&case.steps, cut::BUDGET)
        );
        let first = case.trials.first().map_or(0, |trial| trial.start);
        let len = case.steps.len();
        self.asked
            .ask(Stage::Segment, question, |said: Segmented| {
                let mut starts: Vec<usize> = said.starts.iter().map(|start| start.0).collect();
                starts.sort_unstable();
                starts.dedup();
                if let Some(wrong) = starts
                    .iter()
                    .find(|start| **start < first || **start >= len)
                {
                    return Err(format!(
                        "there is no step {wrong} that could begin a trial: they are {first} to {}",
                        len.saturating_sub(1)
                    ));
                }
                Ok(trials(&starts, first, len))
            })
            .await
    }

    async fn attribute(
        &self,
        case: &Case,
        trial: &Trial,
        tried: &[Tried],
    ) -> Result<Vec<Hypothesis>, AnalystError> {
        let speakers = speakers(case, trial);
        if speakers.is_empty() {
            return Ok(Vec::new());
        }
        let question = format!(
            "{}\nWhich step of trial {} is the decisive mistake?",
            Self::question(case, trial, tried),
            trial.index
        );
        let found = self
            .asked
            .ask(Stage::Attribute, question, |said: Attributed| {
                suspect(case, trial, &speakers, said)
            })
            .await?;
        Ok(vec![found])
    }

    async fn intervene(
        &self,
        case: &Case,
        hypothesis: &Hypothesis,
        tried: &[Tried],
    ) -> Result<Intervention, AnalystError> {
        let places = places(case, hypothesis);
        if places.is_empty() {
            return Ok(Intervention::Nothing(format!(
                "No edit: nothing was said to {} before step {} in this trial, and no plan stands there.",
                hypothesis.agent, hypothesis.step
            )));
        }
        let mut question = Self::question(case, &hypothesis.trial, tried);
        let _ = write!(
            question,
            "\nThe suspected mistake: step {} by {}. {}\n\nMessages that could be rewritten:\n",
            hypothesis.step, hypothesis.agent, hypothesis.reason
        );
        for (name, (_, step)) in &places {
            let _ = write!(question, "\n{name}, step {}:\n{}\n", step.index, step.text);
        }
        if self.few_shot {
            let _ = write!(question, "\n{FEW_SHOT}");
        }
        let proposal = self
            .asked
            .ask(Stage::Intervene, question, |said: Intervened| {
                edit(case, &places, tried, &said)
            })
            .await?;
        Ok(Intervention::Edit(proposal))
    }

    async fn milestones(&self, case: &Case) -> Result<Vec<Milestone>, AnalystError> {
        let question = format!("{}\n{}", cut::task(case), cut::agents(case));
        let expected = case.session.expected.clone();
        self.asked
            .ask(Stage::Milestones, question, |said: Named| {
                goals(&case.session.task, expected.as_deref(), said)
            })
            .await
    }

    async fn judge_milestones(
        &self,
        case: &Case,
        milestones: &[Milestone],
    ) -> Result<Vec<Option<usize>>, AnalystError> {
        let mut question = format!(
            "{}\n{}\nThe milestones:\n",
            cut::task(case),
            cut::steps(&case.steps, cut::BUDGET)
        );
        for (at, milestone) in milestones.iter().enumerate() {
            let _ = writeln!(question, "{}. {}", at + 1, milestone.title);
        }
        let (count, len) = (milestones.len(), case.steps.len());
        self.judge()
            .ask(Stage::JudgeMilestones, question, |said: Reached| {
                let mut found = vec![None; count];
                for one in said.reached {
                    let slot = one.number.0.checked_sub(1).and_then(|at| found.get_mut(at));
                    let slot = slot.ok_or_else(|| {
                        format!(
                            "there is no milestone {}: they are 1 to {count}",
                            one.number.0
                        )
                    })?;
                    if let Some(Index(step)) = one.step.filter(|step| step.0 >= len) {
                        return Err(format!(
                            "there is no step {step}: they are 0 to {}",
                            len.saturating_sub(1)
                        ));
                    }
                    *slot = one.step.map(|step| step.0);
                }
                Ok(found)
            })
            .await
    }

    async fn judge_fulfilment(
        &self,
        original: &Step,
        edited: &Step,
        after: &[Step],
    ) -> Result<Option<bool>, AnalystError> {
        let question = format!(
            "The message before, step {}:\n{}\n\nThe message as it was rewritten:\n{}\n\nThe steps that followed:\n{}",
            original.index,
            original.text,
            edited.text,
            cut::steps(after, cut::BUDGET)
        );
        self.judge()
            .ask(Stage::JudgeFulfilment, question, |said: Fulfilled| {
                tracing::debug!(reason = said.reason.len(), "fulfilment judged");
                Ok(said.fulfilled)
            })
            .await
    }
}

/// Who speaks in a trial: agents, not people and not the machinery.
fn speakers(case: &Case, trial: &Trial) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let spoke = case
        .of(trial)
        .iter()
        .filter(|step| !matches!(step.kind, StepKind::Task | StepKind::Control));
    for step in spoke {
        if !super::is_human(&step.agent) && !found.contains(&step.agent) {
            found.push(step.agent.clone());
        }
    }
    found
}

/// What a model suspects, held against the log.
fn suspect(
    case: &Case,
    trial: &Trial,
    speakers: &[String],
    said: Attributed,
) -> Result<Hypothesis, String> {
    let Trial { index, start, end } = trial;
    let step = said.step.0;
    if !(*start..=*end).contains(&step) {
        return Err(format!(
            "step {step} is not in trial {index}, which has steps {start} to {end}"
        ));
    }
    let plain = |name: &str| {
        name.split(" (")
            .next()
            .unwrap_or(name)
            .trim()
            .to_lowercase()
    };
    let agent = speakers
        .iter()
        .find(|known| plain(known) == plain(&said.agent));
    let agent = agent.ok_or_else(|| {
        format!(
            "{} did not speak in trial {index}; who did: {}",
            said.agent,
            speakers.join(", ")
        )
    })?;
    if said.reason.trim().is_empty() {
        return Err("it gives no reason".to_owned());
    }
    let mut evidence: Vec<usize> = said
        .evidence
        .iter()
        .map(|step| step.0)
        .filter(|step| *step < case.steps.len())
        .collect();
    evidence.sort_unstable();
    evidence.dedup();
    Ok(Hypothesis {
        trial: *trial,
        step,
        agent: agent.clone(),
        reason: said.reason.trim().to_owned(),
        evidence,
        weight: 1.0,
        capability: said.capability.filter(|lacks| !lacks.trim().is_empty()),
    })
}

/// The messages that an edit may go to, by their names.
fn places<'a>(
    case: &'a Case,
    hypothesis: &Hypothesis,
) -> BTreeMap<&'static str, (Target, &'a Step)> {
    let at = |aim| {
        let target = target(&case.steps, hypothesis, aim, case.orchestrated())?;
        Some((target, case.steps.get(target.step)?))
    };
    let mut found = BTreeMap::new();
    if case.orchestrated() {
        found.extend(at(Aim::Instruction).map(|place| ("instruction", place)));
        found.extend(at(Aim::Plan).map(|place| ("plan", place)));
    } else {
        found.extend(at(Aim::Instruction).map(|place| ("message", place)));
    }
    found
}

/// What a model writes instead, held against the rules of an edit (SPEC 2.3).
fn edit(
    case: &Case,
    places: &BTreeMap<&'static str, (Target, &Step)>,
    tried: &[Tried],
    said: &Intervened,
) -> Result<Proposal, String> {
    let names = || places.keys().copied().collect::<Vec<_>>().join(" or ");
    let (target, original) = places
        .get(said.target.as_str())
        .ok_or_else(|| format!("there is no {} to rewrite: say {}", said.target, names()))?;
    let text = said.text.trim();
    if text.is_empty() {
        return Err("the new text is empty".to_owned());
    }
    if text == original.text.trim() {
        return Err("the new text is the old one".to_owned());
    }
    if text.len() > original.text.len() + LONGEST {
        return Err(format!(
            "the new text is {} bytes longer than the old one",
            text.len() - original.text.len()
        ));
    }
    if tried
        .iter()
        .any(|one| one.proposal.target.step == target.step && one.proposal.text.trim() == text)
    {
        return Err("exactly this was tried before".to_owned());
    }
    if let Some(expected) = &case.session.expected {
        let prefix = case.within(0..target.step);
        if leaks_answer(
            text,
            expected,
            &case.session.task,
            prefix.iter().map(|step| step.text.as_str()),
        ) {
            return Err("it states an answer that nobody has found yet at this point: let the agents find it".to_owned());
        }
    }
    Ok(Proposal {
        target: *target,
        text: text.to_owned(),
    })
}

/// Sub-goals that make sense and give nothing away.
fn goals(task: &str, expected: Option<&str>, said: Named) -> Result<Vec<Milestone>, String> {
    if said.milestones.len() > MAX_MILESTONES {
        return Err(format!(
            "there are {} milestones, and at most {MAX_MILESTONES} may be",
            said.milestones.len()
        ));
    }
    let mut found: Vec<Milestone> = Vec::new();
    for goal in said.milestones {
        let title = goal.title.trim().to_owned();
        let text = goal
            .text
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty());
        let words = format!("{title} {}", text.as_deref().unwrap_or_default());
        if title.is_empty() {
            return Err("a milestone has no title".to_owned());
        }
        if expected.is_some_and(|expected| leaks_answer(&words, expected, task, std::iter::empty()))
        {
            return Err(format!("the milestone “{title}” is the answer itself"));
        }
        found.push(Milestone {
            title,
            check: text.map_or(Check::Manual, Check::Text),
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
