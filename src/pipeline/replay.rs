//! One run of one branch: asks the runtime for a step at a time and commits each before asking for the next.

use crate::gate::receipt::{About, Word};
use crate::model::{Branch, Effect, GateStatus, Judgement, RunStatus, StepHead, Usage};
use crate::runtime::{Decision, Event, Finish, Made, Restore, RuntimeError, Workspace};
use crate::store::{Ending, Store};

use super::control::Grip;
use super::fork::{Progress, blocking};
use super::score::{score, tally};
use super::verify::verify;
use super::workspace::{self, Track};
use super::{NewEffects, PipelineError, Plan, config, debug};

/// How a run came to its end.
enum End {
    Finished(Finish, Judgement),
    Stopped,
    Failed(String),
    /// A new effect outside waits for a decision.
    Held(String),
    /// What would run is not what was judged.
    Unpinned(String),
}

/// Replays one planned branch to its end and writes how it ended. Whatever happens, every step handed out before is kept whole.
///
/// # Errors
/// Only the store's; a runtime that breaks down is an ending.
pub(super) async fn replay(
    store: &Store,
    plan: &Plan,
    branch: Branch,
    restore: Restore,
    mut grip: Grip,
    progress: &tokio::sync::mpsc::UnboundedSender<Progress>,
) -> Result<Branch, PipelineError> {
    let id = branch.id.clone();
    let end = if grip.permit_now() {
        let started = id.clone();
        blocking(store, move |store| Ok(store.start(&started)?)).await?;
        let mut usage = Usage::default();
        let end = run(
            store, plan, &branch, restore, &mut grip, progress, &mut usage,
        )
        .await?;
        if !usage.is_empty() {
            let ended = id.clone();
            blocking(store, move |store| Ok(store.used(&ended, &usage)?)).await?;
        }
        end
    } else {
        End::Stopped
    };
    let end = match end {
        End::Finished(finish, judgement) => {
            End::Finished(judged(store, plan, &branch, finish).await?, judgement)
        }
        other => other,
    };
    let session = plan.session.clone();
    let edited = plan.request.text.is_some();
    let config_only = !edited && !plan.request.changes.is_empty();
    blocking(store, move |store| {
        let ending = match end {
            End::Finished(mut finish, judgement) => {
                // Gate 5 has seen the change in the run itself.
                if config_only {
                    finish.fulfilled = Some(true);
                }
                score(store, &session, &branch, edited, finish, judgement)?
            }
            End::Stopped => broken(
                store,
                &session,
                &branch,
                RunStatus::Stopped,
                "stopped by the operator".into(),
            )?,
            End::Held(reason) => Ending {
                gate: Some(GateStatus::EffectsUnreconciled),
                ..broken(store, &session, &branch, RunStatus::Held, reason)?
            },
            End::Failed(reason) => broken(store, &session, &branch, RunStatus::Failed, reason)?,
            End::Unpinned(reason) => Ending {
                gate: Some(GateStatus::ConfigUnpinned),
                ..broken(store, &session, &branch, RunStatus::Failed, reason)?
            },
        };
        store.end(&id, &ending)?;
        Ok(store.branch(&id)?)
    })
    .await
}

/// What the runtime could not tell of a run that came to its end: whether the edit was executed, and where milestones without a check
/// were reached. Why it could not be told either stands in the reason.
async fn judged(
    store: &Store,
    plan: &Plan,
    branch: &Branch,
    mut finish: Finish,
) -> Result<Finish, PipelineError> {
    let (Some(judge), true) = (&plan.judge, plan.request.text.is_some()) else {
        return Ok(finish);
    };
    let id = branch.id.clone();
    let case = blocking(store, move |store| debug::case(store, &id)).await?;
    let mut faults = Vec::new();
    if finish.fulfilled.is_none() {
        let after = case.within(plan.request.step + 1..case.steps.len());
        match judge
            .judge_fulfilment(&plan.original, &plan.pending, after)
            .await
        {
            Ok(fulfilled) => finish.fulfilled = fulfilled,
            Err(error) => faults.push(format!("fulfilment was not judged: {error}")),
        }
    }
    if plan.request.tests.is_some() {
        faults.extend(debug::mark_by(&**judge, store, &case, &branch.id).await?);
    }
    if !faults.is_empty() {
        faults.insert(0, finish.reason);
        finish.reason = faults.join("; ");
    }
    Ok(finish)
}

/// The ending of a run that did not come to its own. It has no outcome, so if it began it is unverified.
fn broken(
    store: &Store,
    session: &crate::model::Session,
    branch: &Branch,
    run: RunStatus,
    reason: String,
) -> Result<Ending, PipelineError> {
    Ok(Ending {
        run,
        gate: match branch.gate {
            Some(GateStatus::ReadyToResume)
                if store.branch(&branch.id)?.run == RunStatus::Running =>
            {
                Some(GateStatus::Unverified)
            }
            gate => gate,
        },
        fulfilled: None,
        success: None,
        answer: None,
        milestones: tally(store, session, branch)?,
        reason: Some(reason),
    })
}

async fn run(
    store: &Store,
    plan: &Plan,
    branch: &Branch,
    mut restore: Restore,
    grip: &mut Grip,
    progress: &tokio::sync::mpsc::UnboundedSender<Progress>,
    usage: &mut Usage,
) -> Result<End, PipelineError> {
    let failed = |error: &RuntimeError| Ok(End::Failed(error.to_string()));
    // The tree goes with the run, however that ends.
    let restored = workspace::restore(&plan.session, restore.checkpoint.as_ref()).await;
    if let Some(lost) = restored.as_ref().and_then(|it| it.lost(&restore))
        && !branch.diagnostic
    {
        return Ok(End::Failed(format!("gate 2 state: {lost}")));
    }
    let tree = restored.as_ref().and_then(|it| it.tree.as_ref());
    restore.workspace = tree.map(|tree| tree.dir().to_owned());
    let mut track = match &restore.workspace {
        Some(dir) => Some(Track::begin(dir).await),
        None => None,
    };
    let mut run = match plan.runtime.restore(restore).await {
        Ok(run) => run,
        Err(error) => return failed(&error),
    };
    // Gate 5 once more: the run that resumes must have the configuration that was pinned for it.
    let id = branch.id.clone();
    let pinned = blocking(store, move |store| Ok(store.branch_config(&id)?)).await?;
    if let Some(reason) = config::departed(pinned.as_ref(), &run.config()) {
        return Ok(End::Unpinned(reason));
    }
    let mut between_steps = true;
    loop {
        if between_steps && !grip.permit().await {
            return Ok(End::Stopped);
        }
        let event = tokio::select! {
            biased;
            () = grip.stopped() => return Ok(End::Stopped),
            event = run.next() => event,
        };
        *usage = run.usage();
        between_steps = !matches!(event, Ok(Event::Delta { .. }));
        match event {
            Ok(Event::Delta { agent, text }) => {
                // A watcher that went away does not stop the work.
                let _ = progress.send(Progress::Delta {
                    branch: branch.id.clone(),
                    agent,
                    text,
                });
            }
            Ok(Event::Step(mut made)) => {
                if let Some(track) = &mut track {
                    track.step(made.checkpoint.as_mut()).await;
                }
                let head = commit(store, branch, *made).await?;
                let _ = progress.send(Progress::Step {
                    branch: branch.id.clone(),
                    head,
                });
            }
            Ok(Event::Ask(effect)) => {
                let Some(decision) = decide(store, plan, branch, &effect, grip, progress).await?
                else {
                    return Ok(match plan.request.new_effects {
                        NewEffects::Hold => End::Held(wants_a_decision(&effect)),
                        _ => End::Stopped,
                    });
                };
                run.decide(decision);
            }
            // Only of a run that a person holds.
            Ok(Event::Pending(_) | Event::Question { .. }) => {}
            Ok(Event::Finished(finish)) => {
                let files = match (run.workspace(), tree) {
                    (Workspace::None, Some(tree)) => Workspace::Dir(tree.dir().to_owned()),
                    (own, _) => own,
                };
                return tokio::select! {
                    biased;
                    () = grip.stopped() => Ok(End::Stopped),
                    judgement = verify(&plan.session, finish.answer.as_deref(), &files) => {
                        Ok(End::Finished(finish, judgement))
                    }
                };
            }
            Err(error) => return failed(&error),
        }
    }
}

/// What becomes of a new effect outside, and its receipt before anything happens. None: nothing is decided, and nothing may happen.
async fn decide(
    store: &Store,
    plan: &Plan,
    branch: &Branch,
    effect: &Effect,
    grip: &Grip,
    progress: &tokio::sync::mpsc::UnboundedSender<Progress>,
) -> Result<Option<Decision>, PipelineError> {
    let decision = match plan.request.new_effects {
        NewEffects::Hold => None,
        NewEffects::Allow => Some(Decision::Allow),
        NewEffects::Refuse => Some(Decision::Refuse),
        NewEffects::Ask => {
            let _ = progress.send(Progress::Asked {
                branch: branch.id.clone(),
                effect: Box::new(effect.clone()),
            });
            grip.decision(&branch.id).await
        }
    };
    let Some(decided) = decision else {
        return Ok(None);
    };
    let word = match decided {
        Decision::Allow => Word::Allowed,
        Decision::Refuse => Word::Refused,
    };
    let (id, key) = (branch.id.clone(), effect.operation_key.clone());
    let (tool, operator) = (effect.tool.clone(), plan.request.operator.clone());
    blocking(store, move |store| {
        Ok(store.decide(About::NewEffect, &id, &key, word, &tool, &operator)?)
    })
    .await?;
    Ok(decision)
}

fn wants_a_decision(effect: &Effect) -> String {
    let (tool, key) = (&effect.tool, &effect.operation_key);
    format!(
        "held before {tool} {key}: a new effect outside. Let it happen or not: --new-effects allow, or refuse"
    )
}

async fn commit(store: &Store, branch: &Branch, made: Made) -> Result<StepHead, PipelineError> {
    let id = branch.id.clone();
    blocking(store, move |store| {
        store.append(&id, &made.step, made.checkpoint.as_ref(), &made.effects)?;
        Ok(StepHead::of(&made.step))
    })
    .await
}
