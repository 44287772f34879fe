//! The adapter host against a small team of the tests' own: what a run hands out, what comes back in a new process, and what each kind
//! of bad adapter is told as.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dover::gate::{self, State};
use dover::model::{AdapterRef, Checkpoint, Effect, RestoreResult, RestoredKey, Session, StepKind};
use dover::runtime::adapter::{Adapter, AdapterError, AdapterHome, Limits, Start};
use dover::runtime::{Decision, Event, Finish, Made, Restore, Run, Runtime, RuntimeError};
use tempfile::TempDir;

use crate::support::python::{python, stand_in};

const TASK: &str = "What are 2 and 5 together?";

/// A folder, an adapter of one mode, and the runtime for it.
struct Scene {
    folder: TempDir,
    python: String,
    runtime: Adapter,
}

impl Scene {
    fn new() -> Option<Self> {
        let python = python()?;
        let folder = tempfile::tempdir().unwrap();
        let limits = Limits {
            answer: Duration::from_mins(1),
            silence: Duration::from_mins(1),
            line: 64 << 10,
        };
        Some(Self {
            runtime: Adapter::new(AdapterHome::at(folder.path().join("data")), limits),
            python,
            folder,
        })
    }

    /// The same, hurried: for an adapter that says nothing.
    fn hurried(self) -> Self {
        let limits = Limits {
            silence: Duration::from_millis(400),
            ..Limits::default()
        };
        Self {
            runtime: Adapter::new(AdapterHome::at(self.folder.path().join("data")), limits),
            ..self
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("file")
    }

    fn adapter(&self, mode: &str) -> AdapterRef {
        AdapterRef {
            name: "custom".to_owned(),
            command: stand_in(&self.python, mode, self.file().to_str().unwrap()),
            dir: self.folder.path().to_owned(),
            ..AdapterRef::default()
        }
    }

    async fn begin(&self, mode: &str) -> Result<(Session, Box<dyn Run>), RuntimeError> {
        let start = Start {
            task: Some(TASK.to_owned()),
            max_steps: 20,
            ..Start::default()
        };
        let (session, run) = self.runtime.begin(&self.adapter(mode), &start).await?;
        Ok((session, run))
    }

    /// A whole run.
    async fn ran(&self, mode: &str) -> (Session, Seen) {
        let (session, run) = self.begin(mode).await.unwrap();
        (session, seen(run, Decision::Allow).await)
    }

    /// A new process, restored to before a step of a run.
    async fn fork(
        &self,
        session: &Session,
        made: &[Made],
        at: usize,
        text: Option<&str>,
        kept: Vec<Effect>,
    ) -> Result<Box<dyn Run>, RuntimeError> {
        let original = made[at].step.clone();
        let mut pending = original.clone();
        if let Some(text) = text {
            text.clone_into(&mut pending.text);
        }
        let restore = Restore {
            session: Arc::new(session.clone()),
            prefix: Arc::new(made[..at].iter().map(|made| made.step.clone()).collect()),
            checkpoint: made[at].checkpoint.clone(),
            pending: Some(pending),
            original: Some(original),
            kept,
            workspace: None,
            seed: 0,
            max_steps: 20,
            made: Arc::default(),
        };
        self.runtime.restore(restore).await
    }
}

/// All that a run handed out.
#[derive(Default)]
struct Seen {
    made: Vec<Made>,
    deltas: String,
    asked: Vec<Effect>,
    end: Option<Result<Finish, RuntimeError>>,
    tokens: u64,
}

impl Seen {
    fn texts(&self) -> Vec<&str> {
        self.made
            .iter()
            .map(|made| made.step.text.as_str())
            .collect()
    }

    fn answer(&self) -> Option<&str> {
        self.end.as_ref()?.as_ref().ok()?.answer.as_deref()
    }

    fn error(&self) -> &RuntimeError {
        self.end.as_ref().unwrap().as_ref().unwrap_err()
    }
}

async fn seen(mut run: Box<dyn Run>, decision: Decision) -> Seen {
    let mut seen = Seen::default();
    loop {
        match run.next().await {
            Ok(Event::Step(made)) => seen.made.push(*made),
            Ok(Event::Delta { text, .. }) => seen.deltas.push_str(&text),
            Ok(Event::Question { .. } | Event::Pending(_)) => {}
            Ok(Event::Ask(effect)) => {
                seen.asked.push(*effect);
                run.decide(decision);
            }
            Ok(Event::Finished(finish)) => seen.end = Some(Ok(finish)),
            Err(error) => seen.end = Some(Err(error)),
        }
        if seen.end.is_some() {
            seen.tokens = run.usage().tokens();
            return seen;
        }
    }
}

/// What gate 2 makes of a restore.
fn judged(
    checkpoint: Option<&Checkpoint>,
    restored: &[RestoredKey],
) -> Vec<(String, RestoreResult, String)> {
    let input = State {
        required: &[],
        checkpoint,
        restored,
        drift_acknowledged: false,
    };
    let keys = gate::compare_keys(&input).into_iter();
    keys.map(|key| (key.key, key.result, key.test)).collect()
}

#[tokio::test]
async fn every_message_becomes_one_step_with_the_state_before_it() {
    let Some(scene) = Scene::new() else { return };
    let (session, seen) = scene.ran("good").await;
    assert_eq!(
        seen.texts(),
        [TASK, "Add 2 and 5", "The sum is 7", "The answer is 7"]
    );
    let kinds: Vec<StepKind> = seen.made.iter().map(|made| made.step.kind).collect();
    use StepKind::{Answer, Message, Plan, Task};
    assert_eq!(kinds, [Task, Plan, Message, Answer]);
    assert_eq!(seen.answer(), Some("7"));
    assert_eq!(seen.deltas, "I thinkI thinkI think");
    assert_eq!(seen.tokens, 36);
    for (index, made) in seen.made.iter().enumerate() {
        assert_eq!(made.step.index, index);
        let memory = &made.checkpoint.as_ref().unwrap().keys["agent_memory"];
        let planner = &memory.value.as_ref().unwrap()["parts"]["agents/Planner/memory"]["value"];
        assert_eq!(planner.as_array().unwrap().len(), index);
    }
    assert_eq!(session.agents.len(), 3);
    assert!(
        session
            .config
            .unwrap()
            .0
            .contains_key("agents Solver prompt")
    );
    // Nothing but agents without tools: nothing outside can be touched.
    assert!(session.runtime.unwrap().adapter.unwrap().local);
}

#[tokio::test]
async fn each_boundary_comes_back_in_a_new_process_and_an_edit_changes_what_follows() {
    let Some(scene) = Scene::new() else { return };
    let (session, whole) = scene.ran("good").await;
    for at in 0..whole.made.len() {
        let run = scene
            .fork(&session, &whole.made, at, None, Vec::new())
            .await
            .unwrap();
        let keys = judged(whole.made[at].checkpoint.as_ref(), &run.keys());
        assert!(keys.len() >= 3);
        assert!(
            keys.iter()
                .all(|(_, result, _)| *result == RestoreResult::Exact),
            "{keys:?}"
        );
        assert_eq!(session.config.as_ref(), Some(&run.config()));
        let again = seen(run, Decision::Allow).await;
        assert_eq!(again.made, whole.made[at..], "from step {at}");
        assert_eq!(again.answer(), Some("7"));
    }
    let edit = "Add 20 and 5";
    let run = scene
        .fork(&session, &whole.made, 1, Some(edit), Vec::new())
        .await
        .unwrap();
    let edited = seen(run, Decision::Allow).await;
    assert_eq!(edited.texts(), [edit, "The sum is 25", "The answer is 25"]);
    assert_eq!(edited.answer(), Some("25"));
    // The branch can itself be forked where it was edited.
    let branch = [whole.made[..1].to_vec(), edited.made].concat();
    let run = scene
        .fork(&session, &branch, 1, None, Vec::new())
        .await
        .unwrap();
    let again = seen(run, Decision::Allow).await;
    assert_eq!(again.answer(), Some("25"));
}

#[tokio::test]
async fn an_adapters_word_on_its_restore_is_no_evidence() {
    let Some(scene) = Scene::new() else { return };
    // It says `exact` of every key and has lost a message.
    let (session, whole) = scene.ran("forgets").await;
    let run = scene
        .fork(&session, &whole.made, 2, None, Vec::new())
        .await
        .unwrap();
    let keys = judged(whole.made[2].checkpoint.as_ref(), &run.keys());
    let of = |name: &str| keys.iter().find(|(key, ..)| key == name).unwrap();
    assert_eq!(of("agent_memory").1, RestoreResult::Drifted);
    assert!(
        of("agent_memory")
            .2
            .contains("agents/Planner/memory has 1 items, had 2"),
        "{keys:?}"
    );
    assert_eq!(of("position").1, RestoreResult::Exact);

    let (session, whole) = scene.ran("opaque").await;
    let run = scene
        .fork(&session, &whole.made, 2, None, Vec::new())
        .await
        .unwrap();
    let keys = judged(whole.made[2].checkpoint.as_ref(), &run.keys());
    let opaque = keys
        .iter()
        .find(|(key, ..)| key.contains("Checker"))
        .unwrap();
    assert_eq!(opaque.1, RestoreResult::Untested);
}

#[tokio::test]
async fn another_configuration_is_left_to_gate_five_and_a_damaged_checkpoint_is_refused() {
    let Some(scene) = Scene::new() else { return };
    let (session, mut whole) = scene.ran("pin").await;
    std::fs::write(scene.file(), "").unwrap();
    let run = scene
        .fork(&session, &whole.made, 1, None, Vec::new())
        .await
        .unwrap();
    let parts = session.config.as_ref().unwrap().differences(&run.config());
    let parts: Vec<&str> = parts.iter().map(|it| it.part.as_str()).collect();
    assert_eq!(parts, ["adapter pin", "max_turns"]);

    let keys = &mut whole.made[1].checkpoint.as_mut().unwrap().keys;
    let position = keys.get_mut("position").unwrap().value.as_mut().unwrap();
    position["step"] = 3.into();
    let refused = scene
        .fork(&session, &whole.made, 1, None, Vec::new())
        .await
        .err()
        .unwrap();
    assert!(
        matches!(
            refused,
            RuntimeError::Adapter(AdapterError::Incompatible { .. })
        ),
        "{refused}"
    );
    // A step that was said inside a handler has no checkpoint.
    whole.made[2].checkpoint = None;
    let refused = scene
        .fork(&session, &whole.made, 2, None, Vec::new())
        .await
        .err()
        .unwrap();
    assert!(
        refused.to_string().contains("no checkpoint before step 2"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_call_outside_waits_for_a_decision_and_is_answered_from_the_record_in_a_fork() {
    let Some(scene) = Scene::new() else { return };
    let letters = || {
        std::fs::read_to_string(scene.file())
            .unwrap_or_default()
            .lines()
            .count()
    };
    let (session, whole) = scene.ran("mail").await;
    assert!(
        !session
            .runtime
            .as_ref()
            .unwrap()
            .adapter
            .as_ref()
            .unwrap()
            .local
    );
    assert_eq!((whole.asked.len(), letters()), (1, 1));
    let kinds: Vec<StepKind> = whole.made.iter().map(|made| made.step.kind).collect();
    use StepKind::{Answer, Message, Plan, Task, ToolCall, ToolResult};
    assert_eq!(kinds, [Task, Plan, ToolCall, ToolResult, Message, Answer]);
    let effects: Vec<&Effect> = whole.made.iter().flat_map(|made| &made.effects).collect();
    assert_eq!(effects.len(), 1);
    // A fork at the plan comes before it, one at the solver's message after it.
    assert_eq!((effects[0].step, effects[0].tool.as_str()), (2, "mail"));
    assert_eq!(effects[0].result.as_deref(), Some("sent"));

    let run = scene
        .fork(&session, &whole.made, 1, None, Vec::new())
        .await
        .unwrap();
    let refused = seen(run, Decision::Refuse).await;
    assert_eq!((refused.asked.len(), letters()), (1, 1));
    assert_eq!(refused.made[2].step.text, "not sent");

    let kept = vec![effects[0].clone()];
    let run = scene
        .fork(&session, &whole.made, 1, None, kept)
        .await
        .unwrap();
    let from_record = seen(run, Decision::Refuse).await;
    assert_eq!((from_record.asked.len(), letters()), (0, 1));
    assert_eq!(from_record.made[2].step.text, "sent");
    assert!(from_record.made.iter().all(|made| made.effects.is_empty()));
    assert_eq!(from_record.answer(), Some("7"));
}

/// How a bad adapter is told.
type Told = fn(&AdapterError) -> bool;

#[tokio::test]
async fn each_kind_of_bad_adapter_is_told_apart_and_every_whole_step_is_kept() {
    let Some(scene) = Scene::new() else { return };
    let table: [(&str, usize, Told, &str); 10] = [
        (
            "junk",
            2,
            |it| matches!(it, AdapterError::Junk { .. }),
            "Loading model weights",
        ),
        (
            "huge",
            2,
            |it| matches!(it, AdapterError::Huge { .. }),
            "65536 bytes",
        ),
        (
            "die",
            2,
            |it| matches!(it, AdapterError::Exited { .. }),
            "exited with status 3 (its last words: Segmentation fault",
        ),
        (
            "die-in-checkpoint",
            2,
            |it| matches!(it, AdapterError::Exited { .. }),
            "`checkpoint` after 2 messages delivered",
        ),
        (
            "raise",
            3,
            |it| matches!(it, AdapterError::Framework { .. }),
            "ValueError: the checker has no model (",
        ),
        (
            "exits",
            0,
            |it| matches!(it, AdapterError::Exited { .. }),
            "no licence",
        ),
        (
            "entry",
            0,
            |it| matches!(it, AdapterError::Entry { .. }),
            "No module named 'team'",
        ),
        (
            "old",
            0,
            |it| matches!(it, AdapterError::Version { .. }),
            "speaks protocol 0, this dover speaks 1",
        ),
        ("new-event", 4, |_| false, ""),
        ("good", 4, |_| false, ""),
    ];
    for (mode, steps, told, part) in table {
        let (seen, error) = match scene.begin(mode).await {
            Ok((_, run)) => (seen(run, Decision::Allow).await, None),
            Err(error) => (Seen::default(), Some(error)),
        };
        assert_eq!(seen.made.len(), steps, "{mode}");
        if part.is_empty() {
            assert_eq!(seen.answer(), Some("7"), "{mode}");
            continue;
        }
        let error = error.as_ref().unwrap_or_else(|| seen.error());
        let RuntimeError::Adapter(kind) = error else {
            panic!("{mode}: {error}");
        };
        let sentence = error.to_string();
        assert!(told(kind), "{mode}: {kind:?}");
        assert!(
            sentence.contains(part) && !sentence.contains('\n'),
            "{mode}: {sentence}"
        );
    }
}

#[tokio::test]
async fn silence_is_told_and_ended() {
    let Some(scene) = Scene::new() else { return };
    let scene = scene.hurried();
    let (_, seen) = scene.ran("silent").await;
    assert_eq!(seen.made.len(), 2);
    let RuntimeError::Adapter(AdapterError::Silent { limit, .. }) = seen.error() else {
        panic!("{}", seen.error());
    };
    assert_eq!(*limit, Duration::from_millis(400));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told() {
    let Some(scene) = Scene::new() else { return };
    let adapter = AdapterRef {
        command: vec!["/nowhere/python".to_owned()],
        ..scene.adapter("good")
    };
    let error = scene
        .runtime
        .begin(&adapter, &Start::default())
        .await
        .err()
        .unwrap();
    assert!(
        matches!(error, RuntimeError::Adapter(AdapterError::Start { .. })),
        "{error}"
    );
}

#[tokio::test]
async fn what_an_adapter_prints_is_its_runs_log() {
    let Some(scene) = Scene::new() else { return };
    let (_, seen) = scene.ran("raise").await;
    let RuntimeError::Adapter(AdapterError::Framework { at, traceback, .. }) = seen.error() else {
        panic!("{}", seen.error());
    };
    let log = std::fs::read_to_string(at.log.as_ref().unwrap()).unwrap();
    assert!(log.contains(traceback.trim()), "{log}");
    assert!(
        seen.error()
            .to_string()
            .contains(at.log.as_ref().unwrap().to_str().unwrap())
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_process_outlives_a_run_that_is_dropped() {
    let Some(scene) = Scene::new() else { return };
    let (_, mut run) = scene.begin("child").await.unwrap();
    let mut steps = 0;
    while steps < 2 {
        steps += usize::from(matches!(run.next().await.unwrap(), Event::Step(_)));
    }
    // In the middle of a call that will never be answered, as when the operator stops it.
    assert!(
        tokio::time::timeout(Duration::from_millis(50), run.next())
            .await
            .is_err()
    );
    let pids = std::fs::read_to_string(scene.file()).unwrap();
    let alive = |pid: &str| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        status.is_ok_and(|text| !text.contains(") Z "))
    };
    let pids: Vec<&str> = pids.split(' ').collect();
    assert!(pids.iter().all(|pid| alive(pid)), "the test proves nothing");
    drop(run);
    // The kill is sent; the system needs a moment to carry it out.
    let gone = async {
        while pids.iter().any(|pid| alive(pid)) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone)
        .await
        .expect("a process is left behind");
}
