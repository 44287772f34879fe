//! What goes into the store and comes out of it beside the nouns of the model.

use crate::gate::GateResult;
use crate::gate::receipt::{About, Word};
use crate::model::{
    Branch, BranchId, Checkpoint, Digest, Effect, GateStatus, Intervention, Manifest, Pinned,
    RunStatus, Session, Step, Tally, Workflow,
};

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

impl SessionSummary {
    /// Whether `main` passed its verifier by a file's word alone.
    #[must_use]
    pub fn told(&self) -> bool {
        self.success.is_some() && self.session.told.contains("main")
    }
}

/// What a log has beyond the steps that were taken in of it.
#[derive(Clone, Debug)]
pub struct Grown {
    /// The new steps, each with the state before it and what it did to the world outside.
    pub steps: Vec<(Step, Option<Checkpoint>, Vec<Effect>)>,
    /// The session as the log tells it now: its agents, coverage, configuration and digest are taken over.
    pub session: Session,
    /// The final answer as of now.
    pub answer: Option<String>,
    /// What the verifier says of it.
    pub success: Option<bool>,
}

/// An edit that was not sent yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsent {
    /// The branch that it is an edit of.
    pub branch: BranchId,
    /// The step.
    pub step: usize,
    /// The text as far as it was written; none: there is no such edit any more.
    pub text: Option<String>,
    /// The hypothesis that it tests, by its id.
    pub tests: Option<String>,
    /// Who wrote it.
    pub operator: String,
}

/// What a fork is made from.
#[derive(Clone, Debug)]
pub struct ForkDraft {
    /// The intervention; `id` and `created` are given by the store. With an id it is one that was held and is tried again as it stands.
    pub intervention: Intervention,
    /// Who forks.
    pub operator: String,
    /// The runtime that the branches will run on.
    pub runtime: String,
    /// The planned runs: which of the n each is, 1-based, and its seed.
    pub runs: Vec<(usize, u64)>,
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
    /// What is recorded of the parent's configuration.
    pub config: Pinned,
    /// The workflow as it stands now.
    pub workflow: Workflow,
    /// The intervention's id: the one it will have, or that of the one tried again.
    pub intervention: String,
    /// What owners signed for it.
    pub approvals: Vec<Kept>,
    /// The present moment, RFC 3339.
    pub now: String,
}

/// An approval as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What was signed, with the signature.
    pub text: String,
    /// Whether a fork was made under it.
    pub used: bool,
}

/// What the caller's gates say inside a fork's transaction.
#[derive(Clone, Debug)]
pub struct ForkRuling {
    /// The status that names the branch.
    pub gate: GateStatus,
    /// Whether the branches may run.
    pub go: bool,
    /// Whether they run although gate 2 does not hold.
    pub diagnostic: bool,
    /// The sentence that says why not.
    pub reason: Option<String>,
    /// What the receipt will say of it.
    pub receipt: ForkEvidence,
}

/// What a fork's receipt says beside what the store knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForkEvidence {
    /// The gates' findings.
    pub gates: Vec<GateResult>,
    /// The configuration as it was judged, which is the branches' own from now on; a held branch gets none.
    pub config: Option<Manifest>,
    /// What the operator decided for this fork; each is a receipt of its own if the branches may run.
    pub decisions: Vec<ForkDecision>,
    /// Who approved, if somebody had to: the owner, and the approval as it is kept, which is used by the fork.
    pub approval: Option<(String, String)>,
}

impl ForkEvidence {
    /// Digest of the configuration, once gate 5 holds: before that there is nothing for an owner to approve.
    pub(super) fn settled(&self) -> Option<Digest> {
        let five = self.gates.iter().find(|gate| gate.number == 5)?;
        let config = self.config.as_ref().filter(|_| five.holds == Some(true));
        config.map(Manifest::digest)
    }
}

/// Something that an operator decided so that a fork may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkDecision {
    /// What kind of thing it is about.
    pub about: About,
    /// The thing itself.
    pub what: String,
    /// The decision.
    pub word: Word,
    /// What the operator had before the eyes.
    pub evidence: String,
}

/// How a run ended, as it is written on its branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// `done`, `failed` or `stopped`.
    pub run: RunStatus,
    /// The gate status after the outcome; none keeps the one given at the fork.
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
