//! The live run: what waits at the boundary it stands at, the steps made, the text of what is selected, and the log.

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::detail::heading;
use super::session::under_title;
use super::{Painter, TextId, WIDE, plural, revision, row_of};
use crate::app::extent::Pane;
use crate::app::live::{Live, LivePane, Phase};
use crate::app::pointer::Target;
use crate::model::{RunStatus, StepHead, clean, clean_line};
use crate::pipeline::Standing;
use crate::runtime::Level;
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::{StepLook, dot, fit, hanging, run_badge, step_line};

impl Painter<'_> {
    pub(super) fn live(&mut self, area: Rect) {
        let Some(live) = &self.app.live else {
            self.frame(area, "live run", Line::default(), false);
            return;
        };
        let cursor = Glyph::CURSOR.show(self.charset);
        let left = format!("{} {cursor} live", clean_line(&live.name));
        let badge = self.live_badge(live);
        let areas = self.frame(area, &left, Line::from(badge), true);
        self.live_info(live, areas.info);
        let body = areas.body;
        let waits = self.standing_lines(live, body.width);
        let height = u16::try_from(waits.len()).unwrap_or(u16::MAX);
        if body.width >= WIDE {
            let columns = [Constraint::Percentage(52), Constraint::Fill(1)];
            let [left, right] = Layout::horizontal(columns).spacing(1).areas(body);
            self.vertical(left.right(), body);
            let waits = self.standing_lines(live, right.width);
            let height = u16::try_from(waits.len()).unwrap_or(u16::MAX);
            let rows = [Constraint::Fill(3), Constraint::Fill(1)];
            let [steps, log] = Layout::vertical(rows).areas(left);
            let top = (height + 1).max(4).min(right.height / 2);
            let rows = [Constraint::Length(top), Constraint::Fill(1)];
            let [queue, text] = Layout::vertical(rows).areas(right);
            self.live_steps(live, steps);
            self.live_log(live, log);
            self.live_queue(live, &waits, queue);
            self.live_text(live, text);
        } else {
            // On a small screen the log is there while it is read.
            let log = match live.focus {
                LivePane::Log => body.height / 2,
                _ if body.height < 14 => 0,
                _ => 3,
            };
            let top = (height + 1).max(2).min(body.height / 3);
            let rows = [
                Constraint::Fill(2),
                Constraint::Length(top),
                Constraint::Fill(2),
                Constraint::Length(log),
            ];
            let [steps, queue, text, log] = Layout::vertical(rows).areas(body);
            self.live_steps(live, steps);
            self.live_queue(live, &waits, queue);
            self.live_text(live, text);
            self.live_log(live, log);
        }
    }

    fn live_badge(&self, live: &Live) -> Span<'static> {
        let theme = self.theme;
        let next = live.run.as_ref().map_or(0, |run| run.branch.steps);
        let paused = Glyph::PAUSED.show(self.charset);
        match &live.phase {
            Phase::Starting => Span::styled("starting the team…", theme.style(Role::Muted)),
            Phase::Moves(true) if live.run.is_some() => {
                Span::styled("pauses at the next boundary", theme.style(Role::Warn))
            }
            Phase::Moves(_) => Span::styled(
                RunStatus::Running.name(),
                theme.style(Role::Run(RunStatus::Running)),
            ),
            Phase::Stands(Standing::Boundary(queue)) if queue.is_empty() => {
                Span::styled(format!("{paused} nothing waits"), theme.style(Role::Warn))
            }
            Phase::Stands(Standing::Boundary(_)) => Span::styled(
                format!("{paused} before step {next}"),
                theme.style(Role::Warn),
            ),
            Phase::Stands(Standing::Held { .. }) => Span::styled(
                format!("{paused} a call waits for you"),
                theme.style(Role::Warn),
            ),
            Phase::Stands(Standing::Asked { .. }) => Span::styled(
                format!("{paused} the team asks you"),
                theme.style(Role::Warn),
            ),
            Phase::Over(Ok(branch)) => run_badge(branch, theme, self.charset),
            Phase::Over(Err(_)) => Span::styled("failed", theme.style(Role::Error)),
        }
    }

    fn live_info(&mut self, live: &Live, area: Rect) {
        let dot = dot(self.charset);
        let mut parts = vec![plural(
            live.run.as_ref().map_or(0, |run| run.heads.len()),
            "step",
        )];
        if live.usage.calls > 0 {
            parts.push(plural(
                usize::try_from(live.usage.calls).unwrap_or(usize::MAX),
                "model call",
            ));
            parts.push(format!(
                "{} tokens sent, {} received",
                live.usage.prompt_tokens, live.usage.completion_tokens
            ));
        }
        if let Some(main) = live.main() {
            parts.push(format!("kept as {}", clean_line(main.session())));
        }
        let text = format!(" {}", parts.join(&format!(" {dot} ")));
        let text = fit(&text, usize::from(area.width));
        Line::styled(text, self.theme.style(Role::Muted)).render(area, self.buf);
    }

    fn live_steps(&mut self, live: &Live, area: Rect) {
        self.spot(area, Target::Pane(Pane::Run));
        let focused = live.focus == LivePane::Steps;
        let Some(run) = &live.run else {
            let (head, rest) = under_title(area);
            self.title("steps", "", focused, head);
            let text = match &live.phase {
                Phase::Starting => " The team is being imported and made.",
                Phase::Over(_) => " Nothing has run.",
                _ => " None yet: ‹step› commits the first message, ‹pause› runs on.",
            };
            Line::styled(self.app.spell(text), self.theme.style(Role::Muted))
                .render(rest, self.buf);
            return;
        };
        let (head, rest) = under_title(area);
        self.title("steps", "", focused, head);
        self.run_steps(&live.session, run, 0, (true, focused), rest);
    }

    /// What the run waits with.
    fn standing_lines(&self, live: &Live, width: u16) -> Vec<Line<'static>> {
        let theme = self.theme;
        let said = |head: &str, text: &str, role: Role| {
            let head = vec![Span::styled(format!(" {head}"), theme.style(Role::Muted))];
            hanging(head, Passage::plain(&clean(text), role), width, theme)
        };
        match &live.phase {
            Phase::Stands(Standing::Held {
                effect,
                arguments,
                recorded,
            }) => {
                let class = effect.class.name().replace('_', " ");
                let call = format!(
                    "{} calls {} ({class})",
                    clean_line(&effect.agent),
                    clean_line(&effect.tool)
                );
                let mut lines = said("", &call, Role::Warn);
                if let Some(arguments) = arguments {
                    lines.extend(said("with   ", arguments, Role::Text));
                }
                let record = recorded.as_deref().unwrap_or("nothing of the same call");
                lines.extend(said("record ", record, Role::Muted));
                lines
            }
            Phase::Stands(Standing::Asked { agent, prompt }) => {
                said(&format!("{} asks: ", clean_line(agent)), prompt, Role::Warn)
            }
            Phase::Over(Err(fault)) => said("", fault, Role::Error),
            Phase::Over(Ok(branch)) => {
                let mut lines = said(
                    "answer ",
                    branch.answer.as_deref().unwrap_or("none"),
                    Role::Text,
                );
                if let Some(reason) = &branch.reason {
                    lines.extend(said("ended  ", reason, Role::Muted));
                }
                lines
            }
            Phase::Stands(Standing::Boundary(queue)) => {
                let rows = queue.len().max(1);
                vec![Line::default(); rows]
            }
            Phase::Starting | Phase::Moves(_) => vec![Line::default()],
        }
    }

    fn live_queue(&mut self, live: &Live, lines: &[Line<'_>], area: Rect) {
        self.spot(area, Target::Pane(Pane::Queue));
        let (head, rest) = under_title(area);
        let focused = live.focus == LivePane::Queue;
        let title = match &live.phase {
            Phase::Stands(Standing::Held { .. }) => "a call waits",
            Phase::Stands(Standing::Asked { .. }) => "you are asked",
            Phase::Over(_) => "the end",
            _ => "waits to be committed",
        };
        self.title(title, "", focused, head);
        let Some(queue) = live.queue() else {
            if matches!(live.phase, Phase::Starting | Phase::Moves(_)) {
                let text = match live.run.as_ref().and_then(|run| run.delta.as_ref()) {
                    Some((agent, _)) => format!(" {} is writing", clean_line(agent)),
                    None => " The team is at work.".to_owned(),
                };
                Line::styled(text, self.theme.style(Role::Muted)).render(rest, self.buf);
            } else {
                self.lines(Pane::Queue, lines, rest);
            }
            return;
        };
        if queue.is_empty() {
            let text = self.app.spell(
                " Nothing: ‹send› sends a message, ‹insert› puts one in, ‹pause› lets the team end.",
            );
            Line::styled(text, self.theme.style(Role::Muted)).render(rest, self.buf);
            return;
        }
        let most = queue.last().map_or(0, |one| one.step.index);
        let look = StepLook::new(
            &live.session,
            self.theme,
            self.charset,
            rest.width,
            most + 1,
        );
        let extent = self.list(Pane::Queue, queue.len(), live.row, rest, 1);
        for (k, one) in queue.iter().enumerate().skip(extent.top) {
            let row = row_of(rest, k - extent.top);
            if row.height == 0 {
                break;
            }
            let head = StepHead::of(&one.step);
            self.live_row(&head, look, live.row == k, focused, row);
        }
        self.more(extent, rest);
    }

    fn live_row(
        &mut self,
        head: &StepHead,
        look: StepLook<'_>,
        chosen: bool,
        focused: bool,
        row: Rect,
    ) {
        let sign = if chosen {
            Glyph::CURSOR.show(self.charset)
        } else {
            " "
        };
        let cells = usize::from(row.width.min(1));
        let style = self.theme.style(Role::Accent);
        self.buf.set_stringn(row.x, row.y, sign, cells, style);
        let rest = Rect {
            x: row.x + 1.min(row.width),
            width: row.width.saturating_sub(2),
            ..row
        };
        let width = usize::from(rest.width);
        step_line(head, look, Line::default(), width).render(rest, self.buf);
        if chosen {
            self.select(row, focused);
        }
    }

    /// The whole text of what is selected.
    fn live_text(&mut self, live: &Live, area: Rect) {
        let (head, rest) = under_title(area);
        let rest = Rect {
            x: rest.x + 1.min(rest.width),
            width: rest.width.saturating_sub(2),
            ..rest
        };
        let made = || live.run.as_ref().and_then(|run| run.step());
        let step = match live.focus {
            LivePane::Steps | LivePane::Log => made(),
            LivePane::Queue => live.waiting().map(|one| &one.step).or_else(made),
        };
        let logged = (live.focus == LivePane::Log)
            .then(|| log_line(live))
            .flatten();
        let (title, text) = match (logged, step) {
            (Some(text), _) => ("a line of the log".to_owned(), text),
            (None, Some(step)) => (heading(step, self.charset), step.text.clone()),
            (None, None) => return,
        };
        self.title(&title, "", false, head);
        let text = clean(&text).into_owned();
        let id = revision(&[&text]);
        self.text(Pane::LiveText, TextId::Live, id, rest, || {
            Passage::plain(&text, Role::Text)
        });
    }

    fn live_log(&mut self, live: &Live, area: Rect) {
        self.spot(area, Target::Pane(Pane::Log));
        let (head, rest) = under_title(area);
        let focused = live.focus == LivePane::Log;
        let of = match live.level {
            Level::Info => "log".to_owned(),
            level => format!("log, {} and above", level.name()),
        };
        self.title(&of, &self.app.spell("‹log-level›: level"), focused, head);
        let count = live.lines().count();
        let last = count.saturating_sub(1);
        let at = live.line.unwrap_or(last);
        let height = usize::from(rest.height);
        // The last line is at the bottom, and with it selected the tail stays in sight.
        let extent = self.list(Pane::Log, count, at, rest, 1);
        let shown: Vec<_> = live
            .lines()
            .skip(extent.top)
            .take(height)
            .cloned()
            .collect();
        for (k, line) in shown.iter().enumerate() {
            let row = row_of(rest, k);
            let role = match line.level {
                Level::Info => Role::Muted,
                Level::Warning => Role::Warn,
                Level::Error => Role::Error,
            };
            let text = fit(
                &format!("  {}", clean_line(&line.text)),
                usize::from(row.width),
            );
            Line::styled(text, self.theme.style(role)).render(row, self.buf);
            if focused && extent.top + k == at {
                self.select(row, true);
            }
        }
    }
}

/// The selected line of the log in full.
fn log_line(live: &Live) -> Option<String> {
    let last = live.lines().count().checked_sub(1)?;
    let at = live.line.unwrap_or(last);
    live.lines().nth(at).map(|logged| logged.text.clone())
}
