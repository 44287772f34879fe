//! A team started from the command line: its run is a session, and what is done with sessions can be done with it.

#[cfg(target_os = "linux")]
use std::io::{BufRead, BufReader};
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cli::Home;
use crate::support::python::{python, stand_in};

const TASK: &str = "What are 2 and 5 together?";
const ID: &str = "custom-file";

/// A person's machine with Python on it.
struct Scene {
    home: Home,
    python: String,
}

impl Scene {
    fn new() -> Option<Self> {
        let python = python()?;
        let home = Home::new();
        Some(Self { home, python })
    }

    fn words(&self, mode: &str, extra: &[&str]) -> Vec<String> {
        let file = self.home.path("file");
        let command = stand_in(&self.python, mode, file.to_str().unwrap());
        let lead = ["run", "custom", "--task", TASK]
            .iter()
            .chain(extra)
            .chain(&["--"]);
        lead.map(|&word| word.to_owned()).chain(command).collect()
    }

    fn run(&self, mode: &str, extra: &[&str]) -> Value {
        let words = self.words(mode, &[extra, &["--json"]].concat());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = self.home.run(&words);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{mode}: {}", String::from_utf8_lossy(&output.stderr)))
    }

    fn texts(&self, id: &str) -> Vec<String> {
        let shown = self.home.json(&["show", id]);
        let steps = shown["steps"].as_array().unwrap();
        steps
            .iter()
            .map(|step| step["text"].as_str().unwrap().to_owned())
            .collect()
    }
}

fn gate<'a>(forked: &'a Value, name: &str) -> &'a Value {
    let gates = forked["gates"].as_array().unwrap();
    gates.iter().find(|gate| gate["name"] == name).unwrap()
}

#[test]
fn a_teams_run_is_a_session_that_is_forked_and_compared_as_any_other() {
    let Some(scene) = Scene::new() else { return };
    let home = &scene.home;
    let ran = scene.run("good", &[]);
    assert_eq!(ran["session"], ID);
    assert_eq!(
        (&ran["run"], &ran["answer"], &ran["steps"]),
        (&"done".into(), &"7".into(), &4.into())
    );
    assert_eq!(ran["trials"], 1);
    assert_eq!(
        scene.texts(ID),
        [TASK, "Add 2 and 5", "The sum is 7", "The answer is 7"]
    );

    home.text(&["set", ID, "--expected", "25", "--verifier", "answer"]);
    let forked = home.json(&[
        "fork",
        ID,
        "--at",
        "1",
        "--text",
        "Add 20 and 5",
        "--runs",
        "2",
    ]);
    for name in ["lineage", "state", "effects", "authority", "config"] {
        assert_eq!(gate(&forked, name)["holds"], true, "{name}");
    }
    for branch in forked["branches"].as_array().unwrap() {
        assert_eq!(
            (&branch["run"], &branch["answer"]),
            (&"done".into(), &"25".into())
        );
        assert_eq!(
            (&branch["gate"], &branch["diagnostic"]),
            (&"verified".into(), &false.into())
        );
    }
    let b1 = format!("{ID}/b1");
    assert_eq!(
        scene.texts(&b1),
        [TASK, "Add 20 and 5", "The sum is 25", "The answer is 25"]
    );
    assert_eq!(home.json(&["compare", ID, &b1])["first_divergence"], 1);
    // The edit taken back brings the outcome back; a branch of a branch stands where it was edited.
    let back = home.json(&["fork", ID, "--at", "1", "--runs", "1"]);
    assert_eq!(back["branches"][0]["answer"], "7");
    let further = home.json(&[
        "fork",
        &b1,
        "--at",
        "2",
        "--text",
        "The sum is 26",
        "--runs",
        "1",
    ]);
    assert_eq!(further["branches"][0]["answer"], "26");
    // The loop by rules runs on it too.
    let debugged = home.json(&["debug", ID, "--runs", "1", "--rounds", "1"]);
    assert!(debugged.to_string().contains("intervention"), "{debugged}");
    home.text(&["receipt", "verify"]);
}

#[test]
fn state_that_does_not_come_back_holds_the_fork_or_makes_it_diagnostic() {
    let Some(scene) = Scene::new() else { return };
    scene.run("forgets", &[]);
    let words = [
        "fork",
        ID,
        "--at",
        "2",
        "--text",
        "The sum is 8",
        "--runs",
        "1",
    ];
    let output = scene.home.run(&[&words[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let held: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(held["branches"][0]["gate"], "restore_uncertain");
    let details = gate(&held, "state")["details"].to_string();
    assert!(
        details.contains("agents/Planner/memory has 1 items, had 2"),
        "{details}"
    );
    let ran = scene.home.json(&[&words[..], &["--diagnostic"]].concat());
    let branch = &ran["branches"][0];
    assert_eq!(
        (&branch["diagnostic"], &branch["answer"]),
        (&true.into(), &"8".into())
    );
}

#[test]
fn another_configuration_is_shown_by_gate_five() {
    let Some(scene) = Scene::new() else { return };
    scene.run("pin", &[]);
    scene.home.file("file", "");
    let words = ["fork", ID, "--at", "1", "--runs", "1"];
    let output = scene.home.run(&[&words[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let held: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(held["branches"][0]["gate"], "config_unpinned");
    let details = gate(&held, "config")["details"].to_string();
    assert!(details.contains("max_turns: 3 → 4"), "{details}");
    let ran = scene.home.json(&[&words[..], &["--accept-delta"]].concat());
    assert_eq!(ran["branches"][0]["run"], "done");
}

#[test]
fn a_call_outside_is_recorded_blocks_a_fork_before_it_and_is_not_repeated() {
    let Some(scene) = Scene::new() else { return };
    let letters = || {
        std::fs::read_to_string(scene.home.path("file"))
            .unwrap_or_default()
            .lines()
            .count()
    };
    assert_eq!(scene.run("mail", &["--new-effects", "hold"])["run"], "held");
    assert_eq!(letters(), 0);
    let ran = scene.run("mail", &[]);
    assert_eq!((&ran["run"], letters()), (&"done".into(), 1));
    let id = ran["session"].as_str().unwrap();
    let words = ["fork", id, "--at", "1", "--runs", "1"];
    let output = scene.home.run(&[&words[..], &["--json"]].concat());
    let held: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(held["branches"][0]["gate"], "effects_unreconciled");
    // No destination can be asked, so it is left to a person.
    let asked = scene.home.run(&["reconcile", id, "--json"]);
    let reconciled: Value = serde_json::from_slice(&asked.stdout).unwrap();
    let key = reconciled["effects"][0]["effect"]["operation_key"]
        .as_str()
        .unwrap()
        .to_owned();
    scene.home.text(&[
        "set",
        id,
        "--effect",
        &format!("{key}=keep"),
        "--why",
        "it was right",
    ]);
    let ran = scene.home.json(&words);
    assert_eq!(ran["branches"][0]["run"], "done", "{ran}");
    assert_eq!(letters(), 1, "the letter was sent again");
    // Behind the call there is nothing to settle.
    let after = scene.home.json(&["fork", id, "--at", "4", "--runs", "1"]);
    assert_eq!(after["branches"][0]["run"], "done");
}

#[test]
fn a_run_that_breaks_down_keeps_its_steps_and_says_why() {
    let Some(scene) = Scene::new() else { return };
    let ran = scene.run("die", &[]);
    assert_eq!((&ran["run"], &ran["steps"]), (&"failed".into(), &2.into()));
    assert!(
        ran["reason"]
            .as_str()
            .unwrap()
            .contains("exited with status 3")
    );
    // Its steps can be forked from all the same; here the process dies there again.
    let forked = scene
        .home
        .run(&["fork", ID, "--at", "1", "--runs", "1", "--json"]);
    assert_eq!(forked.status.code(), Some(1));
    // Where nothing came of it there is no session.
    for (mode, status, part) in [
        ("entry", 2, "No module named 'team'"),
        ("exits", 1, "no licence"),
    ] {
        let words = scene.words(mode, &[]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = scene.home.refused(status, &words);
        assert!(said.contains(part), "{mode}: {said}");
    }
    let listed = scene.home.json(&["sessions"])["sessions"].to_string();
    assert_eq!(listed.matches("\"custom-").count(), 1, "{listed}");
}

#[test]
fn a_session_file_names_no_program_to_start() {
    let Some(scene) = Scene::new() else { return };
    let marker = scene.home.path("started");
    let header = serde_json::json!({
        "type": "session", "id": "trap", "title": "t", "task": "t",
        "runtime": {"name": "adapter", "adapter": {"name": "custom", "dir": "/", "command": ["touch", marker]}}
    });
    let step = |index: usize| serde_json::json!({"type": "step", "index": index, "agent": "A", "kind": "message", "text": "hi"});
    let file = scene.home.file(
        "trap.jsonl",
        &format!("{header}\n{}\n{}\n", step(0), step(1)),
    );
    let said = scene
        .home
        .refused(2, &["fork", &file, "--at", "1", "--runs", "1"]);
    assert!(said.contains("model"), "{said}");
    assert!(!marker.exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_told_to_end_ends_its_processes_and_keeps_its_steps() {
    let Some(scene) = Scene::new() else { return };
    let mut child = scene
        .home
        .dover()
        .args(scene.words("child", &[]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().contains("Add 2 and 5")));
    let kill = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("stopped"));
    assert_eq!(scene.texts(ID).len(), 2);
    let pids = std::fs::read_to_string(scene.home.path("file")).unwrap();
    for pid in pids.split(' ') {
        let gone = || {
            std::fs::read_to_string(format!("/proc/{pid}/stat"))
                .map_or(true, |text| text.contains(") Z "))
        };
        let begun = std::time::Instant::now();
        while !gone() {
            assert!(begun.elapsed().as_secs() < 20, "{pid} is left behind");
            std::thread::yield_now();
        }
    }
}

/// A team whose only agent never answers and says which process it is in.
#[cfg(target_os = "linux")]
const SLOW: &str = r#"
import os, time
from dover_adapter.minimal import Team

def slow(memory, use):
    with open("pid.part", "w") as file:
        file.write(str(os.getpid()))
    os.rename("pid.part", "pid")
    time.sleep(3600)

def build():
    return Team({"Slow": slow}, rounds=1)
"#;

#[cfg(target_os = "linux")]
#[test]
fn a_killed_run_leaves_its_whole_steps_and_no_process() {
    let Some(scene) = Scene::new() else { return };
    let team = scene.home.file("slow.py", SLOW);
    let mut child = scene
        .home
        .dover()
        .args(["run", "custom", "--task", TASK, "--"])
        .args([&scene.python, "-m", "dover_adapter", "minimal", &team])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = std::time::Instant::now();
    while !scene.home.path("pid").exists() {
        assert!(begun.elapsed().as_secs() < 60, "the team does not start");
        std::thread::yield_now();
    }
    // SIGKILL: dover gets no chance to end anything.
    child.kill().unwrap();
    child.wait().unwrap();
    let shown = scene.home.json(&["show", "custom-slow"]);
    assert_eq!(shown["run"], "interrupted");
    assert_eq!(scene.texts("custom-slow"), [TASK]);
    let pid = std::fs::read_to_string(scene.home.path("pid")).unwrap();
    let gone = || {
        std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .map_or(true, |text| text.contains(") Z "))
    };
    let begun = std::time::Instant::now();
    while !gone() {
        assert!(begun.elapsed().as_secs() < 60, "{pid} is left behind");
        std::thread::yield_now();
    }
}
