//! What came of it: comparisons, milestones, verdicts.

use super::compare::{Compare, FullPair};
use super::extent::{Extent, Pane};
use super::msg::{Comparing, Job};
use super::session::{Focus, Open};
use super::{App, View, hypotheses};
use crate::model::BranchId;

/// Shows a comparison, in the place of one that is shown already.
pub(super) fn show_comparison(app: &mut App, comparing: Comparing) {
    let compare = Box::new(Compare::new(comparing));
    // The first divergence with a few equal steps above it.
    let top = compare.selected.saturating_sub(3);
    let extent = app.extents.get(Pane::Compare);
    app.extents.set(Pane::Compare, Extent { top, ..extent });
    match app.views.last_mut() {
        Some(View::Compare(shown)) => *shown = compare,
        _ => app.views.push(View::Compare(compare)),
    }
}

/// Watches the next run, or compares it.
pub(super) fn next_run(app: &mut App, forward: bool) -> Vec<Job> {
    let turn = |at: usize, len: usize| {
        if forward {
            (at + 1) % len
        } else {
            (at + len - 1) % len
        }
    };
    if let Some(View::Compare(compare)) = app.views.last() {
        let (shown, parent) = (&compare.b.branch, compare.a.branch.id.clone());
        let branches = app.open.iter().flat_map(|open| &open.branches);
        let siblings: Vec<&BranchId> = branches
            .filter(|branch| {
                branch.intervention.is_some() && branch.intervention == shown.intervention
            })
            .map(|branch| &branch.id)
            .collect();
        let at = siblings.iter().position(|id| **id == shown.id);
        let next = at.and_then(|at| siblings.get(turn(at, siblings.len())).copied());
        if let Some(next) = next.filter(|next| **next != shown.id) {
            return vec![Job::Compare(parent, next.clone())];
        }
        app.tell("This intervention has no other run");
    } else if let Some(replay) = &mut app.replay
        && !replay.runs.is_empty()
    {
        replay.current = turn(replay.current, replay.runs.len());
        app.extents.rewind(Pane::Run);
    }
    Vec::new()
}

/// On a branch: with its parent. On `main`: with the branch picked in the branch list, else with the newest.
pub(super) fn compare(app: &mut App) -> Vec<Job> {
    let Some(open) = &app.open else {
        return Vec::new();
    };
    let picked = match open.focus {
        Focus::Branches => open.branches.get(open.branch_row),
        _ => Some(&open.branch),
    };
    let branch = picked.filter(|branch| branch.parent.is_some()).or_else(|| {
        open.branches
            .iter()
            .rev()
            .find(|branch| branch.parent.is_some())
    });
    match branch.and_then(|branch| Some((branch.parent.clone()?, branch.id.clone()))) {
        Some((parent, branch)) => vec![Job::Compare(parent, branch)],
        None => Vec::new(),
    }
}

pub(super) fn compare_run(app: &mut App) -> Vec<Job> {
    let pair = match app.views.last() {
        Some(View::Replay) => app.replay.as_ref().and_then(|replay| {
            Some((
                replay.request.branch.clone(),
                replay.run()?.branch.id.clone(),
            ))
        }),
        Some(View::Interventions(row)) => app.open.as_ref().and_then(|open| {
            let intervention = open.interventions.get(*row)?;
            best_run(open, &intervention.id)
        }),
        Some(View::Hypotheses(_)) => hypotheses::selected(app).and_then(|filed| {
            let open = app.open.as_ref()?;
            best_run(open, filed.intervention.as_ref()?)
        }),
        _ => None,
    };
    if pair.is_none() {
        app.tell("Held: nothing ran, so there is nothing to compare");
    }
    pair.map(|(a, b)| Job::Compare(a, b)).into_iter().collect()
}

/// The parent of an intervention and the best of its runs that got anywhere.
fn best_run(open: &Open, intervention: &str) -> Option<(BranchId, BranchId)> {
    let runs = open
        .branches
        .iter()
        .filter(|branch| branch.intervention.as_deref() == Some(intervention))
        .filter(|branch| !branch.refused());
    let best = runs.max_by_key(|branch| {
        let gained = branch.milestones.map_or(0, |tally| tally.after);
        (
            branch.success == Some(true),
            gained,
            std::cmp::Reverse(branch.run_index),
        )
    })?;
    Some((best.parent.clone()?, best.id.clone()))
}

pub(super) fn next_difference(app: &mut App, forward: bool) {
    if let Some(View::Compare(compare)) = app.views.last_mut() {
        match compare.difference(forward) {
            Some(row) => compare.select(row),
            None => app.tell(if forward {
                "No difference further down"
            } else {
                "No difference further up"
            }),
        }
    }
}

pub(super) fn expand(app: &mut App) -> Vec<Job> {
    app.extents.rewind(Pane::Pair);
    let Some(View::Compare(compare)) = app.views.last_mut() else {
        return Vec::new();
    };
    let Some(pair) = compare.pair() else {
        return Vec::new();
    };
    compare.expanded = true;
    compare.full = Some(FullPair {
        row: compare.selected,
        ..FullPair::default()
    });
    vec![Job::Pair(
        (compare.a.branch.id.clone(), pair.a),
        (compare.b.branch.id.clone(), pair.b),
    )]
}

pub(super) fn verdicts(app: &mut App) -> Vec<Job> {
    let Some(open) = &app.open else {
        return Vec::new();
    };
    let last = open.interventions.len().saturating_sub(1);
    let unknown = open
        .interventions
        .iter()
        .filter(|one| !open.outcomes.contains_key(&one.id));
    let jobs = unknown.map(|one| Job::Outcome(one.id.clone())).collect();
    app.views.push(View::Interventions(last));
    jobs
}

pub(super) fn mark(app: &mut App) -> Vec<Job> {
    let Some(View::Milestones(row)) = app.views.last() else {
        return Vec::new();
    };
    if app.views.len() > 1 {
        app.tell(
            "A mark belongs to a step: pick it in the message list, then ‹milestones›, ‹mark›",
        );
        return Vec::new();
    }
    let row = *row;
    match &app.open {
        Some(open) if row < open.session.milestones.len() => {
            let (branch, step) = (open.branch.id.clone(), open.selected);
            if let Some(at) = open.milestones.get(row).copied().flatten() {
                app.tell(format!(
                    "Milestone {} is reached at step {at} already: a mark is for one that is not reached",
                    row + 1
                ));
                return Vec::new();
            }
            app.tell(format!(
                "Marked by you: milestone {} reached at step {step} of {}",
                row + 1,
                branch.name()
            ));
            vec![Job::Mark(branch, row, step)]
        }
        _ => Vec::new(),
    }
}
