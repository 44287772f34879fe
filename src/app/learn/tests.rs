use std::sync::Arc;

use super::*;
use crate::app::fixture::{self, press};
use crate::app::msg::Msg;
use crate::app::press_fixture::started;
use crate::app::update;

const LESSON: &str = r#"
name = "read"
title = "Read a run"
about = "Where it fails, and how to say so."
sample = "night-picture"
hide = ["labels", "verdicts", "answers"]
end = "That is all."

[[part]]
title = "Look"
text = "A run is a list of steps.\n\nEvery step has a number."
task = "Go to step 9."
done = { visit = [9, 10] }
hints = ["‹down› goes down.", "‹goto› 9 ‹prompt.accept› goes there."]
after = "Here the month is missing."

[[part]]
title = "Milestones"
text = "How far did it come?"
task = "Press ‹steps.milestones›."
done = { look = "milestones" }
hide = []
hints = ["‹steps.milestones›"]
"#;

/// The list of two lessons; of the second an attempt was begun.
pub(crate) fn listed() -> App {
    let lesson = read(LESSON).lesson.unwrap();
    let other = Lesson {
        name: "other".into(),
        title: "Another one".into(),
        ..lesson.clone()
    };
    let offer = |lesson: Lesson| Offer {
        lesson: Arc::new(lesson),
        file: None,
        attempt: None,
    };
    let mut offers = vec![offer(lesson), offer(other)];
    let (app, _) = App::lessons("ann".into(), offers.clone(), false);
    let jobs = begin(&app, false);
    let [Job::Learn(_, attempt)] = jobs.as_slice() else {
        panic!("{jobs:?}");
    };
    let mut attempt = attempt.clone();
    attempt.parts[0].done = true;
    offers[1].attempt = Some(attempt);
    started(App::lessons("ann".into(), offers, false).0)
}

/// The page of the first part.
pub(crate) fn page() -> App {
    let mut app = listed();
    let Some(Job::Learn(_, attempt)) = begin(&app, false).pop() else {
        panic!("no lesson was begun");
    };
    let opened = Opened {
        session: fixture::session(),
        branches: vec![fixture::branch("main")],
        interventions: Vec::new(),
        hypotheses: Vec::new(),
        shown: fixture::view(fixture::branch("main"), fixture::MAIN),
    };
    let jobs = update(&mut app, Msg::Learning(Ok(Box::new((attempt, opened)))));
    fixture::answer(&mut app, jobs);
    app
}

/// At the first task, a hint given.
pub(crate) fn task() -> App {
    let mut app = page();
    press(&mut app, "⏎T");
    app
}

#[test]
fn a_part_is_done_by_its_deed_and_what_it_hides_is_seen_again() {
    let mut app = task();
    assert!(app.hide.labels && app.hide.verdicts && app.hide.answers);
    assert_eq!(app.course().unwrap().hints(), ["‹down› goes down."]);
    press(&mut app, "jjjjjjjj");
    assert!(!app.course().unwrap().done());
    press(&mut app, "j");
    assert!(app.course().unwrap().done());
    // A done part gives no hint, and its key goes on.
    press(&mut app, "T");
    assert_eq!(app.course().unwrap().hints().len(), 1);
    press(&mut app, "l");
    assert_eq!(
        (app.course().unwrap().at, app.context()),
        (1, super::super::Context::Lesson)
    );
    assert_eq!(app.hide, Hidden::default());
}

#[test]
fn a_view_that_was_open_before_does_not_count() {
    let mut app = task();
    press(&mut app, "jjjjjjjjjml⏎");
    assert!(!app.course().unwrap().done());
    press(&mut app, "m");
    assert!(app.course().unwrap().done());
    press(&mut app, "l");
    assert!(app.course().unwrap().ended);
    // The end leads back to the list, with its mark.
    press(&mut app, "⏎");
    assert!(app.course().is_none());
    assert_eq!(app.context(), super::super::Context::Lessons);
    let offers = &app.learn.as_ref().unwrap().offers;
    assert!(offers[0].attempt.as_ref().unwrap().finished());
}

#[test]
fn a_lesson_goes_on_where_it_was_left_unless_it_is_done_or_begun_anew() {
    let mut app = listed();
    go(&mut app, Motion::Last);
    let done = |jobs: &[Job]| match jobs {
        [Job::Learn(_, attempt)] => attempt.done(),
        other => panic!("{other:?}"),
    };
    assert_eq!(done(&begin(&app, false)), 1);
    assert_eq!(done(&begin(&app, true)), 0);
    let offers = &mut app.learn.as_mut().unwrap().offers;
    offers[1].attempt.as_mut().unwrap().parts[1].done = true;
    assert_eq!(done(&begin(&app, false)), 0);
}
