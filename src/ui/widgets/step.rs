//! A step as one row of a list.

use ratatui::text::{Line, Span};

use super::{fit, fitted, width_of};
use crate::model::{Session, StepHead, StepKind, clean_line};
use crate::ui::glyph::{Charset, Glyph};
use crate::ui::role::Role;
use crate::ui::theme::Theme;

/// What a list knows of its steps beside their heads.
#[derive(Clone, Copy)]
pub struct StepLook<'a> {
    /// For agents' colours and signs.
    pub session: &'a Session,
    /// Colours.
    pub theme: &'a Theme,
    /// Signs.
    pub charset: Charset,
    /// Cells of the step number.
    pub number: usize,
    /// Cells of the agent's name; 0 leaves it out.
    pub agent: usize,
    /// Cells of the kind or recipient.
    pub kind: usize,
}

impl<'a> StepLook<'a> {
    /// Columns that suit a width and a number of steps.
    #[must_use]
    pub fn new(
        session: &'a Session,
        theme: &'a Theme,
        charset: Charset,
        width: u16,
        steps: usize,
    ) -> Self {
        let number = steps.saturating_sub(1).to_string().len().max(3);
        let longest = session
            .agents
            .iter()
            .map(|agent| width_of(&clean_line(&agent.name)))
            .max();
        let most = match width {
            0..45 => 0,
            45..100 => 12,
            _ => 18,
        };
        let kind = match width {
            0..30 => 0,
            30..75 => 11,
            _ => 13,
        };
        Self {
            session,
            theme,
            charset,
            number,
            agent: longest.unwrap_or(most).clamp(9, 18).min(most),
            kind,
        }
    }

    /// The role of an agent.
    #[must_use]
    pub fn role(&self, agent: &str) -> Role {
        let place = self
            .session
            .agents
            .iter()
            .position(|known| known.name == agent);
        Role::agent(place.unwrap_or(self.session.agents.len()))
    }

    /// The kind, or for a step that addresses an agent the recipient.
    #[must_use]
    pub fn kind(&self, head: &StepHead) -> String {
        match &head.to {
            Some(to) if matches!(head.kind, StepKind::Instruction | StepKind::Message) => {
                format!("{} {}", Glyph::TO.show(self.charset), clean_line(to))
            }
            _ => head.kind.name().replace('_', " "),
        }
    }
}

/// The sign of an agent: who gives the task, who orchestrates, who works.
fn agent_sign(charset: Charset, session: &Session, name: &str) -> &'static str {
    let human = ["human", "user", "user_proxy", "operator"];
    let glyph = if session.orchestrator.as_deref() == Some(name) {
        Glyph::ORCHESTRATOR
    } else if human.contains(&name.to_lowercase().as_str()) {
        Glyph::HUMAN
    } else {
        Glyph::AGENT
    };
    glyph.show(charset)
}

/// A step's row of `width` cells: number, agent, kind, the beginning of its text, and marks at the right end.
#[must_use]
pub fn step_line(
    head: &StepHead,
    look: StepLook<'_>,
    marks: Line<'static>,
    width: usize,
) -> Line<'static> {
    let theme = look.theme;
    let agent = theme.style(look.role(&head.agent));
    let mut spans = vec![
        Span::styled(
            format!("{:>1$} ", head.index, look.number),
            theme.style(Role::Muted),
        ),
        Span::styled(
            format!("{} ", agent_sign(look.charset, look.session, &head.agent)),
            agent,
        ),
    ];
    if look.agent > 0 {
        spans.push(Span::styled(
            fitted(&clean_line(&head.agent), look.agent) + " ",
            agent,
        ));
    }
    if look.kind > 0 {
        spans.push(Span::styled(
            fitted(&look.kind(head), look.kind) + " ",
            theme.style(Role::Kind(head.kind)),
        ));
    }
    if head.error {
        spans.push(Span::styled(
            format!("{} ", Glyph::FAIL.show(look.charset)),
            theme.style(Role::Error),
        ));
    }
    let used: usize = spans.iter().map(Span::width).sum();
    let marked = marks.width();
    let room = width.saturating_sub(used + if marked > 0 { marked + 1 } else { 0 });
    let text = clean_line(&head.head);
    let role = match head.kind {
        StepKind::Ledger | StepKind::Thought | StepKind::Control => Role::Kind(head.kind),
        _ => Role::Text,
    };
    let text = if marked > 0 {
        fitted(&text, room) + " "
    } else {
        fit(&text, room)
    };
    spans.push(Span::styled(text, theme.style(role)));
    spans.extend(marks.spans);
    Line::from(spans)
}
