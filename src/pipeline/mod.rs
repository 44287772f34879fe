//! The loop between its parts: take a log in, plan an edit, gate it, fork, replay, score, compare.
//! The command line and the screen call the same functions, so that headless and screen cannot differ.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::gate::Report;
use crate::model::{Branch, BranchId, Category, EditClass, Intervention, Session, Step, StepHead};
pub use crate::model::{Comparison, Pair, Verdict};
use crate::runtime::{Description, Runtime, RuntimeError};
use crate::store::{Store, StoreError};

/// Why the loop could not go on.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The runtime.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// What was asked for makes no sense; the sentence says what would.
    #[error("{0}")]
    Usage(String),
}

/// A model endpoint for the `team` runtime. The key is never printed or stored.
#[derive(Clone, Default)]
pub struct ModelSettings {
    /// Base URL, such as `http://127.0.0.1:8000/v1`.
    pub base_url: Option<String>,
    /// The key.
    pub api_key: Option<String>,
    /// The model's name.
    pub model: Option<String>,
}

/// What an operator asks for.
#[derive(Clone, Debug)]
pub struct ForkRequest {
    /// The branch to fork.
    pub branch: BranchId,
    /// The step to fork at.
    pub step: usize,
    /// The text that replaces the step's content; none for the unedited re-run.
    pub text: Option<String>,
    /// The edit's category; by default that of the step's kind.
    pub category: Option<Category>,
    /// n; by default 3, or 1 where a reachable tool outside local fixtures is not read-only.
    pub runs: Option<usize>,
    /// Seed that the runs' seeds are derived from.
    pub seed: u64,
    /// Run as a diagnostic branch if gate 2 alone does not hold.
    pub diagnostic: bool,
    /// Who asks.
    pub operator: String,
}

/// An edit that makes sense, ready for the gates.
#[derive(Clone)]
pub struct Plan {
    /// What was asked.
    pub request: ForkRequest,
    /// The session.
    pub session: Arc<Session>,
    /// The parent.
    pub parent: Branch,
    /// The step as the parent has it.
    pub original: Step,
    /// The step as it will be delivered.
    pub pending: Step,
    /// The edit's category.
    pub category: Category,
    /// Its coarse class; none for the baseline.
    pub class: Option<EditClass>,
    /// The text contains the expected answer, which neither the task nor the prefix does: flagged, not refused.
    pub answer_leak: bool,
    /// n.
    pub runs: usize,
    /// Where it will run.
    pub runtime: Arc<dyn Runtime>,
    /// What that is.
    pub description: Description,
}

/// What happens during a fork, for whoever watches.
#[derive(Clone, Debug)]
pub enum Progress {
    /// The branches were written.
    Forked {
        /// The intervention with its id.
        intervention: Intervention,
        /// Its branches.
        branches: Vec<Branch>,
    },
    /// A piece of the step being made.
    Delta {
        /// Where.
        branch: BranchId,
        /// Who speaks.
        agent: String,
        /// The piece.
        text: String,
    },
    /// A step was committed.
    Step {
        /// Where.
        branch: BranchId,
        /// The step.
        head: StepHead,
    },
    /// A branch came to its end, whichever.
    Ended {
        /// The branch as it is now.
        branch: Branch,
    },
}

/// What a fork came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The intervention.
    pub intervention: Intervention,
    /// Its branches as they are now.
    pub branches: Vec<Branch>,
    /// What the gates found.
    pub report: Report,
    /// Mean progress over its runs, in −1..=1; none without milestones.
    pub progress: Option<f64>,
    /// The verdict; none for a single sample, a baseline, or a held fork.
    pub verdict: Option<Verdict>,
    /// Why there is no verdict or why it is inconclusive.
    pub reason: Option<String>,
}

/// The hand on the runs of one fork: run, pause, step, stop. Clones share it.
#[derive(Clone, Debug)]
pub struct Control {}

impl Control {
    /// Runs freely.
    #[must_use]
    pub fn new() -> Self {
        Self {}
    }
    /// Pauses before the next step of every run.
    pub fn pause(&self) {}
    /// Goes on.
    pub fn resume(&self) {}
    /// While paused, lets every run make one more step.
    pub fn step(&self) {}
    /// Stops every run for good.
    pub fn stop(&self) {}
}

/// Makes sense of a request, or says why there is none: no such step, an empty edit, a step that cannot be edited, no runtime.
pub fn plan(
    _store: &Store,
    _request: ForkRequest,
    _model: &ModelSettings,
) -> Result<Plan, PipelineError> {
    todo!()
}

/// Evaluates the gates for a plan without writing or running anything: restores a disposable run and throws it away.
pub async fn check(_store: &Store, _plan: &Plan) -> Result<Report, PipelineError> {
    todo!()
}

/// Forks, replays the runs (at most `jobs` at once), scores them. A held fork is an `Ok` outcome with one held branch.
pub async fn fork(
    _store: &Store,
    _plan: Plan,
    _jobs: usize,
    _control: Control,
    _progress: mpsc::UnboundedSender<Progress>,
) -> Result<Outcome, PipelineError> {
    todo!()
}

/// Judges an intervention again from what the store has of it.
pub fn outcome(_store: &Store, _intervention: &str) -> Result<Outcome, PipelineError> {
    todo!()
}

/// What is said beside the fork key before it is pressed (SPEC 3, "the limit stands beside the control").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restorability {
    /// Every required key has a saved value and the runtime can restore exactly. Nothing else may be green.
    pub exact: bool,
    /// One line: "fork here: 6 of 6 keys saved", "fork here: diagnostic, no checkpoint", "fork: no endpoint, set OPENAI_BASE_URL".
    pub line: String,
}

/// Tells how well a fork at a step could be restored, from the records alone.
pub fn restorability(
    _store: &Store,
    _session: &Session,
    _branch: &BranchId,
    _step: usize,
    _model: &ModelSettings,
) -> Result<Restorability, PipelineError> {
    todo!()
}

/// Aligns two branches of the store.
pub fn compare(_store: &Store, _a: &BranchId, _b: &BranchId) -> Result<Comparison, PipelineError> {
    todo!()
}

/// Takes a file in, or finds it by digest if it was taken in before; or finds a stored session or sample by id. Returns the session's id and whether it is new.
/// `progress` is told the share read, 0..=1, and the steps so far; it answers whether to go on.
pub fn take_in(
    _store: &Store,
    _what: &str,
    _progress: &mut dyn FnMut(f64, usize) -> bool,
) -> Result<(String, bool), PipelineError> {
    todo!()
}

/// Takes in the sample sessions that the program carries, those that the store does not have yet.
pub fn take_in_samples(_store: &Store) -> Result<(), PipelineError> {
    todo!()
}
