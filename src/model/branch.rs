//! Branches and interventions: one trajectory each, with its lineage and the two fields that say where it stands.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ConfigChange, Digest, Tally, Usage};

/// A branch's store-unique id, `SESSION/NAME`; the original run is `SESSION/main`.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(transparent)]
pub struct BranchId(String);

impl BranchId {
    /// The original run of a session.
    #[must_use]
    pub fn main(session: &str) -> Self {
        Self::new(session, "main")
    }

    /// A branch by its two parts.
    #[must_use]
    pub fn new(session: &str, name: &str) -> Self {
        Self(format!("{session}/{name}"))
    }

    /// Reads `SESSION/NAME`; without a slash it is the session's `main`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if text.contains('/') {
            Self(text.to_owned())
        } else {
            Self::main(text)
        }
    }

    /// The session's part.
    #[must_use]
    pub fn session(&self) -> &str {
        self.0
            .rsplit_once('/')
            .map_or(self.0.as_str(), |(session, _)| session)
    }

    /// The branch's own part.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or("main", |(_, name)| name)
    }

    /// The whole id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BranchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the gates say of a branch (SPEC 3). Never merged with [`RunStatus`].
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum GateStatus {
    /// Gate 1 does not hold.
    InvalidLineage,
    /// Gate 2 does not hold.
    RestoreUncertain,
    /// Gate 3 does not hold.
    EffectsUnreconciled,
    /// Gate 4 does not hold.
    NeedsApproval,
    /// Gate 5 does not hold.
    ConfigUnpinned,
    /// Gates 1–5 hold.
    ReadyToResume,
    /// The outcome's verifier passed.
    Verified,
    /// A final answer that the verifier rejects.
    FalseSuccess,
    /// No final answer, or no verifier, or a diagnostic branch.
    Unverified,
}

impl GateStatus {
    /// The name as it stands in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidLineage => "invalid_lineage",
            Self::RestoreUncertain => "restore_uncertain",
            Self::EffectsUnreconciled => "effects_unreconciled",
            Self::NeedsApproval => "needs_approval",
            Self::ConfigUnpinned => "config_unpinned",
            Self::ReadyToResume => "ready_to_resume",
            Self::Verified => "verified",
            Self::FalseSuccess => "false_success",
            Self::Unverified => "unverified",
        }
    }
}

/// What the run of a branch is doing. Never merged with [`GateStatus`].
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Written, not started.
    Planned,
    /// Refused by a gate.
    Held,
    /// Making steps.
    Running,
    /// Came to its end.
    Done,
    /// Broke down.
    Failed,
    /// Stopped by the operator.
    Stopped,
    /// The process that ran it went away.
    Interrupted,
}

impl RunStatus {
    /// The name as it stands in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Held => "held",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Interrupted => "interrupted",
        }
    }

    /// Whether nothing more will happen.
    #[must_use]
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Planned | Self::Running)
    }
}

/// One trajectory of a session.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its id.
    pub id: BranchId,
    /// The branch it was forked from; none for `main`.
    pub parent: Option<BranchId>,
    /// The step it was forked at: the first one that is its own. Never moves.
    pub fork_step: Option<usize>,
    /// Digest of the parent's steps before `fork_step`, recorded at the fork.
    pub prefix_digest: Option<Digest>,
    /// The intervention that it executes.
    pub intervention: Option<String>,
    /// Which of the intervention's n runs, 1-based; 0 for `main`.
    pub run_index: usize,
    /// Who forked it; none for `main`.
    pub operator: Option<String>,
    /// The seed of this run.
    pub seed: u64,
    /// The runtime it runs on.
    pub runtime: Option<String>,
    /// The gates' word; none for `main`.
    pub gate: Option<GateStatus>,
    /// The run's word.
    pub run: RunStatus,
    /// Not an exact replay (SPEC 3).
    pub diagnostic: bool,
    /// Whether the intervention was faithfully executed; none if unknown.
    pub fulfilled: Option<bool>,
    /// Whether the verifier passed the final answer; none if it could not be judged.
    pub success: Option<bool>,
    /// The final answer.
    pub answer: Option<String>,
    /// Milestones beside the parent's.
    pub milestones: Option<Tally>,
    /// Why it is held, failed or stopped, in a sentence.
    pub reason: Option<String>,
    /// When it was made, RFC 3339.
    pub created: String,
    /// How many steps it has, the inherited ones included.
    pub steps: usize,
    /// What the model calls of its run took; none where no model was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Its end stands here as a file tells it: nothing could check it. Known of a store alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
}

/// What is said beside an end that nothing here could check.
pub const TOLD: &str = "told by the file";

impl Branch {
    /// Whether it says of its end what a verifier or a runtime must have found.
    #[must_use]
    pub const fn claims(&self) -> bool {
        let judged = matches!(
            self.gate,
            Some(GateStatus::Verified | GateStatus::FalseSuccess)
        );
        judged || self.success.is_some() || self.fulfilled.is_some() || self.milestones.is_some()
    }

    /// Whether a gate refused to let it run: it is held and has no step of its own.
    #[must_use]
    pub fn refused(&self) -> bool {
        self.run == RunStatus::Held && self.fork_step == Some(self.steps)
    }
}

/// The kind of an edit (SPEC 1).
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Orchestrator to sub-agent.
    Instruction,
    /// The orchestrator's plan or ledger.
    Plan,
    /// Any other step.
    Message,
    /// A changed prompt, model or tool set.
    Config,
    /// An unedited re-run, the baseline.
    None,
}

impl Category {
    /// The name as it stands in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Plan => "plan",
            Self::Message => "message",
            Self::Config => "config",
            Self::None => "none",
        }
    }

    /// The category of an edit at a step of this kind.
    #[must_use]
    pub const fn of_kind(kind: super::StepKind) -> Self {
        match kind {
            super::StepKind::Instruction => Self::Instruction,
            super::StepKind::Plan | super::StepKind::Ledger => Self::Plan,
            _ => Self::Message,
        }
    }
}

/// Coarse class of an edit, as AGDebugger's study coded them.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum EditClass {
    /// Says more.
    AddDetail,
    /// Says less.
    Simplify,
    /// Says to go another way.
    ChangePlan,
    /// None of these.
    Other,
}

impl EditClass {
    /// The name as it stands in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AddDetail => "add_detail",
            Self::Simplify => "simplify",
            Self::ChangePlan => "change_plan",
            Self::Other => "other",
        }
    }
}

/// An edit at a step, executed by n branches.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Intervention {
    /// Store-unique id, `SESSION/iN`.
    pub id: String,
    /// The branch edited.
    pub parent: BranchId,
    /// The step edited.
    pub step: usize,
    /// The kind of the edit.
    pub category: Category,
    /// Its coarse class; none for the baseline.
    pub class: Option<EditClass>,
    /// The text that replaces the content; none for the baseline.
    pub text: Option<String>,
    /// Intended changes of the configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ConfigChange>,
    /// Digest of the pending step as it will be delivered.
    pub edit_digest: Digest,
    /// Digest of the configuration, once it is settled (gate 5 holds): what an owner approves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Digest>,
    /// Planned runs.
    pub n: usize,
    /// The seed that the runs' seeds are derived from.
    pub seed: u64,
    /// The text contains the expected answer, which neither the task nor the prefix does.
    pub answer_leak: bool,
    /// Who made it.
    pub operator: String,
    /// When, RFC 3339.
    pub created: String,
    /// The hypothesis that it tests, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypothesis: Option<String>,
    /// Whether that is a capability finding, which is never Refuted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub capability: bool,
}
