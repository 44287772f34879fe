//! The picker: the sessions of the store, two rows each, and what to do with them.

use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::session::under_title;
use super::{Painter, plural, row_of};
use crate::app::extent::Pane;
use crate::model::{TOLD, clean, clean_line};
use crate::store::SessionSummary;
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::dot;
use crate::ui::widgets::{bar, fit, hanging, milestone_meter, width_of};

/// Cells that the count of what lies below takes.
const MORE: u16 = 13;

impl Painter<'_> {
    pub(super) fn picker(&mut self, area: Rect) {
        let picker = &self.app.picker;
        let all = picker.sessions.as_ref().map_or(0, Vec::len);
        let shown: Vec<&SessionSummary> = picker.matching().collect();
        let count = if picker.filter.is_empty() {
            plural(all, "session")
        } else {
            format!(
                "{} of {} with “{}”",
                shown.len(),
                plural(all, "session"),
                clean_line(&picker.filter)
            )
        };
        let count = Line::styled(count, self.theme.style(Role::Muted));
        let areas = self.frame(area, "dover · pick a run to debug", count, true);
        self.import_line(areas.info);
        let (mut body, task) = (areas.body, task_area(areas.body));
        body.height -= task.height;
        if shown.is_empty() {
            let text = if picker.sessions.is_none() {
                "Reading the store…"
            } else if all == 0 {
                "The store is empty. Quit with ‹quit› and run: dover FILE, with a log of a run that went wrong."
            } else {
                "No session contains these words. Press ‹filter› and change them, or ‹prompt.back› there to see all."
            };
            let passage = Passage::plain(&self.app.spell(text), Role::Text);
            for (line, row) in hanging(vec![Span::raw("  ")], passage, body.width, self.theme)
                .iter()
                .zip(body.rows())
            {
                line.render(row, self.buf);
            }
            return;
        }
        let window = self.list(Pane::Picker, shown.len(), picker.selected, body, 2);
        for (i, summary) in shown
            .iter()
            .enumerate()
            .skip(window.top)
            .take(window.height)
        {
            let first = row_of(body, (i - window.top) * 2);
            let mut second = row_of(body, (i - window.top) * 2 + 1);
            // How many lie below stands at the end of the last row, over nothing.
            let last = i + 1 == window.top + window.height && i + 1 < shown.len();
            if last {
                second.width = second.width.saturating_sub(MORE);
            }
            self.session_rows(summary, first, second, i == picker.selected);
        }
        self.more(window, body);
        if let Some(summary) = shown.get(picker.selected) {
            self.task(summary, task);
        }
    }

    /// What the selected run was to do.
    fn task(&mut self, summary: &SessionSummary, area: Rect) {
        let (head, rest) = under_title(area);
        if rest.height == 0 {
            return;
        }
        let session = &summary.session;
        self.title(
            "its task",
            &clean_line(session.source.as_deref().unwrap_or_default()),
            false,
            head,
        );
        let mut passage = Passage::plain(&clean(&session.task), Role::Text);
        let expected = session.expected.as_ref();
        if let Some(expected) = expected.filter(|_| !self.app.hide.answers) {
            passage.push(
                &format!("\nright answer: {}", clean_line(expected)),
                Role::Muted,
            );
        }
        let lines = hanging(
            vec![Span::raw(" ")],
            passage,
            rest.width.saturating_sub(1),
            self.theme,
        );
        for (line, row) in lines.iter().zip(rest.rows()) {
            line.render(row, self.buf);
        }
    }

    fn session_rows(
        &mut self,
        summary: &SessionSummary,
        first: Rect,
        second: Rect,
        selected: bool,
    ) {
        let (theme, charset) = (self.theme, self.charset);
        let session = &summary.session;
        let width = usize::from(first.width);
        let mut right = Line::default();
        match summary.success {
            _ if self.app.hide.verdicts => {}
            Some(_) if summary.told() => {
                right.push_span(Span::styled(TOLD, theme.style(Role::Warn)));
            }
            Some(true) => right.push_span(Span::styled(
                format!("{} right answer", Glyph::PASS.show(charset)),
                theme.style(Role::MilestoneReached),
            )),
            Some(false) => right.push_span(Span::styled(
                format!("{} failed", Glyph::FAIL.show(charset)),
                theme.style(Role::Error),
            )),
            None => right.push_span(Span::styled("not judged", theme.style(Role::Muted))),
        }
        if let Some((reached, of)) = summary.milestones.filter(|(_, of)| *of > 0) {
            let cells: Vec<Option<usize>> = (0..of).map(|i| (i < reached).then_some(0)).collect();
            right.push_span(Span::raw("  "));
            right.extend(milestone_meter(&cells, None, theme, charset).spans);
        }
        let sign = if selected {
            Glyph::CURSOR.show(charset)
        } else {
            " "
        };
        let id = clean_line(&session.id).into_owned();
        let room = width.saturating_sub(right.width() + 4);
        let title = fit(
            &clean_line(&session.title),
            room.saturating_sub(width_of(&id) + 2),
        );
        let mut left = Line::from(vec![
            Span::styled(format!("{sign} "), theme.style(Role::Accent)),
            Span::styled(fit(&id, room), theme.style(Role::Accent)),
        ]);
        if title != id {
            left.push_span(Span::styled(format!("  {title}"), theme.style(Role::Text)));
        }
        left.render(first, self.buf);
        let cells = u16::try_from(right.width() + 1)
            .unwrap_or(first.width)
            .min(first.width);
        let place = Rect {
            x: first.right() - cells,
            width: cells,
            ..first
        };
        right.render(place, self.buf);
        let day = summary.created.get(..10).unwrap_or(&summary.created);
        let facts = [
            session.format.replace('_', " "),
            plural(summary.steps, "step"),
            plural(summary.trials, "trial"),
            plural(summary.branches, "branch"),
            plural(session.agents.len(), "agent"),
            day.to_owned(),
        ];
        let facts = facts.join(&format!(" {} ", dot(charset)));
        let line = format!("    {}", fit(&clean_line(&facts), width.saturating_sub(5)));
        Line::styled(line, theme.style(Role::Muted)).render(second, self.buf);
        if selected {
            let bold = ratatui::style::Style::new().add_modifier(Modifier::BOLD);
            self.buf.set_style(first, bold);
            self.select(first, true);
        }
    }

    fn import_line(&mut self, area: Rect) {
        let line = if let Some(importing) = &self.app.picker.importing {
            let bar = bar(importing.share, 20, self.charset);
            let steps = plural(importing.steps, "step");
            let text = format!(" reading {}  {bar}  {steps}", clean_line(&importing.what));
            Line::styled(text, self.theme.style(Role::Accent))
        } else {
            let text = " Samples need no key and no network. Open your own log with: dover FILE";
            Line::styled(text, self.theme.style(Role::Muted))
        };
        line.render(area, self.buf);
    }
}

/// Room for the selected session's task, where there is enough.
fn task_area(body: Rect) -> Rect {
    let height = if body.height >= 14 {
        body.height / 3
    } else {
        0
    };
    Rect {
        y: body.bottom() - height,
        height,
        ..body
    }
}
