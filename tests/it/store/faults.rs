//! Bad stores: one clear sentence each, with the file and the next step, and nothing lost.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use dover::model::{BranchId, GateStatus, RunStatus};
use dover::store::{Store, StoreError};
use rusqlite::Connection;

use super::{Noon, draft, fresh, go, message, open, plain_steps, session, take_in};

fn refusal(path: &Path) -> String {
    match Store::open(path, Arc::new(Noon)) {
        Ok(_) => panic!("opened {}", path.display()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_newer_schema_is_named() {
    let (dir, store) = fresh();
    drop(store);
    let path = dir.path().join("store.db");
    let other = Connection::open(&path).unwrap();
    let known: i64 = other
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    let newer = known + 1;
    other.pragma_update(None, "user_version", newer).unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    assert_eq!(
        refusal(&path),
        format!(
            "store {}: made by a newer dover (schema {newer}, this program knows {known}): update dover or use --store with another file",
            path.display()
        )
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn what_is_not_a_store_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("notes.txt");
    fs::write(&text, "not a database, but longer than a header of a hundred bytes would be, so that it is read as one at all").unwrap();
    let short = dir.path().join("short.txt");
    fs::write(&short, "x").unwrap();
    let other = dir.path().join("other.db");
    Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE t (a)")
        .unwrap();
    let cases = [
        (&text, "not a database"),
        (&short, "not a database"),
        (&other, "a database of another program"),
    ];
    for (path, what) in cases {
        let before = fs::read(path).unwrap();
        assert_eq!(
            refusal(path),
            format!(
                "store {}: {what}; nothing was changed: use --store with another file",
                path.display()
            )
        );
        assert_eq!(fs::read(path).unwrap(), before);
    }
    let names: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 3, "nothing left beside them: {names:?}");
}

#[test]
fn a_directory_is_named_and_a_missing_parent_is_made() {
    let dir = tempfile::tempdir().unwrap();
    assert!(refusal(dir.path()).contains("this is a directory: name a file in it, such as"));
    let deep = dir.path().join("a/b?c#d%20/store.db");
    take_in(&open(&deep), session("s"), &plain_steps(1));
    assert!(deep.is_file());
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(refusal(&file.join("store.db")).contains("cannot be opened or made"));
}

#[test]
fn an_empty_file_becomes_a_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    fs::write(&path, "").unwrap();
    take_in(&open(&path), session("s"), &plain_steps(1));
}

#[cfg(unix)]
#[test]
fn a_store_that_cannot_be_written_is_still_read() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, store) = fresh();
    let main = take_in(&store, session("s"), &plain_steps(3));
    drop(store);
    let path = dir.path().join("store.db");
    let set = |directory, file| {
        fs::set_permissions(&path, fs::Permissions::from_mode(file)).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(directory)).unwrap();
    };
    for (directory, file) in [(0o555, 0o444), (0o555, 0o644), (0o755, 0o444)] {
        set(directory, file);
        if fs::OpenOptions::new().append(true).open(&path).is_ok() && file == 0o444 {
            eprintln!("skipped: permissions do not bind this user");
            break;
        }
        if directory == 0o555 && fs::write(dir.path().join("probe"), "").is_ok() {
            eprintln!("skipped: permissions do not bind this user");
            break;
        }
        let store = open(&path);
        assert!(store.is_read_only());
        assert_eq!(
            store.steps(&main, 0..9).unwrap(),
            plain_steps(3),
            "{directory:o} {file:o}"
        );
        let expected = format!(
            "store {}: read-only, so nothing can be recorded: make the file and its directory writable or use --store with another file",
            path.display()
        );
        assert_eq!(
            store
                .fork(draft(&main, 1, 1), &mut go)
                .unwrap_err()
                .to_string(),
            expected
        );
        assert_eq!(store.import().err().unwrap().to_string(), expected);
    }
    set(0o755, 0o644);
    open(&path).fork(draft(&main, 1, 1), &mut go).unwrap();
}

#[test]
fn two_processes_may_make_one_store_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    std::thread::scope(|scope| {
        for i in 0..8 {
            let path = &path;
            scope.spawn(move || take_in(&open(path), session(&format!("s{i}")), &plain_steps(5)));
        }
    });
    assert_eq!(open(&path).session_ids().unwrap().len(), 8);
}

#[test]
fn the_database_itself_guards_what_was_made() {
    let (dir, store) = fresh();
    let main = take_in(&store, session("s"), &plain_steps(3));
    store.fork(draft(&main, 1, 1), &mut go).unwrap();
    let raw = Connection::open(dir.path().join("store.db")).unwrap();
    for sql in [
        "UPDATE step SET agent = 'x' WHERE idx = 1",
        "DELETE FROM step",
        "UPDATE content SET text = 'x'",
        "DELETE FROM content",
        "DELETE FROM branch WHERE name = 'b1'",
        "UPDATE branch SET fork_step = 2 WHERE name = 'b1'",
        "UPDATE branch SET parent = NULL WHERE name = 'b1'",
        "UPDATE branch SET prefix = x'00' WHERE name = 'b1'",
        "INSERT INTO branch (id, session, name, parent, fork_step, prefix, run_index, seed, run, diagnostic, created, steps)
         VALUES (77, 1, 'loop', 77, 1, x'00', 0, 0, 'done', 0, '', 1)",
    ] {
        assert!(raw.execute(sql, []).is_err(), "{sql}");
    }
    assert_eq!(store.steps(&main, 0..9).unwrap(), plain_steps(3));
}

#[test]
fn a_damaged_row_is_said_and_the_fork_facts_show_it() {
    let (dir, store) = fresh();
    let main = take_in(&store, session("s"), &plain_steps(4));
    let raw = Connection::open(dir.path().join("store.db")).unwrap();
    raw.execute_batch(
        "DROP TRIGGER content_update; UPDATE content SET text = 'forged' WHERE text = 'text 1'",
    )
    .unwrap();
    let mut equal = Vec::new();
    for step in [1, 2] {
        store
            .fork(draft(&main, step, 1), &mut |facts| {
                equal.push(facts.prefix_digest == facts.recorded_digest);
                go(facts)
            })
            .unwrap();
    }
    assert_eq!(
        equal,
        [true, false],
        "only the second prefix holds the forged step"
    );
    raw.execute_batch("UPDATE session SET header = '{'")
        .unwrap();
    assert!(matches!(
        store.session("s"),
        Err(StoreError::Damaged { .. })
    ));
}

#[test]
fn a_live_owners_branches_are_left_alone_and_a_dead_ones_are_interrupted() {
    let (dir, first) = fresh();
    let path = dir.path().join("store.db");
    let main = take_in(&first, session("s"), &plain_steps(4));
    let (_, branches) = first.fork(draft(&main, 2, 3), &mut go).unwrap();
    let [done, running, planned] = [0, 1, 2].map(|i| branches[i].id.clone());
    first.start(&done).unwrap();
    first.end(&done, &super::ending(RunStatus::Done)).unwrap();
    first.start(&running).unwrap();
    first
        .append(&running, &message(2, "Solver", "kept"), None, &[])
        .unwrap();

    let second = open(&path);
    let runs = |store: &Store| {
        [&done, &running, &planned].map(|id: &BranchId| store.branch(id).unwrap().run)
    };
    assert_eq!(second.refresh_interrupted().unwrap(), 0);
    assert_eq!(
        runs(&second),
        [RunStatus::Done, RunStatus::Running, RunStatus::Planned]
    );

    drop(first);
    let receipts = || second.receipts(None).unwrap();
    let outcomes = || receipts().matches("\"kind\":\"outcome\"").count();
    assert_eq!(outcomes(), 1);
    assert_eq!(second.refresh_interrupted().unwrap(), 2);
    // Each has a receipt of how it ended; the one that had begun is unverified, the other keeps what was ruled.
    assert_eq!(outcomes(), 3);
    assert_eq!(receipts().matches("\"run\":\"interrupted\"").count(), 2);
    let gate = |id: &BranchId| second.branch(id).unwrap().gate;
    assert_eq!(
        [gate(&running), gate(&planned)],
        [
            Some(GateStatus::Unverified),
            Some(GateStatus::ReadyToResume)
        ]
    );
    assert_eq!(
        runs(&second),
        [
            RunStatus::Done,
            RunStatus::Interrupted,
            RunStatus::Interrupted
        ]
    );
    let branch = second.branch(&running).unwrap();
    assert_eq!(
        (branch.steps, branch.reason.as_deref()),
        (3, Some("the process that ran it went away"))
    );
    assert_eq!(second.step(&running, 2).unwrap().text, "kept");
    assert!(matches!(
        second.append(&running, &message(3, "Solver", "x"), None, &[]),
        Err(StoreError::Refused(_))
    ));
    assert_eq!(second.refresh_interrupted().unwrap(), 0);
}

#[test]
fn a_damaged_session_does_not_keep_its_interrupted_branches_from_being_marked() {
    let (dir, first) = fresh();
    let path = dir.path().join("store.db");
    let main = take_in(&first, session("s"), &plain_steps(4));
    let (_, branches) = first.fork(draft(&main, 2, 1), &mut go).unwrap();
    let running = branches[0].id.clone();
    first.start(&running).unwrap();
    drop(first);
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch("UPDATE session SET header = '{'")
        .unwrap();
    drop(raw);
    let second = open(&path);
    assert_eq!(second.branch(&running).unwrap().run, RunStatus::Interrupted);
    // Nothing can be told of it.
    assert!(!second.receipts(None).unwrap().contains("interrupted"));
}
