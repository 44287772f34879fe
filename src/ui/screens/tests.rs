use insta::assert_snapshot;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::app::company_tests;
use crate::app::find_fixture;
use crate::app::fixture;
use crate::app::gate_fixture::{self, held};
use crate::app::hypotheses_tests;
use crate::app::learn::tests as lesson_fixture;
use crate::app::live_tests;
use crate::ui::colour::Depth;
use crate::ui::glyph::Charset;

/// The screen as text. Set `DOVER_LOOK` to a directory to get a picture beside it, in the theme of `DOVER_LOOK_THEME` and, where
/// `DOVER_LOOK_ASCII` is set, in ASCII.
pub(super) fn screen(app: &mut App, name: &str, width: u16, height: u16) -> String {
    let theme = match std::env::var("DOVER_LOOK_THEME") {
        Ok(theme) => Theme::load(&theme, Depth::True, |_| None).unwrap(),
        Err(_) => Theme::fallback(Depth::Ansi16),
    };
    let charset = if std::env::var_os("DOVER_LOOK_ASCII").is_some() {
        Charset::Ascii
    } else {
        Charset::Unicode
    };
    let mut cache = RenderCache::new(charset);
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    // Twice, for the first frame tells the application how high its panes are.
    for _ in 0..2 {
        terminal
            .draw(|frame| draw(app, &theme, &mut cache, frame))
            .unwrap();
        let jobs = crate::app::update(app, crate::app::Msg::Drawn(Box::new(cache.extents)));
        fixture::answer(app, jobs);
    }
    if let Ok(directory) = std::env::var("DOVER_LOOK") {
        let picture = crate::ui::svg::svg(terminal.backend().buffer(), &theme);
        std::fs::write(format!("{directory}/{name}.svg"), picture).unwrap();
    }
    crate::ui::svg::text(terminal.backend().buffer())
}

/// Every screen, by name.
pub(super) fn screens() -> Vec<(&'static str, App)> {
    let with = |mut app: App, keys: &str| {
        fixture::press(&mut app, keys);
        app
    };
    vec![
        ("picker", fixture::picker()),
        ("session", fixture::opened()),
        ("detail", with(fixture::opened(), "gg⎋:2⏎⏎")),
        ("branches", with(fixture::replayed(), "⎋⇥⇥j")),
        ("search", with(fixture::opened(), "/archive")),
        ("editor", with(fixture::opened(), "e Open it.")),
        ("gates_hold", fixture::at_the_gates(false)),
        ("gates_pass", fixture::at_the_gates(true)),
        ("gates_drift", held(&gate_fixture::DRIFT)),
        ("gates_effects", held(&gate_fixture::EFFECTS)),
        ("gates_approval", held(&gate_fixture::APPROVAL)),
        ("gates_waiting", gate_fixture::waiting()),
        ("gates_delta", held(&gate_fixture::DELTA)),
        ("effects", gate_fixture::effects("j")),
        ("effects_asked", gate_fixture::effects("R")),
        ("effects_none", with(fixture::opened(), "w")),
        ("replay", fixture::replaying()),
        ("replay_asked", gate_fixture::asked()),
        ("verdict", fixture::replayed()),
        ("compare", with(fixture::replayed(), "⏎")),
        ("pair", with(fixture::replayed(), "⏎⏎")),
        ("milestones", with(fixture::replayed(), "⏎m")),
        ("interventions", with(fixture::replayed(), "v")),
        ("hypotheses", hypotheses_tests::pane()),
        (
            "hypotheses_untestable",
            with(hypotheses_tests::pane(), "jj"),
        ),
        ("state", with(fixture::opened(), ":5⏎t⏎j⏎")),
        ("state_differs", with(fixture::opened(), ":4⏎td]]")),
        ("live", live_tests::standing()),
        ("live_held", live_tests::held(None)),
        ("live_asked", live_tests::asked()),
        ("live_edit", with(live_tests::standing(), "e Twice.")),
        ("live_log", with(live_tests::standing(), "⇥⇥")),
        ("overview", find_fixture::overview("l")),
        ("overview_kind", find_fixture::overview("l⇥ ")),
        ("overview_milestone", find_fixture::overview("ll⇥⇥⇥")),
        ("overview_wide", find_fixture::wide(50, 1_000)),
        ("grid", find_fixture::overview("lmll")),
        ("palette", find_fixture::palette("next")),
        ("jumps", with(fixture::opened(), "*'j")),
        ("noted", with(fixture::opened(), "aToo vague to act on⏎")),
        ("narrowed", with(fixture::opened(), "&agent:web⏎")),
        ("several", find_fixture::overview(" l l l c")),
        ("help", with(fixture::opened(), "?")),
        ("lessons", lesson_fixture::listed()),
        ("lesson_page", lesson_fixture::page()),
        ("lesson_task", lesson_fixture::task()),
        ("seat", company_tests::asked()),
    ]
}

#[test]
fn every_screen_at_three_sizes() {
    if std::env::var_os("DOVER_LOOK").is_some() {
        for (name, mut app) in screens() {
            screen(&mut app, &format!("{name}_140x45"), 140, 45);
        }
    }
    for (name, mut app) in screens() {
        for (width, height) in [(80, 24), (120, 40), (40, 12)] {
            let name = format!("{name}_{width}x{height}");
            let text = screen(&mut app, &name, width, height);
            assert_snapshot!(name, text);
        }
    }
}

/// Draws without a panic, and what is drawn has no control character.
fn draws(app: &mut App, width: u16, height: u16) {
    let theme = Theme::fallback(Depth::Ansi16);
    let mut cache = RenderCache::new(Charset::Ascii);
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| draw(app, &theme, &mut cache, frame))
        .unwrap();
    let jobs = crate::app::update(app, crate::app::Msg::Drawn(Box::new(cache.extents)));
    fixture::answer(app, jobs);
    let text = crate::ui::svg::text(terminal.backend().buffer());
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_state_draws_at_any_size(
        at in 0..47_usize,
        keys in "[jkegGnN?!mvcbripyJKfdlT+=sxMaApoRwuynhHtozl&*Y' ⏎⎋⇥␓⌦<>/:0-9\\[\\]{}]{0,24}",
        sizes in prop::collection::vec((0..=200_u16, 0..=60_u16), 1..4),
    ) {
        let (_, mut app) = screens().into_iter().nth(at).unwrap();
        for key in keys.chars() {
            fixture::press(&mut app, &key.to_string());
        }
        for (width, height) in sizes {
            draws(&mut app, width, height);
        }
    }
}

#[test]
fn every_screen_draws_at_every_small_size() {
    for (_, mut app) in screens() {
        for width in (0..46).step_by(3) {
            for height in 0..14 {
                draws(&mut app, width, height);
            }
        }
    }
}
