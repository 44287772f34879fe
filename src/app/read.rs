//! Moving, finding and reading: what these commands do where the operator is.

use super::debug::still_reading;
use super::extent::Pane;
use super::motion::Motion;
use super::msg::Job;
use super::session::{Focus, Open, Search};
use super::{App, Prompt, Purpose, effects, help, hypotheses, live, mend, pin};
use crate::model::{BranchId, EffectState};

/// Said when a step is gone to that a filter kept from sight.
pub(super) const LIFTED: &str = "That step does not pass the filter: all steps are shown again";

/// Selects a step of the branch shown; its text begins at its top. A filter that keeps it from sight is taken away, which is told.
pub(super) fn select_step(app: &mut App, step: usize) -> bool {
    let Some(open) = &mut app.open else {
        return false;
    };
    let before = open.selected;
    open.select(step);
    let lifted = !open.steps.shows(open.selected);
    if lifted {
        open.narrowed = None;
        open.steps.narrow(None);
    }
    if open.selected != before {
        app.extents.rewind(Pane::Detail);
    }
    if lifted {
        app.tell(LIFTED);
    }
    lifted
}

/// What is told of a step that was gone to.
pub(super) fn tell_with(app: &mut App, told: &str, lifted: bool) {
    if lifted {
        app.tell(format!("{told}. {LIFTED}"));
    } else {
        app.tell(told);
    }
}

pub(super) fn open_session(app: &mut App) -> Vec<Job> {
    if let Some(summary) = app.picker.session() {
        let main = BranchId::main(&summary.session.id);
        if let Some(importing) = &mut app.picker.importing {
            importing.left = true;
        }
        return vec![Job::Open(main)];
    }
    app.tell(
        "There is no session here. Run dover with a file, or press ‹filter› for another filter",
    );
    Vec::new()
}

pub(super) fn prompt(app: &mut App, purpose: Purpose) {
    let line = match purpose {
        Purpose::Filter => app.picker.filter.clone(),
        _ => String::new(),
    };
    app.prompt = Some(Prompt::new(purpose, line));
}

pub(super) fn accept(app: &mut App) -> Vec<Job> {
    let Some(Prompt {
        purpose, line, was, ..
    }) = app.prompt.take()
    else {
        return Vec::new();
    };
    let line = line.trim();
    if purpose == Purpose::Filter {
        app.picker.accepted.clone_from(&app.picker.filter);
    }
    match purpose {
        Purpose::Owner => return mend::approve(app, line),
        Purpose::Keep => return effects::decide(app, EffectState::Reconciled, line),
        Purpose::Undone => return effects::decide(app, EffectState::Reverted, line),
        Purpose::Suspect => return hypotheses::suspect(app, line),
        Purpose::Steps | Purpose::Until | Purpose::Insert | Purpose::Send => {
            return live::accept(app, purpose, line);
        }
        Purpose::Narrow => return pin::narrow(app, line),
        Purpose::Keys => {
            help::narrow(app, line);
            return Vec::new();
        }
        Purpose::Note => return pin::note(app, line, &was),
        Purpose::Filter | Purpose::Search | Purpose::Goto => {}
    }
    let Some(open) = &mut app.open else {
        return Vec::new();
    };
    match purpose {
        Purpose::Search if line.is_empty() => open.search = None,
        Purpose::Search => {
            open.search = Some(Search {
                words: line.to_owned(),
                hits: None,
            });
            return vec![Job::Search(open.steps.branch.clone(), line.to_owned())];
        }
        Purpose::Goto => match line.parse::<usize>() {
            Ok(step) if step < open.steps.len => {
                select_step(app, step);
            }
            _ => {
                let last = open.steps.last();
                app.fail(format!(
                    "No step “{line}” here: this branch has steps 0 to {last}"
                ));
            }
        },
        _ => {}
    }
    Vec::new()
}

pub(super) fn focus(app: &mut App, to: impl FnOnce(Focus) -> Focus) {
    if let Some(open) = &mut app.open {
        open.focus = to(open.focus);
    }
}

pub(super) fn show_branch(app: &mut App) -> Vec<Job> {
    let Some(open) = &mut app.open else {
        return Vec::new();
    };
    open.focus = Focus::Steps;
    let picked = open.branches.get(open.branch_row);
    picked
        .map(|branch| Job::Branch(branch.id.clone()))
        .into_iter()
        .collect()
}

pub(super) fn next_hit(app: &mut App, forward: bool) {
    let Some(open) = &app.open else { return };
    let search = open.search.as_ref();
    let step = search.and_then(|search| {
        // One that a filter lets pass, if there is one.
        let hits = search.hits.as_ref().map_or(0, Vec::len);
        let next = |at: &usize| search.from(*at, forward);
        let mut round = std::iter::successors(next(&open.selected), next).take(hits);
        let passes = round.find(|step| open.steps.shows(*step));
        passes.or_else(|| next(&open.selected))
    });
    if let Some(step) = step {
        let lifted = select_step(app, step);
        let told = app.open.as_ref().and_then(|open| {
            let search = open.search.as_ref()?;
            let of = search.hits.as_ref()?.len();
            Some(format!(
                "{} of {of} with “{}”",
                search.place(step)?,
                search.words
            ))
        });
        if let Some(told) = told {
            tell_with(app, &told, lifted);
        }
    }
}

pub(super) fn find_error(app: &App, forward: bool) -> Vec<Job> {
    let Some(open) = &app.open else {
        return Vec::new();
    };
    vec![Job::FindError {
        branch: open.steps.branch.clone(),
        from: open.selected,
        forward,
        len: open.steps.len,
    }]
}

pub(super) fn copy(app: &mut App) -> Vec<Job> {
    match app.open.as_ref().and_then(Open::step) {
        Some(step) => vec![Job::Copy(step.text.clone())],
        None => still_reading(app),
    }
}

/// The step after the selected one, or before it.
pub(super) fn neighbour(app: &mut App, forward: bool) {
    let motion = if forward { Motion::Down } else { Motion::Up };
    let to = app
        .open
        .as_ref()
        .map_or(0, |open| open.steps.moved(motion, open.selected, 1));
    select_step(app, to);
}

/// The plan of the next trial, or of this one or the one before.
pub(super) fn next_trial(app: &mut App, forward: bool) {
    match app.open.as_ref().and_then(|open| open.trial_start(forward)) {
        Some(step) => {
            select_step(app, step);
        }
        None if forward => app.tell("This is the last trial"),
        None => app.tell("This is the first trial"),
    }
}

/// JSON laid out, or the text as it was written.
pub(super) fn pretty(app: &mut App) {
    if let Some(open) = &mut app.open {
        open.pretty = !open.pretty;
    }
    app.extents.rewind(Pane::Detail);
}
