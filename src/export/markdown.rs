//! A session as Markdown: what was asked, what came of each edit and why, milestones, every branch with its steps.
//!
//! Texts stand in fences longer than any within, names with their marks escaped, so that nothing in a log becomes structure.

use std::fmt::Write as _;
use std::io::Write;

use super::ExportError;
use super::source::{PAGE, Source};
use super::told;
use crate::model::{Branch, BranchId, Session, Step, clean, clean_line};
use crate::pipeline::Outcome;
use crate::ui::diff::{Change, WordDiff};

/// Writes the page. `beside`: pairs of branches that are put beside each other.
///
/// # Errors
/// The store, or the place that it is written to.
pub fn markdown(
    out: &mut dyn Write,
    source: &mut Source<'_>,
    beside: &[(BranchId, BranchId)],
) -> Result<(), ExportError> {
    let session = source.session()?;
    let branches = source.branches()?;
    head(out, &session, &branches)?;
    edits(out, source)?;
    milestones(out, source, &session, &branches)?;
    for (a, b) in beside {
        compared(out, source, a, b)?;
    }
    let receipts = source.receipts()?;
    for branch in &branches {
        writeln!(out, "\n## {}\n", line(branch.id.name()))?;
        writeln!(
            out,
            "{}; {}\n",
            line(&told::origin(branch)),
            line(&told::ending(branch))
        )?;
        if let Some(answer) = &branch.answer {
            writeln!(out, "Answer: {}\n", line(answer))?;
        }
        if let Some(gates) = told::gates(&receipts, &branch.id) {
            for note in gates {
                let (name, finding) = (told::gate(note.gate), told::finding(note));
                writeln!(out, "- gate {} {name}: {}", note.gate, line(&finding))?;
            }
            writeln!(out)?;
        }
        for sealed in told::of_branch(&receipts, &branch.id) {
            let (kind, _) = told::receipt(sealed);
            writeln!(
                out,
                "- receipt {} {kind} `{}`",
                sealed.receipt.seq, sealed.sha256
            )?;
        }
        steps(out, source, branch)?;
    }
    writeln!(
        out,
        "\n---\n\n{}",
        line(&told::redacted(&source.session()?))
    )?;
    Ok(())
}

fn head(out: &mut dyn Write, session: &Session, branches: &[Branch]) -> Result<(), ExportError> {
    writeln!(out, "# {}\n", line(&session.title))?;
    writeln!(
        out,
        "Session `{}`, {}\n",
        session.id,
        told::count(branches.len(), "branch")
    )?;
    fenced(out, &session.task)?;
    if let Some(expected) = &session.expected {
        writeln!(out, "- Expected: {}", line(expected))?;
    }
    if let Some(verifier) = told::verifier(session) {
        writeln!(out, "- Judged by: {}", line(&verifier))?;
    }
    writeln!(out, "- Read: {}", line(&session.coverage.line()))?;
    for note in &session.coverage.notes {
        writeln!(out, "  - {}: {}", line(&note.place), line(&note.reason))?;
    }
    Ok(())
}

fn edits(out: &mut dyn Write, source: &mut Source<'_>) -> Result<(), ExportError> {
    let outcomes = source.outcomes()?;
    let hypotheses = source.hypotheses()?;
    if outcomes.is_empty() && hypotheses.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Edits and verdicts\n")?;
    for filed in &hypotheses {
        let what = &filed.hypothesis;
        writeln!(
            out,
            "- {}: step {}, {}: {} ({})",
            line(&filed.id),
            what.step,
            line(&what.agent),
            line(&what.reason),
            line(&filed.analyst)
        )?;
    }
    for outcome in &outcomes {
        edit(out, source, outcome)?;
    }
    Ok(())
}

fn edit(
    out: &mut dyn Write,
    source: &mut Source<'_>,
    outcome: &Outcome,
) -> Result<(), ExportError> {
    let made = &outcome.intervention;
    let (id, verdict) = (line(&made.id), told::verdict(outcome));
    writeln!(out, "\n### {id}: {}\n", line(&verdict))?;
    writeln!(
        out,
        "{}. {}\n",
        line(&told::edit(made)),
        line(&told::grounds(outcome))
    )?;
    if made.answer_leak {
        writeln!(out, "The edit contains the expected answer.\n")?;
    }
    if made.capability {
        writeln!(out, "Capability finding: no message can mend it.\n")?;
    }
    for change in &made.changes {
        writeln!(out, "- {}", line(&change.to_string()))?;
    }
    if let Some(text) = &made.text {
        let old = source.step(&made.parent, made.step)?.text;
        fenced(out, &marked(&old, text))?;
    }
    for branch in &outcome.branches {
        writeln!(
            out,
            "- {}: {}",
            line(branch.id.name()),
            line(&told::ending(branch))
        )?;
    }
    Ok(())
}

/// A word diff in plain letters, as `git diff --word-diff` has it.
fn marked(old: &str, new: &str) -> String {
    let diff = WordDiff::new(&clean(old), &clean(new));
    let mut text = String::new();
    for (change, piece) in diff.pieces() {
        // A `String` takes every write.
        let _ = match change {
            Change::Same => write!(text, "{piece}"),
            Change::Del => write!(text, "[-{piece}-]"),
            Change::Add => write!(text, "{{+{piece}+}}"),
        };
    }
    text
}

fn milestones(
    out: &mut dyn Write,
    source: &Source<'_>,
    session: &Session,
    branches: &[Branch],
) -> Result<(), ExportError> {
    if session.milestones.is_empty() {
        return Ok(());
    }
    let reached: Result<Vec<_>, _> = branches
        .iter()
        .map(|it| source.milestones(&it.id))
        .collect();
    writeln!(out, "\n## Milestones\n")?;
    write!(out, "| milestone |")?;
    for branch in branches {
        write!(out, " {} |", line(branch.id.name()))?;
    }
    writeln!(out, "\n|---|{}", "---|".repeat(branches.len()))?;
    for (title, steps) in told::grid(session, &reached?) {
        write!(out, "| {} |", line(&title))?;
        for step in steps {
            match step {
                Some(step) => write!(out, " ★ {step} |")?,
                None => write!(out, " ☆ |")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn compared(
    out: &mut dyn Write,
    source: &mut Source<'_>,
    a: &BranchId,
    b: &BranchId,
) -> Result<(), ExportError> {
    let comparison = source.compare(a, b)?;
    writeln!(out, "\n## {} beside {}\n", line(a.name()), line(b.name()))?;
    let Some(first) = comparison.first_divergence else {
        writeln!(out, "No difference.")?;
        return Ok(());
    };
    writeln!(
        out,
        "{}, first divergence at step {first}.",
        told::count(comparison.common_prefix, "equal step")
    )?;
    for pair in comparison.pairs {
        if pair.same || pair.a.or(pair.b).is_none_or(|index| index < first) {
            continue;
        }
        let left = pair.a.map(|index| source.step(a, index)).transpose()?;
        let right = pair.b.map(|index| source.step(b, index)).transpose()?;
        for (side, step) in [(a, &left), (b, &right)] {
            if let Some(step) = step {
                writeln!(out, "\n{}: {}", line(side.name()), title(step))?;
            }
        }
        let text = |step: Option<Step>| step.map(|step| step.text).unwrap_or_default();
        writeln!(out)?;
        fenced(out, &marked(&text(left), &text(right)))?;
    }
    Ok(())
}

fn steps(out: &mut dyn Write, source: &mut Source<'_>, branch: &Branch) -> Result<(), ExportError> {
    let start = branch.fork_step.unwrap_or_default();
    let trials = source.trials(&branch.id)?;
    let notes = source.own_notes(&branch.id)?;
    for at in (start..branch.steps).step_by(PAGE) {
        for step in source.steps(&branch.id, at..(at + PAGE).min(branch.steps))? {
            if let Some(trial) = trials.iter().find(|trial| trial.start == step.index) {
                writeln!(out, "\n**Trial {}**", trial.index)?;
            }
            writeln!(out, "\n{}\n", title(&step))?;
            if let Some(arguments) = step
                .meta
                .tool
                .as_ref()
                .and_then(|tool| tool.arguments.as_ref())
            {
                fenced(out, arguments)?;
            }
            fenced(out, &step.text)?;
            for note in notes.iter().filter(|note| note.step == step.index) {
                writeln!(out, "\n> ✎ {}", line(&note.told()))?;
            }
        }
    }
    Ok(())
}

fn title(step: &Step) -> String {
    let to = step
        .to
        .as_ref()
        .map_or(String::new(), |to| format!(" → {to}"));
    let tool = step
        .meta
        .tool
        .as_ref()
        .map_or(String::new(), |tool| format!(" ({})", tool.name));
    let what = format!("{}{to} · {}{tool}", step.agent, told::kind(step.kind));
    format!("**{}** {}", step.index, line(&what))
}

/// One line in which nothing is a mark of Markdown or HTML.
fn line(text: &str) -> String {
    let one = clean_line(text);
    let mut escaped = String::with_capacity(one.len());
    for c in one.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' | '$' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// A text as it is, in a fence that it cannot end.
fn fenced(out: &mut dyn Write, text: &str) -> Result<(), ExportError> {
    let text = clean(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    writeln!(out, "{fence}text\n{}\n{fence}", text.trim_end_matches('\n'))?;
    Ok(())
}
