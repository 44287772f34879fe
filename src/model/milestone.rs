//! Milestones: checkable sub-goals of a task, at most [`MAX_MILESTONES`] a session.

use serde::{Deserialize, Serialize};

use super::Step;

/// K, the most milestones a session has (SPEC 1).
pub const MAX_MILESTONES: usize = 5;

/// How a milestone is recognised.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// A fact of a scenario world became known.
    Fact(String),
    /// A page of a scenario world was read.
    Page(String),
    /// A tool was called and did not fail.
    Tool(String),
    /// A step after the task contains this text, letter case aside.
    Text(String),
    /// Only a person says so, by marking a step.
    Manual,
}

/// A checkable sub-goal.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Milestone {
    /// What a person reads.
    pub title: String,
    /// How it is recognised.
    pub check: Check,
}

impl Milestone {
    /// Whether this step alone reaches the milestone.
    #[must_use]
    pub fn reached_by(&self, step: &Step) -> bool {
        match &self.check {
            Check::Fact(fact) => step.meta.facts.contains(fact),
            Check::Page(page) => step.meta.pages.contains(page),
            Check::Tool(tool) => {
                step.kind == super::StepKind::ToolResult
                    && step
                        .meta
                        .tool
                        .as_ref()
                        .is_some_and(|used| used.name == *tool && !used.failed)
            }
            Check::Text(text) => {
                step.kind != super::StepKind::Task
                    && !text.trim().is_empty()
                    && step
                        .text
                        .to_lowercase()
                        .contains(&text.trim().to_lowercase())
            }
            Check::Manual => false,
        }
    }
}

/// For each milestone the first step that reached it, over a whole trajectory.
#[must_use]
pub fn reached<'a>(
    milestones: &[Milestone],
    steps: impl IntoIterator<Item = &'a Step>,
) -> Vec<Option<usize>> {
    let mut found = vec![None; milestones.len()];
    for step in steps {
        for (slot, milestone) in found.iter_mut().zip(milestones) {
            if slot.is_none() && milestone.reached_by(step) {
                *slot = Some(step.index);
            }
        }
    }
    found
}

/// Milestones of a branch beside its parent's: A(parent), A(branch), K.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tally {
    /// A(parent), over the parent's whole trajectory.
    pub before: usize,
    /// A(branch), over the branch's whole trajectory.
    pub after: usize,
    /// K.
    pub of: usize,
}
