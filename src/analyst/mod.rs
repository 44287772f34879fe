//! Who says where a trial went wrong and what to change there. Two analysts, one interface: `offline` by rules over structure,
//! `model` by any OpenAI-compatible endpoint.
//!
//! An analyst proposes and never decides: what it says is a hypothesis to be tested, and a result always says which one made it.
//! Dropping a future cancels it. Not here: forking, replaying, verdicts.

pub mod model;
pub mod offline;

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;

use crate::endpoint::EndpointError;
use crate::model::{Hypothesis, Milestone, Proposal, Session, Step, Trial, Tried, Usage};

/// What an analyst is shown: one trajectory, cut into trials.
#[derive(Clone)]
pub struct Case {
    /// The session with its task, agents, milestones and expected answer. The answer is for rejecting edits that give it away, and nothing else.
    pub session: Arc<Session>,
    /// All steps of the branch, in order.
    pub steps: Arc<Vec<Step>>,
    /// Its trials, in order.
    pub trials: Arc<Vec<Trial>>,
}

impl Case {
    /// The steps of a trial.
    #[must_use]
    pub fn of(&self, trial: &Trial) -> &[Step] {
        self.within(trial.start..trial.end + 1)
    }

    /// Steps by their indices, as far as there are any.
    #[must_use]
    pub fn within(&self, steps: Range<usize>) -> &[Step] {
        let end = steps.end.min(self.steps.len());
        self.steps
            .get(steps.start.min(end)..end)
            .unwrap_or_default()
    }

    /// Whether somebody makes plans and instructions, so that edits go to those (SPEC 2.3).
    #[must_use]
    pub fn orchestrated(&self) -> bool {
        self.session.orchestrator.is_some()
    }
}

/// Whether a name is that of a person rather than of an agent.
pub(crate) fn is_human(name: &str) -> bool {
    let name = name.to_lowercase();
    [
        "human",
        "user",
        "user_proxy",
        "userproxy",
        "operator",
        "customer",
    ]
    .contains(&name.as_str())
}

/// An edit, or the reason why there can be none.
#[derive(Clone, Debug, PartialEq)]
pub enum Intervention {
    /// One edit.
    Edit(Proposal),
    /// There is nothing an edit could be put to, or none that would not give the answer away; the sentence says why.
    Nothing(String),
}

/// Somebody who analyses.
#[async_trait]
pub trait Analyst: Send + Sync {
    /// Its name for results: `offline`, `model NAME`.
    fn name(&self) -> String;

    /// About what analysing these trials takes, before anything is asked; nothing for rules.
    fn estimate(&self, _case: &Case, _trials: &[Trial]) -> Usage {
        Usage::default()
    }

    /// What its calls took so far.
    fn used(&self) -> Usage {
        Usage::default()
    }

    /// Cuts a trajectory in which no step states a plan by a known marker. By default it stays as it is cut.
    async fn segment(&self, case: &Case) -> Result<Vec<Trial>, AnalystError> {
        Ok(case.trials.to_vec())
    }

    /// Suspects of one trial, the strongest first; empty only where no agent spoke in it. What was tried before is told and not
    /// suspected again in the same way.
    async fn attribute(
        &self,
        case: &Case,
        trial: &Trial,
        tried: &[Tried],
    ) -> Result<Vec<Hypothesis>, AnalystError>;

    /// One edit for a hypothesis.
    async fn intervene(
        &self,
        case: &Case,
        hypothesis: &Hypothesis,
        tried: &[Tried],
    ) -> Result<Intervention, AnalystError>;

    /// At most five checkable sub-goals for a session that has none; empty where it cannot tell.
    async fn milestones(&self, _case: &Case) -> Result<Vec<Milestone>, AnalystError> {
        Ok(Vec::new())
    }

    /// For each milestone without a check of its own, the step where these steps reach it.
    async fn judge_milestones(
        &self,
        _case: &Case,
        milestones: &[Milestone],
    ) -> Result<Vec<Option<usize>>, AnalystError> {
        Ok(vec![None; milestones.len()])
    }

    /// Whether the agents did what the edit asked for: `original` is the step before the edit, `edited` the step as delivered, `after` the
    /// branch's steps after it. None where that cannot be told, which counts as no.
    async fn judge_fulfilment(
        &self,
        original: &Step,
        edited: &Step,
        after: &[Step],
    ) -> Result<Option<bool>, AnalystError>;
}

/// Why an analyst has nothing to say. Each says what failed, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum AnalystError {
    /// The endpoint.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The model's answers could not be used, however often it was asked.
    #[error(
        "the analyst's {stage} stage: {reason}, {tries} times. Try another model, or --analyst offline"
    )]
    Unusable {
        /// The stage.
        stage: &'static str,
        /// What was wrong with the last answer.
        reason: String,
        /// How often it was asked.
        tries: usize,
    },
}
