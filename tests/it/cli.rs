//! The command line as a person or a script uses it: the real binary, files written here, answers read as JSON.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A person's machine: a folder for files and a store of its own.
pub struct Home(TempDir);

impl Home {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name).to_str().unwrap().to_owned()
    }

    pub fn dover(&self) -> Command {
        let mut dover = Command::new(assert_cmd::cargo::cargo_bin!("dover"));
        for name in [
            "OPENAI_BASE_URL",
            "OPENAI_API_KEY",
            "OPENAI_MODEL",
            "DOVER_LOG",
        ] {
            dover.env_remove(name);
        }
        dover
            .env("DOVER_STORE", self.path("store.db"))
            .env("DOVER_DATA", self.path("data"))
            .env("DOVER_OPERATOR", "ann")
            .current_dir(self.0.path())
            .stdin(Stdio::null());
        dover
    }

    pub fn run(&self, words: &[&str]) -> Output {
        self.dover().args(words).output().unwrap()
    }

    /// What a good command prints.
    pub fn text(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{words:?}: {}",
            stderr(&output)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// The JSON that a good command prints.
    pub fn json(&self, words: &[&str]) -> Value {
        let text = self.text(&[words, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{words:?}: {error}: {text}"))
    }

    /// The sentence of a command that fails with this status; nothing half stands on standard output.
    pub fn refused(&self, status: i32, words: &[&str]) -> String {
        let output = self.run(words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {said}");
        assert!(
            output.stdout.is_empty(),
            "{words:?} printed to standard output"
        );
        assert!(!said.contains("panicked"), "{words:?}: {said}");
        said
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether every name is there, whatever its value.
#[track_caller]
pub fn has_names(value: &Value, names: &[&str]) {
    for name in names {
        assert!(value.get(name).is_some(), "no {name} in {value}");
    }
}

/// A log as Who&When's hand-crafted half has them: an orchestrator, two plans, a wrong end.
pub fn orchestrated() -> String {
    let step = |role: &str, content: &str| json!({"role": role, "content": content});
    json!({
        "is_corrected": false,
        "question": "In which harbour did the ferry Halcyon spend the winter of 1931?",
        "ground_truth": "Stavanger",
        "question_ID": "invented-1",
        "mistake_agent": "WebSurfer",
        "mistake_step": "4",
        "mistake_reason": "It read the wrong year.",
        "history": [
            step("human", "In which harbour did the ferry Halcyon spend the winter of 1931?"),
            step("Orchestrator (thought)", "Initial plan:\n\nTo answer this we have assembled the team:\nWebSurfer\n\nHere is the plan:\n- Search for the ferry\n- Read its log of 1931"),
            step("Orchestrator (thought)", "Updated Ledger:\n{\"is_request_satisfied\": {\"answer\": false, \"reason\": \"just begun\"}}"),
            step("Orchestrator (-> WebSurfer)", "Search for the ferry Halcyon and open its log."),
            step("WebSurfer", "The log of 1932 says: wintered in Bergen."),
            step("Orchestrator (thought)", "Stalled.... Replanning..."),
            step("Orchestrator (thought)", "New plan:\n\nHere is the plan:\n- Ask the museum\n- Read its answer"),
            step("Orchestrator (-> WebSurfer)", "Open the page of the museum."),
            step("WebSurfer", "The museum is closed."),
            step("Orchestrator (termination condition)", "No agent selected."),
        ],
    })
    .to_string()
}

fn dialogue() -> String {
    json!([
        {"role": "system", "content": "You do sums."},
        {"role": "user", "content": "What is 17 times 3?"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "multiply", "arguments": "{\"a\":17,\"b\":3}"}}
        ]},
        {"role": "tool", "tool_call_id": "c1", "content": "51"},
        {"role": "assistant", "content": "It is 41."}
    ])
    .to_string()
}

#[test]
fn import_says_what_was_read_and_knows_the_file_again() {
    let home = Home::new();
    let file = home.file("ferry.json", &orchestrated());
    let taken = home.json(&["import", &file]);
    has_names(
        &taken,
        &["session", "format", "steps", "agents", "trials", "coverage"],
    );
    has_names(
        &taken["coverage"],
        &["read", "unknown", "damaged", "dropped", "content"],
    );
    assert_eq!(taken["format"], "who_when");
    assert_eq!(taken["steps"], 10);
    assert_eq!(taken["trials"], 2);
    assert_eq!(taken["coverage"]["read"], 10);
    assert_eq!(taken["coverage"]["dropped"], 0);
    assert_eq!(taken["coverage"]["content"], true);
    assert_eq!(taken["new"], true);
    let again = home.json(&["import", &file]);
    assert_eq!(
        (&again["session"], &again["new"]),
        (&taken["session"], &json!(false))
    );
    assert!(
        home.text(&["import", &file])
            .contains("10 records read, 0 unknown, 0 damaged, 0 dropped")
    );
}

#[test]
fn a_damaged_record_is_told_and_hides_nothing() {
    let home = Home::new();
    let lines = [
        r#"{"role":"user","content":"one"}"#,
        r#"{"role":"assistant","content":"tw"#,
        r#"{"role":"assistant","content":"three"}"#,
    ];
    let file = home.file("torn.jsonl", &lines.join("\n"));
    let taken = home.json(&["import", &file]);
    let coverage = &taken["coverage"];
    let told = coverage["damaged"].as_u64().unwrap() + coverage["dropped"].as_u64().unwrap();
    assert_eq!(told, 1, "{coverage}");
    assert!(
        coverage["notes"][0]["place"]
            .as_str()
            .unwrap()
            .contains("line"),
        "{coverage}"
    );
    let shown = home.json(&["show", &file]);
    let texts: Vec<_> = shown["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["text"].as_str().unwrap())
        .collect();
    assert!(
        texts.contains(&"one") && texts.contains(&"three"),
        "{texts:?}"
    );
}

#[test]
fn trials_begin_where_plans_do() {
    let home = Home::new();
    let file = home.file("ferry.json", &orchestrated());
    let expected = json!([
        {"index": 1, "start": 1, "end": 5},
        {"index": 2, "start": 6, "end": 9},
    ]);
    assert_eq!(home.json(&["trials", &file])["trials"], expected);
    // The stored id is as good as the file, and so is the whole name of the branch.
    let id = home.json(&["import", &file])["session"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(home.json(&["trials", &id])["trials"], expected);
    assert_eq!(
        home.json(&["trials", &format!("{id}/main")])["trials"],
        expected
    );
}

#[test]
fn show_gives_the_steps_as_the_log_has_them() {
    let home = Home::new();
    let file = home.file("ferry.json", &orchestrated());
    let shown = home.json(&["show", &file]);
    has_names(&shown, &["task", "steps"]);
    assert!(shown["task"].as_str().unwrap().contains("Halcyon"));
    let steps = shown["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 10);
    for (index, step) in steps.iter().enumerate() {
        has_names(step, &["index", "agent", "kind", "to", "trial", "text"]);
        assert_eq!(step["index"], index);
    }
    assert_eq!(steps[3]["kind"], "instruction");
    assert_eq!(steps[3]["to"], "WebSurfer");
    assert_eq!(
        (&steps[5]["trial"], &steps[6]["trial"]),
        (&json!(1), &json!(2))
    );
    let one = home.json(&["show", &file, "--step", "4"]);
    assert_eq!(one["steps"].as_array().unwrap().len(), 1);
    assert_eq!(
        one["steps"][0]["text"],
        "The log of 1932 says: wintered in Bergen."
    );
    let sentence = home.refused(2, &["show", &file, "--step", "10"]);
    assert!(sentence.contains("0 to 9"), "{sentence}");
}

#[test]
fn what_a_log_says_never_reaches_the_terminal_raw() {
    let home = Home::new();
    let text = "\u{1b}]0;owned\u{7}\u{1b}[2J \u{202e}drow\u{9b}31m";
    let log = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": text}]);
    let file = home.file("hostile.json", &log.to_string());
    for words in [
        &["show", &file][..],
        &["show", &file, "--step", "1"],
        &["show", &file, "--json"],
    ] {
        let printed = home.text(words);
        let acts = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!printed.contains(acts), "{words:?}: {printed:?}");
    }
    // Nothing is lost to a program.
    assert_eq!(home.json(&["show", &file])["steps"][1]["text"], text);
}

#[test]
fn set_writes_what_a_person_knows() {
    let home = Home::new();
    let file = home.file("sum.json", &dialogue());
    let words = [
        "set",
        &file,
        "--expected",
        "51",
        "--verifier",
        "math",
        "--title",
        "A sum",
        "--milestone",
        "asks the tool=multiply",
        "--milestone",
        "understood",
        "--mark",
        "2@2",
        "--tool",
        "multiply=read_only",
    ];
    let known = home.json(&words);
    assert_eq!(known["expected"], "51");
    assert_eq!(known["verifier"], "math");
    assert_eq!(known["title"], "A sum");
    assert_eq!(known["tools"]["multiply"]["class"], "read_only");
    assert_eq!(known["milestones"][0]["title"], "asks the tool");
    assert_eq!(known["milestones"][1]["step"], 2);
    // It is still so when asked again, and the file is still the same session.
    let again = home.json(&["set", &file]);
    assert_eq!(again, known);
    assert_eq!(home.json(&["show", &file])["expected"], "51");
    let cleared = home.json(&[
        "set",
        &file,
        "--clear-milestones",
        "--verifier",
        "contains:51",
    ]);
    assert_eq!(cleared["milestones"], json!([]));
    assert_eq!(cleared["verifier"], json!({"contains": "51"}));
}

#[test]
fn set_refuses_what_makes_no_sense_and_then_changes_nothing() {
    let home = Home::new();
    let file = home.file("sum.json", &dialogue());
    let before = home.json(&["set", &file]);
    for (words, part) in [
        (&["--verifier", "guess"][..], "contains:TEXT"),
        (&["--milestone", "=text"], "title"),
        (&["--milestone", "title="], "text"),
        (&["--mark", "1@0", "--title", "lost"], "milestones"),
        (
            &[
                "--effect",
                "mail-1=reverted",
                "--why",
                "undone",
                "--title",
                "lost",
            ],
            "no effect",
        ),
        (&["--effect", "mail-1=reverted"], "--why"),
        (&["--tool", "mail=harmless"], "permanent"),
    ] {
        let sentence = home.refused(2, &[&["set", &file], words].concat());
        assert!(sentence.contains(part), "{words:?}: {sentence}");
    }
    let six: Vec<String> = (1..=6).map(|n| format!("--milestone=m{n}")).collect();
    let six: Vec<&str> = six.iter().map(String::as_str).collect();
    assert!(
        home.refused(2, &[&["set", &file], &six[..]].concat())
            .contains("at most 5")
    );
    assert_eq!(home.json(&["set", &file]), before);
}

#[test]
fn sessions_lists_the_samples_and_what_was_taken_in() {
    let home = Home::new();
    let file = home.file("ferry.json", &orchestrated());
    let id = home.json(&["import", &file])["session"].clone();
    let listed = home.json(&["sessions"]);
    let rows = listed["sessions"].as_array().unwrap();
    let row = rows.iter().find(|row| row["id"] == id).unwrap();
    has_names(
        row,
        &[
            "title",
            "format",
            "steps",
            "trials",
            "branches",
            "success",
            "milestones",
            "created",
        ],
    );
    assert_eq!(
        (&row["steps"], &row["trials"], &row["branches"]),
        (&json!(10), &json!(2), &json!(1))
    );
    for sample in ["night-picture", "honey-stall", "release-notes"] {
        assert!(
            rows.iter().any(|row| row["id"] == sample),
            "{sample} is not listed"
        );
    }
}

#[test]
fn a_log_without_an_endpoint_says_what_is_missing() {
    let home = Home::new();
    let file = home.file("ferry.json", &orchestrated());
    let sentence = home.refused(
        2,
        &[
            "fork",
            &file,
            "--at",
            "3",
            "--text",
            "Open the log of 1931.",
        ],
    );
    assert!(
        sentence.contains("OPENAI_BASE_URL") || sentence.contains("--base-url"),
        "{sentence}"
    );
    assert_eq!(
        home.json(&["sessions"])["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["branches"] != 1)
            .count(),
        0
    );
}

#[test]
fn errors_are_json_on_standard_error_when_asked_for() {
    let home = Home::new();
    for words in [
        &["show", "nothing-of-this-name"][..],
        &["fork", "--at"],
        &["fork", "night-picture", "--at", "99999"],
    ] {
        let said = home.refused(2, &[words, &["--json"]].concat());
        let error: Value =
            serde_json::from_str(&said).unwrap_or_else(|_| panic!("{words:?}: {said}"));
        assert_eq!(error["error"]["status"], 2);
        assert!(!error["error"]["message"].as_str().unwrap().is_empty());
    }
}

#[test]
fn unknown_names_name_near_ones() {
    let home = Home::new();
    home.json(&["sessions"]);
    let sentence = home.refused(2, &["show", "nigth-picture"]);
    assert!(sentence.contains("night-picture"), "{sentence}");
    let sentence = home.refused(2, &["show", "night-picture/b7"]);
    assert!(sentence.contains("main"), "{sentence}");
    let sentence = home.refused(2, &["show", "night-picture", "--branch", "b7"]);
    assert!(sentence.contains("main"), "{sentence}");
}

#[test]
fn input_that_cannot_be_read_is_one_sentence() {
    let home = Home::new();
    fs::create_dir(home.path("folder")).unwrap();
    let empty = home.file("empty.json", "");
    let prose = home.file("prose.txt", "This is no log.\n");
    for file in ["missing.json", "./folder", &empty, &prose] {
        let sentence = home.refused(2, &["import", file]);
        let name = file.rsplit('/').next().unwrap();
        assert!(sentence.contains(name), "{file}: {sentence}");
        assert_eq!(sentence.trim().lines().count(), 1, "{sentence}");
    }
}

#[test]
fn a_store_that_cannot_be_used_is_told_and_left_alone() {
    let home = Home::new();
    let file = home.file("ferry.json", &orchestrated());
    let text = home.file(
        "notes.txt",
        "These are my notes, not a database. ".repeat(40).as_str(),
    );
    let before = fs::read(&text).unwrap();
    assert!(
        home.refused(2, &["--store", &text, "import", &file])
            .contains("notes.txt")
    );
    assert_eq!(fs::read(&text).unwrap(), before);
    let folder = home.0.path().to_str().unwrap();
    home.refused(2, &["--store", folder, "import", &file]);

    let newer = home.path("newer.db");
    let newer = newer.to_str().unwrap();
    home.json(&["--store", newer, "import", &file]);
    let database = rusqlite::Connection::open(newer).unwrap();
    database.pragma_update(None, "user_version", 9999).unwrap();
    drop(database);
    assert!(
        home.refused(2, &["--store", newer, "sessions"])
            .contains("newer")
    );
}

#[test]
fn a_locked_store_is_told_and_loses_nothing() {
    let home = Home::new();
    let file = home.file("ferry.json", &orchestrated());
    home.json(&["import", &file]);
    let other = home.file("sum.json", &dialogue());
    let database = rusqlite::Connection::open(home.path("store.db")).unwrap();
    database.execute_batch("begin immediate").unwrap();
    let sentence = home.refused(2, &["import", &other]);
    assert!(sentence.contains("locked"), "{sentence}");
    // Whoever only reads is not disturbed.
    assert_eq!(
        home.json(&["trials", "ferry"])["trials"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    database.execute_batch("rollback").unwrap();
    assert_eq!(home.json(&["import", &other])["new"], true);
}

#[test]
fn without_a_terminal_it_says_what_to_run_instead() {
    let home = Home::new();
    let sentence = home.refused(2, &[]);
    assert!(
        sentence.contains("dover show") && sentence.contains("dover demo"),
        "{sentence}"
    );
    assert!(home.refused(2, &["night-picture"]).contains("dover --help"));
}

#[test]
fn bad_words_are_bad_usage_and_help_is_not() {
    let home = Home::new();
    for words in [
        &["fork"][..],
        &["show"],
        &["--colour"],
        &["fork", "x", "--at", "one"],
        &["fork", "x", "--at", "1", "--runs", "0"],
        &["fork", "x", "--at", "1", "--text", "a", "--text-file", "b"],
        &["schema", "poem"],
    ] {
        home.refused(2, words);
    }
    for words in [&["--help"][..], &["fork", "--help"], &["--version"]] {
        assert!(!home.text(words).is_empty());
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let home = Home::new();
    let steps: Vec<_> = (0..4000)
        .map(|n| json!({"role": "user", "content": format!("message {n} ").repeat(20)}))
        .collect();
    let file = home.file("long.json", &Value::from(steps).to_string());
    home.json(&["import", &file]);
    for form in [&["show", &file][..], &["show", &file, "--json"]] {
        let mut child = home
            .dover()
            .args(form)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        let mut pipe = child.stdout.take().unwrap();
        pipe.read_exact(&mut first).unwrap();
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), stderr(&output).as_str()),
            (Some(0), ""),
            "{form:?}"
        );
    }
}
