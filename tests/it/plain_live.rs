//! A team that runs, led by lines: on the stand-in for an adapter, as `screen_live` leads it by keys.

use crate::cli::Home;
use crate::plain::{script, tells};
use crate::screen_live::{TASK, was_edited};
use crate::support::python::{python, stand_in};

/// What is said when these lines lead the stand-in, in one of its modes.
fn led(home: &Home, python: &str, mode: &str, lines: &[&str]) -> (String, Option<i32>) {
    let file = home.path("file");
    let command = stand_in(python, mode, file.to_str().unwrap());
    let mut words = vec!["--plain", "run", "custom", "--task", TASK, "--"];
    words.extend(command.iter().map(String::as_str));
    script(home, &words, lines)
}

#[test]
fn a_team_is_stepped_edited_and_run_to_its_end_and_its_session_goes_on() {
    let Some(python) = python() else { return };
    let home = Home::new();
    let lines = [
        "step",
        "insert Solver > Checker",
        "Hello",
        ".",
        "edit 4",
        "edit",
        "Add 2 and 5 and 9",
        ".",
        "until sum",
        "state",
        "run",
        "read 2",
    ];
    let (said, status) = led(&home, &python, "good", &lines);
    assert_eq!(status, Some(2), "{said}");
    tells(
        &said,
        &[
            "is being started",
            "The team is there: ",
            "Before step 0. 1 message:",
            TASK,
            "Before step 1. 1 message:",
            "Add 2 and 5",
            "Not done: no insert here",
            "Not done: 1 message waiting: there is no message 4",
            "It says:\nAdd 2 and 5",
            "Add 2 and 5 and 9",
            "Before step 2. 1 message:",
            "The sum is 16",
            "State before step 2.",
            "The answer is 16",
            "Its session is open",
            "custom-file/main",
            "2. ",
            "The sum is 16",
        ],
    );
    was_edited(&home);
}

#[test]
fn a_held_call_is_decided_by_words_and_never_by_nobody() {
    let Some(python) = python() else { return };
    let home = Home::new();
    let letters = || {
        let text = std::fs::read_to_string(home.path("file")).unwrap_or_default();
        text.lines().count()
    };
    // The input ends while a call is held: it does not happen.
    let (said, status) = led(&home, &python, "mail", &["run"]);
    assert_eq!((status, letters()), (Some(1), 0), "{said}");
    tells(
        &said,
        &["Solver calls mail (permanent)", "Nobody is left to decide"],
    );
    // Going on is no decision, and there is nothing on record yet.
    let (said, _) = led(
        &home,
        &python,
        "mail",
        &["run", "step", "from record", "allow"],
    );
    tells(
        &said,
        &[
            "On record of the same call: nothing",
            "Not done: a call waits for your decision first",
            "Not done: no call waits whose answer is on record",
            "The answer is 7",
        ],
    );
    assert_eq!(letters(), 1);
    let (said, status) = led(&home, &python, "mail", &["run", "from record"]);
    assert_eq!((status, letters()), (Some(0), 1), "{said}");
    tells(
        &said,
        &["On record of the same call: sent", "The answer is 7"],
    );
}

#[test]
fn a_team_that_asks_is_answered_and_without_a_word_runs_to_its_end() {
    let Some(python) = python() else { return };
    let home = Home::new();
    let lines = ["run", "answer", "It makes 12", "."];
    let (said, status) = led(&home, &python, "asks", &lines);
    assert_eq!(status, Some(0), "{said}");
    tells(&said, &["asks: How shall I put it?", "The answer is 12"]);
    let (said, status) = led(&home, &python, "good", &[]);
    assert_eq!(status, Some(0), "{said}");
    tells(&said, &["Before step 0", "The answer is 7"]);
    // A text that nobody ended is not sent.
    let (said, status) = led(&home, &python, "good", &["step", "edit", "Add 2"]);
    assert_eq!(status, Some(2), "{said}");
    tells(&said, &["so it is not sent", "The answer is 7"]);
}
