//! Where a replay really runs. A runtime restores a disposable run to the state before a step and then hands out what happens,
//! one event at a time, so that stepping, pausing and stopping are the caller's: not asking is pausing.
//!
//! A runtime reports and never judges: what it read back after a restore is compared by gate 2, not by itself.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use crate::endpoint::EndpointError;
use crate::model::{Checkpoint, ConfigChange, Effect, Manifest, RestoredKey, Session, Step, Usage};

pub mod adapter;
mod files;
mod live;
pub mod scenario;
pub mod team;

pub use files::{inside, read_file, write_file};
pub use live::{Level, Live, LogLine, QueueEdit, Queued};

/// What a runtime is, before anything is restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// `scenario`, `adapter`, `team`.
    pub name: &'static str,
    /// What it runs on, for a person: the world's title, the model and endpoint (never a key).
    pub detail: String,
    /// Whether a restore can be exact at all. Where it cannot, every branch is diagnostic.
    pub exact: bool,
    /// Whether only local fixtures can be touched (gate 4, default n).
    pub local_fixtures: bool,
    /// Roles, model ids, system prompts, tool schemas and routing rules, part by part (gate 5).
    pub config: Manifest,
}

/// What to restore.
#[derive(Clone)]
pub struct Restore {
    /// The session with its world, agents and profile.
    pub session: Arc<Session>,
    /// The parent's steps before `pending`, in order.
    pub prefix: Arc<Vec<Step>>,
    /// The state recorded before the pending step, if any was.
    pub checkpoint: Option<Checkpoint>,
    /// The step about to be committed, as it shall be: edited, or as it stood (the unedited re-run). None only when a world is played from its beginning.
    pub pending: Option<Step>,
    /// The pending step as the parent has it, to tell what an edit asks for. Equal to `pending` in an unedited re-run.
    pub original: Option<Step>,
    /// Effects past the checkpoint that stay in the world: a call with the same operation key is answered from the record.
    pub kept: Vec<Effect>,
    /// The work tree that was restored for this run, where the profile names a workspace.
    pub workspace: Option<PathBuf>,
    /// Seed of this run.
    pub seed: u64,
    /// The most steps the run may make.
    pub max_steps: usize,
    /// What a stopped run of the same seed had already made after the pending step. A runtime that cannot make the same again by itself
    /// hands these out without asking anybody, then goes on from there.
    pub made: Arc<Vec<Step>>,
}

/// What a run says when asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A piece of the step being made, for whoever watches; nothing to keep.
    Delta {
        /// Who is speaking.
        agent: String,
        /// The next piece of text.
        text: String,
    },
    /// A new effect outside local fixtures is about to happen and waits for [`Run::decide`]. Nothing has happened yet.
    Ask(Box<Effect>),
    /// A person is asked for a word, and the run waits for [`Live::reply`]. Only of a [`Live`] run.
    Question {
        /// Who asks.
        agent: String,
        /// What.
        prompt: String,
    },
    /// The step about to be committed, told once a boundary; asking on commits it as it is by then. Only of a [`Live`] run.
    Pending(Box<Queued>),
    /// A whole step, to be committed before the next question. The first one is the pending step.
    Step(Box<Made>),
    /// The run came to its end.
    Finished(Finish),
}

/// What becomes of a new effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may happen.
    Allow,
    /// It must not happen; the tool fails and the run goes on.
    Refuse,
}

/// Where the files of a run are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workspace {
    /// It has none.
    None,
    /// In memory, by their relative paths.
    Files(BTreeMap<String, String>),
    /// In a directory.
    Dir(PathBuf),
}

/// A step made by a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The step; its index continues the prefix.
    pub step: Step,
    /// The state before it, if the runtime can tell.
    pub checkpoint: Option<Checkpoint>,
    /// What it did to the world outside.
    pub effects: Vec<Effect>,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Finish {
    /// The final answer, if there is one.
    pub answer: Option<String>,
    /// Whether what the pending step asked for was done; none if the runtime cannot tell.
    pub fulfilled: Option<bool>,
    /// Why it ended, in a few words: "answered", "no progress", "200 steps reached".
    pub reason: String,
}

/// One disposable run.
#[async_trait]
pub trait Run: Send {
    /// Every key read back after the restore, with the test that was made.
    fn keys(&self) -> Vec<RestoredKey>;

    /// The configuration as the run has it now (gate 5).
    fn config(&self) -> Manifest;

    /// Answers [`Event::Ask`]; the next question goes on from there.
    fn decide(&mut self, decision: Decision);

    /// The files that the agents work on, for verifiers.
    fn workspace(&self) -> Workspace;

    /// What its model calls took so far; nothing where there are none.
    fn usage(&self) -> Usage {
        Usage::default()
    }

    /// What happens next. After [`Event::Finished`] or an error it must not be asked again. Dropping the future cancels it.
    ///
    /// # Errors
    /// Whatever made the run break down; the steps handed out before stay whole.
    async fn next(&mut self) -> Result<Event, RuntimeError>;
}

/// A place where a replay runs.
#[async_trait]
pub trait Runtime: Send + Sync {
    /// What it is.
    fn describe(&self, session: &Session) -> Description;

    /// Whether a fork may change this of the configuration.
    ///
    /// # Errors
    /// The sentence says what it could change instead, or which names there are.
    fn accepts(&self, _session: &Session, change: &ConfigChange) -> Result<(), String> {
        Err(format!(
            "this runtime cannot be changed by a fork: {change}. Edit a step instead"
        ))
    }

    /// Makes a disposable run in the state before the pending step. Does not run anything.
    ///
    /// # Errors
    /// What cannot be restored at all; a key that merely differs is no error.
    async fn restore(&self, restore: Restore) -> Result<Box<dyn Run>, RuntimeError>;
}

/// Why a runtime could not go on. Each says what failed, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// Something that must be given is not.
    #[error("{what}. {mend}")]
    Missing {
        /// What is missing.
        what: String,
        /// How to give it.
        mend: String,
    },
    /// The world file is wrong.
    #[error("world file, {place}: {reason}. See sample-sessions/README.md for the format")]
    World {
        /// Line, table or key.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The model endpoint refused or broke off.
    #[error("model endpoint: {what}. {mend}")]
    Endpoint {
        /// What it said or did.
        what: String,
        /// What to do.
        mend: String,
    },
    /// An adapter, its framework or its entry.
    #[error(transparent)]
    Adapter(#[from] adapter::AdapterError),
    /// The run itself broke down.
    #[error("the run broke down at step {step}: {reason}")]
    Broken {
        /// The step being made.
        step: usize,
        /// Why.
        reason: String,
    },
}

impl RuntimeError {
    /// What was refused and why, where the run stands as it did and can go on.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Self::Adapter(error) => error.refusal(),
            _ => None,
        }
    }
}

impl From<EndpointError> for RuntimeError {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::Missing { what, mend } => Self::Missing { what, mend },
            EndpointError::Failed { what, mend } => Self::Endpoint { what, mend },
        }
    }
}
