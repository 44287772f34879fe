//! A step in full: its text wrapped, JSON laid out, and what else the log says of it.

use ratatui::layout::Rect;

use super::session::under_title;
use super::{Painter, TextId};
use crate::app::extent::Pane;
use crate::app::session::{Focus, Open};
use crate::model::{Step, clean, clean_line, reports_failure, trial_of};
use crate::ui::glyph::{Charset, Glyph};
use crate::ui::json;
use crate::ui::passage::Passage;
use crate::ui::role::Role;
use crate::ui::widgets::dot;

impl Painter<'_> {
    pub(super) fn detail(&mut self, open: &Open, area: Rect, titled: bool) {
        let (head, rest) = under_title(area);
        let step = open.step();
        let focused = open.focus == Focus::Detail;
        if titled {
            let text = match step {
                Some(step) => heading(step, self.charset),
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
        let charset = self.charset;
        match (step, open.detail.as_ref()) {
            (Some(step), _) => {
                let id = TextId::Detail(open.branch.id.clone(), step.index);
                let hide = self.app.hide.labels;
                let revision = u64::from(open.pretty) + 2 * u64::from(hide);
                self.text(Pane::Detail, id, revision, body, || {
                    whole(open, step, hide, charset)
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
pub(super) fn heading(step: &Step, charset: Charset) -> String {
    let kind = step.kind.name().replace('_', " ");
    let mut text = format!(
        "step {} {dot} {kind} {dot} {}",
        step.index,
        clean_line(&step.agent),
        dot = dot(charset)
    );
    if let Some(to) = &step.to {
        text = format!("{text} {} {}", Glyph::TO.show(charset), clean_line(to));
    }
    text
}

fn whole(open: &Open, step: &Step, hide_labels: bool, charset: Charset) -> Passage {
    let mut passage = Passage::default();
    for label in open
        .session
        .annotations
        .iter()
        .filter(|label| label.step == Some(step.index) && !hide_labels)
    {
        let text = format!(
            "{} label: {} = {}",
            Glyph::HYPOTHESIS.show(charset),
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
            Glyph::MILESTONE.show(charset),
            clean_line(title)
        );
        passage.push(&text, Role::MilestoneReached);
    }
    if step.meta.tool.as_ref().is_some_and(|tool| tool.from_record) {
        let text = "answered from the record: the call was not repeated\n";
        passage.push(text, Role::Warn);
    }
    for edit in &step.meta.live_edits {
        let (by, of) = (clean_line(&edit.by), clean_line(&edit.of));
        let text = format!("{by} {} while it ran: {of}\n", edit.op.done());
        passage.push(&text, Role::Warn);
        if let Some(before) = &edit.before {
            passage.push(&format!("  before: {}\n", clean(before)), Role::Muted);
        }
    }
    let told = step.meta.tool.as_ref().is_some_and(|tool| tool.failed);
    if !told && reports_failure(step) {
        let text = format!(
            "{} this step reports a failure\n",
            Glyph::FAIL.show(charset)
        );
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
            passage.push(
                &format!("  {} failed", Glyph::FAIL.show(charset)),
                Role::Error,
            );
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

/// The text, its JSON laid out if that is wanted.
fn push_text(passage: &mut Passage, text: &str, pretty: bool) {
    let text = clean(text);
    if !pretty {
        passage.push(&text, Role::Text);
        return;
    }
    let laid_out = json::passage(&text);
    for (part, look) in laid_out.parts(0..laid_out.text().len()) {
        passage.push(part, look);
    }
}
