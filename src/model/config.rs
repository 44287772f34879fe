//! The configuration of a run, part by part (gate 5): roles, model ids, system prompts, tool schemas, routing rules.
//! A part is known by its digest; content stays out of it, so that a manifest may stand in receipts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AgentInfo, Digest, Session};

/// One part of a configuration.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// SHA-256 of its content.
    pub digest: Digest,
    /// What a person reads instead of the digest, such as a model's name; never a prompt's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

/// The parts of a configuration by name: `role Publisher`, `prompt Publisher`, `model`, `tool open_ticket`, `routing`.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(transparent)]
pub struct Manifest(pub BTreeMap<String, Part>);

impl Manifest {
    /// Adds a part by its content.
    pub fn add(&mut self, name: impl Into<String>, content: impl AsRef<[u8]>, shown: Option<&str>) {
        let part = Part {
            digest: Digest::of(content),
            shown: shown.map(str::to_owned),
        };
        self.0.insert(name.into(), part);
    }

    /// Adds the tools that an agent may call, in whatever order they were named.
    pub fn add_tools(&mut self, agent: &str, tools: &[String]) {
        let (name, content) = tools_part(agent, tools);
        let shown = if content.is_empty() {
            "none".to_owned()
        } else {
            content.replace('\n', ", ")
        };
        self.add(name, content, Some(&shown));
    }

    /// Where two configurations differ, by the name of the part.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let names: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        names
            .into_iter()
            .map(|name| Difference {
                part: name.clone(),
                before: self.0.get(name).cloned(),
                after: other.0.get(name).cloned(),
            })
            .filter(|found| {
                found.before.as_ref().map(|part| part.digest)
                    != found.after.as_ref().map(|part| part.digest)
            })
            .collect()
    }

    /// Digest over all parts, name and content.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let fields = self
            .0
            .iter()
            .flat_map(|(name, part)| [name.as_bytes(), part.digest.bytes().as_slice()]);
        Digest::of_fields(std::iter::once(b"dover config".as_slice()).chain(fields))
    }
}

/// A part that two configurations do not share.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub part: String,
    /// As the first has it; none if it does not.
    pub before: Option<Part>,
    /// As the second has it; none if it does not.
    pub after: Option<Part>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |part: &Option<Part>| part.as_ref().and_then(|part| part.shown.clone());
        // Two contents that read alike are told apart by their digests.
        let alike = shown(&self.before) == shown(&self.after);
        let side = |part: &Option<Part>| match part {
            None => "not there".to_owned(),
            Some(part) if alike => part.digest.short(),
            Some(part) => part.label(),
        };
        write!(
            f,
            "{}: {} → {}",
            self.part,
            side(&self.before),
            side(&self.after)
        )
    }
}

impl Part {
    /// What a person reads of it.
    #[must_use]
    pub fn label(&self) -> String {
        self.shown.clone().unwrap_or_else(|| self.digest.short())
    }
}

/// What is recorded of the configuration that a branch ran with.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Pinned {
    /// Nothing: it was written before configurations were.
    #[default]
    Nothing,
    /// What a log tells, which need not be all.
    Told(Manifest),
    /// All that a runtime had.
    Whole(Manifest),
}

impl Pinned {
    /// The parts, if any are known.
    #[must_use]
    pub const fn manifest(&self) -> Option<&Manifest> {
        match self {
            Self::Nothing => None,
            Self::Told(manifest) | Self::Whole(manifest) => Some(manifest),
        }
    }
}

/// An intended change of the configuration (category `config`).
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ConfigChange {
    /// An agent's system prompt.
    Prompt {
        /// The agent.
        agent: String,
        /// The new prompt.
        text: String,
    },
    /// The model.
    Model {
        /// Its name.
        name: String,
    },
    /// The tools that an agent may call.
    Tools {
        /// The agent.
        agent: String,
        /// Their names.
        tools: Vec<String>,
    },
}

/// Name and content of the part that says which tools an agent may call.
fn tools_part(agent: &str, tools: &[String]) -> (String, String) {
    let names: BTreeSet<&str> = tools.iter().map(String::as_str).collect();
    let names: Vec<&str> = names.into_iter().collect();
    (format!("tools {agent}"), names.join("\n"))
}

impl ConfigChange {
    /// The part that it changes, and what that must come to.
    #[must_use]
    pub fn part(&self) -> (String, Digest) {
        let (name, content) = match self {
            Self::Prompt { agent, text } => (format!("prompt {agent}"), text.clone()),
            Self::Model { name } => ("model".to_owned(), name.clone()),
            Self::Tools { agent, tools } => tools_part(agent, tools),
        };
        (name, Digest::of(content))
    }
}

/// What it changes, without a prompt's text.
impl fmt::Display for ConfigChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prompt { agent, .. } => write!(f, "another prompt for {agent}"),
            Self::Model { name } => write!(f, "model {name}"),
            Self::Tools { agent, tools } if tools.is_empty() => write!(f, "no tools for {agent}"),
            Self::Tools { agent, tools } => write!(f, "tools of {agent}: {}", tools.join(", ")),
        }
    }
}

impl Session {
    /// What the session itself tells of its configuration: who takes part, with which prompts, and who leads.
    #[must_use]
    pub fn told_config(&self) -> Manifest {
        let mut config = Manifest::default();
        let lead = self.orchestrator.as_deref();
        config.add(
            "routing",
            lead.unwrap_or_default(),
            Some(lead.unwrap_or("in turn")),
        );
        for agent in &self.agents {
            let name = &agent.name;
            let role = agent.description.as_deref().unwrap_or_default();
            config.add(format!("role {name}"), role, None);
            if let Some(prompt) = &agent.system_prompt {
                config.add(format!("prompt {name}"), prompt, None);
            }
        }
        config
    }

    /// Changes the configuration as a fork asked for it. What the session itself does not hold is the runtime's to look up.
    pub fn change(&mut self, change: ConfigChange) {
        if let ConfigChange::Prompt { agent, text } = &change {
            match self.agents.iter_mut().find(|info| info.name == *agent) {
                Some(info) => info.system_prompt = Some(text.clone()),
                None => self.agents.push(AgentInfo {
                    name: agent.clone(),
                    system_prompt: Some(text.clone()),
                    ..AgentInfo::default()
                }),
            }
        }
        self.changes.push(change);
    }

    /// The model that forks changed to, if any did.
    #[must_use]
    pub fn changed_model(&self) -> Option<&str> {
        self.changes.iter().rev().find_map(|change| match change {
            ConfigChange::Model { name } => Some(name.as_str()),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tools: &[&str]) -> Vec<String> {
        tools.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_change_names_the_part_and_the_digest_that_a_manifest_has_of_it() {
        let mut manifest = Manifest::default();
        manifest.add("prompt Reader", "Read old handwriting.", None);
        manifest.add("model", "small-1", Some("small-1"));
        manifest.add_tools("Publisher", &names(&["send_mail", "open_ticket"]));
        let changes = [
            ConfigChange::Prompt {
                agent: "Reader".into(),
                text: "Read old handwriting.".into(),
            },
            ConfigChange::Model {
                name: "small-1".into(),
            },
            ConfigChange::Tools {
                agent: "Publisher".into(),
                tools: names(&["open_ticket", "send_mail", "open_ticket"]),
            },
        ];
        for change in changes {
            let (part, digest) = change.part();
            assert_eq!(manifest.0.get(&part).unwrap().digest, digest, "{part}");
        }
        let shown = manifest.0.get("tools Publisher").unwrap().label();
        assert_eq!(shown, "open_ticket, send_mail");
    }

    #[test]
    fn differences_say_old_and_new_and_no_content() {
        let mut a = Manifest::default();
        a.add("model", "small-1", Some("small-1"));
        a.add("routing", "Orchestrator, plan A", Some("Orchestrator"));
        a.add("tool mail", "{}", None);
        a.add("world", "facts", None);
        let mut b = a.clone();
        b.add("model", "large-2", Some("large-2"));
        b.add("routing", "Orchestrator, plan B", Some("Orchestrator"));
        b.add("prompt Reader", "secret words", None);
        b.0.remove("tool mail");
        let lines: Vec<String> = a.differences(&b).iter().map(ToString::to_string).collect();
        let short = |content: &str| Digest::of(content).short();
        assert_eq!(
            lines,
            [
                "model: small-1 → large-2".to_owned(),
                format!("prompt Reader: not there → {}", short("secret words")),
                format!(
                    "routing: {} → {}",
                    short("Orchestrator, plan A"),
                    short("Orchestrator, plan B")
                ),
                format!("tool mail: {} → not there", short("{}")),
            ]
        );
        assert!(a.differences(&a).is_empty());
        assert_ne!(a.digest(), b.digest());
    }
}
