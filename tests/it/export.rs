//! `dover export`: what is taken along is whole, equal when it comes back, and without what was to be taken out.

use std::fs;

use dover::model::{BranchId, SystemClock};
use dover::store::Store;
use serde_json::{Value, json};

use crate::cli::Home;
use crate::import::own_format::satisfies;

/// A night with two edits: one that stays in the sand, one that finds the page; the second forked from a branch of the first.
fn forked(home: &Home) {
    let steps = home.json(&["show", "night-picture"])["steps"].clone();
    let instruction = steps
        .as_array()
        .unwrap()
        .iter()
        .find(|step| step["kind"] == "instruction")
        .unwrap()["index"]
        .to_string();
    let fork = |of: &str, text: &str| {
        home.json(&[
            "fork",
            of,
            "--at",
            &instruction,
            "--text",
            text,
            "--runs",
            "2",
        ])
    };
    fork(
        "night-picture",
        "Open the archive & read <script>alert(1)</script> 'August 2015'",
    );
    fork("night-picture/b1", "Scroll to the bottom");
    home.text(&[
        "set",
        "night-picture",
        "--clear-milestones",
        "--milestone",
        "Seen by a person",
        "--milestone",
        "Archive=archive",
    ]);
    home.text(&["set", "night-picture/b1", "--mark", "1@2"]);
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn what_is_exported_imports_again_equal() {
    let (here, there) = (Home::new(), Home::new());
    forked(&here);
    let store = Store::open(&here.path("store.db"), std::sync::Arc::new(SystemClock)).unwrap();
    let on = |branch: &str, step: usize, text: &str| {
        let id = BranchId::new("night-picture", branch);
        store.keep_note(&id, step, Some(text), "", "ann").unwrap();
    };
    on("main", 2, "");
    on("b1", 2, "seen <b>by all</b>");
    let own = store.branch(&BranchId::new("night-picture", "b1")).unwrap();
    on("b1", own.fork_step.unwrap() + 1, "its own");
    for form in ["md", "html"] {
        let page = here.text(&["export", "night-picture", "--as", form]);
        assert!(page.contains("note by ann: its own"), "{form}");
    }
    assert!(
        here.text(&["show", "night-picture/b1"])
            .contains("note by ann: its own")
    );
    let file = there.path("night.jsonl");
    here.text(&[
        "export",
        "night-picture",
        "--as",
        "jsonl",
        "--out",
        file.to_str().unwrap(),
    ]);
    let exported = fs::read_to_string(&file).unwrap();
    let of = |kind: &str| {
        lines(&exported)
            .iter()
            .filter(|line| line["type"] == kind)
            .count()
    };
    assert_eq!(
        (of("branch"), of("intervention"), of("mark"), of("note")),
        (5, 2, 1, 2)
    );
    // Two forks and the ends of four runs; setting the milestone judged all of them again.
    assert!(of("receipt") >= 6, "{}", of("receipt"));
    let schema: Value = serde_json::from_str(&here.text(&["schema", "session"])).unwrap();
    for line in lines(&exported) {
        let name = line["type"].as_str().unwrap();
        assert_eq!(
            satisfies(&line, &schema["$defs"][name], &schema),
            Ok(()),
            "{line}"
        );
    }
    let imported = there.json(&["import", file.to_str().unwrap()]);
    assert_eq!(imported["coverage"]["damaged"], 0, "{imported}");
    assert_eq!(imported["coverage"]["unknown"], 0, "{imported}");
    let again = there.text(&["export", "night-picture", "--as", "jsonl"]);
    // What was read of the file and where from is another thing; the rest is the same, line by line.
    let (mut before, mut after) = (lines(&exported), lines(&again));
    for header in [&mut before[0], &mut after[0]] {
        for key in ["coverage", "source", "source_digest"] {
            header.as_object_mut().unwrap().remove(key);
        }
    }
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    for branch in ["main", "b1", "b2", "b3", "b4"] {
        let shown = |home: &Home| home.json(&["show", "night-picture", "--branch", branch]);
        let (before, after) = (shown(&here), shown(&there));
        for key in [
            "steps",
            "parent",
            "fork_step",
            "run",
            "gate",
            "answer",
            "success",
            "milestones",
            "notes",
        ] {
            assert_eq!(before[key], after[key], "{branch} {key}");
        }
    }
}

#[test]
fn a_branch_is_taken_with_what_it_comes_from_alone() {
    let home = Home::new();
    forked(&home);
    let text = home.text(&["export", "night-picture/b3", "--as", "jsonl"]);
    let names: Vec<Value> = lines(&text)
        .into_iter()
        .filter(|line| line["type"] == "branch")
        .map(|line| line["id"].clone())
        .collect();
    assert_eq!(
        names,
        ["night-picture/main", "night-picture/b1", "night-picture/b3"]
    );
}

/// A file in which every place that can hold a text holds a secret.
fn leaky(home: &Home) -> String {
    let key = "sk-proj-abcdefghijklmnop1234";
    let rows = [
        json!({"type": "session", "id": "leaky", "title": format!("t {key}"), "task": format!("use {key}"),
               "agents": [{"name": format!("A {key}"), "system_prompt": format!("Bearer {key}"), "description": key}],
               "annotations": [{"name": "n", "value": key}]}),
        json!({"type": "step", "index": 0, "agent": "user", "kind": "task", "text": format!("use {key}")}),
        json!({"type": "checkpoint", "step": 1, "keys": {"credentials": {"revision": key, "fingerprint": "0".repeat(64), "value": {"k": [key]}}}}),
        json!({"type": "step", "index": 1, "agent": format!("A {key}"), "kind": "tool_call", "to": key, "text": "mail()",
               "meta": {"tool": {"name": "mail", "arguments": json!({"h": key}).to_string()}, "facts": [key], "pages": [format!("https://x.test/?k={key}")]}}),
        json!({"type": "effect", "step": 1, "agent": "A", "tool": "mail", "class": "permanent", "operation_key": key,
               "args_sha256": "0".repeat(64), "result": key, "state": "pending"}),
        json!({"type": "step", "index": 2, "agent": "A", "kind": "answer", "text": "42 for Miller <img src=x onerror=y>"}),
        json!({"type": "answer", "text": format!("42 {key}")}),
    ];
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    home.file("leaky.jsonl", &text)
}

#[test]
fn no_form_lets_a_secret_through() {
    let home = Home::new();
    let file = leaky(&home);
    for form in ["md", "html", "jsonl", "svg"] {
        let output = home.run(&["export", &file, "--as", form, "--redact", "CLIENT=Miller"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{form}: {said}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains("sk-proj"), "{form}: {text}");
        assert!(!text.contains("Miller"), "{form}: {text}");
        assert!(
            said.contains("redacted 2 values in ") && said.contains(" places: 1 named, 1 sk- key"),
            "{form}: {said}"
        );
    }
    let bare = home.text(&["export", &file, "--as", "jsonl", "--no-redact"]);
    assert!(bare.contains("sk-proj") && bare.contains("Miller"));
}

/// How a secret is written.
type Spelt = fn(&str) -> String;

/// Secrets by the place where each is planted; none may be seen in any form.
fn planted(spelt: impl Fn(&str) -> String) -> (String, Vec<(String, String)>) {
    let secrets = std::cell::RefCell::new(Vec::new());
    let at = |place: &str| {
        let (text, secret) = {
            let n = secrets.borrow().len();
            let secret = format!("Zq7{n:02}x9Kd4Lm2Pw8Rt6");
            (spelt(&secret), secret)
        };
        secrets.borrow_mut().push((place.to_owned(), secret));
        text
    };
    let main = "leaky/main";
    let digest = "0".repeat(64);
    let task = format!(
        "{} and so on {} until the end",
        "a word ".repeat(9),
        at("task")
    );
    let rows = [
        json!({"type": "session", "id": "leaky", "title": at("title"), "task": task,
               "agents": [{"name": at("agent"), "system_prompt": at("prompt"), "description": at("description")}],
               "milestones": [{"title": at("milestone"), "check": {"text": at("check")}}],
               "coverage": {"read": 1, "unknown": 0, "damaged": 0, "dropped": 0, "content": true, "notes": [{"place": at("place"), "reason": at("reason")}]},
               "annotations": [{"name": at("label"), "value": at("value")}], "expected": at("expected"), "verifier": {"contains": at("verifier")}}),
        json!({"type": "intervention", "id": "leaky/i1", "parent": main, "step": 1, "category": "message", "class": "other", "text": at("edit"),
               "edit_digest": digest, "n": 1, "seed": 0, "answer_leak": false, "operator": at("operator"), "created": ""}),
        json!({"type": "step", "index": 0, "agent": at("speaker"), "kind": "task", "text": task}),
        json!({"type": "checkpoint", "step": 1, "keys": {"browser": {"revision": "1", "fingerprint": digest, "value": {"k": [at("state")]}}}}),
        json!({"type": "step", "index": 1, "agent": "A", "kind": "message", "to": at("to"), "text": at("text"),
               "meta": {"tool": {"name": at("tool"), "arguments": json!({"h": at("arguments")}).to_string()}, "facts": [at("fact")], "pages": [at("page")],
                        "live_edits": [{"op": "replace", "by": at("by"), "of": "A", "before": at("before"), "after": at("after")}]}}),
        json!({"type": "effect", "step": 1, "agent": "A", "tool": "mail", "class": "permanent", "operation_key": at("key"),
               "args_sha256": digest, "result": at("result"), "state": "pending", "evidence": at("evidence")}),
        json!({"type": "branch", "id": main, "parent": null, "fork_step": null, "prefix_digest": null, "intervention": null, "run_index": 0,
               "operator": null, "seed": 0, "runtime": null, "gate": null, "run": "done", "diagnostic": false, "fulfilled": null, "success": null,
               "answer": at("answer"), "milestones": null, "reason": at("why"), "created": "", "steps": 2}),
        json!({"type": "branch", "id": "leaky/b1", "parent": main, "fork_step": 1, "prefix_digest": null, "intervention": "leaky/i1", "run_index": 1,
               "operator": "ann", "seed": 0, "runtime": null, "gate": "unverified", "run": "done", "diagnostic": false, "fulfilled": false, "success": null,
               "answer": at("other answer"), "milestones": null, "reason": null, "created": "", "steps": 2}),
        json!({"type": "step", "index": 1, "agent": "A", "kind": "message", "text": at("edited step")}),
        json!({"type": "hypothesis", "id": "leaky/h1", "branch": main, "hypothesis": {"trial": {"index": 1, "start": 0, "end": 2}, "step": 1, "agent": at("suspect"), "reason": at("rationale"), "weight": 1}, "analyst": at("analyst"), "round": 1, "intervention": null}),
        json!({"type": "note", "branch": "leaky/b1", "step": 1, "text": at("note"), "operator": at("writer"), "created": ""}),
        json!({"type": "answer", "text": at("said")}),
    ];
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    (text, secrets.into_inner())
}

#[test]
fn a_secret_planted_anywhere_is_in_no_form() {
    let kinds: [(&str, Spelt); 3] = [
        ("key", |secret| format!("ghp_{secret}{secret}")),
        ("assigned", |secret| format!("token={secret}")),
        ("quoted", |secret| {
            format!("PASSWORD: \"pw {secret} space\"")
        }),
    ];
    for (kind, spelt) in kinds {
        let home = Home::new();
        let (text, secrets) = planted(spelt);
        let file = home.file("leaky.jsonl", &text);
        let imported = home.json(&["import", &file]);
        assert_eq!(
            imported["coverage"]["damaged"], 1,
            "{}",
            imported["coverage"]
        );
        for form in ["md", "html", "jsonl"] {
            let text = home.text(&["export", "leaky", "--as", form]);
            for (place, secret) in &secrets {
                assert!(!text.contains(secret), "{kind} in {place} of {form}");
            }
        }
        for screen in [
            "session",
            "overview",
            "grid",
            "hypotheses",
            "interventions",
            "compare",
        ] {
            let text = home.text(&["export", "leaky", "--as", "svg", "--screen", screen]);
            for (place, secret) in &secrets {
                assert!(
                    !text.contains(&secret[..8]),
                    "{kind} in {place} on {screen}"
                );
            }
        }
    }
}

#[test]
fn a_title_that_cuts_a_secret_shows_nothing_of_it() {
    let home = Home::new();
    let task = format!("{}for Alice Example-Longname", "word ".repeat(12));
    let log = json!([{"role": "user", "content": task}, {"role": "assistant", "content": "done, ALICE EXAMPLE-LONGNAME"}]);
    let file = home.file("chat.json", &log.to_string());
    for form in ["md", "html", "jsonl", "svg"] {
        let words = [
            "export",
            &file,
            "--as",
            form,
            "--redact",
            "WHO=Alice Example-Longname",
        ];
        let text = home.text(&words).to_lowercase();
        assert!(!text.contains("alice"), "{form}");
    }
}

#[test]
fn a_file_that_is_there_is_written_over_on_request_alone() {
    let home = Home::new();
    let file = home.file("kept.md", "mine");
    let words = ["export", "night-picture", "--out", &file];
    assert!(home.refused(2, &words).contains("--force"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    home.text(&["export", "night-picture", "--out", &file, "--force"]);
    assert!(fs::read_to_string(&file).unwrap().contains("Night picture"));
    // A hyphen is standard output.
    assert!(
        home.text(&["export", "night-picture", "--out", "-"])
            .contains("Night picture")
    );
    assert!(!std::path::Path::new("-").exists());
    let receipts = ["receipt", "export", "--out", &file];
    assert!(home.refused(2, &receipts).contains("--force"));
    for words in [
        ["--screen", "gates"],
        ["--step", "1"],
        ["--size", "80x24"],
        ["--at", "1"],
    ] {
        let said = home.refused(2, &["export", "night-picture", words[0], words[1]]);
        assert!(said.contains(words[0]), "{said}");
    }
    assert!(home.refused(2, &["export"]).contains("--results"));
}

#[test]
fn a_redacted_file_says_so_where_it_is_read() {
    let (here, there) = (Home::new(), Home::new());
    let text = here.text(&["export", &leaky(&here), "--as", "jsonl"]);
    assert_eq!(lines(&text)[0]["redacted"], json!({"sk- key": 1}));
    let imported = there.json(&["import", &there.file("x.jsonl", &text)]);
    let notes = imported["coverage"]["notes"].to_string();
    assert!(
        notes.contains("redacted") && notes.contains("1 sk- key"),
        "{notes}"
    );
    // It goes on saying so.
    let again = there.text(&["export", "leaky", "--as", "jsonl"]);
    assert_eq!(lines(&again)[0]["redacted"], json!({"sk- key": 1}));
}

#[test]
fn the_page_runs_and_loads_nothing() {
    let home = Home::new();
    forked(&home);
    let page = home.text(&["export", "night-picture", "--with", "b1", "--as", "html"]);
    let lower = page.to_lowercase();
    for tag in [
        "<script",
        "<img",
        "<link",
        "<iframe",
        "javascript:",
        "src=",
        "http://",
        "https://",
        "url(",
    ] {
        let found = lower
            .find(tag)
            .map(|at| &lower[at.saturating_sub(60)..at + 20]);
        // Addresses stand in texts; nothing points to them.
        if !tag.starts_with("http") {
            assert_eq!(found, None, "{tag}");
        }
    }
    assert!(!lower.contains("href=\"http"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    for (tag, end) in [
        ("<details", "</details>"),
        ("<div", "</div>"),
        ("<section", "</section>"),
        ("<ul", "</ul>"),
    ] {
        assert_eq!(
            page.matches(tag).count(),
            page.matches(end).count(),
            "{tag}"
        );
    }
    for part in [
        "<ins>",
        "<del>",
        "★",
        "first divergence",
        "prefers-color-scheme: dark",
        "lineage",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_text_cannot_break_out_of_its_fence() {
    let home = Home::new();
    let rows = [
        json!({"type": "session", "id": "fence", "task": "t"}),
        json!({"type": "step", "index": 0, "agent": "a*b*<i>", "kind": "task", "text": "````\n# not a heading\n```"}),
    ];
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let page = home.text(&["export", &home.file("f.jsonl", &text)]);
    assert!(
        page.contains("`````text\n````\n# not a heading\n```\n`````"),
        "{page}"
    );
    assert!(page.contains("a\\*b\\*&lt;i&gt;"), "{page}");
}

#[test]
fn bad_words_and_places_get_one_sentence_and_leave_nothing() {
    let home = Home::new();
    forked(&home);
    let one = |status: i32, words: &[&str], part: &str| {
        let said = home.refused(status, words);
        assert_eq!(said.trim().lines().count(), 1, "{said}");
        assert!(said.contains(part), "{said}");
    };
    one(2, &["export", "no-such"], "no-such");
    one(2, &["export", "night-picture/b99"], "b99");
    one(2, &["export", "night-picture", "--with", "b99"], "b99");
    one(
        2,
        &["export", "night-picture", "--redact", "ab"],
        "too short",
    );
    one(
        2,
        &["export", "night-picture", "--redact", "K=@nowhere"],
        "nowhere",
    );
    let nowhere = home.path("no/such/x.md");
    one(
        2,
        &[
            "export",
            "night-picture",
            "--out",
            nowhere.to_str().unwrap(),
        ],
        "x.md",
    );
    let folder = home.path("folder");
    fs::create_dir(&folder).unwrap();
    one(
        2,
        &["export", "night-picture", "--out", folder.to_str().unwrap()],
        "folder",
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    // A session without branches has nothing to compare, and the picture says it as the screen does.
    one(
        2,
        &[
            "export",
            "honey-stall",
            "--as",
            "svg",
            "--screen",
            "compare",
        ],
        "branch",
    );
}

#[test]
fn every_screen_has_a_picture() {
    let home = Home::new();
    forked(&home);
    for (screen, word) in [
        ("session", "Orchestrator"),
        ("compare", "b1"),
        ("gates", "lineage"),
        ("interventions", "what was tried"),
        ("milestones", "Seen"),
        ("help", "keys"),
    ] {
        let picture = home.text(&[
            "export",
            "night-picture/b1",
            "--as",
            "svg",
            "--screen",
            screen,
            "--step",
            "3",
        ]);
        assert!(
            picture.starts_with("<svg ") && picture.ends_with("</svg>\n"),
            "{screen}"
        );
        let words: String = picture
            .split('<')
            .filter_map(|part| part.split('>').nth(1))
            .collect();
        assert!(
            words.to_lowercase().contains(&word.to_lowercase()),
            "{screen}: {words}"
        );
    }
}

#[test]
fn a_class_is_a_table_of_what_each_learner_tried() {
    let home = Home::new();
    forked(&home);
    let class = home.path("class");
    fs::create_dir(&class).unwrap();
    let file = |name: &str| class.join(name).to_str().unwrap().to_owned();
    home.text(&[
        "export",
        "night-picture",
        "--as",
        "jsonl",
        "--out",
        &file("=ann.jsonl"),
    ]);
    home.text(&[
        "export",
        "honey-stall",
        "--as",
        "jsonl",
        "--out",
        &file("bo, the late.jsonl"),
    ]);
    let folder = class.to_str().unwrap();
    let csv = home.text(&["export", "--results", folder, "--as", "csv"]);
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(
        rows[0],
        "learner,session,attempts,styles of edit,verdicts,first validated"
    );
    assert!(rows[1].starts_with("'=ann,night-picture,2,"), "{csv}");
    assert_eq!(rows[2], "\"bo, the late\",honey-stall,0,,,never");
    assert_eq!(rows.len(), 3);
    let md = home.text(&["export", "--results", folder]);
    assert!(md.starts_with("| learner | session |"), "{md}");
    // What cannot be read is told and hides nobody.
    fs::write(file("broken.jsonl"), "").unwrap();
    let output = home.run(&["export", "--results", folder]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), md);
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("broken.jsonl")
    );
    assert!(
        home.refused(
            2,
            &["export", "--results", home.path("none").to_str().unwrap()]
        )
        .contains("none")
    );
    assert!(
        home.refused(2, &["export", "night-picture", "--as", "csv"])
            .contains("--results")
    );
}
