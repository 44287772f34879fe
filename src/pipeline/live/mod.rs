//! A team's original run, made here: every step is committed as it comes, with the state before it, so that it is a session as any other.
//! Whoever watches may hold it at its boundaries and change what waits there; each such change is kept with the step that came of it.

mod orders;

use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::gate::receipt::{About, Word};
use crate::model::{
    AdapterRef, Branch, BranchId, Effect, GateStatus, LiveEdit, LiveOp, RunStatus, Session,
    StepHead, StepKind, Usage,
};
use crate::runtime::adapter::{Adapter, Start, differs_from_pin, title};
use crate::runtime::{
    Decision, Event, Finish, Live, LogLine, Made, QueueEdit, Queued, RuntimeError, Workspace,
};
use crate::store::{Ending, Store};

use super::fork::blocking;
use super::verify::verify;
use super::{NewEffects, PipelineError, Progress};

pub use orders::{Goal, Order, Orders, Standing, Told, Until};

/// What a run of a team came to.
#[derive(Clone, Debug)]
pub struct Lived {
    /// `main` as it is now.
    pub branch: Branch,
    /// Where the user's own environment is not the one that dover pins.
    pub notes: Vec<String>,
}

/// How a run is led.
#[derive(Clone, Debug)]
pub struct Lead {
    /// How far it goes by itself at first.
    pub goal: Goal,
    /// What becomes of calls that do more than read. Only [`NewEffects::Ask`] asks, and only then is anybody there to answer for a person.
    pub new_effects: NewEffects,
    /// Who leads it.
    pub operator: String,
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
    lead: Lead,
    /// Its `main`, once something of it is there.
    main: Option<BranchId>,
    /// The message about to be committed.
    pending: Option<Value>,
    /// What was changed, and the message that it concerns; none: whichever comes next.
    edits: Vec<(Option<Value>, LiveEdit)>,
    told: &'a UnboundedSender<Told>,
}

/// Starts a team and keeps its run. Whatever happens, every step handed out is kept whole.
///
/// # Errors
/// Nothing came of it: the adapter, the entry or the framework failed before the first step. Or the store.
pub async fn live(
    store: &Store,
    adapter: &AdapterRef,
    start: &Start,
    lead: Lead,
    mut orders: Orders,
    told: &UnboundedSender<Told>,
) -> Result<Lived, PipelineError> {
    let runtime = super::runtimes::adapter()?;
    let (session, mut run) = {
        let begun = begin(&runtime, adapter, start);
        tokio::pin!(begun);
        loop {
            tokio::select! {
                biased;
                order = orders.next() => match order {
                    Order::Stop => return Err(stopped_early()),
                    _ => refuse(told, "The team is still starting"),
                },
                begun = &mut begun => break begun?,
            }
        }
    };
    let made_by = session.runtime.as_ref().and_then(|it| it.adapter.as_ref());
    let notes = made_by.map_or(Vec::new(), |it| differs_from_pin(&it.name, &it.framework));
    let _ = told.send(Told::Team(Box::new(session.clone())));
    let log = run.follow_log();
    let mut recording = Recording {
        store,
        session,
        lead,
        main: None,
        pending: None,
        edits: Vec::new(),
        told,
    };
    let end = recording.follow(&mut *run, &mut orders, log).await?;
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
    recording.tell(Told::Progress(Box::new(Progress::Ended {
        branch: Box::new(branch.clone()),
    })));
    Ok(Lived { branch, notes })
}

fn refuse(told: &UnboundedSender<Told>, why: &str) {
    let _ = told.send(Told::Refused(why.to_owned()));
}

fn stopped_early() -> PipelineError {
    PipelineError::Refused("stopped before the first step; nothing was recorded".to_owned())
}

async fn begin(
    runtime: &Adapter,
    adapter: &AdapterRef,
    start: &Start,
) -> Result<(Session, Box<dyn Live>), RuntimeError> {
    let (mut session, run) = runtime.begin(adapter, start).await?;
    session.at_start = Some(Box::new(session.workflow()));
    session.coverage.content = true;
    Ok((session, run))
}

/// What happened next.
enum Next {
    Order(Order),
    Line(LogLine),
    Event(Result<Event, RuntimeError>),
}

impl Recording<'_> {
    /// Follows a run to its end. The inner error is the run's own.
    async fn follow(
        &mut self,
        run: &mut dyn Live,
        orders: &mut Orders,
        mut log: UnboundedReceiver<LogLine>,
    ) -> Result<Result<End, RuntimeError>, PipelineError> {
        // Why it goes no further by itself.
        let mut stands: Option<Standing> = None;
        let mut used = Usage::default();
        loop {
            let next = tokio::select! {
                biased;
                order = orders.next() => Next::Order(order),
                event = run.next(), if stands.is_none() => Next::Event(event),
                Some(line) = log.recv() => Next::Line(line),
            };
            match next {
                Next::Order(Order::Stop) => return Ok(Ok(End::Stopped)),
                Next::Order(order) => match self.carry_out(run, order, &mut stands).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => match error.refusal() {
                        Some(why) => refuse(self.told, why),
                        None => return Ok(Err(error)),
                    },
                    Err(error) => return Err(error),
                },
                Next::Line(line) => self.tell(Told::Log(line)),
                Next::Event(Ok(event)) => {
                    if let Some(end) = self.happened(run, event, &mut stands).await? {
                        return Ok(end);
                    }
                    if let Some(standing) = &stands {
                        self.tell(Told::Stands(standing.clone()));
                    }
                }
                Next::Event(Err(error)) => return Ok(Err(error)),
            }
            let now = run.usage();
            if now != used {
                used = now;
                self.tell(Told::Usage(used));
            }
        }
    }

    /// Takes in what the run says; its end, if it is that.
    async fn happened(
        &mut self,
        run: &mut dyn Live,
        event: Event,
        stands: &mut Option<Standing>,
    ) -> Result<Option<Result<End, RuntimeError>>, PipelineError> {
        match event {
            Event::Delta { agent, text } => {
                // What is said before anything was recorded is the first step's own.
                let branch = self
                    .main
                    .clone()
                    .unwrap_or_else(|| BranchId::main(&self.session.id));
                self.tell(Told::Progress(Box::new(Progress::Delta {
                    branch,
                    agent,
                    text,
                })));
            }
            Event::Pending(queued) => {
                self.pending = Some(queued.id);
                if self.lead.goal.reached(&queued.step) {
                    match run.queue().await {
                        Ok(queue) => *stands = Some(Standing::Boundary(queue)),
                        Err(error) => return Ok(Some(Err(error))),
                    }
                }
            }
            Event::Step(mut made) => {
                let id = self.pending.take();
                let all = std::mem::take(&mut self.edits);
                let (own, later): (Vec<_>, Vec<_>) =
                    all.into_iter().partition(|(of, edit)| match (of, edit.op) {
                        // An answer is the tool's result, wherever the framework says that.
                        (None, LiveOp::Answer) => {
                            made.checkpoint.is_some() || made.step.kind == StepKind::ToolResult
                        }
                        (None, _) => true,
                        (of, _) => *of == id,
                    });
                self.edits = later;
                made.step.meta.live_edits = own.into_iter().map(|(_, edit)| edit).collect();
                self.step(*made).await?;
            }
            Event::Ask(effect) => match self.lead.new_effects {
                NewEffects::Allow => self.decide(run, &effect, Decision::Allow).await?,
                NewEffects::Refuse => self.decide(run, &effect, Decision::Refuse).await?,
                NewEffects::Hold => {
                    let (tool, key) = (&effect.tool, &effect.operation_key);
                    return Ok(Some(Ok(End::Held(format!(
                        "held before {tool} {key}: it does more than read. Let it happen or not: --new-effects allow, or refuse"
                    )))));
                }
                NewEffects::Ask => {
                    let of = effect.clone();
                    let recorded =
                        blocking(self.store, move |store| Ok(store.answer_on_record(&of)?)).await?;
                    let arguments = run.held_arguments();
                    *stands = Some(Standing::Held {
                        effect,
                        arguments,
                        recorded,
                    });
                }
            },
            Event::Question { agent, prompt } if self.lead.new_effects == NewEffects::Ask => {
                *stands = Some(Standing::Asked { agent, prompt });
            }
            Event::Question { agent, prompt } => {
                return Ok(Some(Ok(End::Failed(format!(
                    "{agent} asks a person: {prompt}. Nobody can answer here: run it on a terminal or with --plain, where you are asked, or let the team's user agent answer by itself"
                )))));
            }
            Event::Finished(finish) => return Ok(Some(Ok(End::Finished(finish)))),
        }
        Ok(None)
    }

    /// Does what was ordered, or tells why not now. The inner error is the run's own.
    async fn carry_out(
        &mut self,
        run: &mut dyn Live,
        order: Order,
        stands: &mut Option<Standing>,
    ) -> Result<Result<(), RuntimeError>, PipelineError> {
        match (order, stands.take()) {
            (Order::Go(goal), standing) => {
                self.lead.goal = goal;
                *stands = standing;
                if matches!(stands, Some(Standing::Boundary(_))) && self.lead.goal != Goal::Pause {
                    *stands = None;
                    self.tell(Told::Moves);
                }
            }
            (Order::Edit(change), Some(Standing::Boundary(queue))) => {
                let changed = run.change(&change).await;
                if changed.is_ok() {
                    self.changed(&change, &queue);
                }
                // What was refused may have been half done: what waits is asked for again.
                let queue = match run.queue().await {
                    Ok(queue) => queue,
                    Err(error) => return Ok(Err(error)),
                };
                self.pending = queue.first().map(|one| one.id.clone());
                let standing = Standing::Boundary(queue);
                self.tell(Told::Stands(standing.clone()));
                *stands = Some(standing);
                return Ok(changed.map(drop));
            }
            (Order::Look, Some(standing @ Standing::Boundary(_))) => {
                *stands = Some(standing);
                match run.look().await {
                    Ok(state) => self.tell(Told::State(state.step, Box::new(state))),
                    Err(error) => return Ok(Err(error)),
                }
            }
            (Order::Allow, Some(Standing::Held { effect, .. })) => {
                self.decide(run, &effect, Decision::Allow).await?;
                self.tell(Told::Moves);
            }
            (Order::Refuse, Some(Standing::Held { effect, .. })) => {
                self.decide(run, &effect, Decision::Refuse).await?;
                self.tell(Told::Moves);
            }
            (Order::Answer(result), Some(Standing::Held { effect, .. })) => {
                // The call itself does not happen.
                self.decided(&effect, Word::Refused).await?;
                let edit = self.edit(LiveOp::Answer, &effect.tool, None, Some(&result));
                self.edits.push((None, edit));
                run.answer(&result);
                self.tell(Told::Moves);
            }
            (Order::Reply(text), Some(Standing::Asked { agent, prompt })) => {
                let edit = self.edit(LiveOp::Reply, &agent, Some(&prompt), Some(&text));
                self.edits.push((None, edit));
                run.reply(&text);
                self.tell(Told::Moves);
            }
            (order, standing) => {
                *stands = standing;
                refuse(self.told, why_not(&order, stands.as_ref()));
            }
        }
        Ok(Ok(()))
    }

    /// Notes a change and tells it.
    fn changed(&mut self, change: &QueueEdit, queue: &[Queued]) {
        let of = |id: &Value| queue.iter().find(|one| one.id == *id);
        let (edit, said) = match change {
            QueueEdit::Replace { id, text } => {
                let one = of(id);
                let agent = one.map_or("", |one| one.step.agent.as_str());
                let before = one.map(|one| one.step.text.as_str());
                let edit = self.edit(LiveOp::Replace, agent, before, Some(text));
                (edit, format!("The message of {agent} is changed"))
            }
            QueueEdit::Drop { id } => {
                let one = of(id);
                let agent = one.map_or("", |one| one.step.agent.as_str());
                let before = one.map(|one| one.step.text.as_str());
                let edit = self.edit(LiveOp::Drop, agent, before, None);
                (edit, format!("The message of {agent} is dropped"))
            }
            QueueEdit::Insert { from, to, text, .. } => {
                let edit = self.edit(LiveOp::Insert, from, None, Some(text));
                (edit, format!("A message of {from} to {to} is in the queue"))
            }
            QueueEdit::Send { to, text } => {
                let edit = self.edit(LiveOp::Send, to, None, Some(text));
                (edit, format!("Sent to {to}"))
            }
        };
        let of = match change {
            QueueEdit::Replace { id, .. } => Some(id.clone()),
            _ => None,
        };
        self.edits.push((of, edit));
        self.tell(Told::Did(said));
    }

    fn edit(&self, op: LiveOp, of: &str, before: Option<&str>, after: Option<&str>) -> LiveEdit {
        LiveEdit {
            op,
            by: self.lead.operator.clone(),
            of: of.to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        }
    }

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
        // A decision may come before the first step, and is recorded too.
        let begun = main.clone();
        let branch = blocking(self.store, move |store| Ok(store.branch(&begun)?)).await?;
        self.tell(Told::Began(Box::new(branch)));
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
        self.tell(Told::Progress(Box::new(Progress::Step { branch, head })));
        Ok(())
    }

    /// Decides about a call, once the receipt of that is written.
    async fn decide(
        &mut self,
        run: &mut dyn Live,
        effect: &Effect,
        decision: Decision,
    ) -> Result<(), PipelineError> {
        let word = match decision {
            Decision::Allow => Word::Allowed,
            Decision::Refuse => Word::Refused,
        };
        self.decided(effect, word).await?;
        run.decide(decision);
        Ok(())
    }

    /// The receipt of a decision, before anything happens.
    async fn decided(&mut self, effect: &Effect, word: Word) -> Result<(), PipelineError> {
        let main = self.main().await?;
        let (key, tool) = (effect.operation_key.clone(), effect.tool.clone());
        let operator = self.lead.operator.clone();
        blocking(self.store, move |store| {
            Ok(store.decide(About::NewEffect, &main, &key, word, &tool, &operator)?)
        })
        .await
    }

    fn tell(&self, what: Told) {
        // A watcher that went away does not stop the work.
        let _ = self.told.send(what);
    }
}

/// Why an order cannot be carried out where the run is.
const fn why_not(order: &Order, stands: Option<&Standing>) -> &'static str {
    match (order, stands) {
        (Order::Allow | Order::Refuse | Order::Answer(_), _) => "No call waits for a decision",
        (Order::Reply(_), _) => "Nobody asks a person just now",
        (_, None) => "The run moves: pause it first, then change what waits at the next boundary",
        (_, Some(Standing::Held { .. })) => "A call waits for your decision first",
        (_, Some(Standing::Asked { .. })) => "The team waits for your answer first",
        (_, Some(Standing::Boundary(_))) => "The run stands already",
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
