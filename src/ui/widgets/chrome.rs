//! What frames every screen: the header, the rules, the line for a notice or a prompt, the footer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{fit, hanging, width_of};
use crate::app::{App, Prompt, Purpose, command};
use crate::model::clean_line;
use crate::ui::glyph::Charset;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::theme::Theme;

/// A piece of a horizontal line.
#[must_use]
pub const fn horizontal(charset: Charset) -> &'static str {
    match charset {
        Charset::Unicode => "─",
        Charset::Ascii => "-",
    }
}

/// A piece of a vertical line.
#[must_use]
pub const fn vertical(charset: Charset) -> &'static str {
    match charset {
        Charset::Unicode => "│",
        Charset::Ascii => "|",
    }
}

/// Between the parts of a line.
#[must_use]
pub const fn dot(charset: Charset) -> &'static str {
    match charset {
        Charset::Unicode => "·",
        Charset::Ascii => "-",
    }
}

/// The screen's own style, for what is written over other cells.
#[must_use]
pub fn plain(theme: &Theme) -> Style {
    Style::reset().patch(theme.style(Role::Text))
}

/// A line with a left and a right part. Where both do not fit, the right one loses parts from its end, such as the meter of milestones,
/// until two thirds are left for who is here, on a narrow screen half; then the left one is cut.
pub fn header(left: &str, mut right: Line<'_>, area: Rect, theme: &Theme, buf: &mut Buffer) {
    let width = usize::from(area.width);
    let share = if width < 60 { width / 2 } else { width * 2 / 3 };
    let least = width_of(left).min(share);
    let mut cut = false;
    while right.width() + least + 3 > usize::from(area.width) && right.spans.pop().is_some() {
        cut = true;
    }
    // What parted it from what was dropped goes too.
    right
        .spans
        .pop_if(|last| cut && last.content.starts_with(' '));
    let room = usize::from(area.width).saturating_sub(right.width() + 3);
    let left = format!(" {}", fit(left, room));
    buf.set_stringn(
        area.x,
        area.y,
        left,
        usize::from(area.width),
        theme.style(Role::Title),
    );
    let width = u16::try_from(right.width())
        .unwrap_or(u16::MAX)
        .min(area.width.saturating_sub(1));
    let place = Rect {
        x: area.right().saturating_sub(width + 1),
        width,
        ..area
    };
    right.render(place.intersection(area), buf);
}

/// A horizontal line.
pub fn rule(area: Rect, theme: &Theme, charset: Charset, buf: &mut Buffer) {
    let line = horizontal(charset).repeat(usize::from(area.width));
    buf.set_stringn(
        area.x,
        area.y,
        line,
        usize::from(area.width),
        theme.style(Role::Border),
    );
}

/// A horizontal line with a title in it, and perhaps a remark at its right end.
pub fn title(
    text: &str,
    remark: &str,
    focused: bool,
    area: Rect,
    theme: &Theme,
    charset: Charset,
    buf: &mut Buffer,
) {
    rule(area, theme, charset, buf);
    let role = if focused { Role::Accent } else { Role::Title };
    let width = usize::from(area.width);
    let fits = width_of(text) + width_of(remark) + 10 <= width;
    let remark = if fits { remark } else { "" };
    let room = width.saturating_sub(5 + width_of(remark));
    let text = fit(text, room);
    if text.is_empty() {
        return;
    }
    buf.set_stringn(
        area.x + 2,
        area.y,
        format!(" {text} "),
        width.saturating_sub(2),
        plain(theme).patch(theme.style(role)),
    );
    if !remark.is_empty() {
        let cells = u16::try_from(width_of(remark) + 2).unwrap_or(u16::MAX);
        let x = area.right().saturating_sub(cells + 2);
        buf.set_stringn(
            x,
            area.y,
            format!(" {remark} "),
            usize::from(cells),
            theme.style(Role::Muted),
        );
    }
}

/// The prompt or the notice, if there is one, in one row or, for a long notice, two; the cursor's place for a prompt.
pub fn notice(app: &App, area: Rect, theme: &Theme, buf: &mut Buffer) -> Option<(u16, u16)> {
    let width = usize::from(area.width);
    if let Some(Prompt {
        purpose, line, cut, ..
    }) = &app.prompt
    {
        let head = match purpose {
            Purpose::Filter => " filter: ",
            Purpose::Search => " search: ",
            Purpose::Goto => " go to step: ",
            Purpose::Keep => " it stays and is not repeated, because: ",
            Purpose::Undone => " it was undone, because: ",
            Purpose::Suspect => " this step went wrong, because: ",
            Purpose::Narrow => " show only (agent: to: kind: trial: words, - for not): ",
            Purpose::Keys => " keys with: ",
            Purpose::Note => " note on this step: ",
            Purpose::Owner => " approve as owner: ",
            Purpose::Steps => " how many steps: ",
            Purpose::Until => " until (agent:NAME kind:KIND words): ",
            Purpose::Insert => " a message of (NAME > NAME): ",
            Purpose::Send => " a message to: ",
        };
        let head = if *cut {
            format!("{head}(the rest of the paste is left out) ")
        } else {
            head.to_owned()
        };
        let line = clean_line(line);
        // The end of a long line is what is being typed.
        let near = line.char_indices().rev().nth(width);
        let mut shown = near.map_or(line.as_ref(), |(at, _)| line.get(at..).unwrap_or_default());
        while width_of(shown) + head.len() + 1 > width {
            let mut rest = shown.chars();
            if rest.next().is_none() {
                break;
            }
            shown = rest.as_str();
        }
        let area = Rect {
            height: area.height.min(1),
            ..area
        };
        clear(area, theme, buf);
        let (x, _) = buf.set_stringn(area.x, area.y, head, width, theme.style(Role::Accent));
        let room = usize::from(area.right().saturating_sub(x));
        let (x, y) = buf.set_stringn(x, area.y, shown, room, theme.style(Role::Text));
        return Some((x.min(area.right().saturating_sub(1)), y));
    }
    if let Some(notice) = &app.notice {
        let role = if notice.fault {
            Role::Error
        } else {
            Role::Accent
        };
        let text = Passage::plain(&clean_line(&notice.text), role);
        let mut lines = hanging(
            vec![Span::raw(" ")],
            text,
            area.width.saturating_sub(1),
            theme,
        );
        let room = usize::from(area.height).max(1);
        if lines.len() > room {
            lines.truncate(room);
            let more = Span::styled(
                app.spell(" … ‹notice› shows all"),
                theme.style(Role::Accent),
            );
            if let Some(last) = lines.last_mut() {
                let cells = width.saturating_sub(more.width() + 1);
                let kept: String = last
                    .spans
                    .iter()
                    .map(|span| span.content.as_ref())
                    .collect();
                *last = Line::from(vec![
                    Span::styled(fit(&kept, cells), theme.style(role)),
                    more,
                ]);
            }
        }
        for (line, row) in lines.into_iter().zip(area.rows()) {
            clear(row, theme, buf);
            line.render(row, buf);
        }
    }
    None
}

fn clear(area: Rect, theme: &Theme, buf: &mut Buffer) {
    buf.set_stringn(
        area.x,
        area.y,
        " ".repeat(usize::from(area.width)),
        usize::from(area.width),
        plain(theme),
    );
}

/// The keys that work here, as many as fit, and where each stands; help and the way out always do.
pub fn footer(app: &App, area: Rect, theme: &Theme, buf: &mut Buffer) -> Vec<(Rect, command::Id)> {
    let hints: Vec<(String, &command::Command, bool)> = command::hints(app)
        .filter_map(|hint| {
            let key = app.keymap.keys(hint, app.context()).first()?.to_string();
            let last = hint.group == command::Group::General;
            Some((key, hint, last))
        })
        .collect();
    let cells = |key: &str, hint: &command::Command| width_of(key) + 1 + width_of(hint.title) + 2;
    let reserved: usize = hints
        .iter()
        .filter(|hint| hint.2)
        .map(|(key, hint, _)| cells(key, hint))
        .sum();
    // The last one needs no gap after it.
    let mut room = (usize::from(area.width) + 2).saturating_sub(reserved + 1);
    let mut places = Vec::new();
    let mut line = Line::from(" ");
    let mut full = false;
    for (key, hint, last) in hints {
        let need = cells(&key, hint);
        full = full || !last && need > room;
        if !last {
            if full {
                continue;
            }
            room -= need;
        }
        let cells = |cells: usize| u16::try_from(cells).unwrap_or(u16::MAX);
        let place = Rect {
            x: area.x.saturating_add(cells(line.width())),
            width: cells(need - 2),
            ..area
        };
        places.push((place.intersection(area), hint.id));
        line.push_span(Span::styled(key, theme.style(Role::Accent)));
        line.push_span(Span::styled(
            format!(" {}  ", hint.title),
            theme.style(Role::Muted),
        ));
    }
    line.render(area, buf);
    places
}
