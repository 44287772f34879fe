//! Commands into state: what each one does where the operator is.

use super::command::{Command, Context as C, Id};
use super::extent::Pane;
use super::hypotheses::By;
use super::motion::{self, Motion};
use super::msg::Job;
use super::palette::Palette;
use super::session::Focus;
use super::{
    App, Exit, Purpose, View, company, debug, effects, help, hypotheses, judge, jumps, learn, live,
    mend, overview, palette, pin, pointer, read, several, state,
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
///
/// Where a command means something of its own in a place, that stands before what it means elsewhere. Every command has a line, or
/// this does not compile.
#[allow(clippy::too_many_lines, reason = "a table")]
pub(super) fn act(app: &mut App, id: Id, asked: bool) -> Vec<Job> {
    match (id, app.context()) {
        (Id::Open, _) => return read::open_session(app),
        (Id::Accept, C::Palette) => return palette::accept(app),
        (Id::Accept, _) => return read::accept(app),
        (Id::Show, C::Overview | C::Grid) => return overview::show(app),
        (Id::Show, C::Jumps) => return jumps::show(app),
        (Id::Show, _) => return read::show_branch(app),
        (Id::NextError, _) => return read::find_error(app, true),
        (Id::PreviousError, _) => return read::find_error(app, false),
        (Id::Copy, _) => return read::copy(app),
        (Id::Fork, _) => return debug::fork_draft(app),
        (Id::Baseline, _) => return debug::baseline(app),
        (Id::Gates, _) => return debug::to_the_gates(app),
        (Id::Resume, _) => return debug::resume(app, false),
        (Id::Diagnostic, _) => return debug::resume(app, true),
        (Id::MoreRuns, _) => {
            return debug::ask_again(app, |gates| {
                gates.request.runs = gates.runs().map(|n| (n + 1).min(MOST_RUNS));
            });
        }
        (Id::FewerRuns, _) => {
            return debug::ask_again(app, |gates| {
                gates.request.runs = gates.runs().map(|n| n.saturating_sub(1).max(1));
            });
        }
        (Id::Seed, _) => {
            return debug::ask_again(app, |gates| {
                gates.request.seed = gates.request.seed.wrapping_add(1);
            });
        }
        (Id::Acknowledge, _) => return mend::acknowledge(app),
        (Id::AcceptDelta, _) => return mend::accept_delta(app),
        (Id::TryAgain, _) => return mend::try_again(app),
        (Id::RequestApproval, _) => return mend::request_approval(app),
        (Id::Approve, _) => mend::ask_owner(app),
        (
            Id::Pause | Id::Step | Id::Stop | Id::Allow | Id::Refuse | Id::FromRecord | Id::Drop,
            C::Live,
        )
        | (Id::FromRecord | Id::Drop, _) => return live::order(app, id),
        (Id::Pause | Id::Step | Id::Stop, _) => return debug::hand(app, id),
        (Id::Allow | Id::Refuse, C::Seat) => company::answer(app, id == Id::Allow),
        (Id::Allow, _) => return debug::answer(app, Decision::Allow),
        (Id::Refuse, _) => return debug::answer(app, Decision::Refuse),
        (Id::ByHand, _) => live::answer(app),
        (Id::Steps, _) => live::ask(app, Purpose::Steps),
        (Id::Until, _) => live::ask(app, Purpose::Until),
        (Id::Insert, _) => live::ask(app, Purpose::Insert),
        (Id::Send, _) => live::ask(app, Purpose::Send),
        (Id::LogLevel, _) => live::level(app),
        (Id::Put, _) => return live::put(app),
        (Id::Live, _) => app.views.push(View::Live),
        (Id::NextRun, _) => return judge::next_run(app, true),
        (Id::PreviousRun, _) => return judge::next_run(app, false),
        (Id::Compare, C::Overview | C::Grid) => return overview::compare(app),
        (Id::Compare, C::Several) => return several::compare(app),
        (Id::Compare, _) => return judge::compare(app),
        (Id::CompareRun, _) => return judge::compare_run(app),
        (Id::Expand, _) => return judge::expand(app),
        (Id::NextDifference, C::Several) => several::next_difference(app, true),
        (Id::PreviousDifference, C::Several) => several::next_difference(app, false),
        (Id::NextDifference, _) => judge::next_difference(app, true),
        (Id::PreviousDifference, _) => judge::next_difference(app, false),
        (Id::Mark, _) => return judge::mark(app),
        (Id::Verdicts, _) => return judge::verdicts(app),
        (Id::Milestones, C::Overview | C::Grid) => overview::grid(app),
        (Id::Milestones, _) => app.views.push(View::Milestones(0)),
        (Id::Replay, _) => app.views.push(View::Replay),
        (Id::Hypotheses, _) => return hypotheses::open(app),
        (Id::Test, _) => return hypotheses::test(app, false),
        (Id::Edit, C::Hypotheses) => return hypotheses::test(app, true),
        (Id::Edit, C::Live) => live::edit(app),
        (Id::Edit, _) => debug::edit(app),
        (Id::Analyse, _) => return hypotheses::analyse(app, By::Offline),
        (Id::AskModel, _) => return hypotheses::analyse(app, By::Model),
        (Id::StopAnalysis, _) => return vec![Job::StopAnalysis],
        (Id::GotoSuspect, _) => hypotheses::goto(app),
        (Id::Suspect, _) => hypotheses::ask_why(app),
        (Id::External, _) => {
            if let Some(View::Editor(editor)) = app.views.last() {
                return vec![Job::External(editor.text())];
            }
        }
        (Id::Type | Id::StopTyping, _) => {
            if let Some(View::Editor(editor)) = app.views.last_mut() {
                editor.typing = id == Id::Type;
            }
        }
        (Id::Up | Id::Down | Id::PageUp | Id::PageDown | Id::First | Id::Last, _) => {
            if let Some(motion) = Motion::of(id) {
                motion::go(app, motion);
            }
        }
        (Id::Left, C::Several) => several::sideways(app, false),
        (Id::Right, C::Several) => several::sideways(app, true),
        (Id::Left, _) => overview::sideways(app, Motion::Up),
        (Id::Right, _) => overview::sideways(app, Motion::Down),
        (Id::Overview, _) => return overview::open(app),
        (Id::Colour, C::Jumps) => jumps::only(app),
        (Id::Colour, _) => overview::colour(app),
        (Id::Pick, _) => overview::pick(app),
        (Id::Fold, C::State) => state::fold(app),
        (Id::Fold, _) => overview::fold(app),
        (Id::State, C::Live) => return live::look(app),
        (Id::State, _) => return state::open(app),
        (Id::Hold, _) => return state::hold(app),
        (Id::NextBoundary, _) => return state::neighbour(app, true),
        (Id::PreviousBoundary, _) => return state::neighbour(app, false),
        (Id::Effects, _) => return effects::open(app, false),
        (Id::Reconcile, _) => return effects::reconcile(app),
        (Id::Keep, _) => effects::ask_why(app, Purpose::Keep),
        (Id::Undone, _) => effects::ask_why(app, Purpose::Undone),
        (Id::Filter, C::Help) => help::ask(app),
        (Id::Filter, _) => read::prompt(app, Purpose::Filter),
        (Id::Search, _) => read::prompt(app, Purpose::Search),
        (Id::Goto, _) => read::prompt(app, Purpose::Goto),
        (Id::Read, _) => read::focus(app, |_| Focus::Detail),
        (Id::NextPane, C::Live) => live::focus(app, true),
        (Id::PreviousPane, C::Live) => live::focus(app, false),
        (Id::NextPane, _) => read::focus(app, Focus::next),
        (Id::PreviousPane, _) => read::focus(app, Focus::previous),
        (Id::NextStep, _) => read::neighbour(app, true),
        (Id::PreviousStep, _) => read::neighbour(app, false),
        (Id::NextHit, _) => read::next_hit(app, true),
        (Id::PreviousHit, _) => read::next_hit(app, false),
        (Id::NextTrial, _) => read::next_trial(app, true),
        (Id::PreviousTrial, _) => read::next_trial(app, false),
        (Id::Pretty, _) => read::pretty(app),
        (Id::Jumps, _) => return jumps::open(app),
        (Id::MarkStep, _) => return pin::mark(app),
        (Id::Note, _) => pin::ask(app, Purpose::Note),
        (Id::Narrow, _) => pin::ask(app, Purpose::Narrow),
        (Id::Lesson | Id::GoOn | Id::Hint | Id::StartLesson | Id::Anew, _) => {
            return learn::act(app, id);
        }
        (Id::Follow, _) => return company::follow(app),
        (Id::Seat, _) => company::seat(app),
        (Id::Mouse, _) => pointer::turn(app),
        (Id::Palette, _) => app.palette = Some(Palette::default()),
        (Id::Help, _) => help::open(app),
        (Id::Notice, _) => over(app, Pane::Notice, View::Notice),
        (Id::Back, _) => return back(app),
        (Id::Quit, _) => quit(app, asked),
        (Id::Redraw, _) => return vec![Job::Redraw],
        (Id::Leave, _) => app.exit = Some(Exit::Leave),
    }
    Vec::new()
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
        if prompt.purpose == Purpose::Keys {
            help::narrow(app, &prompt.was);
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
                    "{id} is kept as it stands: ‹verdicts› lists it and ‹try-again› tries it again, or dover resume {id}"
                ));
            }
        }
        Some(View::Editor(editor)) => {
            let at = editor.place();
            if let Some(purpose) = editor.live.clone() {
                let (changed, text) = (editor.changed(), editor.text());
                app.views.pop();
                if changed {
                    live::keep(app, purpose, text);
                }
                return Vec::new();
            }
            if editor.changed() {
                let (draft, step) = (editor.draft(), editor.original.index);
                app.drafts.insert(at, draft);
                app.tell(format!(
                    "The edit of step {step} is kept: ‹fork› takes it to the gates, ‹edit› opens it again"
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
        Some("Runs are going: ‹quit› again stops them and quits; any other key goes on".to_owned())
    } else {
        let draft = app.drafts.keys().next();
        draft.map(|(branch, step)| {
            format!(
                "The edit of step {step} of {branch} was not forked yet. ‹quit› again quits and keeps it for the next time; any other key goes on"
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
