//! Things as sentences: no signs, no columns, each on a line of its own, so that they are heard as they are meant.

use std::io::{self, Write};

use crate::gate::GateResult;
use crate::model::{
    Branch, BranchId, Effect, HEAD_CHARS, RunStatus, Step, StepHead, StepKind, TOLD, Tally, clean,
    clean_line,
};
use crate::store::Unsent;

/// Where it is said: whole lines, one after the other, and nothing that acts on a terminal.
pub struct Voice {
    sink: Box<dyn Write>,
}

impl Voice {
    /// Speaks into this.
    #[must_use]
    pub fn new(sink: impl Write + 'static) -> Self {
        Self {
            sink: Box::new(sink),
        }
    }

    /// One line, or as many as the text has.
    pub fn say(&mut self, text: &str) -> io::Result<()> {
        for line in clean(text).lines() {
            writeln!(self.sink, "{}", line.trim_end())?;
        }
        self.sink.flush()
    }

    /// What stands before a person's line.
    pub fn prompt(&mut self) -> io::Result<()> {
        write!(self.sink, "dover> ")?;
        self.sink.flush()
    }
}

/// Who speaks, to whom, and as what.
pub fn speaker(agent: &str, kind: StepKind, to: Option<&str>) -> String {
    let kind = kind.name().replace('_', " ");
    let to = to.map_or_else(String::new, |to| format!(" to {to}"));
    clean_line(&format!("{agent}{to}, {kind}")).into_owned()
}

/// A step of a list, with its number before it.
pub fn head(head: &StepHead) -> String {
    let failed = if head.error {
        ", reports a failure"
    } else {
        ""
    };
    let who = speaker(&head.agent, head.kind, head.to.as_deref());
    // A ledger's gist has its parts between points, which would be spelled out.
    let text = match head.kind {
        StepKind::Ledger => head.head.replace(" · ", ", "),
        _ => head.head.clone(),
    };
    let cut = if text.chars().count() >= HEAD_CHARS {
        "… goes on"
    } else {
        ""
    };
    format!("{}. {who}{failed}: {}{cut}", head.index, clean_line(&text))
}

/// A step in full; its text begins on a line of its own.
pub fn step(step: &Step) -> String {
    let who = speaker(&step.agent, step.kind, step.to.as_deref());
    let kept = step.meta.tool.as_ref().is_some_and(|tool| tool.from_record);
    let kept = if kept {
        " From the record, not repeated."
    } else {
        ""
    };
    format!("Step {}. {who}.{kept}\n{}", step.index, step.text)
}

/// What became of a branch, after its name.
pub fn branch(branch: &Branch) -> String {
    let mut parts = vec![branch.run.name().to_owned()];
    if branch.diagnostic {
        parts.push("diagnostic".to_owned());
    }
    parts.extend(branch.gate.map(|gate| gate.name().replace('_', " ")));
    parts.push(answer(branch).to_owned());
    parts.extend(branch.fulfilled.map(|done| {
        let word = if done {
            "edit carried out"
        } else {
            "edit not carried out"
        };
        word.to_owned()
    }));
    if branch.told {
        parts.push(TOLD.to_owned());
    }
    if let Some(Tally { before, after, of }) = branch.milestones {
        let was = branch
            .parent
            .is_some()
            .then(|| format!(", before {before}"));
        parts.push(format!(
            "{after} of {of} milestones{}",
            was.unwrap_or_default()
        ));
    }
    parts.retain(|part| !part.is_empty());
    let from = match (&branch.parent, branch.fork_step) {
        (Some(parent), Some(step)) => format!(" of {} at step {step}", parent.name()),
        _ => String::new(),
    };
    let told = branch
        .answer
        .as_ref()
        .map(|answer| format!("Answer: {answer}"));
    let reason = branch
        .reason
        .clone()
        .filter(|_| branch.run != RunStatus::Done);
    let told: Vec<String> = told.into_iter().chain(reason).collect();
    let name = branch.id.name();
    let line = format!("{name}{from}: {}. {}", parts.join(", "), told.join(" "));
    clean_line(line.trim_end()).into_owned()
}

/// What the verifier says of the answer.
pub fn answer(branch: &Branch) -> &'static str {
    match branch.success {
        Some(true) => "right answer",
        Some(false) if branch.answer.is_none() => "no answer",
        Some(false) => "wrong answer",
        None if branch.run.is_over() && branch.run != RunStatus::Held => "not judged",
        None => "",
    }
}

/// A gate with what it found; the evidence only where it does not hold.
pub fn gate(gate: &GateResult) -> Vec<String> {
    let word = match gate.holds {
        Some(true) => "holds",
        Some(false) => "does not hold",
        None => "comes after the run",
    };
    let mut lines = vec![format!(
        "Gate {} {} {word}: {}",
        gate.number, gate.name, gate.found
    )];
    if gate.holds == Some(false) {
        lines.extend(
            gate.details
                .iter()
                .map(|detail| format!("Evidence: {detail}")),
        );
        lines.extend(gate.mend.iter().map(|mend| format!("To mend it: {mend}")));
    }
    lines
}

/// An edit that was not sent, and what can be done with it.
pub fn unsent(edit: &Unsent, here: &BranchId, operator: &str) -> String {
    let by = if edit.operator == operator {
        String::new()
    } else {
        format!(" by {}", clean_line(&edit.operator))
    };
    let (step, branch) = (edit.step, edit.branch.name());
    if edit.branch == *here {
        return format!(
            "An edit of step {step}{by} was not sent: fork {step} takes it to the gates, edit {step} says it."
        );
    }
    format!("An edit of step {step} of {branch}{by} was not sent: show {branch}, then fork {step}.")
}

/// An effect with its place.
pub fn effect(effect: &Effect) -> String {
    let why = effect
        .evidence
        .as_ref()
        .map_or_else(String::new, |why| format!(" ({why})"));
    format!(
        "{}, by {} at step {}, {}: {}{why}",
        effect.operation_key,
        effect.tool,
        effect.step,
        effect.class.name().replace('_', " "),
        effect.state.name()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_one_line_without_signs() {
        let told = head(&StepHead {
            index: 18,
            agent: "Orchestrator".into(),
            kind: StepKind::Instruction,
            to: Some("WebSurfer".into()),
            head: "Click\u{1b}[31m '2015'\nnow".into(),
            len: 20,
            error: false,
        });
        assert_eq!(
            told,
            "18. Orchestrator to WebSurfer, instruction: Click␛[31m '2015'⏎now"
        );
    }
}
