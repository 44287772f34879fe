//! Python for tests that start one.

use std::process::Command;

/// The interpreter, if there is one. A missing one is said, and is a failure where nobody would read it.
pub fn python() -> Option<String> {
    let found = ["python3", "python"].into_iter().find(|name| {
        let asked = ["-c", "import sys; assert sys.version_info >= (3, 10)"];
        let output = Command::new(name).args(asked).output();
        output.is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        super::skipped("there is no Python 3.10 or newer; put python3 on the PATH");
    }
    found.map(str::to_owned)
}

/// The command of the stand-in for an adapter, in one of its modes.
pub fn stand_in(python: &str, mode: &str, file: &str) -> Vec<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/stand_in.py");
    [python, script, mode, file].map(str::to_owned).to_vec()
}
