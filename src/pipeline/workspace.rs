//! A real directory as state: captured as a Git commit and its local changes, restored into a separate work tree that is thrown away.
//!
//! The user's own tree, index, branches and objects are never written to: a capture uses an index and an object directory of its own, a
//! restored tree is detached and lies elsewhere. Files that Git ignores are not part of the state. What cannot be restored is said,
//! never assumed: the tree is captured again after its restore and the fingerprints are compared by gate 2.
//! Not here: knowing earlier states. A directory tells what it is now; what it was before a step only a checkpoint tells.

mod capture;
#[cfg(unix)]
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

pub(super) use self::capture::is_saved;
use self::capture::{Eye, Saved, capture, git, line};
use super::{PipelineError, external};
use crate::model::{Checkpoint, KeyState, RestoredKey, Session};
use crate::runtime::Restore;

/// The state key.
pub(super) const KEY: &str = "workspace";

/// The directory that a session's profile names.
pub(super) fn home(session: &Session) -> Option<PathBuf> {
    let dir = session.profile.workspace.as_ref()?;
    Some(session.base_dir.as_ref()?.join(dir))
}

/// A restored work tree. However it is let go, its directory and its entry in the repository go with it.
pub(super) struct WorkTree {
    dir: PathBuf,
    top: TempDir,
    entry: PathBuf,
}

impl WorkTree {
    /// The directory that the agents work in.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes a tree from a saved state, beside nothing of the user's.
    async fn restore(home: &Path, state: &KeyState) -> Result<Self, String> {
        let saved = Saved::of(state).ok_or("what was recorded is no state of a work tree")?;
        let changes = saved
            .changes()
            .ok_or("the recorded changes cannot be read")?;
        let within = line(home, &["rev-parse", "--show-prefix"]).await?;
        let common = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let common = PathBuf::from(line(home, &common).await?);
        let top = tempfile::Builder::new()
            .prefix("dover-work-")
            .rand_bytes(16)
            .tempdir()
            .map_err(|error| format!("no directory for a work tree: {error}"))?;
        let name = top.path().file_name().unwrap_or_default().to_owned();
        // Known before anything is made, so that a restore that is broken off leaves nothing.
        let tree = Self {
            dir: top.path().join(within),
            entry: common.join("worktrees").join(name),
            top,
        };
        let at = tree.top.path().to_string_lossy().into_owned();
        let add = ["worktree", "add", "--quiet", "--detach", &at, &saved.commit];
        git(home, None, &add).await?;
        if !changes.is_empty() {
            let file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
            std::fs::write(file.path(), changes).map_err(|error| error.to_string())?;
            let patch = file.path().to_string_lossy();
            let apply = [
                "apply",
                "--binary",
                "--whitespace=nowarn",
                "--no-ignore-whitespace",
                &patch,
            ];
            git(tree.top.path(), None, &apply).await?;
        }
        if tree.dir.is_dir() {
            Ok(tree)
        } else {
            Err("the workspace's directory is not in that commit".into())
        }
    }
}

impl Drop for WorkTree {
    fn drop(&mut self) {
        // Nobody is left to be told; `git worktree prune` clears what a full disk would leave.
        let _ = std::fs::remove_dir_all(&self.entry);
    }
}

/// The work tree of a run and what gate 2 compares of it.
pub(super) struct Restored {
    /// The tree; none if there is none to be had.
    pub(super) tree: Option<WorkTree>,
    /// How it was read back.
    pub(super) key: RestoredKey,
}

impl Restored {
    /// What differs from the state that the gates judged, if anything does.
    pub(super) fn lost(&self, wanted: &Restore) -> Option<String> {
        let required = &wanted.session.profile.required_keys;
        if !required.is_empty() && !required.iter().any(|key| key == KEY) {
            return None;
        }
        let keys = wanted
            .checkpoint
            .as_ref()
            .map(|checkpoint| &checkpoint.keys);
        let recorded = keys.and_then(|keys| keys.get(KEY))?;
        let same = self.key.revision.as_ref() == Some(&recorded.revision)
            && self.key.fingerprint.as_ref() == Some(&recorded.fingerprint);
        (!same).then(|| format!("the workspace is not as it was judged: {}", self.key.test))
    }
}

/// Restores what a checkpoint says of the workspace into a tree of its own and captures it again; none if the profile names none.
/// Where the checkpoint cannot be followed, the run gets a tree as the directory is now, so that it touches nothing of the user's.
pub(super) async fn restore(
    session: &Session,
    checkpoint: Option<&Checkpoint>,
) -> Option<Restored> {
    let home = home(session)?;
    let recorded = checkpoint.and_then(|checkpoint| checkpoint.keys.get(KEY));
    let untested = |test: String| RestoredKey {
        key: KEY.to_owned(),
        revision: None,
        fingerprint: None,
        test,
    };
    let why = match recorded {
        None => "no checkpoint tells what it was".to_owned(),
        Some(state) => match follow(&home, state).await {
            Ok((tree, now)) => {
                return Some(Restored {
                    tree: Some(tree),
                    key: RestoredKey {
                        key: KEY.to_owned(),
                        revision: Some(now.revision),
                        fingerprint: Some(now.fingerprint),
                        test: "restored into a work tree and captured again".to_owned(),
                    },
                });
            }
            Err(why) => why,
        },
    };
    Some(Restored {
        tree: as_it_is(session).await.and_then(Result::ok),
        key: untested(format!("cannot be restored: {why}")),
    })
}

/// A tree as the directory is now, for a run that begins or has just ended; none if the profile names no workspace.
pub(super) async fn as_it_is(session: &Session) -> Option<Result<WorkTree, String>> {
    let home = home(session)?;
    let made = async {
        let now = capture(&home).await?;
        Ok(follow(&home, &now).await?.0)
    };
    Some(made.await)
}

/// A tree made from a state, and what it is then. Once begun it is gone through with, whoever still waits for it: a Git command that is
/// broken off in the middle could leave an entry behind.
async fn follow(home: &Path, state: &KeyState) -> Result<(WorkTree, KeyState), String> {
    let (home, state) = (home.to_owned(), state.clone());
    let made = tokio::spawn(async move {
        let tree = WorkTree::restore(&home, &state).await?;
        let now = capture(tree.dir()).await?;
        Ok((tree, now))
    });
    made.await
        .unwrap_or_else(|error| Err(format!("the restore broke down: {error}")))
}

/// Follows a tree while a run works in it: the state before each step goes into the step's checkpoint.
pub(super) struct Track {
    eye: Option<Eye>,
    before: Option<KeyState>,
}

impl Track {
    pub(super) async fn begin(dir: &Path) -> Self {
        let mut track = Self {
            eye: Eye::open(dir).await.ok(),
            before: None,
        };
        track.before = track.look().await;
        track
    }

    /// A step was made: what stood before it belongs to it. What a runtime itself says of the key is not what is in the directory.
    pub(super) async fn step(&mut self, checkpoint: Option<&mut Checkpoint>) {
        let Some(checkpoint) = checkpoint else { return };
        let after = self.look().await;
        match std::mem::replace(&mut self.before, after) {
            Some(before) => checkpoint.keys.insert(KEY.to_owned(), before),
            None => checkpoint.keys.remove(KEY),
        };
    }

    async fn look(&mut self) -> Option<KeyState> {
        self.eye.as_mut()?.look().await.ok()
    }
}

/// How many files a captured state changes, for a person.
#[must_use]
pub fn changed_files(state: &KeyState) -> usize {
    let patch = state.value.as_ref().and_then(|value| value.get("patch"));
    let text = patch.and_then(Value::as_str).unwrap_or_default();
    text.lines()
        .filter(|line| line.starts_with("diff --git "))
        .count()
}

/// [`capture`] where nothing else is awaited.
pub fn look_at(dir: &Path) -> Result<KeyState, PipelineError> {
    let told = |why: String| PipelineError::Usage(format!("{}: {why}", dir.display()));
    external::wait(capture(dir))
        .map_err(|error| told(error.to_string()))?
        .map_err(|why| {
            told(format!(
                "{why}. Give a directory of a Git work tree with a commit"
            ))
        })
}
