//! The README keeps its word: its key table and its screens are the program's own, and its worked example works.
//!
//! `DOVER_WRITE_README=1 cargo test readme -- --test-threads 1` writes what it shows anew.

use std::fs;
use std::ops::Range;

use crate::cli::Home;
use crate::support::pty::Pty;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");

/// The README and the range of what stands in it between `<!-- name: … -->` and `<!-- /name -->`.
fn section(name: &str) -> (String, Range<usize>) {
    let readme = fs::read_to_string(README).unwrap();
    let start = readme.find(&format!("<!-- {name}:")).unwrap();
    let start = start + readme[start..].find("-->\n").unwrap() + "-->\n".len();
    let end = start + readme[start..].find(&format!("<!-- /{name} -->")).unwrap();
    (readme, start..end)
}

/// Writes a section anew, if that is asked for.
fn rewritten(name: &str, content: &str) -> bool {
    let asked = std::env::var_os("DOVER_WRITE_README").is_some();
    if asked {
        let (mut readme, range) = section(name);
        readme.replace_range(range, content);
        fs::write(README, readme).unwrap();
    }
    asked
}

fn picture(pty: &Pty) -> String {
    let screen = pty.screen();
    let lines: Vec<_> = screen.lines().map(str::trim_end).collect();
    format!("```text\n{}\n```\n", lines.join("\n").trim_end())
}

/// Waits until the screen is the one that the README shows.
fn shows(pty: &mut Pty, name: &str) {
    if !rewritten(name, &picture(pty)) {
        let (readme, range) = section(name);
        pty.wait_until(&format!("README.md's {name}"), |pty| {
            picture(pty) == readme[range.clone()]
        });
    }
}

#[test]
fn the_key_table_is_the_one_that_the_screen_obeys() {
    let home = Home::new();
    let table = home.text(&["keys", "--markdown"]);
    assert!(table.lines().count() > 20);
    if !rewritten("keys", &table) {
        let (readme, range) = section("keys");
        assert!(
            readme[range] == table,
            "the key table has changed: write it anew"
        );
    }
}

#[test]
fn the_worked_example_works_by_keys_as_it_is_written() {
    let home = Home::new();
    let store = home.path("store.db");
    let folder = home.path("");
    let env = [
        ("DOVER_STORE", store.to_str().unwrap()),
        ("DOVER_OPERATOR", "ann"),
        ("HOME", folder.to_str().unwrap()),
    ];
    let mut pty = Pty::dover(&["night-picture"], &env, (80, 24));
    pty.wait_for("trial 1");
    pty.send("}");
    pty.wait_for("▸ 19");
    pty.send("k");
    pty.wait_for("▸ 18");
    pty.wait_for("fork here");
    shows(&mut pty, "screenshot");
    pty.send("e");
    pty.wait_for("your edit");
    pty.keys(&["Home", "Ctrl-K"]);
    pty.send("Click 'All years', then '2015', then 'August'. Open the picture of 4 August 2015.");
    pty.wait_for("4 August");
    pty.wait_for("2015+}");
    pty.keys(&["Ctrl-S"]);
    pty.wait_for("Enter forks and runs");
    pty.keys(&["Enter"]);
    pty.wait_for("Validated");
    pty.keys(&["Enter"]);
    pty.wait_for("≠");
    // A frame is written from its top: its last row tells that it is whole.
    pty.wait_for("n next difference");
    shows(&mut pty, "compare");
    pty.send("q");
    pty.wait_for("night-picture");
    drop(pty);

    // What was done by keys is what the command line sees.
    let branch = home.json(&["show", "night-picture/b1"]);
    assert_eq!(branch["success"], true);
    assert_eq!(branch["fork_step"], 18);
}
