//! A burst of keys ends where the same keys end one by one.

use proptest::prelude::*;

use super::fixture::{self, press};
use super::key::{Code, Key};
use super::msg::StepView;
use super::press_fixture::press_one;
use super::tests::{key, notice};
use super::*;

/// Presses all keys before anything answers.
fn burst(app: &mut App, keys: &str) -> Vec<Job> {
    keys.chars().flat_map(|sign| press_one(app, sign)).collect()
}

fn selected(app: &App) -> usize {
    app.open.as_ref().unwrap().selected
}

fn edited(app: &App) -> usize {
    match app.views.last() {
        Some(View::Editor(editor)) => editor.original.index,
        other => panic!("{other:?}"),
    }
}

/// Everything that keys decide, as text.
fn state(app: &App) -> String {
    let open = app.open.as_ref().map(|open| {
        let at = (
            &open.steps.branch,
            open.selected,
            open.focus,
            open.branch_row,
        );
        let found = (&open.search, &open.narrowed, open.steps.only(), &open.notes);
        format!("{at:?} {found:?} {:?} {:?}", open.land, open.pretty)
    });
    let views: Vec<String> = app.views.iter().map(|view| format!("{view:?}")).collect();
    format!(
        "{open:?} {views:#?} {:?} {:?} {:?} {}",
        app.prompt, app.drafts, app.notice, app.picker.selected
    )
}

#[test]
fn an_edit_waits_for_the_step_that_is_gone_to() {
    // The failure is at 10, the step before it at 9.
    let mut app = fixture::opened();
    press(&mut app, "<");
    let jobs = burst(&mut app, "}ke");
    assert_eq!(app.context(), Context::Steps);
    fixture::answer(&mut app, jobs);
    assert_eq!((app.context(), edited(&app)), (Context::Typing, 9));

    let table = [
        ("jje", 2),
        (":7⏎e", 7),
        ("/archive⏎ne", 6),
        ("jjjjjke??", 4),
    ];
    for (keys, step) in table {
        let mut app = fixture::opened();
        press(&mut app, "<");
        let jobs = burst(&mut app, keys);
        fixture::answer(&mut app, jobs);
        assert_eq!(edited(&app), step, "{keys}");
    }
}

#[test]
fn keys_go_to_the_view_that_was_asked_for() {
    let mut app = fixture::replayed();
    press(&mut app, "⎋");
    let jobs = burst(&mut app, "c⏎");
    fixture::answer(&mut app, jobs);
    assert_eq!(app.context(), Context::Pair);

    let mut app = fixture::picker();
    let jobs = burst(&mut app, "⏎jj");
    fixture::answer(&mut app, jobs);
    assert_eq!((app.picker.selected, selected(&app)), (0, 2));
}

#[test]
fn escape_takes_back_what_is_waited_for_and_the_keys_behind_it() {
    let mut app = fixture::opened();
    press(&mut app, "<");
    let mut jobs = burst(&mut app, "}jje");
    jobs.extend(burst(&mut app, "⎋"));
    assert!(notice(&app).contains("Taken back"));
    fixture::answer(&mut app, jobs);
    assert_eq!((app.context(), selected(&app)), (Context::Steps, 0));
    // Nothing is left behind of it.
    press(&mut app, "}");
    assert_eq!(selected(&app), 10);

    // Only the text is waited for: the edit is what goes.
    let mut app = fixture::opened();
    let jobs = burst(&mut app, "je⎋");
    fixture::answer(&mut app, jobs);
    assert_eq!((app.context(), selected(&app)), (Context::Steps, 10));

    let mut app = fixture::opened();
    burst(&mut app, "}");
    key(&mut app, Key::ctrl('c'));
    assert_eq!(app.exit, Some(Exit::Leave));
}

#[test]
fn a_reading_that_fails_lets_go_of_the_keys_behind_it() {
    let mut app = fixture::opened();
    press(&mut app, "<");
    burst(&mut app, "}ke");
    let branch = BranchId::main("night-picture");
    update(&mut app, Msg::ErrorAt(branch, Err("store: locked".into())));
    assert_eq!(
        (app.context(), notice(&app)),
        (Context::Steps, "store: locked")
    );
    press(&mut app, "j");
    assert_eq!(selected(&app), 1);

    burst(&mut app, "}");
    update(&mut app, Msg::Failed("A job broke down".into()));
    press(&mut app, "j");
    assert_eq!(selected(&app), 2);

    // A text that cannot be read is not waited for any longer.
    burst(&mut app, "je");
    let view = StepView {
        step: Err("store: locked".into()),
        restorability: Err("store: locked".into()),
    };
    let main = BranchId::main("night-picture");
    update(&mut app, Msg::Step(main, 3, Box::new(view)));
    assert!(!app.keys_wait());
}

#[test]
fn few_keys_wait() {
    let mut app = fixture::opened();
    press(&mut app, "<");
    let jobs = burst(&mut app, &format!("}}{}", "j".repeat(ahead::MOST + 5)));
    assert!(notice(&app).contains("dropped"), "{}", notice(&app));
    fixture::answer(&mut app, jobs);
    assert_eq!(selected(&app), 13);
}

#[test]
fn a_window_that_was_not_drawn_is_waited_for() {
    let mut app = fixture::opened();
    let drawn = |app: &mut App, rows| {
        let mut extents = app.extents;
        let extent = extent::Extent {
            top: 0,
            height: 5,
            rows,
        };
        extents.set(extent::Pane::Detail, extent);
        update(app, Msg::Drawn(Box::new(extents)));
    };
    drawn(&mut app, 0);
    let jobs = burst(&mut app, "j⏎jj");
    fixture::answer(&mut app, jobs);
    assert_eq!(app.extents.get(extent::Pane::Detail).top, 0);
    drawn(&mut app, 20);
    assert_eq!(app.extents.get(extent::Pane::Detail).top, 2);
    assert!(!app.keys_wait());
    // A window without rows is not waited for for ever.
    press(&mut app, "J");
    press(&mut app, "j");
    drawn(&mut app, 0);
    assert!(!app.keys_wait());
    assert_eq!(key(&mut app, Key::of(Code::Left)).len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Esc aside, which takes back what is waited for.
    #[test]
    fn a_burst_ends_where_the_same_keys_one_by_one_end(
        keys in proptest::collection::vec(
            proptest::sample::select(vec![
                "j", "k", "G", "<", "}", "{", "]", "[", "e", "f", "y", "⏎", "⇥", "/archive⏎", "n",
                "&agent:web⏎", ":5⏎", "'", "o", "c", "t", "*", "anote⏎", "h", "l", "v", "m", " ", "z", "d",
            ]),
            0..12,
        ),
        replayed in any::<bool>(),
    ) {
        let keys = keys.concat();
        let begin = || if replayed {
            let mut app = fixture::replayed();
            press(&mut app, "⎋");
            app
        } else {
            fixture::picker()
        };
        let (mut one_by_one, mut at_once) = (begin(), begin());
        press(&mut one_by_one, &keys);
        let jobs = burst(&mut at_once, &keys);
        fixture::answer(&mut at_once, jobs);
        prop_assert!(!at_once.keys_wait(), "{}", keys);
        prop_assert_eq!(state(&one_by_one), state(&at_once), "{}", keys);
    }
}
