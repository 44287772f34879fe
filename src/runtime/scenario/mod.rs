//! The embedded scenario runtime: a small world in a TOML file whose agents interpret the text of what they are told.
//!
//! | file | what it is for |
//! |---|---|
//! | `world` | the world as its file has it, checked |
//! | `words`, `lexicon`, `terms` | from text to terms |
//! | `segment`, `grammar`, `clause`, `read` | from terms to requests and prohibitions |
//! | `resolve` | which thing some words mean |
//! | `arithmetic` | what arithmetic knows of words, and working out |
//! | `expression` | the expression that stands in a text |
//! | `core` | a world with its lexicon: facts recognised, templates filled |
//! | `state` | everything that a checkpoint saves |
//! | `config` | its configuration part by part, and what a fork may change of it |
//! | `engine` | composes steps and lets them have their consequences |
//! | `orchestrate`, `dialogue` | who speaks next |
//! | `turn`, `decide`, `perform`, `tools` | what an agent makes of what it is told, and what comes of it |
//!
//! Invariants: nothing is keyed to a world, a session or an expected edit; equal seeds give equal runs; a restore rebuilds the state from the
//! checkpoint alone. Not here: judging. What a run reports is compared and scored by others.

mod arithmetic;
mod clause;
mod config;
mod core;
mod decide;
mod destination;
mod dialogue;
mod engine;
mod expression;
mod forbid;
mod grammar;
mod lexicon;
mod orchestrate;
mod perform;
mod read;
mod resolve;
mod segment;
mod state;
mod terms;
mod tools;
mod turn;
mod words;
mod world;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use self::core::Core;
use self::engine::{Engine, Watch};
use self::state::State;
pub use self::world::{World, parse};
use super::{
    Decision, Description, Event, Finish, Made, Restore, Run, Runtime, RuntimeError, Workspace,
};
use crate::model::{
    AgentInfo, Checkpoint, ConfigChange, Effect, Manifest, Profile, RestoredKey, RuntimeRef,
    Session, Step, StepKind, ToolProfile,
};

/// The most steps of a run that is played from its beginning.
const MOST_STEPS: usize = 200;

/// The runtime. It has no state of its own: the world comes with the session.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scenario;

/// A world's session before anything has run.
#[must_use]
pub fn session(world: &World, toml_text: &str, seed: u64) -> Session {
    let orchestrator = world.orchestrator.as_ref().map(|o| o.name.clone());
    let info = |name: &str, about: &str| AgentInfo {
        name: name.to_owned(),
        description: (!about.is_empty()).then(|| about.to_owned()),
        system_prompt: None,
    };
    let lead = orchestrator
        .iter()
        .map(|name| info(name, "plans, keeps the ledger and instructs the others"));
    let agents = world
        .agent
        .iter()
        .map(|agent| info(&agent.name, &agent.about));
    let tool = |tool: &world::Tool| {
        let profile = ToolProfile {
            class: tool.class,
            operation_key: tool.operation_key.clone(),
            outside: tool.outside,
            ..ToolProfile::default()
        };
        (tool.name.clone(), profile)
    };
    Session {
        id: slug(&world.title),
        title: world.title.clone(),
        format: "scenario".to_owned(),
        task: world.task.trim().to_owned(),
        agents: lead.chain(agents).collect(),
        orchestrator,
        expected: Some(world.expected.clone()),
        verifier: Some(world.verifier.clone()),
        milestones: world.milestone.clone(),
        runtime: Some(RuntimeRef {
            name: "scenario".to_owned(),
            world: Some(toml_text.to_owned()),
            destination: None,
            seed,
            adapter: None,
        }),
        profile: Profile {
            required_keys: world.required_keys.clone().unwrap_or_else(|| world.keys()),
            tools: world.tool.iter().map(tool).collect(),
            sensitive: world.sensitive.clone(),
            ..Profile::default()
        },
        ..Session::default()
    }
}

/// A title as an id: lower-case letters, digits and hyphens.
fn slug(title: &str) -> String {
    let words: Vec<String> = words::fold(title)
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    if words.is_empty() {
        "world".to_owned()
    } else {
        words.join("-")
    }
}

/// Plays a world from its beginning.
///
/// # Errors
/// When the run breaks down.
pub fn play(world: &World, seed: u64) -> Result<(Vec<Made>, Finish), RuntimeError> {
    let core = Arc::new(Core::new(world.clone()));
    let mut run = ScenarioRun::new(core, None, seed, MOST_STEPS);
    let mut made = Vec::new();
    loop {
        match run.advance()? {
            Event::Step(step) => made.push(*step),
            Event::Delta { .. } | Event::Question { .. } | Event::Pending(_) => {}
            // The world is being recorded: what it does is what the record says it did.
            Event::Ask(_) => run.decide(Decision::Allow),
            Event::Finished(finish) => return Ok((made, finish)),
        }
    }
}

/// Sets up a stand-in for the destinations outside of a session's world, with what the recorded run did there: each effect
/// behind the step that called the tool.
///
/// # Errors
/// No world, or a directory that cannot be written.
pub fn set_up(
    session: &Session,
    recorded: &[(Step, Effect)],
    dir: &Path,
) -> Result<(), RuntimeError> {
    let world = world_of(session)?;
    for log in world.outside_logs() {
        let into = |tool: &world::Tool| tool.outside && tool.log.as_deref() == Some(log);
        let done = recorded
            .iter()
            .filter(|(_, effect)| world.tool(&effect.tool).is_some_and(into));
        let entries: Vec<_> = done
            .map(|(step, effect)| {
                let result = effect.result.as_deref().unwrap_or_default();
                tools::entry(effect, &tools::arguments(step).unwrap_or_default(), result)
            })
            .collect();
        destination::set_up(dir, log, &entries).map_err(|error| RuntimeError::Missing {
            what: format!(
                "{}: the destination cannot be set up ({error})",
                dir.display()
            ),
            mend: "Make the directory writable".to_owned(),
        })?;
    }
    Ok(())
}

/// The world of a session.
fn world_of(session: &Session) -> Result<World, RuntimeError> {
    let text = session.runtime.as_ref().and_then(|r| r.world.as_deref());
    let text = text.ok_or_else(|| RuntimeError::Missing {
        what: format!("session '{}' carries no scenario world", session.id),
        mend: "Import it from a file whose header names the world, such as sample-sessions/night-picture.jsonl".to_owned(),
    })?;
    let mut world = parse(text)?;
    config::change(&mut world, session);
    Ok(world)
}

#[async_trait]
impl Runtime for Scenario {
    fn describe(&self, session: &Session) -> Description {
        let world = world_of(session);
        Description {
            name: "scenario",
            detail: world
                .as_ref()
                .map_or_else(ToString::to_string, |world| world.title.clone()),
            exact: world.is_ok(),
            local_fixtures: world.as_ref().map_or(true, World::is_local),
            config: world.map_or_else(|_| Manifest::default(), |world| config::config(&world)),
        }
    }

    fn accepts(&self, session: &Session, change: &ConfigChange) -> Result<(), String> {
        let world = world_of(session).map_err(|error| error.to_string())?;
        config::accepts(&world, change)
    }

    async fn restore(&self, restore: Restore) -> Result<Box<dyn Run>, RuntimeError> {
        let core = Arc::new(Core::new(world_of(&restore.session)?));
        let (seed, most) = (restore.seed, restore.max_steps);
        Ok(Box::new(ScenarioRun::new(core, Some(restore), seed, most)))
    }
}

/// One disposable run.
struct ScenarioRun {
    engine: Engine,
    pending: Option<Step>,
    /// Whether the pending step differs from what the parent has.
    edited: bool,
    left: usize,
    config: Manifest,
    queue: VecDeque<Event>,
    /// A step that waits for a decision, with the state before it.
    asked: Option<(engine::Draft, Step, Checkpoint)>,
    /// The work tree that its files are written to, if it was given one.
    dir: Option<PathBuf>,
    /// Whether they are written as they stand.
    written: bool,
}

impl ScenarioRun {
    fn new(core: Arc<Core>, restore: Option<Restore>, seed: u64, most: usize) -> Self {
        let config = config::config(&core.world);
        let destination = restore
            .as_ref()
            .and_then(|restore| restore.session.runtime.as_ref()?.destination.clone());
        let dir = restore.as_ref().and_then(|it| it.workspace.clone());
        let begins = restore.as_ref().is_none_or(|it| it.checkpoint.is_none());
        let (mut state, pending, edited, step, kept) = match restore {
            Some(restore) => {
                let state = match &restore.checkpoint {
                    Some(checkpoint) => State::load(&core.world, checkpoint),
                    None => State::start(&core.world),
                };
                let text = |step: &Option<Step>| step.as_ref().map(|s| s.text.clone());
                let edited =
                    restore.pending.is_some() && text(&restore.pending) != text(&restore.original);
                (
                    state,
                    restore.pending,
                    edited,
                    restore.prefix.len(),
                    restore.kept,
                )
            }
            None => (State::start(&core.world), None, false, 0, Vec::new()),
        };
        if let Some(dir) = dir.as_deref().filter(|_| !begins) {
            // What is in the tree is what there is; the memory of it follows.
            state.files = core.world.files_in(dir);
        }
        let engine = Engine {
            core,
            state,
            seed,
            step,
            kept,
            watch: edited.then(Watch::default),
            editing: false,
            effects: Vec::new(),
            decided: None,
            destination,
        };
        Self {
            engine,
            pending,
            edited,
            left: most,
            config,
            queue: VecDeque::new(),
            asked: None,
            dir,
            written: true,
        }
    }

    /// Brings the work tree to what the step left.
    fn write_files(&self) -> Result<(), RuntimeError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        for (name, text) in &self.engine.state.files {
            let same = super::read_file(dir, name).is_ok_and(|is| is.as_ref() == Some(text));
            if !same {
                super::write_file(dir, name, text).map_err(|error| RuntimeError::Broken {
                    step: self.engine.step,
                    reason: format!("the file '{name}' cannot be written: {error}"),
                })?;
            }
        }
        Ok(())
    }

    fn finish(&self, reason: String) -> Finish {
        let fulfilled = self.edited.then(|| {
            self.engine
                .watch
                .as_ref()
                .is_some_and(|w| w.understood && w.open.is_empty())
        });
        Finish {
            answer: self.engine.state.memory.answer.clone(),
            fulfilled,
            reason,
        }
    }

    fn commit(&mut self, draft: engine::Draft, step: Step, checkpoint: Checkpoint) {
        self.engine.commit(draft, &step);
        self.written = false;
        self.engine.decided = None;
        let effects = std::mem::take(&mut self.engine.effects);
        self.queue.push_back(Event::Step(Box::new(Made {
            step,
            checkpoint: Some(checkpoint),
            effects,
        })));
    }

    /// The next event, once the files are as the step that it tells of left them.
    fn hand_out(&mut self) -> Result<Option<Event>, RuntimeError> {
        if !std::mem::replace(&mut self.written, true) {
            self.write_files()?;
        }
        Ok(self.queue.pop_front())
    }

    fn advance(&mut self) -> Result<Event, RuntimeError> {
        if let Some(event) = self.hand_out()? {
            return Ok(event);
        }
        if self.asked.is_some() {
            return Err(RuntimeError::Broken {
                step: self.engine.step,
                reason: "an effect outside waits for a decision that nobody made".to_owned(),
            });
        }
        if self.engine.state.memory.next == state::Next::End {
            return Ok(Event::Finished(self.finish("answered".to_owned())));
        }
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(Event::Finished(
                self.finish("the most steps a run may make were reached".to_owned()),
            ));
        };
        self.left = left;
        let checkpoint = self.engine.checkpoint();
        let pending = self.pending.take();
        let composed = self.engine.compose().or_else(|| {
            // Without a checkpoint the state does not know what stood here: the step itself tells.
            let step = pending.clone()?;
            Some(engine::Draft {
                step,
                after: self.engine.state.clone(),
                fulfils: None,
            })
        });
        let draft = composed.ok_or_else(|| RuntimeError::Broken {
            step: self.engine.step,
            reason: "the state says nothing about what comes next; fork at another step".to_owned(),
        })?;
        let mut step = draft.step.clone();
        if let Some(pending) = pending {
            step = deliver(pending, &step, &self.engine.core);
        } else {
            self.queue.extend(pieces(&step));
        }
        step.index = self.engine.step;
        if let Some(effect) = self.engine.about_to(&step) {
            self.asked = Some((draft, step, checkpoint));
            self.queue.push_back(Event::Ask(Box::new(effect)));
        } else {
            self.commit(draft, step, checkpoint);
        }
        self.hand_out()?.ok_or_else(|| RuntimeError::Broken {
            step: self.engine.step,
            reason: "no step was made; fork at another step".to_owned(),
        })
    }
}

/// The pending step with what is true of it: an edited report claims only what its text still says.
fn deliver(pending: Step, composed: &Step, core: &Core) -> Step {
    let mut step = pending;
    if step.text == composed.text && step.kind == composed.kind {
        step.meta.clone_from(&composed.meta);
    } else if matches!(step.kind, StepKind::Message | StepKind::ToolResult) {
        let text = step.text.clone();
        step.meta.facts.retain(|id| {
            core.world.fact(id).is_some_and(|fact| {
                self::core::contains_words(&words::fold(&text), &words::fold(&fact.value))
            })
        });
        step.meta.error = false;
    } else if let Some(tool) = &mut step.meta.tool {
        tool.arguments = Some(step.text.clone());
    }
    step
}

/// A step as it is seen being written: a few words each.
fn pieces(step: &Step) -> impl Iterator<Item = Event> {
    let words: Vec<&str> = step.text.split_inclusive(' ').collect();
    let agent = step.agent.clone();
    let pieces: Vec<String> = words.chunks(4).map(<[&str]>::concat).collect();
    pieces.into_iter().map(move |text| Event::Delta {
        agent: agent.clone(),
        text,
    })
}

#[async_trait]
impl Run for ScenarioRun {
    fn keys(&self) -> Vec<RestoredKey> {
        let engine = &self.engine;
        engine
            .state
            .read_back(&engine.core.world, engine.destination.as_deref())
    }

    fn config(&self) -> Manifest {
        self.config.clone()
    }

    fn decide(&mut self, decision: Decision) {
        if let Some((draft, step, checkpoint)) = self.asked.take() {
            self.engine.decided = Some(decision);
            self.commit(draft, step, checkpoint);
        }
    }

    fn workspace(&self) -> Workspace {
        match &self.dir {
            Some(dir) => Workspace::Dir(dir.clone()),
            None => Workspace::Files(self.engine.state.files.clone()),
        }
    }

    async fn next(&mut self) -> Result<Event, RuntimeError> {
        self.advance()
    }
}
