//! What the project's Python tests say beside the walk of `dover adapter check`: the protocol line by line, and what only AutoGen has.

use std::process::Command;

use super::{Scene, adapters};
use crate::support::python::python;

#[track_caller]
fn passes(command: &mut Command) {
    let output = command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_protocol_holds_line_by_line() {
    let Some(python) = python() else { return };
    passes(
        Command::new(python)
            .arg(adapters().join("conformance.py"))
            .args([
                "minimal",
                "minimal_team.py:build",
                "--task",
                "3 widgets, please",
            ])
            .current_dir(adapters().join("teams")),
    );
}

#[test]
fn what_only_autogen_has_holds() {
    let Some(scene) = Scene::of("autogen") else {
        return;
    };
    passes(Command::new(&scene.python).arg(adapters().join("autogen_test.py")));
}
