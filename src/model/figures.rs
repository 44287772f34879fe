//! Figures over many debugged sessions (SPEC 2.7). Everything is counted in whole numbers, so that the figures of parts add up to those of the
//! whole in whatever order they are put together.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Category, DebugReport, RunReport, RunStatus, Tested, Usage, VerdictCounts, rate};

/// A common multiple of all K up to five, so that progress sums are whole.
const PARTS: i64 = 60;

/// Runs by how they ended.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RunCounts {
    /// Came to their end.
    pub done: usize,
    /// Broke down.
    pub failed: usize,
    /// Held by a gate or before an effect.
    pub held: usize,
    /// Stopped, or went with their program.
    pub stopped: usize,
}

/// Fulfilment over the runs that came to their end; unknown counts as no.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Fulfilment {
    /// Faithfully executed.
    pub yes: usize,
    /// Not.
    pub no: usize,
    /// It could not be told.
    pub unknown: usize,
}

/// What a set of sessions came to.
#[derive(Serialize, Clone, Debug, PartialEq, Default)]
pub struct Figures {
    /// Sessions.
    pub sessions: usize,
    /// Trials.
    pub trials: usize,
    /// Hypotheses, those of later rounds included.
    pub hypotheses: usize,
    /// Hypotheses that no edit could be made for.
    pub untestable: usize,
    /// Hypotheses with runs.
    pub interventions: usize,
    /// Those with one planned run, which get no verdict.
    pub single_samples: usize,
    /// Those whose verdict is that of diagnostic branches.
    pub diagnostic: usize,
    /// Their runs.
    pub runs: RunCounts,
    /// Runs that the verifier passed.
    pub successes: usize,
    /// Successful runs over runs of intervened trials; none without runs.
    pub trial_success_rate: Option<f64>,
    /// Mean progress over the runs that have one, in −1..=1; none where no session has milestones.
    pub progress: Option<f64>,
    /// Runs that the mean is over.
    pub progress_runs: usize,
    /// Verdicts; a single sample has none.
    pub verdicts: VerdictCounts,
    /// Shares of the four verdicts, in the order validated, partially validated, inconclusive, refuted.
    pub verdict_shares: Option<[f64; 4]>,
    /// Fulfilment.
    pub fulfilment: Fulfilment,
    /// Faithfully executed runs over runs that came to their end.
    pub fulfilment_rate: Option<f64>,
    /// Why interventions were Inconclusive.
    pub inconclusive: BTreeMap<String, usize>,
    /// Runs that lost milestones.
    pub harm: usize,
    /// Hypotheses that are capability findings; reported apart.
    pub capability_findings: usize,
    /// What all model calls took, the analyst's and the runs'.
    pub cost: Usage,
    /// Sum of the progress, in sixtieths.
    #[serde(skip)]
    progress_sum: i64,
}

impl Figures {
    /// The figures of these reports.
    #[must_use]
    pub fn of<'a>(reports: impl IntoIterator<Item = &'a DebugReport>) -> Self {
        let mut figures = Self::default();
        for report in reports {
            figures.session(report);
        }
        figures.derive();
        figures
    }

    fn session(&mut self, report: &DebugReport) {
        self.sessions += 1;
        self.trials += report.trials.len();
        self.cost.add(&report.usage);
        for tested in report.trials.iter().flat_map(|trial| &trial.tested) {
            self.hypotheses += 1;
            self.untestable += usize::from(tested.hypothesis.proposal.is_none());
            self.capability_findings +=
                usize::from(tested.hypothesis.hypothesis.capability.is_some());
            // The unedited re-run is beside the interventions.
            if !tested.runs.is_empty() && tested.category != Some(Category::None) {
                self.intervention(tested);
            }
        }
    }

    fn intervention(&mut self, tested: &Tested) {
        self.interventions += 1;
        self.single_samples += usize::from(tested.n == 1);
        self.diagnostic += usize::from(tested.diagnostic);
        if let Some(verdict) = tested.verdict {
            self.verdicts.add(verdict);
            if verdict == super::Verdict::Inconclusive {
                let reason = tested
                    .reason
                    .clone()
                    .unwrap_or_else(|| "no reason".to_owned());
                *self.inconclusive.entry(reason).or_default() += 1;
            }
        }
        tested.runs.iter().for_each(|run| self.run(run));
    }

    fn run(&mut self, run: &RunReport) {
        match run.run {
            RunStatus::Done => self.runs.done += 1,
            RunStatus::Failed => self.runs.failed += 1,
            RunStatus::Held => self.runs.held += 1,
            _ => self.runs.stopped += 1,
        }
        if let Some(usage) = &run.usage {
            self.cost.add(usage);
        }
        if run.run != RunStatus::Done {
            return;
        }
        self.successes += usize::from(run.success == Some(true));
        match run.fulfilled {
            Some(true) => self.fulfilment.yes += 1,
            Some(false) => self.fulfilment.no += 1,
            None => self.fulfilment.unknown += 1,
        }
        let gain = run
            .milestones
            .and_then(|tally| Some((tally.gain()?, i64::try_from(tally.of).ok()?)));
        if let Some((gain, of)) = gain.filter(|(_, of)| *of > 0) {
            self.progress_runs += 1;
            self.progress_sum += gain * PARTS / of;
            self.harm += usize::from(gain < 0);
        }
    }

    /// Rates from counts.
    fn derive(&mut self) {
        let all = self.runs.done + self.runs.failed + self.runs.held + self.runs.stopped;
        self.trial_success_rate = rate(self.successes, all);
        self.fulfilment_rate = rate(self.fulfilment.yes, self.runs.done);
        let VerdictCounts {
            validated,
            partially_validated,
            inconclusive,
            refuted,
        } = self.verdicts;
        let share = |count| self.verdicts.share(count);
        self.verdict_shares = share(validated)
            .zip(share(partially_validated))
            .zip(share(inconclusive).zip(share(refuted)))
            .map(|((v, p), (i, r))| [v, p, i, r]);
        #[allow(clippy::cast_precision_loss, reason = "sums of a few sixtieths a run")]
        let mean = self.progress_sum as f64 / (PARTS as f64 * self.progress_runs as f64);
        self.progress = (self.progress_runs > 0).then_some(mean);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{
        BranchId, Filed, Hypothesis, Proposal, Standing, Tally, Target, Trial, TrialReport, verdict,
    };

    fn run(
        status: RunStatus,
        success: Option<bool>,
        fulfilled: Option<bool>,
        gain: Option<(usize, usize)>,
    ) -> RunReport {
        RunReport {
            branch: BranchId::new("s", "b1"),
            run: status,
            gate: None,
            fulfilled,
            success,
            milestones: gain.map(|(before, after)| Tally {
                before,
                after,
                of: 5,
            }),
            reason: None,
            usage: None,
        }
    }

    fn tested(n: usize, runs: Vec<RunReport>, lacks: bool) -> Tested {
        let trial = Trial {
            index: 1,
            start: 1,
            end: 2,
        };
        let scores: Vec<_> = runs.iter().map(RunReport::score).collect();
        let ruling = verdict(&scores, n, Category::Instruction, lacks);
        Tested {
            hypothesis: Filed {
                id: "s/h1".into(),
                branch: BranchId::main("s"),
                round: 1,
                analyst: "offline".into(),
                hypothesis: Hypothesis {
                    trial,
                    step: 1,
                    agent: "A".into(),
                    reason: String::new(),
                    evidence: Vec::new(),
                    weight: 1.0,
                    capability: lacks.then(|| "no reader".into()),
                },
                proposal: Some(Proposal {
                    target: Target {
                        step: 1,
                        category: Category::Instruction,
                    },
                    text: "x".into(),
                }),
                intervention: Some("s/i1".into()),
                standing: Standing::Accepted,
                note: None,
            },
            category: Some(Category::Instruction),
            class: None,
            n,
            progress: None,
            diagnostic: false,
            verdict: ruling.verdict,
            reason: ruling.reason.map(|reason| reason.to_string()),
            runs,
        }
    }

    fn report(tested: Vec<Tested>) -> DebugReport {
        DebugReport {
            branch: BranchId::main("s"),
            analyst: "offline".into(),
            runtime: "scenario".into(),
            seed: 0,
            milestones: 5,
            trials: vec![TrialReport {
                trial: Trial {
                    index: 1,
                    start: 1,
                    end: 2,
                },
                tested,
                note: None,
            }],
            notes: Vec::new(),
            usage: Usage::default(),
        }
    }

    #[test]
    fn each_figure_is_what_a_hand_counts() {
        use RunStatus::{Done, Failed, Held};
        let yes = Some(true);
        let no = Some(false);
        let reports = [
            // Two of three succeed: Validated, +3/5 twice and 0.
            report(vec![tested(
                3,
                vec![
                    run(Done, yes, yes, Some((2, 5))),
                    run(Done, yes, None, Some((2, 5))),
                    run(Done, no, no, Some((2, 2))),
                ],
                false,
            )]),
            // Fulfilled, unsuccessful, one gained of five: Partially Validated. And one that lost a milestone.
            report(vec![
                tested(3, vec![run(Done, no, yes, Some((2, 3))); 3], false),
                tested(
                    3,
                    vec![
                        run(Done, no, yes, Some((2, 1))),
                        run(Done, no, yes, Some((2, 2))),
                        run(Failed, None, None, Some((2, 2))),
                    ],
                    false,
                ),
            ]),
            // Success without fulfilment of one in three, held, a single sample, a capability finding.
            report(vec![
                tested(
                    3,
                    vec![
                        run(Done, yes, no, None),
                        run(Done, no, no, None),
                        run(Done, no, no, None),
                    ],
                    false,
                ),
                tested(3, vec![run(Held, None, None, None)], false),
                tested(1, vec![run(Done, yes, yes, None)], false),
                tested(3, vec![run(Done, no, yes, Some((2, 2))); 3], true),
            ]),
        ];
        let figures = Figures::of(&reports);
        assert_eq!(
            (
                figures.sessions,
                figures.trials,
                figures.hypotheses,
                figures.interventions
            ),
            (3, 3, 7, 7)
        );
        assert_eq!(
            figures.runs,
            RunCounts {
                done: 15,
                failed: 1,
                held: 1,
                stopped: 0
            }
        );
        assert_eq!(
            (figures.successes, figures.trial_success_rate),
            (4, Some(4.0 / 17.0))
        );
        let verdicts = figures.verdicts;
        assert_eq!(
            (
                verdicts.validated,
                verdicts.partially_validated,
                verdicts.refuted,
                verdicts.inconclusive
            ),
            (1, 1, 1, 3)
        );
        assert_eq!(figures.single_samples, 1);
        // 3/5 + 3/5 + 0 + 3·1/5 − 1/5 + 0 + 3·0 over 11 runs.
        assert_eq!(figures.progress_runs, 11);
        assert!((figures.progress.unwrap() - (1.8 - 0.2) / 11.0).abs() < 1e-12);
        assert_eq!(figures.harm, 1);
        assert_eq!(figures.capability_findings, 1);
        assert_eq!(
            figures.fulfilment,
            Fulfilment {
                yes: 10,
                no: 4,
                unknown: 1
            }
        );
        let reasons: Vec<_> = figures.inconclusive.into_iter().collect();
        assert_eq!(
            reasons,
            [
                ("capability finding".into(), 1),
                ("held".into(), 1),
                ("not fulfilled".into(), 1)
            ]
        );
    }

    #[test]
    fn without_milestones_progress_is_undefined() {
        let figures = Figures::of(&[report(vec![tested(
            3,
            vec![run(RunStatus::Done, Some(false), Some(true), None); 3],
            false,
        )])]);
        assert_eq!((figures.progress, figures.progress_runs), (None, 0));
        assert_eq!(Figures::of(&[]).trial_success_rate, None);
    }

    proptest! {
        #[test]
        fn the_order_of_reports_changes_nothing(
            runs in prop::collection::vec((0..2_usize, 0..6_usize, 0..6_usize, any::<Option<bool>>()), 1..40),
            cut in 0..40_usize,
        ) {
            let one = |(kind, before, after, success): &(usize, usize, usize, Option<bool>)| {
                let status = if *kind == 0 { RunStatus::Done } else { RunStatus::Failed };
                report(vec![tested(1, vec![run(status, *success, *success, Some((*before.min(&5), *after.min(&5))))], false)])
            };
            let reports: Vec<DebugReport> = runs.iter().map(one).collect();
            let (a, b) = reports.split_at(cut.min(reports.len()));
            prop_assert_eq!(Figures::of(&reports), Figures::of(b.iter().chain(a)));
        }
    }
}
