//! The command palette, over the view that it was opened from.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, row_of};
use crate::app::command::Id;
use crate::app::extent::Pane;
use crate::app::palette::{Offer, Palette, offers};
use crate::app::pointer::Target;
use crate::model::clean_line;
use crate::ui::glyph::Glyph;
use crate::ui::role::Role;
use crate::ui::widgets::{self, fit, fitted, width_of};

/// Cells of the box, as far as there is room.
const WIDTH: u16 = 76;
const HEIGHT: u16 = 16;
/// Cells of a name and of its keys.
const NAME: usize = 18;
const KEYS: usize = 12;

impl Painter<'_> {
    pub(super) fn palette(&mut self, palette: &Palette, area: Rect) {
        let theme = self.theme;
        // Where little would be left beside the box, it takes the whole width.
        let roomy = area.width >= WIDTH + 16;
        let width = if roomy { WIDTH } else { area.width };
        let height = HEIGHT.min(area.height.saturating_sub(4)).max(1);
        let place = Rect {
            x: area.x + (area.width - width) / 2,
            y: area.y + if roomy { 3 } else { 2 }.min(area.height.saturating_sub(height)),
            width,
            height,
        }
        .intersection(area);
        // With room to spare the box has a border, so that what lies beneath it does not run into it.
        let sides = if roomy { 2 } else { 0 };
        let edge = Rect {
            x: place.x - sides,
            width: place.width + 2 * sides,
            ..place
        };
        for row in edge.rows() {
            let blank = " ".repeat(usize::from(row.width));
            let style = widgets::plain(theme);
            self.buf
                .set_stringn(row.x, row.y, blank, usize::from(row.width), style);
        }
        let all = offers(self.app);
        self.title("commands", &all.len().to_string(), true, row_of(edge, 0));
        if roomy && place.height > 2 {
            let inner = Rect {
                y: place.y + 1,
                height: place.height - 2,
                ..edge
            };
            self.vertical(inner.x, inner);
            self.vertical(inner.right() - 1, inner);
        }
        let asked = row_of(place, 1);
        let line = format!("  {} ", Glyph::CURSOR.show(self.charset));
        let text = fit(
            &clean_line(&palette.line),
            usize::from(width).saturating_sub(width_of(&line) + 1),
        );
        let cursor = width_of(&line) + width_of(&text);
        Line::from(vec![
            Span::styled(line, theme.style(Role::Accent)),
            Span::styled(text, theme.style(Role::Text)),
        ])
        .render(asked, self.buf);
        if asked.height > 0 {
            let x = u16::try_from(cursor).unwrap_or(width).min(width - 1);
            self.cursor = Some((asked.x + x, asked.y));
        }
        let list = Rect {
            y: place.y + 2.min(place.height),
            height: place.height.saturating_sub(3),
            ..place
        };
        let rows = usize::from(list.height);
        // Beside it only its own commands can be hit.
        if self.app.mouse {
            self.cache.spots.cover(area, Target::Command(Id::Back));
        }
        self.spot(edge, Target::Pane(Pane::Palette));
        let extent = self.list(Pane::Palette, all.len(), palette.selected, list, 1);
        for (n, offer) in all.iter().enumerate().skip(extent.top).take(rows) {
            let row = row_of(list, n - extent.top);
            let chosen = n == palette.selected;
            let (keys, blocked) = match offer {
                Offer::Command(command) => (
                    self.app
                        .keymap
                        .keys(command, self.app.place())
                        .first()
                        .map_or(String::new(), ToString::to_string),
                    command.refused(self.app).is_some(),
                ),
                Offer::Branch(_) => (String::new(), false),
            };
            let name = if blocked { Role::Muted } else { Role::Text };
            let sign = if chosen {
                Glyph::CURSOR.show(self.charset)
            } else {
                " "
            };
            let room = usize::from(row.width).saturating_sub(NAME + KEYS + 6);
            Line::from(vec![
                Span::styled(format!(" {sign} "), theme.style(Role::Accent)),
                Span::styled(fitted(&offer.title(), NAME), theme.style(name)),
                Span::styled(
                    format!(" {}", fitted(&keys, KEYS)),
                    theme.style(Role::Accent),
                ),
                Span::styled(fit(offer.doc(), room), theme.style(Role::Muted)),
            ])
            .render(row, self.buf);
            if chosen {
                self.select(row, true);
            }
        }
        if place.height > 2 {
            let foot = row_of(edge, usize::from(edge.height) - 1);
            widgets::rule(foot, theme, self.charset, self.buf);
        }
    }
}
