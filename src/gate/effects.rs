//! Gate 3, effects: what happened to the world after the checkpoint was undone, or somebody has decided what becomes of it.

use super::{Action, GateResult};
use crate::model::{BranchId, Effect, EffectClass, EffectState};

/// What gate 3 judges.
#[derive(Clone, Copy, Debug)]
pub struct Effects<'a> {
    /// The parent, to say where a decision is recorded.
    pub parent: &'a BranchId,
    /// The step to fork at: effects of earlier steps are before the checkpoint and stay.
    pub fork_step: usize,
    /// The parent's effects.
    pub all: &'a [Effect],
    /// Tools whose destination a command can ask.
    pub asked: &'a [&'a str],
}

pub(super) fn gate(input: &Effects) -> GateResult {
    let mut gate = GateResult::new(3, "effects");
    let after: Vec<&Effect> = input
        .all
        .iter()
        .filter(|effect| effect.step >= input.fork_step && effect.class != EffectClass::ReadOnly)
        .collect();
    for effect in &after {
        gate = gate.rests_on(effect.state.name());
    }
    let details = after.iter().map(|effect| {
        let state = effect.state.name();
        let why = effect
            .evidence
            .as_deref()
            .map(|why| format!(": {why}"))
            .unwrap_or_default();
        let (step, tool, key) = (effect.step, &effect.tool, &effect.operation_key);
        format!("step {step} {tool} {key} {state}{why}")
    });
    let states = [
        EffectState::Pending,
        EffectState::Irreversible,
        EffectState::Reverted,
        EffectState::Reconciled,
    ];
    let counts = states.map(|state| {
        let count = after.iter().filter(|effect| effect.state == state).count();
        (count, state.name())
    });
    let total = after.len();
    let noun = if total == 1 { "effect" } else { "effects" };
    let tally = super::report::counted(counts);
    let gate = if total == 0 {
        gate.holds("none after the checkpoint")
    } else if after.iter().any(|effect| effect.blocks()) {
        let blocking = super::report::counted(counts.into_iter().take(2));
        let session = match input.parent.name() {
            "main" => input.parent.session(),
            _ => input.parent.as_str(),
        };
        let open: Vec<&&Effect> = after.iter().filter(|effect| effect.blocks()).collect();
        let asked = |effect: &&&Effect| {
            effect.state == EffectState::Pending && input.asked.contains(&effect.tool.as_str())
        };
        let mend = if open.iter().any(asked) {
            format!(
                "Ask the destinations: dover reconcile {session} --at {}",
                input.fork_step
            )
        } else {
            // A log may have dozens; whoever sees one knows how to write the rest.
            let first = open
                .first()
                .map_or("KEY", |effect| effect.operation_key.as_str());
            format!(
                "Decide: dover set {session} --effect {first}=keep --why TEXT (or =reverted); or say what the tool does: --tool NAME=read_only"
            )
        };
        let gate = gate
            .fails(
                format!("{total} {noun} after the checkpoint: {blocking}"),
                mend,
            )
            .offers(Action::Decide);
        if open.iter().any(asked) {
            gate.offers(Action::Reconcile)
        } else {
            gate
        }
    } else {
        gate.holds(format!("{total} {noun} after the checkpoint: {tally}"))
    };
    gate.details(details)
}
