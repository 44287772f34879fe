//! Gate, fork, replay: the gates are judged inside the fork's transaction, then the runs go in parallel, each committing step by step.

use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc;

use crate::gate::Report;
use crate::model::{
    Branch, BranchId, Digest, Effect, EffectState, Filed, Intervention, Proposal, RunStatus,
    Standing, Step, StepHead, Target,
};
use crate::runtime::{Restore, RuntimeError};
use crate::store::{ForkDraft, ForkEvidence, ForkRuling, Store};

use super::judge::{Probe, judge};
use super::replay::replay;
use super::{Control, Jobs, Outcome, PipelineError, Plan, config, probe, workspace};

/// The most new steps a run may make, whatever the runtime's own limits.
const MAX_NEW_STEPS: usize = 500;

/// What happens during a fork, for whoever watches.
#[derive(Clone, Debug)]
pub enum Progress {
    /// The branches were written.
    Forked {
        /// The intervention with its id.
        intervention: Intervention,
        /// Its branches.
        branches: Vec<Branch>,
    },
    /// A piece of the step being made.
    Delta {
        /// Where.
        branch: BranchId,
        /// Who speaks.
        agent: String,
        /// The piece.
        text: String,
    },
    /// A run is about to have a new effect outside and waits for [`Control::decide`].
    Asked {
        /// Where.
        branch: BranchId,
        /// What would happen.
        effect: Box<Effect>,
    },
    /// A step was committed.
    Step {
        /// Where.
        branch: BranchId,
        /// The step.
        head: StepHead,
    },
    /// A branch came to its end, whichever.
    Ended {
        /// The branch as it is now.
        branch: Box<Branch>,
    },
}

/// Runs store work on a blocking thread.
pub(super) async fn blocking<T: Send + 'static>(
    store: &Store,
    work: impl FnOnce(&Store) -> Result<T, PipelineError> + Send + 'static,
) -> Result<T, PipelineError> {
    let store = store.clone();
    match tokio::task::spawn_blocking(move || work(&store)).await {
        Ok(result) => result,
        Err(error) => Err(PipelineError::Internal(format!(
            "a store task broke down: {error}"
        ))),
    }
}

/// Evaluates the gates for a plan without writing or running anything: a disposable run is restored and thrown away.
pub async fn check(store: &Store, plan: &Plan) -> Result<Report, PipelineError> {
    let probe = probe(store, plan).await?;
    let (parent, step, runs) = (plan.parent.id.clone(), plan.request.step, plan.runs);
    let again = plan.request.resume.clone();
    let facts = blocking(store, move |store| {
        Ok(store.fork_facts(&parent, step, runs, again.as_deref())?)
    })
    .await?;
    Ok(judge(plan, &probe, &facts, plan.again.is_some()).report)
}

/// Forks, replays the runs (as many at once as there are places), scores them. A held fork is an `Ok` outcome with one held branch.
pub async fn fork(
    store: &Store,
    plan: Plan,
    jobs: &Jobs,
    control: Control,
    progress: mpsc::UnboundedSender<Progress>,
) -> Result<Outcome, PipelineError> {
    let forked = Forked::write(store, plan, &progress).await?;
    forked.replay(store, jobs, &control, &progress).await
}

/// A fork that is written, with runs that may go now.
pub(super) struct Forked {
    plan: Arc<Plan>,
    pub(super) intervention: Intervention,
    branches: Vec<Branch>,
    report: Report,
}

impl Forked {
    /// Asks the gates and writes what they say.
    pub(super) async fn write(
        store: &Store,
        plan: Plan,
        progress: &mpsc::UnboundedSender<Progress>,
    ) -> Result<Self, PipelineError> {
        let probe = probe(store, &plan).await?;
        let plan = Arc::new(plan);
        let (intervention, branches, report) = {
            let plan = plan.clone();
            blocking(store, move |store| write(store, &plan, &probe)).await?
        };
        // A watcher that went away does not stop the work.
        let _ = progress.send(Progress::Forked {
            intervention: intervention.clone(),
            branches: branches.clone(),
        });
        Ok(Self {
            plan,
            intervention,
            branches,
            report,
        })
    }

    /// Replays and scores the runs, each as soon as there is a place for it; none where a gate held them.
    pub(super) async fn replay(
        self,
        store: &Store,
        jobs: &Jobs,
        control: &Control,
        progress: &mpsc::UnboundedSender<Progress>,
    ) -> Result<Outcome, PipelineError> {
        let Self { plan, .. } = &self;
        let restore = restore(store, plan, 0).await?;
        let planned = self
            .branches
            .iter()
            .filter(|branch| branch.run == RunStatus::Planned);
        let mut runs: FuturesUnordered<_> = planned
            .map(|branch| {
                let restore = Restore {
                    seed: branch.seed,
                    ..restore.clone()
                };
                async move {
                    let grip = control.grip();
                    // Held until the run is over. A run that was stopped before its place came writes that down.
                    let _place = jobs.place(&grip).await;
                    let made = made(store, plan, branch).await?;
                    let restore = Restore { made, ..restore };
                    replay(store, plan, branch.clone(), restore, grip, progress).await
                }
            })
            .collect();
        while let Some(ended) = runs.next().await {
            let branch = Box::new(ended?);
            let _ = progress.send(Progress::Ended { branch });
        }
        drop(runs);
        let (id, report) = (self.intervention.id, self.report);
        blocking(store, move |store| {
            Ok(Outcome {
                report: Some(report),
                ..super::outcome(store, &id)?
            })
        })
        .await
    }
}

/// What the stopped run that a branch stands in for had made after the edit.
async fn made(
    store: &Store,
    plan: &Plan,
    branch: &Branch,
) -> Result<Arc<Vec<Step>>, PipelineError> {
    let before = |one: &&Branch| one.run_index == branch.run_index;
    let Some(stopped) = plan.stopped.iter().find(before).cloned() else {
        return Ok(Arc::default());
    };
    let from = plan.request.step + 1;
    blocking(store, move |store| {
        Ok(Arc::new(
            store.steps(&stopped.id, from..stopped.steps.max(from))?,
        ))
    })
    .await
}

/// The one transaction: gates, intervention, branches.
fn write(
    store: &Store,
    plan: &Plan,
    probe: &Probe,
) -> Result<(Intervention, Vec<Branch>, Report), PipelineError> {
    let request = &plan.request;
    let fresh = Intervention {
        id: String::new(),
        parent: plan.parent.id.clone(),
        step: request.step,
        category: plan.category,
        class: plan.class,
        text: request.text.clone(),
        changes: request.changes.clone(),
        edit_digest: plan.edit_digest(),
        config: None,
        n: plan.runs,
        seed: request.seed,
        answer_leak: plan.answer_leak,
        operator: request.operator.clone(),
        created: String::new(),
        hypothesis: request.tests.as_ref().map(|it| it.id.clone()),
        capability: request.tests.as_ref().is_some_and(|it| it.capability),
    };
    let draft = ForkDraft {
        // Whoever tries it again did not make the edit, and it is not made now.
        intervention: match &plan.again {
            Some(stored) => Intervention {
                id: stored.id.clone(),
                operator: stored.operator.clone(),
                created: stored.created.clone(),
                hypothesis: stored.hypothesis.clone(),
                capability: stored.capability,
                ..fresh
            },
            None => fresh,
        },
        operator: request.operator.clone(),
        runtime: plan.description.name.to_owned(),
        runs: if plan.stopped.is_empty() {
            (0..plan.runs)
                .map(|run| (run + 1, run_seed(request.seed, run)))
                .collect()
        } else {
            let again = |branch: &Branch| (branch.run_index, branch.seed);
            plan.stopped.iter().map(again).collect()
        },
    };
    let mut report = None;
    let (intervention, branches) = store.fork(draft, &mut |facts| {
        let judged = judge(plan, probe, facts, true);
        let found = judged.report;
        let diagnostic = !found.ready() && plan.diagnostic() && found.may_run_diagnostic();
        let ruling = ForkRuling {
            gate: found.status,
            go: found.ready() || diagnostic,
            diagnostic,
            reason: if plan.diagnostic() {
                found.diagnostic_reason().or_else(|| found.reason())
            } else {
                found.reason()
            },
            receipt: ForkEvidence {
                gates: found.gates.clone(),
                config: Some(probe.config.clone()),
                approval: judged.approval,
                decisions: config::decisions(plan, &found),
            },
        };
        report = Some(found);
        ruling
    })?;
    let report = report.ok_or_else(|| {
        PipelineError::Internal("the store forked without asking the gates".into())
    })?;
    taken_up(store, &intervention)?;
    Ok((intervention, branches, report))
}

/// Tells the hypothesis that an intervention tests how it is tested.
fn taken_up(store: &Store, intervention: &Intervention) -> Result<(), PipelineError> {
    let Some(id) = &intervention.hypothesis else {
        return Ok(());
    };
    let session = intervention.parent.session();
    let filed = store
        .hypotheses(session)?
        .into_iter()
        .find(|it| it.id == *id);
    let filed = filed.ok_or_else(|| {
        PipelineError::Usage(format!(
            "there is no hypothesis {id} in session {session}. `dover debug {session} --propose` makes some"
        ))
    })?;
    let proposal = intervention.text.clone().map(|text| Proposal {
        target: Target {
            step: intervention.step,
            category: intervention.category,
        },
        text,
    });
    Ok(store.refile(&Filed {
        intervention: Some(intervention.id.clone()),
        standing: Standing::Accepted,
        proposal: proposal.or(filed.proposal),
        ..filed
    })?)
}

/// Seed of the n-th run, 53 bits so that every JSON reader keeps it whole.
fn run_seed(seed: u64, run: usize) -> u64 {
    let digest = Digest::of_fields([
        b"dover run".as_slice(),
        &seed.to_le_bytes(),
        &(run as u64).to_le_bytes(),
    ]);
    digest
        .bytes()
        .iter()
        .take(8)
        .fold(0u64, |sum, byte| sum << 8 | u64::from(*byte))
        >> 11
}

/// What to restore for a run of a plan.
async fn restore(store: &Store, plan: &Plan, seed: u64) -> Result<Restore, PipelineError> {
    let (parent, step) = (plan.parent.id.clone(), plan.request.step);
    let (prefix, checkpoint, effects) = blocking(store, move |store| {
        Ok((
            store.steps(&parent, 0..step)?,
            store.checkpoint(&parent, step)?,
            store.effects(&parent)?,
        ))
    })
    .await?;
    Ok(Restore {
        session: plan.session.clone(),
        prefix: Arc::new(prefix),
        checkpoint,
        pending: Some(plan.pending.clone()),
        original: Some(plan.original.clone()),
        kept: effects
            .into_iter()
            .filter(|effect| effect.step >= step && effect.state == EffectState::Reconciled)
            .collect(),
        workspace: None,
        seed,
        max_steps: MAX_NEW_STEPS,
        made: Arc::default(),
    })
}

/// Restores a disposable run, reads its keys and configuration, throws it away.
async fn probe(store: &Store, plan: &Plan) -> Result<Probe, PipelineError> {
    let mut restore = restore(store, plan, run_seed(plan.request.seed, 0)).await?;
    let session = &plan.session;
    let checkpoint = restore.checkpoint.clone();
    let restored = workspace::restore(session, checkpoint.as_ref()).await;
    let tree = restored.as_ref().and_then(|it| it.tree.as_ref());
    restore.workspace = tree.map(|tree| tree.dir().to_owned());
    let run = match plan.runtime.restore(restore).await {
        Ok(run) => run,
        Err(RuntimeError::Missing { what, mend }) if checkpoint.is_none() => {
            let (branch, step) = (plan.request.branch.clone(), plan.request.step);
            let known = blocking(store, move |store| Ok(store.boundaries(&branch)?)).await?;
            let mend = match super::plan::nearest(&known, step) {
                Some(steps) => format!("Fork at the nearest that has one: {steps}"),
                None => mend,
            };
            return Err(RuntimeError::Missing { what, mend }.into());
        }
        Err(error) => return Err(error.into()),
    };
    let mut keys = run.keys();
    probe::read_back(session, &mut keys).await;
    if let Some(restored) = &restored {
        keys.retain(|read| read.key != workspace::KEY);
        keys.push(restored.key.clone());
    }
    Ok(Probe {
        checkpoint: probe::evidence(session, checkpoint.as_ref()),
        keys,
        config: run.config(),
    })
}
