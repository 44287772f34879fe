//! Two people at one session when things go wrong: a driver is lost and comes back, both drive, a store goes away or may only be read.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::cli::Home;
use crate::support::pty::Pty;

const SIZE: (u16, u16) = (140, 40);
const SESSION: &str = "night-picture";

fn screen(home: &Home, who: &str, args: &[&str]) -> Pty {
    let store = home.path("store.db");
    let env = [
        ("DOVER_STORE", store.to_str().unwrap()),
        ("DOVER_OPERATOR", who),
    ];
    Pty::dover(args, &env, SIZE)
}

fn driving(home: &Home, who: &str) -> Pty {
    let mut pty = screen(home, who, &[SESSION]);
    pty.wait_for("trial 1");
    pty
}

fn goto(pty: &mut Pty, step: usize) {
    pty.send(&format!(":{step}\r"));
    pty.wait_until(&format!("step {step} selected"), |pty| {
        let mark = format!("▸ {step:>2} ");
        pty.screen().lines().any(|line| line.starts_with(&mark))
    });
}

/// A home with the sample in it.
fn home() -> Home {
    let home = Home::new();
    home.text(&["show", SESSION]);
    home
}

fn steps(home: &Home, branch: &str) -> Vec<Value> {
    let shown = home.json(&["show", SESSION, "--branch", branch]);
    shown["steps"].as_array().unwrap().clone()
}

fn run_of(home: &Home, branch: &str) -> Value {
    home.json(&["show", SESSION, "--branch", branch])["run"].clone()
}

/// Starts the unedited re-run of a step and waits until it goes.
fn rerun(pty: &mut Pty, step: usize) {
    goto(pty, step);
    // At once: the step's text may still be on its way.
    pty.keys(&["b"]);
    pty.wait_for("ready to resume");
    pty.keys(&["Enter"]);
    pty.wait_for("▶ running");
}

#[test]
fn a_driver_who_was_cut_off_comes_back_and_what_was_interrupted_is_run_again() {
    let home = home();
    let mut ann = driving(&home, "ann");
    rerun(&mut ann, 3);
    ann.keys(&[" "]);
    ann.wait_for("paused");
    ann.signal("HUP");
    assert_eq!(ann.wait_exit().exit_code(), 129);
    assert_eq!(run_of(&home, "b1"), "interrupted");
    let kept = steps(&home, "b1");
    assert!(kept.len() > 3, "{kept:?}");

    let mut ann = driving(&home, "ann");
    ann.wait_for("3 runs of i1 were interrupted");
    ann.keys(&["v"]);
    ann.wait_for("3 interrupted");
    ann.keys(&["f"]);
    ann.wait_for("Enter runs again what did not come to its end");
    ann.keys(&["Enter"]);
    ann.wait_for("b4 · run 1 of 3");
    ann.wait_for("▶ running");
    ann.keys(&["Ctrl-c"]);
    ann.wait_exit();

    // Without a screen too; the same seeds go the same way, now to their end.
    home.text(&["resume", "night-picture/i1"]);
    assert_eq!(run_of(&home, "b7"), "done");
    let whole = steps(&home, "b7");
    let said = |steps: &[Value]| -> Vec<Value> {
        steps
            .iter()
            .map(|step| json!([step["agent"], step["kind"], step["head"], step["text"]]))
            .collect()
    };
    assert!(whole.len() > kept.len());
    assert_eq!(said(&whole[..kept.len()]), said(&kept));
    assert_eq!(run_of(&home, "b1"), "interrupted", "the first stays");
    let told = home.refused(2, &["resume", "night-picture/i1"]);
    assert!(told.contains("let go already"), "{told}");
}

#[test]
fn two_who_drive_fork_and_note_at_once_and_each_sees_what_the_other_did() {
    let home = home();
    let (mut ann, mut bob) = (driving(&home, "ann"), driving(&home, "bob"));
    for pty in [&mut ann, &mut bob] {
        pty.wait_until("the other", |pty| {
            let head = pty.screen().lines().next().unwrap_or_default().to_owned();
            head.contains("beside") || head.contains("with")
        });
        goto(pty, 9);
        pty.keys(&["b"]);
        pty.wait_for("ready to resume");
    }
    ann.keys(&["Enter"]);
    bob.keys(&["Enter"]);
    for pty in [&mut ann, &mut bob] {
        pty.wait_for("▶ running");
        pty.keys(&["x"]);
        pty.wait_for("stopped");
        pty.keys(&["Esc"]);
    }
    // main and three each, on either screen without a key.
    ann.wait_for("7 branches");
    bob.wait_for("7 branches");

    // Both write on the same step before either is done: neither note is lost.
    for (pty, text) in [(&mut ann, "Too vague."), (&mut bob, "Which week?")] {
        pty.keys(&["a"]);
        pty.wait_for("note on this step:");
        pty.send(text);
        pty.wait_for(text);
    }
    ann.keys(&["Enter"]);
    let store = home.path("store.db");
    let note = || -> Option<String> {
        let store = Connection::open(&store).ok()?;
        store
            .query_row("SELECT text FROM note", [], |row| row.get(0))
            .ok()
    };
    ann.wait_outside("ann's note", || note().is_some());
    bob.keys(&["Enter"]);
    bob.wait_outside("both notes", || {
        note().as_deref() == Some("Too vague.; Which week?")
    });
    for pty in [&mut ann, &mut bob] {
        pty.keys(&["Ctrl-c"]);
        pty.wait_exit();
    }
}

#[test]
fn a_driver_who_leaves_while_asked_leaves_a_free_seat() {
    let home = home();
    let mut ann = driving(&home, "ann");
    let mut bob = screen(&home, "bob", &["follow", SESSION]);
    bob.wait_for("mirroring ann");
    bob.keys(&["Y"]);
    ann.wait_for("bob asks for the driver's seat");
    ann.keys(&["q"]);
    assert_eq!(ann.wait_exit().exit_code(), 0);
    bob.wait_for("ann left, and nobody drives: Y takes the driver's seat");
    // Nothing ran, so nothing is said to be interrupted.
    assert!(!bob.screen().contains("interrupted"), "{}", bob.screen());
    bob.keys(&["Y"]);
    bob.wait_for("You drive");
    bob.keys(&["e"]);
    bob.wait_for("plan");
    bob.keys(&["Ctrl-c"]);
    bob.wait_exit();
}

#[test]
fn whoever_has_another_version_is_told() {
    let home = home();
    let seats = home.path("store.db.seats");
    fs::create_dir_all(&seats).unwrap();
    let mut seat = fs::File::create(seats.join("1-0.seat")).unwrap();
    seat.lock().unwrap();
    let older = json!({
        "session": SESSION, "who": "ann", "role": "driver", "since": "2026-01-31T12:00:00Z", "version": "0.0.1",
        "branch": "night-picture/main", "step": 4, "place": "steps", "something": {"of": "later"},
    });
    writeln!(seat, "{older}").unwrap();
    let mut bob = screen(&home, "bob", &["follow", SESSION]);
    bob.wait_for("ann drives with dover 0.0.1");
    bob.wait_until("step 4", |pty| pty.screen().contains("▸  4 "));
    bob.keys(&["q"]);
    bob.wait_exit();

    let store = Connection::open(home.path("store.db")).unwrap();
    store.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    let mut bob = screen(&home, "bob", &["follow", SESSION]);
    bob.wait_for("made by a newer dover (schema 99");
    assert_eq!(bob.wait_exit().exit_code(), 2);
}

#[test]
fn a_store_that_is_taken_away_or_replaced_is_told_to_all() {
    for replace in [false, true] {
        let home = home();
        let mut ann = driving(&home, "ann");
        let mut bob = screen(&home, "bob", &["follow", SESSION]);
        bob.wait_for("mirroring ann");
        let store = home.path("store.db");
        if replace {
            fs::copy(&store, home.path("copy.db")).unwrap();
            fs::rename(home.path("copy.db"), &store).unwrap();
        } else {
            fs::remove_file(&store).unwrap();
        }
        for pty in [&mut ann, &mut bob] {
            pty.wait_for("its file was removed, or another was put in its place");
            pty.keys(&["q"]);
            assert_eq!(pty.wait_exit().exit_code(), 0);
        }
        assert_eq!(store.exists(), replace, "nobody makes an empty one");
    }
}

#[test]
fn what_the_group_may_write_is_the_umask_s() {
    let home = Home::new();
    let store = home.path("store.db");
    let script = format!(
        "umask 002; exec {} --store {} show {SESSION}",
        env!("CARGO_BIN_EXE_dover"),
        store.display()
    );
    let shown = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(shown.status.success());
    assert_eq!(store.metadata().unwrap().mode() & 0o777, 0o664);
}

/// A screen of somebody who may read the store and not write it.
fn reader(home: &Home, args: &[&str]) -> Pty {
    let store = home.path("store.db");
    let env = [
        ("DOVER_STORE", store.to_str().unwrap()),
        ("DOVER_OPERATOR", "bob"),
        ("HOME", "/"),
    ];
    let allow = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        // Permissions do not bind this user, so the program is started as another.
        allow(&home.path(""), 0o755);
        let nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
        let words = [&nobody[..], &[env!("CARGO_BIN_EXE_dover")], args].concat();
        return Pty::start("setpriv", &words, &env, SIZE);
    }
    allow(&store, 0o444);
    allow(&home.path("store.db.seats"), 0o555);
    Pty::dover(args, &env, SIZE)
}

#[test]
fn a_follower_who_may_only_read_sees_a_lost_driver_s_runs_end() {
    let home = home();
    let mut ann = driving(&home, "ann");
    let mut bob = reader(&home, &["follow", SESSION]);
    bob.wait_for("mirroring ann");
    rerun(&mut ann, 3);
    bob.wait_for("▶ running");
    ann.signal("KILL");
    ann.wait_exit();
    bob.wait_for("ann left");
    bob.wait_until("interrupted runs", |pty| {
        let screen = pty.screen();
        screen.contains("interrupt") && !screen.contains("▶ running")
    });
    bob.keys(&["Y"]);
    bob.wait_for("You may only read this store, so you cannot drive");
    bob.keys(&["q"]);
    bob.wait_exit();
}

#[test]
fn an_edit_of_a_lost_driver_is_offered_to_who_takes_the_seat() {
    let home = home();
    let mut ann = driving(&home, "ann");
    goto(&mut ann, 9);
    ann.keys(&["e"]);
    ann.wait_for("your edit");
    ann.send(" Half a thou");
    ann.wait_for("Half a thou");
    let mut bob = screen(&home, "bob", &["follow", SESSION]);
    bob.wait_for("mirroring ann: typing");
    ann.send("ght");
    ann.wait_for("Half a thought");
    // Nothing is offered to who cannot send it.
    assert!(!bob.screen().contains("not sent"), "{}", bob.screen());
    ann.signal("HUP");
    ann.wait_exit();
    bob.wait_for("nobody drives");
    bob.keys(&["Y"]);
    bob.wait_for("An edit of step 9 by ann was not sent");
    goto(&mut bob, 9);
    bob.keys(&["e"]);
    bob.wait_for("Half a thought");
    bob.keys(&["Ctrl-c"]);
    bob.wait_exit();
}

#[test]
fn a_follower_who_is_cut_off_only_leaves_and_a_run_outlives_its_driver_s_seat() {
    let home = home();
    let mut ann = driving(&home, "ann");
    let mut bob = screen(&home, "bob", &["follow", SESSION]);
    bob.wait_for("mirroring ann");
    rerun(&mut ann, 3);
    bob.wait_for("▶ running");
    ann.keys(&["Esc"]);
    ann.wait_for("trial 1");
    bob.keys(&["Y"]);
    ann.wait_for("Y answers");
    ann.keys(&["Y"]);
    ann.wait_for("y gives it");
    ann.keys(&["y"]);
    bob.wait_for("you drive");
    // The run is still ann's, and goes on; its steps come in on both screens.
    bob.wait_for("b1 of main");
    bob.signal("HUP");
    assert_eq!(bob.wait_exit().exit_code(), 129);
    ann.wait_for("nobody drives");
    ann.wait_outside("a step after that", || steps(&home, "b1").len() > 8);
    assert_ne!(run_of(&home, "b1"), "interrupted");
    ann.keys(&["Y"]);
    ann.wait_for("You drive");
    ann.keys(&["Ctrl-c"]);
    ann.wait_exit();
}
