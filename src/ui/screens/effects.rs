//! What a branch left in the world: each effect with its key, its state and the evidence, and the commands that would ask.

use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Painter, plural};
use crate::app::effects::Effects;
use crate::app::extent::Pane;
use crate::model::{Effect, clean, clean_line};
use crate::ui::glyph::Glyph;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::hanging;

impl Painter<'_> {
    pub(super) fn effects(&mut self, effects: &Effects, area: Rect) {
        let left = format!(
            "{} {} still true in the world from step {}",
            clean_line(effects.branch.as_str()),
            Glyph::CURSOR.show(self.charset),
            effects.step
        );
        let open = effects.list().iter().filter(|effect| effect.blocks());
        let right = match &effects.left {
            Some(Ok(_)) => Line::styled(
                format!(
                    "{}, {} open",
                    plural(effects.list().len(), "effect"),
                    open.count()
                ),
                self.theme.style(Role::Text),
            ),
            _ => Line::default(),
        };
        let areas = self.frame(area, &left, right, true);
        self.effects_status(effects, areas.info);
        let body = Rect {
            width: areas.body.width.saturating_sub(1),
            ..areas.body
        };
        let mut lines = Vec::new();
        let mut chosen = 0..0;
        let mut items = Vec::new();
        for (place, effect) in effects.list().iter().enumerate() {
            let from = lines.len();
            let selected = place == effects.selected;
            lines.extend(self.effect_rows(effects, effect, selected, body.width));
            items.push(from..lines.len());
            if selected {
                chosen = from..lines.len();
            }
        }
        match &effects.left {
            None => lines.extend(self.said("reading…", Role::Muted, body.width)),
            Some(Err(fault)) => lines.extend(self.said(&clean(fault), Role::Error, body.width)),
            Some(Ok(left)) if left.effects.is_empty() => {
                let text = format!(
                    "Nothing is left in the world from step {} on: no tool call of this branch changed anything outside. \
                     A fork here has nothing to settle.",
                    effects.step
                );
                lines.extend(self.said(&text, Role::Muted, body.width));
            }
            Some(Ok(_)) => {}
        }
        if effects.shown && !effects.commands().is_empty() {
            lines.push(Line::default());
            let base = self.app.open.as_ref();
            let dir = base.and_then(|open| open.session.base_dir.as_ref());
            let place = dir.map_or(String::new(), |dir| format!(" in {}", dir.display()));
            let head = self
                .app
                .spell(&format!("‹reconcile› runs these commands{place}:"));
            let from = lines.len();
            lines.extend(self.said(&clean_line(&head), Role::Warn, body.width));
            for command in effects.commands() {
                let words = command.join(" ");
                lines.extend(self.said(
                    &format!("  {}", clean_line(&words)),
                    Role::Text,
                    body.width,
                ));
            }
            // What is about to run is in sight.
            chosen = from..lines.len();
        }
        let height = usize::from(body.height);
        let last = chosen.end.saturating_sub(1);
        self.window(Pane::Effects, lines.len(), height, last);
        self.window(Pane::Effects, lines.len(), height, chosen.start);
        self.lines(Pane::Effects, &lines, body);
        self.items(Pane::Effects, &items, body);
    }

    fn said(&self, text: &str, role: Role, width: u16) -> Vec<Line<'static>> {
        hanging(
            vec![Span::raw(" ")],
            Passage::plain(text, role),
            width,
            self.theme,
        )
    }

    /// An effect: where it came from and where it stands, then its key with the evidence, and why asking changed nothing.
    fn effect_rows(
        &self,
        effects: &Effects,
        effect: &Effect,
        selected: bool,
        width: u16,
    ) -> Vec<Line<'static>> {
        let theme = self.theme;
        let (sign, role) = if effect.blocks() {
            (Glyph::HOLD, Role::GateHold)
        } else {
            (Glyph::DONE, Role::GatePass)
        };
        let cursor = if selected {
            Glyph::CURSOR.show(self.charset)
        } else {
            " "
        };
        let head = vec![
            Span::styled(format!(" {cursor} "), theme.style(Role::Accent)),
            Span::styled(format!("{} ", sign.show(self.charset)), theme.style(role)),
        ];
        let name = if selected { Role::Accent } else { Role::Title };
        let mut first = Passage::plain(&format!("step {:<4} ", effect.step), Role::Muted);
        first.push(&clean_line(&effect.tool), name);
        first.push(&format!(" ({})  ", class_word(effect)), Role::Muted);
        first.push(effect.state.name(), role);
        let mut lines = hanging(head, first, width, theme);
        let below = |passage| hanging(vec![Span::raw("     ")], passage, width, theme);
        let mut second = Passage::plain(&clean_line(&effect.operation_key), Role::Text);
        let evidence = effect.evidence.as_deref().unwrap_or("no evidence yet");
        second.push(&format!(": {}", clean_line(evidence)), Role::Muted);
        lines.extend(below(second));
        if let Some(why) = effects.failed.get(&effect.operation_key) {
            let text = format!("asked, and it stays as it was: {}", clean_line(why));
            lines.extend(below(Passage::plain(&text, Role::Warn)));
        }
        lines
    }

    fn effects_status(&mut self, effects: &Effects, area: Rect) {
        let open = effects.list().iter().any(Effect::blocks);
        let (text, role) = if effects.asking {
            ("asking the destinations…", Role::Muted)
        } else if effects.left.is_none() {
            ("", Role::Muted)
        } else if effects.shown && !effects.commands().is_empty() {
            (
                "‹reconcile› once more runs the commands above; any way out leaves all as it is",
                Role::Warn,
            )
        } else if open {
            (
                "open: a fork before it is held until each is settled, by ‹reconcile›, ‹keep› or ‹undone›",
                Role::GateHold,
            )
        } else {
            ("nothing is open", Role::Text)
        };
        let text = self.app.spell(text);
        Line::styled(format!(" {text}"), self.theme.style(role)).render(area, self.buf);
    }
}

/// The class as a word for a person.
fn class_word(effect: &Effect) -> &'static str {
    use crate::model::EffectClass::{Compensable, Idempotent, Permanent, ReadOnly, Unknown};
    match effect.class {
        ReadOnly => "read only",
        Idempotent => "idempotent",
        Compensable => "compensable",
        Permanent => "permanent",
        Unknown => "unknown",
    }
}
