//! A text with a role for every part: what a diff, a JSON value or a plain message become before they are wrapped and drawn.
//!
//! Invariants: the parts tile the text in order; the text is clean (no control character but the line feed). Cleaning is the
//! caller's, once, on the way in.

use ratatui::text::{Line, Span};
use std::ops::Range;

use super::role::Role;
use super::theme::Theme;

/// How one part of a text looks: a role, and perhaps a second one laid over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// What the part is.
    pub role: Role,
    /// What is laid over it, such as `diff.emph`.
    pub over: Option<Role>,
}

impl From<Role> for Look {
    fn from(role: Role) -> Self {
        Self { role, over: None }
    }
}

/// A clean text with a look for every part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    text: String,
    /// Where each part ends, and its look.
    parts: Vec<(usize, Look)>,
}

impl Passage {
    /// A text of one look.
    #[must_use]
    pub fn plain(text: &str, role: Role) -> Self {
        let mut passage = Self::default();
        passage.push(text, role);
        passage
    }

    /// Adds a part; neighbours of one look become one part.
    pub fn push(&mut self, text: &str, look: impl Into<Look>) {
        let look = look.into();
        self.text.push_str(text);
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some((end, last)) if *last == look => *end = self.text.len(),
            _ => self.parts.push((self.text.len(), look)),
        }
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parts within a range of bytes, in order.
    pub fn parts(&self, range: Range<usize>) -> impl Iterator<Item = (&str, Look)> {
        let first = self.parts.partition_point(|(end, _)| *end <= range.start);
        let mut from = range.start;
        self.parts
            .iter()
            .skip(first)
            .map_while(move |(end, look)| {
                let part = from..range.end.min(*end);
                from = part.end;
                (part.start < part.end).then_some((part, *look))
            })
            .filter_map(|(part, look)| Some((self.text.get(part)?, look)))
    }

    /// A range of bytes as a line to draw.
    #[must_use]
    pub fn line(&self, range: Range<usize>, theme: &Theme) -> Line<'_> {
        self.parts(range)
            .map(|(text, look)| {
                let style = theme.style(look.role);
                let over = look.over.map(|role| theme.style(role)).unwrap_or_default();
                Span::styled(text, style.patch(over))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_cuts_the_parts_that_it_touches() {
        let mut passage = Passage::plain("one ", Role::Text);
        passage.push("two ", Role::Muted);
        passage.push("three", Role::Muted);
        passage.push("", Role::Error);
        passage.push("!", Role::Accent);
        let parts = |range| -> Vec<(&str, Role)> {
            passage
                .parts(range)
                .map(|(text, look)| (text, look.role))
                .collect()
        };
        assert_eq!(parts(2..10), [("e ", Role::Text), ("two th", Role::Muted)]);
        assert_eq!(
            parts(0..14),
            [
                ("one ", Role::Text),
                ("two three", Role::Muted),
                ("!", Role::Accent)
            ]
        );
        assert_eq!(parts(4..4), []);
    }
}
