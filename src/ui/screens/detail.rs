//! A step in full: its text wrapped, JSON laid out, and what else the log says of it.

use ratatui::layout::Rect;

use super::session::under_title;
use super::{Painter, TextId};
use crate::app::extent::Pane;
use crate::app::session::{Focus, Open};
use crate::model::{Step, clean, clean_line, trial_of};
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::Glyphs;

impl Painter<'_> {
    pub(super) fn detail(&mut self, open: &Open, area: Rect, titled: bool) {
        let (head, rest) = under_title(area);
        let step = open.step();
        let focused = open.focus == Focus::Detail;
        if titled {
            let text = match step {
                Some(step) => heading(step, self.glyphs),
                None => format!("step {}", open.selected),
            };
            let trial = trial_of(&open.steps.trials, open.selected)
                .map(|trial| format!("trial {}", trial.index));
            self.title(&text, trial.as_deref().unwrap_or_default(), focused, head);
        }
        let body = Rect {
            x: rest.x + 1.min(rest.width),
            width: rest.width.saturating_sub(2),
            ..rest
        };
        let glyphs = self.glyphs;
        match (step, open.detail.as_ref()) {
            (Some(step), _) => {
                let id = TextId::Detail(open.branch.id.clone(), step.index);
                let revision = u64::from(open.pretty);
                self.text(Pane::Detail, id, revision, body, || {
                    whole(open, step, glyphs)
                });
            }
            (None, Some((index, view))) if *index == open.selected => {
                let fault = view
                    .step
                    .as_ref()
                    .err()
                    .map_or("", String::as_str)
                    .to_owned();
                self.text(
                    Pane::Detail,
                    TextId::Notice,
                    super::revision(&[&fault]),
                    body,
                    || Passage::plain(&clean(&fault), Role::Error),
                );
            }
            _ => {}
        }
    }
}

/// `step 16 · instruction · Orchestrator → WebSurfer`.
pub(super) fn heading(step: &Step, glyphs: Glyphs) -> String {
    let kind = step.kind.name().replace('_', " ");
    let mut text = format!(
        "step {} {dot} {kind} {dot} {}",
        step.index,
        clean_line(&step.agent),
        dot = glyphs.dot()
    );
    if let Some(to) = &step.to {
        text = format!("{text} {} {}", glyphs.to(), clean_line(to));
    }
    text
}

fn whole(open: &Open, step: &Step, glyphs: Glyphs) -> Passage {
    let mut passage = Passage::default();
    for label in open
        .session
        .annotations
        .iter()
        .filter(|label| label.step == Some(step.index))
    {
        let text = format!(
            "{} label: {} = {}",
            glyphs.flag(),
            clean_line(&label.name),
            clean(&label.value)
        );
        passage.push(&text, Role::Warn);
        passage.push("  (the data set's word, not evidence)\n", Role::Muted);
    }
    for milestone in open.milestones_at(step.index) {
        let title = open
            .session
            .milestones
            .get(milestone - 1)
            .map_or("", |m| &m.title);
        let text = format!(
            "{} milestone {milestone}: {}\n",
            glyphs.star(),
            clean_line(title)
        );
        passage.push(&text, Role::MilestoneReached);
    }
    if step.meta.error {
        let text = format!("{} this step reports a failure\n", glyphs.cross());
        passage.push(&text, Role::Error);
    }
    if !passage.text().is_empty() {
        passage.push("\n", Role::Text);
    }
    if let Some(tool) = &step.meta.tool {
        passage.push(
            &format!("tool {}", clean_line(&tool.name)),
            Role::Kind(step.kind),
        );
        if tool.failed {
            passage.push(&format!("  {} failed", glyphs.cross()), Role::Error);
        }
        passage.push("\n", Role::Text);
        if let Some(arguments) = &tool.arguments {
            push_text(&mut passage, arguments, open.pretty);
            passage.push("\n", Role::Text);
        }
        passage.push("\n", Role::Text);
    }
    if step.text.is_empty() {
        passage.push("(no text)", Role::Muted);
    } else {
        push_text(&mut passage, &step.text, open.pretty);
    }
    let known = [("learned", &step.meta.facts), ("read", &step.meta.pages)];
    for (word, names) in known.into_iter().filter(|(_, names)| !names.is_empty()) {
        passage.push(
            &format!("\n\n{word}: {}", clean_line(&names.join(", "))),
            Role::Muted,
        );
    }
    if let Some(time) = &step.meta.time {
        passage.push(&format!("\n\nat {}", clean_line(time)), Role::Muted);
    }
    passage
}

/// The text, with the JSON value in it laid out if there is one and that is wanted.
fn push_text(passage: &mut Passage, text: &str, pretty: bool) {
    let json = if pretty { find_json(text) } else { None };
    let Some((before, value, after)) = json else {
        passage.push(&clean(text), Role::Text);
        return;
    };
    passage.push(&clean(before), Role::Text);
    if !before.is_empty() && !before.ends_with('\n') {
        passage.push("\n", Role::Text);
    }
    push_json(passage, &value, 0);
    passage.push(&clean(after), Role::Text);
}

/// The JSON object at the first brace or bracket of a text, and what surrounds it.
fn find_json(text: &str) -> Option<(&str, serde_json::Value, &str)> {
    let start = text.find(['{', '['])?;
    let (before, rest) = text.split_at(start);
    let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
    let value = stream.next()?.ok()?;
    let after = rest.get(stream.byte_offset()..)?;
    let members = value.as_object().map_or(0, serde_json::Map::len);
    (members > 0).then_some((before, value, after))
}

fn push_json(passage: &mut Passage, value: &serde_json::Value, depth: usize) {
    use serde_json::Value;
    let indent = "  ".repeat(depth + 1);
    let end = "  ".repeat(depth);
    match value {
        Value::Object(members) if !members.is_empty() => {
            passage.push("{\n", Role::Muted);
            for (i, (name, member)) in members.iter().enumerate() {
                passage.push(&format!("{indent}{}", clean_line(name)), Role::Accent);
                passage.push(": ", Role::Muted);
                push_json(passage, member, depth + 1);
                passage.push(
                    if i + 1 < members.len() { ",\n" } else { "\n" },
                    Role::Muted,
                );
            }
            passage.push(&format!("{end}}}"), Role::Muted);
        }
        Value::Array(items) if !items.is_empty() => {
            passage.push("[\n", Role::Muted);
            for (i, item) in items.iter().enumerate() {
                passage.push(&indent, Role::Muted);
                push_json(passage, item, depth + 1);
                passage.push(if i + 1 < items.len() { ",\n" } else { "\n" }, Role::Muted);
            }
            passage.push(&format!("{end}]"), Role::Muted);
        }
        Value::String(text) => passage.push(&clean(text), Role::Text),
        other => passage.push(
            &other.to_string(),
            Role::Kind(crate::model::StepKind::ToolCall),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lays_out_json_and_leaves_what_is_none() {
        let mut passage = Passage::default();
        push_text(
            &mut passage,
            "Updated Ledger:\n{\"done\": {\"answer\": false}, \"next\": []}",
            true,
        );
        assert_eq!(
            passage.text(),
            "Updated Ledger:\n{\n  done: {\n    answer: false\n  },\n  next: []\n}"
        );
        for text in ["{broken", "no json", "a {} b {"] {
            let mut passage = Passage::default();
            push_text(&mut passage, text, true);
            assert_eq!(passage.text().replace('\n', " "), text.replace('\n', " "));
        }
    }
}
