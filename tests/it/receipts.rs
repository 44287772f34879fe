//! Steering records on the command line.

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
