//! An open session: the branch shown, the selected step, the focus, the search, drafts of edits.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::msg::{BranchView, Job, Opened, StepView};
use super::pin::Narrowed;
use super::steps::StepList;
use crate::model::{Branch, BranchId, Category, Filed, Intervention, Note, Session, Step};
use crate::pipeline::Outcome;

/// Which pane takes the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Focus {
    /// The message list.
    #[default]
    Steps,
    /// The selected step's text.
    Detail,
    /// The branch list.
    Branches,
}

impl Focus {
    /// The pane after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Steps => Self::Detail,
            Self::Detail => Self::Branches,
            Self::Branches => Self::Steps,
        }
    }

    /// The pane before this one.
    #[must_use]
    pub const fn previous(self) -> Self {
        self.next().next()
    }
}

/// Steps that contain the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The words.
    pub words: String,
    /// The steps; none until the store answered.
    pub hits: Option<Vec<usize>>,
}

impl Search {
    /// The place of a step among the hits, 1-based, if it is one.
    #[must_use]
    pub fn place(&self, step: usize) -> Option<usize> {
        let hits = self.hits.as_ref()?;
        hits.binary_search(&step).ok().map(|i| i + 1)
    }

    /// The hit after or before a step, round the end.
    #[must_use]
    pub fn from(&self, step: usize, forward: bool) -> Option<usize> {
        let hits = self.hits.as_ref()?;
        if forward {
            let after = hits.partition_point(|hit| *hit <= step);
            hits.get(after).or_else(|| hits.first()).copied()
        } else {
            let before = hits.partition_point(|hit| *hit < step);
            match before.checked_sub(1) {
                Some(i) => hits.get(i).copied(),
                None => hits.last().copied(),
            }
        }
    }
}

/// The open session.
#[derive(Debug)]
pub struct Open {
    /// The session.
    pub session: Arc<Session>,
    /// Its branches, `main` first.
    pub branches: Vec<Branch>,
    /// Its interventions, oldest first.
    pub interventions: Vec<Intervention>,
    /// What is suspected in it, in the order it was said.
    pub hypotheses: Vec<Filed>,
    /// What the interventions came to, as far as asked.
    pub outcomes: BTreeMap<String, Outcome>,
    /// The branch shown.
    pub branch: Branch,
    /// Its steps.
    pub steps: StepList,
    /// For each milestone the first step of the branch that reaches it.
    pub milestones: Vec<Option<usize>>,
    /// The same on the parent, if there is one.
    pub parent_milestones: Option<Vec<Option<usize>>>,
    /// The selected step.
    pub selected: usize,
    /// Steps that came in while the selection was not at the tail.
    pub unseen: usize,
    /// Which pane takes the keys.
    pub focus: Focus,
    /// The selected row of the branch list.
    pub branch_row: usize,
    /// The step whose text is here.
    pub detail: Option<(usize, StepView)>,
    /// A step that was asked for and has not come.
    pub asked: Option<usize>,
    /// JSON laid out rather than as written.
    pub pretty: bool,
    /// The search.
    pub search: Option<Search>,
    /// Marks and notes on its steps.
    pub notes: Vec<Note>,
    /// The branch whose notes were asked for.
    pub notes_of: Option<BranchId>,
    /// The filter of the message list.
    pub narrowed: Option<Narrowed>,
    /// The step to select once its branch is here.
    pub land: Option<(BranchId, usize)>,
}

impl Open {
    /// A session as it came from the store.
    #[must_use]
    pub fn new(opened: Opened) -> Self {
        let Opened {
            session,
            branches,
            interventions,
            hypotheses,
            shown,
        } = opened;
        let len = shown.branch.steps;
        Self {
            session: Arc::new(session),
            interventions,
            hypotheses,
            outcomes: BTreeMap::new(),
            branch_row: branches
                .iter()
                .position(|b| b.id == shown.branch.id)
                .unwrap_or(0),
            branches,
            steps: StepList::new(shown.branch.id.clone(), len, shown.trials),
            branch: shown.branch,
            milestones: shown.milestones,
            parent_milestones: shown.parent_milestones,
            selected: 0,
            unseen: 0,
            focus: Focus::default(),
            detail: None,
            asked: None,
            pretty: true,
            search: None,
            notes: Vec::new(),
            notes_of: None,
            narrowed: None,
            land: None,
        }
    }

    /// Shows another branch, or the same one as it is now; the selection stays where it makes sense.
    pub fn show(&mut self, view: BranchView) {
        let same = view.branch.id == self.branch.id;
        self.steps = StepList::new(view.branch.id.clone(), view.branch.steps, view.trials);
        self.milestones = view.milestones;
        self.parent_milestones = view.parent_milestones;
        if !same {
            self.selected = view.branch.fork_step.unwrap_or(self.selected);
            self.search = None;
            self.notes.clear();
            self.notes_of = None;
        }
        self.narrowed = None;
        self.branch_row = self
            .branches
            .iter()
            .position(|b| b.id == view.branch.id)
            .unwrap_or(0);
        if let Some((_, step)) = self.land.take().filter(|(id, _)| *id == view.branch.id) {
            self.selected = step;
        }
        self.branch = view.branch;
        self.selected = self.selected.min(self.steps.last());
        self.unseen = 0;
        self.detail = None;
        self.asked = None;
    }

    /// Takes in that a branch became longer. At the end the selection goes with it, unless it is held.
    pub fn lengthen(&mut self, view: BranchView, held: bool) {
        let now = view.branch;
        if let Some(known) = self.branches.iter_mut().find(|known| known.id == now.id) {
            *known = now.clone();
        }
        let new = now.steps.saturating_sub(self.steps.len);
        if now.id != self.branch.id || new == 0 {
            return;
        }
        let before = self.steps.len;
        self.steps.lengthen(now.steps, view.trials);
        self.milestones = view.milestones;
        self.branch = now;
        self.grew(before, held);
    }

    /// Steps came in after so many. The selection goes with the end if it stood there, its text is not being read, and nothing holds it;
    /// a filter does not know the new steps yet.
    pub(super) fn grew(&mut self, before: usize, held: bool) {
        let last = self.steps.last();
        let at_tail = self.selected + 1 >= before && self.focus != Focus::Detail && !held;
        if at_tail && self.steps.shows(last) {
            self.selected = last;
        } else {
            self.unseen += self.steps.len.saturating_sub(before);
        }
    }

    /// The selected step in full, if it is here.
    #[must_use]
    pub fn step(&self) -> Option<&Step> {
        let (index, view) = self.detail.as_ref()?;
        (*index == self.selected).then_some(())?;
        view.step.as_ref().ok()
    }

    /// Asks anew for the selected step, whose restorability may be another by now; what is here is shown until then.
    pub fn again(&mut self) -> Option<Job> {
        let here = self.detail.as_ref().map(|(index, _)| *index);
        if here != Some(self.selected) || self.asked.is_some() {
            return None;
        }
        self.asked = Some(self.selected);
        Some(Job::Step(
            self.session.clone(),
            self.steps.branch.clone(),
            self.selected,
        ))
    }

    /// Whether the selected step's text was asked for and has not come.
    #[must_use]
    pub fn reading(&self) -> bool {
        let here = self.detail.as_ref().map(|(index, _)| *index);
        here != Some(self.selected) && self.asked.is_some()
    }

    /// Selects a step; beyond the end it is the last.
    pub fn select(&mut self, step: usize) {
        self.selected = step.min(self.steps.last());
        if self.selected == self.steps.last() {
            self.unseen = 0;
        }
    }

    /// Pages near the selection and the selected step, each asked for once.
    pub fn wanted(&mut self, height: usize) -> Vec<Job> {
        let branch = &self.steps.branch.clone();
        let pages = self.steps.want_near(self.selected, height);
        let mut jobs: Vec<Job> = pages
            .into_iter()
            .map(|page| Job::Heads(branch.clone(), page))
            .collect();
        if self.notes_of.as_ref() != Some(branch) {
            self.notes_of = Some(branch.clone());
            jobs.push(Job::Notes(branch.clone()));
        }
        let known = self
            .detail
            .as_ref()
            .is_some_and(|(index, _)| *index == self.selected);
        if !known && self.asked.is_none() && self.steps.len > 0 {
            self.asked = Some(self.selected);
            jobs.push(Job::Step(
                self.session.clone(),
                branch.clone(),
                self.selected,
            ));
        }
        jobs
    }

    /// The mark or note on the selected step.
    #[must_use]
    pub fn note(&self) -> Option<&Note> {
        self.note_at(self.selected)
    }

    /// The mark or note on a step.
    #[must_use]
    pub fn note_at(&self, step: usize) -> Option<&Note> {
        let place = self.notes.binary_search_by_key(&step, |note| note.step);
        self.notes.get(place.ok()?)
    }

    /// Branches forked at a step from the branch shown.
    pub fn forks_at(&self, step: usize) -> impl Iterator<Item = &Branch> {
        self.branches.iter().filter(move |branch| {
            branch.fork_step == Some(step) && branch.parent.as_ref() == Some(&self.branch.id)
        })
    }

    /// Milestones first reached at a step, 1-based.
    pub fn milestones_at(&self, step: usize) -> impl Iterator<Item = usize> {
        let reached = self.milestones.iter().enumerate();
        reached
            .filter(move |(_, at)| **at == Some(step))
            .map(|(i, _)| i + 1)
    }

    /// The unedited re-run of a step of a branch, the newest, if one was made.
    #[must_use]
    pub fn baseline(&self, parent: &BranchId, step: usize) -> Option<&Intervention> {
        self.interventions.iter().rev().find(|intervention| {
            intervention.category == Category::None
                && intervention.parent == *parent
                && intervention.step == step
        })
    }

    /// Starts of trials: the one after a step, or the nearest at or before it.
    #[must_use]
    pub fn trial_start(&self, forward: bool) -> Option<usize> {
        let starts = self.steps.trials.iter().map(|trial| trial.start);
        let starts: Vec<usize> = if forward {
            starts.filter(|start| *start > self.selected).collect()
        } else {
            let before = starts.rev();
            before.filter(|start| *start < self.selected).collect()
        };
        // One that a filter lets pass, if there is one.
        let mut passing = starts.iter().filter(|start| self.steps.shows(**start));
        passing.next().or(starts.first()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_goes_round() {
        let search = Search {
            words: "x".into(),
            hits: Some(vec![3, 8, 20]),
        };
        let table = [
            (0, true, 3),
            (3, true, 8),
            (20, true, 3),
            (20, false, 8),
            (3, false, 20),
            (9, false, 8),
        ];
        for (step, forward, expected) in table {
            assert_eq!(
                search.from(step, forward),
                Some(expected),
                "{step} {forward}"
            );
        }
        assert_eq!(search.place(8), Some(2));
        assert_eq!(search.place(9), None);
    }
}
