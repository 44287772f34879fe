//! From the courses of a loop to its report.

use crate::model::{Branch, DebugReport, Filed, RunReport, Tested, TrialReport};
use crate::pipeline::{Outcome, PipelineError};

use super::{Begun, Bench};

/// What the loop made of the session.
pub(super) fn report(bench: &Bench<'_>, begun: Begun) -> Result<DebugReport, PipelineError> {
    let settings = begun.request.settings;
    let session = bench.store.session(settings.branch.session())?;
    let all = bench.store.branches(settings.branch.session())?;
    let mut trials = Vec::new();
    let mut runtime = settings.runtime;
    for course in begun.courses {
        let mut tested = Vec::new();
        for (filed, outcome) in course.tested {
            if let Some(ran) = outcome.as_ref().and_then(|it| it.branches.first()) {
                runtime = runtime.or_else(|| ran.runtime.clone());
            }
            tested.push(one(filed, outcome, &all));
        }
        trials.push(TrialReport {
            trial: course.trial,
            tested,
            note: course.note,
        });
    }
    let mut usage = bench.analyst.used();
    usage.add(&begun.judge.map(|judge| judge.used()).unwrap_or_default());
    Ok(DebugReport {
        analyst: bench.analyst.name(),
        runtime: runtime.unwrap_or_default(),
        seed: settings.seed,
        milestones: session.milestones.len(),
        usage,
        branch: settings.branch,
        notes: begun.notes,
        trials,
    })
}

/// One hypothesis with its runs. `all`: the branches of the session, for what runs that were stopped and run again had taken.
fn one(filed: Filed, outcome: Option<Outcome>, all: &[Branch]) -> Tested {
    let Some(outcome) = outcome else {
        return Tested {
            hypothesis: filed,
            category: None,
            class: None,
            n: 0,
            runs: Vec::new(),
            verdict: None,
            reason: None,
            progress: None,
            diagnostic: false,
        };
    };
    let run = |branch: &Branch| RunReport {
        branch: branch.id.clone(),
        run: branch.run,
        gate: branch.gate,
        fulfilled: branch.fulfilled,
        success: branch.success,
        milestones: branch.milestones,
        reason: branch.reason.clone(),
        usage: all
            .iter()
            .filter(|one| {
                one.intervention == branch.intervention && one.run_index == branch.run_index
            })
            .filter_map(|one| one.usage)
            .reduce(|mut sum, more| {
                sum.add(&more);
                sum
            }),
    };
    Tested {
        hypothesis: filed,
        category: Some(outcome.intervention.category),
        class: outcome.intervention.class,
        n: outcome.intervention.n,
        runs: outcome.branches.iter().map(run).collect(),
        verdict: outcome.verdict,
        diagnostic: outcome.diagnostic(),
        reason: outcome.reason,
        progress: outcome.progress,
    }
}
