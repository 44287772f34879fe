//! Runs a configured command: a process group of its own, a time limit, capped output. Nothing of it outlives its limit.
//!
//! What it says is a stranger's word: callers read it strictly. Its environment is the user's own; nothing of it is written down.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

/// Seconds that a command may take where nothing else is said.
pub(super) const LIMIT: u64 = 10;
/// The most bytes of an output that are read.
const MOST: u64 = 1 << 20;

/// What a command left behind.
#[derive(Debug)]
pub(super) struct Ran {
    /// Its exit status; none if a signal ended it.
    pub(super) status: Option<i32>,
    /// What it printed.
    pub(super) stdout: Vec<u8>,
    /// What it complained of.
    pub(super) stderr: Vec<u8>,
}

impl Ran {
    /// The last line that it complained of, for a person.
    pub(super) fn complaint(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.stderr);
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(line.trim().chars().take(200).collect())
    }
}

/// Runs a command in a directory, with bytes on its standard input.
///
/// # Errors
/// A sentence: it cannot be started, it took too long, it printed too much.
pub(super) async fn run(
    command: &[String],
    dir: Option<&Path>,
    stdin: &[u8],
    limit: Duration,
) -> Result<Ran, String> {
    run_in(command, dir, &[], stdin, limit).await
}

/// [`run`] with a changed environment; a variable without a value is taken out.
pub(super) async fn run_in(
    command: &[String],
    dir: Option<&Path>,
    environment: &[(&str, Option<&OsStr>)],
    stdin: &[u8],
    limit: Duration,
) -> Result<Ran, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("no command is configured".into());
    };
    let mut wrap = CommandWrap::with_new(program, |it| {
        it.args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(dir) = dir {
            it.current_dir(dir);
        }
        for (name, value) in environment {
            match value {
                Some(value) => it.env(name, value),
                None => it.env_remove(name),
            };
        }
    });
    wrap.wrap(KillOnDrop);
    #[cfg(unix)]
    wrap.wrap(ProcessGroup::leader());
    let mut child = wrap
        .spawn()
        .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    let ran = tokio::time::timeout(limit, talk(child.as_mut(), stdin)).await;
    // Whatever it started ends with it.
    let _ = child.start_kill();
    match ran {
        Ok(ran) => ran.map_err(|error| format!("`{program}` broke off: {error}")),
        Err(_) => Err(format!(
            "`{program}` did not end within {} s and was ended",
            limit.as_secs_f32()
        )),
    }
}

/// Waits for commands where nothing else is awaited: an import.
pub(super) fn wait<T: Send>(work: impl Future<Output = T> + Send) -> std::io::Result<T> {
    // A thread of its own, for a runtime must not be started inside another.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            Ok(runtime.block_on(work))
        });
        waiting
            .join()
            .unwrap_or_else(|_| Err(std::io::Error::other("the thread broke down")))
    })
}

async fn talk(child: &mut dyn ChildWrapper, said: &[u8]) -> std::io::Result<Ran> {
    let mut stdin = child.stdin().take();
    let mut stdout = child.stdout().take();
    let mut stderr = child.stderr().take();
    let written = async {
        if let Some(pipe) = &mut stdin {
            // A command need not read what it is told.
            let _ = pipe.write_all(said).await;
        }
        drop(stdin.take());
        Ok(())
    };
    let ((), out, err) = tokio::try_join!(written, read(&mut stdout), read(&mut stderr))?;
    let status = child.wait().await?;
    Ok(Ran {
        status: status.code(),
        stdout: out,
        stderr: err,
    })
}

async fn read(pipe: &mut Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(MOST + 1).read_to_end(&mut bytes).await?;
    }
    if bytes.len() as u64 > MOST {
        let told = format!("it printed more than {MOST} bytes");
        return Err(std::io::Error::other(told));
    }
    Ok(bytes)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    async fn sh(script: &str, limit: Duration) -> Result<Ran, String> {
        let command = ["sh", "-c", script].map(str::to_owned);
        run(&command, None, b"{}", limit).await
    }

    #[tokio::test]
    async fn what_a_command_says_and_how_it_ends() {
        let long = Duration::from_secs(30);
        let ran = sh("cat; echo no >&2; exit 3", long).await.unwrap();
        assert_eq!(
            (ran.status, ran.stdout.as_slice()),
            (Some(3), b"{}".as_slice())
        );
        assert_eq!(ran.complaint().as_deref(), Some("no"));
        assert_eq!(sh("kill -9 $$", long).await.unwrap().status, None);
        assert!(sh("yes", long).await.unwrap_err().contains("more than"));
        let missing = ["/nowhere/at/all".to_owned()];
        assert!(
            run(&missing, None, b"", long)
                .await
                .unwrap_err()
                .contains("started")
        );
        assert!(run(&[], None, b"", long).await.is_err());
    }

    #[tokio::test]
    async fn a_command_that_hangs_is_ended_with_everything_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", pid.display());
        let told = sh(&script, Duration::from_millis(500)).await.unwrap_err();
        assert!(told.contains("did not end"), "{told}");
        let pid = std::fs::read_to_string(pid).unwrap();
        let alive = || {
            let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            status.is_ok_and(|text| !text.contains(") Z "))
        };
        // The kill is sent; the system needs a moment to carry it out.
        for _ in 0..10_000 {
            if !alive() {
                return;
            }
            tokio::task::yield_now().await;
        }
        assert!(!alive());
    }
}
