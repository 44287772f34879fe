//! A branch handed out as its framework's own saved state, and a team that goes on from one.

use std::process::Output;

use serde_json::{Value, json};

use crate::cli::Home;
use crate::support::python::{python, stand_in};

const TASK: &str = "What are 2 and 5 together?";
const ID: &str = "custom-file";

struct Scene {
    home: Home,
    python: String,
}

impl Scene {
    /// A session of a team that behaves so.
    fn new(mode: &str) -> Option<Self> {
        let scene = Self {
            python: python()?,
            home: Home::new(),
        };
        let ran = scene.start(mode, &["--task", TASK]);
        assert_eq!(ran.status.code(), Some(0), "{ran:?}");
        Some(scene)
    }

    fn start(&self, mode: &str, how: &[&str]) -> Output {
        let file = self.home.path("file");
        let command = stand_in(&self.python, mode, file.to_str().unwrap());
        let words = ["run", "custom", "--json"].iter().chain(how).chain(&["--"]);
        let words: Vec<&str> = words
            .copied()
            .chain(command.iter().map(String::as_str))
            .collect();
        self.home.run(&words)
    }

    fn state(&self, how: &[&str]) -> Value {
        self.state_of(ID, how)
    }

    fn state_of(&self, branch: &str, how: &[&str]) -> Value {
        let words = [&["export", branch, "--as", "state"], how].concat();
        serde_json::from_str(&self.home.text(&words)).unwrap()
    }

    /// What a refused command says; nothing is printed to standard output.
    fn refused(&self, status: i32, output: &Output) -> String {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(output.stdout.is_empty());
        said
    }

    fn texts(&self, id: &str) -> Vec<String> {
        let shown = self.home.json(&["show", id]);
        let steps = shown["steps"].as_array().unwrap().iter();
        steps
            .map(|step| step["text"].as_str().unwrap().to_owned())
            .collect()
    }
}

fn said(state: &Value) -> Vec<&str> {
    let said = state["said"].as_array().unwrap().iter();
    said.map(|message| message["content"].as_str().unwrap())
        .collect()
}

#[test]
fn a_state_holds_what_was_said_up_to_a_step_and_is_gone_on_from() {
    let Some(scene) = Scene::new("good") else {
        return;
    };
    let state = scene.state(&["--at", "1"]);
    assert_eq!(said(&state), [TASK, "Add 2 and 5"]);
    assert_eq!(state["team"], json!(["Planner", "Solver", "Checker"]));
    // The whole run, where no step is named.
    let whole = scene.state(&[]);
    assert_eq!(
        said(&whole),
        [TASK, "Add 2 and 5", "The sum is 7", "The answer is 7"]
    );

    let file = scene.home.path("one.json");
    let file = file.to_str().unwrap();
    let told = scene
        .home
        .json(&["export", ID, "--as", "state", "--at", "1", "--out", file]);
    assert_eq!(
        (&told["step"], &told["adapter"]),
        (&json!(1), &json!("stand-in"))
    );
    let written: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(written, state);
    // It needs no task: its own goes on.
    let ran = scene.start("good", &["--state", file]);
    let ran: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((&ran["run"], &ran["answer"]), (&json!("done"), &json!("7")));
    let steps = scene.texts(ran["session"].as_str().unwrap());
    assert_eq!(steps, ["The sum is 7", "The answer is 7"]);
}

#[test]
fn a_branch_is_handed_out_with_its_edit() {
    let Some(scene) = Scene::new("good") else {
        return;
    };
    let fork = [
        "fork",
        ID,
        "--at",
        "1",
        "--text",
        "Add 20 and 5",
        "--runs",
        "1",
    ];
    let forked = scene.home.json(&fork);
    assert_eq!(forked["branches"][0]["answer"], "25", "{forked}");
    let state = scene.state_of("custom-file/b1", &["--at", "1"]);
    assert_eq!(said(&state), [TASK, "Add 20 and 5"]);
    // The original is what it was.
    assert_eq!(said(&scene.state(&["--at", "1"])), [TASK, "Add 2 and 5"]);
    let file = scene.home.file("b1.json", &state.to_string());
    let ran = scene.start("good", &["--state", &file]);
    let ran: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(ran["answer"], "25");
}

#[test]
fn nothing_happens_in_the_world_for_an_export() {
    let Some(scene) = Scene::new("mail") else {
        return;
    };
    let letters = scene.home.path("file");
    let before = std::fs::read_to_string(&letters).unwrap();
    assert_eq!(before.lines().count(), 1);
    // The solver would write a letter next.
    assert_eq!(said(&scene.state(&["--at", "1"])).len(), 2);
    assert_eq!(std::fs::read_to_string(&letters).unwrap(), before);
    // A call within the solver's turn has no state of its own, and the nearest that has one is named.
    let shown = scene.home.json(&["show", ID]);
    let steps = shown["steps"].as_array().unwrap();
    let call = steps
        .iter()
        .position(|step| step["kind"] == "tool_call")
        .unwrap();
    let at = call.to_string();
    let output = scene
        .home
        .run(&["export", ID, "--as", "state", "--at", &at]);
    let sentence = scene.refused(2, &output);
    assert!(
        sentence.contains("The nearest before it is step 1"),
        "{sentence}"
    );
}

#[test]
fn a_state_of_something_else_is_one_sentence_and_status_2() {
    let Some(scene) = Scene::new("good") else {
        return;
    };
    let other = json!({"team": ["Poet"], "said": []}).to_string();
    let cases = [
        ("other.json", other.as_bytes(), "of another team"),
        ("cut.json", b"{\"team\": [", "cut.json"),
        ("state.pkl", b"\x80\x04\x95\x00", "a pickle is never loaded"),
    ];
    let known = scene.home.json(&["sessions"])["sessions"]
        .as_array()
        .unwrap()
        .len();
    for (name, bytes, words) in cases {
        let file = scene.home.path(name);
        std::fs::write(&file, bytes).unwrap();
        let output = scene.start("good", &["--state", file.to_str().unwrap()]);
        let sentence = scene.refused(2, &output);
        assert!(sentence.contains(words), "{sentence}");
        assert!(!sentence.trim().contains('\n'), "{sentence}");
    }
    let now = scene.home.json(&["sessions"])["sessions"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(now, known);
}

#[test]
fn what_cannot_be_handed_out_is_refused_and_nothing_is_written() {
    let Some(scene) = Scene::new("pin") else {
        return;
    };
    let out = scene.home.path("out.json");
    let export = |what: &str, more: &[&str]| {
        let words = [
            "export",
            what,
            "--as",
            "state",
            "--out",
            out.to_str().unwrap(),
        ];
        scene.home.run(&[&words, more].concat())
    };
    let sentence = scene.refused(2, &export(ID, &["--at", "9"]));
    assert!(sentence.contains("it has 4"), "{sentence}");
    let log = scene
        .home
        .file("log.json", r#"[{"role":"user","content":"hello"}]"#);
    let sentence = scene.refused(2, &export(&log, &[]));
    assert!(sentence.contains("no checkpoint"), "{sentence}");
    let sentence = scene.refused(2, &export("night-picture", &[]));
    assert!(sentence.contains("which adapter made it"), "{sentence}");
    // The team is another now than the one that was recorded.
    std::fs::write(scene.home.path("file"), "").unwrap();
    let sentence = scene.refused(2, &export(ID, &[]));
    assert!(sentence.contains("the configuration"), "{sentence}");
    assert!(!out.exists());

    let Some(silent) = Scene::new("saves-nothing") else {
        return;
    };
    let output = silent.home.run(&["export", ID, "--as", "state"]);
    let sentence = silent.refused(1, &output);
    assert!(
        sentence.contains("no saved state of this team"),
        "{sentence}"
    );
}
