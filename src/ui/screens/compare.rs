//! Two branches side by side, or one above the other on narrow screens: the first divergence marked, words that differ marked.

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::detail::heading;
use super::session::under_title;
use super::{Painter, TextId, revision};
use crate::app::compare::{Compare, Side as Half};
use crate::app::extent::{Extent, Pane};
use crate::app::pointer::Target;
use crate::model::{Branch, HEAD_CHARS, Pair, Step, StepHead, clean, clean_line};
use crate::ui::diff::{Side, WordDiff};
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::dot;
use crate::ui::widgets::{
    self, StepLook, hanging, milestone_meter, split_columns, step_line, width_of,
};

/// From this width on the branches stand side by side.
const BESIDE: u16 = 100;
/// Rows of differing text that a pair shows before it is opened in full.
const ROWS: usize = 3;

impl Painter<'_> {
    pub(super) fn compare(&mut self, compare: &Compare, area: Rect) {
        let charset = self.charset;
        let (a, b) = (
            clean_line(compare.a.branch.id.as_str()).into_owned(),
            clean_line(compare.b.branch.id.name()).into_owned(),
        );
        let left = format!("{a} {} {b}", Glyph::DIFFERS.show(charset));
        // How far it reaches goes first where both do not fit.
        let accent = self.theme.style(Role::Accent);
        let right = match compare.comparison.first_divergence {
            Some(step) => vec![
                Span::styled(format!("first difference at step {step}"), accent),
                Span::styled(compare.reaches(), accent),
            ],
            None => vec![Span::styled("no difference", accent)],
        };
        let right = Line::from(right);
        let areas = self.frame(area, &left, right, true);
        self.gained_and_lost(compare, areas.info);
        if compare.expanded {
            self.full_pair(compare, areas.body);
            return;
        }
        let (head, rest) = under_title(areas.body);
        if area.width >= BESIDE {
            for (half, column) in [&compare.a, &compare.b]
                .into_iter()
                .zip(split_columns(head, 2))
            {
                self.half_title(half, column);
            }
        } else {
            let text = format!(
                "- {}   + {}",
                clean_line(compare.a.branch.id.name()),
                self.half_name(&compare.b)
            );
            self.title(&text, "", true, head);
        }
        self.pairs(compare, rest);
    }

    fn half_name(&self, half: &Half) -> String {
        let dot = dot(self.charset);
        let mut text = clean_line(half.branch.id.name()).into_owned();
        if let Some(step) = half.branch.fork_step {
            text = format!(
                "{text} {dot} fork @{step} {dot} run {}",
                half.branch.run_index
            );
        }
        if half.branch.diagnostic {
            text.push_str(" diagnostic");
        }
        if self.leaks(&half.branch) {
            let sign = Glyph::HYPOTHESIS.show(self.charset);
            text = format!("{text} {sign} answer leak");
        }
        text
    }

    /// Whether the branch comes from an edit that gives the answer away; not told where answers are hidden.
    fn leaks(&self, branch: &Branch) -> bool {
        let mut made = self.app.open.iter().flat_map(|open| &open.interventions);
        let own = made.find(|made| branch.intervention.as_ref() == Some(&made.id));
        own.is_some_and(|made| made.answer_leak) && !self.app.hide.answers
    }

    fn half_title(&mut self, half: &Half, area: Rect) {
        let name = self.half_name(half);
        self.title(&name, half.branch.run.name(), false, area);
    }

    /// What the right branch gained and lost, by number and name.
    fn gained_and_lost(&mut self, compare: &Compare, area: Rect) {
        let theme = self.theme;
        let (before, after) = (&compare.a.milestones, &compare.b.milestones);
        if after.is_empty() {
            Line::styled(
                " no milestones are set for this session",
                theme.style(Role::Muted),
            )
            .render(area, self.buf);
            return;
        }
        let mut line = Line::from(" ");
        line.extend(milestone_meter(before, None, theme, self.charset).spans);
        line.push_span(Span::styled(
            format!(" {} ", Glyph::TO.show(self.charset)),
            theme.style(Role::Muted),
        ));
        line.extend(milestone_meter(after, Some(before), theme, self.charset).spans);
        let open = self.app.open.as_ref();
        let title = |i: usize| {
            open.and_then(|open| open.session.milestones.get(i))
                .map_or(String::new(), |m| clean_line(&m.title).into_owned())
        };
        let star = Glyph::MILESTONE.show(self.charset);
        let changes: Vec<(String, String, Role)> = (0..after.len())
            .filter_map(|i| {
                let had = before.get(i).copied().flatten().is_some();
                let has = after.get(i).copied().flatten().is_some();
                let (word, role) = match (had, has) {
                    (false, true) => ("gained", Role::MilestoneGained),
                    (true, false) => ("lost", Role::MilestoneLost),
                    _ => return None,
                };
                Some((format!("  {word} {star}{}", i + 1), title(i), role))
            })
            .collect();
        if changes.is_empty() {
            let text = "  none gained, none lost";
            line.push_span(Span::styled(text, theme.style(Role::Muted)));
        }
        let cells = |named: bool| -> usize {
            let one = |(head, title, _): &(String, String, Role)| {
                width_of(head) + if named { 1 + width_of(title) } else { 0 }
            };
            changes.iter().map(one).sum()
        };
        // Where their names are too long, the numbers say which and m says what.
        let named = line.width() + cells(true) <= usize::from(area.width);
        for (head, title, role) in changes {
            let text = if named {
                format!("{head} {title}")
            } else {
                head
            };
            line.push_span(Span::styled(text, theme.style(role)));
        }
        line.render(area, self.buf);
    }

    /// Pairs from the window's first one on; the window moves until the selected pair is in it.
    fn pairs(&mut self, compare: &Compare, area: Rect) {
        let height = usize::from(area.height);
        let count = compare.comparison.pairs.len();
        let mut extent = self.extent(Pane::Compare);
        (extent.rows, extent.height) = (count, height);
        let lowest = (compare.selected + 1).saturating_sub(height.max(1));
        let mut top = extent.top.clamp(lowest, compare.selected);
        let blocks: Vec<Vec<Line<'static>>> = (top..=compare.selected)
            .map(|row| self.pair_lines(compare, row, area.width))
            .collect();
        let mut used: usize = blocks.iter().map(Vec::len).sum();
        let mut skipped = 0;
        while used > height && top < compare.selected {
            used -= blocks.get(skipped).map_or(0, Vec::len);
            skipped += 1;
            top += 1;
        }
        self.cache
            .extents
            .set(Pane::Compare, Extent { top, ..extent });
        self.spot(area, Target::Pane(Pane::Compare));
        let mut y = area.y;
        let mut known = blocks.into_iter().skip(skipped);
        for row in top..count {
            if y >= area.bottom() {
                break;
            }
            let block = known
                .next()
                .unwrap_or_else(|| self.pair_lines(compare, row, area.width));
            let rows = u16::try_from(block.len())
                .unwrap_or(u16::MAX)
                .min(area.bottom() - y);
            let place = Rect {
                y,
                height: rows,
                ..area
            };
            for (line, row) in block.into_iter().zip(place.rows()) {
                line.render(row, self.buf);
            }
            self.spot(place, Target::Row(Pane::Compare, row));
            if row == compare.selected {
                self.select(
                    Rect {
                        height: rows.min(1),
                        ..place
                    },
                    true,
                );
            }
            y += rows;
        }
        if area.width >= BESIDE {
            let column = split_columns(area, 2);
            if let Some(right) = column.get(1) {
                let drawn = Rect {
                    height: y - area.y,
                    ..area
                };
                self.vertical(right.x.saturating_sub(1), drawn);
            }
        }
    }

    fn pair_lines(&self, compare: &Compare, row: usize, width: u16) -> Vec<Line<'static>> {
        let Some(pair) = compare.comparison.pairs.get(row).copied() else {
            return Vec::new();
        };
        let a = pair.a.map(|step| (step, compare.a.steps.head(step)));
        let b = pair.b.map(|step| (step, compare.b.steps.head(step)));
        if width >= BESIDE {
            self.beside(compare, pair, a, b, width)
        } else {
            self.stacked(compare, pair, a, b, width)
        }
    }

    fn beside(
        &self,
        compare: &Compare,
        pair: Pair,
        a: Known<'_>,
        b: Known<'_>,
        width: u16,
    ) -> Vec<Line<'static>> {
        let columns = split_columns(Rect::new(0, 0, width, 1), 2);
        let widths: Vec<usize> = columns
            .iter()
            .map(|column| usize::from(column.width))
            .collect();
        let (left_width, right_width) = (
            widths.first().copied().unwrap_or(0),
            widths.get(1).copied().unwrap_or(0),
        );
        let (left_text, right_text) = self.texts(pair, a, b);
        let left = self.half(compare, &compare.a, pair, a, left_text, left_width);
        let right = if pair.same {
            let number = pair
                .b
                .map_or(String::new(), |step| format!(" {step:>3}   ="));
            vec![Line::styled(number, self.theme.style(Role::Muted))]
        } else {
            self.half(compare, &compare.b, pair, b, right_text, right_width)
        };
        let rows = left.len().max(right.len());
        let mut left = left.into_iter();
        let mut right = right.into_iter();
        (0..rows)
            .map(|_| {
                let mut line = padded(left.next().unwrap_or_default(), left_width + 1);
                line.extend(right.next().unwrap_or_default().spans);
                line
            })
            .collect()
    }

    fn stacked(
        &self,
        compare: &Compare,
        pair: Pair,
        a: Known<'_>,
        b: Known<'_>,
        width: u16,
    ) -> Vec<Line<'static>> {
        let width = usize::from(width);
        let (left, right) = self.texts(pair, a, b);
        let mut lines = Vec::new();
        if a.is_some() {
            lines.extend(self.half(compare, &compare.a, pair, a, left, width));
        }
        if b.is_some() && !pair.same {
            lines.extend(self.half(compare, &compare.b, pair, b, right, width));
        }
        lines
    }

    /// What differs between the beginnings of two steps, as each side tells it.
    fn texts(&self, pair: Pair, a: Known<'_>, b: Known<'_>) -> (Passage, Passage) {
        if pair.same {
            return Default::default();
        }
        let text = |half: Known<'_>| {
            half.and_then(|(_, head)| head)
                .map_or(String::new(), beginning)
        };
        let (old, new) = (text(a), text(b));
        if a.is_some() && b.is_some() {
            let diff = WordDiff::new(&old, &new);
            let marks = self.marks_changes();
            (
                diff.passage(Side::Old, marks),
                diff.passage(Side::New, marks),
            )
        } else {
            (
                Passage::plain(&old, Role::DiffDel),
                Passage::plain(&new, Role::DiffAdd),
            )
        }
    }

    /// One side of a pair: a row that says who and what, then the text that differs.
    fn half(
        &self,
        compare: &Compare,
        half: &Half,
        pair: Pair,
        known: Known<'_>,
        text: Passage,
        width: usize,
    ) -> Vec<Line<'static>> {
        let theme = self.theme;
        let Some((step, head)) = known else {
            return Vec::new();
        };
        let Some(open) = &self.app.open else {
            return Vec::new();
        };
        let left = std::ptr::eq(half, &raw const compare.a);
        let first = compare.comparison.first_divergence.is_some()
            && compare.comparison.pairs.iter().find(|pair| !pair.same) == Some(&pair);
        let sign = match (pair.same, left) {
            (true, _) => Span::raw("  "),
            (false, true) if first => {
                let sign = Glyph::DIFFERS.show(self.charset);
                Span::styled(format!("{sign} "), theme.style(Role::Accent))
            }
            (false, true) => Span::styled("- ", theme.style(Role::DiffDel)),
            (false, false) => Span::styled("+ ", theme.style(Role::DiffAdd)),
        };
        let Some(head) = head else {
            return vec![Line::from(vec![
                sign,
                Span::styled(format!("{step:>3} …"), theme.style(Role::Muted)),
            ])];
        };
        let cells = u16::try_from(width).unwrap_or(u16::MAX).saturating_sub(3);
        let look = StepLook::new(&open.session, theme, self.charset, cells, half.steps.len);
        let marks = self.reached_here(half, head.index);
        let shown = if pair.same {
            head.clone()
        } else {
            // The text follows below, with its changes marked.
            StepHead {
                head: String::new(),
                ..head.clone()
            }
        };
        let mut first = Line::from(sign);
        first.extend(step_line(&shown, look, marks, usize::from(cells)).spans);
        let mut lines = vec![first];
        if !pair.same {
            let indent = " ".repeat(look.number + 3);
            let mut rows = hanging(
                vec![Span::raw(indent)],
                text,
                u16::try_from(width).unwrap_or(u16::MAX),
                theme,
            );
            if rows.len() > ROWS {
                rows.truncate(ROWS);
                if let Some(last) = rows.last_mut() {
                    *last = with_dots(std::mem::take(last), width, theme.style(Role::Muted));
                }
            }
            lines.extend(rows);
        }
        lines
    }

    fn reached_here(&self, half: &Half, step: usize) -> Line<'static> {
        let reached: Vec<String> = half
            .milestones
            .iter()
            .enumerate()
            .filter(|(_, at)| **at == Some(step))
            .map(|(i, _)| format!("{}{}", Glyph::MILESTONE.show(self.charset), i + 1))
            .collect();
        if reached.is_empty() {
            return Line::default();
        }
        Line::styled(reached.join(" "), self.theme.style(Role::MilestoneReached))
    }

    /// A pair in full, its sides below each other or beside each other, scrolled together.
    fn full_pair(&mut self, compare: &Compare, area: Rect) {
        let Some(full) = &compare.full else { return };
        let text = |step: &Option<Step>| {
            step.as_ref()
                .map_or(String::new(), |step| clean(&step.text).into_owned())
        };
        let (old, new) = (text(&full.a), text(&full.b));
        let diff = WordDiff::new(&old, &new);
        let marks = self.marks_changes();
        let [above, below] = if area.width >= BESIDE {
            Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)])
                .spacing(1)
                .areas(area)
        } else {
            Layout::vertical([Constraint::Fill(1), Constraint::Fill(1)]).areas(area)
        };
        self.spot(area, Target::Pane(Pane::Pair));
        let id = revision(&[&old, &new]);
        let halves = [
            (above, TextId::PairLeft, Side::Old, &full.a, &compare.a),
            (below, TextId::PairRight, Side::New, &full.b, &compare.b),
        ];
        let mut longest = Extent::default();
        for (area, text, side, step, half) in halves {
            let (head, rest) = under_title(area);
            let title = match step {
                Some(step) => format!(
                    "{} {} {}",
                    clean_line(half.branch.id.name()),
                    dot(self.charset),
                    heading(step, self.charset)
                ),
                None => format!(
                    "{} {} nothing here",
                    clean_line(half.branch.id.name()),
                    dot(self.charset)
                ),
            };
            self.title(&title, "", true, head);
            let rest = Rect {
                x: rest.x + 1.min(rest.width),
                width: rest.width.saturating_sub(2),
                ..rest
            };
            if step.is_none() {
                continue;
            }
            let wrapped = self
                .cache
                .texts
                .get(text, id, rest.width, || diff.passage(side, marks));
            let extent = widgets::text_pane(
                wrapped,
                self.cache.extents.get(Pane::Pair),
                rest,
                self.theme,
                self.buf,
            );
            self.more(extent, rest);
            if extent.rows.saturating_sub(extent.height)
                >= longest.rows.saturating_sub(longest.height)
            {
                longest = extent;
            }
        }
        let top = self.extent(Pane::Pair).top;
        self.cache
            .extents
            .set(Pane::Pair, Extent { top, ..longest }.clamped());
    }
}

/// A side's step and its head, if its page is here.
type Known<'a> = Option<(usize, Option<&'a StepHead>)>;

fn padded(mut line: Line<'static>, width: usize) -> Line<'static> {
    let missing = width.saturating_sub(line.width());
    line.push_span(Span::raw(" ".repeat(missing)));
    line
}

fn with_dots(mut line: Line<'static>, width: usize, style: ratatui::style::Style) -> Line<'static> {
    while line.width() + 1 > width {
        let Some(last) = line.spans.pop() else { break };
        let kept = last
            .width()
            .saturating_sub(1 + (line.width() + last.width()).saturating_sub(width));
        if kept > 0 {
            line.push_span(Span::styled(
                widgets::fitted(&last.content, kept),
                last.style,
            ));
            break;
        }
    }
    line.push_span(Span::styled("…", style));
    line
}

/// The beginning of a step's text; what is left out is marked.
fn beginning(head: &StepHead) -> String {
    let mut text = clean_line(&head.head).into_owned();
    if head.head.chars().count() >= HEAD_CHARS && head.len > head.head.len() {
        text.push('…');
    }
    text
}
