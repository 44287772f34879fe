//! State that a framework saved: AutoGen's `save_state` of a team or an agent, and histories kept once for each agent, as AG2 has them.
//!
//! The conversation is the manager's thread, or the longest of the histories. What an agent remembers of it is not said once more: it is
//! counted, and told where it is more than a copy. Not here: going on from a state, which is for `dover run NAME ENTRY --state FILE`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::ImportError;
use super::agdebugger;
use super::feed::Feed;
use super::message::{is_message, plain};
use crate::model::AgentInfo;

/// What holds a team's agents.
const TEAM: &str = "agent_states";
/// An agent of AutoGen 0.4 that only collects what was shown.
const COLLECTOR: &str = "collect_output_messages";

/// Reads a document that has no list of messages at its top, if it is of a kind known here.
pub(super) fn read(feed: &mut Feed<'_>) -> Result<(), ImportError> {
    if feed.known > 0 {
        return Ok(());
    }
    if let Some(history) = taken(feed, "message_history", agdebugger::is) {
        return agdebugger::read(feed, &history);
    }
    if let Some(states) = taken(feed, TEAM, Value::is_object) {
        return team(feed, states);
    }
    let context = |value: &Value| value.get("messages").is_some_and(Value::is_array);
    if let Some(context) = taken(feed, "llm_context", context) {
        feed.format = Some("autogen_state");
        feed.nothing = Some("the agent remembers nothing yet: save it after it has run");
        let list = context.get("messages").and_then(Value::as_array);
        return said(feed, list.map_or(&[], Vec::as_slice), "the agent's context");
    }
    Ok(())
}

/// Whether a document read so far is of a kind known here, damaged or not.
pub(super) fn is(document: &Map<String, Value>) -> bool {
    document.get("message_history").is_some_and(agdebugger::is)
        || document.get(TEAM).is_some_and(Value::is_object)
}

fn taken(feed: &mut Feed<'_>, key: &str, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    feed.fields.get(key).filter(|value| fits(value))?;
    feed.fields.shift_remove(key)
}

fn said(feed: &mut Feed<'_>, list: &[Value], whose: &str) -> Result<(), ImportError> {
    for (index, message) in list.iter().enumerate() {
        let place = format!("message {index} of {whose}");
        feed.record(message.clone(), Some(place), None)?;
    }
    Ok(())
}

/// A saved team: its manager's thread, and who is in it.
fn team(feed: &mut Feed<'_>, states: Value) -> Result<(), ImportError> {
    feed.format = Some("autogen_state");
    feed.nothing = Some("the saved team has said nothing yet: save it after it has run");
    let Value::Object(states) = states else {
        return Ok(());
    };
    let (managers, agents): (Vec<_>, Vec<_>) = states
        .into_iter()
        .partition(|(_, state)| state.get("message_thread").is_some());
    let mut texts = BTreeSet::new();
    for (name, state) in managers {
        let Value::Object(mut ledger) = state else {
            continue;
        };
        if let Some(Value::Array(thread)) = ledger.shift_remove("message_thread") {
            texts.extend(thread.iter().map(text));
            said(feed, &thread, "the thread")?;
        }
        // Magentic-One's manager keeps the task apart.
        if let Some(task) = ledger.shift_remove("task") {
            feed.field("task".to_owned(), task);
        }
        feed.field(plain_name(&name).to_owned(), Value::Object(ledger));
    }
    let instead = if feed.known == 0 {
        instead(feed, &agents)?
    } else {
        None
    };
    for (at, (name, state)) in agents.iter().enumerate() {
        let name = plain_name(name);
        if name != COLLECTOR && instead != Some(at) {
            agent(feed, name, state, &texts);
        }
    }
    Ok(())
}

/// Where the manager's thread is missing, as in a file that was cut: what the agent with the best memory knows of it.
fn instead(feed: &mut Feed<'_>, agents: &[(String, Value)]) -> Result<Option<usize>, ImportError> {
    let lens = agents.iter().map(|(_, state)| memory(state).len());
    let Some((at, _)) = lens
        .enumerate()
        .filter(|(_, len)| *len > 0)
        .max_by_key(|it| it.1)
    else {
        return Ok(None);
    };
    let Some((name, state)) = agents.get(at) else {
        return Ok(None);
    };
    let name = plain_name(name);
    feed.note(
        "the thread",
        format!("the manager's thread is not in the file: this is what {name} remembers of it"),
    );
    said(feed, memory(state), &format!("the memory of {name}"))?;
    Ok(Some(at))
}

/// What an agent's model was told, as AutoGen's own agents save it.
fn memory(state: &Value) -> &[Value] {
    let own = state.get("agent_state").unwrap_or(state);
    let list = own
        .pointer("/llm_context/messages")
        .and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// `Solver/7e318e41-…`, as AutoGen 0.4.0 calls it.
fn plain_name(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

fn text(message: &Value) -> String {
    message.get("content").map(plain).unwrap_or_default()
}

fn agent(feed: &mut Feed<'_>, name: &str, state: &Value, thread: &BTreeSet<String>) {
    if !feed.agents.iter().any(|known| known.name == name) {
        feed.agents.push(AgentInfo {
            name: name.to_owned(),
            ..AgentInfo::default()
        });
    }
    let memory = memory(state);
    let more = memory
        .iter()
        .filter(|message| !thread.contains(&text(message)));
    let told = match more.count() {
        0 => "a copy of the thread".to_owned(),
        more => format!("{more} of them nowhere in the thread"),
    };
    feed.repeated(
        memory.len(),
        format!("memory of {name}"),
        format!(
            "{} messages, {told}: the agent's state and no steps",
            memory.len()
        ),
    );
    // A team among the agents has a conversation of its own.
    let own = state.get("agent_state").unwrap_or(state);
    let inner = own
        .get(TEAM)
        .or(own.pointer("/inner_team_state/agent_states"));
    let inner = inner.and_then(Value::as_object);
    let threads = inner.into_iter().flat_map(Map::values);
    let threads = threads.filter_map(|state| state.get("message_thread")?.as_array());
    let count = threads.map(Vec::len).sum();
    feed.repeated(
        count,
        format!("the team inside {name}"),
        format!(
            "{count} messages of a conversation of its own; save that team by itself to read it"
        ),
    );
}

/// The histories in a document that has several, each under the name of an agent or of two.
pub(super) fn histories(document: &Map<String, Value>) -> Vec<(String, &Vec<Value>)> {
    fn list(value: &Value) -> Option<&Vec<Value>> {
        value
            .as_array()
            .filter(|list| list.first().is_some_and(is_message))
    }
    let mut found = Vec::new();
    for (name, value) in document {
        if let Some(list) = list(value) {
            found.push((name.clone(), list));
        }
        let inner = value.as_object().into_iter().flatten();
        let inner =
            inner.filter_map(|(peer, value)| Some((format!("{name}, {peer}"), list(value)?)));
        // An object with a list inside is a history only among its like: `{"Solver": {"manager": [...]}}`.
        if document.values().all(Value::is_object) {
            found.extend(inner);
        }
    }
    found
}

/// Reads the longest of several histories; what the others have that it has not is told.
pub(super) fn longest(
    feed: &mut Feed<'_>,
    histories: &[(String, &Vec<Value>)],
) -> Result<(), ImportError> {
    let most = histories.iter().map(|(_, list)| list.len()).max();
    let Some(at) = histories
        .iter()
        .position(|(_, list)| Some(list.len()) == most)
    else {
        return Ok(());
    };
    let Some((_, thread)) = histories.get(at) else {
        return Ok(());
    };
    for message in *thread {
        feed.record(message.clone(), None, None)?;
    }
    for (name, list) in histories
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != at)
        .map(|(_, it)| it)
    {
        let mut left: Vec<String> = thread.iter().map(word).collect();
        let more = list.iter().map(word).filter(|word| {
            let here = left.iter().position(|one| one == word);
            here.map(|here| left.swap_remove(here)).is_none()
        });
        let told = match more.count() {
            0 => "which the longest history has too".to_owned(),
            more => format!(
                "{more} of them not in the longest one: another conversation; put it into a file of its own to read it"
            ),
        };
        feed.repeated(
            list.len(),
            format!("history of {name}"),
            format!("{} messages, {told}", list.len()),
        );
    }
    Ok(())
}

/// What a message says, whoever's copy it is: roles and names differ from one history to the other.
fn word(message: &Value) -> String {
    let calls = message.get("tool_calls").filter(|calls| !calls.is_null());
    match (text(message).as_str(), calls) {
        // AG2 writes the content of a mere call as null in one history, and as this in another.
        ("" | "None", Some(calls)) => calls.to_string(),
        (text, _) => text.trim().to_owned(),
    }
}
