//! A live run on the screen's side: what the keys order, and that nothing written is lost.

use super::live::{Live, LivePane, Phase};
use super::press_fixture::{press_one, started};
use super::{App, Job, Msg, View, fixture, update};
use crate::model::{Branch, Effect, EffectClass, EffectState, RunStatus, Step, StepHead, StepKind};
use crate::pipeline::{Goal, Lived, Order, Progress, Standing, Told, Until};
use crate::runtime::{Level, LogLine, QueueEdit, Queued};

fn tell(app: &mut App, told: Told) -> Vec<Job> {
    update(app, Msg::Live(told))
}

fn queued(id: &str, index: usize, agent: &str, kind: StepKind, to: &str, text: &str) -> Queued {
    Queued {
        id: id.into(),
        step: Step {
            index,
            agent: agent.into(),
            kind,
            to: Some(to.into()),
            text: text.into(),
            ..Step::default()
        },
    }
}

/// A team that stands before its third message.
pub(crate) fn standing() -> App {
    let name = "autogen hunt.py:build".to_owned();
    let mut app = started(App::start("ann".into(), None, Some(name)).0);
    tell(&mut app, Told::Team(Box::new(fixture::session())));
    let main = Branch {
        run: RunStatus::Running,
        ..fixture::branch("main")
    };
    let jobs = tell(&mut app, Told::Began(Box::new(main.clone())));
    fixture::answer(&mut app, jobs);
    for step in fixture::steps().iter().take(2) {
        let (branch, head) = (main.id.clone(), StepHead::of(step));
        tell(
            &mut app,
            Told::Progress(Box::new(Progress::Step { branch, head })),
        );
    }
    let logged = [
        (Level::Info, "[llm.request] agent=Orchestrator messages=3"),
        (Level::Warning, "WARNING: the model answers slowly"),
        (Level::Error, "ERROR: one page was not read"),
    ];
    for (level, text) in logged {
        let text = text.to_owned();
        tell(&mut app, Told::Log(LogLine { level, text }));
    }
    tell(
        &mut app,
        Told::Usage(crate::model::Usage {
            calls: 3,
            prompt_tokens: 897,
            completion_tokens: 74,
            ..crate::model::Usage::default()
        }),
    );
    tell(
        &mut app,
        Told::Stands(Standing::Boundary(vec![
            queued(
                "m2",
                2,
                "Orchestrator",
                StepKind::Instruction,
                "WebSurfer",
                "Open the archive of August 2015.",
            ),
            queued(
                "m3",
                3,
                "Orchestrator",
                StepKind::Control,
                "group",
                "asks WebSurfer to speak",
            ),
        ])),
    );
    app
}

/// A team that waits with a call.
pub(crate) fn held(recorded: Option<&str>) -> App {
    let mut app = standing();
    let effect = Effect {
        step: 2,
        agent: "WebSurfer".into(),
        tool: "send_mail".into(),
        class: EffectClass::Permanent,
        operation_key: "M-1".into(),
        args_sha256: crate::model::Digest::ZERO,
        result: None,
        state: EffectState::Pending,
        evidence: None,
    };
    tell(
        &mut app,
        Told::Stands(Standing::Held {
            effect: Box::new(effect),
            arguments: Some(r#"{"to":"announce@example.org","text":"Found it."}"#.into()),
            recorded: recorded.map(str::to_owned),
        }),
    );
    app
}

/// A team that asks a person.
pub(crate) fn asked() -> App {
    let mut app = standing();
    let (agent, prompt) = (
        "WebSurfer".into(),
        "Which of the two pictures do you mean?".into(),
    );
    tell(&mut app, Told::Stands(Standing::Asked { agent, prompt }));
    app
}

fn orders(app: &mut App, keys: &str) -> Vec<Order> {
    let mut orders = Vec::new();
    for sign in keys.chars() {
        for job in press_one(app, sign) {
            if let Job::Live(order) = job {
                orders.push(order);
            }
        }
    }
    orders
}

fn live(app: &App) -> &Live {
    app.live.as_ref().unwrap()
}

#[test]
fn keys_order_how_far_the_run_goes() {
    let table = [
        ("s", Goal::Steps(1)),
        (" ", Goal::End),
        ("S12⏎", Goal::Steps(12)),
        (
            "uagent:websurfer not found⏎",
            Goal::Until(Until {
                agent: Some("WebSurfer".into()),
                kind: None,
                text: Some("not found".into()),
            }),
        ),
    ];
    for (keys, expected) in table {
        let given = orders(&mut standing(), keys);
        assert!(
            matches!(given.as_slice(), [Order::Go(goal)] if *goal == expected),
            "{keys}: {given:?}"
        );
    }
    let mut app = standing();
    assert!(orders(&mut app, "S0⏎").is_empty());
    assert!(orders(&mut app, "uagent:bob⏎").is_empty());
    tell(&mut app, Told::Moves);
    assert!(orders(&mut app, "seiDm").is_empty(), "only at a boundary");
    assert!(matches!(
        orders(&mut app, " ").as_slice(),
        [Order::Go(Goal::Pause)]
    ));
    assert!(matches!(orders(&mut app, "x").as_slice(), [Order::Stop]));
}

#[test]
fn what_waits_is_changed_through_the_editor_and_nothing_written_is_lost() {
    let mut app = standing();
    let given = orders(&mut app, "e Twice.⎋⎋");
    assert!(given.is_empty());
    let given = orders(&mut app, "e␓");
    let [Order::Edit(QueueEdit::Replace { id, text })] = given.as_slice() else {
        panic!("{given:?}");
    };
    assert_eq!(
        (id, text.as_str()),
        (&"m2".into(), "Open the archive of August 2015. Twice.")
    );
    // Refused: it can be sent again as it was.
    tell(&mut app, Told::Refused("it is consumed already".into()));
    let given = orders(&mut app, "e␓");
    assert!(
        matches!(given.as_slice(), [Order::Edit(QueueEdit::Replace { text, .. })] if text.ends_with("Twice."))
    );
    // Taken: the next edit begins with what the message says now.
    tell(&mut app, Told::Did("changed".into()));
    let given = orders(&mut app, "e␓");
    assert!(
        matches!(given.as_slice(), [Order::Edit(QueueEdit::Replace { text, .. })] if text == "Open the archive of August 2015.")
    );

    let given = orders(&mut app, "jD");
    assert!(matches!(given.as_slice(), [Order::Edit(QueueEdit::Drop { id })] if *id == "m3"));
    let given = orders(&mut app, "i⏎Wait.␓");
    let [Order::Edit(QueueEdit::Insert { from, to, text, at })] = given.as_slice() else {
        panic!("{given:?}");
    };
    assert_eq!(
        (from.as_str(), to.as_str(), text.as_str(), *at),
        ("Orchestrator", "group", "Wait.", 1)
    );
    let given = orders(&mut app, "m⌦FileSurfer⏎Hello␓");
    assert!(
        matches!(given.as_slice(), [Order::Edit(QueueEdit::Send { to, text })] if to == "FileSurfer" && text == "Hello")
    );
}

#[test]
fn a_call_is_decided_in_four_ways_and_a_question_is_answered() {
    assert!(matches!(
        orders(&mut held(None), "y").as_slice(),
        [Order::Allow]
    ));
    assert!(matches!(
        orders(&mut held(None), "n").as_slice(),
        [Order::Refuse]
    ));
    assert!(
        orders(&mut held(None), "r").is_empty(),
        "nothing is on record"
    );
    let given = orders(&mut held(Some("sent as M-1")), "r");
    assert!(matches!(given.as_slice(), [Order::Answer(text)] if text == "sent as M-1"));
    let given = orders(&mut held(None), "asent␓");
    assert!(matches!(given.as_slice(), [Order::Answer(text)] if text == "sent"));
    let given = orders(&mut asked(), "a␓the left one␓");
    assert!(matches!(given.as_slice(), [Order::Reply(text)] if text == "the left one"));
    assert!(orders(&mut asked(), "ynrs").is_empty());
}

#[test]
fn the_log_is_narrowed_and_read_while_it_grows() {
    let mut app = standing();
    orders(&mut app, "⇥⇥");
    assert_eq!(live(&app).focus, LivePane::Log);
    orders(&mut app, "l");
    assert_eq!(live(&app).lines().count(), 2);
    orders(&mut app, "l");
    assert_eq!(live(&app).lines().count(), 1);
    orders(&mut app, "lkk");
    assert_eq!((live(&app).lines().count(), live(&app).line), (3, Some(0)));
}

#[test]
fn the_end_leads_to_the_session() {
    let mut app = standing();
    assert!(app.running());
    let branch = Branch {
        run: RunStatus::Done,
        ..fixture::branch("main")
    };
    let lived = Lived {
        branch,
        notes: Vec::new(),
    };
    let jobs = update(&mut app, Msg::LiveOver(Ok(Box::new(lived))));
    assert!(jobs.iter().any(|job| matches!(job, Job::Branch(_))));
    assert!(!app.running() && matches!(live(&app).phase, Phase::Over(Ok(_))));
    fixture::press(&mut app, "⎋");
    assert!(app.views.is_empty() && app.open.is_some());
    fixture::press(&mut app, "L");
    assert!(matches!(app.views.last(), Some(View::Live)));
}

#[test]
fn a_step_told_while_the_session_was_read_is_not_missing_from_it() {
    let mut app = standing();
    let open = app.open.as_ref().unwrap();
    let (branch, len) = (open.steps.branch.clone(), open.steps.len);
    let step = Step {
        index: len + 1,
        ..Step::default()
    };
    let head = StepHead::of(&step);
    let told = Progress::Step {
        branch: branch.clone(),
        head,
    };
    let jobs = tell(&mut app, Told::Progress(Box::new(told)));
    let asked = |job: &Job| matches!(job, Job::Grow(of, from) if *of == branch && *from == len);
    assert!(jobs.iter().any(asked), "{jobs:?}");
}
