//! A branch as rows of a list: what its run does, what its gates say, what came out. Two fields, never one.

use ratatui::text::{Line, Span};

use crate::model::{Branch, RunStatus};
use crate::ui::glyph::{Charset, Glyph};
use crate::ui::role::Role;
use crate::ui::theme::Theme;

/// What the run is doing: a sign and a word.
#[must_use]
pub fn run_badge(branch: &Branch, theme: &Theme, charset: Charset) -> Span<'static> {
    let text = format!(
        "{} {}",
        Glyph::run(branch.run).show(charset),
        branch.run.name()
    );
    Span::styled(text, theme.style(Role::Run(branch.run)))
}

/// Whether the final answer was right, in a word: the verifier's, of whatever branch.
#[must_use]
pub fn answer_word(branch: &Branch, theme: &Theme, charset: Charset) -> Span<'static> {
    match branch.success {
        Some(true) => Span::styled(
            format!("{} right answer", Glyph::PASS.show(charset)),
            theme.style(Role::MilestoneReached),
        ),
        Some(false) if branch.answer.is_some() => Span::styled(
            format!("{} wrong answer", Glyph::FAIL.show(charset)),
            theme.style(Role::Error),
        ),
        Some(false) => Span::styled(
            format!("{} no answer", Glyph::FAIL.show(charset)),
            theme.style(Role::Error),
        ),
        None if branch.run.is_over() && branch.run != RunStatus::Held => {
            Span::styled("not judged", theme.style(Role::Muted))
        }
        None => Span::raw(""),
    }
}

/// A branch in two rows: name, fork step and run; then gate, answer, milestones.
#[must_use]
pub fn branch_lines(
    branch: &Branch,
    shown: bool,
    theme: &Theme,
    charset: Charset,
) -> [Line<'static>; 2] {
    let muted = theme.style(Role::Muted);
    let name = if shown { Role::Accent } else { Role::Text };
    let mut first = vec![Span::styled(branch.id.name().to_owned(), theme.style(name))];
    if let (Some(parent), Some(step)) = (&branch.parent, branch.fork_step) {
        first.push(Span::styled(
            format!(" of {} @{step}", parent.name()),
            muted,
        ));
    }
    first.push(Span::raw("  "));
    first.push(run_badge(branch, theme, charset));
    let mut second = vec![Span::raw("  ")];
    if branch.diagnostic {
        second.push(Span::styled("diagnostic  ", theme.style(Role::Warn)));
    }
    if let Some(gate) = branch.gate {
        second.push(Span::styled(
            gate.name().replace('_', " "),
            theme.style(Role::Gate(gate)),
        ));
        second.push(Span::raw("  "));
    }
    second.push(answer_word(branch, theme, charset));
    if let Some(tally) = branch.milestones {
        second.push(Span::styled(
            format!(
                "  {}{}/{}",
                Glyph::MILESTONE.show(charset),
                tally.after,
                tally.of
            ),
            muted,
        ));
    }
    [Line::from(first), Line::from(second)]
}
