//! `dover debug SESSION`: the whole loop over the trials of a branch.

mod answer;
mod watch;

use std::sync::Arc;

use tokio::sync::mpsc;

use super::args::Debug;
use super::context::{self, Context};
use super::error::{CliError, Exit};
use crate::analyst::Analyst;
use crate::model::{BranchId, DebugReport, DebugSettings};
use crate::pipeline::{self, Bench, Control, DebugRequest, Jobs, ModelSettings};
use crate::store::Store;
pub(super) use answer::{taken, verdict};
pub(super) use watch::Watch;

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Debug) -> Result<Exit, CliError> {
    let store = context.store()?;
    let branch = context::branch(&store, &args.session, args.branch.as_deref())?;
    let models = ModelSettings {
        allowed: args.allow.allowed(),
        ..context.models(&args.analysing.spending)?
    };
    let settings = settings(&store, branch, args)?;
    let analyst = pipeline::analysts::choose(&settings.analyst, &models, args.analysing.few_shot)?;
    let request = DebugRequest {
        settings: DebugSettings {
            analyst: analyst.name(),
            ..settings
        },
        resume: args.resume,
        operator: context.operator(),
        diagnostic: args.diagnostic,
        new_effects: args.new_effects.into(),
        propose: args.propose,
    };
    let jobs = Jobs::new(usize::from(args.jobs));
    let watch = Watch::stderr(context.out.is_json(), &context.global.display);
    let report = carry_out(&store, &models, analyst, &jobs, request, watch)?;
    let exit = answer::exit(&report);
    context.out.give(&report)?;
    Ok(exit)
}

/// What the words say, or what was said when the loop began that goes on.
fn settings(store: &Store, branch: BranchId, args: &Debug) -> Result<DebugSettings, CliError> {
    if args.resume {
        let kept = store.debugging(branch.session())?;
        return kept.filter(|kept| kept.branch == branch).ok_or_else(|| {
            CliError::Usage(format!(
                "nothing of {branch} was begun that could go on. Leave --resume out"
            ))
        });
    }
    Ok(DebugSettings {
        trials: args.trials.clone(),
        runs: args.runs.map(usize::from),
        rounds: usize::from(args.rounds),
        seed: args.seed,
        analyst: args
            .analysing
            .analyst
            .clone()
            .unwrap_or_else(|| "offline".to_owned()),
        runtime: args.runtime.clone(),
        since: store.hypotheses(branch.session())?.len(),
        branch,
    })
}

/// Runs the loop to its end, telling a person on standard error what happens, and stopping it cleanly on Ctrl-C.
pub(super) fn carry_out(
    store: &Store,
    models: &ModelSettings,
    analyst: Arc<dyn Analyst>,
    jobs: &Jobs,
    request: DebugRequest,
    mut watch: Watch,
) -> Result<DebugReport, CliError> {
    let threads = tokio::runtime::Runtime::new().map_err(CliError::Threads)?;
    threads.block_on(async {
        let control = Control::new();
        let (events, mut told) = mpsc::unbounded_channel();
        let bench = Bench {
            store,
            analyst,
            models,
            jobs,
            control: &control,
            events,
        };
        let work = pipeline::debug(&bench, request);
        let interrupt = super::replay::interrupted();
        tokio::pin!(work, interrupt);
        loop {
            tokio::select! {
                biased;
                () = &mut interrupt => {
                    if control.is_stopped() {
                        return Err(CliError::BrokenOff);
                    }
                    interrupt.set(super::replay::interrupted());
                    control.stop();
                    watch.say("stopping; what has run is kept. Ctrl-C again breaks off");
                }
                Some(event) = told.recv() => watch.take(event),
                report = &mut work => {
                    while let Ok(event) = told.try_recv() {
                        watch.take(event);
                    }
                    watch.close();
                    return Ok(report?);
                }
            }
        }
    })
}
