//! Copying in a real terminal: what is sent, through tmux too, and the file that has it in any case.

use std::process::Command;

use crate::cli::{Home, orchestrated};
use crate::screen::{select, start};
use crate::support::pty::Pty;

const SIZE: (u16, u16) = (80, 24);
const TEXT: &str = "The museum is closed.";
/// The same, as `base64` writes it.
const BASE64: &str = "VGhlIG11c2V1bSBpcyBjbG9zZWQu";

/// Opens a log and copies its last message.
fn copied(home: &Home, env: &[(&str, &str)]) -> Pty {
    let file = home.file("ferry.json", &orchestrated());
    let data = home.path("data");
    let env = [&[("DOVER_DATA", data.to_str().unwrap())], env].concat();
    let mut pty = start(home, &[&file], &env, SIZE);
    pty.wait_for("trial 1");
    select(&mut pty, 8);
    pty.keys(&["y"]);
    pty.wait_for("21 characters");
    pty
}

fn kept(home: &Home) -> String {
    std::fs::read_to_string(home.path("data/clipboard")).unwrap()
}

fn sent(pty: &Pty, sequence: &str) -> bool {
    let written = pty.output();
    written
        .windows(sequence.len())
        .any(|window| window == sequence.as_bytes())
}

#[test]
fn a_terminal_is_sent_the_text_and_a_file_has_it() {
    let home = Home::new();
    let pty = copied(&home, &[]);
    assert!(pty.screen().contains("sent to the terminal's clipboard"));
    assert!(sent(&pty, &format!("\x1b]52;c;{BASE64}\x07")));
    assert_eq!(kept(&home), TEXT);
}

#[test]
fn a_terminal_that_takes_no_copies_is_sent_none() {
    let home = Home::new();
    let pty = copied(&home, &[("TERM", "linux")]);
    assert!(pty.screen().contains("only"), "{}", pty.screen());
    assert!(!sent(&pty, "\x1b]52;"));
    assert_eq!(kept(&home), TEXT);

    let home = Home::new();
    home.file("config.toml", "[screen]\ncopy_to_file_only = true\n");
    let dir = home.path("");
    let pty = copied(&home, &[("DOVER_CONFIG", dir.to_str().unwrap())]);
    assert!(pty.screen().contains("only"), "{}", pty.screen());
    assert!(!sent(&pty, "\x1b]52;"));
    assert_eq!(kept(&home), TEXT);
}

#[test]
fn tmux_out_of_reach_is_sent_both_of_its_forms() {
    let home = Home::new();
    let pty = copied(&home, &[("TMUX", "/nonexistent/tmux,1,0")]);
    let wrapped = format!("\x1bPtmux;\x1b\x1b]52;c;{BASE64}\x07\x1b\\");
    assert!(sent(&pty, &format!("\x1b]52;c;{BASE64}\x07{wrapped}")));
    assert_eq!(kept(&home), TEXT);
}

#[test]
fn gnu_screen_is_sent_pieces() {
    let home = Home::new();
    let pty = copied(&home, &[("STY", "1.pts-0.host")]);
    assert!(sent(&pty, &format!("\x1bP\x1b]52;c;{BASE64}\x07\x1b\\")));
}

/// A tmux of the test's own, ended with it.
struct Tmux {
    socket: String,
}

impl Tmux {
    fn run(&self, words: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        let output = tmux.args(["-S", &self.socket]).args(words).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

#[test]
fn real_tmux_gets_it_however_it_is_configured() {
    if Command::new("tmux").arg("-V").output().is_err() {
        eprintln!("skipped: there is no tmux here");
        return;
    }
    for set in ["external", "on", "off"] {
        let home = Home::new();
        let file = home.file("ferry.json", &orchestrated());
        let socket = home.path("tmux.sock").to_str().unwrap().to_owned();
        let conf = home.file("tmux.conf", &format!("set -s set-clipboard {set}\n"));
        let tmux = Tmux { socket };
        let dover = env!("CARGO_BIN_EXE_dover");
        let words = ["-S", &tmux.socket, "-f", &conf, "new-session", dover, &file];
        let (store, data) = (home.path("store.db"), home.path("data"));
        let env = [
            ("DOVER_STORE", store.to_str().unwrap()),
            ("DOVER_DATA", data.to_str().unwrap()),
            ("DOVER_OPERATOR", "ann"),
        ];
        let mut pty = Pty::start("tmux", &words, &env, SIZE);
        pty.wait_for("trial 1");
        select(&mut pty, 8);
        pty.keys(&["y"]);
        pty.wait_for("given to tmux");
        assert_eq!(tmux.run(&["show-buffer"]), TEXT, "{set}");
        // xterm, which this terminal says it is, takes copies, and tmux sends it one.
        pty.wait_until("tmux to send it on", |pty| sent(pty, BASE64));
        assert_eq!(kept(&home), TEXT);
    }
}
