//! The gate panel: the edit, its runs, the six gates with their evidence, and what may be done now.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, plural};
use crate::app::extent::Pane;
use crate::app::fork::Gates;
use crate::app::msg::Checked;
use crate::gate::{GateResult, Report};
use crate::model::{clean, clean_line};
use crate::ui::diff::{DEADLINE, Side, WordDiff};
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::dot;
use crate::ui::widgets::hanging;

impl Painter<'_> {
    pub(super) fn gates(&mut self, gates: &Gates, area: Rect) {
        let branch = clean_line(gates.request.branch.as_str()).into_owned();
        let left = format!(
            "{branch} {} fork at step {}",
            Glyph::CURSOR.show(self.charset),
            gates.request.step
        );
        let right = self.runs_line(gates);
        let areas = self.frame(area, &left, right, true);
        self.gate_status(gates, areas.info);
        let body = Rect {
            x: areas.body.x + 1,
            width: areas.body.width.saturating_sub(2),
            ..areas.body
        };
        let mut lines = self.edit_lines(gates, body.width);
        match &gates.checked {
            Some(Ok(checked)) => lines.extend(self.gate_lines(checked, body.width)),
            Some(Err(fault)) => {
                let head = vec![Span::styled(
                    format!("{} ", Glyph::FAIL.show(self.charset)),
                    self.theme.style(Role::Error),
                )];
                lines.extend(hanging(
                    head,
                    Passage::plain(&clean(fault), Role::Error),
                    body.width,
                    self.theme,
                ));
            }
            None => lines.push(Line::styled(
                "checking the gates…",
                self.theme.style(Role::Muted),
            )),
        }
        self.lines(Pane::Gates, &lines, body);
    }

    fn runs_line(&self, gates: &Gates) -> Line<'static> {
        let runs = gates
            .runs()
            .map_or_else(|| "runs: …".to_owned(), |n| plural(n, "run"));
        let text = format!("{runs} {} seed {}", dot(self.charset), gates.request.seed);
        Line::styled(text, self.theme.style(Role::Text))
    }

    /// What is asked for, in a few rows: the kind of the edit, where it runs, and its words.
    fn edit_lines(&self, gates: &Gates, width: u16) -> Vec<Line<'static>> {
        let theme = self.theme;
        let dot = dot(self.charset);
        let mut summary = Passage::default();
        let checked = gates
            .checked
            .as_ref()
            .and_then(|checked| checked.as_ref().ok());
        match (&gates.request.text, checked) {
            (None, _) => summary.push("unedited re-run, the baseline: no verdict", Role::Accent),
            (
                Some(_),
                Some(Checked {
                    category, class, ..
                }),
            ) => {
                let class = class.map_or("", |class| class.name()).replace('_', " ");
                summary.push(
                    &format!("{} edit {dot} {class}", category.name()),
                    Role::Accent,
                );
            }
            (Some(_), None) => summary.push("edit", Role::Accent),
        }
        if let Some(checked) = checked {
            summary.push(
                &format!(" {dot} {}", clean_line(&checked.runtime)),
                Role::Text,
            );
            if checked.answer_leak {
                let text = format!(
                    "\n{} the edit gives the expected answer away; it is marked so",
                    Glyph::HYPOTHESIS.show(self.charset)
                );
                summary.push(&text, Role::Warn);
            }
        }
        let mut lines = hanging(Vec::new(), summary, width, theme);
        if let Some(text) = &gates.request.text {
            let diff = WordDiff::new(&clean(&gates.original.text), &clean(text), DEADLINE);
            let head = vec![Span::styled("  ", theme.style(Role::Muted))];
            let mut diff = hanging(head, diff.passage(Side::Both, true), width, theme);
            // Four rows tell which edit it is; the editor shows it whole.
            if diff.len() > 4 {
                diff.truncate(4);
                if let Some(last) = diff.last_mut() {
                    last.push_span(Span::styled(" …", theme.style(Role::Muted)));
                }
            }
            lines.extend(diff);
        }
        lines.push(Line::default());
        lines
    }

    fn gate_lines(&self, checked: &Checked, width: u16) -> Vec<Line<'static>> {
        checked
            .report
            .gates
            .iter()
            .flat_map(|gate| self.gate_rows(gate, width))
            .collect()
    }

    fn gate_rows(&self, gate: &GateResult, width: u16) -> Vec<Line<'static>> {
        let theme = self.theme;
        let (sign, role) = match gate.holds {
            Some(true) => (Glyph::PASS.show(self.charset), Role::GatePass),
            Some(false) => (Glyph::UNCERTAIN.show(self.charset), Role::GateHold),
            None => (" ", Role::Muted),
        };
        let head = vec![
            Span::styled(format!("{sign} "), theme.style(role)),
            Span::styled(
                format!("{} {:<10}", gate.number, gate.name),
                theme.style(if gate.holds.is_none() {
                    Role::Muted
                } else {
                    Role::Title
                }),
            ),
        ];
        let found = if gate.holds.is_none() {
            Role::Muted
        } else {
            Role::Text
        };
        let mut lines = hanging(
            head,
            Passage::plain(&clean_line(&gate.found), found),
            width,
            theme,
        );
        let dot = dot(self.charset);
        let mut below = |sign: &str, text: &str, role: Role| {
            let head = vec![Span::styled(format!("{:14}{sign} ", ""), theme.style(role))];
            lines.extend(hanging(
                head,
                Passage::plain(&clean_line(text), role),
                width,
                theme,
            ));
        };
        if gate.holds == Some(false) {
            for detail in &gate.details {
                below(dot, detail, Role::Muted);
            }
        } else if !gate.details.is_empty() {
            // Evidence for what holds is read on, not picked from: it leaves the rows to what does not hold.
            below(dot, &gate.details.join(&format!(" {dot} ")), Role::Muted);
        }
        if let Some(mend) = &gate.mend {
            below(Glyph::TO.show(self.charset), mend, Role::Warn);
        }
        lines
    }

    /// One line: how it stands and what to press.
    fn gate_status(&mut self, gates: &Gates, area: Rect) {
        let theme = self.theme;
        let line = match gates.report() {
            None if gates.checking => {
                Line::styled(" checking the gates…", theme.style(Role::Muted))
            }
            None => Line::styled(
                " This fork cannot be made. Nothing has run, nothing has changed.",
                theme.style(Role::Error),
            ),
            Some(report) => {
                let status = Span::styled(
                    format!(" {}", report.status.name().replace('_', " ")),
                    theme.style(Role::Gate(report.status)),
                );
                Line::from(vec![
                    status,
                    Span::styled(advice(report), theme.style(Role::Text)),
                ])
            }
        };
        line.render(area, self.buf);
    }
}

fn advice(report: &Report) -> &'static str {
    if report.ready() {
        ": gates 1 to 5 hold. Enter forks and runs"
    } else if report.may_run_diagnostic() {
        ": held, nothing has run. d runs it as a diagnostic branch"
    } else {
        ": held, nothing has run. How to mend it stands above"
    }
}
