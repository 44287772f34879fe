//! Six gates around a reset (SPEC 3). Pure: everything a gate judges stands in its input, and what cannot be evaluated is held.

mod report;

pub use report::{GateResult, Report};
