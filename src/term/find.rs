//! The jobs that find one's way: filters, places, notes, lanes, several branches side by side.

use super::jobs::{fault, view};
use crate::app::msg::{Job, Longer, Msg};
use crate::app::several::ComparingAll;
use crate::model::BranchId;
use crate::pipeline::{self, PipelineError};
use crate::store::{Store, StoreError};

/// Steps looked at in one go when the next failure is searched.
const STRIDE: usize = 10_000;

/// Store work of this kind; other jobs are not done here.
pub(super) fn blocking(store: &Store, job: Job, say: &dyn Fn(Msg)) {
    match job {
        Job::Filter(branch, filter) => {
            let steps = pipeline::filter(store, &branch, &filter).map_err(fault);
            say(Msg::Filtered(branch, Box::new(filter), steps));
        }
        Job::Failures(branch) => {
            let failures = store.failures(&branch, 0..usize::MAX).map_err(fault);
            say(Msg::Failures(branch, failures));
        }
        Job::Drafts(session) => {
            let drafts = store.drafts(&session).map_err(fault);
            say(Msg::Drafts(drafts));
        }
        Job::Longer(branch) => {
            let longer = view(store, &branch).and_then(|view| {
                let session = store.session(branch.session())?;
                Ok(Box::new(Longer { view, session }))
            });
            say(Msg::Longer(longer.map_err(fault)));
        }
        Job::Notes(branch) => {
            let notes = store.notes(&branch).map_err(fault);
            say(Msg::Notes(branch, notes));
        }
        Job::Note {
            branch,
            step,
            text,
            was,
            operator,
        } => {
            let kept = store.keep_note(&branch, step, text.as_deref(), &was, &operator);
            let notes = kept.and_then(|()| store.notes(&branch)).map_err(fault);
            say(Msg::Notes(branch, notes));
        }
        Job::Lanes(session) => {
            let lanes = store.lanes(&session).map_err(fault);
            say(Msg::Lanes(session, lanes));
        }
        Job::CompareAll(branches) => say(Msg::ComparedAll(
            compare_all(store, &branches).map(Box::new).map_err(fault),
        )),
        Job::Search(branch, words) => {
            let hits = store.search(&branch, &words).map_err(fault);
            say(Msg::Hits(branch, words, hits));
        }
        Job::FindError {
            branch,
            from,
            forward,
            len,
        } => {
            let at = find_error(store, &branch, from, forward, len).map_err(fault);
            say(Msg::ErrorAt(branch, at));
        }
        _ => {}
    }
}

/// Aligns each of the others with the first one.
fn compare_all(store: &Store, branches: &[BranchId]) -> Result<ComparingAll, PipelineError> {
    let [first, others @ ..] = branches else {
        return Err(PipelineError::Usage("No branch is picked".to_owned()));
    };
    Ok(ComparingAll {
        comparisons: others
            .iter()
            .map(|other| pipeline::compare(store, first, other))
            .collect::<Result<_, _>>()?,
        views: branches
            .iter()
            .map(|branch| view(store, branch))
            .collect::<Result<_, _>>()?,
    })
}

/// The nearest step after or before one that reports a failure.
pub(crate) fn find_error(
    store: &Store,
    branch: &BranchId,
    from: usize,
    forward: bool,
    len: usize,
) -> Result<Option<usize>, StoreError> {
    let mut at = if forward { from + 1 } else { from };
    loop {
        let range = if forward {
            at..(at + STRIDE).min(len)
        } else {
            at.saturating_sub(STRIDE)..at
        };
        if range.is_empty() {
            return Ok(None);
        }
        let failed = store.failures(branch, range.clone())?;
        let found = if forward {
            failed.first()
        } else {
            failed.last()
        };
        if let Some(head) = found {
            return Ok(Some(head.index));
        }
        at = if forward { range.end } else { range.start };
    }
}
