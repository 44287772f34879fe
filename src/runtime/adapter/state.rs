//! A checkpoint of an adapter as dover keeps it: state keys by the names of the workflow profile, each with dover's own fingerprint.
//!
//! The adapter names parts (`agents/Solver/memory`); a key holds all parts of its kind, as they came, so that the adapter gets back just
//! what it gave. What the framework cannot save whole stands beside as a key without a value: nothing uncertain passes for saved.
//! Not here: judging. What was read back is compared by gate 2.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::gate::receipt::canonical_digest;
use crate::model::{Checkpoint, Digest, KeyState, RestoredKey, fingerprint};

/// The key for where the run stands and what is pending.
const POSITION: &str = "position";
/// Where the parts stand in a key's value.
const PARTS: &str = "parts";
/// What an adapter's own checkpoint says of the position. Versions and pin are gate 5's.
const COMPARED: [&str; 4] = ["adapter", "format", "step", "pending"];

/// The state key that a part belongs to (SPEC 1); else the runtime's own, by the part's first word.
fn key_of(part: &str) -> &str {
    match part.split('/').next().unwrap_or(part) {
        "agents" | "orchestrator" | "termination" | "pending" => "agent_memory",
        "tools" => "tool_registry",
        "approvals" => "approval_queue",
        own => own,
    }
}

/// What fingerprints are taken of: the saved value, in whichever form.
fn content(entry: &Value) -> Value {
    ["value", "blob"]
        .iter()
        .find_map(|name| entry.get(*name).cloned())
        .unwrap_or_default()
}

/// A digest that does not depend on the order of names.
fn digest(value: &Value) -> Digest {
    canonical_digest(value).unwrap_or_else(|_| fingerprint(value))
}

/// Whether the framework saves the part whole.
pub(super) fn fidelity(entry: &Value) -> &str {
    entry
        .get("fidelity")
        .and_then(Value::as_str)
        .unwrap_or("full")
}

/// Reads an adapter's checkpoint as the state before a step.
///
/// # Errors
/// What of it is not as the protocol says.
pub(super) fn kept(told: &Value, step: usize) -> Result<Checkpoint, String> {
    let whole = told.as_object().ok_or("a checkpoint that is no object")?;
    let state = whole.get("state").and_then(Value::as_object);
    let state = state.ok_or("a checkpoint without state")?;
    let mut groups: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let mut keys = BTreeMap::new();
    for (part, entry) in state {
        if !entry.is_object() {
            return Err(format!("state key {part} is no object"));
        }
        let group = groups.entry(key_of(part)).or_default();
        group.insert(part.clone(), entry.clone());
        let fidelity = fidelity(entry);
        if fidelity != "full" {
            let unsaved = KeyState {
                revision: fidelity.to_owned(),
                fingerprint: digest(&content(entry)),
                value: None,
            };
            keys.insert(format!("{part} ({fidelity})"), unsaved);
        }
    }
    for (key, parts) in groups {
        let contents: Map<String, Value> = parts
            .iter()
            .map(|(part, entry)| (part.clone(), content(entry)))
            .collect();
        let state = KeyState {
            revision: revision(&parts),
            fingerprint: digest(&Value::Object(contents)),
            value: Some(json!({ PARTS: parts })),
        };
        keys.insert(key.to_owned(), state);
    }
    let mut position = whole.clone();
    position.shift_remove("state");
    let compared: Map<String, Value> = position
        .iter()
        .filter(|(name, _)| COMPARED.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let at = whole.get("step").map_or("?".to_owned(), Value::to_string);
    let state = KeyState {
        revision: format!("{at} delivered"),
        fingerprint: digest(&Value::Object(compared)),
        value: Some(Value::Object(position)),
    };
    keys.insert(POSITION.to_owned(), state);
    Ok(Checkpoint { step, keys })
}

/// The adapter's own revisions: that of a single part, else all of them in one.
fn revision(parts: &Map<String, Value>) -> String {
    let of = |entry: &Value| super::wire::text(entry.get("revision").unwrap_or(&Value::Null));
    let revisions: Vec<String> = parts.values().map(of).collect();
    match revisions.as_slice() {
        [one] if one.is_empty() => "1 part".to_owned(),
        [one] => one.clone(),
        all if all.iter().all(String::is_empty) => format!("{} parts", all.len()),
        all => format!(
            "{} parts at {}",
            all.len(),
            Digest::of(all.join("\n")).short()
        ),
    }
}

/// The checkpoint as the adapter gave it.
///
/// # Errors
/// It was recorded by something else.
pub(super) fn rebuilt(kept: &Checkpoint) -> Result<Value, String> {
    let position = kept.keys.get(POSITION).and_then(|key| key.value.as_ref());
    let mut whole = position
        .and_then(Value::as_object)
        .cloned()
        .ok_or("the checkpoint was not made by an adapter")?;
    let mut state = Map::new();
    for key in kept.keys.values() {
        let parts = key.value.as_ref().and_then(|value| value.get(PARTS));
        state.extend(
            parts
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default(),
        );
    }
    whole.insert("state".to_owned(), Value::Object(state));
    Ok(Value::Object(whole))
}

/// The pin that the run had when it was recorded.
pub(super) fn pin(kept: &Checkpoint) -> Option<&str> {
    let position = kept.keys.get(POSITION)?.value.as_ref()?;
    position.get("config_pin")?.as_str()
}

/// What a new process gives back for each key that was recorded, with the test that was made. `admitted`: the adapter's own word on its
/// parts; that something is exact is no evidence, that something is not counts.
pub(super) fn read_back(
    recorded: &Checkpoint,
    now: &Checkpoint,
    admitted: &BTreeMap<String, String>,
) -> Vec<RestoredKey> {
    let untested = |key: &str, test: String| RestoredKey {
        key: key.to_owned(),
        revision: None,
        fingerprint: None,
        test,
    };
    let mut read: Vec<RestoredKey> = recorded
        .keys
        .iter()
        .map(|(key, before)| {
            if before.value.is_none() {
                let what = match before.revision.as_str() {
                    "partial" => "the framework saves only a part of it",
                    _ => "the framework saves nothing of it",
                };
                return untested(key, what.to_owned());
            }
            let Some(after) = now.keys.get(key) else {
                return untested(key, "it is not there after the restore".to_owned());
            };
            let test = "saved again in a new process and compared";
            let test = match differences(before, after).as_slice() {
                [] => test.to_owned(),
                found => format!("{test}: {}", found.join(", ")),
            };
            RestoredKey {
                key: key.clone(),
                revision: Some(after.revision.clone()),
                fingerprint: Some(after.fingerprint),
                test,
            }
        })
        .collect();
    for (part, word) in admitted.iter().filter(|(_, word)| *word != "exact") {
        let key = key_of(part);
        read.push(untested(key, format!("{part}: the adapter says {word}")));
    }
    read
}

/// Where two states of a key differ, part by part, at most three.
fn differences(before: &KeyState, after: &KeyState) -> Vec<String> {
    if before.fingerprint == after.fingerprint {
        return Vec::new();
    }
    let parts = |state: &KeyState| {
        let value = state.value.as_ref()?;
        let parts = value.get(PARTS).unwrap_or(value);
        parts.as_object().cloned()
    };
    let (before, after) = (
        parts(before).unwrap_or_default(),
        parts(after).unwrap_or_default(),
    );
    let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let found = names
        .into_iter()
        .filter_map(|name| match (before.get(name), after.get(name)) {
            (Some(_), None) => Some(format!("{name} is gone")),
            (None, Some(_)) => Some(format!("{name} is new")),
            (Some(a), Some(b)) if a.is_object() && (a.get("value").or(a.get("blob"))).is_some() => {
                difference(&content(a), &content(b), name)
            }
            (Some(a), Some(b)) if COMPARED.contains(&name.as_str()) => difference(a, b, name),
            _ => None,
        });
    found.take(3).collect()
}

/// Where two checkpoints of an adapter differ, part by part, item by item, the pending message included. Versions, pins and hashes are not
/// compared, nor what the framework does not save.
pub(super) fn item_by_item(before: &Value, after: &Value) -> Vec<String> {
    let part = |of: &Value, part: &str| {
        of.pointer("/state")
            .and_then(|state| state.get(part))
            .cloned()
    };
    let names = |of: &Value| -> Vec<String> {
        let parts = of.get("state").and_then(Value::as_object);
        parts.map_or(Vec::new(), |parts| parts.keys().cloned().collect())
    };
    let mut all = names(before);
    all.extend(names(after));
    all.sort();
    all.dedup();
    let found =
        all.into_iter()
            .filter_map(|name| match (part(before, &name), part(after, &name)) {
                (Some(a), _) | (None, Some(a)) if fidelity(&a) == "opaque" => None,
                (Some(a), Some(b)) => difference(&content(&a), &content(&b), &name),
                (Some(_), None) => Some(format!("{name} is gone")),
                _ => Some(format!("{name} is new")),
            });
    let mut found: Vec<String> = found.collect();
    for name in ["step", "pending"] {
        let of = |whole: &Value| whole.get(name).cloned().unwrap_or_default();
        found.extend(difference(&of(before), &of(after), name));
    }
    found
}

/// The first place where two values differ, in words; none if they are the same.
pub(super) fn difference(a: &Value, b: &Value, at: &str) -> Option<String> {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let names = x
                .keys()
                .chain(y.keys().filter(|name| !x.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let at = format!("{at}.{name}");
                match (x.get(name), y.get(name)) {
                    (Some(a), Some(b)) => difference(a, b, &at),
                    (Some(_), None) => Some(format!("{at} is gone")),
                    _ => Some(format!("{at} is new")),
                }
            })
        }
        (Value::Array(x), Value::Array(y)) => {
            let inner = x.iter().zip(y).enumerate();
            let mut inner = inner.filter_map(|(n, (a, b))| difference(a, b, &format!("{at}[{n}]")));
            inner.next().or_else(|| {
                (x.len() != y.len()).then(|| format!("{at} has {} items, had {}", y.len(), x.len()))
            })
        }
        (a, b) if a == b => None,
        _ => Some(format!("{at} differs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> Value {
        json!({
            "format": 1, "adapter": "x", "framework": {"f": "1"}, "config_pin": "ab", "step": 2,
            "pending": {"message_id": "m2", "from": "A", "content": "hi"},
            "state": {
                "agents/A/memory": {"value": [{"text": "one"}, {"text": "two"}], "fidelity": "full", "revision": 2},
                "agents/B/memory": {"value": null, "fidelity": "opaque", "revision": 0},
                "tools/A": {"value": ["mail"], "fidelity": "full", "revision": "1"},
                "graph": {"blob": "AAEC", "fidelity": "full", "revision": "7"}
            },
            "sha256": "00"
        })
    }

    #[test]
    fn an_adapter_gets_back_what_it_gave() {
        let kept = kept(&told(), 5).unwrap();
        assert_eq!(kept.step, 5);
        let keys: Vec<&str> = kept.keys.keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "agent_memory",
                "agents/B/memory (opaque)",
                "graph",
                "position",
                "tool_registry"
            ]
        );
        assert_eq!(rebuilt(&kept).unwrap(), told());
        assert_eq!(pin(&kept), Some("ab"));
        assert_eq!(kept.keys["graph"].revision, "7");
        // What cannot be saved has no value, so that nobody takes it for saved.
        assert!(kept.keys["agents/B/memory (opaque)"].value.is_none());
        for wrong in [json!([]), json!({"step": 1}), json!({"state": {"a": 1}})] {
            assert!(super::kept(&wrong, 0).is_err(), "{wrong}");
        }
        assert!(rebuilt(&Checkpoint::default()).is_err());
    }

    #[test]
    fn only_the_content_is_compared_and_its_difference_is_named() {
        let recorded = kept(&told(), 5).unwrap();
        let mut same = told();
        // Another order, another hash and another pin are not another state.
        same["sha256"] = json!("11");
        same["config_pin"] = json!("cd");
        same["pending"] = json!({"content": "hi", "from": "A", "message_id": "m2"});
        let now = kept(&same, 5).unwrap();
        for key in ["agent_memory", "position", "graph"] {
            assert_eq!(recorded.keys[key].fingerprint, now.keys[key].fingerprint);
        }
        let mut other = told();
        other["state"]["agents/A/memory"]["value"][1]["text"] = json!("too");
        other["pending"]["from"] = json!("B");
        let now = kept(&other, 5).unwrap();
        let read = read_back(&recorded, &now, &BTreeMap::new());
        let of = |key: &str| read.iter().find(|read| read.key == key).unwrap();
        assert!(
            of("agent_memory")
                .test
                .ends_with("agents/A/memory[1].text differs")
        );
        assert!(of("position").test.ends_with("pending.from differs"));
        assert_ne!(
            of("position").fingerprint,
            Some(recorded.keys["position"].fingerprint)
        );
        assert_eq!(
            of("graph").fingerprint,
            Some(recorded.keys["graph"].fingerprint)
        );
        assert_eq!(of("agents/B/memory (opaque)").fingerprint, None);
    }

    #[test]
    fn an_adapter_that_admits_a_loss_is_believed() {
        let recorded = kept(&told(), 5).unwrap();
        let words = [("agents/A/memory", "missing"), ("graph", "exact")];
        let words = words.map(|(part, word)| (part.to_owned(), word.to_owned()));
        let read = read_back(&recorded, &recorded, &BTreeMap::from(words));
        let lost = read
            .iter()
            .filter(|read| read.key == "agent_memory" && read.fingerprint.is_none());
        assert_eq!(lost.count(), 1);
        assert!(
            read.iter()
                .all(|read| read.key != "graph" || read.fingerprint.is_some())
        );
    }

    #[test]
    fn the_first_difference_has_a_place() {
        let table = [
            (
                json!({"a": [1, 2]}),
                json!({"a": [1, 3]}),
                Some("x.a[1] differs"),
            ),
            (
                json!({"a": [1, 2]}),
                json!({"a": [1]}),
                Some("x.a has 1 items, had 2"),
            ),
            (json!({"a": 1}), json!({}), Some("x.a is gone")),
            (json!({}), json!({"a": 1}), Some("x.a is new")),
            (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), None),
        ];
        for (a, b, expected) in table {
            assert_eq!(difference(&a, &b, "x").as_deref(), expected);
        }
    }
}
