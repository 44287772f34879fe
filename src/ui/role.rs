//! What a colour is asked to say. Screens name roles; only a theme knows colours.

use std::fmt;

use crate::model::{GateStatus, RunStatus, StepKind};

/// How many agents have a colour of their own; the next one starts again.
pub const AGENT_COLOURS: u8 = 8;

/// One meaning that a theme gives a style to. Its name is the theme file's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Plain text; its background is the screen's.
    Text,
    /// Less important text.
    Muted,
    /// What the eye should find: keys, the focused border, search hits.
    Accent,
    /// The picked row, laid over the row's own styles.
    Selection,
    /// Lines between panes.
    Border,
    /// Titles of panes.
    Title,
    /// An agent, 1 to [`AGENT_COLOURS`].
    Agent(u8),
    /// The kind of a step.
    Kind(StepKind),
    /// Text that only the new side has.
    DiffAdd,
    /// Text that only the old side has.
    DiffDel,
    /// The very words that differ, laid over `diff.add` or `diff.del`.
    DiffEmph,
    /// A gate that holds.
    GatePass,
    /// A gate that does not hold.
    GateHold,
    /// A branch's gate status.
    Gate(GateStatus),
    /// A branch's run status.
    Run(RunStatus),
    /// A milestone that the branch reached, as its parent did.
    MilestoneReached,
    /// A milestone that the branch reached and its parent did not.
    MilestoneGained,
    /// A milestone that the parent reached and the branch did not.
    MilestoneLost,
    /// A milestone that nobody reached.
    MilestoneOpen,
    /// Something to be careful about.
    Warn,
    /// Something that failed.
    Error,
}

impl Role {
    /// The role of the n-th agent of a session, 0-based.
    #[must_use]
    pub fn agent(n: usize) -> Self {
        let place = n % usize::from(AGENT_COLOURS);
        Self::Agent(u8::try_from(place).unwrap_or_default() + 1)
    }

    /// Every role that a theme must style.
    pub fn all() -> impl Iterator<Item = Self> {
        [
            Self::Text,
            Self::Muted,
            Self::Accent,
            Self::Selection,
            Self::Border,
            Self::Title,
            Self::DiffAdd,
            Self::DiffDel,
            Self::DiffEmph,
            Self::GatePass,
            Self::GateHold,
            Self::MilestoneReached,
            Self::MilestoneGained,
            Self::MilestoneLost,
            Self::MilestoneOpen,
            Self::Warn,
            Self::Error,
        ]
        .into_iter()
        .chain((1..=AGENT_COLOURS).map(Self::Agent))
        .chain(StepKind::ALL.map(Self::Kind))
        .chain(GATE_STATUSES.map(Self::Gate))
        .chain(RUN_STATUSES.map(Self::Run))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("text"),
            Self::Muted => f.write_str("muted"),
            Self::Accent => f.write_str("accent"),
            Self::Selection => f.write_str("selection"),
            Self::Border => f.write_str("border"),
            Self::Title => f.write_str("title"),
            Self::Agent(n) => write!(f, "agent.{n}"),
            Self::Kind(kind) => write!(f, "kind.{}", kind.name()),
            Self::DiffAdd => f.write_str("diff.add"),
            Self::DiffDel => f.write_str("diff.del"),
            Self::DiffEmph => f.write_str("diff.emph"),
            Self::GatePass => f.write_str("gate.pass"),
            Self::GateHold => f.write_str("gate.hold"),
            Self::Gate(status) => write!(f, "status.{}", status.name()),
            Self::Run(status) => write!(f, "status.{}", status.name()),
            Self::MilestoneReached => f.write_str("milestone.reached"),
            Self::MilestoneGained => f.write_str("milestone.gained"),
            Self::MilestoneLost => f.write_str("milestone.lost"),
            Self::MilestoneOpen => f.write_str("milestone.open"),
            Self::Warn => f.write_str("warn"),
            Self::Error => f.write_str("error"),
        }
    }
}

/// Every gate status, in the order of SPEC 3.
pub const GATE_STATUSES: [GateStatus; 9] = [
    GateStatus::InvalidLineage,
    GateStatus::RestoreUncertain,
    GateStatus::EffectsUnreconciled,
    GateStatus::NeedsApproval,
    GateStatus::ConfigUnpinned,
    GateStatus::ReadyToResume,
    GateStatus::Verified,
    GateStatus::FalseSuccess,
    GateStatus::Unverified,
];

/// Every run status, in the order of SPEC 3.
pub const RUN_STATUSES: [RunStatus; 7] = [
    RunStatus::Planned,
    RunStatus::Held,
    RunStatus::Running,
    RunStatus::Done,
    RunStatus::Failed,
    RunStatus::Stopped,
    RunStatus::Interrupted,
];
