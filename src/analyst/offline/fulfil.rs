//! Whether the agents did what an edit asked for, told from the transcript: who was addressed acted, and the things that the edit named
//! anew (quotations, addresses, files, numbers) came up in what was done. Where an edit names nothing, nothing can be told.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::quote::quotations;
use crate::model::{Step, StepKind, words};

/// How many steps after the edit may still be its doing.
const REACH: usize = 40;
/// Words of a message in which a refusal counts: what follows is a page, in bytes.
const HEAD: usize = 400;

static REFUSES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:i (?:cannot|can't|am not able|am unable|was unable|will not|won't|do not have|don't have)|i'm (?:unable|not able|sorry)|not allowed|there is no (?:control|link|page|file|tool)|i do not (?:follow|understand))\b").ok()
});
static THINGS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // Addresses, paths and files, numbers.
    Regex::new(r#"https?://[^\s'"“”‘’<>)\]]+|(?:^|[\s('"“‘])(?P<path>/[\w./-]*\w|[\w-]+\.[a-z]{2,5}\b)|\b(?P<number>\d+(?:[.,]\d+)*)\b"#).ok()
});
static FORBIDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:do not|don't|never|no more)\b").ok());
static REPLACES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:without|instead of|rather than)\b[^,]*$").ok());
/// Where what was forbidden is over. A full stop inside a name or an address ends nothing.
static ENDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)[.!?]\s|[;\n]|\bbut\b|,\s*then\b").ok());
/// The numbers of a list's lines, which ask for nothing.
static BULLETS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*\d+[.)](?:\s|$)").ok());

/// The concrete things that a text names, lower case; those in a clause that forbids apart.
fn things(text: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut named, mut barred) = (BTreeSet::new(), BTreeSet::new());
    let mut taken = quotations(text);
    let mut places: Vec<Range<usize>> = taken.clone();
    let bullets = BULLETS.iter().flat_map(|pattern| pattern.find_iter(text));
    taken.extend(bullets.map(|bullet| bullet.range()));
    let plain = THINGS
        .iter()
        .flat_map(|pattern| pattern.captures_iter(text));
    places.extend(plain.filter_map(|found| {
        let part = found.name("path").or_else(|| found.name("number"));
        let range = part.or_else(|| found.get(0))?.range();
        let free = !taken.iter().any(|other| other.contains(&range.start));
        free.then_some(range)
    }));
    for place in places {
        let thing = text.get(place.clone()).unwrap_or_default();
        let thing = thing
            .trim_end_matches(['.', ',', ';', ':', '!', '?'])
            .to_lowercase();
        if thing.is_empty() {
            continue;
        }
        if forbidden(text.get(..place.start).unwrap_or_default()) {
            barred.insert(thing);
        } else {
            named.insert(thing);
        }
    }
    (named, barred)
}

/// Whether the clause that these words end with forbids what comes next.
fn forbidden(before: &str) -> bool {
    let end = ENDS
        .as_ref()
        .and_then(|ends| ends.find_iter(before).last())
        .map_or(0, |end| end.end());
    let clause = before.get(end..).unwrap_or_default();
    [&FORBIDS, &REPLACES]
        .into_iter()
        .any(|pattern| pattern.as_ref().is_some_and(|it| it.is_match(clause)))
}

/// Whether `after`, the steps after an edit, does what `edited` asks for beyond `original`; none where that cannot be told.
pub(super) fn fulfilled(original: &Step, edited: &Step, after: &[Step]) -> Option<bool> {
    let (before, _) = things(&original.text);
    let (named, barred) = things(&edited.text);
    let fresh: Vec<&String> = named.difference(&before).collect();
    let addressed = edited.to.as_deref();
    let acting: Vec<&Step> = after
        .iter()
        .take(REACH)
        .filter(|step| {
            matches!(
                step.kind,
                StepKind::Message | StepKind::ToolCall | StepKind::ToolResult | StepKind::Answer
            ) && step.agent != edited.agent
        })
        .collect();
    // Of a plan the others' instructions are the first doing of it; of an instruction it is the one who was told.
    let first = acting
        .iter()
        .find(|step| addressed.is_none_or(|to| step.agent == to));
    let first = first?;
    let refused = REFUSES.as_ref().is_some_and(|refuses| {
        refuses.is_match(
            first
                .text
                .get(..first.text.floor_char_boundary(HEAD))
                .unwrap_or_default(),
        )
    });
    if refused {
        return Some(false);
    }
    let done: String = acting.iter().map(|step| said(step)).collect();
    if barred.iter().any(|thing| acts_on(&acting, thing)) {
        return Some(false);
    }
    if fresh.is_empty() {
        return None;
    }
    let met = fresh.iter().filter(|thing| stands_in(&done, thing)).count();
    Some(met * 2 >= fresh.len())
}

/// What a step says and calls, lower case.
fn said(step: &Step) -> String {
    let arguments = step
        .meta
        .tool
        .as_ref()
        .and_then(|tool| tool.arguments.as_deref());
    format!(
        "{} {} ",
        step.text.to_lowercase(),
        arguments.unwrap_or_default().to_lowercase()
    )
}

/// Whether a thing stands in a text as a whole.
fn stands_in(text: &str, thing: &str) -> bool {
    if thing
        .chars()
        .all(|c| c.is_ascii_digit() || c == '.' || c == ',')
    {
        let number = words(thing);
        return words(text).iter().any(|word| number.contains(word));
    }
    let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    // What begins or ends with a letter does not go on beside it: `log.md` does not stand in `changelog.md`.
    let (opens, ends) = (thing.starts_with(joins), thing.ends_with(joins));
    text.match_indices(thing).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + thing.len()..).unwrap_or_default();
        !(opens && before.ends_with(joins) || ends && after.starts_with(joins))
    })
}

/// Whether somebody calls a tool with a thing, or says to have opened, pressed or used it.
fn acts_on(steps: &[&Step], thing: &str) -> bool {
    const DEEDS: [&str; 7] = [
        "clicked", "pressed", "opened", "typed", "searched", "used", "ran",
    ];
    steps.iter().any(|step| {
        let said = said(step);
        let head = said
            .get(..said.floor_char_boundary(HEAD))
            .unwrap_or_default();
        let deed = step.kind == StepKind::ToolCall
            || DEEDS.iter().any(|deed| head.contains(&format!("i {deed}")));
        deed && stands_in(head, thing)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(agent: &str, kind: StepKind, to: Option<&str>, text: &str) -> Step {
        Step {
            agent: agent.into(),
            kind,
            to: to.map(str::to_owned),
            text: text.into(),
            ..Step::default()
        }
    }

    #[test]
    fn what_was_asked_is_held_against_what_was_done() {
        let asked = |text: &str| step("Lead", StepKind::Instruction, Some("Surfer"), text);
        let did = |text: &str| step("Surfer", StepKind::Message, None, text);
        let old = asked("Find the opening hours.");
        let table = [
            // Named things come up.
            (
                "Open https://zoo.example/hours and read them.",
                "This is [Hours](https://zoo.example/hours).",
                Some(true),
            ),
            (
                "Click 'Visit', then 'Hours'.",
                "I clicked 'Visit' and then 'Hours'.",
                Some(true),
            ),
            ("Compute 12 * 7.", "12 * 7 = 84", Some(true)),
            // They do not.
            (
                "Open https://zoo.example/hours and read them.",
                "I scrolled down one page.",
                Some(false),
            ),
            // A refusal.
            (
                "Click 'Hours'.",
                "There is no control named 'Hours' here.",
                Some(false),
            ),
            (
                "Run 'python count.py'.",
                "I cannot run programs.",
                Some(false),
            ),
            // Against it.
            (
                "Do not click 'Shop'. Find the hours.",
                "I clicked 'Shop'.",
                Some(false),
            ),
            // Nothing concrete was asked.
            ("Look more carefully.", "I looked more carefully.", None),
        ];
        for (text, done, expected) in table {
            assert_eq!(
                fulfilled(&old, &asked(text), &[did(done)]),
                expected,
                "{text} / {done}"
            );
        }
        // Nobody acted: nothing can be told.
        assert_eq!(fulfilled(&old, &asked("Click 'Hours'."), &[]), None);
        // Somebody else's doing is not the one's who was told.
        let other = step("Coder", StepKind::Message, None, "I clicked 'Hours'.");
        assert_eq!(fulfilled(&old, &asked("Click 'Hours'."), &[other]), None);
    }

    #[test]
    fn what_is_forbidden_ends_with_its_clause() {
        let table: [(&str, &[&str], &[&str]); 9] = [
            (
                "Do not open notes.md or https://x.example/a",
                &[],
                &["notes.md", "https://x.example/a"],
            ),
            (
                "Do not scroll.\nhttps://x.example/a has it",
                &["https://x.example/a"],
                &[],
            ),
            (
                "Do not open 'A b', 'C d' or 'E f'. Open 'G h'.",
                &["g h"],
                &["a b", "c d", "e f"],
            ),
            ("Instead of 'Shop', click 'Visit'.", &["visit"], &["shop"]),
            ("Click 'Visit' rather than 'Shop'.", &["visit"], &["shop"]),
            ("Don't press 'Shop' but 'Visit'.", &["visit"], &["shop"]),
            ("Never use 7, then use 8", &["8"], &["7"]),
            // The numbers of lines and apostrophes name nothing.
            (
                "1. Reader: read.\n2. Writer: don't wait, it's late.",
                &[],
                &[],
            ),
            ("Ann's and Bob's", &[], &[]),
        ];
        for (text, named, barred) in table {
            let set = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
            assert_eq!(things(text), (set(named), set(barred)), "{text}");
        }
    }

    #[test]
    fn the_lines_of_a_longer_plan_are_no_things_to_be_done() {
        let plan = |text: &str| step("Lead", StepKind::Plan, None, text);
        let did = step(
            "Reader",
            StepKind::ToolCall,
            None,
            "{\"path\":\"ledger.csv\"}",
        );
        let longer =
            "1. Reader: read ledger.csv.\n2. Reader: sum up.\n3. Writer: report.\n4. Writer: end.";
        let done = |edited: &str| {
            fulfilled(
                &plan("1. Guess."),
                &plan(edited),
                std::slice::from_ref(&did),
            )
        };
        assert_eq!(done(longer), Some(true));
        assert_eq!(done("1. Reader: read.\n2. Writer: report."), None);
    }

    #[test]
    fn a_page_that_says_unable_refuses_nothing() {
        let asked = |text: &str| step("Lead", StepKind::Instruction, Some("Surfer"), text);
        let page = step(
            "Surfer",
            StepKind::Message,
            None,
            "I opened 'Clinic'. It helps people unable to walk.",
        );
        let refusal = step(
            "Surfer",
            StepKind::Message,
            None,
            "I was unable to open 'Clinic'.",
        );
        let of = |did: Step| fulfilled(&asked("Look."), &asked("Open 'Clinic'."), &[did]);
        assert_eq!(of(page), Some(true));
        assert_eq!(of(refusal), Some(false));
    }

    #[test]
    fn a_thing_stands_whole_or_not_at_all() {
        let table = [
            ("changelog.md was read", "log.md", false),
            ("docs/log.md was read", "log.md", true),
            ("i opened notes.mdx", "notes.md", false),
            ("i opened 'hours today'", "hours", true),
            ("i opened 'hours-old'", "hours", false),
            ("at https://zoo.example/hours.", "/hours", true),
            ("changelog.md, then log.md", "log.md", true),
            ("打开了图片页面", "图片", true),
            ("it is 3.14", "14", false),
        ];
        for (text, thing, expected) in table {
            assert_eq!(stands_in(text, thing), expected, "{thing} in {text}");
        }
    }

    #[test]
    fn a_plan_is_done_by_whoever_acts_on_it() {
        let plan = |text: &str| step("Lead", StepKind::Plan, None, text);
        let after = [
            step(
                "Lead",
                StepKind::Instruction,
                Some("Reader"),
                "Read 'ledger.csv'.",
            ),
            step(
                "Reader",
                StepKind::ToolCall,
                None,
                "{\"path\":\"ledger.csv\"}",
            ),
        ];
        assert_eq!(
            fulfilled(
                &plan("1. Guess."),
                &plan("1. Reader: read ledger.csv."),
                &after
            ),
            Some(true)
        );
        assert_eq!(
            fulfilled(
                &plan("1. Guess."),
                &plan("1. Reader: read 'notes.md'."),
                &after
            ),
            Some(false)
        );
    }
}
