//! The key help.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Painter;
use crate::app::extent::Pane;
use crate::app::help::{Help, Part};
use crate::app::pointer::Target;
use crate::model::clean_line;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::{self, fitted, hanging, width_of};

impl Painter<'_> {
    pub(super) fn help(&mut self, help: &Help, area: Rect) {
        let theme = self.theme;
        let narrowed = match clean_line(&help.words) {
            words if words.is_empty() => "bold: works here, now".to_owned(),
            words => format!("only with “{words}”"),
        };
        let remark = Line::styled(narrowed, theme.style(Role::Muted));
        let areas = self.frame(area, "keys", remark, false);
        let told = help.lines(self.app);
        let keys = told.iter().map(|line| width_of(&line.keys)).max();
        let keys = keys.unwrap_or(0);
        let mut lines = Vec::new();
        let mut part = None;
        for line in &told {
            if part != Some(line.part) {
                if part.is_some() {
                    lines.push(Line::default());
                }
                part = Some(line.part);
                let title = format!(" {}", line.part.title());
                lines.push(Line::styled(title, theme.style(Role::Title)));
            }
            let works = matches!(line.part, Part::Now | Part::Text);
            let (head, text) = if works {
                (Role::Accent, Role::Text)
            } else {
                (Role::Muted, Role::Muted)
            };
            let head = vec![Span::styled(
                format!("   {}  ", fitted(&line.keys, keys)),
                theme.style(head),
            )];
            lines.extend(hanging(
                head,
                Passage::plain(line.doc, text),
                areas.body.width,
                theme,
            ));
        }
        if told.is_empty() {
            let text = self
                .app
                .spell(" No key is told with such words: ‹filter› takes others");
            lines.push(Line::styled(text, theme.style(Role::Muted)));
        }
        // How much lies below has a row of its own: it covers no sentence.
        let body = areas.body;
        let over = lines.len() > usize::from(body.height) && body.height > 2;
        let list = Rect {
            height: body.height - u16::from(over),
            ..body
        };
        let extent = widgets::lines_in(&lines, self.extent(Pane::Help), list, self.buf);
        self.cache.extents.set(Pane::Help, extent);
        self.spot(body, Target::Pane(Pane::Help));
        self.more(extent, body);
    }
}
