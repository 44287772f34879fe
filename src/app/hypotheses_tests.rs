//! Hypotheses on the screen: made, shown, tested, written by hand; without a terminal and without a store.

use super::command::Context;
use super::fixture::{self, press};
use super::hypotheses::By;
use super::key::{Code, Key};
use super::msg::{Job, Msg};
use super::{App, View, update};
use crate::model::{Category, Filed, Hypothesis, Proposal, Standing, Step, Target, Trial};

/// A hypothesis of the fixture's session.
fn filed(number: usize, trial: &Trial, step: usize, edit: Option<&str>) -> Filed {
    Filed {
        id: format!("night-picture/h{number}"),
        branch: fixture::branch("main").id,
        round: 1,
        analyst: "offline".into(),
        hypothesis: Hypothesis {
            trial: *trial,
            step,
            agent: "WebSurfer".into(),
            reason: "It failed: “There is no control named '2015' on this page.”; the ledger after it sees no progress.".into(),
            evidence: vec![step - 1, step],
            weight: 0.8,
            capability: None,
        },
        proposal: edit.map(|text| Proposal {
            target: Target {
                step: step - 1,
                category: Category::Instruction,
            },
            text: text.into(),
        }),
        intervention: None,
        standing: if edit.is_some() { Standing::Proposed } else { Standing::Untestable },
        note: edit.is_none().then(|| "No edit is left: all that could be made of this log were tried.".into()),
    }
}

/// The pane over a session of which one hypothesis was tested.
pub(crate) fn pane() -> App {
    let mut app = fixture::replayed();
    press(&mut app, "⎋");
    let open = app.open.as_ref().unwrap();
    let trial = open.steps.trials[0];
    let mut tested = filed(
        1,
        &trial,
        6,
        Some(
            "Click 'All years', then '2015', then 'August', and read the captions of 1 to 7 August 2015.",
        ),
    );
    tested.intervention = Some(fixture::intervention().id);
    tested.standing = Standing::Accepted;
    let mut all = vec![
        tested,
        filed(
            2,
            &trial,
            9,
            Some("Open https://sorrelpeak.example/2015/08/04.html and read the caption."),
        ),
    ];
    all.push(filed(3, &trial, 10, None));
    let kin = (open.branches.clone(), open.interventions.clone(), all);
    let jobs = update(&mut app, Msg::Refreshed(Ok(kin)));
    fixture::answer(&mut app, jobs);
    press(&mut app, "h");
    app
}

fn notice(app: &App) -> &str {
    app.notice.as_ref().map_or("", |notice| &notice.text)
}

fn hit(app: &mut App, key: char) -> Vec<Job> {
    update(app, Msg::Key(Key::char(key)))
}

#[test]
fn a_session_that_nobody_analysed_is_analysed_by_rules() {
    let mut app = fixture::opened();
    let jobs = hit(&mut app, 'h');
    assert!(
        jobs.iter()
            .any(|job| matches!(job, Job::Analyse(_, By::Offline, who) if *who == app.operator))
    );
    assert_eq!(app.context(), Context::Hypotheses);
    // One analysis at a time.
    assert!(hit(&mut app, 'a').is_empty());
    assert!(matches!(hit(&mut app, 'x').as_slice(), [Job::StopAnalysis]));
    let jobs = update(
        &mut app,
        Msg::Analysed(Ok("offline: hypotheses for 1 of 1 trials".into())),
    );
    assert!(matches!(jobs.as_slice(), [Job::Refresh(session), ..] if session == "night-picture"));
    assert!(notice(&app).contains("offline"));
    assert!(matches!(
        hit(&mut app, 'A').as_slice(),
        [Job::Analyse(_, By::Model, _)]
    ));
}

#[test]
fn a_hypothesis_is_tested_as_it_stands_or_changed_first() {
    let mut app = pane();
    let jobs = update(&mut app, Msg::Key(Key::of(Code::Enter)));
    assert!(
        matches!(jobs.as_slice(), [Job::Test(id, false)] if id == "night-picture/h2"),
        "{jobs:?}"
    );
    let filed = app.open.as_ref().unwrap().hypotheses[1].clone();
    let step = Step {
        index: 8,
        agent: "Orchestrator".into(),
        ..Step::default()
    };
    let found = Box::new((filed.clone(), step.clone(), false));
    let jobs = update(&mut app, Msg::ToTest(Ok(found)));
    let Some(Job::Check(_, request)) = jobs.first() else {
        panic!("{jobs:?}")
    };
    assert_eq!(
        request.text,
        filed.proposal.as_ref().map(|edit| edit.text.clone())
    );
    assert_eq!(
        request.tests.as_ref().map(|tests| tests.id.as_str()),
        Some("night-picture/h2")
    );
    assert_eq!(app.context(), Context::Gates);
    // Changed first: the link to the hypothesis stays.
    press(&mut app, "⎋");
    let jobs = hit(&mut app, 'e');
    assert!(matches!(jobs.as_slice(), [Job::Test(_, true)]));
    update(&mut app, Msg::ToTest(Ok(Box::new((filed, step, true)))));
    assert_eq!(app.context(), Context::Typing);
    press(&mut app, "!");
    let jobs = update(&mut app, Msg::Key(Key::ctrl('s')));
    let Some(Job::Check(_, request)) = jobs.first() else {
        panic!("{jobs:?}")
    };
    assert!(
        request
            .text
            .as_ref()
            .is_some_and(|text| text.ends_with('!'))
    );
    assert!(request.tests.is_some());
}

#[test]
fn what_has_no_edit_says_so_and_what_was_tested_compares() {
    let mut app = pane();
    press(&mut app, "jj");
    assert!(update(&mut app, Msg::Key(Key::of(Code::Enter))).is_empty());
    assert!(notice(&app).contains("no edit yet"), "{}", notice(&app));
    press(&mut app, "kk");
    let jobs = hit(&mut app, 'c');
    assert!(
        matches!(jobs.as_slice(), [Job::Compare(a, b)] if a.name() == "main" && b.name() == "b1"),
        "{jobs:?}"
    );
    fixture::answer(&mut app, jobs);
    // To the step itself.
    press(&mut app, "⎋jg");
    assert!(app.views.is_empty());
    assert_eq!(app.open.as_ref().unwrap().selected, 9);
}

#[test]
fn ones_own_hypothesis_is_about_the_selected_step() {
    let mut app = fixture::opened();
    press(&mut app, ":6⏎H");
    assert_eq!(app.context(), Context::Prompt);
    press(&mut app, "too vague");
    let jobs = update(&mut app, Msg::Key(Key::of(Code::Enter)));
    let [Job::Suspect(mine)] = jobs.as_slice() else {
        panic!("{jobs:?}")
    };
    assert_eq!(
        (mine.hypothesis.step, mine.hypothesis.reason.as_str()),
        (6, "too vague")
    );
    assert_eq!(mine.analyst, format!("operator {}", app.operator));
    let kept = Filed {
        id: "night-picture/h1".into(),
        ..*mine.clone()
    };
    update(&mut app, Msg::Suspected(Ok(Box::new(kept))));
    assert!(matches!(app.views.last(), Some(View::Hypotheses(_))));
    assert!(matches!(
        hit(&mut app, 'e').as_slice(),
        [Job::Test(_, true)]
    ));
    // The task is nobody's mistake.
    let mut app = fixture::opened();
    press(&mut app, ":0⏎Hso");
    assert!(update(&mut app, Msg::Key(Key::of(Code::Enter))).is_empty());
    assert!(notice(&app).contains("task"), "{}", notice(&app));
}
