//! Edits on small logs made up for the purpose.

use std::sync::Arc;

use super::*;
use crate::model::{Session, StepKind, trials_of_kinds};

fn case(
    task: &str,
    orchestrator: Option<&str>,
    lines: &[(&str, StepKind, Option<&str>, &str)],
) -> Case {
    let steps: Vec<Step> = lines
        .iter()
        .enumerate()
        .map(|(index, (agent, kind, to, text))| {
            let mut step = Step {
                index,
                agent: (*agent).into(),
                kind: *kind,
                to: to.map(str::to_owned),
                text: (*text).into(),
                ..Step::default()
            };
            step.meta.error = text.starts_with("There is no") || text.starts_with("Refused");
            step
        })
        .collect();
    let kinds: Vec<StepKind> = steps.iter().map(|step| step.kind).collect();
    Case {
        session: Arc::new(Session {
            task: task.into(),
            orchestrator: orchestrator.map(str::to_owned),
            ..Session::default()
        }),
        trials: Arc::new(trials_of_kinds(&kinds)),
        steps: Arc::new(steps),
    }
}

fn suspect(case: &Case, step: usize) -> Hypothesis {
    let trial = *crate::model::trial_of(&case.trials, step).unwrap();
    Hypothesis {
        trial,
        step,
        agent: case.steps[step].agent.clone(),
        reason: String::new(),
        evidence: Vec::new(),
        weight: 1.0,
        capability: None,
    }
}

fn edit(case: &Case, step: usize, tried: &[Tried]) -> (usize, String) {
    match intervene(case, &suspect(case, step), tried) {
        Intervention::Edit(edit) => (edit.target.step, edit.text),
        Intervention::Nothing(why) => panic!("{why}"),
    }
}

use StepKind::{Instruction, Message, Plan, Task};

#[test]
fn a_missing_control_is_reached_through_one_that_is_there() {
    let case = case(
        "Which ship is named in the entries of 3 to 4 May 1911?",
        Some("Lead"),
        &[
            ("human", Task, None, "Which ship?"),
            ("Lead", Plan, None, "1. Reader: open the log book."),
            (
                "Lead",
                Instruction,
                Some("Reader"),
                "Click '1911', then 'May', and note the ship.",
            ),
            (
                "Reader",
                Message,
                None,
                "There is no control named '1911' on this page. Controls shown: 'All years', 'Crew', 'Home'.",
            ),
        ],
    );
    let (at, text) = edit(&case, 3, &[]);
    assert_eq!(at, 2);
    assert!(
        text.starts_with(
            "Click 'All years', then '1911', then 'May', then open each entry of 3 to 4 May 1911"
        ),
        "{text}"
    );
}

#[test]
fn a_source_that_nobody_looked_at_comes_first() {
    let case = case(
        "Order the spare part that the parts list gives for the pump.",
        Some("Lead"),
        &[
            ("human", Task, None, "Order the spare part."),
            ("Lead", Plan, None, "1. Buyer: order the part."),
            (
                "Lead",
                Instruction,
                Some("Buyer"),
                "Order the part number for the pump.",
            ),
            (
                "Buyer",
                Message,
                None,
                "Refused: this part does not fit the pump. See the parts list before you order.",
            ),
        ],
    );
    let (at, text) = edit(&case, 3, &[]);
    assert_eq!(at, 2);
    assert!(
        text.starts_with("First open the parts list and note"),
        "{text}"
    );
    assert!(
        text.ends_with("Then order the part number for the pump."),
        "{text}"
    );
}

#[test]
fn dated_pages_are_opened_by_address_and_a_second_try_is_another() {
    let case = case(
        "What was the weather in the first week of June 2020?",
        Some("Lead"),
        &[
            ("human", Task, None, "What was the weather?"),
            (
                "Lead",
                Plan,
                None,
                "1. Surfer: open the diary.\n2. Surfer: go to the first week of June 2020 and read the weather.",
            ),
            (
                "Lead",
                Instruction,
                Some("Surfer"),
                "Go to the first week of June 2020 and read the weather.",
            ),
            (
                "Surfer",
                Message,
                None,
                "I scrolled down one page. The latest entry is https://diary.example/2024/01/31.",
            ),
            (
                "Lead",
                Instruction,
                Some("Surfer"),
                "Go to the first week of June 2020 and read the weather.",
            ),
            (
                "Surfer",
                Message,
                None,
                "I scrolled down one page. Entries of 2023.",
            ),
        ],
    );
    let (at, text) = edit(&case, 5, &[]);
    assert_eq!(at, 4);
    assert!(
        text.starts_with("Do not scroll. Open https://diary.example/2020/06/01, "),
        "{text}"
    );
    assert!(
        text.ends_with("and https://diary.example/2020/06/07 one by one and read the weather."),
        "{text}"
    );
    let tried = [Tried {
        hypothesis: suspect(&case, 5),
        proposal: Proposal {
            target: Target {
                step: 4,
                category: crate::model::Category::Instruction,
            },
            text: text.clone(),
        },
        verdict: None,
        learnt: String::new(),
    }];
    let (_, second) = edit(&case, 5, &tried);
    assert_ne!(second, text);
}

#[test]
fn a_guess_is_looked_up_by_somebody_who_can() {
    let case = case(
        "Who built the mill?",
        Some("Lead"),
        &[
            ("human", Task, None, "Who built the mill?"),
            (
                "Lead",
                Plan,
                None,
                "1. Surfer: open the archive.\n2. Helper: tell us which family is the most likely one.\n3. Surfer: search for the mill.",
            ),
            ("Lead", Instruction, Some("Surfer"), "Open the archive."),
            (
                "Surfer",
                Message,
                None,
                "This is [The archive](https://a.example).",
            ),
            (
                "Lead",
                Instruction,
                Some("Helper"),
                "Tell us which family is the most likely one.",
            ),
            (
                "Helper",
                Message,
                None,
                "From what I remember, it is the Brandts.",
            ),
        ],
    );
    let (at, text) = edit(&case, 5, &[]);
    assert_eq!(at, 1);
    assert_eq!(
        text,
        "1. Surfer: open the archive.\n2. Surfer: search for the family, open the page that states it and read it there.\n3. Surfer: search for the mill."
    );
}

#[test]
fn a_relation_is_put_right_before_what_was_heard() {
    let case = case(
        "Ida picked 12 plums and Jon half more than she did. How many are that?",
        None,
        &[
            (
                "human",
                Task,
                None,
                "Ida picked 12 plums and Jon half more than she did. How many are that?",
            ),
            (
                "Solver",
                Message,
                Some("Calculator"),
                "Jon has half. Please compute 12 / 2.",
            ),
            ("Calculator", Message, Some("Solver"), "12 / 2 = 6"),
            ("Solver", Message, Some("Calculator"), "Together: 12 + 6."),
        ],
    );
    // The solver's own step: what it heard is the task.
    let (at, text) = edit(&case, 1, &[]);
    assert_eq!(at, 0);
    assert!(text.contains("Jon = 12 + 12 / 2"), "{text}");
    // The calculator heard the wrong expression.
    let (at, text) = edit(&case, 2, &[]);
    assert_eq!(
        (at, text.as_str()),
        (1, "Jon has half. Please compute 12 + 12 / 2.")
    );
}

#[test]
fn an_edit_never_gives_the_answer_away() {
    let mut leaking = case(
        "How much is the fine?",
        Some("Lead"),
        &[
            ("human", Task, None, "How much is the fine?"),
            ("Lead", Plan, None, "1. Reader: read."),
            (
                "Lead",
                Instruction,
                Some("Reader"),
                "Click 'Fees' and note the fine.",
            ),
            (
                "Reader",
                Message,
                None,
                "There is no control named 'Fees' on this page. Controls shown: 'All 85 fees', 'Home'.",
            ),
        ],
    );
    let (_, open) = edit(&leaking, 3, &[]);
    assert!(open.contains("85"));
    Arc::make_mut(&mut leaking.session).expected = Some("85".into());
    match intervene(&leaking, &suspect(&leaking, 3), &[]) {
        Intervention::Edit(shut) => assert!(!shut.text.contains("85"), "{}", shut.text),
        Intervention::Nothing(why) => {
            assert!(why.contains("give the expected answer away"), "{why}");
        }
    }
}

#[test]
fn where_nothing_was_said_to_the_agent_there_is_no_edit() {
    let case = case(
        "Count",
        Some("Lead"),
        &[
            ("human", Task, None, "Count"),
            ("Worker", Message, None, "I counted three."),
        ],
    );
    let why = intervene(&case, &suspect(&case, 1), &[]);
    assert!(
        matches!(why, Intervention::Nothing(why) if why.contains("nothing was said to Worker"))
    );
}

#[test]
fn a_guess_gives_way_to_a_page_that_the_log_offers() {
    let case = case(
        "From which quay does the ferry depart on Sundays?",
        Some("Lead"),
        &[
            ("human", Task, None, "From which quay?"),
            (
                "Lead",
                Plan,
                None,
                "1. Surfer: open the home page.\n2. Helper: guess the quay of the ferry.",
            ),
            ("Lead", Instruction, Some("Surfer"), "Open the home page."),
            (
                "Surfer",
                Message,
                None,
                "This is [Home](https://f.example). Links: 'Prices', 'Quays and departures', 'Contact'.",
            ),
            (
                "Lead",
                Instruction,
                Some("Helper"),
                "Guess the quay of the ferry.",
            ),
            (
                "Helper",
                Message,
                None,
                "From what I remember, it is Quay One.",
            ),
        ],
    );
    let (at, text) = edit(&case, 5, &[]);
    assert_eq!(at, 1);
    assert_eq!(
        text,
        "1. Surfer: open the home page.\n2. Surfer: open 'Quays and departures' and read the quay of the ferry."
    );
}
