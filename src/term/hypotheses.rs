//! The jobs about hypotheses: have a branch analysed, keep one's own, find the step that an edit goes to.

use tokio::sync::mpsc;

use super::jobs::fault;
use crate::app::hypotheses::By;
use crate::app::msg::{Job, Msg};
use crate::model::{BranchId, DebugSettings};
use crate::pipeline::{
    self, Bench, Control, DebugRequest, Jobs, ModelSettings, NewEffects, PipelineError,
};
use crate::store::Store;

/// How often a trial may be suspected anew from here.
const ROUNDS: usize = 20;
/// Trials analysed at the same time.
const AT_ONCE: usize = 4;

/// Makes a hypothesis and an edit for each trial of a branch; a sentence about what was found.
pub(crate) async fn analyse(
    store: &Store,
    models: &ModelSettings,
    branch: BranchId,
    by: By,
    operator: String,
    control: &Control,
) -> Result<String, PipelineError> {
    let analyst = match by {
        By::Offline => "offline",
        By::Model => "model",
    };
    let analyst = pipeline::analysts::choose(analyst, models, false)?;
    let name = analyst.name();
    let settings = DebugSettings {
        trials: None,
        runs: None,
        rounds: ROUNDS,
        seed: 0,
        analyst: name.clone(),
        runtime: None,
        // What the same analyst said before stands: what is missing is made, and what was refuted comes back with what was learnt.
        since: 0,
        branch,
    };
    let request = DebugRequest {
        settings,
        resume: true,
        operator,
        diagnostic: false,
        new_effects: NewEffects::Hold,
        propose: true,
    };
    let jobs = Jobs::new(AT_ONCE);
    // What is found is in the store; whoever watches reads it there.
    let (events, _) = mpsc::unbounded_channel();
    let bench = Bench {
        store,
        analyst,
        models,
        jobs: &jobs,
        control,
        events,
    };
    let report = pipeline::debug(&bench, request).await?;
    let tested = || report.trials.iter().flat_map(|trial| &trial.tested);
    let edits = tested()
        .filter(|one| one.hypothesis.proposal.is_some())
        .count();
    let failed = report.trials.iter().find_map(|trial| {
        let note = trial.note.as_ref()?;
        Some(format!(". Trial {}: {note}", trial.trial.index))
    });
    Ok(format!(
        "{name}: hypotheses for {} of {} trials, {edits} with an edit{}",
        tested().count(),
        report.trials.len(),
        failed.unwrap_or_default()
    ))
}

/// Store work of this kind; other jobs are not done here.
pub(super) fn blocking(store: &Store, job: Job, say: &dyn Fn(Msg)) {
    match job {
        Job::Suspect(filed) => {
            say(Msg::Suspected(
                store.file(*filed).map(Box::new).map_err(fault),
            ));
        }
        Job::Test(id, edit) => {
            let found = pipeline::edited_step(store, &id);
            let found = found.map(|(filed, step)| Box::new((filed, step, edit)));
            say(Msg::ToTest(found.map_err(fault)));
        }
        _ => {}
    }
}
