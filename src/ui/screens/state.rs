//! The state before a step as a tree: values unfold, how far each can be trusted stands beside it, what differs is marked.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, plural};
use crate::app::extent::Pane;
use crate::app::state::StateView;
use crate::app::tree::{Mark, Row};
use crate::model::{BranchId, clean, clean_line};
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::{fit, hanging, width_of};

/// Rows that the whole text of the selected value may take, of ten.
const WHOLE: u16 = 4;

impl Painter<'_> {
    pub(super) fn state(&mut self, view: &StateView, area: Rect) {
        let (cursor, at) = (Glyph::CURSOR.show(self.charset), view.at());
        let left = format!(
            "{} {cursor} state before step {}",
            clean_line(view.branch.as_str()),
            at.unwrap_or(view.step)
        );
        let right = view.recorded().map_or_else(String::new, |recorded| {
            let place = recorded
                .boundaries
                .iter()
                .position(|step| Some(*step) == at);
            let of = plural(recorded.boundaries.len(), "recorded state");
            place.map_or(String::new(), |place| format!("{} of {of}", place + 1))
        });
        let right = Line::styled(right, self.theme.style(Role::Text));
        let areas = self.frame(area, &left, right, true);
        self.state_status(view, areas.info);
        let body = areas.body;
        let rows = view.rows();
        if rows.is_empty() {
            let (text, role) = match &view.recorded {
                None => ("reading…".to_owned(), Role::Muted),
                Some(Err(fault)) => (clean(fault).into_owned(), Role::Error),
                Some(Ok(recorded)) if recorded.now.is_none() => (
                    "No state was recorded for this branch: the log it came from has none, so a fork restores \
                     nothing and is diagnostic."
                        .to_owned(),
                    Role::Muted,
                ),
                Some(Ok(_)) => ("Nothing differs.".to_owned(), Role::Muted),
            };
            let lines = hanging(
                vec![Span::raw(" ")],
                Passage::plain(&text, role),
                body.width,
                self.theme,
            );
            self.lines(Pane::State, &lines, body);
            return;
        }
        let whole = self.whole_value(rows.get(view.selected), body);
        let below = u16::try_from(whole.len()).unwrap_or(0);
        let list = Rect {
            height: body.height.saturating_sub(below),
            ..body
        };
        let height = usize::from(list.height);
        let extent = self.list(Pane::State, rows.len(), view.selected, list, 1);
        for (place, row) in rows.iter().enumerate().skip(extent.top).take(height) {
            let area = super::row_of(list, place - extent.top);
            self.state_row(row, place == view.selected, area);
        }
        self.more(extent, list);
        for (line, at) in whole.iter().zip(list.height..) {
            line.render(super::row_of(body, usize::from(at)), self.buf);
        }
    }

    fn state_row(&mut self, row: &Row<'_>, selected: bool, area: Rect) {
        let theme = self.theme;
        let (mark, role) = match row.node.mark {
            Mark::Same => (" ", Role::Text),
            Mark::Changed => ("~", Role::Warn),
            Mark::Added => ("+", Role::DiffAdd),
            Mark::Removed => ("-", Role::DiffDel),
        };
        let cursor = if selected {
            Glyph::CURSOR.show(self.charset)
        } else {
            " "
        };
        let fold = match row.unfolded {
            Some(true) => "- ",
            Some(false) => "+ ",
            None => "  ",
        };
        let name = if row.depth == 0 || selected {
            Role::Title
        } else {
            Role::Text
        };
        let mut spans = vec![
            Span::styled(format!("{cursor} "), theme.style(Role::Accent)),
            Span::styled(format!("{mark} "), theme.style(role)),
            Span::raw("  ".repeat(row.depth)),
            Span::styled(fold, theme.style(Role::Muted)),
            Span::styled(clean_line(&row.node.name), theme.style(name)),
        ];
        if !row.node.note.is_empty() {
            let trusted = row.node.note.starts_with("saved") || row.node.note == "full";
            let note = format!("  ({})", clean_line(&row.node.note));
            let role = if trusted { Role::Muted } else { Role::Warn };
            spans.push(Span::styled(note, theme.style(role)));
        }
        if let Some(before) = &row.node.before {
            spans.push(Span::raw("  "));
            let (old, arrow) = (clean_line(before), Glyph::TO.show(self.charset));
            spans.push(Span::styled(fit(&old, 30), theme.style(Role::DiffDel)));
            spans.push(Span::styled(format!(" {arrow}"), theme.style(Role::Muted)));
        }
        let used: usize = spans.iter().map(|span| width_of(&span.content)).sum();
        let left = usize::from(area.width).saturating_sub(used + 2);
        let text = fit(&clean_line(&row.node.text), left);
        let quiet = row.unfolded.is_some() && role == Role::Text;
        let role = if quiet { Role::Muted } else { role };
        spans.push(Span::styled(
            format!(
                "{}{text}",
                if row.node.before.is_some() { " " } else { "  " }
            ),
            theme.style(role),
        ));
        Line::from(spans).render(area, self.buf);
        if selected {
            self.select(area, true);
        }
    }

    /// The selected value in full, where its row cannot hold it.
    fn whole_value(&self, row: Option<&Row<'_>>, body: Rect) -> Vec<Line<'static>> {
        let Some(row) = row.filter(|row| row.unfolded.is_none()) else {
            return Vec::new();
        };
        let long = |text: &str| text.contains('\n') || width_of(text) > 40;
        let node = row.node;
        if !long(&node.text) && !node.before.as_deref().is_some_and(long) {
            return Vec::new();
        }
        let line = Glyph::MORE.show(self.charset);
        let mut lines = vec![Line::styled(
            format!(" {line} {}", clean_line(&node.name)),
            self.theme.style(Role::Muted),
        )];
        let mut text = |text: &str, role| {
            let head = vec![Span::raw("   ")];
            let passage = Passage::plain(&clean(text), role);
            lines.extend(hanging(head, passage, body.width, self.theme));
        };
        if let Some(before) = &node.before {
            text(before, Role::DiffDel);
            text(&node.text, Role::DiffAdd);
        } else {
            text(&node.text, Role::Text);
        }
        lines.truncate(usize::from(body.height * WHOLE / 10));
        lines
    }

    fn state_status(&mut self, view: &StateView, area: Rect) {
        let asked = view.step;
        let named =
            |branch: &BranchId, step: usize| format!("{}@{step}", clean_line(branch.name()));
        let text = match (&view.held, view.at()) {
            (Some((branch, held)), Some(at)) if (branch, *held) != (&view.branch, at) => format!(
                "{} {} {}: what differs. ‹hold› lets go of the first",
                named(branch, *held),
                Glyph::DIFFERS.show(self.charset),
                named(&view.branch, at),
            ),
            (Some((branch, held)), _) => format!(
                "{} is held, here and elsewhere: go to another state, or ‹hold› lets it go",
                named(branch, *held)
            ),
            (None, Some(at)) if at != asked => format!(
                "step {asked} was said inside a handler of the framework, where no state can be recorded; this is the nearest"
            ),
            (None, Some(_)) => {
                "saved: comes back whole · fingerprint only: can be compared, not restored"
                    .to_owned()
            }
            (None, None) => String::new(),
        };
        let text = fit(
            &self.app.spell(&format!(" {text}")),
            usize::from(area.width),
        );
        Line::styled(text, self.theme.style(Role::Muted)).render(area, self.buf);
    }
}
