//! A replay that is killed at any point: reopened, every step that was told is there, nothing is half a step, the branch is `interrupted`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::cli::Home;

const SAMPLE: &str = "night-picture";
const EDIT: &str = "Open the calendar and press 'January'.";

/// The first plan's step: forking there makes a long replay.
fn fork_words(at: &str) -> [&str; 9] {
    ["fork", SAMPLE, "--at", at, "--text", EDIT, "--jobs", "2", "--seed=7"]
}

fn steps(home: &Home, branch: &str) -> Vec<Value> {
    home.json(&["show", SAMPLE, "--branch", branch])["steps"].as_array().unwrap().clone()
}

fn run_of(home: &Home, branch: &str) -> Value {
    home.json(&["show", SAMPLE, "--branch", branch])["run"].clone()
}

fn first_instruction(home: &Home) -> String {
    let steps = steps(home, "main");
    steps.iter().find(|step| step["kind"] == "instruction").unwrap()["index"].to_string()
}

/// Kills the process when it has told `lines` lines; returns how many steps of b1 it had told.
fn killed_after(home: &Home, at: &str, lines: usize) -> usize {
    let mut child = home.dover().args(fork_words(at)).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let told: Vec<String> =
        BufReader::new(child.stderr.take().unwrap()).lines().take(lines).map(Result::unwrap).collect();
    // SIGKILL: the process gets no chance to tidy up.
    child.kill().unwrap();
    child.wait().unwrap();
    told.iter().filter(|line| line.starts_with("b1 ") && !line.contains("done")).count()
}

#[test]
fn a_killed_replay_keeps_every_step_and_is_interrupted() {
    let whole = Home::new();
    let at = first_instruction(&whole);
    whole.json(&fork_words(&at));
    let expected = steps(&whole, "b1");
    let from: usize = at.parse().unwrap();
    let own = expected.len() - from;
    assert!(own > 6, "the replay is too short to be killed in the middle");

    for lines in [1, 2, 3, own / 2, own] {
        let home = Home::new();
        first_instruction(&home);
        let told = killed_after(&home, &at, lines);
        let found = steps(&home, "b1");
        assert!(found.len() >= from + told, "after {lines} lines: {told} steps were told, {} are there", found.len() - from);
        assert_eq!(found, expected[..found.len()], "after {lines} lines");
        let run = run_of(&home, "b1");
        assert!(run == "interrupted" || found.len() == expected.len(), "after {lines} lines: {run}");
        // The store goes on as if nothing had happened.
        let again = home.json(&fork_words(&at));
        assert_eq!(again["branches"][0]["run"], "done");
    }
}
