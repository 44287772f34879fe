//! What is seen is what is hit: places on drawn screens, clicked by the words that stand there.

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::tests::screens;
use super::*;
use crate::app::{Context, Msg, fixture, update};
use crate::ui::colour::Depth;

/// A screen with the mouse taken, and what was drawn of it.
struct Seen {
    app: App,
    cache: RenderCache,
    terminal: Terminal<TestBackend>,
}

impl Seen {
    fn new(name: &str, size: (u16, u16)) -> Self {
        let all = screens().into_iter();
        let (_, app) = all.into_iter().find(|(one, _)| *one == name).unwrap();
        Self::of(app, size)
    }

    fn of(mut app: App, (width, height): (u16, u16)) -> Self {
        app.mouse = true;
        let mut seen = Self {
            app,
            cache: RenderCache::new(Charset::Unicode),
            terminal: Terminal::new(TestBackend::new(width, height)).unwrap(),
        };
        // Twice, for the first frame tells the application how high its panes are.
        seen.draw();
        seen.draw();
        seen
    }

    fn draw(&mut self) {
        let theme = Theme::fallback(Depth::Ansi16);
        let (app, cache) = (&self.app, &mut self.cache);
        self.terminal
            .draw(|frame| draw(app, &theme, cache, frame))
            .unwrap();
        let jobs = update(&mut self.app, Msg::Drawn(Box::new(self.cache.extents)));
        fixture::answer(&mut self.app, jobs);
    }

    /// The place of a text, the first from the top.
    fn place(&self, text: &str) -> (u16, u16) {
        let buf = self.terminal.backend().buffer();
        for y in 0..buf.area.height {
            let row: Vec<&str> = (0..buf.area.width)
                .map(|x| buf.cell((x, y)).unwrap().symbol())
                .collect();
            for x in 0..row.len() {
                if row[x..].concat().starts_with(text) {
                    return (u16::try_from(x).unwrap(), y);
                }
            }
        }
        panic!("no {text:?} in\n{}", crate::ui::svg::text(buf));
    }

    fn target(&self, text: &str) -> Option<Target> {
        let (x, y) = self.place(text);
        self.cache.spots.at(x, y)
    }

    fn click(&mut self, text: &str) {
        let target = self.target(text).unwrap_or_else(|| panic!("{text:?}"));
        let jobs = update(&mut self.app, Msg::Click(target));
        fixture::answer(&mut self.app, jobs);
        self.draw();
    }
}

const NARROW: (u16, u16) = (80, 24);
const WIDE_SIZE: (u16, u16) = (140, 40);

#[test]
fn rows_of_lists_are_where_they_are_seen() {
    // A screen, words in it, what stands there.
    let table = [
        ("picker", "school-fair", Target::Row(Pane::Picker, 1)),
        ("branches", "b2 of main", Target::Row(Pane::Branches, 2)),
        ("gates_pass", "5 config", Target::Row(Pane::Gates, 4)),
        ("effects", "step 13", Target::Row(Pane::Effects, 2)),
        ("milestones", "★3", Target::Row(Pane::Milestones, 2)),
        ("hypotheses", "trial 2", Target::Row(Pane::Hypotheses, 1)),
        ("jumps", "failure", Target::Row(Pane::Jumps, 6)),
        ("state", "browser", Target::Row(Pane::State, 5)),
        ("replay", "b2 ", Target::Row(Pane::Runs, 1)),
        ("editor", "your edit", Target::Pane(Pane::Edit)),
        ("help", "Here, now", Target::Pane(Pane::Help)),
        ("session", "e edit", Target::Command(Id::Edit)),
        ("session", "? help", Target::Command(Id::Help)),
        ("session", "q quit", Target::Command(Id::Quit)),
        ("lesson_task", "lesson 1", Target::Command(Id::Lesson)),
    ];
    for (name, text, expected) in table {
        let seen = Seen::new(name, NARROW);
        assert_eq!(seen.target(text), Some(expected), "{name}: {text}");
    }
}

#[test]
fn wide_panes_take_the_keys_where_they_are_clicked() {
    let mut seen = Seen::new("session", WIDE_SIZE);
    seen.click("Find the picture of");
    assert_eq!(seen.app.context(), Context::Steps);
    let title = seen.target("steps of main");
    assert_eq!(title, Some(Target::Pane(Pane::Steps)), "a title is no row");
    // In the middle pane.
    let target = seen.cache.spots.at(90, 12);
    assert_eq!(target, Some(Target::Pane(Pane::Detail)));
    let jobs = update(&mut seen.app, Msg::Click(target.unwrap()));
    fixture::answer(&mut seen.app, jobs);
    assert_eq!(seen.app.context(), Context::Detail);
    assert_eq!(
        seen.cache.spots.at(130, 30),
        Some(Target::Pane(Pane::Branches))
    );
}

#[test]
fn cells_of_the_overview_are_a_branch_and_a_step() {
    let seen = Seen::new("overview", NARROW);
    let (x, _) = seen.place("b1");
    let (_, y) = seen.place("  5");
    assert_eq!(
        seen.cache.spots.at(x, y),
        Some(Target::Cell(Pane::Overview, 5, 1))
    );
    let mut seen = Seen::new("overview", NARROW);
    let target = Target::Cell(Pane::Overview, 5, 1);
    let jobs = update(&mut seen.app, Msg::Click(target));
    fixture::answer(&mut seen.app, jobs);
    match seen.app.views.last() {
        Some(View::Overview(view)) => assert_eq!((view.branch.name(), view.at()), ("b1", 5)),
        other => panic!("{other:?}"),
    }
    seen.click("b2");
    match seen.app.views.last() {
        Some(View::Overview(view)) => assert_eq!(view.branch.name(), "b2"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_palette_lies_over_everything() {
    let mut seen = Seen::new("palette", WIDE_SIZE);
    // A step of the list lies there, but the palette is over it.
    assert_eq!(seen.cache.spots.at(2, 30), Some(Target::Command(Id::Back)));
    assert_eq!(
        seen.target("Enter do it"),
        Some(Target::Command(Id::Accept))
    );
    seen.click("next trial");
    assert_eq!(seen.app.context(), Context::Palette);
    let before = seen.app.open.as_ref().unwrap().selected;
    seen.click("next trial");
    assert_eq!(seen.app.context(), Context::Steps);
    let after = seen.app.open.as_ref().unwrap().selected;
    assert!(
        after > before || seen.app.notice.is_some(),
        "{before} {after}"
    );
    let mut seen = Seen::new("palette", WIDE_SIZE);
    let jobs = update(&mut seen.app, Msg::Click(Target::Command(Id::Back)));
    assert!(jobs.is_empty() && seen.app.palette.is_none());
}

#[test]
fn a_notice_opens_and_without_the_mouse_nothing_is_noted() {
    let mut app = fixture::opened();
    app.tell("Something to be read");
    let mut seen = Seen::of(app, NARROW);
    seen.click("Something to be");
    assert_eq!(seen.app.context(), Context::Notice);
    seen.app.mouse = false;
    seen.draw();
    let all = (0..24).flat_map(|y| (0..80).map(move |x| (x, y)));
    assert!(
        all.into_iter()
            .all(|(x, y)| seen.cache.spots.at(x, y).is_none())
    );
}

#[test]
fn whatever_is_clicked_can_be_drawn() {
    for (_, app) in screens() {
        let mut seen = Seen::of(app, NARROW);
        let mut targets = Vec::new();
        for (x, y) in (0..24).flat_map(|y| (0..80).map(move |x| (x, y))) {
            let target = seen.cache.spots.at(x, y);
            targets.extend(target.filter(|target| !targets.contains(target)));
        }
        // Also those that are no longer seen: a click may come late.
        for target in targets {
            let wheel = target.pane().map(|pane| Msg::Wheel(pane, true));
            let clicks = [Msg::Click(target), Msg::Click(target)];
            for msg in clicks.into_iter().chain(wheel) {
                let jobs = update(&mut seen.app, msg);
                fixture::answer(&mut seen.app, jobs);
            }
            seen.draw();
        }
    }
}
