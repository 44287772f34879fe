//! A real directory as state: captured as a Git commit and its local changes, restored into a separate work tree that is thrown away.
//!
//! The user's own tree, index, branches and objects are never written to: a capture uses an index and an object directory of its own, a
//! restored tree is detached and lies elsewhere. Files that Git ignores are not part of the state. What cannot be restored is said,
//! never assumed: the tree is captured again after its restore and the fingerprints are compared by gate 2.
//! Not here: knowing earlier states. A directory tells what it is now; what it was before a step only a checkpoint tells.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempDir;

use super::{PipelineError, external};
use crate::model::{Checkpoint, Digest, KeyState, RestoredKey, Session};
use crate::runtime::Restore;

/// The state key.
pub(super) const KEY: &str = "workspace";
/// How long one Git command may take: a large tree takes its time to be checked out.
const LIMIT: Duration = Duration::from_secs(120);
/// Variables by which a surrounding Git command would lead this one elsewhere.
const ELSEWHERE: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// The saved value: everything that it takes to make the tree again.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Saved {
    /// The commit, in full.
    commit: String,
    /// The local changes, untracked and binary files included, as `git apply` takes them; in hex if they are no UTF-8 text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patch_hex: Option<String>,
}

impl Saved {
    /// What a checkpoint holds of a directory; none if it is something else, such as files in a runtime's memory.
    fn of(state: &KeyState) -> Option<Self> {
        let saved: Self = serde_json::from_value(state.value.clone()?).ok()?;
        let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        let whole = matches!(saved.commit.len(), 40 | 64) && saved.commit.chars().all(hex);
        whole.then_some(saved)
    }

    fn changes(&self) -> Option<Vec<u8>> {
        match (&self.patch, &self.patch_hex) {
            (Some(text), None) => Some(text.clone().into_bytes()),
            (None, Some(text)) => hex::decode(text).ok(),
            (None, None) => Some(Vec::new()),
            (Some(_), Some(_)) => None,
        }
    }
}

/// Whether a checkpoint's key holds a directory that could be made again.
pub(super) fn is_saved(state: &KeyState) -> bool {
    Saved::of(state).is_some_and(|saved| saved.changes().is_some())
}

/// The directory that a session's profile names.
pub(super) fn home(session: &Session) -> Option<PathBuf> {
    let dir = session.profile.workspace.as_ref()?;
    Some(session.base_dir.as_ref()?.join(dir))
}

/// A Git command in a directory, with an index and an object directory of its own if there are any.
async fn git(dir: &Path, own: Option<&Own>, words: &[&str]) -> Result<Vec<u8>, String> {
    const QUIET: [&str; 9] = [
        "git",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.quotePath=true",
        "-c",
        "advice.addEmbeddedRepo=false",
    ];
    let command: Vec<String> = QUIET.iter().chain(words).map(|&w| w.to_owned()).collect();
    let mut environment: Vec<(&str, Option<&OsStr>)> =
        ELSEWHERE.iter().map(|&name| (name, None)).collect();
    environment.push(("GIT_OPTIONAL_LOCKS", Some(OsStr::new("0"))));
    environment.push(("GIT_TERMINAL_PROMPT", Some(OsStr::new("0"))));
    if let Some(own) = own {
        environment.push(("GIT_INDEX_FILE", Some(own.index.as_os_str())));
        environment.push(("GIT_OBJECT_DIRECTORY", Some(own.objects.as_os_str())));
        environment.push((
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            Some(own.shared.as_os_str()),
        ));
    }
    let ran = external::run_in(&command, Some(dir), &environment, b"", LIMIT).await?;
    match ran.status {
        Some(0) => Ok(ran.stdout),
        _ => Err(ran
            .complaint()
            .unwrap_or_else(|| format!("`git {}` failed", words.first().unwrap_or(&"")))),
    }
}

async fn line(dir: &Path, words: &[&str]) -> Result<String, String> {
    let out = git(dir, None, words).await?;
    let text = String::from_utf8(out).map_err(|_| "git printed no text".to_owned())?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// A capture's own index and objects, gone with it.
struct Own {
    index: PathBuf,
    objects: PathBuf,
    shared: PathBuf,
    _folder: TempDir,
}

impl Own {
    async fn make(top: &Path) -> Result<Self, String> {
        let shared = line(top, &["rev-parse", "--git-path", "objects"]).await?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let objects = folder.path().join("objects");
        std::fs::create_dir(&objects).map_err(|error| error.to_string())?;
        Ok(Self {
            index: folder.path().join("index"),
            objects,
            shared: top.join(shared),
            _folder: folder,
        })
    }
}

/// Reads what a directory is now: its commit and every local change of the work tree that it lies in.
pub async fn capture(dir: &Path) -> Result<KeyState, String> {
    let top = PathBuf::from(line(dir, &["rev-parse", "--show-toplevel"]).await?);
    let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
    let commit = line(&top, &head)
        .await
        .map_err(|_| "the work tree has no commit yet".to_owned())?;
    let own = Own::make(&top).await?;
    let with = Some(&own);
    git(&top, with, &["read-tree", &commit]).await?;
    git(&top, with, &["add", "--all", "--", "."]).await?;
    let within = git(&top, with, &["submodule", "status"]).await;
    if !within.is_ok_and(|list| list.is_empty()) {
        return Err("it has submodules, whose content would not be saved".into());
    }
    // Content by digest, mode and name: what is compared does not hang on how a patch is written.
    let raw = [
        "diff-index",
        "--cached",
        "--raw",
        "--no-renames",
        "--full-index",
        "-z",
    ];
    let changed = git(&top, with, &[&raw[..], &[&commit, "--"]].concat()).await?;
    let written = [
        "diff-index",
        "--cached",
        "--patch",
        "--binary",
        "--full-index",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--src-prefix=a/",
        "--dst-prefix=b/",
    ];
    let patch = git(&top, with, &[&written[..], &[&commit, "--"]].concat()).await?;
    let (patch, patch_hex) = match String::from_utf8(patch) {
        Ok(text) => (Some(text).filter(|text| !text.is_empty()), None),
        Err(error) => (None, Some(hex::encode(error.as_bytes()))),
    };
    let fingerprint = Digest::of_fields([
        b"dover workspace".as_slice(),
        commit.as_bytes(),
        changed.as_slice(),
    ]);
    let saved = Saved {
        commit: commit.clone(),
        patch,
        patch_hex,
    };
    Ok(KeyState {
        revision: commit,
        fingerprint,
        value: serde_json::to_value(saved).ok(),
    })
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

async fn follow(home: &Path, state: &KeyState) -> Result<(WorkTree, KeyState), String> {
    let tree = WorkTree::restore(home, state).await?;
    let now = capture(tree.dir()).await?;
    Ok((tree, now))
}

/// Follows a tree while a run works in it: the state before each step goes into the step's checkpoint.
pub(super) struct Track {
    dir: PathBuf,
    before: Option<KeyState>,
}

impl Track {
    pub(super) async fn begin(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            before: capture(dir).await.ok(),
        }
    }

    /// A step was made: what stood before it belongs to it. What a runtime itself says of the key is not what is in the directory.
    pub(super) async fn step(&mut self, checkpoint: Option<&mut Checkpoint>) {
        let Some(checkpoint) = checkpoint else { return };
        let after = capture(&self.dir).await.ok();
        match std::mem::replace(&mut self.before, after) {
            Some(before) => checkpoint.keys.insert(KEY.to_owned(), before),
            None => checkpoint.keys.remove(KEY),
        };
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
