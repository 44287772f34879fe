//! Word diff of two texts, live while one of them is being typed.
//!
//! Words are those of Unicode (UAX #29), so that a Chinese sentence is not one change. Invariants: what is same and deleted
//! spells the old text, what is same and added the new one, whatever the deadline cut short. Non-goals: moves, lines.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};
use unicode_segmentation::UnicodeSegmentation;

use super::passage::{Look, Passage};
use super::role::Role;

/// How long a diff may take before it settles for a coarser answer: less than a frame.
pub const DEADLINE: Duration = Duration::from_millis(10);

/// What became of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Both texts have it.
    Same,
    /// Only the old text has it.
    Del,
    /// Only the new text has it.
    Add,
}

/// Which text a passage of a diff shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The old one, what was deleted marked.
    Old,
    /// The new one, what was added marked.
    New,
    /// Both in one, deletions before additions.
    Both,
}

/// Two texts compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordDiff {
    hunks: Vec<Hunk>,
}

/// What both texts have, then what differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hunk {
    same: String,
    del: String,
    add: String,
}

impl WordDiff {
    /// Compares two clean texts. After `deadline` what is left counts as replaced.
    #[must_use]
    pub fn new(old: &str, new: &str, deadline: Duration) -> Self {
        let until = Instant::now().checked_add(deadline);
        let before: Vec<&str> = old.split_word_bounds().collect();
        let after: Vec<&str> = new.split_word_bounds().collect();
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &before, &after, until);
        let mut diff = Self { hunks: Vec::new() };
        let mut hunk = Hunk::default();
        for op in ops {
            let (tag, was, is) = op.as_tag_tuple();
            let was = before.get(was).unwrap_or_default().concat();
            if tag == DiffTag::Equal {
                if hunk.changes() {
                    diff.push(std::mem::take(&mut hunk));
                }
                hunk.same.push_str(&was);
            } else {
                hunk.del.push_str(&was);
                hunk.add
                    .push_str(&after.get(is).unwrap_or_default().concat());
            }
        }
        diff.push(hunk);
        diff
    }

    /// Adds a hunk, joined with the ones before it as long as what they share is too little to read by.
    fn push(&mut self, mut hunk: Hunk) {
        while let Some(last) = self.hunks.pop_if(|last| hunk.joins(last)) {
            hunk = Hunk {
                del: last.del + &hunk.same + &hunk.del,
                add: last.add + &hunk.same + &hunk.add,
                same: last.same,
            };
        }
        self.hunks.push(hunk);
    }

    /// Whether the texts are equal.
    #[must_use]
    pub fn is_same(&self) -> bool {
        !self.hunks.iter().any(Hunk::changes)
    }

    /// The pieces in order; none is empty.
    pub fn pieces(&self) -> impl Iterator<Item = (Change, &str)> {
        self.hunks
            .iter()
            .flat_map(|hunk| {
                [
                    (Change::Same, hunk.same.as_str()),
                    (Change::Del, hunk.del.as_str()),
                    (Change::Add, hunk.add.as_str()),
                ]
            })
            .filter(|(_, text)| !text.is_empty())
    }

    /// The diff to be wrapped and drawn. `marks` puts `[-…-]` and `{+…+}` around the changes, for eyes and terminals without
    /// colour. On one side the line of a change has the colour and the words the emphasis; in both, the words have the colour.
    #[must_use]
    pub fn passage(&self, side: Side, marks: bool) -> Passage {
        let mut passage = Passage::default();
        for (change, text) in self.pieces() {
            let (role, open, close) = match change {
                Change::Same => {
                    passage.push(text, Role::Text);
                    continue;
                }
                Change::Del if side == Side::New => continue,
                Change::Add if side == Side::Old => continue,
                Change::Del => (Role::DiffDel, "[-", "-]"),
                Change::Add => (Role::DiffAdd, "{+", "+}"),
            };
            let over = (side != Side::Both).then_some(Role::DiffEmph);
            let look = Look { role, over };
            if marks {
                passage.push(open, role);
                passage.push(text, look);
                passage.push(close, role);
            } else {
                passage.push(text, look);
            }
        }
        passage
    }
}

impl Hunk {
    fn changes(&self) -> bool {
        !(self.del.is_empty() && self.add.is_empty())
    }

    /// Whether what this hunk shares with both texts is mere punctuation, or shorter than the changes on both sides of it: a
    /// sentence said anew then reads as one change and not as confetti around every "the". A line feed always parts.
    fn joins(&self, last: &Self) -> bool {
        let length = |text: &str| text.chars().count();
        let size = |hunk: &Self| length(&hunk.del).max(length(&hunk.add));
        let shared = length(&self.same);
        last.changes()
            && self.changes()
            && !self.same.contains('\n')
            && (!self.same.contains(char::is_alphanumeric)
                || (shared < size(last) && shared < size(self)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn both(old: &str, new: &str) -> String {
        let diff = WordDiff::new(old, new, Duration::from_secs(5));
        diff.passage(Side::Both, true).text().to_owned()
    }

    #[test]
    fn marks_what_a_reader_would_mark() {
        let table = [
            ("same", "same", "same"),
            ("", "new", "{+new+}"),
            (
                "Open the archive",
                "Open the old archive",
                "Open the {+old +}archive",
            ),
            (
                "Click the control '2015'",
                "Open /2015/08/04.html",
                "[-Click the control '2015'-]{+Open /2015/08/04.html+}",
            ),
            // A list said anew line by line stays a list.
            (
                "1. scroll\n2. read",
                "1. open\n2. search",
                "1. [-scroll-]{+open+}\n2. [-read-]{+search+}",
            ),
            (
                "打开八月的图片",
                "打开九月的图片",
                "打开[-八-]{+九+}月的图片",
            ),
        ];
        for (old, new, expected) in table {
            assert_eq!(both(old, new), expected);
        }
    }

    #[test]
    fn a_side_shows_one_text_and_stresses_the_words() {
        let diff = WordDiff::new("go left now", "go right now", DEADLINE);
        let old = diff.passage(Side::Old, false);
        assert_eq!(old.text(), "go left now");
        let emph = Look {
            role: Role::DiffDel,
            over: Some(Role::DiffEmph),
        };
        let parts: Vec<_> = old.parts(0..old.text().len()).collect();
        assert_eq!(
            parts,
            [
                ("go ", Role::Text.into()),
                ("left", emph),
                (" now", Role::Text.into())
            ]
        );
        let new = diff.passage(Side::New, true);
        assert_eq!(new.text(), "go {+right+} now");
    }

    #[test]
    fn a_passed_deadline_still_tells_both_texts() {
        let old: String = (0..3000).map(|n| format!("w{} ", n * 7 % 3001)).collect();
        let new: String = (0..3000).map(|n| format!("w{} ", n * 11 % 3001)).collect();
        let diff = WordDiff::new(&old, &new, Duration::ZERO);
        assert_eq!(diff.passage(Side::Old, false).text(), old);
        assert_eq!(diff.passage(Side::New, false).text(), new);
    }

    proptest! {
        #[test]
        fn the_sides_spell_the_texts(old in "[ab ,\n天]{0,40}", new in "[ab ,\n天]{0,40}") {
            let diff = WordDiff::new(&old, &new, Duration::from_secs(5));
            let spelled = [Side::Old, Side::New].map(|side| diff.passage(side, false));
            prop_assert_eq!(spelled[0].text(), &old);
            prop_assert_eq!(spelled[1].text(), &new);
            prop_assert_eq!(diff.is_same(), old == new);
        }
    }
}
