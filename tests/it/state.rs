//! What is fixed before a fork and what a fork restores: profile files, work trees, keys that commands tell, verifiers with files.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::cli::Home;

const WORLD: &str = include_str!("../../sample-sessions/release-notes.toml");

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
    let world = home.file("notes.toml", WORLD);
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
fn a_profile_file_beside_a_log_holds_in_place_of_the_header() {
    let home = Home::new();
    let path = home.file("run.jsonl", &log());
    home.file("dover.toml", "expected = \"41\"\n");
    home.json(&["import", &path]);
    let known = home.json(&["set", "run"]);
    assert_eq!(known["expected"], "41");
    // Given an expected answer, it is judged by it.
    assert_eq!(known["verifier"], "answer");

    // The session's own file holds alone.
    let home = Home::new();
    let path = home.file("run.jsonl", &log());
    home.file("dover.toml", "expected = \"41\"\nunknown = 1\n");
    home.file(
        "run.dover.toml",
        "expected = \"42\"\n[tools.send_mail]\nclass = \"permanent\"\n",
    );
    home.json(&["import", &path]);
    let known = home.json(&["set", "run"]);
    assert_eq!(known["expected"], "42");
    assert_eq!(known["tools"]["send_mail"]["class"], "permanent");
    assert_eq!(known["notes"], json!([]));
}

#[test]
fn a_bad_profile_file_fails_the_import_and_names_its_line() {
    let key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    let long = format!("required_keys = [{}]", "\"k\", ".repeat(300));
    let table: [(&str, &[&str]); 18] = [
        ("\n\nnonsense = 1", &["line 3", "nonsense"]),
        ("a = ", &["line 1"]),
        ("\nrequired_keys = \"browser\"", &["line 2"]),
        ("[tools.x]\nclass = \"dangerous\"", &["line 2", "dangerous"]),
        ("[tools.x]\nclas = \"permanent\"", &["line 2", "clas"]),
        (
            "[tools.x]\nreconcile = []",
            &["line 2", "reconcile is empty"],
        ),
        ("[tools.x]\nreconcile = \"sh x\"", &["line 2"]),
        ("[tools.x]\noutside = 1", &["line 2"]),
        ("[tools.x]\ntime_limit = 0", &["line 2", "time_limit"]),
        ("[tools.x]\ntime_limit = 4000", &["line 2", "3600"]),
        ("[owners]\n\nolga = \"12\"", &["line 3", "olga", "hex"]),
        (
            "[owners]\nolga = \"0100000000000000000000000000000000000000000000000000000000000000\"",
            &["line 2", "weak"],
        ),
        (
            "[keys.credentials]\ncommand = []",
            &["line 2", "command is empty"],
        ),
        ("[keys.credentials]\ntime_limit = 3", &["line 1", "command"]),
        ("verifier = \"opinion\"", &["line 1", "opinion"]),
        (
            "\nverifier = { file = { path = \"../x\" } }",
            &["line 2", "inside the workspace"],
        ),
        (
            "verifier = { command = [] }",
            &["line 1", "command is empty"],
        ),
        (&long, &["line 1", "256"]),
    ];
    for (text, parts) in table {
        let home = Home::new();
        let path = home.file("run.jsonl", &log());
        home.file("dover.toml", text);
        let said = home.refused(2, &["import", &path]);
        assert_eq!(said.lines().count(), 1, "{text}: {said}");
        for part in [&["dover.toml", "dover schema profile"], parts].concat() {
            assert!(said.contains(part), "{text}: {said} has no {part}");
        }
        let stored = home.json(&["sessions"])["sessions"].to_string();
        assert!(!stored.contains(r#""id":"run""#), "{text}");
    }
    let home = Home::new();
    let path = home.file("run.jsonl", &log());
    for bytes in [vec![0xff, 0xfe], vec![b'#'; 300 << 10]] {
        fs::write(home.path("dover.toml"), bytes).unwrap();
        assert!(home.refused(2, &["import", &path]).contains("dover.toml"));
    }
    fs::remove_file(home.path("dover.toml")).unwrap();
    std::os::unix::fs::symlink("/nowhere", home.path("dover.toml")).unwrap();
    assert!(home.refused(2, &["import", &path]).contains("dover.toml"));
    fs::remove_file(home.path("dover.toml")).unwrap();
    // The key of RFC 8032's first test is a good one.
    home.file("dover.toml", &format!("[owners]\nolga = \"{key}\"\n"));
    home.json(&["import", &path]);
    // A profile is neither a log nor a world.
    let said = home.refused(2, &["import", home.path("dover.toml").to_str().unwrap()]);
    assert!(said.contains("profile"), "{said}");
}

#[test]
fn a_log_names_no_programs_and_no_directories() {
    let home = Home::new();
    let touch = |name: &str| json!(["touch", home.path(name)]);
    let header = json!({
        "type": "session", "task": "t", "base_dir": home.path(""), "at_start": {"profile": {}},
        "evidence": {"credentials": {"revision": "1", "fingerprint": "0".repeat(64)}},
        "verifier": {"command": touch("a")},
        "profile": {
            "required_keys": ["credentials"], "workspace": "/",
            "tools": {"mail": {"class": "permanent", "reconcile": touch("b")}},
            "keys": {"credentials": {"command": touch("c")}},
        },
    });
    let rest: String = log()
        .lines()
        .skip(1)
        .map(|line| format!("{line}\n"))
        .collect();
    let path = home.file("run.jsonl", &format!("{header}\n{rest}"));
    let imported = home.json(&["import", &path]);
    let notes = imported["coverage"]["notes"].to_string();
    for part in [
        "tool mail",
        "state key credentials",
        "workspace",
        "verifier",
    ] {
        assert!(notes.contains(part), "{notes}");
    }
    let known = home.json(&["set", "run"]);
    assert_eq!(known["verifier"], Value::Null);
    assert_eq!(known["tools"]["mail"], json!({"class": "permanent"}));
    for name in ["a", "b", "c"] {
        assert!(!home.path(name).exists());
    }
}

#[test]
fn a_changed_profile_is_told_taken_over_on_request_and_never_silent() {
    let home = Home::new();
    let path = home.file("run.jsonl", &log());
    let profile = home.file("run.dover.toml", "[tools.mail]\nclass = \"permanent\"\n");
    home.json(&["import", &path]);
    assert_eq!(home.json(&["import", &path])["notes"], json!([]));
    home.file("run.dover.toml", "[tools.mail]\nclass = \"read_only\"\n");
    let again = home.json(&["import", &path]);
    assert_eq!(again["new"], false);
    let note = again["notes"][0].as_str().unwrap();
    assert!(note.contains("dover set run --profile"), "{note}");
    let class = |home: &Home| home.json(&["set", "run"])["tools"]["mail"]["class"].clone();
    assert_eq!(class(&home), "permanent");

    let known = home.json(&["set", "run", "--profile", &profile]);
    assert_eq!(known["notes"], json!(["tool mail: permanent to read_only"]));
    assert_eq!(class(&home), "read_only");
    assert_eq!(home.json(&["import", &path])["notes"], json!([]));
    let chain = home.text(&["receipt", "export"]);
    assert!(chain.contains(r#""about":"profile""#) && chain.contains(r#""state":"changed""#));
    home.text(&["receipt", "verify"]);
    // A change that changes nothing leaves no receipt.
    home.json(&["set", "run", "--profile", &profile, "--title", "other"]);
    assert_eq!(home.text(&["receipt", "export"]), chain);
    home.file("run.dover.toml", "nonsense = 1\n");
    assert!(
        home.refused(2, &["set", "run", "--profile", &profile])
            .contains("nonsense")
    );
    assert!(home.refused(2, &["import", &path]).contains("nonsense"));

    let schema: Value = serde_json::from_str(&home.text(&["schema", "profile"])).unwrap();
    assert!(schema["properties"]["tools"].is_object());
}

#[test]
fn a_change_since_the_start_stands_beside_the_gates_and_in_the_receipt() {
    let home = Home::new();
    let at = played(&home, "");
    let (status, forked) = fork(&home, &at, &[]);
    assert_eq!((status, &forked["notes"]), (Some(0), &json!([])));
    home.json(&["set", "release-notes", "--tool", "open_ticket=permanent"]);
    let (_, forked) = fork(&home, &at, &[]);
    assert_eq!(
        forked["notes"],
        json!(["tool open_ticket added as permanent"])
    );
    let text = home.run(&["fork", "release-notes", "--at", &at, "--runs", "1"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("tool open_ticket added as permanent"),
        "{text}"
    );
    let chain = home.text(&["receipt", "export"]);
    let forks: Vec<Value> = chain
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line["kind"] == "fork")
        .collect();
    assert_eq!(forks[0].get("profile_at_start"), None);
    assert_eq!(forks[1]["profile_at_start"], forks[0]["profile"]);
    assert_ne!(forks[1]["profile"], forks[0]["profile"]);
    let changed: Value = chain
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|line| line["about"] == "profile")
        .unwrap();
    assert_eq!(changed["evidence"], forks[1]["profile"]);
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
    assert!(home.text(&words).contains("4"));
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
    assert_eq!(forked["branches"][0]["gate"], "unverified");
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
