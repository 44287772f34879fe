//! What the gates found, as the panel, the command line and the store take it.

use serde::Serialize;

use crate::model::GateStatus;

/// One gate's finding.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct GateResult {
    /// 1 to 6.
    pub number: u8,
    /// `lineage`, `state`, `effects`, `authority`, `config`, `outcome`.
    pub name: &'static str,
    /// Whether it holds; none while it cannot be judged yet (gate 6 before the run).
    pub holds: Option<bool>,
    /// What was checked and found, one line for a person.
    pub found: String,
    /// Further evidence, a line each: a key with its result and test, an effect with its state.
    pub details: Vec<String>,
    /// What is missing and how to mend it, if it does not hold.
    pub mend: Option<String>,
}

/// All six gates, evaluated together.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The gates in their order.
    pub gates: Vec<GateResult>,
    /// The status named by the first gate that fails, or `ready_to_resume`.
    pub status: GateStatus,
}

impl Report {
    /// Whether gates 1–5 hold.
    #[must_use]
    pub fn ready(&self) -> bool {
        self.status == GateStatus::ReadyToResume
    }

    /// Whether gate 2 alone stands in the way, so that a diagnostic branch may run.
    #[must_use]
    pub fn may_run_diagnostic(&self) -> bool {
        self.status == GateStatus::RestoreUncertain
            && self
                .gates
                .iter()
                .all(|gate| gate.number == 2 || gate.holds != Some(false))
    }

    /// The sentence of the first gate that fails.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        self.gates
            .iter()
            .find(|gate| gate.holds == Some(false))
            .map(|gate| {
                let mend = gate
                    .mend
                    .as_deref()
                    .map(|mend| format!(" {mend}"))
                    .unwrap_or_default();
                format!("gate {} {}: {}.{mend}", gate.number, gate.name, gate.found)
            })
    }
}
