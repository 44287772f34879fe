//! Messages into state. Every path ends with what the eye needs next: pages and texts near the selections.

use super::command::Context;
use super::extent::Pane;
use super::key::{Code, Key};
use super::msg::{Both, BranchView, Checked, Fault, Job, Kin, Msg, Opened, StepView, Ticket};
use super::session::Open;
use super::{
    App, Purpose, View, act, ahead, company, course, effects, follow as log, help, hypotheses,
    judge, jumps, learn, live, mend, overview, palette, pin, pointer, read, several, state, unsent,
};
use crate::gate::Report;
use crate::model::{BranchId, StepHead};
use crate::store::Role;

/// Characters of a paste that a line takes.
const MOST_PASTED: usize = 4_000;

/// Takes a message in and says what is to be done outside.
pub fn update(app: &mut App, msg: Msg) -> Vec<Job> {
    ahead::take(app, msg)
}

/// Takes in one message whose turn it is.
pub(super) fn one(app: &mut App, msg: Msg) -> Vec<Job> {
    let pause = matches!(msg, Msg::Pause);
    let mut jobs = match msg {
        Msg::Key(key) => company::pressed(app, |app| press(app, key)),
        Msg::Click(target) => company::pressed(app, |app| pointer::click(app, target)),
        Msg::Wheel(pane, down) => company::pressed(app, |app| {
            pointer::wheel(app, pane, down);
            Vec::new()
        }),
        Msg::Company(around) => company::came(app, *around),
        Msg::StoreChanged => company::changed(app),
        Msg::Grown(result) => company::grown(app, result.map(|grown| *grown)),
        Msg::Sessions(result) => sessions(app, result),
        Msg::TakenIn(result) => taken_in(app, result),
        Msg::Followed(growth) => log::found(app, growth),
        Msg::Opened(result) => {
            opened(app, result);
            log::opened(app)
        }
        Msg::Refreshed(result) => refreshed(app, result),
        Msg::Checked(ticket, result) => checked(app, ticket, result.map(|checked| *checked)),
        Msg::Held(ticket, result) => mend::held(app, ticket, result.map(|request| *request)),
        Msg::TriedAgain(result) => mend::tried_again(app, result.map(|both| *both)),
        Msg::LookAgain(ticket, approvals) => mend::look_again(app, ticket, approvals),
        Msg::Approved(ticket, result) => mend::approved(app, ticket, result),
        Msg::Reconciled(result) => effects::reconciled(app, result),
        Msg::Settled(result) => effects::settled(app, result),
        Msg::Analysed(result) => hypotheses::analysed(app, result),
        Msg::Suspected(result) => hypotheses::suspected(app, result),
        Msg::ToTest(result) => hypotheses::to_test(app, result.map(|found| *found)),
        Msg::Progress(ticket, progress) => course::progressed(app, ticket, progress),
        Msg::Replayed(ticket, result) => {
            course::replayed(app, ticket, result.map(|outcome| *outcome))
        }
        Msg::Live(told) => live::told(app, told),
        Msg::LiveOver(result) => live::over(app, result.map(|lived| *lived)),
        other => {
            settle(app, other);
            Vec::new()
        }
    };
    jobs.extend(wanted(app));
    jobs.extend(learn::watch(app));
    jobs.extend(unsent::watch(app, pause));
    jobs
}

/// Messages that change the state and ask for nothing.
fn settle(app: &mut App, msg: Msg) {
    match msg {
        Msg::Paste(text) => paste(app, &text),
        Msg::Drawn(extents) => app.extents = *extents,
        Msg::Importing { share, steps } => {
            if let Some(importing) = &mut app.picker.importing {
                (importing.share, importing.steps) = (share, steps);
            }
        }
        Msg::Longer(view) => log::longer(app, view.map(|view| *view)),
        Msg::Branch(result) => shown(app, result),
        Msg::Drafts(edits) => unsent::came(app, edits),
        Msg::Heads(branch, page, result) => {
            if let Some(heads) = heed(app, result) {
                fill(app, &branch, page, &heads);
            }
        }
        Msg::Step(branch, index, view) => step(app, &branch, index, *view),
        Msg::Hits(branch, words, result) => {
            let hits = heed(app, result);
            found(app, &branch, &words, hits);
        }
        Msg::ErrorAt(branch, result) => match heed(app, result) {
            Some(Some(step)) if shows(app, &branch) => {
                read::select_step(app, step);
            }
            Some(None) => app.tell("No step reports a failure that way: ‹next-trial› goes to the next trial, ‹jumps› lists what happened where"),
            _ => {}
        },
        Msg::Left(branch, step, left) => {
            effects::came(app, &branch, step, left.map(|left| *left));
        }
        Msg::State(branch, step, held, recorded) => {
            state::came(app, &(branch, step, held), *recorded);
        }
        Msg::Filtered(branch, filter, steps) => pin::narrowed(app, &branch, &filter, steps),
        Msg::Failures(branch, failures) => jumps::came(app, &branch, failures),
        Msg::Notes(branch, notes) => pin::came(app, &branch, notes),
        Msg::Lanes(session, lanes) => overview::came(app, &session, lanes),
        Msg::Milestones(branch, result) => {
            if let Some(reached) = heed(app, result) {
                course::milestones(app, &branch, &reached);
            }
        }
        Msg::Outcome(id, result) => {
            let outcome = heed(app, result);
            if let (Some(open), Some(outcome)) = (&mut app.open, outcome) {
                open.outcomes.insert(id, *outcome);
            }
        }
        Msg::Compared(result) => {
            if let Some(comparing) = heed(app, result) {
                judge::show_comparison(app, *comparing);
            }
        }
        Msg::ComparedAll(result) => {
            if let Some(all) = heed(app, result) {
                several::show(app, *all);
            }
        }
        Msg::Pair(result) => pair(app, result),
        Msg::Edited(result) => edited(app, result),
        Msg::Learning(result) => learn::begun(app, result),
        Msg::Copied(told) => app.tell(told),
        Msg::Failed(fault) => app.fail(fault),
        // Those that ask for something are answered above.
        Msg::Key(_)
        | Msg::Click(_)
        | Msg::Wheel(..)
        | Msg::Company(_)
        | Msg::StoreChanged
        | Msg::Grown(_)
        | Msg::Pause
        | Msg::Followed(_)
        | Msg::Opened(_)
        | Msg::Sessions(_)
        | Msg::TakenIn(_)
        | Msg::Refreshed(_)
        | Msg::Checked(..)
        | Msg::Held(..)
        | Msg::TriedAgain(_)
        | Msg::LookAgain(..)
        | Msg::Reconciled(_)
        | Msg::Settled(_)
        | Msg::Analysed(_)
        | Msg::Suspected(_)
        | Msg::ToTest(_)
        | Msg::Approved(..)
        | Msg::Progress(..)
        | Msg::Replayed(..)
        | Msg::Live(_)
        | Msg::LiveOver(_) => {}
    }
}

fn pair(app: &mut App, result: Result<Box<Both>, Fault>) {
    let both = heed(app, result);
    if let Some(View::Compare(compare)) = app.views.last_mut()
        && let (Some(full), Some(both)) = (&mut compare.full, both)
    {
        (full.a, full.b) = *both;
    }
}

/// An editor of the operator's own was left.
fn edited(app: &mut App, result: Result<String, Fault>) {
    let text = heed(app, result);
    if let (Some(View::Editor(editor)), Some(text)) = (app.views.last_mut(), text) {
        editor.replace(&text);
        if text.contains(char::REPLACEMENT_CHARACTER) {
            app.tell("Where the file was no UTF-8 there is � now; undo brings back what stood here before");
        }
    }
}

/// Whether a branch is the one shown.
fn shows(app: &App, branch: &BranchId) -> bool {
    app.open
        .as_ref()
        .is_some_and(|open| open.steps.branch == *branch)
}

fn opened(app: &mut App, result: Result<Box<Opened>, Fault>) {
    if let Some(opened) = heed(app, result) {
        // A live run stays in front of its own session.
        let own = app.live.as_ref().and_then(live::Live::main);
        let own = own.is_some_and(|main| main.session() == opened.session.id);
        app.open = Some(Open::new(*opened));
        app.views.retain(|view| own && matches!(view, View::Live));
        app.extents.rewind(Pane::Steps);
        app.extents.rewind(Pane::Detail);
        let fresh = app.open.as_ref();
        let fresh = fresh.filter(|open| !own && open.branches.len() == 1);
        let coverage = fresh.map(|open| &open.session.coverage);
        match coverage {
            // What was not read as it was meant comes before what to do.
            Some(coverage) if !coverage.whole() && coverage.read > 0 => {
                let line = coverage.line();
                match app.notice.take().filter(|notice| notice.fault) {
                    Some(fault) => app.fail(format!("{}. {line}", fault.text)),
                    None => app.tell(line),
                }
            }
            Some(_) => app.advise(
                "Find the step that went wrong: ‹next-error› next failure, ‹next-trial› next trial; then ‹edit› edits it",
            ),
            None if app.company.role == Role::Driver => {
                if let Some(told) = mend::interrupted(app) {
                    app.advise(told);
                }
            }
            None => {}
        }
    }
}

fn shown(app: &mut App, result: Result<Box<BranchView>, Fault>) {
    let view = heed(app, result);
    if let (Some(open), Some(view)) = (&mut app.open, view)
        && view.branch.id.session() == open.session.id
    {
        open.show(*view);
        app.extents.rewind(Pane::Detail);
    }
}

/// A step's text is for the run watched, for the message list, or for both.
fn step(app: &mut App, branch: &BranchId, index: usize, view: StepView) {
    let lived = app.live.as_mut().and_then(|live| live.run.as_mut());
    let lived = lived.filter(|run| run.branch.id == *branch);
    let run = app.replay.as_mut().and_then(|replay| replay.run_of(branch));
    if let Some(run) = run.or(lived).filter(|run| run.asked == Some(index)) {
        run.asked = None;
        run.detail = Some((index, view.step.clone()));
    }
    if let Some(open) = &mut app.open
        && open.steps.branch == *branch
    {
        let reading = open.reading();
        open.asked = None;
        if open.selected == index {
            // How long it is, the next frame says.
            if reading {
                app.extents.rewind(Pane::Detail);
            }
            open.detail = Some((index, view));
        }
    }
}

fn checked(app: &mut App, ticket: Ticket, result: Result<Checked, Fault>) -> Vec<Job> {
    let Some(gates) = mend::panel(app, ticket) else {
        return Vec::new();
    };
    let was_ready = gates.report().is_some_and(Report::ready);
    gates.checking = false;
    gates.checked = Some(result);
    let waits = gates.waits_as().map(str::to_owned);
    let ran = !gates.request.stopped.is_empty();
    match (gates.report().map(Report::ready), waits) {
        (Some(false), Some(id)) => vec![Job::LookAgain(ticket, id)],
        (Some(true), Some(_)) if !was_ready => {
            app.tell(if ran {
                "Every gate holds: ‹resume› runs again what did not come to its end, each in a branch of its own"
            } else {
                "It is approved, and every gate holds: ‹resume› forks and runs"
            });
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// The value, or none and a notice.
fn heed<T>(app: &mut App, result: Result<T, Fault>) -> Option<T> {
    result.map_err(|fault| app.fail(fault)).ok()
}

/// Terminals send Alt as Esc before the key, so Esc and a quick key look the same. No command has Alt: outside of a text it
/// was Esc and the key.
fn press(app: &mut App, key: Key) -> Vec<Job> {
    if key.alt && !matches!(app.context(), Context::Typing | Context::LiveTyping) {
        let mut jobs = press_one(app, Key::of(Code::Esc));
        jobs.extend(press_one(app, Key { alt: false, ..key }));
        return jobs;
    }
    press_one(app, key)
}

fn press_one(app: &mut App, key: Key) -> Vec<Job> {
    let asked = std::mem::take(&mut app.asked_to_quit);
    (app.notice, app.clicked) = (None, None);
    let context = app.context();
    if let Some(found) = app.keymap.find(context, key) {
        return act::obey(app, found, asked);
    }
    match context {
        Context::Typing | Context::LiveTyping => {
            if let Some(View::Editor(editor)) = app.views.last_mut() {
                editor.press(key);
            }
        }
        Context::Prompt => type_line(app, key),
        Context::Palette => palette::press(app, key),
        _ => {}
    }
    Vec::new()
}

fn type_line(app: &mut App, key: Key) {
    let Some(prompt) = &mut app.prompt else {
        return;
    };
    match key.code {
        Code::Char('u') if key.ctrl => prompt.line.clear(),
        Code::Char(c) if !key.ctrl && !key.alt => prompt.line.push(c),
        Code::Backspace => {
            prompt.line.pop();
        }
        _ => {}
    }
    typed(app);
}

/// A line that narrows something does so while it is typed.
fn typed(app: &mut App) {
    let Some(prompt) = &app.prompt else { return };
    let line = prompt.line.clone();
    match prompt.purpose {
        Purpose::Filter => {
            app.picker.filter = line;
            app.picker.select(0);
        }
        Purpose::Keys => help::narrow(app, &line),
        _ => {}
    }
}

fn paste(app: &mut App, text: &str) {
    if app.prompt.is_some() || app.palette.is_some() {
        let line = text.lines().next().unwrap_or_default();
        let mut clean = line.chars().filter(|c| !c.is_control());
        let taken: String = clean.by_ref().take(MOST_PASTED).collect();
        if let Some(prompt) = &mut app.prompt {
            prompt.cut = clean.next().is_some();
            prompt.line.push_str(&taken);
            typed(app);
        } else {
            palette::paste(app, &taken);
        }
    } else if let Some(View::Editor(editor)) = app.views.last_mut() {
        editor.typing = true;
        editor.paste(text);
    }
}

fn sessions(app: &mut App, result: Result<Vec<crate::store::SessionSummary>, Fault>) -> Vec<Job> {
    if let Some(sessions) = heed(app, result) {
        app.picker.sessions = Some(sessions);
        app.picker.reselect();
    }
    Vec::new()
}

pub(super) fn taken_in(app: &mut App, result: Result<String, Fault>) -> Vec<Job> {
    let left = app.picker.importing.take().is_some_and(|one| one.left);
    let Some(id) = heed(app, result) else {
        return Vec::new();
    };
    let branch = BranchId::parse(&id);
    app.picker.keep = Some(branch.session().to_owned());
    // What the person does meanwhile stays in front.
    if left || app.context() != Context::Picker {
        app.tell(format!(
            "{} is read: ‹open› in the picker opens it",
            branch.session()
        ));
        return vec![Job::Sessions];
    }
    vec![Job::Sessions, Job::Open(branch)]
}

fn refreshed(app: &mut App, result: Result<Kin, Fault>) -> Vec<Job> {
    let fresh = heed(app, result);
    let (Some(open), Some((branches, interventions, hypotheses))) = (&mut app.open, fresh) else {
        return Vec::new();
    };
    let here = branches
        .iter()
        .any(|branch| branch.id.session() == open.session.id);
    if !here {
        return Vec::new();
    }
    if let Some(now) = branches.iter().find(|branch| branch.id == open.branch.id) {
        open.branch = now.clone();
    }
    open.branches = branches;
    open.interventions = interventions;
    open.hypotheses = hypotheses;
    let session = open.session.id.clone();
    mend::ran_elsewhere(app);
    let Some(open) = &app.open else {
        return Vec::new();
    };
    // The baseline stands beside every verdict.
    let replayed = app.replay.as_ref().map(|replay| &replay.request);
    let baseline = replayed.and_then(|request| open.baseline(&request.branch, request.step));
    let baseline = baseline
        .filter(|baseline| !open.outcomes.contains_key(&baseline.id))
        .map(|baseline| Job::Outcome(baseline.id.clone()));
    overview::again(app, &session);
    baseline
        .into_iter()
        .chain(hypotheses::outcomes(app))
        .collect()
}

fn fill(app: &mut App, branch: &BranchId, page: usize, heads: &[StepHead]) {
    if let Some(open) = &mut app.open
        && open.steps.branch == *branch
    {
        open.steps.fill(page, heads.to_vec());
    }
    for view in &mut app.views {
        match view {
            View::Overview(overview) => overview.fill(branch, page, heads),
            View::Several(several) => several.fill(branch, page, heads),
            _ => {}
        }
        if let View::Compare(compare) = view {
            for side in [&mut compare.a, &mut compare.b] {
                if side.branch.id == *branch {
                    side.steps.fill(page, heads.to_vec());
                }
            }
        }
    }
}

fn found(app: &mut App, branch: &BranchId, words: &str, hits: Option<Vec<usize>>) {
    let Some(open) = &mut app.open else { return };
    let Some(search) = &mut open.search else {
        return;
    };
    if open.steps.branch != *branch || search.words != words {
        return;
    }
    let hits = hits.unwrap_or_default();
    let near = |hits: &mut dyn Iterator<Item = usize>| {
        let hits: Vec<usize> = hits.collect();
        let after = hits.iter().find(|hit| **hit >= open.selected);
        after.or(hits.first()).copied()
    };
    // One that a filter lets pass, if there is one.
    let mut passing = hits.iter().copied().filter(|hit| open.steps.shows(*hit));
    let nearest = near(&mut passing).or_else(|| near(&mut hits.iter().copied()));
    let count = hits.len();
    search.hits = Some(hits);
    match nearest {
        Some(step) => {
            let lifted = read::select_step(app, step);
            let s = if count == 1 { "" } else { "s" };
            let told =
                format!("{count} step{s} with “{words}”: ‹next-hit› and ‹previous-hit› go on");
            read::tell_with(app, &told, lifted);
        }
        None => app.tell(format!("No step of this branch contains “{words}”")),
    }
}

/// What the eye needs next and is not here.
fn wanted(app: &mut App) -> Vec<Job> {
    let mut jobs = Vec::new();
    if let Some(open) = &mut app.open {
        jobs.extend(open.wanted(app.extents.get(Pane::Steps).height));
    }
    if let (Some(View::Replay), Some(open), Some(replay)) =
        (app.views.last(), &app.open, &mut app.replay)
        && let Some(run) = replay.run_mut()
    {
        jobs.extend(run.wanted(&open.session));
    }
    if let (Some(View::Live), Some(live)) = (app.views.last(), &mut app.live)
        && let Some(run) = &mut live.run
    {
        jobs.extend(run.wanted(&live.session));
    }
    for view in &mut app.views {
        if let View::Compare(compare) = view {
            jobs.extend(compare.wanted(app.extents.get(Pane::Compare).height));
        }
        match view {
            View::Overview(overview) => jobs.extend(overview.wanted()),
            View::Several(several) => {
                jobs.extend(several.wanted(app.extents.get(Pane::Several).height));
            }
            _ => {}
        }
    }
    jobs
}
