//! The conformance walk from the command line: what holds of a good adapter, and how each way of not holding shows.

use serde_json::Value;

use crate::cli::Home;
use crate::support::python::{python, stand_in};

/// The walk over a stand-in: its exit status and its JSON.
fn walked(home: &Home, mode: &str, extra: &[&str]) -> Option<(Option<i32>, Value)> {
    let python = python()?;
    let command = stand_in(&python, mode, home.path("file").to_str().unwrap());
    let output = home
        .dover()
        .args(["adapter", "check", "custom", "--json"])
        .args(extra)
        .arg("--")
        .args(command)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let walk = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{mode}: {said}"));
    Some((output.status.code(), walk))
}

/// What was found of one thing: whether it holds, and the words.
fn rows<'a>(walk: &'a Value, what: &str) -> Vec<(&'a Value, &'a str)> {
    let findings = walk["findings"].as_array().unwrap().iter();
    findings
        .filter(|row| row["what"] == what)
        .map(|row| (&row["holds"], row["found"].as_str().unwrap()))
        .collect()
}

#[test]
fn a_good_adapter_holds_at_every_boundary() {
    let home = Home::new();
    let Some((status, walk)) = walked(&home, "good", &[]) else {
        return;
    };
    assert_eq!((status, &walk["holds"]), (Some(0), &true.into()), "{walk}");
    assert_eq!(
        (&walk["boundaries"], &walk["answer"]),
        (&4.into(), &"7".into())
    );
    assert_eq!(rows(&walk, "restore").len(), 4);
    assert_eq!(rows(&walk, "refusal").len(), 4);
    for what in ["start", "checkpoint", "hash", "kill", "pin", "edit"] {
        assert_eq!(rows(&walk, what).len(), 1, "{what}");
    }
    assert!(
        walk["findings"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["holds"] == true),
        "{walk}"
    );
}

#[test]
fn each_way_of_not_holding_shows_where_it_is() {
    let table = [
        (
            "forgets",
            "restore",
            "after the restore: agents/Planner/memory has 0 items, had 1",
        ),
        ("doubles", "restore", "queue has 2 items, had 1"),
        (
            "any-pin",
            "refusal",
            "a checkpoint of another configuration was taken",
        ),
        ("unsealed", "hash", "4 of 4 checkpoints"),
        ("deaf", "edit", "the pending message is not the edited one"),
    ];
    for (mode, what, part) in table {
        let home = Home::new();
        let Some((status, walk)) = walked(&home, mode, &[]) else {
            return;
        };
        assert_eq!((status, &walk["holds"]), (Some(1), &false.into()), "{mode}");
        let wrong: Vec<_> = rows(&walk, what)
            .into_iter()
            .filter(|(holds, _)| *holds == false)
            .collect();
        assert!(
            wrong.iter().any(|(_, found)| found.contains(part)),
            "{mode}: {walk}"
        );
        // What is not concerned still holds.
        let other = if what == "restore" {
            "refusal"
        } else {
            "restore"
        };
        assert!(
            rows(&walk, other).iter().all(|(holds, _)| *holds == true),
            "{mode}: {walk}"
        );
    }
}

#[test]
fn what_the_framework_does_not_save_is_told_and_is_no_failure() {
    let home = Home::new();
    let Some((status, walk)) = walked(&home, "opaque", &[]) else {
        return;
    };
    assert_eq!(status, Some(0), "{walk}");
    let restored = rows(&walk, "restore");
    assert!(
        restored
            .iter()
            .all(|(holds, found)| holds.is_null() && found.contains("agents/Checker/memory")),
        "{walk}"
    );
}

#[test]
fn a_check_lets_nothing_happen_outside_unless_it_is_told_to() {
    let home = Home::new();
    let letters =
        || std::fs::read_to_string(home.path("file")).map_or(0, |text| text.lines().count());
    let Some((status, _)) = walked(&home, "mail", &[]) else {
        return;
    };
    assert_eq!((status, letters()), (Some(0), 0));
    walked(&home, "mail", &["--allow-tools"]);
    assert!(letters() > 1);
}

#[test]
fn a_team_that_cannot_be_started_is_told_in_one_sentence() {
    let Some(python) = python() else { return };
    let home = Home::new();
    for (mode, status, part) in [
        ("entry", 2, "No module named 'team'"),
        ("old", 1, "protocol 0"),
        ("die-in-checkpoint", 1, "`checkpoint`"),
    ] {
        let command = stand_in(&python, mode, "file");
        let mut words = vec!["adapter", "check", "custom", "--"];
        words.extend(command.iter().map(String::as_str));
        let said = home.refused(status, &words);
        assert!(said.contains(part), "{mode}: {said}");
    }
    let said = home.refused(2, &["adapter", "check", "custom", "team:build"]);
    assert!(said.contains("COMMAND"), "{said}");
}
