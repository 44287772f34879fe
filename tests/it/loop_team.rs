//! The whole loop on a log that only a model endpoint can play on: in parallel, stopped and taken up, with and without the edit.

use std::sync::Arc;
use std::time::Duration;

use dover::analyst::offline::Offline;
use dover::endpoint::EndpointSettings;
use dover::model::{
    AgentInfo, BranchId, DebugReport, DebugSettings, RunStatus, Session, Step, StepKind,
};
use dover::pipeline::{
    self, Bench, Control, DebugEvent, DebugRequest, ForkRequest, Jobs, ModelSettings, NewEffects,
    Progress,
};
use dover::store::Store;

use crate::store::{fresh, take_in};
use crate::support::model_server::ModelServer;

/// Three trials of a leader and two workers.
fn log(store: &Store) -> BranchId {
    use StepKind::{Instruction, Message, Plan, Task};
    let mut lines = vec![(
        "human",
        Task,
        None,
        "Which vessel did the northern lighthouse report in March?".to_owned(),
    )];
    for (worker, thing) in [
        ("Archivist", "boxes"),
        ("Reader", "diaries"),
        ("Archivist", "letters"),
    ] {
        lines.push((
            "Lead",
            Plan,
            None,
            format!("1. {worker}: look through the {thing}."),
        ));
        lines.push((
            "Lead",
            Instruction,
            Some(worker),
            format!("Look through the {thing}."),
        ));
        lines.push((
            worker,
            Message,
            None,
            format!("I found nothing in the {thing}."),
        ));
    }
    let steps: Vec<Step> = lines
        .into_iter()
        .enumerate()
        .map(|(index, (agent, kind, to, text))| Step {
            index,
            agent: agent.into(),
            kind,
            to: to.map(str::to_owned),
            text,
            ..Step::default()
        })
        .collect();
    let agent = |name: &str| AgentInfo {
        name: name.into(),
        ..AgentInfo::default()
    };
    let session = Session {
        id: "light".into(),
        task: steps[0].text.clone(),
        orchestrator: Some("Lead".into()),
        agents: ["Lead", "Archivist", "Reader"].map(agent).to_vec(),
        expected: Some("Albatross".into()),
        verifier: Some(dover::model::Verifier::Answer),
        ..Session::default()
    };
    take_in(store, session, &steps)
}

fn models(server: &ModelServer) -> ModelSettings {
    ModelSettings {
        endpoint: EndpointSettings {
            base_url: Some(server.base_url()),
            model: Some("m".into()),
            ..EndpointSettings::default()
        },
        ..ModelSettings::default()
    }
}

fn request(store: &Store, main: &BranchId, resume: bool) -> DebugRequest {
    let fresh = DebugSettings {
        branch: main.clone(),
        trials: None,
        runs: Some(3),
        rounds: 1,
        seed: 5,
        analyst: "offline".into(),
        runtime: None,
        since: 0,
    };
    let kept = store.debugging(main.session()).unwrap();
    DebugRequest {
        settings: kept.filter(|_| resume).unwrap_or(fresh),
        resume,
        operator: "ann".into(),
        diagnostic: false,
        new_effects: NewEffects::Hold,
        propose: false,
    }
}

/// Runs a loop, stopped as soon as so many steps were made.
async fn debug(
    store: &Store,
    server: &ModelServer,
    request: DebugRequest,
    stop: Option<usize>,
) -> DebugReport {
    let (models, jobs, control) = (models(server), Jobs::new(9), Control::new());
    let (events, mut told) = tokio::sync::mpsc::unbounded_channel();
    let bench = Bench {
        store,
        analyst: Arc::new(Offline),
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
}

fn calls(report: &DebugReport) -> u64 {
    report
        .runs()
        .filter_map(|run| run.usage)
        .map(|usage| usage.calls)
        .sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn three_interventions_of_three_runs_go_at_the_same_time() {
    let server = ModelServer::thinking(0, Duration::from_millis(100))
        .await
        .unwrap();
    let (_folder, store) = fresh();
    let main = log(&store);
    let report = debug(&store, &server, request(&store, &main, false), None).await;
    assert_eq!(report.trials.len(), 3);
    assert!(
        report
            .trials
            .iter()
            .all(|trial| trial.tested[0].runs.len() == 3)
    );
    assert!(report.runs().all(|run| run.run == RunStatus::Done));
    assert_eq!(server.most_at_once(), 9);
    assert_eq!(calls(&report), server.seen().len() as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_stopped_is_taken_up_and_no_call_is_made_or_counted_twice() {
    let server = ModelServer::start(0).await.unwrap();
    let (_folder, store) = fresh();
    let main = log(&store);
    let whole = debug(&store, &server, request(&store, &main, false), None).await;
    let needed = calls(&whole);
    for stop in [4, 12, 20] {
        // It thinks a while, so that the stop finds runs on their way.
        let server = ModelServer::thinking(0, Duration::from_millis(20))
            .await
            .unwrap();
        let (_folder, store) = fresh();
        let main = log(&store);
        let report = debug(&store, &server, request(&store, &main, false), Some(stop)).await;
        assert!(
            report.runs().any(|run| run.run == RunStatus::Stopped),
            "stopped after {stop}"
        );
        let made = calls(&report);
        let before = server.seen().len();
        let report = debug(&store, &server, request(&store, &main, true), None).await;
        assert!(report.runs().all(|run| run.run == RunStatus::Done));
        assert_eq!(calls(&report), needed, "stopped after {stop}");
        // Only what was missing was asked for.
        assert_eq!((server.seen().len() - before) as u64, needed - made);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_edit_removed_the_old_outcome_returns() {
    let server = ModelServer::start(0).await.unwrap();
    let (_folder, store) = fresh();
    let main = log(&store);
    let answers = async |text: Option<&str>| {
        let request = ForkRequest {
            text: text.map(str::to_owned),
            runs: Some(2),
            ..ForkRequest::at(main.clone(), 2, "ann")
        };
        let plan = pipeline::plan(&store, request, &models(&server)).unwrap();
        let (progress, _told) = tokio::sync::mpsc::unbounded_channel();
        let outcome = pipeline::fork(&store, plan, &Jobs::new(2), Control::new(), progress)
            .await
            .unwrap();
        let answers: Vec<_> = outcome
            .branches
            .iter()
            .map(|branch| branch.answer.clone())
            .collect();
        assert!(answers[0].is_some() && answers.windows(2).all(|pair| pair[0] == pair[1]));
        answers[0].clone()
    };
    let before = answers(None).await;
    let edited = answers(Some("Look into the harbourmaster's correspondence.")).await;
    assert_ne!(edited, before);
    assert_eq!(answers(None).await, before);
}
