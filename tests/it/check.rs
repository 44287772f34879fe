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
    for what in [
        "start",
        "checkpoint",
        "hash",
        "kill",
        "pin",
        "again",
        "edit",
    ] {
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
fn what_a_framework_makes_anew_in_every_run_is_told_and_hides_nothing_else() {
    let home = Home::new();
    let Some((status, walk)) = walked(&home, "mints", &[]) else {
        return;
    };
    assert_eq!(status, Some(0), "{walk}");
    assert!(
        rows(&walk, "again")[0].1.contains("values are made anew"),
        "{walk}"
    );
    // A memory that loses a message after the restore is found all the same, though every id in it is another.
    let (status, walk) = walked(&home, "mints-forgets-later", &[]).unwrap();
    assert_eq!(status, Some(1), "{walk}");
    let lost = "1 messages later: agents/Planner/memory has 0 items, had 1";
    assert!(rows(&walk, "restore")[0].1.contains(lost), "{walk}");
    // Where the words differ from run to run, nothing is left out.
    let (status, walk) = walked(&home, "moody", &[]).unwrap();
    assert_eq!((status, rows(&walk, "again")[0].0), (Some(1), &Value::Null));
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

/// The adapter that is shipped as an example, over the core that all of them share.
fn minimal(python: &str) -> [String; 5] {
    let team = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/adapters/teams/minimal_team.py"
    );
    [python, "-m", "dover_adapter", "minimal", team].map(str::to_owned)
}

#[test]
fn the_minimal_adapter_over_the_shared_core_holds() {
    let Some(python) = python() else { return };
    let home = Home::new();
    let task = "What do 3 widgets cost?";
    let mut words = vec!["adapter", "check", "custom", "--task", task, "--json", "--"];
    let command = minimal(&python);
    words.extend(command.iter().map(String::as_str));
    let output = home.run(&words);
    let walk: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(walk["holds"], true, "{walk}");
    assert_eq!(walk["boundaries"], 5);
}

#[test]
fn a_team_over_the_shared_core_is_run_and_forked() {
    let Some(python) = python() else { return };
    let home = Home::new();
    let command = minimal(&python);
    let words = [
        "run",
        "custom",
        "--task",
        "What do 3 widgets cost?",
        "--json",
        "--",
    ];
    let mut words = words.to_vec();
    words.extend(command.iter().map(String::as_str));
    let output = home.run(&words);
    let ran: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ran["run"], "done", "{ran}");
    let id = ran["session"].as_str().unwrap();
    // 3 widgets at 10 each, then 2 gadgets at 4 each.
    assert!(
        ran["answer"].as_str().unwrap().contains("the total is 8.0"),
        "{ran}"
    );
    // The second booking is behind step 3, the first is not.
    let words = [
        "fork",
        id,
        "--at",
        "3",
        "--text",
        "5 at 4.0 each",
        "--runs",
        "1",
    ];
    let held = home.run(&[&words[..], &["--json"]].concat());
    let held: Value = serde_json::from_slice(&held.stdout).unwrap();
    assert_eq!(
        held["branches"][0]["gate"], "effects_unreconciled",
        "{held}"
    );
    let asked = home.run(&["reconcile", id, "--at", "3", "--json"]);
    let asked: Value = serde_json::from_slice(&asked.stdout).unwrap();
    let effects = asked["effects"].as_array().unwrap();
    assert_eq!(effects.len(), 1, "{asked}");
    let key = effects[0]["effect"]["operation_key"].as_str().unwrap();
    home.text(&[
        "set",
        id,
        "--effect",
        &format!("{key}=keep"),
        "--why",
        "booked",
    ]);
    // Another total is another booking, and a new one.
    let forked = home.json(&[&words[..], &["--new-effects", "allow"]].concat());
    let branch = &forked["branches"][0];
    assert!(
        branch["answer"]
            .as_str()
            .unwrap()
            .contains("the total is 20.0"),
        "{forked}"
    );
    assert_eq!(branch["diagnostic"], false);
}
