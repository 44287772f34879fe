//! Why a step is suspected, in words that a person can act on, with the steps that speak for it.

use super::attribute::signs;
use super::look::{Look, Part};
use crate::analyst::Case;
use crate::model::{HEAD_CHARS, head_text};

/// Words of the log that a reason quotes, in characters.
const QUOTED: usize = 90;

/// The weight of what is sure about a step, the reason, and the evidence.
pub(super) fn of(case: &Case, looks: &[Look], look: &Look) -> (f64, String, Vec<usize>) {
    let owing = looks.iter().find(|other| other.owed_by == Some(look.index));
    let grounded = case.orchestrated() && look.part == Part::Worker;
    let sure = signs(look, owing.is_some(), case.orchestrated());
    let mut parts: Vec<String> = Vec::new();
    let mut evidence = vec![look.index];
    if look.misread {
        parts.push("it works with a fraction alone where the task adds it to the whole, or takes it from it".to_owned());
    }
    if let Some(other) = owing {
        parts.push(format!(
            "step {} fails because of what this one was to bring about: “{}”",
            other.index,
            quoted(case, other.index)
        ));
        evidence.push(other.index);
    }
    if look.recalls && grounded {
        parts.push(
            "it answers from memory or by a guess where something should have been looked up"
                .to_owned(),
        );
    }
    if look.failed {
        parts.push(format!("it failed: “{}”", quoted(case, look.index)));
    } else if look.regrets && look.part != Part::Output {
        parts.push("it says itself that something did not work".to_owned());
    }
    if let Some(source) = &look.unheeded {
        parts.push(format!(
            "it names {source} as a source, and nobody looked there"
        ));
    }
    if let Some(before) = look.repeats {
        parts.push(format!("it repeats step {before} with nothing new"));
        evidence.push(before);
    }
    if look.looped {
        parts.push("the ledger after it sees a loop".to_owned());
    } else if look.stuck {
        parts.push("the ledger after it sees no progress".to_owned());
    }
    if look.ran == Some(false) {
        parts.push("the program it wrote failed".to_owned());
    }
    if parts.is_empty() {
        parts.push(usual(case, look));
    }
    evidence.extend(look.told);
    evidence.sort_unstable();
    evidence.dedup();
    (sure, sentence(&parts), evidence)
}

/// What is said where nothing is sure.
fn usual(case: &Case, look: &Look) -> String {
    match look.part {
        Part::Worker if look.told.is_some() && look.overlap < 0.3 => {
            "its answer has little to do with what it was told to do".to_owned()
        }
        Part::Worker if look.code => "everything after it rests on the program it wrote, and nobody checked that".to_owned(),
        Part::Worker if case.orchestrated() => {
            "nothing in the trial fails openly; mistakes that decide a run are most often made in the first rounds of work, like this one".to_owned()
        }
        Part::Worker => "nothing fails openly; what was said here was taken on by all that followed".to_owned(),
        Part::Instruction => "nothing in the trial fails openly; what was asked here may be too vague".to_owned(),
        Part::Plan => "nothing in the trial fails openly; the plan itself may leave something out".to_owned(),
        Part::Answer => "the answer is given although nothing before it shows where it comes from".to_owned(),
        _ => "nothing fails openly; the run went on from here".to_owned(),
    }
}

/// The ability that a step says it lacks.
pub(super) fn lacks(look: &Look) -> Option<String> {
    look.lacks
        .as_ref()
        .map(|what| format!("it says that it cannot {}", head_text(what)))
}

fn quoted(case: &Case, step: usize) -> String {
    let text = case.steps.get(step).map_or("", |step| step.text.as_str());
    let head = head_text(text);
    if head.chars().count() <= QUOTED.min(HEAD_CHARS) {
        return head;
    }
    head.chars()
        .take(QUOTED)
        .chain(std::iter::once('…'))
        .collect()
}

fn sentence(parts: &[String]) -> String {
    let mut text = parts.join("; ");
    if let Some(first) = text.chars().next() {
        let upper: String = first.to_uppercase().collect();
        text.replace_range(..first.len_utf8(), &upper);
    }
    text.push('.');
    text
}
