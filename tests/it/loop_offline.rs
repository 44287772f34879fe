//! The loop with the analyst by rules, as somebody without a key or a network meets it: the real binary, over the sample sessions and over a
//! world of another domain.

use std::collections::BTreeMap;

use serde_json::Value;

use super::cli::Home;

/// The report of `dover debug`, and its exit status.
fn debug(home: &Home, session: &str, seed: &str) -> (Value, Option<i32>) {
    let words = ["debug", session, "--runs", "3", "--seed", seed, "--json"];
    let output = home.run(&words);
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (report, output.status.code())
}

/// How often each verdict was given, "held" and the like beside Inconclusive.
fn verdicts(report: &Value) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for trial in report["trials"].as_array().unwrap() {
        for tested in trial["tested"].as_array().unwrap() {
            let name = tested["verdict"].as_str().unwrap_or("none").to_owned();
            *counts.entry(name).or_insert(0) += 1;
        }
    }
    counts
}

#[test]
fn every_trial_of_every_sample_gets_a_hypothesis_and_every_sample_a_validated_one() {
    let mut all: BTreeMap<String, usize> = BTreeMap::new();
    for sample in [
        "night-picture",
        "honey-stall",
        "release-notes",
        "north-light",
    ] {
        let home = Home::new();
        let (report, status) = debug(&home, sample, "1");
        for trial in report["trials"].as_array().unwrap() {
            let tested = trial["tested"].as_array().unwrap();
            assert!(!tested.is_empty(), "{sample}: {trial}");
            for one in tested {
                let (start, end) = (&trial["trial"]["start"], &trial["trial"]["end"]);
                let step = one["hypothesis"]["hypothesis"]["step"].as_u64();
                assert!(
                    start.as_u64() <= step && step <= end.as_u64(),
                    "{sample}: {one}"
                );
                // An Inconclusive one says why.
                let inconclusive = one["verdict"] == "inconclusive";
                assert_eq!(inconclusive, one["reason"].is_string(), "{sample}: {one}");
            }
        }
        let counts = verdicts(&report);
        assert!(counts.contains_key("validated"), "{sample}: {counts:?}");
        // Some branches held: status 1; else 0, whatever the verdicts.
        let held = report.to_string().contains(r#""run":"held""#);
        assert_eq!(status, Some(i32::from(held)), "{sample}");
        for (verdict, count) in counts {
            *all.entry(verdict).or_default() += count;
        }
        // Nothing that was recorded before has changed.
        let main = format!("{sample}/main");
        let before = Home::new();
        assert_eq!(steps(&home, &main), steps(&before, sample));
    }
    assert!(
        all.contains_key("refuted") && all.contains_key("inconclusive"),
        "{all:?}"
    );
}

fn steps(home: &Home, branch: &str) -> Value {
    let shown = home.json(&["show", branch]);
    shown["steps"].clone()
}

#[test]
fn an_equal_seed_gives_an_equal_report() {
    let report = |seed: &str| debug(&Home::new(), "north-light", seed).0.to_string();
    assert_eq!(report("7"), report("7"));
}

/// A catalogue of stars: other words and agents than the samples', and a page that is named by another and opened by nobody.
const WORLD: &str = r#"
title = "The star"
task = "How far away is the star that the observatory named after its cook?"
answer = "It is {far} light years away."
expected = "It is 91 light years away."
verifier = "answer"
start = "https://sky.example/"

[[milestone]]
title = "The cook's star is known"
check = { fact = "star" }
[[milestone]]
title = "The distance is known"
check = { fact = "far" }

[[agent]]
name = "Scout"
about = "opens the observatory's pages"
skills = ["open", "read", "press"]
vague = 0.0

[orchestrator]
name = "Lead"
stall_limit = 2
plan = ["1. Scout: open the catalogue.\n2. Scout: open the list of visitors."]

[[fact]]
id = "star"
about = "the star named after the cook"
value = "Alba"
guess = "Rigel"
[[fact]]
id = "far"
about = "the distance of the star"
value = "91"
guess = "860"
needs = ["star"]

[[page]]
address = "https://sky.example/"
title = "Observatory"
known = true
text = ["Catalogue · List of visitors · Names of stars"]
link = [
    { name = "Catalogue", to = "https://sky.example/catalogue" },
    { name = "List of visitors", to = "https://sky.example/visitors" },
    { name = "Names of stars", to = "https://sky.example/names" },
]
[[page]]
address = "https://sky.example/catalogue"
title = "Catalogue"
text = ["The distances are given by name. For the names see 'Names of stars'.", "Alba: 91 light years. Rigel: 860 light years."]
states = [{ fact = "far" }]
[[page]]
address = "https://sky.example/names"
title = "Names of stars"
text = ["Alba was named after the cook."]
states = [{ fact = "star" }]
[[page]]
address = "https://sky.example/visitors"
title = "List of visitors"
text = ["Nobody came."]
"#;

#[test]
fn a_source_that_a_page_names_in_quotation_marks_is_opened_first() {
    let home = Home::new();
    let world = home.file("star.toml", WORLD);
    let log = home.path("star.jsonl");
    let log = log.to_str().unwrap();
    home.text(&["run", "scenario", &world, "--seed", "3", "--out", log]);
    let (report, status) = debug(&home, log, "3");
    assert_eq!(status, Some(0), "{report}");
    assert!(verdicts(&report).contains_key("validated"), "{report}");
}
