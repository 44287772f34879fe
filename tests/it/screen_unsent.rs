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

#[test]
fn edits_of_two_steps_in_any_script_outlive_a_hang_up_to_the_letter() {
    let home = Home::new();
    let mut pty = editing(&home, NARROW);
    let text = " 打开图片档案\r\r第二行 é\u{301} 👍";
    pty.send(text);
    pty.wait_for("第二行");
    // The cursor stands in the middle of it.
    pty.keys(&["Up", "Home"]);
    pty.send("中");
    pty.wait_for("中");
    pty.keys(&["Esc"]);
    pty.wait_for("plain keys");
    pty.keys(&["Esc"]);
    pty.wait_for("trial 1");
    select(&mut pty, 15);
    pty.keys(&["e"]);
    pty.wait_for("your edit");
    pty.send(" Then stop.");
    pty.wait_for("Then stop.");
    pty.signal("HUP");
    pty.wait_exit();
    let texts = kept(&home);
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(
        texts[0]
            .1
            .ends_with(" 打开图片档案\n中\n第二行 é\u{301} 👍"),
        "{texts:?}"
    );
    assert_eq!(texts[1].0, 15);
    assert!(texts[1].1.ends_with(" Then stop."));

    let mut pty = start(&home, &["night-picture"], &[], NARROW);
    pty.wait_for("2 edits were not sent, the first of step 9");
    select(&mut pty, 15);
    pty.keys(&["e"]);
    pty.wait_for("Then stop.");
    pty.keys(&["Ctrl-c"]);
    pty.wait_exit();
}

#[test]
fn an_editor_of_ones_own_keeps_ctrl_c_and_loses_nothing_that_it_saved() {
    let home = Home::new();
    let edits = |script: &str| {
        let script = home.file("editor.sh", script);
        let editor = format!("sh {script}");
        let mut pty = start(&home, &["night-picture"], &[("EDITOR", &editor)], NARROW);
        pty.wait_for("trial 1");
        select(&mut pty, STEP);
        pty.keys(&["e"]);
        pty.wait_for("your edit");
        pty.keys(&["Ctrl-e"]);
        pty
    };
    let ready = home.path("ready");
    let waits = format!("echo saved >> \"$1\"; : > {}; ", ready.display());

    // What is Ctrl-C to a shell is a key to an editor: it ends neither the editor nor dover.
    let mut pty = edits(&format!(
        "trap 'echo interrupted >> \"$1\"; exit 0' INT; {waits} while :; do sleep 0.1; done"
    ));
    pty.wait_outside("the editor", || ready.exists());
    pty.keys(&["Ctrl-c"]);
    pty.wait_for("interrupted");
    pty.send(" Typed");
    pty.wait_for(" Typed");
    pty.keys(&["Ctrl-c"]);
    pty.wait_exit();

    // A terminal that goes takes both; what was saved is kept as an edit that was not sent.
    std::fs::remove_file(&ready).unwrap();
    let mut pty = edits(&format!("{waits} echo more >> \"$1\"; sleep 60"));
    pty.wait_outside("the editor", || ready.exists());
    pty.signal("HUP");
    pty.wait_exit();
    let texts = kept(&home);
    assert!(texts[0].1.contains(" Typedsaved"), "{texts:?}");

    // Bytes that are no text are seen, not a reason to lose the rest.
    let mut pty = edits("printf 'Open \\377 August\\n' > \"$1\"");
    pty.wait_for("no UTF-8");
    pty.keys(&["Ctrl-c"]);
    pty.wait_exit();
    assert_eq!(kept(&home)[0].1, "Open � August");
}

#[test]
fn a_paste_of_a_megabyte_into_a_line_is_cut_and_the_rest_goes_on() {
    let home = Home::new();
    let mut pty = start(&home, &["night-picture"], &[], NARROW);
    pty.wait_for("trial 1");
    let text = "Something from a clipboard. ".repeat((1 << 20) / 28);
    // Where nothing is written it does nothing.
    pty.paste(&text);
    for (keys, prompt) in [
        ("/", "search:"),
        ("a", "note on this step:"),
        ("\x10", "commands"),
    ] {
        pty.send(keys);
        pty.wait_for(prompt);
        pty.paste(&text);
        pty.wait_for(if keys == "\x10" {
            "Something from"
        } else {
            "the rest of the paste is left out"
        });
        pty.keys(&["Esc"]);
        pty.wait_for("trial 1");
    }
    pty.keys(&["j"]);
    pty.wait_until("step 1", |pty| pty.screen().contains("▸  1 "));
    pty.keys(&["q"]);
    assert_eq!(pty.wait_exit().exit_code(), 0);
}
