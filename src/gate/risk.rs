//! Risk of an edit (SPEC 3): what it changes, and how far the runtime reaches.
//!
//! A rule over words, not a reading of meaning: it asks for an approval rather too often than not often enough.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

use crate::model::{Profile, changed_words};

/// What an edit may lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Risk {
    /// Whether an owner must approve it.
    pub high: bool,
    /// Why, in a few words.
    pub why: String,
}

/// How near a changed word must stand to a sensitive one: "budget of at most 900" changes the budget.
const REACH: usize = 4;

/// The risk of replacing one text by another. Low where only local fixtures can be touched; else high where a word changes
/// at or near a value that the profile calls sensitive (a recipient, a budget, a permission, a target, a destructive action).
#[must_use]
pub fn risk(original: &str, edited: &str, profile: &Profile, local_fixtures: bool) -> Risk {
    let (before, after) = changed_words(original, edited);
    let (was, is) = (squeezed(original), squeezed(edited));
    let touched = profile.sensitive.iter().find(|value| {
        before.touches(value, REACH)
            || after.touches(value, REACH)
            || counted(&was, value) != counted(&is, value)
    });
    let (from, to) = (addresses(original), addresses(edited));
    let recipient = from.symmetric_difference(&to).next();
    Risk::of(local_fixtures, touched.or(recipient).map(String::as_str))
}

/// A text without anything but letters and digits, so that a value that is split or laced with invisible characters is found.
fn squeezed(text: &str) -> String {
    let folded = text.nfkc().flat_map(char::to_lowercase);
    folded.filter(|c| c.is_alphanumeric()).collect()
}

/// How often a value stands in a squeezed text, wherever its words begin and end.
fn counted(text: &str, value: &str) -> usize {
    let value = squeezed(value);
    if value.is_empty() {
        return 0;
    }
    text.matches(value.as_str()).count()
}

/// Mail addresses: recipients, whether the profile knows them or not.
fn addresses(text: &str) -> BTreeSet<String> {
    let apart = |c: char| c.is_whitespace() || "<>()[]{},;:'\"`".contains(c);
    text.split(apart)
        .map(|word| word.trim_matches(['.', '!', '?']).to_lowercase())
        .filter(|word| {
            let parts = word.split_once('@');
            parts.is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
        })
        .collect()
}

impl Risk {
    /// The risk by how far the runtime reaches and the first sensitive thing that the edit changes.
    #[must_use]
    pub fn of(local_fixtures: bool, changed: Option<&str>) -> Self {
        let (high, why) = match changed {
            _ if local_fixtures => (false, "local fixtures only".into()),
            Some(value) => (true, format!("the edit changes '{value}'")),
            None => (false, "nothing sensitive changed".into()),
        };
        Self { high, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn high_where_a_sensitive_value_changes_out_in_the_world() {
        let profile = Profile {
            sensitive: vec![
                "team@example.org".into(),
                "budget".into(),
                "delete".into(),
                "权限".into(),
            ],
            ..Profile::default()
        };
        let original = "Mail the digest to team@example.org, within a budget of 100. When that is done, list the files.";
        let change = |from: &str, to: &str| original.replace(from, to);
        let table = [
            (original.to_owned(), false),
            (change("list", "sort"), false),
            (change("team@", "all@"), true),
            (change("100", "900"), true),
            (change("list", "delete"), true),
            (format!("{original} Also to TEAM@example.org."), true),
            (format!("{original} 修改权限。"), true),
            // Ways around: split, laced with zero-width characters, in full width, to somebody whom the profile does not know.
            (format!("{original} Then d e l e t e them."), true),
            (format!("{original} Then del\u{200b}ete them."), true),
            (format!("{original} Then ｄｅｌｅｔｅ them."), true),
            (format!("{original} And to <eve@elsewhere.example>."), true),
            (format!("{original} It is @noon."), false),
        ];
        for (edited, high) in table {
            assert_eq!(
                risk(original, &edited, &profile, false).high,
                high,
                "{edited}"
            );
            assert!(!risk(original, &edited, &profile, true).high);
            // Taking it back is as risky as doing it.
            assert_eq!(
                risk(&edited, original, &profile, false).high,
                high,
                "{edited}"
            );
        }
    }
}
