//! The mouse in a real terminal: not taken until it is asked for, given back whenever the terminal is, and what it hits.

use crate::cli::{Home, orchestrated};
use crate::screen::{select, start};
use crate::support::pty::Pty;

const SIZE: (u16, u16) = (80, 24);
const TAKEN: &str = "\x1b[?1000h\x1b[?1006h";
const GIVEN: &str = "\x1b[?1006l\x1b[?1000l";
const F4: &str = "\x1bOS";
/// The session's footer, whole.
const SESSION: &str =
    "Enter read  e edit  h hypotheses  o overview  ' jumps  Esc back  ? help  q quit";
/// The editor's.
const EDITOR: &str = "Esc stop typing  Ctrl-S fork  Ctrl-E $EDITOR";

fn open(home: &Home, words: &[&str], env: &[(&str, &str)]) -> Pty {
    let file = home.file("ferry.json", &orchestrated());
    let words = [words, &[&file]].concat();
    let mut pty = start(home, &words, env, SIZE);
    pty.wait_for(SESSION);
    pty
}

/// Column and row of a text on the screen, as a terminal counts them.
fn place(pty: &Pty, text: &str) -> (usize, usize) {
    let screen = pty.screen();
    let mut rows = screen.lines().enumerate();
    let found = rows.find_map(|(y, row)| row.split_once(text).map(|(before, _)| (before, y)));
    let (before, y) = found.unwrap_or_else(|| panic!("no {text:?} in\n{screen}"));
    (before.chars().count() + 1, y + 1)
}

/// Presses a button on a text and lets it go, as xterm tells it (SGR).
fn click(pty: &mut Pty, text: &str) {
    let (x, y) = place(pty, text);
    pty.send(&format!("\x1b[<0;{x};{y}M\x1b[<0;{x};{y}m"));
}

fn selected(pty: &mut Pty, text: &str) {
    pty.wait_until(&format!("{text:?} to be selected"), |pty| {
        let screen = pty.screen();
        let mut rows = screen.lines();
        rows.any(|row| row.starts_with('▸') && row.contains(text))
    });
}

fn written(pty: &Pty) -> String {
    String::from_utf8_lossy(pty.output()).into_owned()
}

#[test]
fn the_terminal_keeps_its_mouse_until_it_is_asked_for() {
    let home = Home::new();
    let mut pty = open(&home, &[], &[]);
    select(&mut pty, 3);
    let before = written(&pty);
    for mode in ["1000h", "1002h", "1003h", "1006h", "1015h"] {
        assert!(!before.contains(&format!("\x1b[?{mode}")), "{mode}");
    }
    pty.send(F4);
    pty.wait_for("The mouse is dover's");
    assert!(written(&pty).contains(TAKEN));
    click(&mut pty, "The museum is closed");
    selected(&mut pty, "The museum is closed");
    pty.send(F4);
    pty.wait_for("The mouse is the terminal's again");
    assert!(written(&pty).contains(GIVEN));
    pty.keys(&["q"]);
    assert_eq!(pty.wait_exit().exit_code(), 0);
    assert_eq!(pty.kept(), [""; 0]);
}

#[test]
fn clicks_and_the_wheel_do_what_keys_do() {
    let home = Home::new();
    let mut pty = open(&home, &["--mouse"], &[]);
    select(&mut pty, 0);
    let (x, y) = place(&pty, "Search for the ferry Halcyon");
    pty.send(&format!("\x1b[<65;{x};{y}M"));
    selected(&mut pty, "Search for the ferry Halcyon");
    pty.send(&format!("\x1b[<64;{x};{y}M"));
    selected(&mut pty, "In which harbour");
    // Twice: the whole text.
    click(&mut pty, "The museum is closed");
    selected(&mut pty, "The museum is closed");
    click(&mut pty, "The museum is closed");
    // A frame is written from its top: the end of its footer tells that it is whole.
    pty.wait_for("/ search  Esc back  ? help");
    click(&mut pty, "Esc back");
    pty.wait_for(SESSION);
    click(&mut pty, "o overview");
    pty.wait_for("Space pick  Esc back  ? help");
    click(&mut pty, "Esc back");
    pty.wait_for(SESSION);
    click(&mut pty, "q quit");
    assert_eq!(pty.wait_exit().exit_code(), 0);
    assert_eq!(pty.kept(), [""; 0]);
}

#[test]
fn the_mouse_is_the_editors_while_it_is_up_and_dovers_after_it() {
    let home = Home::new();
    let script = home.file(
        "editor.sh",
        "printf ' By the quay.\\n' >> \"$1\"; echo editing",
    );
    let mut pty = open(
        &home,
        &["--mouse"],
        &[("EDITOR", &format!("sh {script}")), ("VISUAL", "")],
    );
    select(&mut pty, 3);
    click(&mut pty, "e edit");
    pty.wait_for(EDITOR);
    click(&mut pty, "Ctrl-E $EDITOR");
    pty.wait_for("By the quay.");
    let all = written(&pty);
    let (before, after) = all.split_once("editing").unwrap();
    assert_eq!(before.matches(TAKEN).count(), 1);
    let given = before.rfind(GIVEN).unwrap();
    assert!(before.rfind(TAKEN).unwrap() < given, "given to the editor");
    assert_eq!(after.matches(TAKEN).count(), 1, "taken again");
    pty.signal("TERM");
    assert_eq!(pty.wait_exit().exit_code(), 143);
    assert_eq!(pty.kept(), [""; 0]);
}

#[test]
fn the_configuration_takes_the_mouse_from_the_start() {
    let home = Home::new();
    home.file("config.toml", "[screen]\nmouse = true\n");
    let dir = home.path("");
    let mut pty = open(&home, &[], &[("DOVER_CONFIG", dir.to_str().unwrap())]);
    select(&mut pty, 3);
    click(&mut pty, "The museum is closed");
    selected(&mut pty, "The museum is closed");
    pty.signal("HUP");
    pty.wait_exit();
    assert_eq!(pty.kept(), [""; 0]);
}
