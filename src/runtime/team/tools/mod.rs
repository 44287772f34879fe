//! The workers' tools: pages, files of the workspace, shell and Python. Which there are depends on what the operator allows and on
//! whether the run has a workspace; which a worker gets, on what its name says it does.
//!
//! Invariants: nothing outside the allow list is reached; a tool that fails, hangs or is not allowed gives a sentence, never an error of the run.
//! Not for: browsers, accounts, anything that needs a secret.

mod allowed;
mod exec;
mod fetch;
mod files;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

pub use allowed::Allowed;

use crate::endpoint::Call;
use crate::model::{Digest, Effect, EffectClass, EffectState};

/// The most characters of a result that an agent is shown.
const MOST: usize = 20_000;

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// A page as text.
    Fetch,
    /// The names of the workspace's files.
    List,
    /// A file's text.
    Read,
    /// A file written.
    Write,
    /// A shell command.
    Shell,
    /// A Python program.
    Python,
}

use Tool::{Fetch, List, Python, Read, Shell, Write};

/// Names of agents and the tools that their work takes; the first word found in a name decides.
const FITTING: [(&str, &[Tool]); 9] = [
    ("websurfer", &[Fetch]),
    ("browser", &[Fetch]),
    ("web", &[Fetch]),
    ("file", &[List, Read]),
    ("coder", &[List, Read, Write]),
    ("terminal", &[Shell, Python, List, Read, Write]),
    ("executor", &[Shell, Python, List, Read, Write]),
    ("shell", &[Shell, List, Read, Write]),
    ("python", &[Python, List, Read, Write]),
];

impl Tool {
    pub(super) const ALL: [Self; 6] = [Fetch, List, Read, Write, Shell, Python];

    /// The tool of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Its name in requests and steps.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Fetch => "fetch_page",
            List => "list_files",
            Read => "read_file",
            Write => "write_file",
            Shell => "run_shell",
            Python => "run_python",
        }
    }

    /// What it may do to the world. A write stays in a work tree that goes with the run; what a program does nobody knows.
    pub(super) const fn class(self) -> EffectClass {
        match self {
            Fetch | List | Read => EffectClass::ReadOnly,
            Write => EffectClass::Idempotent,
            Shell | Python => EffectClass::Unknown,
        }
    }

    /// What it does and the names of its arguments.
    const fn about(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Fetch => ("Reads a web page and gives its text.", &["url"]),
            List => ("Lists the files of the workspace.", &[]),
            Read => ("Reads a text file of the workspace.", &["path"]),
            Write => (
                "Writes a text file of the workspace, whole.",
                &["path", "content"],
            ),
            Shell => ("Runs a shell command in the workspace.", &["command"]),
            Python => (
                "Runs a Python program in the workspace; print what is wanted.",
                &["code"],
            ),
        }
    }

    /// The tool in the chat completions API's form.
    pub(super) fn schema(self) -> Value {
        let (description, arguments) = self.about();
        let properties: serde_json::Map<String, Value> = arguments
            .iter()
            .map(|name| ((*name).to_owned(), json!({"type": "string"})))
            .collect();
        json!({"type": "function", "function": {
            "name": self.name(), "description": description,
            "parameters": {"type": "object", "properties": properties, "required": arguments},
        }})
    }
}

/// The tools of one run.
#[derive(Debug)]
pub(super) struct Kit {
    allowed: Allowed,
    workspace: Option<PathBuf>,
    limit: Duration,
}

/// What a call came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// What the agent is told.
    pub text: String,
    /// Whether it failed.
    pub failed: bool,
}

impl Outcome {
    /// The sentence of a tool that could not do it.
    pub(super) fn failed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            failed: true,
        }
    }
}

impl Kit {
    /// What may be used in a run with this workspace.
    pub(super) const fn new(allowed: Allowed, workspace: Option<PathBuf>, limit: Duration) -> Self {
        Self {
            allowed,
            workspace,
            limit,
        }
    }

    /// The run's work tree.
    pub(super) const fn workspace(&self) -> Option<&PathBuf> {
        self.workspace.as_ref()
    }

    /// The tools that an agent is offered.
    pub(super) fn offered(&self, agent: &str) -> Vec<Tool> {
        let name = agent.to_lowercase();
        let fitting = FITTING.iter().find(|(word, _)| name.contains(word));
        let fits = |tool: &Tool| fitting.is_none_or(|(_, tools)| tools.contains(tool));
        let usable = |tool: &Tool| self.refusal(*tool).is_none();
        let all = Tool::ALL.into_iter();
        all.filter(|tool| fits(tool) && usable(tool)).collect()
    }

    /// The same in the API's form.
    pub(super) fn schemas(tools: &[Tool]) -> Vec<Value> {
        tools.iter().map(|tool| tool.schema()).collect()
    }

    /// Why a tool cannot be used in this run, in a sentence.
    pub(super) fn refusal(&self, tool: Tool) -> Option<String> {
        let name = tool.name();
        match tool {
            Fetch if self.allowed.hosts.is_empty() => Some(format!(
                "{name} is not allowed in this run: no host is (--allow fetch=HOST)"
            )),
            Shell | Python if !self.allowed.exec => Some(format!(
                "{name} is not allowed in this run: no program may be run (--allow exec)"
            )),
            List | Read | Write | Shell | Python if self.workspace.is_none() => {
                Some(format!("{name} cannot be used: this run has no workspace"))
            }
            _ => None,
        }
    }

    /// Uses a tool.
    pub(super) async fn perform(&self, call: &Call) -> Outcome {
        match self.try_to(call).await {
            Ok(text) => Outcome {
                text: capped(&text),
                failed: false,
            },
            Err(text) => Outcome::failed(capped(&text)),
        }
    }

    async fn try_to(&self, call: &Call) -> Result<String, String> {
        let Some(tool) = Tool::named(&call.name) else {
            let names: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
            let (name, names) = (&call.name, names.join(", "));
            return Err(format!("there is no tool '{name}'. There are {names}"));
        };
        if let Some(refusal) = self.refusal(tool) {
            return Err(refusal);
        }
        let arguments = arguments(tool, &call.arguments)?;
        let argument = |at: usize| arguments.get(at).map(String::as_str).unwrap_or_default();
        let dir = || self.workspace.clone().ok_or("this run has no workspace");
        match tool {
            Fetch => fetch::page(argument(0), &self.allowed, self.limit).await,
            List => files::list(dir()?).await,
            Read => files::read(dir()?, argument(0)).await,
            Write => files::write(dir()?, argument(0), argument(1)).await,
            Shell => {
                let command = ["sh", "-c", argument(0)];
                exec::run(&command, "", &dir()?, self.limit).await
            }
            Python => exec::run(&["python3", "-"], argument(0), &dir()?, self.limit).await,
        }
    }
}

/// What a call does outside the run, if it does anything: under a key that the same call always has.
pub(super) fn effect(call: &Call, agent: &str, step: usize) -> Option<Effect> {
    let class = Tool::named(&call.name)?.class();
    if class == EffectClass::ReadOnly {
        return None;
    }
    let own_tree = class == EffectClass::Idempotent;
    Some(Effect {
        step,
        agent: agent.to_owned(),
        tool: call.name.clone(),
        class,
        operation_key: Digest::of(format!("{}\n{}", call.name, call.arguments)).short(),
        args_sha256: Digest::of(&call.arguments),
        result: None,
        state: if own_tree {
            EffectState::Reverted
        } else {
            EffectState::Pending
        },
        evidence: own_tree.then(|| "in the run's own work tree, which goes with it".to_owned()),
    })
}

/// The arguments by their order, from the JSON that a model wrote.
fn arguments(tool: Tool, written: &str) -> Result<Vec<String>, String> {
    let (_, names) = tool.about();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let name = tool.name();
    let object: Value = serde_json::from_str(written)
        .map_err(|error| format!("the arguments of {name} are no JSON ({error})"))?;
    let value = |wanted: &&str| match object.get(*wanted) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) if !other.is_null() => Ok(other.to_string()),
        _ => Err(format!("{name} needs the argument '{wanted}'")),
    };
    names.iter().map(value).collect()
}

/// As much of a result as an agent is shown; what is left out is said.
fn capped(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((at, _)) => {
            let kept = text.get(..at).unwrap_or_default();
            let all = text.chars().count();
            format!("{kept}\n[{} more characters are left out]", all - MOST)
        }
    }
}

#[cfg(test)]
mod tests;
