//! Results of many sessions: what `dover eval` writes and reads, in one piece or in shards that are put together again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::{DebugReport, Figures};

/// One part of so many.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// Which, 1-based.
    pub index: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// Whether the item at a place, 0-based, belongs to it.
    #[must_use]
    pub const fn has(self, place: usize) -> bool {
        place % self.of == self.index - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split_once('/')
            .and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((index, of)) if index >= 1 && index <= of => Ok(Self { index, of }),
            _ => Err("say which of how many, such as 2/4".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// How the sessions were debugged. Results of different settings are not put together.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Who analysed.
    pub analyst: String,
    /// The runtime asked for.
    pub runtime: Option<String>,
    /// n.
    pub runs: Option<usize>,
    /// Rounds.
    pub rounds: usize,
    /// Seed.
    pub seed: u64,
}

/// The report of one session, with the set it belongs to.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Judged {
    /// The data set: the directory that the file lies in.
    pub set: String,
    /// The file, below what was evaluated.
    pub file: String,
    /// What the loop made of it.
    pub report: DebugReport,
}

/// A file that could not be evaluated, and why.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The file, below what was evaluated.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// All of it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Results {
    /// Which part this is, if it is not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// How many files there are in all parts together.
    pub files: usize,
    /// How the sessions were debugged; none where finished results were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// The reports.
    pub results: Vec<Judged>,
    /// What could not be evaluated.
    #[serde(default)]
    pub unread: Vec<Unread>,
}

/// The figures of all results, and of each set.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Summary {
    /// All sets together.
    pub total: Figures,
    /// Each set.
    pub sets: BTreeMap<String, Figures>,
}

impl Results {
    /// The figures.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut sets: BTreeMap<String, Vec<&DebugReport>> = BTreeMap::new();
        for one in &self.results {
            sets.entry(one.set.clone()).or_default().push(&one.report);
        }
        Summary {
            total: Figures::of(self.results.iter().map(|one| &one.report)),
            sets: sets
                .into_iter()
                .map(|(set, reports)| (set, Figures::of(reports)))
                .collect(),
        }
    }

    fn sorted(mut self) -> Self {
        self.results
            .sort_by(|a, b| (&a.set, &a.file).cmp(&(&b.set, &b.file)));
        self.unread.sort_by(|a, b| a.file.cmp(&b.file));
        self
    }
}

/// Puts the shards of one evaluation together again.
///
/// # Errors
/// Parts that are missing, there twice or not of one evaluation; the sentence says which.
pub fn merge(parts: Vec<(String, Results)>) -> Result<Results, String> {
    let Some((first_name, first)) = parts.first() else {
        return Err("nothing to merge. Give the files that dover eval --shard wrote".to_owned());
    };
    let Some(Shard { of, .. }) = first.shard else {
        return Err(format!(
            "{first_name} is whole already: it was not made with --shard"
        ));
    };
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    for (name, part) in &parts {
        let Some(shard) = part.shard else {
            return Err(format!(
                "{name} is whole already: it was not made with --shard"
            ));
        };
        if shard.of != of {
            return Err(format!(
                "{name} is part {shard}, and {first_name} one of {of}: merge parts of one evaluation"
            ));
        }
        if part.settings != first.settings || part.files != first.files {
            return Err(format!(
                "{name} was made with other settings or of other files than {first_name}: merge parts of one evaluation"
            ));
        }
        if !seen.insert(shard.index) {
            return Err(format!("part {shard} is there twice: leave {name} out"));
        }
    }
    let missing: Vec<String> = (1..=of)
        .filter(|index| !seen.contains(index))
        .map(|index| format!("{index}/{of}"))
        .collect();
    if !missing.is_empty() {
        return Err(format!(
            "part {} is missing: make it with --shard, and merge all parts",
            missing.join(" and ")
        ));
    }
    let mut whole = Results {
        shard: None,
        files: first.files,
        settings: first.settings.clone(),
        results: Vec::new(),
        unread: Vec::new(),
    };
    for (_, part) in parts {
        whole.results.extend(part.results);
        whole.unread.extend(part.unread);
    }
    Ok(whole.sorted())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(shard: &str, files: usize) -> (String, Results) {
        let results = Results {
            shard: Some(shard.parse().unwrap()),
            files,
            settings: None,
            results: Vec::new(),
            unread: vec![Unread {
                file: format!("{}.json", shard.replace('/', "of")),
                reason: "empty".into(),
            }],
        };
        (format!("part-{shard}"), results)
    }

    #[test]
    fn every_file_belongs_to_exactly_one_shard() {
        for of in 1..6 {
            for place in 0..20 {
                let owners = (1..=of)
                    .filter(|index| Shard { index: *index, of }.has(place))
                    .count();
                assert_eq!(owners, 1);
            }
        }
        assert!(
            "0/3".parse::<Shard>().is_err()
                && "4/3".parse::<Shard>().is_err()
                && "x".parse::<Shard>().is_err()
        );
    }

    #[test]
    fn parts_are_whole_together_and_say_what_is_wrong() {
        let whole = merge(vec![part("2/2", 5), part("1/2", 5)]).unwrap();
        assert_eq!((whole.shard, whole.unread.len()), (None, 2));
        assert_eq!(whole.unread[0].file, "1of2.json");
        let told = |parts| merge(parts).unwrap_err();
        assert!(told(vec![part("1/3", 5), part("3/3", 5)]).contains("part 2/3 is missing"));
        assert!(told(vec![part("1/2", 5), part("1/2", 5)]).contains("twice"));
        assert!(told(vec![part("1/2", 5), part("2/3", 5)]).contains("one of 2"));
        assert!(told(vec![part("1/2", 5), part("2/2", 6)]).contains("other files"));
        assert!(told(Vec::new()).contains("nothing to merge"));
    }
}
