//! The state of a run, whole and plain: what a checkpoint saves and a restore rebuilds, key by key.
//!
//! Invariant: a run is a function of world, state, seed and step index alone. Nothing that decides what happens next lives elsewhere.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::clause::Clause;
use super::destination;
use super::lexicon::Skill;
use super::world::{Fact, World};
use crate::model::{Checkpoint, Digest, KeyState, RestoredKey};

/// Which step comes next.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Default)]
#[serde(rename_all = "snake_case")]
pub(super) enum Next {
    #[default]
    Task,
    Plan,
    Ledger,
    Instruction,
    /// An agent acts or speaks.
    Turn,
    /// A tool answers.
    Result,
    /// The machinery says that the plan is given up.
    Stall,
    /// The solver speaks.
    Say,
    /// The calculator speaks.
    Reply,
    Answer,
    End,
}

/// What somebody holds to be so.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub(super) struct Belief {
    pub value: String,
    /// Read on a page, from a tool, or worked out; otherwise only said.
    pub seen: bool,
}

/// Something read whose foundation was not known then.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub(super) struct Unplaced {
    pub fact: String,
    pub value: String,
    pub given: BTreeMap<String, String>,
}

/// A line of the plan that is to be handed out.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Errand {
    pub text: String,
    pub tries: usize,
    pub done: bool,
    /// Somebody's own line: it is handed out even if its matter seems to be known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub firm: bool,
}

/// An instruction that is about to be given.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Order {
    pub agent: String,
    pub text: String,
    /// Whether it comes from the plan's first line.
    pub from_plan: bool,
}

/// Something an agent has made up its mind to do.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Act {
    Open {
        address: String,
    },
    Press {
        name: String,
        address: String,
    },
    Missing {
        name: String,
    },
    NoSuchAddress {
        address: String,
    },
    Scroll {
        to: Option<usize>,
    },
    Back,
    Search {
        query: String,
        hits: Vec<String>,
        /// The first result stands out, so it is opened.
        first: bool,
    },
    Read {
        fact: Option<String>,
    },
    Call {
        tool: String,
        args: BTreeMap<String, String>,
    },
    Guess {
        fact: String,
    },
    Compute {
        expression: String,
    },
    Say {
        text: String,
    },
}

impl Act {
    /// The skill that it takes, if it is more than words.
    pub const fn skill(&self) -> Option<Skill> {
        match self {
            Self::Open { .. } | Self::NoSuchAddress { .. } => Some(Skill::Open),
            Self::Press { .. } | Self::Missing { .. } => Some(Skill::Press),
            Self::Scroll { .. } => Some(Skill::Scroll),
            Self::Back => Some(Skill::Back),
            Self::Search { .. } => Some(Skill::Search),
            Self::Read { .. } => Some(Skill::Read),
            Self::Call { .. } => Some(Skill::Call),
            Self::Guess { .. } => Some(Skill::Guess),
            Self::Compute { .. } => Some(Skill::Compute),
            Self::Say { .. } => None,
        }
    }
}

/// A tool's call that awaits its result.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub tool: String,
    pub args: BTreeMap<String, String>,
    pub result: String,
    pub failed: bool,
    /// It was answered from the record of an effect that stays: whether with the arguments of then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<bool>,
}

/// An agent's turn: what it was told and what it is about to do.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Turn {
    pub agent: String,
    /// The instruction's text.
    pub told: String,
    /// Requests not begun.
    pub asks: VecDeque<Clause>,
    /// What is to be done for the request begun.
    pub acts: VecDeque<Act>,
    /// The request begun, if doing these acts fulfils it.
    pub ask: Option<String>,
    /// Steps made.
    pub steps: usize,
    /// Facts that it has told of already.
    #[serde(default)]
    pub said: BTreeSet<String>,
    pub call: Option<Call>,
}

/// The agents' memory and where the run stands.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(default)]
pub(super) struct Memory {
    pub next: Next,
    /// Plans stated.
    pub plans: usize,
    pub queue: VecDeque<Errand>,
    /// Rounds without progress.
    pub stall: usize,
    pub progress: bool,
    /// How often each fact was asked for beside the plan.
    pub asked: BTreeMap<String, usize>,
    /// What a sub-agent proposed.
    pub lead: Option<String>,
    /// Calls that did their work, so that doing the same again is no progress.
    pub called: BTreeSet<String>,
    pub order: Option<Order>,
    pub beliefs: BTreeMap<String, Belief>,
    pub unplaced: Vec<Unplaced>,
    /// What must not be done.
    pub forbidden: Vec<Clause>,
    pub turn: Option<Turn>,
    /// The solver's line, and how often it was tried.
    pub line: usize,
    pub line_tries: usize,
    /// Set-ups that somebody stated, by fact.
    pub setups: BTreeMap<String, String>,
    pub answer: Option<String>,
}

/// The browser.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(default)]
pub(super) struct Browser {
    /// The page shown; none for a list of search results.
    pub address: Option<String>,
    pub screen: usize,
    /// Pages found, while their list is shown.
    pub results: Vec<String>,
    pub history: Vec<String>,
    pub visited: Vec<String>,
}

/// Everything.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct State {
    pub memory: Memory,
    pub browser: Browser,
    pub files: BTreeMap<String, String>,
    pub approvals: BTreeMap<String, String>,
    pub logs: BTreeMap<String, Vec<Value>>,
}

impl State {
    /// The state in which a world begins.
    pub fn start(world: &World) -> Self {
        Self {
            browser: Browser {
                address: world.start.clone(),
                visited: world.start.iter().cloned().collect(),
                ..Browser::default()
            },
            files: world.file.clone(),
            approvals: world
                .approval
                .iter()
                .map(|approval| (approval.id.clone(), approval.state.clone()))
                .collect(),
            ..Self::default()
        }
    }

    /// A fact's value as it is held, or as it is guessed.
    pub fn value_or_guess(&self, fact: &Fact) -> String {
        let held = self.memory.beliefs.get(&fact.id);
        held.map_or_else(|| fact.guess.clone(), |belief| belief.value.clone())
    }

    /// Saves every key that the world has.
    pub fn save(&self, world: &World, step: usize) -> Checkpoint {
        let keys = world.keys().into_iter().filter_map(|key| {
            let (revision, value) = self.key(world, &key)?;
            Some((key, KeyState::saved(revision, value)))
        });
        Checkpoint {
            step,
            keys: keys.collect(),
        }
    }

    /// Revision and value of one key.
    fn key(&self, world: &World, key: &str) -> Option<(String, Value)> {
        let saved = |value: Result<Value, serde_json::Error>| value.unwrap_or(Value::Null);
        Some(match key {
            "agent_memory" => {
                let known = self.memory.beliefs.len();
                (
                    format!("{known} facts"),
                    saved(serde_json::to_value(&self.memory)),
                )
            }
            "browser" => {
                let shown = self.browser.address.as_deref().unwrap_or("search results");
                let value = saved(serde_json::to_value(&self.browser));
                (
                    format!("{shown} at screen {}", self.browser.screen + 1),
                    value,
                )
            }
            "workspace" => (
                format!("{} files", self.files.len()),
                json!({ "files": self.files }),
            ),
            "approval_queue" => {
                let pending = self
                    .approvals
                    .values()
                    .filter(|state| *state == "pending")
                    .count();
                (
                    format!("{pending} pending"),
                    json!({ "approvals": self.approvals }),
                )
            }
            "external_target" => {
                // What stands in a log outside is the ledger's matter; of its destination only the identity is state.
                let outside = world.outside_logs();
                let own: BTreeMap<&String, &Vec<Value>> = self
                    .logs
                    .iter()
                    .filter(|(log, _)| !outside.contains(log.as_str()))
                    .collect();
                let entries: usize = own.values().map(|log| log.len()).sum();
                if outside.is_empty() {
                    (format!("{entries} entries"), json!({ "logs": own }))
                } else {
                    let revision = format!("{entries} entries, {} logs outside", outside.len());
                    (revision, json!({ "logs": own, "outside": outside }))
                }
            }
            "tool_registry" => {
                let names: Vec<&str> = world.tool.iter().map(|tool| tool.name.as_str()).collect();
                let schema = serde_json::to_vec(&world.tool).unwrap_or_default();
                let value = json!({ "count": names.len(), "tools": names, "schema_sha256": Digest::of(schema) });
                (format!("{} tools", names.len()), value)
            }
            _ => return None,
        })
    }

    /// Rebuilds the state from what a checkpoint saved; a key that is missing or unreadable stays as the world begins.
    pub fn load(world: &World, checkpoint: &Checkpoint) -> Self {
        let mut state = Self::start(world);
        let value = |key: &str| {
            checkpoint
                .keys
                .get(key)
                .and_then(|saved| saved.value.clone())
        };
        let part = |key: &str, name: &str| value(key).and_then(|v| v.get(name).cloned());
        if let Some(memory) = value("agent_memory").and_then(|v| serde_json::from_value(v).ok()) {
            state.memory = memory;
        }
        if let Some(browser) = value("browser").and_then(|v| serde_json::from_value(v).ok()) {
            state.browser = browser;
        }
        if let Some(files) = part("workspace", "files").and_then(|v| serde_json::from_value(v).ok())
        {
            state.files = files;
        }
        if let Some(queue) =
            part("approval_queue", "approvals").and_then(|v| serde_json::from_value(v).ok())
        {
            state.approvals = queue;
        }
        if let Some(logs) =
            part("external_target", "logs").and_then(|v| serde_json::from_value(v).ok())
        {
            state.logs = logs;
        }
        state
    }

    /// Reads every key back from the state itself; of the destination outside, whether its logs can be asked.
    pub fn read_back(&self, world: &World, destination: Option<&Path>) -> Vec<RestoredKey> {
        let gone = destination.is_some_and(|dir| {
            let logs = world.outside_logs();
            !logs.iter().all(|log| destination::reachable(dir, log))
        });
        let test = |key: &str| match key {
            "agent_memory" => "loaded memory hashed again",
            "browser" => "address, screen, history and visited pages read back",
            "workspace" => "files hashed again",
            "tool_registry" => "schema hash and count of the world's tools",
            "approval_queue" => "decisions and their states read back",
            _ if gone => "a log of the destination cannot be opened",
            _ if destination.is_some() => "local logs read back, the destination's opened",
            _ => "the destination's log read back",
        };
        self.save(world, 0)
            .keys
            .into_iter()
            .map(|(key, saved)| RestoredKey {
                test: test(&key).to_owned(),
                revision: Some(saved.revision),
                fingerprint: (!gone || key != "external_target").then_some(saved.fingerprint),
                key,
            })
            .collect()
    }
}
