//! The gate panel: the edit, its runs, the six gates in a line each, the opened one with its evidence and the keys that mend it.

use std::ops::Range;

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, plural};
use crate::app::command::{self, Command, Context, Id};
use crate::app::extent::Pane;
use crate::app::fork::Gates;
use crate::app::msg::Checked;
use crate::gate::{Action, GateResult, Report};
use crate::model::{GateStatus, clean, clean_line};
use crate::ui::diff::{Side, WordDiff};
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::{dot, fit, hanging};

/// Cells before what a gate found.
const INDENT: usize = 15;
/// The most rows of the edit.
const DIFF_ROWS: usize = 4;

/// The gates as lines, and those of the opened one.
struct Found {
    lines: Vec<Line<'static>>,
    opened: Range<usize>,
    /// Those of each.
    each: Vec<Range<usize>>,
}

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
        let mut below = self.found_lines(gates, body.width, true);
        if below.lines.len() + 3 > usize::from(body.height) {
            below = self.found_lines(gates, body.width, false);
        }
        let room = usize::from(body.height).saturating_sub(below.lines.len() + 2);
        let mut lines = self.edit_lines(gates, body.width, room.clamp(1, DIFF_ROWS));
        let above = lines.len();
        let moved = |one: &Range<usize>| one.start + above..one.end + above;
        let opened = moved(&below.opened);
        let each: Vec<_> = below.each.iter().map(moved).collect();
        lines.extend(below.lines);
        if gates.follow {
            let mut extent = self.extent(Pane::Gates);
            (extent.rows, extent.height) = (lines.len(), usize::from(body.height));
            let whole = extent.clamped().showing(opened.end.saturating_sub(1));
            self.cache
                .extents
                .set(Pane::Gates, whole.showing(opened.start));
        }
        self.lines(Pane::Gates, &lines, body);
        self.items(Pane::Gates, &each, body);
    }

    /// What the gates said, or why they could not be asked. `roomy`: evidence is wrapped, not cut to a line each.
    fn found_lines(&self, gates: &Gates, width: u16, roomy: bool) -> Found {
        let mut lines = Vec::new();
        let mut opened = 0..0;
        let mut each = Vec::new();
        match &gates.checked {
            Some(Ok(checked)) => {
                for note in &checked.report.notes {
                    let sign = format!("{} ", Glyph::HYPOTHESIS.show(self.charset));
                    lines.extend(self.row(sign, &clean_line(note), Role::Warn, width));
                }
                for (place, gate) in checked.report.gates.iter().enumerate() {
                    let from = lines.len();
                    let open = place == gates.opened();
                    lines.push(self.gate_row(gate, open, usize::from(width)));
                    if open {
                        lines.extend(self.evidence(gate, width, roomy));
                        opened = from..lines.len();
                    }
                    each.push(from..lines.len());
                }
            }
            Some(Err(fault)) => {
                let sign = format!("{} ", Glyph::FAIL.show(self.charset));
                lines.extend(self.row(sign, &clean(fault), Role::Error, width));
            }
            None => lines.push(Line::styled(
                "checking the gates…",
                self.theme.style(Role::Muted),
            )),
        }
        Found {
            lines,
            opened,
            each,
        }
    }

    /// A sentence behind a sign, in one role.
    fn row(&self, sign: String, text: &str, role: Role, width: u16) -> Vec<Line<'static>> {
        let head = vec![Span::styled(sign, self.theme.style(role))];
        hanging(head, Passage::plain(text, role), width, self.theme)
    }

    fn runs_line(&self, gates: &Gates) -> Line<'static> {
        let runs = gates
            .runs()
            .map_or_else(|| "runs: …".to_owned(), |n| plural(n, "run"));
        let text = format!("{runs} {} seed {}", dot(self.charset), gates.request.seed);
        Line::styled(text, self.theme.style(Role::Text))
    }

    /// What is asked for, in a few rows: the kind of the edit, where it runs, and its words.
    fn edit_lines(&self, gates: &Gates, width: u16, rows: usize) -> Vec<Line<'static>> {
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
            if checked.answer_leak && !self.app.hide.answers {
                let text = format!(
                    "\n{} the edit gives the expected answer away; it is marked so",
                    Glyph::HYPOTHESIS.show(self.charset)
                );
                summary.push(&text, Role::Warn);
            }
        }
        let mut lines = hanging(Vec::new(), summary, width, theme);
        if let Some(text) = &gates.request.text {
            let diff = WordDiff::new(&clean(&gates.original.text), &clean(text));
            let head = vec![Span::styled("  ", theme.style(Role::Muted))];
            let mut diff = hanging(head, diff.passage(Side::Both, true), width, theme);
            // A few rows tell which edit it is; the editor shows it whole.
            if diff.len() > rows {
                diff.truncate(rows);
                if let Some(last) = diff.last_mut() {
                    last.push_span(Span::styled(" …", theme.style(Role::Muted)));
                }
            }
            lines.extend(diff);
        }
        lines.push(Line::default());
        lines
    }

    /// A gate in one line: how it stands, its name, what was found.
    fn gate_row(&self, gate: &GateResult, open: bool, width: usize) -> Line<'static> {
        let theme = self.theme;
        let (sign, role, found) = match gate.holds {
            Some(true) => (Glyph::PASS.show(self.charset), Role::GatePass, Role::Text),
            Some(false) => (Glyph::HOLD.show(self.charset), Role::GateHold, Role::Text),
            None => (" ", Role::Muted, Role::Muted),
        };
        let cursor = if open {
            Glyph::CURSOR.show(self.charset)
        } else {
            " "
        };
        let name = if open {
            Role::Accent
        } else if gate.holds.is_none() {
            Role::Muted
        } else {
            Role::Title
        };
        let text = fit(&clean_line(&gate.found), width.saturating_sub(INDENT));
        Line::from(vec![
            Span::styled(cursor, theme.style(Role::Accent)),
            Span::styled(format!("{sign} "), theme.style(role)),
            Span::styled(
                format!("{} {:<10}", gate.number, gate.name),
                theme.style(name),
            ),
            Span::styled(text, theme.style(found)),
        ])
    }

    /// What the opened gate rests on, what is missing, and the keys that mend it.
    fn evidence(&self, gate: &GateResult, width: u16, roomy: bool) -> Vec<Line<'static>> {
        let indent = " ".repeat(INDENT - 2);
        let sign = |sign: &str| format!("{indent}{sign} ");
        let dot = dot(self.charset);
        let mut lines = Vec::new();
        if gate.holds == Some(false) {
            for (i, detail) in gate.details.iter().enumerate() {
                let mut text = clean_line(detail).into_owned();
                // What stands first is what fails: it is read whole.
                if !roomy && i > 0 {
                    text = fit(&text, usize::from(width).saturating_sub(INDENT));
                }
                lines.extend(self.row(sign(dot), &text, Role::Muted, width));
            }
        } else if !gate.details.is_empty() {
            // Evidence for what holds is read on, not picked from: it leaves the rows to what does not hold.
            let details = gate.details.join(&format!(" {dot} "));
            lines.extend(self.row(sign(dot), &clean_line(&details), Role::Muted, width));
        }
        if let Some(mend) = &gate.mend {
            let sign = sign(Glyph::TO.show(self.charset));
            lines.extend(self.row(sign, &clean_line(mend), Role::Warn, width));
        }
        let mut keys = Passage::default();
        for command in gate.actions.iter().flat_map(|action| mending(*action)) {
            if command.refused(self.app).is_none() {
                let keys_here = self.app.keymap.keys(command, Context::Gates);
                let key = keys_here.first().map(ToString::to_string);
                keys.push(&key.unwrap_or_default(), Role::Accent);
                keys.push(&format!(" {}   ", command.title), Role::Text);
            }
        }
        if !keys.text().is_empty() {
            let head = vec![Span::raw(" ".repeat(INDENT))];
            lines.extend(hanging(head, keys, width, self.theme));
        }
        lines
    }

    /// One line: how it stands, and one sentence.
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
                let (sign, status) = (Glyph::gate(report.status), report.status.name());
                let word = format!(" {} {}", sign.show(self.charset), status.replace('_', " "));
                Line::from(vec![
                    Span::styled(word, theme.style(Role::Gate(report.status))),
                    Span::styled(
                        format!(": {}", self.app.spell(&sentence(gates, report))),
                        theme.style(Role::Text),
                    ),
                ])
            }
        };
        line.render(area, self.buf);
    }
}

/// The commands that do what a gate offers.
fn mending(action: Action) -> impl Iterator<Item = &'static Command> {
    let ids: &[Id] = match action {
        Action::Reconcile => &[Id::Reconcile],
        Action::Decide => &[Id::Effects],
        Action::RequestApproval => &[Id::RequestApproval, Id::Approve],
        Action::Acknowledge => &[Id::Acknowledge],
        Action::AcceptDelta => &[Id::AcceptDelta],
        Action::Diagnostic => &[Id::Diagnostic],
    };
    let here = |command: &&Command| command.contexts.contains(&Context::Gates);
    let commands = command::table().iter().filter(here);
    commands.filter(|command| ids.contains(&command.id))
}

/// What follows the status.
fn sentence(gates: &Gates, report: &Report) -> String {
    if let (GateStatus::NeedsApproval, Some(id)) = (report.status, gates.waits_as()) {
        return format!("{} waits for an owner. Nothing has run", clean_line(id));
    }
    let sentence = match report.status {
        GateStatus::ReadyToResume => "gates 1 to 5 hold. ‹resume› forks and runs",
        GateStatus::RestoreUncertain if report.may_run_diagnostic() => {
            "held, nothing has run. ‹diagnostic› runs it as a diagnostic branch"
        }
        GateStatus::NeedsApproval => "held until an owner approves. Nothing has run",
        _ => "held, nothing has run. See what mends it",
    };
    sentence.to_owned()
}
