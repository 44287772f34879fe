//! The smaller views: milestones, interventions with their verdicts, a notice in full.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, TextId, revision};
use crate::app::extent::{Extent, Pane};
use crate::app::pointer::Target;
use crate::app::session::Open;
use crate::model::{Check, clean, clean_line};
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::{hanging, milestone_meter};

impl Painter<'_> {
    pub(super) fn milestones(&mut self, selected: usize, area: Rect) {
        let theme = self.theme;
        let Some((table, open)) = self.app.milestones().zip(self.app.open.as_ref()) else {
            self.frame(area, "milestones", Line::default(), false);
            return;
        };
        let name = clean_line(table.branch.id.as_str()).into_owned();
        let before = table.before.map(|(_, reached)| reached);
        let meter = milestone_meter(table.reached, before, theme, self.charset);
        let areas = self.frame(
            area,
            &format!("{name} {} milestones", Glyph::CURSOR.show(self.charset)),
            meter,
            true,
        );
        let mut lines = Vec::new();
        let mut chosen = 0;
        let mut items = Vec::new();
        for (i, milestone) in open.session.milestones.iter().enumerate() {
            let at = table.reached.get(i).copied().flatten();
            let had = before.map(|before| before.get(i).copied().flatten());
            let (role, sign, word) = match (at, had) {
                (Some(_), Some(None)) => (
                    Role::MilestoneGained,
                    Glyph::FULL.show(self.charset),
                    "gained",
                ),
                (Some(_), _) => (
                    Role::MilestoneReached,
                    Glyph::FULL.show(self.charset),
                    "reached",
                ),
                (None, Some(Some(_))) => {
                    (Role::MilestoneLost, Glyph::EMPTY.show(self.charset), "lost")
                }
                (None, _) => (
                    Role::MilestoneOpen,
                    Glyph::EMPTY.show(self.charset),
                    "not reached",
                ),
            };
            let from = lines.len();
            if i == selected {
                chosen = from;
            }
            let mark = vec![
                Span::styled(
                    if i == selected {
                        format!(" {} ", Glyph::CURSOR.show(self.charset))
                    } else {
                        "   ".to_owned()
                    },
                    theme.style(Role::Accent),
                ),
                Span::styled(
                    format!("{sign} {}{} ", Glyph::MILESTONE.show(self.charset), i + 1),
                    theme.style(role),
                ),
            ];
            lines.extend(hanging(
                mark,
                Passage::plain(&clean(&milestone.title), Role::Text),
                areas.body.width,
                theme,
            ));
            let mut second = Passage::plain(word, role);
            if let Some(step) = at {
                second.push(&format!(" at step {step}"), Role::Text);
            }
            if let (Some((parent, _)), Some(had)) = (table.before, had) {
                let parent = clean_line(parent.id.name());
                let text = match had {
                    Some(step) => format!("   {parent}: at step {step}"),
                    None => format!("   {parent}: not reached"),
                };
                second.push(&text, Role::Muted);
            }
            let check = self.app.spell(&recognised(&milestone.check));
            second.push(&format!("   {check}"), Role::Muted);
            let indent = vec![Span::raw("       ")];
            lines.extend(hanging(indent, second, areas.body.width, theme));
            items.push(from..lines.len());
        }
        if lines.is_empty() {
            lines = self.no_milestones(open, areas.body.width);
        }
        let extent = self.window(
            Pane::Milestones,
            lines.len(),
            usize::from(areas.body.height),
            chosen,
        );
        self.ready_lines(&lines, extent, areas.body);
        self.spot(areas.body, Target::Pane(Pane::Milestones));
        self.items(Pane::Milestones, &items, areas.body);
        self.progress_line(table.reached, before, areas.info);
    }

    /// How to have some.
    pub(super) fn no_milestones(&self, open: &Open, width: u16) -> Vec<Line<'static>> {
        let text = format!(
            "No milestones are set for this session. Set up to five: dover set {} --milestone …",
            clean_line(&open.session.id)
        );
        let head = vec![Span::raw(" ")];
        hanging(head, Passage::plain(&text, Role::Muted), width, self.theme)
    }

    fn progress_line(
        &mut self,
        reached: &[Option<usize>],
        before: Option<&[Option<usize>]>,
        area: Rect,
    ) {
        let of = reached.len();
        let now = reached.iter().flatten().count();
        let text = match before {
            _ if of == 0 => " progress is undefined without milestones".to_owned(),
            None => format!(" {now} of {of} reached"),
            Some(before) => {
                let was = before.iter().flatten().count();
                let gain = i64::try_from(now).unwrap_or(0) - i64::try_from(was).unwrap_or(0);
                format!(" {was} of {of} before, {now} of {of} now: progress {gain:+}/{of}")
            }
        };
        Line::styled(text, self.theme.style(Role::Text)).render(area, self.buf);
    }

    fn ready_lines(&mut self, lines: &[Line<'_>], extent: Extent, area: Rect) {
        for (line, row) in lines.iter().skip(extent.top).zip(area.rows()) {
            line.render(row, self.buf);
        }
    }

    /// Who asks for the driver's seat, and what each answer means.
    pub(super) fn seat(&mut self, name: &str, area: Rect) {
        let areas = self.frame(area, "driver's seat", Line::default(), false);
        let told = [
            (format!("{name} asks for the driver's seat."), Role::Title),
            (
                self.app.spell(&format!(
                    "‹allow› gives it: {name} drives, you follow, and runs that you started go on."
                )),
                Role::Text,
            ),
            (
                self.app
                    .spell(&format!("‹refuse› keeps it: {name} is told.")),
                Role::Text,
            ),
            (
                self.app
                    .spell("‹back› leaves the question open; ‹steps.seat› comes back to it."),
                Role::Muted,
            ),
        ];
        let mut lines = Vec::new();
        for (text, role) in &told {
            let passage = Passage::plain(&clean_line(text), *role);
            lines.extend(hanging(
                vec![Span::raw(" ")],
                passage,
                areas.body.width,
                self.theme,
            ));
            lines.push(Line::default());
        }
        for (line, row) in lines.iter().zip(areas.body.rows()) {
            line.render(row, self.buf);
        }
    }

    pub(super) fn whole_notice(&mut self, area: Rect) {
        let areas = self.frame(area, "message", Line::default(), false);
        let Some(notice) = &self.app.last_notice else {
            return;
        };
        let body = Rect {
            x: areas.body.x + 1,
            width: areas.body.width.saturating_sub(2),
            ..areas.body
        };
        let role = if notice.fault {
            Role::Error
        } else {
            Role::Text
        };
        self.text(
            Pane::Notice,
            TextId::Notice,
            revision(&[&notice.text]),
            body,
            || Passage::plain(&clean(&notice.text), role),
        );
    }
}

/// How a milestone is recognised, in a few words.
fn recognised(check: &Check) -> String {
    match check {
        Check::Fact(fact) => format!("(fact {})", clean_line(fact)),
        Check::Page(page) => format!("(page {})", clean_line(page)),
        Check::Tool(tool) => format!("(tool {})", clean_line(tool)),
        Check::Text(text) => format!("(text “{}”)", clean_line(text)),
        Check::Manual => "(marked by hand with ‹mark›)".to_owned(),
    }
}
