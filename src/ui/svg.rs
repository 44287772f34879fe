//! Pictures of a screen: a ratatui buffer as a standalone SVG, or as plain text.
//!
//! Every word is placed at its cell, so that a font of another advance or a fallback glyph shifts nothing after it.
//! Non-goals: blinking, the cursor, fonts within the file.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::style::{Color, Modifier};

use super::colour;
use super::role::Role;
use super::theme::Theme;

/// A cell in pixels; the font size is such that a monospace advance of 0.6 em fills it.
const CELL: (usize, usize) = (9, 19);
const FONT_SIZE: usize = 15;

/// The 16 ANSI colours as a modern terminal shows them; xterm's own blue can hardly be read on black.
const ANSI: [&str; 16] = [
    "#1d2025", "#e06c75", "#7fc47f", "#d9b65d", "#6ca6f0", "#c58be0", "#56b6c2", "#c8ccd4",
    "#7d8590", "#ff8b92", "#a5e0a0", "#f2d58a", "#95c2ff", "#dcaef2", "#86dbe4", "#ffffff",
];

/// The text on a buffer, a line a row, blanks at the ends dropped.
#[must_use]
pub fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let row: String = cells(buffer, y).map(|(_, _, cell)| cell.symbol()).collect();
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// A picture of a buffer. Colours that only the terminal knows are taken from the theme's text, else from a dark palette.
#[must_use]
pub fn svg(buffer: &Buffer, theme: &Theme) -> String {
    let plain = theme.style(Role::Text);
    let ink = plain
        .fg
        .and_then(hex)
        .unwrap_or_else(|| "#d8dce4".to_owned());
    let ground = plain
        .bg
        .and_then(hex)
        .unwrap_or_else(|| "#15181e".to_owned());
    let (width, height) = (
        usize::from(buffer.area.width) * CELL.0,
        usize::from(buffer.area.height) * CELL.1,
    );
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>\n\
         <g font-family=\"'DejaVu Sans Mono','Menlo','Consolas','Liberation Mono',monospace\" font-size=\"{FONT_SIZE}\" xml:space=\"preserve\">\n"
    );
    for y in buffer.area.top()..buffer.area.bottom() {
        let top = usize::from(y - buffer.area.top()) * CELL.1;
        row(&mut picture, buffer, y, top, (&ink, &ground));
    }
    picture.push_str("</g>\n</svg>\n");
    picture
}

/// One row: first its grounds, then its words, so that no ground covers a neighbour's overhang.
fn row(picture: &mut String, buffer: &Buffer, y: u16, top: usize, plain: (&str, &str)) {
    let mut grounds: Vec<(usize, usize, String)> = Vec::new();
    let mut words: Vec<Word> = Vec::new();
    for (x, width, cell) in cells(buffer, y) {
        let look = Look::of(cell, plain);
        match grounds.last_mut() {
            Some((start, length, fill)) if *start + *length == x && *fill == look.ground => {
                *length += width;
            }
            _ => grounds.push((x, width, look.ground.clone())),
        }
        let symbol = cell.symbol();
        let drawn = symbol.trim();
        if (drawn.is_empty() && look.attributes.is_empty())
            || cell.modifier.contains(Modifier::HIDDEN)
        {
            continue;
        }
        match words.last_mut() {
            Some(word)
                if word.end == x
                    && word.look == look
                    && symbol.is_ascii()
                    && word.text.is_ascii() =>
            {
                word.text.push_str(symbol);
                word.end += width;
            }
            _ => words.push(Word {
                x,
                end: x + width,
                text: symbol.to_owned(),
                look,
            }),
        }
    }
    for (x, length, fill) in grounds.iter().filter(|(.., fill)| fill != plain.1) {
        let _ = writeln!(
            picture,
            "<rect x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"/>",
            x * CELL.0,
            length * CELL.0,
            CELL.1
        );
    }
    for word in words {
        let _ = writeln!(
            picture,
            "<text x=\"{}\" y=\"{}\" fill=\"{}\"{}>{}</text>",
            word.x * CELL.0,
            top + FONT_SIZE,
            word.look.ink,
            word.look.attributes,
            escape(&word.text)
        );
    }
}

/// The cells of a row that are drawn, with their place and width in cells; what a wide symbol covers is left out.
fn cells(buffer: &Buffer, y: u16) -> impl Iterator<Item = (usize, usize, &Cell)> {
    let mut covered = 0;
    (buffer.area.left()..buffer.area.right()).filter_map(move |x| {
        if x < covered {
            return None;
        }
        let cell = buffer.cell((x, y))?;
        let symbol = cell.symbol();
        let width = if symbol.contains(char::is_control) {
            1
        } else {
            symbol.cell_width().max(1)
        };
        covered = x.saturating_add(width);
        Some((
            usize::from(x - buffer.area.left()),
            usize::from(width),
            cell,
        ))
    })
}

/// Letters of one look in neighbouring cells.
struct Word {
    x: usize,
    end: usize,
    text: String,
    look: Look,
}

#[derive(PartialEq, Eq)]
struct Look {
    ink: String,
    ground: String,
    attributes: String,
}

impl Look {
    fn of(cell: &Cell, (ink, ground): (&str, &str)) -> Self {
        let mut look = Self {
            ink: hex(cell.fg).unwrap_or_else(|| ink.to_owned()),
            ground: hex(cell.bg).unwrap_or_else(|| ground.to_owned()),
            attributes: String::new(),
        };
        if cell.modifier.contains(Modifier::REVERSED) {
            std::mem::swap(&mut look.ink, &mut look.ground);
        }
        for (modifier, attribute) in [
            (Modifier::BOLD, " font-weight=\"bold\""),
            (Modifier::DIM, " opacity=\"0.6\""),
            (Modifier::ITALIC, " font-style=\"italic\""),
        ] {
            if cell.modifier.contains(modifier) {
                look.attributes.push_str(attribute);
            }
        }
        let under = cell.modifier.contains(Modifier::UNDERLINED);
        let through = cell.modifier.contains(Modifier::CROSSED_OUT);
        look.attributes.push_str(match (under, through) {
            (true, true) => " text-decoration=\"underline line-through\"",
            (true, false) => " text-decoration=\"underline\"",
            (false, true) => " text-decoration=\"line-through\"",
            (false, false) => "",
        });
        look
    }
}

/// A colour for SVG; none for the terminal's own.
fn hex(colour: Color) -> Option<String> {
    let named = colour::index(colour).and_then(|index| ANSI.get(usize::from(index)));
    named.map(|name| (*name).to_owned()).or_else(|| {
        let [r, g, b] = colour::rgb(colour)?;
        Some(format!("#{r:02x}{g:02x}{b:02x}"))
    })
}

/// What XML cannot carry is escaped or, where it has no escape, replaced.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;
    use crate::ui::colour::Depth;

    fn picture(buffer: &Buffer) -> String {
        svg(buffer, &Theme::fallback(Depth::True))
    }

    fn buffer(text: &str, style: Style) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 1));
        buffer.set_string(0, 0, text, style);
        buffer
    }

    #[test]
    fn plain_text_keeps_rows_and_wide_characters() {
        let mut buffer = Buffer::empty(Rect::new(3, 2, 8, 3));
        buffer.set_string(3, 2, "天地 ab", Style::new());
        buffer.set_string(5, 4, "c", Style::new());
        assert_eq!(text(&buffer), "天地 ab\n\n  c\n");
    }

    #[test]
    fn what_follows_a_wide_character_stands_at_its_cell() {
        let shown = picture(&buffer("天x", Style::new()));
        // Two cells of nine pixels before the x.
        assert!(
            shown.contains("<text x=\"0\" y=\"15\" fill=\"#d8dce4\">天</text>"),
            "{shown}"
        );
        assert!(
            shown.contains("<text x=\"18\" y=\"15\" fill=\"#d8dce4\">x</text>"),
            "{shown}"
        );
    }

    #[test]
    fn grounds_are_merged_and_reverse_swaps() {
        let style = Style::new()
            .fg(Color::Rgb(1, 2, 3))
            .add_modifier(Modifier::REVERSED | Modifier::BOLD);
        let shown = picture(&buffer("ab天c", style));
        let grounds = shown.matches("fill=\"#010203\"").count();
        assert_eq!(grounds, 1, "{shown}");
        assert!(
            shown.contains("<rect x=\"0\" y=\"0\" width=\"45\" height=\"19\" fill=\"#010203\"/>"),
            "{shown}"
        );
        assert!(shown.contains(" font-weight=\"bold\">ab</text>"), "{shown}");
    }

    #[test]
    fn markup_in_a_text_is_text() {
        let shown = picture(&buffer("<b>&\u{fffe}", Style::new()));
        assert!(shown.contains("&lt;b&gt;&amp;"), "{shown}");
        assert!(!shown.contains('\u{fffe}'));
    }

    #[test]
    fn an_empty_buffer_has_a_picture() {
        let empty = Buffer::empty(Rect::ZERO);
        assert!(picture(&empty).ends_with("</svg>\n"));
        assert_eq!(text(&empty), "");
    }
}
