//! The replay: every run of the fork with its state, the steps as they are made, the step being made, and at the end the verdict.

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::detail::heading;
use super::session::under_title;
use super::{Painter, TextId, WIDE, plural, revision, row_of};
use crate::app::extent::{Extent, Pane};
use crate::app::fork::{Replay, Run};
use crate::app::pointer::Target;
use crate::app::session::Open;
use crate::model::{RunStatus, Session, clean, clean_line};
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::{
    self, StepLook, hanging, milestone_meter, run_badge, split_columns, step_line,
};
use crate::ui::widgets::{dot, horizontal};

/// Cells that a run's column needs.
const COLUMN: u16 = 38;

impl Painter<'_> {
    pub(super) fn replay(&mut self, area: Rect) {
        let (Some(open), Some(replay)) = (&self.app.open, self.app.replay_here()) else {
            self.frame(area, "replay", Line::default(), false);
            return;
        };
        let left = format!(
            "{} {} replay from step {}",
            clean_line(replay.request.branch.as_str()),
            Glyph::CURSOR.show(self.charset),
            replay.request.step
        );
        let state = match &replay.outcome {
            Some(_) => Span::styled("ended", self.theme.style(Role::Muted)),
            None if replay.paused => Span::styled("paused", self.theme.style(Role::Warn)),
            None => Span::styled(
                RunStatus::Running.name(),
                self.theme.style(Role::Run(RunStatus::Running)),
            ),
        };
        let areas = self.frame(area, &left, Line::from(state), true);
        self.what_is_tried(replay, areas.info);
        let width = areas.body.width.saturating_sub(2);
        let verdict = match replay.asked.front() {
            Some((branch, effect)) => self.asked_lines(replay, branch, effect, width),
            None => self.verdict_lines(open, replay, width),
        };
        let runs = u16::try_from(replay.runs.len()).unwrap_or(u16::MAX);
        let columns = areas.body.width >= WIDE && runs > 1 && areas.body.width / runs >= COLUMN;
        let list = if columns {
            0
        } else {
            runs.min(areas.body.height / 3)
        };
        // The verdict may take half the screen; what does not fit is told by v.
        let end = u16::try_from(verdict.len())
            .unwrap_or(0)
            .min(areas.body.height.saturating_sub(list) / 2 + 1);
        let text = if areas.body.height >= list + end + 12 {
            areas.body.height / 4
        } else {
            0
        };
        let parts = [
            Constraint::Length(list),
            Constraint::Fill(1),
            Constraint::Length(text),
            Constraint::Length(end),
        ];
        let [top, middle, text, bottom] = Layout::vertical(parts).areas(areas.body);
        if replay.runs.is_empty() {
            let text = if replay.running() {
                "forking…"
            } else {
                "Nothing has run."
            };
            Line::styled(format!(" {text}"), self.theme.style(Role::Muted))
                .render(middle, self.buf);
        } else if columns {
            for (i, (run, column)) in replay
                .runs
                .iter()
                .zip(split_columns(middle, runs))
                .enumerate()
            {
                if i > 0 {
                    self.vertical(column.x.saturating_sub(1), middle);
                }
                self.run_column(open, replay, run, i, column);
            }
        } else {
            for (i, run) in replay.runs.iter().enumerate() {
                let row = row_of(top, i);
                if row.height > 0 {
                    self.run_row(open, replay, run, i == replay.current, row);
                    self.spot(row, Target::Row(Pane::Runs, i));
                }
            }
            if let Some(run) = replay.run() {
                let (head, rest) = under_title(middle);
                let title = format!("steps of {}", clean_line(run.branch.id.name()));
                self.title(&title, "", true, head);
                self.run_steps(&open.session, run, replay.current, (true, true), rest);
            }
        }
        if let Some(run) = replay.run() {
            self.step_text(run, text);
        }
        for (line, row) in verdict.into_iter().zip(bottom.rows()) {
            line.render(row, self.buf);
        }
    }

    /// The beginning of the selected step's text; the comparison has it in full.
    fn step_text(&mut self, run: &Run, area: Rect) {
        let (head, rest) = under_title(area);
        let Some(step) = run.step().filter(|_| rest.height > 0) else {
            return;
        };
        self.title(&heading(step, self.charset), "", false, head);
        let rest = Rect {
            x: rest.x + 1.min(rest.width),
            width: rest.width.saturating_sub(2),
            ..rest
        };
        let text = clean(&step.text);
        let id = TextId::Detail(run.branch.id.clone(), step.index);
        let wrapped = self
            .cache
            .texts
            .get(id, 4, rest.width, || Passage::plain(&text, Role::Text));
        let extent = widgets::text_pane(wrapped, Extent::default(), rest, self.theme, self.buf);
        self.more(extent, rest);
    }

    fn what_is_tried(&mut self, replay: &Replay, area: Rect) {
        let checked = &replay.checked;
        let dot = dot(self.charset);
        let mut text = match &replay.request.text {
            None => "unedited re-run, the baseline".to_owned(),
            Some(_) => format!(
                "{} edit {dot} {}",
                checked.category.name(),
                checked
                    .class
                    .map_or("", |class| class.name())
                    .replace('_', " ")
            ),
        };
        text = format!(
            " {text} {dot} {} {dot} seed {} {dot} {}",
            plural(replay.runs.len().max(1), "run"),
            replay.request.seed,
            clean_line(&checked.runtime)
        );
        let role = if replay.request.diagnostic {
            Role::Warn
        } else {
            Role::Muted
        };
        let text = if replay.request.diagnostic {
            format!(" diagnostic:{text}")
        } else {
            text
        };
        Line::styled(
            widgets::fit(&text, usize::from(area.width)),
            self.theme.style(role),
        )
        .render(area, self.buf);
    }

    /// A run in one row: its branch, what it does, where it is, what it reached.
    fn run_row(&mut self, open: &Open, replay: &Replay, run: &Run, chosen: bool, row: Rect) {
        let sign = if chosen {
            Glyph::CURSOR.show(self.charset)
        } else {
            " "
        };
        let mut line = Line::from(vec![
            Span::styled(format!("{sign} "), self.theme.style(Role::Accent)),
            Span::styled(
                widgets::fitted(&clean_line(run.branch.id.name()), 6),
                self.theme
                    .style(if chosen { Role::Accent } else { Role::Text }),
            ),
        ]);
        line.extend(self.run_state(open, run).spans);
        line.extend(self.run_end(replay, run).spans);
        line.render(row, self.buf);
    }

    fn run_state(&self, open: &Open, run: &Run) -> Line<'static> {
        let theme = self.theme;
        let paused = self.app.replay.as_ref().is_some_and(|one| one.paused)
            && run.branch.run == RunStatus::Running;
        let badge = if paused {
            let text = format!("{} paused", Glyph::PAUSED.show(self.charset));
            Span::styled(text, theme.style(Role::Warn))
        } else {
            run_badge(&run.branch, theme, self.charset)
        };
        let mut line = Line::from(Span::styled(
            widgets::fitted(&badge.content, 13),
            badge.style,
        ));
        let at = run
            .heads
            .last()
            .map_or(String::new(), |head| format!("step {:<4} ", head.index));
        line.push_span(Span::styled(at, theme.style(Role::Muted)));
        if !run.milestones.is_empty() {
            let parent = (open.branch.id == *run.branch.parent.as_ref().unwrap_or(&run.branch.id))
                .then_some(open.milestones.as_slice());
            line.extend(milestone_meter(&run.milestones, parent, theme, self.charset).spans);
            line.push_span("  ");
        }
        line
    }

    /// What came of a run, or who makes its next step.
    fn run_end(&self, replay: &Replay, run: &Run) -> Line<'static> {
        let theme = self.theme;
        let mut line = Line::default();
        if run.branch.diagnostic {
            line.push_span(Span::styled("diagnostic  ", theme.style(Role::Warn)));
        }
        if run.branch.run.is_over() {
            if let Some(gate) = run.branch.gate.filter(|_| !self.app.hide.verdicts) {
                let sign = Glyph::gate(gate).show(self.charset);
                let text = format!("{sign} {}  ", gate.name().replace('_', " "));
                line.push_span(Span::styled(text, theme.style(Role::Gate(gate))));
            }
            line.push_span(self.answer_word(&run.branch));
        } else if replay.asked.iter().any(|(id, _)| *id == run.branch.id) {
            line.push_span(Span::styled(
                self.app.spell("waits for your ‹allow› or ‹refuse›"),
                theme.style(Role::Warn),
            ));
        } else if let Some((agent, _)) = &run.delta {
            let text = format!("{} is writing", clean_line(agent));
            line.push_span(Span::styled(text, theme.style(Role::Muted)));
        }
        line
    }

    fn run_column(&mut self, open: &Open, replay: &Replay, run: &Run, i: usize, area: Rect) {
        let (head, rest) = under_title(area);
        let name = format!(
            "{} {} run {} of {}",
            clean_line(run.branch.id.name()),
            dot(self.charset),
            i + 1,
            replay.runs.len()
        );
        self.title(&name, "", i == replay.current, head);
        self.spot(area, Target::Row(Pane::Runs, i));
        let (first, rest) = under_title(rest);
        let (second, rest) = under_title(rest);
        self.run_state(open, run).render(first, self.buf);
        self.run_end(replay, run).render(second, self.buf);
        self.run_steps(&open.session, run, i, (i == replay.current, true), rest);
    }

    /// The steps made so far and the one being made; the reason, when the run ended without an answer.
    pub(super) fn run_steps(
        &mut self,
        session: &Session,
        run: &Run,
        i: usize,
        (current, focused): (bool, bool),
        area: Rect,
    ) {
        let below = self.below_steps(run, i, area);
        let height = area
            .height
            .saturating_sub(u16::try_from(below.len()).unwrap_or(0));
        let list = self.unseen(
            Pane::Run,
            run.unseen,
            run.heads.len(),
            Rect { height, ..area },
        );
        let steps = run
            .branch
            .steps
            .max(run.heads.last().map_or(0, |head| head.index + 1));
        let look = StepLook::new(session, self.theme, self.charset, area.width, steps);
        let window = if current {
            self.list(Pane::Run, run.heads.len(), run.selected, list, 1)
        } else {
            let extent = Extent {
                top: 0,
                height: usize::from(list.height),
                rows: run.heads.len(),
            };
            extent.showing(run.selected)
        };
        for (k, row) in list.rows().enumerate() {
            let Some(head) = run.heads.get(window.top + k) else {
                break;
            };
            let reached: Vec<String> = run
                .milestones
                .iter()
                .enumerate()
                .filter(|(_, at)| **at == Some(head.index))
                .map(|(m, _)| format!("{}{}", Glyph::MILESTONE.show(self.charset), m + 1))
                .collect();
            let marks = Line::styled(reached.join(" "), self.theme.style(Role::MilestoneReached));
            let marks = if reached.is_empty() {
                Line::default()
            } else {
                marks
            };
            let chosen = current && window.top + k == run.selected;
            let sign = if chosen {
                Glyph::CURSOR.show(self.charset)
            } else {
                " "
            };
            self.buf.set_stringn(
                row.x,
                row.y,
                sign,
                usize::from(row.width.min(1)),
                self.theme.style(Role::Accent),
            );
            let rest = Rect {
                x: row.x + 1.min(row.width),
                width: row.width.saturating_sub(2),
                ..row
            };
            step_line(head, look, marks, usize::from(rest.width)).render(rest, self.buf);
            if chosen {
                self.select(row, focused);
            }
        }
        for (line, y) in below.into_iter().zip(area.y + height..area.bottom()) {
            line.render(
                Rect {
                    y,
                    height: 1,
                    ..area
                },
                self.buf,
            );
        }
    }

    fn below_steps(&mut self, run: &Run, i: usize, area: Rect) -> Vec<Line<'static>> {
        let most = usize::from(area.height / 3);
        if let Some((agent, text)) = &run.delta {
            let text = clean(text).into_owned();
            let id = TextId::Delta(i);
            let wrapped = self.cache.texts.get(
                id,
                revision(&[agent, &text]),
                area.width.saturating_sub(4),
                || Passage::plain(&text, Role::Muted),
            );
            let rows = wrapped.len();
            let from = rows.saturating_sub(most.max(1));
            let lines = wrapped.lines(from, rows - from, self.theme);
            return lines
                .into_iter()
                .map(|line| {
                    let text: String = line
                        .spans
                        .iter()
                        .map(|span| span.content.as_ref())
                        .collect();
                    Line::from(vec![
                        Span::styled("  … ", self.theme.style(Role::Accent)),
                        Span::styled(text, self.theme.style(Role::Muted)),
                    ])
                })
                .collect();
        }
        match &run.branch.reason {
            Some(reason) if run.branch.run.is_over() => {
                let head = vec![Span::styled(
                    format!("  {} ", Glyph::run(run.branch.run).show(self.charset)),
                    self.theme.style(Role::Run(run.branch.run)),
                )];
                let mut lines = hanging(
                    head,
                    Passage::plain(&clean_line(reason), Role::Muted),
                    area.width,
                    self.theme,
                );
                lines.truncate(most.max(1));
                lines
            }
            _ => Vec::new(),
        }
    }

    /// What the runs came to: the verdict with its reason, progress, and the baseline beside it.
    fn verdict_lines(&self, open: &Open, replay: &Replay, width: u16) -> Vec<Line<'static>> {
        let theme = self.theme;
        let Some(outcome) = &replay.outcome else {
            return Vec::new();
        };
        let rule = Line::styled(
            horizontal(self.charset).repeat(usize::from(width) + 2),
            theme.style(Role::Border),
        );
        let mut lines = vec![rule];
        match outcome {
            Err(fault) => lines.extend(hanging(
                vec![Span::styled(
                    format!(" {} ", Glyph::FAIL.show(self.charset)),
                    theme.style(Role::Error),
                )],
                Passage::plain(&clean(fault), Role::Error),
                width,
                theme,
            )),
            Ok(_) if self.app.hide.verdicts => lines.push(Line::styled(
                " The runs have ended. Their verdict is hidden for now.",
                theme.style(Role::Muted),
            )),
            Ok(outcome) => {
                lines.extend(self.outcome_lines(outcome, width));
                lines.extend(if outcome.baseline() {
                    self.edit_lines_beside(open, &outcome.intervention, width)
                } else {
                    self.baseline_lines(open, &outcome.intervention, width)
                });
            }
        }
        lines
    }
}
