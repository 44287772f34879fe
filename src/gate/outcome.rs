//! Gate 6, outcome: judged after the run, by a deterministic verifier alone.

use super::{GateResult, Report};
use crate::model::{GateStatus, Judgement, Unjudged};

/// The status that an outcome gives. A diagnostic branch is at best unverified, however right its answer.
#[must_use]
pub fn outcome(answer: Option<&str>, judgement: Judgement, diagnostic: bool) -> GateStatus {
    match (answer, judgement) {
        (Some(_), Judgement::Passed) if !diagnostic => GateStatus::Verified,
        (Some(_), Judgement::Rejected) => GateStatus::FalseSuccess,
        _ => GateStatus::Unverified,
    }
}

pub(super) fn before_the_run() -> GateResult {
    GateResult {
        holds: None,
        ..GateResult::new(6, "outcome").holds("judged after the run")
    }
}

impl Report {
    /// The report after the run: gate 6 judged, and the status that it gives.
    #[must_use]
    pub fn judged(mut self, answer: Option<&str>, judgement: Judgement, diagnostic: bool) -> Self {
        self.status = outcome(answer, judgement, diagnostic);
        let gate = GateResult::new(6, "outcome");
        let gate = match (answer, judgement) {
            (Some(_), Judgement::Passed) if diagnostic => gate.fails(
                "the verifier passed, on a diagnostic branch",
                "Repeat it where the state restores exactly",
            ),
            (Some(_), Judgement::Passed) => gate.holds("the verifier passed the final answer"),
            (Some(_), Judgement::Rejected) => gate.fails(
                "the verifier rejects the final answer",
                "Try another edit, or another step",
            ),
            (_, Judgement::CannotJudge(Unjudged::NoReceipt)) => gate.fails(
                Unjudged::NoReceipt.to_string(),
                "Let the run come to its end and write one",
            ),
            (
                _,
                Judgement::CannotJudge(
                    why @ (Unjudged::NoWorkspace
                    | Unjudged::NotRun
                    | Unjudged::Signal
                    | Unjudged::Outside
                    | Unjudged::Unreadable),
                ),
            ) => gate.fails(
                why.to_string(),
                "Mend the verifier or the workspace: dover set S --verifier",
            ),
            (_, Judgement::CannotJudge(why)) if why != Unjudged::NoAnswer => gate.fails(
                why.to_string(),
                "Set what is right: dover set S --expected TEXT",
            ),
            _ => gate.fails(
                Unjudged::NoAnswer.to_string(),
                "Try another edit, or allow more steps",
            ),
        };
        self.with_outcome(gate)
    }

    /// The report of a run of which it cannot be told what came of it.
    pub(super) fn unjudged(self, found: GateResult) -> Self {
        Self {
            status: GateStatus::Unverified,
            ..self.with_outcome(found)
        }
    }

    fn with_outcome(mut self, found: GateResult) -> Self {
        self.gates.retain(|gate| gate.number != 6);
        self.gates.push(found);
        self
    }
}
