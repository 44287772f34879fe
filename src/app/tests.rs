//! Keys and answers in, state and jobs out.

use super::fixture::{self, EDIT, press};
use super::key::{Code, Key};
use super::msg::{Fault, Hand};
use super::*;
use crate::model::{BranchId, RunStatus, StepHead};
use crate::pipeline::Progress;

pub(super) fn key(app: &mut App, key: Key) -> Vec<Job> {
    update(app, Msg::Key(key))
}

pub(super) fn notice(app: &App) -> &str {
    app.notice.as_ref().map_or("", |notice| &notice.text)
}

#[test]
fn escape_leads_back_from_everywhere_one_view_at_a_time() {
    use Context::{Compare, Help, Milestones, Pair, Picker, Replay, Steps};
    let mut app = fixture::replayed();
    press(&mut app, "⏎⏎m?");
    let mut seen = vec![app.context()];
    while app.context() != Context::Picker {
        press(&mut app, "⎋");
        seen.push(app.context());
    }
    // `m` does not work over a pair in full.
    assert_eq!(seen, [Help, Pair, Compare, Replay, Steps, Picker]);
    press(&mut app, "⏎m");
    assert_eq!(app.context(), Milestones);
    assert_eq!(app.exit, None);
}

#[test]
fn a_quick_key_after_escape_is_not_lost() {
    let quick = |c| Key {
        alt: true,
        ..Key::char(c)
    };
    let mut app = fixture::opened();
    press(&mut app, "⏎");
    key(&mut app, quick('j'));
    assert_eq!(app.context(), Context::Steps);
    assert_eq!(app.open.as_ref().unwrap().selected, 10);
    // In a text it is the text's: Alt-d deletes a word there.
    press(&mut app, "ke");
    key(&mut app, quick('d'));
    assert_eq!(app.context(), Context::Typing);
}

#[test]
fn an_edit_that_was_not_forked_is_kept_beside_its_step() {
    let mut app = fixture::opened();
    press(&mut app, "e now");
    assert_eq!(app.context(), Context::Typing);
    press(&mut app, "⎋⎋");
    assert_eq!(app.context(), Context::Steps);
    assert!(notice(&app).contains("kept"));
    let draft = &app.drafts.values().next().unwrap().text;
    assert!(draft.ends_with("there. now"), "{draft}");
    press(&mut app, "e!⎋⎋");
    assert!(app.drafts.values().next().unwrap().text.ends_with("now!"));
    // Quitting would drop it: that is asked about once.
    press(&mut app, "q");
    assert_eq!(app.exit, None);
    assert!(notice(&app).contains("step 9"));
    press(&mut app, "jq");
    assert_eq!(app.exit, None, "another key is a no");
    press(&mut app, "q");
    assert_eq!(app.exit, Some(Exit::Quit));
}

#[test]
fn only_an_edit_goes_to_the_gates() {
    let mut app = fixture::opened();
    press(&mut app, "e");
    assert!(key(&mut app, Key::ctrl('s')).is_empty());
    assert!(notice(&app).contains("Nothing is changed"));
    update(&mut app, Msg::Edited(Ok(" \n".into())));
    assert!(key(&mut app, Key::ctrl('s')).is_empty());
    assert!(notice(&app).contains("empty"));
    update(
        &mut app,
        Msg::Edited(Err("vi does not start. The edit is kept".into())),
    );
    update(&mut app, Msg::Edited(Ok(EDIT.into())));
    let jobs = key(&mut app, Key::of(Code::F(2)));
    let [Job::Check(_, request), Job::KeepDraft(_)] = jobs.as_slice() else {
        panic!("{jobs:?}");
    };
    assert_eq!(
        (request.step, request.text.as_deref(), request.runs),
        (9, Some(EDIT), None)
    );
}

#[test]
fn a_word_of_the_machinery_is_not_edited() {
    let mut app = fixture::opened();
    press(&mut app, ":3⏎e");
    assert_eq!(app.context(), Context::Steps);
    assert!(notice(&app).contains("machinery"));
}

#[test]
fn a_held_fork_runs_only_as_a_diagnostic_branch() {
    let mut app = fixture::at_the_gates(false);
    assert!(key(&mut app, Key::of(Code::Enter)).is_empty());
    assert!(notice(&app).contains("Press d"), "{}", notice(&app));
    let jobs = key(&mut app, Key::char('d'));
    assert!(
        matches!(&jobs[..], [Job::Fork(_, request), ..] if request.diagnostic && request.runs == Some(3))
    );

    let mut app = fixture::at_the_gates(true);
    assert!(key(&mut app, Key::char('d')).is_empty());
    let jobs = key(&mut app, Key::of(Code::Enter));
    assert!(matches!(&jobs[..], [Job::Fork(_, request), ..] if !request.diagnostic));
    assert_eq!(app.context(), Context::Replay);
    assert!(app.drafts.is_empty());
}

#[test]
fn a_changed_plan_is_checked_again_and_an_old_answer_is_not_taken() {
    let mut app = fixture::at_the_gates(true);
    let old = app.gates().unwrap().ticket;
    let jobs = key(&mut app, Key::char('+'));
    assert!(
        matches!(&jobs[..], [Job::Check(ticket, request)] if *ticket != old && request.runs == Some(4))
    );
    update(
        &mut app,
        Msg::Checked(old, Ok(Box::new(fixture::checked(true)))),
    );
    assert!(app.gates().unwrap().checking);
    assert!(
        key(&mut app, Key::of(Code::Enter)).is_empty(),
        "not before its own answer"
    );
    for _ in 0..9 {
        press(&mut app, "-");
    }
    assert_eq!(app.gates().unwrap().runs(), Some(1));
}

#[test]
fn a_tail_is_followed_only_by_who_is_at_it() {
    let mut app = fixture::replaying();
    let ticket = app.replay.as_ref().unwrap().ticket;
    let step = |index: usize| Progress::Step {
        branch: BranchId::new("night-picture", "b1"),
        head: StepHead {
            index,
            ..StepHead::of(&fixture::steps()[7])
        },
    };
    update(&mut app, Msg::Progress(ticket, step(13)));
    let at = |app: &App| {
        let run = app.replay.as_ref().unwrap().run().unwrap();
        (run.selected, run.heads.len(), run.unseen)
    };
    assert_eq!(at(&app), (4, 5, 0));
    press(&mut app, "k");
    update(&mut app, Msg::Progress(ticket, step(14)));
    assert_eq!(at(&app), (3, 6, 1));
    press(&mut app, "G");
    assert_eq!(at(&app), (5, 6, 0));
}

#[test]
fn the_hand_on_the_runs() {
    let mut app = fixture::replaying();
    let mut hand = |c: char| match key(&mut app, Key::char(c)).first() {
        Some(Job::Hand(_, hand)) => Some(*hand),
        _ => None,
    };
    assert_eq!(hand(' '), Some(Hand::Pause));
    assert_eq!(hand('s'), Some(Hand::Step));
    assert_eq!(hand(' '), Some(Hand::Resume));
    assert_eq!(
        hand('s'),
        Some(Hand::Pause),
        "the first step of a going run is to hold it"
    );
    assert_eq!(hand('x'), Some(Hand::Stop));
    let ticket = app.replay.as_ref().unwrap().ticket;
    update(
        &mut app,
        Msg::Replayed(ticket, Ok(Box::new(fixture::outcome()))),
    );
    assert!(key(&mut app, Key::char('x')).is_empty());
}

#[test]
fn runs_that_go_are_asked_about_once() {
    let mut app = fixture::replaying();
    press(&mut app, "⎋q");
    assert_eq!(app.exit, None);
    assert!(notice(&app).contains("q again"));
    press(&mut app, "q");
    assert_eq!(app.exit, Some(Exit::Quit));
    key(&mut app, Key::ctrl('c'));
    assert_eq!(app.exit, Some(Exit::Leave), "at once from anywhere");
}

#[test]
fn a_log_taken_in_leaves_the_screen_to_who_went_on() {
    let importing = || Importing {
        what: "big.json".into(),
        ..Importing::default()
    };
    let taken = || Msg::TakenIn(Ok("big".into()));
    let opens = |jobs: &[Job]| jobs.iter().any(|job| matches!(job, Job::Open(_)));

    let (mut waiting, _) = App::start("me".into(), Some("big.json".into()), None);
    assert!(opens(&update(&mut waiting, taken())));

    let mut editing = fixture::opened();
    editing.picker.importing = Some(importing());
    press(&mut editing, "e now");
    assert!(!opens(&update(&mut editing, taken())));
    assert_eq!(editing.context(), Context::Typing);
    assert!(notice(&editing).contains("big is read"));

    // Asked to open another one a moment before.
    let mut left = fixture::opened();
    press(&mut left, "⎋");
    left.picker.importing = Some(importing());
    press(&mut left, "⏎");
    assert!(!opens(&update(&mut left, taken())));
}

#[test]
fn escape_takes_back_a_filter_one_step_at_a_time() {
    let mut app = fixture::opened();
    press(&mut app, "⎋/night⏎/zzz");
    assert_eq!(app.picker.filter, "nightzzz");
    press(&mut app, "⎋");
    assert_eq!(app.picker.filter, "night");
    press(&mut app, "⎋");
    assert_eq!(app.picker.filter, "");
}

#[test]
fn another_key_only_cancels_the_question_whether_to_quit() {
    let mut app = fixture::opened();
    press(&mut app, "e now⎋⎋q");
    assert!(app.asked_to_quit);
    press(&mut app, "⎋");
    assert_eq!(app.context(), Context::Steps);
    assert!(!app.asked_to_quit);
    press(&mut app, "qq");
    assert_eq!(app.exit, Some(Exit::Quit));
}

#[test]
fn a_second_fork_waits_for_the_first() {
    let mut app = fixture::replaying();
    press(&mut app, "b");
    let ticket = app.gates().unwrap().ticket;
    update(
        &mut app,
        Msg::Checked(ticket, Ok(Box::new(fixture::checked(true)))),
    );
    assert!(key(&mut app, Key::of(Code::Enter)).is_empty());
    assert!(notice(&app).contains("still going"));
    assert_eq!(app.context(), Context::Gates);
}

#[test]
fn what_failed_is_said_and_asked_for_no_more() {
    let broken: Fault = "store /tmp/x.db: it is locked. Close the other dover".into();
    let mut app = fixture::opened();
    let jobs = update(&mut app, Msg::Key(Key::char('j')));
    let Some(Job::Step(_, branch, 10)) = jobs.first() else {
        panic!("{jobs:?}");
    };
    let view = msg::StepView {
        step: Err(broken.clone()),
        restorability: Err(broken.clone()),
    };
    let jobs = update(&mut app, Msg::Step(branch.clone(), 10, Box::new(view)));
    assert!(jobs.is_empty(), "{jobs:?}");
    update(&mut app, Msg::Failed(broken.clone()));
    assert!(app.notice.as_ref().unwrap().fault);
    press(&mut app, "!");
    assert_eq!(app.context(), Context::Notice);
    assert_eq!(app.last_notice.as_ref().unwrap().text, broken);
}

#[test]
fn search_and_jumps() {
    let mut app = fixture::opened();
    let selected = |app: &App| app.open.as_ref().unwrap().selected;
    press(&mut app, "<");
    assert_eq!(selected(&app), 0);
    press(&mut app, "/archive⏎");
    assert_eq!(
        (selected(&app), notice(&app).contains("3 steps")),
        (4, true)
    );
    press(&mut app, "nn");
    assert_eq!(selected(&app), 9);
    press(&mut app, "n");
    assert_eq!(selected(&app), 4);
    press(&mut app, "N");
    assert_eq!(selected(&app), 9);
    press(&mut app, "[");
    assert_eq!(selected(&app), 8);
    press(&mut app, "]");
    assert!(notice(&app).contains("last trial"));
    press(&mut app, "g12⏎");
    assert_eq!(selected(&app), 12);
    press(&mut app, "g14⏎");
    assert_eq!(selected(&app), 12);
    assert!(notice(&app).contains("0 to 13"));
}

#[test]
fn the_end_of_a_hundred_thousand_steps_costs_a_page_or_two() {
    let mut app = fixture::opened();
    let long = crate::model::Branch {
        steps: 100_000,
        ..fixture::branch("main")
    };
    let view = fixture::view(long, fixture::MAIN);
    update(&mut app, Msg::Branch(Ok(Box::new(view))));
    let jobs = key(&mut app, Key::char('G'));
    let pages: Vec<usize> = jobs
        .iter()
        .filter_map(|job| match job {
            Job::Heads(_, page) => Some(*page),
            _ => None,
        })
        .collect();
    assert_eq!(pages, [499]);
}

#[test]
fn text_is_never_taken_for_keys() {
    let mut app = fixture::opened();
    let jobs = update(&mut app, Msg::Paste("qqe\n".into()));
    assert!(jobs.is_empty());
    assert_eq!((app.exit, app.context()), (None, Context::Steps));
    press(&mut app, "/");
    update(&mut app, Msg::Paste("two words\nq".into()));
    assert_eq!(app.prompt.as_ref().unwrap().line, "two words");
}

#[test]
fn an_ended_run_is_shown_as_the_store_has_it() {
    let mut app = fixture::replaying();
    let ticket = app.replay.as_ref().unwrap().ticket;
    let branch = Box::new(fixture::ended("b1", true, 4));
    let jobs = update(&mut app, Msg::Progress(ticket, Progress::Ended { branch }));
    assert!(matches!(&jobs[..], [Job::Milestones(id), ..] if id.name() == "b1"));
    let run = &app.replay.as_ref().unwrap().runs[0];
    assert_eq!(
        (run.branch.run, run.branch.success),
        (RunStatus::Done, Some(true))
    );
}

#[test]
fn what_was_wrong_at_the_start_is_not_hidden_by_a_hint() {
    for (damaged, more) in [(0, ""), (2, "2 damaged")] {
        let mut app = fixture::picker();
        app.fail("keys.toml, line 1: wrong");
        let mut session = fixture::session();
        session.coverage.damaged = damaged;
        let opened = msg::Opened {
            session,
            branches: vec![fixture::branch("main")],
            interventions: Vec::new(),
            hypotheses: Vec::new(),
            shown: fixture::view(fixture::branch("main"), fixture::MAIN),
        };
        update(&mut app, Msg::Opened(Ok(Box::new(opened))));
        let said = notice(&app);
        assert!(said.contains("line 1") && said.contains(more), "{said}");
        press(&mut app, "!");
        assert_eq!(app.context(), Context::Notice);
        assert!(app.last_notice.as_ref().unwrap().text.contains("line 1"));
    }
}

#[test]
fn a_log_that_was_not_read_whole_says_so_before_anything_else() {
    let table = [
        (0, "Find the step that went wrong"),
        (
            2,
            "14 records read, 0 unknown, 2 damaged, 0 dropped, with message content",
        ),
    ];
    for (damaged, told) in table {
        let mut app = fixture::picker();
        let mut session = fixture::session();
        session.coverage.damaged = damaged;
        let opened = msg::Opened {
            session,
            branches: vec![fixture::branch("main")],
            interventions: Vec::new(),
            hypotheses: Vec::new(),
            shown: fixture::view(fixture::branch("main"), fixture::MAIN),
        };
        update(&mut app, Msg::Opened(Ok(Box::new(opened))));
        assert!(notice(&app).starts_with(told), "{}", notice(&app));
    }
}
