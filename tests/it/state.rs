//! What a fork restores and what judges it: work trees, keys that commands tell, verifiers with files, contradictory logs.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use dover::model::{
    BranchId, Digest, GateStatus, Manifest, RestoredKey, RunStatus, Session, SystemClock,
};
use dover::pipeline::{self, Control, ForkRequest, ModelSettings};
use dover::runtime::scenario::Scenario;
use dover::runtime::{
    Decision, Description, Event, Restore, Run, Runtime, RuntimeError, Workspace,
};
use dover::store::Store;
use serde_json::{Value, json};

use crate::cli::Home;

mod profile;

/// The world of a sample, all of it local.
fn world() -> String {
    include_str!("../../sample-sessions/release-notes.toml").replace("outside = true\n", "")
}

fn log() -> String {
    [
        json!({"type": "session", "id": "run", "task": "t"}),
        json!({"type": "step", "index": 0, "agent": "human", "kind": "task", "text": "t"}),
        json!({"type": "step", "index": 1, "agent": "A", "kind": "answer", "text": "42"}),
    ]
    .map(|line| format!("{line}\n"))
    .concat()
}

fn git(dir: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=t", "-c", "user.email=t@t"])
        .args(words)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {words:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// A repository with one commit and every kind of local change.
fn repository(home: &Home) -> PathBuf {
    let dir = home.path("repo");
    fs::create_dir_all(dir.join("sub")).unwrap();
    git(&dir, &["init", "-q", "-b", "trunk"]);
    fs::write(dir.join("kept.txt"), "kept\n").unwrap();
    fs::write(dir.join("gone.txt"), "gone\n").unwrap();
    fs::write(dir.join(".gitignore"), "secret\n").unwrap();
    git(&dir, &["add", "."]);
    git(&dir, &["commit", "-q", "-m", "one"]);
    fs::write(dir.join("kept.txt"), "changed\n").unwrap();
    fs::remove_file(dir.join("gone.txt")).unwrap();
    fs::write(dir.join("sub/new.bin"), [0, 159, 146, 150, 0, 10]).unwrap();
    fs::write(dir.join("staged.txt"), "staged\n").unwrap();
    fs::write(dir.join("secret"), "MARKER\n").unwrap();
    git(&dir, &["add", "staged.txt"]);
    dir
}

/// Everything of a repository that must stay as it is.
fn traces(dir: &Path) -> Vec<String> {
    vec![
        git(
            dir,
            &[
                "status",
                "--porcelain=v2",
                "--branch",
                "--untracked-files=all",
            ],
        ),
        git(dir, &["worktree", "list", "--porcelain"]),
        git(dir, &["for-each-ref"]),
        git(dir, &["count-objects"]),
        git(dir, &["stash", "list"]),
        fs::read_to_string(dir.join("kept.txt")).unwrap(),
    ]
}

/// The world's session with a profile of its own; its first instruction.
fn played(home: &Home, profile: &str) -> String {
    home.file("notes.dover.toml", profile);
    let world = home.file("notes.toml", &world());
    home.json(&["import", &world]);
    settle(home, "release-notes");
    let steps = home.json(&["show", "release-notes"])["steps"].clone();
    let steps = steps.as_array().unwrap().clone();
    let first = steps.iter().find(|step| step["kind"] == "instruction");
    first.unwrap()["index"].to_string()
}

/// Every effect stays in the world.
fn settle(home: &Home, branch: &str) {
    let known = home.json(&["set", branch]);
    for effect in known["effects"].as_array().unwrap() {
        let word = format!("{}=reconciled", effect["operation_key"].as_str().unwrap());
        home.json(&["set", branch, "--effect", &word, "--why", "stays"]);
    }
}

fn fork(home: &Home, at: &str, more: &[&str]) -> (Option<i32>, Value) {
    let words = ["fork", "release-notes", "--at", at, "--runs", "1", "--json"];
    let output = home.run(&[&words[..], more].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    (output.status.code(), value)
}

fn state_gate(forked: &Value) -> &Value {
    let gates = forked["gates"].as_array().unwrap();
    gates.iter().find(|gate| gate["name"] == "state").unwrap()
}

fn detail(forked: &Value, key: &str) -> String {
    let details = state_gate(forked)["details"].as_array().unwrap();
    let lines = details.iter().map(|line| line.as_str().unwrap());
    let of = |line: &&str| line.starts_with(&format!("{key} "));
    lines.into_iter().find(of).unwrap_or_default().to_owned()
}

#[test]
fn a_directory_is_captured_without_a_trace() {
    let home = Home::new();
    let repo = repository(&home);
    let before = traces(&repo);
    let words = ["workspace", repo.to_str().unwrap()];
    let state = home.json(&words);
    assert_eq!(traces(&repo), before);
    assert_eq!(state["revision"], git(&repo, &["rev-parse", "HEAD"]).trim());
    assert!(
        !state.to_string().contains("MARKER"),
        "ignored files are not state"
    );
    assert_eq!(home.json(&words), state);
    assert!(home.text(&words).contains("changed files  4"));
    // Staged or not is the same state; another content is not.
    git(&repo, &["add", "-A"]);
    assert_eq!(home.json(&words), state);
    fs::write(repo.join("kept.txt"), "changed!\n").unwrap();
    let other = home.json(&words);
    assert_eq!(other["revision"], state["revision"]);
    assert_ne!(other["fingerprint"], state["fingerprint"]);

    for (dir, part) in [("none", "none"), ("bare", "no commit")] {
        if dir == "bare" {
            fs::create_dir(home.path(dir)).unwrap();
            git(&home.path(dir), &["init", "-q"]);
        }
        let said = home.refused(2, &["workspace", home.path(dir).to_str().unwrap()]);
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn each_run_works_in_a_tree_of_its_own_and_leaves_the_users_alone() {
    let home = Home::new();
    let repo = repository(&home);
    let before = traces(&repo);
    let at = played(
        &home,
        "workspace = \"repo/sub\"\nrequired_keys = [\"workspace\", \"agent_memory\"]\n",
    );
    assert_eq!(traces(&repo), before);

    let (status, forked) = fork(&home, &at, &["--seed", "2"]);
    assert_eq!(status, Some(0), "{forked}");
    assert_eq!(state_gate(&forked)["holds"], true);
    let told = detail(&forked, "workspace");
    let commit = git(&repo, &["rev-parse", "HEAD"]);
    assert!(
        told.starts_with("workspace exact: restored into a work tree"),
        "{told}"
    );
    assert!(told.contains(commit.trim()), "{told}");
    assert_eq!(traces(&repo), before);

    // What the tree is now does not matter: the checkpoint tells what it was.
    fs::write(repo.join("kept.txt"), "later\n").unwrap();
    git(&repo, &["commit", "-q", "-a", "-m", "two"]);
    assert_eq!(fork(&home, &at, &[]).0, Some(0));

    // A later step of a branch has the state that its own run left.
    let last = home.json(&["show", "release-notes/b1"])["steps"]
        .as_array()
        .unwrap()
        .len()
        - 1;
    let words = [
        "fork",
        "release-notes/b1",
        "--at",
        &last.to_string(),
        "--runs",
        "1",
        "--json",
    ];
    settle(&home, "release-notes/b1");
    let output = home.run(&words);
    let forked: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(detail(&forked, "workspace").contains(" exact"), "{forked}");

    // The commit is gone: nothing stands for it.
    fs::remove_dir_all(repo.join(".git")).unwrap();
    git(&repo, &["init", "-q"]);
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-q", "-m", "other"]);
    let (status, forked) = fork(&home, &at, &[]);
    assert_eq!(status, Some(1));
    assert_eq!(forked["branches"][0]["gate"], "restore_uncertain");
    let told = detail(&forked, "workspace");
    assert!(
        told.starts_with("workspace untested: cannot be restored"),
        "{told}"
    );
    let (status, forked) = fork(&home, &at, &["--diagnostic"]);
    assert_eq!(status, Some(0), "{forked}");
    assert_eq!(forked["branches"][0]["diagnostic"], true);
    assert_ne!(forked["branches"][0]["gate"], "verified");
    let trees = git(&repo, &["worktree", "list"]);
    assert_eq!(trees.lines().count(), 1, "{trees}");
}

#[test]
fn a_key_that_a_command_tells_is_asked_again_at_the_fork() {
    let home = Home::new();
    let scope = |word: &str| {
        let value = json!({"revision": format!("olga, {word}"), "value": {"token": "MARKER", "scope": word}});
        home.file("scope.json", &value.to_string());
    };
    scope("read");
    let at = played(
        &home,
        "required_keys = [\"agent_memory\", \"credentials\"]\n[keys.credentials]\ncommand = [\"sh\", \"who.sh\"]\ntime_limit = 1\n",
    );
    // At import there was no command that answers: nothing can stand for it later.
    let (status, forked) = fork(&home, &at, &[]);
    assert_eq!(status, Some(1));
    assert!(
        detail(&forked, "credentials").starts_with("credentials missing"),
        "{forked}"
    );

    let home = Home::new();
    let file = |word: &str| {
        let value = json!({"revision": format!("olga, {word}"), "value": {"token": "MARKER", "scope": word}});
        home.file("scope.json", &value.to_string());
    };
    file("read");
    home.file("who.sh", "cat scope.json");
    let at = played(
        &home,
        "required_keys = [\"agent_memory\", \"credentials\"]\n[keys.credentials]\ncommand = [\"sh\", \"who.sh\"]\ntime_limit = 1\n",
    );
    let (status, forked) = fork(&home, &at, &[]);
    assert_eq!(status, Some(0), "{forked}");
    let told = detail(&forked, "credentials");
    assert!(
        told.contains("exact") && told.contains("was olga, read ("),
        "{told}"
    );
    assert!(!forked.to_string().contains("MARKER"));

    file("write");
    let (status, forked) = fork(&home, &at, &[]);
    assert_eq!(status, Some(1));
    assert_eq!(forked["branches"][0]["gate"], "restore_uncertain");
    let told = detail(&forked, "credentials");
    assert!(told.starts_with("credentials drifted"), "{told}");
    assert!(told.contains("is olga, write ("), "{told}");

    for (script, part) in [
        ("exit 3", "status 3"),
        ("sleep 600", "did not end"),
        ("echo MARKER", "did not print"),
    ] {
        home.file("who.sh", script);
        let (status, forked) = fork(&home, &at, &[]);
        assert_eq!(status, Some(1), "{script}");
        let told = detail(&forked, "credentials");
        assert!(told.starts_with("credentials untested"), "{script}: {told}");
        assert!(told.contains(part), "{script}: {told}");
    }
    for name in ["store.db", "store.db-wal"] {
        let bytes = fs::read(home.path(name)).unwrap_or_default();
        assert!(!bytes.windows(6).any(|part| part == b"MARKER"), "{name}");
    }
}

#[test]
fn a_verifier_looks_at_the_files_of_the_run() {
    let home = Home::new();
    let at = played(&home, "");
    let table = [
        (
            "command:grep -q Lantern notes.md",
            "verified",
            json!(true),
            None,
        ),
        (
            "command:test \"$(cat)\" = nothing",
            "false_success",
            json!(false),
            None,
        ),
        (
            "command:kill -9 $$",
            "unverified",
            Value::Null,
            Some("signal"),
        ),
        ("file:notes.md=Lantern", "verified", json!(true), None),
        ("file:notes.md=Heron", "false_success", json!(false), None),
        ("file:none.md", "false_success", json!(false), None),
    ];
    for (verifier, gate, success, reason) in table {
        let known = home.json(&["set", "release-notes", "--verifier", verifier]);
        assert!(!known["verifier"].is_null());
        // What the recorded run left in its files is not known any more.
        assert_eq!(
            home.json(&["show", "release-notes"])["success"],
            Value::Null
        );
        let (status, forked) = fork(&home, &at, &[]);
        assert_eq!(status, Some(0), "{verifier}: {forked}");
        let branch = &forked["branches"][0];
        assert_eq!(branch["gate"], gate, "{verifier}");
        assert_eq!(branch["success"], success, "{verifier}");
        let told = branch["reason"].as_str().unwrap_or_default();
        assert!(
            reason.is_none_or(|part| told.contains(part)),
            "{verifier}: {told}"
        );
    }
    let chain = home.text(&["receipt", "export"]);
    assert!(chain.contains(r#""verifier":"command""#) && chain.contains(r#""verifier":"file""#));
    assert!(!chain.contains("Heron"));
    for verifier in ["command:", "file:../x", "file:/etc/passwd"] {
        home.refused(2, &["set", "release-notes", "--verifier", verifier]);
    }
}

#[test]
fn the_recorded_run_is_judged_by_files_only_where_they_are_known() {
    let home = Home::new();
    let repo = repository(&home);
    let path = home.file("run.jsonl", &log());
    let verifier = "verifier = { file = { path = \"kept.txt\", contains = \"changed\" } }\n";
    home.file("run.dover.toml", verifier);
    home.json(&["import", &path]);
    assert_eq!(home.json(&["show", "run"])["success"], Value::Null);

    let other = home.file("seen.jsonl", &log().replace("\"t\"", "\"u\""));
    home.file(
        "seen.dover.toml",
        &format!("workspace = \"repo\"\n{verifier}"),
    );
    let before = traces(&repo);
    let id = home.json(&["import", &other])["session"].clone();
    assert_eq!(traces(&repo), before);
    let id = id.as_str().unwrap();
    assert_eq!(home.json(&["show", id])["success"], true);
    // A title changes no judgement.
    home.json(&["set", id, "--title", "seen"]);
    assert_eq!(home.json(&["show", id])["success"], true);
}

/// A runtime that calls its restore exact and gives back something else.
struct Liar;

struct Lie(Box<dyn Run>);

#[async_trait::async_trait]
impl Run for Lie {
    fn keys(&self) -> Vec<RestoredKey> {
        let mut keys = self.0.keys();
        keys[0].fingerprint = Some(Digest::of("something else"));
        "restored exactly".clone_into(&mut keys[0].test);
        keys
    }

    fn config(&self) -> Manifest {
        self.0.config()
    }

    fn decide(&mut self, decision: Decision) {
        self.0.decide(decision);
    }

    fn workspace(&self) -> Workspace {
        self.0.workspace()
    }

    async fn next(&mut self) -> Result<Event, RuntimeError> {
        panic!("nothing may run on a lie")
    }
}

#[async_trait::async_trait]
impl Runtime for Liar {
    fn describe(&self, session: &Session) -> Description {
        Scenario.describe(session)
    }

    async fn restore(&self, restore: Restore) -> Result<Box<dyn Run>, RuntimeError> {
        Ok(Box::new(Lie(Scenario.restore(restore).await?)))
    }
}

#[tokio::test]
async fn a_runtime_that_claims_an_exact_restore_is_caught_by_its_fingerprint() {
    let home = Home::new();
    home.json(&["import", &home.file("notes.toml", &world())]);
    settle(&home, "release-notes");
    let store = Store::open(&home.path("store.db"), Arc::new(SystemClock)).unwrap();
    let request = ForkRequest::at(BranchId::main("release-notes"), 5, "ann");
    let mut plan = pipeline::plan(&store, request, &ModelSettings::default()).unwrap();
    assert!(plan.description.exact);
    assert!(pipeline::check(&store, &plan).await.unwrap().ready());
    plan.runtime = Arc::new(Liar);
    let (tell, _) = tokio::sync::mpsc::unbounded_channel();
    let outcome = pipeline::fork(
        &store,
        plan,
        &dover::pipeline::Jobs::new(1),
        Control::default(),
        tell,
    )
    .await
    .unwrap();
    let report = outcome.report.unwrap();
    assert_eq!(report.status, GateStatus::RestoreUncertain);
    let told = &report.gates[1].details[0];
    assert!(told.contains("drifted: restored exactly; was "), "{told}");
    assert_eq!(outcome.branches[0].run, RunStatus::Held);
    assert_eq!(outcome.branches[0].steps, 5);
}

#[test]
fn an_effect_is_not_lost_among_contradictory_numbers() {
    let digest = "0".repeat(64);
    let step = |index: usize, kind: &str| json!({"type": "step", "index": index, "agent": "A", "kind": kind, "text": format!("{index}")});
    let effect = |step: usize, key: &str| {
        json!({"type": "effect", "step": step, "agent": "A", "tool": "mail", "class": "permanent",
            "operation_key": key, "args_sha256": digest, "state": "pending"})
    };
    let state = |step: usize| {
        json!({"type": "checkpoint", "step": step,
            "keys": {"agent_memory": {"revision": format!("{step}"), "fingerprint": digest}}})
    };
    let lines = [
        json!({"type": "session", "task": "t"}),
        step(0, "task"),
        step(1, "message"),
        step(1, "message"),
        step(1, "tool_call"),
        effect(1, "third"),
        step(0, "message"),
        effect(0, "fourth"),
        effect(9, "named-later"),
        state(7),
        step(2, "answer"),
        effect(0, "named-earlier"),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let home = Home::new();
    let path = home.file("run.jsonl", &text);
    let imported = home.json(&["import", &path]);
    let damaged = imported["coverage"]["damaged"].as_u64().unwrap();
    assert!(damaged >= 3, "{imported}");
    let known = home.json(&["set", "run"]);
    let at = |key: &str| {
        let effects = known["effects"].as_array().unwrap();
        let found = effects.iter().find(|effect| effect["operation_key"] == key);
        found.unwrap()["step"].as_u64().unwrap()
    };
    assert_eq!(at("third"), 3);
    assert_eq!(at("fourth"), 4);
    assert_eq!(at("named-earlier"), 5);
    assert_eq!(at("named-later"), 9);
    // No number in the file lets a fork before its effect slip past gate 3.
    let notes = imported["coverage"]["notes"].to_string();
    assert!(
        notes.contains("state before step 7") && notes.contains("named-later"),
        "{notes}"
    );
}
