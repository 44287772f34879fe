//! A session: one run of a multi-agent system on one task, and what is fixed about it before anything forks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{ConfigChange, Digest, KeyState, Manifest, Milestone, Profile, Verifier, Workflow};

/// An agent that speaks in a session.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub struct AgentInfo {
    /// The name its steps carry.
    pub name: String,
    /// What it is for, if the log says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its system prompt, if the log has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
}

/// Where a replay of the session really runs.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct RuntimeRef {
    /// The runtime's name: `scenario`, `adapter`.
    pub name: String,
    /// The scenario world's TOML text. In a file it may instead name a `.toml` beside the file; the importer reads it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
    /// Where its tools outside leave what they do: a directory that stands in for the world. Never taken from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<PathBuf>,
    /// The seed that the recorded run was made with.
    #[serde(default)]
    pub seed: u64,
    /// The adapter process that a replay is made by. Never taken from a file: it names a program to start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<AdapterRef>,
}

/// An agent framework's team, and how it is started again.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub struct AdapterRef {
    /// The adapter: `autogen`, `ag2`, `ag2-classic`, `langgraph`, or `custom` with a command.
    pub name: String,
    /// What it imports: `module:factory` or a file.
    #[serde(default)]
    pub entry: String,
    /// The user's own interpreter; none for the one that dover installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<PathBuf>,
    /// The command of a `custom` one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Where it is started.
    pub dir: PathBuf,
    /// The framework's packages and versions that the run was made with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub framework: BTreeMap<String, String>,
    /// Whether every tool of the team only reads and every agent can be looked into, so that nothing outside can be touched.
    #[serde(default)]
    pub local: bool,
}

/// A remark on a step that came with the log, such as a label of a data set. Not evidence.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The step meant, if there is such a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// The label's name, such as `mistake_step`.
    pub name: String,
    /// Its value, as the log has it.
    pub value: String,
}

/// Something that an import could not take as it was.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct CoverageNote {
    /// Where: a line, a record, a byte offset.
    pub place: String,
    /// What was wrong and what was done about it.
    pub reason: String,
}

/// What an import read (SPEC 6).
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Records read.
    pub read: usize,
    /// Records of no known type, kept as `control` steps.
    pub unknown: usize,
    /// Records that could not be read whole; what could be saved of them was kept.
    pub damaged: usize,
    /// Records left out.
    pub dropped: usize,
    /// Whether message content was present.
    pub content: bool,
    /// The first faults, each with its place and reason (at most 100 kept).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<CoverageNote>,
}

impl Coverage {
    /// Whether every record was read as it was meant.
    #[must_use]
    pub const fn whole(&self) -> bool {
        self.unknown == 0 && self.damaged == 0 && self.dropped == 0 && self.content
    }

    /// The coverage line of SPEC 6.
    #[must_use]
    pub fn line(&self) -> String {
        let content = if self.content { "with" } else { "WITHOUT" };
        format!(
            "{} records read, {} unknown, {} damaged, {} dropped, {content} message content",
            self.read, self.unknown, self.damaged, self.dropped
        )
    }
}

/// One run of a multi-agent system on one task.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub struct Session {
    /// Store-unique name, such as `night-picture`: lower-case letters, digits, `-`, `_`, `.`.
    pub id: String,
    /// What a person reads in the picker.
    pub title: String,
    /// The format it was read from: `dover`, `who_when`, `openai_chat`, `autogen_stream`, `scenario`.
    pub format: String,
    /// The file it was read from (name only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// SHA-256 of the file's bytes, so that the same file is taken in once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_digest: Option<Digest>,
    /// The task, usually the text of step 0.
    pub task: String,
    /// The agents, in the order they first speak.
    #[serde(default)]
    pub agents: Vec<AgentInfo>,
    /// The agent that makes plans, ledgers and instructions, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orchestrator: Option<String>,
    /// The answer that is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// How a final answer is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<Verifier>,
    /// At most five checkable sub-goals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub milestones: Vec<Milestone>,
    /// Where a replay runs; none for an imported log without saved state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeRef>,
    /// Required keys, tools, sensitive fields.
    #[serde(default)]
    pub profile: Profile,
    /// The workflow as it stood when the session was taken in; a later change is shown against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_start: Option<Box<Workflow>>,
    /// Where the profile's commands and its workspace are at home; none for a log without a profile file. It stands in no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_dir: Option<PathBuf>,
    /// State keys that the profile's own commands told when the session was taken in, without their values. The same command is asked
    /// again at a fork. Only what does not change during a run belongs here: a work tree does, so it stands in checkpoints alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub evidence: BTreeMap<String, KeyState>,
    /// The configuration of `main`, pinned when the session was taken in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Manifest>,
    /// What the forks on the way to a branch changed of the configuration; known of a branch alone, so in no file.
    #[serde(skip)]
    pub changes: Vec<ConfigChange>,
    /// Labels that came with the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
    /// What the import read.
    #[serde(default)]
    pub coverage: Coverage,
    /// Branches, by their own names, whose end stands here as a file tells it because nothing could check it; known of a store alone.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub told: BTreeSet<String>,
    /// What was taken out before the session came here, by sort; nothing if it is whole.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redacted: BTreeMap<String, usize>,
}

/// The most characters of a task that stand in a title.
const TITLE: usize = 80;

/// A title made of a task: its beginning, in one line.
#[must_use]
pub fn title_of(task: &str) -> String {
    let line = task.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut title: String = line.chars().take(TITLE).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title
}

impl Session {
    /// Whether its title is the beginning of its task, cut off.
    #[must_use]
    pub fn titled_by_task(&self) -> bool {
        let line = self.task.split_whitespace().collect::<Vec<_>>().join(" ");
        let begin = self.title.strip_suffix('…');
        begin.is_some_and(|begin| line.starts_with(begin))
    }
}
