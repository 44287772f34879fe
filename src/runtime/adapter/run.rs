//! One run of a team in an adapter process: every message at a boundary becomes a step with the state before it.
//!
//! What is said between two boundaries becomes steps without a checkpoint, handed out when the next boundary is known, each message once.
//! An effect belongs to the last step before it, so that a fork at that step sees it and one after it does not; where the run breaks down
//! between boundaries, what was said and done is handed out before the error is.

use std::collections::{BTreeSet, VecDeque};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::config::digest_of;
use super::error::AdapterError;
use super::host::{Heard, Host};
use super::state;
use super::wire::{self, Entry, Message, Notice, Position, Question, Status};
use crate::model::{
    Checkpoint, Effect, EffectClass, EffectState, Manifest, RestoredKey, Session, Step, StepKind,
    StepMeta, ToolUse, Usage,
};
use crate::runtime::{Decision, Event, Finish, Made, Queued, Run, RuntimeError, Workspace};

mod held;

/// A run and where it stands.
pub(super) struct AdapterRun {
    host: Host,
    config: Manifest,
    keys: Vec<RestoredKey>,
    /// The session's tools and their classes.
    session: std::sync::Arc<Session>,
    /// Effects that stay in the world.
    kept: Vec<Effect>,
    workspace: Workspace,
    /// The place of the next step.
    index: usize,
    made: usize,
    max_steps: usize,
    /// Messages that are steps already.
    seen: BTreeSet<String>,
    /// What was said and done since the last boundary.
    said: Vec<Message>,
    done: Vec<Effect>,
    usage: Usage,
    state: State,
    ready: VecDeque<Event>,
    /// Whether a person holds it at its boundaries.
    live: bool,
    /// Whether a person's word was given that nothing was heard of since.
    replied: bool,
    /// What comes once everything that happened is handed out.
    fault: Option<AdapterError>,
}

/// Where a run stands.
enum State {
    /// At a boundary whose message is to be handed out.
    At(Box<Boundary>),
    /// The message was handed out and is to be delivered.
    Delivers,
    /// The team is at work.
    Works,
    /// A call is held.
    Held(Box<Question>),
    /// A person is asked.
    Asks(Box<Question>),
    /// Nothing more happens.
    Over(Finish),
}

/// A moment when one message is about to be delivered.
#[derive(Clone)]
struct Boundary {
    /// The message; none once it was dropped and nothing was put in its place.
    message: Option<Message>,
    /// As it shall be said, where that is known.
    given: Option<Step>,
    /// Whether that is an edit.
    edited: bool,
    /// Whether it was told what is pending.
    told: bool,
}

/// What a run is made from beside its process.
pub(super) struct Begun {
    pub(super) session: std::sync::Arc<Session>,
    pub(super) config: Manifest,
    pub(super) keys: Vec<RestoredKey>,
    pub(super) kept: Vec<Effect>,
    pub(super) workspace: Workspace,
    /// The place of the first step.
    pub(super) index: usize,
    pub(super) max_steps: usize,
}

impl AdapterRun {
    /// A run that was asked to start.
    pub(super) fn started(host: Host, begun: Begun) -> Self {
        Self {
            host,
            config: begun.config,
            keys: begun.keys,
            session: begun.session,
            kept: begun.kept,
            workspace: begun.workspace,
            index: begun.index,
            made: 0,
            max_steps: begun.max_steps,
            seen: BTreeSet::new(),
            said: Vec::new(),
            done: Vec::new(),
            usage: Usage::default(),
            state: State::Works,
            ready: VecDeque::new(),
            live: false,
            replied: false,
            fault: None,
        }
    }

    /// A run that was restored to a boundary. `step` is its message as it shall be, `edited` whether that is another text.
    pub(super) fn restored(
        host: Host,
        at: Position,
        begun: Begun,
        step: Step,
        edited: bool,
    ) -> Result<Self, AdapterError> {
        let mut run = Self::started(host, begun);
        run.host.step = Some(at.step);
        match at.pending {
            Some(message) if at.status == Status::Paused => {
                run.seen.extend(id(&message));
                run.state = State::At(Box::new(Boundary {
                    message: Some(message),
                    given: Some(step),
                    edited,
                    told: false,
                }));
                Ok(run)
            }
            _ => Err(run.host.shape(
                "there is no pending message after the restore, so there is nothing to go on from"
                    .to_owned(),
            )),
        }
    }

    /// A position was told: the next boundary, or the end.
    fn arrived(&mut self, at: &Position) -> Result<(), AdapterError> {
        self.host.step = Some(at.step);
        if at.status != Status::Input {
            self.replied = false;
        }
        match (at.status, &at.pending) {
            (Status::Paused, Some(message)) => {
                let known = id(message);
                self.said
                    .retain(|said| known.is_none() || id(said) != known);
                self.hand_out(false);
                self.seen.extend(known);
                self.state = State::At(Box::new(Boundary::of(Some(message.clone()))));
            }
            (Status::Paused, None) => {
                return Err(self
                    .host
                    .shape("`paused` without a pending message".to_owned()));
            }
            (Status::Done, _) => {
                self.hand_out(true);
                self.state = State::Over(Finish {
                    answer: at.answer().map(|text| self.host.log().masked(&text)),
                    fulfilled: None,
                    reason: at.reason().unwrap_or_else(|| "the team ended".to_owned()),
                });
            }
            (Status::Failed, _) => {
                let told = at.reason().or(at.answer());
                return Err(self.host.failed(&told.unwrap_or_default()));
            }
            // What is asked comes as an event. Once it is answered, what is under way is taken up again.
            (Status::Input, _) if std::mem::take(&mut self.replied) => {
                self.state = State::Delivers;
            }
            (Status::Input, _) => {}
        }
        Ok(())
    }

    /// Hands out what was said since the last boundary, and with the last of it what was done. `all`: nothing comes after it.
    fn hand_out(&mut self, all: bool) {
        let said: Vec<Message> = std::mem::take(&mut self.said);
        for message in said {
            if id(&message).is_some_and(|id| !self.seen.insert(id)) {
                continue;
            }
            let step = self.step(&message);
            self.commit(step, None);
        }
        // A call that no message speaks of still happened.
        while all && !self.done.is_empty() {
            let effect = self.done.remove(0);
            let step = call_step(&effect, self.index);
            let effect = Effect {
                step: self.index,
                ..effect
            };
            self.commit_with(step, None, vec![effect]);
        }
    }

    fn step(&self, message: &Message) -> Step {
        message.step(self.index, |text| self.host.log().masked(text))
    }

    fn commit(&mut self, step: Step, checkpoint: Option<Checkpoint>) {
        // An effect goes with its call where that is said, else with the next step that comes.
        let calls = step
            .meta
            .tool
            .as_ref()
            .filter(|_| step.kind != StepKind::ToolResult);
        let (own, later): (Vec<Effect>, Vec<Effect>) = match (calls, checkpoint.is_some()) {
            (Some(call), false) => std::mem::take(&mut self.done)
                .into_iter()
                .partition(|effect| effect.tool == call.name),
            (_, true) => (std::mem::take(&mut self.done), Vec::new()),
            _ => (Vec::new(), std::mem::take(&mut self.done)),
        };
        self.done = later;
        // A boundary's checkpoint has the effect behind it.
        let at = if checkpoint.is_some() {
            self.index.saturating_sub(1)
        } else {
            self.index
        };
        let own = own.into_iter().map(|effect| Effect { step: at, ..effect });
        let own = own.collect();
        self.commit_with(step, checkpoint, own);
    }

    fn commit_with(&mut self, step: Step, checkpoint: Option<Checkpoint>, effects: Vec<Effect>) {
        self.ready.push_back(Event::Step(Box::new(Made {
            step: Step {
                index: self.index,
                ..step
            },
            checkpoint,
            effects,
        })));
        self.index += 1;
        self.made += 1;
    }

    /// Hands out the message at a boundary with the state before it.
    async fn boundary(&mut self, at: Boundary) -> Result<(), AdapterError> {
        if let Some(message) = at.message {
            if at.edited
                && let Some(step) = &at.given
            {
                let op = json!({"op": "replace_pending", "message_id": message.id, "content": step.text});
                let _applied: Value = self.host.call("edit", &json!({"ops": [op]})).await?;
            }
            let checkpoint = self.checkpoint().await?;
            let step = at.given.unwrap_or_else(|| self.step(&message));
            self.commit(step, Some(checkpoint));
        }
        self.state = State::Delivers;
        Ok(())
    }

    async fn checkpoint(&mut self) -> Result<Checkpoint, AdapterError> {
        let told: Value = self.host.call("checkpoint", &json!({})).await?;
        state::kept(&told, self.index).map_err(|what| self.host.shape(what))
    }

    fn noticed(&mut self, notice: Notice) -> Result<Option<Event>, AdapterError> {
        match notice {
            Notice::Delta { agent, text } => {
                let text = self.host.log().masked(&text);
                return Ok(Some(Event::Delta { agent, text }));
            }
            Notice::Output(message) => self.said.push(message),
            Notice::Effect(entry) => self.done.extend(self.effect(&entry)),
            Notice::Model(usage) => self.usage.add(&usage),
            Notice::Log(line) => self.host.log().text(&line),
            Notice::Asked(question) => return self.asked(question),
            Notice::Known => {}
        }
        Ok(None)
    }

    /// A call is held: answered from the record if its effect stays in the world, else somebody decides.
    fn asked(&mut self, question: Question) -> Result<Option<Event>, AdapterError> {
        if question.call.tool.is_empty() {
            let prompt = self.host.log().masked(&wire::text(&question.prompt));
            if !self.live {
                return Err(self.host.asks(prompt));
            }
            let agent = question.call.agent.clone();
            self.state = State::Asks(Box::new(question));
            return Ok(Some(Event::Question { agent, prompt }));
        }
        let effect = self.held(&question.call);
        // The same call twice is two effects, so each record answers once.
        let recorded = self.kept.iter().position(|kept| {
            kept.tool == effect.tool
                && (kept.operation_key == effect.operation_key
                    || kept.args_sha256 == effect.args_sha256)
        });
        if let Some(place) = recorded {
            let kept = self.kept.remove(place);
            let result = kept.result.clone().unwrap_or_default();
            self.respond(&question, &json!({"decision": "answer", "result": result}));
            return Ok(None);
        }
        self.state = State::Held(Box::new(question));
        Ok(Some(Event::Ask(Box::new(effect))))
    }

    fn respond(&mut self, question: &Question, value: &Value) {
        let params = json!({"request_id": question.request_id, "value": value});
        self.host.tell("respond", &params);
    }

    /// What a call is about to do.
    fn held(&self, call: &Entry) -> Effect {
        let told = wire::class(&call.effect);
        let profile = self.session.profile.tools.get(&call.tool);
        let class = match profile.map(|tool| tool.class) {
            // Where nobody has said it here, the adapter's word counts.
            None | Some(EffectClass::Unknown) => told,
            Some(class) => class,
        };
        let args = digest_of(&call.args_sha256, &call.args_sha256);
        let key = wire::text(&call.operation_key);
        Effect {
            step: self.index.saturating_sub(1),
            agent: call.agent.clone(),
            tool: call.tool.clone(),
            class,
            operation_key: if key.is_empty() {
                format!("{}-{}", call.tool, args.short())
            } else {
                key
            },
            args_sha256: args,
            result: None,
            state: EffectState::Pending,
            evidence: None,
        }
    }

    /// What a call did; none if it did nothing.
    fn effect(&self, entry: &Entry) -> Option<Effect> {
        let happened = !matches!(entry.disposition.as_str(), "replayed" | "blocked");
        let effect = self.held(entry);
        let result = wire::text(&entry.result);
        (happened && effect.class != EffectClass::ReadOnly).then(|| Effect {
            result: (!result.is_empty()).then(|| self.host.log().masked(&result)),
            ..effect
        })
    }

    async fn advance(&mut self) -> Result<Event, AdapterError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(event);
            }
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            let went = match &mut self.state {
                State::At(at) if self.live && !at.told => {
                    at.told = true;
                    let pending = at.message.clone();
                    Ok(pending.map(|message| {
                        let step = self.step(&message);
                        Event::Pending(Box::new(Queued {
                            id: message.id,
                            step,
                        }))
                    }))
                }
                State::At(at) => {
                    let at = (**at).clone();
                    self.boundary(at).await.map(|()| None)
                }
                State::Delivers if self.made >= self.max_steps => {
                    let reason = format!("{} steps reached", self.made);
                    self.state = State::Over(Finish {
                        reason,
                        ..Finish::default()
                    });
                    Ok(None)
                }
                State::Delivers => {
                    self.host.ask("step", &json!({"count": 1}));
                    self.state = State::Works;
                    Ok(None)
                }
                State::Works => self.hear().await,
                State::Held(question) => {
                    let call = question.call.clone();
                    return Ok(Event::Ask(Box::new(self.held(&call))));
                }
                State::Asks(question) => {
                    let (agent, prompt) =
                        (question.call.agent.clone(), wire::text(&question.prompt));
                    let prompt = self.host.log().masked(&prompt);
                    return Ok(Event::Question { agent, prompt });
                }
                State::Over(finish) => return Ok(Event::Finished(finish.clone())),
            };
            match went {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(fault) => {
                    self.hand_out(true);
                    self.fault = Some(fault);
                }
            }
        }
    }

    async fn hear(&mut self) -> Result<Option<Event>, AdapterError> {
        match self.host.hear().await? {
            Heard::Notice(notice) => self.noticed(*notice),
            Heard::Answer(value) => {
                let at: Position = self.host.read(value)?;
                self.arrived(&at)?;
                Ok(None)
            }
        }
    }
}

impl Boundary {
    fn of(message: Option<Message>) -> Self {
        Self {
            message,
            given: None,
            edited: false,
            told: false,
        }
    }
}

/// A message's own id.
fn id(message: &Message) -> Option<String> {
    Some(wire::text(&message.id)).filter(|id| !id.is_empty())
}

/// A step for a call that no message of the framework speaks of.
fn call_step(effect: &Effect, index: usize) -> Step {
    Step {
        index,
        agent: effect.agent.clone(),
        kind: StepKind::ToolCall,
        text: effect.operation_key.clone(),
        meta: StepMeta {
            tool: Some(ToolUse {
                name: effect.tool.clone(),
                class: Some(effect.class),
                ..ToolUse::default()
            }),
            ..StepMeta::default()
        },
        ..Step::default()
    }
}

#[async_trait]
impl Run for AdapterRun {
    fn keys(&self) -> Vec<RestoredKey> {
        self.keys.clone()
    }

    fn config(&self) -> Manifest {
        self.config.clone()
    }

    fn decide(&mut self, decision: Decision) {
        let State::Held(question) = &self.state else {
            return;
        };
        let question = question.clone();
        let word = match decision {
            Decision::Allow => "run",
            Decision::Refuse => "refuse",
        };
        self.respond(&question, &json!({ "decision": word }));
        self.state = State::Works;
    }

    fn workspace(&self) -> Workspace {
        self.workspace.clone()
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    async fn next(&mut self) -> Result<Event, RuntimeError> {
        Ok(self.advance().await?)
    }
}
