//! `dover --plain` through pipes, as a screen reader's terminal or a script drives it: whole lines, in order, and nothing else.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Output, Stdio};
use std::time::{Duration, Instant};

use crate::cli::Home;
use crate::support::pty::Pty;

/// What the README's worked example types at step 18.
const EDIT: &str =
    "Click 'All years', then '2015', then 'August'. Open the picture of 4 August 2015.";

/// Runs a script to its end.
pub fn script(home: &Home, words: &[&str], lines: &[&str]) -> (String, Option<i32>) {
    let mut child = home
        .dover()
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = lines
        .iter()
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    // Short enough for the pipe, so that nobody waits for anybody.
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    assert!(stderr.is_empty(), "{}", String::from_utf8_lossy(&stderr));
    (String::from_utf8(stdout).unwrap(), status.code())
}

#[track_caller]
pub fn tells(said: &str, parts: &[&str]) {
    let mut from = 0;
    for part in parts {
        let at = said[from..].find(part);
        from +=
            at.unwrap_or_else(|| panic!("no {part:?} after byte {from} of\n{said}")) + part.len();
    }
}

/// A dialogue: a line is said when the answer to the one before has come.
struct Dialogue {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    heard: Vec<String>,
}

impl Dialogue {
    fn begin(home: &Home, words: &[&str]) -> (Child, Self) {
        let mut child = home
            .dover()
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let talk = Self {
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            heard: Vec::new(),
        };
        (child, talk)
    }

    fn say(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").unwrap();
    }

    /// Reads whole lines until one has the words.
    fn hear(&mut self, words: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line).unwrap();
            assert!(read > 0, "no {words:?} in\n{}", self.heard.concat());
            assert!(
                line.ends_with('\n') && !line.contains(['\u{1b}', '\r']),
                "{line:?}"
            );
            self.heard.push(line.clone());
            if line.contains(words) {
                return line;
            }
        }
    }
}

#[test]
fn night_picture_goes_from_open_to_its_verdict_through_a_pipe() {
    let home = Home::new();
    let (mut child, mut talk) = Dialogue::begin(&home, &["--plain"]);
    // The list is numbered, and its number opens.
    let listed = talk.hear("night-picture");
    let number = listed.split('.').next().unwrap().to_owned();
    talk.hear("release-notes");
    talk.say(&format!("open {number}"));
    talk.hear("Answer: Magnus");
    talk.hear("Expected: Ingrid");
    talk.hear("46 steps in 3 trials, wrong answer, 2 of 5 milestones");
    talk.say("next error");
    talk.hear("Step 19. WebSurfer, message");
    talk.hear("There is no control named '2015' on this page");
    talk.say("previous step");
    talk.hear("Step 18. Orchestrator to WebSurfer, instruction");
    talk.hear("A fork here: 3 of 3 state keys saved");
    talk.say("edit");
    talk.hear("single point");
    talk.say(EDIT);
    talk.say(".");
    talk.hear("step 18 is kept");
    talk.say("fork");
    for gate in [
        "1 lineage",
        "2 state",
        "3 effects",
        "4 authority",
        "5 config",
    ] {
        talk.hear(&format!("Gate {gate} holds"));
    }
    talk.hear("Nothing has run yet");
    talk.say("fork and run");
    talk.hear("b1, b2, b3");
    talk.hear("b1: 19.");
    talk.hear("Answer: Ingrid");
    talk.hear("Verdict: Validated");
    talk.say("compare");
    talk.hear("night-picture/main beside night-picture/b1: 18 equal steps, the first difference at step 18");
    talk.hear("Milestones 5 of 5, before 2; gained 3, 4, 5");
    let pair = talk.hear("was: 18.");
    talk.say(&format!("full {}", pair.split(' ').next().unwrap()));
    talk.hear("main: Step 18");
    talk.hear("b1: Step 18");
    talk.say("show b1");
    talk.hear("5 of 5 milestones");
    talk.say("milestones");
    talk.hear("Milestone 3, The city on the horizon is known: reached at step");
    talk.say("verdicts");
    talk.hear("i1, instruction at step 18 of main by ann: Validated");
    talk.say("quit");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // What was done by lines is what the command line sees.
    let branch = home.json(&["show", "night-picture/b1"]);
    assert_eq!(
        (&branch["success"], &branch["fork_step"]),
        (&true.into(), &18.into())
    );
}

#[test]
fn a_script_may_say_everything_at_once() {
    let home = Home::new();
    let lines = ["edit 18", EDIT, ".", "fork", "run", "compare", "verdicts"];
    let (said, status) = script(&home, &["--plain", "night-picture"], &lines);
    assert_eq!(status, Some(0), "{said}");
    tells(
        &said,
        &[
            "Verdict: Validated",
            "night-picture/main beside night-picture/b1",
            "i1, instruction",
        ],
    );
    assert!(!said.contains('\u{1b}') && !said.contains('\r'));
}

#[test]
fn the_end_of_the_input_ends_it_after_what_runs() {
    let home = Home::new();
    let (said, status) = script(&home, &["--plain"], &[]);
    assert_eq!(status, Some(0), "{said}");
    // Paused runs go on when nobody is left who could let them.
    let (said, status) = script(
        &home,
        &["--plain", "night-picture"],
        &["re-run 18", "pause", "run"],
    );
    assert_eq!(status, Some(0), "{said}");
    tells(&said, &["unedited re-run", "Verdict: no verdict"]);
    // An edit that nobody ended is kept, and said to be none that was meant so.
    let (said, status) = script(&home, &["--plain", "night-picture"], &["edit 18", "half"]);
    assert_eq!(status, Some(2), "{said}");
    tells(&said, &["Not done: the edit of step 18 was not ended"]);
}

#[test]
fn runs_can_be_stopped_and_the_status_says_so() {
    let home = Home::new();
    let (said, status) = script(
        &home,
        &["--plain", "night-picture"],
        &["re-run 18", "pause", "run", "one step", "stop"],
    );
    assert_eq!(status, Some(1), "{said}");
    tells(
        &said,
        &[
            "will begin paused",
            "of main at step 18: stopped",
            "Verdict: no verdict",
        ],
    );
}

#[test]
fn what_cannot_be_done_is_a_sentence_and_the_rest_goes_on() {
    let home = Home::new();
    let lines = [
        "forkk",
        "fork",
        "open nowhere",
        "open night-picture",
        "step 4000",
        "edit 12",
        "fork 18",
        "run",
        "compare main",
        "test h99",
        "editor 18",
        "where",
    ];
    let (said, status) = script(&home, &["--plain"], &lines);
    assert_eq!(status, Some(2), "{said}");
    tells(
        &said,
        &[
            "Not done: there is no word 'forkk'",
            "Not done: no session is open",
            "Not done: nowhere: there is neither a file nor a session",
            "night-picture/main",
            "Not done: ",
            "4000",
            "Not done: step 12 is a control step",
            "Not done: step 18 has no edit yet. edit 18",
            "Not done: no fork is at the gates",
            "Not done: night-picture/main has no parent",
            "Not done: there is no hypothesis night-picture/h99",
            "Not done: an editor needs a terminal",
            "Task: In the first week of August 2015",
        ],
    );
    // Named on the command line it is an error of the command line.
    home.refused_after_greeting(&["--plain", "nowhere.json"]);
    home.refused(2, &["--plain", "--json"]);
}

impl Home {
    /// Ends with status 2 and a sentence on standard error.
    fn refused_after_greeting(&self, words: &[&str]) {
        let output = self.run(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("neither a file nor a session"), "{said}");
    }
}

#[test]
fn a_held_fork_is_settled_by_words_and_run() {
    let home = Home::new();
    let open = "Open the build log and note the build number of the release.";
    let begin = ["edit 3", open, ".", "fork", "run"];
    let (said, status) = script(&home, &["--plain", "release-notes"], &begin);
    assert_eq!(status, Some(1), "{said}");
    tells(
        &said,
        &[
            "Gate 3 effects does not hold",
            "Held: effects unreconciled",
            "Not done: held, nothing has run",
        ],
    );
    let settle = [
        &begin[..4],
        &[
            "keep lantern-2.4-web it stays",
            "keep lantern-2.4-announce it stays",
            "gates",
            "allow",
            "run",
        ],
    ]
    .concat();
    let (said, status) = script(&home, &["--plain", "release-notes"], &settle);
    assert_eq!(status, Some(0), "{said}");
    tells(
        &said,
        &[
            "lantern-2.4-web is reconciled now, decided by ann",
            "Gates 1 to 5 hold",
            "from the record, not repeated",
            "Verdict: ",
        ],
    );
}

#[test]
fn an_edit_that_was_not_sent_is_offered_the_next_time() {
    let home = Home::new();
    let here = ["--plain", "night-picture"];
    // The input ends in the middle of an edit.
    let (said, status) = script(
        &home,
        &here,
        &["hypotheses", "edit h2", "Click 'All years'"],
    );
    assert_eq!(status, Some(2), "{said}");
    tells(
        &said,
        &["It is kept as far as it came", "1 edit not forked: kept"],
    );
    // The hypothesis that it was made for is kept with it, and what was sent does not come back.
    let (said, status) = script(
        &home,
        &here,
        &["edit 18", EDIT, ".", "fork 18", "run", "hypotheses"],
    );
    assert_eq!(status, Some(0), "{said}");
    tells(
        &said,
        &[
            "An edit of step 18 was not sent: fork 18",
            "The edit so far:\nClick 'All years'",
            "is kept beside the original",
            "Verdict: ",
            "h2, trial 2",
            "Tested: ",
        ],
    );
    let (said, _) = script(&home, &here, &["edit 18", "."]);
    assert!(
        !said.contains("not sent") && !said.contains("so far"),
        "{said}"
    );
}

#[test]
fn an_edit_outlives_a_kill_between_two_lines() {
    let home = Home::new();
    let (mut child, mut talk) = Dialogue::begin(&home, &["--plain", "night-picture"]);
    talk.say("edit 18");
    talk.hear("A line that is a single point ends it");
    talk.say("Click 'All years'");
    let begun = Instant::now();
    while !script(&home, &["--plain", "night-picture"], &[])
        .0
        .contains("step 18 was not sent")
    {
        assert!(begun.elapsed() < Duration::from_secs(20), "not kept");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Asked to end in the middle of an edit, it keeps it and ends.
    let (mut child, mut talk) = Dialogue::begin(&home, &["--plain", "night-picture"]);
    talk.say("edit 18");
    talk.hear("A line that is a single point ends it");
    talk.say("Click 'All years', then '2015'");
    // The line is read in its order: the store has it once it was taken.
    let kept = |text: &str| {
        script(&home, &["--plain", "night-picture"], &["edit 18"])
            .0
            .contains(text)
    };
    let begun = Instant::now();
    while !kept("then '2015'\nWrite") {
        assert!(begun.elapsed() < Duration::from_secs(20), "not kept");
    }
    let id = child.id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-TERM", &id])
        .status();
    assert!(sent.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // Begun again and ended with nothing written: what was kept before stays.
    let (said, _) = script(&home, &["--plain", "night-picture"], &["edit 18"]);
    tells(&said, &["nothing was written", "1 edit not forked: kept"]);
    let (said, _) = script(&home, &["--plain", "night-picture"], &["edit 18", "."]);
    tells(
        &said,
        &[
            "not sent",
            "The edit so far:\nClick 'All years'",
            "no edit of it is kept",
        ],
    );
}

#[test]
fn a_hypothesis_is_tested_by_words() {
    let home = Home::new();
    let (said, status) = script(
        &home,
        &["--plain", "night-picture"],
        &[
            "hypotheses",
            "test h2",
            "run",
            "19",
            "suspect it reads the wrong page",
            "hypotheses",
        ],
    );
    assert_eq!(status, Some(0), "{said}");
    tells(
        &said,
        &[
            "h1, trial 1, by offline",
            "h2, trial 2",
            "h3, trial 3",
            "Verdict: ",
            "h4 is kept",
            "Tested: ",
            "h4, trial 2, by operator ann",
        ],
    );
}

#[test]
fn text_of_a_log_cannot_act_and_a_terminal_gets_a_prompt_and_its_editor() {
    let home = Home::new();
    let log = home.file(
        "odd.json",
        r#"[{"role":"user","content":"Say \u001b[2J hello \u202e now"},{"role":"assistant","content":"one\r\ntwo"}]"#,
    );
    let (said, _) = script(&home, &["--plain", &log], &["0", "1"]);
    tells(&said, &["Say ␛[2J hello ⟨RLO⟩ now", "one\ntwo\n"]);

    let editor = home.file(
        "editor.sh",
        "#!/bin/sh\nprintf 'Open the calendar of 2015.' > \"$1\"\n",
    );
    let editor = format!("sh {editor}");
    let store = home.path("store.db");
    let env = [
        ("DOVER_STORE", store.to_str().unwrap()),
        ("DOVER_OPERATOR", "ann"),
        ("EDITOR", &editor),
    ];
    let mut pty = Pty::dover(&["--plain", "night-picture"], &env, (80, 24));
    pty.wait_for("dover>");
    pty.send("editor 18\r");
    pty.wait_for("step 18 is kept");
    pty.send("fork\r");
    pty.wait_for("Say run");
    pty.send("quit\r");
    let status = pty.wait_exit();
    assert!(status.success(), "{}", pty.screen());
    let drawn = String::from_utf8_lossy(pty.output());
    assert!(!drawn.contains('\u{1b}'), "{drawn:?}");
}
