//! `dover demo`: a sample session walked through the whole loop, as anybody could with the other subcommands.
//!
//! The edits are data (`demo.toml`); what they come to is played anew each time.

use std::io;

use serde::{Deserialize, Serialize};

use super::args::Demo;
use super::compare::{Compared, compared};
use super::context::{self, Context};
use super::error::{CliError, Exit};
use super::fork::Forked;
use super::out::{Answer, Out, Tone};
use super::replay;
use super::show::speaker;
use crate::model::{BranchId, EffectState, StepHead, Trial, clean};
use crate::pipeline::{self, ForkRequest};
use crate::store::Store;
use crate::ui::diff::{Side, WordDiff};

/// How many rows of a comparison are shown.
const ROWS: usize = 12;

#[derive(Deserialize)]
struct Script {
    edit: Vec<Edit>,
}

/// One edit of the walk.
#[derive(Deserialize, Serialize)]
struct Edit {
    sample: String,
    /// What the operator thinks.
    say: String,
    step: usize,
    text: String,
    /// Decisions about effects that the operator records first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    decisions: Vec<Decision>,
}

#[derive(Deserialize, Serialize)]
struct Decision {
    key: String,
    state: EffectState,
    why: String,
}

#[derive(Serialize)]
struct Walk {
    session: String,
    title: String,
    task: String,
    expected: Option<String>,
    answer: Option<String>,
    trials: Vec<Trial>,
    #[serde(skip)]
    plans: Vec<StepHead>,
    #[serde(skip)]
    faults: Vec<StepHead>,
    missed: Vec<String>,
    forks: Vec<Walked>,
}

#[derive(Serialize)]
struct Walked {
    #[serde(flatten)]
    edit: Edit,
    original: String,
    outcome: Forked,
    comparison: Option<Compared>,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Demo) -> Result<Exit, CliError> {
    let edits = script()?;
    let name = args
        .name
        .as_deref()
        .or_else(|| edits.first().map(|edit| edit.sample.as_str()));
    let name = name.unwrap_or_default().to_owned();
    let edits: Vec<_> = edits_of(edits, &name)?;
    // Nobody's store is touched by a demonstration unless they say so.
    let (store, _folder) = match context.global.store {
        Some(_) => (context.store()?, None),
        None => context::temporary().map(|(store, folder)| (store, Some(folder)))?,
    };
    let session = context::take_in(&store, &name)?;
    let main = BranchId::main(&session);
    let mut forks = Vec::new();
    for edit in edits {
        forks.push(walk(context, &store, &main, edit)?);
    }
    let walk = beginning(&store, &main, forks)?;
    context.out.give(&walk)?;
    Ok(Exit::Done)
}

fn script() -> Result<Vec<Edit>, CliError> {
    let script: Script = toml::from_str(include_str!("demo.toml"))
        .map_err(|error| CliError::Usage(format!("demo.toml: {error}")))?;
    Ok(script.edit)
}

fn edits_of(edits: Vec<Edit>, name: &str) -> Result<Vec<Edit>, CliError> {
    let mut samples: Vec<_> = edits.iter().map(|edit| edit.sample.clone()).collect();
    samples.dedup();
    let chosen: Vec<_> = edits
        .into_iter()
        .filter(|edit| edit.sample == name)
        .collect();
    if chosen.is_empty() {
        return Err(CliError::Usage(format!(
            "there is no demonstration '{name}'. There are {}",
            samples.join(", ")
        )));
    }
    Ok(chosen)
}

/// Makes one edit, runs it, and puts its first run beside the original.
fn walk(context: &Context, store: &Store, main: &BranchId, edit: Edit) -> Result<Walked, CliError> {
    for Decision { key, state, why } in &edit.decisions {
        store.set_effect(main, key, *state, why, &context.operator())?;
    }
    let request = ForkRequest {
        text: Some(edit.text.clone()),
        // Where tools reach outside one run would do; a demonstration wants a verdict.
        runs: Some(3),
        ..ForkRequest::at(main.clone(), edit.step, context.operator())
    };
    let plan = pipeline::plan(store, request, &context.model()?)?;
    let original = plan.original.text.clone();
    let outcome = replay::run(store, plan, &pipeline::Jobs::new(1), true)?;
    // A held branch has no step of its own to compare.
    let ran = outcome
        .branches
        .iter()
        .find(|branch| branch.steps > edit.step);
    let comparison = ran
        .map(|branch| compared(store, main, &branch.id))
        .transpose()?;
    Ok(Walked {
        edit,
        original,
        outcome: outcome.into(),
        comparison,
    })
}

fn beginning(store: &Store, main: &BranchId, forks: Vec<Walked>) -> Result<Walk, CliError> {
    let session = store.session(main.session())?;
    let branch = store.branch(main)?;
    let heads = store.heads(main, 0..branch.steps)?;
    let trials = store.trials(main)?;
    let reached = store.milestones(main)?;
    Ok(Walk {
        plans: trials
            .iter()
            .filter_map(|trial| heads.get(trial.start).cloned())
            .collect(),
        trials,
        missed: session
            .milestones
            .iter()
            .zip(reached)
            .filter(|(_, step)| step.is_none())
            .map(|(milestone, _)| milestone.title.clone())
            .collect(),
        faults: heads.into_iter().filter(|head| head.error).collect(),
        session: session.id,
        title: session.title,
        task: session.task,
        expected: session.expected,
        answer: branch.answer,
        forks,
    })
}

impl Answer for Walk {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        out.row(Tone::Strong, &format!("{}: {}", self.session, self.title))?;
        out.labelled("  task      ", &self.task)?;
        out.labelled("  answered  ", self.answer.as_deref().unwrap_or("nothing"))?;
        out.labelled(
            "  expected  ",
            self.expected.as_deref().unwrap_or("not set"),
        )?;
        out.heading("trials")?;
        for (trial, plan) in self.trials.iter().zip(&self.plans) {
            let label = format!("  {}  steps {}–{}  ", trial.index, trial.start, trial.end);
            out.row(Tone::Plain, &format!("{label}{}", plan.head))?;
        }
        out.heading("what went wrong")?;
        for head in &self.faults {
            out.row(Tone::Bad, &step_line(head))?;
        }
        for title in &self.missed {
            out.row(Tone::Plain, &format!("  ☆ milestone not reached: {title}"))?;
        }
        self.forks.iter().try_for_each(|fork| fork.print(out))
    }
}

impl Answer for Walked {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        out.heading(&"─".repeat(out.width()))?;
        out.para(0, &self.edit.say)?;
        out.blank()?;
        for Decision { key, state, why } in &self.edit.decisions {
            let state = if *state == EffectState::Reverted {
                "reverted"
            } else {
                "reconciled"
            };
            out.labelled("  decided   ", &format!("{key} is {state}: {why}"))?;
        }
        let (old, new) = (clean(&self.original), clean(&self.edit.text));
        let diff = WordDiff::new(&old, &new).passage(Side::Both, true);
        out.labelled(&format!("  step {:<4} ", self.edit.step), diff.text())?;
        out.blank()?;
        self.outcome.print(out)?;
        let Some(comparison) = &self.comparison else {
            return Ok(());
        };
        out.blank()?;
        comparison.print_rows(out, ROWS)
    }
}

fn step_line(head: &StepHead) -> String {
    let who = speaker(&head.agent, head.kind, head.to.as_deref());
    format!("{:>5} {who}  {}", head.index, head.head)
}
