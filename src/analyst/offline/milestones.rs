//! Checkable sub-goals of a task by rules: the addresses and files that it names were reached, and each quoted thing it asks about came up.
//! None of them needs the expected answer; where a task names nothing, there are none.

use std::sync::LazyLock;

use regex::Regex;

use super::look::content_words;
use super::quote::quotations;
use crate::analyst::Case;
use crate::model::{Check, MAX_MILESTONES, Milestone, StepKind, clean_line};

/// The share of a milestone's words that a result must have to reach it, in percent.
const ENOUGH: usize = 70;
/// The fewest words of a milestone that can be judged by them.
const FEWEST: usize = 2;
/// The length of a quotation that names something, in characters.
const QUOTED: std::ops::RangeInclusive<usize> = 4..=60;

static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?P<address>https?://[^\s'"“”<>)\]]+)|\b(?P<file>[\w-]+\.(?:pdf|csv|xlsx?|docx?|txt|json|py|mp3|png|jpe?g|pptx?|md|html?))\b"#).ok()
});

/// At most five sub-goals; none where the task names nothing exactly.
pub(super) fn milestones(case: &Case) -> Vec<Milestone> {
    let mut found: Vec<Milestone> = Vec::new();
    for (title, text) in named(&case.session.task) {
        let expected = case.session.expected.as_deref().unwrap_or_default();
        let gives_away =
            !expected.is_empty() && text.to_lowercase().contains(&expected.to_lowercase());
        let milestone = Milestone {
            title: clean_line(&title).into_owned(),
            check: Check::Manual,
        };
        if !gives_away && !found.contains(&milestone) {
            found.push(milestone);
        }
    }
    found.truncate(MAX_MILESTONES);
    found
}

/// What a text names exactly, in order, each with the sub-goal that it makes. What stands in quotation marks is one thing.
fn named(text: &str) -> Vec<(String, &str)> {
    let quoted = quotations(text);
    let mut found: Vec<(usize, String, &str)> = Vec::new();
    for range in &quoted {
        let Some(name) = text.get(range.clone()) else {
            continue;
        };
        if QUOTED.contains(&name.chars().count()) {
            found.push((range.start, format!("“{name}” came up"), name));
        }
    }
    for part in NAMED.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(name) = part.get(0) else {
            continue;
        };
        let (at, file) = (name.start(), part.name("file"));
        if quoted.iter().any(|range| range.contains(&at)) {
            continue;
        }
        let (deed, name) = match file {
            Some(_) => ("read", name.as_str()),
            None => (
                "reached",
                name.as_str().trim_end_matches(['.', ',', '?', ';']),
            ),
        };
        found.push((at, format!("{name} was {deed}"), name));
    }
    found.sort_by_key(|(at, ..)| *at);
    found
        .into_iter()
        .map(|(_, title, name)| (title, name))
        .collect()
}

/// For each milestone without a check the first result that speaks of it: not what somebody plans or asks for, but what came back.
pub(super) fn judge(case: &Case, milestones: &[Milestone]) -> Vec<Option<usize>> {
    let results: Vec<(usize, String)> = case
        .steps
        .iter()
        .filter(|step| {
            matches!(step.kind, StepKind::Message | StepKind::ToolResult)
                && case.session.orchestrator.as_ref() != Some(&step.agent)
                && !step.meta.error
                && !crate::analyst::is_human(&step.agent)
        })
        .map(|step| (step.index, step.text.to_lowercase()))
        .collect();
    milestones
        .iter()
        .map(|milestone| reached(milestone, &results))
        .collect()
}

fn reached(milestone: &Milestone, results: &[(usize, String)]) -> Option<usize> {
    if milestone.check != Check::Manual {
        return None;
    }
    let title = milestone.title.to_lowercase();
    // A thing by its name, else by most of its words.
    let name = named(&title).into_iter().next().map(|(_, name)| name);
    if let Some(name) = name {
        return results
            .iter()
            .find(|(_, text)| text.contains(name))
            .map(|(step, _)| *step);
    }
    let wanted = content_words(&title);
    if wanted.len() < FEWEST {
        return None;
    }
    let enough = |text: &str| {
        let had = content_words(text);
        wanted.intersection(&had).count() * 100 >= wanted.len() * ENOUGH
    };
    results
        .iter()
        .find(|(_, text)| enough(text))
        .map(|(step, _)| *step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Session, Step};

    fn case(task: &str, expected: Option<&str>, texts: &[(&str, StepKind)]) -> Case {
        let step = |(index, (text, kind)): (usize, &(&str, StepKind))| Step {
            index,
            kind: *kind,
            agent: "Surfer".into(),
            text: (*text).into(),
            ..Step::default()
        };
        Case {
            session: std::sync::Arc::new(Session {
                task: task.into(),
                expected: expected.map(str::to_owned),
                ..Session::default()
            }),
            steps: std::sync::Arc::new(texts.iter().enumerate().map(step).collect()),
            trials: std::sync::Arc::default(),
        }
    }

    #[test]
    fn what_a_task_names_is_a_sub_goal_and_the_answer_never_is() {
        let titles = |task: &str, expected: Option<&str>| {
            let all = milestones(&case(task, expected, &[]));
            all.into_iter().map(|one| one.title).collect::<Vec<_>>()
        };
        assert_eq!(
            titles(
                "Open https://a.example/b, read \"The Mill\" and sum up costs.csv.",
                None
            ),
            [
                "https://a.example/b was reached",
                "“The Mill” came up",
                "costs.csv was read"
            ]
        );
        assert_eq!(
            titles("Is \"The Mill\" right?", Some("the mill")),
            Vec::<String>::new()
        );
        assert_eq!(titles("How many are there?", None), Vec::<String>::new());
        // Apostrophes name nothing, and a short quotation does not turn the others inside out.
        assert_eq!(
            titles("Whose is Ann's stone in Ben's yard?", None),
            Vec::<String>::new()
        );
        assert_eq!(
            titles(
                "\"Pa\" is one form and \"Mato\" another, see 'a b.csv'.",
                None
            ),
            ["“Mato” came up", "“a b.csv” came up"]
        );
    }

    #[test]
    fn only_what_came_back_reaches_it() {
        let log = case(
            "Read costs.csv.",
            None,
            &[
                ("Read costs.csv", StepKind::Instruction),
                ("costs.csv: 1, 2, 3", StepKind::ToolResult),
            ],
        );
        let goals = milestones(&log);
        assert_eq!(judge(&log, &goals), [Some(1)]);
        let by_words = [Milestone {
            title: "The list of costs is known".into(),
            check: Check::Manual,
        }];
        assert_eq!(judge(&log, &by_words), [None]);
        let told = case(
            "",
            None,
            &[("The known list: all costs", StepKind::Message)],
        );
        assert_eq!(judge(&told, &by_words), [Some(0)]);
    }
}
