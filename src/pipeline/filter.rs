//! The steps of a branch that a filter lets pass.

use std::ops::Range;

use super::PipelineError;
use crate::model::{BranchId, Filter, Trial};
use crate::store::Store;

/// Steps whose heads are read at a time.
const PAGE: usize = 1_000;

/// Steps that pass, in order. Costs a look at every step; contents are read only if words are asked for.
pub fn filter(
    store: &Store,
    branch: &BranchId,
    filter: &Filter,
) -> Result<Vec<usize>, PipelineError> {
    let trials = store.trials(branch)?;
    let steps = |number: Option<usize>| {
        number
            .map(|number| of_trial(&trials, number, branch))
            .transpose()
    };
    let within = steps(filter.with.trial)?.unwrap_or(0..usize::MAX);
    let outside = steps(filter.without.trial)?.unwrap_or(0..0);
    let mut kept = Vec::new();
    if filter.with.to.is_empty() && filter.without.to.is_empty() {
        let digests = store.digests(branch, within.clone())?;
        let all = digests.into_iter().enumerate();
        kept.extend(
            all.filter(|(_, (_, agent, kind))| filter.keeps(agent, None, *kind))
                .map(|(n, _)| within.start + n),
        );
    } else {
        let mut from = within.start;
        loop {
            let to = (from + PAGE).min(within.end);
            let heads = store.heads(branch, from..to)?;
            if heads.is_empty() {
                break;
            }
            from += heads.len();
            kept.extend(
                heads
                    .iter()
                    .filter(|head| filter.keeps(&head.agent, head.to.as_deref(), head.kind))
                    .map(|head| head.index),
            );
        }
    }
    kept.retain(|step| !outside.contains(step));
    for words in &filter.with.words {
        let hits = store.search(branch, words)?;
        kept.retain(|step| hits.binary_search(step).is_ok());
    }
    for words in &filter.without.words {
        let hits = store.search(branch, words)?;
        kept.retain(|step| hits.binary_search(step).is_err());
    }
    Ok(kept)
}

fn of_trial(
    trials: &[Trial],
    number: usize,
    branch: &BranchId,
) -> Result<Range<usize>, PipelineError> {
    let trial = trials.iter().find(|trial| trial.index == number);
    let trial = trial.ok_or_else(|| {
        PipelineError::Usage(format!(
            "There is no trial {number}: {} has {}",
            branch.name(),
            trials.len()
        ))
    })?;
    Ok(trial.start..trial.end + 1)
}
