//! The hypotheses of a branch: trial by trial who is suspected, where the edit goes and its verdict; below, the selected one in full.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, plural, row_of};
use crate::app::extent::Pane;
use crate::app::hypotheses::{By, Row};
use crate::app::session::Open;
use crate::model::{Filed, Standing, Trial, clean, clean_line};
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::{fitted, hanging, rule};

/// From this width on a row says where the trial lies and where the edit goes.
const ROOMY: usize = 60;
/// The most rows of the list, so that the text below keeps most of the screen.
const LIST: u16 = 9;

impl Painter<'_> {
    pub(super) fn hypotheses(&mut self, selected: usize, area: Rect) {
        let Some(open) = &self.app.open else { return };
        let left = format!(
            "{} {} hypotheses",
            clean_line(open.branch.id.as_str()),
            Glyph::CURSOR.show(self.charset)
        );
        let rows = open.hypothesis_rows();
        let made = rows.iter().filter(|(_, filed)| filed.is_some()).count();
        let right = format!("{made} in {}", plural(open.steps.trials.len(), "trial"));
        let right = Line::styled(right, self.theme.style(Role::Muted));
        let areas = self.frame(area, &left, right, true);
        let most = (areas.body.height / 2).clamp(1, LIST);
        let height = u16::try_from(rows.len()).unwrap_or(most).clamp(1, most);
        let list = Rect {
            height,
            ..areas.body
        };
        let window = self.list(Pane::Hypotheses, rows.len(), selected, list, 1);
        let shown = rows.iter().enumerate().skip(window.top);
        for (at, row) in shown.take(window.height) {
            let line = self.hypothesis_row(open, *row, at == selected, usize::from(list.width));
            let place = row_of(list, at - window.top);
            line.render(place, self.buf);
            if at == selected {
                self.select(place, true);
            }
        }
        let below = Rect {
            y: list.bottom() + 1,
            height: areas.body.height.saturating_sub(height + 1),
            ..areas.body
        };
        rule(
            row_of(areas.body, usize::from(height)),
            self.theme,
            self.charset,
            self.buf,
        );
        let text = Rect {
            width: below.width.saturating_sub(1),
            ..below
        };
        let lines = match rows.get(selected) {
            Some((_, Some(filed))) => self.hypothesis_text(open, filed, text.width),
            Some((trial, None)) => self.nobody(*trial, text.width),
            None => Vec::new(),
        };
        self.lines(Pane::Hypothesis, &lines, text);
        let hint = match self.app.analysing {
            Some(By::Offline) => " analysing by rules…",
            Some(By::Model) => " the model is asked about each trial… ‹stop-analysis› stops that",
            None => " ‹suspect› at a step of the message list writes your own hypothesis",
        };
        Line::styled(self.app.spell(hint), self.theme.style(Role::Muted))
            .render(areas.info, self.buf);
    }

    /// `▸ trial 2  14–27  ⚑ 16 WebSurfer  edit 16  Validated`.
    fn hypothesis_row(
        &self,
        open: &Open,
        row: Row<'_>,
        chosen: bool,
        width: usize,
    ) -> Line<'static> {
        let theme = self.theme;
        let (Trial { index, start, end }, filed) = row;
        let sign = if chosen {
            Glyph::CURSOR.show(self.charset)
        } else {
            " "
        };
        let mut line = Line::from(vec![Span::styled(
            format!("{sign} trial {index:<3}"),
            theme.style(Role::Text),
        )]);
        if width >= ROOMY {
            let range = fitted(&format!("{start}–{end}"), 9);
            line.push_span(Span::styled(range, theme.style(Role::Muted)));
        }
        let Some(filed) = filed else {
            line.push_span(Span::styled("no hypothesis yet", theme.style(Role::Muted)));
            return line;
        };
        let at = &filed.hypothesis;
        let agents = if width < ROOMY { 9 } else { 16 };
        let flag = format!("{} {:<4}", Glyph::HYPOTHESIS.show(self.charset), at.step);
        line.push_span(Span::styled(flag, theme.style(Role::Warn)));
        line.push_span(Span::styled(
            fitted(&clean_line(&at.agent), agents) + " ",
            theme.style(agent_role(open, &at.agent)),
        ));
        let edit = match (&filed.proposal, filed.standing) {
            (Some(edit), _) => format!("edit {:<5}", edit.target.step),
            (None, Standing::Untestable) => "no edit   ".to_owned(),
            (None, _) => "to write  ".to_owned(),
        };
        if width >= ROOMY {
            line.push_span(Span::styled(edit, theme.style(Role::Muted)));
        }
        if filed.round > 1 && width >= ROOMY {
            line.push_span(Span::styled(
                format!("round {} ", filed.round),
                theme.style(Role::Muted),
            ));
        }
        line.push_span(self.standing(open, filed));
        line
    }

    /// The verdict, or how far it is from one.
    fn standing(&self, open: &Open, filed: &Filed) -> Span<'static> {
        let muted = self.theme.style(Role::Muted);
        match (open.tested(filed), &filed.intervention, filed.standing) {
            (Some(outcome), ..) => self.verdict_word(outcome),
            (None, Some(_), _) => Span::styled("…", muted),
            (None, None, Standing::Untestable) => Span::styled("untestable", muted),
            (None, None, _) => Span::styled("untested", muted),
        }
    }

    fn nobody(&self, trial: Trial, width: u16) -> Vec<Line<'static>> {
        let text = match self.app.analysing {
            Some(_) => "It is being analysed.".to_owned(),
            None => format!(
                "Nobody suspects anything in trial {} yet: ‹analyse› has it analysed by rules, ‹ask-model› by a model, and ‹suspect› at one of its steps in the message list writes your own hypothesis.",
                trial.index
            ),
        };
        self.labelled("", &self.app.spell(&text), Role::Muted, width)
    }

    /// Everything about one: who said it, why, the evidence, the edit, what its runs came to, what was learnt.
    fn hypothesis_text(&self, open: &Open, filed: &Filed, width: u16) -> Vec<Line<'static>> {
        let at = &filed.hypothesis;
        let name = filed.id.rsplit('/').next().unwrap_or_default();
        let who = format!(
            "{} by {}: step {}, {}",
            clean_line(name),
            clean_line(&filed.analyst),
            at.step,
            clean_line(&at.agent)
        );
        let mut lines = self.labelled("", &who, Role::Title, width);
        lines.extend(self.labelled("why       ", &clean(&at.reason), Role::Text, width));
        if let Some(lacks) = &at.capability {
            let text = format!(
                "{}. A message cannot give an agent an ability: this is reported apart, and is never Refuted.",
                clean_line(lacks)
            );
            lines.extend(self.labelled("capability", &text, Role::Warn, width));
        }
        if !at.evidence.is_empty() {
            let steps: Vec<String> = at.evidence.iter().map(usize::to_string).collect();
            lines.extend(self.labelled(
                "evidence  ",
                &format!("steps {}", steps.join(", ")),
                Role::Muted,
                width,
            ));
        }
        match (&filed.proposal, &filed.note) {
            (Some(edit), _) => {
                let place = format!("step {}, {}", edit.target.step, edit.target.category.name());
                lines.extend(self.labelled("edit      ", &place, Role::Muted, width));
                lines.extend(self.labelled("          ", &clean(&edit.text), Role::DiffAdd, width));
            }
            (None, Some(why)) => {
                lines.extend(self.labelled("no edit   ", &clean(why), Role::Warn, width));
            }
            (None, None) => {
                lines.extend(self.labelled(
                    "no edit   ",
                    &self.app.spell("‹edit› writes one"),
                    Role::Muted,
                    width,
                ));
            }
        }
        if let Some(outcome) = open.tested(filed) {
            lines.push(Line::default());
            lines.extend(self.outcome_lines(outcome, width));
        }
        if let (Some(_), Some(note)) = (&filed.intervention, &filed.note) {
            lines.extend(self.labelled("learnt    ", &clean(note), Role::Muted, width));
        }
        lines
    }

    fn labelled(
        &self,
        label: &'static str,
        text: &str,
        role: Role,
        width: u16,
    ) -> Vec<Line<'static>> {
        let head = if label.is_empty() {
            vec![Span::raw(" ")]
        } else {
            vec![
                Span::styled(format!(" {label}"), self.theme.style(Role::Muted)),
                Span::raw(" "),
            ]
        };
        hanging(head, Passage::plain(text, role), width, self.theme)
    }
}

/// The colour of an agent, as everywhere.
fn agent_role(open: &Open, agent: &str) -> Role {
    let agents = &open.session.agents;
    let place = agents.iter().position(|known| known.name == agent);
    Role::agent(place.unwrap_or(agents.len()))
}
