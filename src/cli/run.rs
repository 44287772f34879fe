//! `dover run`: a world played from its beginning, into the store or into a file; or a team of an agent framework.

pub(super) mod team;

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use serde::Serialize;

use super::args::{Run, RunWhere};
use super::context::{self, Context};
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use super::text::in_trials;
use crate::export;
use crate::model::{BranchId, Effect, Session};
use crate::pipeline;
use crate::store::Store;

#[derive(Serialize)]
struct Played {
    session: String,
    file: Option<String>,
    seed: u64,
    steps: usize,
    trials: usize,
    answer: Option<String>,
    success: Option<bool>,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Run) -> Result<Exit, CliError> {
    match &args.runtime {
        RunWhere::Scenario { world, seed, out } => scenario(context, world, *seed, out.as_deref()),
        RunWhere::Autogen(team) => team::named(context, "autogen", team),
        RunWhere::Ag2Classic(team) => team::named(context, "ag2-classic", team),
        RunWhere::Langgraph(team) => team::named(context, "langgraph", team),
        RunWhere::Custom(team) => team::custom(context, team),
    }
}

fn scenario(
    context: &mut Context,
    world: &Path,
    seed: u64,
    out: Option<&Path>,
) -> Result<Exit, CliError> {
    let text = std::fs::read_to_string(world).map_err(|source| CliError::File {
        path: world.to_owned(),
        source,
        mend: "Give the TOML file of a world",
    })?;
    let played = match out {
        None => {
            let store = context.store()?;
            let session = pipeline::play_world(&store, world, &text, seed)?;
            played(&store, session, seed, None)?
        }
        Some(file) => {
            let (store, _folder) = context::temporary()?;
            let id = pipeline::play_world(&store, world, &text, seed)?;
            // What a profile file says stays in it: beside the new file it is read again.
            let own = pipeline::world_session(&text, seed)?;
            let mut session = Session {
                profile: own.profile,
                verifier: own.verifier,
                expected: own.expected,
                ..store.session(&id)?
            };
            name_world(&mut session, world, file);
            write(&store, &session, file)?;
            played(&store, id, seed, Some(file))?
        }
    };
    context.out.give(&played)?;
    Ok(Exit::Done)
}

/// A session file beside its world names it instead of repeating it.
fn name_world(session: &mut Session, world: &Path, file: &Path) {
    let beside = |path: &Path| path.canonicalize().ok()?.parent().map(Path::to_owned);
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok();
    if folder.is_some()
        && beside(world) == folder
        && let (Some(runtime), Some(name)) = (&mut session.runtime, world.file_name())
    {
        runtime.world = Some(name.to_string_lossy().into_owned());
    }
}

/// Writes the session's original run in dover's own format.
fn write(store: &Store, session: &Session, file: &Path) -> Result<(), CliError> {
    let main = BranchId::main(&session.id);
    let branch = store.branch(&main)?;
    let steps = store.steps(&main, 0..branch.steps)?;
    let effects = store.effects(&main)?;
    let mut records = Vec::new();
    for step in &steps {
        let own: Vec<Effect> = effects
            .iter()
            .filter(|effect| effect.step == step.index)
            .cloned()
            .collect();
        records.push((step, store.checkpoint(&main, step.index)?, own));
    }
    let records = records
        .iter()
        .map(|(step, checkpoint, effects)| (*step, checkpoint.as_ref(), effects.as_slice()));
    let written = File::create(file).map(BufWriter::new).and_then(|mut out| {
        export::original(&mut out, session, records, branch.answer.as_deref())?;
        out.flush()
    });
    written.map_err(|source| CliError::File {
        path: file.to_owned(),
        source,
        mend: "Give a file that can be written",
    })
}

fn played(
    store: &Store,
    session: String,
    seed: u64,
    file: Option<&Path>,
) -> Result<Played, CliError> {
    let main = BranchId::main(&session);
    let branch = store.branch(&main)?;
    Ok(Played {
        trials: store.trials(&main)?.len(),
        session,
        file: file.map(|file| file.display().to_string()),
        seed,
        steps: branch.steps,
        answer: branch.answer,
        success: branch.success,
    })
}

impl Answer for Played {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        let success = match self.success {
            Some(true) => "passed",
            Some(false) => "failed",
            None => "not judged",
        };
        out.row(Tone::Strong, &self.session)?;
        out.labelled("  steps  ", &in_trials(self.steps, self.trials))?;
        let answer = self.answer.as_deref().unwrap_or("none");
        out.labelled("  answer ", &format!("{answer} ({success})"))?;
        let open = self.file.as_ref().unwrap_or(&self.session);
        out.row(Tone::Faint, &format!("  Open it: dover {open}"))
    }
}
