//! A team led by keys, in a terminal of its own.

use serde_json::Value;

use crate::cli::Home;
use crate::support::pty::Pty;
use crate::support::python::{python, stand_in};

pub const TASK: &str = "What are 2 and 5 together?";

/// The live screen on the stand-in, in one of its modes.
fn led(home: &Home, python: &str, mode: &str) -> Pty {
    let file = home.path("file");
    let command = stand_in(python, mode, file.to_str().unwrap());
    let mut words = vec!["run", "custom", "--task", TASK, "--"];
    words.extend(command.iter().map(String::as_str));
    let (store, data) = (home.path("store.db"), home.path("data"));
    let env = [
        ("DOVER_STORE", store.to_str().unwrap()),
        ("DOVER_DATA", data.to_str().unwrap()),
        ("DOVER_OPERATOR", "ann"),
    ];
    Pty::dover(&words, &env, (80, 24))
}

fn steps(home: &Home, session: &str) -> Vec<Value> {
    let shown = home.json(&["show", session]);
    shown["steps"].as_array().unwrap().clone()
}

/// The run's second message was changed before it was committed, and what came of it.
pub fn was_edited(home: &Home) {
    let steps = steps(home, "custom-file");
    let texts: Vec<&str> = steps
        .iter()
        .map(|it| it["text"].as_str().unwrap())
        .collect();
    let expected = [
        TASK,
        "Add 2 and 5 and 9",
        "The sum is 16",
        "The answer is 16",
    ];
    assert_eq!(texts, expected);
    let edit = &steps[1]["live_edits"][0];
    assert_eq!(
        (&edit["op"], &edit["by"]),
        (&"replace".into(), &"ann".into())
    );
    assert_eq!(edit["before"], "Add 2 and 5");
}

#[test]
fn a_team_is_stepped_edited_run_to_its_end_and_forked() {
    let Some(python) = python() else { return };
    let home = Home::new();
    let mut pty = led(&home, &python, "good");
    pty.wait_for("before step 0");
    pty.keys(&["s"]);
    pty.wait_for("before step 1");
    pty.wait_for("Add 2 and 5");

    // The adapter cannot insert: that is told, and what was written can be sent otherwise.
    pty.keys(&["i", "Enter"]);
    pty.wait_for("a new message");
    pty.send("Hello");
    pty.keys(&["Ctrl-s"]);
    pty.wait_for("no insert here");

    pty.keys(&["e"]);
    pty.wait_for("your edit");
    pty.send(" and 9");
    pty.keys(&["Ctrl-s"]);
    pty.wait_for("is changed");
    pty.wait_for("Add 2 and 5 and 9");

    // Until a word that is in no message before the sum.
    pty.keys(&["u"]);
    pty.send("sum");
    pty.keys(&["Enter"]);
    pty.wait_for("before step 2");
    pty.keys(&["t"]);
    pty.wait_for("state before step 2");
    pty.keys(&["Esc"]);
    pty.send(" ");
    pty.wait_for("The answer is 16");
    pty.wait_for("run is over");
    pty.keys(&["Esc"]);
    pty.wait_for("trial 1");
    pty.keys(&["q"]);
    pty.wait_exit();

    was_edited(&home);

    // The edited run restores exactly; the edit taken back, the outcome is what it would have been.
    let back = [
        "fork",
        "custom-file",
        "--at",
        "1",
        "--text",
        "Add 2 and 5",
        "--runs",
        "1",
    ];
    let forked = home.json(&back);
    assert_eq!(forked["branches"][0]["answer"], "7");
    assert_eq!(forked["branches"][0]["diagnostic"], false);
}

#[test]
fn a_held_call_is_answered_by_hand_and_then_from_the_record() {
    let Some(python) = python() else { return };
    let home = Home::new();
    let letters = home.path("file");
    let mut pty = led(&home, &python, "mail");
    pty.wait_for("before step 0");
    pty.send(" ");
    pty.wait_for("Solver calls mail (permanent)");
    pty.wait_for("nothing of the same call");
    pty.keys(&["r"]);
    pty.wait_for("on record");
    pty.keys(&["y"]);
    pty.wait_for("The answer is 7");
    pty.keys(&["Esc"]);
    pty.wait_for("trial 1");
    pty.keys(&["q"]);
    pty.wait_exit();
    assert_eq!(
        std::fs::read_to_string(&letters).unwrap().lines().count(),
        1
    );

    let mut pty = led(&home, &python, "mail");
    pty.wait_for("before step 0");
    pty.send(" ");
    pty.wait_for("record sent");
    pty.keys(&["r"]);
    pty.wait_for("The answer is 7");
    pty.keys(&["Esc"]);
    pty.wait_for("trial 1");
    pty.keys(&["q"]);
    pty.wait_exit();
    assert_eq!(
        std::fs::read_to_string(&letters).unwrap().lines().count(),
        1,
        "nothing was sent again"
    );
    let answered = steps(&home, "custom-file-2");
    let edits = answered.iter().filter_map(|step| step["live_edits"].get(0));
    let edits: Vec<&Value> = edits.collect();
    assert_eq!(edits.len(), 1);
    assert_eq!(
        (&edits[0]["op"], &edits[0]["after"]),
        (&"answer".into(), &"sent".into())
    );
}

#[test]
fn a_person_is_asked_and_a_lost_terminal_leaves_every_step() {
    let Some(python) = python() else { return };
    let home = Home::new();
    let mut pty = led(&home, &python, "asks");
    pty.wait_for("before step 0");
    pty.send(" ");
    pty.wait_for("How shall I put it?");
    pty.keys(&["a"]);
    pty.wait_for("answer to Checker");
    pty.send("It makes 12");
    pty.keys(&["Ctrl-s"]);
    pty.wait_for("The answer is 12");
    pty.keys(&["Esc"]);
    pty.wait_for("trial 1");
    pty.keys(&["q"]);
    pty.wait_exit();

    // Without a person the run says what it wants.
    let file = home.path("other");
    let command = stand_in(&python, "asks", file.to_str().unwrap());
    let mut words = vec!["run", "custom", "--task", TASK, "--json", "--"];
    words.extend(command.iter().map(String::as_str));
    let output = home.run(&words);
    assert_eq!(output.status.code(), Some(1));
    let ran: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reason = ran["reason"].as_str().unwrap();
    assert!(
        reason.contains("Checker asks a person: How shall I put it?"),
        "{reason}"
    );

    let mut pty = led(&home, &python, "good");
    pty.wait_for("before step 0");
    pty.keys(&["s"]);
    pty.wait_for("before step 1");
    pty.signal("HUP");
    pty.wait_exit();
    let shown = home.json(&["show", "custom-file-2"]);
    assert_eq!(shown["steps"].as_array().unwrap().len(), 1);
    assert_eq!(shown["run"], "interrupted");
}
