//! From a picked step to runs that go: edit, gates, fork, pause, step, stop.

use super::command::Id;
use super::editor::Editor;
use super::extent::Pane;
use super::fork::{Gates, Replay};
use super::msg::{Hand, Job};
use super::{App, View, mend};
use crate::model::{BranchId, Step};
use crate::pipeline::{ForkRequest, NewEffects, Tests};
use crate::runtime::Decision;

/// The seed of the first try; the next ones are one higher each.
pub(super) const FIRST_SEED: u64 = 1;

pub(super) fn still_reading(app: &mut App) -> Vec<Job> {
    app.tell("This step is still being read");
    Vec::new()
}

/// The selected step in full and its branch.
pub(super) fn picked(app: &App) -> Option<(BranchId, Step)> {
    let open = app.open.as_ref()?;
    Some((open.steps.branch.clone(), open.step()?.clone()))
}

pub(super) fn edit(app: &mut App) {
    let of = |request: &ForkRequest, original: &Step| {
        let ForkRequest {
            branch,
            text,
            tests,
            ..
        } = request.clone();
        (branch, original.clone(), text, tests)
    };
    let (branch, original, draft, tests) = match app.views.last() {
        Some(View::Gates(gates)) => of(&gates.request, &gates.original),
        Some(View::Replay) => match &app.replay {
            Some(replay) => of(&replay.request, &replay.original),
            None => return,
        },
        _ => {
            let Some((branch, step)) = picked(app) else {
                still_reading(app);
                return;
            };
            let draft = app.drafts.get(&(branch.clone(), step.index)).cloned();
            let (text, tests) = draft.map_or((None, None), |it| (Some(it.text), it.tests));
            (branch, step, text, tests)
        }
    };
    if matches!(app.views.last(), Some(View::Gates(_))) {
        app.views.pop();
        if let Some(View::Editor(editor)) = app.views.last_mut() {
            editor.typing = true;
            return;
        }
    }
    app.extents.rewind(Pane::Original);
    let mut editor = Editor::new(branch, original, draft.as_deref());
    editor.tests = tests;
    app.views.push(View::Editor(Box::new(editor)));
}

pub(super) fn fork_draft(app: &mut App) -> Vec<Job> {
    let Some((branch, step)) = picked(app) else {
        return still_reading(app);
    };
    let draft = app.drafts.get(&(branch.clone(), step.index)).cloned();
    if let Some(draft) = draft {
        return ask_the_gates(app, branch, step, Some(draft.text), draft.tests);
    }
    if let Some(id) = mend::waits_at(app, &branch, step.index).map(|one| one.id.clone()) {
        return take_up(app, id);
    }
    edit(app);
    app.tell("Write the edit, then ‹gates› forks it. Unedited re-run: ‹stop-typing› ‹editor.back› ‹baseline›");
    Vec::new()
}

pub(super) fn baseline(app: &mut App) -> Vec<Job> {
    let of_replay = match (app.views.last(), &app.replay) {
        (Some(View::Replay), Some(replay)) => {
            Some((replay.request.branch.clone(), replay.original.clone()))
        }
        _ => None,
    };
    match of_replay.or_else(|| picked(app)) {
        Some((branch, step)) => ask_the_gates(app, branch, step, None, None),
        None => still_reading(app),
    }
}

pub(super) fn to_the_gates(app: &mut App) -> Vec<Job> {
    let Some(View::Editor(editor)) = app.views.last_mut() else {
        return Vec::new();
    };
    let text = editor.text();
    if !editor.changed() {
        app.tell("Nothing is changed yet. For an unedited re-run go back and press ‹baseline›");
        return Vec::new();
    }
    if text.trim().is_empty() {
        app.fail("The edit is empty: write what the agent shall read. Ctrl-Z undoes");
        return Vec::new();
    }
    editor.typing = false;
    let (branch, original) = (editor.branch.clone(), editor.original.clone());
    let tests = editor.tests.clone();
    let draft = (editor.place(), editor.draft());
    app.drafts.insert(draft.0, draft.1);
    ask_the_gates(app, branch, original, Some(text), tests)
}

/// What waits for an owner is not written down a second time.
fn take_up(app: &mut App, id: String) -> Vec<Job> {
    app.tell(format!(
        "{id} waits for an owner and is taken up again; ‹edit› writes another edit"
    ));
    vec![Job::TryAgain(id, app.operator.clone())]
}

pub(super) fn ask_the_gates(
    app: &mut App,
    branch: BranchId,
    original: Step,
    text: Option<String>,
    tests: Option<Tests>,
) -> Vec<Job> {
    let waits = mend::waits_at(app, &branch, original.index);
    if let Some(id) = waits
        .filter(|one| one.text == text)
        .map(|one| one.id.clone())
    {
        return take_up(app, id);
    }
    let request = ForkRequest {
        text,
        seed: FIRST_SEED,
        new_effects: NewEffects::Ask,
        tests,
        ..ForkRequest::at(branch, original.index, app.operator.clone())
    };
    show_gates(app, request, original)
}

/// Opens a gate panel and asks the gates.
pub(super) fn show_gates(app: &mut App, request: ForkRequest, original: Step) -> Vec<Job> {
    let ticket = app.ticket();
    let gates = Gates::new(ticket, request.clone(), original);
    app.extents.rewind(Pane::Gates);
    app.views.push(View::Gates(Box::new(gates)));
    vec![Job::Check(ticket, request)]
}

pub(super) fn ask_again(app: &mut App, change: impl FnOnce(&mut Gates)) -> Vec<Job> {
    let ticket = app.ticket();
    let Some(View::Gates(gates)) = app.views.last_mut() else {
        return Vec::new();
    };
    change(gates);
    vec![gates.ask(ticket)]
}

pub(super) fn resume(app: &mut App, diagnostic: bool) -> Vec<Job> {
    if app.running() {
        app.fail("Runs are still going: watch them (‹back›, then ‹replay›) or stop them there (‹replay.stop›)");
        return Vec::new();
    }
    match app.views.pop() {
        Some(View::Gates(mut gates)) => {
            gates.request.diagnostic = diagnostic;
            let Some(Ok(checked)) = gates.checked.take() else {
                return Vec::new();
            };
            gates.request.runs = gates.request.runs.or(Some(checked.runs));
            let (ticket, request) = (gates.ticket, gates.request.clone());
            app.drafts.remove(&(request.branch.clone(), request.step));
            // The edit lives on in the replay, where `e` opens it again; a replay below is the one before.
            app.views
                .retain(|view| !matches!(view, View::Editor(_) | View::Replay));
            app.replay = Some(Replay::new(*gates, checked));
            app.extents.rewind(Pane::Run);
            app.views.push(View::Replay);
            vec![Job::Fork(ticket, request)]
        }
        other => {
            app.views.extend(other);
            Vec::new()
        }
    }
}

pub(super) fn hand(app: &mut App, id: Id) -> Vec<Job> {
    let Some(replay) = &mut app.replay else {
        return Vec::new();
    };
    let hand = match id {
        Id::Stop => {
            replay.asked.clear();
            Hand::Stop
        }
        Id::Step if replay.paused => Hand::Step,
        Id::Pause if replay.paused => Hand::Resume,
        _ => Hand::Pause,
    };
    replay.paused = matches!(hand, Hand::Pause | Hand::Step);
    vec![Job::Hand(replay.ticket, hand)]
}

/// Lets the effect that was asked about first happen, or refuses it.
pub(super) fn answer(app: &mut App, decision: Decision) -> Vec<Job> {
    let Some(replay) = &mut app.replay else {
        return Vec::new();
    };
    let ticket = replay.ticket;
    let asked = replay.asked.pop_front();
    asked
        .map(|(branch, _)| Job::Answer(ticket, branch, decision))
        .into_iter()
        .collect()
}
