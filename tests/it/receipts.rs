//! Steering records and receipts on the command line.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::Home;

fn sample() -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("sample-sessions")
        .join("steering-receipts.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn classify_names_status_and_deciding_gate() {
    let home = Home::new();
    let mut records = sample();
    records[2]["effects"][1]["state"] = json!("no such word");
    let file = home.file("records.json", &records.to_string());
    let found = home.json(&["classify", &file]);
    let told: Vec<(&str, u64)> = found["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let gate = one["deciding_gate"]["number"].as_u64().unwrap_or_default();
            (one["status"].as_str().unwrap(), gate)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("restore_uncertain", 2),
            ("effects_unreconciled", 3),
            ("effects_unreconciled", 3),
            ("config_unpinned", 5),
            ("ready_to_resume", 0),
            ("verified", 6),
            ("false_success", 6),
            ("unverified", 6),
        ]
    );
    assert_eq!(found["records"][0]["gates"].as_array().unwrap().len(), 6);
    let text = home.text(&["classify", &file]);
    for word in [
        "publish-digest/b1",
        "restore_uncertain",
        "gate 2 state",
        "approval_queue missing",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(!home.path("store.db").exists(), "no store is needed");
}

#[test]
fn what_holds_no_record_is_one_clear_sentence() {
    let home = Home::new();
    for text in ["", "[]", "plain words"] {
        let output = home.run(&["classify", &home.file("bad", text)]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(output.stdout.is_empty());
    }
    fs::write(home.path("bytes"), [0xff, 0xfe, 0]).unwrap();
    assert_eq!(home.run(&["classify", "bytes"]).status.code(), Some(2));
    assert_eq!(home.run(&["classify", "nowhere"]).status.code(), Some(2));
}

#[test]
fn the_schema_of_steering_records_knows_every_field_of_the_sample() {
    let home = Home::new();
    let schema: Value = serde_json::from_str(&home.text(&["schema", "steering"])).unwrap();
    let blocks = &schema["$defs"]["record"]["properties"];
    for record in sample().as_array().unwrap() {
        for (block, value) in record.as_object().unwrap() {
            assert!(blocks.get(block).is_some(), "{block}");
            for field in value.as_object().into_iter().flat_map(|map| map.keys()) {
                assert!(
                    blocks[block]["properties"].get(field).is_some(),
                    "{block}.{field}"
                );
            }
        }
    }
}

/// Stands wherever a person's text, secret or path may stand.
const MARKER: &str = "zq7marker";

/// Two decisions about the effects of a log, and so two receipts.
fn two_receipts(home: &Home) {
    let call = |id: &str| {
        json!({"role": "assistant", "content": MARKER, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": MARKER, "arguments": format!("{{\"to\":\"{MARKER}\"}}")}}
        ]})
    };
    let log = json!([{"role": "user", "content": MARKER}, call("c1"), call("c2")]);
    let file = home.file(&format!("{MARKER}.json"), &log.to_string());
    for key in ["c1@2=reconciled", "c2@4=reverted"] {
        let output = home
            .dover()
            .args(["set", &file, "--effect", key, "--why", MARKER])
            .env("DOVER_OPERATOR", MARKER)
            .env("OPENAI_API_KEY", MARKER)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

fn with_keys(home: &Home, words: &[&str]) -> std::process::Output {
    home.dover()
        .args(words)
        .env("DOVER_CONFIG", home.path("config"))
        .output()
        .unwrap()
}

#[test]
fn receipts_are_shown_handed_out_and_checked_by_a_stranger() {
    let home = Home::new();
    two_receipts(&home);
    let shown = home.json(&["receipt", "show"]);
    assert_eq!(shown["receipts"].as_array().unwrap().len(), 2);
    assert_eq!(shown["receipts"][1]["state"], "reverted");
    assert!(home.text(&["receipt", "show"]).contains("reconciled"));
    assert_eq!(home.json(&["receipt", "verify"])["receipts"], 2);

    let owner = with_keys(&home, &["owner", "new", "olga", "--json"]);
    let owner: Value = serde_json::from_slice(&owner.stdout).unwrap();
    let key = owner["key"].as_str().unwrap();
    assert_eq!(
        with_keys(&home, &["owner", "new", "olga"]).status.code(),
        Some(2)
    );
    let signed = with_keys(&home, &["receipt", "export", "--sign", "olga"]).stdout;
    assert!(!String::from_utf8_lossy(&signed).contains(MARKER));

    // The stranger has the file and the key, and no store.
    let stranger = Home::new();
    let file = stranger.file("chain", std::str::from_utf8(&signed).unwrap());
    let found = stranger.json(&["receipt", "verify", &file, "--key", key]);
    assert_eq!(
        (&found["verified"], &found["key"]),
        (&json!(true), &json!(key))
    );
    assert!(!stranger.path("store.db").exists());
    let unsigned = stranger.file("unsigned", &home.text(&["receipt", "export"]));
    assert!(
        stranger
            .text(&["receipt", "verify", &unsigned])
            .contains("not signed")
    );
    assert_eq!(
        stranger
            .run(&["receipt", "verify", &unsigned, "--key", key])
            .status
            .code(),
        Some(1)
    );

    let text = std::str::from_utf8(&signed).unwrap();
    let second = stranger.file("second", &text.replacen("reverted", "reconciled", 1));
    let output = stranger.run(&["receipt", "verify", &second, "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        (&told["verified"], &told["place"]),
        (&json!(false), &json!("receipt 2"))
    );
    assert_eq!(
        stranger
            .run(&["receipt", "verify", "nowhere"])
            .status
            .code(),
        Some(2)
    );
    assert_eq!(
        stranger
            .run(&["receipt", "verify", &file, "--key", "00"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn the_schema_of_receipts_knows_every_field_of_a_chain() {
    let home = Home::new();
    two_receipts(&home);
    let schema: Value = serde_json::from_str(&home.text(&["schema", "receipt"])).unwrap();
    let chain = home.text(&["receipt", "export"]);
    let [decision, _, head] = chain.lines().collect::<Vec<_>>()[..] else {
        panic!("{chain}")
    };
    for (name, line) in [("decision", decision), ("head", head)] {
        let line: Value = serde_json::from_str(line).unwrap();
        for field in line.as_object().unwrap().keys() {
            assert!(
                schema["$defs"][name]["properties"].get(field).is_some(),
                "{field}"
            );
        }
    }
}
