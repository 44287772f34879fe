//! The session picker.

use crate::store::SessionSummary;

/// State of the picker.
#[derive(Debug, Default)]
pub struct Picker {
    /// All sessions; none until the store answered.
    pub sessions: Option<Vec<SessionSummary>>,
    /// Words that narrow the list.
    pub filter: String,
    /// The filter before the one being typed.
    pub accepted: String,
    /// A session to select once the list is here.
    pub keep: Option<String>,
    /// Row selected among those that match.
    pub selected: usize,
    /// A log being taken in: its name, the share read, the steps so far.
    pub importing: Option<Importing>,
}

/// A log being taken in.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Importing {
    /// What was asked for.
    pub what: String,
    /// The share read, 0..=1.
    pub share: f64,
    /// Steps so far.
    pub steps: usize,
    /// The person opened something since.
    pub left: bool,
}

impl Picker {
    /// The sessions that contain every word of the filter, letter case aside.
    pub fn matching(&self) -> impl Iterator<Item = &SessionSummary> {
        let words: Vec<String> = self
            .filter
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        self.sessions.iter().flatten().filter(move |summary| {
            let session = &summary.session;
            let text = format!(
                "{} {} {} {}",
                session.id, session.title, session.format, session.task
            );
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        })
    }

    /// The selected session.
    #[must_use]
    pub fn session(&self) -> Option<&SessionSummary> {
        self.matching().nth(self.selected)
    }

    /// Selects the session that was to be kept, else stays inside the list.
    pub fn reselect(&mut self) {
        let keep = self.keep.take();
        let at = keep.and_then(|id| self.matching().position(|one| one.session.id == id));
        self.select(at.unwrap_or(self.selected));
    }

    /// Moves the selection; it stays inside the list.
    pub fn select(&mut self, to: usize) {
        self.selected = to.min(self.matching().count().saturating_sub(1));
    }
}
