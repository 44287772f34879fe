//! Verifiers: deterministic judges of a final answer. A model's opinion is never one.

use serde::{Deserialize, Serialize};

/// How a final answer is judged (SPEC 3).
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Verifier {
    /// GAIA's scorer against the session's expected answer.
    Answer,
    /// As `Answer`, the answer being read from `\boxed{}` or the last number of the text (maths dialogues).
    Math,
    /// The final answer contains this text, letter case aside.
    Contains(String),
}
