//! `dover reconcile SESSION`: the destinations are asked what became of what a run did outside.

use std::io;

use serde::Serialize;

use super::args::Reconcile;
use super::context::{self, Context};
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use crate::model::BranchId;
use crate::pipeline::{self, Reconciled};

#[derive(Serialize)]
struct Asked {
    branch: BranchId,
    at: usize,
    effects: Vec<Reconciled>,
    blocking: usize,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Reconcile) -> Result<Exit, CliError> {
    let store = context.store()?;
    let branch = context::branch(&store, &args.session, None)?;
    if args.at > 0 {
        store.step(&branch, args.at)?;
    }
    let threads = tokio::runtime::Runtime::new().map_err(CliError::Threads)?;
    let operator = context.operator();
    let effects = threads.block_on(pipeline::reconcile(&store, &branch, args.at, &operator))?;
    let left = pipeline::left_behind(&store, &branch, args.at)?;
    let asked = Asked {
        blocking: left.iter().filter(|effect| effect.blocks()).count(),
        branch,
        at: args.at,
        effects,
    };
    context.out.give(&asked)?;
    Ok(if asked.blocking == 0 {
        Exit::Done
    } else {
        Exit::Held
    })
}

impl Answer for Asked {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        out.row(
            Tone::Strong,
            &format!("{}: effects from step {} on", self.branch, self.at),
        )?;
        if self.effects.is_empty() {
            return out.para(0, "Nothing waits to be settled.");
        }
        for Reconciled {
            effect,
            before,
            command,
            failed,
        } in &self.effects
        {
            out.row(
                Tone::Plain,
                &format!(
                    "  step {} {} {}: {} → {}",
                    effect.step,
                    effect.tool,
                    effect.operation_key,
                    before.name(),
                    effect.state.name()
                ),
            )?;
            if !command.is_empty() {
                out.para(6, &format!("asked: {}", command.join(" ")))?;
            }
            let said = failed.as_ref().or(effect.evidence.as_ref());
            if let Some(said) = said {
                out.para(6, said)?;
            }
        }
        if self.blocking == 0 {
            return out.para(0, "Everything is settled: a fork may go on from here.");
        }
        out.para(
            0,
            &format!(
                "{} of them still block a fork. Decide: dover set {} --effect KEY=keep --why TEXT (it stays and is not repeated), or KEY=reverted",
                self.blocking, self.branch
            ),
        )
    }
}
