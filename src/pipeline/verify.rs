//! Verifiers where the run's files are: a final answer is judged with a command in its workspace or by a file of it.
//!
//! A file's path stays inside the workspace, symbolic links followed. Whatever cannot be looked at cannot be judged.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::external;
use crate::model::{Digest, Judgement, Session, Unjudged, Verifier, judge};
use crate::runtime::{Workspace, inside, write_file};

/// Seconds that a verifier's command may take: it may be a test suite.
const LIMIT: Duration = Duration::from_mins(1);
/// The largest file that a text is looked for in.
const LARGEST: u64 = 16 << 20;

/// Judges a final answer with the run's files at hand.
pub(super) async fn verify(
    session: &Session,
    answer: Option<&str>,
    workspace: &Workspace,
) -> Judgement {
    verify_within(session, answer, workspace, LIMIT).await
}

async fn verify_within(
    session: &Session,
    answer: Option<&str>,
    workspace: &Workspace,
    limit: Duration,
) -> Judgement {
    let (verifier, expected) = (session.verifier.as_ref(), session.expected.as_deref());
    let Some(looks @ (Verifier::Command(_) | Verifier::File { .. })) = verifier else {
        return judge(verifier, expected, answer);
    };
    // A run without a final answer has not succeeded, whatever it left behind.
    let Some(answer) = answer.filter(|text| !text.trim().is_empty()) else {
        return Judgement::CannotJudge(Unjudged::NoAnswer);
    };
    let found = match Place::of(workspace) {
        Ok(Some(place)) => match looks {
            Verifier::Command(words) => command(words, place.dir(), answer, limit).await,
            Verifier::File {
                path,
                contains,
                sha256,
            } => file(place.dir(), path, contains.as_deref(), *sha256),
            _ => Err(Unjudged::NoWorkspace),
        },
        Ok(None) | Err(_) => Err(Unjudged::NoWorkspace),
    };
    match found {
        Ok(true) => Judgement::Passed,
        Ok(false) => Judgement::Rejected,
        Err(why) => Judgement::CannotJudge(why),
    }
}

/// Where the files are while they are looked at.
enum Place {
    Real(PathBuf),
    Written(TempDir),
}

impl Place {
    fn of(workspace: &Workspace) -> io::Result<Option<Self>> {
        Ok(match workspace {
            Workspace::None => None,
            Workspace::Dir(dir) => Some(Self::Real(dir.clone())),
            Workspace::Files(files) => Some(Self::Written(written(files)?)),
        })
    }

    fn dir(&self) -> &Path {
        match self {
            Self::Real(dir) => dir,
            Self::Written(dir) => dir.path(),
        }
    }
}

/// Files out of memory, in a directory that goes with the judgement.
fn written(files: &BTreeMap<String, String>) -> io::Result<TempDir> {
    let dir = tempfile::tempdir()?;
    for (name, text) in files {
        write_file(dir.path(), name, text)?;
    }
    Ok(dir)
}

async fn command(
    words: &[String],
    dir: &Path,
    answer: &str,
    limit: Duration,
) -> Result<bool, Unjudged> {
    let ran = external::run(words, Some(dir), answer.as_bytes(), limit)
        .await
        .map_err(|_| Unjudged::NotRun)?;
    ran.status.map(|status| status == 0).ok_or(Unjudged::Signal)
}

fn file(
    dir: &Path,
    path: &str,
    contains: Option<&str>,
    sha256: Option<Digest>,
) -> Result<bool, Unjudged> {
    let path = inside(dir, path).ok_or(Unjudged::Outside)?;
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(_) => return Err(Unjudged::Unreadable),
    };
    let root = dir.canonicalize().map_err(|_| Unjudged::NoWorkspace)?;
    if !real.starts_with(&root) {
        return Err(Unjudged::Outside);
    }
    let meta = real.metadata().map_err(|_| Unjudged::Unreadable)?;
    if !meta.is_file() {
        return Ok(false);
    }
    let open = || File::open(&real).map_err(|_| Unjudged::Unreadable);
    let text_fits = match contains {
        None => true,
        Some(_) if meta.len() > LARGEST => return Err(Unjudged::Unreadable),
        Some(text) => {
            let mut bytes = Vec::new();
            open()?
                .take(LARGEST)
                .read_to_end(&mut bytes)
                .map_err(|_| Unjudged::Unreadable)?;
            String::from_utf8_lossy(&bytes).contains(text)
        }
    };
    let digest_fits = match sha256 {
        None => true,
        Some(digest) => {
            let found = Digest::of_reader(open()?).map_err(|_| Unjudged::Unreadable)?;
            found == digest
        }
    };
    Ok(text_fits && digest_fits)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::Judgement::{CannotJudge, Passed, Rejected};
    use super::*;

    fn by(verifier: Verifier) -> Session {
        Session {
            verifier: Some(verifier),
            ..Session::default()
        }
    }

    async fn look(verifier: Verifier, workspace: &Workspace) -> Judgement {
        let limit = Duration::from_millis(500);
        verify_within(&by(verifier), Some("42"), workspace, limit).await
    }

    fn sh(script: &str) -> Verifier {
        Verifier::Command(["sh", "-c", script].map(str::to_owned).to_vec())
    }

    fn file(path: &str, contains: Option<&str>, sha256: Option<Digest>) -> Verifier {
        Verifier::File {
            path: path.to_owned(),
            contains: contains.map(str::to_owned),
            sha256,
        }
    }

    fn files() -> Workspace {
        let files = [("notes.md", "ticket T-7"), ("deep/er.txt", "abc")];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        Workspace::Files(files.into_iter().collect())
    }

    #[tokio::test]
    async fn a_command_judges_by_its_exit_status_alone() {
        let table = [
            ("grep -q T-7 notes.md", Passed),
            ("grep -q T-8 notes.md", Rejected),
            ("test -f deep/er.txt", Passed),
            (r#"test "$(cat)" = 42"#, Passed),
            ("exit 7", Rejected),
            ("kill -9 $$", CannotJudge(Unjudged::Signal)),
            ("sleep 600", CannotJudge(Unjudged::NotRun)),
            ("yes", CannotJudge(Unjudged::NotRun)),
        ];
        for (script, want) in table {
            assert_eq!(look(sh(script), &files()).await, want, "{script}");
        }
        let nowhere = Verifier::Command(vec!["/nowhere/at/all".to_owned()]);
        assert_eq!(look(nowhere, &files()).await, CannotJudge(Unjudged::NotRun));
        let none = look(sh("true"), &Workspace::None).await;
        assert_eq!(none, CannotJudge(Unjudged::NoWorkspace));
    }

    #[tokio::test]
    async fn without_a_final_answer_nothing_is_judged() {
        for answer in [None, Some(" \n")] {
            let got = verify(&by(sh("true")), answer, &files()).await;
            assert_eq!(got, CannotJudge(Unjudged::NoAnswer));
        }
    }

    #[tokio::test]
    async fn a_file_is_looked_for_inside_the_workspace_only() {
        // SHA-256 of "abc", FIPS 180-2.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let abc: Digest = serde_json::from_value(abc.into()).unwrap();
        let table = [
            (file("notes.md", None, None), Passed),
            (file("./deep/er.txt", None, Some(abc)), Passed),
            (file("notes.md", None, Some(abc)), Rejected),
            (file("notes.md", Some("T-7"), None), Passed),
            (file("notes.md", Some("t-7"), None), Rejected),
            (file("none.md", None, None), Rejected),
            (file("deep", None, None), Rejected),
            (
                file("../notes.md", None, None),
                CannotJudge(Unjudged::Outside),
            ),
            (
                file("/etc/passwd", None, None),
                CannotJudge(Unjudged::Outside),
            ),
            (
                file("deep/../notes.md", None, None),
                CannotJudge(Unjudged::Outside),
            ),
        ];
        for (verifier, want) in table {
            let told = verifier.to_string();
            assert_eq!(look(verifier, &files()).await, want, "{told}");
        }
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("tree");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::fs::write(root.join("real"), "x").unwrap();
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, root.join(name)).unwrap();
        link("../secret", "out");
        link("real", "in");
        link("gone", "dangling");
        let tree = Workspace::Dir(root.clone());
        for (name, want) in [
            ("out", CannotJudge(Unjudged::Outside)),
            ("in", Passed),
            ("dangling", Rejected),
        ] {
            assert_eq!(look(file(name, None, None), &tree).await, want, "{name}");
        }
    }
}
