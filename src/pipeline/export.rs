//! A branch as the state that its framework itself saves, to go on from with `dover run NAME ENTRY --state`, or without dover.

use crate::model::{BranchId, Checkpoint};
use crate::runtime::adapter::Exported;
use crate::store::Store;

use super::PipelineError;
use super::fork::blocking;

/// A state and where it was taken.
#[derive(Clone, Debug)]
pub struct SavedState {
    /// The branch.
    pub branch: BranchId,
    /// The last step that is in it.
    pub step: usize,
    /// The state.
    pub state: Exported,
}

/// Saves a branch behind a step; behind the last that has a checkpoint where none is named.
///
/// # Errors
/// No such step, a step without a checkpoint, or the adapter: another team, another version, or no state of the framework's own.
pub async fn saved_state(
    store: &Store,
    branch: &BranchId,
    at: Option<usize>,
) -> Result<SavedState, PipelineError> {
    let id = branch.clone();
    let (session, recorded) = blocking(store, move |store| {
        Ok((store.session(id.session())?, recorded(store, &id, at)?))
    })
    .await?;
    let runtime = super::runtimes::adapter()?;
    let state = runtime.export(&session, &recorded).await?;
    Ok(SavedState {
        branch: branch.clone(),
        step: recorded.step,
        state,
    })
}

/// The checkpoint before the step, or before the last step that has one.
fn recorded(store: &Store, id: &BranchId, at: Option<usize>) -> Result<Checkpoint, PipelineError> {
    let steps = store.branch(id)?.steps;
    let last = at.unwrap_or(steps.saturating_sub(1));
    if last >= steps {
        return Err(PipelineError::Usage(format!(
            "{id} has no step {last}; it has {steps}, counted from 0"
        )));
    }
    let mut before = None;
    for step in (0..=last).rev() {
        before = store.checkpoint(id, step)?;
        if before.is_some() {
            break;
        }
    }
    match (before, at) {
        (Some(found), None) => Ok(found),
        (Some(found), Some(at)) if found.step == at => Ok(found),
        (Some(found), Some(at)) => Err(PipelineError::Usage(format!(
            "step {at} of {id} was said inside a handler of the framework, so there is no state behind it. The nearest before it is step {}",
            found.step
        ))),
        (None, _) => Err(PipelineError::Usage(format!(
            "{id} has no checkpoint up to step {last}: only a team that was started here has a state to hand out. Start it: dover run NAME ENTRY --task TEXT"
        ))),
    }
}
