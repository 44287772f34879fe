//! Verdicts over the runs of an intervention (SPEC 2.6), and the rates that a report counts from them (SPEC 2.7).
//!
//! Milestones are compared as integers: with K ≤ 5 one milestone is the "20% more" of the paper.

use std::fmt;

use serde::Serialize;

use super::{Branch, Category, RunStatus, Tally};

/// A verdict over an intervention's runs (SPEC 2.6).
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// At least m runs succeed.
    Validated,
    /// At least m runs executed the edit and got further.
    PartiallyValidated,
    /// At least m runs executed the edit and got no further.
    Refuted,
    /// None of these, for a reason.
    Inconclusive,
}

impl Verdict {
    /// The name as it stands in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Validated => "validated",
            Self::PartiallyValidated => "partially_validated",
            Self::Refuted => "refuted",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Validated => "Validated",
            Self::PartiallyValidated => "Partially Validated",
            Self::Refuted => "Refuted",
            Self::Inconclusive => "Inconclusive",
        })
    }
}

/// Why there is no verdict, or why it is Inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// The unedited re-run gets no verdict.
    Baseline,
    /// One run is shown, not judged.
    SingleSample,
    /// Runs that could still decide it are not over.
    Unfinished,
    /// Too few runs were allowed to run.
    Held,
    /// Too few runs came to their end.
    Crashed,
    /// Nothing could tell success.
    NoVerifier,
    /// Too few runs executed the edit.
    NotFulfilled,
    /// The edit was executed and failed, but without milestones it cannot be told whether it got further.
    NoMilestones,
    /// It would be Refuted, but no message can mend a missing capability.
    Capability,
    /// The runs disagree.
    Split,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Baseline => "baseline",
            Self::SingleSample => "single sample",
            Self::Unfinished => "unfinished",
            Self::Held => "held",
            Self::Crashed => "crashed",
            Self::NoVerifier => "no verifier",
            Self::NotFulfilled => "not fulfilled",
            Self::NoMilestones => "no milestones",
            Self::Capability => "capability finding",
            Self::Split => "split",
        })
    }
}

/// What one run is scored by (SPEC 2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunScore {
    /// Only a run that is `done` counts.
    pub run: RunStatus,
    /// Whether the intervention was faithfully executed; unknown counts as no.
    pub fulfilled: Option<bool>,
    /// Whether the verifier passed the answer; none if nothing could tell.
    pub success: Option<bool>,
    /// Milestones beside the parent's; none if the session has none.
    pub milestones: Option<Tally>,
}

impl From<&Branch> for RunScore {
    fn from(branch: &Branch) -> Self {
        Self {
            run: branch.run,
            fulfilled: branch.fulfilled,
            success: branch.success,
            milestones: branch.milestones,
        }
    }
}

impl RunScore {
    const fn fulfilled(&self) -> bool {
        matches!(self.fulfilled, Some(true))
    }

    const fn succeeded(&self) -> bool {
        matches!(self.success, Some(true))
    }

    const fn failed(&self) -> bool {
        matches!(self.success, Some(false))
    }

    fn gain(&self) -> Option<i64> {
        self.milestones.and_then(Tally::gain)
    }
}

/// A verdict with its reason, if it needs one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// None for a baseline, a single sample, or runs that are not over.
    pub verdict: Option<Verdict>,
    /// Why there is none, or why it is Inconclusive.
    pub reason: Option<Reason>,
}

impl Ruling {
    const fn of(verdict: Verdict) -> Self {
        Self {
            verdict: Some(verdict),
            reason: None,
        }
    }

    const fn inconclusive(reason: Reason) -> Self {
        Self {
            verdict: Some(Verdict::Inconclusive),
            reason: Some(reason),
        }
    }

    const fn none(reason: Reason) -> Self {
        Self {
            verdict: None,
            reason: Some(reason),
        }
    }
}

/// Judges an intervention by its runs, of which `n` were planned. `capability`: the hypothesis is a capability finding.
#[must_use]
pub fn verdict(runs: &[RunScore], n: usize, category: Category, capability: bool) -> Ruling {
    if category == Category::None {
        return Ruling::none(Reason::Baseline);
    }
    if n <= 1 {
        return Ruling::none(Reason::SingleSample);
    }
    if runs.iter().any(|run| !run.run.is_over()) {
        return Ruling::none(Reason::Unfinished);
    }
    let m = n / 2 + 1;
    let count = |holds: &dyn Fn(&RunScore) -> bool| {
        let done = runs.iter().filter(|run| run.run == RunStatus::Done);
        done.filter(|run| holds(run)).count()
    };
    let got_further = |run: &RunScore| {
        run.fulfilled() && (run.succeeded() || run.gain().is_some_and(|gain| gain >= 1))
    };
    let got_no_further = |run: &RunScore| {
        run.fulfilled() && run.failed() && run.gain().is_some_and(|gain| gain <= 0)
    };
    if count(&RunScore::succeeded) >= m {
        Ruling::of(Verdict::Validated)
    } else if count(&got_further) >= m {
        Ruling::of(Verdict::PartiallyValidated)
    } else if count(&got_no_further) >= m && !capability {
        Ruling::of(Verdict::Refuted)
    } else if count(&|_| true) < m {
        let held = runs.iter().any(|run| run.run == RunStatus::Held);
        Ruling::inconclusive(if held { Reason::Held } else { Reason::Crashed })
    } else if count(&|run| run.success.is_some()) < m {
        Ruling::inconclusive(Reason::NoVerifier)
    } else if count(&RunScore::fulfilled) < m {
        Ruling::inconclusive(Reason::NotFulfilled)
    } else if count(&got_no_further) >= m {
        Ruling::inconclusive(Reason::Capability)
    } else if count(&|run| run.fulfilled() && run.failed() && run.gain().is_none()) >= m {
        Ruling::inconclusive(Reason::NoMilestones)
    } else {
        Ruling::inconclusive(Reason::Split)
    }
}

/// How often each verdict was given (SPEC 2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VerdictCounts {
    /// Validated.
    pub validated: usize,
    /// Inconclusive.
    pub inconclusive: usize,
    /// Partially Validated.
    pub partially_validated: usize,
    /// Refuted.
    pub refuted: usize,
}

impl VerdictCounts {
    /// All verdicts together.
    #[must_use]
    pub const fn total(&self) -> usize {
        self.validated + self.inconclusive + self.partially_validated + self.refuted
    }

    /// The share of a count in all verdicts, 0..=1; none without verdicts.
    #[must_use]
    pub fn share(&self, count: usize) -> Option<f64> {
        rate(count, self.total())
    }
}

impl FromIterator<Verdict> for VerdictCounts {
    fn from_iter<I: IntoIterator<Item = Verdict>>(verdicts: I) -> Self {
        let mut counts = Self::default();
        for verdict in verdicts {
            *match verdict {
                Verdict::Validated => &mut counts.validated,
                Verdict::Inconclusive => &mut counts.inconclusive,
                Verdict::PartiallyValidated => &mut counts.partially_validated,
                Verdict::Refuted => &mut counts.refuted,
            } += 1;
        }
        counts
    }
}

/// Trial Success Rate: successful runs among the runs of intervened trials, whichever way those ended; none without runs.
#[must_use]
pub fn trial_success_rate(runs: &[RunScore]) -> Option<f64> {
    rate(
        runs.iter().filter(|run| run.succeeded()).count(),
        runs.len(),
    )
}

/// A share, 0..=1; none of nothing.
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub fn rate(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A share as a report prints it: one decimal, such as `17.6%`; `–` where it is undefined.
#[must_use]
pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1}%", share * 100.0))
}
