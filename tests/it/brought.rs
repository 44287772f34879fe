//! What a session file says of its own ends is checked before it is believed, and what cannot be is told by the file.

use serde_json::{Value, json};

use crate::cli::Home;

/// A night with one edit that finds nothing, exported.
fn exported(home: &Home) -> Vec<Value> {
    let steps = home.json(&["show", "night-picture"])["steps"].clone();
    let at = steps
        .as_array()
        .unwrap()
        .iter()
        .find(|step| step["kind"] == "instruction")
        .unwrap()["index"]
        .to_string();
    for text in ["Scroll to the bottom", "Open nothing at all"] {
        home.json(&["fork", "night-picture", "--at", &at, "--text", text]);
    }
    let text = home.text(&["export", "night-picture", "--as", "jsonl"]);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn taken(lines: &[Value]) -> (Home, Value) {
    let home = Home::new();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let file = home.file("told.jsonl", &text);
    let imported = home.json(&["import", &file]);
    (home, imported)
}

fn branch<'a>(shown: &'a Value, name: &str) -> &'a Value {
    let id = format!("night-picture/{name}");
    let all = shown["branches"].as_array().unwrap();
    all.iter().find(|one| one["id"] == *id).unwrap()
}

#[test]
fn a_verdict_that_a_file_claims_is_judged_again() {
    let honest = exported(&Home::new());
    let was = honest
        .iter()
        .find(|line| line["type"] == "branch" && line["id"] == "night-picture/b1")
        .unwrap();
    assert_eq!(was["gate"], "false_success", "{was}");
    let mut forged = honest.clone();
    for line in &mut forged {
        if line["type"] == "branch" && line["id"] != "night-picture/main" {
            line["gate"] = json!("verified");
            line["success"] = json!(true);
            line["fulfilled"] = json!(true);
        }
        if line["type"] == "intervention" && line["id"] == "night-picture/i2" {
            line["text"] = json!("Open the picture of August");
        }
    }
    let (home, imported) = taken(&forged);
    let notes = imported["coverage"]["notes"].to_string();
    assert!(
        notes.contains("branch b1") && notes.contains("was not believed"),
        "{notes}"
    );
    assert!(notes.contains("intervention i2"), "{notes}");
    assert_ne!(imported["coverage"]["damaged"], 0);
    let shown = home.json(&["show", "night-picture"]);
    for name in ["b1", "b2", "b3", "b4", "b5", "b6"] {
        let one = branch(&shown, name);
        assert_ne!(one["gate"], "verified", "{one}");
        assert_eq!(one["success"], false, "{one}");
    }
    // The edit of b4 is another than the one that its runs were made with.
    assert_eq!(branch(&shown, "b4")["told"], true);
    let page = home.text(&["export", "night-picture"]);
    assert!(!page.contains("Validated"), "{page}");
    assert!(page.contains("told by the file"), "{page}");
}

#[test]
fn an_honest_file_is_believed_as_far_as_it_can_be_checked() {
    let (home, imported) = taken(&exported(&Home::new()));
    assert_eq!(imported["coverage"]["damaged"], 0, "{imported}");
    let shown = home.json(&["show", "night-picture"]);
    for one in shown["branches"].as_array().unwrap() {
        assert_eq!(one["told"], false, "{one}");
    }
}

#[test]
fn what_only_a_command_could_judge_is_told_by_the_file() {
    let mut lines = exported(&Home::new());
    lines[0]["verifier"] = json!({"command": ["true"]});
    for line in &mut lines {
        if line["type"] == "branch" && line["id"] == "night-picture/b1" {
            line["gate"] = json!("verified");
            line["success"] = json!(true);
        }
    }
    let (home, _) = taken(&lines);
    let shown = home.json(&["show", "night-picture"]);
    assert_eq!(branch(&shown, "b1")["told"], true);
    let text = home.text(&["show", "night-picture"]);
    assert!(text.contains("told by the file"));
    let page = home.text(&["export", "night-picture", "--as", "html"]);
    assert!(page.contains("told by the file"));
    let class = home.path("class");
    std::fs::create_dir(&class).unwrap();
    let sheet: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(class.join("ann.jsonl"), sheet).unwrap();
    let table = home.text(&["export", "--results", class.to_str().unwrap()]);
    assert!(table.contains("told by the file"), "{table}");
}

#[test]
#[cfg(unix)]
fn a_pipe_is_refused_and_standard_input_is_read() {
    use std::io::Write as _;
    let home = Home::new();
    let pipe = home.path("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    let said = home.refused(2, &["import", pipe.to_str().unwrap()]);
    assert!(said.contains("dover import -"), "{said}");
    let mut child = home
        .dover()
        .args(["import", "-", "--json"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let log = br#"[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]"#;
    child.stdin.take().unwrap().write_all(log).unwrap();
    let output = child.wait_with_output().unwrap();
    let imported: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(imported["steps"], 2, "{imported}");
}

#[test]
fn a_label_that_names_no_step_is_told() {
    for (step, told) in [
        (json!(-1), "-1"),
        (json!(null), "null"),
        (json!(1.5), "1.5"),
        (json!("9"), "9"),
    ] {
        let home = Home::new();
        let log = json!({"question": "q", "mistake_step": step, "mistake_agent": "A", "history": [
            {"role": "human", "content": "q"}, {"role": "A", "content": "a"}]});
        let file = home.file("case.json", &log.to_string());
        let notes = home.json(&["import", &file])["coverage"]["notes"].to_string();
        assert!(
            notes.contains("names no step") && notes.contains(told),
            "{notes}"
        );
        assert!(home.text(&["show", "case"]).contains("names no step"));
        for form in ["md", "html"] {
            assert!(
                home.text(&["export", "case", "--as", form])
                    .contains("names no step")
            );
        }
    }
}

#[test]
fn a_file_that_hides_a_session_is_told() {
    let home = Home::new();
    home.json(&["show", "night-picture"]);
    home.file("night-picture", "no log at all");
    let output = home
        .dover()
        .current_dir(home.path(""))
        .args(["show", "night-picture"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("night-picture/main") && said.contains("./night-picture"),
        "{said}"
    );
}
