//! What a person pins to a step: a mark, or a note.

use serde::{Deserialize, Serialize};

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
