//! The signs beside every colour, with a plain one for terminals and fonts that have none.

use crate::model::{RunStatus, Session};

/// Which signs are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glyphs {
    /// Only ASCII.
    pub ascii: bool,
}

impl Glyphs {
    const fn pick(self, sign: &'static str, plain: &'static str) -> &'static str {
        if self.ascii { plain } else { sign }
    }

    /// The sign of an agent: who gives the task, who orchestrates, who works.
    #[must_use]
    pub fn agent(self, session: &Session, name: &str) -> &'static str {
        if session.orchestrator.as_deref() == Some(name) {
            self.pick("◆", "#")
        } else if matches!(
            name.to_lowercase().as_str(),
            "human" | "user" | "user_proxy" | "operator"
        ) {
            self.pick("☺", "@")
        } else {
            self.pick("●", "o")
        }
    }

    /// What the run of a branch is doing.
    #[must_use]
    pub const fn run(self, status: RunStatus) -> &'static str {
        match status {
            RunStatus::Planned => self.pick("○", "."),
            RunStatus::Held => self.pick("◐", "="),
            RunStatus::Running => self.pick("▶", ">"),
            RunStatus::Done => self.pick("■", "*"),
            RunStatus::Failed => self.pick("✗", "x"),
            RunStatus::Stopped => self.pick("□", "-"),
            RunStatus::Interrupted => self.pick("⌁", "~"),
        }
    }

    /// Yes.
    #[must_use]
    pub const fn pass(self) -> &'static str {
        self.pick("✓", "+")
    }
    /// No; also a step that reports a failure.
    #[must_use]
    pub const fn cross(self) -> &'static str {
        self.pick("✗", "x")
    }
    /// Held.
    #[must_use]
    pub const fn hold(self) -> &'static str {
        self.pick("◐", "=")
    }
    /// The selected row.
    #[must_use]
    pub const fn picked(self) -> &'static str {
        self.pick("▸", ">")
    }
    /// A label on a step.
    #[must_use]
    pub const fn flag(self) -> &'static str {
        self.pick("⚑", "!")
    }
    /// A milestone.
    #[must_use]
    pub const fn star(self) -> &'static str {
        self.pick("★", "*")
    }
    /// A branch forks here.
    #[must_use]
    pub const fn fork(self) -> &'static str {
        self.pick("↳", "\\")
    }
    /// An edit that was not forked yet.
    #[must_use]
    pub const fn draft(self) -> &'static str {
        self.pick("✎", "~")
    }
    /// To an agent.
    #[must_use]
    pub const fn to(self) -> &'static str {
        self.pick("→", ">")
    }
    /// They differ.
    #[must_use]
    pub const fn differs(self) -> &'static str {
        self.pick("≠", "!")
    }
    /// More further down.
    #[must_use]
    pub const fn down(self) -> &'static str {
        self.pick("↓", "v")
    }
    /// A part done.
    #[must_use]
    pub const fn full(self) -> &'static str {
        self.pick("▰", "#")
    }
    /// A part to do.
    #[must_use]
    pub const fn empty(self) -> &'static str {
        self.pick("▱", ".")
    }
    /// A horizontal line.
    #[must_use]
    pub const fn line(self) -> &'static str {
        self.pick("─", "-")
    }
    /// A vertical line.
    #[must_use]
    pub const fn bar(self) -> &'static str {
        self.pick("│", "|")
    }
    /// Between parts of a line.
    #[must_use]
    pub const fn dot(self) -> &'static str {
        self.pick("·", "-")
    }
}
