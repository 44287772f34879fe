//! docs/adapters.md keeps its word: the files that it shows are written, its commands are run, and they print what it says.

use std::path::Path;
use std::process::Command;

use crate::cli::Home;
use crate::support::python::python;

/// What a fenced block of the page is for, and its text.
fn blocks(page: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let mark = line.strip_prefix("<!-- ");
        let Some(what) = mark.and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        let fence = lines.next().unwrap();
        assert!(fence.starts_with("```"), "no block after {line}");
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        found.push((what, text.join("\n") + "\n"));
    }
    found
}

#[test]
fn the_page_on_ones_own_adapter_works_as_it_is_written() {
    let Some(python) = python() else { return };
    let home = Home::new();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/adapters.md");
    let page = std::fs::read_to_string(page).unwrap();
    // The commands as a reader has them: dover and python3 are on the path.
    let dover = assert_cmd::cargo::cargo_bin!("dover").to_owned();
    let path = format!(
        "{}:{}",
        dover.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let mut printed = String::new();
    let mut done = (0, 0, 0);
    for (what, text) in blocks(&page) {
        match what.split_once(": ") {
            Some(("file", name)) => {
                done.0 += 1;
                home.file(name, &text);
            }
            _ if what == "run" => {
                done.1 += 1;
                let mut shell: Command = home.dover();
                shell = as_shell(&shell, &text.replace("python3 ", &format!("{python} ")));
                let output = shell.env("PATH", &path).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                printed = String::from_utf8(output.stdout).unwrap();
                assert!(output.status.success(), "{text}{printed}{said}");
            }
            _ => {
                assert_eq!(what, "prints");
                done.2 += 1;
                for line in text.lines() {
                    let there = printed.lines().any(|it| it.trim() == line);
                    assert!(there, "`{line}` is not printed: {printed}");
                }
            }
        }
    }
    assert_eq!(done, (2, 2, 2), "the page proves too little");
    assert!(Path::new(&home.path("store.db")).exists());
}

/// The lines as one script, with what a command would be started with.
fn as_shell(like: &Command, script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", script]);
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.current_dir(like.get_current_dir().unwrap());
    shell
}
