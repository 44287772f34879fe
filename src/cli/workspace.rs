//! `dover workspace DIR`: the state of a directory as a checkpoint holds it, so that other programs can write it into their logs.

use std::io;

use serde::Serialize;

use super::args::Workspace;
use super::context::Context;
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use crate::model::KeyState;
use crate::pipeline;

/// With `--json` it is what stands under `keys.workspace` of a checkpoint line.
#[derive(Serialize)]
#[serde(transparent)]
struct Seen(KeyState);

/// Runs the subcommand. Nothing in the directory is touched.
pub fn run(context: &mut Context, args: &Workspace) -> Result<Exit, CliError> {
    let state = pipeline::look_at(&args.dir)?;
    context.out.give(&Seen(state))?;
    Ok(Exit::Done)
}

impl Answer for Seen {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        let changed = pipeline::changed_files(&self.0);
        out.row(Tone::Strong, &format!("commit {}", self.0.revision))?;
        out.labelled("  changed files  ", &changed.to_string())?;
        out.labelled("  fingerprint    ", &self.0.fingerprint.to_string())?;
        out.row(
            Tone::Faint,
            "  With --json: what a checkpoint line has under keys.workspace",
        )
    }
}
