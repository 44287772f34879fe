//! Up to four branches side by side: a column each, equal steps dim, where each departs for good and how far that reaches.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, plural, row_of};
use crate::app::extent::Pane;
use crate::app::pointer::Target;
use crate::app::several::Several;
use crate::model::{Abreast, clean_line};
use crate::ui::glyph::Glyph;
use crate::ui::role::Role;
use crate::ui::widgets::{StepLook, answer_word, fit, milestone_meter, split_columns, step_line};

/// Rows above the table: name, answer, where it departs, how far that reaches.
const HEAD: usize = 4;

impl Painter<'_> {
    pub(super) fn several(&mut self, view: &Several, area: Rect) {
        let names: Vec<&str> = view
            .sides
            .iter()
            .map(|side| side.branch.id.name())
            .collect();
        let session = view
            .sides
            .first()
            .map_or("", |side| side.branch.id.session());
        let left = format!(
            "{} {} {}",
            clean_line(session),
            Glyph::CURSOR.show(self.charset),
            clean_line(&names.join(&format!(" {} ", Glyph::DIFFERS.show(self.charset))))
        );
        let right = plural(view.rows.len(), "row");
        let right = Line::styled(right, self.theme.style(Role::Muted));
        let areas = self.frame(area, &left, right, true);
        self.reaches_in_words(view, areas.info);
        let count = u16::try_from(view.sides.len()).unwrap_or(1);
        let columns = split_columns(areas.body, count);
        for (side, column) in columns.iter().enumerate() {
            self.side_head(view, side, *column);
            self.spot(*column, Target::Cell(Pane::Several, view.selected, side));
            if side > 0 {
                self.vertical(column.x.saturating_sub(1), areas.body);
            }
        }
        let list = Rect {
            y: areas.body.y + u16::try_from(HEAD).unwrap_or(0).min(areas.body.height),
            height: areas
                .body
                .height
                .saturating_sub(u16::try_from(HEAD).unwrap_or(0)),
            ..areas.body
        };
        let height = usize::from(list.height);
        let extent = self.list(Pane::Several, view.rows.len(), view.selected, list, 1);
        let shown = view.rows.iter().enumerate().skip(extent.top).take(height);
        for (n, row) in shown {
            let place = row_of(list, n - extent.top);
            for (side, column) in columns.iter().enumerate() {
                let place = Rect {
                    x: column.x,
                    width: column.width,
                    ..place
                };
                self.abreast(view, row, side, place);
                self.spot(place, Target::Cell(Pane::Several, n, side));
            }
            if n == view.selected {
                self.select(place, true);
            }
        }
        self.more(extent, list);
    }

    fn side_head(&mut self, view: &Several, side: usize, area: Rect) {
        let theme = self.theme;
        let Some(half) = view.sides.get(side) else {
            return;
        };
        let fork = half
            .branch
            .fork_step
            .map_or(String::new(), |step| format!(" @{step}"));
        let name = format!("{}{fork}", clean_line(half.branch.id.name()));
        self.title(&name, "", side == view.other + 1, row_of(area, 0));
        let mut line = Line::from(" ");
        line.push_span(answer_word(&half.branch, theme, self.charset));
        if !half.milestones.is_empty() {
            let first = view.sides.first().filter(|_| side > 0);
            let before = first.map(|first| first.milestones.as_slice());
            line.push_span(Span::raw(" "));
            let meter = milestone_meter(&half.milestones, before, theme, self.charset);
            if line.width() + meter.width() < usize::from(area.width) {
                line.extend(meter.spans);
            }
        }
        line.render(row_of(area, 1), self.buf);
        let Some(reach) = side.checked_sub(1).and_then(|at| view.reaches.get(at)) else {
            let text = " compared with";
            let text = fit(text, usize::from(area.width));
            Line::styled(text, theme.style(Role::Muted)).render(row_of(area, 2), self.buf);
            return;
        };
        let differs = Glyph::DIFFERS.show(self.charset);
        let (lasts, role) = match (reach.first, reach.sustained) {
            (None, _) => ("equal".to_owned(), Role::Muted),
            (Some(_), None) => (format!("{differs} passing only"), Role::Text),
            (Some(_), Some(row)) => {
                let row = view.step_at(side - 1, row);
                (format!("{differs} lasting from {row}"), Role::Accent)
            }
        };
        let reaches = match (reach.changed, reach.rejoined) {
            (0, _) => String::new(),
            (changed, 0) => format!("{} to the end", plural(changed, "row")),
            (changed, _) => format!("{}, then equal", plural(changed, "row")),
        };
        let width = usize::from(area.width);
        for (n, (text, role)) in [(lasts, role), (reaches, Role::Muted)]
            .into_iter()
            .enumerate()
        {
            let text = fit(&format!(" {text}"), width);
            Line::styled(text, theme.style(role)).render(row_of(area, 2 + n), self.buf);
        }
    }

    /// One branch's step of a row: dim where it equals the first branch's.
    fn abreast(&mut self, view: &Several, row: &Abreast, side: usize, area: Rect) {
        let theme = self.theme;
        let Some((step, half)) = view.step(row, side).zip(view.sides.get(side)) else {
            return;
        };
        let placed = side
            .checked_sub(1)
            .and_then(|other| row.others.get(other).copied().flatten());
        if placed.is_some_and(|placed| placed.same) {
            let text = format!(" {step:>3} =");
            Line::styled(text, theme.style(Role::Muted)).render(area, self.buf);
            return;
        }
        let sign = match placed {
            None => Span::raw(" "),
            Some(_) if row.first.is_some() => {
                let sign = Glyph::DIFFERS.show(self.charset);
                Span::styled(sign, theme.style(Role::Accent))
            }
            Some(_) => Span::styled("+", theme.style(Role::DiffAdd)),
        };
        let mut line = Line::from(sign);
        let Some(open) = &self.app.open else { return };
        match half.steps.head(step) {
            Some(head) => {
                let width = area.width.saturating_sub(1);
                let look = StepLook::new(&open.session, theme, self.charset, width, half.steps.len);
                let marks = Line::default();
                line.extend(step_line(head, look, marks, usize::from(width)).spans);
            }
            None => line.push_span(Span::styled(
                format!("{step:>3} …"),
                theme.style(Role::Muted),
            )),
        }
        line.render(area, self.buf);
    }

    /// The selected branch's departure in a sentence.
    fn reaches_in_words(&mut self, view: &Several, area: Rect) {
        let (Some(reach), Some(side)) =
            (view.reaches.get(view.other), view.sides.get(view.other + 1))
        else {
            return;
        };
        let name = clean_line(side.branch.id.name()).into_owned();
        let at = |row: usize| view.step_at(view.other, row);
        let text = match (reach.first, reach.sustained) {
            (None, _) => format!(" {name} equals the first branch"),
            (Some(first), None) => format!(
                " {name} differs at {} and comes back at once: {}",
                at(first),
                plural(reach.changed, "row")
            ),
            (Some(first), Some(lasting)) => format!(
                " {name} first differs at {}, lasting from {}; {} differ, {}",
                at(first),
                at(lasting),
                plural(reach.changed, "row"),
                match reach.rejoined {
                    0 => "to the end".to_owned(),
                    equal => format!("then {} equal", plural(equal, "row")),
                }
            ),
        };
        Line::styled(
            fit(&text, usize::from(area.width)),
            self.theme.style(Role::Text),
        )
        .render(area, self.buf);
    }
}
