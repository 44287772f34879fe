//! Commands into state: what each one does where the operator is.

use super::command::{Command, Id};
use super::extent::Pane;
use super::hypotheses::By;
use super::motion::{self, Motion};
use super::msg::Job;
use super::palette::Palette;
use super::session::Focus;
use super::{
    App, Exit, Purpose, View, company, debug, effects, hypotheses, judge, jumps, learn, live, mend,
    overview, palette, pin, pointer, read, several, state,
};
use crate::runtime::Decision;

/// The most runs that the panel plans.
const MOST_RUNS: usize = 25;

/// Does a command of the table, or says why it cannot be done now.
pub(super) fn obey(app: &mut App, found: &Command, asked: bool) -> Vec<Job> {
    // Whatever else is asked for after the question only says no.
    if asked && !matches!(found.id, Id::Quit | Id::Leave) {
        return Vec::new();
    }
    if let Some(why) = found.refused(app) {
        app.tell(why);
        return Vec::new();
    }
    act(app, found.id, asked)
}

/// Does what was asked. `asked` tells that the key before this one asked whether to quit.
#[allow(clippy::too_many_lines, reason = "a table")]
pub(super) fn act(app: &mut App, id: Id, asked: bool) -> Vec<Job> {
    if let Some(jobs) = live::act(app, id).or_else(|| find(app, id)) {
        return jobs;
    }
    if let Some(motion) = Motion::of(id) {
        motion::go(app, motion);
        return Vec::new();
    }
    match id {
        Id::Open => return read::open_session(app),
        Id::Accept => return read::accept(app),
        Id::Show => return read::show_branch(app),
        Id::NextError => return read::find_error(app, true),
        Id::PreviousError => return read::find_error(app, false),
        Id::Copy => return read::copy(app),
        Id::Fork => return debug::fork_draft(app),
        Id::Baseline => return debug::baseline(app),
        Id::Gates => return debug::to_the_gates(app),
        Id::Resume => return debug::resume(app, false),
        Id::Diagnostic => return debug::resume(app, true),
        Id::MoreRuns => {
            return debug::ask_again(app, |gates| {
                gates.request.runs = gates.runs().map(|n| (n + 1).min(MOST_RUNS));
            });
        }
        Id::FewerRuns => {
            return debug::ask_again(app, |gates| {
                gates.request.runs = gates.runs().map(|n| n.saturating_sub(1).max(1));
            });
        }
        Id::Seed => {
            return debug::ask_again(app, |gates| {
                gates.request.seed = gates.request.seed.wrapping_add(1);
            });
        }
        Id::Acknowledge => return mend::acknowledge(app),
        Id::AcceptDelta => return mend::accept_delta(app),
        Id::TryAgain => return mend::try_again(app),
        Id::RequestApproval => return mend::request_approval(app),
        Id::Pause | Id::Step | Id::Stop => return debug::hand(app, id),
        Id::NextRun => return judge::next_run(app, true),
        Id::PreviousRun => return judge::next_run(app, false),
        Id::Compare => return judge::compare(app),
        Id::CompareRun => return judge::compare_run(app),
        Id::Expand => return judge::expand(app),
        Id::Mark => return judge::mark(app),
        Id::Verdicts => return judge::verdicts(app),
        Id::Hypotheses => return hypotheses::open(app),
        Id::Test => return hypotheses::test(app, false),
        Id::Edit if matches!(app.views.last(), Some(View::Hypotheses(_))) => {
            return hypotheses::test(app, true);
        }
        Id::Analyse => return hypotheses::analyse(app, By::Offline),
        Id::AskModel => return hypotheses::analyse(app, By::Model),
        Id::StopAnalysis => return vec![Job::StopAnalysis],
        Id::GotoSuspect => hypotheses::goto(app),
        Id::Suspect => hypotheses::ask_why(app),
        Id::External => {
            if let Some(View::Editor(editor)) = app.views.last() {
                return vec![Job::External(editor.text())];
            }
        }
        Id::Back => return back(app),
        Id::Effects => return effects::open(app, false),
        Id::State => return state::open(app),
        Id::Fold => state::fold(app),
        Id::Hold => return state::hold(app),
        Id::NextBoundary => return state::neighbour(app, true),
        Id::PreviousBoundary => return state::neighbour(app, false),
        Id::Reconcile => return effects::reconcile(app),
        Id::Allow => return debug::answer(app, Decision::Allow),
        Id::Refuse => return debug::answer(app, Decision::Refuse),
        Id::Keep => effects::ask_why(app, Purpose::Keep),
        Id::Undone => effects::ask_why(app, Purpose::Undone),
        Id::Approve => mend::ask_owner(app),
        Id::Filter => read::prompt(app, Purpose::Filter),
        Id::Read => read::focus(app, |_| Focus::Detail),
        Id::NextPane => read::focus(app, Focus::next),
        Id::PreviousPane => read::focus(app, Focus::previous),
        Id::NextStep => read::neighbour(app, true),
        Id::PreviousStep => read::neighbour(app, false),
        Id::NextHit => read::next_hit(app, true),
        Id::PreviousHit => read::next_hit(app, false),
        Id::NextTrial => read::next_trial(app, true),
        Id::PreviousTrial => read::next_trial(app, false),
        Id::Pretty => read::pretty(app),
        Id::Edit => debug::edit(app),
        Id::Type | Id::StopTyping => {
            if let Some(View::Editor(editor)) = app.views.last_mut() {
                editor.typing = id == Id::Type;
            }
        }
        Id::NextDifference => judge::next_difference(app, true),
        Id::PreviousDifference => judge::next_difference(app, false),
        Id::Milestones => app.views.push(View::Milestones(0)),
        Id::Replay => app.views.push(View::Replay),
        Id::Lesson | Id::GoOn | Id::Hint | Id::StartLesson | Id::Anew => {
            return learn::act(app, id);
        }
        Id::Follow => return company::follow(app),
        Id::Seat => company::seat(app),
        Id::Live => app.views.push(View::Live),
        Id::Mouse => pointer::turn(app),
        Id::Help => over(app, Pane::Help, View::Help),
        Id::Notice => over(app, Pane::Notice, View::Notice),
        Id::Quit => quit(app, asked),
        Id::Leave => app.exit = Some(Exit::Leave),
        // What only a live run or finding one's way knows is done above.
        _ => {}
    }
    Vec::new()
}

/// What finds one's way: overview, places, filters, notes, the palette; none for any other command.
fn find(app: &mut App, id: Id) -> Option<Vec<Job>> {
    let own = overview::act(app, id)
        .or_else(|| jumps::act(app, id))
        .or_else(|| several::act(app, id));
    if own.is_some() {
        return own;
    }
    match id {
        Id::Accept if app.palette.is_some() => return Some(palette::accept(app)),
        Id::Jumps => return Some(jumps::open(app)),
        Id::Overview => return Some(overview::open(app)),
        Id::MarkStep => return Some(pin::mark(app)),
        Id::Search => read::prompt(app, Purpose::Search),
        Id::Goto => read::prompt(app, Purpose::Goto),
        Id::Note => pin::ask(app, Purpose::Note),
        Id::Narrow => pin::ask(app, Purpose::Narrow),
        Id::Palette => app.palette = Some(Palette::default()),
        _ => return None,
    }
    Some(Vec::new())
}

/// Lays a view over the others, from its top.
fn over(app: &mut App, pane: Pane, view: View) {
    app.extents.rewind(pane);
    app.views.push(view);
}

fn back(app: &mut App) -> Vec<Job> {
    if app.palette.take().is_some() {
        return Vec::new();
    }
    if let Some(prompt) = app.prompt.take() {
        if prompt.purpose == Purpose::Filter {
            let accepted = app.picker.accepted.clone();
            app.picker.filter = accepted;
            app.picker.select(0);
        }
        return Vec::new();
    }
    match app.views.last_mut() {
        Some(View::Compare(compare)) if compare.expanded => {
            compare.expanded = false;
            return Vec::new();
        }
        Some(View::Gates(gates)) => {
            if let Some(id) = gates.waits_as().map(str::to_owned) {
                app.tell(format!(
                    "{id} is kept as it stands: v lists it and f tries it again, or dover resume {id}"
                ));
            }
        }
        Some(View::Editor(editor)) => {
            let at = (editor.branch.clone(), editor.original.index);
            if let Some(purpose) = editor.live.clone() {
                let (changed, text) = (editor.changed(), editor.text());
                app.views.pop();
                if changed {
                    live::keep(app, purpose, text);
                }
                return Vec::new();
            }
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
        } else if open.narrowed.is_some() {
            return pin::narrow(app, "");
        } else {
            app.picker.keep = Some(open.session.id.clone());
            app.open = None;
            return vec![Job::Sessions];
        }
    } else if !app.picker.filter.is_empty() {
        app.picker.keep = app.picker.session().map(|one| one.session.id.clone());
        app.picker.filter.clear();
        app.picker.accepted.clear();
        app.picker.reselect();
    }
    Vec::new()
}

fn quit(app: &mut App, asked: bool) {
    let waiting = if app.running() {
        Some("Runs are going: q again stops them and quits; any other key goes on".to_owned())
    } else {
        let draft = app.drafts.keys().next();
        draft.map(|(branch, step)| {
            format!(
                "The edit of step {step} of {branch} was not forked yet. q again quits and keeps it for the next time; any other key goes on"
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
