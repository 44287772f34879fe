//! The jobs that mend a held fork: write it down for an approval, approve it, read what was left in the world, decide about it.

use std::time::Duration;

use tokio::sync::mpsc;

use super::jobs::{fault, planned};
use crate::app::effects::Left;
use crate::app::msg::{Job, Msg};
use crate::model::{BranchId, Step};
use crate::pipeline::{
    self, Control, ForkRequest, Jobs, Keyring, ModelSettings, NewEffects, PipelineError,
};
use crate::store::Store;

/// How long an approval counts that is given on the screen.
pub(crate) const APPROVAL: Duration = Duration::from_hours(1);

/// Writes a fork that the gates hold, and says how it is tried again.
pub(crate) async fn hold(
    store: &Store,
    model: &ModelSettings,
    request: ForkRequest,
) -> Result<ForkRequest, PipelineError> {
    let plan = planned(store, model, request.clone()).await?;
    // Nobody watches here: whatever the gates say now, nothing runs.
    let control = Control::new();
    control.stop();
    let (progress, _) = mpsc::unbounded_channel();
    let outcome = pipeline::fork(store, plan, &Jobs::new(1), control, progress).await?;
    let again = pipeline::resume_request(store, &outcome.intervention.id, &request.operator)?;
    Ok(ForkRequest {
        acknowledge_drift: request.acknowledge_drift,
        accept_delta: request.accept_delta,
        new_effects: request.new_effects,
        ..again
    })
}

/// Store work of this kind; other jobs are not done here.
pub(super) fn blocking(store: &Store, job: Job, say: &dyn Fn(Msg)) {
    match job {
        Job::Left(branch, step) => {
            let left = left(store, &branch, step).map(Box::new).map_err(fault);
            say(Msg::Left(branch, step, left));
        }
        Job::Settle {
            branch,
            key,
            state,
            why,
            operator,
        } => {
            let done = pipeline::decide_effect(store, &branch, &key, state, &why, &operator);
            let told = format!("{key} is {} now, decided by {operator}", state.name());
            say(Msg::Settled(done.map(|()| told).map_err(fault)));
        }
        Job::TryAgain(id, operator) => {
            let again = try_again(store, &id, &operator)
                .map(Box::new)
                .map_err(fault);
            say(Msg::TriedAgain(again));
        }
        Job::Approve(ticket, id, owner) => {
            let approved = approve(store, &id, &owner).map_err(fault);
            say(Msg::Approved(ticket, approved));
        }
        _ => {}
    }
}

fn try_again(
    store: &Store,
    id: &str,
    operator: &str,
) -> Result<(ForkRequest, Step), PipelineError> {
    let request = ForkRequest {
        new_effects: NewEffects::Ask,
        ..pipeline::resume_request(store, id, operator)?
    };
    let original = store.step(&request.branch, request.step)?;
    Ok((request, original))
}

fn approve(store: &Store, id: &str, owner: &str) -> Result<String, PipelineError> {
    let keyring = Keyring::open()?;
    let approved = pipeline::approve(store, id, owner, &keyring, APPROVAL)?;
    Ok(format!(
        "{owner} approved {id}, until {}",
        approved.statement.expires
    ))
}

fn left(store: &Store, branch: &BranchId, step: usize) -> Result<Left, PipelineError> {
    Ok(Left {
        effects: pipeline::left_behind(store, branch, step)?,
        commands: pipeline::commands(store, branch, step)?,
    })
}
