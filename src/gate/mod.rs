//! Six gates around a reset (SPEC 3). Pure: everything a gate judges stands in its input, and what cannot be evaluated is held.
//!
//! Gates 1–5 are evaluated together before anything runs; the first that does not hold names the status. Gate 6 is judged on
//! the outcome, by [`Report::judged`]. No gate looks anything up, asks a runtime, or believes one: the input carries evidence.

pub mod approval;
mod authority;
mod config;
mod effects;
pub mod key;
mod lineage;
mod outcome;
pub mod receipt;
mod report;
mod risk;
mod state;
pub mod steering;

pub use authority::{Approval, Authority, Binding, Flaw};
pub use config::Config;
pub use effects::Effects;
pub use lineage::{Lineage, ParentFacts};
pub use outcome::outcome;
pub use report::{Action, GateResult, Report};
pub use risk::{Risk, risk};
pub use state::{KeyResult, State, compare_keys};

/// Everything the gates judge, as plain data.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Gate 1.
    pub lineage: Lineage<'a>,
    /// Gate 2.
    pub state: State<'a>,
    /// Gate 3.
    pub effects: Effects<'a>,
    /// Gate 4.
    pub authority: Authority<'a>,
    /// Gate 5.
    pub config: Config<'a>,
}

/// Evaluates all gates; the first of 1–5 that does not hold names the status.
#[must_use]
pub fn evaluate(input: &Input) -> Report {
    Report::before_the_run([
        lineage::gate(&input.lineage),
        state::gate(&input.state),
        effects::gate(&input.effects),
        authority::gate(&input.authority),
        config::gate(&input.config),
    ])
}

#[cfg(test)]
mod tests;
