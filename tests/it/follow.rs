//! Two people at one session, each in a terminal of their own: mirrored, roaming, the driver's seat handed over, a driver lost.

use serde_json::Value;

use crate::cli::Home;
use crate::support::pty::Pty;

const SIZE: (u16, u16) = (140, 40);
const SESSION: &str = "night-picture";

/// The screen as somebody has it.
fn screen(home: &Home, who: &str, args: &[&str]) -> Pty {
    let store = home.path("store.db");
    let env = [
        ("DOVER_STORE", store.to_str().unwrap()),
        ("DOVER_OPERATOR", who),
        ("COLORTERM", ""),
    ];
    Pty::dover(args, &env, SIZE)
}

/// A store with the sample, ann who drives and bob who follows.
fn two() -> (Home, Pty, Pty) {
    let home = Home::new();
    home.text(&["show", SESSION]);
    let mut ann = screen(&home, "ann", &[SESSION]);
    ann.wait_for("trial 1");
    let mut bob = screen(&home, "bob", &["follow", SESSION]);
    bob.wait_for("mirroring ann");
    ann.wait_for("with bob");
    (home, ann, bob)
}

fn goto(pty: &mut Pty, step: usize) {
    pty.send(&format!(":{step}"));
    pty.wait_for(&format!("go to step: {step}"));
    pty.keys(&["Enter"]);
    selected(pty, step);
    // Its text is here too, so that it can be edited.
    pty.wait_for("fork here");
}

fn selected(pty: &mut Pty, step: usize) {
    pty.wait_until(&format!("step {step} selected"), |pty| {
        let mark = format!("▸ {step:>2} ");
        pty.screen().lines().any(|line| line.starts_with(&mark))
    });
}

fn leave(mut pty: Pty) {
    pty.keys(&["q"]);
    assert_eq!(pty.wait_exit().exit_code(), 0);
    assert_eq!(pty.kept(), [""; 0]);
}

#[test]
fn a_follower_mirrors_or_roams_and_writes_nothing() {
    let (home, mut ann, mut bob) = two();
    goto(&mut ann, 7);
    selected(&mut bob, 7);
    // What writes is refused with a sentence.
    for key in ["e", "b", "*", "H"] {
        bob.keys(&[key]);
        bob.wait_for("Y asks for the driver's seat");
        bob.keys(&["?"]);
        bob.wait_for("Esc back");
        bob.keys(&["Esc"]);
        bob.wait_for("trial 1");
    }
    // Whoever moves roams; ann goes elsewhere alone until F.
    bob.keys(&["j"]);
    bob.wait_for("roaming, ann drives");
    selected(&mut bob, 8);
    goto(&mut ann, 3);
    ann.keys(&["e"]);
    bob.wait_for("ann drives: ");
    selected(&mut bob, 8);
    bob.keys(&["F"]);
    bob.wait_for("mirroring ann");
    selected(&mut bob, 3);
    ann.keys(&["Esc"]);
    ann.wait_for("plain keys");
    ann.keys(&["Esc"]);
    ann.wait_for("trial 1");
    leave(bob);
    ann.wait_until("bob gone", |pty| !pty.screen().contains("with bob"));
    leave(ann);
    assert!(
        !home
            .path("store.db.seats")
            .read_dir()
            .unwrap()
            .any(|_| true)
    );
}

#[test]
fn the_seat_is_handed_over_when_it_is_asked_for_and_given() {
    let (_home, mut ann, mut bob) = two();
    bob.keys(&["Y"]);
    ann.wait_for("bob asks for the driver's seat");
    ann.wait_for("Y answers");
    // A stray answer is none: y copies, n looks for a hit.
    ann.keys(&["y", "n", "Y"]);
    ann.wait_for("n keeps it");
    ann.keys(&["n"]);
    bob.wait_for("ann keeps the driver's seat");
    ann.wait_for("(with bob)");
    bob.keys(&["Y"]);
    ann.wait_for("Y answers");
    ann.keys(&["Y"]);
    ann.wait_for("y gives it");
    ann.keys(&["y"]);
    bob.wait_for("ann gave you the driver's seat");
    ann.wait_for("mirroring bob");
    goto(&mut bob, 5);
    selected(&mut ann, 5);
    ann.keys(&["e"]);
    ann.wait_for("Y asks for the driver's seat");
    // A driver who leaves leaves a free seat behind.
    leave(bob);
    ann.wait_for("nobody drives");
    ann.keys(&["Y"]);
    ann.wait_for("You drive");
    leave(ann);
}

#[test]
fn a_second_driver_is_told_and_may_follow() {
    let home = Home::new();
    home.text(&["show", SESSION]);
    let mut ann = screen(&home, "ann", &[SESSION]);
    ann.wait_for("trial 1");
    wait_for_seat(&home);
    let mut bob = screen(&home, "bob", &[SESSION]);
    bob.wait_for("ann drives this session already");
    bob.wait_for("beside ann");
    ann.wait_for("with bob");
    bob.keys(&["F"]);
    bob.wait_for("mirroring ann");
    goto(&mut ann, 4);
    selected(&mut bob, 4);
    leave(bob);
    leave(ann);
}

/// Two who come within a second are told apart by chance: the first has sat down.
fn wait_for_seat(home: &Home) {
    let mut carol = screen(home, "carol", &["follow", SESSION]);
    carol.wait_for("mirroring ann");
    leave(carol);
}

#[test]
fn a_replay_is_seen_live_and_is_interrupted_when_its_driver_is_lost() {
    let (home, mut ann, mut bob) = two();
    goto(&mut ann, 3);
    selected(&mut bob, 3);
    ann.keys(&["b"]);
    ann.wait_for("ready to resume");
    bob.wait_for("mirroring ann: gates");
    ann.keys(&["Enter"]);
    ann.wait_for("▶ running");
    // The run that ann watches, step by step.
    bob.wait_for("steps of b1");
    bob.wait_for("▶ running");
    ann.keys(&[" "]);
    ann.wait_for("paused");
    ann.signal("HUP");
    assert_eq!(ann.wait_exit().exit_code(), 129);
    bob.wait_for("ann left");
    bob.wait_until("an interrupted branch", |pty| {
        pty.screen().contains("interrupted") && !pty.screen().contains("▶ running")
    });
    bob.keys(&["q"]);
    bob.wait_exit();
    let shown = home.json(&["show", SESSION, "--branch", "b1"]);
    assert_eq!(shown["run"], "interrupted");
}

#[test]
fn a_follower_approves_what_the_driver_waits_with() {
    let home = Home::new();
    let config = home.path("config");
    let owner = home
        .dover()
        .env("DOVER_CONFIG", &config)
        .args(["owner", "new", "olga", "--json"])
        .output()
        .unwrap();
    let owner: Value = serde_json::from_slice(&owner.stdout).unwrap();
    let named = format!("olga={}", owner["key"].as_str().unwrap());
    home.text(&["set", "release-notes", "--owner", &named]);
    let store = home.path("store.db");
    let open = |who: &str, args: &[&str]| {
        let env = [
            ("DOVER_STORE", store.to_str().unwrap()),
            ("DOVER_CONFIG", config.to_str().unwrap()),
            ("DOVER_OPERATOR", who),
        ];
        Pty::dover(args, &env, SIZE)
    };
    let mut ann = open("ann", &["release-notes"]);
    ann.wait_for("trial 1");
    goto(&mut ann, 10);
    ann.wait_for("held: 1 effect");
    ann.keys(&["w"]);
    ann.wait_for("undone");
    ann.keys(&["u"]);
    ann.wait_for("because:");
    ann.send("the list took it back");
    ann.keys(&["Enter"]);
    ann.wait_for("0 open");
    ann.keys(&["Esc"]);
    ann.wait_for("trial 1");
    ann.keys(&["e"]);
    ann.wait_for("your edit");
    ann.paste(" Send it to web-team@lantern.example too.");
    ann.keys(&["Ctrl-s"]);
    ann.wait_for("needs approval");
    ann.keys(&["p"]);
    ann.wait_for("waits for an owner");

    let mut bob = open("bob", &["follow", "release-notes"]);
    bob.wait_for("mirroring ann: gates");
    bob.wait_for("trial 1");
    bob.keys(&["v"]);
    bob.wait_for("try again");
    bob.keys(&["f"]);
    bob.wait_for("waits for an owner");
    bob.keys(&["o"]);
    // The only owner stands there already.
    bob.wait_for("approve as owner: olga");
    bob.keys(&["Enter"]);
    bob.wait_for("every gate holds");
    ann.wait_for("ready to resume");
    // To run it is the driver's.
    bob.keys(&["Enter"]);
    bob.wait_for("Y asks for the driver's seat");
}

#[test]
fn whom_nobody_can_follow_is_told() {
    let home = Home::new();
    home.text(&["show", SESSION]);
    let mut pty = screen(&home, "bob", &["follow", "no-such-session"]);
    pty.wait_for("there is no session 'no-such-session'");
    assert_eq!(pty.wait_exit().exit_code(), 2);
    let mut pty = screen(&home, "bob", &["follow", SESSION]);
    pty.wait_for("nobody drives");
    leave(pty);
}
