//! Text cut and padded to terminal cells.

use ratatui::buffer::CellWidth;
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation;

/// Cells that a text takes.
#[must_use]
pub fn width_of(text: &str) -> usize {
    usize::from(text.cell_width())
}

/// A text of at most `width` cells; what is cut ends in `…`.
#[must_use]
pub fn fit(text: &str, width: usize) -> String {
    if text.len() <= width && text.is_ascii() || width_of(text) <= width {
        return text.to_owned();
    }
    let Some(room) = width.checked_sub(1) else {
        return String::new();
    };
    let mut cut = String::new();
    let mut cells = 0;
    for grapheme in text.graphemes(true) {
        cells += width_of(grapheme);
        if cells > room {
            break;
        }
        cut.push_str(grapheme);
    }
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// A text of exactly `width` cells, cut or padded.
#[must_use]
pub fn fitted(text: &str, width: usize) -> String {
    let mut out = fit(text, width);
    let cells = width_of(&out);
    out.extend(std::iter::repeat_n(' ', width.saturating_sub(cells)));
    out
}

/// An area cut into `n` columns of nearly equal width with one cell between them.
#[must_use]
pub fn split_columns(area: Rect, n: u16) -> Vec<Rect> {
    let n = n.max(1);
    let room = area.width.saturating_sub(n - 1);
    let mut x = area.x;
    (0..n)
        .map(|i| {
            let width = room / n + u16::from(i < room % n);
            let column = Rect { x, width, ..area };
            x = x.saturating_add(width + 1);
            column.intersection(area)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_cells_and_not_at_characters() {
        let table = [
            ("plain", 5, "plain"),
            ("plain text", 6, "plain…"),
            ("打开八月", 5, "打开…"),
            ("打开八月", 8, "打开八月"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("x", 0, ""),
        ];
        for (text, width, expected) in table {
            assert_eq!(fit(text, width), expected);
            assert_eq!(width_of(&fitted(text, width)), width, "{text}");
        }
    }

    #[test]
    fn columns_fill_the_area() {
        let columns = split_columns(Rect::new(0, 0, 80, 5), 3);
        let spans: Vec<_> = columns.iter().map(|c| (c.x, c.width)).collect();
        assert_eq!(spans, [(0, 26), (27, 26), (54, 26)]);
    }
}
