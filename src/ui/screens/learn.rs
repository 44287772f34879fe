//! Lessons: the list of them, the page of a part, and the bar that stays below the work.

use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, plural, row_of};
use crate::app::View;
use crate::app::command::Id;
use crate::app::extent::Pane;
use crate::app::learn::{Course, Offer, Run};
use crate::app::pointer::Target;
use crate::model::{clean, clean_line};
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::{dot, fit, hanging};

/// Rows of the bar, and those of it on a tall screen.
const BAR: u16 = 4;
const TALL_BAR: u16 = 8;
/// Below this height the bar has no room.
const LEAST: u16 = 14;
/// From this height on the bar is a tall one.
const TALL: u16 = 36;

impl Painter<'_> {
    /// Draws the bar of the lesson being played; tells what is left for the work.
    pub(super) fn lesson_bar(&mut self, area: Rect) -> Rect {
        let page = matches!(self.app.views.last(), Some(View::Lesson));
        let Some(course) = self.app.course().filter(|_| !page && area.height >= LEAST) else {
            return area;
        };
        let height = if area.height >= TALL { TALL_BAR } else { BAR };
        let work = Rect {
            height: area.height - height,
            ..area
        };
        let bar = Rect {
            y: work.bottom(),
            height,
            ..area
        };
        let (head, rest) = super::session::under_title(bar);
        let of = course.lesson.parts.len();
        let part = course.part().map_or("", |part| &part.title);
        let text = format!(
            "lesson {}/{of} {} {}",
            course.at + 1,
            dot(self.charset),
            clean_line(part)
        );
        self.title(&text, &self.hints_told(course), true, head);
        self.spot(bar, Target::Command(Id::Lesson));
        for (line, row) in self.bar_lines(course, rest).iter().zip(rest.rows()) {
            line.render(row, self.buf);
        }
        work
    }

    /// The keys that help, and how many hints there are.
    fn hints_told(&self, course: &Course) -> String {
        if course.done() {
            return self.app.spell("‹lesson› goes on");
        }
        let of = course.part().map_or(0, |part| part.hints.len());
        let given = course.hints().len();
        let dot = dot(self.charset);
        self.app
            .spell(&format!("‹lesson› text {dot} ‹hint› hint {given}/{of}"))
    }

    fn bar_lines(&self, course: &Course, area: Rect) -> Vec<Line<'static>> {
        let width = area.width.saturating_sub(1);
        let Some(part) = course.part() else {
            return Vec::new();
        };
        if course.done() {
            let sign = format!(" {} ", Glyph::PASS.show(self.charset));
            let sign = Span::styled(sign, self.theme.style(Role::MilestoneReached));
            let told = part.after.as_deref().unwrap_or("Done.");
            let mut passage = Passage::plain("Done. ", Role::MilestoneReached);
            passage.push(
                &clean_line(&self.app.spell(told.trim_start_matches("Done. "))),
                Role::Text,
            );
            return hanging(vec![sign], passage, width, self.theme);
        }
        let sign = format!(" {} ", Glyph::CURSOR.show(self.charset));
        let sign = Span::styled(sign, self.theme.style(Role::Accent));
        let task = Passage::plain(&clean_line(&self.app.spell(&part.task)), Role::Text);
        let mut lines = hanging(vec![sign], task, width, self.theme);
        let more = match (&course.note, course.hints().last()) {
            (Some(note), _) => Some((note.as_str(), Role::Warn)),
            (None, Some(hint)) => Some((hint.as_str(), Role::Accent)),
            (None, None) => None,
        };
        if let Some((text, role)) = more {
            let text = Passage::plain(&clean_line(&self.app.spell(text)), role);
            let more = hanging(vec![Span::raw("   ")], text, width, self.theme);
            // The newest word is seen whole; the task stands on its page too.
            let room = usize::from(area.height).saturating_sub(more.len()).max(1);
            lines.truncate(room);
            lines.extend(more);
        }
        lines
    }

    /// The page of the part being played: what to read, what to do, the hints so far.
    pub(super) fn lesson_page(&mut self, area: Rect) {
        let Some(course) = self.app.course() else {
            self.frame(area, "lesson", Line::default(), false);
            return;
        };
        let of = course.lesson.parts.len();
        let count = format!("{} of {of} done", course.attempt.done());
        let count = Line::styled(count, self.theme.style(Role::Muted));
        let areas = self.frame(area, &heading(course, dot(self.charset)), count, false);
        let column = Rect {
            x: areas.body.x + 1,
            // Long lines are hard to read.
            width: areas.body.width.saturating_sub(2).min(78),
            ..areas.body
        };
        let lines = self.page_lines(course, column.width);
        self.lines(Pane::Lesson, &lines, column);
    }

    fn page_lines(&self, course: &Course, width: u16) -> Vec<Line<'static>> {
        let theme = self.theme;
        let paragraphs = |text: &str, role: Role| {
            hanging(
                vec![Span::raw(" ")],
                Passage::plain(&clean(&self.app.spell(text)), role),
                width,
                theme,
            )
        };
        if course.ended {
            let mut lines = vec![self.page_head("The end"), Line::default()];
            lines.extend(paragraphs(&course.lesson.end, Role::Text));
            lines.push(Line::default());
            lines.extend(paragraphs(&Self::summary(course), Role::Muted));
            lines.push(Line::default());
            lines.extend(paragraphs(
                "‹go-on› goes back to the lessons.",
                Role::Accent,
            ));
            return lines;
        }
        let Some(part) = course.part() else {
            return Vec::new();
        };
        let mut lines = vec![self.page_head(&part.title), Line::default()];
        lines.extend(paragraphs(&part.text, Role::Text));
        lines.push(Line::default());
        lines.push(self.page_head("Your task"));
        lines.extend(paragraphs(&part.task, Role::Text));
        lines.push(Line::default());
        for (i, hint) in course.hints().iter().enumerate() {
            let head = Span::styled(format!(" hint {}  ", i + 1), theme.style(Role::Accent));
            lines.extend(hanging(
                vec![head],
                Passage::plain(&clean(&self.app.spell(hint)), Role::Text),
                width,
                theme,
            ));
        }
        let left = part.hints.len() - course.hints().len();
        let told = match left {
            0 => "‹go-on› goes to it; ‹lesson› comes back here.".to_owned(),
            _ => format!(
                "‹go-on› goes to it; ‹lesson› comes back here. ‹hint› gives a hint ({left} left)."
            ),
        };
        lines.extend(paragraphs(&told, Role::Muted));
        lines
    }

    fn page_head(&self, text: &str) -> Line<'static> {
        let style = self.theme.style(Role::Title).add_modifier(Modifier::BOLD);
        Line::styled(format!(" {}", clean_line(text)), style)
    }

    fn summary(course: &Course) -> String {
        let hints: usize = course.attempt.parts.iter().map(|part| part.hints).sum();
        let hints = match hints {
            0 => "no hint".to_owned(),
            some => plural(some, "hint"),
        };
        format!(
            "{} done, with {hints}.",
            plural(course.attempt.done(), "part")
        )
    }

    /// The list of lessons.
    pub(super) fn lessons(&mut self, area: Rect) {
        let Some(learn) = &self.app.learn else { return };
        let finished = |offer: &&Offer| {
            offer
                .attempt
                .as_ref()
                .is_some_and(crate::model::Attempt::finished)
        };
        let done = learn.offers.iter().filter(finished).count();
        let count = format!("{done} of {} done", plural(learn.offers.len(), "lesson"));
        let count = Line::styled(count, self.theme.style(Role::Muted));
        let areas = self.frame(area, "dover · learn to steer agents", count, true);
        let count = learn.offers.len();
        let window = self.list(Pane::Lessons, count, learn.selected, areas.body, 2);
        let shown = learn
            .offers
            .iter()
            .enumerate()
            .skip(window.top)
            .take(window.height);
        for (i, offer) in shown {
            let row = (i - window.top) * 2;
            let (first, second) = (row_of(areas.body, row), row_of(areas.body, row + 1));
            let chosen = i == learn.selected;
            self.offer(offer, chosen, usize::from(areas.body.width))
                .render(first, self.buf);
            let about = format!("      {}", clean_line(&offer.lesson.about));
            let about = fit(&about, usize::from(areas.body.width).saturating_sub(1));
            Line::styled(about, self.theme.style(Role::Muted)).render(second, self.buf);
            if chosen {
                self.select(first, true);
            }
        }
        let hint = " Every lesson plays on its own copy of a run: nothing of yours is touched.";
        Line::styled(hint, self.theme.style(Role::Muted)).render(areas.info, self.buf);
    }

    fn offer(&self, offer: &Offer, chosen: bool, width: usize) -> Line<'static> {
        let theme = self.theme;
        let of = offer.lesson.parts.len();
        let (sign, role, told) = match &offer.attempt {
            Some(attempt) if attempt.finished() => (
                Glyph::PASS.show(self.charset),
                Role::MilestoneReached,
                "done".to_owned(),
            ),
            Some(attempt) => (
                " ",
                Role::Accent,
                format!("part {} of {of}", attempt.next() + 1),
            ),
            None => (" ", Role::Muted, plural(of, "part")),
        };
        let run = match &offer.lesson.run {
            Run::Sample(name) | Run::Log(name) => name,
        };
        let cursor = if chosen {
            Glyph::CURSOR.show(self.charset)
        } else {
            " "
        };
        let title = fit(&clean_line(&offer.lesson.title), width.saturating_sub(5));
        let strong = theme.style(Role::Text).add_modifier(Modifier::BOLD);
        let mut line = Line::from(vec![
            Span::styled(format!("{cursor} "), theme.style(Role::Accent)),
            Span::styled(format!("{sign} "), theme.style(role)),
            Span::styled(title, strong),
        ]);
        // What does not fit beside the title is left out whole.
        for (text, role) in [
            (told.as_str(), role),
            (offer.lesson.name.as_str(), Role::Muted),
            (run.as_str(), Role::Muted),
        ] {
            let text = format!(" {} {}", dot(self.charset), clean_line(text));
            let span = Span::styled(text, theme.style(role));
            if line.width() + span.width() >= width {
                break;
            }
            line.push_span(span);
        }
        line
    }
}

/// `Read and predict · 2/5 · Find the step`.
fn heading(course: &Course, dot: &str) -> String {
    let of = course.lesson.parts.len();
    let title = clean_line(&course.lesson.title);
    if course.ended {
        return title.into_owned();
    }
    let part = course
        .part()
        .map_or(String::new(), |part| clean_line(&part.title).into_owned());
    format!("{title} {dot} {}/{of} {dot} {part}", course.at + 1)
}
