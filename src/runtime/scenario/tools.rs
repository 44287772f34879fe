//! Calling tools: local fixtures whose effects stand in the world's own logs, in files and among its approvals.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::engine::{Draft, Engine, learn, meta};
use super::state::{Call, Next};
use super::world::Tool;
use crate::model::{Digest, Effect, EffectClass, EffectState, Step, StepKind, StepMeta, ToolUse};

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
        let read: Option<Value> = serde_json::from_str(&step.text).ok();
        let args = read.as_ref().and_then(Value::as_object).map(|object| {
            let plain = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
            object
                .iter()
                .map(|(k, v)| (k.clone(), plain(v)))
                .collect::<BTreeMap<_, _>>()
        });
        let call = match (self.core.world.tool(&name).cloned(), args) {
            (None, _) => Call {
                result: format!("There is no tool '{name}'."),
                failed: true,
                tool: name,
                args: BTreeMap::new(),
            },
            (Some(tool), None) => Call {
                result: format!("The arguments of {} are no JSON object.", tool.name),
                failed: true,
                tool: tool.name,
                args: BTreeMap::new(),
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
        let arguments = json!(args).to_string();
        let key = tool
            .operation_key
            .as_ref()
            .and_then(|key| args.get(key))
            .cloned();
        let key = key.unwrap_or_else(|| Digest::of(&arguments).short());
        if let Some(kept) = self
            .kept
            .iter()
            .find(|e| e.tool == tool.name && e.operation_key == key)
        {
            let result = kept.result.clone().unwrap_or(result);
            return done(result, false, args);
        }
        self.effects.push(Effect {
            step: step.index,
            agent: step.agent.clone(),
            tool: tool.name.clone(),
            class: tool.class,
            operation_key: key.clone(),
            args_sha256: Digest::of(&arguments),
            result: Some(result.clone()),
            state: EffectState::Pending,
            evidence: None,
        });
        if let Some(log) = &tool.log {
            let entries = self.state.logs.entry(log.clone()).or_default();
            entries
                .retain(|entry| entry.get("operation_key").and_then(Value::as_str) != Some(&key));
            entries.push(json!({ "operation_key": key, "tool": tool.name, "arguments": args, "result": result }));
        }
        done(result, false, args)
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
        draft.step.meta.tool = Some(self.tool_use(&call.tool, None, call.failed));
        if call.failed {
            if let Some(turn) = draft.after.memory.turn.as_mut() {
                turn.ask = None;
                turn.asks.clear();
                turn.acts.clear();
            }
        } else {
            draft.fulfils = ask;
        }
        Some(draft)
    }
}
