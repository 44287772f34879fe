//! Profile files: whose word holds, what is wrong in one, what a change leaves behind.

use std::fs;

use serde_json::{Value, json};

use super::{Home, fork, log, played};

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

    // Named without its directory, the log is in the present one.
    let here = Home::new();
    here.file("run.jsonl", &log());
    here.file("dover.toml", "expected = \"41\"\n");
    here.json(&["import", "run.jsonl"]);
    assert_eq!(here.json(&["set", "run"])["expected"], "41");

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
fn a_profile_of_ones_own_beside_a_sample_is_not_passed_over() {
    let sample = include_str!("../../../sample-sessions/honey-stall.jsonl");
    let home = Home::new();
    let path = home.file("copy.jsonl", sample);
    home.file("copy.dover.toml", "expected = \"17\"\n");
    let id = home.json(&["import", &path])["session"].clone();
    assert_eq!(home.json(&["set", id.as_str().unwrap()])["expected"], "17");
    let home = Home::new();
    let path = home.file("copy.jsonl", sample);
    home.file("dover.toml", "nonsense = 1\n");
    assert!(home.refused(2, &["import", &path]).contains("nonsense"));
}
