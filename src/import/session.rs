//! What belongs to a log as a whole: its name, task, labels, expected answer, format.

use std::path::Path;

use serde_json::{Map, Value};

use super::feed::{Feed, Traits};
use super::message::plain;
use crate::model::{AgentInfo, Annotation, Profile, Session, Verifier, title_of};

/// Longest label that is kept.
const LABEL: usize = 4000;

/// A store-unique name from a file's name: lower-case letters, digits, `-`, `_`, `.`.
/// A name that says nothing (`3.json`, `messages.json`) is preceded by its folder's.
pub(super) fn slug(path: &Path) -> String {
    let part = |text: Option<&std::ffi::OsStr>| clean(&text.unwrap_or_default().to_string_lossy());
    let name = part(path.file_stem());
    let generic = name.chars().all(|c| c.is_ascii_digit())
        || matches!(
            name.as_str(),
            "log"
                | "messages"
                | "history"
                | "chat_history"
                | "session"
                | "trace"
                | "output"
                | "events"
                | "data"
                | "getsessionhistory"
        );
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = part(absolute.parent().and_then(Path::file_name));
    match (generic, folder.is_empty(), name.is_empty()) {
        (_, true, true) => "log".to_owned(),
        (true, false, false) => format!("{folder}-{name}"),
        (_, _, true) => folder,
        _ => name,
    }
}

fn clean(text: &str) -> String {
    let mut out = String::new();
    for c in text.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') {
            out.push(c);
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
    }
    out.truncate(80);
    out.trim_matches(['-', '.']).to_owned()
}

/// The session of a chat-like log.
pub(super) fn assemble(feed: &mut Feed<'_>, path: &Path, orchestrator: Option<String>) -> Session {
    let fields = std::mem::take(&mut feed.fields);
    let mut agents = std::mem::take(&mut feed.agents);
    prompts(&fields, &mut agents, &feed.prompts);
    if let Some(team) = &feed.team {
        describe(team, &mut agents);
    }
    let expected = expected(&fields);
    let task = ["question", "problem_statement", "task", "prompt"]
        .iter()
        .find_map(|key| fields.get(*key))
        .map(plain)
        .filter(|text| !text.trim().is_empty())
        .or_else(|| feed.task.clone())
        .unwrap_or_default();
    if let Some(reason) = astray(&fields, feed.places.len()) {
        feed.note("the label mistake_step", reason);
    }
    Session {
        title: title(&task, path),
        format: feed
            .format
            .unwrap_or_else(|| format(&fields, &feed.traits))
            .to_owned(),
        annotations: annotations(&fields, &feed.places),
        verifier: expected.as_ref().map(|(_, verifier)| verifier.clone()),
        expected: expected.map(|(text, _)| text),
        profile: Profile {
            required_keys: vec!["agent_memory".to_owned()],
            ..Profile::default()
        },
        task,
        agents,
        orchestrator,
        ..Session::default()
    }
}

fn title(task: &str, path: &Path) -> String {
    if task.trim().is_empty() {
        return path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
    }
    title_of(task)
}

fn format(fields: &Map<String, Value>, traits: &Traits) -> &'static str {
    let labels = [
        "mistake_step",
        "mistake_agent",
        "question_ID",
        "question_id",
        "ground_truth",
        "groundtruth",
    ];
    if traits.asides
        || labels
            .iter()
            .filter(|key| fields.contains_key(**key))
            .count()
            >= 2
    {
        "who_when"
    } else if traits.typed {
        "autogen_stream"
    } else if traits.chat_roles && !traits.other_roles && !traits.wrapped {
        "openai_chat"
    } else {
        "chat"
    }
}

fn expected(fields: &Map<String, Value>) -> Option<(String, Verifier)> {
    let direct = ["ground_truth", "groundtruth", "expected_answer", "expected"]
        .iter()
        .find_map(|key| fields.get(*key));
    let (value, verifier) = match direct {
        Some(value) => (value, Verifier::Answer),
        None => (fields.get("other_data")?.get("answer")?, Verifier::Math),
    };
    let text = plain(value).trim().to_owned();
    (!text.is_empty()).then_some((text, verifier))
}

/// Every scalar label, with the step it means: an index into the list of messages, however it is spelled.
fn annotations(fields: &Map<String, Value>, places: &[usize]) -> Vec<Annotation> {
    let step = fields
        .get("mistake_step")
        .and_then(index)
        .and_then(|record| places.get(record).copied());
    let mut found = Vec::new();
    let mut keep = |name: &str, value: &Value| {
        if matches!(value, Value::Object(_) | Value::Array(_))
            || name == "question"
            || name == "task"
        {
            return;
        }
        let mut text = if value.is_null() {
            "null".to_owned()
        } else {
            plain(value)
        };
        if let Some((cut, _)) = text.char_indices().nth(LABEL) {
            text.truncate(cut);
        }
        found.push(Annotation {
            step: step.filter(|_| name.starts_with("mistake_")),
            name: name.to_owned(),
            value: text,
        });
    };
    for (name, value) in fields {
        match value {
            Value::Object(inner) if name != "system_prompt" => {
                inner
                    .iter()
                    .for_each(|(key, value)| keep(&format!("{name}.{key}"), value));
            }
            value => keep(name, value),
        }
    }
    found
}

/// Why a label names no step.
fn astray(fields: &Map<String, Value>, records: usize) -> Option<String> {
    let value = fields.get("mistake_step")?;
    let wrong = match index(value) {
        Some(record) if record < records => return None,
        Some(_) => format!("the log has {records} records, counted from 0"),
        None => "it is no record's number".to_owned(),
    };
    let told: String = value.to_string().chars().take(LABEL).collect();
    Some(format!(
        "{told} names no step ({wrong}): the label is kept and stands at none"
    ))
}

/// A record's index as a number, a float without fraction, or digits in a string.
fn index(value: &Value) -> Option<usize> {
    let text = plain(value);
    let text = text.trim();
    let whole = text.strip_suffix(".0").unwrap_or(text);
    whole.parse().ok()
}

/// System prompts: by agent under `system_prompt`, or said among the messages to the one that answers.
fn prompts(fields: &Map<String, Value>, agents: &mut Vec<AgentInfo>, said: &[String]) {
    if let Some(Value::Object(by_agent)) = fields.get("system_prompt") {
        for (name, prompt) in by_agent {
            let at = agents
                .iter()
                .position(|info| info.name == *name)
                .unwrap_or_else(|| {
                    agents.push(AgentInfo {
                        name: name.clone(),
                        ..AgentInfo::default()
                    });
                    agents.len() - 1
                });
            if let Some(info) = agents.get_mut(at) {
                info.system_prompt = Some(plain(prompt));
            }
        }
    }
    let answers = agents
        .iter_mut()
        .find(|info| !super::classify::is_human(&info.name) && info.name != "tool");
    if let Some(info) = answers.filter(|info| info.system_prompt.is_none() && !said.is_empty()) {
        info.system_prompt = Some(said.join("\n\n"));
    }
}

/// What a plan says of the team, line by line: `NAME: what it is for`.
fn describe(team: &str, agents: &mut [AgentInfo]) {
    for line in team.lines() {
        let Some((name, text)) = line.split_once(": ") else {
            continue;
        };
        if let Some(info) = agents
            .iter_mut()
            .find(|info| info.name == name.trim() && info.description.is_none())
        {
            info.description = Some(text.trim().to_owned());
        }
    }
}
