//! The driver's seat: who is asked, and that only an answer is one.

use super::{App, Context, Msg, fixture, update};
use crate::model::BranchId;
use crate::store::{Around, Role, Seat};

/// Another one's seat.
fn seat(app: &App, who: &str, role: Role, asks: Option<u32>) -> Seat {
    Seat {
        who: who.to_owned(),
        role,
        asks,
        since: "2026-01-31T12:00:01Z".into(),
        branch: BranchId::main("night-picture").as_str().to_owned(),
        gives: None,
        keeps: None,
        ..app.said().unwrap()
    }
}

fn comes(app: &mut App, asks: Option<u32>) {
    let around = Around {
        own: None,
        reads_only: false,
        others: [("7-1".to_owned(), seat(app, "bob", Role::Follower, asks))].into(),
    };
    let jobs = update(app, Msg::Company(Box::new(around)));
    fixture::answer(app, jobs);
}

/// A driver who looks at the question of one who follows.
pub(crate) fn asked() -> App {
    let mut app = fixture::opened();
    comes(&mut app, Some(1));
    fixture::press(&mut app, "Y");
    app
}

fn given(app: &App) -> (Role, bool, bool) {
    let said = app.said().unwrap();
    (said.role, said.gives.is_some(), said.keeps.is_some())
}

#[test]
fn what_is_typed_when_somebody_asks_answers_nothing() {
    let mut app = fixture::opened();
    comes(&mut app, Some(1));
    let told = app.notice.as_ref().unwrap().text.clone();
    assert_eq!(told, "bob asks for the driver's seat: Y answers");
    // These copy and look for a hit: no answer.
    fixture::press(&mut app, "yny⏎");
    assert_eq!(given(&app), (Role::Driver, false, false));
    fixture::press(&mut app, "⎋Y");
    assert_eq!(app.context(), Context::Seat);
    fixture::press(&mut app, "⎋");
    assert_eq!(given(&app), (Role::Driver, false, false));
    fixture::press(&mut app, "Yn");
    assert_eq!(given(&app), (Role::Driver, false, true));
    // Asked anew, from within a view.
    fixture::press(&mut app, "m");
    comes(&mut app, Some(2));
    fixture::press(&mut app, "Yy");
    assert_eq!(given(&app), (Role::Follower, true, true));
    assert_eq!(app.context(), Context::Milestones);
}

#[test]
fn a_question_taken_back_leaves_the_screen_unanswered() {
    let mut app = asked();
    assert_eq!(app.context(), Context::Seat);
    comes(&mut app, None);
    assert_eq!(app.context(), Context::Steps);
    // Another request is another question.
    let mut app = asked();
    comes(&mut app, Some(2));
    assert_eq!(app.context(), Context::Steps);
    fixture::press(&mut app, "y");
    assert_eq!(given(&app), (Role::Driver, false, false));
}

#[test]
fn who_writes_is_not_interrupted() {
    let mut app = fixture::opened();
    fixture::press(&mut app, "e");
    comes(&mut app, Some(1));
    let told = app.notice.as_ref().unwrap().text.clone();
    assert_eq!(
        told,
        "bob asks for the driver's seat: Y answers once you have written"
    );
    fixture::press(&mut app, "Yy");
    assert_eq!(given(&app), (Role::Driver, false, false));
    fixture::press(&mut app, "⎋Y");
    assert_eq!(app.context(), Context::Seat);
}
