//! Lays before the gates what they judge: the store's facts, a disposable restore, the plan.

use crate::gate::{
    self, Authority, Binding, Config, Effects, Input, Lineage, ParentFacts, Report, State,
};
use crate::model::{Checkpoint, Effect, EffectClass, Manifest, RestoredKey, Session};
use crate::store::ForkFacts;

use super::Plan;

/// What a disposable restore gave back, for gates 2 and 5.
pub(super) struct Probe {
    /// The state recorded before the pending step.
    pub(super) checkpoint: Option<Checkpoint>,
    /// What was read back of it.
    pub(super) keys: Vec<RestoredKey>,
    /// The configuration of the run itself.
    pub(super) config: Manifest,
}

/// Evaluates all gates for a plan.
pub(super) fn judge(plan: &Plan, probe: &Probe, facts: &ForkFacts) -> Report {
    let request = &plan.request;
    let operator = Some(request.operator.as_str()).filter(|name| !name.trim().is_empty());
    let effects = classed(&plan.session, &facts.effects);
    let risk = gate::risk(
        &plan.original.text,
        &plan.pending.text,
        &plan.session.profile,
        plan.description.local_fixtures,
    );
    let binding = Binding {
        parent: plan.parent.id.clone(),
        fork_step: request.step,
        edit: plan.pending.digest(),
        n: plan.runs,
        config: plan.description.config.digest(),
    };
    let mut report = gate::evaluate(&Input {
        lineage: Lineage {
            branches: &facts.ids,
            parent: &plan.parent.id,
            facts: facts.parent.as_ref().map(|parent| ParentFacts {
                steps: parent.steps,
                ancestors: &facts.ancestors,
                recorded: facts.recorded_digest,
                recomputed: facts.prefix_digest,
            }),
            fork_step: request.step,
        },
        state: State {
            required: &plan.session.profile.required_keys,
            checkpoint: probe.checkpoint.as_ref(),
            restored: &probe.keys,
            drift_acknowledged: request.acknowledge_drift,
        },
        effects: Effects {
            parent: &plan.parent.id,
            fork_step: request.step,
            all: &effects,
        },
        // One terminal drives a store at a time; whoever asks is the driver.
        authority: Authority {
            operator,
            driver: operator,
            risk: &risk,
            binding: &binding,
            approval: None,
        },
        config: Config {
            pin: Some(plan.description.config.digest()),
            own: Some(probe.config.digest()),
            deltas: &[],
        },
    });
    if let Some(at_start) = &plan.session.at_start {
        report.notes = at_start.changes(&plan.session.workflow());
    }
    report
}

/// Effects whose tool the log did not class take the class that the profile gives it.
pub(super) fn classed(session: &Session, effects: &[Effect]) -> Vec<Effect> {
    let class = |effect: &Effect| match (effect.class, session.profile.tools.get(&effect.tool)) {
        (EffectClass::Unknown, Some(tool)) => tool.class,
        (class, _) => class,
    };
    effects
        .iter()
        .map(|effect| Effect {
            class: class(effect),
            ..effect.clone()
        })
        .collect()
}
