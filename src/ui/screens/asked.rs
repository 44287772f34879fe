//! The question about a new effect outside, below the runs: which run waits, with what, and the two answers.

use ratatui::text::{Line, Span};

use super::Painter;
use crate::app::fork::Replay;
use crate::model::{BranchId, Effect, clean_line, head_text};
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::{hanging, horizontal};

impl Painter<'_> {
    /// The question that was asked first. Nothing has happened yet; the arguments are what the run was writing.
    pub(super) fn asked_lines(
        &self,
        replay: &Replay,
        branch: &BranchId,
        effect: &Effect,
        width: u16,
    ) -> Vec<Line<'static>> {
        let theme = self.theme;
        let rule = horizontal(self.charset).repeat(usize::from(width) + 2);
        let mut lines = vec![Line::styled(rule, theme.style(Role::Border))];
        let sign = format!(" {} ", Glyph::HOLD.show(self.charset));
        let mut what = Passage::plain(&clean_line(branch.name()), Role::Accent);
        what.push(" wants to call ", Role::Text);
        what.push(&clean_line(&effect.tool), Role::Warn);
        what.push(
            &format!(", outside, as {}", clean_line(&effect.operation_key)),
            Role::Text,
        );
        let head = vec![Span::styled(sign, theme.style(Role::GateHold))];
        lines.extend(hanging(head, what, width, theme));
        let runs = replay.runs.iter();
        let run = runs.clone().find(|run| run.branch.id == *branch);
        if let Some((_, text)) = run.and_then(|run| run.delta.as_ref()) {
            let gist = head_text(text);
            let gist = Passage::plain(&clean_line(&gist), Role::Muted);
            lines.extend(hanging(vec![Span::raw("   ")], gist, width, theme));
        }
        let mut keys = Passage::plain(&self.app.spell("‹allow›"), Role::Accent);
        keys.push(" allow it   ", Role::Text);
        keys.push(&self.app.spell("‹refuse›"), Role::Accent);
        keys.push(" refuse it: the tool fails, the run goes on", Role::Text);
        let more = replay.asked.len().saturating_sub(1);
        if more > 0 {
            keys.push(&format!("   {more} more asked"), Role::Muted);
        }
        lines.extend(hanging(vec![Span::raw("   ")], keys, width, theme));
        lines
    }
}
