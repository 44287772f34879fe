//! A log that is followed while it is written: what is added is seen and kept, and nothing is lost when the log goes wrong.

use std::fs::{self, OpenOptions};
use std::io::Write;

use serde_json::{Value, json};

use crate::cli::Home;
use crate::screen::start;
use crate::support::pty::Pty;

const SIZE: (u16, u16) = (80, 24);

/// A line as AutoGen streams one.
fn line(source: &str, content: &str) -> String {
    let message =
        json!({"source": source, "models_usage": null, "content": content, "type": "TextMessage"});
    format!("{message}\n")
}

fn append(path: &str, text: &str) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn follow(home: &Home, path: &str) -> Pty {
    start(home, &["open", path, "--follow"], &[], SIZE)
}

fn leave(mut pty: Pty) {
    pty.keys(&["Ctrl-c"]);
    assert_eq!(pty.wait_exit().exit_code(), 0);
}

/// What each step of a session says.
fn texts(home: &Home, session: &str) -> Vec<String> {
    let shown: Value = serde_json::from_str(&home.text(&["show", session, "--json"])).unwrap();
    let steps = shown["steps"].as_array().unwrap().iter();
    steps
        .map(|step| {
            step["head"]
                .as_str()
                .or(step["text"].as_str())
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[test]
fn lines_become_steps_as_they_are_written_and_a_half_one_waits() {
    let home = Home::new();
    let path = home.file("run.jsonl", "");
    let mut pty = follow(&home, &path);
    pty.wait_for("Nothing whole is written there yet");
    append(
        &path,
        &(line("user", "Count the boats.") + &line("Clerk", "I shall count.")),
    );
    pty.wait_for("I shall count.");
    let (half, rest) = (
        "{\"source\":\"Teller\",\"type\":\"TextMess",
        "age\",\"content\":\"Seven boats.\"}\n",
    );
    append(&path, &(line("Clerk", "The first pier.") + half));
    pty.wait_for("The first pier.");
    assert!(!pty.screen().contains("Teller"), "{}", pty.screen());
    append(&path, rest);
    pty.wait_for("Seven boats.");
    leave(pty);
    let all = [
        "Count the boats.",
        "I shall count.",
        "The first pier.",
        "Seven boats.",
    ];
    assert_eq!(texts(&home, "run"), all);

    // What was added while nobody looked comes into the same session.
    append(&path, &line("Clerk", "And one more."));
    let mut pty = follow(&home, &path);
    pty.wait_for("And one more.");
    append(&path, &line("Teller", "Eight, then."));
    pty.wait_for("Eight, then.");
    // A log that was cut short is told, and what was read of it stays.
    fs::write(&path, line("user", "Count the boats.")).unwrap();
    pty.wait_for("was cut short");
    pty.wait_for("Eight, then.");
    leave(pty);
    assert_eq!(texts(&home, "run").len(), 6);
    let sessions: Value = home.json(&["sessions"]);
    let runs = sessions.to_string().matches("\"run.jsonl\"").count()
        + sessions.to_string().matches("\"run-2\"").count();
    assert!(runs <= 1, "{sessions}");
}

#[test]
fn a_document_is_read_again_when_it_is_whole_and_another_in_its_place_is_told() {
    let home = Home::new();
    let message =
        |name: &str, content: &str| json!({"role": "user", "name": name, "content": content});
    let mut list = vec![
        message("user", "Name the ferry."),
        message("Clerk", "I look."),
    ];
    let whole = |list: &[Value]| serde_json::to_string_pretty(list).unwrap();
    let path = home.file("chat.json", &whole(&list));
    let mut pty = follow(&home, &path);
    pty.wait_for("I look.");
    list.push(message("Clerk", "It is the Heron."));
    let next = whole(&list);
    fs::write(&path, &next[..next.len() / 2]).unwrap();
    fs::write(&path, &next).unwrap();
    pty.wait_for("It is the Heron.");
    list[1] = message("Clerk", "I look elsewhere.");
    fs::write(&path, whole(&list)).unwrap();
    pty.wait_for("cut short or replaced");
    assert!(pty.screen().contains("It is the Heron."));
    leave(pty);
    assert_eq!(texts(&home, "chat").len(), 3);
}

#[test]
fn what_cannot_be_followed_is_said_before_the_screen_is_there() {
    let home = Home::new();
    let missing = home.path("none.jsonl");
    let told = home.refused(2, &["open", missing.to_str().unwrap(), "--follow"]);
    assert!(told.contains("there is no such file"), "{told}");
    let folder = home.path("");
    let told = home.refused(2, &["open", folder.to_str().unwrap(), "--follow"]);
    assert!(told.contains("no file that can be read again"), "{told}");
}

#[test]
fn two_who_follow_one_log_take_in_each_step_once() {
    let home = Home::new();
    let path = home.file("run.jsonl", &line("user", "Count the boats."));
    let mut ann = follow(&home, &path);
    ann.wait_for("What is written to the log comes in here");
    let mut bob = follow(&home, &path);
    bob.wait_for("Count the boats.");
    let mut said = vec!["Count the boats.".to_owned()];
    for n in 1..=20 {
        let text = format!("Boat {n} of twenty.");
        append(&path, &line("Clerk", &text));
        // Now one looks first, now the other.
        if n % 5 == 0 {
            ann.wait_for(&text);
            bob.wait_for(&text);
        }
        said.push(text);
    }
    for pty in [ann, bob] {
        assert!(!pty.screen().contains("not followed"), "{}", pty.screen());
        leave(pty);
    }
    assert_eq!(texts(&home, "run"), said);
}

#[test]
fn a_log_that_is_away_for_a_while_is_followed_again() {
    let home = Home::new();
    let mut log = line("user", "Count the boats.") + &line("Clerk", "I shall count.");
    let path = home.file("run.jsonl", &log);
    let mut pty = follow(&home, &path);
    pty.wait_for("I shall count.");
    fs::remove_file(&path).unwrap();
    pty.wait_for("cannot be read");
    log += &line("Clerk", "Seven boats.");
    fs::write(&path, &log).unwrap();
    pty.wait_for("Seven boats.");
    // Another file in its place is another matter.
    home.file("other.jsonl", &line("user", "Name the ferry."));
    fs::rename(home.path("other.jsonl"), &path).unwrap();
    pty.wait_for("not followed any more");
    leave(pty);
    assert_eq!(texts(&home, "run").len(), 3);
}

#[test]
fn what_is_being_written_stays_with_its_step_while_others_come_in() {
    let home = Home::new();
    let mut log = line("user", "Count the boats.");
    for n in 1..30 {
        log += &line("Clerk", &format!("Boat {n}."));
    }
    let path = home.file("run.jsonl", &log);
    let mut pty = follow(&home, &path);
    pty.wait_for("Boat 29.");
    pty.keys(&["a"]);
    pty.wait_for("note on this step:");
    pty.send("the last so far");
    append(&path, &line("Clerk", "Boat 30."));
    pty.wait_for("↓ 1 new");
    // What is new has a row of its own: none of a step is under it.
    let screen = pty.screen();
    let new = screen.lines().find(|line| line.contains("↓ 1 new"));
    assert_eq!(new.unwrap().trim(), "↓ 1 new", "{screen}");
    pty.keys(&["Enter"]);
    pty.wait_until("the note on step 29", |pty| {
        let screen = pty.screen();
        screen
            .lines()
            .any(|line| line.starts_with("▸ 29") && line.contains('¶'))
    });
    pty.keys(&["e"]);
    pty.wait_for("your edit");
    pty.send(" Or thirty");
    append(&path, &line("Clerk", "Boat 31."));
    pty.send(" or so");
    pty.wait_for("Boat 29. Or thirty or so");
    pty.keys(&["Esc"]);
    pty.wait_for("plain keys");
    pty.keys(&["Esc"]);
    pty.wait_for("↓ 2 new");
    leave(pty);
    assert_eq!(texts(&home, "run").len(), 32);
}

#[test]
fn a_pipe_is_refused_at_once_with_a_way_that_works() {
    let home = Home::new();
    let pipe = home.path("pipe").to_str().unwrap().to_owned();
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for words in [
        &["open", &pipe, "--follow"][..],
        &["open", "-", "--follow"],
        &["import", &pipe],
    ] {
        let told = home.refused(2, words);
        assert!(
            told.contains("> run.jsonl & dover open run.jsonl"),
            "{words:?}: {told}"
        );
    }
}
