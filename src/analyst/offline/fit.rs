//! A conditional logit: which of a session's steps is the mistake, by a weighted sum of each step's features (McFadden 1974). Fitted by
//! gradient ascent on the penalised likelihood, from zero, so that equal data give equal weights.

/// One labelled session: the features of its candidate steps, and which of them is meant.
#[derive(Clone, Debug)]
pub struct Labelled {
    /// A row a candidate.
    pub rows: Vec<Vec<f64>>,
    /// The candidate that the label names.
    pub label: usize,
}

/// Passes over the data.
const PASSES: usize = 400;
/// Length of a step.
const RATE: f64 = 0.3;

/// The weighted sum of a row.
#[must_use]
pub fn sum(weights: &[f64], row: &[f64]) -> f64 {
    weights
        .iter()
        .zip(row)
        .map(|(weight, value)| weight * value)
        .sum()
}

/// The probability of each row, by its weighted sum.
#[must_use]
pub fn probabilities(weights: &[f64], rows: &[Vec<f64>]) -> Vec<f64> {
    let sums: Vec<f64> = rows.iter().map(|row| sum(weights, row)).collect();
    let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = sums.iter().map(|sum| (sum - most).exp()).collect();
    let whole: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / whole).collect()
}

/// Fits weights; `penalty` is the strength of the pull to zero, in sessions. O(passes · rows · features).
#[must_use]
pub fn fit(data: &[Labelled], features: usize, penalty: f64) -> Vec<f64> {
    let mut weights = vec![0.0; features];
    #[allow(clippy::cast_precision_loss, reason = "a count of sessions")]
    let count = data.len().max(1) as f64;
    for _ in 0..PASSES {
        let mut gradient: Vec<f64> = weights.iter().map(|weight| -penalty * weight).collect();
        for session in data {
            let chances = probabilities(&weights, &session.rows);
            for (at, (row, chance)) in session.rows.iter().zip(chances).enumerate() {
                let meant = f64::from(u8::from(at == session.label));
                for (slope, value) in gradient.iter_mut().zip(row) {
                    *slope += (meant - chance) * value;
                }
            }
        }
        for (weight, slope) in weights.iter_mut().zip(gradient) {
            *weight += RATE * slope / count;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_marks_the_label_gets_weight_and_noise_gets_none() {
        // The first feature marks the label always, the second is the same everywhere.
        let session = |label: usize| Labelled {
            rows: (0..4)
                .map(|at| vec![f64::from(u8::from(at == label)), 1.0])
                .collect(),
            label,
        };
        let data: Vec<Labelled> = (0..4).map(session).collect();
        let weights = fit(&data, 2, 0.5);
        assert!(weights[0] > 1.0 && weights[1].abs() < 1e-9, "{weights:?}");
        let chances = probabilities(&weights, &data[2].rows);
        assert!(chances[2] > 0.5 && (chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // A stronger pull leaves less.
        assert!(fit(&data, 2, 8.0)[0] < weights[0]);
    }
}
