//! The steps of one branch as a list shows them: its length, its trials, and those pages of heads that are near the eye.
//! Never holds all steps; a page is asked for once and the farthest pages are let go.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::motion::Motion;
use crate::model::{BranchId, StepHead, StepKind, Trial};

/// Steps a page.
pub const PAGE: usize = 200;
/// Pages kept.
const KEPT: usize = 16;

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// A trial begins.
    Trial(Trial),
    /// A step.
    Step(usize),
}

/// A branch's steps, by pages.
#[derive(Clone, Debug)]
pub struct StepList {
    /// The branch.
    pub branch: BranchId,
    /// How many steps it has.
    pub len: usize,
    /// Its trials, in order.
    pub trials: Vec<Trial>,
    /// The steps that pass the filter, in order; none without one.
    only: Option<Vec<usize>>,
    pages: BTreeMap<usize, Vec<StepHead>>,
    asked: BTreeSet<usize>,
}

impl StepList {
    /// A list of which no page is known yet.
    #[must_use]
    pub fn new(branch: BranchId, len: usize, trials: Vec<Trial>) -> Self {
        Self {
            branch,
            len,
            trials,
            only: None,
            pages: BTreeMap::new(),
            asked: BTreeSet::new(),
        }
    }

    /// Rows there are: steps and the lines between trials.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.only
            .as_ref()
            .map_or(self.len + self.trials.len(), Vec::len)
    }

    /// The row of a step.
    #[must_use]
    pub fn row_of(&self, step: usize) -> usize {
        if let Some(only) = &self.only {
            return only.partition_point(|one| *one < step);
        }
        step + self.trials.partition_point(|trial| trial.start <= step)
    }

    /// What stands in a row. O(log trials).
    #[must_use]
    pub fn row(&self, row: usize) -> Option<Row> {
        if let Some(only) = &self.only {
            return only.get(row).copied().map(Row::Step);
        }
        if row >= self.rows() {
            return None;
        }
        // The line of trial i stands i lines further down than its first step would without lines.
        let (mut low, mut high) = (0, self.trials.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.trials.get(middle) {
                Some(trial) if trial.start + middle <= row => low = middle + 1,
                _ => high = middle,
            }
        }
        let before = low.checked_sub(1);
        match before.and_then(|i| self.trials.get(i).map(|trial| (i, trial))) {
            Some((i, trial)) if trial.start + i == row => Some(Row::Trial(*trial)),
            _ => Some(Row::Step(row - low)),
        }
    }

    /// The head of a step, if its page is here.
    #[must_use]
    pub fn head(&self, step: usize) -> Option<&StepHead> {
        self.pages.get(&(step / PAGE))?.get(step % PAGE)
    }

    /// The last step.
    #[must_use]
    pub const fn last(&self) -> usize {
        self.len.saturating_sub(1)
    }

    /// Pages to ask for so that these steps are known; each is named once.
    pub fn want(&mut self, steps: Range<usize>) -> Vec<usize> {
        let end = steps.end.min(self.len);
        if steps.start >= end {
            return Vec::new();
        }
        self.unknown((steps.start / PAGE..=(end - 1) / PAGE).collect())
    }

    /// Of these pages those that are not here, or not all of them, and were not asked for.
    fn unknown(&mut self, pages: BTreeSet<usize>) -> Vec<usize> {
        let whole = |page: &usize| {
            let heads = self.pages.get(page).map_or(0, Vec::len);
            heads >= PAGE.min(self.len.saturating_sub(page * PAGE))
        };
        let asked = &mut self.asked;
        let pages = pages.into_iter();
        pages
            .filter(|page| !whole(page) && asked.insert(*page))
            .collect()
    }

    /// Pages to ask for so that the list can be drawn around a step; each is named once.
    pub fn want_near(&mut self, step: usize, height: usize) -> Vec<usize> {
        let Some(only) = &self.only else {
            let near = height.max(40) * 2;
            return self.want(step.saturating_sub(near)..step + near);
        };
        let row = only.partition_point(|one| *one < step);
        let near = only
            .iter()
            .skip(row.saturating_sub(height))
            .take(height.max(1) * 2);
        let near = near.map(|step| step / PAGE).collect();
        self.unknown(near)
    }

    /// Shows only these steps, which are in order, or all of them again.
    pub fn narrow(&mut self, only: Option<Vec<usize>>) {
        self.only = only;
    }

    /// The steps that a filter lets pass, if there is one.
    #[must_use]
    pub fn only(&self) -> Option<&[usize]> {
        self.only.as_deref()
    }

    /// Whether a step is among those shown.
    #[must_use]
    pub fn shows(&self, step: usize) -> bool {
        let only = self.only.as_ref();
        only.is_none_or(|only| only.binary_search(&step).is_ok())
    }

    /// The step that a move leads to, among those shown.
    #[must_use]
    pub fn moved(&self, motion: Motion, step: usize, page: usize) -> usize {
        let Some(only) = &self.only else {
            return motion.from(step, self.last(), page);
        };
        let at = only.partition_point(|one| *one < step);
        let at = motion.from(at, only.len().saturating_sub(1), page);
        only.get(at).copied().unwrap_or(step)
    }

    /// Takes a page in and lets the farthest go. One that was asked for while the branch was shorter may come last.
    pub fn fill(&mut self, page: usize, heads: Vec<StepHead>) {
        self.asked.remove(&page);
        if self
            .pages
            .get(&page)
            .is_none_or(|known| known.len() <= heads.len())
        {
            self.pages.insert(page, heads);
        }
        // Filtered, each row may be of another page.
        let kept = if self.only.is_some() { KEPT * 16 } else { KEPT };
        while self.pages.len() > kept {
            let first = self.pages.keys().next().copied().unwrap_or(page);
            let last = self.pages.keys().next_back().copied().unwrap_or(page);
            let far = if page.abs_diff(first) > page.abs_diff(last) {
                first
            } else {
                last
            };
            self.pages.remove(&far);
        }
    }

    /// The branch has more steps now. The page that was not full is asked for again.
    pub fn lengthen(&mut self, len: usize, trials: Vec<Trial>) {
        let page = self.len / PAGE;
        self.pages.remove(&page);
        self.asked.remove(&page);
        self.len = len;
        self.trials = trials;
    }

    /// A step was made on a running branch.
    pub fn push(&mut self, head: StepHead) {
        if head.index != self.len {
            return;
        }
        if head.kind == StepKind::Plan {
            let index = self.trials.len() + 1;
            self.trials.push(Trial {
                index,
                start: head.index,
                end: head.index,
            });
        } else if let Some(trial) = self.trials.last_mut() {
            trial.end = head.index;
        }
        let page = self.len / PAGE;
        if self.len.is_multiple_of(PAGE) {
            self.pages.entry(page).or_default();
        }
        if let Some(heads) = self.pages.get_mut(&page)
            && heads.len() == self.len % PAGE
        {
            heads.push(head);
        }
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(index: usize) -> StepHead {
        StepHead {
            index,
            agent: "a".into(),
            kind: StepKind::Message,
            to: None,
            head: format!("step {index}"),
            len: 0,
            error: false,
        }
    }

    fn list(len: usize, starts: &[usize]) -> StepList {
        let trials = crate::model::trials(starts, 1, len);
        StepList::new(BranchId::main("s"), len, trials)
    }

    #[test]
    fn rows_are_steps_with_a_line_before_each_trial() {
        // Who&When case 3: 93 steps, trials at 1, 39, 66, 88.
        let list = list(93, &[1, 39, 66, 88]);
        assert_eq!(list.rows(), 97);
        assert_eq!(list.row(0), Some(Row::Step(0)));
        assert!(matches!(list.row(1), Some(Row::Trial(t)) if t.index == 1));
        assert_eq!(list.row(2), Some(Row::Step(1)));
        assert!(matches!(list.row(40), Some(Row::Trial(t)) if t.index == 2));
        assert_eq!(list.row(96), Some(Row::Step(92)));
        assert_eq!(list.row(97), None);
        for step in 0..93 {
            assert_eq!(list.row(list.row_of(step)), Some(Row::Step(step)));
        }
    }

    #[test]
    fn a_page_is_asked_for_once_and_few_are_kept() {
        let mut list = list(100_000, &[]);
        assert_eq!(list.want(0..50), [0]);
        assert_eq!(list.want(0..50), [0; 0]);
        assert_eq!(list.want(99_990..100_040), [499]);
        for page in 0..40 {
            list.fill(page, (page * PAGE..(page + 1) * PAGE).map(head).collect());
        }
        assert_eq!(list.pages.len(), KEPT);
        assert_eq!(list.head(39 * PAGE + 3).unwrap().index, 39 * PAGE + 3);
        assert_eq!(list.head(0), None);
        assert_eq!(list.want(0..50), [0]);
    }

    #[test]
    fn a_new_plan_opens_a_trial() {
        let mut list = list(2, &[1]);
        list.fill(0, vec![head(0), head(1)]);
        list.push(head(2));
        list.push(StepHead {
            kind: StepKind::Plan,
            ..head(3)
        });
        list.push(head(9));
        assert_eq!((list.len, list.trials.len()), (4, 2));
        assert_eq!((list.trials[0].end, list.trials[1].start), (2, 3));
        assert_eq!(list.head(3).unwrap().kind, StepKind::Plan);
    }
}
