//! The orchestrator's two ledgers: the task ledger is its `plan` step (facts and plan), the progress ledger its `ledger` step (JSON).
//!
//! Invariant: what the orchestrator does next follows from the steps alone, so a run that is taken up again stands where it stood.

use serde_json::Value;

use crate::model::{Step, StepKind};

/// So many stalls make a new plan; progress takes one back, as Magentic-One counts.
const MAX_STALLS: usize = 3;

/// A progress ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ledger {
    /// The task is solved.
    pub satisfied: bool,
    /// The same is done again and again.
    pub in_loop: bool,
    /// The last steps led on.
    pub progress: bool,
    /// Who is next, as the ledger writes it.
    pub speaker: Option<String>,
    /// What they are told.
    pub instruction: Option<String>,
}

/// What an orchestrator has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Fill in the progress ledger.
    Turn,
    /// Write the task ledger, for the first time or anew.
    Plan,
    /// State the answer.
    Final,
    /// Nothing to think of: the ledger has said it.
    Instruct(String, String),
}

/// Reads a progress ledger out of a text: the first JSON object that has a field of one. Each field may be a value or `{reason, answer}`.
pub(super) fn read(text: &str) -> Option<Ledger> {
    let object = text.match_indices('{').find_map(|(at, _)| {
        let rest = text.get(at..)?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let value = values.next()?.ok()?;
        value.get("is_request_satisfied").is_some().then_some(value)
    })?;
    let field = |name: &str| {
        let value = object.get(name)?;
        Some(value.get("answer").unwrap_or(value).clone())
    };
    let truth = |name: &str| field(name).and_then(|value| truth(&value));
    let words = |name: &str| {
        let value = field(name)?;
        let text = value.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    Some(Ledger {
        satisfied: truth("is_request_satisfied").unwrap_or(false),
        in_loop: truth("is_in_loop").unwrap_or(false),
        progress: truth("is_progress_being_made").unwrap_or(true),
        speaker: words("next_speaker"),
        instruction: words("instruction_or_question").or_else(|| words("instruction")),
    })
}

/// A truth value, also one that a model put in quotes.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => text.trim().to_lowercase().parse().ok(),
        _ => None,
    }
}

/// What the orchestrator has to do after these steps.
pub(super) fn need<'a>(
    steps: impl DoubleEndedIterator<Item = &'a Step> + Clone,
    leader: &str,
    agents: &[String],
) -> Need {
    let Some(last) = steps.clone().next_back() else {
        return Need::Plan;
    };
    if steps.clone().all(|step| step.kind == StepKind::Task) {
        return Need::Plan;
    }
    let of_leader = last.kind == StepKind::Ledger && last.agent == leader;
    let Some(ledger) = of_leader.then(|| read(&last.text)).flatten() else {
        return Need::Turn;
    };
    if ledger.satisfied {
        return Need::Final;
    }
    if stalls(steps) >= MAX_STALLS {
        return Need::Plan;
    }
    let named = ledger.speaker.and_then(|speaker| {
        let same = |agent: &&String| agent.to_lowercase() == speaker.to_lowercase();
        agents.iter().find(same)
    });
    match (named, ledger.instruction) {
        (Some(agent), Some(instruction)) => Need::Instruct(agent.clone(), instruction),
        _ => Need::Turn,
    }
}

/// The stall count: every ledger without progress or in a loop adds one, every other takes one back, a plan begins anew.
pub(super) fn stalls<'a>(steps: impl Iterator<Item = &'a Step>) -> usize {
    steps.fold(0, |count: usize, step| match step.kind {
        StepKind::Plan => 0,
        StepKind::Ledger => match read(&step.text) {
            Some(ledger) if ledger.in_loop || !ledger.progress => count + 1,
            Some(_) => count.saturating_sub(1),
            None => count,
        },
        _ => count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(kind: StepKind, text: &str) -> Step {
        Step {
            agent: "Lead".into(),
            kind,
            text: text.into(),
            ..Step::default()
        }
    }

    fn ledger(satisfied: bool, progress: bool) -> Step {
        let text = serde_json::json!({
            "is_request_satisfied": {"reason": "r", "answer": satisfied},
            "is_in_loop": {"answer": false}, "is_progress_being_made": {"answer": progress},
            "next_speaker": {"answer": "web"}, "instruction_or_question": {"answer": "Look."},
        });
        step(
            StepKind::Ledger,
            &format!("Here:\n```json\n{text}\n```\nThat is all."),
        )
    }

    #[test]
    fn reads_flat_quoted_and_fenced_ledgers() {
        let flat = r#"{"is_request_satisfied": "True", "is_in_loop": false, "next_speaker": "A", "instruction": " x "}"#;
        let read_flat = read(flat).unwrap();
        assert!(read_flat.satisfied && read_flat.progress && !read_flat.in_loop);
        assert_eq!(read_flat.instruction.as_deref(), Some("x"));
        assert!(!read(&ledger(false, false).text).unwrap().progress);
        for none in ["", "{", "{}", "{\"a\": 1} text", "prose"] {
            assert_eq!(read(none), None, "{none}");
        }
    }

    #[test]
    fn the_steps_say_what_is_next() {
        let agents = ["Web".to_owned()];
        let next = |steps: &[Step]| need(steps.iter(), "Lead", &agents);
        let (task, plan) = (step(StepKind::Task, "t"), step(StepKind::Plan, "p"));
        assert_eq!(next(std::slice::from_ref(&task)), Need::Plan);
        assert_eq!(next(&[task.clone(), plan.clone()]), Need::Turn);
        let good = ledger(false, true);
        let instruct = Need::Instruct("Web".into(), "Look.".into());
        assert_eq!(next(&[task.clone(), plan.clone(), good.clone()]), instruct);
        assert_eq!(next(&[task.clone(), ledger(true, true)]), Need::Final);
        // Three stalls in a row make a plan; one step of progress takes one back.
        let bad = || ledger(false, false);
        assert_eq!(next(&[task.clone(), plan.clone(), bad(), bad()]), instruct);
        assert_eq!(next(&[task.clone(), bad(), bad(), bad()]), Need::Plan);
        assert_eq!(next(&[task.clone(), bad(), bad(), good, bad()]), instruct);
        assert_eq!(next(&[task, bad(), bad(), plan, bad()]), instruct);
    }
}
