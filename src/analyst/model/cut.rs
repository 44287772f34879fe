//! What of a session a model is shown: the task, the trial in full as far as it fits, and a summary of at most three trials before it.
//! Deterministic; what is left out is said at its place.

use std::fmt::Write as _;

use crate::analyst::Case;
use crate::endpoint::estimate;
use crate::model::{Step, StepKind, Trial, Tried, head_text, ledger_gist};

/// About how many tokens of a log a question shows at most.
pub const BUDGET: u64 = 24_000;
/// How many earlier trials are summed up.
const EARLIER: usize = 3;
/// The task is not cut below this, in characters.
const TASK: usize = 6_000;
/// A step is cut to no less than this, in characters, before steps are left out.
const LEAST: usize = 160;
/// Where cutting begins, in characters a step.
const MOST: usize = 12_000;

/// The task.
#[must_use]
pub fn task(case: &Case) -> String {
    format!("The task:\n{}\n", cut(&case.session.task, TASK))
}

/// The agents and what each is for.
#[must_use]
pub fn agents(case: &Case) -> String {
    let mut text = String::from("The agents:\n");
    for agent in &case.session.agents {
        let about = agent
            .description
            .as_deref()
            .map_or(String::new(), |about| format!(": {}", head_text(about)));
        let leads = if case.session.orchestrator.as_ref() == Some(&agent.name) {
            " (leads the others)"
        } else {
            ""
        };
        // A `String` takes every write.
        let _ = writeln!(text, "- {}{leads}{about}", agent.name);
    }
    text
}

/// A step as it is shown.
fn line(step: &Step, most: usize) -> String {
    let to = step
        .to
        .as_deref()
        .map_or(String::new(), |to| format!(" to {to}"));
    format!(
        "[{}] {} ({}{to}): {}\n",
        step.index,
        step.agent,
        step.kind.name(),
        cut(step.text.trim(), most)
    )
}

/// The beginning and the end of a text that is too long, with what is left out said between them.
fn cut(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let (front, back) = (most * 2 / 3, most / 3);
    let first: String = text.chars().take(front).collect();
    let last: String = text.chars().skip(count - back).collect();
    format!(
        "{first} […{} characters left out…] {last}",
        count - front - back
    )
}

/// Steps within a budget of tokens: first each is cut shorter, then those in the middle are left out.
#[must_use]
pub fn steps(all: &[Step], budget: u64) -> String {
    let mut most = MOST;
    loop {
        let lines: Vec<String> = all.iter().map(|step| line(step, most)).collect();
        if lines.iter().map(|line| estimate(line)).sum::<u64>() <= budget {
            return lines.concat();
        }
        if most == LEAST {
            return ends(&lines, budget);
        }
        most = (most / 2).max(LEAST);
    }
}

/// The first and last lines that fit.
fn ends(lines: &[String], budget: u64) -> String {
    let fits = |lines: &mut dyn Iterator<Item = &String>| {
        let mut left = budget / 2;
        lines
            .take_while(|line| {
                let takes = estimate(line);
                let fits = takes <= left;
                left = left.saturating_sub(takes);
                fits
            })
            .count()
    };
    let front = fits(&mut lines.iter());
    let back = fits(&mut lines.iter().rev()).min(lines.len() - front);
    let left_out = lines.len() - front - back;
    let first = lines.get(..front).unwrap_or_default().concat();
    let last = lines.get(lines.len() - back..).unwrap_or_default().concat();
    format!("{first}[… {left_out} steps left out …]\n{last}")
}

/// A trial as a model is shown it: what came before in a few lines, then all of its steps.
#[must_use]
pub fn trial(case: &Case, trial: &Trial) -> String {
    let mut text = String::new();
    let earlier: Vec<&Trial> = case
        .trials
        .iter()
        .filter(|other| other.index < trial.index)
        .collect();
    for other in earlier.iter().skip(earlier.len().saturating_sub(EARLIER)) {
        text.push_str(&summary(case, other));
    }
    let Trial { index, start, end } = trial;
    let _ = writeln!(text, "Trial {index}, steps {start} to {end}, in full:");
    text.push_str(&steps(case.of(trial), BUDGET));
    text
}

/// An earlier trial in a few lines: its plan, and how it ended.
fn summary(case: &Case, trial: &Trial) -> String {
    let steps = case.of(trial);
    let plan = steps
        .first()
        .map_or(String::new(), |step| head_text(&step.text));
    let ledger = steps
        .iter()
        .rev()
        .find(|step| step.kind == StepKind::Ledger);
    let gist = ledger
        .and_then(|step| ledger_gist(&step.text))
        .map_or(String::new(), |gist| format!("; at its end: {gist}"));
    let said = steps
        .iter()
        .rev()
        .find(|step| matches!(step.kind, StepKind::Message | StepKind::ToolResult));
    let said = said.map_or(String::new(), |step| {
        format!("; last said by {}: {}", step.agent, head_text(&step.text))
    });
    let Trial { index, start, end } = trial;
    format!("Trial {index}, steps {start} to {end}, summed up: {plan}{gist}{said}\n")
}

/// What was tried before in this trial, and what came of it.
#[must_use]
pub fn tried(tried: &[Tried]) -> String {
    let mut text = String::new();
    for one in tried {
        let at = &one.hypothesis;
        let verdict = one
            .verdict
            .map_or_else(|| "no verdict".to_owned(), |verdict| verdict.to_string());
        let _ = writeln!(
            text,
            "Tried before and {verdict}: step {} by {} was suspected ({}); step {} was rewritten to:\n{}\nWhat came of it: {}\nDo not propose the same again.",
            at.step,
            at.agent,
            at.reason,
            one.proposal.target.step,
            cut(&one.proposal.text, TASK),
            cut(&one.learnt, TASK)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn step(index: usize, text: &str) -> Step {
        Step {
            index,
            agent: "A".into(),
            text: text.into(),
            ..Step::default()
        }
    }

    #[test]
    fn what_fits_is_whole_and_what_does_not_says_so() {
        let short = [step(3, "one"), step(4, "two")];
        assert_eq!(
            steps(&short, 100),
            "[3] A (message): one\n[4] A (message): two\n"
        );
        let long = [step(0, &"word ".repeat(4000)), step(1, "end")];
        let shown = steps(&long, 1000);
        assert!(shown.contains("characters left out") && shown.ends_with("[1] A (message): end\n"));
        let many: Vec<Step> = (0..500)
            .map(|index| step(index, &"x".repeat(200)))
            .collect();
        let shown = steps(&many, 1000);
        assert!(shown.contains("steps left out") && shown.starts_with("[0]"));
        assert!(shown.lines().last().unwrap().starts_with("[499]"));
    }

    proptest! {
        #[test]
        fn no_log_is_longer_than_the_budget(texts in prop::collection::vec("[a-z图 ]{0,400}", 0..60), budget in 400_u64..3000) {
            let all: Vec<Step> = texts.iter().enumerate().map(|(index, text)| step(index, text)).collect();
            // The line that tells what is left out comes on top.
            prop_assert!(estimate(&steps(&all, budget)) <= budget + 20);
        }
    }
}
