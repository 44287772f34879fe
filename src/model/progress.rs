//! Progress (SPEC 2.5): (A(branch) − A(parent)) / K, in −1..=1. Without milestones it is undefined, never 0.

use super::{RunScore, RunStatus, Tally};

impl Tally {
    /// Milestones gained (lost, if negative); none without milestones.
    #[must_use]
    pub fn gain(self) -> Option<i64> {
        let (before, after) = (i64::try_from(self.before), i64::try_from(self.after));
        (self.of > 0).then_some(after.ok()? - before.ok()?)
    }

    /// The progress of one run; none without milestones.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn progress(self) -> Option<f64> {
        self.gain().map(|gain| gain as f64 / self.of as f64)
    }
}

/// The progress of an intervention: the mean over its runs that came to their end; none if it is undefined in all of them.
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub fn mean_progress(runs: &[RunScore]) -> Option<f64> {
    let each: Vec<f64> = runs
        .iter()
        .filter(|run| run.run == RunStatus::Done)
        .filter_map(|run| run.milestones?.progress())
        .collect();
    (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(run: RunStatus, before: usize, after: usize, of: usize) -> RunScore {
        let milestones = Some(Tally { before, after, of });
        RunScore {
            run,
            fulfilled: None,
            success: None,
            milestones,
        }
    }

    fn is(got: Option<f64>, expected: f64) -> bool {
        got.is_some_and(|got| (got - expected).abs() < 1e-12)
    }

    #[test]
    fn gained_and_lost_over_all_milestones() {
        let of = |before, after, of| Tally { before, after, of }.progress();
        assert!(is(of(2, 4, 5), 0.4));
        assert!(is(of(2, 2, 5), 0.0));
        assert!(is(of(3, 1, 4), -0.5));
        assert_eq!(of(0, 0, 0), None);
    }

    #[test]
    fn the_mean_is_over_runs_that_came_to_their_end() {
        use RunStatus::{Done, Failed};
        let runs = [run(Done, 2, 4, 5), run(Done, 2, 2, 5), run(Failed, 2, 0, 5)];
        assert!(is(mean_progress(&runs), 0.2));
        assert_eq!(mean_progress(&[run(Done, 0, 0, 0)]), None);
        assert_eq!(mean_progress(&[]), None);
    }

    proptest! {
        #[test]
        fn stays_between_minus_one_and_one(of in 1usize..6, a in 0usize..6, b in 0usize..6) {
            let tally = Tally { before: a.min(of), after: b.min(of), of };
            prop_assert!(tally.progress().is_some_and(|p| (-1.0..=1.0).contains(&p)));
        }
    }
}
