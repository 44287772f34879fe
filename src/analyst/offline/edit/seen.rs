//! What a log shows that an edit can name: controls, pages and their addresses, dated pages, sources that somebody was pointed to.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::analyst::offline::look::content_words;
use crate::analyst::offline::quote::quotations;
use crate::model::{MONTHS, Step, StepKind};

/// How much of a message is looked at, in bytes: what follows is a page's own text.
const OWN: usize = 2000;
/// The most days of a period that are named one by one.
const DAYS: u32 = 10;
/// So many characters of a word tell it from others.
const STEM: usize = 5;

/// A period of days in one month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) year: u32,
    pub(super) month: u32,
    /// First and last day.
    pub(super) days: (u32, u32),
}

static PERIOD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let months = MONTHS.join("|");
    Regex::new(&format!(
        r"(?i)(?:\b(?P<nth>first|second|third|fourth) week of |\b(?P<from>\d{{1,2}})(?:st|nd|rd|th)?(?:\s*(?:-|–|to)\s*(?P<to>\d{{1,2}})(?:st|nd|rd|th)?)? (?:of )?)?\b(?P<month>{months})\b,?(?: (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,)? (?:of )?(?P<year>\d{{4}})\b"
    ))
    .ok()
});
static DATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?P<before>(?:https?://[^\s()\[\]<>]*?)?/(?:[\w-]+/)*?)(?P<year>\d{4})(?P<a>[/-])(?P<month>\d{2})(?P<b>[/-])(?P<day>\d{2})(?P<after>(?:\.[a-z]{2,5})?)(?:[^\w/]|$)").ok()
});
static NO_SUCH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)\bno (?:control|link|button|tab|entry|menu|option|page|element)s? (?:named|called|labell?ed|with the name)\s+['"“‘](?P<name>[^'"”’]+)['"”’]"#).ok()
});
static SHOWN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:controls|links|buttons|options|entries|results)(?: shown| here| on (?:this|the) page)?: (?P<list>['\x22“‘][^\n]*)").ok()
});
fn own(text: &str) -> &str {
    text.get(..text.floor_char_boundary(OWN)).unwrap_or(text)
}

/// Days named in a text: "the first week of August 2015", "4 August 2015", "August 1-7, 2015".
pub(super) fn period(text: &str) -> Option<Period> {
    let found = PERIOD.as_ref()?.captures_iter(text);
    found
        .filter_map(|found| {
            let number = |name: &str| {
                found
                    .name(name)
                    .and_then(|part| part.as_str().parse::<u32>().ok())
            };
            let month = found.name("month")?.as_str().to_lowercase();
            let month = MONTHS.iter().position(|known| *known == month)?;
            let week = found
                .name("nth")
                .map(|nth| match nth.as_str().to_lowercase().as_str() {
                    "first" => 1,
                    "second" => 8,
                    "third" => 15,
                    _ => 22,
                });
            let days = match (week, number("from"), number("day")) {
                (Some(first), ..) => (first, first + 6),
                (None, Some(from), _) => (from, number("to").unwrap_or(from)),
                (None, None, Some(day)) => (day, day),
                (None, None, None) => return None,
            };
            Some(Period {
                year: number("year")?,
                month: u32::try_from(month).ok()? + 1,
                days,
            })
        })
        .find(|period| period.days.0 <= period.days.1 && period.days.1 <= 31)
}

impl Period {
    /// `1 to 7 August 2015`.
    pub(super) fn words(self) -> String {
        let at = usize::try_from(self.month).unwrap_or(1).saturating_sub(1);
        let name = MONTHS.get(at).copied().unwrap_or_default();
        let mut month = name.to_owned();
        if let Some(first) = month.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let (from, to) = self.days;
        if from == to {
            format!("{from} {month} {}", self.year)
        } else {
            format!("{from} to {to} {month} {}", self.year)
        }
    }
}

/// Addresses for the days of a period, after the pattern of dated addresses that the steps show.
pub(super) fn dated_addresses(steps: &[Step], period: Period) -> Vec<String> {
    let (from, to) = period.days;
    if to - from >= DAYS {
        return Vec::new();
    }
    let Some(pattern) = DATED.as_ref() else {
        return Vec::new();
    };
    let shown = steps.iter().filter(|step| shows(step));
    let Some(found) = shown
        .into_iter()
        .find_map(|step| pattern.captures(own(&step.text)))
    else {
        return Vec::new();
    };
    let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
    (from..=to)
        .map(|day| {
            format!(
                "{}{:04}{}{:02}{}{day:02}{}",
                part("before"),
                period.year,
                part("a"),
                period.month,
                part("b"),
                part("after")
            )
        })
        .collect()
}

/// Whether what a step says was shown to somebody rather than thought up.
fn shows(step: &Step) -> bool {
    matches!(step.kind, StepKind::Message | StepKind::ToolResult)
}

/// The control that a failure says does not exist, and those that it says there are.
pub(super) fn missing_control(text: &str) -> Option<(String, Vec<String>)> {
    let name = NO_SUCH
        .as_ref()?
        .captures(text)?
        .name("name")?
        .as_str()
        .to_owned();
    let shown = SHOWN.as_ref()?.captures(text);
    let list = shown.and_then(|found| Some(quoted(found.name("list")?.as_str())));
    Some((name, list.unwrap_or_default()))
}

/// The controls that a page showed last before a step.
pub(super) fn controls(text: &str) -> Vec<String> {
    let shown = SHOWN
        .as_ref()
        .and_then(|pattern| pattern.captures(own(text)));
    let list = shown.and_then(|found| Some(quoted(found.name("list")?.as_str())));
    list.unwrap_or_default()
}

/// Of the pages and controls that the log shows and nobody took, the one that has most to do with these words; none that has nothing.
pub(super) fn offered(steps: &[Step], about: &str, task: &str) -> Option<String> {
    let shown = steps.iter().filter(|step| shows(step));
    let shown: Vec<&str> = shown.map(|step| own(&step.text)).collect();
    let taken = |name: &str| {
        let deeds = ["pressed", "clicked", "opened"].map(|deed| format!("{deed} '{name}'"));
        let title = format!("[{name}](");
        shown
            .iter()
            .any(|text| text.contains(&title) || deeds.iter().any(|deed| text.contains(deed)))
    };
    let (about, task) = (stems(about), stems(task));
    let mut best: Option<((usize, usize), String)> = None;
    for name in shown.iter().flat_map(|text| controls(text)) {
        let own = stems(&name);
        let met = |with: &BTreeSet<String>| own.intersection(with).count();
        let score = (met(&about) + met(&task), met(&about));
        let better = best.as_ref().is_none_or(|(most, _)| score > *most);
        if score.0 > 0 && better && !taken(&name) {
            best = Some((score, name));
        }
    }
    best.map(|(_, name)| name)
}

/// The beginnings of the words that carry meaning, so that "returns" meets "returned".
fn stems(text: &str) -> BTreeSet<String> {
    let words = content_words(text);
    let stem = |word: &String| word.chars().take(STEM).collect();
    words.iter().map(stem).collect()
}

/// Names in quotation marks.
pub(super) fn quoted(text: &str) -> Vec<String> {
    quotations(text)
        .into_iter()
        .filter_map(|range| Some(text.get(range)?.to_owned()))
        .collect()
}

/// How near a control is to one that is missing: a year is found behind years, a month behind months; wide names lead further than narrow.
pub(super) fn kinship(missing: &str, control: &str, page: &str) -> usize {
    let control = control.to_lowercase();
    let missing = missing.to_lowercase();
    let has = |any: &[&str]| any.iter().any(|word| control.contains(word));
    let year = missing.len() == 4 && missing.chars().all(|c| c.is_ascii_digit());
    let month = MONTHS.contains(&missing.as_str());
    let mut score = 0;
    score += 4 * usize::from(year && has(&["year"]));
    score += 4 * usize::from(month && has(&["month"]));
    score += 3 * usize::from(
        missing
            .split_whitespace()
            .any(|word| word.len() > 3 && control.contains(word)),
    );
    score += 2 * usize::from(has(&[
        "all", "more", "other", "earlier", "older", "further", "index", "contents", "archive",
        "list",
    ]));
    // "Earlier nights: All years." points the way.
    score += usize::from(page.to_lowercase().contains(&format!(": {control}")));
    score
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_and_written() {
        let words = |text: &str| period(text).map(Period::words);
        assert_eq!(
            words("In the first week of August 2015, one").as_deref(),
            Some("1 to 7 August 2015")
        );
        assert_eq!(
            words("the picture of 4 August 2015").as_deref(),
            Some("4 August 2015")
        );
        assert_eq!(words("on March 9, 1999").as_deref(), Some("9 March 1999"));
        assert_eq!(words("between 2 and 5, in May 2001"), None);
        assert_eq!(words("3 to 5 May 2001").as_deref(), Some("3 to 5 May 2001"));
    }

    #[test]
    fn dated_addresses_follow_the_pattern_that_is_shown() {
        let step = |text: &str| Step {
            text: text.into(),
            ..Step::default()
        };
        let days = Period {
            year: 2015,
            month: 8,
            days: (6, 7),
        };
        let of = |text: &str| dated_addresses(&[step(text)], days);
        assert_eq!(
            of("a page of its own, such as /2026/03/14.html."),
            ["/2015/08/06.html", "/2015/08/07.html"]
        );
        assert_eq!(
            of("see https://log.example/day/2020-01-02 and others"),
            [
                "https://log.example/day/2015-08-06",
                "https://log.example/day/2015-08-07"
            ]
        );
        assert!(of("nothing dated, 2015/16").is_empty());
    }

    #[test]
    fn what_is_offered_and_fits_is_found_unless_it_was_taken() {
        let step = |text: &str| Step {
            text: text.into(),
            ..Step::default()
        };
        let of = |texts: &[&str]| {
            let steps: Vec<Step> = texts.iter().map(|text| step(text)).collect();
            offered(&steps, "the ferry that sails last", "Which boat departed?")
        };
        let shown = "I searched. Other results: 'Harbour', 'Departures by night', 'Prices'.";
        assert_eq!(of(&[shown]).as_deref(), Some("Departures by night"));
        assert_eq!(of(&[shown, "I opened 'Departures by night'."]), None);
        assert_eq!(of(&["Links: 'Prices', 'Contact'."]), None);
        assert_eq!(of(&["Links: 'Prices', 'Ferry'."]).as_deref(), Some("Ferry"));
    }

    #[test]
    fn a_missing_control_is_read_with_what_there_is() {
        let text = "There is no control named '2015' on this page. Controls shown: 'All years', 'January'.";
        let (missing, shown) = missing_control(text).unwrap();
        assert_eq!(
            (missing.as_str(), shown.join("|").as_str()),
            ("2015", "All years|January")
        );
        let best = |missing: &str, shown: &[&str]| {
            shown
                .iter()
                .max_by_key(|control| kinship(missing, control, ""))
                .map(|it| (*it).to_owned())
        };
        assert_eq!(
            best("2015", &["January", "All years", "Home"]).as_deref(),
            Some("All years")
        );
        assert_eq!(
            best("Opening hours", &["Contact", "Hours and prices", "News"]).as_deref(),
            Some("Hours and prices")
        );
    }
}
