//! A log without saved state, forked headless and continued through a model server of the test's own.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;
use tokio::runtime::Runtime;

use crate::cli::{Home, orchestrated};
use crate::support::model_server::ModelServer;

const KEY: &str = "sk-marker-90d2";
const EDIT: &str = "Open the harbour log of 1931 and read where the ferry wintered.";
/// The instruction that sends the browsing agent astray.
const AT: usize = 3;

struct Scene {
    home: Home,
    file: String,
    threads: Runtime,
    server: ModelServer,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        let threads = Runtime::new().unwrap();
        let server = threads.block_on(ModelServer::start(0)).unwrap();
        Self {
            file: home.file("ferry.json", &orchestrated()),
            home,
            threads,
            server,
        }
    }

    fn fork(&self, model: &str) -> Command {
        let mut dover = self.home.dover();
        dover
            .args(["fork", &self.file, "--at", &AT.to_string(), "--text", EDIT])
            .args(["--base-url", &self.server.base_url(), "--model", model])
            .env("OPENAI_API_KEY", KEY);
        dover
    }

    /// The key is nowhere that lasts or shows.
    fn keeps_the_key(&self, printed: &[&[u8]]) {
        let files = std::fs::read_dir(self.home.path(".")).unwrap();
        let files = files.map(|entry| entry.unwrap().path());
        let kept: Vec<Vec<u8>> = files
            .filter(|path| path.is_file())
            .map(|path| std::fs::read(path).unwrap())
            .collect();
        for bytes in kept
            .iter()
            .map(Vec::as_slice)
            .chain(printed.iter().copied())
        {
            assert!(!String::from_utf8_lossy(bytes).contains(KEY));
        }
    }
}

#[test]
fn an_imported_log_is_continued_from_the_edit_and_says_that_it_is_diagnostic() {
    let scene = Scene::new();
    let output = scene
        .fork("good")
        .args(["--runs", "1", "--json"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(said, "", "with --json only errors go to standard error");
    let forked: Value = serde_json::from_slice(&output.stdout).unwrap();
    let branch = &forked["branches"][0];
    assert_eq!(branch["run"], "done");
    assert_eq!(branch["diagnostic"], true);
    assert_ne!(branch["gate"], "verified");

    let id = branch["id"].as_str().unwrap();
    let before = scene.home.json(&["show", &scene.file]);
    let after = scene.home.json(&["show", id]);
    let (before, after) = (
        before["steps"].as_array().unwrap(),
        after["steps"].as_array().unwrap(),
    );
    assert_eq!(after[..AT], before[..AT]);
    assert_eq!(after[AT]["text"], EDIT);
    assert!(after.len() > AT + 1, "nobody answered");
    let compared = scene.home.json(&["compare", &scene.file, id]);
    assert_eq!(compared["first_divergence"], AT);

    // The model saw the edit, and the prefix as it was, and not the step that was replaced.
    let seen = scene.server.seen();
    let sent = seen[0].body["messages"].to_string();
    assert!(sent.contains(EDIT) && sent.contains("Halcyon"));
    assert!(!sent.contains("open its log"), "{sent}");
    assert_eq!(
        seen[0].authorization.as_deref(),
        Some(format!("Bearer {KEY}").as_str())
    );
    scene.keeps_the_key(&[&output.stdout, &output.stderr]);
}

#[test]
fn a_server_that_fails_leaves_a_clear_status_and_every_whole_step() {
    for (model, part) in [
        ("error-401", "401"),
        ("rubbish", "model endpoint"),
        ("cut-after-1", "model endpoint"),
    ] {
        let scene = Scene::new();
        let output = scene
            .fork(model)
            .args(["--runs", "1", "--json"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{model}");
        let forked: Value = serde_json::from_slice(&output.stdout).unwrap();
        let branch = &forked["branches"][0];
        assert_eq!(branch["run"], "failed", "{model}");
        let reason = branch["reason"].as_str().unwrap();
        assert!(reason.contains(part), "{model}: {reason}");
        let steps = scene.home.json(&["show", branch["id"].as_str().unwrap()]);
        assert_eq!(steps["steps"][AT]["text"], EDIT, "{model}");
        scene.keeps_the_key(&[&output.stdout, &output.stderr]);
    }
}

#[test]
fn ctrl_c_stops_the_runs_and_keeps_their_whole_steps() {
    let scene = Scene::new();
    let mut child = scene
        .fork("stall-after-1")
        .args(["--runs", "2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    // Both branches have committed the edited step; the server will keep them waiting for ever.
    let mut waiting = vec!["b1", "b2"];
    while !waiting.is_empty() {
        let line = told.next().expect("both runs begin").unwrap();
        waiting.retain(|branch| !(line.starts_with(branch) && line.contains("harbour log")));
    }
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("stopped"));
    for branch in ["ferry/b1", "ferry/b2"] {
        let shown = scene.home.json(&["show", branch]);
        assert_eq!(shown["steps"][AT]["text"], EDIT);
    }
    drop(scene.threads);
}

#[test]
fn a_killed_process_leaves_interrupted_branches_with_whole_steps() {
    let scene = Scene::new();
    let mut child = scene
        .fork("stall-after-1")
        .args(["--runs", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().contains("harbour log")));
    assert!(
        Command::new("kill")
            .args(["-TERM", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert!(!child.wait().unwrap().success());
    let shown = scene.home.json(&["show", "ferry/b1"]);
    assert_eq!(shown["run"], "interrupted");
    assert_eq!(shown["steps"][AT]["text"], EDIT);
}
