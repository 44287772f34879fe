//! The clock, injected so that tests are deterministic.

/// Tells the time as RFC 3339 text in UTC, to the second.
pub trait Clock: Send + Sync {
    /// The present moment, such as `2026-01-31T12:00:00Z`.
    fn now(&self) -> String;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> String {
        jiff::Timestamp::now()
            .strftime("%Y-%m-%dT%H:%M:%SZ")
            .to_string()
    }
}
