//! A stand-in for the world outside: a directory with a log per kind of thing, a JSON object on each line. It belongs to nobody's
//! store, and like a good destination it takes an operation key once.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

fn file(dir: &Path, log: &str) -> PathBuf {
    dir.join(format!("{log}.jsonl"))
}

/// Whether a log can be asked.
pub(super) fn reachable(dir: &Path, log: &str) -> bool {
    File::open(file(dir, log)).is_ok()
}

/// Adds an entry unless its operation key is there. Runs that come at the same time wait for each other.
pub(super) fn append(dir: &Path, log: &str, entry: &Value) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .open(file(dir, log))?;
    file.lock()?;
    let mut known = String::new();
    file.read_to_string(&mut known)?;
    let key = entry.get("operation_key");
    let there = known.lines().any(|line| {
        serde_json::from_str::<Value>(line).is_ok_and(|old| old.get("operation_key") == key)
    });
    if there {
        return Ok(());
    }
    file.write_all(format!("{entry}\n").as_bytes())?;
    file.sync_all()
}

/// Sets the logs up with what they hold at first; one that is there stays as it is.
pub(super) fn set_up(dir: &Path, log: &str, entries: &[Value]) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    let path = file(dir, log);
    if path.exists() {
        return Ok(());
    }
    // Written whole or not at all, so that a set-up that was broken off is made again.
    let mut fresh = tempfile::NamedTempFile::new_in(dir)?;
    for entry in entries {
        writeln!(fresh, "{entry}")?;
    }
    fresh.persist_noclobber(&path).map(drop).or_else(|error| {
        let lost = error.error.kind() == io::ErrorKind::AlreadyExists;
        if lost { Ok(()) } else { Err(error.error) }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("desk");
        let entry = |key: &str, what: &str| json!({"operation_key": key, "result": what});
        assert!(!reachable(&dir, "tickets"));
        assert!(append(&dir, "tickets", &entry("a", "1")).is_err());
        set_up(&dir, "tickets", &[entry("a", "1")]).unwrap();
        append(&dir, "tickets", &entry("a", "2")).unwrap();
        append(&dir, "tickets", &entry("b", "3")).unwrap();
        set_up(&dir, "tickets", &[]).unwrap();
        let lines = fs::read_to_string(dir.join("tickets.jsonl")).unwrap();
        let expected = format!("{}\n{}\n", entry("a", "1"), entry("b", "3"));
        assert_eq!(lines, expected);
        assert!(reachable(&dir, "tickets"));
    }
}
