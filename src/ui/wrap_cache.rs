//! Wrapped texts kept from frame to frame, so that a frame wraps only what changed.

use std::collections::HashMap;
use std::hash::Hash;

use super::passage::Passage;
use super::wrap::Wrapped;

/// The last few wrapped texts, by what they are, their revision and the width. The one unused longest goes first.
#[derive(Debug)]
pub struct WrapCache<Id> {
    entries: HashMap<(Id, u64, u16), Entry>,
    limit: usize,
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    wrapped: Wrapped,
    used: u64,
}

impl<Id: Eq + Hash + Clone> WrapCache<Id> {
    /// A cache of at most `limit` texts (one at least).
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            entries: HashMap::new(),
            limit: limit.max(1),
            uses: 0,
        }
    }

    /// The text at this width; `passage` is asked only if it is not here.
    pub fn get(
        &mut self,
        id: Id,
        revision: u64,
        width: u16,
        passage: impl FnOnce() -> Passage,
    ) -> &mut Wrapped {
        let key = (id, revision, width);
        if !self.entries.contains_key(&key) && self.entries.len() >= self.limit {
            self.drop_oldest();
        }
        self.uses += 1;
        let used = self.uses;
        let entry = self.entries.entry(key).or_insert_with(|| Entry {
            wrapped: Wrapped::new(passage(), width),
            used,
        });
        entry.used = used;
        &mut entry.wrapped
    }

    fn drop_oldest(&mut self) {
        let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.entries.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::role::Role;

    #[test]
    fn keeps_what_was_used_last_and_never_more_than_the_limit() {
        let mut cache = WrapCache::new(2);
        let mut asked = Vec::new();
        for (id, revision, width) in [
            (1, 0, 80),
            (1, 0, 80), // kept
            (2, 0, 80),
            (1, 0, 80), // kept, and now younger than 2
            (1, 1, 80), // a new revision pushes 2 out
            (1, 0, 80), // kept
            (2, 0, 80),
            (2, 0, 40), // another width
        ] {
            cache.get(id, revision, width, || {
                asked.push((id, revision, width));
                Passage::plain("text", Role::Text)
            });
            assert!(cache.entries.len() <= 2);
        }
        assert_eq!(
            asked,
            [(1, 0, 80), (2, 0, 80), (1, 1, 80), (2, 0, 80), (2, 0, 40)]
        );
    }
}
