//! Milestones by branch: which were reached where, and which branch first gained and first lost each.

use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::overview::find;
use super::{Painter, plural, row_of};
use crate::app::extent::{Extent, Pane};
use crate::app::overview::Overview;
use crate::app::pointer::Target;
use crate::app::session::Open;
use crate::model::{Beside, Lane, beside, clean_line, fate};
use crate::ui::glyph::Glyph;
use crate::ui::role::Role;
use crate::ui::widgets::{fit, fitted, width_of};

/// Cells of a milestone's column.
const COLUMN: usize = 9;

impl Painter<'_> {
    /// Milestones by branch: a row per branch, a column per milestone; above it who first gained and who first lost each.
    pub(super) fn grid(&mut self, view: &Overview, open: &Open, area: Rect) {
        let theme = self.theme;
        let left = format!(
            "{} {} milestones by branch",
            clean_line(&open.session.id),
            Glyph::CURSOR.show(self.charset)
        );
        let lanes = view.lanes();
        let right = Line::styled(plural(lanes.len(), "branch"), theme.style(Role::Muted));
        let areas = self.frame(area, &left, right, true);
        if self.lanes_missing(view, areas.body) {
            return;
        }
        let milestones = &open.session.milestones;
        if milestones.is_empty() {
            let said = self.no_milestones(open, areas.body.width);
            self.lines(Pane::Grid, &said, areas.body);
            return;
        }
        self.fates(view, open, areas.body);
        let above = milestones.len() + 1;
        let names = lanes
            .iter()
            .map(|lane| width_of(lane.branch.name()))
            .max()
            .unwrap_or(4)
            .clamp(4, 12);
        let mut head = Line::from(" ".repeat(names + 9));
        for n in 0..milestones.len() {
            let text = format!("{}{}", Glyph::MILESTONE.show(self.charset), n + 1);
            let role = if n == view.milestone {
                Role::Accent
            } else {
                Role::Muted
            };
            head.push_span(Span::styled(fitted(&text, COLUMN), theme.style(role)));
        }
        head.render(row_of(areas.body, above - 1), self.buf);
        let list = Rect {
            y: areas.body.y + u16::try_from(above).unwrap_or(0).min(areas.body.height),
            height: areas
                .body
                .height
                .saturating_sub(u16::try_from(above).unwrap_or(0)),
            ..areas.body
        };
        let height = usize::from(list.height);
        let extent: Extent = self.list(Pane::Grid, lanes.len(), view.column(), list, 1);
        for (place, lane) in lanes.iter().enumerate().skip(extent.top).take(height) {
            let row = row_of(list, place - extent.top);
            self.grid_row(view, open, place, lane, names, row);
        }
        self.more(extent, list);
        self.chosen_milestone(view, open, areas.info);
    }

    /// A line for each milestone: which branch first gained it, which first lost it.
    fn fates(&mut self, view: &Overview, open: &Open, area: Rect) {
        let theme = self.theme;
        let milestones = &open.session.milestones;
        let fates: Vec<Fates> = (0..milestones.len()).map(|n| fates(view, n)).collect();
        let widest = |of: fn(&Fates) -> &str| fates.iter().map(|fate| width_of(of(fate))).max();
        let gained = widest(|fate| &fate.gained).unwrap_or(0) + 2;
        let told = gained + widest(|fate| &fate.lost).unwrap_or(0);
        let room = usize::from(area.width).saturating_sub(told + 7).min(48);
        for (n, (milestone, fate)) in milestones.iter().zip(&fates).enumerate() {
            let title = fitted(&clean_line(&milestone.title), room);
            let chosen = n == view.milestone;
            let (number, name) = if chosen {
                (Role::Accent, Role::Title)
            } else {
                (Role::Muted, Role::Text)
            };
            let sign = Glyph::MILESTONE.show(self.charset);
            let row = row_of(area, n);
            self.spot(row, Target::Cell(Pane::Grid, view.column(), n));
            Line::from(vec![
                Span::styled(format!(" {sign}{} ", n + 1), theme.style(number)),
                Span::styled(title, theme.style(name)),
                Span::raw("  "),
                Span::styled(fitted(&fate.gained, gained), theme.style(fate.role)),
                Span::styled(fate.lost.clone(), theme.style(Role::MilestoneLost)),
            ])
            .render(row, self.buf);
        }
    }

    /// A branch: its name, how it fared, and each milestone beside the parent's.
    fn grid_row(
        &mut self,
        view: &Overview,
        open: &Open,
        place: usize,
        this: &Lane,
        names: usize,
        row: Rect,
    ) {
        let theme = self.theme;
        let chosen = place == view.column();
        let cursor = if chosen {
            Glyph::CURSOR.show(self.charset)
        } else {
            " "
        };
        let picked = view.picked.iter().position(|id| *id == this.branch);
        let (sign, role) = find(open, &this.branch)
            .map_or((String::new(), Role::Muted), |branch| self.fared(branch));
        let mut line = Line::from(vec![
            Span::styled(format!("{cursor} "), theme.style(Role::Accent)),
            Span::styled(
                fitted(this.branch.name(), names + 1),
                theme.style(if chosen { Role::Title } else { Role::Text }),
            ),
            Span::styled(
                fitted(&picked.map_or(String::new(), |n| format!("*{}", n + 1)), 3),
                theme.style(Role::Accent),
            ),
            Span::styled(fitted(&sign, 3), theme.style(role)),
        ]);
        for n in 0..open.session.milestones.len() {
            let (text, role) = self.beside_parent(view.lanes(), place, n);
            let mut style = theme.style(role);
            if chosen && n == view.milestone {
                style = style.add_modifier(Modifier::REVERSED);
            }
            let x = u16::try_from(line.width()).unwrap_or(u16::MAX);
            let cell = Rect {
                x: row.x.saturating_add(x),
                width: 8,
                ..row
            };
            self.spot(cell.intersection(row), Target::Cell(Pane::Grid, place, n));
            line.push_span(Span::styled(fitted(&text, COLUMN - 1), style));
            line.push_span(Span::raw(" "));
        }
        line.render(row, self.buf);
    }

    /// How a milestone of a branch stands beside the parent's.
    fn beside_parent(&self, lanes: &[Lane], lane: usize, milestone: usize) -> (String, Role) {
        let at = lanes
            .get(lane)
            .and_then(|lane| lane.reached.get(milestone).copied().flatten());
        let step = at.map_or(String::new(), |at| format!(" @{at}"));
        let (full, empty) = (
            Glyph::FULL.show(self.charset),
            Glyph::EMPTY.show(self.charset),
        );
        match beside(lanes, lane, milestone) {
            Beside::Reached => (format!("{full}{step}"), Role::MilestoneReached),
            Beside::Gained => (format!("{full}{step} +"), Role::MilestoneGained),
            Beside::Lost => (format!("{empty} lost"), Role::MilestoneLost),
            Beside::Open => (empty.to_owned(), Role::MilestoneOpen),
        }
    }

    fn chosen_milestone(&mut self, view: &Overview, open: &Open, area: Rect) {
        let theme = self.theme;
        let Some(milestone) = open.session.milestones.get(view.milestone) else {
            return;
        };
        let lanes = view.lanes();
        let reached = lanes.iter().filter(|lane| {
            lane.reached
                .get(view.milestone)
                .copied()
                .flatten()
                .is_some()
        });
        let text = format!(
            " {}{} {}: reached by {} of {}",
            Glyph::MILESTONE.show(self.charset),
            view.milestone + 1,
            clean_line(&milestone.title),
            reached.count(),
            plural(lanes.len(), "branch"),
        );
        Line::styled(
            fit(&text, usize::from(area.width)),
            theme.style(Role::Muted),
        )
        .render(area, self.buf);
    }
}

/// Which branch first gained a milestone and which first lost it, in words.
struct Fates {
    gained: String,
    role: Role,
    lost: String,
}

fn fates(view: &Overview, milestone: usize) -> Fates {
    let lanes = view.lanes();
    let fate = fate(lanes, milestone);
    let name = |at: usize| lanes.get(at).map(|lane| lane.branch.name().to_owned());
    let in_main = lanes
        .first()
        .is_some_and(|lane| lane.reached.get(milestone).copied().flatten().is_some());
    let (gained, role) = match fate.gained.and_then(name) {
        Some(name) => (format!("first gained {name}"), Role::MilestoneGained),
        None if in_main => ("in main already".to_owned(), Role::Muted),
        None => ("never reached".to_owned(), Role::MilestoneOpen),
    };
    let lost = fate.lost.and_then(name);
    Fates {
        gained,
        role,
        lost: lost.map_or(String::new(), |name| format!("first lost {name}")),
    }
}
