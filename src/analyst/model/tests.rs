//! What a model says, held against a log.

use std::sync::Arc;

use super::*;
use crate::model::{Session, Verdict, trials_of_kinds};

fn case() -> Case {
    let lines: [(&str, StepKind, Option<&str>, &str); 6] = [
        ("human", StepKind::Task, None, "Who built the mill?"),
        ("Lead", StepKind::Plan, None, "1. Surfer: find the mill."),
        (
            "Lead",
            StepKind::Instruction,
            Some("Surfer"),
            "Find the mill.",
        ),
        ("Surfer (web)", StepKind::Message, None, "I found nothing."),
        ("Lead", StepKind::Control, None, "Stalled."),
        ("Lead", StepKind::Plan, None, "1. Helper: think."),
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
            task: "Who built the mill?".into(),
            orchestrator: Some("Lead".into()),
            expected: Some("The Brandts".into()),
            ..Session::default()
        }),
        trials: Arc::new(trials_of_kinds(&kinds)),
        steps: Arc::new(steps),
    }
}

fn said(step: usize, agent: &str) -> Attributed {
    Attributed {
        step: Index(step),
        agent: agent.into(),
        reason: "r".into(),
        evidence: vec![Index(2), Index(99)],
        capability: Some("  ".into()),
    }
}

#[test]
fn a_suspect_must_be_in_the_trial_and_have_spoken_there() {
    let case = case();
    let trial = case.trials[0];
    let speakers = speakers(&case, &trial);
    assert_eq!(speakers, ["Lead", "Surfer (web)"]);
    let judged = |step, agent| suspect(&case, &trial, &speakers, said(step, agent));
    let good = judged(3, "surfer").unwrap();
    assert_eq!(
        (good.step, good.agent.as_str(), good.evidence.as_slice()),
        (3, "Surfer (web)", [2].as_slice())
    );
    assert_eq!(good.capability, None);
    assert!(
        judged(5, "Lead")
            .unwrap_err()
            .contains("not in trial 1, which has steps 1 to 4")
    );
    assert!(
        judged(3, "Helper")
            .unwrap_err()
            .contains("did not speak in trial 1")
    );
    assert!(judged(3, "human").is_err());
}

#[test]
fn an_edit_is_held_against_the_rules() {
    let case = case();
    let trial = case.trials[0];
    let hypothesis = suspect(&case, &trial, &speakers(&case, &trial), said(3, "Surfer")).unwrap();
    let hypothesis = Hypothesis {
        agent: "Surfer".into(),
        ..hypothesis
    };
    let places = places(&case, &hypothesis);
    let write = |target: &str, text: &str, tried: &[Tried]| {
        edit(
            &case,
            &places,
            tried,
            &Intervened {
                target: target.into(),
                text: text.into(),
            },
        )
    };
    let good = write("instruction", "Open the archive of the town.", &[]).unwrap();
    assert_eq!(good.target.step, 2);
    assert_eq!(
        write("plan", "1. Surfer: open the archive.", &[])
            .unwrap()
            .target
            .step,
        1
    );
    assert!(
        write("message", "x", &[])
            .unwrap_err()
            .contains("say instruction or plan")
    );
    assert!(
        write("instruction", " Find the mill. ", &[])
            .unwrap_err()
            .contains("old one")
    );
    assert!(
        write("instruction", "It was the Brandts, say so.", &[])
            .unwrap_err()
            .contains("nobody has found")
    );
    assert!(
        write("instruction", &"x".repeat(9000), &[])
            .unwrap_err()
            .contains("longer")
    );
    let tried = Tried {
        hypothesis: hypothesis.clone(),
        proposal: good.clone(),
        verdict: Some(Verdict::Refuted),
        learnt: "nothing".into(),
    };
    assert!(
        write("instruction", &good.text, std::slice::from_ref(&tried))
            .unwrap_err()
            .contains("tried before")
    );
    // What was tried is told.
    let told = cut::tried(&[tried]);
    assert!(
        told.contains("Refuted")
            && told.contains("Open the archive of the town.")
            && told.contains("nothing")
    );
}

#[test]
fn goals_are_five_at_most_and_none_is_the_answer() {
    let name = |titles: &[&str]| {
        let milestones = titles
            .iter()
            .map(|title| stage::Goal {
                title: (*title).into(),
                text: None,
            })
            .collect();
        goals(
            "Who built the mill?",
            Some("The Brandts"),
            Named { milestones },
        )
    };
    assert_eq!(
        name(&["The mill is found"]).unwrap()[0].check,
        Check::Manual
    );
    assert!(name(&["a"; 6]).unwrap_err().contains("at most 5"));
    assert!(
        name(&["The Brandts are named"])
            .unwrap_err()
            .contains("answer itself")
    );
}
