//! A held fork on the screen: destinations asked, an effect decided, an owner's approval waited for, a new effect allowed.

use serde_json::Value;

use crate::cli::Home;
use crate::support::pty::Pty;

/// Runs a command as a person with keys of their own.
fn with_keys(home: &Home, words: &[&str]) -> String {
    let output = home
        .dover()
        .env("DOVER_CONFIG", home.path("config"))
        .args(words)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{words:?}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_held_fork_is_settled_approved_run_and_stopped_by_keys() {
    let home = Home::new();
    let owner = with_keys(&home, &["owner", "new", "olga", "--json"]);
    let owner: Value = serde_json::from_str(&owner).unwrap();
    let named = format!("olga={}", owner["key"].as_str().unwrap());
    with_keys(&home, &["set", "release-notes", "--owner", &named]);

    let (store, config) = (home.path("store.db"), home.path("config"));
    let env = [
        ("DOVER_STORE", store.to_str().unwrap()),
        ("DOVER_CONFIG", config.to_str().unwrap()),
        ("DOVER_OPERATOR", "ann"),
    ];
    let mut pty = Pty::dover(&["release-notes"], &env, (80, 24));
    pty.wait_for("trial 1");
    pty.send(":10");
    pty.keys(&["Enter"]);
    pty.wait_for("▸ 10");
    pty.wait_for("held: 1 effect");
    pty.keys(&["e"]);
    pty.wait_for("your edit");
    pty.paste(" Send it to web-team@lantern.example too.");
    pty.keys(&["Ctrl-s"]);
    pty.wait_for("effects unreconciled");

    // The command is shown, and runs when the same key is pressed once more.
    pty.keys(&["R"]);
    pty.wait_for("desk.sh mails lantern-2.4-announce");
    pty.keys(&["R"]);
    pty.wait_for("irreversible");
    pty.keys(&["u"]);
    pty.wait_for("because:");
    pty.send("the list took it back");
    pty.keys(&["Enter"]);
    pty.wait_for("0 open");
    pty.keys(&["Esc"]);

    pty.wait_for("needs approval");
    pty.keys(&["p"]);
    pty.wait_for("waits for an owner");
    // Waiting can be left and come back to.
    pty.keys(&["q", "q"]);
    pty.wait_for("trial 1");
    pty.keys(&["v"]);
    pty.wait_for("try again");
    pty.keys(&["f"]);
    pty.wait_for("waits for an owner");
    // Somebody else approves, in another process; the panel sees it by itself.
    with_keys(&home, &["approve", "release-notes/i1", "--as", "olga"]);
    pty.wait_for("ready to resume");
    pty.keys(&["Enter"]);

    pty.wait_for("wants to call send_mail");
    pty.wait_for("announce@lantern.example");
    pty.keys(&["y"]);
    // It is asked anew about every call; stopping the run is an answer too.
    pty.wait_until("the next question", |pty| {
        let screen = pty.screen();
        screen.contains("Mail 'Lantern") && screen.contains("wants to call send_mail")
    });
    pty.keys(&["x"]);
    pty.wait_for("ended");
    pty.keys(&["q", "q"]);
    pty.wait_for("trial 1");
    pty.keys(&["q"]);
    assert_eq!(pty.wait_exit().exit_code(), 0);

    let shown = with_keys(&home, &["show", "release-notes", "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let branches: Vec<(&str, &str)> = shown["branches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|branch| {
            (
                branch["id"].as_str().unwrap(),
                branch["run"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        branches,
        [
            ("release-notes/b1", "held"),
            ("release-notes/b2", "stopped")
        ]
    );
}
