//! The store: sessions, branches with shared prefixes, checkpoints, effects. One SQLite file in WAL mode.
//!
//! A fork writes rows for the branch alone: its prefix is its parent's. Step contents are addressed by digest and stored once.
//! A fork is one transaction; so is every step. No function edits or deletes a step of an existing branch.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::model::{
    Branch, BranchId, Checkpoint, Clock, Digest, Effect, GateStatus, Intervention, RunStatus,
    Session, Step, StepHead, Tally, Trial,
};

/// Why the store could not do it. Each sentence names the file and the next step.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// To be refined.
    #[error("store {path}: {reason}")]
    Store {
        /// The database file.
        path: PathBuf,
        /// What failed and what to do.
        reason: String,
    },
}

/// A handle on the store; clones share it. All methods are synchronous; long ones belong on a blocking thread.
#[derive(Clone)]
pub struct Store {
    _clock: Arc<dyn Clock>,
}

/// A session as the picker lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// The session.
    pub session: Session,
    /// Steps of `main`.
    pub steps: usize,
    /// Trials of `main`.
    pub trials: usize,
    /// Branches, `main` included.
    pub branches: usize,
    /// Whether `main` passed its verifier.
    pub success: Option<bool>,
    /// Milestones reached on `main` and their number.
    pub milestones: Option<(usize, usize)>,
    /// When it was taken in, RFC 3339.
    pub created: String,
}

/// What a fork is made from.
#[derive(Clone, Debug)]
pub struct ForkDraft {
    /// The intervention; `id` and `created` are given by the store.
    pub intervention: Intervention,
    /// The pending step, edited or as it stood: committed as each branch's first own step when it runs, not before.
    pub runtime: String,
    /// Seed of each planned run.
    pub seeds: Vec<u64>,
    /// Run although gate 2 does not hold.
    pub diagnostic: bool,
}

/// What the store knows at the moment of a fork, read inside its transaction.
#[derive(Clone, Debug)]
pub struct ForkFacts {
    /// The ids that the new branches will have.
    pub ids: Vec<BranchId>,
    /// The parent as it is, if it exists.
    pub parent: Option<Branch>,
    /// The parent's ancestors, nearest first.
    pub ancestors: Vec<BranchId>,
    /// Digest recomputed over the parent's steps before the fork step.
    pub prefix_digest: Option<Digest>,
    /// Digest of the same prefix as the chain recorded it when the steps were written.
    pub recorded_digest: Option<Digest>,
    /// The parent's effects at or after the fork step.
    pub effects: Vec<Effect>,
}

/// What the caller's gates say inside a fork's transaction.
#[derive(Clone, Debug)]
pub struct ForkRuling {
    /// The status that names the branch.
    pub gate: GateStatus,
    /// Whether the branches may run.
    pub go: bool,
    /// The sentence that says why not.
    pub reason: Option<String>,
}

/// How a run ended, as it is written on its branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// `done`, `failed` or `stopped`.
    pub run: RunStatus,
    /// The gate status after the outcome.
    pub gate: Option<GateStatus>,
    /// Whether the intervention was executed.
    pub fulfilled: Option<bool>,
    /// Whether the verifier passed.
    pub success: Option<bool>,
    /// The final answer.
    pub answer: Option<String>,
    /// Milestones beside the parent's.
    pub milestones: Option<Tally>,
    /// Why it ended.
    pub reason: Option<String>,
}

/// Takes in the steps of one new session, in batches, in one transaction. Dropped unfinished, nothing of it remains.
pub struct Importer {}

impl Importer {
    /// Adds the next step of `main` (its index must continue the list), its checkpoint and effects.
    pub fn push(
        &mut self,
        _step: &Step,
        _checkpoint: Option<&Checkpoint>,
        _effects: &[Effect],
    ) -> Result<(), StoreError> {
        todo!()
    }
    /// Changes the kind and recipient of a step pushed before, when the log's structure is known only later.
    pub fn reclassify(
        &mut self,
        _index: usize,
        _kind: crate::model::StepKind,
        _to: Option<&str>,
    ) -> Result<(), StoreError> {
        todo!()
    }
    /// Writes the session's final header and the ending of `main`; returns the id it was given (made unique by a suffix).
    pub fn finish(self, _session: Session, _main: Ending) -> Result<String, StoreError> {
        todo!()
    }
}

impl Store {
    /// Opens or makes the store and marks branches of vanished processes `interrupted`.
    pub fn open(_path: &Path, _clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        todo!()
    }
    /// Where the store is when nothing else is said: `DOVER_STORE`, else the platform's data directory.
    pub fn default_path() -> Result<PathBuf, StoreError> {
        todo!()
    }
    /// Begins to take in a session.
    pub fn import(&self) -> Result<Importer, StoreError> {
        todo!()
    }
    /// All sessions, newest first.
    pub fn sessions(&self) -> Result<Vec<SessionSummary>, StoreError> {
        todo!()
    }
    /// One session by id.
    pub fn session(&self, _id: &str) -> Result<Session, StoreError> {
        todo!()
    }
    /// Whether there is such a session.
    pub fn has_session(&self, _id: &str) -> Result<bool, StoreError> {
        todo!()
    }
    /// Replaces what a person may set: expected answer, verifier, milestones, profile, title. Steps are untouched.
    pub fn update_session(&self, _session: &Session) -> Result<(), StoreError> {
        todo!()
    }
    /// All branches of a session, `main` first, then in the order they were made.
    pub fn branches(&self, _session: &str) -> Result<Vec<Branch>, StoreError> {
        todo!()
    }
    /// One branch.
    pub fn branch(&self, _id: &BranchId) -> Result<Branch, StoreError> {
        todo!()
    }
    /// Steps of a branch, inherited ones included.
    pub fn steps(&self, _id: &BranchId, _range: Range<usize>) -> Result<Vec<Step>, StoreError> {
        todo!()
    }
    /// One step.
    pub fn step(&self, _id: &BranchId, _index: usize) -> Result<Step, StoreError> {
        todo!()
    }
    /// Steps as a list shows them. Costs the length of the range.
    pub fn heads(&self, _id: &BranchId, _range: Range<usize>) -> Result<Vec<StepHead>, StoreError> {
        todo!()
    }
    /// The branch's trials.
    pub fn trials(&self, _id: &BranchId) -> Result<Vec<Trial>, StoreError> {
        todo!()
    }
    /// Indices of the steps whose agent or text contains the words, letter case aside (full Unicode, not ASCII only).
    pub fn search(&self, _id: &BranchId, _words: &str) -> Result<Vec<usize>, StoreError> {
        todo!()
    }
    /// The state recorded before a step.
    pub fn checkpoint(
        &self,
        _id: &BranchId,
        _step: usize,
    ) -> Result<Option<Checkpoint>, StoreError> {
        todo!()
    }
    /// All effects of a branch, inherited ones included.
    pub fn effects(&self, _id: &BranchId) -> Result<Vec<Effect>, StoreError> {
        todo!()
    }
    /// Records where an effect stands and the evidence or decision for it.
    pub fn set_effect(
        &self,
        _id: &BranchId,
        _operation_key: &str,
        _state: crate::model::EffectState,
        _evidence: &str,
    ) -> Result<(), StoreError> {
        todo!()
    }
    /// Marks a milestone as reached by hand at a step of a branch.
    pub fn mark_milestone(
        &self,
        _id: &BranchId,
        _milestone: usize,
        _step: usize,
    ) -> Result<(), StoreError> {
        todo!()
    }
    /// For each milestone of the session the first step of the branch that reaches it, by check or by mark.
    pub fn milestones(&self, _id: &BranchId) -> Result<Vec<Option<usize>>, StoreError> {
        todo!()
    }
    /// Forks in one transaction: gives ids, reads the facts, asks for the ruling, writes the intervention and n branches (`planned`), or one `held` branch when the ruling is not to go.
    pub fn fork(
        &self,
        _draft: ForkDraft,
        _rule: &mut dyn FnMut(&ForkFacts) -> ForkRuling,
    ) -> Result<(Intervention, Vec<Branch>), StoreError> {
        todo!()
    }
    /// All interventions of a session, oldest first.
    pub fn interventions(&self, _session: &str) -> Result<Vec<Intervention>, StoreError> {
        todo!()
    }
    /// Marks a planned branch as running, owned by this process.
    pub fn start(&self, _id: &BranchId) -> Result<(), StoreError> {
        todo!()
    }
    /// Commits one step of a running branch with its checkpoint and effects, in one transaction. Refused on a branch that is not running.
    pub fn append(
        &self,
        _id: &BranchId,
        _step: &Step,
        _checkpoint: Option<&Checkpoint>,
        _effects: &[Effect],
    ) -> Result<(), StoreError> {
        todo!()
    }
    /// Writes how a run ended.
    pub fn end(&self, _id: &BranchId, _ending: &Ending) -> Result<(), StoreError> {
        todo!()
    }
}
