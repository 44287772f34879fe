//! Text broken into rows of terminal cells.
//!
//! Words stay whole where they can; CJK text breaks anywhere but before a closing or after an opening mark; what is longer than
//! a row is split. Rows are found one after another and only as far as somebody asks, so a text of many megabytes opens at
//! once. Width is what ratatui will draw, so no row is ever cut.
//!
//! Invariants: no row is wider than the width (2 at least); every grapheme is in a row, in order, except line feeds and the
//! blanks at which a row was broken. The text is clean (`model::clean`). Non-goals: bidirectional layout, hyphenation.

use std::ops::Range;

use ratatui::buffer::CellWidth;
use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation;

use super::passage::Passage;
use super::theme::Theme;

/// A passage and its rows at one width, found as far as they were asked for.
#[derive(Clone, Debug)]
pub struct Wrapped {
    passage: Passage,
    width: usize,
    rows: Vec<Range<usize>>,
    /// Where the next row starts; none when all are found.
    next: Option<usize>,
}

impl Wrapped {
    /// Prepares a passage; no row is found yet.
    #[must_use]
    pub fn new(passage: Passage, width: u16) -> Self {
        Self {
            passage,
            width: usize::from(width).max(2),
            rows: Vec::new(),
            next: Some(0),
        }
    }

    /// The passage that it shows.
    #[must_use]
    pub fn passage(&self) -> &Passage {
        &self.passage
    }

    /// How many rows there are, all of them found. An empty text has one empty row.
    pub fn len(&mut self) -> usize {
        self.find(|_| false);
        self.rows.len()
    }

    /// How many rows are found, and whether these are all.
    #[must_use]
    pub fn known(&self) -> (usize, bool) {
        (self.rows.len(), self.next.is_none())
    }

    /// Whether there is nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.passage.text().is_empty()
    }

    /// The text of a row.
    pub fn row(&mut self, row: usize) -> Option<&str> {
        self.find(|rows| rows.len() > row);
        self.passage.text().get(self.rows.get(row)?.clone())
    }

    /// `height` rows from the one at `top`, ready to draw.
    pub fn lines(&mut self, top: usize, height: usize, theme: &Theme) -> Vec<Line<'_>> {
        self.find(|rows| rows.len() >= top.saturating_add(height));
        self.rows
            .iter()
            .skip(top)
            .take(height)
            .map(|row| self.passage.line(row.clone(), theme))
            .collect()
    }

    /// The row that shows a byte of the text, for a scroll that is kept as an offset and so survives a change of width.
    pub fn row_at(&mut self, offset: usize) -> usize {
        self.find(|rows| rows.last().is_some_and(|row| row.start > offset));
        self.rows
            .partition_point(|row| row.start <= offset)
            .saturating_sub(1)
    }

    /// The offset to keep so that `row`, or the last one if there are fewer, is the first on the screen.
    pub fn offset_of(&mut self, row: usize) -> usize {
        self.find(|rows| rows.len() > row);
        self.rows
            .get(row)
            .or(self.rows.last())
            .map_or(0, |row| row.start)
    }

    /// The offset after scrolling by `delta` rows in a pane of `height` rows: not above the first row, and no further down than
    /// a full last page.
    pub fn scrolled(&mut self, offset: usize, delta: isize, height: usize) -> usize {
        let top = self.row_at(offset).saturating_add_signed(delta);
        let bottom = top.saturating_add(height);
        self.find(|rows| rows.len() >= bottom);
        let last_top = self.rows.len().saturating_sub(height);
        self.offset_of(top.min(last_top))
    }

    /// Finds rows until there are enough.
    fn find(&mut self, enough: impl Fn(&[Range<usize>]) -> bool) {
        while let Some(start) = self.next {
            if enough(&self.rows) {
                return;
            }
            let (row, next) = next_row(self.passage.text(), start, self.width);
            self.rows.push(row);
            self.next = next;
        }
    }
}

/// The row that starts at `start`, and where the one after it starts. `start` is where a row starts, or 0.
fn next_row(text: &str, start: usize, width: usize) -> (Range<usize>, Option<usize>) {
    next_ascii_row(text.as_bytes(), start, width).unwrap_or_else(|| {
        let rest = text.get(start..).unwrap_or_default();
        next_grapheme_row(rest, start, width)
    })
}

/// [`next_row`] where a byte is a cell: most of any log, and many times faster. None if it cannot be sure.
fn next_ascii_row(
    text: &[u8],
    start: usize,
    width: usize,
) -> Option<(Range<usize>, Option<usize>)> {
    let rest = text.get(start..)?;
    // One byte more than fits, for it may combine with the last one or be the blank that ends a word.
    let window = rest.get(..=width).unwrap_or(rest);
    if let Some(length) = window.iter().position(|byte| *byte == b'\n') {
        let plain = window.get(..length)?.is_ascii();
        return plain.then_some((start..start + length, Some(start + length + 1)));
    }
    if !window.is_ascii() {
        return None;
    }
    if window.len() <= width {
        return Some((start..text.len(), None));
    }
    let Some(blank) = window.iter().rposition(|byte| *byte == b' ') else {
        return Some((start..start + width, Some(start + width)));
    };
    let word_end = window
        .get(..blank)?
        .iter()
        .rposition(|byte| *byte != b' ')?
        + 1;
    let blanks = rest.get(blank..)?.iter().take_while(|byte| **byte == b' ');
    let next = blank + blanks.count();
    match rest.get(next) {
        None => Some((start..start + word_end, None)),
        Some(b'\n') => Some((start..start + word_end, Some(start + next + 1))),
        Some(byte) if byte.is_ascii() => Some((start..start + word_end, Some(start + next))),
        Some(_) => None,
    }
}

/// Where a row may be broken: it ends at one offset, the next begins at another, beyond the blanks.
struct Break {
    end: usize,
    next: usize,
}

/// [`next_row`] for any text. Offsets are counted from `start`.
fn next_grapheme_row(rest: &str, start: usize, width: usize) -> (Range<usize>, Option<usize>) {
    let mut cells = 0;
    let mut ink_end = 0;
    let mut chance: Option<Break> = None;
    let mut before = "";
    for (at, grapheme) in rest.grapheme_indices(true) {
        if grapheme == "\n" {
            let end = if cells > width { ink_end } else { at };
            return (start..start + end, Some(start + at + 1));
        }
        let after = at + grapheme.len();
        let grown = cells + usize::from(grapheme.cell_width());
        if grapheme == " " && ink_end > 0 {
            // Blanks after a word may hang over the edge: nobody sees them there.
            chance = Some(Break {
                end: ink_end,
                next: after,
            });
        } else {
            if at > 0 && before != " " && breaks_between(before, grapheme) {
                chance = Some(Break { end: at, next: at });
            }
            if grown > width {
                return match chance {
                    Some(chance) => (start..start + chance.end, Some(start + chance.next)),
                    None if at > 0 => (start..start + at, Some(start + at)),
                    None => split_grapheme(rest, start, width),
                };
            }
            if grapheme != " " {
                ink_end = after;
            }
        }
        cells = grown;
        before = grapheme;
    }
    let end = if cells > width { ink_end } else { rest.len() };
    (start..start + end, None)
}

/// A cluster wider than the whole row is split between its characters; nothing else can be done with it.
fn split_grapheme(rest: &str, start: usize, width: usize) -> (Range<usize>, Option<usize>) {
    let fits =
        |end: &usize| usize::from(rest.get(..*end).unwrap_or_default().cell_width()) <= width;
    let ends = rest.char_indices().map(|(at, _)| at).skip(1);
    let end = ends.take_while(fits).last().unwrap_or(rest.len());
    let next = start + end;
    (start..next, (end < rest.len()).then_some(next))
}

/// Whether a row may end between two graphemes that no blank separates: beside a wide one, marks kept with their word.
fn breaks_between(before: &str, after: &str) -> bool {
    const OPENING: &str = "（「『【《〈〔［｛“‘([{";
    const CLOSING: &str = "）」』】》〉〕］｝”’)]}，。、；：？！…·,.;:?!%％ー々";
    let first = |grapheme: &str| grapheme.chars().next().unwrap_or(' ');
    (before.cell_width() > 1 || after.cell_width() > 1)
        && !OPENING.contains(first(before))
        && !CLOSING.contains(first(after))
}

#[cfg(test)]
#[path = "wrap_tests.rs"]
mod tests;
