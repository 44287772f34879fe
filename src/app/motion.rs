//! Moving in a pane: by a key, by the wheel, or straight to a row. One path for every list and every text.

use super::command::{Context, Id};
use super::extent::{Extent, Pane};
use super::fork::Replay;
use super::key::{Code, Key};
use super::live::LivePane;
use super::steps::Row;
use super::{
    App, View, effects, hypotheses, jumps, learn, live, overview, palette, read, several, state,
};

/// How a selection or a window moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// A row up.
    Up,
    /// A row down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the beginning.
    First,
    /// To the end.
    Last,
    /// So many rows down, or up: the wheel.
    By(isize),
    /// To a row: a click.
    To(usize),
}

impl Motion {
    /// What a command asks for, if it moves.
    pub(super) const fn of(id: Id) -> Option<Self> {
        Some(match id {
            Id::Up => Self::Up,
            Id::Down => Self::Down,
            Id::PageUp => Self::PageUp,
            Id::PageDown => Self::PageDown,
            Id::First => Self::First,
            Id::Last => Self::Last,
            _ => return None,
        })
    }

    /// Where it leads from a row of those up to the last one.
    pub(super) fn from(self, at: usize, last: usize, page: usize) -> usize {
        match self {
            Self::Up => at.saturating_sub(1),
            Self::Down => at.saturating_add(1).min(last),
            Self::PageUp => at.saturating_sub(page),
            Self::PageDown => at.saturating_add(page).min(last),
            Self::First => 0,
            Self::Last => last,
            Self::By(rows) => at.saturating_add_signed(rows).min(last),
            Self::To(row) => row.min(last),
        }
    }

    const fn pages(self) -> bool {
        matches!(self, Self::PageUp | Self::PageDown)
    }
}

/// Moves in the pane that has the keys.
pub(super) fn go(app: &mut App, motion: Motion) {
    if let Some(pane) = pane(app, motion) {
        go_in(app, pane, motion);
    }
}

/// The pane that has the keys; page keys may have another.
fn pane(app: &App, motion: Motion) -> Option<Pane> {
    Some(match app.context() {
        Context::Picker => Pane::Picker,
        Context::Steps => Pane::Steps,
        Context::Detail => Pane::Detail,
        Context::Branches => Pane::Branches,
        Context::Editor | Context::LiveEditor => Pane::Original,
        Context::Gates => Pane::Gates,
        Context::Replay => Pane::Run,
        Context::Compare => Pane::Compare,
        Context::Pair => Pane::Pair,
        Context::Milestones => Pane::Milestones,
        Context::Interventions => Pane::Interventions,
        Context::Hypotheses if motion.pages() => Pane::Hypothesis,
        Context::Hypotheses => Pane::Hypotheses,
        Context::Effects => Pane::Effects,
        Context::State => Pane::State,
        Context::Live => match app.live.as_ref()?.focus {
            LivePane::Queue => Pane::Queue,
            LivePane::Steps => Pane::Run,
            LivePane::Log => Pane::Log,
        },
        Context::Overview => Pane::Overview,
        Context::Grid => Pane::Grid,
        Context::Several => Pane::Several,
        Context::Jumps => Pane::Jumps,
        Context::Palette => Pane::Palette,
        Context::Help => Pane::Help,
        Context::Notice => Pane::Notice,
        Context::Lessons => Pane::Lessons,
        Context::Lesson => Pane::Lesson,
        Context::Typing | Context::LiveTyping | Context::Prompt | Context::Seat => return None,
    })
}

/// Whether a move is one in a window that was not drawn yet, so that nobody knows how far it goes.
pub(super) fn blind(app: &App, motion: Motion) -> bool {
    let Some(pane) = pane(app, motion) else {
        return false;
    };
    let extent = app.extents.get(pane);
    (scrolls(pane) && extent.rows == 0) || (motion.pages() && extent.height == 0)
}

/// Whether a pane is a text without a selection.
const fn scrolls(pane: Pane) -> bool {
    matches!(
        pane,
        Pane::Detail
            | Pane::Original
            | Pane::Pair
            | Pane::Hypothesis
            | Pane::LiveText
            | Pane::Help
            | Pane::Notice
            | Pane::Lesson
    )
}

/// Moves in a pane, whoever has the keys.
pub(super) fn go_in(app: &mut App, pane: Pane, motion: Motion) {
    let rows = app.extents.get(pane).page();
    match pane {
        Pane::Picker => {
            let last = app.picker.matching().count().saturating_sub(1);
            let to = motion.from(app.picker.selected, last, rows);
            app.picker.select(to);
        }
        Pane::Steps => {
            if let Some(open) = &app.open {
                let to = match motion {
                    Motion::To(row) => match open.steps.row(row) {
                        Some(Row::Step(step)) => step,
                        Some(Row::Trial(trial)) => trial.start,
                        None => return,
                    },
                    motion => open.steps.moved(motion, open.selected, rows),
                };
                read::select_step(app, to);
            }
        }
        Pane::Branches => {
            if let Some(open) = &mut app.open {
                let last = open.branches.len().saturating_sub(1);
                open.branch_row = motion.from(open.branch_row, last, rows);
            }
        }
        Pane::Queue | Pane::Log => live::go(app, pane, motion),
        Pane::Run if matches!(app.views.last(), Some(View::Live)) => live::go(app, pane, motion),
        Pane::Run => {
            if let Some(run) = app.replay.as_mut().and_then(Replay::run_mut) {
                run.select(motion.from(run.selected, run.heads.len().saturating_sub(1), rows));
            }
        }
        Pane::Runs => {
            if let Some(replay) = &mut app.replay {
                let last = replay.runs.len().saturating_sub(1);
                replay.current = motion.from(replay.current, last, 1);
            }
        }
        Pane::Compare => {
            if let Some(View::Compare(compare)) = app.views.last_mut() {
                let last = compare.comparison.pairs.len().saturating_sub(1);
                compare.select(motion.from(compare.selected, last, rows));
            }
        }
        Pane::Milestones => {
            let all = app.open.as_ref().map(|open| open.session.milestones.len());
            let last = all.unwrap_or(0).saturating_sub(1);
            if let Some(View::Milestones(selected)) = app.views.last_mut() {
                *selected = motion.from(*selected, last, 5);
            }
        }
        Pane::Interventions => {
            let all = app.open.as_ref().map(|open| open.interventions.len());
            let last = all.unwrap_or(0).saturating_sub(1);
            if let Some(View::Interventions(selected)) = app.views.last_mut() {
                *selected = motion.from(*selected, last, rows);
            }
        }
        Pane::Hypotheses => hypotheses::go(app, motion),
        Pane::Effects => effects::go(app, motion),
        Pane::State => state::go(app, motion),
        Pane::Overview | Pane::Lanes | Pane::Grid => overview::go(app, pane, motion),
        Pane::Several => several::go(app, motion),
        Pane::Jumps => jumps::go(app, motion),
        Pane::Palette => palette::go(app, motion),
        Pane::Lessons => learn::go(app, motion),
        Pane::Gates => gates(app, motion),
        Pane::Edit => text(app, motion),
        Pane::Detail
        | Pane::Original
        | Pane::Pair
        | Pane::Hypothesis
        | Pane::LiveText
        | Pane::Help
        | Pane::Notice
        | Pane::Lesson => scroll(app, pane, motion),
    }
}

fn scroll(app: &mut App, pane: Pane, motion: Motion) {
    app.extents.scroll(pane, |extent: Extent| {
        motion.from(extent.top, extent.last_top(), extent.page())
    });
}

/// Opens another gate; pages and the wheel read on without.
fn gates(app: &mut App, motion: Motion) {
    let reads = motion.pages() || matches!(motion, Motion::By(_));
    if let Some(View::Gates(gates)) = app.views.last_mut() {
        gates.follow = !reads;
        if !reads {
            let to = motion.from(gates.opened(), gates.last(), 1);
            gates.picked = Some(to);
        }
    }
    if reads {
        scroll(app, Pane::Gates, motion);
    }
}

/// Moves the cursor of the text that is edited.
fn text(app: &mut App, motion: Motion) {
    if let (Some(View::Editor(editor)), Motion::By(rows)) = (app.views.last_mut(), motion) {
        let code = if rows < 0 { Code::Up } else { Code::Down };
        for _ in 0..rows.unsigned_abs() {
            editor.press(Key::of(code));
        }
    }
}
