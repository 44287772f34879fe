//! What was left in the world, and new effects that a run asks about.

use super::fixture::{self, press};
use super::gate_fixture::{self, EFFECTS, asked, effects, held, left};
use super::key::{Code, Key};
use super::msg::Hand;
use super::tests::{key, notice};
use super::*;
use crate::app::effects::Effects;
use crate::model::EffectState;
use crate::pipeline::{Progress, Reconciled};
use crate::runtime::Decision;

fn panel(app: &App) -> &Effects {
    match app.views.last() {
        Some(View::Effects(effects)) => effects,
        other => panic!("{other:?}"),
    }
}

#[test]
fn effects_are_read_past_the_step_in_sight_from_three_places() {
    let mut app = fixture::opened();
    let jobs = key(&mut app, Key::char('w'));
    assert!(matches!(&jobs[..], [Job::Left(branch, 9)] if branch.name() == "main"));
    let mut app = held(&EFFECTS);
    let jobs = key(&mut app, Key::char('w'));
    assert!(matches!(&jobs[..], [Job::Left(branch, 9)] if branch.name() == "main"));
    assert_eq!(app.context(), Context::Effects);
    let mut app = fixture::replaying();
    let jobs = key(&mut app, Key::char('w'));
    assert!(matches!(&jobs[..], [Job::Left(branch, 9)] if branch.name() == "b1"));
}

#[test]
fn commands_are_shown_before_they_run_and_the_gates_are_asked_after() {
    let mut app = effects("");
    assert!(key(&mut app, Key::char('R')).is_empty());
    assert!(panel(&app).shown);
    let jobs = key(&mut app, Key::char('R'));
    assert!(
        matches!(&jobs[..], [Job::Reconcile(branch, 9, operator)] if branch.name() == "main" && operator == "ann")
    );
    // Once is enough.
    assert!(key(&mut app, Key::char('R')).is_empty());
    let effect = left().effects[1].clone();
    let answer = Reconciled {
        before: EffectState::Pending,
        command: Vec::new(),
        failed: Some("it ended with status 3".into()),
        effect,
    };
    let jobs = update(&mut app, Msg::Reconciled(Ok(vec![answer])));
    assert!(
        matches!(&jobs[..], [Job::Left(..), Job::Check(..), Job::Step(..)]),
        "{jobs:?}"
    );
    assert_eq!(panel(&app).failed["T-2"], "it ended with status 3");
    assert!(notice(&app).contains("0 of 1"), "{}", notice(&app));
}

#[test]
fn the_gate_panels_key_shows_the_commands_first_too() {
    let mut app = held(&EFFECTS);
    let jobs = key(&mut app, Key::char('R'));
    assert!(matches!(&jobs[..], [Job::Left(_, 9)]), "{jobs:?}");
    // Nothing was seen yet, so nothing runs.
    assert!(key(&mut app, Key::char('R')).is_empty());
    let branch = BranchId::main("night-picture");
    let jobs = update(&mut app, Msg::Left(branch, 9, Ok(Box::new(left()))));
    assert!(jobs.is_empty(), "{jobs:?}");
    let jobs = key(&mut app, Key::char('R'));
    assert!(matches!(&jobs[..], [Job::Reconcile(..)]), "{jobs:?}");
    // Where no gate offers it, it does nothing.
    let mut app = fixture::at_the_gates(true);
    assert!(key(&mut app, Key::char('R')).is_empty());
}

#[test]
fn a_decision_by_hand_has_a_reason() {
    let table = [('s', EffectState::Reconciled), ('u', EffectState::Reverted)];
    for (pressed, state) in table {
        let mut app = effects("jj");
        key(&mut app, Key::char(pressed));
        assert!(key(&mut app, Key::of(Code::Enter)).is_empty());
        assert!(notice(&app).contains("reason"));
        key(&mut app, Key::char(pressed));
        for c in "olga said so".chars() {
            key(&mut app, Key::char(c));
        }
        let jobs = key(&mut app, Key::of(Code::Enter));
        assert!(
            matches!(&jobs[..], [Job::Settle { key, state: to, why, operator, .. }]
                if key == "M-1" && *to == state && why == "olga said so" && operator == "ann"),
            "{jobs:?}"
        );
        let jobs = update(&mut app, Msg::Settled(Ok("done".into())));
        assert!(matches!(
            &jobs[..],
            [Job::Left(..), Job::Check(..), Job::Step(..)]
        ));
    }
    let mut app = fixture::opened();
    press(&mut app, "ws");
    assert_eq!(app.context(), Context::Effects, "nothing is selected");
}

#[test]
fn new_effects_are_decided_in_the_order_they_were_asked() {
    let mut app = asked();
    let ticket = app.replay.as_ref().unwrap().ticket;
    for (pressed, name, decision) in [('n', "b2", Decision::Refuse), ('y', "b3", Decision::Allow)] {
        let jobs = key(&mut app, Key::char(pressed));
        assert!(
            matches!(&jobs[..], [Job::Answer(to, branch, made), ..]
                if *to == ticket && branch.name() == name && *made == decision),
            "{jobs:?}"
        );
    }
    let jobs = key(&mut app, Key::char('y'));
    assert!(!jobs.iter().any(|job| matches!(job, Job::Answer(..))));
    assert!(notice(&app).contains("No run waits"));
}

#[test]
fn a_stop_or_an_end_takes_the_question_away() {
    let mut app = asked();
    let jobs = key(&mut app, Key::char('x'));
    assert!(matches!(&jobs[..], [Job::Hand(_, Hand::Stop), ..]));
    assert!(app.replay.as_ref().unwrap().asked.is_empty());

    let mut app = gate_fixture::asked();
    let ticket = app.replay.as_ref().unwrap().ticket;
    let branch = Box::new(fixture::ended("b2", true, 4));
    update(&mut app, Msg::Progress(ticket, Progress::Ended { branch }));
    let asked = &app.replay.as_ref().unwrap().asked;
    let names: Vec<&str> = asked.iter().map(|(branch, _)| branch.name()).collect();
    assert_eq!(names, ["b3"]);
}

#[test]
fn what_a_fork_would_restore_is_read_again_once_an_effect_is_settled() {
    let mut app = effects("");
    let jobs = update(&mut app, Msg::Settled(Ok("kept".into())));
    let again = |job: &Job| matches!(job, Job::Step(_, branch, 9) if branch.name() == "main");
    assert!(jobs.iter().any(again), "{jobs:?}");
    // What is here stays until then.
    assert!(app.open.as_ref().unwrap().step().is_some());
}
