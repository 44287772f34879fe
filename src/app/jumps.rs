//! The jump list: where something happened on the branch shown. Failures, plans, labels, hypotheses, edits, milestones, notes.

use super::extent::Pane;
use super::motion::Motion;
use super::msg::{Fault, Job};
use super::session::Open;
use super::{App, View, overview};
use crate::model::{BranchId, StepHead};

/// What happened at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The step reports a failure.
    Failure,
    /// A plan; a trial begins.
    Plan,
    /// The log labels it.
    Label,
    /// Somebody suspects it.
    Hypothesis,
    /// An edit, a fork.
    Edit,
    /// A milestone is reached.
    Milestone,
    /// A mark or a note.
    Note,
}

impl What {
    /// All of them, in the order in which the list is narrowed to one.
    const ALL: [Self; 7] = [
        Self::Failure,
        Self::Plan,
        Self::Label,
        Self::Hypothesis,
        Self::Edit,
        Self::Milestone,
        Self::Note,
    ];

    /// A word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Plan => "plan",
            Self::Label => "label",
            Self::Hypothesis => "hypothesis",
            Self::Edit => "edit",
            Self::Milestone => "milestone",
            Self::Note => "note",
        }
    }
}

/// A place to go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jump {
    /// The step.
    pub step: usize,
    /// What happened there.
    pub what: What,
    /// What is said of it.
    pub text: String,
}

/// State of the list.
#[derive(Debug)]
pub struct Jumps {
    /// The branch.
    pub branch: BranchId,
    /// All places, by step.
    pub all: Vec<Jump>,
    /// Whether failures are still being looked for.
    pub looking: bool,
    /// Only places of this kind.
    pub only: Option<What>,
    /// The selected row among those shown.
    pub selected: usize,
}

impl Jumps {
    /// The places shown.
    pub fn rows(&self) -> impl Iterator<Item = &Jump> {
        let shown = |jump: &&Jump| self.only.is_none_or(|only| jump.what == only);
        self.all.iter().filter(shown)
    }

    /// Selects the first place at or after a step.
    fn near(&mut self, step: usize) {
        let after = self.rows().position(|jump| jump.step >= step);
        let last = self.rows().count().saturating_sub(1);
        self.selected = after.unwrap_or(last);
    }
}

/// What is known of a branch without asking the store.
fn known(open: &Open) -> Vec<Jump> {
    let jump = |step, what, text: String| Jump { step, what, text };
    let fork = open.branch.fork_step;
    // Labels are the original's; a branch has those on its prefix.
    let labelled = |step: usize| fork.is_none_or(|fork| step < fork);
    let trials = open.steps.trials.iter();
    let plans = trials.map(|trial| {
        let text = format!("trial {} begins", trial.index);
        jump(trial.start, What::Plan, text)
    });
    let labels = open.session.annotations.iter().filter_map(|label| {
        let step = label.step.filter(|step| labelled(*step))?;
        let text = format!("{}: {}", label.name, label.value);
        Some(jump(step, What::Label, text))
    });
    let suspected = open.hypotheses.iter();
    let suspected = suspected
        .filter(|filed| filed.branch == open.branch.id)
        .map(|filed| {
            let text = filed.hypothesis.reason.clone();
            jump(filed.hypothesis.step, What::Hypothesis, text)
        });
    let own = open.branch.intervention.as_ref();
    let edits = open.interventions.iter().filter_map(|edit| {
        let whose = if own == Some(&edit.id) {
            "this branch's edit"
        } else if edit.parent == open.branch.id {
            "edited from here"
        } else {
            return None;
        };
        let text = edit.text.as_deref().unwrap_or("unedited, the baseline");
        Some(jump(edit.step, What::Edit, format!("{whose}: {text}")))
    });
    let reached = open.milestones.iter().zip(&open.session.milestones);
    let milestones = reached.enumerate().filter_map(|(n, (at, milestone))| {
        let text = format!("{} {}", n + 1, milestone.title);
        Some(jump((*at)?, What::Milestone, text))
    });
    let notes = open.notes.iter().map(|note| {
        let text = if note.text.is_empty() {
            format!("marked by {}", note.operator)
        } else {
            format!("{} ({})", note.text, note.operator)
        };
        jump(note.step, What::Note, text)
    });
    let mut all: Vec<Jump> = plans
        .chain(labels)
        .chain(suspected)
        .chain(edits)
        .chain(milestones)
        .chain(notes)
        .collect();
    all.sort_by_key(|jump| (jump.step, jump.what));
    all
}

/// Shows the list for the branch shown.
pub(super) fn open(app: &mut App) -> Vec<Job> {
    let Some(open) = &app.open else {
        return Vec::new();
    };
    let mut jumps = Jumps {
        branch: open.branch.id.clone(),
        all: known(open),
        looking: true,
        only: None,
        selected: 0,
    };
    jumps.near(open.selected);
    let job = Job::Failures(open.branch.id.clone());
    app.extents.rewind(Pane::Jumps);
    app.views.push(View::Jumps(Box::new(jumps)));
    vec![job]
}

/// The failures came.
pub(super) fn came(app: &mut App, branch: &BranchId, failures: Result<Vec<StepHead>, Fault>) {
    let at = app.open.as_ref().map_or(0, |open| open.selected);
    let failures = match failures {
        Ok(failures) => failures,
        Err(fault) => return app.fail(fault),
    };
    let shown = app.views.iter_mut().find_map(|view| match view {
        View::Jumps(jumps) if jumps.branch == *branch => Some(jumps),
        _ => None,
    });
    if let Some(jumps) = shown {
        jumps.looking = false;
        jumps.all.extend(failures.into_iter().map(|head| Jump {
            step: head.index,
            what: What::Failure,
            text: format!("{}: {}", head.agent, head.head),
        }));
        jumps.all.sort_by_key(|jump| (jump.step, jump.what));
        jumps.near(at);
    }
}

/// Shows only what is of the next sort, or all again.
pub(super) fn only(app: &mut App) {
    if let Some(View::Jumps(jumps)) = app.views.last_mut() {
        let there = |what: &What| jumps.all.iter().any(|jump| jump.what == *what);
        let mut later = What::ALL.into_iter().filter(there);
        let before = jumps.only;
        jumps.only = later.find(|what| before.is_none_or(|before| *what > before));
        jumps.selected = 0;
    }
}

/// Goes to the selected place in the message list.
pub(super) fn show(app: &mut App) -> Vec<Job> {
    let Some(View::Jumps(jumps)) = app.views.last() else {
        return Vec::new();
    };
    let step = jumps.rows().nth(jumps.selected).map(|jump| jump.step);
    let branch = jumps.branch.clone();
    step.map_or_else(Vec::new, |step| overview::go_to(app, &branch, step))
}

/// Moves the selection.
pub(super) fn go(app: &mut App, motion: Motion) {
    let page = app.extents.get(Pane::Jumps).page();
    if let Some(View::Jumps(jumps)) = app.views.last_mut() {
        let last = jumps.rows().count().saturating_sub(1);
        jumps.selected = motion.from(jumps.selected, last, page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Context, fixture};

    fn rows(app: &App) -> Vec<(usize, What)> {
        match app.views.last() {
            Some(View::Jumps(jumps)) => jumps.rows().map(|jump| (jump.step, jump.what)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn places_are_listed_by_step_and_gone_to() {
        let mut app = fixture::opened();
        fixture::press(&mut app, "*'");
        // Plans at 1 and 8, the label and the mark at 9, the failure at 10, milestones at 6 and 7.
        assert_eq!(
            rows(&app),
            [
                (1, What::Plan),
                (6, What::Milestone),
                (7, What::Milestone),
                (8, What::Plan),
                (9, What::Label),
                (9, What::Note),
                (10, What::Failure)
            ]
        );
        // The first place at or after step 9 is selected.
        fixture::press(&mut app, "jj⏎");
        assert_eq!(app.context(), Context::Steps);
        assert_eq!(app.open.unwrap().selected, 10);
    }

    #[test]
    fn the_list_is_narrowed_to_one_thing_after_the_other() {
        let mut app = fixture::opened();
        fixture::press(&mut app, "'⇥");
        assert_eq!(rows(&app), [(10, What::Failure)]);
        fixture::press(&mut app, "⇥");
        assert_eq!(rows(&app), [(1, What::Plan), (8, What::Plan)]);
        // Label, milestones, then all again: there is no hypothesis, no edit, no note.
        fixture::press(&mut app, "⇥⇥⇥");
        assert_eq!(rows(&app).len(), 6);
    }
}
