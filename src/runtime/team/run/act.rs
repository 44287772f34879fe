//! What a run does when an agent calls tools: a `tool_call` step, the operator's decision where one is due, a `tool_result` step.
//!
//! Invariants: a call whose effect stays in the world is answered from the record and does nothing; nothing happens before its decision.

use std::collections::VecDeque;

use super::{Ask, State, TeamRun};
use crate::endpoint::Call;
use crate::model::{Effect, EffectClass, Step, StepKind, StepMeta, ToolUse};
use crate::runtime::team::tools::{self, Outcome, Tool};
use crate::runtime::{Decision, Event};

/// Calls on their way.
pub(super) struct Acts {
    /// Who called.
    agent: String,
    calls: VecDeque<Call>,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The first call is to become a step.
    Calls,
    /// Its step is made.
    Called,
    /// The operator is asked.
    Waits,
    /// It may happen, or must not.
    Does(Decision),
}

impl Acts {
    pub(super) fn new(agent: String, calls: Vec<Call>) -> Self {
        Self {
            agent,
            calls: calls.into(),
            stage: Stage::Calls,
        }
    }

    pub(super) fn decide(&mut self, decision: Decision) {
        if self.stage == Stage::Waits {
            self.stage = Stage::Does(decision);
        }
    }
}

impl TeamRun {
    /// The call that a step of the log makes, where it is one of our tools.
    pub(super) fn call_of(step: &Step) -> Option<Acts> {
        let tool = step.meta.tool.as_ref()?;
        if step.kind != StepKind::ToolCall {
            return None;
        }
        Tool::named(&tool.name)?;
        let id = tool.call_id.clone().unwrap_or_else(|| "call_1".to_owned());
        let call = Call::new(id, tool.name.clone(), step.text.clone());
        Some(Acts {
            stage: Stage::Called,
            ..Acts::new(step.agent.clone(), vec![call])
        })
    }

    /// Goes one stage on with the calls.
    pub(super) async fn act(&mut self) {
        let State::Acts(acts) = &self.state else {
            return;
        };
        let (agent, stage) = (acts.agent.clone(), acts.stage);
        let Some(call) = acts.calls.front().cloned() else {
            self.state = State::Asks(Ask {
                agent: self.after_tools(&agent),
                again: false,
            });
            return;
        };
        match stage {
            Stage::Calls => {
                self.commit(Step {
                    kind: StepKind::ToolCall,
                    text: call.arguments.clone(),
                    meta: meta(&call, false, false),
                    ..Self::said_by(&agent)
                });
                self.at(Stage::Called);
            }
            Stage::Called => {
                let effect = tools::effect(&call, &agent, self.last_index());
                if let Some(kept) = effect.as_ref().and_then(|it| self.record(it)) {
                    let text = kept.result.clone().unwrap_or_default();
                    self.result(&agent, &call, text, false, None);
                    return;
                }
                let tool = Tool::named(&call.name);
                let refused = tool.is_none_or(|tool| self.kit.refusal(tool).is_some());
                match effect {
                    Some(effect) if effect.class != EffectClass::Idempotent && !refused => {
                        self.ready.push_back(Event::Ask(Box::new(effect)));
                        self.at(Stage::Waits);
                    }
                    _ => self.at(Stage::Does(Decision::Allow)),
                }
            }
            Stage::Waits => {
                if let Some(effect) = tools::effect(&call, &agent, self.last_index()) {
                    self.ready.push_back(Event::Ask(Box::new(effect)));
                }
            }
            Stage::Does(decision) => {
                let outcome = match decision {
                    Decision::Allow => self.kit.perform(&call).await,
                    Decision::Refuse => {
                        Outcome::failed("The operator did not let it happen; nothing was done.")
                    }
                };
                let text = self.endpoint.masked(&outcome.text);
                let tool = Tool::named(&call.name);
                let usable = tool.is_some_and(|tool| self.kit.refusal(tool).is_none());
                // A program that failed may have done something before.
                let happened = decision == Decision::Allow && usable;
                let effect = tools::effect(&call, &agent, self.last_index())
                    .filter(|_| happened)
                    .map(|effect| Effect {
                        result: Some(text.clone()),
                        ..effect
                    });
                self.result(&agent, &call, text, outcome.failed, effect);
            }
        }
    }

    /// Who goes on when the tools have answered: who called, or in a dialogue whose executor ran the code, who wrote it.
    pub(super) fn after_tools(&self, agent: &str) -> String {
        if self.cast.orchestrator.is_some() || !self.cast.executes(agent) {
            return agent.to_owned();
        }
        let writer = self
            .steps()
            .rev()
            .find(|step| step.agent != agent && self.cast.agents.contains(&step.agent));
        writer.map_or(agent, |step| step.agent.as_str()).to_owned()
    }

    /// The effect of the same operation that stays in the world.
    fn record(&self, effect: &Effect) -> Option<&Effect> {
        self.kept
            .iter()
            .find(|kept| kept.tool == effect.tool && kept.operation_key == effect.operation_key)
    }

    /// Commits what a tool answered.
    fn result(
        &mut self,
        agent: &str,
        call: &Call,
        text: String,
        failed: bool,
        effect: Option<Effect>,
    ) {
        let from_record = effect.is_none()
            && tools::effect(call, agent, 0).is_some_and(|it| self.record(&it).is_some());
        let step = Step {
            kind: StepKind::ToolResult,
            text,
            meta: StepMeta {
                error: failed,
                ..meta(call, failed, from_record)
            },
            ..Self::said_by(agent)
        };
        self.commit_with(step, effect.into_iter().collect());
        if let State::Acts(acts) = &mut self.state {
            acts.calls.pop_front();
            acts.stage = Stage::Calls;
        }
    }

    fn at(&mut self, stage: Stage) {
        if let State::Acts(acts) = &mut self.state {
            acts.stage = stage;
        }
    }

    fn said_by(agent: &str) -> Step {
        Step {
            agent: agent.to_owned(),
            ..Step::default()
        }
    }

    /// The place of the step made last.
    fn last_index(&self) -> usize {
        (self.prefix.len() + self.own.len()).saturating_sub(1)
    }
}

/// What a step says of its call.
fn meta(call: &Call, failed: bool, from_record: bool) -> StepMeta {
    StepMeta {
        tool: Some(ToolUse {
            name: call.name.clone(),
            call_id: Some(call.id.clone()),
            arguments: Some(call.arguments.clone()),
            class: Tool::named(&call.name).map(Tool::class),
            failed,
            from_record,
        }),
        ..StepMeta::default()
    }
}
