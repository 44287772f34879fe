//! Figures as a table, as Markdown and as JSON.

use std::fmt::Write as _;
use std::io;

use serde::Serialize;

use crate::cli::debug::taken;
use crate::cli::out::{Answer, Out, Tone};
use crate::cli::text::count;
use crate::model::{Figures, VerdictCounts, percent};
use crate::pipeline::eval::results::{Results, Summary};

/// Results with their figures.
#[derive(Serialize)]
pub struct Told {
    figures: Summary,
    #[serde(flatten)]
    results: Results,
}

impl Told {
    /// Results, summed up.
    #[must_use]
    pub fn new(results: Results) -> Self {
        Self {
            figures: results.summary(),
            results,
        }
    }

    /// Names of the columns: the sets, then all of them if there are more than one.
    fn columns(&self) -> Vec<(&str, &Figures)> {
        let mut all: Vec<(&str, &Figures)> = self
            .figures
            .sets
            .iter()
            .map(|(set, figures)| (set.as_str(), figures))
            .collect();
        if all.len() != 1 {
            all.push(("all", &self.figures.total));
        }
        all
    }

    /// The table in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let columns = self.columns();
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        // A `String` takes every write.
        let mut text = format!(
            "| figure | {} |\n|---|{}\n",
            names.join(" | "),
            "---|".repeat(names.len())
        );
        for (name, of) in FIGURES {
            let cells: Vec<String> = columns.iter().map(|(_, figures)| of(figures)).collect();
            let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
        }
        for one in &self.results.unread {
            let _ = writeln!(text, "\nnot evaluated: {}: {}", one.file, one.reason);
        }
        text
    }
}

/// A figure in words.
type Shown = fn(&Figures) -> String;

/// Every figure of a report, by name.
const FIGURES: [(&str, Shown); 20] = [
    ("sessions", |it| it.sessions.to_string()),
    ("trials", |it| it.trials.to_string()),
    ("hypotheses", |it| it.hypotheses.to_string()),
    ("without an edit", |it| it.untestable.to_string()),
    ("interventions", |it| it.interventions.to_string()),
    ("single samples", |it| it.single_samples.to_string()),
    ("runs", |it| {
        let runs = it.runs;
        let mut parts = vec![format!("{} done", runs.done)];
        let others = [
            (runs.failed, "failed"),
            (runs.held, "held"),
            (runs.stopped, "stopped"),
        ];
        parts.extend(
            others
                .into_iter()
                .filter(|(n, _)| *n > 0)
                .map(|(n, word)| format!("{n} {word}")),
        );
        parts.join(", ")
    }),
    ("successful runs", |it| it.successes.to_string()),
    ("Trial Success Rate", |it| percent(it.trial_success_rate)),
    ("mean progress", |it| {
        it.progress.map_or_else(
            || "–".to_owned(),
            |mean| format!("{mean:+.3} over {}", it.progress_runs),
        )
    }),
    ("Validated", |it| verdict(it, it.verdicts.validated)),
    ("Partially Validated", |it| {
        verdict(it, it.verdicts.partially_validated)
    }),
    ("Refuted", |it| verdict(it, it.verdicts.refuted)),
    ("Inconclusive", |it| verdict(it, it.verdicts.inconclusive)),
    ("why Inconclusive", |it| {
        let reasons: Vec<String> = it
            .inconclusive
            .iter()
            .map(|(reason, n)| format!("{reason} {n}"))
            .collect();
        if reasons.is_empty() {
            "–".to_owned()
        } else {
            reasons.join(", ")
        }
    }),
    ("fulfilment rate", |it| {
        let unknown = it.fulfilment.unknown;
        let note = if unknown > 0 {
            format!(" ({unknown} unknown)")
        } else {
            String::new()
        };
        format!("{}{note}", percent(it.fulfilment_rate))
    }),
    ("runs that lost milestones", |it| it.harm.to_string()),
    ("capability findings", |it| {
        it.capability_findings.to_string()
    }),
    ("diagnostic", |it| it.diagnostic.to_string()),
    ("cost", |it| {
        if it.cost.is_empty() {
            "no model was called".to_owned()
        } else {
            taken(&it.cost)
        }
    }),
];

fn verdict(it: &Figures, count: usize) -> String {
    let all: VerdictCounts = it.verdicts;
    format!("{count} ({})", percent(all.share(count)))
}

impl Answer for Told {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        let columns = self.columns();
        let shard = self
            .results
            .shard
            .map_or_else(String::new, |shard| format!(", part {shard}"));
        let title = format!("{}{shard}", count(self.results.results.len(), "session"));
        out.row(Tone::Strong, &title)?;
        for (set, figures) in &columns {
            if columns.len() > 1 {
                out.heading(set)?;
            }
            for (name, of) in FIGURES {
                out.labelled(&format!("  {name:<26}"), &of(figures))?;
            }
        }
        if !self.results.unread.is_empty() {
            out.heading(&format!(
                "{} not evaluated",
                count(self.results.unread.len(), "file")
            ))?;
            for one in &self.results.unread {
                out.para(2, &format!("{}: {}", one.file, one.reason))?;
            }
        }
        Ok(())
    }
}
