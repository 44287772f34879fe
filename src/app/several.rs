//! Up to four branches side by side: the first one, and how each of the others departs from it.

use super::compare::Side;
use super::extent::Pane;
use super::motion::Motion;
use super::msg::{BranchView, Job};
use super::{App, View};
use crate::model::{Abreast, BranchId, Comparison, Reach, StepHead, abreast, reach};

/// Branches, aligned with the first of them.
#[derive(Debug)]
pub struct ComparingAll {
    /// Each of the others with the first.
    pub comparisons: Vec<Comparison>,
    /// All of them, the first one first.
    pub views: Vec<BranchView>,
}

/// State of the view.
#[derive(Debug)]
pub struct Several {
    /// The branches.
    pub sides: Vec<Side>,
    /// Each of the others with the first.
    pub comparisons: Vec<Comparison>,
    /// How far each of the others departs from the first.
    pub reaches: Vec<Reach>,
    /// The table.
    pub rows: Vec<Abreast>,
    /// The selected row.
    pub selected: usize,
    /// The selected one of the others.
    pub other: usize,
}

impl Several {
    fn new(all: ComparingAll) -> Self {
        let rows = abreast(&all.comparisons);
        let others = all.comparisons.len();
        Self {
            reaches: all
                .comparisons
                .iter()
                .map(|comparison| reach(&comparison.pairs))
                .collect(),
            selected: rows.iter().position(|row| row.differs(others)).unwrap_or(0),
            rows,
            comparisons: all.comparisons,
            sides: all.views.into_iter().map(Side::new).collect(),
            other: 0,
        }
    }

    /// The step of a side in a row; the first side has number 0.
    #[must_use]
    pub fn step(&self, row: &Abreast, side: usize) -> Option<usize> {
        match side.checked_sub(1) {
            None => row.first,
            Some(other) => row.others.get(other).copied().flatten().map(|it| it.step),
        }
    }

    /// The step of one of the others, or of the first branch, in a row of their alignment.
    #[must_use]
    pub fn step_at(&self, other: usize, row: usize) -> usize {
        let pair = self.comparisons.get(other);
        let pair = pair.and_then(|comparison| comparison.pairs.get(row));
        pair.and_then(|pair| pair.b.or(pair.a)).unwrap_or(0)
    }

    /// Takes a page in, for the sides that it is of.
    pub(super) fn fill(&mut self, branch: &BranchId, page: usize, heads: &[StepHead]) {
        for side in &mut self.sides {
            if side.branch.id == *branch {
                side.steps.fill(page, heads.to_vec());
            }
        }
    }

    /// Pages of all sides near the selection, each asked for once.
    pub(super) fn wanted(&mut self, height: usize) -> Vec<Job> {
        let near = height.max(20);
        let from = self.selected.saturating_sub(near);
        let mut jobs = Vec::new();
        for side in 0..self.sides.len() {
            let rows = self.rows.iter().skip(from).take(near * 2);
            let steps: Vec<usize> = rows.filter_map(|row| self.step(row, side)).collect();
            let span = steps.iter().min().zip(steps.iter().max());
            let span = span.map(|(low, high)| *low..*high + 1);
            if let (Some(span), Some(side)) = (span, self.sides.get_mut(side)) {
                let id = side.branch.id.clone();
                let pages = side.steps.want(span);
                jobs.extend(pages.into_iter().map(|page| Job::Heads(id.clone(), page)));
            }
        }
        jobs
    }
}

/// Shows the table.
pub(super) fn show(app: &mut App, all: ComparingAll) {
    let several = Several::new(all);
    let top = several.selected.saturating_sub(3);
    app.extents.rewind(Pane::Several);
    app.extents.scroll(Pane::Several, |_| top);
    app.views.push(View::Several(Box::new(several)));
}

/// Moves the selection.
pub(super) fn go(app: &mut App, motion: Motion) {
    let page = app.extents.get(Pane::Several).page();
    if let Some(View::Several(view)) = app.views.last_mut() {
        let last = view.rows.len().saturating_sub(1);
        view.selected = motion.from(view.selected, last, page);
    }
}

/// Selects the branch of a column; the first is what the others stand beside.
pub(super) fn choose(app: &mut App, column: usize) {
    if let Some(View::Several(view)) = app.views.last_mut() {
        let last = view.reaches.len().saturating_sub(1);
        view.other = column.saturating_sub(1).min(last);
    }
}

/// Takes the next branch beside the first one, or the one before.
pub(super) fn sideways(app: &mut App, forward: bool) {
    if let Some(View::Several(view)) = app.views.last_mut() {
        let last = view.reaches.len().saturating_sub(1);
        let next = (view.other + 1).min(last);
        view.other = if forward {
            next
        } else {
            view.other.saturating_sub(1)
        };
    }
}

/// Goes to the next row that differs, or the one before.
pub(super) fn next_difference(app: &mut App, forward: bool) {
    let Some(View::Several(view)) = app.views.last_mut() else {
        return;
    };
    let others = view.reaches.len();
    let differs = |row: &Abreast| row.differs(others);
    let found = if forward {
        let mut later = view.rows.iter().enumerate().skip(view.selected + 1);
        later.find(|(_, row)| differs(row)).map(|(at, _)| at)
    } else {
        let before = view.rows.iter().take(view.selected);
        before.clone().rposition(differs)
    };
    match found {
        Some(row) => view.selected = row,
        None => app.tell("No further difference this way"),
    }
}

/// Compares the selected branch with the first one, step by step.
pub(super) fn compare(app: &mut App) -> Vec<Job> {
    let Some(View::Several(view)) = app.views.last() else {
        return Vec::new();
    };
    let pair = view.sides.first().zip(view.sides.get(view.other + 1));
    let job = pair.map(|(a, b)| Job::Compare(a.branch.id.clone(), b.branch.id.clone()));
    job.into_iter().collect()
}
