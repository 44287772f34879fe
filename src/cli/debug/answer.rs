//! What a loop came to, for a person: trial by trial its hypothesis, the edit, the runs, the verdict.

use std::io;

use crate::cli::error::Exit;
use crate::cli::out::{Answer, Out, Tone};
use crate::cli::text::count;
use crate::endpoint::money;
use crate::model::{
    DebugReport, Filed, RunReport, RunStatus, Tally, Tested, Trial, TrialReport, Usage, Verdict,
};

/// Done if every trial was tried and every run came to its end, whatever the verdicts.
pub fn exit(report: &DebugReport) -> Exit {
    let whole = report.trials.iter().all(|trial| {
        let mut runs = trial.tested.iter().flat_map(|tested| &tested.runs);
        let testable = trial
            .tested
            .iter()
            .all(|tested| tested.hypothesis.proposal.is_some());
        (trial.note.is_none() || !testable) && runs.all(|run| run.run == RunStatus::Done)
    });
    if whole { Exit::Done } else { Exit::Held }
}

/// A verdict with all that belongs to it.
pub fn verdict(
    verdict: Option<Verdict>,
    reason: Option<&str>,
    diagnostic: bool,
    progress: Option<f64>,
) -> String {
    let diagnostic = if diagnostic { "diagnostic: " } else { "" };
    let verdict = verdict.map_or_else(|| "no verdict".to_owned(), |verdict| verdict.to_string());
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    let progress =
        progress.map_or_else(String::new, |progress| format!(", progress {progress:+.2}"));
    format!("{diagnostic}{verdict}{reason}{progress}")
}

/// What model calls took, in words.
pub fn taken(usage: &Usage) -> String {
    let cost = usage
        .cost_micros
        .map_or_else(String::new, |micros| format!(", {}", money(micros)));
    let about = if usage.estimated { "about " } else { "" };
    format!(
        "{}, {about}{} tokens{cost}",
        count(usize::try_from(usage.calls).unwrap_or(usize::MAX), "call"),
        usage.tokens()
    )
}

impl Answer for DebugReport {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        let Self {
            branch,
            analyst,
            runtime,
            seed,
            ..
        } = self;
        let runtime = if runtime.is_empty() {
            String::new()
        } else {
            format!(" · {runtime}")
        };
        out.row(
            Tone::Strong,
            &format!("{branch} · {analyst}{runtime} · seed {seed}"),
        )?;
        for note in &self.notes {
            out.para(2, note)?;
        }
        for trial in &self.trials {
            trial_lines(out, trial)?;
        }
        out.blank()?;
        out.para(0, &sum(self))?;
        let mut usage = self.usage;
        self.runs()
            .filter_map(|run| run.usage)
            .for_each(|more| usage.add(&more));
        if !usage.is_empty() {
            out.para(0, &taken(&usage))?;
        }
        Ok(())
    }
}

fn trial_lines(out: &mut Out, it: &TrialReport) -> io::Result<()> {
    let Trial { index, start, end } = it.trial;
    out.heading(&format!("trial {index} · steps {start}–{end}"))?;
    for tested in &it.tested {
        hypothesis(out, tested)?;
    }
    let said = it
        .tested
        .last()
        .and_then(|tested| tested.hypothesis.note.as_ref());
    match &it.note {
        Some(note) if Some(note) != said => out.para(2, note),
        _ => Ok(()),
    }
}

fn hypothesis(out: &mut Out, tested: &Tested) -> io::Result<()> {
    let Filed {
        id,
        hypothesis,
        proposal,
        intervention,
        note,
        ..
    } = &tested.hypothesis;
    let id = id.rsplit('/').next().unwrap_or(id);
    let label = format!("  {id:<4}");
    let finding = hypothesis
        .capability
        .as_ref()
        .map_or_else(String::new, |lacks| {
            format!(" Capability finding: {lacks}.")
        });
    out.labelled(
        &label,
        &format!(
            "step {} {}: {}{finding}",
            hypothesis.step, hypothesis.agent, hypothesis.reason
        ),
    )?;
    if let Some(edit) = proposal {
        let class = tested.class.map_or_else(String::new, |class| {
            format!(", {}", class.name().replace('_', " "))
        });
        out.para(
            6,
            &format!(
                "edit of step {} ({}{class}):",
                edit.target.step,
                edit.target.category.name()
            ),
        )?;
        out.para(8, &edit.text)?;
    }
    for run in &tested.runs {
        out.labelled(&format!("      {:<4} ", run.branch.name()), &run_line(run))?;
    }
    if intervention.is_some() {
        let line = verdict(
            tested.verdict,
            tested.reason.as_deref(),
            tested.diagnostic,
            tested.progress,
        );
        let tone = match tested.verdict {
            Some(Verdict::Validated) if !tested.diagnostic => Tone::Good,
            Some(Verdict::Refuted) => Tone::Bad,
            _ => Tone::Strong,
        };
        out.row(tone, &format!("      {line}"))?;
    }
    match note {
        Some(note) if intervention.is_some() => out.para(6, &format!("learnt: {note}")),
        Some(note) => out.para(6, note),
        None => Ok(()),
    }
}

fn run_line(run: &RunReport) -> String {
    let mut parts = vec![run.run.name().to_owned()];
    parts.extend(run.gate.map(|gate| gate.name().replace('_', " ")));
    parts.extend(
        run.success
            .map(|success| if success { "success" } else { "no success" }.to_owned()),
    );
    parts.extend(
        run.fulfilled
            .map(|done| if done { "fulfilled" } else { "not fulfilled" }.to_owned()),
    );
    parts.extend(
        run.milestones
            .map(|Tally { before, after, of }| format!("milestones {before} → {after} of {of}")),
    );
    if run.run != RunStatus::Done {
        parts.extend(run.reason.clone());
    }
    parts.join(" · ")
}

/// One line about all of it.
fn sum(report: &DebugReport) -> String {
    let tested = || report.trials.iter().flat_map(|trial| &trial.tested);
    let mut parts = vec![
        count(report.trials.len(), "trial"),
        count(tested().count(), "hypothesis"),
    ];
    for verdict in [
        Verdict::Validated,
        Verdict::PartiallyValidated,
        Verdict::Refuted,
        Verdict::Inconclusive,
    ] {
        let n = tested().filter(|one| one.verdict == Some(verdict)).count();
        if n > 0 {
            parts.push(format!("{n} {verdict}"));
        }
    }
    let runs = report.runs().count();
    if runs > 0 {
        let right = report
            .runs()
            .filter(|run| run.success == Some(true))
            .count();
        parts.push(format!("{right} of {} successful", count(runs, "run")));
    }
    parts.join(" · ")
}
