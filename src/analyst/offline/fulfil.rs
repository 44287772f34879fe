//! Whether the agents did what an edit asked for, told from the transcript: who was addressed acted, and the things that the edit named
//! anew (quotations, addresses, files, numbers) came up in what was done. Where an edit names nothing, nothing can be told.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::model::{Step, StepKind, words};

/// How many steps after the edit may still be its doing.
const REACH: usize = 40;
/// Words of a message in which a refusal counts: what follows is a page, in bytes.
const HEAD: usize = 400;

static REFUSES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:i (?:cannot|can't|am not able|am unable|will not|won't|do not have|don't have)|i'm (?:unable|not able|sorry)|unable to|not allowed|there is no (?:control|link|page|file|tool)|i do not (?:follow|understand))\b").ok()
});
static THINGS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // Addresses, quotations, paths and files, numbers with a sign or unit of their own.
    Regex::new(r#"https?://[^\s'"“”‘’<>)\]]+|(?:^|[\s('"“‘])(?P<path>/[\w./-]*\w|[\w-]+\.[a-z]{2,5}\b)|['"“‘](?P<quoted>[^'"”’\n]{2,80})['"”’]|\b(?P<number>\d+(?:[.,]\d+)*)\b"#).ok()
});
static FORBIDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:do not|don't|never|without|instead of|rather than|no more)\b").ok()
});

/// The concrete things that a text names, lower case; those in a clause that forbids apart.
fn things(text: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut named, mut barred) = (BTreeSet::new(), BTreeSet::new());
    let Some(pattern) = THINGS.as_ref() else {
        return (named, barred);
    };
    for found in pattern.captures_iter(text) {
        let part = ["path", "quoted", "number"]
            .iter()
            .find_map(|name| found.name(name));
        let Some(part) = part.or_else(|| found.get(0)) else {
            continue;
        };
        let thing = part
            .as_str()
            .trim_end_matches(['.', ',', ';', ':', '!', '?'])
            .to_lowercase();
        let before = text.get(..part.start()).unwrap_or_default();
        let clause = before
            .rsplit(['.', ';', '\n', '!', '?'])
            .find(|clause| clause.len() > 1)
            .unwrap_or_default();
        if FORBIDS
            .as_ref()
            .is_some_and(|forbids| forbids.is_match(clause))
        {
            barred.insert(thing);
        } else {
            named.insert(thing);
        }
    }
    (named, barred)
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
    text.contains(thing)
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
