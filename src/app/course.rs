//! What runs tell as they go, into state: their steps, their ends, what they came to.

use super::fork::Replay;
use super::msg::{Fault, Job, Ticket};
use super::{App, overview};
use crate::model::BranchId;
use crate::pipeline::{Outcome, Progress};

/// A run of the replay tells something.
pub(super) fn progressed(app: &mut App, ticket: Ticket, progress: Progress) -> Vec<Job> {
    let mut jobs = follow(app, &progress);
    if let Some(replay) = &mut app.replay
        && replay.ticket == ticket
    {
        jobs.extend(replay.take(progress).map(Job::Milestones));
    }
    jobs
}

/// What happens to a branch, where it is shown.
pub(super) fn follow(app: &mut App, progress: &Progress) -> Vec<Job> {
    let mut jobs = Vec::new();
    let grown = match progress {
        Progress::Step { branch, .. } => Some(branch),
        Progress::Ended { branch } => Some(&branch.id),
        _ => None,
    };
    if let Some(branch) = grown {
        overview::again(app, branch.session());
    }
    let held = app.prompt.is_some();
    if let Some(open) = &mut app.open {
        match progress {
            // Steps that were told while the branch was still being read are read again.
            Progress::Step { branch, head }
                if open.steps.branch == *branch && head.index > open.steps.len =>
            {
                jobs.push(Job::Grow(branch.clone(), open.steps.len));
            }
            Progress::Step { branch, head } if open.steps.branch == *branch => {
                let before = open.steps.len;
                open.steps.push(head.clone());
                open.grew(before, held);
            }
            Progress::Forked { branches, .. } => {
                let session = branches.first().map(|branch| branch.id.session());
                if session == Some(open.session.id.as_str()) {
                    jobs.push(Job::Refresh(open.session.id.clone()));
                }
            }
            Progress::Ended { branch } => {
                if let Some(known) = open.branches.iter_mut().find(|known| known.id == branch.id) {
                    *known = branch.as_ref().clone();
                }
                if open.branch.id == branch.id {
                    open.branch = branch.as_ref().clone();
                }
            }
            _ => {}
        }
    }
    jobs
}

/// All runs came to their end, or could not begin.
pub(super) fn replayed(app: &mut App, ticket: Ticket, result: Result<Outcome, Fault>) -> Vec<Job> {
    let Some(replay) = &mut app.replay else {
        return Vec::new();
    };
    if replay.ticket != ticket {
        return Vec::new();
    }
    if let Ok(outcome) = &result {
        take_outcome(replay, outcome);
        if let Some(open) = &mut app.open {
            open.outcomes
                .insert(outcome.intervention.id.clone(), outcome.clone());
        }
    }
    if let Some(replay) = &mut app.replay {
        replay.outcome = Some(result.clone());
        replay.asked.clear();
    }
    if let Err(fault) = result {
        app.fail(fault);
    }
    let session = app.open.as_ref().map(|open| open.session.id.clone());
    session.map(Job::Refresh).into_iter().collect()
}

fn take_outcome(replay: &mut Replay, outcome: &Outcome) {
    replay.intervention = Some(outcome.intervention.clone());
    for branch in &outcome.branches {
        if let Some(run) = replay.run_of(&branch.id) {
            run.branch = branch.clone();
            run.delta = None;
        }
    }
}

/// Which milestones a branch has reached.
pub(super) fn milestones(app: &mut App, branch: &BranchId, reached: &[Option<usize>]) {
    if let Some(run) = app.replay.as_mut().and_then(|replay| replay.run_of(branch)) {
        run.asking = false;
        run.milestones = reached.to_vec();
    }
    if let Some(open) = &mut app.open
        && open.branch.id == *branch
    {
        open.milestones = reached.to_vec();
    }
}
