//! The jump list: a row a place, with what happened there.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, plural, row_of};
use crate::app::extent::Pane;
use crate::app::jumps::{Jump, Jumps, What};
use crate::model::{StepKind, clean_line};
use crate::ui::glyph::Glyph;
use crate::ui::role::Role;
use crate::ui::widgets::{fit, fitted};

/// Cells of what happened.
const WHAT: usize = 11;

impl Painter<'_> {
    pub(super) fn jumps(&mut self, jumps: &Jumps, area: Rect) {
        let theme = self.theme;
        let left = format!(
            "{} {} places",
            clean_line(jumps.branch.as_str()),
            Glyph::CURSOR.show(self.charset)
        );
        let rows: Vec<&Jump> = jumps.rows().collect();
        let told = match jumps.only {
            Some(what) => format!(
                "only {}: {} of {}",
                what.name(),
                rows.len(),
                jumps.all.len()
            ),
            None => plural(rows.len(), "place"),
        };
        let areas = self.frame(
            area,
            &left,
            Line::styled(told, theme.style(Role::Accent)),
            true,
        );
        if jumps.looking {
            let text = " looking for failures…";
            Line::styled(text, theme.style(Role::Muted)).render(areas.info, self.buf);
        }
        if rows.is_empty() {
            let text = " Nothing happened on this branch that is known.";
            Line::styled(text, theme.style(Role::Muted)).render(row_of(areas.body, 0), self.buf);
            return;
        }
        let height = usize::from(areas.body.height);
        let extent = self.list(Pane::Jumps, rows.len(), jumps.selected, areas.body, 1);
        for (n, jump) in rows.iter().enumerate().skip(extent.top).take(height) {
            let row = row_of(areas.body, n - extent.top);
            let chosen = n == jumps.selected;
            let sign = if chosen {
                Glyph::CURSOR.show(self.charset)
            } else {
                " "
            };
            let (glyph, role) = look(jump.what);
            let room = usize::from(row.width).saturating_sub(WHAT + 14);
            Line::from(vec![
                Span::styled(format!("{sign} "), theme.style(Role::Accent)),
                Span::styled(format!("{:>6}  ", jump.step), theme.style(Role::Muted)),
                Span::styled(
                    format!(
                        "{} {} ",
                        glyph.show(self.charset),
                        fitted(jump.what.name(), WHAT)
                    ),
                    theme.style(role),
                ),
                Span::styled(fit(&clean_line(&jump.text), room), theme.style(Role::Text)),
            ])
            .render(row, self.buf);
            if chosen {
                self.select(row, true);
            }
        }
        self.more(extent, areas.body);
    }
}

const fn look(what: What) -> (Glyph, Role) {
    match what {
        What::Failure => (Glyph::FAIL, Role::Error),
        What::Plan => (Glyph::ORCHESTRATOR, Role::Kind(StepKind::Plan)),
        What::Label | What::Hypothesis => (Glyph::HYPOTHESIS, Role::Warn),
        What::Edit => (Glyph::FORK, Role::Accent),
        What::Milestone => (Glyph::MILESTONE, Role::MilestoneReached),
        What::Note => (Glyph::NOTE, Role::Accent),
    }
}
