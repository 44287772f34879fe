//! `dover adapter check NAME ENTRY`: the conformance walk as a table.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use serde::Serialize;

use super::super::args::Check;
use super::super::context::Context;
use super::super::error::{CliError, Exit};
use super::super::out::{Answer, Out, Tone};
use super::super::replay;
use super::super::run::team;
use super::install::broken_off;
use crate::model::AdapterRef;
use crate::runtime::adapter::{
    Adapter, AdapterHome, CUSTOM, Finding, Limits, Walk, WalkSettings, differs_from_pin,
};

#[derive(Serialize)]
struct Checked {
    adapter: String,
    entry: String,
    holds: bool,
    /// Where the environment is not the pinned one.
    notes: Vec<String>,
    #[serde(flatten)]
    walk: Walk,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: Check) -> Result<Exit, CliError> {
    if (args.name == CUSTOM) == args.command.is_empty() {
        return Err(CliError::Usage(if args.name == CUSTOM {
            "custom needs the command of an adapter: dover adapter check custom -- COMMAND"
                .to_owned()
        } else {
            format!(
                "a command is for custom; {} takes an entry: dover adapter check {0} ENTRY",
                args.name
            )
        }));
    }
    let adapter = AdapterRef {
        entry: args.entry.unwrap_or_default(),
        python: args.python.as_deref().map(team::interpreter).transpose()?,
        command: args.command,
        ..team::here(&args.name)?
    };
    let settings = WalkSettings {
        task: args.task,
        max_steps: usize::from(args.max_steps),
        allow_tools: args.allow_tools,
    };
    let runtime = Adapter::new(AdapterHome::usual()?, Limits::default());
    let watched = !context.out.is_json() && io::stderr().is_terminal();
    let mut tell = |finding: &Finding| {
        if watched {
            let at = finding
                .boundary
                .map_or(String::new(), |at| format!(" {at}"));
            let _ = writeln!(io::stderr(), "{}{at} done", finding.what);
        }
    };
    let threads = tokio::runtime::Runtime::new().map_err(CliError::Threads)?;
    let walk = threads.block_on(async {
        tokio::select! {
            biased;
            () = replay::ended() => Err(broken_off("broken off; no process is left and nothing was recorded")),
            walk = runtime.check(&adapter, &settings, &mut tell) => Ok(walk?),
        }
    })?;
    let checked = Checked {
        holds: walk.holds(),
        notes: differs_from_pin(&adapter.name, &walk.framework),
        entry: if adapter.entry.is_empty() {
            adapter.command.join(" ")
        } else {
            adapter.entry
        },
        adapter: adapter.name,
        walk,
    };
    context.out.give(&checked)?;
    Ok(if checked.holds {
        Exit::Done
    } else {
        Exit::Held
    })
}

impl Answer for Checked {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        out.row(Tone::Strong, &format!("{} {}", self.adapter, self.entry))?;
        for note in &self.notes {
            out.labelled("  not as pinned: ", note)?;
        }
        out.blank()?;
        for finding in &self.walk.findings {
            let mark = match finding.holds {
                Some(true) => '✓',
                Some(false) => '✗',
                None => '◐',
            };
            let at = finding.boundary.map_or(String::new(), |at| at.to_string());
            let took = Duration::from_millis(finding.ms).as_secs_f32();
            let label = format!("  {mark} {:<10} {at:>3} {took:>6.2} s  ", finding.what);
            out.labelled(&label, &finding.found)?;
        }
        out.blank()?;
        let count = |holds| {
            self.walk
                .findings
                .iter()
                .filter(|it| it.holds == holds)
                .count()
        };
        let (good, bad, unsure) = (count(Some(true)), count(Some(false)), count(None));
        let word = if self.holds {
            "it holds"
        } else {
            "it does not hold"
        };
        let unsure = if unsure > 0 {
            format!(", {unsure} cannot be tested: forks there are diagnostic")
        } else {
            String::new()
        };
        let tone = if self.holds { Tone::Good } else { Tone::Bad };
        out.row(tone, &format!("{word}: {good} hold, {bad} do not{unsure}"))
    }
}
