//! `dover sessions`: what the store holds, the samples included.

use std::io;

use serde::Serialize;

use super::context::Context;
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use super::text::{count, in_trials};
use crate::model::TOLD;
use crate::pipeline::{self, PipelineError};
use crate::store::{SessionSummary, StoreError};

#[derive(Serialize)]
struct Sessions {
    sessions: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: String,
    title: String,
    format: String,
    steps: usize,
    trials: usize,
    branches: usize,
    success: Option<bool>,
    /// That it passed or failed is told by the file it came with; nothing here could check it.
    told: bool,
    milestones: Option<Share>,
    created: String,
}

#[derive(Serialize)]
struct Share {
    reached: usize,
    of: usize,
}

/// Runs the subcommand.
pub fn run(context: &mut Context) -> Result<Exit, CliError> {
    let store = context.store()?;
    match pipeline::take_in_samples(&store) {
        // A store that can only be read is listed as it is.
        Err(PipelineError::Store(StoreError::ReadOnly { .. })) => {}
        taken => taken?,
    }
    let sessions = store.sessions()?.into_iter().map(Row::from).collect();
    context.out.give(&Sessions { sessions })?;
    Ok(Exit::Done)
}

impl From<SessionSummary> for Row {
    fn from(summary: SessionSummary) -> Self {
        let told = summary.told();
        Self {
            id: summary.session.id,
            title: summary.session.title,
            format: summary.session.format,
            steps: summary.steps,
            trials: summary.trials,
            branches: summary.branches,
            success: summary.success,
            told,
            milestones: summary
                .milestones
                .map(|(reached, of)| Share { reached, of }),
            created: summary.created,
        }
    }
}

impl Answer for Sessions {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        for row in &self.sessions {
            let outcome = match row.success {
                Some(true) => "passed",
                Some(false) => "failed",
                None => "not judged",
            };
            let milestones = row.milestones.as_ref().map_or(String::new(), |share| {
                format!(" · {}/{} milestones", share.reached, share.of)
            });
            let told = if row.told {
                format!(" ({TOLD})")
            } else {
                String::new()
            };
            let tail = format!(
                "{outcome}{told} · {} · {}{milestones}",
                in_trials(row.steps, row.trials),
                count(row.branches, "branch"),
            );
            out.row(Tone::Strong, &format!("{}  {}", row.id, row.title))?;
            out.row(
                Tone::Plain,
                &format!("  {tail} · {} · {}", row.format, row.created),
            )?;
        }
        Ok(())
    }
}
