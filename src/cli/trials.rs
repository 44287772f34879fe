//! `dover trials SESSION`: where its plans begin.

use std::io;

use serde::Serialize;

use super::args::Trials;
use super::context::{self, Context};
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use super::text::count;
use crate::model::{BranchId, StepHead, Trial};

#[derive(Serialize)]
struct Listed {
    session: String,
    branch: BranchId,
    trials: Vec<Trial>,
    #[serde(skip)]
    plans: Vec<Option<StepHead>>,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Trials) -> Result<Exit, CliError> {
    let store = context.store()?;
    let branch = context::branch(&store, &args.session, None)?;
    let trials = store.trials(&branch)?;
    let mut plans = Vec::new();
    for trial in &trials {
        plans.push(store.heads(&branch, trial.start..trial.start + 1)?.pop());
    }
    context.out.give(&Listed {
        session: branch.session().to_owned(),
        branch,
        trials,
        plans,
    })?;
    Ok(Exit::Done)
}

impl Answer for Listed {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        let title = format!("{}: {}", self.branch, count(self.trials.len(), "trial"));
        out.row(Tone::Strong, &title)?;
        for (trial, plan) in self.trials.iter().zip(&self.plans) {
            let head = plan.as_ref().map_or("", |plan| plan.head.as_str());
            let Trial { index, start, end } = trial;
            out.row(
                Tone::Plain,
                &format!("  {index}  steps {start}–{end}  {head}"),
            )?;
        }
        Ok(())
    }
}
