//! Reads a Git work tree: its commit and its local changes, with an index and an object directory of its own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::model::{Digest, KeyState};
use crate::pipeline::external;

/// How long one Git command may take: a large tree takes its time to be checked out.
const LIMIT: Duration = Duration::from_mins(2);
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
pub(super) struct Saved {
    /// The commit, in full.
    pub(super) commit: String,
    /// The local changes, untracked and binary files included, as `git apply` takes them; in hex if they are no UTF-8 text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patch_hex: Option<String>,
}

impl Saved {
    /// What a checkpoint holds of a directory; none if it is something else, such as files in a runtime's memory.
    pub(super) fn of(state: &KeyState) -> Option<Self> {
        let saved: Self = serde_json::from_value(state.value.clone()?).ok()?;
        let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        let whole = matches!(saved.commit.len(), 40 | 64) && saved.commit.chars().all(hex);
        whole.then_some(saved)
    }

    fn new(commit: &str, patch: Vec<u8>) -> Self {
        let (patch, patch_hex) = match String::from_utf8(patch) {
            Ok(text) => (Some(text).filter(|text| !text.is_empty()), None),
            Err(error) => (None, Some(hex::encode(error.as_bytes()))),
        };
        Self {
            commit: commit.to_owned(),
            patch,
            patch_hex,
        }
    }

    pub(super) fn changes(&self) -> Option<Vec<u8>> {
        match (&self.patch, &self.patch_hex) {
            (Some(text), None) => Some(text.clone().into_bytes()),
            (None, Some(text)) => hex::decode(text).ok(),
            (None, None) => Some(Vec::new()),
            (Some(_), Some(_)) => None,
        }
    }
}

/// Whether a checkpoint's key holds a directory that could be made again.
pub(in crate::pipeline) fn is_saved(state: &KeyState) -> bool {
    Saved::of(state).is_some_and(|saved| saved.changes().is_some())
}

/// A Git command in a directory, with an index and an object directory of its own if there are any.
pub(super) async fn git(dir: &Path, own: Option<&Own>, words: &[&str]) -> Result<Vec<u8>, String> {
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

pub(super) async fn line(dir: &Path, words: &[&str]) -> Result<String, String> {
    let out = git(dir, None, words).await?;
    let text = String::from_utf8(out).map_err(|_| "git printed no text".to_owned())?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// A capture's own index and objects, gone with it.
pub(super) struct Own {
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
pub(super) async fn capture(dir: &Path) -> Result<KeyState, String> {
    Eye::open(dir).await?.look().await
}

/// Looks at one work tree again and again; what has not changed is not read twice.
pub(super) struct Eye {
    top: PathBuf,
    own: Own,
    last: Option<KeyState>,
}

impl Eye {
    pub(super) async fn open(dir: &Path) -> Result<Self, String> {
        let top = PathBuf::from(line(dir, &["rev-parse", "--show-toplevel"]).await?);
        let own = Own::make(&top).await?;
        Ok(Self {
            top,
            own,
            last: None,
        })
    }

    pub(super) async fn look(&mut self) -> Result<KeyState, String> {
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let commit = line(&self.top, &head)
            .await
            .map_err(|_| "the work tree has no commit yet".to_owned())?;
        if self
            .last
            .as_ref()
            .is_none_or(|last| last.revision != commit)
        {
            self.git(&["read-tree", &commit]).await?;
        }
        self.git(&["add", "--all", "--", "."]).await?;
        // Content by digest, mode and name: what is compared does not hang on how a patch is written.
        let changed = self.git(&diff(&commit, &["--raw", "-z"])).await?;
        let fingerprint = Digest::of_fields([
            b"dover workspace".as_slice(),
            commit.as_bytes(),
            changed.as_slice(),
        ]);
        if let Some(last) = &self.last
            && last.fingerprint == fingerprint
        {
            return Ok(last.clone());
        }
        let within = self.git(&["submodule", "status"]).await;
        if !within.is_ok_and(|list| list.is_empty()) {
            return Err("it has submodules, whose content would not be saved".into());
        }
        let saved = Saved::new(&commit, self.git(&diff(&commit, &PATCH)).await?);
        let state = KeyState {
            revision: commit,
            fingerprint,
            value: serde_json::to_value(saved).ok(),
        };
        self.last = Some(state.clone());
        Ok(state)
    }

    async fn git(&self, words: &[&str]) -> Result<Vec<u8>, String> {
        git(&self.top, Some(&self.own), words).await
    }
}

/// A patch that holds everything, however the user's Git is set.
const PATCH: [&str; 7] = [
    "--patch",
    "--binary",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// Compares a commit with the capture's own index.
fn diff<'a>(commit: &'a str, how: &[&'a str]) -> Vec<&'a str> {
    let plain = ["diff-index", "--cached", "--full-index", "--no-renames"];
    [&plain[..], how, &[commit, "--"]].concat()
}
