//! A world as its file has it: data, checked once when it is read. Nothing here runs; `sample-sessions/README.md` documents the format.

mod check;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::lexicon::{LexiconData, Skill};
use crate::model::{EffectClass, Milestone, Verifier};
use crate::runtime::RuntimeError;

/// A world.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// What a person reads in the picker.
    pub title: String,
    /// The task, step 0.
    pub task: String,
    /// The final answer with `{fact}` where a fact's value goes.
    pub answer: String,
    /// The answer that is right.
    pub expected: String,
    /// How the final answer is judged.
    pub verifier: Verifier,
    /// The page shown at the beginning.
    #[serde(default)]
    pub start: Option<String>,
    /// State keys that must restore exactly; by default all that the world has.
    #[serde(default)]
    pub required_keys: Option<Vec<String>>,
    /// Words whose change in an edit makes it high risk.
    #[serde(default)]
    pub sensitive: Vec<String>,
    /// Files of the workspace at the beginning.
    #[serde(default)]
    pub file: BTreeMap<String, String>,
    /// The agents, the orchestrator apart.
    pub agent: Vec<Agent>,
    /// Who makes plans and instructions, if anybody does.
    #[serde(default)]
    pub orchestrator: Option<Orchestrator>,
    /// The talk of two agents, if there is no orchestrator.
    #[serde(default)]
    pub dialogue: Option<Dialogue>,
    /// What can be known.
    #[serde(default)]
    pub fact: Vec<Fact>,
    /// What can be visited.
    #[serde(default)]
    pub page: Vec<Page>,
    /// What can be called.
    #[serde(default)]
    pub tool: Vec<Tool>,
    /// Decisions that somebody must make before a tool does its work.
    #[serde(default)]
    pub approval: Vec<Approval>,
    /// At most five checkable sub-goals.
    #[serde(default)]
    pub milestone: Vec<Milestone>,
    /// The world's own words.
    #[serde(default)]
    pub lexicon: LexiconData,
}

/// An agent.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub about: String,
    /// What it can do.
    #[serde(default)]
    pub skills: Vec<Skill>,
    /// The tools it may call.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Languages it follows, by ISO code.
    #[serde(default = "english")]
    pub languages: Vec<String>,
    /// How often it follows a request that calls a thing by its name, address or number.
    #[serde(default = "always")]
    pub clear: f64,
    /// How often it follows any other request that it understands.
    #[serde(default = "mostly")]
    pub vague: f64,
    /// What it does when it does not know which thing is meant.
    #[serde(default)]
    pub default: Habit,
}

/// What an agent does when it does not know which thing is meant.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, PartialEq, Eq, Default)]
#[serde(rename_all = "snake_case")]
pub enum Habit {
    /// Scrolls on.
    Scroll,
    /// Presses what sounds nearest, whether it is there or not.
    Press,
    /// Says so.
    #[default]
    Say,
}

/// The orchestrator.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Orchestrator {
    /// Its name.
    pub name: String,
    /// How many rounds without progress make it plan anew.
    #[serde(default = "three")]
    pub stall_limit: usize,
    /// Its plans, one for each trial, a line for each thing to do.
    pub plan: Vec<String>,
}

/// The talk of two agents.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Dialogue {
    /// Who sets up.
    pub solver: String,
    /// Who works it out.
    pub calculator: String,
    /// What the solver goes for, in order.
    pub line: Vec<Line>,
}

/// One thing that the solver goes for.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The fact.
    pub seeks: String,
    /// What it says, with `{expression}` where the set-up goes.
    pub say: String,
    /// The set-up of its habit, in which facts stand as `{fact}`.
    pub habit: String,
}

/// Something that can be known.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Its name in the file.
    pub id: String,
    /// What a text calls it, such as "the city on the horizon".
    pub about: String,
    /// Other names for it, in any language.
    #[serde(default)]
    pub also: Vec<String>,
    /// The true value.
    pub value: String,
    /// What is assumed by whoever does not know.
    pub guess: String,
    /// Facts that must be known for this one to mean anything.
    #[serde(default)]
    pub needs: Vec<String>,
    /// How the orchestrator asks for it when its plan's line did not help; in turn.
    #[serde(default)]
    pub asks: Vec<String>,
}

/// A page.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Its address.
    pub address: String,
    /// Its title.
    pub title: String,
    /// Other names for it, in any language.
    #[serde(default)]
    pub also: Vec<String>,
    /// Its text, one screen each.
    pub text: Vec<String>,
    /// Screens in all, if there are more than texts: the rest shows nothing of interest.
    #[serde(default)]
    pub screens: usize,
    /// Its controls.
    #[serde(default)]
    pub link: Vec<Link>,
    /// What it states.
    #[serde(default)]
    pub states: Vec<Statement>,
    /// The way there is known to everybody.
    #[serde(default)]
    pub known: bool,
    /// The search engine does not have it.
    #[serde(default)]
    pub unlisted: bool,
}

impl Page {
    /// How many screens it has.
    #[must_use]
    pub fn length(&self) -> usize {
        self.screens.max(self.text.len()).max(1)
    }
}

/// A control of a page.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// What stands on it.
    pub name: String,
    /// Where it leads.
    pub to: String,
    /// Other names for it, in any language.
    #[serde(default)]
    pub also: Vec<String>,
    /// The screen it is on, from 0.
    #[serde(default)]
    pub screen: usize,
}

/// What a page or a tool's result states.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The fact.
    pub fact: String,
    /// The value; by default the true one.
    #[serde(default)]
    pub value: Option<String>,
    /// The screen it is on, from 0.
    #[serde(default)]
    pub screen: usize,
    /// Values of the facts that it builds on; by default the true ones.
    #[serde(default)]
    pub given: BTreeMap<String, String>,
}

/// A tool: a local fixture of the world.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, in words: "the release ticket".
    pub about: String,
    /// Other names, in any language.
    #[serde(default)]
    pub also: Vec<String>,
    /// Verbs that ask for it, in any language.
    pub verbs: Vec<String>,
    /// What it may do to the world.
    pub class: EffectClass,
    /// Whether it reaches further than the world's own fixtures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// The argument that holds the operation key.
    #[serde(default)]
    pub operation_key: Option<String>,
    /// Arguments with `{fact}` where a fact's value goes.
    #[serde(default)]
    pub args: BTreeMap<String, String>,
    /// The argument that an address or quotation in the request fills.
    #[serde(default)]
    pub named: Option<String>,
    /// Facts that must be known, or it refuses.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What it answers, with `{argument}` and `{fact}`.
    pub result: String,
    /// What it answers when it refuses.
    #[serde(default)]
    pub refusal: String,
    /// What its result states.
    #[serde(default)]
    pub states: Vec<Statement>,
    /// The approval without which the work is only queued.
    #[serde(default)]
    pub approval: Option<String>,
    /// What it answers while that approval is pending.
    #[serde(default)]
    pub queued: String,
    /// The approval that it gives.
    #[serde(default)]
    pub grants: Option<String>,
    /// The log at the destination that keeps its effects.
    #[serde(default)]
    pub log: Option<String>,
    /// A file that it writes, with the text as a template.
    #[serde(default)]
    pub writes: BTreeMap<String, String>,
}

/// A decision that somebody must make.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// Its id.
    pub id: String,
    /// What is to be decided.
    pub about: String,
    /// `pending` or `approved`.
    #[serde(default = "pending")]
    pub state: String,
}

fn english() -> Vec<String> {
    vec!["en".to_owned()]
}
const fn always() -> f64 {
    1.0
}
const fn mostly() -> f64 {
    0.8
}
const fn three() -> usize {
    3
}
fn pending() -> String {
    "pending".to_owned()
}

fn wrong(place: impl Into<String>, reason: impl Into<String>) -> RuntimeError {
    RuntimeError::World {
        place: place.into(),
        reason: reason.into(),
    }
}

/// Reads a world file and checks that everything it names is there.
///
/// # Errors
/// The line for what is no TOML or has a wrong key or type; the table and key for what makes no sense.
pub fn parse(text: &str) -> Result<World, RuntimeError> {
    let world: World = toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .and_then(|span| text.get(..span.start))
            .map_or(1, |before| before.matches('\n').count() + 1);
        wrong(
            format!("line {line}"),
            error.message().trim_end_matches('.'),
        )
    })?;
    world.check()?;
    Ok(world)
}

impl World {
    /// A fact by its id.
    #[must_use]
    pub fn fact(&self, id: &str) -> Option<&Fact> {
        self.fact.iter().find(|fact| fact.id == id)
    }

    /// Whether what happens stays within the world.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let outside = |tool: &Tool| tool.outside && tool.class != EffectClass::ReadOnly;
        !self.tool.iter().any(outside)
    }

    /// The logs at the destination outside, by name.
    #[must_use]
    pub fn outside_logs(&self) -> BTreeSet<&str> {
        let outside = self.tool.iter().filter(|tool| tool.outside);
        outside.filter_map(|tool| tool.log.as_deref()).collect()
    }

    /// A page by its address.
    #[must_use]
    pub fn page(&self, address: &str) -> Option<&Page> {
        self.page.iter().find(|page| page.address == address)
    }

    /// A tool by its name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tool.iter().find(|tool| tool.name == name)
    }

    /// An agent by its name, letter case aside.
    #[must_use]
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        self.agent
            .iter()
            .find(|agent| agent.name.eq_ignore_ascii_case(name.trim()))
    }

    /// Its files as they are in a directory; one that cannot be read is not there.
    pub(super) fn files_in(&self, dir: &Path) -> BTreeMap<String, String> {
        let written = self.tool.iter().flat_map(|tool| tool.writes.keys());
        let names = self.file.keys().chain(written);
        names
            .filter_map(|name| {
                let text = crate::runtime::read_file(dir, name).ok().flatten()?;
                Some((name.clone(), text))
            })
            .collect()
    }

    /// The state keys that the world has.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let kept = self.tool.iter().any(|tool| tool.log.is_some());
        let written = !self.file.is_empty() || self.tool.iter().any(|tool| !tool.writes.is_empty());
        [
            ("agent_memory", true),
            ("approval_queue", !self.approval.is_empty()),
            ("browser", !self.page.is_empty()),
            ("external_target", kept),
            ("tool_registry", true),
            ("workspace", written),
        ]
        .into_iter()
        .filter(|(_, there)| *there)
        .map(|(key, _)| key.to_owned())
        .collect()
    }
}
