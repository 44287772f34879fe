//! Hypotheses of the branch shown: each trial with who is suspected, the edit that would test it, and what its runs came to.
//!
//! Nothing here runs anything: testing one takes its edit to the gates like any other. What an analyst or a person says is kept as it
//! was said; the verdict beside it is that of its intervention.

use super::editor::Editor;
use super::extent::Pane;
use super::motion::Motion;
use super::msg::{Fault, Job};
use super::session::Open;
use super::{App, Prompt, Purpose, View, debug};
use crate::model::{Filed, Hypothesis, Standing, Step, Trial, trial_of};
use crate::pipeline::{ForkRequest, NewEffects, Outcome, Tests};

/// A row: a trial and one of its hypotheses, or that it has none.
pub type Row<'a> = (Trial, Option<&'a Filed>);

/// Who is to analyse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Rules over structure.
    Offline,
    /// The model of the endpoint.
    Model,
}

impl Open {
    /// The rows of the pane: trial by trial, each with its hypotheses in the order they were made.
    #[must_use]
    pub fn hypothesis_rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        for trial in &self.steps.trials {
            let of = |filed: &&Filed| {
                filed.branch == self.branch.id
                    && trial_of(&self.steps.trials, filed.hypothesis.step) == Some(trial)
            };
            let before = rows.len();
            rows.extend(
                self.hypotheses
                    .iter()
                    .filter(of)
                    .map(|filed| (*trial, Some(filed))),
            );
            if rows.len() == before {
                rows.push((*trial, None));
            }
        }
        rows
    }

    /// Whether a step of the branch shown is suspected.
    #[must_use]
    pub fn suspects(&self, step: usize) -> bool {
        self.hypotheses
            .iter()
            .any(|filed| filed.hypothesis.step == step && filed.branch == self.branch.id)
    }

    /// What the runs of a hypothesis came to, as far as it is known.
    #[must_use]
    pub fn tested(&self, filed: &Filed) -> Option<&Outcome> {
        self.outcomes.get(filed.intervention.as_ref()?)
    }
}

/// The selected hypothesis.
pub(super) fn selected(app: &App) -> Option<&Filed> {
    let (Some(View::Hypotheses(row)), Some(open)) = (app.views.last(), &app.open) else {
        return None;
    };
    open.hypothesis_rows()
        .get(*row)
        .and_then(|(_, filed)| *filed)
}

/// Opens the pane at the trial of the selected step. A session that nobody analysed is analysed by rules, which costs nothing.
pub(super) fn open(app: &mut App) -> Vec<Job> {
    let Some(open) = &app.open else {
        return Vec::new();
    };
    let rows = open.hypothesis_rows();
    let here = trial_of(&open.steps.trials, open.selected);
    let row = rows.iter().position(|(trial, _)| Some(trial) == here);
    let bare = rows.iter().all(|(_, filed)| filed.is_none());
    let row = row.unwrap_or(0);
    app.extents.rewind(Pane::Hypothesis);
    app.views.push(View::Hypotheses(row));
    let mut jobs = outcomes(app);
    if bare {
        jobs.extend(analyse(app, By::Offline));
    }
    jobs
}

/// What the tested ones came to, as far as it was not asked yet.
pub(super) fn outcomes(app: &App) -> Vec<Job> {
    let Some(open) = &app.open else {
        return Vec::new();
    };
    let tested = open
        .hypotheses
        .iter()
        .filter_map(|filed| filed.intervention.clone());
    let unknown = tested.filter(|id| !open.outcomes.contains_key(id));
    unknown.map(Job::Outcome).collect()
}

/// Has the branch analysed: a hypothesis for each trial, with its edit. Nothing is run.
pub(super) fn analyse(app: &mut App, by: By) -> Vec<Job> {
    let Some(open) = &app.open else {
        return Vec::new();
    };
    let job = Job::Analyse(open.branch.id.clone(), by, app.operator.clone());
    app.analysing = Some(by);
    vec![job]
}

/// The analysis ended.
pub(super) fn analysed(app: &mut App, result: Result<String, Fault>) -> Vec<Job> {
    app.analysing = None;
    match result {
        Ok(told) => app.tell(told),
        Err(fault) => app.fail(fault),
    }
    let session = app.open.as_ref().map(|open| open.session.id.clone());
    session.map(Job::Refresh).into_iter().collect()
}

/// Moves the selection; its text begins at its top.
pub(super) fn go(app: &mut App, motion: Motion) {
    let rows = app
        .open
        .as_ref()
        .map_or(0, |open| open.hypothesis_rows().len());
    if let Some(View::Hypotheses(row)) = app.views.last_mut() {
        let to = motion.from(*row, rows.saturating_sub(1), 1);
        if *row != to {
            *row = to;
            app.extents.rewind(Pane::Hypothesis);
        }
    }
}

/// Takes the selected hypothesis' edit to the gates, or opens it to be changed first.
pub(super) fn test(app: &mut App, edit: bool) -> Vec<Job> {
    let Some(filed) = selected(app) else {
        return Vec::new();
    };
    if !edit && filed.proposal.is_none() {
        app.tell("It has no edit yet: ‹edit› writes one");
        return Vec::new();
    }
    vec![Job::Test(filed.id.clone(), edit)]
}

/// The step to be edited came.
pub(super) fn to_test(app: &mut App, result: Result<(Filed, Step, bool), Fault>) -> Vec<Job> {
    let (filed, original, edit) = match result {
        Ok(found) => found,
        Err(fault) => {
            app.fail(fault);
            return Vec::new();
        }
    };
    let tests = Tests::of(&filed);
    let text = filed.proposal.map(|proposal| proposal.text);
    if edit {
        let draft = app
            .drafts
            .get(&(filed.branch.clone(), original.index))
            .map(|draft| draft.text.clone());
        let mut editor = Editor::new(filed.branch, original, draft.or(text).as_deref());
        editor.tests = Some(tests);
        app.extents.rewind(Pane::Original);
        app.views.push(View::Editor(Box::new(editor)));
        return Vec::new();
    }
    let request = ForkRequest {
        text,
        seed: debug::FIRST_SEED,
        new_effects: NewEffects::Ask,
        tests: Some(tests),
        ..ForkRequest::at(filed.branch, original.index, app.operator.clone())
    };
    debug::show_gates(app, request, original)
}

/// Asks why the selected step is suspected.
pub(super) fn ask_why(app: &mut App) {
    if app.open.as_ref().is_none_or(|open| open.step().is_none()) {
        app.tell("This step is still being read");
        return;
    }
    app.prompt = Some(Prompt::new(Purpose::Suspect, String::new()));
}

/// Files one's own hypothesis about the selected step.
pub(super) fn suspect(app: &mut App, why: &str) -> Vec<Job> {
    if why.is_empty() {
        app.tell("No reason was given, so nothing is suspected");
        return Vec::new();
    }
    let Some(open) = &app.open else {
        return Vec::new();
    };
    let (
        Some(trial),
        Some(Step {
            index: step, agent, ..
        }),
    ) = (trial_of(&open.steps.trials, open.selected), open.step())
    else {
        return Vec::new();
    };
    if *step < trial.start {
        app.fail("What stands before the first plan is the task: no agent made it. Pick a step of a trial");
        return Vec::new();
    }
    let filed = Filed {
        id: String::new(),
        branch: open.branch.id.clone(),
        round: 1,
        analyst: format!("operator {}", app.operator),
        hypothesis: Hypothesis {
            trial: *trial,
            step: *step,
            agent: agent.clone(),
            reason: why.to_owned(),
            evidence: vec![*step],
            weight: 1.0,
            capability: None,
        },
        proposal: None,
        intervention: None,
        standing: Standing::Proposed,
        note: None,
    };
    vec![Job::Suspect(Box::new(filed))]
}

/// One's own hypothesis was kept: the pane opens on it.
pub(super) fn suspected(app: &mut App, result: Result<Box<Filed>, Fault>) -> Vec<Job> {
    let filed = match result {
        Ok(filed) => filed,
        Err(fault) => {
            app.fail(fault);
            return Vec::new();
        }
    };
    let id = filed.id.clone();
    let Some(open) = &mut app.open else {
        return Vec::new();
    };
    if open.session.id != filed.branch.session() {
        return Vec::new();
    }
    open.hypotheses.push(*filed);
    let rows = open.hypothesis_rows();
    let row = rows
        .iter()
        .position(|(_, filed)| filed.is_some_and(|filed| filed.id == id));
    let row = row.unwrap_or(0);
    app.views
        .retain(|view| !matches!(view, View::Hypotheses(_)));
    app.extents.rewind(Pane::Hypothesis);
    app.views.push(View::Hypotheses(row));
    app.tell("Kept as your hypothesis: ‹edit› writes the edit that tests it");
    Vec::new()
}

/// Goes to the suspected step in the message list.
pub(super) fn goto(app: &mut App) {
    if let Some(step) = selected(app).map(|filed| filed.hypothesis.step) {
        app.views.clear();
        super::read::select_step(app, step);
    }
}
