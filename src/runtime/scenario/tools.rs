//! Calling tools: local fixtures whose effects stand in the world's own logs, in files and among its approvals.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::destination;
use super::engine::{Draft, Engine, learn, meta};
use super::state::{Call, Next};
use super::world::Tool;
use crate::model::{Digest, Effect, EffectClass, EffectState, Step, StepKind, StepMeta, ToolUse};
use crate::runtime::Decision;

/// The arguments of a call as they stand in its step.
pub(super) fn arguments(step: &Step) -> Option<BTreeMap<String, String>> {
    let read: Value = serde_json::from_str(&step.text).ok()?;
    let plain = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let object = read.as_object()?.iter();
    Some(object.map(|(k, v)| (k.clone(), plain(v))).collect())
}

/// A line in a destination's log.
pub(super) fn entry(effect: &Effect, args: &BTreeMap<String, String>, result: &str) -> Value {
    json!({ "operation_key": effect.operation_key, "tool": effect.tool, "arguments": args, "result": result })
}

/// What a call does to the world, under its stable key.
fn effect(tool: &Tool, args: &BTreeMap<String, String>, step: &Step, result: String) -> Effect {
    let arguments = json!(args).to_string();
    let key = tool.operation_key.as_ref().and_then(|key| args.get(key));
    Effect {
        step: step.index,
        agent: step.agent.clone(),
        tool: tool.name.clone(),
        class: tool.class,
        operation_key: key
            .cloned()
            .unwrap_or_else(|| Digest::of(&arguments).short()),
        args_sha256: Digest::of(&arguments),
        result: Some(result),
        state: EffectState::Pending,
        evidence: None,
    }
}

impl Engine {
    pub(super) fn tool_use(&self, name: &str, arguments: Option<String>, failed: bool) -> ToolUse {
        ToolUse {
            name: name.to_owned(),
            arguments,
            class: self.core.world.tool(name).map(|tool| tool.class),
            failed,
            ..ToolUse::default()
        }
    }

    /// The tool is called with the arguments as they stand in the step.
    pub(super) fn commit_call(&mut self, step: &Step) {
        let name = step
            .meta
            .tool
            .as_ref()
            .map(|t| t.name.clone())
            .unwrap_or_default();
        let call = match (self.core.world.tool(&name).cloned(), arguments(step)) {
            (None, _) => Call {
                result: format!("There is no tool '{name}'."),
                failed: true,
                tool: name,
                args: BTreeMap::new(),
                kept: None,
            },
            (Some(tool), None) => Call {
                result: format!("The arguments of {} are no JSON object.", tool.name),
                failed: true,
                tool: tool.name,
                args: BTreeMap::new(),
                kept: None,
            },
            (Some(tool), Some(args)) => self.call(&tool, args, step),
        };
        if !call.failed {
            self.noticed();
        }
        if let Some(turn) = &mut self.state.memory.turn {
            turn.call = Some(call);
        }
        self.state.memory.next = Next::Result;
    }

    fn call(&mut self, tool: &Tool, args: BTreeMap<String, String>, step: &Step) -> Call {
        let done = |result: String, failed: bool, args| Call {
            tool: tool.name.clone(),
            args,
            result,
            failed,
            kept: None,
        };
        if tool
            .needs
            .iter()
            .any(|need| !self.state.memory.beliefs.contains_key(need))
        {
            let text = if tool.refusal.is_empty() {
                format!("{} refuses: something it needs is not known.", tool.name)
            } else {
                tool.refusal.clone()
            };
            return done(text, true, args);
        }
        let approved = |id: &String| {
            self.state
                .approvals
                .get(id)
                .is_some_and(|state| state == "approved")
        };
        let queued = tool.approval.as_ref().is_some_and(|id| !approved(id));
        let template = if queued { &tool.queued } else { &tool.result };
        let result = self.core.fill(template, &args, &self.state);
        if tool.class == EffectClass::ReadOnly || queued {
            return done(result, queued, args);
        }
        let effect = effect(tool, &args, step, result.clone());
        if let Some(kept) = self.kept(&effect) {
            let same = kept.args_sha256 == effect.args_sha256;
            let result = kept.result.clone().unwrap_or(result);
            return Call {
                kept: Some(same),
                ..done(result, false, args)
            };
        }
        if tool.outside && self.decided == Some(Decision::Refuse) {
            let text = format!("{} was not let out: the operator refused it.", tool.name);
            return done(text, true, args);
        }
        let entry = entry(&effect, &args, &result);
        match (&tool.log, &self.destination) {
            (Some(log), Some(dir)) if tool.outside => {
                if let Err(error) = destination::append(dir, log, &entry) {
                    let text = format!("{} did not reach its destination: {error}.", tool.name);
                    return done(text, true, args);
                }
            }
            (Some(log), _) => {
                let key = entry.get("operation_key");
                let entries = self.state.logs.entry(log.clone()).or_default();
                entries.retain(|entry| entry.get("operation_key") != key);
                entries.push(entry);
            }
            (None, _) => {}
        }
        self.effects.push(effect);
        done(result, false, args)
    }

    /// What was kept of an effect that would happen again.
    fn kept(&self, effect: &Effect) -> Option<&Effect> {
        let same =
            |kept: &&Effect| kept.tool == effect.tool && kept.operation_key == effect.operation_key;
        self.kept.iter().find(same)
    }

    /// The new effect outside that a step is about to have, if it is to have one.
    pub(super) fn about_to(&self, step: &Step) -> Option<Effect> {
        let called = step
            .meta
            .tool
            .as_ref()
            .filter(|_| step.kind == StepKind::ToolCall)?;
        let tool = self.core.world.tool(&called.name)?;
        let ready = tool
            .needs
            .iter()
            .all(|need| self.state.memory.beliefs.contains_key(need));
        let waits = tool.approval.as_ref().is_some_and(|id| {
            self.state
                .approvals
                .get(id)
                .is_none_or(|state| state != "approved")
        });
        if !tool.outside || tool.class == EffectClass::ReadOnly || !ready || waits {
            return None;
        }
        let effect = effect(tool, &arguments(step)?, step, String::new());
        self.kept(&effect).is_none().then_some(effect)
    }

    pub(super) fn compose_result(&self) -> Option<Draft> {
        let mut after = self.state.clone();
        let turn = after.memory.turn.as_mut()?;
        let agent = turn.agent.clone();
        let told = turn.told.clone();
        let ask = turn.ask.clone().filter(|_| turn.acts.is_empty());
        let call = turn.call.take()?;
        let mut facts = Vec::new();
        if let Some(tool) = self.core.world.tool(&call.tool).filter(|_| !call.failed) {
            for (file, template) in &tool.writes {
                let text = self.core.fill(template, &call.args, &after);
                after.files.insert(file.clone(), text);
            }
            if let Some(id) = &tool.grants {
                after.approvals.insert(id.clone(), "approved".to_owned());
            }
            let same = format!("{} {}", call.tool, json!(call.args));
            after.memory.progress |= after.memory.called.insert(same);
            facts = learn(&mut after, &self.core, &told, &call.args, &tool.states);
        }
        let mut draft = self.draft(&agent, StepKind::ToolResult, call.result, after);
        draft.step.meta = StepMeta {
            error: call.failed,
            ..meta(facts)
        };
        draft.step.meta.tool = Some(ToolUse {
            from_record: call.kept.is_some(),
            ..self.tool_use(&call.tool, None, call.failed)
        });
        if call.failed {
            if let Some(turn) = draft.after.memory.turn.as_mut() {
                turn.ask = None;
                turn.asks.clear();
                turn.acts.clear();
            }
        } else {
            // With other arguments than those of then, what was asked for was not done.
            draft.fulfils = ask.filter(|_| call.kept != Some(false));
        }
        Some(draft)
    }
}
