//! Files, worlds and samples into the store. The same bytes are taken in once.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use futures::executor::block_on;
use include_dir::{Dir, include_dir};

use crate::import::{self, Content, ImportError, Sink};
use crate::model::{
    self, BranchId, Checkpoint, Digest, Effect, RunStatus, Session, Step, StepKind,
};
use crate::runtime::scenario::{self, Scenario};
use crate::runtime::{Decision, Event, Restore, Runtime as _};
use crate::store::{Ending, Importer, Store, StoreError};

use super::{PipelineError, config};

/// The sample sessions, carried in the program.
static SAMPLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/sample-sessions");

/// The sample sessions, in the order in which somebody new to them meets them.
const SAMPLE_NAMES: [&str; 3] = ["night-picture", "honey-stall", "release-notes"];

/// Names of the sample sessions, in the order they are shown.
#[must_use]
pub fn sample_names() -> Vec<&'static str> {
    SAMPLE_NAMES.to_vec()
}

/// A file that came with the samples, such as a world.
#[must_use]
pub fn sample_file(name: &str) -> Option<&'static str> {
    SAMPLES.get_file(name)?.contents_utf8()
}

/// Takes a file in, or finds it by its digest if it was taken in before; or finds a stored session or a sample by id.
/// Returns the session's id and whether it is new. `progress` is told the share read, 0..=1, and the steps so far; it answers whether to go on.
///
/// # Errors
/// Neither a file nor a session: the sentence names the nearest ids. A file that cannot be read, or the store.
pub fn take_in(
    store: &Store,
    what: &str,
    progress: &mut dyn FnMut(f64, usize) -> bool,
) -> Result<(String, bool), PipelineError> {
    let path = Path::new(what);
    if path.exists() {
        return file(store, path, progress);
    }
    let id = BranchId::parse(what).session().to_owned();
    if store.has_session(&id)? {
        return Ok((id, false));
    }
    if sample_names().contains(&id.as_str()) {
        return sample(store, &id);
    }
    Err(PipelineError::Usage(format!(
        "{what}: there is neither a file nor a session of that name. {}",
        nearest(&id, store.session_ids()?)
    )))
}

/// Takes in the sample sessions that the program carries, those that the store does not have yet.
///
/// # Errors
/// The store.
pub fn take_in_samples(store: &Store) -> Result<(), PipelineError> {
    // The picker shows the newest first.
    for name in sample_names().into_iter().rev() {
        if !store.has_session(name)? {
            sample(store, name)?;
        }
    }
    Ok(())
}

/// Names the ids that are most like what was asked for.
fn nearest(asked: &str, mut known: Vec<String>) -> String {
    known.extend(sample_names().into_iter().map(str::to_owned));
    known.sort();
    known.dedup();
    let likeness = |id: &str| similar::TextDiff::from_chars(asked, id).ratio();
    known.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
    let near: Vec<String> = known.into_iter().take(3).collect();
    format!("Nearest: {}. `dover sessions` lists all", near.join(", "))
}

/// A sample is unpacked beside its world and taken in as any file.
fn sample(store: &Store, name: &str) -> Result<(String, bool), PipelineError> {
    let unpacked = tempfile::tempdir()
        .and_then(|dir| SAMPLES.extract(dir.path()).map(|()| dir))
        .map_err(|error| {
            PipelineError::Usage(format!(
                "the sample sessions cannot be unpacked into {}: {error}. Free some space there or set TMPDIR",
                std::env::temp_dir().display()
            ))
        })?;
    file(
        store,
        &unpacked.path().join(format!("{name}.jsonl")),
        &mut |_, _| true,
    )
}

fn file(
    store: &Store,
    path: &Path,
    progress: &mut dyn FnMut(f64, usize) -> bool,
) -> Result<(String, bool), PipelineError> {
    let digest = File::open(path)
        .and_then(Digest::of_reader)
        .map_err(|source| ImportError::Unreadable {
            file: path.to_owned(),
            source,
        })?;
    if let Some(id) = store.find_by_source(digest)? {
        return Ok((id, false));
    }
    let id = match import::sniff(path) {
        Content::World => {
            let unreadable = |source| ImportError::Unreadable {
                file: path.to_owned(),
                source,
            };
            let text = std::fs::read_to_string(path).map_err(unreadable)?;
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let mut session = world_session(&text, 0)?;
            session.source = name;
            session.source_digest = Some(digest);
            play(store, session)?
        }
        Content::Log => {
            let mut taken = Taken {
                importer: store.import()?,
                tools: BTreeSet::new(),
            };
            let mut imported = import::import(path, &mut taken, progress)?;
            config::pin(&mut imported.session, taken.tools);
            let ending = recorded(&imported.session, imported.answer.clone());
            taken.importer.finish(imported.session, ending)?
        }
    };
    Ok((id, true))
}

/// The header of a world's session.
fn world_session(text: &str, seed: u64) -> Result<Session, PipelineError> {
    let world = scenario::parse(text)?;
    Ok(scenario::session(&world, text, seed))
}

/// Plays a world from its beginning and keeps the run as a session of its own.
///
/// # Errors
/// A world that cannot be read, or the store.
pub fn play_world(store: &Store, text: &str, seed: u64) -> Result<String, PipelineError> {
    play(store, world_session(text, seed)?)
}

/// The most steps of a world's own run.
const MAX_STEPS: usize = 1000;

fn play(store: &Store, session: Session) -> Result<String, PipelineError> {
    let mut taken = store.import()?;
    let seed = session.runtime.as_ref().map_or(0, |runtime| runtime.seed);
    let session = Arc::new(session);
    let restore = Restore {
        session: session.clone(),
        prefix: Arc::default(),
        checkpoint: None,
        pending: None,
        original: None,
        kept: Vec::new(),
        workspace: None,
        seed,
        max_steps: MAX_STEPS,
    };
    // A world is computed, never awaited.
    let mut run = block_on(Scenario.restore(restore))?;
    let mut steps = 0;
    let answer = loop {
        match block_on(run.next())? {
            // The world is being recorded, so what it does is what the record says it did.
            Event::Ask(_) => run.decide(Decision::Allow),
            Event::Delta { .. } => {}
            Event::Step(made) => {
                taken.push(&made.step, made.checkpoint.as_ref(), &made.effects)?;
                steps += 1;
            }
            Event::Finished(finish) => break finish.answer,
        }
    };
    let ending = recorded(&session, answer);
    drop(run);
    let mut session = Arc::unwrap_or_clone(session);
    config::pin(&mut session, BTreeSet::new());
    session.coverage.read = steps;
    session.coverage.content = steps > 0;
    Ok(taken.finish(session, ending)?)
}

/// How a recorded run ended: it came to its end, and the verifier says what it can.
fn recorded(session: &Session, answer: Option<String>) -> Ending {
    let judgement = model::judge(
        session.verifier.as_ref(),
        session.expected.as_deref(),
        answer.as_deref(),
    );
    Ending {
        run: RunStatus::Done,
        gate: None,
        fulfilled: None,
        success: answer.as_ref().and_then(|_| judgement.success()),
        answer,
        milestones: None,
        reason: None,
    }
}

/// Changes what a person may set of a session, and judges its branches again by it.
///
/// # Errors
/// The store.
pub fn update(store: &Store, session: &Session) -> Result<(), PipelineError> {
    let before = store.session(&session.id)?;
    store.update_session(session)?;
    super::rejudge::rejudge(store, &before, session)
}

/// Steps on their way from a log into the store.
struct Taken {
    importer: Importer,
    /// Tools that were called.
    tools: BTreeSet<String>,
}

impl Sink for Taken {
    fn step(
        &mut self,
        step: Step,
        checkpoint: Option<Checkpoint>,
        effects: Vec<Effect>,
    ) -> Result<(), ImportError> {
        if let Some(tool) = step.meta.tool.as_ref().filter(|tool| !tool.name.is_empty()) {
            self.tools.insert(tool.name.clone());
        }
        self.importer.push(&step, checkpoint.as_ref(), &effects)?;
        Ok(())
    }

    fn reclassify(
        &mut self,
        index: usize,
        kind: StepKind,
        to: Option<&str>,
    ) -> Result<(), ImportError> {
        self.importer.reclassify(index, kind, to)?;
        Ok(())
    }
}

impl From<StoreError> for ImportError {
    fn from(error: StoreError) -> Self {
        Self::Sink {
            reason: error.to_string(),
        }
    }
}
