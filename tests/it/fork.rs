//! `dover fork` and what follows from it, on the sample sessions: nothing here knows their texts.

use serde_json::{Value, json};

use crate::cli::{Home, has_names};

fn steps(home: &Home, session: &str) -> Vec<Value> {
    home.json(&["show", session])["steps"]
        .as_array()
        .unwrap()
        .clone()
}

/// The index of the first step of a kind.
fn first(home: &Home, session: &str, kind: &str) -> String {
    let steps = steps(home, session);
    let step = steps.iter().find(|step| step["kind"] == kind);
    step.unwrap_or_else(|| panic!("{session} has no {kind}"))["index"].to_string()
}

#[test]
fn the_unedited_re_run_is_a_baseline_and_fails_as_the_original_did() {
    let home = Home::new();
    let at = first(&home, "night-picture", "instruction");
    let forked = home.json(&["fork", "night-picture", "--at", &at]);
    has_names(
        &forked,
        &[
            "intervention",
            "branches",
            "gates",
            "baseline",
            "answer_leak",
            "progress",
            "verdict",
            "reason",
        ],
    );
    assert_eq!(forked["baseline"], true);
    assert_eq!(forked["verdict"], Value::Null);
    assert_eq!(forked["intervention"]["category"], "none");
    let branches = forked["branches"].as_array().unwrap();
    assert_eq!(branches.len(), 3);
    for (n, branch) in branches.iter().enumerate() {
        has_names(
            branch,
            &[
                "id",
                "parent",
                "fork_step",
                "gate",
                "run",
                "diagnostic",
                "fulfilled",
                "success",
                "milestones",
            ],
        );
        has_names(&branch["milestones"], &["before", "after", "of"]);
        assert_eq!(branch["id"], format!("night-picture/b{}", n + 1));
        assert_eq!(branch["parent"], "night-picture/main");
        assert_eq!(branch["fork_step"].to_string(), at);
        assert_eq!(branch["run"], "done");
        assert_eq!(branch["diagnostic"], false);
        assert_ne!(branch["success"], true);
    }
}

#[test]
fn equal_seeds_give_equal_runs() {
    let home = Home::new();
    let at = first(&home, "night-picture", "plan");
    let words = [
        "fork",
        "night-picture",
        "--at",
        &at,
        "--text",
        "1. Do nothing much",
        "--seed",
        "7",
    ];
    let runs = [home.json(&words), home.json(&words)];
    let texts = |run: &Value| -> Vec<Vec<String>> {
        let branches = run["branches"].as_array().unwrap().iter();
        branches
            .map(|branch| {
                let steps = steps(&home, branch["id"].as_str().unwrap());
                steps.iter().map(|step| step["text"].to_string()).collect()
            })
            .collect()
    };
    assert_eq!(texts(&runs[0]), texts(&runs[1]));
    assert_eq!(runs[0]["intervention"]["category"], "plan");
}

#[test]
fn a_branch_keeps_its_parents_prefix_and_can_be_forked_again() {
    let home = Home::new();
    let at = first(&home, "night-picture", "instruction");
    let before = steps(&home, "night-picture");
    let text = "Look at nothing and say so.";
    let forked = home.json(&[
        "fork",
        "night-picture",
        "--at",
        &at,
        "--text",
        text,
        "--runs",
        "1",
    ]);
    assert_eq!(forked["verdict"], Value::Null);
    assert_eq!(forked["branches"].as_array().unwrap().len(), 1);
    let branch = forked["branches"][0]["id"].as_str().unwrap();
    let n: usize = at.parse().unwrap();

    let after = steps(&home, branch);
    assert_eq!(after[..n], before[..n]);
    assert_eq!(after[n]["text"], text);
    assert_eq!(
        steps(&home, "night-picture"),
        before,
        "the original never changes"
    );

    let compared = home.json(&["compare", "night-picture", branch]);
    has_names(
        &compared,
        &["a", "b", "common_prefix", "first_divergence", "pairs"],
    );
    assert_eq!(compared["common_prefix"], n);
    assert_eq!(compared["first_divergence"], n);
    assert_eq!(compared["pairs"][0], json!({"a": 0, "b": 0, "same": true}));
    assert_eq!(
        home.json(&["compare", branch, branch])["first_divergence"],
        Value::Null
    );

    let second = home.json(&["fork", branch, "--at", &at, "--runs", "1"]);
    assert_eq!(second["branches"][0]["parent"], branch);
    assert_ne!(second["branches"][0]["id"], branch);
}

#[test]
fn pending_effects_hold_a_fork_until_somebody_decides() {
    let home = Home::new();
    let known = home.json(&["set", "release-notes"]);
    let effects = known["effects"].as_array().unwrap();
    let blocking: Vec<_> = effects
        .iter()
        .filter(|effect| effect["class"] != "read_only")
        .map(|effect| {
            (
                effect["operation_key"].as_str().unwrap(),
                effect["step"].as_u64().unwrap(),
            )
        })
        .collect();
    let earliest = blocking.iter().map(|(_, step)| *step).min().unwrap();
    let before = steps(&home, "release-notes");
    let at = before
        .iter()
        .rev()
        .find(|step| step["kind"] == "instruction" && step["index"].as_u64() < Some(earliest));
    let at = at.unwrap()["index"].to_string();
    let words = [
        "fork",
        "release-notes",
        "--at",
        &at,
        "--text",
        "Write the notes.",
        "--runs",
        "1",
    ];

    let output = home.run(&[&words[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let held: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(held["branches"].as_array().unwrap().len(), 1);
    assert_eq!(held["branches"][0]["gate"], "effects_unreconciled");
    assert_eq!(held["branches"][0]["run"], "held");
    let gate = held["gates"]
        .as_array()
        .unwrap()
        .iter()
        .find(|gate| gate["name"] == "effects")
        .unwrap();
    assert_eq!(gate["holds"], false);
    assert!(gate["mend"].is_string(), "{gate}");
    // A diagnostic run bends gate 2 alone.
    assert_eq!(
        home.run(&[&words[..], &["--diagnostic"]].concat())
            .status
            .code(),
        Some(1)
    );

    for (key, _) in &blocking {
        let decision = format!("{key}=reconciled");
        home.json(&[
            "set",
            "release-notes",
            "--effect",
            &decision,
            "--why",
            "stays, is not repeated",
        ]);
    }
    let forked = home.json(&words);
    assert_eq!(forked["branches"][0]["run"], "done");
    // What stays in the world is answered from the record: no run does it again.
    let branch = forked["branches"][0]["id"].as_str().unwrap();
    for (key, _) in &blocking {
        let again = home.json(&["set", branch]);
        let times = again["effects"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|effect| effect["operation_key"] == *key)
            .count();
        assert!(times <= 1, "{key} was done {times} times");
    }
}

#[test]
fn an_answer_in_the_edit_is_flagged() {
    let home = Home::new();
    let expected = home.json(&["show", "honey-stall"])["expected"]
        .as_str()
        .unwrap()
        .to_owned();
    let at = first(&home, "honey-stall", "message");
    let text = format!("The answer is {expected}.");
    let forked = home.json(&[
        "fork",
        "honey-stall",
        "--at",
        &at,
        "--text",
        &text,
        "--runs",
        "1",
    ]);
    assert_eq!(forked["answer_leak"], true);
}

#[test]
fn forks_that_make_no_sense_are_refused_and_leave_nothing() {
    let home = Home::new();
    let at = first(&home, "night-picture", "instruction");
    for (words, part) in [
        (&["--at", "99999"][..], "no step 99999"),
        (&["--at", &at, "--text", "   "], "empty"),
        (
            &["--at", &at, "--text", "x", "--category", "plan"],
            "instruction",
        ),
        (&["--at", &at, "--text-file", "missing.txt"], "missing.txt"),
        (&["--at", &at, "--text", "x", "--branch", "b9"], "main"),
    ] {
        let sentence = home.refused(2, &[&["fork", "night-picture"], words].concat());
        assert!(sentence.contains(part), "{words:?}: {sentence}");
    }
    let listed = home.json(&["sessions"]);
    let row = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["id"] == "night-picture");
    assert_eq!(row.unwrap()["branches"], 1);
}

#[test]
fn a_text_may_come_from_a_file() {
    let home = Home::new();
    let at = first(&home, "night-picture", "instruction");
    let file = home.file("edit.txt", "Read the first page.\n");
    let forked = home.json(&[
        "fork",
        "night-picture",
        "--at",
        &at,
        "--text-file",
        &file,
        "--runs",
        "1",
    ]);
    let branch = forked["branches"][0]["id"].as_str().unwrap();
    let step = home.json(&["show", branch, "--step", &at]);
    assert_eq!(step["steps"][0]["text"], "Read the first page.");
}

#[test]
fn a_demonstration_walks_a_sample_and_fits_80_columns() {
    let home = Home::new();
    for sample in ["night-picture", "honey-stall", "release-notes"] {
        let printed = home.text(&["demo", sample]);
        for line in printed.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(
            printed.contains("trial")
                && printed.contains("gates")
                && printed.contains("divergence")
        );
    }
    // What it says of its edits is so: one mends the run, the last is a contrast.
    for sample in ["night-picture", "honey-stall", "release-notes"] {
        let walk = home.json(&["demo", sample]);
        let forks = walk["forks"].as_array().unwrap();
        let verdicts: Vec<_> = forks
            .iter()
            .map(|fork| fork["outcome"]["verdict"].clone())
            .collect();
        assert!(
            verdicts.contains(&json!("validated")),
            "{sample}: {verdicts:?}"
        );
        assert_eq!(verdicts.last(), Some(&json!("refuted")), "{sample}");
    }
    // Nothing of it is in the operator's store.
    assert!(!home.path("store.db").exists());
    assert!(
        home.refused(2, &["demo", "nothing"])
            .contains("night-picture")
    );
}

#[test]
fn a_final_answer_that_the_edit_itself_puts_down_is_not_verified() {
    let home = Home::new();
    let at = first(&home, "night-picture", "answer");
    let expected = home.json(&["show", "night-picture"])["expected"].clone();
    let text = format!("--text={}", expected.as_str().unwrap());
    let forked = home.json(&["fork", "night-picture", "--at", &at, &text]);
    assert_eq!(forked["answer_leak"], true);
    assert_eq!(forked["branches"][0]["gate"], "unverified");
    assert_eq!(forked["branches"][0]["success"], Value::Null);
    assert_eq!(forked["verdict"], "inconclusive");
}
