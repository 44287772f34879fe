//! Lays before the gates what they judge: the store's facts, a disposable restore, the plan.

use crate::gate::{
    self, Authority, Binding, Config, Effects, Input, Lineage, ParentFacts, Report, Risk, State,
};
use crate::model::{Checkpoint, Effect, EffectClass, Manifest, RestoredKey, Session};
use crate::store::ForkFacts;

use super::{Plan, approve, config};

/// What a disposable restore gave back, for gates 2 and 5.
pub(super) struct Probe {
    /// The state recorded before the pending step.
    pub(super) checkpoint: Option<Checkpoint>,
    /// What was read back of it.
    pub(super) keys: Vec<RestoredKey>,
    /// The configuration of the run itself.
    pub(super) config: Manifest,
}

/// What the gates say, and the approval that gate 4 rests on.
pub(super) struct Judged {
    /// The gates.
    pub(super) report: Report,
    /// The owner and the approval as it is kept.
    pub(super) approval: Option<(String, String)>,
}

/// Evaluates all gates for a plan. `written`: the intervention has its id for good, so that somebody can approve it.
pub(super) fn judge(plan: &Plan, probe: &Probe, facts: &ForkFacts, written: bool) -> Judged {
    let request = &plan.request;
    let profile = &facts.workflow.profile;
    let operator = Some(request.operator.as_str()).filter(|name| !name.trim().is_empty());
    let effects = classed(&plan.session, &facts.effects);
    let asked: Vec<&str> = profile
        .tools
        .iter()
        .filter(|(_, tool)| !tool.reconcile.is_empty())
        .map(|(name, _)| name.as_str())
        .collect();
    let risk = match config::risky_change(&request.changes, &plan.description) {
        Some(changed) => Risk::of(false, Some(changed)),
        None => gate::risk(
            &plan.original.text,
            &plan.pending.text,
            profile,
            plan.description.local_fixtures,
        ),
    };
    let binding = Binding {
        intervention: Some(facts.intervention.clone()),
        parent: plan.parent.id.clone(),
        prefix: facts.prefix_digest,
        fork_step: request.step,
        edit: plan.edit_digest(),
        n: plan.runs,
        config: probe.config.digest(),
        workflow: approve::workflow_digest(&facts.workflow),
    };
    let editor = plan
        .again
        .as_ref()
        .map_or(&request.operator, |it| &it.operator);
    let approvals = approve::judged(facts, editor);
    // A good one, if there is one; else the latest, to say what is wrong with it.
    let good = approvals
        .iter()
        .find(|(approval, _)| approval.flaw.is_none() && approval.binding == binding);
    let approval = good.or(approvals.last());
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
            required: &profile.required_keys,
            checkpoint: probe.checkpoint.as_ref(),
            restored: &probe.keys,
            drift_acknowledged: request.acknowledge_drift,
        },
        effects: Effects {
            parent: &plan.parent.id,
            fork_step: request.step,
            all: &effects,
            asked: &asked,
        },
        // One terminal drives a store at a time; whoever asks is the driver.
        authority: Authority {
            operator,
            driver: operator,
            risk: &risk,
            binding: &binding,
            approval: approval.map(|(approval, _)| approval),
            intervention: written.then_some(facts.intervention.as_str()),
        },
        config: Config {
            parent: plan.parent.id.name(),
            pin: &facts.config,
            own: Some(&probe.config),
            intended: &request.changes,
            accepted: request.accept_delta,
        },
    });
    if let Some(at_start) = &plan.session.at_start {
        report.notes = at_start.changes(&facts.workflow);
    }
    Judged {
        report,
        approval: good
            .filter(|_| risk.high)
            .map(|(approval, text)| (approval.owner.clone(), text.clone())),
    }
}

/// Effects whose tool the log did not class take the class that the profile gives it.
pub(super) fn classed(session: &Session, effects: &[Effect]) -> Vec<Effect> {
    // Where log and profile both class a tool, the worse counts: a log must not talk a profile down.
    let class = |effect: &Effect| match (effect.class, session.profile.tools.get(&effect.tool)) {
        (EffectClass::Unknown, Some(tool)) => tool.class,
        (class, Some(tool)) if tool.class != EffectClass::Unknown => class.max(tool.class),
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
