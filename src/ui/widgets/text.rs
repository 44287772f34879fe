//! Wrapped text in a pane: only the rows in the window are laid out, and how far one can scroll is measured on the way.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::app::extent::Extent;
use crate::ui::passage::Passage;
use crate::ui::theme::Theme;
use crate::ui::wrap::Wrapped;

/// Draws the window of a wrapped text and tells where it stands.
pub fn text_pane(
    wrapped: &mut Wrapped,
    extent: Extent,
    area: Rect,
    theme: &Theme,
    buf: &mut Buffer,
) -> Extent {
    let height = usize::from(area.height);
    let extent = Extent {
        top: extent.top,
        height,
        rows: wrapped.len(),
    }
    .clamped();
    for (line, row) in wrapped
        .lines(extent.top, height, theme)
        .into_iter()
        .zip(area.rows())
    {
        line.render(row, buf);
    }
    extent
}

/// Draws the window of ready lines and tells where it stands.
pub fn lines_in(lines: &[Line<'_>], extent: Extent, area: Rect, buf: &mut Buffer) -> Extent {
    let extent = Extent {
        top: extent.top,
        height: usize::from(area.height),
        rows: lines.len(),
    }
    .clamped();
    for (line, row) in lines.iter().skip(extent.top).zip(area.rows()) {
        line.render(row, buf);
    }
    extent
}

/// A passage wrapped beside a head: the head stands in the first row, the others are indented by its width.
#[must_use]
pub fn hanging(
    head: Vec<Span<'static>>,
    passage: Passage,
    width: u16,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let indent = head.iter().map(Span::width).sum::<usize>();
    let room = usize::from(width).saturating_sub(indent).max(8);
    let mut wrapped = Wrapped::new(passage, u16::try_from(room).unwrap_or(u16::MAX));
    let rows = wrapped.len();
    let mut head = Some(head);
    wrapped
        .lines(0, rows, theme)
        .into_iter()
        .map(|line| {
            let mut spans = head
                .take()
                .unwrap_or_else(|| vec![Span::raw(" ".repeat(indent))]);
            spans.extend(
                line.spans
                    .into_iter()
                    .map(|span| Span::styled(span.content.into_owned(), span.style)),
            );
            Line::from(spans)
        })
        .collect()
}
