//! Two branches side by side: the alignment, both lists, the selected pair.

use super::msg::{BranchView, Comparing, Job};
use super::steps::StepList;
use crate::model::{Branch, Reach, Step, reach};
use crate::pipeline::{Comparison, Pair};

/// One side.
#[derive(Debug)]
pub struct Side {
    /// The branch.
    pub branch: Branch,
    /// Its steps.
    pub steps: StepList,
    /// For each milestone the first step that reaches it.
    pub milestones: Vec<Option<usize>>,
}

impl Side {
    pub(super) fn new(view: BranchView) -> Self {
        Self {
            steps: StepList::new(view.branch.id.clone(), view.branch.steps, view.trials),
            branch: view.branch,
            milestones: view.milestones,
        }
    }
}

/// A pair in full.
#[derive(Debug, Default)]
pub struct FullPair {
    /// The row it is of.
    pub row: usize,
    /// Left.
    pub a: Option<Step>,
    /// Right.
    pub b: Option<Step>,
}

/// State of the comparison.
#[derive(Debug)]
pub struct Compare {
    /// The alignment.
    pub comparison: Comparison,
    /// How far the differences reach.
    pub reach: Reach,
    /// Left, the parent as a rule.
    pub a: Side,
    /// Right.
    pub b: Side,
    /// The selected row.
    pub selected: usize,
    /// The row asked for or shown in full.
    pub full: Option<FullPair>,
    /// Whether the pair in full is open.
    pub expanded: bool,
}

impl Compare {
    /// A comparison; the first divergence is selected.
    #[must_use]
    pub fn new(comparing: Comparing) -> Self {
        let Comparing { comparison, a, b } = comparing;
        let selected = comparison
            .pairs
            .iter()
            .position(|pair| !pair.same)
            .unwrap_or(0);
        Self {
            reach: reach(&comparison.pairs),
            comparison,
            a: Side::new(a),
            b: Side::new(b),
            selected,
            full: None,
            expanded: false,
        }
    }

    /// How far the differences reach, in a few words.
    #[must_use]
    pub fn reaches(&self) -> String {
        let lasting = match self.reach.sustained {
            Some(row) if Some(row) != self.reach.first => {
                let pair = self.comparison.pairs.get(row);
                let step = pair.and_then(|pair| pair.a.or(pair.b));
                step.map_or_else(String::new, |step| format!(", lasting from {step}"))
            }
            Some(_) => ", lasting".to_owned(),
            None => ", passing".to_owned(),
        };
        match self.reach.rejoined {
            0 => format!("{lasting}, to the end"),
            rows => format!("{lasting}, the last {rows} equal"),
        }
    }

    /// The selected pair.
    #[must_use]
    pub fn pair(&self) -> Option<Pair> {
        self.comparison.pairs.get(self.selected).copied()
    }

    /// Moves the selection; it stays inside.
    pub fn select(&mut self, row: usize) {
        self.selected = row.min(self.comparison.pairs.len().saturating_sub(1));
    }

    /// The next row that differs, or the one before.
    #[must_use]
    pub fn difference(&self, forward: bool) -> Option<usize> {
        let mut rows = self
            .comparison
            .pairs
            .iter()
            .enumerate()
            .filter(|(_, pair)| !pair.same)
            .map(|(row, _)| row);
        if forward {
            rows.find(|row| *row > self.selected)
        } else {
            rows.rev().find(|row| *row < self.selected)
        }
    }

    /// Pages of both sides near the selection, each asked for once.
    pub fn wanted(&mut self, height: usize) -> Vec<Job> {
        let near = height.max(40) * 2;
        let from = self.selected.saturating_sub(near);
        let pairs = self.comparison.pairs.iter().skip(from).take(near * 2);
        let (mut a, mut b) = (None, None);
        let widen = |span: &mut Option<(usize, usize)>, step: Option<usize>| {
            if let Some(step) = step {
                let (low, high) = span.get_or_insert((step, step));
                (*low, *high) = ((*low).min(step), (*high).max(step));
            }
        };
        for pair in pairs {
            widen(&mut a, pair.a);
            widen(&mut b, pair.b);
        }
        let mut jobs = Vec::new();
        for (side, span) in [(&mut self.a, a), (&mut self.b, b)] {
            if let Some((low, high)) = span {
                let id = side.branch.id.clone();
                jobs.extend(
                    side.steps
                        .want(low..high + 1)
                        .into_iter()
                        .map(|page| Job::Heads(id.clone(), page)),
                );
            }
        }
        jobs
    }
}
