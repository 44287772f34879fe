//! The mouse, when it is asked for: what a click and the wheel mean.
//!
//! Drawing notes where each pane, row and command stands; the terminal looks a click up there and names what was hit. So nothing here
//! knows of coordinates, and what was clicked is what was seen. A click does what keys do: it gives a pane the keys and moves to a row,
//! a second click on that row is Enter, and one on a command is its key.

use super::command::{self, Context, Id};
use super::extent::Pane;
use super::key::{Code, Key};
use super::live::LivePane;
use super::motion::{Motion, go_in};
use super::msg::Job;
use super::session::Focus;
use super::{App, View, act, overview, several};

/// Rows that the wheel turns at a time, and where a row is a whole thing.
const TURN: isize = 3;
const TURN_OF_FEW: isize = 1;

/// What lies under the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A pane, outside its rows.
    Pane(Pane),
    /// A row of a list.
    Row(Pane, usize),
    /// A row of a table, and the column.
    Cell(Pane, usize, usize),
    /// A command that is named on the screen.
    Command(Id),
}

impl Target {
    /// The pane that the wheel turns.
    #[must_use]
    pub const fn pane(self) -> Option<Pane> {
        match self {
            Self::Pane(pane) | Self::Row(pane, _) | Self::Cell(pane, ..) => Some(pane),
            Self::Command(_) => None,
        }
    }
}

/// Takes the mouse, or gives it back to the terminal.
pub(super) fn turn(app: &mut App) {
    app.mouse = !app.mouse;
    app.tell(if app.mouse {
        "The mouse is dover's: the wheel scrolls, a click selects, a second one opens. Shift and dragging still selects text; ‹mouse› gives the mouse back"
    } else {
        "The mouse is the terminal's again: dragging selects text"
    });
}

/// Something was clicked.
pub(super) fn click(app: &mut App, target: Target) -> Vec<Job> {
    let again = app.clicked.take() == Some(target);
    let asked = std::mem::take(&mut app.asked_to_quit);
    app.notice = None;
    let context = app.context();
    let (pane, row) = match target {
        Target::Command(id) => {
            let mut here = command::table().iter();
            let found = here.find(|row| row.id == id && row.contexts.contains(&context));
            return found.map_or(Vec::new(), |found| act::obey(app, found, asked));
        }
        // A line that is being typed is not left by a click.
        _ if asked || context == Context::Prompt => return Vec::new(),
        Target::Pane(pane) => (pane, None),
        Target::Row(pane, row) | Target::Cell(pane, row, _) => (pane, Some(row)),
    };
    focus(app, pane);
    let Some(row) = row else {
        return Vec::new();
    };
    go_in(app, pane, Motion::To(row));
    match (target, pane) {
        (Target::Cell(_, _, column), Pane::Several) => several::choose(app, column),
        (Target::Cell(_, _, column), _) => overview::choose(app, column),
        _ => {}
    }
    if !again {
        app.clicked = Some(target);
        return Vec::new();
    }
    let context = app.context();
    // Enter at the gates runs the fork, whatever gate is opened.
    let enter = command::find(context, Key::of(Code::Enter)).filter(|_| context != Context::Gates);
    enter.map_or(Vec::new(), |enter| act::obey(app, enter, false))
}

/// The wheel was turned over a pane.
pub(super) fn wheel(app: &mut App, pane: Pane, down: bool) {
    app.clicked = None;
    let rows = match pane {
        Pane::Picker
        | Pane::Branches
        | Pane::Runs
        | Pane::Milestones
        | Pane::Interventions
        | Pane::Hypotheses
        | Pane::Effects
        | Pane::Lanes
        | Pane::Lessons => TURN_OF_FEW,
        _ => TURN,
    };
    go_in(app, pane, Motion::By(if down { rows } else { -rows }));
}

/// Gives a pane the keys, where several could have them.
fn focus(app: &mut App, pane: Pane) {
    match (app.views.last_mut(), pane) {
        (None, Pane::Steps | Pane::Detail | Pane::Branches) => {
            if let Some(open) = &mut app.open {
                open.focus = match pane {
                    Pane::Steps => Focus::Steps,
                    Pane::Detail => Focus::Detail,
                    _ => Focus::Branches,
                };
            }
        }
        (Some(View::Live), Pane::Run | Pane::Queue | Pane::Log) => {
            if let Some(live) = &mut app.live {
                live.focus = match pane {
                    Pane::Run => LivePane::Steps,
                    Pane::Queue => LivePane::Queue,
                    _ => LivePane::Log,
                };
            }
        }
        (Some(View::Editor(editor)), Pane::Original | Pane::Edit) => {
            editor.typing = pane == Pane::Edit;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Msg, fixture, gate_fixture, live_tests, update};

    fn click(app: &mut App, target: Target) -> Vec<Job> {
        update(app, Msg::Click(target))
    }

    fn selected(app: &App) -> usize {
        app.open.as_ref().unwrap().selected
    }

    #[test]
    fn a_click_selects_and_a_second_one_is_enter() {
        let mut app = fixture::opened();
        // The list: step 0, the line of trial 1, steps 1 to 7, the line of trial 2, step 8.
        click(&mut app, Target::Row(Pane::Steps, 3));
        assert_eq!((selected(&app), app.context()), (2, Context::Steps));
        // A trial's line stands for its plan.
        click(&mut app, Target::Row(Pane::Steps, 9));
        assert_eq!((selected(&app), app.context()), (8, Context::Steps));
        click(&mut app, Target::Row(Pane::Steps, 9));
        assert_eq!((selected(&app), app.context()), (8, Context::Detail));
        click(&mut app, Target::Row(Pane::Branches, 0));
        assert_eq!(app.context(), Context::Branches);
    }

    #[test]
    fn a_key_or_the_wheel_between_two_clicks_parts_them() {
        let mut app = fixture::opened();
        let row = Target::Row(Pane::Steps, 3);
        for between in [Msg::Key(Key::char('p')), Msg::Wheel(Pane::Detail, true)] {
            click(&mut app, row);
            update(&mut app, between);
            click(&mut app, row);
            assert_eq!(app.context(), Context::Steps);
        }
        // That one was the first of two.
        click(&mut app, row);
        assert_eq!(app.context(), Context::Detail);
    }

    #[test]
    fn the_wheel_turns_what_is_under_it_and_leaves_the_keys_where_they_are() {
        let mut app = fixture::opened();
        update(&mut app, Msg::Key(Key::char('<')));
        update(&mut app, Msg::Wheel(Pane::Steps, true));
        assert_eq!(selected(&app), 3);
        update(&mut app, Msg::Wheel(Pane::Steps, false));
        update(&mut app, Msg::Wheel(Pane::Steps, false));
        assert_eq!(selected(&app), 0);
        let extent = crate::app::extent::Extent {
            top: 0,
            height: 10,
            rows: 15,
        };
        app.extents.set(Pane::Detail, extent);
        update(&mut app, Msg::Wheel(Pane::Detail, true));
        update(&mut app, Msg::Wheel(Pane::Detail, true));
        assert_eq!(app.extents.get(Pane::Detail).top, 5);
        assert_eq!((selected(&app), app.context()), (0, Context::Steps));
    }

    #[test]
    fn a_click_on_a_command_is_its_key() {
        let mut app = fixture::opened();
        click(&mut app, Target::Command(Id::Edit));
        assert_eq!(app.context(), Context::Typing);
        // What does not work where one is does nothing.
        click(&mut app, Target::Command(Id::Quit));
        assert_eq!(app.exit, None);
        fixture::press(&mut app, " more");
        click(&mut app, Target::Command(Id::StopTyping));
        click(&mut app, Target::Command(Id::Back));
        assert_eq!(app.context(), Context::Steps);
        // The draft is asked about: another click says no, one on the command says yes.
        click(&mut app, Target::Command(Id::Quit));
        click(&mut app, Target::Row(Pane::Steps, 0));
        assert_eq!(app.exit, None);
        click(&mut app, Target::Command(Id::Quit));
        click(&mut app, Target::Command(Id::Quit));
        assert_eq!(app.exit, Some(crate::app::Exit::Quit));
    }

    #[test]
    fn nothing_runs_by_clicks_on_gates() {
        let mut app = fixture::at_the_gates(true);
        for _ in 0..3 {
            let jobs = click(&mut app, Target::Row(Pane::Gates, 4));
            assert!(jobs.is_empty(), "{jobs:?}");
        }
        assert_eq!(app.gates().map(crate::app::fork::Gates::opened), Some(4));
        let mut app = gate_fixture::held(&gate_fixture::DRIFT);
        let jobs = click(&mut app, Target::Command(Id::Resume));
        assert!(jobs.is_empty() && app.notice.is_some(), "{jobs:?}");
    }

    #[test]
    fn a_line_that_is_typed_is_not_left_by_a_click() {
        let mut app = fixture::opened();
        let before = selected(&app);
        fixture::press(&mut app, "/cap");
        click(&mut app, Target::Row(Pane::Steps, 0));
        assert_eq!((selected(&app), app.context()), (before, Context::Prompt));
        click(&mut app, Target::Command(Id::Back));
        assert_eq!(app.context(), Context::Steps);
    }

    #[test]
    fn panes_of_a_live_run_get_the_keys() {
        let mut app = live_tests::standing();
        for (pane, focus) in [
            (Pane::Log, LivePane::Log),
            (Pane::Queue, LivePane::Queue),
            (Pane::Run, LivePane::Steps),
        ] {
            click(&mut app, Target::Pane(pane));
            assert_eq!(app.live.as_ref().unwrap().focus, focus);
        }
    }

    #[test]
    fn the_mouse_is_the_terminals_until_it_is_asked_for() {
        let mut app = fixture::opened();
        assert!(!app.mouse);
        update(&mut app, Msg::Key(Key::of(Code::F(4))));
        assert!(app.mouse);
        assert!(app.notice.as_ref().unwrap().text.contains("Shift"));
        update(&mut app, Msg::Key(Key::of(Code::F(4))));
        assert!(!app.mouse);
    }
}
