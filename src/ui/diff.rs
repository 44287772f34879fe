//! Word diff of two texts, live while one of them is being typed.
//!
//! Words are those of Unicode (UAX #29), so that a Chinese sentence is not one change. Invariants: what is same and deleted
//! spells the old text, what is same and added the new one, and equal texts give equal diffs on any machine: what a diff may cost is
//! counted in bytes, never in time. Non-goals: moves.

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};
use unicode_segmentation::UnicodeSegmentation;

use super::passage::{Look, Passage};
use super::role::Role;
use crate::model::clean;

/// Bytes of both texts, lines that they begin and end with aside, that are compared word by word; so many take less than a frame. What
/// is longer is compared line by line first, and by words where lines differ, as far as this goes.
const BUDGET: usize = 24 * 1024;
/// Lines of both texts that are compared; of longer texts all lines but those that they begin and end with count as replaced.
const LINES: usize = 20_000;

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
    /// Characters of each, which are asked for often.
    chars: [usize; 3],
}

impl WordDiff {
    /// Compares two clean texts. Costs their lengths, and of what differs no more than a budget.
    #[must_use]
    pub fn new(old: &str, new: &str) -> Self {
        Self::within(old, new, BUDGET)
    }

    fn within(old: &str, new: &str, budget: usize) -> Self {
        let mut writing = Writing {
            diff: Self { hunks: Vec::new() },
            hunk: Hunk::default(),
            budget,
        };
        let (start, end) = equal_ends(old, new);
        let (head, was) = old.split_at(start);
        let (was, tail) = was.split_at(was.len() - end);
        let is = new.get(start..new.len() - end).unwrap_or_default();
        writing.same(head);
        writing.lines(was, is);
        writing.same(tail);
        let Writing { mut diff, hunk, .. } = writing;
        diff.push(hunk);
        diff
    }

    /// The same pieces, made safe to show. What was compared are the texts themselves, so that what cannot be seen is told when it
    /// changes, and a tab is one character wherever it stands.
    #[must_use]
    pub fn cleaned(self) -> Self {
        let hunks = self.hunks.into_iter().map(|hunk| {
            let mut shown = Hunk::default();
            shown.same(&clean(&hunk.same));
            shown.del(&clean(&hunk.del));
            shown.add(&clean(&hunk.add));
            shown
        });
        Self {
            hunks: hunks.collect(),
        }
    }

    /// Adds a hunk, joined with the ones before it as long as what they share is too little to read by.
    fn push(&mut self, mut hunk: Hunk) {
        while let Some(mut last) = self.hunks.pop_if(|last| hunk.joins(last)) {
            last.del(&hunk.same);
            last.add(&hunk.same);
            last.del(&hunk.del);
            last.add(&hunk.add);
            hunk = last;
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
    fn same(&mut self, text: &str) {
        self.same.push_str(text);
        self.count(0, text);
    }

    fn del(&mut self, text: &str) {
        self.del.push_str(text);
        self.count(1, text);
    }

    fn add(&mut self, text: &str) {
        self.add.push_str(text);
        self.count(2, text);
    }

    fn count(&mut self, of: usize, text: &str) {
        if let Some(chars) = self.chars.get_mut(of) {
            *chars += text.chars().count();
        }
    }

    fn changes(&self) -> bool {
        !(self.del.is_empty() && self.add.is_empty())
    }

    /// Whether what this hunk shares with both texts is mere punctuation, or shorter than the changes on both sides of it: a
    /// sentence said anew then reads as one change and not as confetti around every "the". A line feed always parts.
    fn joins(&self, last: &Self) -> bool {
        let size = |hunk: &Self| {
            let [_, del, add] = hunk.chars;
            del.max(add)
        };
        let [shared, ..] = self.chars;
        last.changes()
            && self.changes()
            && !self.same.contains('\n')
            && (!self.same.contains(char::is_alphanumeric)
                || (shared < size(last) && shared < size(self)))
    }
}

/// A diff under way.
struct Writing {
    diff: WordDiff,
    hunk: Hunk,
    /// Bytes that may still be compared word by word.
    budget: usize,
}

impl Writing {
    fn same(&mut self, text: &str) {
        if self.hunk.changes() && !text.is_empty() {
            self.diff.push(std::mem::take(&mut self.hunk));
        }
        self.hunk.same(text);
    }

    fn words(&mut self, old: &str, new: &str) {
        let cost = old.len() + new.len();
        if cost > self.budget {
            self.hunk.del(old);
            self.hunk.add(new);
            return;
        }
        self.budget -= cost;
        let before: Vec<&str> = old.split_word_bounds().collect();
        let after: Vec<&str> = new.split_word_bounds().collect();
        for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
            let (same, was, is) = parts(op, &before, &after);
            if same {
                self.same(&was);
            } else {
                self.hunk.del(&was);
                self.hunk.add(&is);
            }
        }
    }

    fn lines(&mut self, old: &str, new: &str) {
        let before: Vec<&str> = old.split_inclusive('\n').take(LINES + 1).collect();
        let after: Vec<&str> = new.split_inclusive('\n').take(LINES + 1).collect();
        if old.len() + new.len() <= self.budget || before.len() + after.len() > LINES {
            return self.words(old, new);
        }
        for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
            let (same, was, is) = parts(op, &before, &after);
            if same {
                self.same(&was);
            } else {
                self.words(&was, &is);
            }
        }
    }
}

/// Whether an operation leaves all as it was, and what it takes and gives.
fn parts(op: DiffOp, before: &[&str], after: &[&str]) -> (bool, String, String) {
    let (tag, was, is) = op.as_tag_tuple();
    let was = before.get(was).unwrap_or_default().concat();
    let is = after.get(is).unwrap_or_default().concat();
    (tag == DiffTag::Equal, was, is)
}

/// The bytes of the whole lines that both texts begin with, and of those that they end with.
fn equal_ends(old: &str, new: &str) -> (usize, usize) {
    if old == new {
        return (old.len(), 0);
    }
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let alike = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let lines = old.get(..alike).unwrap_or_default();
    let start = lines.iter().rposition(|byte| *byte == b'\n');
    let start = start.map_or(0, |at| at + 1);
    let rest = |text: &'_ [u8]| text.len() - start;
    let most = rest(old).min(rest(new));
    let back = old.iter().rev().zip(new.iter().rev()).take(most);
    let alike = back.take_while(|(a, b)| a == b).count();
    let lines = old.get(old.len() - alike..).unwrap_or_default();
    let end = lines.iter().position(|byte| *byte == b'\n');
    (start, end.map_or(0, |at| lines.len() - at - 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn both(old: &str, new: &str) -> String {
        let diff = WordDiff::new(old, new);
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
    fn what_cannot_be_seen_is_told_and_a_tab_that_stays_is_not() {
        let told = |old: &str, new: &str| {
            let diff = WordDiff::new(old, new).cleaned();
            diff.passage(Side::Both, true).text().to_owned()
        };
        let gone = told("see \u{202e}it", "see it");
        assert!(gone.contains("⟨RLO⟩-]"), "{gone}");
        // The tab begins another column, but it is the same tab.
        assert_eq!(told("a\tb", "abc\tb"), "[-a-]{+abc+}    b");
    }

    #[test]
    fn a_side_shows_one_text_and_stresses_the_words() {
        let diff = WordDiff::new("go left now", "go right now");
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
    fn what_is_over_the_budget_is_compared_by_lines_and_then_replaced_whole() {
        let text = |third: &str| format!("one\ntwo two\n{third}\nfour\nfive five\n");
        let (old, new) = (text("a b c"), text("a x c").replace("two two", "two too"));
        let shown = |budget| {
            let diff = WordDiff::within(&old, &new, budget);
            diff.passage(Side::Both, true).text().to_owned()
        };
        let fine = "one\ntwo [-two-]{+too+}\na [-b-]{+x+} c\nfour\nfive five\n";
        assert_eq!(shown(1000), fine);
        // The lines that differ are 14 bytes a text.
        let whole = "one\n[-two two\na b c\n-]{+two too\na x c\n+}four\nfive five\n";
        assert_eq!(shown(28), fine);
        assert_eq!(shown(27), whole);
        assert_eq!(shown(0), whole);
        // Lines that stay between them part what is replaced.
        let (old, new) = ("a\n=\nb\n", "c\n=\nd\n");
        let diff = WordDiff::within(old, new, 4);
        let told = diff.passage(Side::Both, true).text().to_owned();
        assert_eq!(told, "[-a-]{+c+}\n=\n[-b\n-]{+d\n+}");
    }

    #[test]
    fn a_long_line_and_very_many_lines_are_told_whole() {
        let line = "word ".repeat(BUDGET);
        let many: String = (0..=LINES).map(|n| format!("{n}\n")).collect();
        for old in [line, many] {
            let new = format!("x{old}y");
            let diff = WordDiff::new(&old, &new);
            assert_eq!(diff.passage(Side::Old, false).text(), old);
            assert_eq!(diff.passage(Side::New, false).text(), new);
            assert_eq!(diff.pieces().count(), 2);
        }
    }

    proptest! {
        #[test]
        fn the_sides_spell_the_texts(
            old in "[ab ,\n天]{0,40}", new in "[ab ,\n天]{0,40}", budget in prop_oneof![Just(BUDGET), 0_usize..80]
        ) {
            let diff = WordDiff::within(&old, &new, budget);
            let spelled = [Side::Old, Side::New].map(|side| diff.passage(side, false));
            prop_assert_eq!(spelled[0].text(), &old);
            prop_assert_eq!(spelled[1].text(), &new);
            prop_assert_eq!(diff.is_same(), old == new);
        }
    }
}
