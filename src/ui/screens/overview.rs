//! The overview: a column per branch, a cell per step or, folded, per several. Own steps are blocks, the inherited prefix is dim,
//! a bright line stands where the fork begins. Colour never speaks alone: each block has its letter or number.

use std::ops::Range;

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, WIDE, plural, row_of};
use crate::app::extent::Pane;
use crate::app::overview::{Colouring, Overview};
use crate::app::pointer::Target;
use crate::app::session::Open;
use crate::model::{
    AgentInfo, Beside, Branch, BranchId, Cell, Lane, RunStatus, StepKind, beside, clean,
    clean_line, folded,
};
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::{dot, fit, fitted, hanging, width_of};

/// Cells of a column, roomy and, where many branches stand beside each other, narrow.
const ROOMY: u16 = 5;
const NARROW: u16 = 4;
/// Cells of the pane beside the columns.
const ASIDE: u16 = 44;
/// Cells for how many branches stand out of sight.
const BESIDE: u16 = 4;
/// Rows above the steps: the legend, names, how the branches fared.
const HEAD: usize = 3;

/// What the cells are drawn from.
struct Sight<'a> {
    view: &'a Overview,
    open: &'a Open,
    /// A letter for each agent.
    letters: Vec<char>,
}

/// Where the columns stand.
struct Columns {
    /// Cells of the step numbers.
    gutter: u16,
    /// Cells of a column.
    width: u16,
    /// The lanes in sight.
    shown: Range<usize>,
}

impl Painter<'_> {
    pub(super) fn overview(&mut self, view: &Overview, area: Rect) {
        let Some(open) = &self.app.open else { return };
        if view.grid {
            self.grid(view, open, area);
            return;
        }
        let left = format!(
            "{} {} overview",
            clean_line(&open.session.id),
            Glyph::CURSOR.show(self.charset)
        );
        let areas = {
            let body_height = usize::from(area.height.saturating_sub(5)).saturating_sub(HEAD);
            let right = self.overview_summary(view, body_height);
            self.frame(area, &left, right, true)
        };
        if self.lanes_missing(view, areas.body) {
            return;
        }
        self.selected_cell(view, open, areas.info);
        let body = if area.width >= WIDE {
            let aside = Rect {
                x: areas.body.right() - ASIDE,
                width: ASIDE,
                ..areas.body
            };
            self.vertical(aside.x - 1, areas.body);
            self.aside(view, open, aside);
            Rect {
                width: areas.body.width - ASIDE - 1,
                ..areas.body
            }
        } else {
            areas.body
        };
        let height = usize::from(body.height).saturating_sub(HEAD);
        let stride = view.stride(height);
        let rows = view.longest().div_ceil(stride);
        let steps = self.window(Pane::Overview, rows, height, view.at() / stride);
        let columns = self.columns(view, body.width);
        let sight = Sight {
            view,
            open,
            letters: letters(&open.session.agents),
        };
        self.legend(&sight, row_of(body, 0));
        for lane in columns.shown.clone() {
            self.column_head(&sight, lane, &columns, body);
        }
        self.out_of_sight(&columns, view.lanes().len(), row_of(body, 1));
        for place in 0..height.min(rows.saturating_sub(steps.top)) {
            let row = steps.top + place;
            let range = row * stride..(row + 1) * stride;
            let area = row_of(body, HEAD + place);
            self.spot(area, Target::Row(Pane::Overview, row));
            let chosen = range.contains(&view.at());
            let role = if chosen { Role::Accent } else { Role::Muted };
            let number = format!(
                "{:>1$}",
                range.start,
                usize::from(columns.gutter.saturating_sub(1))
            );
            self.buf.set_stringn(
                area.x,
                area.y,
                number,
                usize::from(area.width.min(columns.gutter)),
                self.theme.style(role),
            );
            for lane in columns.shown.clone() {
                let area = columns.place(lane, area);
                let chosen = chosen && lane == view.column();
                self.cell(&sight, lane, &range, chosen, area);
                self.spot(area, Target::Cell(Pane::Overview, row, lane));
            }
        }
        self.more(steps, body);
    }

    /// Says that the lanes are being read, or why they are not here.
    pub(super) fn lanes_missing(&mut self, view: &Overview, area: Rect) -> bool {
        let (text, role) = match &view.lanes {
            Some(Ok(_)) => return false,
            Some(Err(fault)) => (clean(fault).into_owned(), Role::Error),
            None => ("reading…".to_owned(), Role::Muted),
        };
        let head = vec![Span::raw(" ")];
        let lines = hanging(head, Passage::plain(&text, role), area.width, self.theme);
        self.lines(Pane::Overview, &lines, area);
        true
    }

    fn overview_summary(&self, view: &Overview, height: usize) -> Line<'static> {
        let muted = self.theme.style(Role::Muted);
        let dot = || Span::styled(format!(" {} ", dot(self.charset)), muted);
        let by = Span::styled(
            format!("by {}", view.colouring.name()),
            self.theme.style(Role::Accent),
        );
        let mut line = Line::from(by);
        let stride = view.stride(height);
        if stride > 1 {
            line.push_span(dot());
            line.push_span(Span::styled(
                format!("a row is {}", plural(stride, "step")),
                self.theme.style(Role::Text),
            ));
        }
        line.push_span(dot());
        line.push_span(Span::styled(plural(view.lanes().len(), "branch"), muted));
        line
    }

    fn columns(&mut self, view: &Overview, width: u16) -> Columns {
        let digits = view.longest().saturating_sub(1).to_string().len().max(3);
        let gutter = u16::try_from(digits).unwrap_or(3) + 2;
        let room = width.saturating_sub(gutter);
        let count = view.lanes().len();
        let (column, room) = if usize::from(room / ROOMY) >= count {
            (ROOMY, room)
        } else if usize::from(room / NARROW) >= count {
            (NARROW, room)
        } else {
            (NARROW, room.saturating_sub(BESIDE))
        };
        let fits = usize::from(room / column).max(1);
        let extent = self.window(Pane::Lanes, count, fits, view.column());
        Columns {
            gutter,
            width: column,
            shown: extent.top..(extent.top + fits).min(count),
        }
    }

    /// What the colours and letters mean, of as many as fit.
    fn legend(&mut self, sight: &Sight<'_>, area: Rect) {
        let theme = self.theme;
        let agents = &sight.open.session.agents;
        let parts: Vec<(String, String, Role)> = match sight.view.colouring {
            Colouring::Agent => sight
                .letters
                .iter()
                .zip(agents)
                .enumerate()
                .map(|(n, (letter, agent))| {
                    (
                        letter.to_string(),
                        fit(&clean_line(&agent.name), 18),
                        Role::agent(n),
                    )
                })
                .collect(),
            Colouring::Kind => StepKind::ALL
                .map(|kind| {
                    (
                        kind_letter(kind).to_string(),
                        kind.name().replace('_', " "),
                        Role::Kind(kind),
                    )
                })
                .to_vec(),
            Colouring::Status => vec![
                (self.sign(Glyph::FAIL), "failure".to_owned(), Role::Error),
                (
                    self.sign(Glyph::PASS),
                    "right answer".to_owned(),
                    Role::MilestoneReached,
                ),
                (
                    self.sign(Glyph::DONE),
                    "run done".to_owned(),
                    Role::Run(RunStatus::Done),
                ),
                (
                    self.sign(Glyph::RUNNING),
                    "running".to_owned(),
                    Role::Run(RunStatus::Running),
                ),
            ],
            Colouring::Milestone => vec![
                (
                    "2".to_owned(),
                    "reached so far".to_owned(),
                    Role::MilestoneReached,
                ),
                (
                    self.sign(Glyph::MILESTONE),
                    "reached here, not by the parent".to_owned(),
                    Role::MilestoneGained,
                ),
            ],
        };
        let mut line = Line::from(" ");
        for (sign, name, role) in parts {
            let text = format!(" {name}");
            if line.width() + width_of(&sign) + width_of(&text) + 2 > usize::from(area.width) {
                break;
            }
            line.push_span(Span::styled(sign, theme.style(role)));
            line.push_span(Span::styled(text, theme.style(Role::Muted)));
            line.push_span(Span::raw("  "));
        }
        line.render(area, self.buf);
    }

    fn sign(&self, glyph: Glyph) -> String {
        glyph.show(self.charset).to_owned()
    }

    /// How many branches stand to the left and to the right of those in sight.
    fn out_of_sight(&mut self, columns: &Columns, count: usize, area: Rect) {
        let style = self.theme.style(Role::Muted);
        if columns.shown.start > 0 {
            self.put(area, &format!(" +{}", columns.shown.start), style);
        }
        let right = count.saturating_sub(columns.shown.end);
        if right > 0 {
            let text = format!("+{right}");
            let width = u16::try_from(width_of(&text)).unwrap_or(area.width);
            let place = Rect {
                x: area.right().saturating_sub(width),
                width,
                ..area
            };
            self.put(place.intersection(area), &text, style);
        }
    }

    /// A branch's name, and below it its answer and how many milestones it reached.
    fn column_head(&mut self, sight: &Sight<'_>, lane: usize, columns: &Columns, body: Rect) {
        let (view, open) = (sight.view, sight.open);
        let Some(this) = view.lanes().get(lane) else {
            return;
        };
        let name = columns.place(lane, row_of(body, 1));
        let below = columns.place(lane, row_of(body, 2));
        self.spot(name.union(below), Target::Row(Pane::Lanes, lane));
        let room = usize::from(columns.width - 1);
        let picked = view.picked.iter().position(|id| *id == this.branch);
        let text = match picked {
            Some(place) => format!("{}*{}", this.branch.name(), place + 1),
            None => this.branch.name().to_owned(),
        };
        let chosen = lane == view.column();
        let role = match (chosen, picked) {
            (true, _) => Role::Title,
            (false, Some(_)) => Role::Accent,
            _ => Role::Muted,
        };
        let mut style = self.theme.style(role);
        if chosen {
            style = style.add_modifier(Modifier::REVERSED);
        }
        self.put(name, &fit(&text, room), style);
        if let Some(branch) = find(open, &this.branch) {
            let (sign, role) = self.fared(branch);
            let reached = this.reached.iter().flatten().count();
            let text = match this.reached.len() {
                0 => sign.clone(),
                of if columns.width >= ROOMY => format!("{sign}{reached}/{of}"),
                _ => format!("{sign}{reached}"),
            };
            self.put(below, &fit(&text, room), self.theme.style(role));
        }
    }

    /// The answer's sign, or the run's while nobody can say.
    pub(super) fn fared(&self, branch: &Branch) -> (String, Role) {
        match branch.success {
            Some(true) if branch.diagnostic || branch.told => (self.sign(Glyph::PASS), Role::Text),
            Some(true) => (self.sign(Glyph::PASS), Role::MilestoneReached),
            Some(false) => (self.sign(Glyph::FAIL), Role::Error),
            None => (self.sign(Glyph::run(branch.run)), Role::Run(branch.run)),
        }
    }

    fn put(&mut self, area: Rect, text: &str, style: Style) {
        if area.height > 0 {
            self.buf
                .set_stringn(area.x, area.y, text, usize::from(area.width), style);
        }
    }

    /// One cell: a mark for what happened there, then the block.
    fn cell(
        &mut self,
        sight: &Sight<'_>,
        lane: usize,
        range: &Range<usize>,
        chosen: bool,
        area: Rect,
    ) {
        let lanes = sight.view.lanes();
        let (Some(this), Some(one)) = (lanes.get(lane), folded(lanes, lane, range)) else {
            if chosen {
                self.put(area, "[", self.theme.style(Role::Accent));
            }
            return;
        };
        let forked = this.parent.is_some() && range.contains(&this.from);
        let gained = this
            .reached_in(range)
            .map(|milestone| beside(lanes, lane, milestone));
        let gained: Vec<Beside> = gained.collect();
        let (mark, role) = if forked {
            (Glyph::FORK, Role::Accent)
        } else if gained.contains(&Beside::Gained) && one.own {
            (Glyph::MILESTONE, Role::MilestoneGained)
        } else if !gained.is_empty() && one.own {
            (Glyph::MILESTONE, Role::MilestoneReached)
        } else {
            (Glyph::PATH, Role::Muted)
        };
        if mark != Glyph::PATH {
            self.put(area, mark.show(self.charset), self.theme.style(role));
        }
        let (letter, role) = self.block(sight, this, one.cell, range, &gained);
        let error = if one.cell.error {
            self.sign(Glyph::FAIL)
        } else {
            " ".to_owned()
        };
        let width = usize::from(area.width).saturating_sub(2);
        let text = if width >= 3 {
            fitted(&format!(" {letter}{error}"), width)
        } else {
            fitted(&format!("{letter}{error}"), width)
        };
        let mut style = if one.own {
            self.theme.style(role).add_modifier(Modifier::REVERSED)
        } else {
            self.theme.style(Role::Muted)
        };
        if !one.own && range.end == this.from {
            // The bright line above the fork.
            style = self
                .theme
                .style(Role::Accent)
                .add_modifier(Modifier::UNDERLINED);
        }
        let block = Rect {
            x: area.x + 1,
            width: area.width.saturating_sub(2),
            ..area
        };
        self.put(block, &text, style);
        if chosen {
            let bright = self.theme.style(Role::Accent);
            self.put(area, "[", bright);
            let end = Rect {
                x: block.right(),
                width: 1,
                ..area
            };
            self.put(end, "]", bright);
        }
    }

    /// What stands in a block, and in which colour.
    fn block(
        &self,
        sight: &Sight<'_>,
        lane: &Lane,
        cell: Cell,
        range: &Range<usize>,
        reached: &[Beside],
    ) -> (String, Role) {
        match sight.view.colouring {
            Colouring::Agent => {
                let place = usize::from(cell.agent);
                let letter = sight.letters.get(place).copied().unwrap_or('?');
                (letter.to_string(), Role::agent(place))
            }
            Colouring::Kind => (kind_letter(cell.kind).to_string(), Role::Kind(cell.kind)),
            Colouring::Status => {
                let branch = find(sight.open, &lane.branch);
                let last = range.end >= lane.len();
                match branch {
                    Some(branch) if last => self.fared(branch),
                    Some(_) if cell.error => (" ".to_owned(), Role::Error),
                    Some(branch) => (" ".to_owned(), Role::Run(branch.run)),
                    None => (" ".to_owned(), Role::Muted),
                }
            }
            Colouring::Milestone => {
                let count = lane.reached_by(range.end - 1);
                let role = if reached.contains(&Beside::Gained) {
                    Role::MilestoneGained
                } else if count > 0 {
                    Role::MilestoneReached
                } else {
                    Role::MilestoneOpen
                };
                (count.to_string(), role)
            }
        }
    }
}

impl Columns {
    fn place(&self, lane: usize, row: Rect) -> Rect {
        let at = u16::try_from(lane.saturating_sub(self.shown.start)).unwrap_or(u16::MAX);
        let x = at.saturating_mul(self.width).saturating_add(self.gutter);
        Rect {
            x: row.x.saturating_add(x),
            width: self.width,
            ..row
        }
        .intersection(row)
    }
}

pub(super) fn find<'a>(open: &'a Open, id: &BranchId) -> Option<&'a Branch> {
    open.branches.iter().find(|branch| branch.id == *id)
}

const fn kind_letter(kind: StepKind) -> char {
    match kind {
        StepKind::Task => 'T',
        StepKind::Plan => 'P',
        StepKind::Ledger => 'L',
        StepKind::Instruction => 'I',
        StepKind::Thought => 't',
        StepKind::Message => 'm',
        StepKind::ToolCall => 'c',
        StepKind::ToolResult => 'r',
        StepKind::Answer => 'A',
        StepKind::Control => '.',
    }
}

/// A letter for each agent: the first of its name that nobody before it has, else a digit.
fn letters(agents: &[AgentInfo]) -> Vec<char> {
    let mut taken: Vec<char> = Vec::with_capacity(agents.len());
    for (n, agent) in agents.iter().enumerate() {
        let capital = |c: char| c.to_ascii_uppercase();
        let mut own = agent.name.chars().filter(char::is_ascii_alphabetic);
        let free = own.find(|c| !taken.contains(&capital(*c))).map(capital);
        let digit = u32::try_from((n + 1) % 10).ok();
        let digit = digit.and_then(|n| char::from_digit(n, 10)).unwrap_or('?');
        taken.push(free.unwrap_or(digit));
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_a_letter_of_its_own() {
        let agents: Vec<AgentInfo> = ["Orchestrator", "Operator", "WebSurfer", "天气", "oo"]
            .map(|name| AgentInfo {
                name: name.into(),
                ..AgentInfo::default()
            })
            .to_vec();
        assert_eq!(letters(&agents), ['O', 'P', 'W', '4', '5']);
    }
}
