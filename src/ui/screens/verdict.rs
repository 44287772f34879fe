//! Verdicts: of the fork just replayed, and of all that was tried.

use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, plural, row_of};
use crate::app::extent::Pane;
use crate::app::session::Open;
use crate::model::{
    Branch, Category, Intervention, RunStatus, TOLD, Verdict, clean_line, head_text,
};
use crate::pipeline::Outcome;
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::{fit, hanging};

/// Rows of an intervention in the list.
const ROWS: usize = 3;
const HIGH: u16 = 3;

impl Painter<'_> {
    pub(super) fn interventions(&mut self, selected: usize, area: Rect) {
        let Some(open) = &self.app.open else { return };
        let left = format!(
            "{} {} what was tried",
            clean_line(&open.session.id),
            Glyph::CURSOR.show(self.charset)
        );
        let count = plural(open.interventions.len(), "intervention");
        let count = Line::styled(count, self.theme.style(Role::Muted));
        let areas = self.frame(area, &left, count, true);
        let count = open.interventions.len();
        let window = self.list(Pane::Interventions, count, selected, areas.body, HIGH);
        let shown = open
            .interventions
            .iter()
            .enumerate()
            .skip(window.top)
            .take(window.height);
        for (i, one) in shown {
            let lines = self.intervention(open, one, i == selected, usize::from(areas.body.width));
            for (k, line) in lines.into_iter().enumerate() {
                let row = row_of(areas.body, (i - window.top) * ROWS + k);
                line.render(row, self.buf);
                if i == selected && k == 0 {
                    self.select(row, true);
                }
            }
        }
        let hint = " ‹compare-run› compares the best run of an intervention with its parent";
        Line::styled(self.app.spell(hint), self.theme.style(Role::Muted))
            .render(areas.info, self.buf);
    }

    /// What was tried and where, what came of it, and its words.
    fn intervention(
        &self,
        open: &Open,
        one: &Intervention,
        chosen: bool,
        width: usize,
    ) -> [Line<'static>; ROWS] {
        let theme = self.theme;
        let outcome = open.outcomes.get(&one.id);
        let sign = if chosen {
            Glyph::CURSOR.show(self.charset)
        } else {
            " "
        };
        let name = clean_line(one.id.rsplit('/').next().unwrap_or_default()).into_owned();
        let kind = match (one.category, one.class) {
            (Category::None, _) => "baseline, unedited".to_owned(),
            (category, Some(class)) => format!(
                "{} edit, {}",
                category.name(),
                class.name().replace('_', " ")
            ),
            (category, None) => format!("{} edit", category.name()),
        };
        let head = format!(
            "{sign} {name}  {} @{}  {kind}  ",
            clean_line(one.parent.name()),
            one.step
        );
        let mut first = Line::from(Span::styled(head, theme.style(Role::Text)));
        first.push_span(outcome.map_or_else(
            || Span::styled("…", theme.style(Role::Muted)),
            |outcome| self.verdict_word(outcome),
        ));
        if outcome.is_some_and(Outcome::diagnostic) {
            first.push_span(Span::styled("  diagnostic", theme.style(Role::Warn)));
        }
        let judged = outcome.filter(|_| !self.app.hide.verdicts);
        let told = judged.map_or(String::new(), |outcome| {
            format!("     {}{}", results(outcome), reason(outcome))
        });
        let text = one
            .text
            .as_deref()
            .map(|text| format!("     {}", clean_line(&head_text(text))));
        [
            first,
            Line::styled(fit(&told, width), theme.style(Role::Text)),
            Line::styled(
                fit(&text.unwrap_or_default(), width),
                theme.style(Role::Muted),
            ),
        ]
    }

    /// The verdict, or in a word why there is none.
    pub(super) fn verdict_word(&self, outcome: &Outcome) -> Span<'static> {
        let held = |branch: &Branch| branch.run == RunStatus::Held;
        let (word, role) = match outcome.verdict {
            _ if self.app.hide.verdicts => ("verdict hidden for now".to_owned(), Role::Muted),
            // Where answers are hidden, that one was given away would say what it is.
            Some(verdict) if outcome.leak().is_some() && !self.app.hide.answers => {
                let sign = Glyph::HYPOTHESIS.show(self.charset);
                (format!("{verdict} {sign} answer leak"), Role::Warn)
            }
            Some(verdict) if outcome.told() => (format!("{verdict}, {TOLD}"), Role::Warn),
            Some(verdict) => (verdict.to_string(), verdict_role(verdict)),
            None if outcome.branches.iter().any(held) => {
                ("held".to_owned(), Role::Run(RunStatus::Held))
            }
            None if outcome.baseline() => ("baseline".to_owned(), Role::Title),
            None if outcome.intervention.n == 1 => ("single sample".to_owned(), Role::Title),
            None => ("no verdict yet".to_owned(), Role::Title),
        };
        Span::styled(word, self.theme.style(role).add_modifier(Modifier::BOLD))
    }

    /// The verdict of an intervention in a few rows.
    pub(super) fn outcome_lines(&self, outcome: &Outcome, width: u16) -> Vec<Line<'static>> {
        let theme = self.theme;
        let mut head = vec![Span::raw(" ")];
        head.push(self.verdict_word(outcome));
        if self.app.hide.verdicts {
            return vec![Line::from(head)];
        }
        if outcome.branches.iter().any(|branch| branch.diagnostic) {
            head.push(Span::styled(" (diagnostic)", theme.style(Role::Warn)));
        }
        head.push(Span::styled("  ", theme.style(Role::Text)));
        let mut passage = Passage::plain(&results(outcome), Role::Text);
        passage.push(&reason(outcome), Role::Muted);
        if let Some(leak) = outcome.leak().filter(|_| !self.app.hide.answers) {
            passage.push(&format!(" · {leak}"), Role::Warn);
        }
        hanging(head, passage, width, theme)
    }

    /// The newest edit tried at the step of a baseline, to stand beside it.
    pub(super) fn edit_lines_beside(
        &self,
        open: &Open,
        baseline: &Intervention,
        width: u16,
    ) -> Vec<Line<'static>> {
        let newest = open.interventions.iter().rev().find(|one| {
            one.category != Category::None
                && one.parent == baseline.parent
                && one.step == baseline.step
        });
        let Some((one, outcome)) = newest.and_then(|one| Some((one, open.outcomes.get(&one.id)?)))
        else {
            return Vec::new();
        };
        let name = clean_line(one.id.rsplit('/').next().unwrap_or_default()).into_owned();
        let head = vec![
            Span::styled(format!(" {name}  "), self.theme.style(Role::Title)),
            self.verdict_word(outcome),
            Span::raw("  "),
        ];
        hanging(
            head,
            Passage::plain(&results(outcome), Role::Text),
            width,
            self.theme,
        )
    }

    /// The unedited re-run beside an edit's verdict, or how to get it.
    pub(super) fn baseline_lines(
        &self,
        open: &Open,
        intervention: &Intervention,
        width: u16,
    ) -> Vec<Line<'static>> {
        let theme = self.theme;
        let baseline = open.baseline(&intervention.parent, intervention.step);
        let outcome = baseline.and_then(|one| open.outcomes.get(&one.id));
        let passage = match (baseline, outcome) {
            (None, _) => Passage::plain(
                &self.app.spell(
                    "not run. Press ‹baseline› to see what the same state does without the edit",
                ),
                Role::Muted,
            ),
            (Some(_), None) => Passage::plain("…", Role::Muted),
            (Some(_), Some(outcome)) => Passage::plain(&results(outcome), Role::Text),
        };
        let head = vec![Span::styled(" baseline  ", theme.style(Role::Title))];
        hanging(head, passage, width, theme)
    }
}

/// The role of a verdict: only what at least half of the runs reached is told as reached.
fn verdict_role(verdict: Verdict) -> Role {
    match verdict {
        Verdict::Validated => Role::MilestoneReached,
        Verdict::PartiallyValidated => Role::Accent,
        Verdict::Refuted => Role::Error,
        Verdict::Inconclusive => Role::Warn,
    }
}

/// `2 of 3 right · progress +40% · edit followed in 3 of 3`.
fn results(outcome: &Outcome) -> String {
    let n = outcome.intervention.n;
    let count = |hit: &dyn Fn(&Branch) -> bool| {
        outcome.branches.iter().filter(|branch| hit(branch)).count()
    };
    let right = count(&|branch| branch.success == Some(true));
    // A run that did not come to its end is not a wrong one.
    let cut = [
        RunStatus::Stopped,
        RunStatus::Failed,
        RunStatus::Interrupted,
    ];
    if outcome.branches.iter().all(Branch::refused) {
        return "held, nothing ran".to_owned();
    }
    let lost = count(&|branch| cut.contains(&branch.run));
    // Nor is one whose answer nobody judged.
    let open = count(&|branch| branch.run == RunStatus::Done && branch.success.is_none());
    // Nor does anybody judge what was forked elsewhere, by a program that knows no gates.
    let elsewhere = |branch: &Branch| branch.gate.is_none() && branch.fulfilled.is_none();
    let foreign = !outcome.branches.is_empty() && outcome.branches.iter().all(elsewhere);
    if foreign && open + lost == n {
        return "imported: not judged".to_owned();
    }
    let mut parts = vec![match n.saturating_sub(lost + open) {
        0 => "none judged".to_owned(),
        judged => format!("{right} of {judged} right"),
    }];
    for status in cut {
        let ended = count(&|branch| branch.run == status);
        if ended > 0 {
            parts.push(format!("{ended} {}", status.name()));
        }
    }
    parts.extend(outcome.progress.map(|mean| {
        let percent = format!("{:+.0}%", mean * 100.0);
        if matches!(percent.as_str(), "+0%" | "-0%") {
            "no milestones gained".to_owned()
        } else {
            format!("progress {percent}")
        }
    }));
    if !outcome.baseline() {
        let followed = count(&|branch| branch.fulfilled == Some(true));
        parts.push(format!("edit followed in {followed} of {n}"));
    }
    parts.join(" · ")
}

/// Why there is no better verdict; nothing where the verdict's word says it already.
fn reason(outcome: &Outcome) -> String {
    let told = outcome.baseline() || outcome.verdict.is_none() && outcome.intervention.n == 1;
    match &outcome.reason {
        Some(reason) if !told => format!(". {}", clean_line(reason)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;

    #[test]
    fn a_run_that_nobody_judged_is_not_a_wrong_one() {
        let mut outcome = fixture::outcome();
        for branch in &mut outcome.branches {
            (branch.run, branch.success) = (RunStatus::Done, None);
        }
        assert!(results(&outcome).starts_with("none judged"));
        outcome.branches[0].success = Some(false);
        assert!(results(&outcome).starts_with("0 of 1 right"));
    }
}
