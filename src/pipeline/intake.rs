//! Files, worlds and samples into the store. The same bytes are taken in once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use include_dir::{Dir, include_dir};

use crate::import::{self, Beside, Content, ImportError, ProfileFile, Sink};
use crate::model::{
    self, BranchId, Checkpoint, CoverageNote, Digest, Effect, Judgement, RunStatus, Session, Step,
    StepKind, Verifier, Workflow,
};
use crate::runtime::scenario::{self, Scenario};
use crate::runtime::{Decision, Event, Restore, Runtime as _, Workspace};
use crate::store::{Ending, Importer, Store, StoreError};

use super::verify::verify;
use super::workspace::{self, Track};
use super::{PipelineError, brought, config, external, follow, probe};

/// The sample sessions, carried in the program.
static SAMPLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/sample-sessions");

/// The sample sessions, in the order in which somebody new to them meets them.
const SAMPLE_NAMES: [&str; 4] = [
    "night-picture",
    "north-light",
    "honey-stall",
    "release-notes",
];

/// What a profile file's name ends with.
const PROFILE: &str = "dover.toml";
/// The program that answers for a sample's world outside.
const DESK: &str = "desk.sh";

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
    if path.exists() || follow::is_stream(path) {
        if let Some(name) = sample_at(path) {
            return sample(store, name);
        }
        return file(store, path, None, progress);
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
    unpacked(store, name, name, |path, desk| {
        file(store, path, desk, &mut |_, _| true)
    })
}

/// Unpacks a sample, has it taken in, and sets up its destination, if it has one, under the name of `desk`.
pub(super) fn unpacked(
    store: &Store,
    name: &str,
    desk_name: &str,
    take: impl FnOnce(&Path, Option<&Path>) -> Result<(String, bool), PipelineError>,
) -> Result<(String, bool), PipelineError> {
    let unpacked = tempfile::tempdir()
        .and_then(|dir| SAMPLES.extract(dir.path()).map(|()| dir))
        .map_err(|error| {
            PipelineError::Usage(format!(
                "the sample sessions cannot be unpacked into {}: {error}. Free some space there or set TMPDIR",
                std::env::temp_dir().display()
            ))
        })?;
    let path = unpacked.path().join(format!("{name}.jsonl"));
    if SAMPLES.get_file(format!("{name}.{PROFILE}")).is_none() {
        return take(&path, None);
    }
    // Its tools reach outside, and what they left there outlives every run.
    let desk = desk(store, desk_name);
    let taken = take(&path, Some(&desk))?;
    set_up(store, &taken.0, &desk).map_err(|error| {
        PipelineError::Usage(format!(
            "{}: the sample's destination cannot be set up: {error}. Make the directory writable",
            desk.display()
        ))
    })?;
    Ok(taken)
}

/// Where the stand-in for a sample's world outside is: beside the store, not in it, wherever dover is started next.
fn desk(store: &Store, name: &str) -> PathBuf {
    let whole = store.path().canonicalize();
    let mut beside = whole.unwrap_or(store.path().to_owned()).into_os_string();
    beside.push(".desk");
    PathBuf::from(beside).join(name)
}

/// Makes a sample's stand-in for the world outside: the program that answers for it, and its logs with what the recorded run did.
fn set_up(store: &Store, session: &str, desk: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(desk)?;
    if let Some(script) = SAMPLES.get_file(DESK) {
        std::fs::write(desk.join(DESK), script.contents())?;
    }
    let other = std::io::Error::other::<PipelineError>;
    let main = BranchId::main(session);
    let recorded = || -> Result<_, PipelineError> {
        let effects = store.effects(&main)?.into_iter();
        let beside = effects.map(|effect| Ok((store.step(&main, effect.step)?, effect)));
        let beside: Result<Vec<(Step, Effect)>, StoreError> = beside.collect();
        Ok((store.session(session)?, beside?))
    };
    let (session, recorded) = recorded().map_err(other)?;
    scenario::set_up(&session, &recorded, desk).map_err(|error| other(error.into()))
}

/// The sample that a file is, byte for byte, so that it is taken in with its destination wherever it lies.
fn sample_at(path: &Path) -> Option<&'static str> {
    let length = path.metadata().ok()?.len();
    SAMPLE_NAMES.into_iter().find(|name| {
        SAMPLES
            .get_file(format!("{name}.jsonl"))
            .is_some_and(|file| {
                let bytes = file.contents();
                bytes.len() as u64 == length && std::fs::read(path).is_ok_and(|read| read == bytes)
            })
            && alone(path, name)
    })
}

/// Whether nobody has put a profile of his own beside a sample: that would be passed over.
fn alone(path: &Path, name: &str) -> bool {
    let own = SAMPLES.get_file(format!("{name}.{PROFILE}"));
    ProfileFile::places(path).iter().all(|place| {
        place.symlink_metadata().is_err()
            || own.is_some_and(|own| std::fs::read(place).is_ok_and(|read| read == own.contents()))
    })
}

fn file(
    store: &Store,
    path: &Path,
    home: Option<&Path>,
    progress: &mut dyn FnMut(f64, usize) -> bool,
) -> Result<(String, bool), PipelineError> {
    let unreadable = |source| ImportError::Unreadable {
        file: path.to_owned(),
        source,
    };
    // Before it is opened: a pipe that nobody writes to would be waited for.
    if follow::is_stream(path) {
        return Err(follow::no_stream(path));
    }
    let content = import::sniff(path);
    if content == Content::Profile {
        return Err(PipelineError::Usage(format!(
            "{}: this is a workflow profile, which is read with the session beside it. Give the session's file, or `dover set SESSION --profile {0}`",
            path.display()
        )));
    }
    let digest = File::open(path)
        .and_then(Digest::of_reader)
        .map_err(unreadable)?;
    // A profile that cannot be read is told before anything else: it is never passed over.
    let profile = ProfileFile::beside(path)?;
    if let Some(id) = store.find_by_source(digest)? {
        return Ok((id, false));
    }
    let id = match content {
        Content::World => {
            let text = std::fs::read_to_string(path).map_err(unreadable)?;
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let mut session = world_session(&text, 0)?;
            session.source = name;
            session.source_digest = Some(digest);
            settle(&mut session, profile.as_ref(), home)?;
            play(store, session)?
        }
        Content::Log | Content::Profile => log(
            store,
            (path, u64::MAX),
            home,
            profile.as_ref(),
            None,
            progress,
        )?,
    };
    Ok((id, true))
}

/// Reads a log, up to a length, into a session; with an id of its own it is a copy, whatever was taken in before.
pub(super) fn log(
    store: &Store,
    (path, upto): (&Path, u64),
    home: Option<&Path>,
    profile: Option<&ProfileFile>,
    copy: Option<&str>,
    progress: &mut dyn FnMut(f64, usize) -> bool,
) -> Result<String, PipelineError> {
    let mut taken = Taken {
        importer: store.import()?,
        tools: BTreeSet::new(),
        keys: profile.map(key_paths).unwrap_or_default(),
    };
    let mut imported = import::import_upto(path, upto, &mut taken, progress)?;
    settle(&mut imported.session, profile, home)?;
    if let Some(runtime) = &mut imported.session.runtime {
        runtime.destination = home.map(Path::to_owned);
    }
    config::pin(&mut imported.session, taken.tools);
    if let Some(id) = copy {
        id.clone_into(&mut imported.session.id);
        imported.session.source_digest = None;
    }
    let ending = left_behind(&mut imported.session, imported.answer)?;
    let (named, main) = (imported.session.id.clone(), ending.success);
    let id = taken.importer.finish(imported.session, ending)?;
    brought::check(store, &id, &named, main)?;
    Ok(id)
}

/// What is fixed about a session before anything forks: its profile file's word, what the profile's commands tell, and both pinned.
fn settle(
    session: &mut Session,
    profile: Option<&ProfileFile>,
    home: Option<&Path>,
) -> Result<(), PipelineError> {
    if let Some(profile) = profile {
        place(profile, session, home)?;
    }
    session.at_start = Some(Box::new(session.workflow()));
    if session.profile.keys.is_empty() {
        return Ok(());
    }
    for (key, answer) in waited(probe::ask(session))? {
        match answer {
            Ok(state) => {
                session.evidence.insert(key, state);
            }
            Err(why) => note(
                session,
                format!("state key {key}"),
                format!("not read: {why}"),
            ),
        }
    }
    Ok(())
}

fn place(
    profile: &ProfileFile,
    session: &mut Session,
    home: Option<&Path>,
) -> Result<(), PipelineError> {
    profile.apply(session, home).map_err(|source| {
        PipelineError::Import(ImportError::Unreadable {
            file: profile.path.clone(),
            source,
        })
    })
}

fn note(session: &mut Session, place: String, reason: String) {
    session.coverage.notes.push(CoverageNote { place, reason });
}

/// Waits for commands and for a world's run.
fn waited<T: Send>(work: impl Future<Output = T> + Send) -> Result<T, PipelineError> {
    external::wait(work).map_err(|error| {
        PipelineError::Usage(format!(
            "no command could be run: {error}. Close other programs and try again"
        ))
    })
}

/// Takes the word of a profile file over for a session that is known already; nothing is written yet.
pub fn take_profile(session: &mut Session, path: &Path) -> Result<(), PipelineError> {
    place(&ProfileFile::read(path)?, session, None)
}

/// Whether the profile file beside a log says something else than it did when the log was taken in, and what to do about it.
pub fn profile_news(
    store: &Store,
    session: &str,
    log: &Path,
) -> Result<Option<String>, PipelineError> {
    let Some(profile) = ProfileFile::beside(log)? else {
        return Ok(None);
    };
    let session = store.session(session)?;
    let now = session.workflow();
    let same = |then: &Workflow| profile.over(then) == *then;
    if same(&now) || session.at_start.as_deref().is_some_and(same) {
        return Ok(None);
    }
    let path = profile.path.display();
    Ok(Some(format!(
        "{path} has changed since the session was taken in; it stays as it was. To take the change over: dover set {} --profile {path}",
        session.id
    )))
}

/// The header of a world's session, by the world's own word.
///
/// # Errors
/// A world that cannot be read.
pub fn world_session(text: &str, seed: u64) -> Result<Session, PipelineError> {
    let world = scenario::parse(text)?;
    Ok(scenario::session(&world, text, seed))
}

/// Plays a world from its beginning and keeps the run as a session of its own. A profile file beside the world's holds for it.
///
/// # Errors
/// A world or a profile that cannot be read, or the store.
pub fn play_world(
    store: &Store,
    world: &Path,
    text: &str,
    seed: u64,
) -> Result<String, PipelineError> {
    let mut session = world_session(text, seed)?;
    settle(&mut session, ProfileFile::beside(world)?.as_ref(), None)?;
    play(store, session)
}

/// The most steps of a world's own run.
const MAX_STEPS: usize = 1000;

fn play(store: &Store, mut session: Session) -> Result<String, PipelineError> {
    config::pin(&mut session, BTreeSet::new());
    let mut importer = store.import()?;
    let ending = waited(recording(&mut importer, &mut session))??;
    Ok(importer.finish(session, ending)?)
}

/// Records a world's run from its beginning, in a work tree of its own where the profile names a workspace.
async fn recording(
    importer: &mut Importer,
    session: &mut Session,
) -> Result<Ending, PipelineError> {
    let tree = match workspace::as_it_is(session).await {
        Some(Ok(tree)) => Some(tree),
        Some(Err(why)) => {
            note(session, "workspace".into(), format!("not recorded: {why}"));
            None
        }
        None => None,
    };
    let restore = Restore {
        session: Arc::new(session.clone()),
        prefix: Arc::default(),
        checkpoint: None,
        pending: None,
        original: None,
        kept: Vec::new(),
        workspace: tree.as_ref().map(|tree| tree.dir().to_owned()),
        seed: session.runtime.as_ref().map_or(0, |runtime| runtime.seed),
        max_steps: MAX_STEPS,
        made: Arc::default(),
    };
    let dir = restore.workspace.clone();
    let mut run = Scenario.restore(restore).await?;
    let mut track = match &dir {
        Some(dir) => Some(Track::begin(dir).await),
        None => None,
    };
    let answer = loop {
        match run.next().await? {
            // The world is being recorded, so what it does is what the record says it did.
            Event::Ask(_) => run.decide(Decision::Allow),
            Event::Delta { .. } | Event::Question { .. } | Event::Pending(_) => {}
            Event::Step(mut made) => {
                if let Some(track) = &mut track {
                    track.step(made.checkpoint.as_mut()).await;
                }
                importer.push(&made.step, made.checkpoint.as_ref(), &made.effects)?;
                session.coverage.read += 1;
            }
            Event::Finished(finish) => break finish.answer,
        }
    };
    session.coverage.content = session.coverage.read > 0;
    let judgement = verify(session, answer.as_deref(), &run.workspace()).await;
    Ok(recorded(answer, judgement))
}

/// The ending of a run that somebody else made. What it left in the workspace is what is there now.
fn left_behind(session: &mut Session, answer: Option<String>) -> Result<Ending, PipelineError> {
    let looks = matches!(
        session.verifier,
        Some(Verifier::Command(_) | Verifier::File { .. })
    );
    if !looks {
        let judgement = judged(session, answer.as_deref());
        return Ok(recorded(answer, judgement));
    }
    let (tree, judgement) = waited(async {
        let tree = workspace::as_it_is(session).await;
        let files = match &tree {
            Some(Ok(tree)) => Workspace::Dir(tree.dir().to_owned()),
            _ => Workspace::None,
        };
        let judgement = verify(session, answer.as_deref(), &files).await;
        (tree, judgement)
    })?;
    if let Some(Err(why)) = tree {
        note(session, "workspace".into(), format!("not looked at: {why}"));
    }
    Ok(recorded(answer, judgement))
}

/// A final answer judged without any files.
pub(super) fn judged(session: &Session, answer: Option<&str>) -> Judgement {
    model::judge(
        session.verifier.as_ref(),
        session.expected.as_deref(),
        answer,
    )
}

/// How a recorded run ended: it came to its end, and the verifier says what it can.
pub(super) fn recorded(answer: Option<String>, judgement: Judgement) -> Ending {
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

/// Changes what a person may set of a session, and judges its branches again by it. Of files that a run left behind nothing is known by
/// then.
///
/// # Errors
/// The store.
pub fn update(store: &Store, session: &Session, operator: &str) -> Result<(), PipelineError> {
    let before = store.session(&session.id)?;
    store.update_session(session, operator)?;
    super::rejudge::rejudge(store, &before, session)
}

/// Steps on their way from a log into the store.
struct Taken {
    importer: Importer,
    /// Tools that were called.
    tools: BTreeSet<String>,
    /// Where the profile finds the operation keys of tools.
    keys: BTreeMap<String, String>,
}

/// The operation key that the profile finds in a call's arguments, for an effect that the log itself gives none.
pub(super) fn key_in(
    paths: &BTreeMap<String, String>,
    step: &Step,
    effect: &Effect,
) -> Option<String> {
    let made_up = effect.operation_key.ends_with(&format!("@{}", step.index));
    let path = paths.get(&effect.tool).filter(|_| made_up)?;
    let called = step.meta.tool.as_ref()?;
    let text = called.arguments.as_ref().unwrap_or(&step.text);
    let arguments: serde_json::Value = serde_json::from_str(text).ok()?;
    let found = path
        .split('.')
        .try_fold(&arguments, |value, part| value.get(part))?;
    match found {
        serde_json::Value::String(key) => Some(key.clone()),
        serde_json::Value::Number(key) => Some(key.to_string()),
        _ => None,
    }
    .filter(|key| !key.trim().is_empty())
}

/// Where each tool of a profile has its operation key.
pub(super) fn key_paths(profile: &ProfileFile) -> BTreeMap<String, String> {
    let tools = profile.over(&Workflow::default()).profile.tools;
    let path =
        |(name, tool): (String, crate::model::ToolProfile)| Some((name, tool.operation_key?));
    tools.into_iter().filter_map(path).collect()
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
        let mut effects = effects;
        for effect in &mut effects {
            if let Some(key) = key_in(&self.keys, &step, effect) {
                effect.operation_key = key;
            }
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

    fn beside(&mut self, beside: Beside) -> Result<(), ImportError> {
        match beside {
            Beside::Branch(branch, config) => self.importer.branch(*branch, config),
            Beside::Intervention(made) => self.importer.intervention(*made),
            Beside::Hypothesis(filed) => self.importer.hypothesis(*filed),
            Beside::Mark(mark) => self.importer.mark(mark),
            Beside::Note(note) => self.importer.note(note),
            Beside::Main(branch) => self.importer.main(*branch),
            Beside::Receipt(sealed) => self.importer.receipt(*sealed),
        }
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
