//! Parts done of a whole, as cells.

use ratatui::text::{Line, Span};

use crate::ui::glyph::{Charset, Glyph};
use crate::ui::role::Role;
use crate::ui::theme::Theme;

/// Milestones reached of all: `▰▰▱▱▱ 2/5`. With the parent's, those it did not have shine and those lost stand out.
#[must_use]
pub fn milestone_meter(
    reached: &[Option<usize>],
    before: Option<&[Option<usize>]>,
    theme: &Theme,
    charset: Charset,
) -> Line<'static> {
    let count = reached.iter().flatten().count();
    let mut spans: Vec<Span<'static>> = reached
        .iter()
        .enumerate()
        .map(|(i, now)| {
            let had = before.is_none_or(|before| before.get(i).copied().flatten().is_some());
            let (sign, role) = match (now.is_some(), had) {
                (true, false) => (Glyph::FULL.show(charset), Role::MilestoneGained),
                (true, true) => (Glyph::FULL.show(charset), Role::MilestoneReached),
                (false, true) if before.is_some() => {
                    (Glyph::EMPTY.show(charset), Role::MilestoneLost)
                }
                (false, _) => (Glyph::EMPTY.show(charset), Role::MilestoneOpen),
            };
            Span::styled(sign, theme.style(role))
        })
        .collect();
    spans.push(Span::styled(
        format!(" {count}/{}", reached.len()),
        theme.style(Role::Text),
    ));
    Line::from(spans)
}

/// A progress bar of `width` cells.
#[must_use]
pub fn bar(share: f64, width: u16, charset: Charset) -> String {
    let filled = (0..width)
        .filter(|cell| f64::from(*cell) < share * f64::from(width))
        .count();
    let rest = usize::from(width) - filled;
    Glyph::FULL.show(charset).repeat(filled) + &Glyph::EMPTY.show(charset).repeat(rest)
}
