//! The sample's eight branches, the ninth, every mending and every way to spoil a record.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use GateStatus::{
    ConfigUnpinned, EffectsUnreconciled, FalseSuccess, InvalidLineage, NeedsApproval,
    ReadyToResume, RestoreUncertain, Unverified, Verified,
};

const SAMPLE: &str = include_str!("../../../sample-sessions/steering-receipts.json");

/// The order in which SPEC 3 lists them, `invalid_lineage` being the ninth.
const EIGHT: [GateStatus; 8] = [
    RestoreUncertain,
    EffectsUnreconciled,
    NeedsApproval,
    ConfigUnpinned,
    ReadyToResume,
    Verified,
    FalseSuccess,
    Unverified,
];

fn sample() -> Vec<Value> {
    serde_json::from_str(SAMPLE).unwrap()
}

fn statuses(records: &[Value]) -> Vec<GateStatus> {
    let found = classify(&json!(records).to_string()).unwrap();
    found.iter().map(|one| one.report.status).collect()
}

fn one(record: &Value) -> Classified {
    classify(&record.to_string()).unwrap().remove(0)
}

/// How much a status allows: nothing, in the order of the gates; to resume; to call the work done.
fn worth(status: GateStatus) -> usize {
    [
        &[InvalidLineage][..],
        &[RestoreUncertain],
        &[EffectsUnreconciled],
        &[NeedsApproval],
        &[ConfigUnpinned],
        &[FalseSuccess, Unverified],
        &[ReadyToResume],
        &[Verified],
    ]
    .iter()
    .position(|same| same.contains(&status))
    .unwrap()
}

#[test]
fn the_sample_has_one_branch_per_outcome() {
    assert_eq!(statuses(&sample()), EIGHT);
    let deciding: Vec<_> = classify(SAMPLE)
        .unwrap()
        .iter()
        .map(|one| one.deciding_gate().map(|gate| gate.number))
        .collect();
    let gates = [2, 3, 4, 5, 0, 6, 6, 6];
    assert_eq!(deciding, gates.map(|n| Some(n).filter(|n| *n > 0)));
}

#[test]
fn a_ninth_that_is_its_own_parent_has_no_lineage() {
    let mut records = sample();
    let mut ninth = records[5].clone();
    ninth["id"] = json!("publish-digest/b9");
    ninth["parent"] = json!("publish-digest/b9");
    records.push(ninth);
    let found = statuses(&records);
    assert_eq!(found[..8], EIGHT);
    assert_eq!(found[8], InvalidLineage);
}

#[test]
fn mending_one_field_moves_that_branch_alone_to_the_next_gate_that_fails() {
    let good = &sample()[4];
    let config = good["config"]["pinned"].clone();
    let table = [
        (
            0,
            "/state/keys",
            good["state"]["keys"].clone(),
            EffectsUnreconciled,
        ),
        (1, "/effects/0/state", json!("reconciled"), NeedsApproval),
        (
            2,
            "/authority/approval",
            approval(&sample()[2]),
            ConfigUnpinned,
        ),
        (3, "/config/pinned", config, ReadyToResume),
        (4, "/outcome", json!({ "run": "stopped" }), Unverified),
        (6, "/outcome/result", json!("passed"), Verified),
        (7, "/outcome/verifier", json!("contains"), Verified),
        // What SPEC 3 allows beside the plainest way.
        (1, "/effects/0/state", json!("reverted"), NeedsApproval),
        (
            2,
            "/authority/reach",
            json!("local_fixtures"),
            ConfigUnpinned,
        ),
        (2, "/authority/changes", json!([]), ConfigUnpinned),
        (5, "/outcome/diagnostic", json!(true), Unverified),
        (5, "/outcome/final_answer", json!(false), Unverified),
        (5, "/outcome/receipt", Value::Null, Unverified),
        (
            5,
            "/outcome/receipt/branch",
            json!("publish-digest/main"),
            Unverified,
        ),
        (5, "/outcome/verifier", json!("model_opinion"), Unverified),
    ];
    for (at, field, value, status) in table {
        let mut records = sample();
        *records[at].pointer_mut(field).unwrap() = value;
        let mut expected = EIGHT;
        expected[at] = status;
        assert_eq!(statuses(&records), expected, "record {at}: {field}");
    }
}

/// An approval of exactly what a record asks for.
fn approval(record: &Value) -> Value {
    let mut approval = sample()[4]["authority"]["approval"].clone();
    approval["edit"] = record["authority"]["edit"].clone();
    approval
}

#[test]
fn contradictions_are_held_at_their_gate() {
    let digest = json!("0".repeat(64));
    let table = [
        ("/lineage/fork_step", json!(24), InvalidLineage),
        ("/lineage/fork_step", json!(13), NeedsApproval),
        ("/lineage/prefix_recomputed", digest.clone(), InvalidLineage),
        (
            "/lineage/ancestors",
            json!(["publish-digest/b6"]),
            InvalidLineage,
        ),
        (
            "/lineage/ancestors",
            json!(["publish-digest/main"]),
            InvalidLineage,
        ),
        ("/lineage/ancestors", json!(["a", "b", "a"]), InvalidLineage),
        ("/parent", json!(""), InvalidLineage),
        ("/id", json!("a\u{1b}[2Jb"), InvalidLineage),
        // A restore called exact with another fingerprint, and the other way round.
        (
            "/state/keys/browser/restored/fingerprint",
            digest.clone(),
            RestoreUncertain,
        ),
        (
            "/state/keys/browser/restored/result",
            json!("drifted"),
            RestoreUncertain,
        ),
        (
            "/state/keys/browser/restored",
            Value::Null,
            RestoreUncertain,
        ),
        ("/state/required", json!([]), RestoreUncertain),
        ("/effects/0/evidence", json!("none"), EffectsUnreconciled),
        ("/effects/0/step", json!(11), EffectsUnreconciled),
        ("/effects/0/step", json!(24), EffectsUnreconciled),
        ("/effects/0/class", json!("read_only"), EffectsUnreconciled),
        ("/authority/driver", json!("bob"), NeedsApproval),
        ("/authority/runs", json!(3), NeedsApproval),
        ("/authority/edit", digest.clone(), NeedsApproval),
        (
            "/authority/at",
            json!("2026-03-02T18:00:00Z"),
            NeedsApproval,
        ),
        (
            "/authority/at",
            json!("2026-03-02T10:04:59Z"),
            NeedsApproval,
        ),
        ("/authority/approval/used", json!(true), NeedsApproval),
        (
            "/authority/approval/authorised",
            json!(false),
            NeedsApproval,
        ),
        ("/authority/approval/owner", json!(" "), NeedsApproval),
        ("/config/runtime", digest, NeedsApproval),
        ("/config/runtime", Value::Null, ConfigUnpinned),
        ("/outcome/run", json!("planned"), Unverified),
        ("/outcome/run", json!("failed"), Unverified),
    ];
    for (field, value, status) in table {
        let mut record = sample()[5].clone();
        *record.pointer_mut(field).unwrap() = value.clone();
        assert_eq!(one(&record).report.status, status, "{field} = {value}");
    }
}

#[test]
fn acknowledged_drift_of_the_tool_registry_is_enough_and_of_nothing_else() {
    for (key, status) in [("tool_registry", Verified), ("browser", RestoreUncertain)] {
        let mut record = sample()[5].clone();
        let back = &mut record["state"]["keys"][key]["restored"];
        back["fingerprint"] = json!("0".repeat(64));
        back["result"] = json!("drifted");
        assert_eq!(one(&record).report.status, RestoreUncertain);
        record["state"]["drift_acknowledged"] = json!(true);
        assert_eq!(one(&record).report.status, status);
    }
}

#[test]
fn doubled_and_cyclic_records_are_held_and_hide_no_other() {
    let mut records = sample();
    records.push(records[5].clone());
    let mut expected = EIGHT.to_vec();
    expected[5] = InvalidLineage;
    expected.push(InvalidLineage);
    assert_eq!(statuses(&records), expected);

    let mut records = sample();
    records[4]["parent"] = json!("publish-digest/b6");
    records[5]["parent"] = json!("publish-digest/b5");
    let mut expected = EIGHT.to_vec();
    (expected[4], expected[5]) = (InvalidLineage, InvalidLineage);
    assert_eq!(statuses(&records), expected);
    let found = classify(&json!(records).to_string()).unwrap();
    assert!(
        found[4].reason().contains("come back"),
        "{}",
        found[4].reason()
    );

    // A child tells other ancestors than its parent's own record does.
    let mut records = sample();
    records[5]["parent"] = json!("publish-digest/b5");
    records[5]["authority"]["approval"]["parent"] = json!("publish-digest/b5");
    assert_eq!(statuses(&records)[5], InvalidLineage);
    records[5]["lineage"]["ancestors"] = json!(["publish-digest/main"]);
    assert_eq!(statuses(&records), EIGHT);
}

#[test]
fn a_doubled_field_is_no_field() {
    let record = sample()[1].to_string();
    let table = [
        (
            r#""state":"pending""#,
            r#""state":"pending","state":"reconciled""#,
            EffectsUnreconciled,
        ),
        (
            r#""run":"held""#,
            r#""run":"held","run":"planned""#,
            EffectsUnreconciled,
        ),
        (
            r#""parent":"publish-digest/main","lineage""#,
            r#""parent":"a","parent":"b","lineage""#,
            InvalidLineage,
        ),
    ];
    for (from, to, status) in table {
        let doubled = record.replacen(from, to, 1);
        assert_ne!(doubled, record);
        let found = classify(&doubled).unwrap();
        assert_eq!(found[0].report.status, status, "{to}");
    }
    let good = sample()[5].to_string();
    let doubled = good.replacen(
        r#""keys":{"#,
        r#""keys":{"browser":{"revision":"v","fingerprint":"00"},"#,
        1,
    );
    assert_eq!(
        classify(&doubled).unwrap()[0].report.status,
        RestoreUncertain
    );
    let whole = sample()[5]["state"]["keys"]["browser"].to_string();
    let doubled = good.replacen(r#""keys":{"#, &format!(r#""keys":{{"browser":{whole},"#), 1);
    let found = classify(&doubled).unwrap();
    assert_eq!(found[0].report.status, RestoreUncertain);
    assert!(found[0].reason().contains("stands twice"));
}

#[test]
fn a_file_may_be_an_array_one_record_or_lines_of_which_some_are_bad() {
    let records = sample();
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let of = |text: &str| -> Vec<GateStatus> {
        let found = classify(text).unwrap();
        found.iter().map(|one| one.report.status).collect()
    };
    assert_eq!(of(&lines.join("\n")), EIGHT);
    assert_eq!(
        of(&serde_json::to_string_pretty(&records[5]).unwrap()),
        [Verified]
    );
    let bad = format!(
        "\u{feff}{}\n{}\n\nnonsense\r\n{}",
        lines[4],
        &lines[5][..99],
        lines[5]
    );
    assert_eq!(
        of(&bad),
        [ReadyToResume, InvalidLineage, InvalidLineage, Verified]
    );
    assert_eq!(of("[1, null, {}, [], \"x\"]"), [InvalidLineage; 5]);
    for (text, told) in [
        ("", "no steering record"),
        (" [ ] ", "no steering record"),
        ("{\"id\":", "neither"),
    ] {
        let error = classify(text).unwrap_err().to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
}

/// The places of all values inside a value, as JSON pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(i, value)| (i.to_string(), value))
            .collect(),
        _ => Vec::new(),
    };
    for (key, value) in inner {
        let place = format!("{at}/{key}");
        places(value, &place, found);
        found.push(place);
    }
}

fn all_places(record: &Value) -> Vec<String> {
    let mut found = Vec::new();
    places(record, "", &mut found);
    found
}

/// Takes the member at a place away; false if it is not an object's.
fn remove(record: &mut Value, place: &str) -> bool {
    let (parent, key) = place.rsplit_once('/').unwrap();
    let parent = record.pointer_mut(parent).unwrap();
    parent
        .as_object_mut()
        .is_some_and(|map| map.shift_remove(key).is_some())
}

#[test]
fn no_field_that_is_lost_nulled_or_nonsense_gains_a_status() {
    for record in sample() {
        let before = worth(one(&record).report.status);
        for place in all_places(&record) {
            let nonsense = [
                Value::Null,
                json!("\u{202e}no such word"),
                json!(-1),
                json!(1.5),
                json!([[]]),
                json!({ "x": 1 }),
            ];
            let mut spoilt: Vec<Value> = nonsense
                .iter()
                .map(|value| {
                    let mut record = record.clone();
                    *record.pointer_mut(&place).unwrap() = value.clone();
                    record
                })
                .collect();
            let mut without = record.clone();
            if remove(&mut without, &place) {
                spoilt.push(without);
            }
            for spoilt in spoilt {
                let found = one(&spoilt);
                assert!(
                    worth(found.report.status) <= before,
                    "{place}: {}",
                    found.reason()
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn no_change_of_one_field_gains_on_a_record_that_holds(
        which in prop::sample::select(vec![4_usize, 5]), place: prop::sample::Index, donor: prop::sample::Index,
        word in "[a-z_]{0,12}", number: u8, kind in 0..6_u8,
    ) {
        let mut record = sample().swap_remove(which);
        let before = worth(one(&record).report.status);
        let places = all_places(&record);
        let place = place.get(&places);
        let borrowed = record.pointer(donor.get::<String>(&places)).cloned();
        let field = record.pointer_mut(place).unwrap();
        *field = match (kind, &*field) {
            (0, Value::Bool(value)) => json!(!value),
            (1, Value::Number(value)) => json!(value.as_u64().unwrap_or_default() + 1),
            (2, _) => borrowed.unwrap(),
            (3, _) => json!(word),
            (4, Value::Array(_)) => json!([]),
            _ => json!(number),
        };
        prop_assert!(worth(one(&record).report.status) <= before, "{}", place);
    }

    #[test]
    fn any_text_is_held_or_refused(text in r#"[\[\]{}",:a-z0-9 \n]{0,60}"#) {
        if let Ok(found) = classify(&text) {
            prop_assert!(found.iter().all(|one| one.report.status == InvalidLineage));
        }
    }
}
