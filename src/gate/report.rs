//! What the gates found, as the panel, the command line and the store take it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::GateStatus;

/// What an operator can do about a gate that does not hold; a key in the panel and a command.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Ask the destinations what became of the effects.
    Reconcile,
    /// Decide about an effect by hand: keep it, do not repeat it; or say that it was undone.
    Decide,
    /// Acknowledge that the tool registry drifted.
    Acknowledge,
    /// Ask an owner to approve.
    RequestApproval,
    /// Accept the differences of the configuration as intended.
    AcceptDelta,
    /// Run as a diagnostic branch.
    Diagnostic,
}

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
    /// The kinds of evidence it rests on and how many there are of each: fixed words, for receipts.
    pub evidence: BTreeMap<&'static str, usize>,
    /// Further evidence, a line each: a key with its result and test, an effect with its state.
    pub details: Vec<String>,
    /// What is missing and how to mend it, if it does not hold.
    pub mend: Option<String>,
    /// What can be done about it at once.
    pub actions: Vec<Action>,
}

impl GateResult {
    /// A gate about to be judged: until then it does not hold.
    pub(super) fn new(number: u8, name: &'static str) -> Self {
        Self {
            number,
            name,
            holds: Some(false),
            found: String::new(),
            evidence: BTreeMap::new(),
            details: Vec::new(),
            mend: None,
            actions: Vec::new(),
        }
    }

    pub(super) fn holds(mut self, found: impl Into<String>) -> Self {
        self.holds = Some(true);
        self.found = found.into();
        self
    }

    pub(super) fn fails(mut self, found: impl Into<String>, mend: impl Into<String>) -> Self {
        self.holds = Some(false);
        self.found = found.into();
        self.mend = Some(mend.into());
        self
    }

    /// Offers something that can be done about it.
    pub(super) fn offers(mut self, action: Action) -> Self {
        self.actions.push(action);
        self
    }

    /// Counts one more piece of evidence of a kind.
    pub(super) fn rests_on(mut self, kind: &'static str) -> Self {
        *self.evidence.entry(kind).or_default() += 1;
        self
    }

    pub(super) fn detail(mut self, line: impl Into<String>) -> Self {
        self.details.push(line.into());
        self
    }

    pub(super) fn details(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(lines);
        self
    }
}

/// Counts with their names, those of nothing left out: `2 pending, 1 reverted`.
pub(super) fn counted<'a>(counts: impl IntoIterator<Item = (usize, &'a str)>) -> String {
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let named: Vec<String> = counts
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    named.join(", ")
}

/// All six gates, evaluated together.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The gates in their order.
    pub gates: Vec<GateResult>,
    /// The status named by the first gate that fails, or `ready_to_resume`.
    pub status: GateStatus,
    /// What an operator should know beside the gates, a line each: how the workflow profile changed since the start.
    pub notes: Vec<String>,
}

impl Report {
    /// Gates 1–5 as they were found; the first that does not hold names the status, and gate 6 waits for the run.
    pub(super) fn before_the_run(found: [GateResult; 5]) -> Self {
        let named = [
            GateStatus::InvalidLineage,
            GateStatus::RestoreUncertain,
            GateStatus::EffectsUnreconciled,
            GateStatus::NeedsApproval,
            GateStatus::ConfigUnpinned,
        ];
        let status = found
            .iter()
            .zip(named)
            .find(|(gate, _)| gate.holds != Some(true))
            .map_or(GateStatus::ReadyToResume, |(_, status)| status);
        let mut gates = Vec::from(found);
        gates.push(super::outcome::before_the_run());
        Self {
            gates,
            status,
            notes: Vec::new(),
        }
    }

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
        self.sentence(|gate| gate.holds == Some(false))
    }

    /// The sentence of the gate that holds back even a diagnostic branch, for which gate 2 need not hold.
    #[must_use]
    pub fn diagnostic_reason(&self) -> Option<String> {
        self.sentence(|gate| gate.number != 2 && gate.holds == Some(false))
    }

    fn sentence(&self, which: impl Fn(&GateResult) -> bool) -> Option<String> {
        self.gates.iter().find(|gate| which(gate)).map(|gate| {
            let mend = gate
                .mend
                .as_deref()
                .map(|mend| format!(" {mend}"))
                .unwrap_or_default();
            format!("gate {} {}: {}.{mend}", gate.number, gate.name, gate.found)
        })
    }
}
