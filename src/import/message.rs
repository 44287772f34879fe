//! One record of a log -> the steps it makes. One reader for all chat-like formats: they differ in the names of a few keys.
//!
//! Pure. It never leaves content out: what is not text (images, objects) is named or printed as JSON in its place.

use serde_json::{Map, Value};

use crate::model::{StepKind, ToolUse};

/// What the log itself says of a step's place in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Hint {
    /// Nothing: the structure decides.
    #[default]
    Open,
    /// It has a recipient.
    Addressed,
    /// Said to nobody.
    Aside,
    /// The kind is certain.
    Fixed,
}

/// A step before it has a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Draft {
    pub agent: String,
    pub to: Option<String>,
    pub kind: StepKind,
    pub hint: Hint,
    pub text: String,
    pub tool: Option<ToolUse>,
    pub error: bool,
    pub time: Option<String>,
    /// The text is this agent's system prompt.
    pub prompt: bool,
}

/// What a record is.
#[derive(Debug, PartialEq)]
pub(super) enum Reading {
    /// Steps.
    Steps(Vec<Draft>),
    /// A summary of a run: its stop reason; its messages repeat the records before it.
    Summary {
        reason: Option<String>,
        messages: Vec<Value>,
    },
    /// A piece of a message that comes whole later.
    Chunk,
    /// Nothing known.
    Unknown,
}

const AGENT_KEYS: [&str; 7] = [
    "name", "source", "agent", "sender", "speaker", "from", "role",
];
const CONTENT_KEYS: [&str; 5] = ["content", "text", "message", "value", "output"];

/// Whether a value has the shape of a message.
pub(super) fn is_message(value: &Value) -> bool {
    !matches!(read(value), Reading::Unknown)
}

/// Reads one record.
pub(super) fn read(value: &Value) -> Reading {
    let Some(map) = value.as_object() else {
        return Reading::Unknown;
    };
    let kind = text_of(map, "type").unwrap_or_default();
    match kind {
        "TaskResult" => {
            return Reading::Summary {
                reason: text_of(map, "stop_reason").map(str::to_owned),
                messages: map
                    .get("messages")
                    .and_then(Value::as_array)
                    .cloned()
                    .unwrap_or_default(),
            };
        }
        "ModelClientStreamingChunkEvent" => return Reading::Chunk,
        _ => {}
    }
    // Some logs wrap the message: {"type": "assistant", "message": {"role": …, "content": …}}.
    if let Some(inner) = map.get("message").and_then(Value::as_object)
        && inner.contains_key("content")
    {
        let mut inner = inner.clone();
        if !inner.contains_key("role")
            && let Some(role) = text_of(map, "role").or_else(|| text_of(map, "type"))
        {
            inner.insert("role".to_owned(), role.into());
        }
        let mut drafts = chat(&inner);
        let time = time_of(map);
        for draft in &mut drafts {
            draft.time = draft.time.take().or_else(|| time.clone());
        }
        return steps(drafts);
    }
    if map.contains_key("source") && !kind.is_empty() {
        return steps(autogen(map, kind));
    }
    match kind {
        "function_call" | "function_call_output" | "reasoning" => steps(response_item(map, kind)),
        "FunctionExecutionResultMessage" => steps(autogen(map, kind)),
        _ => steps(chat(map)),
    }
}

fn steps(drafts: Vec<Draft>) -> Reading {
    if drafts.is_empty() {
        Reading::Unknown
    } else {
        Reading::Steps(drafts)
    }
}

fn text_of<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    map.get(key).and_then(Value::as_str)
}

fn time_of(map: &Map<String, Value>) -> Option<String> {
    ["timestamp", "created_at", "time"]
        .iter()
        .find_map(|key| text_of(map, key))
        .map(str::to_owned)
}

/// `Orchestrator (-> WebSurfer)`, `Orchestrator (thought)`, `Orchestrator (termination condition)`: the agent, and what stands behind it.
fn split_role(role: &str) -> (&str, Option<&str>) {
    let role = role.trim();
    role.strip_suffix(')')
        .and_then(|rest| rest.split_once(" ("))
        .filter(|(name, _)| !name.trim().is_empty())
        .map_or((role, None), |(name, note)| {
            (name.trim(), Some(note.trim()))
        })
}

/// The messages of OpenAI, AG2, Who&When and their relatives.
fn chat(map: &Map<String, Value>) -> Vec<Draft> {
    let role = text_of(map, "role").unwrap_or_default();
    // Many things have a name and a value; only what says who speaks may call its content something else.
    let speaks = AGENT_KEYS.iter().skip(1).any(|key| map.contains_key(*key));
    let Some(speaker) = AGENT_KEYS
        .iter()
        .filter_map(|key| text_of(map, key))
        .find(|name| !name.trim().is_empty())
    else {
        return Vec::new();
    };
    let content = CONTENT_KEYS
        .iter()
        .take(if speaks { CONTENT_KEYS.len() } else { 1 })
        .find_map(|key| map.get(*key));
    let calls = calls(map);
    if content.is_none() && calls.is_empty() {
        return Vec::new();
    }
    let (agent, note) = split_role(speaker);
    let mut said = Draft {
        agent: agent.to_owned(),
        time: time_of(map),
        ..Draft::default()
    };
    if let Some(note) = note {
        let recipient = note.strip_prefix("->").or_else(|| note.strip_prefix('→'));
        match (recipient, note.to_lowercase().as_str()) {
            (Some(to), _) => {
                said.to = Some(to.trim().to_owned());
                said.kind = StepKind::Instruction;
                said.hint = Hint::Addressed;
            }
            (None, "thought" | "thinking" | "thoughts") => {
                said.kind = StepKind::Thought;
                said.hint = Hint::Aside;
            }
            (None, _) => {
                said.kind = StepKind::Control;
                said.hint = Hint::Fixed;
            }
        }
    }
    match role {
        "system" | "developer" => {
            said.kind = StepKind::Control;
            said.hint = Hint::Fixed;
            said.prompt = true;
        }
        "tool" | "function" => return results(map, content, said),
        _ => {}
    }
    let mut drafts = Vec::new();
    let mut text = String::new();
    parts(
        content.unwrap_or(&Value::Null),
        &said,
        &mut text,
        &mut drafts,
    );
    if let Some(refusal) = text_of(map, "refusal").filter(|refusal| !refusal.is_empty()) {
        line(&mut text, refusal);
        said.error = true;
    }
    let silent = text.trim().is_empty();
    if !(silent && (!calls.is_empty() || !drafts.is_empty())) {
        said.text = text;
        drafts.insert(0, said.clone());
    }
    drafts.extend(calls.into_iter().map(|tool| call(&said, tool)));
    drafts
}

fn calls(map: &Map<String, Value>) -> Vec<ToolUse> {
    let mut found: Vec<ToolUse> = map
        .get("tool_calls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(tool_use)
        .collect();
    if let Some(legacy) = map.get("function_call").filter(|call| call.is_object()) {
        found.push(tool_use(legacy));
    }
    found
}

/// A call, in OpenAI's shape (`{"id", "function": {"name", "arguments"}}`) or flat.
fn tool_use(value: &Value) -> ToolUse {
    let inner = value.get("function").unwrap_or(value);
    let field = |key: &str| inner.get(key).or_else(|| value.get(key));
    ToolUse {
        name: field("name")
            .and_then(Value::as_str)
            .unwrap_or("?")
            .to_owned(),
        call_id: ["id", "call_id", "tool_call_id"]
            .iter()
            .find_map(|key| value.get(*key))
            .and_then(Value::as_str)
            .map(str::to_owned),
        arguments: field("arguments").or_else(|| field("input")).map(plain),
        ..ToolUse::default()
    }
}

fn call(said: &Draft, tool: ToolUse) -> Draft {
    Draft {
        kind: StepKind::ToolCall,
        hint: Hint::Fixed,
        text: format!(
            "{}({})",
            tool.name,
            tool.arguments.as_deref().unwrap_or_default()
        ),
        tool: Some(tool),
        to: None,
        ..said.clone()
    }
}

fn result(said: &Draft, tool: ToolUse, text: String) -> Draft {
    Draft {
        kind: StepKind::ToolResult,
        hint: Hint::Fixed,
        error: tool.failed,
        tool: Some(tool),
        text,
        ..said.clone()
    }
}

/// Messages of role `tool` and `function`; AG2 puts several results into one.
fn results(map: &Map<String, Value>, content: Option<&Value>, said: Draft) -> Vec<Draft> {
    let answers = map.get("tool_responses").and_then(Value::as_array);
    if let Some(answers) = answers.filter(|answers| !answers.is_empty()) {
        return answers
            .iter()
            .map(|answer| {
                let text = plain(answer.get("content").unwrap_or(&Value::Null));
                result(&said, tool_answer(answer), text)
            })
            .collect();
    }
    let mut tool = tool_answer(&Value::Object(map.clone()));
    tool.failed |= map
        .get("error")
        .and_then(Value::as_bool)
        .unwrap_or_default();
    // The name of a result is the tool's; the speaker is whoever runs the tools.
    let said = Draft {
        agent: if said.agent == tool.name {
            "tool".to_owned()
        } else {
            said.agent.clone()
        },
        ..said
    };
    vec![result(&said, tool, plain(content.unwrap_or(&Value::Null)))]
}

fn tool_answer(value: &Value) -> ToolUse {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    ToolUse {
        name: text("name").unwrap_or_else(|| "?".to_owned()),
        call_id: text("tool_call_id")
            .or_else(|| text("call_id"))
            .or_else(|| text("tool_use_id"))
            .or_else(|| text("id")),
        failed: value
            .get("is_error")
            .and_then(Value::as_bool)
            .unwrap_or_default(),
        ..ToolUse::default()
    }
}

/// AutoGen AgentChat, all versions: messages and events with a type and a source.
fn autogen(map: &Map<String, Value>, kind: &str) -> Vec<Draft> {
    let said = Draft {
        agent: text_of(map, "source").unwrap_or("?").to_owned(),
        time: time_of(map),
        ..Draft::default()
    };
    let content = map.get("content").unwrap_or(&Value::Null);
    let fixed = |kind| {
        vec![Draft {
            kind,
            hint: Hint::Fixed,
            text: plain(content),
            ..said.clone()
        }]
    };
    let each = |read: &dyn Fn(&Value) -> Draft| {
        content.as_array().into_iter().flatten().map(read).collect()
    };
    match kind {
        "ToolCallRequestEvent" | "ToolCallMessage" => each(&|one| call(&said, tool_use(one))),
        "AssistantMessage" if content.is_array() => {
            let thought = text_of(map, "thought").map(|text| Draft {
                kind: StepKind::Thought,
                hint: Hint::Fixed,
                text: text.to_owned(),
                ..said.clone()
            });
            let calls = content.as_array().into_iter().flatten();
            let calls = calls.map(|one| call(&said, tool_use(one)));
            thought.into_iter().chain(calls).collect()
        }
        // What a model is told of results has no source.
        "FunctionExecutionResultMessage" => {
            let said = Draft {
                agent: "tool".to_owned(),
                ..said.clone()
            };
            let answer = |one: &Value| plain(one.get("content").unwrap_or(&Value::Null));
            each(&|one| result(&said, tool_answer(one), answer(one)))
        }
        "ToolCallExecutionEvent" | "ToolCallResultMessage" => each(&|one| {
            result(
                &said,
                tool_answer(one),
                plain(one.get("content").unwrap_or(&Value::Null)),
            )
        }),
        "HandoffMessage" => fixed(StepKind::Control)
            .into_iter()
            .map(|draft| Draft {
                to: text_of(map, "target").map(str::to_owned),
                ..draft
            })
            .collect(),
        "ThoughtEvent" => fixed(StepKind::Thought),
        "StopMessage" | "SelectSpeakerEvent" | "UserInputRequestedEvent" | "MemoryQueryEvent" => {
            fixed(StepKind::Control)
        }
        "CodeExecutionEvent" => {
            let output = map.get("result").map_or_else(String::new, plain);
            vec![Draft {
                text: output,
                kind: StepKind::ToolResult,
                hint: Hint::Fixed,
                ..said
            }]
        }
        _ if map.contains_key("content") => vec![Draft {
            text: plain(content),
            ..said
        }],
        _ => Vec::new(),
    }
}

/// Items of OpenAI's Responses API that are not messages.
fn response_item(map: &Map<String, Value>, kind: &str) -> Vec<Draft> {
    let said = Draft {
        agent: text_of(map, "agent").unwrap_or("assistant").to_owned(),
        time: time_of(map),
        ..Draft::default()
    };
    let whole = Value::Object(map.clone());
    match kind {
        "function_call" => {
            let tool = ToolUse {
                call_id: text_of(map, "call_id").map(str::to_owned),
                ..tool_use(&whole)
            };
            vec![call(&said, tool)]
        }
        "reasoning" => {
            let text = map
                .get("summary")
                .or_else(|| map.get("content"))
                .map_or_else(String::new, plain);
            vec![Draft {
                text,
                kind: StepKind::Thought,
                hint: Hint::Fixed,
                ..said
            }]
        }
        _ => {
            let text = plain(map.get("output").unwrap_or(&Value::Null));
            let said = Draft {
                agent: "tool".to_owned(),
                ..said
            };
            vec![result(&said, tool_answer(&whole), text)]
        }
    }
}

/// Content that may hold tool calls, results and thoughts among its parts; text goes to `text`, the rest becomes steps of its own.
fn parts(content: &Value, said: &Draft, text: &mut String, drafts: &mut Vec<Draft>) {
    let Some(list) = content.as_array() else {
        line(text, &plain(content));
        return;
    };
    for part in list {
        match part.get("type").and_then(Value::as_str) {
            Some("tool_use") => drafts.push(call(said, tool_use(part))),
            Some("tool_result") => {
                let answer = plain(part.get("content").unwrap_or(&Value::Null));
                drafts.push(result(said, tool_answer(part), answer));
            }
            Some("thinking") => drafts.push(Draft {
                kind: StepKind::Thought,
                hint: Hint::Fixed,
                text: part.get("thinking").map_or_else(String::new, plain),
                ..said.clone()
            }),
            _ => line(text, &plain(part)),
        }
    }
}

fn line(text: &mut String, more: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(more);
}

/// Any value as text: strings as they are, lists by lines, pictures by name and size, other things as JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let mut text = String::new();
            for part in list {
                line(&mut text, &plain(part));
            }
            text
        }
        Value::Object(map) => part_text(map),
        other => other.to_string(),
    }
}

fn part_text(map: &Map<String, Value>) -> String {
    if let Some(text) = text_of(map, "text").or_else(|| text_of(map, "refusal")) {
        return text.to_owned();
    }
    let picture = map
        .get("image_url")
        .map(|image| image.get("url").unwrap_or(image))
        .or_else(|| map.get("data").filter(|_| map.len() == 1))
        .and_then(Value::as_str);
    match picture {
        Some(data) if data.starts_with("http") => format!("[picture {data}]"),
        Some(data) => format!("[picture, {} bytes in the log]", data.len()),
        None => serde_json::to_string_pretty(map).unwrap_or_default(),
    }
}
