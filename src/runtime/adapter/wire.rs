//! The words of the protocol (newline-delimited JSON-RPC 2.0): what an adapter answers and what it tells unasked.
//!
//! Read leniently where nothing rests on it: fields that are not known are passed over, an unknown event is kept as it is.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{EffectClass, Step, StepKind, StepMeta, ToolUse, Usage};

/// The version that this dover speaks.
pub(super) const PROTOCOL: u64 = 1;

/// One line from an adapter.
#[derive(Deserialize)]
pub(super) struct Line {
    pub(super) jsonrpc: String,
    #[serde(default)]
    pub(super) id: Option<u64>,
    #[serde(default)]
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) params: Option<Value>,
    #[serde(default)]
    pub(super) result: Option<Value>,
    #[serde(default)]
    pub(super) error: Option<Failure>,
}

/// A refusal.
#[derive(Deserialize, Debug)]
pub(super) struct Failure {
    pub(super) code: i64,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) data: Value,
}

/// The answer to `initialize`.
#[derive(Deserialize, Clone, Debug, Default)]
pub struct Greeting {
    /// The protocol's version.
    pub protocol: Value,
    /// The adapter's name.
    #[serde(default)]
    pub adapter: String,
    /// The framework's packages and their versions.
    #[serde(default)]
    pub framework: BTreeMap<String, String>,
}

/// The answer to `describe`.
#[derive(Deserialize, Clone, Debug, Default)]
pub struct Told {
    /// The agents.
    #[serde(default)]
    pub agents: Vec<Member>,
    /// Their tools.
    #[serde(default)]
    pub tools: Vec<Tool>,
    /// The full configuration, secrets masked.
    #[serde(default)]
    pub pinned: Value,
    /// Its digest, as the adapter has it.
    #[serde(default)]
    pub config_pin: String,
}

/// An agent of the team.
#[derive(Deserialize, Clone, Debug, Default)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its class in the framework.
    #[serde(default)]
    pub class: String,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Whether its state can be saved: `full`, `partial`, `opaque`.
    #[serde(default)]
    pub state: String,
}

/// A tool of an agent.
#[derive(Deserialize, Clone, Debug, Default)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it may do, if anybody has said so.
    #[serde(default)]
    pub effect: Value,
}

/// What a tool may do, from the adapter's word. What is not known is the worst.
pub(super) fn class(word: &Value) -> EffectClass {
    serde_json::from_value(word.clone()).unwrap_or_default()
}

/// Where a run stands: the answer to `start`, `step`, `resume`, `restore`.
#[derive(Deserialize, Clone, Debug)]
pub struct Position {
    /// Whether it can go on.
    pub status: Status,
    /// How many messages were delivered.
    #[serde(default)]
    pub step: usize,
    /// The message about to be delivered.
    #[serde(default)]
    pub pending: Option<Message>,
    /// How it ended.
    #[serde(default)]
    pub result: Value,
    /// Of a restore: the adapter's word on each key. Only what it admits counts.
    #[serde(default)]
    pub keys: BTreeMap<String, String>,
    /// Of a restore: what a person should know.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Whether a run can go on.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// At a boundary.
    Paused,
    /// At its end.
    Done,
    /// Broken down.
    Failed,
    /// Somebody is asked something.
    Input,
}

impl Position {
    /// The final answer, if there is one.
    pub(super) fn answer(&self) -> Option<String> {
        let told = match &self.result {
            Value::Object(map) => ["final", "answer", "content"]
                .iter()
                .find_map(|name| map.get(*name))?,
            other => other,
        };
        Some(text(told)).filter(|text| !text.trim().is_empty())
    }

    /// Why it ended.
    pub(super) fn reason(&self) -> Option<String> {
        let told = ["failed", "stop", "reason", "error", "message"]
            .iter()
            .find_map(|name| self.result.get(*name));
        told.map(text).filter(|text| !text.trim().is_empty())
    }
}

/// A message of the framework.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// The framework's own id.
    #[serde(default, rename = "message_id")]
    pub id: Value,
    /// Who says it.
    #[serde(default)]
    pub from: String,
    /// Who is addressed.
    #[serde(default)]
    pub to: Value,
    /// What it is, in the words of a step's kind.
    #[serde(default)]
    pub kind: String,
    /// What it says.
    #[serde(default)]
    pub content: Value,
    /// The tool that is called or has answered.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub tool: Value,
    /// Whether it reports that something went wrong.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub error: bool,
}

/// Text as it is, anything else as JSON.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl Message {
    /// The message as a step. `clean` takes secrets out.
    pub(super) fn step(&self, index: usize, clean: impl Fn(&str) -> String) -> Step {
        let kind = StepKind::ALL
            .into_iter()
            .find(|kind| kind.name() == self.kind)
            .unwrap_or_default();
        let to = text(&self.to);
        // A tool's word may be just its name.
        let tool = match &self.tool {
            Value::String(name) => Some(ToolUse {
                name: name.clone(),
                ..ToolUse::default()
            }),
            Value::Object(map) => Some(ToolUse {
                name: map.get("name").map(text).unwrap_or_default(),
                call_id: map.get("call_id").map(text).filter(|id| !id.is_empty()),
                arguments: map.get("arguments").map(|it| clean(&text(it))),
                class: map.get("effect").map(class),
                failed: map.get("failed").and_then(Value::as_bool) == Some(true),
                from_record: map.get("from_record").and_then(Value::as_bool) == Some(true),
            }),
            _ => None,
        };
        Step {
            index,
            agent: if self.from.is_empty() {
                "unknown".to_owned()
            } else {
                self.from.clone()
            },
            kind,
            to: (!to.is_empty()).then_some(to),
            text: clean(&text(&self.content)),
            meta: StepMeta {
                tool,
                error: self.error,
                ..StepMeta::default()
            },
        }
    }
}

/// What an adapter tells unasked.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// Something was said outside a boundary.
    Output(Message),
    /// A piece of what is being said.
    Delta {
        /// Who speaks.
        agent: String,
        /// The piece.
        text: String,
    },
    /// A person is asked: for a word, or what becomes of a tool call that is held.
    Asked(Question),
    /// A tool was called, and what became of it.
    Effect(Box<Entry>),
    /// A model answered; what that took.
    Model(Usage),
    /// Said again in an answer: of no further use here.
    Known,
    /// A line for the log: the program's own, or an event that this dover does not know.
    Log(String),
}

/// A question that holds a run up.
#[derive(Deserialize, Clone, Debug, PartialEq, Default)]
pub struct Question {
    /// What the answer must name.
    pub request_id: Value,
    /// What the person is to know.
    #[serde(default)]
    pub prompt: Value,
    /// The call that is held; none if a word is asked for.
    #[serde(default, flatten)]
    pub call: Entry,
}

/// A tool call and what became of it.
#[derive(Deserialize, Clone, Debug, PartialEq, Default)]
pub struct Entry {
    /// Who called.
    #[serde(default)]
    pub agent: String,
    /// The tool; empty if there is none.
    #[serde(default)]
    pub tool: String,
    /// The arguments, where a call is held.
    #[serde(default)]
    pub args: Value,
    /// Digest of the arguments.
    #[serde(default)]
    pub args_sha256: String,
    /// What the tool may do.
    #[serde(default)]
    pub effect: Value,
    /// What the destination knows the operation by.
    #[serde(default)]
    pub operation_key: Value,
    /// What it answered, if that is told.
    #[serde(default)]
    pub result: Value,
    /// What became of it: `executed`, `replayed`, `blocked`, `approved`.
    #[serde(default)]
    pub disposition: String,
}

/// Reads the parameters of an `event`.
pub(super) fn notice(params: Value) -> Result<Notice, String> {
    let kind = text(params.get("kind").unwrap_or(&Value::Null));
    Ok(match kind.as_str() {
        "" => return Err("an event without a kind".to_owned()),
        "output" => Notice::Output(message(&params)?),
        "output.delta" => Notice::Delta {
            agent: text(
                params
                    .get("agent")
                    .or(params.get("from"))
                    .unwrap_or(&Value::Null),
            ),
            text: text(
                params
                    .get("text")
                    .or(params.get("content"))
                    .unwrap_or(&Value::Null),
            ),
        },
        "input.requested" => Notice::Asked(read(params, &kind)?),
        "effect.recorded" => Notice::Effect(Box::new(read(params, &kind)?)),
        "llm.response" => Notice::Model(usage(&params)),
        "step.boundary" | "edit.applied" | "run.finished" => Notice::Known,
        // Tool calls become steps where the framework says them, and effects where they had one.
        _ => Notice::Log(log_line(&kind, &params)),
    })
}

fn read<T: DeserializeOwned>(params: Value, kind: &str) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| format!("event {kind}: {error}"))
}

/// The message of an `output`: in a field of its own, or the event itself.
fn message(params: &Value) -> Result<Message, String> {
    let told = params.get("message").unwrap_or(params);
    let mut map = told.as_object().cloned().unwrap_or_default();
    if params.get("message").is_none() {
        // The event's own kind is no step's kind.
        let kind = map.remove("message_kind").unwrap_or(Value::Null);
        map.insert("kind".to_owned(), Value::String(text(&kind)));
        if let Some(agent) = map.get("agent").cloned() {
            map.entry("from").or_insert(agent);
        }
    }
    serde_json::from_value(Value::Object(map)).map_err(|error| format!("event output: {error}"))
}

fn usage(params: &Value) -> Usage {
    let told = params.get("usage").unwrap_or(params);
    let number = |name: &str| told.get(name).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        calls: 1,
        prompt_tokens: number("prompt_tokens"),
        completion_tokens: number("completion_tokens"),
        ..Usage::default()
    }
}

fn log_line(kind: &str, params: &Value) -> String {
    match params.get("text").or(params.get("message")) {
        Some(Value::String(told)) if kind == "log" => {
            let level = text(params.get("level").unwrap_or(&Value::Null));
            format!("[{}] {told}", if level.is_empty() { "log" } else { &level })
        }
        _ => {
            let mut line = format!("[{kind}]");
            for (name, value) in params.as_object().into_iter().flatten() {
                if !BOOKKEEPING.contains(&name.as_str()) {
                    let shown: String = text(value).chars().take(VALUE).collect();
                    line.extend([" ", name, "=", &shown]);
                }
            }
            line
        }
    }
}

/// Fields of an event that tell a person nothing.
const BOOKKEEPING: [&str; 5] = ["kind", "seq", "t", "step", "args_sha256"];
/// Characters of a value that a line of the log shows.
const VALUE: usize = 300;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_told_apart_and_unknown_ones_are_kept() {
        let read = |params: Value| notice(params).unwrap();
        let said = json!({"kind": "output", "seq": 1, "message": {"message_id": "m1", "from": "Ann", "kind": "thought", "content": "hm"}});
        let Notice::Output(message) = read(said) else {
            panic!("no output");
        };
        assert_eq!(
            (message.from.as_str(), message.kind.as_str()),
            ("Ann", "thought")
        );
        // A flat one: the event's kind must not pass for the message's.
        let Notice::Output(message) =
            read(json!({"kind": "output", "agent": "Ann", "content": ["a", 1]}))
        else {
            panic!("no output");
        };
        assert_eq!(message.kind, "");
        assert_eq!(message.step(3, str::to_owned).text, r#"["a",1]"#);
        assert_eq!(
            read(json!({"kind": "new.thing", "x": 1})),
            Notice::Log("[new.thing] x=1".into())
        );
        assert_eq!(
            read(json!({"kind": "log", "level": "warning", "text": "slow"})),
            Notice::Log("[warning] slow".into())
        );
        assert!(notice(json!({"seq": 1})).is_err());
        assert!(notice(json!({"kind": "input.requested"})).is_err());
    }

    #[test]
    fn a_message_becomes_a_step() {
        let message: Message = serde_json::from_value(json!({
            "message_id": 7, "from": "Ann", "to": "Bob", "kind": "tool_call", "content": "{}",
            "tool": {"name": "mail", "arguments": {"to": "sk-1"}, "effect": "permanent"}
        }))
        .unwrap();
        let step = message.step(4, |text| text.replace("sk-1", "***"));
        assert_eq!((step.index, step.kind), (4, StepKind::ToolCall));
        assert_eq!(step.to.as_deref(), Some("Bob"));
        let tool = step.meta.tool.unwrap();
        assert_eq!(tool.arguments.as_deref(), Some(r#"{"to":"***"}"#));
        assert_eq!(tool.class, Some(EffectClass::Permanent));
        assert_eq!(class(&json!("who knows")), EffectClass::Unknown);
    }

    #[test]
    fn an_answer_stands_in_a_result_of_any_shape() {
        let position = |result: Value| {
            let told = json!({"status": "done", "step": 3, "result": result});
            let read: Position = serde_json::from_value(told).unwrap();
            read.answer()
        };
        assert_eq!(position(json!("42")).as_deref(), Some("42"));
        assert_eq!(
            position(json!({"final": "42", "stop": "x"})).as_deref(),
            Some("42")
        );
        assert_eq!(position(json!({"final": null})), None);
        assert_eq!(position(Value::Null), None);
        assert_eq!(position(json!({"stop": "x"})), None);
    }
}
