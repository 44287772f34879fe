//! A session as one HTML page: readable without scripts, branches and long steps foldable, light and dark, nothing loaded.
//!
//! Every text is cleaned and escaped by [`Safe`]; a policy in the head forbids what could slip through all the same.

use std::fmt::{self, Display, Write as _};
use std::io::Write;

use super::ExportError;
use super::source::{PAGE, Source};
use super::told;
use crate::gate::receipt::Sealed;
use crate::model::{Branch, BranchId, Session, Step, StepHead, StepKind, clean, reports_failure};
use crate::pipeline::Outcome;
use crate::ui::diff::{Change, WordDiff};

const STYLE: &str = include_str!("page.css");

/// A step of more bytes or more lines than this is folded.
const LONG: usize = 700;
const MANY: usize = 12;

/// A text of a log as HTML.
struct Safe<'a>(&'a str);

impl Display for Safe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in clean(self.0).chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Writes the page. `beside`: pairs of branches that are put beside each other.
///
/// # Errors
/// The store, or the place that it is written to.
pub fn html(
    out: &mut dyn Write,
    source: &mut Source<'_>,
    beside: &[(BranchId, BranchId)],
) -> Result<(), ExportError> {
    let session = source.session()?;
    let branches = source.branches()?;
    let receipts = source.receipts()?;
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{} – dover</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        Safe(&session.title)
    )?;
    head(out, &session, &branches)?;
    edits(out, source, &branches)?;
    milestones(out, source, &session, &branches)?;
    for (a, b) in beside {
        compared(out, source, a, b)?;
    }
    writeln!(out, "<section>\n<h2>Branches</h2>")?;
    for branch in &branches {
        self::branch(out, source, branch, &receipts)?;
    }
    writeln!(out, "</section>")?;
    let kept = receipts.len();
    write!(
        out,
        "<footer>\n<p>{}</p>\n<p>{} of this session. They are a part of a chain; the whole chain is checked with <code>dover receipt verify</code>.</p>\n<p>dover {}</p>\n</footer>\n</main>\n</body>\n</html>\n",
        Safe(&told::redacted(&source.session()?)),
        told::count(kept, "receipt"),
        env!("CARGO_PKG_VERSION")
    )?;
    Ok(())
}

fn head(out: &mut dyn Write, session: &Session, branches: &[Branch]) -> Result<(), ExportError> {
    write!(
        out,
        "<header>\n<p class=\"eyebrow\">{}</p>\n<h1 dir=\"auto\">{}</h1>\n<blockquote dir=\"auto\" class=\"text\">{}</blockquote>\n<dl>\n",
        Safe(&session.id),
        Safe(&session.title),
        Safe(&session.task)
    )?;
    let mut term = |name: &str, text: &str| {
        writeln!(
            out,
            "<div><dt>{name}</dt><dd dir=\"auto\">{}</dd></div>",
            Safe(text)
        )
    };
    if let Some(main) = branches.iter().find(|branch| branch.parent.is_none()) {
        term("Original run", &told::ending(main))?;
        term("Answer", main.answer.as_deref().unwrap_or("none"))?;
    }
    if let Some(expected) = &session.expected {
        term("Expected", expected)?;
    }
    if let Some(verifier) = told::verifier(session) {
        term("Judged by", &verifier)?;
    }
    let agents: Vec<&str> = session.agents.iter().map(|it| it.name.as_str()).collect();
    if !agents.is_empty() {
        term("Agents", &agents.join(", "))?;
    }
    term("Read", &session.coverage.line())?;
    writeln!(out, "</dl>")?;
    if !session.coverage.notes.is_empty() {
        writeln!(
            out,
            "<details class=\"small\"><summary>What could not be read as it was</summary>\n<ul class=\"plain\">"
        )?;
        for note in &session.coverage.notes {
            let (place, reason) = (Safe(&note.place), Safe(&note.reason));
            writeln!(out, "<li><b>{place}</b> {reason}</li>")?;
        }
        writeln!(out, "</ul></details>")?;
    }
    writeln!(out, "</header>")?;
    Ok(())
}

fn edits(
    out: &mut dyn Write,
    source: &mut Source<'_>,
    branches: &[Branch],
) -> Result<(), ExportError> {
    let shown: Vec<BranchId> = branches.iter().map(|branch| branch.id.clone()).collect();
    let hypotheses = source.hypotheses()?;
    let outcomes = source.outcomes()?;
    if !hypotheses.is_empty() {
        writeln!(out, "<section>\n<h2>Hypotheses</h2>\n<ul class=\"plain\">")?;
        for filed in &hypotheses {
            let what = &filed.hypothesis;
            writeln!(
                out,
                "<li dir=\"auto\"><b>{}</b> trial {}, step {}, {}: {} <span class=\"faint\">{}</span></li>",
                Safe(&filed.id),
                what.trial.index,
                what.step,
                Safe(&what.agent),
                Safe(&what.reason),
                Safe(&filed.analyst)
            )?;
        }
        writeln!(out, "</ul>\n</section>")?;
    }
    if !outcomes.is_empty() {
        writeln!(out, "<section>\n<h2>Edits and verdicts</h2>")?;
        for outcome in &outcomes {
            edit(out, source, outcome, &shown)?;
        }
        writeln!(out, "</section>")?;
    }
    Ok(())
}

fn edit(
    out: &mut dyn Write,
    source: &mut Source<'_>,
    outcome: &Outcome,
    shown: &[BranchId],
) -> Result<(), ExportError> {
    let made = &outcome.intervention;
    let class = outcome.verdict.map_or("none", |verdict| verdict.name());
    write!(
        out,
        "<article>\n<h3><span class=\"verdict {class}\">{}</span> {}</h3>\n<p class=\"faint\">{}</p>\n<p>{}</p>\n",
        Safe(&told::verdict(outcome)),
        Safe(&made.id),
        Safe(&told::edit(made)),
        Safe(&told::grounds(outcome))
    )?;
    if made.answer_leak {
        writeln!(
            out,
            "<p class=\"warn\">The edit contains the expected answer.</p>"
        )?;
    }
    if made.capability {
        writeln!(
            out,
            "<p class=\"warn\">Capability finding: no message can mend it.</p>"
        )?;
    }
    for change in &made.changes {
        writeln!(out, "<p>Configuration: {}</p>", Safe(&change.to_string()))?;
    }
    if let Some(text) = &made.text {
        let old = source.step(&made.parent, made.step)?.text;
        writeln!(
            out,
            "<div dir=\"auto\" class=\"text diff\">{}</div>",
            difference(&old, text)
        )?;
    }
    writeln!(out, "<ul class=\"plain\">")?;
    for branch in &outcome.branches {
        writeln!(
            out,
            "<li>{} {}</li>",
            link(branch.id.name(), shown.contains(&branch.id)),
            Safe(&told::ending(branch))
        )?;
    }
    writeln!(out, "</ul>\n</article>")?;
    Ok(())
}

/// A branch's name, leading to it where the page has it.
fn link(name: &str, here: bool) -> String {
    let name = Safe(name);
    if here {
        format!("<a href=\"#{name}\">{name}</a>")
    } else {
        format!("<b>{name}</b>")
    }
}

/// A word diff: what went is struck, what came is underlined, so that it reads without colour.
fn difference(old: &str, new: &str) -> String {
    let diff = WordDiff::new(&clean(old), &clean(new));
    let mut text = String::new();
    for (change, piece) in diff.pieces() {
        let piece = Safe(piece);
        // A `String` takes every write.
        let _ = match change {
            Change::Same => write!(text, "{piece}"),
            Change::Del => write!(text, "<del>{piece}</del>"),
            Change::Add => write!(text, "<ins>{piece}</ins>"),
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
    write!(
        out,
        "<section>\n<h2>Milestones</h2>\n<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Milestone</th>"
    )?;
    for branch in branches {
        write!(out, "<th scope=\"col\">{}</th>", Safe(branch.id.name()))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for (title, steps) in told::grid(session, &reached?) {
        write!(
            out,
            "<tr><th scope=\"row\" dir=\"auto\">{}</th>",
            Safe(&title)
        )?;
        for step in steps {
            match step {
                Some(step) => write!(out, "<td class=\"got\">★ {step}</td>")?,
                None => write!(out, "<td class=\"faint\" title=\"not reached\">☆</td>")?,
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(
        out,
        "</tbody></table></div>\n<p class=\"faint\">★ reached at that step, ☆ not reached</p>\n</section>"
    )?;
    Ok(())
}

fn compared(
    out: &mut dyn Write,
    source: &mut Source<'_>,
    a: &BranchId,
    b: &BranchId,
) -> Result<(), ExportError> {
    let comparison = source.compare(a, b)?;
    writeln!(
        out,
        "<section>\n<h2>{} beside {}</h2>",
        Safe(a.name()),
        Safe(b.name())
    )?;
    let equal = told::count(comparison.common_prefix, "equal step");
    let Some(first) = comparison.first_divergence else {
        writeln!(out, "<p>{equal}, no difference.</p>\n</section>")?;
        return Ok(());
    };
    writeln!(out, "<p>{equal}, first divergence at step {first}.</p>")?;
    for pair in comparison.pairs {
        if pair.a.or(pair.b).is_none_or(|index| index < first) {
            continue;
        }
        let left = pair.a.map(|index| source.step(a, index)).transpose()?;
        let right = pair.b.map(|index| source.step(b, index)).transpose()?;
        if let (true, Some(step)) = (pair.same, &right) {
            writeln!(out, "<p class=\"faint\">= {}</p>", title(step))?;
            continue;
        }
        writeln!(out, "<div class=\"pair\">")?;
        let old = left.as_ref().map_or("", |step| step.text.as_str());
        let new = right.as_ref().map_or("", |step| step.text.as_str());
        let diff = WordDiff::new(&clean(old), &clean(new));
        for (step, hidden) in [(&left, Change::Add), (&right, Change::Del)] {
            let Some(step) = step else {
                writeln!(out, "<div></div>")?;
                continue;
            };
            write!(
                out,
                "<div><p>≠ {}</p><div dir=\"auto\" class=\"text diff\">",
                title(step)
            )?;
            for (change, piece) in diff.pieces().filter(|(change, _)| *change != hidden) {
                let piece = Safe(piece);
                match change {
                    Change::Same => write!(out, "{piece}")?,
                    Change::Del => write!(out, "<del>{piece}</del>")?,
                    Change::Add => write!(out, "<ins>{piece}</ins>")?,
                }
            }
            writeln!(out, "</div></div>")?;
        }
        writeln!(out, "</div>")?;
    }
    writeln!(out, "</section>")?;
    Ok(())
}

fn branch(
    out: &mut dyn Write,
    source: &mut Source<'_>,
    branch: &Branch,
    receipts: &[Sealed],
) -> Result<(), ExportError> {
    let open = if branch.parent.is_none() { " open" } else { "" };
    write!(
        out,
        "<details class=\"branch\" id=\"{0}\"{open}>\n<summary><b>{0}</b> {1} <span class=\"faint\">{2}</span></summary>\n",
        Safe(branch.id.name()),
        Safe(&told::origin(branch)),
        Safe(&told::ending(branch))
    )?;
    if let Some(answer) = &branch.answer {
        writeln!(out, "<p>Answer: <bdi>{}</bdi></p>", Safe(answer))?;
    }
    if let Some(gates) = told::gates(receipts, &branch.id) {
        writeln!(out, "<ol class=\"gates\">")?;
        for note in gates {
            let (sign, class) = if note.holds {
                ("✓", "got")
            } else {
                ("◐", "warn")
            };
            writeln!(
                out,
                "<li><span class=\"{class}\">{sign}</span> {} {}</li>",
                told::gate(note.gate),
                Safe(&told::finding(note))
            )?;
        }
        if let Some(holds) = branch.gate.and_then(told::outcome) {
            let (sign, class) = if holds {
                ("✓", "got")
            } else {
                ("◐", "warn")
            };
            let status = branch
                .gate
                .map_or(String::new(), |gate| gate.name().replace('_', " "));
            writeln!(
                out,
                "<li><span class=\"{class}\">{sign}</span> outcome {status}</li>"
            )?;
        }
        writeln!(out, "</ol>")?;
    }
    let mut own = told::of_branch(receipts, &branch.id).peekable();
    if own.peek().is_some() {
        writeln!(
            out,
            "<details class=\"small\"><summary>Receipts</summary>\n<ul class=\"plain\">"
        )?;
        for sealed in own {
            writeln!(
                out,
                "<li>{} {} <code>{}</code> <span class=\"faint\">{}</span></li>",
                sealed.receipt.seq,
                told::receipt(sealed).0,
                sealed.sha256,
                Safe(&sealed.receipt.time)
            )?;
        }
        writeln!(out, "</ul></details>")?;
    }
    steps(out, source, branch)?;
    writeln!(out, "</details>")?;
    Ok(())
}

fn steps(out: &mut dyn Write, source: &mut Source<'_>, branch: &Branch) -> Result<(), ExportError> {
    let start = branch.fork_step.unwrap_or_default();
    let trials = source.trials(&branch.id)?;
    let notes = source.own_notes(&branch.id)?;
    for at in (start..branch.steps).step_by(PAGE) {
        for step in source.steps(&branch.id, at..(at + PAGE).min(branch.steps))? {
            if let Some(trial) = trials.iter().find(|trial| trial.start == step.index) {
                writeln!(out, "<h4>Trial {}</h4>", trial.index)?;
            }
            self::step(out, &step)?;
            for note in notes.iter().filter(|note| note.step == step.index) {
                writeln!(
                    out,
                    "<p class=\"note\" dir=\"auto\">✎ {}</p>",
                    Safe(&note.told())
                )?;
            }
        }
    }
    Ok(())
}

fn step(out: &mut dyn Write, step: &Step) -> Result<(), ExportError> {
    let head = StepHead::of(step);
    let class = if head.error { " error" } else { "" };
    let tool = step.meta.tool.as_ref();
    let arguments = tool.and_then(|tool| tool.arguments.as_deref());
    let arguments = arguments.filter(|text| !text.trim().is_empty());
    // What a program wrote is set as a program's text.
    let made = matches!(step.kind, StepKind::ToolCall | StepKind::ToolResult);
    let code = if made || step.text.trim_start().starts_with(['{', '[']) {
        " code"
    } else {
        ""
    };
    let long = step.text.len() + arguments.map_or(0, str::len) > LONG
        || step.text.lines().nth(MANY).is_some();
    if long {
        let (title, first) = (title(step), Safe(&head.head));
        writeln!(
            out,
            "<details class=\"step{class}\"><summary>{title} <bdi class=\"faint\">{first}</bdi></summary>"
        )?;
    } else {
        writeln!(out, "<div class=\"step{class}\"><p>{}</p>", title(step))?;
    }
    if let Some(arguments) = arguments {
        writeln!(
            out,
            "<div dir=\"auto\" class=\"text code faint\">{}</div>",
            Safe(arguments)
        )?;
    }
    let end = if long { "details" } else { "div" };
    writeln!(
        out,
        "<div dir=\"auto\" class=\"text{code}\">{}</div>\n</{end}>",
        Safe(&step.text)
    )?;
    Ok(())
}

fn title(step: &Step) -> String {
    let mut text = format!("<b>{}</b> <bdi>{}</bdi>", step.index, Safe(&step.agent));
    if let Some(to) = &step.to {
        // A `String` takes every write.
        let _ = write!(text, " → <bdi>{}</bdi>", Safe(to));
    }
    let _ = write!(
        text,
        " <span class=\"kind\">{}</span>",
        told::kind(step.kind)
    );
    if let Some(tool) = &step.meta.tool {
        let _ = write!(text, " <code>{}</code>", Safe(&tool.name));
    }
    if reports_failure(step) {
        text.push_str(" <span class=\"warn\">✗ failed</span>");
    }
    text
}
