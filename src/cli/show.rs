//! `dover show SESSION`: its steps, a line each; with `--step` one of them in full.

use std::io;

use serde::Serialize;

use super::args::Show;
use super::context::{self, Context};
use super::error::{CliError, Exit};
use super::fork::Ran;
use super::out::{Answer, Out, Tone};
use crate::model::{
    Branch, BranchId, ConfigChange, Coverage, GateStatus, LiveEdit, Manifest, Milestone, Note,
    RunStatus, Session, Step, StepKind, TOLD, Trial, clean_line, head_text, ledger_gist, trial_of,
};
use crate::store::{Store, StoreError};

#[derive(Serialize)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "an answer's fields, not a state"
)]
struct Shown {
    session: String,
    branch: BranchId,
    title: String,
    task: String,
    parent: Option<BranchId>,
    fork_step: Option<usize>,
    gate: Option<GateStatus>,
    run: RunStatus,
    diagnostic: bool,
    expected: Option<String>,
    answer: Option<String>,
    success: Option<bool>,
    /// Its end stands as the file tells it; nothing here could check it.
    told: bool,
    /// What the forks on its line changed of the configuration, or a held one asks to change.
    changes: Vec<ConfigChange>,
    /// The configuration that it ran with, part by part.
    config: Option<Manifest>,
    /// What the import read, and what it could not read, with the places.
    coverage: Coverage,
    milestones: Vec<Reached>,
    branches: Vec<Ran>,
    /// What people pinned to its steps.
    notes: Vec<Note>,
    steps: Vec<ShownStep>,
    #[serde(skip)]
    whole: bool,
    #[serde(skip)]
    parts: bool,
}

#[derive(Serialize)]
struct Reached {
    title: String,
    step: Option<usize>,
}

#[derive(Serialize)]
struct ShownStep {
    index: usize,
    agent: String,
    kind: StepKind,
    to: Option<String>,
    trial: Option<usize>,
    text: String,
    /// Answered from the record of an effect that stays.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    from_record: bool,
    /// What a person changed while it ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    live_edits: Vec<LiveEdit>,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Show) -> Result<Exit, CliError> {
    let store = context.store()?;
    let id = context::branch(&store, &args.session, args.branch.as_deref())?;
    let session = store.session(id.session())?;
    let branch = store.branch(&id)?;
    let range = match args.step {
        None => 0..branch.steps,
        Some(n) if n < branch.steps => n..n + 1,
        Some(n) => return Err(no_step(&id, n, branch.steps)),
    };
    let trials = store.trials(&id)?;
    let steps = store.steps(&id, range.clone())?;
    context.out.give(&Shown {
        session: session.id.clone(),
        milestones: milestones(&store, &session, &id)?,
        changes: changes(&store, &branch)?,
        config: store.branch_config(&id)?,
        branches: forks(&store, &session)?,
        notes: store
            .notes(&id)?
            .into_iter()
            .filter(|note| range.contains(&note.step))
            .collect(),
        coverage: session.coverage,
        title: session.title,
        task: session.task,
        expected: session.expected,
        parent: branch.parent,
        fork_step: branch.fork_step,
        gate: branch.gate,
        run: branch.run,
        diagnostic: branch.diagnostic,
        answer: branch.answer,
        success: branch.success,
        told: branch.told,
        steps: steps.into_iter().map(|step| shown(step, &trials)).collect(),
        whole: args.step.is_some(),
        parts: args.config,
        branch: id,
    })?;
    Ok(Exit::Done)
}

/// The sentence for a step that is not there.
fn no_step(branch: &BranchId, step: usize, steps: usize) -> CliError {
    CliError::Usage(match steps.checked_sub(1) {
        None => format!("{branch} has no steps"),
        Some(last) => format!("{branch} has no step {step}: its steps are 0 to {last}"),
    })
}

fn milestones(
    store: &Store,
    session: &Session,
    branch: &BranchId,
) -> Result<Vec<Reached>, CliError> {
    let reached = store.milestones(branch)?;
    let titles = session
        .milestones
        .iter()
        .map(|Milestone { title, .. }| title.clone());
    Ok(titles
        .zip(reached)
        .map(|(title, step)| Reached { title, step })
        .collect())
}

/// What the forks on a branch's line changed of the configuration; of a held branch, what it asks for.
fn changes(store: &Store, branch: &Branch) -> Result<Vec<ConfigChange>, StoreError> {
    if branch.run != RunStatus::Held {
        return store.changes(&branch.id);
    }
    let made = store.interventions(branch.id.session())?;
    let own = made
        .into_iter()
        .find(|made| branch.intervention.as_ref() == Some(&made.id));
    Ok(own.map(|made| made.changes).unwrap_or_default())
}

/// The session's branches beside `main`, in the order they were made.
fn forks(store: &Store, session: &Session) -> Result<Vec<Ran>, CliError> {
    let branches = store.branches(&session.id)?;
    Ok(branches
        .into_iter()
        .filter(|branch| branch.parent.is_some())
        .map(|branch| {
            let changes = changes(store, &branch)?;
            Ok(Ran::from(branch).with(changes))
        })
        .collect::<Result<_, StoreError>>()?)
}

fn shown(step: Step, trials: &[Trial]) -> ShownStep {
    ShownStep {
        from_record: step.meta.tool.as_ref().is_some_and(|tool| tool.from_record),
        trial: trial_of(trials, step.index).map(|trial| trial.index),
        live_edits: step.meta.live_edits,
        index: step.index,
        agent: step.agent,
        kind: step.kind,
        to: step.to,
        text: step.text,
    }
}

impl ShownStep {
    fn print(&self, out: &mut Out, whole: bool) -> io::Result<()> {
        let who = speaker(&self.agent, self.kind, self.to.as_deref());
        if whole {
            out.row(Tone::Strong, &format!("step {}  {who}", self.index))?;
            if self.from_record {
                out.para(2, "From the record, not repeated:")?;
            }
            for edit in &self.live_edits {
                let (by, of) = (clean_line(&edit.by), clean_line(&edit.of));
                out.para(2, &format!("{by} {} while it ran: {of}", edit.op.done()))?;
                if let Some(before) = &edit.before {
                    out.para(4, &format!("before: {before}"))?;
                }
            }
            out.para(2, &self.text)
        } else {
            let mut head = ledger_gist(&self.text).unwrap_or_else(|| head_text(&self.text));
            if self.from_record {
                head.insert_str(0, "from the record, not repeated: ");
            }
            out.row(Tone::Plain, &format!("{:>5} {who}  {head}", self.index))
        }
    }
}

/// Who speaks, to whom, and as what: `Orchestrator → WebSurfer` or `WebSurfer message`.
pub fn speaker(agent: &str, kind: StepKind, to: Option<&str>) -> String {
    match to {
        Some(to) => format!("{agent} → {to} {}", kind.name()),
        None => format!("{agent} {}", kind.name()),
    }
}

impl Shown {
    /// What people pinned to a step.
    fn pinned(&self, out: &mut Out, step: usize) -> io::Result<()> {
        let mut here = self.notes.iter().filter(|note| note.step == step);
        here.try_for_each(|note| out.para(6, &format!("✎ {}", note.told())))
    }

    fn print_config(&self, out: &mut Out) -> io::Result<()> {
        let Some(config) = &self.config else {
            let unknown = format!(
                "{}: no configuration is recorded; a fork pins it",
                self.branch
            );
            return out.para(0, &unknown);
        };
        let digest = config.digest().short();
        out.row(
            Tone::Strong,
            &format!("{}  configuration {digest}", self.branch),
        )?;
        for (name, part) in &config.0 {
            let shown = part.shown.as_ref();
            let shown = shown.map_or(String::new(), |shown| format!("  {shown}"));
            let digest = part.digest.short();
            out.row(Tone::Plain, &format!("  {name:<24} {digest}{shown}"))?;
        }
        Ok(())
    }
}

impl Answer for Shown {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        if self.parts {
            return self.print_config(out);
        }
        if self.whole {
            return self.steps.iter().try_for_each(|step| {
                step.print(out, true)?;
                self.pinned(out, step.index)
            });
        }
        out.row(Tone::Strong, &format!("{}  {}", self.branch, self.title))?;
        out.labelled("  task     ", &self.task)?;
        if let Some(answer) = &self.answer {
            out.labelled("  answer   ", answer)?;
        }
        if self.told {
            let told = format!("{TOLD}: nothing here could check how it ended");
            out.labelled("  end      ", &told)?;
        }
        if let Some(expected) = &self.expected {
            out.labelled("  expected ", expected)?;
        }
        if !self.coverage.whole() || !self.coverage.notes.is_empty() {
            out.labelled("  read     ", &self.coverage.line())?;
            for note in &self.coverage.notes {
                out.labelled("    ", &format!("{}: {}", note.place, note.reason))?;
            }
        }
        for change in &self.changes {
            out.labelled("  config   ", &change.to_string())?;
        }
        for (i, milestone) in self.milestones.iter().enumerate() {
            let place = milestone
                .step
                .map_or("not reached".to_owned(), |step| format!("step {step}"));
            let star = if milestone.step.is_some() {
                '★'
            } else {
                '☆'
            };
            out.row(
                Tone::Plain,
                &format!("  {star} {} {}: {place}", i + 1, milestone.title),
            )?;
        }
        let mut trial = None;
        for step in &self.steps {
            if step.trial != trial && step.kind != StepKind::Task {
                trial = step.trial;
                let title = trial.map_or(String::new(), |trial| format!("trial {trial}"));
                out.heading(&title)?;
            }
            step.print(out, false)?;
            self.pinned(out, step.index)?;
        }
        if !self.branches.is_empty() {
            out.heading("branches")?;
        }
        self.branches
            .iter()
            .try_for_each(|branch| branch.print(out))
    }
}
