//! The team runtime against a model server: what it sends, what it makes of the answers, and how it fails.

use std::sync::Arc;
use std::time::Duration;

use dover::endpoint::EndpointSettings;
use dover::model::{AgentInfo, Session, Step, StepKind};
use dover::runtime::team::{Team, TeamSettings};
use dover::runtime::{Decision, Event, Finish, Restore, Run, Runtime, RuntimeError};

use crate::support::model_server::ModelServer;

mod ledgers;
mod told;
mod tools;

const KEY: &str = "sk-marker-5f1c";
const EDIT: &str = "Read the lighthouse keeper's diary of March 1911 and name the vessel.";

fn agent(name: &str) -> AgentInfo {
    AgentInfo {
        name: name.to_owned(),
        ..AgentInfo::default()
    }
}

/// A run of the hand-crafted shape: plan, ledger, instruction, report.
fn log() -> (Session, Vec<Step>) {
    use StepKind::{Instruction, Ledger, Message, Plan, Task, Thought};
    let rows: [(&str, StepKind, Option<&str>, &str); 8] = [
        (
            "human",
            Task,
            None,
            "Which ship did the keeper of the northern light see in March 1911?\n",
        ),
        (
            "Orchestrator",
            Plan,
            None,
            "Initial plan:\n\n- ask the archive\n- read the diary",
        ),
        (
            "Orchestrator",
            Ledger,
            None,
            "Updated Ledger:\n{\"is_request_satisfied\": {\"answer\": false}}",
        ),
        (
            "Orchestrator",
            Instruction,
            Some("Archivist"),
            "Look for the diary.",
        ),
        ("Orchestrator", Thought, None, "Next speaker Archivist"),
        (
            "Archivist",
            Message,
            None,
            "I found two boxes: \"light\" and \"ships\".",
        ),
        (
            "Orchestrator",
            Instruction,
            Some("Reader"),
            "Read something.",
        ),
        ("Reader", Message, None, "I read something."),
    ];
    let steps = rows
        .iter()
        .enumerate()
        .map(|(index, (agent, kind, to, text))| Step {
            index,
            agent: (*agent).to_owned(),
            kind: *kind,
            to: to.map(str::to_owned),
            text: (*text).to_owned(),
            ..Step::default()
        });
    let mut reader = agent("Reader");
    reader.system_prompt = Some("You read old handwriting.".to_owned());
    let session = Session {
        id: "light".to_owned(),
        agents: vec![
            agent("human"),
            agent("Orchestrator"),
            agent("Archivist"),
            reader,
        ],
        orchestrator: Some("Orchestrator".to_owned()),
        ..Session::default()
    };
    (session, steps.collect())
}

/// A dialogue of two without an orchestrator.
fn dialogue() -> (Session, Vec<Step>) {
    let step = |index, agent: &str, kind, text: &str| Step {
        index,
        agent: agent.to_owned(),
        kind,
        text: text.to_owned(),
        ..Step::default()
    };
    let steps = vec![
        step(
            0,
            "Proxy",
            StepKind::Task,
            "Seven crates hold twelve lamps each. How many lamps?",
        ),
        step(1, "Solver", StepKind::Message, "Let me set it up: 7 + 12."),
        step(2, "Proxy", StepKind::Message, "Go on until it is solved."),
        step(3, "Solver", StepKind::Message, "Nineteen."),
    ];
    let session = Session {
        agents: vec![agent("Proxy"), agent("Solver")],
        ..Session::default()
    };
    (session, steps)
}

fn settings(base_url: &str, model: &str) -> TeamSettings {
    TeamSettings {
        endpoint: EndpointSettings {
            base_url: Some(base_url.to_owned()),
            api_key: Some(KEY.to_owned()),
            model: Some(model.to_owned()),
            ..EndpointSettings::default()
        },
        ..TeamSettings::default()
    }
}

/// A fork at a step, with an edit or without.
fn fork((session, steps): (Session, Vec<Step>), at: usize, edit: Option<&str>) -> Restore {
    let original = steps[at].clone();
    let mut pending = original.clone();
    if let Some(text) = edit {
        text.clone_into(&mut pending.text);
    }
    Restore {
        session: Arc::new(session),
        prefix: Arc::new(steps[..at].to_vec()),
        checkpoint: None,
        pending: Some(pending),
        original: Some(original),
        kept: Vec::new(),
        workspace: None,
        seed: 1,
        max_steps: 200,
        made: Arc::default(),
    }
}

/// What came out of a run.
struct Played {
    /// What every question is answered with.
    decision: Decision,
    /// The tools that were asked about.
    asked: Vec<String>,
    steps: Vec<Step>,
    /// The deltas before each step.
    streamed: Vec<String>,
    finish: Option<Finish>,
    error: Option<RuntimeError>,
}

impl Default for Played {
    fn default() -> Self {
        Self {
            decision: Decision::Allow,
            asked: Vec::new(),
            steps: Vec::new(),
            streamed: Vec::new(),
            finish: None,
            error: None,
        }
    }
}

async fn play(run: &mut Box<dyn Run>) -> Played {
    play_deciding(run, Decision::Allow).await
}

async fn play_deciding(run: &mut Box<dyn Run>, decision: Decision) -> Played {
    let mut played = Played {
        decision,
        ..Played::default()
    };
    let mut streamed = String::new();
    loop {
        match run.next().await {
            Ok(Event::Delta { text, .. }) => streamed.push_str(&text),
            Ok(Event::Question { .. } | Event::Pending(_)) => {}
            Ok(Event::Ask(effect)) => {
                played.asked.push(effect.tool.clone());
                run.decide(played.decision);
            }
            Ok(Event::Step(made)) => {
                played.steps.push(made.step);
                played.streamed.push(std::mem::take(&mut streamed));
            }
            Ok(Event::Finished(finish)) => {
                played.finish = Some(finish);
                return played;
            }
            Err(error) => {
                played.error = Some(error);
                return played;
            }
        }
    }
}

async fn play_on(settings: TeamSettings, restore: Restore) -> Played {
    let mut run = Team::new(settings).restore(restore).await.unwrap();
    play(&mut run).await
}

/// The server and the run on a model of it, forked at the vague instruction.
async fn played(model: &str) -> (ModelServer, Played) {
    let server = ModelServer::start(0).await.unwrap();
    let played = play_on(
        settings(&server.base_url(), model),
        fork(log(), 6, Some(EDIT)),
    )
    .await;
    (server, played)
}

#[tokio::test]
async fn the_prefix_is_sent_as_it_was_and_the_edit_stands_at_its_step() {
    let (server, played) = played("good").await;
    let first = server.seen().remove(0);
    assert_eq!(
        first.authorization.as_deref(),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert_eq!(first.body["model"], "good");
    assert_eq!(first.body["stream"], true);
    // The reader is asked: nothing of the prefix is its own.
    let (_, steps) = log();
    let mut expected: Vec<String> = steps[..6]
        .iter()
        .map(|step| match &step.to {
            Some(to) => format!("{} -> {to}: {}", step.agent, step.text),
            None => format!("{}: {}", step.agent, step.text),
        })
        .collect();
    expected.push(format!("Orchestrator -> Reader: {EDIT}"));
    assert_eq!(first.contents("user"), expected);
    let system = first.contents("system").remove(0);
    assert!(
        system.starts_with("You read old handwriting.\n"),
        "{system}"
    );
    assert!(system.contains("No tools"), "{system}");
    // Then the orchestrator: its own steps are its own words, and it is told how to answer.
    let second = server.seen().remove(1);
    let own: Vec<&str> = [1, 2, 3, 4].map(|at| steps[at].text.as_str()).into();
    assert_eq!(second.contents("assistant")[..4], own);
    assert_eq!(second.contents("assistant")[4], EDIT);
    let cue = second.contents("user").pop().unwrap();
    assert!(
        cue.contains("NEXT: AGENT") && cue.contains("Archivist, Reader"),
        "{cue}"
    );
    assert_eq!(played.steps[0].text, EDIT);
}

#[tokio::test]
async fn steps_come_whole_in_order_with_their_kinds() {
    use StepKind::{Answer, Instruction, Message};
    let (_server, played) = played("good").await;
    let (_, log) = log();
    let indices: Vec<usize> = played.steps.iter().map(|step| step.index).collect();
    assert_eq!(indices, (6..6 + played.steps.len()).collect::<Vec<_>>());
    let kinds: Vec<StepKind> = played.steps.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [Instruction, Message, Instruction, Message, Answer]);
    assert_eq!(
        (&played.steps[0].agent, &played.steps[0].to),
        (&log[6].agent, &log[6].to)
    );
    assert_eq!(played.steps[1].agent, "Reader");
    assert_eq!(played.steps[3].agent, played.steps[2].to.clone().unwrap());
    assert!(
        !played.steps[2].text.contains("NEXT:"),
        "{}",
        played.steps[2].text
    );
    // The pending step does not stream; every other one is the sum of its pieces.
    assert_eq!(played.streamed[0], "");
    for (step, streamed) in played.steps.iter().zip(&played.streamed).skip(1) {
        assert_eq!(&step.text, streamed);
    }
    let finish = played.finish.unwrap();
    let stated = format!("FINAL ANSWER: {}", finish.answer.clone().unwrap());
    assert_eq!(played.steps.last().unwrap().text, stated);
    assert_eq!(
        (finish.fulfilled, finish.reason.as_str()),
        (None, "answered")
    );
}

#[tokio::test]
async fn different_edits_take_different_ways() {
    let server = ModelServer::start(0).await.unwrap();
    let mut ways = Vec::new();
    for edit in [
        None,
        Some(EDIT),
        Some("Describe the wallpaper of the counting-house."),
    ] {
        let played = play_on(settings(&server.base_url(), "good"), fork(log(), 6, edit)).await;
        let texts: Vec<String> = played.steps.into_iter().map(|step| step.text).collect();
        ways.push((texts, played.finish.unwrap().answer));
    }
    assert_ne!(ways[0], ways[1]);
    // The server makes its answer of the longest word that it was told.
    let answers: Vec<_> = ways.iter().map(|(_, answer)| answer.as_deref()).collect();
    assert_eq!(
        answers,
        [Some("something"), Some("lighthouse"), Some("wallpaper")]
    );
}

#[tokio::test]
async fn an_edited_plan_goes_back_to_the_orchestrator() {
    let server = ModelServer::start(0).await.unwrap();
    let played = play_on(
        settings(&server.base_url(), "good"),
        fork(log(), 1, Some("Read the diary.")),
    )
    .await;
    assert_eq!(played.steps[0].kind, StepKind::Plan);
    assert_eq!(played.steps[1].kind, StepKind::Instruction);
    assert_eq!(played.steps[1].agent, "Orchestrator");
}

#[tokio::test]
async fn a_dialogue_alternates_until_somebody_answers() {
    let server = ModelServer::start(0).await.unwrap();
    let edit = "Let me set it up: 7 times 12.";
    let played = play_on(
        settings(&server.base_url(), "good"),
        fork(dialogue(), 1, Some(edit)),
    )
    .await;
    let agents: Vec<&str> = played
        .steps
        .iter()
        .map(|step| step.agent.as_str())
        .collect();
    // Two reports, and the third states the answer.
    assert_eq!(agents, ["Solver", "Proxy", "Solver", "Proxy"]);
    assert_eq!(played.steps[3].kind, StepKind::Answer);
    assert!(played.finish.unwrap().answer.is_some());
}

#[tokio::test]
async fn an_edit_that_states_the_answer_ends_the_run() {
    let edit = "It is \\boxed{84}.";
    let played = play_on(
        settings("http://127.0.0.1:9/v1", "good"),
        fork(dialogue(), 3, Some(edit)),
    )
    .await;
    assert_eq!(played.steps.len(), 1);
    assert_eq!(played.finish.unwrap().answer.as_deref(), Some("84"));
}

#[tokio::test]
async fn the_limit_is_kept_and_the_last_turn_is_told() {
    let server = ModelServer::start(0).await.unwrap();
    let mut restore = fork(log(), 6, Some(EDIT));
    restore.max_steps = 3;
    let played = play_on(settings(&server.base_url(), "good"), restore).await;
    assert_eq!(played.steps.len(), 3);
    assert_eq!(played.steps[2].kind, StepKind::Answer);
    let mut restore = fork(log(), 6, Some(EDIT));
    restore.max_steps = 2;
    let played = play_on(settings(&server.base_url(), "good"), restore).await;
    assert_eq!(played.steps.len(), 2);
    assert_eq!(played.finish.unwrap().reason, "2 steps reached");
}

#[tokio::test]
async fn what_is_too_long_is_left_out_and_noted() {
    let server = ModelServer::start(0).await.unwrap();
    let mut settings = settings(&server.base_url(), "good");
    settings.max_chars = 200;
    let played = play_on(settings, fork(log(), 6, Some(EDIT))).await;
    let note = &played.steps[1];
    assert_eq!(
        (note.kind, note.agent.as_str()),
        (StepKind::Control, "dover")
    );
    assert!(note.text.contains("steps 1 to"), "{}", note.text);
    let sent = server.seen().remove(0).contents("user");
    assert!(sent[0].ends_with(&log().1[0].text), "the task stays");
    assert!(sent[1].starts_with('['), "{sent:?}");
    assert!(sent.last().unwrap().ends_with(EDIT));
    assert!(!sent.iter().any(|text| text.contains("Initial plan")));
}

#[tokio::test]
async fn manners_of_servers_that_are_taken_as_they_come() {
    let (_server, good) = played("good").await;
    for model in [
        "odd",
        "no-stream",
        "no-finish",
        "empty-then-ok",
        "error-429-then-ok",
    ] {
        let (_server, played) = played(model).await;
        assert_eq!(played.finish, good.finish, "{model}");
        assert_eq!(played.steps, good.steps, "{model}");
    }
}

#[tokio::test]
async fn an_answer_cut_by_the_token_limit_is_noted() {
    let (_server, played) = played("length").await;
    assert_eq!(played.steps[2].kind, StepKind::Control);
    assert!(played.steps[2].text.contains("token limit"));
}

#[tokio::test]
async fn an_unclear_orchestrator_is_asked_again_and_then_given_up() {
    let (server, played) = played("unclear-after-1").await;
    // The reader's report, then three times nothing that can be followed.
    assert_eq!(played.steps.len(), 5);
    let finish = played.finish.unwrap();
    assert!(finish.answer.is_none());
    assert!(finish.reason.contains("3 times"), "{}", finish.reason);
    let last = server.seen().pop().unwrap().contents("user").pop().unwrap();
    assert!(last.starts_with("Your last reply"), "{last}");
}

#[tokio::test]
async fn faults_are_told_with_what_to_do_and_every_whole_step_stays() {
    let cases = [
        (
            "error-401-after-1",
            "401 Unauthorized: refused on demand with Bearer [key]",
            "OPENAI_API_KEY",
        ),
        ("error-403-after-1", "403", "OPENAI_API_KEY"),
        ("error-404-after-1", "404", "OPENAI_MODEL"),
        ("error-404-html-after-1", "404", "OPENAI_BASE_URL"),
        ("error-429-after-1", "429", "120 s"),
        ("error-400-after-1", "refused on demand", "chat completions"),
        ("rubbish-after-1", "It works!", "OPENAI_BASE_URL"),
        ("rubbish-stream-after-1", "no JSON", "OPENAI_BASE_URL"),
        ("said-after-1", "overloaded on demand", "fork again"),
        ("cut-after-1", "broke off", "not kept"),
        ("reset-after-1", "broke off", "not kept"),
        ("empty-after-1", "twice", "another model"),
    ];
    for (model, what, mend) in cases {
        let (_server, played) = played(model).await;
        let error = played
            .error
            .unwrap_or_else(|| panic!("{model} should fail"));
        assert!(
            matches!(error, RuntimeError::Endpoint { .. }),
            "{model}: {error:?}"
        );
        let told = error.to_string();
        assert!(
            told.contains(what) && told.contains(mend),
            "{model}: {told}"
        );
        assert!(!told.contains(KEY) && !format!("{error:?}").contains(KEY));
        // The pending step and the one answer before the fault, whole; nothing of the broken one.
        assert_eq!(played.steps.len(), 2, "{model}");
        assert!(played.steps[1].text.contains("got"), "{model}");
    }
}

#[tokio::test]
async fn a_server_in_trouble_is_asked_a_bounded_number_of_times() {
    let server = ModelServer::start(0).await.unwrap();
    let mut settings = settings(&server.base_url(), "error-503-html");
    settings.endpoint.patience = Duration::from_millis(600);
    let played = play_on(settings, fork(log(), 6, None)).await;
    assert!(played.error.unwrap().to_string().contains("503"));
    // Half a second fits into the patience, the next wait of a second does not.
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn silence_is_not_waited_for_without_end() {
    let server = ModelServer::start(0).await.unwrap();
    let mut settings = settings(&server.base_url(), "stall");
    settings.endpoint.idle = Duration::from_millis(300);
    let played = play_on(settings, fork(log(), 6, None)).await;
    let told = played.error.unwrap().to_string();
    assert!(told.contains("silent for 0.3 s"), "{told}");
    assert_eq!(played.steps.len(), 1);
}

#[tokio::test]
async fn nobody_at_the_address() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("http://user:{KEY}@{address}/v1");
    let played = play_on(settings(&url, "good"), fork(log(), 6, None)).await;
    let error = played.error.unwrap();
    let told = error.to_string();
    assert!(
        told.contains("no connection") && told.contains("OPENAI_BASE_URL"),
        "{told}"
    );
    assert!(!format!("{told} {error:?}").contains(KEY));
    assert_eq!(played.steps.len(), 1);
}

#[tokio::test]
async fn dropping_the_run_closes_its_connection() {
    let server = ModelServer::start(0).await.unwrap();
    let team = Team::new(settings(&server.base_url(), "stall"));
    let mut run = team.restore(fork(log(), 6, None)).await.unwrap();
    assert!(matches!(run.next().await, Ok(Event::Step(_))));
    assert!(matches!(run.next().await, Ok(Event::Delta { .. })));
    drop(run);
    tokio::time::timeout(Duration::from_secs(10), server.left())
        .await
        .expect("the server sees the client leave");
}

#[tokio::test]
async fn a_dropped_question_can_be_asked_again() {
    let server = ModelServer::start(0).await.unwrap();
    let team = Team::new(settings(&server.base_url(), "good"));
    let mut run = team.restore(fork(log(), 6, Some(EDIT))).await.unwrap();
    // Polled once and dropped: the pending step is ready, the first answer is not.
    assert!(matches!(
        futures::FutureExt::now_or_never(run.next()),
        Some(Ok(Event::Step(_)))
    ));
    assert!(futures::FutureExt::now_or_never(run.next()).is_none());
    let rest = play(&mut run).await;
    let (_server, whole) = played("good").await;
    assert_eq!(rest.steps[..], whole.steps[1..]);
}
