//! Two branches of the store side by side.

use crate::model::{self, BranchId, Comparison, Digest, Mark};
use crate::store::Store;

use super::PipelineError;

/// Aligns two branches: O(n log n) of their steps. Reads digests only, no contents.
pub fn compare(store: &Store, a: &BranchId, b: &BranchId) -> Result<Comparison, PipelineError> {
    Ok(model::compare(
        a.clone(),
        b.clone(),
        &marks(store, a)?,
        &marks(store, b)?,
    ))
}

fn marks(store: &Store, id: &BranchId) -> Result<Vec<Mark>, PipelineError> {
    let digests = store.digests(id, 0..usize::MAX)?;
    Ok(digests
        .into_iter()
        .map(|(content, agent, kind)| Mark {
            content,
            voice: Digest::of_fields([agent.as_bytes(), kind.name().as_bytes()]),
        })
        .collect())
}
