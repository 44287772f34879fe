//! Search in a branch, letter case aside, over the whole of Unicode.

use rusqlite::types::ValueRef;

use super::Store;
use super::error::StoreError;
use super::lineage::Line;
use crate::model::BranchId;

impl Store {
    /// Indices of the steps whose agent or text contains each of the words, letter case aside (full Unicode, not ASCII only).
    /// Costs the length of the branch's texts.
    pub fn search(&self, id: &BranchId, words: &str) -> Result<Vec<usize>, StoreError> {
        const TEXTS: &str = "SELECT s.idx, s.agent, c.text
             FROM step s CROSS JOIN content c ON c.digest = s.content
             WHERE s.branch = ?1 AND s.idx >= ?2 AND s.idx < ?3 ORDER BY s.idx";
        let mut folded = String::new();
        fold(words, &mut folded);
        let words: Vec<&str> = folded.split_whitespace().collect();
        self.read(|conn| {
            let line = Line::of(conn, id)?;
            let mut found = Vec::new();
            if words.is_empty() {
                return Ok(found);
            }
            let (mut agent, mut text) = (String::new(), String::new());
            line.each(conn, &(0..line.len), TEXTS, |row| {
                fold(text_of(row.get_ref(1)?), &mut agent);
                fold(text_of(row.get_ref(2)?), &mut text);
                if words
                    .iter()
                    .all(|word| text.contains(word) || agent.contains(word))
                {
                    found.push(row.get(0)?);
                }
                Ok(true)
            })?;
            Ok(found)
        })
    }
}

/// Folds letter case: upper case first, so that letters with one capital (σ and ς, ß and ss) become the same.
fn fold(text: &str, out: &mut String) {
    out.clear();
    let mut rest = text;
    loop {
        // Most of any log, and many times faster.
        let plain = rest.bytes().take_while(u8::is_ascii).count();
        let (plain, other) = rest.split_at(plain);
        let from = out.len();
        out.push_str(plain);
        if let Some(new) = out.get_mut(from..) {
            new.make_ascii_lowercase();
        }
        let mut chars = other.chars();
        let Some(next) = chars.next() else { return };
        out.extend(next.to_uppercase().flat_map(char::to_lowercase));
        rest = chars.as_str();
    }
}

fn text_of(value: ValueRef<'_>) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_letters_with_one_capital_to_the_same() {
        // (a, b): equal letter case aside, by Unicode's CaseFolding.txt (full folding).
        let pairs = [
            ("Scroll DOWN", "sCROLL down"),
            ("ΟΔΟΣ", "οδος"),
            ("Straße", "STRASSE"),
            ("ÉCOLE", "école"),
            ("图片", "图片"),
            ("图A片BÉ", "图a片bé"),
        ];
        for (a, b) in pairs {
            let (mut left, mut right) = (String::new(), String::new());
            fold(a, &mut left);
            fold(b, &mut right);
            assert_eq!(left, right, "{a} and {b}");
        }
    }
}
