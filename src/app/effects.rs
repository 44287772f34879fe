//! What a branch left in the world past a step, and what an operator does about it: ask the destinations, or decide by hand.
//!
//! Invariant: no command runs that was not shown; the key that shows them runs them when it is pressed once more.

use std::collections::BTreeMap;

use super::fork::Gates;
use super::motion::Motion;
use super::msg::{Fault, Job};
use super::session::Open;
use super::{App, Prompt, Purpose, View};
use crate::app::extent::Pane;
use crate::model::{BranchId, Effect, EffectState};
use crate::pipeline::Reconciled;

/// What was left, as the store has it now.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// The effects, oldest first.
    pub effects: Vec<Effect>,
    /// The commands that asking their destinations would run.
    pub commands: Vec<Vec<String>>,
}

/// State of the panel.
#[derive(Debug)]
pub struct Effects {
    /// The branch.
    pub branch: BranchId,
    /// Effects of this step and later ones.
    pub step: usize,
    /// What was left, once it was read.
    pub left: Option<Result<Left, Fault>>,
    /// The selected effect.
    pub selected: usize,
    /// The commands were shown: the same key once more runs them.
    pub shown: bool,
    /// The destinations are being asked.
    pub asking: bool,
    /// Why a destination's answer changed nothing, by operation key.
    pub failed: BTreeMap<String, String>,
}

impl Effects {
    /// What was left; nothing until it is read.
    #[must_use]
    pub fn list(&self) -> &[Effect] {
        match &self.left {
            Some(Ok(left)) => &left.effects,
            _ => &[],
        }
    }

    /// The commands that asking would run.
    #[must_use]
    pub fn commands(&self) -> &[Vec<String>] {
        match &self.left {
            Some(Ok(left)) => &left.commands,
            _ => &[],
        }
    }

    /// The selected effect.
    #[must_use]
    pub fn effect(&self) -> Option<&Effect> {
        self.list().get(self.selected)
    }
}

/// Shows what the branch in sight left past the step in sight. `shown`: the commands are shown with it.
pub(super) fn open(app: &mut App, shown: bool) -> Vec<Job> {
    let at = match app.views.last() {
        Some(View::Gates(gates)) => Some((gates.request.branch.clone(), gates.request.step)),
        Some(View::Replay) => app.replay.as_ref().map(|replay| {
            let run = replay.run().map(|run| run.branch.id.clone());
            let branch = run.unwrap_or_else(|| replay.request.branch.clone());
            (branch, replay.request.step)
        }),
        _ => app
            .open
            .as_ref()
            .map(|open| (open.branch.id.clone(), open.selected)),
    };
    let Some((branch, step)) = at else {
        return Vec::new();
    };
    app.extents.rewind(Pane::Effects);
    app.views.push(View::Effects(Box::new(Effects {
        branch: branch.clone(),
        step,
        left: None,
        selected: 0,
        shown,
        asking: false,
        failed: BTreeMap::new(),
    })));
    vec![Job::Left(branch, step)]
}

fn panel(app: &mut App) -> Option<&mut Effects> {
    app.views.iter_mut().find_map(|view| match view {
        View::Effects(effects) => Some(effects.as_mut()),
        _ => None,
    })
}

/// What was left came.
pub(super) fn came(app: &mut App, branch: &BranchId, step: usize, left: Result<Left, Fault>) {
    if let Some(effects) = panel(app)
        && (&effects.branch, effects.step) == (branch, step)
    {
        effects.left = Some(left);
        let last = effects.list().len().saturating_sub(1);
        effects.selected = effects.selected.min(last);
    }
}

pub(super) fn go(app: &mut App, motion: Motion) {
    let page = app.extents.get(Pane::Effects).page();
    if let Some(effects) = panel(app) {
        let last = effects.list().len().saturating_sub(1);
        effects.selected = motion.from(effects.selected, last, page);
    }
}

/// Shows the commands, or runs them if they were shown.
pub(super) fn reconcile(app: &mut App) -> Vec<Job> {
    if matches!(app.views.last(), Some(View::Gates(_))) {
        return open(app, true);
    }
    let operator = app.operator.clone();
    let Some(effects) = panel(app) else {
        return Vec::new();
    };
    if !effects.shown {
        effects.shown = true;
        return Vec::new();
    }
    effects.shown = false;
    effects.asking = true;
    effects.failed.clear();
    vec![Job::Reconcile(
        effects.branch.clone(),
        effects.step,
        operator,
    )]
}

/// The destinations answered, or some of them.
pub(super) fn reconciled(app: &mut App, result: Result<Vec<Reconciled>, Fault>) -> Vec<Job> {
    if let Some(effects) = panel(app) {
        effects.asking = false;
    }
    match result {
        Ok(all) => {
            let failed: BTreeMap<String, String> = all
                .iter()
                .filter_map(|one| Some((one.effect.operation_key.clone(), one.failed.clone()?)))
                .collect();
            let (of, answered) = (all.len(), all.len() - failed.len());
            let told = format!("{answered} of {of} destinations answered");
            if failed.is_empty() {
                app.tell(told);
            } else {
                app.fail(format!(
                    "{told}; no answer is not “no effect”, so the others stay as they were"
                ));
            }
            if let Some(effects) = panel(app) {
                effects.failed = failed;
            }
        }
        Err(fault) => app.fail(fault),
    }
    again(app)
}

/// Asks for the reason of a decision.
pub(super) fn ask_why(app: &mut App, purpose: Purpose) {
    app.prompt = Some(Prompt::new(purpose, String::new()));
}

/// Decides about the selected effect.
pub(super) fn decide(app: &mut App, state: EffectState, why: &str) -> Vec<Job> {
    if why.is_empty() {
        app.tell("A decision needs a reason, so nothing is decided");
        return Vec::new();
    }
    let operator = app.operator.clone();
    let Some(effects) = panel(app) else {
        return Vec::new();
    };
    let Some(effect) = effects.effect() else {
        return Vec::new();
    };
    vec![Job::Settle {
        branch: effects.branch.clone(),
        key: effect.operation_key.clone(),
        state,
        why: why.to_owned(),
        operator,
    }]
}

/// A decision was recorded, or not.
pub(super) fn settled(app: &mut App, result: Result<String, Fault>) -> Vec<Job> {
    match result {
        Ok(told) => app.tell(told),
        Err(fault) => app.fail(fault),
    }
    again(app)
}

/// Reads again what was left and what a fork would restore, and asks the gates below again.
fn again(app: &mut App) -> Vec<Job> {
    let mut jobs = Vec::new();
    if let Some(effects) = panel(app) {
        jobs.push(Job::Left(effects.branch.clone(), effects.step));
    }
    let ticket = app.ticket();
    let gates = app.views.iter_mut().find_map(|view| match view {
        View::Gates(gates) => Some(gates.as_mut()),
        _ => None,
    });
    jobs.extend(gates.map(|gates: &mut Gates| gates.ask(ticket)));
    jobs.extend(app.open.as_mut().and_then(Open::again));
    jobs
}
