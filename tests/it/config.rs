//! Configurations with the real binary: pinned, changed by a fork, found to differ; drift acknowledged; old branches judged again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};

use dover::model::{BranchId, GateStatus, Manifest, RestoredKey, RunStatus, Session, SystemClock};
use dover::pipeline::{self, Control, ForkRequest, ModelSettings};
use dover::runtime::{
    Decision, Description, Event, Restore, Run, Runtime, RuntimeError, Workspace,
};
use dover::store::Store;

use crate::cli::{Home, orchestrated};
use crate::support::model_server::ModelServer;

/// The clerk is told to look something up and has not got the tool for it.
const DESK: &str = r#"
title = "Desk"
task = "Say which stamp the parcel got."
answer = "It got stamp {stamp}."
expected = "It got stamp S5."
verifier = "answer"

[[agent]]
name = "Clerk"
about = "answers at the desk"
skills = ["call"]
tools = ["weigh"]
[[agent]]
name = "Porter"
about = "carries parcels"
skills = ["call"]
tools = ["look_up"]

[orchestrator]
name = "Chief"
plan = ["1. Clerk: look up the stamp of the parcel."]

[[fact]]
id = "stamp"
about = "the stamp of the parcel"
value = "S5"
guess = "S1"

[[tool]]
name = "look_up"
about = "the stamp of the parcel"
verbs = ["look up"]
class = "read_only"
result = "The register says: stamp {stamp}."
states = [{ fact = "stamp" }]
[[tool]]
name = "weigh"
about = "the weight of the parcel"
verbs = ["weigh"]
class = "read_only"
result = "It weighs 2 kg."
"#;
/// The first instruction.
const AT: &str = "3";

fn desk() -> Home {
    let home = Home::new();
    let world = home.file("desk.toml", DESK);
    home.text(&["run", "scenario", &world]);
    home
}

fn fork<'a>(branch: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["fork", branch, "--at", AT, "--runs", "1"], more].concat()
}

/// The JSON of a fork that may have been held.
fn told(home: &Home, status: i32, words: &[&str]) -> Value {
    let output = home.run(&[words, &["--json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{words:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn receipts(home: &Home) -> Vec<Value> {
    let chain = home.text(&["receipt", "export"]);
    let lines = chain
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// How often a decision stands in the chain.
fn decided(home: &Home, about: &str, word: &str) -> usize {
    let receipts = receipts(home);
    let found = receipts
        .iter()
        .filter(|one| one["about"] == about && one["state"] == word);
    found.count()
}

#[test]
fn a_tool_given_by_a_fork_makes_the_difference_and_is_told_everywhere() {
    let home = desk();
    assert_eq!(home.json(&["show", "desk"])["success"], false);
    let forked = home.json(&fork("desk", &["--tools", "Clerk=weigh,look_up"]));
    assert_eq!(forked["intervention"]["category"], "config");
    let branch = &forked["branches"][0];
    assert_eq!(branch["gate"], "verified", "{branch}");
    assert_eq!(branch["fulfilled"], true);
    let gate = &forked["gates"][4];
    let config = home.json(&["show", "desk"])["config"].clone();
    let parts = config.as_object().unwrap().len();
    assert_eq!(gate["found"], format!("{parts} parts pinned, 1 as asked"));
    assert_eq!(
        gate["details"],
        json!(["tools Clerk: weigh → look_up, weigh (as asked)"])
    );

    // The list holds whole schemas, roles and rules, and what differs is shown.
    for part in [
        "role Clerk",
        "tools Porter",
        "tool weigh",
        "routing",
        "world",
    ] {
        assert!(config.get(part).is_some(), "{part}");
    }
    assert!(
        home.text(&["show", "desk/b1"])
            .contains("tools of Clerk: weigh, look_up")
    );
    assert!(
        home.text(&["show", "desk"])
            .contains("tools of Clerk: weigh, look_up")
    );
    let list = home.text(&["show", "desk/b1", "--config"]);
    assert_eq!(list.lines().count(), parts + 1, "{list}");
    let compared = home.json(&["compare", "desk", "desk/b1"]);
    assert_eq!(compared["config"][0]["part"], "tools Clerk");
    assert_eq!(home.json(&["show", "desk"])["changes"], json!([]));

    // What is forked from it has the tool too, and says that nothing differs.
    let again = home.json(&fork("desk/b1", &[]));
    assert_eq!(again["branches"][0]["gate"], "verified");
    let found = format!("{parts} parts pinned, no difference from b1");
    assert_eq!(again["gates"][4]["found"], found);
    assert_eq!(
        home.json(&fork("desk", &[]))["branches"][0]["gate"],
        "false_success"
    );

    // Receipts name the category and the configuration by its digest, and no word of it.
    let chain = receipts(&home);
    assert_eq!(chain[0]["category"], "config");
    assert_ne!(chain[0]["config"], chain[4]["config"]);
    assert_eq!(chain[0]["config"], chain[2]["config"]);
    let export = home.text(&["receipt", "export"]);
    for word in ["Clerk", "look_up", "weigh"] {
        assert!(!export.contains(word), "{word}");
    }
    home.text(&["receipt", "verify"]);
}

#[test]
fn a_change_that_makes_no_sense_is_refused_with_what_there_is() {
    let home = desk();
    let table: [(&[&str], &str); 9] = [
        (&["--tools", "Nobody=weigh"], "There are Clerk, Porter"),
        (&["--tools", "Clerk=lookup"], "There are look_up, weigh"),
        (&["--tools", "Clerk=weigh"], "already"),
        (&["--tools", "Clerk=", "--tools", "Clerk=look_up"], "twice"),
        (&["--tools", "look_up"], "AGENT="),
        (&["--prompt", "Clerk=Be kind."], "--tools"),
        (&["--set-model", "large"], "--tools"),
        (&["--category", "config"], "--set-model"),
        (
            &["--tools", "Clerk=", "--category", "plan"],
            "category config",
        ),
    ];
    for (words, part) in table {
        let said = home.refused(2, &fork("desk", words));
        assert!(said.contains(part), "{words:?}: {said}");
    }
    assert_eq!(home.json(&["show", "desk"])["branches"], json!([]));
}

/// A log and a model server.
struct Scene {
    home: Home,
    file: String,
    server: ModelServer,
    _threads: tokio::runtime::Runtime,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        let threads = tokio::runtime::Runtime::new().unwrap();
        let server = threads.block_on(ModelServer::start(0)).unwrap();
        Self {
            file: home.file("ferry.json", &orchestrated()),
            home,
            server,
            _threads: threads,
        }
    }

    fn fork(&self, status: i32, branch: &str, model: &str, more: &[&str]) -> Value {
        let url = self.server.base_url();
        let words = ["--base-url", &url, "--model", model];
        told(&self.home, status, &fork(branch, &[&words, more].concat()))
    }

    /// The model that was asked last.
    fn asked(&self) -> Value {
        self.server.seen().last().unwrap().body["model"].clone()
    }
}

#[test]
fn another_model_is_no_silent_change() {
    let scene = Scene::new();
    let first = scene.fork(0, &scene.file, "small", &[]);
    let gate = &first["gates"][4];
    assert!(
        gate["found"]
            .as_str()
            .unwrap()
            .contains("3 of them by this fork")
    );
    assert_eq!(
        gate["details"][0],
        "model: not there → small (pinned by this fork)"
    );
    let b1 = first["branches"][0]["id"].as_str().unwrap();

    let seen = scene.server.seen().len();
    let held = scene.fork(1, b1, "large", &[]);
    let gate = &held["gates"][4];
    assert_eq!(gate["holds"], false);
    assert_eq!(
        gate["details"],
        json!(["model: small → large (nobody asked for it)"])
    );
    assert_eq!(gate["actions"], json!(["accept_delta"]));
    assert_eq!(held["branches"][0]["run"], "held");
    assert!(
        held["branches"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("--accept-delta")
    );
    assert_eq!(scene.server.seen().len(), seen, "nothing was asked");
    assert_eq!(decided(&scene.home, "delta", "accepted"), 0);

    // A held branch pins nothing: what is forked from it must answer the same question.
    let b2 = held["branches"][0]["id"].as_str().unwrap();
    let around = ["fork", b2, "--at", "2", "--runs", "1", "--model", "large"];
    let url = scene.server.base_url();
    let around = told(
        &scene.home,
        1,
        &[&around[..], &["--base-url", &url]].concat(),
    );
    assert_eq!(around["gates"][4]["holds"], false);

    let accepted = scene.fork(0, b1, "large", &["--accept-delta"]);
    assert_eq!(accepted["branches"][0]["run"], "done");
    assert_eq!(accepted["intervention"]["category"], "none");
    assert_eq!(decided(&scene.home, "delta", "accepted"), 1);
    assert_eq!(scene.asked(), "large");
    // Where there is nothing to accept, nothing is written.
    scene.fork(0, b1, "small", &["--accept-delta"]);
    assert_eq!(decided(&scene.home, "delta", "accepted"), 1);

    let changed = scene.fork(0, b1, "small", &["--set-model", "third"]);
    assert_eq!(changed["intervention"]["category"], "config");
    assert_eq!(scene.asked(), "third");
    let child = changed["branches"][0]["id"].as_str().unwrap();
    let inherited = scene.fork(0, child, "small", &[]);
    assert_eq!(scene.asked(), "third");
    assert_eq!(inherited["gates"][4]["details"], json!([]));
    let compared = scene.home.json(&["compare", b1, child]);
    assert_eq!(compared["config"][0]["after"]["shown"], "third");
}

#[test]
fn another_prompt_reaches_the_model_and_stands_in_no_receipt() {
    const PROMPT: &str = "You read logs of ships, year by year. zq7marker";
    let scene = Scene::new();
    let file = scene.home.file("prompt.md", &format!("{PROMPT}\n"));
    let words = ["--prompt", &format!("WebSurfer=@{file}")];
    let text = ["--text", "Read the log of 1931."];
    let forked = scene.fork(0, &scene.file, "small", &[words, text].concat());
    assert_eq!(forked["intervention"]["category"], "config");
    assert_eq!(forked["intervention"]["class"], "other");
    let systems: Vec<String> = scene
        .server
        .seen()
        .iter()
        .flat_map(|seen| seen.contents("system"))
        .collect();
    assert!(systems.iter().any(|text| text.starts_with(PROMPT)));
    assert!(
        !scene
            .home
            .text(&["receipt", "export"])
            .contains("zq7marker")
    );
    let shown = scene.home.text(&["show", "ferry/b1"]);
    assert!(shown.contains("another prompt for WebSurfer"));

    let table: [(&[&str], &str); 5] = [
        (&["--prompt", "WebSurfer= "], "the prompt is empty"),
        (
            &["--prompt", "Nobody=Hello."],
            "There are human, Orchestrator, WebSurfer",
        ),
        (&["--prompt", "WebSurfer=@nowhere.md"], "nowhere.md"),
        (&["--set-model", " "], "no model is named"),
        (&["--tools", "WebSurfer=open"], "--set-model"),
    ];
    let url = scene.server.base_url();
    for (words, part) in table {
        let given = ["--base-url", &url, "--model", "small"];
        let said = scene
            .home
            .refused(2, &fork(&scene.file, &[&given, words].concat()));
        assert!(said.contains(part), "{words:?}: {said}");
    }
}

#[test]
fn what_a_log_tells_beside_what_runs_is_said_and_only_another_model_is_held() {
    let scene = Scene::new();
    let file = scene.home.file(
        "sum.json",
        &json!({"model": "big-7", "messages": [
            {"role": "user", "content": "What is 17 times 3?"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "multiply", "arguments": "{}"}}
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "51"},
            {"role": "assistant", "content": "It is 41."}
        ]})
        .to_string(),
    );
    let held = scene.fork(1, &file, "small", &[]);
    let details = held["gates"][4]["details"].as_array().unwrap();
    let line = "tool multiply: called in the log → not there (pinned by this fork)";
    assert!(details.contains(&json!(line)), "{details:?}");
    let line = "model: big-7 → small (nobody asked for it)";
    assert!(details.contains(&json!(line)), "{details:?}");
    let gone_on = scene.fork(0, &file, "small", &["--accept-delta"]);
    assert_eq!(gone_on["branches"][0]["diagnostic"], true);
}

#[test]
fn drift_of_the_tool_registry_is_acknowledged_once_it_was_seen() {
    let home = Home::new();
    let world = home.file("desk.toml", DESK);
    let log = home.path("desk.jsonl");
    let log = log.to_str().unwrap();
    home.text(&["run", "scenario", &world, "--out", log]);
    // The world of today has another tool than the one that the run was recorded with.
    home.file(
        "desk.toml",
        &DESK.replace("It weighs 2 kg.", "It weighs 3 kg."),
    );

    let held = told(&home, 1, &fork(log, &[]));
    assert_eq!(held["branches"][0]["gate"], "restore_uncertain");
    let state = &held["gates"][1];
    let line = state["details"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .find(|line| line.starts_with("tool_registry drifted"))
        .unwrap()
        .to_owned();
    assert_eq!(line.matches("2 tools ").count(), 2, "{line}");
    assert!(
        state["mend"]
            .as_str()
            .unwrap()
            .contains("--acknowledge-drift")
    );
    assert!(
        state["actions"]
            .as_array()
            .unwrap()
            .contains(&json!("acknowledge"))
    );

    // A held fork says what it asks for and has changed nothing.
    told(&home, 1, &fork("desk", &["--tools", "Clerk="]));
    assert!(
        home.text(&["show", "desk/b2"])
            .contains("no tools for Clerk")
    );

    let words = ["--acknowledge-drift", "--tools", "Clerk=look_up"];
    let gone_on = home.json(&fork("desk", &words));
    assert_eq!(gone_on["branches"][0]["gate"], "verified");
    assert_eq!(gone_on["branches"][0]["diagnostic"], false);
    assert_eq!(decided(&home, "drift", "acknowledged"), 1);
    home.text(&["receipt", "verify"]);
}

#[test]
fn nothing_is_acknowledged_where_nothing_drifted() {
    let home = desk();
    home.json(&fork("desk", &["--acknowledge-drift"]));
    assert_eq!(decided(&home, "drift", "acknowledged"), 0);
}

#[test]
fn another_expected_answer_judges_old_branches_again() {
    let home = desk();
    home.json(&fork("desk", &["--tools", "Clerk=look_up"]));
    home.json(&fork("desk", &[]));
    let before = receipts(&home).len();
    home.text(&["set", "desk", "--expected", "It got stamp S1."]);
    let shown = home.json(&["show", "desk"]);
    assert_eq!(shown["success"], true);
    let gates: Vec<_> = shown["branches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|branch| (branch["gate"].clone(), branch["success"].clone()))
        .collect();
    assert_eq!(
        gates,
        [
            (json!("false_success"), json!(false)),
            (json!("verified"), json!(true)),
        ]
    );
    let outcomes: Vec<_> = receipts(&home)
        .into_iter()
        .skip(before - 1)
        .filter(|one| one["kind"] == "outcome")
        .map(|one| (one["status"].clone(), one["success"].clone()))
        .collect();
    assert_eq!(
        outcomes,
        [
            (Value::Null, json!(true)),
            (json!("false_success"), json!(false)),
            (json!("verified"), json!(true)),
        ]
    );
    home.text(&["receipt", "verify"]);
    // Said again, or with something else, nothing is new.
    let after = receipts(&home).len();
    home.text(&[
        "set",
        "desk",
        "--expected",
        "It got stamp S1.",
        "--title",
        "D",
    ]);
    assert_eq!(receipts(&home).len(), after);
}

/// A runtime that has another tool from its third restore on: the gates are over by then.
struct Fickle {
    inner: Arc<dyn Runtime>,
    restores: AtomicUsize,
}

struct FickleRun(Box<dyn Run>);

#[async_trait]
impl Runtime for Fickle {
    fn describe(&self, session: &Session) -> Description {
        self.inner.describe(session)
    }

    async fn restore(&self, restore: Restore) -> Result<Box<dyn Run>, RuntimeError> {
        let run = self.inner.restore(restore).await?;
        Ok(match self.restores.fetch_add(1, Ordering::SeqCst) {
            0 => run,
            _ => Box::new(FickleRun(run)),
        })
    }
}

#[async_trait]
impl Run for FickleRun {
    fn keys(&self) -> Vec<RestoredKey> {
        self.0.keys()
    }

    fn config(&self) -> Manifest {
        let mut config = self.0.config();
        config.add("tool delete_all", "anything", None);
        config
    }

    fn decide(&mut self, decision: Decision) {
        self.0.decide(decision);
    }

    fn workspace(&self) -> Workspace {
        self.0.workspace()
    }

    async fn next(&mut self) -> Result<Event, RuntimeError> {
        self.0.next().await
    }
}

#[tokio::test]
async fn a_runtime_that_changes_after_the_gates_does_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("store.db"), Arc::new(SystemClock)).unwrap();
    let id = pipeline::play_world(&store, std::path::Path::new("desk.toml"), DESK, 0).unwrap();
    let request = ForkRequest {
        runs: Some(1),
        ..ForkRequest::at(BranchId::main(&id), 3, "ann")
    };
    let mut plan = pipeline::plan(&store, request, &ModelSettings::default()).unwrap();
    plan.runtime = Arc::new(Fickle {
        inner: plan.runtime.clone(),
        restores: AtomicUsize::new(0),
    });
    let (progress, _seen) = tokio::sync::mpsc::unbounded_channel();
    let outcome = pipeline::fork(
        &store,
        plan,
        &dover::pipeline::Jobs::new(1),
        Control::new(),
        progress,
    )
    .await
    .unwrap();
    let branch = &outcome.branches[0];
    assert_eq!(branch.run, RunStatus::Failed);
    assert_eq!(branch.gate, Some(GateStatus::ConfigUnpinned));
    assert_eq!(branch.steps, 3, "no step of its own");
    assert!(
        branch
            .reason
            .as_ref()
            .unwrap()
            .contains("tool delete_all: not there")
    );
}
