//! What the test model server says to an analyst's questions, computed from the question alone: the suspected step is the last one by a
//! worker that says something failed, else the last by a worker; the new text is the old one with the failure's own words added.
//!
//! | model | what happens |
//! |---|---|
//! | `prose` | words without an object, always |
//! | `fenced` | the object in a fence with words around it |
//! | `text-index` | the step as text |
//! | `outside`, `outside-then-ok` | a step far outside |
//! | `german` | a reason in another language |
//! | `formless` | refuses `response_format` |

use serde_json::{Value, json};

/// One step as a question shows it.
struct Shown {
    index: usize,
    agent: String,
    kind: String,
    text: String,
}

/// The answer to an analyst's question; none if it is none.
pub fn answer(body: &Value, mode: &str, again: bool) -> Option<String> {
    let system = body["messages"][0]["content"].as_str()?;
    let question = body["messages"][1]["content"].as_str()?;
    let steps = shown(question);
    let object = if system.contains("decisive mistake in one trial") {
        attribute(&steps, mode, again)?
    } else if system.contains("rewrite one message") {
        intervene(question)
    } else if system.contains("name at most five milestones") {
        json!({"milestones": [{"title": "Something was found", "text": null}]})
    } else if system.contains("which milestones") {
        let found = steps
            .iter()
            .find(|step| step.kind == "message" && step.text.contains("found"));
        json!({"reached": [{"number": 1, "step": found.map(|step| step.index)}]})
    } else if system.contains("did what a rewritten message asked") {
        json!({"fulfilled": !steps.is_empty(), "reason": "they went on"})
    } else if system.contains("into trials") {
        json!({"starts": steps.iter().filter(|step| step.kind == "plan").map(|step| step.index).collect::<Vec<_>>()})
    } else {
        return None;
    };
    Some(match mode {
        "prose" => "I believe that something went wrong early on.".to_owned(),
        "fenced" => format!("Here is what I found:\n```json\n{object}\n```\nI hope this helps."),
        _ => object.to_string(),
    })
}

fn attribute(steps: &[Shown], mode: &str, again: bool) -> Option<Value> {
    let worked = || {
        steps
            .iter()
            .rev()
            .filter(|step| step.kind == "message" || step.kind == "tool_result")
    };
    let failed =
        worked().find(|step| step.text.contains("no control") || step.text.contains("nothing"));
    let step = failed.or_else(|| worked().next())?;
    let index = match mode {
        "outside" if !again => json!(9999),
        "text-index" => json!(step.index.to_string()),
        _ => json!(step.index),
    };
    let reason = if mode == "german" {
        "Hier ging es schief: der Schritt brachte nichts."
    } else {
        "It brought nothing."
    };
    Some(
        json!({"step": index, "agent": step.agent, "reason": reason, "evidence": [step.index], "capability": null}),
    )
}

/// The first message that may be rewritten, with what the suspicion says.
fn intervene(question: &str) -> Value {
    let places = question
        .split_once("Messages that could be rewritten:")
        .map_or("", |(_, rest)| rest);
    let (name, rest) = places
        .trim_start()
        .split_once(", step ")
        .unwrap_or(("instruction", ""));
    let old = rest.split_once(":\n").map_or("", |(_, text)| text);
    let old = old
        .split("\n\nplan, step")
        .next()
        .unwrap_or_default()
        .trim();
    let shown = shown(question);
    let last = shown
        .iter()
        .rev()
        .find(|step| step.text.contains("Controls shown"));
    let hint = last.map_or("Take another way.".to_owned(), |step| {
        format!("Mind what was seen: {}", step.text)
    });
    json!({"target": name, "text": format!("{old} {hint}")})
}

/// The steps of a question: `[index] agent (kind to X): text`.
fn shown(question: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    for line in question.lines() {
        let parsed = (|| {
            let (index, rest) = line.strip_prefix('[')?.split_once("] ")?;
            let (agent, rest) = rest.split_once(" (")?;
            let (kind, text) = rest.split_once("): ")?;
            Some(Shown {
                index: index.parse().ok()?,
                agent: agent.to_owned(),
                kind: kind.split(' ').next()?.to_owned(),
                text: text.to_owned(),
            })
        })();
        match (parsed, found.last_mut()) {
            (Some(step), _) => found.push(step),
            (None, Some(last)) => {
                last.text.push('\n');
                last.text.push_str(line);
            }
            (None, None) => {}
        }
    }
    found
}
