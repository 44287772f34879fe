//! The configuration of a team part by part (gate 5), and what its session is before anything has run.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::wire::{self, Greeting, Told};
use crate::gate::receipt::canonical_digest;
use crate::model::{
    AdapterRef, AgentInfo, Digest, EffectClass, Manifest, Part, Profile, RuntimeRef, Session,
    ToolProfile, fingerprint,
};

/// The longest value that stands beside its digest.
const SHOWN: usize = 40;

/// How far a configuration is taken apart: the team, its agents, an agent, a field of it.
const DEPTH: usize = 4;

/// Everything that the adapter pins, part by part: versions, and what makes the team what it is.
pub(super) fn manifest(greeting: &Greeting, told: &Told) -> Manifest {
    let mut config = Manifest::default();
    let mut pinned = match &told.pinned {
        Value::Object(map) => map.clone(),
        other => Map::from_iter([("team".to_owned(), other.clone())]),
    };
    let versions: Map<String, Value> = greeting
        .framework
        .iter()
        .map(|(package, version)| (package.clone(), version.clone().into()))
        .collect();
    pinned.insert("version".to_owned(), Value::Object(versions));
    // The shared core tells the versions there too.
    pinned.shift_remove("framework");
    for (name, value) in pinned {
        // What is pinned of a team is the team's.
        let name = if name == "team" { String::new() } else { name };
        parts(&mut config, name, &value, DEPTH);
    }
    // The adapter's digest may cover more than it tells.
    let pin = &told.config_pin;
    config.add("adapter pin", pin, Some(pin.get(..12).unwrap_or(pin)));
    config
}

fn parts(config: &mut Manifest, name: String, value: &Value, depth: usize) {
    match named(value).filter(|_| depth > 0) {
        Some(inner) => {
            for (one, value) in inner {
                let name = format!("{name} {one}").trim_start().to_owned();
                parts(config, name, &value, depth - 1);
            }
        }
        None if name.is_empty() => part(config, "team".to_owned(), value),
        None => part(config, name, value),
    }
}

/// The members of an object, or of a list whose members have names.
fn named(value: &Value) -> Option<Vec<(String, Value)>> {
    match value {
        Value::Object(map) if !map.is_empty() => {
            Some(map.iter().map(|(k, v)| (k.clone(), v.clone())).collect())
        }
        Value::Array(list) if !list.is_empty() => {
            let names: Option<Vec<_>> = list
                .iter()
                .map(|one| Some((one.get("name")?.as_str()?.to_owned(), one.clone())))
                .collect();
            let mut names = names?;
            // Two of a name must not hide each other.
            let mut seen: BTreeMap<String, usize> = BTreeMap::new();
            for (name, _) in &mut names {
                let count = seen.entry(name.clone()).or_default();
                *count += 1;
                if *count > 1 {
                    *name = format!("{name} {count}");
                }
            }
            Some(names)
        }
        _ => None,
    }
}

fn part(config: &mut Manifest, name: String, value: &Value) {
    // A prompt is never shown; a number, a word of the settings or a model's name is.
    let telling = ["model", "version", "topology", "provider"];
    let last = name.rsplit(' ').next().unwrap_or_default().to_lowercase();
    let tells = name.starts_with("version ") || telling.iter().any(|word| last.contains(word));
    let shown = match value {
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::String(text) if tells => {
            Some(text.clone()).filter(|text| text.chars().count() <= SHOWN)
        }
        _ => None,
    };
    let digest = canonical_digest(value).unwrap_or_else(|_| fingerprint(value));
    config.0.insert(name, Part { digest, shown });
}

/// A team's session before anything has run.
pub(super) fn session(
    adapter: &AdapterRef,
    task: Option<&str>,
    greeting: &Greeting,
    told: &Told,
) -> Session {
    let task = task.unwrap_or_default();
    let tools = tools(told);
    let opaque = told.agents.iter().any(|agent| agent.state == "opaque");
    let local = !opaque && tools.values().all(|tool| !tool.outside);
    let leads = |name: &str, class: &str| {
        [name, class]
            .iter()
            .any(|word| word.to_lowercase().contains("orchestrator"))
    };
    Session {
        id: id(adapter),
        title: title(task),
        format: "adapter".to_owned(),
        task: task.to_owned(),
        agents: told
            .agents
            .iter()
            .map(|agent| AgentInfo {
                name: agent.name.clone(),
                description: agent.description.clone().filter(|text| !text.is_empty()),
                system_prompt: None,
            })
            .collect(),
        orchestrator: told
            .agents
            .iter()
            .find(|agent| leads(&agent.name, &agent.class))
            .map(|agent| agent.name.clone()),
        runtime: Some(RuntimeRef {
            name: "adapter".to_owned(),
            world: None,
            destination: None,
            seed: 0,
            adapter: Some(AdapterRef {
                framework: greeting.framework.clone(),
                local,
                ..adapter.clone()
            }),
        }),
        profile: Profile {
            tools,
            ..Profile::default()
        },
        config: Some(manifest(greeting, told)),
        ..Session::default()
    }
}

/// A task as a person reads it in a list.
#[must_use]
pub fn title(task: &str) -> String {
    let line = task.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut title: String = line.chars().take(80).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title
}

/// The team's tools by name; of two agents' tools of one name the worse class counts.
fn tools(told: &Told) -> BTreeMap<String, ToolProfile> {
    let mut tools: BTreeMap<String, ToolProfile> = BTreeMap::new();
    for tool in &told.tools {
        let class = wire::class(&tool.effect);
        let known = tools.entry(tool.name.clone()).or_insert(ToolProfile {
            class,
            ..ToolProfile::default()
        });
        known.class = known.class.max(class);
        known.outside = known.class != EffectClass::ReadOnly;
    }
    tools
}

/// A name made from the adapter and its entry: `langgraph-maths`.
fn id(adapter: &AdapterRef) -> String {
    let entry = if adapter.entry.is_empty() {
        adapter.command.last().map_or("team", String::as_str)
    } else {
        &adapter.entry
    };
    let (file, factory) = match entry.rsplit_once(':') {
        Some((file, factory)) if !factory.contains(['/', '\\']) => (file, factory),
        _ => (entry, ""),
    };
    let stem = Path::new(file)
        .file_stem()
        .map_or(file.to_owned(), |stem| stem.to_string_lossy().into_owned());
    let parts = [adapter.name.as_str(), &stem, factory];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

/// A digest as it stands in the protocol.
pub(super) fn digest_of(text: &str, or: &str) -> Digest {
    text.parse().unwrap_or_else(|_| Digest::of(or))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(value: Value) -> Told {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_pin_is_kept_part_by_part_and_a_prompt_is_not_shown() {
        let greeting = Greeting {
            framework: BTreeMap::from([("ag2".to_owned(), "1.2.1".to_owned())]),
            ..Greeting::default()
        };
        let team = |prompt: &str| {
            told(json!({"pinned": {
                "agents": [{"name": "A", "prompt": prompt}, {"name": "B", "prompt": "b"}],
                "max_round": 6, "settings": {"model": "small"}
            }, "config_pin": "0123456789abcdef"}))
        };
        let (one, two) = (
            manifest(&greeting, &team("be brief")),
            manifest(&greeting, &team("be long")),
        );
        let names: Vec<&str> = one.0.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "adapter pin",
                "agents A name",
                "agents A prompt",
                "agents B name",
                "agents B prompt",
                "max_round",
                "settings model",
                "version ag2"
            ]
        );
        assert_eq!(one.0["max_round"].shown.as_deref(), Some("6"));
        assert_eq!(one.0["settings model"].shown.as_deref(), Some("small"));
        assert_eq!(one.0["agents A prompt"].shown, None);
        let parts: Vec<String> = one
            .differences(&two)
            .into_iter()
            .map(|it| it.part)
            .collect();
        assert_eq!(parts, ["agents A prompt"]);
    }

    #[test]
    fn a_session_knows_its_tools_and_who_leads() {
        let adapter = AdapterRef {
            name: "autogen".into(),
            entry: "/home/ann/team.py:build".into(),
            ..AdapterRef::default()
        };
        let team = told(json!({
            "agents": [{"name": "MagenticOneOrchestrator", "class": "MagenticOneOrchestrator"}, {"name": "Mailer", "state": "full"}],
            "tools": [{"agent": "Mailer", "name": "mail", "effect": "permanent"}, {"agent": "Mailer", "name": "look", "effect": "read_only"},
                      {"agent": "Other", "name": "look"}]
        }));
        let session = session(&adapter, Some("Find\nit"), &Greeting::default(), &team);
        assert_eq!(session.id, "autogen-team-build");
        assert_eq!(session.title, "Find it");
        assert_eq!(
            session.orchestrator.as_deref(),
            Some("MagenticOneOrchestrator")
        );
        // Two tools of a name: nobody has said of one what it does.
        assert_eq!(session.profile.tools["look"].class, EffectClass::Unknown);
        assert!(!session.runtime.unwrap().adapter.unwrap().local);
    }
}
