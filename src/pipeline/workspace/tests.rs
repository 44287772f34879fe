//! A tree is captured and restored as it was, or not at all, and nothing of it is left.

use std::time::Duration;

use tempfile::TempDir;

use super::capture::git;
use super::*;

async fn repository() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let write = |name: &str, text: &[u8]| std::fs::write(at.join(name), text).unwrap();
    let run = |words: &'static [&'static str]| async move { git(at, None, words).await.unwrap() };
    run(&["init", "-q"]).await;
    write("a", b"1\n2\n3\n");
    write("b", b"b\n");
    run(&["add", "."]).await;
    run(&[
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@t",
        "commit",
        "-qm",
        "one",
    ])
    .await;
    // What a patch may trip over: no UTF-8, binary, an executable, a link, a name with a line break, no last line break.
    write("a", b"1\n\xe9\n3");
    write("c\nd", b"\0\xff\x01");
    write("e", b"#!/bin/sh\n");
    std::fs::remove_file(at.join("b")).unwrap();
    std::os::unix::fs::symlink("/etc", at.join("b")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(at.join("e"), mode).unwrap();
    dir
}

#[tokio::test]
async fn what_is_restored_is_what_was_captured() {
    let repo = repository().await;
    let state = capture(repo.path()).await.unwrap();
    assert!(is_saved(&state));
    let (tree, now) = follow(repo.path(), &state).await.unwrap();
    assert_eq!(now, state);
    assert_eq!(std::fs::read(tree.dir().join("a")).unwrap(), b"1\n\xe9\n3");
    assert!(tree.dir().join("b").is_symlink());
    // Written in one, not seen in the other.
    std::fs::write(tree.dir().join("a"), "other").unwrap();
    assert_ne!(capture(tree.dir()).await.unwrap(), state);
    assert_eq!(capture(repo.path()).await.unwrap(), state);
    let (dir, entry) = (tree.dir().to_owned(), tree.entry.clone());
    assert!(entry.is_dir());
    drop(tree);
    assert!(!dir.exists() && !entry.exists());
}

#[tokio::test]
async fn a_state_that_does_not_fit_is_refused() {
    let repo = repository().await;
    let good = capture(repo.path()).await.unwrap();
    let with = |key: &str, value: &str| {
        let mut state = good.clone();
        state.value.as_mut().unwrap()[key] = value.into();
        state
    };
    let table = [
        with("commit", "--help"),
        with("commit", &"0".repeat(40)),
        with("patch", "diff --git a/x b/x\nrubbish\n"),
        with("patch_hex", "zz"),
        with("more", "x"),
        KeyState {
            value: None,
            ..good.clone()
        },
    ];
    for state in table {
        assert!(follow(repo.path(), &state).await.is_err(), "{state:?}");
    }
    // A patch that would write elsewhere.
    let out = "diff --git a/../out b/../out\nnew file mode 100644\n--- /dev/null\n+++ b/../out\n@@ -0,0 +1 @@\n+x\n";
    let mut state = good.clone();
    state.value = Some(serde_json::json!({ "commit": good.revision, "patch": out }));
    assert!(follow(repo.path(), &state).await.is_err());
    assert_eq!(left(repo.path()), 0);
}

#[tokio::test]
async fn a_restore_that_is_broken_off_leaves_nothing() {
    let repo = repository().await;
    let state = capture(repo.path()).await.unwrap();
    for patience in 0..40 {
        let limit = Duration::from_millis(patience);
        let _ = tokio::time::timeout(limit, follow(repo.path(), &state)).await;
    }
    // What was begun goes on for a moment.
    let mut rounds = 0..200;
    while left(repo.path()) > 0 && rounds.next().is_some() {
        assert_eq!(capture(repo.path()).await.unwrap(), state);
    }
    assert_eq!(left(repo.path()), 0);
}

/// Entries of work trees in a repository.
fn left(repo: &Path) -> usize {
    std::fs::read_dir(repo.join(".git/worktrees")).map_or(0, Iterator::count)
}
