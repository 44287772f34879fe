//! The steps of a branch that a filter lets pass.

use super::PipelineError;
use crate::model::{BranchId, Filter};
use crate::store::Store;

/// Steps that pass, in order. Costs a look at every step; contents are read only if words are asked for.
pub fn filter(
    store: &Store,
    branch: &BranchId,
    filter: &Filter,
) -> Result<Vec<usize>, PipelineError> {
    let range = match filter.trial {
        None => 0..usize::MAX,
        Some(number) => {
            let trials = store.trials(branch)?;
            let trial = trials.iter().find(|trial| trial.index == number);
            let trial = trial.ok_or_else(|| {
                PipelineError::Usage(format!(
                    "There is no trial {number}: {} has {}",
                    branch.name(),
                    trials.len()
                ))
            })?;
            trial.start..trial.end + 1
        }
    };
    let first = range.start;
    let mut kept: Vec<usize> = store
        .digests(branch, range)?
        .into_iter()
        .enumerate()
        .filter(|(_, (_, agent, kind))| filter.keeps(agent, *kind))
        .map(|(n, _)| first + n)
        .collect();
    if !filter.words.is_empty() {
        let hits = store.search(branch, &filter.words)?;
        kept.retain(|step| hits.binary_search(step).is_ok());
    }
    Ok(kept)
}
