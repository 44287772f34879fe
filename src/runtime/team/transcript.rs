//! Steps as chat messages: every step as it was, the speaker's own as `assistant`, the others' as `user` with their name in front.
//!
//! A conversation over its budget loses its oldest middle messages; the cut is remembered and told by the run as a `control` step, never silent.

use std::ops::Range;

use serde_json::{Value, json};

use crate::model::{Step, StepKind, ToolUse};

/// Who speaks for dover itself in a branch. Its notes are for the operator; no agent is shown them.
pub(super) const NOTES: &str = "dover";

/// Builds the conversation as one agent sees it.
pub(super) fn messages<'a>(
    system: &str,
    steps: impl Iterator<Item = &'a Step>,
    left_out: &Range<usize>,
    speaker: &str,
    cue: Option<&str>,
) -> Vec<Value> {
    let mut messages = vec![message("system", system)];
    for (at, step) in steps.enumerate() {
        if left_out.contains(&at) {
            if at == left_out.start {
                let gap = format!("[{} messages of the run are left out here]", left_out.len());
                messages.push(message("user", &gap));
            }
        } else if !is_note(step) {
            // What a tool answered is nobody's own words.
            messages.push(
                if step.agent == speaker && step.kind != StepKind::ToolResult {
                    message("assistant", &content(step))
                } else {
                    message("user", &format!("{}: {}", speaker_of(step), content(step)))
                },
            );
        }
    }
    messages.extend(cue.map(|cue| message("user", cue)));
    messages
}

/// Widens a cut so that what stays is at most three quarters of the budget, if it is over the budget now: the next cut is then some steps away.
/// The task and what stands beside it at the beginning, and the last step, always stay. Returns the new cut, if it had to grow.
pub(super) fn cut<'a>(
    steps: impl Iterator<Item = &'a Step>,
    left_out: &Range<usize>,
    budget: usize,
) -> Option<Range<usize>> {
    let mut sizes = Vec::new();
    let (mut opening, mut last) = (0, 0);
    for (at, step) in steps.enumerate() {
        if at == opening && step.kind == StepKind::Task {
            opening += 1;
        }
        if is_note(step) {
            sizes.push(0);
        } else {
            sizes.push(step.text.chars().count());
            last = at;
        }
    }
    let kept = |range: &Range<usize>| -> usize {
        let inside: usize = sizes.iter().take(range.end).skip(range.start).sum();
        sizes.iter().sum::<usize>() - inside
    };
    let start = opening.max(1);
    let mut wider = if left_out.is_empty() {
        start..start
    } else {
        left_out.clone()
    };
    let mut size = kept(&wider);
    if size <= budget {
        return None;
    }
    while size > budget / 4 * 3 && wider.end < last {
        size -= sizes.get(wider.end).copied().unwrap_or_default();
        wider.end += 1;
    }
    (wider != *left_out && !wider.is_empty()).then_some(wider)
}

/// Whether a step is a note of dover's.
pub(super) fn is_note(step: &Step) -> bool {
    step.kind == StepKind::Control && step.agent == NOTES
}

fn message(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

/// The name in front of another agent's words, with whom they address.
fn speaker_of(step: &Step) -> String {
    if let (StepKind::ToolResult, Some(tool)) = (step.kind, &step.meta.tool) {
        return format!("{} got from {}", step.agent, tool.name);
    }
    match &step.to {
        Some(to) => format!("{} -> {to}", step.agent),
        None => step.agent.clone(),
    }
}

/// The words themselves; endpoints refuse an empty message, so a step without words says what it is.
fn content(step: &Step) -> String {
    let bare_call = |tool: &ToolUse| tool.arguments.as_ref() == Some(&step.text);
    let bare_call =
        step.kind == StepKind::ToolCall && step.meta.tool.as_ref().is_some_and(bare_call);
    if !step.text.trim().is_empty() && !bare_call {
        return step.text.clone();
    }
    match &step.meta.tool {
        Some(tool) => format!(
            "[{} {} {}]",
            step.kind.name(),
            tool.name,
            tool.arguments.as_deref().unwrap_or_default()
        ),
        None => "[no text]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(sizes: &[usize]) -> Vec<Step> {
        let step = |(index, size): (usize, &usize)| Step {
            index,
            agent: "A".into(),
            kind: if index == 0 {
                StepKind::Task
            } else {
                StepKind::Message
            },
            text: "x".repeat(*size),
            ..Step::default()
        };
        sizes.iter().enumerate().map(step).collect()
    }

    #[test]
    fn cuts_the_oldest_middle_and_no_more() {
        // 5 × 10 characters against a budget of 40: three quarters, 30, are left when two steps are out.
        let five = steps(&[10; 5]);
        assert_eq!(cut(five.iter(), &(0..0), 50), None);
        assert_eq!(cut(five.iter(), &(0..0), 40), Some(1..3));
        // Once cut, there is room for one step more.
        let six = steps(&[10; 6]);
        assert_eq!(cut(six.iter(), &(1..3), 40), None);
        let seven = steps(&[10; 7]);
        assert_eq!(cut(seven.iter(), &(1..3), 40), Some(1..5));
    }

    #[test]
    fn the_task_and_the_last_step_stay_however_long() {
        let long = steps(&[100, 5, 5, 100]);
        assert_eq!(cut(long.iter(), &(0..0), 20), Some(1..3));
        assert_eq!(cut(steps(&[100]).iter(), &(0..0), 20), None);
        assert_eq!(cut(steps(&[100, 100]).iter(), &(0..0), 20), None);
        // A note behind the last step is nothing that is sent.
        let mut noted = long;
        noted.push(Step {
            agent: NOTES.into(),
            kind: StepKind::Control,
            text: "cut".into(),
            ..Step::default()
        });
        assert_eq!(cut(noted.iter(), &(1..3), 20), None);
    }

    #[test]
    fn notes_are_for_the_operator() {
        let note = Step {
            agent: NOTES.into(),
            kind: StepKind::Control,
            text: "cut".into(),
            ..Step::default()
        };
        let all = messages("s", [note].iter(), &(0..0), "A", Some("go"));
        let roles: Vec<_> = all.iter().map(|m| m["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user"]);
    }
}
