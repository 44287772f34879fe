//! Counts tokens and money over all calls that share it, and stops before a limit is passed.
//!
//! A request is let through only if what it will surely take (its prompt, estimated) still fits; what an answer takes is counted when it is
//! there. So the limit can be passed by one answer at most, never by a further request.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::model::Usage;

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Prices {
    /// Sent.
    pub prompt: f64,
    /// Received.
    pub completion: f64,
}

/// What may be used at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Limits {
    /// Tokens, sent and received.
    pub tokens: Option<u64>,
    /// Money, in millionths of the prices' currency; needs prices.
    pub cost: Option<u64>,
}

/// Counts what is used; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    prices: Option<Prices>,
    limits: Limits,
    used: Arc<Mutex<Usage>>,
}

impl Meter {
    /// An empty meter.
    #[must_use]
    pub fn new(prices: Option<Prices>, limits: Limits) -> Self {
        Self {
            prices,
            limits,
            used: Arc::default(),
        }
    }

    /// A meter at other prices that counts into this one and keeps its limits.
    #[must_use]
    pub fn priced(&self, prices: Option<Prices>) -> Self {
        Self {
            prices,
            ..self.clone()
        }
    }

    /// What was used so far.
    #[must_use]
    pub fn used(&self) -> Usage {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a number of tokens costs, in millionths of the prices' currency; none where no price is known.
    #[must_use]
    pub fn cost(&self, prompt_tokens: u64, completion_tokens: u64) -> Option<u64> {
        let prices = self.prices?;
        // A price per million tokens is as many millionths per token.
        #[allow(clippy::cast_precision_loss)] // fewer than 2^52 tokens
        let micros =
            prompt_tokens as f64 * prices.prompt + completion_tokens as f64 * prices.completion;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // prices are not negative; too much saturates
        Some(micros.ceil() as u64)
    }

    /// Whether a request of about so many tokens may still be made.
    ///
    /// # Errors
    /// The limit it would pass, in words.
    pub fn admit(&self, prompt_tokens: u64) -> Result<(), String> {
        let used = self.used();
        if let Some(limit) = self.limits.tokens
            && used.tokens() + prompt_tokens > limit
        {
            return Err(format!(
                "{} of at most {limit} tokens are used, and the next request takes about {prompt_tokens}",
                used.tokens()
            ));
        }
        if let Some(limit) = self.limits.cost
            && let Some(next) = self.cost(prompt_tokens, 0)
            && used.cost_micros.unwrap_or_default() + next > limit
        {
            return Err(format!(
                "{} of at most {} is spent, and the next request costs about {}",
                money(used.cost_micros.unwrap_or_default()),
                money(limit),
                money(next)
            ));
        }
        Ok(())
    }

    /// Counts one whole answer and says what it took. Tokens that the server did not count are estimated.
    pub fn count(&self, counted: Option<(u64, u64)>, sent: u64, received: &str) -> Usage {
        let (prompt_tokens, completion_tokens) =
            counted.unwrap_or_else(|| (sent, estimate(received)));
        let usage = Usage {
            calls: 1,
            prompt_tokens,
            completion_tokens,
            estimated: counted.is_none(),
            cost_micros: self.cost(prompt_tokens, completion_tokens),
        };
        self.used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(&usage);
        usage
    }
}

/// An amount of millionths as a person reads it.
#[must_use]
pub fn money(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let kept = text.trim_end_matches('0').len().max(text.len() - 4);
    text.get(..kept).unwrap_or(&text).to_owned()
}

/// About how many tokens a text has: one per four bytes of ASCII, one per other character. Rather too many than too few.
#[must_use]
pub fn estimate(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().filter(|c| !c.is_ascii()).count();
    (ascii.div_ceil(4) + other) as u64
}

/// The same of a list of chat messages, with four tokens of frame each.
#[must_use]
pub fn estimate_messages(messages: &[Value]) -> u64 {
    messages
        .iter()
        .map(|message| {
            let text = message.get("content").map(|content| match content {
                Value::String(text) => estimate(text),
                other => estimate(&other.to_string()),
            });
            text.unwrap_or_default() + 4
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_stops_the_next_request_and_counts_money() {
        let prices = Prices {
            prompt: 2.0,
            completion: 10.0,
        };
        let limits = Limits {
            tokens: Some(1000),
            cost: Some(3000),
        };
        let meter = Meter::new(Some(prices), limits);
        assert_eq!(meter.admit(900), Ok(()));
        assert!(meter.admit(1001).is_err());
        // 500 × 2 + 100 × 10 = 2000 millionths.
        let one = meter.clone().count(Some((500, 100)), 0, "");
        assert_eq!(one.cost_micros, Some(2000));
        assert_eq!(meter.used().tokens(), 600);
        assert_eq!(meter.admit(400), Ok(()));
        assert!(
            meter
                .admit(401)
                .unwrap_err()
                .contains("600 of at most 1000")
        );
    }

    #[test]
    fn money_shows_two_decimals_at_least() {
        for (micros, shown) in [
            (0, "0.00"),
            (2000, "0.002"),
            (1_500_000, "1.50"),
            (12_345_678, "12.345678"),
        ] {
            assert_eq!(money(micros), shown);
        }
    }

    #[test]
    fn tokens_nobody_counted_are_estimated_and_say_so() {
        let meter = Meter::default();
        let usage = meter.count(None, 7, "eight by 图片");
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (7, 5));
        assert!(usage.estimated && usage.cost_micros.is_none());
    }
}
