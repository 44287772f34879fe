//! What a person pins to a step: a mark, or a note.

use serde::{Deserialize, Serialize};

use super::BranchId;

/// A note of a session, with the branch that owns its step.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct BranchNote {
    /// The branch.
    pub branch: BranchId,
    /// The note.
    #[serde(flatten)]
    pub note: Note,
}

impl Note {
    /// The note in words: what was written, or that the step is marked, and by whom.
    #[must_use]
    pub fn told(&self) -> String {
        let by = match self.operator.trim() {
            "" => String::new(),
            name => format!(" by {name}"),
        };
        if self.text.is_empty() {
            format!("marked{by}")
        } else {
            format!("note{by}: {}", self.text)
        }
    }
}

/// A mark or a note on a step. It belongs to the step, so every branch that has the step has the note.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The step.
    pub step: usize,
    /// The words; empty for a mark.
    pub text: String,
    /// Who wrote it.
    pub operator: String,
    /// When, RFC 3339.
    pub created: String,
}
