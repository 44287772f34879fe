//! Makes the environment of an adapter: a virtual environment with the pinned packages of the lock that dover carries, each checked by
//! its hash. Done twice it is done once; broken off it leaves nothing that passes for whole.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{CommandWrap, KillOnDrop, ProcessGroup};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use super::AdapterError;
use super::home::{self, AdapterHome, DONE};
use super::host::Group;
use crate::model::Digest;
use crate::runtime::RuntimeError;

/// The Python that the locks are made for.
const PYTHON: (u32, u32) = (3, 11);
/// How long nothing may be heard of a program that installs.
const SILENCE: Duration = Duration::from_mins(10);

/// What an installation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The environment's interpreter.
    pub python: PathBuf,
    /// How many packages it has.
    pub packages: usize,
    /// Whether it was there before.
    pub already: bool,
}

/// A directory that goes unless it is finished.
struct Unfinished<'a>(Option<&'a Path>);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(dir) = self.0 {
            // What cannot be removed lacks its last file and is made anew the next time.
            let _ = std::fs::remove_dir_all(dir);
        }
    }
}

impl AdapterHome {
    /// Makes the environment of an adapter, unless it is there. `tell` hears a line for each thing that is done. Dropping the future ends
    /// what it started.
    ///
    /// # Errors
    /// No such adapter, no fitting Python, or what the installer said.
    pub async fn install(
        &self,
        name: &str,
        python: Option<&Path>,
        tell: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Installed, RuntimeError> {
        let (Some(lock), Some(dir)) = (home::lock(name), self.environment(name)) else {
            return Err(home::unknown(name));
        };
        let packages = packages(lock);
        let installed = |already| Installed {
            python: home::interpreter(&dir),
            packages,
            already,
        };
        let failed = |what: String, mend: &str| failed(name, what, mend);
        let above = self.dir().join("env");
        let io = |error: io::Error| {
            let what = format!("{}: {error}", above.display());
            failed(
                what,
                "Free some space there, or set DOVER_DATA to a directory that can be written",
            )
        };
        std::fs::create_dir_all(&above).map_err(io)?;
        let busy = File::create(above.join(format!("{name}.lock"))).map_err(io)?;
        if busy.try_lock().is_err() {
            return Err(failed(
                "another dover is installing it".to_owned(),
                "Wait for it",
            ));
        }
        if let Some(python) = self.python(name)
            && version(&python).await.is_ok()
        {
            return Ok(installed(true));
        }
        let (python, found) = find(python).await.map_err(|what| {
            failed(
                what,
                "Install Python 3.11 with its venv module, or name one with --python",
            )
        })?;
        tell(&format!(
            "making {} with {} ({found}): {packages} packages, pinned and hashed",
            dir.display(),
            python.display()
        ));
        if !found.starts_with(&format!("{}.{}.", PYTHON.0, PYTHON.1)) {
            tell(&format!(
                "the packages are pinned for Python {}.{}; with {found} some may not be there",
                PYTHON.0, PYTHON.1
            ));
        }
        fill(&dir, lock, &python, tell)
            .await
            .map_err(|(what, mend)| failed(what, mend))?;
        Ok(installed(false))
    }
}

impl AdapterHome {
    /// The version of the Python in an adapter's environment, started to be asked; none if it is not installed.
    pub async fn version(&self, name: &str) -> Option<Result<String, String>> {
        let python = self.python(name)?;
        Some(version(&python).await)
    }

    /// The Python that environments would be made with, and its version.
    ///
    /// # Errors
    /// There is none that can be used, and why.
    pub async fn base_python() -> Result<(PathBuf, String), String> {
        find(None).await
    }
}

/// Makes an environment and fills it; else what went wrong and what to do about it.
async fn fill(
    dir: &Path,
    lock: &str,
    python: &Path,
    tell: &mut (dyn FnMut(&str) + Send),
) -> Result<(), (String, &'static str)> {
    const PIP: [&str; 8] = [
        "-m",
        "pip",
        "install",
        "--require-hashes",
        "--no-input",
        "--disable-pip-version-check",
        "--progress-bar=off",
        "-r",
    ];
    let io = |error: io::Error| {
        let what = format!("{}: {error}", dir.display());
        (what, "Free some space there, or set DOVER_DATA")
    };
    if dir.exists() {
        std::fs::remove_dir_all(dir).map_err(io)?;
    }
    let mut unfinished = Unfinished(Some(dir));
    let (python, place) = (python.to_string_lossy(), dir.to_string_lossy());
    run(&[&python, "-m", "venv", &place], tell)
        .await
        .map_err(|what| {
            let mend = "Install Python's venv module, or name another Python with --python";
            (what, mend)
        })?;
    let (inner, file) = (home::interpreter(dir), dir.join("lock.txt"));
    std::fs::write(&file, lock).map_err(io)?;
    let (inner, file) = (inner.to_string_lossy(), file.to_string_lossy());
    let mut command: Vec<&str> = vec![&inner];
    command.extend(PIP);
    command.push(&file);
    let (mut count, packages) = (0, packages(lock));
    let mut report = |line: &str| {
        if let Some(package) = line.strip_prefix("Collecting ") {
            count += 1;
            let package = package.split(' ').next().unwrap_or_default();
            tell(&format!("{count} of {packages}: {package}"));
        } else if line.starts_with("Installing ") {
            tell("installing what was fetched");
        }
    };
    run(&command, &mut report).await.map_err(|what| {
        let mend =
            "Look whether the package index can be reached and is set for pip, then try again";
        (what, mend)
    })?;
    std::fs::write(dir.join(DONE), format!("{}\n", Digest::of(lock))).map_err(io)?;
    unfinished.0 = None;
    Ok(())
}

fn failed(name: &str, what: String, mend: &str) -> RuntimeError {
    AdapterError::Install {
        adapter: name.to_owned(),
        what,
        mend: mend.to_owned(),
    }
    .into()
}

/// How many packages a lock names.
fn packages(lock: &str) -> usize {
    let named = |line: &&str| line.starts_with(|c: char| c.is_ascii_alphanumeric());
    lock.lines().filter(named).count()
}

/// A Python that is there, and its version: the one named, else one that the lock is made for, else any.
async fn find(named: Option<&Path>) -> Result<(PathBuf, String), String> {
    let usual = ["python3.11", "python3", "python"].map(PathBuf::from);
    let candidates = match named {
        Some(path) => vec![path.to_owned()],
        None => usual.to_vec(),
    };
    let mut last = String::new();
    for python in candidates {
        match version(&python).await {
            Ok(found) => return Ok((python, found)),
            Err(why) => last = why,
        }
    }
    Err(format!("there is no Python that can be used: {last}"))
}

/// The version of an interpreter.
async fn version(python: &Path) -> Result<String, String> {
    let python = python.to_string_lossy();
    let mut version = String::new();
    let command = [
        &python,
        "-c",
        "import sys, venv; print(sys.version.split()[0])",
    ];
    run(&command, &mut |line| line.trim().clone_into(&mut version)).await?;
    Ok(version)
}

/// Runs a program to its end and hears its lines; its last words are the reason where it fails.
async fn run(command: &[&str], hear: &mut (dyn FnMut(&str) + Send)) -> Result<(), String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("there is no command".to_owned());
    };
    let mut wrap = CommandWrap::with_new(program, |it| {
        it.args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    });
    wrap.wrap(KillOnDrop);
    #[cfg(unix)]
    wrap.wrap(ProcessGroup::leader());
    let mut group = Group(
        wrap.spawn()
            .map_err(|error| format!("`{program}` cannot be started: {error}"))?,
    );
    let (out, err) = (group.0.stdout().take(), group.0.stderr().take());
    let mut complaint = String::new();
    // pip warns after an error, of which the first line says what it is.
    let mut complain = |line: &str| {
        if !line.trim().is_empty() && !complaint.starts_with("ERROR") {
            line.trim().clone_into(&mut complaint);
        }
    };
    let (out, err) = tokio::join!(lines(out, hear), lines(err, &mut complain));
    out.and(err).map_err(|why| format!("`{program}` {why}"))?;
    let status = group
        .0
        .wait()
        .await
        .map_err(|error| format!("`{program}`: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!(
        "`{} …` ended with {status}: {complaint}",
        command
            .iter()
            .take(4)
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
    ))
}

async fn lines(
    pipe: Option<impl AsyncRead + Unpin>,
    hear: &mut (dyn FnMut(&str) + Send),
) -> Result<(), String> {
    let Some(pipe) = pipe else { return Ok(()) };
    let mut lines = BufReader::new(pipe).split(b'\n');
    loop {
        match tokio::time::timeout(SILENCE, lines.next_segment()).await {
            Ok(Ok(Some(line))) => hear(String::from_utf8_lossy(&line).trim_end()),
            Ok(Ok(None)) => return Ok(()),
            Ok(Err(error)) => return Err(error.to_string()),
            Err(_) => {
                return Err(format!(
                    "said nothing for {} s and was ended",
                    SILENCE.as_secs()
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_a_lock_are_counted() {
        let lock = "# made by\nanyio==4.16.0 \\\n    --hash=sha256:59 \\\n    --hash=sha256:cc\n    # via httpx\ncertifi==1\n";
        assert_eq!(packages(lock), 2);
    }

    #[tokio::test]
    async fn what_a_program_complains_of_is_its_reason() {
        let mut heard = Vec::new();
        let command = [
            "sh",
            "-c",
            "echo one; echo two; echo 'ERROR: no such package' >&2; echo later >&2; exit 3",
        ];
        let told = run(&command, &mut |line| heard.push(line.to_owned()))
            .await
            .unwrap_err();
        assert_eq!(heard, ["one", "two"]);
        assert!(
            told.contains("exit status: 3: ERROR: no such package"),
            "{told}"
        );
        assert!(
            run(&["/nowhere/at/all"], &mut |_| ())
                .await
                .unwrap_err()
                .contains("cannot be started")
        );
    }

    #[tokio::test]
    async fn what_was_broken_off_does_not_pass_for_installed() {
        let folder = tempfile::tempdir().unwrap();
        let home = AdapterHome::at(folder.path().to_owned());
        let dir = home.environment("langgraph").unwrap();
        std::fs::create_dir_all(dir.join("bin")).unwrap();
        std::fs::write(dir.join("bin/python"), "").unwrap();
        assert_eq!(home.python("langgraph"), None);
        let nowhere = Path::new("/nowhere/python");
        let told = home
            .install("langgraph", Some(nowhere), &mut |_| ())
            .await
            .unwrap_err();
        assert!(told.to_string().contains("/nowhere/python"), "{told}");
        assert_eq!(home.python("langgraph"), None);
        assert!(home.install("crewai", None, &mut |_| ()).await.is_err());
    }
}
