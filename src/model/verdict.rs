//! Verdicts over the runs of an intervention (SPEC 2.6).
//!
//! Milestones are compared as integers: with K ≤ 5 one milestone is the "20% more" of the paper.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Branch, Category, RunStatus, Tally};

/// A verdict over an intervention's runs (SPEC 2.6).
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// Too few runs came to their end, none of them by a fault: they were stopped or interrupted.
    Stopped,
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
            Self::Stopped => "stopped",
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

    pub(super) const fn succeeded(&self) -> bool {
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
        let any = |run: RunStatus| runs.iter().any(|score| score.run == run);
        Ruling::inconclusive(if any(RunStatus::Held) {
            Reason::Held
        } else if any(RunStatus::Failed) {
            Reason::Crashed
        } else {
            Reason::Stopped
        })
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Verdict::{Inconclusive, PartiallyValidated, Refuted, Validated};
    use super::*;

    /// A run in four letters: `d`one, `c`rashed, `h`eld or still `r`unning; executed `f` or not `-`; passed `+`, failed `-` or
    /// unjudged `?`; then how many of 5 milestones it has beside the parent's 2, or `.` without milestones.
    fn run(letters: &str) -> RunScore {
        let [run, fulfilled, success, after] = letters.chars().collect::<Vec<_>>()[..] else {
            panic!("four letters: {letters}")
        };
        RunScore {
            run: match run {
                'd' => RunStatus::Done,
                'c' => RunStatus::Failed,
                'h' => RunStatus::Held,
                's' => RunStatus::Stopped,
                _ => RunStatus::Running,
            },
            fulfilled: Some(fulfilled == 'f'),
            success: match success {
                '+' => Some(true),
                '-' => Some(false),
                _ => None,
            },
            milestones: after.to_digit(10).map(|after| Tally {
                before: 2,
                after: after as usize,
                of: 5,
            }),
        }
    }

    fn of(runs: &str, n: usize) -> (Option<Verdict>, Option<Reason>) {
        let runs: Vec<_> = runs.split_whitespace().map(run).collect();
        let got = verdict(&runs, n, Category::Instruction, false);
        (got.verdict, got.reason)
    }

    #[test]
    fn the_verdict_is_a_majority_of_the_planned_runs() {
        let table = [
            // Two of three succeed, executed or not.
            ("df+5 df+5 df-2", 3, Validated, None),
            ("d-+5 d-+. c--2", 3, Validated, None),
            // One success and one gain, both executed.
            ("df+5 df-3 df-2", 3, PartiallyValidated, None),
            ("df-3 df-4 d--2", 3, PartiallyValidated, None),
            ("df?3 df?3 df?2", 3, PartiallyValidated, None),
            // Executed, failed, nothing gained; losing counts too.
            ("df-2 df-1 df+5", 3, Refuted, None),
            ("df-2 df-2 c--2", 3, Refuted, None),
            // m of 4 is 3, of 5 is 3, of 2 is 2.
            ("df+5 df+5 df-2 df-2", 4, Inconclusive, Some(Reason::Split)),
            ("df+5 df+5 df+5 df-2 df-2", 5, Validated, None),
            ("df-2 df-3", 2, Inconclusive, Some(Reason::Split)),
            ("df-2 df-3 df+5", 3, PartiallyValidated, None),
            // Runs that did not come to their end count for nothing, so that n stays what was planned.
            ("df+5 cf+5 cf+5", 3, Inconclusive, Some(Reason::Crashed)),
            ("df-2 cf-2", 3, Inconclusive, Some(Reason::Crashed)),
            ("df+5 sf+5 sf+5", 3, Inconclusive, Some(Reason::Stopped)),
            ("h--2", 3, Inconclusive, Some(Reason::Held)),
            ("df-2 h--2 h--2", 3, Inconclusive, Some(Reason::Held)),
            // Nobody could tell.
            ("df?2 df?2 df?2", 3, Inconclusive, Some(Reason::NoVerifier)),
            ("df?. df?. df?.", 3, Inconclusive, Some(Reason::NoVerifier)),
            (
                "d--2 d--2 df-2",
                3,
                Inconclusive,
                Some(Reason::NotFulfilled),
            ),
            (
                "d--4 d--4 df-4",
                3,
                Inconclusive,
                Some(Reason::NotFulfilled),
            ),
            // Without milestones: Validated or Inconclusive, nothing else.
            ("df+. df+. df-.", 3, Validated, None),
            (
                "df-. df-. df-.",
                3,
                Inconclusive,
                Some(Reason::NoMilestones),
            ),
            (
                "df+. df-. df-.",
                3,
                Inconclusive,
                Some(Reason::NoMilestones),
            ),
        ];
        for (runs, n, expected, reason) in table {
            assert_eq!(of(runs, n), (Some(expected), reason), "{runs}");
        }
    }

    #[test]
    fn some_runs_get_no_verdict() {
        assert_eq!(of("df+5", 1), (None, Some(Reason::SingleSample)));
        assert_eq!(of("df+5 df+5 rf?2", 3), (None, Some(Reason::Unfinished)));
        let baseline = verdict(&[run("df+5"); 3], 3, Category::None, false);
        assert_eq!(
            (baseline.verdict, baseline.reason),
            (None, Some(Reason::Baseline))
        );
        assert_eq!(Reason::SingleSample.to_string(), "single sample");
    }

    #[test]
    fn unknown_execution_counts_as_none() {
        let mut unknown = run("df-2");
        unknown.fulfilled = None;
        let got = verdict(&[unknown; 3], 3, Category::Plan, false);
        assert_eq!(got.reason, Some(Reason::NotFulfilled));
    }

    #[test]
    fn a_capability_finding_is_never_refuted() {
        let got = verdict(&[run("df-2"); 3], 3, Category::Plan, true);
        assert_eq!(got, Ruling::inconclusive(Reason::Capability));
        let got = verdict(&[run("df+2"); 3], 3, Category::Plan, true);
        assert_eq!(got, Ruling::of(Validated));
    }

    fn any_run() -> impl Strategy<Value = RunScore> {
        let letters = ["dch", "f-", "+-?", "01235."]
            .map(|all| prop::sample::select(all.chars().collect::<Vec<_>>()));
        let [a, b, c, d] = letters;
        (a, b, c, d).prop_map(|(a, b, c, d)| run(&String::from_iter([a, b, c, d])))
    }

    proptest! {
        #[test]
        fn order_does_not_matter_and_a_reason_is_given_exactly_if_inconclusive(
            runs in prop::collection::vec(any_run(), 0..6), capability: bool,
        ) {
            let n = runs.len().max(2);
            let got = verdict(&runs, n, Category::Message, capability);
            let mut turned = runs.clone();
            turned.reverse();
            prop_assert_eq!(verdict(&turned, n, Category::Message, capability), got);
            prop_assert_eq!(got.reason.is_some(), got.verdict == Some(Inconclusive));
            prop_assert!(!(capability && got.verdict == Some(Refuted)));
        }

        #[test]
        fn without_milestones_nothing_is_refuted_or_partly_validated(runs in prop::collection::vec(any_run(), 2..6)) {
            let bare: Vec<_> = runs.iter().map(|run| RunScore { milestones: None, ..*run }).collect();
            let got = verdict(&bare, bare.len(), Category::Plan, false).verdict;
            prop_assert!(matches!(got, Some(Validated | Inconclusive)));
        }
    }
}
