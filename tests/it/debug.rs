//! The whole loop over a session: what it tries, what it learns, how it stops and goes on. The analyst here says what a test tells it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use dover::analyst::{Analyst, AnalystError, Case, Intervention};
use dover::model::{
    BranchId, DebugReport, DebugSettings, Hypothesis, Proposal, RunStatus, Step, StepKind,
    SystemClock, Trial, Tried, Verdict, trial_of,
};
use dover::pipeline::{
    self, Bench, Control, DebugEvent, DebugRequest, Jobs, ModelSettings, NewEffects, Progress,
};
use dover::store::Store;
use tempfile::TempDir;

/// Opens the right picture: any reader of the sample would.
const RIGHT: &str =
    "Open https://sorrelpeak.example/2015/08/04.html and read which city is on the horizon.";
/// Does what was done in vain before.
const WRONG: &str = "Scroll down one page.";

/// Says what it was told to say, and remembers what it was shown.
#[derive(Default)]
struct Scripted {
    /// Per trial the edits of its rounds: the step and the text; none is "no edit can be made".
    edits: BTreeMap<usize, Vec<Edit>>,
    seen: Mutex<Vec<(Case, Vec<Tried>)>>,
}

#[async_trait]
impl Analyst for Scripted {
    fn name(&self) -> String {
        "scripted".to_owned()
    }

    async fn attribute(
        &self,
        case: &Case,
        trial: &Trial,
        tried: &[Tried],
    ) -> Result<Vec<Hypothesis>, AnalystError> {
        self.seen
            .lock()
            .unwrap()
            .push((case.clone(), tried.to_vec()));
        let Some(edit) = self
            .edits
            .get(&trial.index)
            .and_then(|edits| edits.get(tried.len()))
        else {
            return Ok(Vec::new());
        };
        let step = edit.map_or(trial.start, |(step, _)| step);
        Ok(vec![Hypothesis {
            trial: *trial,
            step,
            agent: "WebSurfer".to_owned(),
            reason: "told so".to_owned(),
            evidence: Vec::new(),
            weight: 1.0,
            capability: None,
        }])
    }

    async fn intervene(
        &self,
        case: &Case,
        hypothesis: &Hypothesis,
        tried: &[Tried],
    ) -> Result<Intervention, AnalystError> {
        let edits = &self.edits[&hypothesis.trial.index];
        Ok(match edits[tried.len()] {
            Some((step, text)) => Intervention::Edit(Proposal {
                target: dover::model::Target {
                    step,
                    category: dover::model::Category::of_kind(case.steps[step].kind),
                },
                text: text.to_owned(),
            }),
            None => Intervention::Nothing("nothing was told to the agent".to_owned()),
        })
    }

    async fn judge_fulfilment(
        &self,
        _: &Step,
        _: &Step,
        _: &[Step],
    ) -> Result<Option<bool>, AnalystError> {
        Ok(None)
    }
}

struct Desk {
    _folder: TempDir,
    store: Store,
    main: BranchId,
    instructions: Vec<usize>,
    trials: Vec<Trial>,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("store.db"), Arc::new(SystemClock)).unwrap();
        let (id, _) = pipeline::take_in(&store, "night-picture", &mut |_, _| true).unwrap();
        let main = BranchId::main(&id);
        let heads = store.heads(&main, 0..1000).unwrap();
        let told = heads
            .iter()
            .filter(|head| head.kind == StepKind::Instruction);
        Self {
            instructions: told.map(|head| head.index).collect(),
            trials: store.trials(&main).unwrap(),
            main,
            store,
            _folder: folder,
        }
    }

    /// The first instruction of the nth trial.
    fn told(&self, trial: usize) -> usize {
        let of = |step: &&usize| trial_of(&self.trials, **step).unwrap().index == trial;
        *self.instructions.iter().find(of).unwrap()
    }

    fn request(&self, trials: &[usize]) -> DebugRequest {
        DebugRequest {
            settings: DebugSettings {
                branch: self.main.clone(),
                trials: Some(trials.to_vec()),
                runs: Some(3),
                rounds: 2,
                seed: 10,
                analyst: "scripted".to_owned(),
                runtime: None,
                since: self.store.hypotheses(self.main.session()).unwrap().len(),
            },
            resume: false,
            operator: "ann".to_owned(),
            diagnostic: false,
            new_effects: NewEffects::Hold,
            propose: false,
        }
    }

    /// Runs a loop; `stop` stops it as soon as so many steps were made.
    fn debug(
        &self,
        analyst: &Arc<Scripted>,
        request: DebugRequest,
        stop: Option<usize>,
    ) -> DebugReport {
        let threads = tokio::runtime::Runtime::new().unwrap();
        threads.block_on(async {
            let control = Control::new();
            let (events, mut told) = tokio::sync::mpsc::unbounded_channel();
            let (models, jobs) = (ModelSettings::default(), Jobs::new(4));
            let bench = Bench {
                store: &self.store,
                analyst: analyst.clone(),
                models: &models,
                jobs: &jobs,
                control: &control,
                events,
            };
            let work = pipeline::debug(&bench, request);
            tokio::pin!(work);
            let mut steps = 0;
            loop {
                tokio::select! {
                    biased;
                    Some(event) = told.recv() => {
                        steps += usize::from(matches!(&event, DebugEvent::Run(told) if matches!(**told, Progress::Step { .. })));
                        if Some(steps) == stop {
                            control.stop();
                        }
                    }
                    report = &mut work => return report.unwrap(),
                }
            }
        })
    }
}

/// An edit: the step and the text; none is "no edit can be made".
type Edit = Option<(usize, &'static str)>;

fn scripted(edits: &[(usize, &[Edit])]) -> Arc<Scripted> {
    Arc::new(Scripted {
        edits: edits
            .iter()
            .map(|(trial, edits)| (*trial, edits.to_vec()))
            .collect(),
        seen: Mutex::default(),
    })
}

fn verdicts(report: &DebugReport) -> Vec<Vec<Option<Verdict>>> {
    let of =
        |trial: &dover::model::TrialReport| trial.tested.iter().map(|one| one.verdict).collect();
    report.trials.iter().map(of).collect()
}

#[test]
fn a_refuted_hypothesis_comes_back_with_what_was_learnt() {
    let desk = Desk::new();
    let at = desk.told(2);
    let analyst = scripted(&[(2, &[Some((at, WRONG)), Some((at, RIGHT))])]);
    let report = desk.debug(&analyst, desk.request(&[2]), None);
    assert_eq!(
        verdicts(&report),
        [[Some(Verdict::Refuted), Some(Verdict::Validated)]]
    );
    let seen = analyst.seen.lock().unwrap();
    let (_, tried) = &seen[1];
    assert_eq!((seen[0].1.len(), tried.len()), (0, 1));
    assert_eq!(tried[0].proposal.text, WRONG);
    assert!(tried[0].learnt.contains("of 3 runs"), "{}", tried[0].learnt);
    let filed = desk.store.hypotheses("night-picture").unwrap();
    assert_eq!(filed.len(), 2);
    assert_eq!((filed[0].round, filed[1].round), (1, 2));
    assert_eq!(filed[0].note.as_ref(), Some(&tried[0].learnt));
    assert_eq!(filed[1].intervention.as_deref(), Some("night-picture/i2"));
}

#[test]
fn a_validated_hypothesis_is_not_tried_again_and_rounds_end() {
    let desk = Desk::new();
    let at = desk.told(2);
    let analyst = scripted(&[
        (1, &[Some((desk.told(1), WRONG)); 5]),
        (2, &[Some((at, RIGHT)); 5]),
    ]);
    let report = desk.debug(&analyst, desk.request(&[1, 2]), None);
    let (first, second) = (&report.trials[0], &report.trials[1]);
    assert!(first.tested.len() <= 2);
    assert_eq!(second.tested.len(), 1);
    assert_eq!(second.tested[0].verdict, Some(Verdict::Validated));
}

#[test]
fn an_analyst_sees_neither_labels_nor_the_world() {
    let desk = Desk::new();
    let analyst = scripted(&[(2, &[Some((desk.told(2), RIGHT))])]);
    desk.debug(&analyst, desk.request(&[2]), None);
    let seen = analyst.seen.lock().unwrap();
    assert!(!seen.is_empty());
    for (case, _) in &*seen {
        assert!(case.session.runtime.is_none() && case.session.annotations.is_empty());
    }
}

#[test]
fn what_cannot_be_tested_says_why_and_hinders_no_other_trial() {
    let desk = Desk::new();
    let analyst = scripted(&[(1, &[None]), (2, &[Some((desk.told(2), RIGHT))])]);
    let report = desk.debug(&analyst, desk.request(&[1, 2, 3]), None);
    let note = |at: usize| report.trials[at].note.as_deref().unwrap_or_default();
    assert_eq!(note(0), "nothing was told to the agent");
    assert!(report.trials[0].tested[0].runs.is_empty());
    assert_eq!(report.trials[1].tested[0].verdict, Some(Verdict::Validated));
    assert!(
        note(2).contains("no agent speaks in trial 3"),
        "{}",
        note(2)
    );
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let report = || {
        let desk = Desk::new();
        let analyst = scripted(&[
            (1, &[Some((desk.told(1), WRONG)); 2]),
            (
                2,
                &[Some((desk.told(2), WRONG)), Some((desk.told(2), RIGHT))],
            ),
        ]);
        desk.debug(&analyst, desk.request(&[1, 2]), None)
    };
    assert_eq!(report(), report());
}

#[test]
fn a_stopped_loop_goes_on_and_comes_to_the_same() {
    let edits = |desk: &Desk| {
        scripted(&[
            (1, &[Some((desk.told(1), WRONG)); 2]),
            (
                2,
                &[Some((desk.told(2), WRONG)), Some((desk.told(2), RIGHT))],
            ),
        ])
    };
    let whole = Desk::new();
    let expected = verdicts(&whole.debug(&edits(&whole), whole.request(&[1, 2]), None));
    for stop in [1, 7, 30] {
        let desk = Desk::new();
        let analyst = edits(&desk);
        let report = desk.debug(&analyst, desk.request(&[1, 2]), Some(stop));
        let stopped = report
            .runs()
            .filter(|run| run.run == RunStatus::Stopped)
            .count();
        assert!(stopped > 0, "stopped after {stop} steps");
        let notes = || report.trials.iter().filter_map(|trial| trial.note.as_ref());
        assert!(notes().any(|note| note.contains("--resume")));
        let kept = desk.store.debugging("night-picture").unwrap().unwrap();
        let request = DebugRequest {
            settings: kept,
            resume: true,
            ..desk.request(&[])
        };
        let report = desk.debug(&analyst, request, None);
        assert_eq!(verdicts(&report), expected, "stopped after {stop} steps");
        for tested in report.trials.iter().flat_map(|trial| &trial.tested) {
            assert_eq!(tested.runs.len(), 3);
            assert!(tested.runs.iter().all(|run| run.run == RunStatus::Done));
        }
        // What was stopped is still there, with its steps.
        let branches = desk.store.branches("night-picture").unwrap();
        let kept = branches
            .iter()
            .filter(|branch| branch.run == RunStatus::Stopped)
            .count();
        assert_eq!(kept, stopped);
    }
}

#[test]
fn a_trial_that_is_not_there_is_a_clear_sentence() {
    let desk = Desk::new();
    let threads = tokio::runtime::Runtime::new().unwrap();
    let (models, jobs, control) = (ModelSettings::default(), Jobs::new(1), Control::new());
    let (events, _told) = tokio::sync::mpsc::unbounded_channel();
    let bench = Bench {
        store: &desk.store,
        analyst: scripted(&[]),
        models: &models,
        jobs: &jobs,
        control: &control,
        events,
    };
    let error = threads
        .block_on(pipeline::debug(&bench, desk.request(&[9])))
        .unwrap_err();
    assert!(error.to_string().contains("has no trial 9"), "{error}");
}
