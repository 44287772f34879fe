//! A team's original run, made here: every step is committed as it comes, with the state before it, so that it is a session as any other.

use tokio::sync::mpsc::UnboundedSender;

use crate::gate::receipt::{About, Word};
use crate::model::{
    AdapterRef, Branch, BranchId, Effect, GateStatus, RunStatus, Session, StepHead, StepKind, Usage,
};
use crate::runtime::adapter::{Adapter, Start, differs_from_pin, title};
use crate::runtime::{Decision, Event, Finish, Made, Run, RuntimeError, Workspace};
use crate::store::{Ending, Store};

use super::control::Grip;
use super::fork::blocking;
use super::verify::verify;
use super::{Control, NewEffects, PipelineError, Progress};

/// What a run of a team came to.
#[derive(Clone, Debug)]
pub struct Lived {
    /// `main` as it is now.
    pub branch: Branch,
    /// Where the user's own environment is not the one that dover pins.
    pub notes: Vec<String>,
}

/// How it ended.
enum End {
    Finished(Finish),
    Stopped,
    Held(String),
    Failed(String),
}

/// A session on its way into the store.
struct Recording<'a> {
    store: &'a Store,
    session: Session,
    operator: &'a str,
    /// Its `main`, once something of it is there.
    main: Option<BranchId>,
    progress: &'a UnboundedSender<Progress>,
}

/// Starts a team and keeps its run. Whatever happens, every step handed out is kept whole.
///
/// # Errors
/// Nothing came of it: the adapter, the entry or the framework failed before the first step. Or the store.
pub async fn live(
    store: &Store,
    adapter: &AdapterRef,
    start: &Start,
    new_effects: NewEffects,
    operator: &str,
    control: &Control,
    progress: &UnboundedSender<Progress>,
) -> Result<Lived, PipelineError> {
    let runtime = super::runtimes::adapter()?;
    let begun = tokio::select! {
        biased;
        () = control.stopped() => return Err(stopped_early()),
        begun = begin(&runtime, adapter, start) => begun?,
    };
    let (session, mut run) = begun;
    let made_by = session.runtime.as_ref().and_then(|it| it.adapter.as_ref());
    let notes = made_by.map_or(Vec::new(), |it| differs_from_pin(&it.name, &it.framework));
    let mut recording = Recording {
        store,
        session,
        operator,
        main: None,
        progress,
    };
    let end = follow(&mut recording, &mut *run, new_effects, &mut control.grip()).await?;
    let usage = run.usage();
    let files = run.workspace();
    // The process goes before anything is told of its end.
    drop(run);
    let Some(main) = recording.main.clone() else {
        return Err(match end {
            Ok(End::Failed(reason)) => PipelineError::Refused(reason),
            Err(error) => error.into(),
            Ok(_) => stopped_early(),
        });
    };
    let end = end.unwrap_or_else(|error| End::Failed(error.to_string()));
    let branch = finished(store, &recording.session, main, end, usage, &files).await?;
    let _ = progress.send(Progress::Ended {
        branch: Box::new(branch.clone()),
    });
    Ok(Lived { branch, notes })
}

fn stopped_early() -> PipelineError {
    PipelineError::Refused("stopped before the first step; nothing was recorded".to_owned())
}

async fn begin(
    runtime: &Adapter,
    adapter: &AdapterRef,
    start: &Start,
) -> Result<(Session, Box<dyn Run>), RuntimeError> {
    let (mut session, run) = runtime.begin(adapter, start).await?;
    session.at_start = Some(Box::new(session.workflow()));
    session.coverage.content = true;
    Ok((session, run))
}

/// Follows a run to its end. The inner error is the run's own.
async fn follow(
    recording: &mut Recording<'_>,
    run: &mut dyn Run,
    new_effects: NewEffects,
    grip: &mut Grip,
) -> Result<Result<End, RuntimeError>, PipelineError> {
    loop {
        if !grip.permit().await {
            return Ok(Ok(End::Stopped));
        }
        let event = tokio::select! {
            biased;
            () = grip.stopped() => return Ok(Ok(End::Stopped)),
            event = run.next() => event,
        };
        match event {
            Ok(Event::Delta { agent, text }) => recording.tell(agent, text),
            Ok(Event::Step(made)) => recording.step(*made).await?,
            Ok(Event::Ask(effect)) => match new_effects {
                NewEffects::Allow => {
                    recording.decided(&effect, Word::Allowed).await?;
                    run.decide(Decision::Allow);
                }
                NewEffects::Refuse => {
                    recording.decided(&effect, Word::Refused).await?;
                    run.decide(Decision::Refuse);
                }
                NewEffects::Hold | NewEffects::Ask => {
                    let (tool, key) = (&effect.tool, &effect.operation_key);
                    return Ok(Ok(End::Held(format!(
                        "held before {tool} {key}: it does more than read. Let it happen or not: --new-effects allow, or refuse"
                    ))));
                }
            },
            Ok(Event::Finished(finish)) => return Ok(Ok(End::Finished(finish))),
            Err(error) => return Ok(Err(error)),
        }
    }
}

impl Recording<'_> {
    /// The session's `main`, written when the first thing of it is there.
    async fn main(&mut self) -> Result<BranchId, PipelineError> {
        if let Some(main) = &self.main {
            return Ok(main.clone());
        }
        let session = self.session.clone();
        let id = blocking(self.store, move |store| Ok(store.begin(session)?)).await?;
        let main = BranchId::main(&id);
        self.session.id = id;
        self.main = Some(main.clone());
        Ok(main)
    }

    async fn step(&mut self, made: Made) -> Result<(), PipelineError> {
        if self.session.task.is_empty() && made.step.kind == StepKind::Task {
            self.session.task.clone_from(&made.step.text);
            self.session.title = title(&made.step.text);
        }
        let main = self.main().await?;
        let head = StepHead::of(&made.step);
        let branch = main.clone();
        blocking(self.store, move |store| {
            Ok(store.append(&main, &made.step, made.checkpoint.as_ref(), &made.effects)?)
        })
        .await?;
        // A watcher that went away does not stop the work.
        let _ = self.progress.send(Progress::Step { branch, head });
        Ok(())
    }

    /// The receipt of a decision, before anything happens.
    async fn decided(&mut self, effect: &Effect, word: Word) -> Result<(), PipelineError> {
        let main = self.main().await?;
        let (key, tool) = (effect.operation_key.clone(), effect.tool.clone());
        let operator = self.operator.to_owned();
        blocking(self.store, move |store| {
            Ok(store.decide(About::NewEffect, &main, &key, word, &tool, &operator)?)
        })
        .await
    }

    fn tell(&self, agent: String, text: String) {
        if let Some(branch) = self.main.clone() {
            let _ = self.progress.send(Progress::Delta {
                branch,
                agent,
                text,
            });
        }
    }
}

/// Writes how the run ended.
async fn finished(
    store: &Store,
    session: &Session,
    main: BranchId,
    end: End,
    usage: Usage,
    files: &Workspace,
) -> Result<Branch, PipelineError> {
    let broken = |run, reason| Ending {
        run,
        gate: None,
        fulfilled: None,
        success: None,
        answer: None,
        milestones: None,
        reason: Some(reason),
    };
    let ending = match end {
        End::Finished(finish) => {
            let judgement = verify(session, finish.answer.as_deref(), files).await;
            Ending {
                success: finish.answer.as_ref().and_then(|_| judgement.success()),
                answer: finish.answer,
                ..broken(RunStatus::Done, finish.reason)
            }
        }
        End::Stopped => broken(RunStatus::Stopped, "stopped by the operator".to_owned()),
        End::Held(reason) => Ending {
            gate: Some(GateStatus::EffectsUnreconciled),
            ..broken(RunStatus::Held, reason)
        },
        End::Failed(reason) => broken(RunStatus::Failed, reason),
    };
    blocking(store, move |store| {
        if !usage.is_empty() {
            store.used(&main, &usage)?;
        }
        store.end(&main, &ending)?;
        Ok(store.branch(&main)?)
    })
    .await
}
