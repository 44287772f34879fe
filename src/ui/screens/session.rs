//! The session: the message list, and beside it or in its place the text of a step and the branches.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, WIDE, plural, row_of};
use crate::app::extent::Pane;
use crate::app::pointer::Target;
use crate::app::session::{Focus, Open};
use crate::app::steps::Row;
use crate::model::{Branch, Trial, clean_line};
use crate::ui::glyph::Glyph;
use crate::ui::role::Role;
use crate::ui::widgets::{self, StepLook, fit, milestone_meter, run_badge, step_line};
use crate::ui::widgets::{dot, vertical};

impl Painter<'_> {
    pub(super) fn session(&mut self, area: Rect) {
        let Some(open) = &self.app.open else { return };
        let left = format!(
            "{} {} {}",
            clean_line(&open.session.id),
            Glyph::CURSOR.show(self.charset),
            clean_line(open.branch.id.name())
        );
        let right = self.branch_summary(open);
        let areas = self.frame(area, &left, right, true);
        self.info(open, areas.info);
        if area.width >= WIDE {
            let branches = area.width / 5;
            let list = (area.width - branches) * 3 / 5;
            let columns = [list, area.width - branches - list - 2, branches];
            let mut x = areas.body.x;
            let mut panes = columns.into_iter().map(|width| {
                let pane = Rect {
                    x,
                    width,
                    ..areas.body
                };
                x += width + 1;
                pane
            });
            if let (Some(list), Some(text), Some(branches)) =
                (panes.next(), panes.next(), panes.next())
            {
                for x in [list.right(), text.right()] {
                    self.vertical(x, areas.body);
                }
                for (place, pane) in [
                    (list, Pane::Steps),
                    (text, Pane::Detail),
                    (branches, Pane::Branches),
                ] {
                    self.spot(place, Target::Pane(pane));
                }
                let (head, rest) = under_title(list);
                let steps = format!("steps of {}", clean_line(open.branch.id.name()));
                self.title(&steps, "", open.focus == Focus::Steps, head);
                self.step_list(open, rest);
                self.detail(open, text, true);
                let (head, rest) = under_title(branches);
                self.title("branches", "", open.focus == Focus::Branches, head);
                self.branch_list(open, rest);
            }
        } else {
            match open.focus {
                Focus::Steps => self.step_list(open, areas.body),
                Focus::Detail => self.detail(open, areas.body, true),
                Focus::Branches => {
                    let (head, rest) = under_title(areas.body);
                    self.title("branches", "", true, head);
                    self.branch_list(open, rest);
                }
            }
        }
    }

    pub(super) fn title(&mut self, text: &str, remark: &str, focused: bool, area: Rect) {
        widgets::title(
            text,
            remark,
            focused,
            area,
            self.theme,
            self.charset,
            self.buf,
        );
    }

    /// What the verifier says of the final answer, unless that is hidden.
    pub(super) fn answer_word(&self, branch: &Branch) -> Span<'static> {
        if self.app.hide.verdicts {
            return Span::styled("verdict hidden", self.theme.style(Role::Muted));
        }
        widgets::answer_word(branch, self.theme, self.charset)
    }

    pub(super) fn vertical(&mut self, x: u16, area: Rect) {
        let style = self.theme.style(Role::Border);
        for y in area.top()..area.bottom() {
            self.buf.set_stringn(x, y, vertical(self.charset), 1, style);
        }
    }

    /// `failed · 4 trials · 36 steps · ▰▰▱▱▱ 2/5`, of the branch shown.
    fn branch_summary(&self, open: &Open) -> Line<'static> {
        let muted = self.theme.style(Role::Muted);
        let dot = || Span::styled(format!(" {} ", dot(self.charset)), muted);
        let mut line = Line::default();
        if open.branch.parent.is_some() {
            line.push_span(run_badge(&open.branch, self.theme, self.charset));
            line.push_span(dot());
            if open.branch.diagnostic {
                line.push_span(Span::styled("diagnostic", self.theme.style(Role::Warn)));
                line.push_span(dot());
            }
        }
        let word = self.answer_word(&open.branch);
        // One that still runs has none.
        if word.width() == 0 {
            line.spans.pop();
        } else {
            line.push_span(word);
        }
        for text in [
            plural(open.steps.trials.len(), "trial"),
            plural(open.steps.len, "step"),
        ] {
            if !line.spans.is_empty() {
                line.push_span(dot());
            }
            line.push_span(Span::styled(text, muted));
        }
        if !open.milestones.is_empty() {
            line.push_span(dot());
            let meter = milestone_meter(
                &open.milestones,
                open.parent_milestones.as_deref(),
                self.theme,
                self.charset,
            );
            line.extend(meter.spans);
        }
        line
    }

    /// What a fork at the selected step would restore.
    fn fork_hint(&self, open: &Open) -> Span<'static> {
        let theme = self.theme;
        let detail = open
            .detail
            .as_ref()
            .filter(|(index, _)| *index == open.selected);
        match detail.map(|(_, view)| &view.restorability) {
            Some(Ok(found)) if found.exact => Span::styled(
                format!(
                    " {} {}",
                    Glyph::PASS.show(self.charset),
                    fork_line(&found.line)
                ),
                theme.style(Role::GatePass),
            ),
            Some(Ok(found)) => Span::styled(
                format!(
                    " {} {}",
                    Glyph::UNCERTAIN.show(self.charset),
                    fork_line(&found.line)
                ),
                theme.style(Role::Warn),
            ),
            Some(Err(fault)) => Span::styled(
                format!(
                    " {} {}",
                    Glyph::UNCERTAIN.show(self.charset),
                    clean_line(fault)
                ),
                theme.style(Role::Warn),
            ),
            None => Span::raw(" "),
        }
    }

    /// What a fork at the selected step would restore, beside the fork key; then search and branches.
    fn info(&mut self, open: &Open, area: Rect) {
        let theme = self.theme;
        let fork = self.fork_hint(open);
        let mut right = Line::default();
        let mut short = String::new();
        if let Some(narrowed) = &open.narrowed {
            let only = open.steps.only();
            let count = only.map_or("…".to_owned(), |only| only.len().to_string());
            short = format!("only {count}");
            let text = format!("{short}: {}", clean_line(&narrowed.line));
            right.push_span(Span::styled(fit(&text, 40), theme.style(Role::Accent)));
        }
        if let Some(search) = &open.search {
            let gap = if short.is_empty() { "" } else { "  " };
            right.push_span(Span::raw(gap));
            let text = match (&search.hits, search.place(open.selected)) {
                (None, _) => "searching…".to_owned(),
                (Some(hits), Some(place)) => {
                    format!("{place}/{} “{}”", hits.len(), clean_line(&search.words))
                }
                (Some(hits), None) => format!("{} “{}”", hits.len(), clean_line(&search.words)),
            };
            right.push_span(Span::styled(fit(&text, 30), theme.style(Role::Accent)));
        } else if open.branches.len() > 1 && open.narrowed.is_none() {
            let newest = open
                .branches
                .iter()
                .rev()
                .filter(|branch| branch.parent.is_some())
                .take(4);
            let mut names: Vec<Span<'static>> = newest
                .map(|branch| {
                    let judged = branch.success.filter(|_| !self.app.hide.verdicts);
                    let sign = match judged {
                        Some(true) => Glyph::PASS.show(self.charset),
                        Some(false) => Glyph::FAIL.show(self.charset),
                        None => Glyph::run(branch.run).show(self.charset),
                    };
                    Span::styled(
                        format!(" {}{sign}", branch.id.name()),
                        theme.style(Role::Muted),
                    )
                })
                .collect();
            names.push(Span::styled(
                plural(open.branches.len(), "branch"),
                theme.style(Role::Muted),
            ));
            right.extend(names.into_iter().rev());
        }
        // What stands beside the fork key is cut for nothing but the mark of a filter, which is always seen.
        let width = usize::from(area.width);
        if !short.is_empty() && fork.width() + right.width() + 2 > width {
            right = Line::styled(short, theme.style(Role::Accent));
        }
        let marked = if open.narrowed.is_some() {
            right.width() + 2
        } else {
            0
        };
        let fork = Span::styled(fit(&fork.content, width.saturating_sub(marked)), fork.style);
        let fork_cells = fork.width();
        Line::from(fork).render(area, self.buf);
        let cells = right.width();
        if fork_cells + cells + 2 <= usize::from(area.width) {
            let cells = u16::try_from(cells).unwrap_or(area.width);
            let place = Rect {
                x: area.right().saturating_sub(cells + 1),
                width: cells,
                ..area
            };
            right.render(place.intersection(area), self.buf);
        }
    }

    fn step_list(&mut self, open: &Open, area: Rect) {
        let steps = &open.steps;
        let area = self.unseen(Pane::Steps, open.unseen, steps.rows(), area);
        let look = StepLook::new(
            &open.session,
            self.theme,
            self.charset,
            area.width,
            steps.len,
        );
        let selected = steps.row_of(open.selected);
        let window = self.list(Pane::Steps, steps.rows(), selected, area, 1);
        for (i, row) in area.rows().enumerate() {
            match steps.row(window.top + i) {
                Some(Row::Trial(trial)) => self.trial_row(trial, steps.len, row),
                Some(Row::Step(step)) => self.step_row(open, step, look, row),
                None => break,
            }
        }
    }

    pub(super) fn trial_row(&mut self, trial: Trial, len: usize, row: Rect) {
        widgets::rule(row, self.theme, self.charset, self.buf);
        let end = trial.end.min(len.saturating_sub(1));
        let text = format!(
            " trial {} {} steps {}–{end} ",
            trial.index,
            dot(self.charset),
            trial.start
        );
        let room = usize::from(row.width.saturating_sub(2));
        self.buf.set_stringn(
            row.x + 2.min(row.width),
            row.y,
            text,
            room,
            widgets::plain(self.theme).patch(self.theme.style(Role::Title)),
        );
    }

    fn step_row(&mut self, open: &Open, step: usize, look: StepLook<'_>, row: Rect) {
        let chosen = step == open.selected;
        let sign = if chosen {
            Glyph::CURSOR.show(self.charset)
        } else {
            " "
        };
        self.buf
            .set_stringn(row.x, row.y, sign, 1, self.theme.style(Role::Accent));
        let rest = Rect {
            x: row.x + 1,
            width: row.width.saturating_sub(2),
            ..row
        };
        match open.steps.head(step) {
            Some(head) => {
                let marks = self.marks(open, step, row.width);
                step_line(head, look, marks, usize::from(rest.width)).render(rest, self.buf);
            }
            None => Line::styled(
                format!("{step:>width$} …", width = look.number),
                self.theme.style(Role::Muted),
            )
            .render(rest, self.buf),
        }
        let hit = open
            .search
            .as_ref()
            .is_some_and(|search| search.place(step).is_some());
        if hit && !chosen {
            let number = Rect {
                width: u16::try_from(look.number)
                    .unwrap_or(rest.width)
                    .min(rest.width),
                ..rest
            };
            self.buf.set_style(number, self.theme.style(Role::Accent));
        }
        if chosen {
            self.select(row, open.focus == Focus::Steps && self.app.prompt.is_none());
        }
    }

    /// What else is known of a step: labels, milestones, a draft, forks.
    fn marks(&self, open: &Open, step: usize, width: u16) -> Line<'static> {
        let theme = self.theme;
        let mut parts: Vec<Span<'static>> = Vec::new();
        let labels = if self.app.hide.labels {
            &[][..]
        } else {
            &open.session.annotations
        };
        if labels.iter().any(|label| label.step == Some(step)) {
            let word = if width >= 70 { " label" } else { "" };
            parts.push(Span::styled(
                format!("{}{word}", Glyph::HYPOTHESIS.show(self.charset)),
                theme.style(Role::Warn),
            ));
        }
        if open.suspects(step) {
            let word = if width >= 70 { " hypothesis" } else { "" };
            parts.push(Span::styled(
                format!("{}{word}", Glyph::HYPOTHESIS.show(self.charset)),
                theme.style(Role::Warn),
            ));
        }
        if let Some(note) = open.note_at(step) {
            let glyph = if note.text.is_empty() {
                Glyph::MARKED
            } else {
                Glyph::NOTE
            };
            let mut text = glyph.show(self.charset).to_owned();
            if width >= 70 && !note.text.is_empty() {
                text = format!("{text} {}", fit(&clean_line(&note.text), 18));
            }
            parts.push(Span::styled(text, theme.style(Role::Accent)));
        }
        for milestone in open.milestones_at(step) {
            parts.push(Span::styled(
                format!("{}{milestone}", Glyph::MILESTONE.show(self.charset)),
                theme.style(Role::MilestoneReached),
            ));
        }
        if self
            .app
            .drafts
            .contains_key(&(open.branch.id.clone(), step))
        {
            parts.push(Span::styled("draft", theme.style(Role::Accent)));
        }
        let forks: Vec<&str> = open.forks_at(step).map(|branch| branch.id.name()).collect();
        if !forks.is_empty() {
            parts.push(Span::styled(
                format!(
                    "{}{}",
                    Glyph::FORK.show(self.charset),
                    widgets::names_of(&forks)
                ),
                theme.style(Role::Accent),
            ));
        }
        let mut line = Line::default();
        for (i, part) in parts.into_iter().enumerate() {
            if i > 0 {
                line.push_span(Span::raw(" "));
            }
            line.push_span(part);
        }
        line
    }

    fn branch_list(&mut self, open: &Open, area: Rect) {
        let window = self.list(
            Pane::Branches,
            open.branches.len(),
            open.branch_row,
            area,
            2,
        );
        let focused = open.focus == Focus::Branches;
        for (i, branch) in open
            .branches
            .iter()
            .enumerate()
            .skip(window.top)
            .take(window.height)
        {
            let lines = widgets::branch_lines(
                branch,
                branch.id == open.branch.id,
                self.app.hide.verdicts,
                usize::from(area.width).saturating_sub(2),
                self.theme,
                self.charset,
            );
            let at = (i - window.top) * 2;
            let chosen = i == open.branch_row;
            let sign = if chosen {
                Glyph::CURSOR.show(self.charset)
            } else {
                " "
            };
            for (k, line) in lines.into_iter().enumerate() {
                let row = row_of(area, at + k);
                let sign = if k == 0 { sign } else { " " };
                self.buf.set_stringn(
                    row.x,
                    row.y,
                    if row.height > 0 { sign } else { "" },
                    1,
                    self.theme.style(Role::Accent),
                );
                let rest = Rect {
                    x: row.x + 2.min(row.width),
                    width: row.width.saturating_sub(2),
                    ..row
                };
                line.render(rest, self.buf);
                if chosen && k == 0 {
                    self.select(row, focused);
                }
            }
        }
    }
}

/// The first row of an area, and the rest.
pub(super) fn under_title(area: Rect) -> (Rect, Rect) {
    let head = Rect {
        height: area.height.min(1),
        ..area
    };
    let rest = Rect {
        y: area.y + head.height,
        height: area.height - head.height,
        ..area
    };
    (head, rest)
}

/// What is said beside the fork key, as a sentence of its own.
fn fork_line(line: &str) -> String {
    let line = clean_line(line);
    if line.starts_with("no fork") || line.starts_with("fork") {
        line.into_owned()
    } else {
        format!("fork here: {line}")
    }
}
