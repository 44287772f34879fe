//! `dover fork SESSION --at N`: an edit, its gates, its runs, its verdict.

use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;

use super::args::{Allow, Fork};
use super::context::{self, Context};
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use super::replay;
use crate::gate::GateResult;
use crate::model::{
    Branch, BranchId, Category, ConfigChange, EditClass, GateStatus, Intervention, RunStatus, TOLD,
    Tally,
};
use crate::pipeline::{self, ForkRequest, Jobs, ModelSettings, Outcome, Verdict};
use crate::store::Store;

/// What a fork came to, under the names that the README documents.
#[derive(Serialize)]
pub struct Forked {
    intervention: Edit,
    branches: Vec<Ran>,
    gates: Vec<GateResult>,
    notes: Vec<String>,
    baseline: bool,
    answer_leak: bool,
    progress: Option<f64>,
    verdict: Option<Verdict>,
    reason: Option<String>,
}

#[derive(Serialize)]
struct Edit {
    id: String,
    category: Category,
    class: Option<EditClass>,
    changes: Vec<ConfigChange>,
    step: usize,
    n: usize,
    seed: u64,
    operator: String,
}

/// A branch with its scores.
#[derive(Serialize)]
pub(super) struct Ran {
    id: BranchId,
    parent: Option<BranchId>,
    fork_step: Option<usize>,
    intervention: Option<String>,
    operator: Option<String>,
    gate: Option<GateStatus>,
    run: RunStatus,
    diagnostic: bool,
    fulfilled: Option<bool>,
    success: Option<bool>,
    /// Its end stands as the file tells it; nothing here could check it.
    told: bool,
    milestones: Option<Tally>,
    steps: usize,
    seed: u64,
    answer: Option<String>,
    reason: Option<String>,
    /// What the forks on its line changed of the configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<ConfigChange>,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: Fork) -> Result<Exit, CliError> {
    let store = context.store()?;
    let category = args.category();
    let branch = context::branch(&store, &args.session, args.branch.as_deref())?;
    let request = ForkRequest {
        changes: changes(&args)?,
        acknowledge_drift: args.acknowledge_drift,
        accept_delta: args.accept_delta,
        text: match &args.text_file {
            Some(path) => Some(text_of(path)?),
            None => args.text,
        },
        category,
        runs: args.runs.map(usize::from),
        seed: args.seed,
        diagnostic: args.diagnostic,
        new_effects: args.new_effects.into(),
        ..ForkRequest::at(branch, args.at, context.operator())
    };
    carry_out(context, &store, request, args.jobs, &args.allow)
}

/// Takes a request through the gates and tells what came of it.
pub(super) fn carry_out(
    context: &mut Context,
    store: &Store,
    request: ForkRequest,
    jobs: u16,
    allow: &Allow,
) -> Result<Exit, CliError> {
    let models = ModelSettings {
        allowed: allow.allowed(),
        ..context.model()?
    };
    let plan = pipeline::plan(store, request, &models)?;
    let outcome = replay::run(
        store,
        plan,
        &Jobs::new(usize::from(jobs)),
        context.out.is_json(),
    )?;
    let forked = Forked::from(outcome);
    context.out.give(&forked)?;
    Ok(forked.exit())
}

/// The changes of the configuration that the words ask for.
fn changes(args: &Fork) -> Result<Vec<ConfigChange>, CliError> {
    let model = args.set_model.as_ref().map(|name| ConfigChange::Model {
        name: name.trim().to_owned(),
    });
    let tools = args.tools.iter().map(|(agent, names)| ConfigChange::Tools {
        agent: agent.clone(),
        tools: names
            .split(',')
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect(),
    });
    let mut changes: Vec<ConfigChange> = model.into_iter().chain(tools).collect();
    for (agent, text) in &args.prompts {
        changes.push(ConfigChange::Prompt {
            agent: agent.clone(),
            text: match text.strip_prefix('@') {
                Some(path) => text_of(Path::new(path))?,
                None => text.clone(),
            },
        });
    }
    Ok(changes)
}

/// The text in a file or on standard input. The line break at the end of a file is the file's, not the edit's.
fn text_of(path: &Path) -> Result<String, CliError> {
    let text = if path == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.map_err(|source| CliError::File {
        path: path.to_owned(),
        source,
        mend: "Give a file of UTF-8 text",
    })?;
    Ok(text
        .strip_suffix('\n')
        .map_or(text.as_str(), |text| {
            text.strip_suffix('\r').unwrap_or(text)
        })
        .to_owned())
}

impl From<Outcome> for Forked {
    fn from(outcome: Outcome) -> Self {
        let Outcome {
            intervention,
            branches,
            report,
            progress,
            verdict,
            reason,
        } = outcome;
        let (gates, notes) = report
            .map(|report| (report.gates, report.notes))
            .unwrap_or_default();
        Self {
            gates,
            notes,
            baseline: intervention.category == Category::None,
            answer_leak: intervention.answer_leak,
            intervention: intervention.into(),
            branches: branches.into_iter().map(Ran::from).collect(),
            progress,
            verdict,
            reason,
        }
    }
}

impl From<Intervention> for Edit {
    fn from(it: Intervention) -> Self {
        Self {
            id: it.id,
            category: it.category,
            class: it.class,
            changes: it.changes,
            step: it.step,
            n: it.n,
            seed: it.seed,
            operator: it.operator,
        }
    }
}

impl From<Branch> for Ran {
    fn from(it: Branch) -> Self {
        Self {
            id: it.id,
            parent: it.parent,
            fork_step: it.fork_step,
            intervention: it.intervention,
            operator: it.operator,
            gate: it.gate,
            run: it.run,
            diagnostic: it.diagnostic,
            fulfilled: it.fulfilled,
            success: it.success,
            told: it.told,
            milestones: it.milestones,
            steps: it.steps,
            seed: it.seed,
            answer: it.answer,
            reason: it.reason,
            changes: Vec::new(),
        }
    }
}

impl Forked {
    /// Done if every run came to its end, whatever the verdict.
    fn exit(&self) -> Exit {
        if self
            .branches
            .iter()
            .all(|branch| branch.run == RunStatus::Done)
        {
            Exit::Done
        } else {
            Exit::Held
        }
    }

    fn verdict_line(&self) -> String {
        let diagnostic = if self.branches.iter().any(|branch| branch.diagnostic) {
            "diagnostic: "
        } else {
            ""
        };
        let verdict = self
            .verdict
            .map_or("no verdict".to_owned(), |verdict| verdict.to_string());
        let reason = self
            .reason
            .as_ref()
            .map_or(String::new(), |reason| format!(" ({reason})"));
        let progress = self.progress.map_or(String::new(), |progress| {
            format!(", progress {progress:+.2}")
        });
        let leak = if self.answer_leak {
            ", but the edit gives the answer away"
        } else {
            ""
        };
        format!("{diagnostic}{verdict}{reason}{progress}{leak}")
    }
}

impl Answer for Forked {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        let Edit {
            id,
            category,
            class,
            changes,
            step,
            ..
        } = &self.intervention;
        let class = class.map_or(String::new(), |class| format!(", {}", spaced(class.name())));
        let what = if self.baseline {
            "unedited re-run".to_owned()
        } else {
            format!("{}{class}", category.name())
        };
        out.row(Tone::Strong, &format!("{id}  {what} at step {step}"))?;
        for change in changes {
            out.para(2, &change.to_string())?;
        }
        if self.answer_leak {
            out.para(
                2,
                "answer leak: the text contains the expected answer, so success would prove little",
            )?;
        }
        gates(out, &self.gates)?;
        for note in &self.notes {
            out.labelled("  changed since the start: ", note)?;
        }
        out.heading("runs")?;
        for branch in &self.branches {
            branch.print(out)?;
        }
        out.blank()?;
        out.para(0, &self.verdict_line())
    }
}

/// The gates with what each found; further evidence only where one does not hold, or where the configuration differs.
pub fn gates(out: &mut Out, gates: &[GateResult]) -> io::Result<()> {
    out.heading("gates")?;
    for gate in gates {
        let mark = match gate.holds {
            Some(true) => '✓',
            Some(false) => '✗',
            None => ' ',
        };
        out.labelled(
            &format!("  {mark} {} {:<11}", gate.number, gate.name),
            &gate.found,
        )?;
        if gate.holds == Some(false) || gate.name == "config" {
            for detail in &gate.details {
                out.para(6, detail)?;
            }
        }
        if let Some(mend) = &gate.mend {
            out.para(6, mend)?;
        }
    }
    Ok(())
}

impl Ran {
    pub(super) fn with(self, changes: Vec<ConfigChange>) -> Self {
        Self { changes, ..self }
    }

    pub(super) fn print(&self, out: &mut Out) -> io::Result<()> {
        let gate = self
            .gate
            .map_or(String::new(), |gate| format!(" · {}", spaced(gate.name())));
        let diagnostic = if self.diagnostic {
            " · diagnostic"
        } else {
            ""
        };
        let success = match self.success {
            Some(true) => " · success",
            Some(false) => " · no success",
            None => "",
        };
        let fulfilled = match self.fulfilled {
            Some(true) => " · fulfilled",
            Some(false) => " · not fulfilled",
            None => "",
        };
        let milestones = self
            .milestones
            .map_or(String::new(), |Tally { before, after, of }| {
                format!(" · milestones {before} → {after} of {of}")
            });
        let made = match (&self.intervention, &self.operator) {
            (Some(id), Some(operator)) => {
                format!(" · {} by {operator}", BranchId::parse(id).name())
            }
            _ => String::new(),
        };
        let told = if self.told {
            format!(" · {TOLD}")
        } else {
            String::new()
        };
        let line = format!(
            "{}{gate}{diagnostic}{success}{fulfilled}{told}{milestones}{made}",
            self.run.name()
        );
        let label = format!("  {:<3} ", self.id.name());
        out.labelled(&label, &line)?;
        if let Some(answer) = &self.answer {
            out.para(6, &format!("answer: {answer}"))?;
        }
        for change in &self.changes {
            out.para(6, &change.to_string())?;
        }
        match &self.reason {
            // That a run answered is said by its answer.
            Some(reason) if self.run != RunStatus::Done => out.para(6, reason),
            _ => Ok(()),
        }
    }
}

fn spaced(name: &str) -> String {
    name.replace('_', " ")
}
