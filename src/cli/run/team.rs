//! `dover run NAME ENTRY --task T`: starts a team of an agent framework and keeps its run as a session.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tokio::sync::mpsc;

use super::super::args::{StartCustom, StartTeam, Starting};
use super::super::context::Context;
use super::super::error::{CliError, Exit};
use super::super::out::{Answer, Out, Tone};
use super::super::plain;
use super::super::replay;
use super::super::screen;
use super::super::text::in_trials;
use crate::model::{AdapterRef, RunStatus};
use crate::pipeline::{self, Goal, Lead, Lived, Order, Orders, Told};
use crate::runtime::adapter::{CUSTOM, Start};
use crate::store::Store;
use crate::term::Team;

#[derive(Serialize)]
struct Ran {
    session: String,
    adapter: String,
    steps: usize,
    trials: usize,
    run: RunStatus,
    answer: Option<String>,
    reason: Option<String>,
    /// Where the environment is not the pinned one.
    notes: Vec<String>,
}

/// Runs `dover run NAME ENTRY`.
pub fn named(context: &mut Context, name: &str, args: &StartTeam) -> Result<Exit, CliError> {
    let adapter = AdapterRef {
        entry: args.entry.clone(),
        python: args.python.as_deref().map(interpreter).transpose()?,
        ..here(name)?
    };
    start(context, &adapter, &args.starting)
}

/// Runs `dover run custom -- COMMAND`.
pub fn custom(context: &mut Context, args: &StartCustom) -> Result<Exit, CliError> {
    let adapter = AdapterRef {
        command: args.command.clone(),
        ..here(CUSTOM)?
    };
    start(context, &adapter, &args.starting)
}

/// An adapter that is started where dover is.
pub fn here(name: &str) -> Result<AdapterRef, CliError> {
    let dir = std::env::current_dir().map_err(|source| CliError::File {
        path: PathBuf::from("."),
        source,
        mend: "Go to a directory that is there",
    })?;
    Ok(AdapterRef {
        name: name.to_owned(),
        dir,
        ..AdapterRef::default()
    })
}

/// The user's interpreter, found again from anywhere. Its links are not followed: they are what makes it an environment's own.
pub fn interpreter(path: &Path) -> Result<PathBuf, CliError> {
    let plain = path.components().count() == 1 && !path.exists();
    if plain {
        return Ok(path.to_owned());
    }
    std::path::absolute(path).map_err(|source| CliError::File {
        path: path.to_owned(),
        source,
        mend: "Give a Python interpreter",
    })
}

fn start(context: &mut Context, adapter: &AdapterRef, how: &Starting) -> Result<Exit, CliError> {
    let state = how.state.as_deref().map(read_state).transpose()?;
    let start = Start {
        task: how.task.clone(),
        state,
        max_steps: usize::from(how.max_steps),
    };
    let by_line = context.global.display.plain;
    if (by_line || screen::possible()) && !how.batch && !context.out.is_json() {
        let name = match adapter.command.first() {
            Some(program) => format!("{} {program}", adapter.name),
            None => format!("{} {}", adapter.name, adapter.entry),
        };
        let adapter = adapter.clone();
        let team = Team {
            adapter,
            start,
            name,
        };
        return if by_line {
            plain::team(context, &team)
        } else {
            screen::team(context, team)
        };
    }
    let store = context.store()?;
    let quiet = context.out.is_json();
    let threads = tokio::runtime::Runtime::new().map_err(CliError::Threads)?;
    let (give, orders) = mpsc::unbounded_channel();
    let (sender, mut events) = mpsc::unbounded_channel();
    let lead = Lead {
        goal: Goal::End,
        new_effects: how.new_effects.into(),
        operator: context.operator(),
    };
    let lived = threads.block_on(async {
        let orders = Orders::new(orders);
        let run = pipeline::live(&store, adapter, &start, lead, orders, &sender);
        tokio::pin!(run);
        let ended = replay::ended();
        tokio::pin!(ended);
        let mut stopping = false;
        loop {
            tokio::select! {
                biased;
                () = &mut ended, if !stopping => {
                    stopping = true;
                    let _ = give.send(Order::Stop);
                }
                Some(event) = events.recv() => report(quiet, &event),
                lived = &mut run => {
                    while let Ok(event) = events.try_recv() {
                        report(quiet, &event);
                    }
                    return lived;
                }
            }
        }
    })?;
    let ran = ran(&store, adapter, lived)?;
    for note in &ran.notes {
        if !quiet {
            let _ = writeln!(io::stderr(), "{note}");
        }
    }
    context.out.give(&ran)?;
    Ok(match ran.run {
        RunStatus::Done => Exit::Done,
        _ => Exit::Held,
    })
}

fn report(quiet: bool, told: &Told) {
    if let (false, Told::Progress(progress)) = (quiet, told) {
        replay::report(progress);
    }
}

/// A state that a framework saved. Never a pickle: reading one runs whatever is in it.
fn read_state(path: &Path) -> Result<serde_json::Value, CliError> {
    let file = |source| CliError::File {
        path: path.to_owned(),
        source,
        mend: "Give the JSON that `dover export --as state` or the framework's own save function makes, such as `json.dump(await team.save_state(), file)`; a pickle is never loaded",
    };
    let bytes = std::fs::read(path).map_err(file)?;
    serde_json::from_slice(&bytes).map_err(|error| file(error.into()))
}

fn ran(store: &Store, adapter: &AdapterRef, lived: Lived) -> Result<Ran, CliError> {
    let Lived { branch, notes } = lived;
    Ok(Ran {
        session: branch.id.session().to_owned(),
        adapter: adapter.name.clone(),
        steps: branch.steps,
        trials: store.trials(&branch.id)?.len(),
        run: branch.run,
        answer: branch.answer,
        reason: branch.reason,
        notes,
    })
}

impl Answer for Ran {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        out.row(Tone::Strong, &self.session)?;
        out.labelled("  steps  ", &in_trials(self.steps, self.trials))?;
        let answer = self.answer.as_deref().unwrap_or("none");
        out.labelled("  answer ", answer)?;
        let reason = self.reason.as_deref().unwrap_or_default();
        out.labelled("  ended  ", &format!("{}: {reason}", self.run.name()))?;
        out.row(Tone::Faint, &format!("  Open it: dover {}", self.session))
    }
}
