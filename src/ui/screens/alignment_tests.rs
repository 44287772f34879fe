//! Columns stand under each other whatever the text: right-to-left, CJK, combining marks, emoji of every kind.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::CellWidth;

use super::super::{RenderCache, draw};
use crate::app::{App, Msg, fixture, hypotheses_tests, update};
use crate::model::{StepKind, clean_line};
use crate::ui::colour::Depth;
use crate::ui::glyph::{Charset, Glyph};
use crate::ui::theme::Theme;
use crate::ui::widgets::{StepLook, fit, fitted, step_line, width_of};

/// Texts that are wider or narrower than their characters are many.
const ODD: [&str; 12] = [
    "plain",
    "שלום עולם",
    "مرحبا بالعالم",
    "打开八月的图片",
    "ハﾝｶｸ ｶﾅ",
    "각각 한글",
    "e\u{301}a\u{308}o\u{302}\u{323}",
    "क्षि नमस्ते",
    "👨‍👩‍👧‍👦 family",
    "🇩🇪🇫🇷 flags",
    "👍🏽👩🏿‍🚀 tones",
    "❤\u{fe0f} 1\u{fe0f}\u{20e3} ✈\u{fe0f}",
];

fn rows(app: &mut App, width: u16, height: u16) -> Terminal<TestBackend> {
    let theme = Theme::fallback(Depth::None);
    let mut cache = RenderCache::new(Charset::Unicode);
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    for _ in 0..2 {
        terminal
            .draw(|frame| draw(app, &theme, &mut cache, frame))
            .unwrap();
        let jobs = update(app, Msg::Drawn(Box::new(cache.extents)));
        fixture::answer(app, jobs);
    }
    terminal
}

/// The cells at which a sign stands, by row.
fn columns_of(terminal: &Terminal<TestBackend>, sign: &str) -> Vec<(u16, u16)> {
    let buffer = terminal.backend().buffer();
    let cells = buffer.area.positions();
    cells
        .filter(|at| buffer.cell(*at).is_some_and(|cell| cell.symbol() == sign))
        .map(|at| (at.y, at.x))
        .collect()
}

#[test]
fn a_fitted_text_has_exactly_its_cells() {
    for text in ODD {
        let text = clean_line(text);
        for width in 0..24 {
            let padded = fitted(&text, width);
            assert_eq!(width_of(&padded), width, "{text:?} at {width}: {padded:?}");
            assert!(width_of(&fit(&text, width)) <= width);
            // The sum over the clusters, as a terminal places them, is the width of the whole.
            let placed: usize =
                unicode_segmentation::UnicodeSegmentation::graphemes(padded.as_str(), true)
                    .map(|cluster| usize::from(cluster.cell_width()))
                    .sum();
            assert_eq!(placed, width, "{text:?} at {width}");
        }
    }
}

#[test]
fn the_columns_of_a_list_of_steps_stand_under_each_other() {
    let theme = Theme::fallback(Depth::None);
    for agent in ODD {
        let mut session = fixture::session();
        for (info, name) in session.agents.iter_mut().zip(ODD) {
            name.clone_into(&mut info.name);
        }
        let look = StepLook::new(&session, &theme, Charset::Unicode, 80, 100);
        let mut head = crate::model::StepHead::of(&fixture::steps()[9]);
        agent.clone_into(&mut head.agent);
        for (kind, to) in [
            (StepKind::Instruction, Some(agent.to_owned())),
            (StepKind::Message, None),
        ] {
            (head.kind, head.to) = (kind, to);
            for text in ODD {
                text.clone_into(&mut head.head);
                let marks = ratatui::text::Line::from("★1");
                let line = step_line(&head, look, marks, 78);
                // Number, sign, agent and kind take what the look says; the marks end at the edge.
                let cells: Vec<usize> = line.spans.iter().map(ratatui::text::Span::width).collect();
                assert_eq!(
                    cells[..4],
                    [look.number + 1, 2, look.agent + 1, look.kind + 1],
                    "{agent} {text}"
                );
                assert_eq!(line.width(), 78, "{agent} {text}");
            }
        }
    }
}

#[test]
fn every_list_keeps_its_panes_apart_whatever_the_text() {
    for text in ODD {
        let name = format!("{text} {text}");
        let bent = |mut app: App| {
            if let Some(sessions) = &mut app.picker.sessions {
                for summary in sessions {
                    summary.session.title.clone_from(&name);
                    summary.session.task.clone_from(&name);
                }
            }
            if let Some(open) = &mut app.open {
                let mut session = (*open.session).clone();
                session.title.clone_from(&name);
                for milestone in &mut session.milestones {
                    milestone.title.clone_from(&name);
                }
                for agent in session.agents.iter_mut().skip(1) {
                    agent.name.clone_from(&name);
                }
                open.session = session.into();
                for hypothesis in &mut open.hypotheses {
                    hypothesis.hypothesis.agent.clone_from(&name);
                    hypothesis.hypothesis.reason.clone_from(&name);
                }
                for branch in &mut open.branches {
                    branch.answer = Some(name.clone());
                }
            }
            app
        };
        let milestones = || {
            let mut app = fixture::opened();
            fixture::press(&mut app, "m");
            app
        };
        let screens = vec![
            ("picker", fixture::picker()),
            ("session", fixture::opened()),
            ("replay", fixture::replaying()),
            ("hypotheses", hypotheses_tests::pane()),
            ("milestones", milestones()),
        ];
        for (screen, app) in screens {
            let mut app = bent(app);
            for (width, height) in [(160, 40), (80, 24), (40, 12)] {
                let terminal = rows(&mut app, width, height);
                // A vertical line between panes has one column on all its rows, or it is no line.
                let mut by_column = std::collections::BTreeMap::<u16, usize>::new();
                for (_, x) in columns_of(&terminal, "│") {
                    *by_column.entry(x).or_default() += 1;
                }
                let longest = by_column.values().max().copied().unwrap_or(0);
                assert!(
                    by_column.values().all(|count| *count == longest),
                    "{screen} {width}×{height} {text}: {by_column:?}"
                );
                // What a terminal would place fills no more than the row.
                let buffer = terminal.backend().buffer();
                for row in buffer.area.rows() {
                    let mut x = row.x;
                    while x < row.right() {
                        let cells = buffer[(x, row.y)].symbol().cell_width().max(1);
                        // Nothing is drawn under the second cell of a wide sign.
                        for under in x + 1..(x + cells).min(row.right()) {
                            let symbol = buffer[(under, row.y)].symbol();
                            assert!(symbol.trim().is_empty(), "{screen} {text}: {symbol:?}");
                        }
                        x += cells;
                    }
                    assert_eq!(
                        x,
                        row.right(),
                        "{screen} {width}×{height} {text}, row {}",
                        row.y
                    );
                }
            }
        }
    }
}

#[test]
fn hypotheses_have_their_verdicts_under_each_other() {
    for text in ODD {
        let mut app = hypotheses_tests::pane();
        if let Some(open) = &mut app.open {
            for (i, filed) in open.hypotheses.iter_mut().enumerate() {
                filed.hypothesis.agent = ODD[i].repeat(3);
            }
            if let Some(first) = open.hypotheses.first_mut() {
                text.clone_into(&mut first.hypothesis.agent);
            }
        }
        let terminal = rows(&mut app, 100, 30);
        let flags = columns_of(&terminal, Glyph::HYPOTHESIS.sign());
        assert!(flags.len() > 1, "{flags:?}");
        assert!(
            flags.iter().all(|(_, x)| *x == flags[0].1),
            "{text}: {flags:?}"
        );
        let text_of = |y: u16| -> Vec<(u16, String)> {
            let buffer = terminal.backend().buffer();
            (0..100)
                .map(|x| (x, buffer[(x, y)].symbol().to_owned()))
                .collect()
        };
        // "edit" or "no edit" begins at one column.
        let begins: Vec<u16> = flags
            .iter()
            .filter_map(|(y, _)| {
                let row = text_of(*y);
                let at = row.windows(4).find(|cells| {
                    cells.iter().map(|(_, s)| s.as_str()).collect::<String>() == "edit"
                });
                at.map(|cells| cells[0].0)
            })
            .collect();
        let plain: Vec<_> = begins
            .iter()
            .filter(|x| **x == begins[0] || **x == begins[0] + 3)
            .collect();
        assert_eq!(plain.len(), begins.len(), "{text}: {begins:?}");
    }
}

#[test]
fn with_ascii_no_sign_is_left_on_any_screen() {
    for (name, mut app) in super::tests::screens() {
        let theme = Theme::fallback(Depth::None);
        let mut cache = RenderCache::new(Charset::Ascii);
        let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
        for _ in 0..2 {
            terminal
                .draw(|frame| draw(&app, &theme, &mut cache, frame))
                .unwrap();
            let jobs = update(&mut app, Msg::Drawn(Box::new(cache.extents)));
            fixture::answer(&mut app, jobs);
        }
        let text = crate::ui::svg::text(terminal.backend().buffer());
        let left: String = text
            .chars()
            // The fixture's log is in part Chinese, with its own punctuation.
            .filter(|c| !c.is_ascii() && !c.is_alphabetic() && !"。，：".contains(*c))
            .collect();
        assert_eq!(left, "", "{name}:\n{text}");
    }
}
