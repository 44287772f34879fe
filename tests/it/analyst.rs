//! The analyst by a model, against a model server: what it sends, what it accepts, and how it fails.

use std::sync::Arc;
use std::time::Duration;

use dover::analyst::model::ModelAnalyst;
use dover::analyst::{Analyst, Case, Intervention};
use dover::endpoint::{EndpointSettings, Limits, Meter, Prices};
use dover::model::{Category, Hypothesis, Session, Step, StepKind, trials_of_kinds};

use crate::support::model_server::ModelServer;

const KEY: &str = "sk-marker-77ab";

fn case() -> Case {
    let lines: [(&str, StepKind, Option<&str>, &str); 8] = [
        (
            "human",
            StepKind::Task,
            None,
            "Which ship is named in the log of 1911?",
        ),
        (
            "Lead",
            StepKind::Plan,
            None,
            "1. Surfer: open the log book.",
        ),
        (
            "Lead",
            StepKind::Instruction,
            Some("Surfer"),
            "Open the log book.",
        ),
        (
            "Surfer",
            StepKind::Message,
            None,
            "This is the log book. Controls shown: 'All years', 'Crew'.",
        ),
        (
            "Lead",
            StepKind::Instruction,
            Some("Surfer"),
            "Click '1911'.",
        ),
        (
            "Surfer",
            StepKind::Message,
            None,
            "There is no control named '1911' here. Controls shown: 'All years', 'Crew'.",
        ),
        ("Lead", StepKind::Plan, None, "1. Helper: guess."),
        ("Helper", StepKind::Message, None, "I found nothing."),
    ];
    let steps: Vec<Step> = lines
        .iter()
        .enumerate()
        .map(|(index, (agent, kind, to, text))| Step {
            index,
            agent: (*agent).into(),
            kind: *kind,
            to: to.map(str::to_owned),
            text: (*text).into(),
            ..Step::default()
        })
        .collect();
    let kinds: Vec<StepKind> = steps.iter().map(|step| step.kind).collect();
    Case {
        session: Arc::new(Session {
            task: "Which ship is named in the log of 1911?".into(),
            orchestrator: Some("Lead".into()),
            expected: Some("Albatross".into()),
            ..Session::default()
        }),
        trials: Arc::new(trials_of_kinds(&kinds)),
        steps: Arc::new(steps),
    }
}

fn settings(server: &ModelServer, model: &str) -> EndpointSettings {
    EndpointSettings {
        base_url: Some(server.base_url()),
        api_key: Some(KEY.into()),
        model: Some(model.into()),
        idle: Duration::from_millis(400),
        ..EndpointSettings::default()
    }
}

fn analyst(server: &ModelServer, model: &str) -> ModelAnalyst {
    ModelAnalyst::new(&settings(server, model), None, false).unwrap()
}

async fn suspects(server: &ModelServer, model: &str) -> Result<Vec<Hypothesis>, String> {
    let case = case();
    let found = analyst(server, model)
        .attribute(&case, &case.trials[0], &[])
        .await;
    found.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_trial_is_analysed_and_an_edit_is_written() {
    let server = ModelServer::start(0).await.unwrap();
    let analyst = analyst(&server, "m");
    assert_eq!(analyst.name(), "model m");
    let case = case();
    let found = analyst
        .attribute(&case, &case.trials[0], &[])
        .await
        .unwrap();
    assert_eq!((found[0].step, found[0].agent.as_str()), (5, "Surfer"));
    let edit = analyst.intervene(&case, &found[0], &[]).await.unwrap();
    let Intervention::Edit(edit) = edit else {
        panic!("{edit:?}")
    };
    assert_eq!(
        (edit.target.step, edit.target.category),
        (4, Category::Instruction)
    );
    assert!(
        edit.text.starts_with("Click '1911'.") && edit.text.contains("All years"),
        "{}",
        edit.text
    );
    // Indices and guidance are shown, the other trial is not shown in full, and the expected answer is nowhere.
    let seen = server.seen();
    let sent = seen[0].body.to_string();
    assert!(
        sent.contains("[5] Surfer (message)") && sent.contains("would have turned the outcome")
    );
    assert!(!sent.contains("[7] Helper"));
    assert!(
        seen.iter()
            .all(|one| !one.body.to_string().contains("Albatross"))
    );
    assert_eq!(
        seen[0].body["response_format"]["json_schema"]["name"],
        "attribute"
    );
    let used = analyst.used();
    assert_eq!(used.calls, 2);
    assert!(used.tokens() > 100);
}

#[tokio::test]
async fn many_forms_of_an_answer_are_understood() {
    let server = ModelServer::start(0).await.unwrap();
    for model in [
        "m",
        "fenced",
        "text-index",
        "german",
        "odd",
        "no-stream",
        "no-finish",
        "formless",
    ] {
        let found = suspects(&server, model).await.unwrap();
        assert_eq!(found[0].step, 5, "{model}");
    }
}

#[tokio::test]
async fn what_cannot_be_is_asked_again_with_the_reason_and_not_for_ever() {
    let server = ModelServer::start(0).await.unwrap();
    let found = suspects(&server, "outside").await.unwrap();
    assert_eq!(found[0].step, 5);
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    let told = seen[1].body["messages"][3]["content"].as_str().unwrap();
    assert!(
        told.contains("step 9999 is not in trial 1, which has steps 1 to 5"),
        "{told}"
    );
    let before = server.seen().len();
    let error = suspects(&server, "prose").await.unwrap_err();
    assert!(
        error.contains("attribute")
            && error.contains("no JSON object")
            && error.contains("3 times"),
        "{error}"
    );
    assert_eq!(server.seen().len() - before, 3);
}

#[tokio::test]
async fn each_fault_of_an_endpoint_is_a_sentence() {
    let server = ModelServer::start(0).await.unwrap();
    for (model, words) in [
        ("error-401", "401"),
        ("error-404", "404"),
        ("cut", "broke off"),
        ("reset", "broke off"),
        ("stall", "silent"),
        ("rubbish", "something else than a chat completion"),
        ("said", "overloaded on demand"),
        ("empty", "attribute"),
    ] {
        let error = suspects(&server, model).await.unwrap_err();
        assert!(error.contains(words), "{model}: {error}");
        assert!(!error.contains(KEY), "{model}: {error}");
    }
    // Asked to come later, it comes later, and is counted once.
    let analyst = analyst(&server, "error-429-then-ok");
    let case = case();
    analyst
        .attribute(&case, &case.trials[0], &[])
        .await
        .unwrap();
    assert_eq!(analyst.used().calls, 1);
    let error = ModelAnalyst::new(&EndpointSettings::default(), None, false)
        .err()
        .unwrap();
    assert!(error.to_string().contains("OPENAI_BASE_URL"), "{error}");
}

#[tokio::test]
async fn a_limit_is_told_before_it_is_passed() {
    let server = ModelServer::start(0).await.unwrap();
    let prices = Some(Prices {
        prompt: 1_000.0,
        completion: 1_000.0,
    });
    for limits in [
        Limits {
            tokens: Some(700),
            cost: None,
        },
        Limits {
            tokens: None,
            cost: Some(700_000),
        },
    ] {
        let before = server.seen().len();
        let meter = Meter::new(prices, limits);
        let limited = EndpointSettings {
            meter: meter.clone(),
            ..settings(&server, "m")
        };
        let analyst = ModelAnalyst::new(&limited, None, false).unwrap();
        let case = case();
        let mut spent = None;
        for _ in 0..20 {
            if let Err(error) = analyst.attribute(&case, &case.trials[0], &[]).await {
                spent = Some(error.to_string());
                break;
            }
        }
        let spent = spent.unwrap();
        assert!(
            spent.contains("--max-tokens") && spent.contains("at most"),
            "{spent}"
        );
        // Nothing was asked past it, and every call is counted.
        assert_eq!(
            server.seen().len() - before,
            usize::try_from(meter.used().calls).unwrap()
        );
    }
    let estimate = analyst(&server, "m").estimate(&case(), &case().trials);
    assert!(estimate.calls == 4 && estimate.prompt_tokens > 500 && estimate.estimated);
}

#[tokio::test]
async fn a_judge_of_its_own_judges_and_the_examples_are_shown_on_request() {
    let server = ModelServer::start(0).await.unwrap();
    let judge = settings(&server, "j");
    let analyst = ModelAnalyst::new(&settings(&server, "m"), Some(&judge), true).unwrap();
    assert_eq!(analyst.name(), "model m, judged by j");
    let case = case();
    let goals = analyst.milestones(&case).await.unwrap();
    assert_eq!(
        analyst.judge_milestones(&case, &goals).await.unwrap(),
        [Some(7)]
    );
    let (old, new) = (&case.steps[4], &case.steps[2]);
    assert_eq!(
        analyst
            .judge_fulfilment(old, new, case.within(5..8))
            .await
            .unwrap(),
        Some(true)
    );
    let found = analyst
        .attribute(&case, &case.trials[0], &[])
        .await
        .unwrap();
    analyst.intervene(&case, &found[0], &[]).await.unwrap();
    let seen = server.seen();
    let models: Vec<&str> = seen
        .iter()
        .map(|one| one.body["model"].as_str().unwrap())
        .collect();
    assert_eq!(models, ["m", "j", "j", "m", "m"]);
    assert!(
        seen[4]
            .body
            .to_string()
            .contains("Three examples of a vague instruction")
    );
    assert_eq!(analyst.used().calls, 5);
}

#[tokio::test]
async fn a_log_without_plans_is_cut_where_the_model_sees_them() {
    let server = ModelServer::start(0).await.unwrap();
    let case = case();
    let trials = analyst(&server, "m").segment(&case).await.unwrap();
    let spans: Vec<_> = trials
        .iter()
        .map(|trial| (trial.start, trial.end))
        .collect();
    assert_eq!(spans, [(1, 5), (6, 7)]);
}
