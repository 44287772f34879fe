//! The configuration of a run, part by part (gate 5): roles, model ids, system prompts, tool schemas, routing rules.
//! A part is known by its digest; content stays out of it, so that a manifest may stand in receipts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Digest;

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
