//! A branch as rows of a list: what its run does, what its gates say, what came out. Two fields, never one.

use ratatui::text::{Line, Span};

use crate::model::{Branch, RunStatus, TOLD};
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

/// What the verifier says of the final answer, of whatever branch. On a diagnostic one it is honest but never green.
#[must_use]
pub fn answer_word(branch: &Branch, theme: &Theme, charset: Charset) -> Span<'static> {
    let told = |glyph: Glyph, word: &str, role: Role| {
        Span::styled(format!("{} {word}", glyph.show(charset)), theme.style(role))
    };
    match branch.success {
        Some(right) if branch.told => {
            let (glyph, word) = if right {
                (Glyph::PASS, "right answer")
            } else {
                (Glyph::FAIL, "wrong answer")
            };
            told(glyph, &format!("{word}, {TOLD}"), Role::Warn)
        }
        Some(true) if branch.diagnostic => told(Glyph::PASS, "right answer", Role::Text),
        Some(true) => told(Glyph::PASS, "right answer", Role::MilestoneReached),
        Some(false) if branch.answer.is_none() => told(Glyph::FAIL, "no answer", Role::Error),
        Some(false) => told(Glyph::FAIL, "wrong answer", Role::Error),
        None if branch.run.is_over() && branch.run != RunStatus::Held => {
            Span::styled("not judged", theme.style(Role::Muted))
        }
        None => Span::raw(""),
    }
}

/// A branch in two rows of `width` cells: name, fork step and run; then gate, milestones, answer, what judges it hidden if so said.
#[must_use]
pub fn branch_lines(
    branch: &Branch,
    shown: bool,
    hide_verdict: bool,
    width: usize,
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
    let mut parts = Vec::new();
    if branch.diagnostic {
        parts.push(Span::styled("diagnostic", theme.style(Role::Warn)));
    }
    if let Some(gate) = branch.gate.filter(|_| !hide_verdict) {
        let sign = Glyph::gate(gate).show(charset);
        let text = format!("{sign} {}", gate.name().replace('_', " "));
        parts.push(Span::styled(text, theme.style(Role::Gate(gate))));
    }
    if let Some(tally) = branch.milestones {
        let text = format!(
            "{}{}/{}",
            Glyph::MILESTONE.show(charset),
            tally.after,
            tally.of
        );
        parts.push(Span::styled(text, muted));
    }
    if !hide_verdict {
        parts.push(answer_word(branch, theme, charset));
    }
    // What does not fit is left out whole: half a word misleads.
    let mut second = Line::from("  ");
    for part in parts.into_iter().filter(|part| part.width() > 0) {
        if second.width() + part.width() <= width {
            second.push_span(part);
            second.push_span("  ");
        }
    }
    [Line::from(first), second]
}

/// Cells that names of branches may take in a mark.
const NAMES: usize = 16;

/// Names of branches in few cells: those whose numbers follow each other as the first and the last, and of too many how many they are.
#[must_use]
pub fn names_of(names: &[&str]) -> String {
    let number = |name: &str| name.strip_prefix('b')?.parse::<usize>().ok();
    let mut runs: Vec<(&str, &str)> = Vec::new();
    for &name in names {
        match runs.last_mut() {
            Some((_, last)) if follows(number(last), number(name)) => *last = name,
            _ => runs.push((name, name)),
        }
    }
    let told = runs.into_iter().map(|(first, last)| {
        if first == last {
            first.to_owned()
        } else {
            format!("{first}–{last}")
        }
    });
    let told = told.collect::<Vec<_>>().join(" ");
    if told.chars().count() <= NAMES {
        told
    } else {
        format!("{} branches", names.len())
    }
}

fn follows(before: Option<usize>, after: Option<usize>) -> bool {
    before
        .zip(after)
        .is_some_and(|(before, after)| before + 1 == after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_follow_each_other_are_told_by_their_ends() {
        let table: [(&[&str], &str); 5] = [
            (&["b1"], "b1"),
            (&["b1", "b2", "b3"], "b1–b3"),
            (&["b1", "b2", "b37", "b38", "b39"], "b1–b2 b37–b39"),
            (&["b1", "mine", "b3"], "b1 mine b3"),
            (&["b1", "b3", "b5", "b7", "b9", "b11"], "6 branches"),
        ];
        for (names, told) in table {
            assert_eq!(names_of(names), told);
        }
    }
}
