//! Risk of an edit (SPEC 3): what it changes, and how far the runtime reaches.
//!
//! A rule over words, not a reading of meaning: it asks for an approval rather too often than not often enough.

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
    let mut touched = profile
        .sensitive
        .iter()
        .filter(|value| before.touches(value, REACH) || after.touches(value, REACH));
    Risk::of(local_fixtures, touched.next().map(String::as_str))
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
