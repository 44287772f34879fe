//! `dover compare A B`: two branches step by step, the first divergence marked.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use super::args::Compare;
use super::context::{self, Context};
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use super::text::{self, count};
use crate::model::{BranchId, Difference, Intervention, StepHead, clean_line};
use crate::pipeline::{self, Comparison, Pair};
use crate::store::Store;

/// Columns that two branches need to stand side by side; under it they are stacked.
const SIDE_BY_SIDE: usize = 100;

/// A comparison with the heads of the steps that it shows.
#[derive(Serialize)]
pub struct Compared {
    #[serde(flatten)]
    comparison: Comparison,
    /// Branches whose edit contains the expected answer.
    answer_leaks: Vec<BranchId>,
    /// Where the configurations differ, as far as both are known.
    config: Vec<Difference>,
    #[serde(skip)]
    left: BTreeMap<usize, StepHead>,
    #[serde(skip)]
    right: BTreeMap<usize, StepHead>,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Compare) -> Result<Exit, CliError> {
    let store = context.store()?;
    let a = context::branch(&store, &args.a, None)?;
    let b = context::branch(&store, &args.b, None)?;
    context.out.give(&compared(&store, &a, &b)?)?;
    Ok(Exit::Done)
}

/// Aligns two branches and fetches what is shown of them: everything from the first divergence on.
pub fn compared(store: &Store, a: &BranchId, b: &BranchId) -> Result<Compared, CliError> {
    let comparison = pipeline::compare(store, a, b)?;
    let from = comparison.first_divergence.unwrap_or(usize::MAX);
    let config = match (store.branch_config(a)?, store.branch_config(b)?) {
        (Some(left), Some(right)) => left.differences(&right),
        _ => Vec::new(),
    };
    Ok(Compared {
        answer_leaks: answer_leaks(store, [a, b])?,
        config,
        left: heads(store, a, from)?,
        right: heads(store, b, from)?,
        comparison,
    })
}

/// Which of two branches come from an edit that contains the expected answer.
pub fn answer_leaks(store: &Store, pair: [&BranchId; 2]) -> Result<Vec<BranchId>, CliError> {
    let mut leaks = Vec::new();
    for id in pair {
        let made = store.branch(id)?.intervention;
        let all = store.interventions(id.session())?;
        let leak = |one: &Intervention| one.answer_leak && made.as_ref() == Some(&one.id);
        if all.iter().any(leak) {
            leaks.push(id.clone());
        }
    }
    Ok(leaks)
}

fn heads(store: &Store, id: &BranchId, from: usize) -> Result<BTreeMap<usize, StepHead>, CliError> {
    let steps = store.branch(id)?.steps;
    let heads = store.heads(id, from.min(steps)..steps)?;
    Ok(heads.into_iter().map(|head| (head.index, head)).collect())
}

impl Answer for Compared {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        self.print_rows(out, usize::MAX)
    }
}

impl Compared {
    /// Prints what differs, at most so many rows of it.
    pub fn print_rows(&self, out: &mut Out, limit: usize) -> io::Result<()> {
        let Comparison { a, b, pairs, .. } = &self.comparison;
        out.row(Tone::Strong, &format!("{a}  beside  {b}"))?;
        for id in &self.answer_leaks {
            out.para(2, &format!("{id}: its edit gives the answer away"))?;
        }
        for part in &self.config {
            out.labelled("  config   ", &part.to_string())?;
        }
        let prefix = count(self.comparison.common_prefix, "equal step");
        let Some(first) = self.comparison.first_divergence else {
            return out.row(Tone::Plain, &format!("  {prefix}, no difference"));
        };
        let equal = format!("  {prefix}, first divergence at step {first}");
        out.row(Tone::Plain, &equal)?;
        let after = |side: Option<usize>| side.is_some_and(|index| index >= first);
        let rows: Vec<_> = pairs
            .iter()
            .filter(|pair| after(pair.a) || after(pair.b))
            .collect();
        for pair in rows.iter().take(limit) {
            self.pair(out, pair)?;
        }
        match rows.len().checked_sub(limit) {
            Some(more @ 1..) => {
                let rest = format!("  and {}: dover compare {a} {b}", count(more, "more row"));
                out.row(Tone::Faint, &rest)
            }
            _ => Ok(()),
        }
    }

    fn pair(&self, out: &mut Out, pair: &Pair) -> io::Result<()> {
        let a = pair.a.and_then(|index| self.left.get(&index)).map(cell);
        let b = pair.b.and_then(|index| self.right.get(&index)).map(cell);
        let mark = match (&a, &b) {
            _ if pair.same => '=',
            (Some(_), None) => '-',
            (None, Some(_)) => '+',
            _ => '≠',
        };
        if out.width() >= SIDE_BY_SIDE {
            let half = (out.width() - 5) / 2;
            let left = text::cut(&a.unwrap_or_default(), half);
            let gap = " ".repeat(half.saturating_sub(text::width(&left)));
            return out.row(
                Tone::Plain,
                &format!("{mark} {left}{gap} │ {}", b.unwrap_or_default()),
            );
        }
        if pair.same {
            return out.row(Tone::Faint, &format!("=   {}", b.unwrap_or_default()));
        }
        if let Some(a) = a {
            out.row(Tone::Bad, &format!("{mark} a {a}"))?;
        }
        match b {
            Some(b) => out.row(Tone::Good, &format!("{mark} b {b}")),
            None => Ok(()),
        }
    }
}

fn cell(head: &StepHead) -> String {
    let to = head
        .to
        .as_ref()
        .map_or(String::new(), |to| format!(" → {to}"));
    let line = format!("{:>4} {}{to}  {}", head.index, head.agent, head.head);
    clean_line(&line).into_owned()
}
