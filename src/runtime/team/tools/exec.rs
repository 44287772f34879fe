//! A program in the workspace: a process group of its own, a time limit, capped output, an environment without the operator's secrets.
//! Nothing of it outlives its limit, or the run that is dropped.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

/// The most bytes of each output that are kept; a program that prints more is ended.
const MOST: usize = 1 << 18;
/// What a program sees of the operator's environment.
const KEPT: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TMPDIR"];

/// Ends the whole group, whatever became of the call.
struct Group(Box<dyn ChildWrapper>);

impl Drop for Group {
    fn drop(&mut self) {
        let _already_ended = self.0.start_kill();
    }
}

/// Runs a command; what it printed, or a sentence with what it printed.
pub(super) async fn run(
    command: &[&str],
    stdin: &str,
    dir: &Path,
    limit: Duration,
) -> Result<String, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("there is no command".to_owned());
    };
    if !dir.is_dir() {
        return Err("the workspace is not there".to_owned());
    }
    let mut wrap = CommandWrap::with_new(program, |it| {
        it.args(arguments)
            .current_dir(dir)
            .env_clear()
            .env("HOME", dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for name in KEPT {
            if let Some(value) = std::env::var_os(name) {
                it.env(name, value);
            }
        }
    });
    wrap.wrap(KillOnDrop);
    #[cfg(unix)]
    wrap.wrap(ProcessGroup::leader());
    let child = wrap
        .spawn()
        .map_err(|error| format!("{program} cannot be started: {error}"))?;
    let mut group = Group(child);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let ended = tokio::time::timeout(limit, talk(&mut group, stdin, &mut out, &mut err)).await;
    drop(group);
    let mut printed = String::from_utf8_lossy(&out).into_owned();
    if !err.is_empty() {
        printed.push_str("\n[stderr]\n");
        printed.push_str(&String::from_utf8_lossy(&err));
    }
    let printed = printed.trim();
    match ended {
        Ok(Ok(Some(0))) if printed.is_empty() => {
            Ok("It ended well and printed nothing.".to_owned())
        }
        Ok(Ok(Some(0))) => Ok(printed.to_owned()),
        Ok(Ok(Some(code))) => Err(format!("It ended with status {code}.\n{printed}")),
        Ok(Ok(None)) => Err(format!("It was ended by a signal.\n{printed}")),
        Ok(Err(why)) => Err(format!("It was ended: {why}.\n{printed}")),
        Err(_) => {
            let limit = limit.as_secs_f32();
            Err(format!(
                "It did not end within {limit} s and was ended.\n{printed}"
            ))
        }
    }
}

async fn talk(
    group: &mut Group,
    said: &str,
    out: &mut Vec<u8>,
    err: &mut Vec<u8>,
) -> Result<Option<i32>, String> {
    let child = group.0.as_mut();
    let (mut stdin, stdout, stderr) = (
        child.stdin().take(),
        child.stdout().take(),
        child.stderr().take(),
    );
    let written = async {
        if let Some(pipe) = &mut stdin {
            // A program need not read what it is told.
            let _unread = pipe.write_all(said.as_bytes()).await;
        }
        drop(stdin.take());
        Ok::<(), String>(())
    };
    tokio::try_join!(written, read(stdout, out), read(stderr, err))?;
    let status = child.wait().await.map_err(|error| error.to_string())?;
    Ok(status.code())
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> Result<(), String> {
    let Some(mut pipe) = pipe else {
        return Ok(());
    };
    let mut piece = vec![0; 8192];
    loop {
        let count = pipe.read(&mut piece).await.map_err(|it| it.to_string())?;
        into.extend(piece.iter().take(count));
        if count == 0 {
            return Ok(());
        }
        if into.len() > MOST {
            into.truncate(MOST);
            return Err(format!("it printed more than {MOST} bytes"));
        }
    }
}
