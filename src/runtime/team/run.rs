//! One continued run: a small state machine that hands out the pending step, then asks whoever's turn it is until there is an answer.
//!
//! Every wait happens in [`Run::next`] and leaves the state as it was if it is dropped.

mod act;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;

use self::act::Acts;
use super::cast::{Cast, Cue};
use super::code;
use super::ledger::{self, Need};
use super::reply::{Reply, Turn};
use super::tools::{Kit, Tool};
use super::{TeamSettings, answer, keys, transcript};
use crate::endpoint::{Answer, Call, Endpoint, Fault, Prompt};
use crate::model::{Effect, Manifest, RestoredKey, Step, StepKind, Usage};
use crate::runtime::{Decision, Event, Finish, Made, Restore, Run, RuntimeError, Workspace};

/// How often in a row an orchestrator may fail to say who is next.
const MAX_UNCLEAR: usize = 3;

/// A run and where it stands.
pub(super) struct TeamRun {
    endpoint: Endpoint,
    cast: Cast,
    config: Manifest,
    keys: Vec<RestoredKey>,
    prefix: Arc<Vec<Step>>,
    /// The steps made here, the pending one first.
    own: Vec<Step>,
    /// What a stopped run had made already, handed out before anybody is asked.
    made: VecDeque<Step>,
    /// What of prefix and own steps is too much to send.
    left_out: Range<usize>,
    max_steps: usize,
    max_chars: usize,
    kit: Kit,
    /// Effects that stay in the world.
    kept: Vec<Effect>,
    unclear: usize,
    usage: Usage,
    state: State,
    /// Events decided and not handed out yet.
    ready: VecDeque<Event>,
}

enum State {
    /// The pending step comes first.
    Pending(Box<Step>),
    /// This agent is to be asked.
    Asks(Ask),
    /// Its answer is coming in.
    Hears(Ask, Box<(Answer, Reply)>),
    /// Its tools are used.
    Acts(Acts),
    /// Nothing more happens.
    Over(Finish),
}

#[derive(Clone)]
struct Ask {
    agent: String,
    /// It answered without words before.
    again: bool,
}

impl TeamRun {
    /// A run in the state before the pending step; reaches nothing.
    pub(super) fn new(
        endpoint: Endpoint,
        settings: &TeamSettings,
        config: Manifest,
        restore: Restore,
    ) -> Result<Self, RuntimeError> {
        let keys = keys(&restore);
        let mut pending = restore.pending.ok_or_else(|| RuntimeError::Missing {
            what: "there is no step to continue from".to_owned(),
            mend: "Fork at a step of the log".to_owned(),
        })?;
        pending.index = restore.prefix.len();
        let cast = Cast::of(&restore.session, &restore.prefix.iter().chain([&pending]));
        Ok(Self {
            endpoint,
            cast,
            config,
            keys,
            prefix: restore.prefix,
            own: Vec::new(),
            made: restore.made.iter().cloned().collect(),
            left_out: 0..0,
            max_steps: restore.max_steps.min(settings.max_steps),
            max_chars: settings.max_chars,
            kit: Kit::new(
                settings.allowed.clone(),
                restore.workspace,
                settings.tool_limit,
            ),
            kept: restore.kept,
            unclear: 0,
            usage: Usage::default(),
            state: State::Pending(Box::new(pending)),
            ready: VecDeque::new(),
        })
    }

    fn steps(&self) -> impl DoubleEndedIterator<Item = &Step> + Clone {
        self.prefix.iter().chain(&self.own)
    }

    /// The last step that an agent made.
    fn last_spoken(&self) -> Option<&Step> {
        self.steps().rev().find(|step| !transcript::is_note(step))
    }

    fn commit(&mut self, step: Step) {
        self.commit_with(step, Vec::new());
    }

    fn commit_with(&mut self, mut step: Step, effects: Vec<Effect>) {
        step.index = self.prefix.len() + self.own.len();
        self.own.push(step.clone());
        self.ready.push_back(Event::Step(Box::new(Made {
            step,
            checkpoint: None,
            effects,
        })));
    }

    /// Hands a step out that a stopped run had made, and stands where that run stood behind it.
    fn retrace(&mut self, step: Step) {
        if transcript::is_note(&step) {
            // The same cut as then, for it follows from the steps alone.
            if let Some(wider) = transcript::cut(self.steps(), &self.left_out, self.max_chars) {
                self.left_out = wider;
            }
            self.commit(step);
            return;
        }
        // A worker's thought stands beside a call that is still to come.
        let thinks = step.kind == StepKind::Thought && !self.cast.leads(&step.agent);
        let agent = step.agent.clone();
        self.weigh(&step);
        self.deliver(step);
        if thinks {
            self.state = State::Asks(Ask {
                agent,
                again: false,
            });
        }
        self.give_up();
    }

    /// What is to be done by whoever's turn it is.
    fn need(&self, agent: &str) -> Need {
        if !self.cast.leads(agent) {
            return Need::Turn;
        }
        let spoken = self.steps().filter(|step| !transcript::is_note(step));
        ledger::need(spoken, agent, &self.cast.agents)
    }

    /// Counts how often in a row the orchestrator said nothing that can be followed.
    fn weigh(&mut self, step: &Step) {
        if !self.cast.leads(&step.agent) {
            return;
        }
        let unclear = match step.kind {
            StepKind::Message => true,
            StepKind::Ledger => {
                ledger::need([step].into_iter(), &step.agent, &self.cast.agents) == Need::Turn
            }
            _ => false,
        };
        self.unclear = if unclear { self.unclear + 1 } else { 0 };
    }

    /// Ends a run whose orchestrator cannot be followed.
    fn give_up(&mut self) {
        if self.unclear >= MAX_UNCLEAR {
            let reason = format!("the orchestrator named nobody to go on, {MAX_UNCLEAR} times");
            self.state = over(None, &reason);
        }
    }

    fn note(&mut self, text: String) {
        self.commit(Step {
            agent: transcript::NOTES.to_owned(),
            kind: StepKind::Control,
            text,
            ..Step::default()
        });
    }

    /// Commits what was said and settles what comes next.
    fn say(&mut self, step: Step, answered: Option<String>) {
        let next = self.cast.after(&step, self.steps());
        let calls = TeamRun::call_of(&step);
        let code = next.as_deref().and_then(|next| self.code_for(next, &step));
        let tool_by = (step.kind == StepKind::ToolResult).then(|| step.agent.clone());
        self.commit(step);
        if answered.is_none()
            && let Some(acts) = calls.or(code)
        {
            self.state = State::Acts(acts);
            return;
        }
        let ran =
            tool_by.filter(|agent| self.cast.orchestrator.is_none() && self.cast.executes(agent));
        let next = ran.map(|agent| self.after_tools(&agent)).or(next);
        self.state = match (answered, next) {
            (Some(answer), _) => over(Some(answer), "answered"),
            (None, Some(agent)) => State::Asks(Ask {
                agent,
                again: false,
            }),
            (None, None) => over(None, "nobody is left to speak"),
        };
    }

    /// The Python that a dialogue's executor is to run next, where the other wrote some.
    fn code_for(&self, next: &str, step: &Step) -> Option<Acts> {
        let dialogue = self.cast.orchestrator.is_none() && step.agent != next;
        if !dialogue || !self.cast.executes(next) || step.kind != StepKind::Message {
            return None;
        }
        let call = code::call(&code::python(&step.text)?);
        Some(Acts::new(next.to_owned(), vec![call]))
    }

    /// The pending step: it may itself end the run.
    fn deliver(&mut self, step: Step) {
        let ends = match step.kind {
            StepKind::Answer => true,
            StepKind::Message => self.cast.orchestrator.is_none() || self.cast.leads(&step.agent),
            _ => false,
        };
        let mut answered = ends.then(|| self.closing(&step.text)).flatten();
        if step.kind == StepKind::Answer {
            answered = answered.or_else(|| Some(step.text.trim().to_owned()));
        }
        self.say(step, answered);
    }

    fn closing(&self, text: &str) -> Option<String> {
        if self.cast.orchestrator.is_some() {
            answer::stated(text)
        } else {
            answer::closing(text, self.last_spoken().map(|step| step.text.as_str()))
        }
    }

    /// Asks whoever's turn it is, unless the run is at its limit or something must be noted first.
    async fn ask(&mut self, ask: Ask) -> Result<(), Fault> {
        if self.own.len() >= self.max_steps {
            self.state = over(None, &format!("{} steps reached", self.own.len()));
            return Ok(());
        }
        if let Some(wider) = transcript::cut(self.steps(), &self.left_out, self.max_chars) {
            let text = format!(
                "The conversation is longer than {} characters: steps {} to {} are no longer sent to the model",
                self.max_chars,
                wider.start,
                wider.end - 1
            );
            self.left_out = wider;
            self.note(text);
            return Ok(());
        }
        let need = self.need(&ask.agent);
        if let Need::Instruct(to, text) = need {
            self.ready.push_back(Event::Delta {
                agent: ask.agent.clone(),
                text: text.clone(),
            });
            let step = Step {
                agent: ask.agent,
                kind: StepKind::Instruction,
                to: Some(to),
                text,
                ..Step::default()
            };
            self.say(step, None);
            return Ok(());
        }
        let cue = if self.own.len() + 1 >= self.max_steps {
            Cue::Last
        } else if need == Need::Plan {
            Cue::Plan
        } else if need == Need::Final {
            Cue::Final
        } else if self.unclear > 0 {
            Cue::Again
        } else if self
            .last_spoken()
            .is_some_and(|step| step.agent == ask.agent)
        {
            Cue::GoOn
        } else {
            Cue::Turn
        };
        let tools = self.tools_of(&ask.agent, cue);
        let messages = transcript::messages(
            &self.cast.system(&ask.agent, &tools),
            self.steps(),
            &self.left_out,
            &ask.agent,
            self.cast.cue(&ask.agent, cue).as_deref(),
        );
        let prompt = Prompt {
            tools: Kit::schemas(&tools),
            ..Prompt::of(messages)
        };
        let answer = self.endpoint.open(&prompt).await?;
        let reply = if self.cast.leads(&ask.agent) {
            Reply::directed()
        } else {
            Reply::plain()
        };
        self.state = State::Hears(ask, Box::new((answer, reply)));
        Ok(())
    }

    /// The tools that an agent is offered now. The orchestrator has none, and the last turn is for words.
    fn tools_of(&self, agent: &str, cue: Cue) -> Vec<Tool> {
        if self.cast.leads(agent) || cue == Cue::Last {
            return Vec::new();
        }
        self.kit.offered(agent)
    }

    /// The answer is whole and calls tools: what was said beside is a thought.
    fn heard_calls(&mut self, ask: Ask, mut reply: Reply, calls: Vec<Call>) {
        let (last, text) = reply.finish(&self.cast.agents);
        let text = self.endpoint.masked(&text);
        let agent = ask.agent;
        self.ready.extend(last.map(|text| Event::Delta {
            agent: agent.clone(),
            text,
        }));
        if !text.is_empty() {
            self.commit(Step {
                agent: agent.clone(),
                kind: StepKind::Thought,
                text,
                ..Step::default()
            });
        }
        let masked = |call: Call| {
            let arguments = self.endpoint.masked(&call.arguments);
            Call::new(call.id, call.name, arguments)
        };
        let calls = calls.into_iter().map(masked).collect();
        self.state = State::Acts(Acts::new(agent, calls));
    }

    /// The answer is whole: makes its step.
    fn heard(&mut self, ask: Ask, mut reply: Reply, finish: Option<&str>) -> Result<(), Fault> {
        let agents = &self.cast.agents;
        let (last, text) = reply.finish(agents);
        // What is committed is kept: the key must not be in it.
        let text = self.endpoint.masked(&text);
        let leads = self.cast.leads(&ask.agent);
        let need = self.need(&ask.agent);
        let turn = leads.then(|| reply.turn(&text, agents));
        let directive_alone = text.is_empty() && matches!(turn, Some(Turn::Next(_) | Turn::Plan));
        if text.is_empty() && !directive_alone {
            if ask.again {
                return Err(Fault::Empty);
            }
            self.state = State::Asks(Ask { again: true, ..ask });
            return Ok(());
        }
        self.ready.extend(last.map(|text| Event::Delta {
            agent: ask.agent.clone(),
            text,
        }));
        let (kind, to, answered) = match turn {
            _ if directive_alone => (StepKind::Message, None, None),
            Some(Turn::Next(_)) if need == Need::Plan => (StepKind::Plan, None, None),
            Some(Turn::Next(agent)) => (StepKind::Instruction, Some(agent), None),
            Some(Turn::Plan) => (StepKind::Plan, None, None),
            Some(Turn::Answer(answer)) => (StepKind::Answer, None, Some(answer)),
            // Asked for a plan or for the answer, it gave one in words of its own.
            Some(Turn::Ledger | Turn::Unclear) if need == Need::Plan => {
                (StepKind::Plan, None, None)
            }
            Some(Turn::Unclear) if need == Need::Final => {
                (StepKind::Answer, None, Some(text.trim().to_owned()))
            }
            Some(Turn::Ledger) => (StepKind::Ledger, None, None),
            Some(Turn::Unclear) => (StepKind::Message, None, None),
            None => match self.cast.orchestrator {
                Some(_) => (StepKind::Message, None, None),
                None => match self.closing(&text) {
                    Some(answer) => (StepKind::Answer, None, Some(answer)),
                    None => (StepKind::Message, None, None),
                },
            },
        };
        if directive_alone {
            self.unclear += 1;
            self.state = State::Asks(ask);
        } else {
            let step = Step {
                agent: ask.agent,
                kind,
                to,
                text,
                ..Step::default()
            };
            self.weigh(&step);
            self.say(step, answered);
        }
        self.give_up();
        let cut_by = match finish {
            Some("length") => "token limit",
            Some("content_filter") => "content filter",
            _ => return Ok(()),
        };
        self.note(format!(
            "The answer above was cut by the endpoint's {cut_by}"
        ));
        Ok(())
    }

    async fn advance(&mut self) -> Result<Event, Fault> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(event);
            }
            match &mut self.state {
                State::Pending(step) => {
                    let step = std::mem::take(&mut **step);
                    self.deliver(step);
                }
                State::Asks(_) | State::Acts(_) if !self.made.is_empty() => {
                    if let Some(step) = self.made.pop_front() {
                        self.retrace(step);
                    }
                }
                State::Asks(ask) => {
                    let ask = ask.clone();
                    self.ask(ask).await?;
                }
                State::Hears(ask, coming) => {
                    let (answer, reply) = &mut **coming;
                    if let Some(piece) = answer.next().await? {
                        if let Some(text) = reply.push(&piece, &self.cast.agents) {
                            return Ok(Event::Delta {
                                agent: ask.agent.clone(),
                                text,
                            });
                        }
                    } else {
                        let (ask, reply) = (ask.clone(), std::mem::take(reply));
                        let finish = answer.finish.take();
                        self.usage.add(&answer.usage);
                        let calls = std::mem::take(&mut answer.calls);
                        if calls.is_empty() || self.cast.leads(&ask.agent) {
                            self.heard(ask, reply, finish.as_deref())?;
                        } else {
                            self.heard_calls(ask, reply, calls);
                        }
                    }
                }
                State::Acts(_) => self.act().await,
                State::Over(finish) => return Ok(Event::Finished(finish.clone())),
            }
        }
    }
}

fn over(answer: Option<String>, reason: &str) -> State {
    State::Over(Finish {
        answer,
        // Nothing here can tell whether an agent did what a text asked for.
        fulfilled: None,
        reason: reason.to_owned(),
    })
}

#[async_trait]
impl Run for TeamRun {
    fn keys(&self) -> Vec<RestoredKey> {
        self.keys.clone()
    }

    fn config(&self) -> Manifest {
        self.config.clone()
    }

    fn decide(&mut self, decision: Decision) {
        if let State::Acts(acts) = &mut self.state {
            acts.decide(decision);
        }
    }

    fn workspace(&self) -> Workspace {
        self.kit
            .workspace()
            .map_or(Workspace::None, |dir| Workspace::Dir(dir.clone()))
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    async fn next(&mut self) -> Result<Event, RuntimeError> {
        self.advance()
            .await
            .map_err(|fault| self.endpoint.explain(fault).into())
    }
}
