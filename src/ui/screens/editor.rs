//! The editor: the original above, the text being written, and what changed, live.

use std::borrow::Cow;

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use ratatui_textarea::{CursorMove, TextArea};

use super::detail::heading;
use super::session::under_title;
use super::{Painter, TextId, WIDE, revision};
use crate::app::editor::Editor;
use crate::app::extent::Pane;
use crate::app::live::For;
use crate::app::pointer::Target;
use crate::model::{Category, clean, clean_line, edit_class};
use crate::runtime::QueueEdit;
use crate::ui::diff::{Change, Side, WordDiff};
use crate::ui::glyph::{Charset, Glyph};
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::dot;

impl Painter<'_> {
    pub(super) fn editor(&mut self, editor: &Editor, area: Rect) {
        let what = match &editor.live {
            None | Some(For::Queue(QueueEdit::Replace { .. })) => {
                format!("edit step {}", editor.original.index)
            }
            Some(For::Queue(_)) => "a new message".to_owned(),
            Some(For::Tool(tool)) => format!("answer for {}", clean_line(tool)),
            Some(For::Agent(agent)) => format!("answer to {}", clean_line(agent)),
        };
        let left = format!(
            "{} {} {what}",
            clean_line(editor.branch.as_str()),
            Glyph::CURSOR.show(self.charset),
        );
        let mode = if editor.typing {
            "typing"
        } else {
            "plain keys"
        };
        let mode = Line::styled(mode, self.theme.style(Role::Muted));
        let areas = self.frame(area, &left, mode, true);
        let text = editor.text();
        let original = clean(&editor.original.text).into_owned();
        let diff = WordDiff::new(&editor.original.text, &text).cleaned();
        self.edit_info(editor, &text, &diff, areas.info);
        let (above, below, difference) = panes(areas.body);
        self.original(editor, &original, above);
        self.area(editor, below);
        self.difference(&diff, &text, difference);
    }

    /// What kind of an edit it is, as far as wording tells.
    fn edit_info(&mut self, editor: &Editor, text: &str, diff: &WordDiff, area: Rect) {
        let muted = self.theme.style(Role::Muted);
        let category = Category::of_kind(editor.original.kind);
        let mut line = Line::from(format!(" {} edit", category.name()));
        if let Some(purpose) = &editor.live {
            let text = match purpose {
                For::Queue(_) => " goes into the queue, and the run stays where it stands",
                For::Tool(_) => " the tool is not called; the agent reads this instead",
                For::Agent(_) => " the run goes on with it",
            };
            Line::styled(text, muted).render(area, self.buf);
            return;
        }
        if editor.changed() {
            let class = edit_class(&editor.original.text, text, category);
            let words = |wanted: Change| -> usize {
                let pieces = diff.pieces().filter(|(change, _)| *change == wanted);
                pieces
                    .map(|(_, text)| crate::model::words(text).len())
                    .sum()
            };
            let dot = dot(self.charset);
            line.push_span(format!(" {dot} "));
            line.push_span(Span::styled(
                class.name().replace('_', " "),
                self.theme.style(Role::Accent),
            ));
            line.push_span(format!(" {dot} "));
            line.push_span(Span::styled(
                format!("+{}", words(Change::Add)),
                self.theme.style(Role::DiffAdd),
            ));
            line.push_span(Span::styled(
                format!(" -{}", words(Change::Del)),
                self.theme.style(Role::DiffDel),
            ));
            line.push_span(" words");
        } else {
            line.push_span(Span::styled("  nothing changed yet", muted));
        }
        let limit = "a message cannot give an agent a new ability";
        if line.width() + limit.len() + 3 <= usize::from(area.width) {
            line.push_span(Span::styled(format!("   {limit}"), muted));
        }
        line.render(area, self.buf);
    }

    fn original(&mut self, editor: &Editor, original: &str, area: Rect) {
        self.spot(area, Target::Pane(Pane::Original));
        let (head, rest) = under_title(area);
        let text = match &editor.live {
            None | Some(For::Queue(QueueEdit::Replace { .. })) => format!(
                "original {} {}",
                dot(self.charset),
                heading(&editor.original, self.charset)
            ),
            Some(_) => format!(
                "new {} {} {} {}",
                dot(self.charset),
                clean_line(&editor.original.agent),
                Glyph::TO.show(self.charset),
                clean_line(editor.original.to.as_deref().unwrap_or_default())
            ),
        };
        self.title(&text, "", !editor.typing, head);
        let rest = indented(rest);
        let id = revision(&[original]);
        self.text(Pane::Original, TextId::Original, id, rest, || {
            Passage::plain(original, Role::Text)
        });
    }

    fn area(&mut self, editor: &Editor, area: Rect) {
        let (head, rest) = under_title(area);
        self.title("your edit", "", editor.typing, head);
        self.spot(area, Target::Pane(Pane::Edit));
        let rest = indented(rest);
        if rest.is_empty() {
            return;
        }
        // The widget looks after its own scrolling; its styles are the theme's, so it is drawn from a copy.
        let mut area = shown(&editor.area);
        let plain = self.theme.style(Role::Text);
        area.set_style(plain);
        area.set_cursor_line_style(Style::new());
        area.set_selection_style(self.theme.style(Role::Selection));
        // The terminal's own cursor, as in every prompt: an input method opens its window there.
        area.set_cursor_style(plain);
        (&area).render(rest, self.buf);
        if editor.typing {
            let (at, (top, left)) = (area.screen_cursor(), area.scroll_offset());
            let from = |at: usize, first: u16| {
                u16::try_from(at).map_or(u16::MAX, |at| at.saturating_sub(first))
            };
            let x = rest.x + from(at.col, left).min(rest.width - 1);
            let y = rest.y + from(at.row, top).min(rest.height - 1);
            self.cursor = Some((x, y));
        }
    }

    fn difference(&mut self, diff: &WordDiff, text: &str, area: Rect) {
        let (head, rest) = under_title(area);
        self.title("what changes", "", false, head);
        let rest = indented(rest);
        if rest.is_empty() {
            return;
        }
        // Brackets as well as colour: deleted and added words would run into each other.
        let shown = diff.passage(Side::Both, true);
        // The window follows the first change, for that is what is looked at.
        let first = diff
            .pieces()
            .take_while(|(change, _)| *change == Change::Same)
            .map(|(_, text)| text.len())
            .sum();
        let wrapped = self.cache.texts.get(
            TextId::Difference,
            revision(&[shown.text(), text]),
            rest.width,
            || shown,
        );
        let rows = wrapped.len();
        let height = usize::from(rest.height);
        let top = wrapped
            .row_at(first)
            .saturating_sub(1)
            .min(rows.saturating_sub(height));
        for (line, row) in wrapped
            .lines(top, height, self.theme)
            .into_iter()
            .zip(rest.rows())
        {
            line.render(row, self.buf);
        }
        let extent = crate::app::extent::Extent { top, height, rows };
        self.more(extent, rest);
    }

    /// Whether changes need brackets: where no colour tells them apart.
    pub(super) fn marks_changes(&self) -> bool {
        self.theme.style(Role::DiffAdd).fg.is_none() || self.charset == Charset::Ascii
    }
}

/// The text area with signs for what cannot be seen, its cursor and selection where they were.
fn shown(area: &TextArea<'static>) -> TextArea<'static> {
    let lines = area.lines();
    if lines
        .iter()
        .all(|line| matches!(clean_line(line), Cow::Borrowed(_)))
    {
        return area.clone();
    }
    let shown = lines.iter().map(|line| clean_line(line).into_owned());
    let mut copy = TextArea::new(shown.collect());
    copy.set_wrap_mode(area.wrap_mode());
    let place = |row: usize, column: usize| {
        let line = lines.get(row).map_or("", String::as_str);
        let end = line
            .char_indices()
            .nth(column)
            .map_or(line.len(), |(at, _)| at);
        let before = line.get(..end).unwrap_or_default();
        let cells = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        CursorMove::Jump(cells(row), cells(clean_line(before).chars().count()))
    };
    let cursor = area.cursor();
    if let Some((from, to)) = area.selection_range() {
        let other = if (cursor.0, cursor.1) == from {
            to
        } else {
            from
        };
        copy.move_cursor(place(other.0, other.1));
        copy.start_selection();
    }
    copy.move_cursor(place(cursor.0, cursor.1));
    copy
}

/// Original, edit and difference: one above the other, or on wide screens the first two side by side.
fn panes(body: Rect) -> (Rect, Rect, Rect) {
    if body.width >= WIDE {
        let [upper, below] =
            Layout::vertical([Constraint::Percentage(60), Constraint::Fill(1)]).areas(body);
        let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)])
            .spacing(1)
            .areas(upper);
        (left, right, below)
    } else {
        let [above, middle, below] = Layout::vertical([
            Constraint::Fill(3),
            Constraint::Fill(4),
            Constraint::Fill(3),
        ])
        .areas(body);
        (above, middle, below)
    }
}

fn indented(area: Rect) -> Rect {
    Rect {
        x: area.x + 1.min(area.width),
        width: area.width.saturating_sub(2),
        ..area
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown_by_a_sign_and_the_cursor_stays_behind_it() {
        let mut area = TextArea::from(["go", "\u{202e}a\tb\u{7}"]);
        area.move_cursor(CursorMove::Jump(1, 3));
        let copy = shown(&area);
        assert_eq!(copy.lines(), ["go", "⟨RLO⟩a  b␇"]);
        // Behind the tab: five of the sign, the letter, two columns.
        assert_eq!((copy.cursor().0, copy.cursor().1), (1, 8));
        area.start_selection();
        area.move_cursor(CursorMove::End);
        let copy = shown(&area);
        assert_eq!(copy.selection_range(), Some(((1, 8), (1, 10))));
    }
}
