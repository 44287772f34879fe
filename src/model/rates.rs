//! Rates: what a report counts over a data set's verdicts and runs (SPEC 2.7).

use serde::Serialize;

use super::{RunScore, Verdict};

/// How often each verdict was given (SPEC 2.7).
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq, Default)]
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
    /// Counts one more.
    pub const fn add(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Validated => &mut self.validated,
            Verdict::Inconclusive => &mut self.inconclusive,
            Verdict::PartiallyValidated => &mut self.partially_validated,
            Verdict::Refuted => &mut self.refuted,
        } += 1;
    }

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
        verdicts.into_iter().for_each(|verdict| counts.add(verdict));
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

#[cfg(test)]
mod tests {
    use super::Verdict::{Inconclusive, PartiallyValidated, Refuted, Validated};
    use super::*;
    use crate::model::RunStatus;

    fn run(success: Option<bool>) -> RunScore {
        RunScore {
            run: RunStatus::Done,
            fulfilled: None,
            success,
            milestones: None,
        }
    }

    #[test]
    fn verdict_shares_are_the_published_ones() {
        // SPEC 2: counts V/I/P/R and their percentages for WW-AB, WW-GAIA and GAIA-L1.
        let table = [
            ([11, 48, 3, 10], 72, ["15.3%", "66.7%", "4.2%", "13.9%"]),
            ([16, 57, 5, 21], 99, ["16.2%", "57.6%", "5.1%", "21.2%"]),
            ([22, 18, 8, 15], 63, ["34.9%", "28.6%", "12.7%", "23.8%"]),
        ];
        for (counts, total, percents) in table {
            let kinds = [Validated, Inconclusive, PartiallyValidated, Refuted];
            let given = kinds.into_iter().zip(counts);
            let all: VerdictCounts = given.flat_map(|(kind, n)| vec![kind; n]).collect();
            assert_eq!(all.total(), total);
            let by_kind = [
                all.validated,
                all.inconclusive,
                all.partially_validated,
                all.refuted,
            ];
            assert_eq!(by_kind, counts);
            assert_eq!(by_kind.map(|count| percent(all.share(count))), percents);
        }
    }

    #[test]
    fn success_rates_are_the_published_ones() {
        let table = [
            (38, 216, "17.6%"),
            (52, 189, "27.5%"),
            (291, 594, "49.0%"),
            (26, 231, "11.3%"),
            (33, 231, "14.3%"),
            (44, 261, "16.9%"),
        ];
        for (successes, runs, expected) in table {
            let mut all = vec![run(Some(true)); successes];
            // Whatever a run without success came to, it is a run.
            all.resize(successes + (runs - successes) / 2, run(None));
            all.resize(runs, run(Some(false)));
            assert_eq!(percent(trial_success_rate(&all)), expected);
        }
        // WW-GAIA's published 17.6% fits no count of its 297 runs.
        assert!((0..=297).all(|count| percent(rate(count, 297)) != "17.6%"));
        assert_eq!(percent(trial_success_rate(&[])), "–");
    }
}
