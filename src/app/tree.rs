//! A checkpoint as a tree of named values, and two of them as one tree with what differs between them.
//!
//! Pure; a node is built once for all, and only what is unfolded becomes a row. Not here: which checkpoints, and how a row looks.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::model::{Checkpoint, KeyState};

/// Between the names of a path; stands in no name that a person reads.
const SEPARATOR: char = '\u{1f}';
/// The words beside a key whose value is saved, and beside one of which only the fingerprint is known.
const SAVED: &str = "saved";
const UNSAVED: &str = "fingerprint only";

/// How a value stands to the one it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Equal, or nothing to compare with.
    Same,
    /// It differs, or something inside it does.
    Changed,
    /// It was not there.
    Added,
    /// It is not there any more.
    Removed,
}

/// A named value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name in what holds it.
    pub name: String,
    /// How far it can be trusted: the fidelity of a key or a part of it, with its revision.
    pub note: String,
    /// The value itself, or how many there are inside.
    pub text: String,
    /// The value it is compared with, where that is another.
    pub before: Option<String>,
    /// How it stands to that.
    pub mark: Mark,
    /// What is inside, in order.
    pub inside: Vec<Node>,
}

/// A node that is not folded away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// How deep it lies.
    pub depth: usize,
    /// Where it lies, for folding.
    pub path: String,
    /// Whether it is unfolded; none if nothing is inside.
    pub unfolded: Option<bool>,
    /// The node.
    pub node: &'a Node,
}

/// The tree of a state, held against an earlier one if there is one. O(size of both).
#[must_use]
pub fn tree(now: &Checkpoint, then: Option<&Checkpoint>) -> Vec<Node> {
    let mut names: BTreeSet<&String> = now.keys.keys().collect();
    names.extend(then.iter().flat_map(|then| then.keys.keys()));
    names
        .into_iter()
        .map(|name| {
            let old = then.and_then(|then| then.keys.get(name));
            of_key(name, now.keys.get(name), old, then.is_some())
        })
        .collect()
}

/// A key; `compared` tells that there is an earlier state, whether it has the key or not.
fn of_key(name: &str, now: Option<&KeyState>, then: Option<&KeyState>, compared: bool) -> Node {
    let value = |key: Option<&KeyState>| key.and_then(|key| key.value.clone());
    let mut node = of_value(name, value(now).as_ref(), value(then).as_ref(), compared);
    let shown = now.or(then);
    let fidelity = match shown.map(|key| key.value.is_some()) {
        Some(true) => SAVED,
        _ => UNSAVED,
    };
    node.note = shown.map_or_else(String::new, |key| format!("{fidelity}, {}", key.revision));
    // Without values fingerprints still tell.
    let print = |key: &KeyState| key.fingerprint;
    node.mark = mark(now.map(print), then.map(print), compared);
    node
}

fn mark<T: PartialEq>(now: Option<T>, then: Option<T>, compared: bool) -> Mark {
    match (now, then) {
        _ if !compared => Mark::Same,
        (Some(now), Some(then)) if now == then => Mark::Same,
        (Some(_), Some(_)) => Mark::Changed,
        (Some(_), None) => Mark::Added,
        (None, Some(_)) => Mark::Removed,
        (None, None) => Mark::Same,
    }
}

fn of_value(name: &str, now: Option<&Value>, then: Option<&Value>, compared: bool) -> Node {
    if let Some(part) = part(name, now, then, compared) {
        return part;
    }
    let (now, then) = (now.map(unwrapped), then.map(unwrapped));
    let shown = now.or(then).unwrap_or(&Value::Null);
    let mark = mark(now, then, compared);
    // What was of another kind before has nothing inside to be compared one by one.
    let then_inside = then.filter(|then| kind(then) == kind(shown));
    let inside: Vec<Node> = members(shown, then_inside)
        .into_iter()
        .map(|name| {
            let now = now.and_then(|now| member(now, &name));
            let then = then_inside.and_then(|then| member(then, &name));
            of_value(&name, now, then, compared)
        })
        .collect();
    let replaced = mark == Mark::Changed && inside.is_empty();
    Node {
        name: name.to_owned(),
        note: String::new(),
        text: text(shown),
        before: then.filter(|_| replaced).map(text),
        mark,
        inside,
    }
}

/// A part of a key as an adapter saves it: its value, with the fidelity beside it.
fn part(name: &str, now: Option<&Value>, then: Option<&Value>, compared: bool) -> Option<Node> {
    let shown = now.or(then)?.as_object()?;
    let fidelity = shown.get("fidelity")?.as_str()?;
    let content = |part: &Value| part.get("value").or(part.get("blob")).cloned();
    let (value, old) = (now.and_then(content), then.and_then(content));
    let mut node = of_value(name, value.as_ref(), old.as_ref(), compared);
    fidelity.clone_into(&mut node.note);
    Some(node)
}

/// What an adapter's key holds, without the word that stands around its parts.
fn unwrapped(value: &Value) -> &Value {
    let only = value.as_object().filter(|map| map.len() == 1);
    only.and_then(|map| map.get("parts"))
        .filter(|parts| parts.is_object())
        .unwrap_or(value)
}

/// Which kind of value it is, as far as what is inside goes.
const fn kind(value: &Value) -> u8 {
    match value {
        Value::Object(_) => 2,
        Value::Array(_) => 1,
        _ => 0,
    }
}

/// The names of what is inside: those of now in their order, then those that are gone.
fn members(now: &Value, then: Option<&Value>) -> Vec<String> {
    let names = |value: &Value| -> Vec<String> {
        match value {
            Value::Object(map) => map.keys().cloned().collect(),
            Value::Array(list) => (0..list.len()).map(|at| at.to_string()).collect(),
            _ => Vec::new(),
        }
    };
    let mut all = names(now);
    for name in then.map(names).unwrap_or_default() {
        let there = match now {
            Value::Object(map) => map.contains_key(&name),
            Value::Array(list) => name.parse().is_ok_and(|at: usize| at < list.len()),
            _ => false,
        };
        if !there {
            all.push(name);
        }
    }
    all
}

fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(map) => map.get(name),
        Value::Array(list) => list.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => format!("{{{}}}", map.len()),
        Value::Array(list) if list.is_empty() => "[]".to_owned(),
        Value::Array(list) => format!("[{}]", list.len()),
        other => other.to_string(),
    }
}

/// The rows that are not folded away, in order. `different`: only what differs, unfolded down to the difference.
#[must_use]
pub fn rows<'a>(nodes: &'a [Node], unfolded: &BTreeSet<String>, different: bool) -> Vec<Row<'a>> {
    let mut found = Vec::new();
    collect(nodes, "", 0, unfolded, different, &mut found);
    found
}

fn collect<'a>(
    nodes: &'a [Node],
    above: &str,
    depth: usize,
    unfolded: &BTreeSet<String>,
    different: bool,
    found: &mut Vec<Row<'a>>,
) {
    for node in nodes {
        if different && node.mark == Mark::Same {
            continue;
        }
        let path = format!("{above}{SEPARATOR}{}", node.name);
        // A path in the set is the other way round from how it begins: folded, or with differences unfolded.
        let begins = different && node.mark == Mark::Changed;
        let open = begins != unfolded.contains(&path);
        found.push(Row {
            depth,
            path: path.clone(),
            unfolded: (!node.inside.is_empty()).then_some(open),
            node,
        });
        if open {
            collect(&node.inside, &path, depth + 1, unfolded, different, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checkpoint(keys: &[(&str, Value)]) -> Checkpoint {
        Checkpoint {
            step: 3,
            keys: keys
                .iter()
                .map(|(name, value)| ((*name).to_owned(), KeyState::saved("r1", value.clone())))
                .collect(),
        }
    }

    fn told(rows: &[Row<'_>]) -> Vec<String> {
        let mark = |mark| match mark {
            Mark::Same => ' ',
            Mark::Changed => '~',
            Mark::Added => '+',
            Mark::Removed => '-',
        };
        rows.iter()
            .map(|row| {
                let node = row.node;
                let before = node.before.as_ref();
                format!(
                    "{}{}{}: {}{}",
                    mark(node.mark),
                    " ".repeat(row.depth),
                    node.name,
                    before.map_or(String::new(), |text| format!("{text} → ")),
                    node.text
                )
            })
            .collect()
    }

    #[test]
    fn folded_values_are_no_rows() {
        let state = checkpoint(&[
            ("agent_memory", json!({"Ann": ["hello", "you"], "Bob": []})),
            ("workspace", json!(null)),
        ]);
        let nodes = tree(&state, None);
        let mut unfolded = BTreeSet::new();
        assert_eq!(
            told(&rows(&nodes, &unfolded, false)),
            [" agent_memory: {2}", " workspace: null"]
        );
        assert_eq!(nodes[0].note, "saved, r1");
        for _ in 0..2 {
            let rows = rows(&nodes, &unfolded, false);
            let next = rows.iter().find(|row| row.unfolded == Some(false));
            unfolded.insert(next.unwrap().path.clone());
        }
        assert_eq!(
            told(&rows(&nodes, &unfolded, false)),
            [
                " agent_memory: {2}",
                "  Ann: [2]",
                "   0: hello",
                "   1: you",
                "  Bob: []",
                " workspace: null"
            ]
        );
    }

    #[test]
    fn only_what_differs_is_shown_down_to_the_value() {
        let then = checkpoint(&[
            (
                "agent_memory",
                json!({"Ann": ["hello"], "n": 1, "same": [1, 2]}),
            ),
            ("browser", json!({"url": "a"})),
            ("workspace", json!("c0ffee")),
        ]);
        let now = checkpoint(&[
            (
                "agent_memory",
                json!({"Ann": ["hello", "you"], "n": 2, "same": [1, 2]}),
            ),
            ("tool_registry", json!(["mail"])),
            ("workspace", json!("c0ffee")),
        ]);
        let nodes = tree(&now, Some(&then));
        assert_eq!(
            told(&rows(&nodes, &BTreeSet::new(), true)),
            [
                "~agent_memory: {3}",
                "~ Ann: [2]",
                "+  1: you",
                "~ n: 1 → 2",
                "-browser: {1}",
                "+tool_registry: [1]"
            ]
        );
    }

    #[test]
    fn a_part_of_an_adapter_has_its_fidelity_and_hides_the_wrapping() {
        let part = json!({"parts": {"agents/Ann/memory": {"value": ["hi"], "fidelity": "partial", "revision": "2"}}});
        let nodes = tree(&checkpoint(&[("agent_memory", part)]), None);
        let inner = &nodes[0].inside[0];
        assert_eq!(
            (inner.note.as_str(), inner.text.as_str()),
            ("partial", "[1]")
        );
        assert_eq!(inner.inside[0].text, "hi");
    }

    #[test]
    fn a_value_that_was_not_saved_is_told_by_its_fingerprint() {
        let key = |text: &str| KeyState {
            revision: "opaque".into(),
            fingerprint: crate::model::Digest::of(text),
            value: None,
        };
        let state = |text: &str| Checkpoint {
            step: 1,
            keys: [("browser".to_owned(), key(text))].into(),
        };
        let nodes = tree(&state("b"), Some(&state("a")));
        assert_eq!(nodes[0].mark, Mark::Changed);
        assert_eq!(nodes[0].note, "fingerprint only, opaque");
    }
}
