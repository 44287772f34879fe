//! An edit that was not sent outlives the screen on which it was typed, however that ends; what a person may put into an editor.

use rusqlite::Connection;

use crate::cli::Home;
use crate::screen::{select, start};
use crate::support::pty::Pty;

const STEP: usize = 9;
const NARROW: (u16, u16) = (80, 24);

/// The edits that the store keeps.
fn kept(home: &Home) -> Vec<(usize, String)> {
    let Ok(store) = Connection::open(home.path("store.db")) else {
        return Vec::new();
    };
    let Ok(mut rows) = store.prepare("SELECT step, text FROM draft") else {
        return Vec::new();
    };
    let all = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    all.unwrap().map(Result::unwrap).collect()
}

/// The editor on an instruction of the sample.
fn editing(home: &Home, size: (u16, u16)) -> Pty {
    let mut pty = start(home, &["night-picture"], &[], size);
    pty.wait_for("trial 1");
    select(&mut pty, STEP);
    pty.keys(&["e"]);
    pty.wait_for("your edit");
    pty
}

#[test]
fn an_edit_outlives_a_kill_and_a_hang_up_and_is_gone_when_it_was_forked() {
    let home = Home::new();
    let mut pty = editing(&home, NARROW);
    pty.send(" Read the caption");
    pty.wait_outside("the edit in the store", || {
        kept(&home)
            .iter()
            .any(|(_, text)| text.ends_with("Read the caption"))
    });
    pty.signal("KILL");
    pty.wait_exit();

    // What was typed a moment before the terminal goes is there too.
    let mut pty = start(&home, &["night-picture"], &[], NARROW);
    pty.wait_for("An edit of step 9 was not sent");
    select(&mut pty, STEP);
    pty.keys(&["e"]);
    pty.wait_for("Read the caption");
    pty.send(" and the date");
    pty.wait_for("and the date");
    pty.signal("HUP");
    pty.wait_exit();
    let texts = kept(&home);
    assert!(
        matches!(&texts[..], [(STEP, text)] if text.ends_with("Read the caption and the date")),
        "{texts:?}"
    );

    let mut pty = start(
        &home,
        &["night-picture"],
        &[("DOVER_OPERATOR", "bob")],
        NARROW,
    );
    pty.wait_for("An edit of step 9 by ann was not sent");
    select(&mut pty, STEP);
    pty.keys(&["f"]);
    pty.wait_for("ready to resume");
    pty.keys(&["Enter"]);
    pty.wait_for("running");
    pty.wait_outside("the edit gone from the store", || kept(&home).is_empty());
    pty.keys(&["Ctrl-c"]);
    pty.wait_exit();
}

#[test]
fn an_edit_outlives_a_terminal_of_no_size() {
    let home = Home::new();
    let mut pty = editing(&home, NARROW);
    pty.send(" Before");
    pty.wait_for(" Before");
    for size in [(1, 1), (0, 0), (2, 30), (200, 1)] {
        pty.resize(size.0, size.1);
        pty.send("x");
    }
    pty.resize(80, 24);
    pty.wait_for(" Beforexxxx");
    pty.keys(&["Ctrl-c"]);
    assert_eq!(pty.wait_exit().exit_code(), 0);
}

#[test]
fn a_paste_of_a_megabyte_is_taken_whole() {
    let home = Home::new();
    let mut pty = editing(&home, NARROW);
    let line = "A line of a log that somebody put on the clipboard by mistake.\n";
    let text = line.repeat((1 << 20) / line.len());
    pty.paste(&format!("{text}THE END"));
    pty.wait_for("THE END");
    pty.send(" of it");
    pty.wait_for("THE END of it");
    pty.keys(&["Ctrl-c"]);
    assert_eq!(pty.wait_exit().exit_code(), 0);
    let texts = kept(&home);
    assert!(
        matches!(&texts[..], [(STEP, kept)] if kept.ends_with("THE END of it") && kept.contains(&text))
    );
}
