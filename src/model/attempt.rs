//! A learner's way through a lesson: which parts are done, with how many hints, after which guesses.

use serde::{Deserialize, Serialize};

/// One learner's attempt at one lesson.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The copy of the lesson's run that it is made on.
    pub session: String,
    /// The lesson's name.
    pub lesson: String,
    /// The lesson's title.
    pub title: String,
    /// Who learns.
    pub learner: String,
    /// The lesson's parts, in order.
    pub parts: Vec<PartAttempt>,
    /// Counts the changes, so that a late write never undoes a newer one.
    pub revision: u64,
    /// When it began; the store's clock.
    #[serde(default)]
    pub started: String,
    /// When it last got further; the store's clock.
    #[serde(default)]
    pub updated: String,
}

/// What a learner did in one part.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub struct PartAttempt {
    /// The part's title.
    pub title: String,
    /// Whether its task is done.
    pub done: bool,
    /// Hints that were asked for.
    pub hints: usize,
    /// Steps that were suspected, in order, the right one included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guesses: Vec<usize>,
}

impl Attempt {
    /// How many parts are done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.parts.iter().filter(|part| part.done).count()
    }

    /// Whether all parts are done.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.done() == self.parts.len()
    }

    /// The part to go on with: the first that is not done, else the last.
    #[must_use]
    pub fn next(&self) -> usize {
        let open = self.parts.iter().position(|part| !part.done);
        open.unwrap_or(self.parts.len().saturating_sub(1))
    }
}
