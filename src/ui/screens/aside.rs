//! What there is to say of the selected branch and step, below and beside the columns of the overview.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::Painter;
use super::overview::find;
use super::session::under_title;
use crate::app::overview::Overview;
use crate::app::session::Open;
use crate::model::{clean, clean_line};
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::{branch_lines, dot, fit, hanging, milestone_meter};

impl Painter<'_> {
    /// The selected step in a line.
    pub(super) fn selected_cell(&mut self, view: &Overview, open: &Open, area: Rect) {
        let theme = self.theme;
        let muted = theme.style(Role::Muted);
        let mut line = Line::from(vec![
            Span::raw(" "),
            Span::styled(view.branch.name().to_owned(), theme.style(Role::Title)),
            Span::styled(format!(" @{} ", view.at()), muted),
        ]);
        if let Some(branch) = find(open, &view.branch)
            && branch.fork_step == Some(view.at())
        {
            line.push_span(Span::styled(
                format!("{} fork ", Glyph::FORK.show(self.charset)),
                theme.style(Role::Accent),
            ));
        }
        if let Some(head) = view.head() {
            let place = open
                .session
                .agents
                .iter()
                .position(|known| known.name == head.agent);
            line.push_span(Span::styled(
                format!("{} ", clean_line(&head.agent)),
                theme.style(Role::agent(place.unwrap_or(open.session.agents.len()))),
            ));
            line.push_span(Span::styled(
                format!("{} ", head.kind.name().replace('_', " ")),
                theme.style(Role::Kind(head.kind)),
            ));
            let room = usize::from(area.width).saturating_sub(line.width() + 1);
            line.push_span(Span::styled(
                fit(&clean_line(&head.head), room),
                theme.style(Role::Text),
            ));
        }
        line.render(area, self.buf);
    }

    /// What there is to say of the selected branch, beside the columns.
    pub(super) fn aside(&mut self, view: &Overview, open: &Open, area: Rect) {
        let theme = self.theme;
        let (head, rest) = under_title(area);
        self.title(view.branch.name(), "", true, head);
        let Some(branch) = find(open, &view.branch) else {
            return;
        };
        let width = rest.width.saturating_sub(2);
        let mut lines: Vec<Line<'static>> = branch_lines(
            branch,
            false,
            self.app.hide.verdicts,
            usize::from(width),
            theme,
            self.charset,
        )
        .to_vec();
        let lane = view.lanes().get(view.column());
        let parent = lane
            .and_then(|lane| lane.parent)
            .and_then(|at| view.lanes().get(at));
        if let Some(lane) = lane.filter(|lane| !lane.reached.is_empty()) {
            let before = parent.map(|parent| parent.reached.as_slice());
            lines.push(milestone_meter(&lane.reached, before, theme, self.charset));
        }
        let mut say = |title: &str, text: &str, role: Role| {
            lines.push(Line::default());
            lines.push(Line::styled(title.to_owned(), theme.style(Role::Title)));
            lines.extend(hanging(
                Vec::new(),
                Passage::plain(&clean(text), role),
                width,
                theme,
            ));
        };
        let edit = branch
            .intervention
            .as_ref()
            .and_then(|id| open.interventions.iter().find(|one| one.id == *id));
        if let Some(edit) = edit {
            let text = edit
                .text
                .as_deref()
                .unwrap_or("nothing was edited: the baseline");
            say(&format!("edit of step {}", edit.step), text, Role::DiffAdd);
        }
        if let Some(answer) = &branch.answer {
            say("answer", answer, Role::Text);
        }
        if let Some(reason) = &branch.reason {
            say("why it ended", reason, Role::Warn);
        }
        if let Some(head) = view.head() {
            let title = format!("step {} {} {}", head.index, dot(self.charset), head.agent);
            say(&clean_line(&title), &head.head, Role::Text);
        }
        for (line, row) in lines.into_iter().zip(rest.rows()) {
            let row = Rect {
                x: row.x + 1,
                width,
                ..row
            };
            line.render(row, self.buf);
        }
    }
}
