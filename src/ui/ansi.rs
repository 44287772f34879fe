//! Styled lines for a terminal that is not drawn on: each span between the sequence that begins its style and the one that ends it.
//! Pure: text in, text out.

use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

use super::colour;

/// A line as text with SGR sequences (ECMA-48); spans without a style have none.
#[must_use]
pub fn line(line: &Line<'_>) -> String {
    let mut out = String::new();
    for span in &line.spans {
        let codes = codes(line.style.patch(span.style));
        if codes.is_empty() {
            out.push_str(&span.content);
        } else {
            // A `String` takes every write.
            let _ = write!(out, "\u{1b}[{codes}m{}\u{1b}[0m", span.content);
        }
    }
    out
}

/// The parameters of a style.
fn codes(style: Style) -> String {
    const MODIFIERS: [(Modifier, &str); 6] = [
        (Modifier::BOLD, "1"),
        (Modifier::DIM, "2"),
        (Modifier::ITALIC, "3"),
        (Modifier::UNDERLINED, "4"),
        (Modifier::REVERSED, "7"),
        (Modifier::CROSSED_OUT, "9"),
    ];
    let set = MODIFIERS
        .into_iter()
        .filter(|(modifier, _)| style.add_modifier.contains(*modifier));
    let modifiers = set.map(|(_, code)| code.to_owned());
    let colours = [(style.fg, 30), (style.bg, 40)];
    let colours = colours
        .into_iter()
        .filter_map(|(colour, base)| colour_code(colour?, base));
    modifiers.chain(colours).collect::<Vec<_>>().join(";")
}

/// The parameter of a colour; `base` is 30 for text, 40 for its ground. The terminal's own needs none.
fn colour_code(colour: Color, base: u8) -> Option<String> {
    if let Color::Rgb(r, g, b) = colour {
        return Some(format!("{};2;{r};{g};{b}", base + 8));
    }
    let index = colour::index(colour)?;
    Some(match (colour, index) {
        (Color::Indexed(_), index) => format!("{};5;{index}", base + 8),
        (_, 0..=7) => format!("{}", base + index),
        (_, index) => format!("{}", base + 60 + index - 8),
    })
}

#[cfg(test)]
mod tests {
    use ratatui::text::Span;

    use super::*;

    #[test]
    fn styles_become_the_sequences_of_the_standard() {
        let spans = [
            ("plain", Style::new(), "plain"),
            ("a", Style::new().fg(Color::Red), "\u{1b}[31ma\u{1b}[0m"),
            (
                "b",
                Style::new().fg(Color::LightBlue).bg(Color::Black),
                "\u{1b}[94;40mb\u{1b}[0m",
            ),
            (
                "c",
                Style::new().bg(Color::Indexed(208)),
                "\u{1b}[48;5;208mc\u{1b}[0m",
            ),
            (
                "d",
                Style::new()
                    .fg(Color::Rgb(1, 2, 3))
                    .add_modifier(Modifier::BOLD | Modifier::CROSSED_OUT),
                "\u{1b}[1;9;38;2;1;2;3md\u{1b}[0m",
            ),
            ("e", Style::new().fg(Color::Reset), "e"),
        ];
        for (text, style, expected) in spans {
            assert_eq!(line(&Line::from(Span::styled(text, style))), expected);
        }
    }
}
