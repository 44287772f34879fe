//! Parts done of a whole, as cells.

use ratatui::text::{Line, Span};

use super::Glyphs;
use crate::ui::role::Role;
use crate::ui::theme::Theme;

/// Milestones reached of all: `▰▰▱▱▱ 2/5`. With the parent's, those it did not have shine and those lost stand out.
#[must_use]
pub fn milestone_meter(
    reached: &[Option<usize>],
    before: Option<&[Option<usize>]>,
    theme: &Theme,
    glyphs: Glyphs,
) -> Line<'static> {
    let count = reached.iter().flatten().count();
    let mut spans: Vec<Span<'static>> = reached
        .iter()
        .enumerate()
        .map(|(i, now)| {
            let had = before.is_none_or(|before| before.get(i).copied().flatten().is_some());
            let (sign, role) = match (now.is_some(), had) {
                (true, false) => (glyphs.full(), Role::MilestoneGained),
                (true, true) => (glyphs.full(), Role::MilestoneReached),
                (false, true) if before.is_some() => (glyphs.empty(), Role::MilestoneLost),
                (false, _) => (glyphs.empty(), Role::MilestoneOpen),
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
pub fn bar(share: f64, width: u16, glyphs: Glyphs) -> String {
    let filled = (0..width)
        .filter(|cell| f64::from(*cell) < share * f64::from(width))
        .count();
    let rest = usize::from(width) - filled;
    glyphs.full().repeat(filled) + &glyphs.empty().repeat(rest)
}
