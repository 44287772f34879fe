//! Commands into state: what each one does where the operator is.

use super::command::{Context, Id};
use super::compare::{Compare, FullPair};
use super::editor::Editor;
use super::extent::{Extent, Pane};
use super::fork::{Gates, Replay};
use super::msg::{Comparing, Hand, Job};
use super::session::{Focus, Open, Search};
use super::{App, Exit, Prompt, Purpose, View};
use crate::model::{BranchId, Step};
use crate::pipeline::ForkRequest;

/// The seed of the first try; the next ones are one higher each.
const FIRST_SEED: u64 = 1;
/// The most runs that the panel plans.
const MOST_RUNS: usize = 25;

/// Does what was asked. `asked` tells that the key before this one asked whether to quit.
pub(super) fn act(app: &mut App, id: Id, asked: bool) -> Vec<Job> {
    match id {
        Id::Up | Id::Down | Id::PageUp | Id::PageDown | Id::First | Id::Last => go(app, id),
        Id::Open => return open_session(app),
        Id::Filter => prompt(app, Purpose::Filter),
        Id::Search => prompt(app, Purpose::Search),
        Id::Goto => prompt(app, Purpose::Goto),
        Id::Accept => return accept(app),
        Id::Read => focus(app, |_| Focus::Detail),
        Id::NextPane => focus(app, Focus::next),
        Id::PreviousPane => focus(app, Focus::previous),
        Id::Show => return show_branch(app),
        Id::NextStep | Id::PreviousStep => {
            let to = app.open.as_ref().map_or(0, |open| match id {
                Id::NextStep => open.selected.saturating_add(1),
                _ => open.selected.saturating_sub(1),
            });
            select_step(app, to);
        }
        Id::NextHit | Id::PreviousHit => next_hit(app, id == Id::NextHit),
        Id::NextTrial | Id::PreviousTrial => {
            let forward = id == Id::NextTrial;
            match app.open.as_ref().and_then(|open| open.trial_start(forward)) {
                Some(step) => select_step(app, step),
                None => app.tell(if forward {
                    "This is the last trial"
                } else {
                    "This is the first trial"
                }),
            }
        }
        Id::NextError | Id::PreviousError => return find_error(app, id == Id::NextError),
        Id::Pretty => {
            if let Some(open) = &mut app.open {
                open.pretty = !open.pretty;
            }
            app.extents.rewind(Pane::Detail);
        }
        Id::Copy => return copy(app),
        Id::Edit => edit(app),
        Id::Fork => return fork_draft(app),
        Id::Baseline => return baseline(app),
        Id::Compare => return compare(app),
        Id::CompareRun => return compare_run(app),
        Id::Milestones => app.views.push(View::Milestones(0)),
        Id::Mark => return mark(app),
        Id::Verdicts => return verdicts(app),
        Id::Replay => app.views.push(View::Replay),
        Id::Type | Id::StopTyping => {
            if let Some(View::Editor(editor)) = app.views.last_mut() {
                editor.typing = id == Id::Type;
            }
        }
        Id::Gates => return to_the_gates(app),
        Id::External => {
            if let Some(View::Editor(editor)) = app.views.last() {
                return vec![Job::External(editor.text())];
            }
        }
        Id::Resume => return resume(app, false),
        Id::Diagnostic => return resume(app, true),
        Id::MoreRuns => {
            return ask_again(app, |gates| {
                gates.request.runs = gates.runs().map(|n| (n + 1).min(MOST_RUNS));
            });
        }
        Id::FewerRuns => {
            return ask_again(app, |gates| {
                gates.request.runs = gates.runs().map(|n| n.saturating_sub(1).max(1));
            });
        }
        Id::Seed => {
            return ask_again(app, |gates| {
                gates.request.seed = gates.request.seed.wrapping_add(1)
            });
        }
        Id::Pause | Id::Step | Id::Stop => return hand(app, id),
        Id::NextRun | Id::PreviousRun => return next_run(app, id == Id::NextRun),
        Id::NextDifference | Id::PreviousDifference => {
            next_difference(app, id == Id::NextDifference)
        }
        Id::Expand => return expand(app),
        Id::Help => {
            app.extents.rewind(Pane::Help);
            app.views.push(View::Help);
        }
        Id::Notice => {
            app.extents.rewind(Pane::Notice);
            app.views.push(View::Notice);
        }
        Id::Back => return back(app),
        Id::Quit => quit(app, asked),
        Id::Leave => app.exit = Some(Exit::Leave),
    }
    Vec::new()
}

/// Selects a step of the branch shown; its text begins at its top.
pub(super) fn select_step(app: &mut App, step: usize) {
    if let Some(open) = &mut app.open {
        let before = open.selected;
        open.select(step);
        if open.selected != before {
            app.extents.rewind(Pane::Detail);
        }
    }
}

/// Shows a comparison, in the place of one that is shown already.
pub(super) fn show_comparison(app: &mut App, comparing: Comparing) {
    let compare = Box::new(Compare::new(comparing));
    // The first divergence with a few equal steps above it.
    let top = compare.selected.saturating_sub(3);
    let extent = app.extents.get(Pane::Compare);
    app.extents.set(Pane::Compare, Extent { top, ..extent });
    match app.views.last_mut() {
        Some(View::Compare(shown)) => *shown = compare,
        _ => app.views.push(View::Compare(compare)),
    }
}

fn moved(id: Id, at: usize, last: usize, page: usize) -> usize {
    match id {
        Id::Up => at.saturating_sub(1),
        Id::Down => at.saturating_add(1).min(last),
        Id::PageUp => at.saturating_sub(page),
        Id::PageDown => at.saturating_add(page).min(last),
        Id::First => 0,
        _ => last,
    }
}

fn go(app: &mut App, id: Id) {
    let page = |pane: Pane, app: &App| app.extents.get(pane).page();
    let scrolled = match app.context() {
        Context::Picker => {
            let last = app.picker.matching().count().saturating_sub(1);
            let to = moved(id, app.picker.selected, last, page(Pane::Picker, app));
            app.picker.select(to);
            return;
        }
        Context::Steps => {
            let page = page(Pane::Steps, app);
            if let Some(open) = &app.open {
                let to = moved(id, open.selected, open.steps.last(), page);
                select_step(app, to);
            }
            return;
        }
        Context::Branches => {
            if let Some(open) = &mut app.open {
                let last = open.branches.len().saturating_sub(1);
                open.branch_row = moved(
                    id,
                    open.branch_row,
                    last,
                    app.extents.get(Pane::Branches).page(),
                );
            }
            return;
        }
        Context::Replay => {
            let page = page(Pane::Run, app);
            if let Some(run) = app.replay.as_mut().and_then(Replay::run_mut) {
                let to = moved(id, run.selected, run.heads.len().saturating_sub(1), page);
                run.select(to);
            }
            return;
        }
        Context::Compare => {
            let page = page(Pane::Compare, app);
            if let Some(View::Compare(compare)) = app.views.last_mut() {
                let last = compare.comparison.pairs.len().saturating_sub(1);
                compare.select(moved(id, compare.selected, last, page));
            }
            return;
        }
        Context::Milestones => {
            let last = app
                .open
                .as_ref()
                .map_or(0, |open| open.session.milestones.len())
                .saturating_sub(1);
            if let Some(View::Milestones(selected)) = app.views.last_mut() {
                *selected = moved(id, *selected, last, 5);
            }
            return;
        }
        Context::Interventions => {
            let page = page(Pane::Interventions, app);
            let last = app
                .open
                .as_ref()
                .map_or(0, |open| open.interventions.len())
                .saturating_sub(1);
            if let Some(View::Interventions(selected)) = app.views.last_mut() {
                *selected = moved(id, *selected, last, page);
            }
            return;
        }
        Context::Detail => Pane::Detail,
        Context::Editor => Pane::Original,
        Context::Gates => Pane::Gates,
        Context::Pair => Pane::Pair,
        Context::Help => Pane::Help,
        Context::Notice => Pane::Notice,
        Context::Typing | Context::Prompt => return,
    };
    app.extents.scroll(scrolled, |extent: Extent| {
        moved(id, extent.top, extent.last_top(), extent.page())
    });
}

fn open_session(app: &mut App) -> Vec<Job> {
    match app.picker.session() {
        Some(summary) => vec![Job::Open(BranchId::main(&summary.session.id))],
        None => {
            app.tell(
                "There is no session here. Run dover with a file, or press / for another filter",
            );
            Vec::new()
        }
    }
}

fn prompt(app: &mut App, purpose: Purpose) {
    let line = match purpose {
        Purpose::Filter => app.picker.filter.clone(),
        Purpose::Search | Purpose::Goto => String::new(),
    };
    app.prompt = Some(Prompt { purpose, line });
}

fn accept(app: &mut App) -> Vec<Job> {
    let Some(Prompt { purpose, line }) = app.prompt.take() else {
        return Vec::new();
    };
    let line = line.trim();
    let Some(open) = &mut app.open else {
        return Vec::new();
    };
    match purpose {
        Purpose::Filter => {}
        Purpose::Search if line.is_empty() => open.search = None,
        Purpose::Search => {
            open.search = Some(Search {
                words: line.to_owned(),
                hits: None,
            });
            return vec![Job::Search(open.steps.branch.clone(), line.to_owned())];
        }
        Purpose::Goto => match line.parse::<usize>() {
            Ok(step) if step < open.steps.len => select_step(app, step),
            _ => {
                let last = open.steps.last();
                app.fail(format!(
                    "No step “{line}” here: this branch has steps 0 to {last}"
                ));
            }
        },
    }
    Vec::new()
}

fn focus(app: &mut App, to: impl FnOnce(Focus) -> Focus) {
    if let Some(open) = &mut app.open {
        open.focus = to(open.focus);
    }
}

fn show_branch(app: &mut App) -> Vec<Job> {
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

fn next_hit(app: &mut App, forward: bool) {
    let Some(open) = &app.open else { return };
    let step = open
        .search
        .as_ref()
        .and_then(|search| search.from(open.selected, forward));
    if let Some(step) = step {
        select_step(app, step);
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
            app.tell(told);
        }
    }
}

fn find_error(app: &App, forward: bool) -> Vec<Job> {
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

fn copy(app: &mut App) -> Vec<Job> {
    match app.open.as_ref().and_then(Open::step) {
        Some(step) => {
            let text = step.text.clone();
            let told = format!(
                "Copied the text of step {} to the terminal's clipboard",
                step.index
            );
            app.tell(told);
            vec![Job::Copy(text)]
        }
        None => still_reading(app),
    }
}

fn still_reading(app: &mut App) -> Vec<Job> {
    app.tell("This step is still being read");
    Vec::new()
}

/// The selected step in full and its branch.
fn picked(app: &App) -> Option<(BranchId, Step)> {
    let open = app.open.as_ref()?;
    Some((open.steps.branch.clone(), open.step()?.clone()))
}

fn edit(app: &mut App) {
    let (branch, original, draft) = match app.views.last() {
        Some(View::Gates(gates)) => (
            gates.request.branch.clone(),
            gates.original.clone(),
            gates.request.text.clone(),
        ),
        Some(View::Replay) => match &app.replay {
            Some(replay) => (
                replay.request.branch.clone(),
                replay.original.clone(),
                replay.request.text.clone(),
            ),
            None => return,
        },
        _ => match picked(app) {
            Some((branch, step)) => {
                let draft = app.drafts.get(&(branch.clone(), step.index)).cloned();
                (branch, step, draft)
            }
            None => {
                still_reading(app);
                return;
            }
        },
    };
    if matches!(app.views.last(), Some(View::Gates(_))) {
        app.views.pop();
        if let Some(View::Editor(editor)) = app.views.last_mut() {
            editor.typing = true;
            return;
        }
    }
    app.extents.rewind(Pane::Original);
    let editor = Editor::new(branch, original, draft.as_deref());
    app.views.push(View::Editor(Box::new(editor)));
}

fn fork_draft(app: &mut App) -> Vec<Job> {
    let Some((branch, step)) = picked(app) else {
        return still_reading(app);
    };
    match app.drafts.get(&(branch.clone(), step.index)).cloned() {
        Some(text) => ask_the_gates(app, branch, step, Some(text)),
        None => {
            edit(app);
            app.tell("Write the edit first, then fork it: Ctrl-S. For an unedited re-run press Esc twice, then b");
            Vec::new()
        }
    }
}

fn baseline(app: &mut App) -> Vec<Job> {
    let of_replay = match (app.views.last(), &app.replay) {
        (Some(View::Replay), Some(replay)) => {
            Some((replay.request.branch.clone(), replay.original.clone()))
        }
        _ => None,
    };
    match of_replay.or_else(|| picked(app)) {
        Some((branch, step)) => ask_the_gates(app, branch, step, None),
        None => still_reading(app),
    }
}

fn to_the_gates(app: &mut App) -> Vec<Job> {
    let Some(View::Editor(editor)) = app.views.last_mut() else {
        return Vec::new();
    };
    let text = editor.text();
    if !editor.changed() {
        app.tell("Nothing is changed yet. For an unedited re-run go back and press b");
        return Vec::new();
    }
    if text.trim().is_empty() {
        app.fail("The edit is empty: an agent needs something to read. Write the new text, or undo with Ctrl-U");
        return Vec::new();
    }
    editor.typing = false;
    let (branch, original) = (editor.branch.clone(), editor.original.clone());
    app.drafts
        .insert((branch.clone(), original.index), text.clone());
    ask_the_gates(app, branch, original, Some(text))
}

fn ask_the_gates(
    app: &mut App,
    branch: BranchId,
    original: Step,
    text: Option<String>,
) -> Vec<Job> {
    let ticket = app.ticket();
    let request = ForkRequest {
        branch,
        step: original.index,
        text,
        category: None,
        runs: None,
        seed: FIRST_SEED,
        diagnostic: false,
        operator: app.operator.clone(),
    };
    app.extents.rewind(Pane::Gates);
    app.views.push(View::Gates(Box::new(Gates {
        ticket,
        request: request.clone(),
        original,
        checked: None,
        checking: true,
    })));
    vec![Job::Check(ticket, request)]
}

fn ask_again(app: &mut App, change: impl FnOnce(&mut Gates)) -> Vec<Job> {
    let ticket = app.ticket();
    let Some(View::Gates(gates)) = app.views.last_mut() else {
        return Vec::new();
    };
    change(gates);
    gates.ticket = ticket;
    gates.checking = true;
    vec![Job::Check(ticket, gates.request.clone())]
}

fn resume(app: &mut App, diagnostic: bool) -> Vec<Job> {
    if app.running() {
        app.fail(
            "Runs are still going. Watch them with r, or stop them there with x; then fork again",
        );
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

fn hand(app: &mut App, id: Id) -> Vec<Job> {
    let Some(replay) = &mut app.replay else {
        return Vec::new();
    };
    let hand = match id {
        Id::Stop => Hand::Stop,
        Id::Step if replay.paused => Hand::Step,
        Id::Pause if replay.paused => Hand::Resume,
        _ => Hand::Pause,
    };
    replay.paused = hand != Hand::Resume;
    vec![Job::Hand(replay.ticket, hand)]
}

fn next_run(app: &mut App, forward: bool) -> Vec<Job> {
    let turn = |at: usize, len: usize| {
        if forward {
            (at + 1) % len
        } else {
            (at + len - 1) % len
        }
    };
    match app.views.last() {
        Some(View::Compare(compare)) => {
            let siblings: Vec<&BranchId> = app
                .open
                .iter()
                .flat_map(|open| &open.branches)
                .filter(|branch| {
                    branch.intervention.is_some()
                        && branch.intervention == compare.b.branch.intervention
                })
                .map(|branch| &branch.id)
                .collect();
            let at = siblings.iter().position(|id| **id == compare.b.branch.id);
            let next = at.and_then(|at| siblings.get(turn(at, siblings.len())));
            match next {
                Some(next) if **next != compare.b.branch.id => {
                    vec![Job::Compare(compare.a.branch.id.clone(), (*next).clone())]
                }
                _ => {
                    app.tell("This intervention has no other run");
                    Vec::new()
                }
            }
        }
        _ => {
            if let Some(replay) = &mut app.replay
                && !replay.runs.is_empty()
            {
                replay.current = turn(replay.current, replay.runs.len());
                app.extents.rewind(Pane::Run);
            }
            Vec::new()
        }
    }
}

/// On a branch: with its parent. On `main`: with the branch picked in the branch list, else with the newest.
fn compare(app: &mut App) -> Vec<Job> {
    let Some(open) = &app.open else {
        return Vec::new();
    };
    let picked = match open.focus {
        Focus::Branches => open.branches.get(open.branch_row),
        _ => Some(&open.branch),
    };
    let branch = picked.filter(|branch| branch.parent.is_some()).or_else(|| {
        open.branches
            .iter()
            .rev()
            .find(|branch| branch.parent.is_some())
    });
    match branch.and_then(|branch| Some((branch.parent.clone()?, branch.id.clone()))) {
        Some((parent, branch)) => vec![Job::Compare(parent, branch)],
        None => Vec::new(),
    }
}

fn compare_run(app: &mut App) -> Vec<Job> {
    let pair = match app.views.last() {
        Some(View::Replay) => app.replay.as_ref().and_then(|replay| {
            Some((
                replay.request.branch.clone(),
                replay.run()?.branch.id.clone(),
            ))
        }),
        Some(View::Interventions(row)) => app.open.as_ref().and_then(|open| {
            let intervention = open.interventions.get(*row)?;
            let runs = open
                .branches
                .iter()
                .filter(|branch| branch.intervention.as_ref() == Some(&intervention.id));
            let best = runs.max_by_key(|branch| {
                let gained = branch.milestones.map_or(0, |tally| tally.after);
                (
                    branch.success == Some(true),
                    gained,
                    std::cmp::Reverse(branch.run_index),
                )
            })?;
            Some((intervention.parent.clone(), best.id.clone()))
        }),
        _ => None,
    };
    pair.map(|(a, b)| Job::Compare(a, b)).into_iter().collect()
}

fn next_difference(app: &mut App, forward: bool) {
    if let Some(View::Compare(compare)) = app.views.last_mut() {
        match compare.difference(forward) {
            Some(row) => compare.select(row),
            None => app.tell(if forward {
                "No difference further down"
            } else {
                "No difference further up"
            }),
        }
    }
}

fn expand(app: &mut App) -> Vec<Job> {
    app.extents.rewind(Pane::Pair);
    let Some(View::Compare(compare)) = app.views.last_mut() else {
        return Vec::new();
    };
    let Some(pair) = compare.pair() else {
        return Vec::new();
    };
    compare.expanded = true;
    compare.full = Some(FullPair {
        row: compare.selected,
        ..FullPair::default()
    });
    vec![Job::Pair(
        (compare.a.branch.id.clone(), pair.a),
        (compare.b.branch.id.clone(), pair.b),
    )]
}

fn verdicts(app: &mut App) -> Vec<Job> {
    let Some(open) = &app.open else {
        return Vec::new();
    };
    let last = open.interventions.len().saturating_sub(1);
    let unknown = open
        .interventions
        .iter()
        .filter(|one| !open.outcomes.contains_key(&one.id));
    let jobs = unknown.map(|one| Job::Outcome(one.id.clone())).collect();
    app.views.push(View::Interventions(last));
    jobs
}

fn mark(app: &mut App) -> Vec<Job> {
    let Some(View::Milestones(row)) = app.views.last() else {
        return Vec::new();
    };
    if app.views.len() > 1 {
        app.tell(
            "Go back to the message list, pick the step, then m and M: a mark belongs to a step",
        );
        return Vec::new();
    }
    let row = *row;
    match &app.open {
        Some(open) if row < open.session.milestones.len() => {
            let (branch, step) = (open.branch.id.clone(), open.selected);
            app.tell(format!(
                "Marked: milestone {} reached at step {step} of {}",
                row + 1,
                branch.name()
            ));
            vec![Job::Mark(branch, row, step)]
        }
        _ => Vec::new(),
    }
}

fn back(app: &mut App) -> Vec<Job> {
    if let Some(prompt) = app.prompt.take() {
        if prompt.purpose == Purpose::Filter {
            app.picker.filter.clear();
            app.picker.select(0);
        }
        return Vec::new();
    }
    match app.views.last_mut() {
        Some(View::Compare(compare)) if compare.expanded => {
            compare.expanded = false;
            return Vec::new();
        }
        Some(View::Editor(editor)) => {
            let at = (editor.branch.clone(), editor.original.index);
            if editor.changed() {
                let (text, step) = (editor.text(), editor.original.index);
                app.drafts.insert(at, text);
                app.tell(format!(
                    "The edit of step {step} is kept: f takes it to the gates, e opens it again"
                ));
            } else {
                app.drafts.remove(&at);
            }
        }
        _ => {}
    }
    if app.views.pop().is_some() {
        return Vec::new();
    }
    if let Some(open) = &mut app.open {
        if open.focus != Focus::Steps {
            open.focus = Focus::Steps;
        } else if open.search.is_some() {
            open.search = None;
        } else {
            app.open = None;
            return vec![Job::Sessions];
        }
    }
    Vec::new()
}

fn quit(app: &mut App, asked: bool) {
    let waiting = if app.running() {
        Some("Runs are still going. q again stops them and quits: their steps stay. Any other key: they go on".to_owned())
    } else {
        let draft = app.drafts.keys().next();
        draft.map(|(branch, step)| {
            format!(
                "The edit of step {step} of {branch} was not forked yet. q again quits without it"
            )
        })
    };
    match waiting {
        Some(question) if !asked => {
            app.tell(question);
            app.asked_to_quit = true;
        }
        _ => app.exit = Some(Exit::Quit),
    }
}
