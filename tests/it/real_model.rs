//! The whole loop against a small real model. It shows that the plumbing holds, not that the model is any good: what it says is used or
//! refused for a named reason, all of it is counted, and nothing hangs.
//!
//! Not part of `cargo test`: `cargo test --test it -- --ignored real_model` makes the environment (95 MB, once) and takes a few minutes.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::cli::Home;

/// The server with what it said of each answer. It ends with its standard input.
struct Server {
    child: Child,
    address: String,
    answers: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    fn start() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real-model");
        let made = Command::new("bash")
            .arg(here.join("setup"))
            .output()
            .unwrap();
        let why = String::from_utf8_lossy(&made.stderr).into_owned();
        assert!(
            made.status.success(),
            "the environment cannot be made: {why}"
        );
        let python = String::from_utf8(made.stdout).unwrap();
        let mut child = Command::new(python.trim())
            .arg(here.join("server.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().expect("the server ended at once").unwrap();
        let port: Value = serde_json::from_str(&first).unwrap();
        let answers = Arc::new(Mutex::new(Vec::new()));
        let kept = answers.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                kept.lock()
                    .unwrap()
                    .extend(serde_json::from_str::<Value>(&line));
            }
        });
        Self {
            child,
            address: format!("http://127.0.0.1:{}/v1", port["port"]),
            answers,
        }
    }

    /// Calls, prompt tokens and answer tokens since this was asked last.
    fn took(&self) -> [u64; 3] {
        let all = std::mem::take(&mut *self.answers.lock().unwrap());
        let sum = |name: &str| all.iter().map(|one| one[name].as_u64().unwrap()).sum();
        [
            all.len() as u64,
            sum("prompt_tokens"),
            sum("completion_tokens"),
        ]
    }

    /// Debugs a session with the model at hand as analyst, judge and team.
    fn debug(&self, home: &Home, words: &[&str]) -> Value {
        home.file("config.toml", "[judge]\nname = \"judge\"\n");
        let output = home
            .dover()
            .args([
                "debug",
                "--rounds",
                "1",
                "--runs",
                "1",
                "--diagnostic",
                "--json",
            ])
            .args(words)
            .env("DOVER_CONFIG", home.path(""))
            .env("OPENAI_BASE_URL", &self.address)
            .env("OPENAI_MODEL", "smollm2")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // Done, or with something that was held or failed; never bad usage.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a report says that the analyst, the judge and the runs took.
fn told(report: &Value) -> [u64; 3] {
    let mut all = vec![&report["usage"]];
    for trial in report["trials"].as_array().unwrap() {
        for tested in trial["tested"].as_array().unwrap() {
            all.extend(
                tested["runs"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|run| &run["usage"]),
            );
        }
    }
    ["calls", "prompt_tokens", "completion_tokens"].map(|name| {
        all.iter()
            .map(|usage| usage[name].as_u64().unwrap_or(0))
            .sum()
    })
}

fn main_of(home: &Home, session: &str) -> Value {
    home.json(&["show", &format!("{session}/main")])["steps"].clone()
}

#[test]
#[ignore = "needs the small real model: cargo test --test it -- --ignored real_model"]
fn the_loop_holds_against_a_small_real_model() {
    let server = Server::start();

    // As analyst: each trial has a hypothesis, or the reason why none was accepted after two more questions.
    let home = Home::new();
    let before = main_of(&home, "north-light");
    let report = server.debug(
        &home,
        &[
            "north-light",
            "--analyst",
            "model",
            "--trials",
            "1",
            "--max-tokens",
            "20000",
        ],
    );
    for trial in report["trials"].as_array().unwrap() {
        let stated = !trial["tested"].as_array().unwrap().is_empty();
        let refused = trial["note"].as_str().is_some_and(|why| !why.is_empty());
        assert!(stated || refused, "{trial}");
    }
    let took = server.took();
    assert!(took[0] > 0, "the model was not asked");
    assert_eq!(told(&report), took);
    assert_eq!(main_of(&home, "north-light"), before);

    // As team and as judge, on a log from elsewhere with an edit made by rules: a run of its own, counted with the judge's words on it.
    let home = Home::new();
    let log = home.file("light.jsonl", LOG);
    let light = home.json(&["import", &log])["session"]
        .as_str()
        .unwrap()
        .to_owned();
    let before = main_of(&home, &light);
    let report = server.debug(
        &home,
        &[&light, "--runtime", "team", "--max-tokens", "30000"],
    );
    let run = &report["trials"][0]["tested"][0]["runs"][0];
    assert!(
        ["done", "failed", "stopped"]
            .iter()
            .any(|word| run["run"] == *word),
        "{report}"
    );
    assert!(run["usage"]["calls"].as_u64() > Some(0), "{run}");
    assert!(
        report["usage"]["calls"].as_u64() > Some(0),
        "the judge was not asked: {report}"
    );
    assert_eq!(told(&report), server.took());
    assert_eq!(report["trials"][0]["tested"][0]["diagnostic"], true);
    assert_eq!(main_of(&home, &light), before);
    assert_eq!(home.run(&["receipt", "verify"]).status.code(), Some(0));
}

/// A log with no runtime of its own: only an endpoint can play it on.
const LOG: &str = r#"{"type": "session", "id": "light", "title": "Light", "format": "dover", "task": "Which vessel did the northern lighthouse report in March?", "orchestrator": "Lead", "agents": [{"name": "Lead"}, {"name": "Archivist"}, {"name": "Reader"}], "expected": "Albatross", "verifier": "answer"}
{"type": "step", "index": 0, "agent": "human", "kind": "task", "text": "Which vessel did the northern lighthouse report in March?"}
{"type": "step", "index": 1, "agent": "Lead", "kind": "plan", "text": "1. Archivist: look through the boxes."}
{"type": "step", "index": 2, "agent": "Lead", "kind": "instruction", "to": "Archivist", "text": "Look through the boxes."}
{"type": "step", "index": 3, "agent": "Archivist", "kind": "message", "text": "From what I remember, it was the Heron."}
{"type": "step", "index": 4, "agent": "Lead", "kind": "answer", "text": "Heron"}
"#;
