//! The screen as a person has it: the real binary in a pseudo-terminal, by keys alone.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::runtime::Runtime;

use crate::cli::{Home, orchestrated};
use crate::support::model_server::ModelServer;
use crate::support::pty::Pty;

const WORLD: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/sample-sessions/night-picture.toml"
);
const NARROW: (u16, u16) = (80, 24);

/// A store with a played world in it.
struct Played {
    home: Home,
    session: String,
    /// The first instruction after the first one: its step.
    step: usize,
}

impl Played {
    fn new() -> Self {
        let home = Home::new();
        let session = "night-picture".to_owned();
        if home.run(&["show", &session]).status.code() != Some(0) {
            home.text(&["run", "scenario", WORLD]);
        }
        let shown: Value = serde_json::from_str(&home.text(&["show", &session, "--json"])).unwrap();
        let steps = shown["steps"].as_array().unwrap().iter();
        let mut instructions = steps.filter(|step| step["kind"] == "instruction");
        let step = instructions.nth(1).unwrap()["index"].as_u64().unwrap();
        Self {
            home,
            session,
            step: usize::try_from(step).unwrap(),
        }
    }

    /// The screen on the session, the instruction selected.
    fn open(&self, size: (u16, u16), env: &[(&str, &str)]) -> Pty {
        let mut pty = start(&self.home, &[&self.session], env, size);
        pty.wait_for("trial 1");
        select(&mut pty, self.step);
        pty
    }

    fn branches(&self) -> Vec<(String, String)> {
        branches(&self.home, &self.session)
    }
}

/// Names and run statuses of a session's branches, as the command line tells them.
fn branches(home: &Home, session: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for n in 1..10 {
        let id = format!("{session}/b{n}");
        let output = home.run(&["show", &id, "--json"]);
        if output.status.code() != Some(0) {
            break;
        }
        let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
        found.push((id, shown["run"].as_str().unwrap_or("?").to_owned()));
    }
    found
}

pub fn start(home: &Home, args: &[&str], env: &[(&str, &str)], size: (u16, u16)) -> Pty {
    let store = home.path("store.db");
    let mut all = vec![
        ("DOVER_STORE", store.to_str().unwrap()),
        ("DOVER_OPERATOR", "ann"),
        ("COLORTERM", ""),
    ];
    all.extend(env);
    Pty::dover(args, &all, size)
}

pub fn select(pty: &mut Pty, step: usize) {
    pty.send(&format!(":{step}"));
    pty.wait_for(&format!("go to step: {step}"));
    pty.keys(&["Enter"]);
    pty.wait_for("fork");
    pty.wait_until("the selected step", |pty| {
        pty.screen()
            .lines()
            .any(|line| line.starts_with(&format!("▸ {step:>2} ")))
    });
    pty.wait_until("how well it restores", |pty| {
        let screen = pty.screen();
        screen.contains("fork here") || screen.contains("no fork")
    });
}

#[test]
fn the_main_job_by_keys_alone() {
    let played = Played::new();
    for size in [NARROW, (140, 45)] {
        let mut pty = played.open(size, &[]);
        pty.wait_for("state keys saved");
        pty.keys(&["e"]);
        pty.wait_for("your edit");
        pty.paste(" Then read the caption of the picture.");
        pty.wait_for("add detail");
        pty.keys(&["Ctrl-s"]);
        pty.wait_for("ready to resume");
        for gate in [
            "1 lineage",
            "2 state",
            "3 effects",
            "4 authority",
            "5 config",
            "6 outcome",
        ] {
            assert!(
                pty.screen().contains(gate),
                "{gate} is not in sight:\n{}",
                pty.screen()
            );
        }
        pty.keys(&["Enter"]);
        pty.wait_for("running");
        pty.wait_until("the verdict", |pty| {
            let screen = pty.screen();
            ["Validated", "Refuted", "Inconclusive"]
                .iter()
                .any(|word| screen.contains(word))
        });
        pty.wait_for("of 3 right");
        pty.keys(&["Enter"]);
        pty.wait_for(&format!("first difference at step {}", played.step));
        pty.wait_for("Then read the caption");
        pty.keys(&["Enter"]);
        pty.wait_for("Esc back");
        pty.keys(&["q", "q"]);
        pty.wait_for("replay from step");
        pty.keys(&["q"]);
        pty.wait_for("trial 1");
        pty.keys(&["q"]);
        assert_eq!(pty.wait_exit().exit_code(), 0);
        assert_eq!(pty.kept(), [""; 0]);
    }
    let runs = played.branches();
    assert_eq!(runs.len(), 6, "{runs:?}");
    assert!(runs.iter().all(|(_, run)| run == "done"), "{runs:?}");
}

#[test]
fn a_paused_run_makes_one_step_at_a_time_and_stops_for_good() {
    let played = Played::new();
    let mut pty = played.open(NARROW, &[]);
    pty.keys(&["b"]);
    pty.wait_for("ready to resume");
    pty.keys(&["Enter"]);
    pty.wait_for("running");
    pty.keys(&[" "]);
    pty.wait_for("paused");
    pty.keys(&["s", "s"]);
    pty.keys(&["q"]);
    pty.wait_for("trial 1");
    // Runs that wait are asked about, and stopped when the operator quits.
    pty.keys(&["q"]);
    pty.wait_for("q again");
    pty.keys(&["q"]);
    assert_eq!(pty.wait_exit().exit_code(), 0);
    let runs = played.branches();
    assert!(
        runs.len() == 3 && runs.iter().all(|(_, run)| run == "stopped"),
        "{runs:?}"
    );
}

#[test]
fn every_way_out_gives_the_terminal_back_and_keeps_whole_steps() {
    let leave = |pty: &mut Pty, how: &str| match how {
        "Ctrl-c" => pty.keys(&["Ctrl-c"]),
        signal => pty.signal(signal),
    };
    for how in ["Ctrl-c", "TERM", "HUP", "INT"] {
        let played = Played::new();
        let mut pty = played.open(NARROW, &[]);
        pty.keys(&["b"]);
        pty.wait_for("ready to resume");
        pty.keys(&["Enter"]);
        pty.wait_for("▶ running");
        pty.keys(&[" "]);
        pty.wait_for("paused");
        leave(&mut pty, how);
        let status = pty.wait_exit().exit_code();
        let signals = [("TERM", 143), ("HUP", 129), ("INT", 130)];
        let expected = signals.iter().find(|(name, _)| *name == how);
        assert_eq!(status, expected.map_or(0, |(_, status)| *status), "{how}");
        assert_eq!(pty.kept(), [""; 0], "{how}");
        let mut pty = played.open(NARROW, &[]);
        pty.keys(&["Tab", "Tab"]);
        pty.wait_for("interrupted");
        // From the branches to the list, and out.
        pty.keys(&["q", "q"]);
        pty.wait_exit();
    }
}

#[test]
fn an_editor_of_ones_own() {
    let played = Played::new();
    let script = played
        .home
        .file("editor.sh", "printf ' Look at August.\\n' >> \"$1\"");
    let mut pty = played.open(NARROW, &[("EDITOR", &format!("sh {script}"))]);
    pty.keys(&["e"]);
    pty.wait_for("your edit");
    pty.keys(&["Ctrl-e"]);
    pty.wait_for("Look at August.");
    pty.wait_for("add detail");
    // The keyboard is dover's again.
    pty.send(" And July.");
    pty.wait_for("And July.");
    pty.keys(&["Ctrl-c"]);
    pty.wait_exit();

    for (editor, told) in [
        ("", "EDITOR is set"),
        ("false", "kept"),
        ("/no/such/editor", "kept"),
    ] {
        let mut pty = played.open(NARROW, &[("VISUAL", ""), ("EDITOR", editor)]);
        pty.keys(&["e"]);
        pty.wait_for("your edit");
        pty.send(" Typed");
        pty.wait_for(" Typed");
        pty.keys(&["Ctrl-e"]);
        pty.wait_for(told);
        assert!(pty.screen().contains(" Typed"), "{editor}");
        pty.keys(&["Ctrl-c"]);
        pty.wait_exit();
    }
}

#[test]
fn any_size_and_back() {
    let played = Played::new();
    let mut pty = played.open(NARROW, &[]);
    pty.resize(140, 45);
    pty.wait_for("branches");
    pty.resize(10, 3);
    pty.wait_for("too small");
    pty.wait_for("24×6");
    pty.resize(80, 24);
    pty.wait_for("trial 1");
    pty.keys(&["q"]);
    assert_eq!(pty.wait_exit().exit_code(), 0);
}

#[test]
fn what_cannot_be_opened_is_said_and_the_rest_is_there() {
    let played = Played::new();
    let broken = played.home.file("broken.json", "{\"history\": [");
    let mut pty = start(&played.home, &[&broken], &[], NARROW);
    pty.wait_for("broken.json");
    pty.wait_for(&played.session);
    pty.keys(&["!"]);
    pty.wait_for("message");
    pty.keys(&["Esc", "q"]);
    assert_eq!(pty.wait_exit().exit_code(), 0);
}

/// An imported log, forked at its first instruction against a model server of the given manners.
fn continued(model: &str, then: impl FnOnce(&mut Pty, &Home, &str)) {
    let threads = Runtime::new().unwrap();
    let server = threads.block_on(ModelServer::start(0)).unwrap();
    let home = Home::new();
    let file = home.file("ferry.json", &orchestrated());
    let url = server.base_url();
    let env = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-test"),
        ("OPENAI_MODEL", model),
    ];
    let mut pty = start(&home, &[&file], &env, NARROW);
    pty.wait_for("trial 1");
    select(&mut pty, 3);
    pty.wait_for("diagnostic");
    pty.keys(&["e"]);
    pty.wait_for("your edit");
    pty.send(" Read the year 1931.");
    pty.wait_for("add detail");
    pty.keys(&["Ctrl-s"]);
    pty.wait_for("restore uncertain");
    // Enter is refused with a reason; nothing has run.
    pty.keys(&["Enter"]);
    pty.wait_for("Press d");
    pty.keys(&["d"]);
    then(&mut pty, &home, "ferry");
}

#[test]
fn an_imported_log_is_continued_as_a_diagnostic_branch() {
    continued("any", |pty, _, _| {
        pty.wait_for("ended");
        pty.wait_for("diagnostic");
        pty.wait_for("(diagnostic)");
        pty.keys(&["Enter"]);
        pty.wait_for("first difference at step 3");
        pty.wait_for("Read the year 1931.");
        pty.keys(&["q"]);
        pty.wait_for("replay from step 3");
        pty.keys(&["q"]);
        pty.wait_for("trial 1");
        pty.keys(&["q"]);
        assert_eq!(pty.wait_exit().exit_code(), 0);
    });
}

#[test]
fn a_server_that_refuses_leaves_a_clear_word() {
    continued("error-401", |pty, home, session| {
        pty.wait_for("ended");
        pty.wait_for("failed");
        pty.wait_for("401");
        pty.keys(&["Ctrl-c"]);
        pty.wait_exit();
        let runs = branches(home, session);
        assert!(runs.iter().all(|(_, run)| run == "failed"), "{runs:?}");
    });
}

#[test]
fn what_a_model_is_saying_is_seen_before_it_is_said() {
    continued("slow", |pty, home, session| {
        pty.wait_for("is writing");
        pty.keys(&["x"]);
        pty.wait_for("stopped");
        pty.wait_for("ended");
        pty.keys(&["Ctrl-c"]);
        pty.wait_exit();
        let runs = branches(home, session);
        assert!(runs.iter().all(|(_, run)| run == "stopped"), "{runs:?}");
    });
}

#[test]
fn without_a_terminal_it_says_what_to_run() {
    let home = Home::new();
    let output = home.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("dover demo"), "{told}");
}

#[test]
fn over_ssh_at_most_fifteen_frames_a_second_are_written() {
    const END: &[u8] = b"\x1b[?2026l";
    let played = Played::new();
    let ssh = [("SSH_CONNECTION", "192.0.2.1 5000 192.0.2.2 22")];
    let mut pty = played.open(NARROW, &ssh);
    let frames = |pty: &Pty| {
        let all = pty.output().windows(END.len());
        all.filter(|bytes| *bytes == END).count()
    };
    let (began, before) = (Instant::now(), frames(&pty));
    for n in 1..=12 {
        pty.keys(&[if n % 2 == 0 { "k" } else { "j" }]);
        pty.wait_until("the next frame", |pty| frames(pty) >= before + n);
    }
    // After a pause two may follow at once; the other ten are 66 ms apart.
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(660), "{took:?}");
    pty.keys(&["q"]);
    assert_eq!(pty.wait_exit().exit_code(), 0);
}
