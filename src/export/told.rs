//! What pages say in words, the same in every form.

use crate::gate::receipt::{Content, GateNote, Sealed, hashed};
use crate::model::{
    Branch, BranchId, Category, Digest, GateStatus, Intervention, RunStatus, Session, StepKind,
    TOLD, Verifier,
};
use crate::pipeline::Outcome;

/// A number of things.
pub(super) fn count(n: usize, noun: &str) -> String {
    let end = match n {
        1 => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{n} {noun}{end}")
}

/// How an edit's verdict reads, with the word that diagnostic runs bring.
pub(super) fn verdict(outcome: &Outcome) -> String {
    let diagnostic = if outcome.diagnostic() {
        "diagnostic "
    } else {
        ""
    };
    let told = if outcome.told() {
        format!(", {TOLD}")
    } else {
        String::new()
    };
    match (&outcome.verdict, &outcome.reason) {
        (Some(verdict), _) if let Some(leak) = outcome.leak() => {
            format!("{diagnostic}{verdict}, but {leak}{told}")
        }
        (Some(verdict), _) => format!("{diagnostic}{verdict}{told}"),
        (None, Some(reason)) => format!("{diagnostic}{reason}{told}"),
        (None, None) => "no verdict yet".to_owned(),
    }
}

/// Why it is that verdict: the runs, counted as the rule counts them.
pub(super) fn grounds(outcome: &Outcome) -> String {
    let runs = &outcome.branches;
    let n = outcome.intervention.n;
    let succeeded = runs.iter().filter(|run| run.success == Some(true)).count();
    let executed = runs
        .iter()
        .filter(|run| run.fulfilled == Some(true))
        .count();
    let gained = runs
        .iter()
        .filter(|run| run.milestones.is_some_and(|it| it.after > it.before))
        .count();
    let over = runs.iter().filter(|run| run.run == RunStatus::Done).count();
    let mut parts = vec![
        format!("{over} of {n} runs came to their end"),
        format!("{succeeded} succeeded"),
    ];
    if !outcome.baseline() {
        parts.push(format!("{executed} executed the edit"));
    }
    parts.push(format!("{gained} gained a milestone"));
    if let Some(progress) = outcome.progress {
        parts.push(format!("mean progress {progress:+.2}"));
    }
    if let (Some(_), Some(reason)) = (&outcome.verdict, &outcome.reason) {
        parts.insert(0, reason.clone());
    }
    parts.join("; ")
}

/// Whether a branch did it, in a word.
pub(super) fn success(branch: &Branch) -> &'static str {
    match branch.success {
        Some(true) => "succeeded",
        Some(false) => "failed",
        None => "not judged",
    }
}

/// Where a branch stands: how the run ended, what the gates say, whether it succeeded.
pub(super) fn ending(branch: &Branch) -> String {
    let mut parts = vec![format!("run {}", branch.run.name())];
    if let Some(gate) = branch.gate {
        parts.push(format!("gate {}", gate.name().replace('_', " ")));
    }
    parts.push(success(branch).to_owned());
    match branch.fulfilled {
        Some(true) => parts.push("edit executed".to_owned()),
        Some(false) => parts.push("edit not executed".to_owned()),
        None => {}
    }
    if branch.told {
        parts.push(TOLD.to_owned());
    }
    if branch.diagnostic {
        parts.push("diagnostic, no exact replay".to_owned());
    }
    if let Some(reason) = &branch.reason {
        parts.push(reason.clone());
    }
    parts.join(" · ")
}

/// Where a branch comes from.
pub(super) fn origin(branch: &Branch) -> String {
    match (&branch.parent, branch.fork_step) {
        (Some(parent), Some(at)) => format!("forked from {} at step {at}", parent.name()),
        _ => "the original run".to_owned(),
    }
}

/// What an edit is, without its text.
pub(super) fn edit(made: &Intervention) -> String {
    let class = made.class.map_or(String::new(), |class| {
        format!(", {}", class.name().replace('_', " "))
    });
    let what = match made.category {
        Category::None => "unedited re-run".to_owned(),
        category => format!("{}{class}", category.name()),
    };
    format!("{what} at step {} of {}", made.step, made.parent.name())
}

/// How an answer is judged.
pub(super) fn verifier(session: &Session) -> Option<String> {
    session.verifier.as_ref().map(|verifier| match verifier {
        Verifier::Answer => "equal to the expected answer (GAIA's scorer)".to_owned(),
        Verifier::Math => "boxed or last number equal to the expected one".to_owned(),
        Verifier::Contains(text) => format!("contains “{text}”"),
        Verifier::Command(words) => format!("command {}", words.join(" ")),
        Verifier::File { path, .. } => format!("file {path}"),
    })
}

/// The names of gates 1 to 6.
pub(super) const fn gate(number: u8) -> &'static str {
    match number {
        1 => "lineage",
        2 => "state",
        3 => "effects",
        4 => "authority",
        5 => "config",
        _ => "outcome",
    }
}

/// A gate's finding in words.
pub(super) fn finding(note: &GateNote) -> String {
    let kinds: Vec<String> = note
        .evidence
        .iter()
        .map(|(kind, n)| format!("{n} {kind}"))
        .collect();
    let word = if note.holds { "holds" } else { "does not hold" };
    if kinds.is_empty() {
        word.to_owned()
    } else {
        format!("{word} ({})", kinds.join(", "))
    }
}

/// Gate 6 of a branch that was judged.
pub(super) const fn outcome(gate: GateStatus) -> Option<bool> {
    match gate {
        GateStatus::Verified => Some(true),
        GateStatus::FalseSuccess | GateStatus::Unverified => Some(false),
        _ => None,
    }
}

/// What a receipt is about, in a word, and the branches that it names by their hashes.
pub(super) fn receipt(sealed: &Sealed) -> (&'static str, Vec<Digest>) {
    match &sealed.receipt.content {
        Content::Fork(made) => ("fork", made.branches.clone()),
        Content::Refusal(made) => ("refusal", made.branches.clone()),
        Content::Decision(said) => ("decision", vec![said.branch]),
        Content::Outcome(end) => ("outcome", vec![end.branch]),
    }
}

/// The receipts that name a branch.
pub(super) fn of_branch<'a>(
    receipts: &'a [Sealed],
    id: &BranchId,
) -> impl Iterator<Item = &'a Sealed> {
    let id = hashed(id.as_str());
    receipts
        .iter()
        .filter(move |sealed| receipt(sealed).1.contains(&id))
}

/// What the gates found before a branch ran: none if no receipt tells.
pub(super) fn gates<'a>(receipts: &'a [Sealed], id: &BranchId) -> Option<&'a [GateNote]> {
    of_branch(receipts, id).find_map(|sealed| match &sealed.receipt.content {
        Content::Fork(made) | Content::Refusal(made) => Some(made.gates.as_slice()),
        _ => None,
    })
}

/// The sign of a kind of step, readable without colour.
pub(super) const fn kind(kind: StepKind) -> &'static str {
    match kind {
        StepKind::ToolCall => "tool call",
        StepKind::ToolResult => "tool result",
        other => other.name(),
    }
}

/// What was redacted of a session, for the foot of a page.
pub(super) fn redacted(session: &Session) -> String {
    if session.redacted.is_empty() {
        return "Nothing was redacted.".to_owned();
    }
    let parts: Vec<String> = session
        .redacted
        .iter()
        .map(|(sort, n)| format!("{n} {sort}"))
        .collect();
    format!(
        "Redacted: {}. Receipts name digests of what stood there before.",
        parts.join(", ")
    )
}

/// The milestones of a session, a row each: the title and for each branch the step that reaches it.
pub(super) type Grid = Vec<(String, Vec<Option<usize>>)>;

/// Turns what each branch reached into the rows of a grid.
pub(super) fn grid(session: &Session, reached: &[Vec<Option<usize>>]) -> Grid {
    let row = |(at, title): (usize, &String)| {
        let steps = reached.iter().map(|of| of.get(at).copied().flatten());
        (title.clone(), steps.collect())
    };
    let titles: Vec<String> = session
        .milestones
        .iter()
        .map(|it| it.title.clone())
        .collect();
    titles.iter().enumerate().map(row).collect()
}
