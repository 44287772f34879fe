//! `dover import FILE`: takes a log in and says what was read.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::TempDir;

use super::args::Import;
use super::context::Context;
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use super::text::in_trials;
use crate::model::{BranchId, Coverage};
use crate::pipeline;

#[derive(Serialize)]
struct Imported {
    session: String,
    new: bool,
    format: String,
    title: String,
    steps: usize,
    agents: Vec<String>,
    trials: usize,
    coverage: Coverage,
    /// What has changed beside a log that is known already.
    notes: Vec<String>,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Import) -> Result<Exit, CliError> {
    let store = context.store()?;
    let spooled;
    let mut file = args.file.as_path();
    if file == Path::new("-") || file == Path::new("/dev/stdin") {
        spooled = spool()?;
        file = &spooled.1;
    }
    // An import reads a file: a stored id here would be a slip of the hand.
    std::fs::metadata(file).map_err(|source| CliError::File {
        path: file.to_owned(),
        source,
        mend: "Give the path of a log",
    })?;
    let mut meter = Meter::new(context.out.is_json());
    let word = file.to_string_lossy();
    let taken = pipeline::take_in(&store, &word, &mut |share, steps| {
        meter.show(share, steps);
        true
    });
    meter.clear();
    let (id, new) = taken?;
    let session = store.session(&id)?;
    let main = BranchId::main(&id);
    let news = if new {
        None
    } else {
        pipeline::profile_news(&store, &id, file)?
    };
    context.out.give(&Imported {
        new,
        notes: news.into_iter().collect(),
        format: session.format,
        title: session.title,
        steps: store.branch(&main)?.steps,
        agents: session.agents.into_iter().map(|agent| agent.name).collect(),
        trials: store.trials(&main)?.len(),
        coverage: session.coverage,
        session: id,
    })?;
    Ok(Exit::Done)
}

/// What comes on standard input, in a file that goes again: a log is read more than once.
fn spool() -> Result<(TempDir, PathBuf), CliError> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("stdin");
    let copied =
        File::create(&path).and_then(|mut file| io::copy(&mut io::stdin().lock(), &mut file));
    copied.map_err(|source| CliError::File {
        path: "standard input".into(),
        source,
        mend: "Write the log to a file and import that",
    })?;
    Ok((folder, path))
}

impl Answer for Imported {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        let known = if self.new { "" } else { " (known already)" };
        out.row(Tone::Strong, &format!("{}{known}", self.session))?;
        out.labelled("  format   ", &self.format)?;
        out.labelled("  steps    ", &in_trials(self.steps, self.trials))?;
        out.labelled("  agents   ", &self.agents.join(", "))?;
        out.labelled("  coverage ", &self.coverage.line())?;
        for note in &self.coverage.notes {
            out.labelled("    ", &format!("{}: {}", note.place, note.reason))?;
        }
        for note in &self.notes {
            out.labelled("  profile  ", note)?;
        }
        out.row(Tone::Faint, &format!("  Open it: dover {}", self.session))
    }
}

/// How far a long import is, on a terminal's standard error.
struct Meter {
    on: bool,
    percent: u8,
}

impl Meter {
    fn new(json: bool) -> Self {
        let on = !json && io::stderr().is_terminal();
        Self { on, percent: 0 }
    }

    fn show(&mut self, share: f64, steps: usize) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let percent = (share.clamp(0.0, 1.0) * 100.0) as u8;
        if self.on && percent > self.percent {
            self.percent = percent;
            let _ = write!(io::stderr(), "\r{percent:3} %  {steps} steps");
        }
    }

    fn clear(&self) {
        if self.on && self.percent > 0 {
            let _ = write!(io::stderr(), "\r{:30}\r", "");
        }
    }
}
