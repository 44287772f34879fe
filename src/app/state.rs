//! The state before a step, as it was recorded: a tree to unfold, and what differs between any two boundaries.

use std::collections::BTreeSet;

use super::extent::Pane;
use super::motion::Motion;
use super::msg::{Fault, Job};
use super::tree::{Node, Row, rows, tree};
use super::{App, View};
use crate::model::{BranchId, Checkpoint};

/// What was recorded, as the store has it.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Steps of the branch before which a state was recorded, in order.
    pub boundaries: Vec<usize>,
    /// The state asked for, or the nearest before it; none if there is none at all.
    pub now: Option<Checkpoint>,
    /// The one it is held against.
    pub then: Option<Checkpoint>,
    /// The tree of it.
    nodes: Vec<Node>,
}

impl Recorded {
    /// What was recorded, and the tree of it. Costs the size of both states: it is made where they are read, not where keys are waited for.
    #[must_use]
    pub fn new(boundaries: Vec<usize>, now: Option<Checkpoint>, then: Option<Checkpoint>) -> Self {
        let nodes = now.as_ref().map(|now| tree(now, then.as_ref()));
        Self {
            boundaries,
            now,
            then,
            nodes: nodes.unwrap_or_default(),
        }
    }
}

/// A state: that of a branch before a step.
pub type At = (BranchId, usize);

/// State of the panel.
#[derive(Debug)]
pub struct StateView {
    /// The branch.
    pub branch: BranchId,
    /// The step asked for.
    pub step: usize,
    /// The state that the others are held against.
    pub held: Option<At>,
    /// What was recorded, once it was read.
    pub recorded: Option<Result<Recorded, Fault>>,
    /// Paths that are folded the other way round than they begin.
    turned: BTreeSet<String>,
    /// The selected row.
    pub selected: usize,
    /// The state of a live run before the message that waits, which the store does not have.
    live: Option<Checkpoint>,
}

impl StateView {
    /// The rows in sight.
    #[must_use]
    pub fn rows(&self) -> Vec<Row<'_>> {
        let nodes = self.recorded().map_or(&[][..], |it| &it.nodes);
        rows(nodes, &self.turned, self.compares())
    }

    /// Whether two states are shown as one.
    #[must_use]
    pub fn compares(&self) -> bool {
        self.recorded().is_some_and(|it| it.then.is_some())
    }

    /// What was recorded; nothing until it is read.
    #[must_use]
    pub fn recorded(&self) -> Option<&Recorded> {
        self.recorded.as_ref().and_then(|it| it.as_ref().ok())
    }

    /// The step before which the state shown was recorded.
    #[must_use]
    pub fn at(&self) -> Option<usize> {
        Some(self.recorded()?.now.as_ref()?.step)
    }

    fn job(&self) -> Job {
        Job::State(self.branch.clone(), self.step, self.held.clone())
    }
}

/// Shows the state before the selected step.
pub(super) fn open(app: &mut App) -> Vec<Job> {
    let Some(open) = &app.open else {
        return Vec::new();
    };
    let (branch, step) = (open.branch.id.clone(), open.selected);
    show(app, branch, step)
}

/// Shows the state before a step of a branch.
pub(super) fn show(app: &mut App, branch: BranchId, step: usize) -> Vec<Job> {
    show_with(app, branch, step, None)
}

/// Shows the state of a live run before the message that waits.
pub(super) fn live(app: &mut App, step: usize, now: Checkpoint) -> Vec<Job> {
    let Some(live) = &app.live else {
        return Vec::new();
    };
    let main = live.main().cloned();
    let nothing = main.is_none();
    let branch = main.unwrap_or_else(|| BranchId::main(&live.session.id));
    let jobs = show_with(app, branch.clone(), step, Some(now));
    if nothing {
        // Nothing is in the store yet.
        came(app, &(branch, step, None), Ok(Recorded::default()));
        return Vec::new();
    }
    jobs
}

fn show_with(app: &mut App, branch: BranchId, step: usize, live: Option<Checkpoint>) -> Vec<Job> {
    // Another session's state has nothing to do with this one.
    let here = |at: &At| at.0.session() == branch.session();
    let held = app.held.clone().filter(here).filter(|_| live.is_none());
    let view = StateView {
        branch,
        step,
        held,
        recorded: None,
        turned: BTreeSet::new(),
        selected: 0,
        live,
    };
    let job = view.job();
    app.extents.rewind(Pane::State);
    app.views.push(View::State(Box::new(view)));
    vec![job]
}

fn panel(app: &mut App) -> Option<&mut StateView> {
    app.views.iter_mut().find_map(|view| match view {
        View::State(state) => Some(state.as_mut()),
        _ => None,
    })
}

/// What was recorded came.
pub(super) fn came(
    app: &mut App,
    asked: &(BranchId, usize, Option<At>),
    mut recorded: Result<Recorded, Fault>,
) {
    let Some(view) =
        panel(app).filter(|it| (&it.branch, it.step, &it.held) == (&asked.0, asked.1, &asked.2))
    else {
        return;
    };
    if let (Some(live), Ok(known)) = (&view.live, &mut recorded) {
        known.boundaries.push(live.step);
        let waits = |step| (step == live.step).then(|| live.clone());
        let held = view.held.as_ref().map(|(_, step)| *step);
        let (now, then) = (waits(view.step), held.and_then(waits));
        if now.is_some() || then.is_some() {
            let Recorded {
                boundaries,
                now: stored,
                then: held,
                ..
            } = std::mem::take(known);
            *known = Recorded::new(boundaries, now.or(stored), then.or(held));
        }
    }
    view.recorded = Some(recorded);
    view.selected = view.selected.min(view.rows().len().saturating_sub(1));
}

pub(super) fn go(app: &mut App, motion: Motion) {
    let page = app.extents.get(Pane::State).page();
    if let Some(view) = panel(app) {
        let last = view.rows().len().saturating_sub(1);
        view.selected = motion.from(view.selected, last, page);
    }
}

/// Unfolds the selected row, or folds it again.
pub(super) fn fold(app: &mut App) {
    if let Some(view) = panel(app) {
        let rows = view.rows();
        let row = rows.get(view.selected).filter(|row| row.unfolded.is_some());
        let path = row.map(|row| row.path.clone());
        if let Some(path) = path
            && !view.turned.remove(&path)
        {
            view.turned.insert(path);
        }
    }
}

/// Goes to the next boundary or the one before.
pub(super) fn neighbour(app: &mut App, forward: bool) -> Vec<Job> {
    let Some(view) = panel(app) else {
        return Vec::new();
    };
    let (Some(at), Some(recorded)) = (view.at(), view.recorded()) else {
        return Vec::new();
    };
    let next = if forward {
        recorded.boundaries.iter().find(|step| **step > at).copied()
    } else {
        let before = recorded.boundaries.iter().rev();
        before.copied().find(|step| *step < at)
    };
    let Some(next) = next else {
        let end = if forward { "last" } else { "first" };
        app.tell(format!("This is the {end} recorded state of the branch"));
        return Vec::new();
    };
    view.step = next;
    vec![view.job()]
}

/// Holds the state shown, so that others are shown as what differs from it; or lets go of it.
pub(super) fn hold(app: &mut App) -> Vec<Job> {
    let Some(view) = panel(app) else {
        return Vec::new();
    };
    view.held = match view.held.take() {
        Some(_) => None,
        None => view.at().map(|step| (view.branch.clone(), step)),
    };
    view.turned.clear();
    view.selected = 0;
    let (job, held) = (view.job(), view.held.clone());
    if let Some((branch, step)) = &held {
        app.tell(format!(
            "{}@{step} is held, wherever you go: the state before any other step, of this branch (‹next-boundary›, ‹previous-boundary›) or of another one, is shown as what differs from it. ‹hold› lets it go",
            branch.name()
        ));
    } else {
        app.tell("The state that was held is let go");
    }
    app.held = held;
    vec![job]
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;
    use crate::app::tree::Mark;
    use crate::app::{Msg, fixture};
    use crate::model::KeyState;

    /// A state that grows by a message a step.
    fn checkpoint(step: usize) -> Checkpoint {
        let said: Vec<String> = (4..=step).map(|at| format!("message {at}")).collect();
        let saved = |value| KeyState::saved(format!("r{step}"), value);
        Checkpoint {
            step,
            keys: [
                (
                    "agent_memory".to_owned(),
                    saved(json!({"Orchestrator": said, "WebSurfer": []})),
                ),
                (
                    "browser".to_owned(),
                    saved(json!({"url": format!("https://x.example/{}", step / 6)})),
                ),
            ]
            .into(),
        }
    }

    /// Answers as the store would.
    pub(in crate::app) fn answer(branch: BranchId, step: usize, held: Option<At>) -> Msg {
        let now = checkpoint(step.clamp(4, 6));
        let then = held.as_ref().map(|(_, step)| checkpoint(*step));
        let recorded = Recorded::new(vec![4, 5, 6], Some(now), then);
        Msg::State(branch, step, held, Box::new(Ok(recorded)))
    }

    fn view(app: &App) -> &StateView {
        match app.views.last() {
            Some(View::State(view)) => view,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn any_two_boundaries_are_held_against_each_other() {
        let mut app = fixture::opened();
        fixture::press(&mut app, ":5⏎t");
        assert_eq!(view(&app).at(), Some(5));
        assert_eq!(view(&app).rows().len(), 2);
        // Unfolded twice: the orchestrator's two messages.
        fixture::press(&mut app, "⏎j⏎");
        assert_eq!(view(&app).rows().len(), 6);
        fixture::press(&mut app, "⏎k⏎");
        assert_eq!(view(&app).rows().len(), 2);
        // The state before step 4 is held, the one before step 6 shown: two messages more, another page.
        fixture::press(&mut app, "[d]]");
        let marks: Vec<Mark> = view(&app).rows().iter().map(|row| row.node.mark).collect();
        let held = view(&app).held.as_ref().map(|(_, step)| *step);
        assert_eq!((held, view(&app).at()), (Some(4), Some(6)));
        assert_eq!(
            marks,
            [
                Mark::Changed,
                Mark::Changed,
                Mark::Added,
                Mark::Added,
                Mark::Changed,
                Mark::Changed
            ]
        );
        fixture::press(&mut app, "]");
        assert_eq!(view(&app).at(), Some(6), "the last one");
        fixture::press(&mut app, "d");
        assert!(!view(&app).compares());
        assert_eq!(view(&app).rows().len(), 2);
    }

    #[test]
    fn a_state_is_held_until_it_is_let_go_wherever_one_goes() {
        let mut app = fixture::replayed();
        fixture::press(&mut app, "⎋:5⏎td");
        let main = BranchId::main("night-picture");
        assert_eq!(view(&app).held, Some((main.clone(), 5)));
        // Another step, then another branch.
        fixture::press(&mut app, "⎋:6⏎t");
        assert_eq!(view(&app).held, Some((main.clone(), 5)));
        assert!(view(&app).compares());
        fixture::press(&mut app, "⎋⇥⇥j⏎:6⏎t");
        assert_eq!(view(&app).branch.name(), "b1");
        assert_eq!(view(&app).held, Some((main, 5)));
        fixture::press(&mut app, "d⎋t");
        assert_eq!(view(&app).held, None);
        assert!(!view(&app).compares());
    }

    #[test]
    fn a_step_without_a_state_shows_the_nearest() {
        let mut app = fixture::opened();
        fixture::press(&mut app, ":2⏎t");
        assert_eq!((view(&app).step, view(&app).at()), (2, Some(4)));
    }
}
