//! The gate panel: which gate is open, what mends it, and what a held fork waits for.

use super::fixture::{self, press};
use super::gate_fixture::{APPROVAL, DELTA, DRIFT, EFFECTS, Held, held, report, say, waiting};
use super::key::{Code, Key};
use super::tests::{key, notice};
use super::*;
use crate::app::msg::Ticket;
use crate::gate::Action;
use crate::model::RunStatus;
use crate::pipeline::{ForkRequest, NewEffects};
use crate::store::Role;

fn opened(app: &App) -> usize {
    app.gates().unwrap().opened()
}

fn asked(jobs: &[Job]) -> (Ticket, &ForkRequest) {
    match jobs {
        [Job::Check(ticket, request)] => (*ticket, request),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_gate_that_does_not_hold_is_open_until_another_is_picked() {
    let table: [(&Held, usize); 4] = [(&DRIFT, 1), (&EFFECTS, 2), (&APPROVAL, 3), (&DELTA, 4)];
    for (by, place) in table {
        let mut app = held(by);
        assert_eq!(opened(&app), place, "{}", by.found);
        press(&mut app, "j");
        assert_eq!(opened(&app), place + 1);
        press(&mut app, "kk");
        assert_eq!(opened(&app), place - 1);
        press(&mut app, "<k");
        assert_eq!(opened(&app), 0);
        press(&mut app, ">j");
        assert_eq!(opened(&app), 5);
    }
    let app = fixture::at_the_gates(true);
    assert_eq!(opened(&app), 5, "all hold: nothing to open");
}

#[test]
fn a_key_mends_what_its_gate_offers_and_asks_the_gates_again() {
    let mut app = held(&DRIFT);
    let before = app.gates().unwrap().ticket;
    assert!(key(&mut app, Key::char('A')).is_empty());
    assert!(notice(&app).contains("No difference"));
    let jobs = key(&mut app, Key::char('a'));
    let (ticket, request) = asked(&jobs);
    assert!(ticket > before && request.acknowledge_drift && !request.accept_delta);
    // What was found before counts no more.
    assert!(key(&mut app, Key::char('d')).is_empty());
    assert!(key(&mut app, Key::char('a')).is_empty());
    assert!(notice(&app).contains("still being checked"));
    say(&mut app, report(&DELTA));
    let jobs = key(&mut app, Key::char('A'));
    let (_, request) = asked(&jobs);
    assert!(request.acknowledge_drift && request.accept_delta);
    say(&mut app, fixture::report(Some(true)));
    let jobs = key(&mut app, Key::of(Code::Enter));
    assert!(
        matches!(&jobs[..], [Job::Fork(_, request), ..] if request.acknowledge_drift && request.accept_delta)
    );
}

#[test]
fn nothing_is_offered_that_the_gates_do_not_offer() {
    let app = fixture::at_the_gates(true);
    for action in [
        Action::Reconcile,
        Action::RequestApproval,
        Action::AcceptDelta,
    ] {
        assert!(!app.gates().unwrap().offers(action));
    }
}

#[test]
fn new_effects_are_asked_about_on_the_screen() {
    let app = fixture::at_the_gates(true);
    assert_eq!(app.gates().unwrap().request.new_effects, NewEffects::Ask);
}

#[test]
fn a_fork_that_waits_is_looked_at_again_and_resumed_as_it_stands() {
    let mut app = held(&APPROVAL);
    assert!(key(&mut app, Key::char('o')).is_empty());
    assert!(notice(&app).contains("p requests the approval"));
    let jobs = key(&mut app, Key::char('p'));
    assert!(matches!(&jobs[..], [Job::Hold(_, request)] if request.resume.is_none()));

    let mut app = waiting();
    let ticket = app.gates().unwrap().ticket;
    assert_eq!(app.gates().unwrap().waits_as(), Some("night-picture/i2"));
    assert!(
        app.drafts.is_empty(),
        "it is written, so nothing can be lost"
    );
    for c in ['+', '-', 's', 'p'] {
        assert!(key(&mut app, Key::char(c)).is_empty(), "{c}");
    }
    assert!(key(&mut app, Key::of(Code::Enter)).is_empty());
    // As long as nothing changed, every look is followed by one more and the gates are left alone.
    let jobs = update(&mut app, Msg::LookAgain(ticket, Ok(0)));
    assert!(matches!(&jobs[..], [Job::LookAgain(again, _)] if *again == ticket));
    let jobs = update(&mut app, Msg::LookAgain(ticket, Ok(1)));
    let (_, request) = asked(&jobs);
    assert_eq!(request.resume.as_deref(), Some("night-picture/i2"));
    let jobs = say(&mut app, report(&APPROVAL));
    assert!(
        matches!(&jobs[..], [Job::LookAgain(again, id)] if *again == ticket && id == "night-picture/i2")
    );
    // Somebody approved, now as it should be.
    let jobs = say(&mut app, fixture::report(Some(true)));
    assert!(jobs.is_empty());
    assert!(notice(&app).contains("Enter"));
    let jobs = key(&mut app, Key::of(Code::Enter));
    let [Job::Fork(_, request), ..] = &jobs[..] else {
        panic!("{jobs:?}");
    };
    assert_eq!(request.resume.as_deref(), Some("night-picture/i2"));
    assert_eq!(request.runs, Some(3));
}

#[test]
fn a_panel_that_was_left_is_not_looked_at_again() {
    let mut app = waiting();
    let ticket = app.gates().unwrap().ticket;
    press(&mut app, "⎋");
    assert!(notice(&app).contains("dover resume night-picture/i2"));
    assert!(update(&mut app, Msg::LookAgain(ticket, Ok(1))).is_empty());
}

#[test]
fn a_follower_leaves_the_gates_when_the_driver_ran_what_waited() {
    for (role, left) in [(Role::Follower, true), (Role::Driver, false)] {
        let mut app = waiting();
        app.company.role = role;
        let run = |status| crate::model::Branch {
            intervention: Some("night-picture/i2".into()),
            run: status,
            ..fixture::branch("b7")
        };
        let mut refresh = |status| {
            let kin = (
                vec![fixture::branch("main"), run(status)],
                Vec::new(),
                Vec::new(),
            );
            update(&mut app, Msg::Refreshed(Ok(kin)));
            app.gates().is_none()
        };
        assert!(!refresh(RunStatus::Held));
        assert_eq!(refresh(RunStatus::Running), left);
        assert_eq!(notice(&app).contains("was resumed"), left);
    }
}

#[test]
fn an_owner_approves_on_the_screen_by_name() {
    let mut app = waiting();
    let ticket = app.gates().unwrap().ticket;
    press(&mut app, "o");
    assert_eq!(app.context(), Context::Prompt);
    press(&mut app, "olga");
    let jobs = key(&mut app, Key::of(Code::Enter));
    assert!(
        matches!(&jobs[..], [Job::Approve(to, id, owner)] if *to == ticket && id == "night-picture/i2" && owner == "olga")
    );
    let refused = Err("olga has no key here".to_owned());
    assert!(update(&mut app, Msg::Approved(ticket, refused)).is_empty());
    assert!(app.notice.as_ref().unwrap().fault);
    let jobs = update(
        &mut app,
        Msg::Approved(ticket, Ok("olga approved it".into())),
    );
    asked(&jobs);
    // An empty name approves nothing.
    press(&mut app, "o");
    assert!(key(&mut app, Key::of(Code::Enter)).is_empty());
}

#[test]
fn what_was_held_is_tried_again_from_the_list_and_nothing_else_is() {
    for (run, may) in [(RunStatus::Held, true), (RunStatus::Done, false)] {
        let mut app = fixture::replayed();
        let branch = crate::model::Branch {
            run,
            ..fixture::branch("b1")
        };
        let kin = (
            vec![fixture::branch("main"), branch],
            vec![fixture::intervention()],
            Vec::new(),
        );
        update(&mut app, Msg::Refreshed(Ok(kin)));
        press(&mut app, "v");
        let jobs = key(&mut app, Key::char('f'));
        let asked = matches!(&jobs[..], [Job::TryAgain(id, operator)] if id == "night-picture/i1" && operator == "ann");
        assert_eq!(asked, may, "{jobs:?}");
    }
    let mut app = fixture::opened();
    let request = ForkRequest {
        resume: Some("night-picture/i1".into()),
        ..ForkRequest::at(BranchId::main("night-picture"), 9, "ann")
    };
    let again = Box::new((request, fixture::steps().remove(9)));
    let jobs = update(&mut app, Msg::TriedAgain(Ok(again)));
    let (_, request) = asked(&jobs);
    assert_eq!(request.resume.as_deref(), Some("night-picture/i1"));
    assert_eq!(app.context(), Context::Gates);
}

#[test]
fn what_waits_for_an_owner_at_a_step_is_found_again_there() {
    use crate::model::GateStatus::{EffectsUnreconciled, NeedsApproval};
    let one = fixture::intervention();
    let table = [
        (RunStatus::Held, NeedsApproval, one.step, true),
        (RunStatus::Held, EffectsUnreconciled, one.step, false),
        (RunStatus::Done, NeedsApproval, one.step, false),
        // It was held before a new effect, after it had begun.
        (RunStatus::Held, NeedsApproval, one.step + 1, false),
    ];
    for (run, gate, steps, found) in table {
        let mut app = fixture::opened();
        let branch = crate::model::Branch {
            run,
            gate: Some(gate),
            fork_step: Some(one.step),
            steps,
            ..fixture::branch("b1")
        };
        let kin = (
            vec![fixture::branch("main"), branch],
            vec![one.clone()],
            Vec::new(),
        );
        update(&mut app, Msg::Refreshed(Ok(kin)));
        let at = |step| mend::waits_at(&app, &one.parent, step).is_some();
        assert_eq!(at(one.step), found, "{run:?} {gate:?}");
        assert!(!at(one.step + 1));
    }
}
