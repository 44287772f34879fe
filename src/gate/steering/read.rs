//! From a record's blocks to the gates: what contradicts itself is held here, everything else is judged by the gate.

use std::collections::BTreeMap;

use super::blocks::{self, Blocks, Ending, Evidence, Reach, VerifierSaid};
use super::file::Family;
use crate::gate::{self, GateResult, Risk};
use crate::model::{
    Checkpoint, Digest, Effect, EffectClass, EffectState, Judgement, KeyState, RestoredKey,
    RunStatus, Unjudged,
};

type Found = Result<GateResult, String>;

pub(super) fn lineage(blocks: &Blocks, family: &Family) -> Found {
    let (id, parent, told) = (blocks.own_id()?, blocks.parent()?, blocks.lineage()?);
    family.stands_once(&id)?;
    let ancestors = family.ancestors(&parent, &told.ancestors)?;
    Ok(gate::lineage::gate(&gate::Lineage {
        branches: &[id],
        parent: &parent,
        facts: Some(gate::ParentFacts {
            steps: told.parent_steps,
            ancestors: &ancestors,
            recorded: Some(told.prefix_recorded),
            recomputed: Some(told.prefix_recomputed),
        }),
        fork_step: told.fork_step,
    }))
}

pub(super) fn state(blocks: &Blocks) -> Found {
    let told = blocks.state()?;
    if told.required.is_empty() {
        return Err("the record requires no state key".into());
    }
    let mut keys = BTreeMap::new();
    let mut restored = Vec::new();
    for (key, evidence) in &told.keys {
        keys.insert(
            key.clone(),
            KeyState {
                revision: evidence.revision.clone(),
                fingerprint: evidence.fingerprint,
                value: None,
            },
        );
        restored.extend(evidence.restored.as_ref().map(|back| RestoredKey {
            key: key.clone(),
            revision: back.revision.clone(),
            fingerprint: back.fingerprint,
            test: back.test.clone(),
        }));
    }
    let checkpoint = Checkpoint { step: 0, keys };
    let input = gate::State {
        required: &told.required,
        checkpoint: Some(&checkpoint),
        restored: &restored,
        drift_acknowledged: told.drift_acknowledged,
    };
    // Whoever wrote the record says how the restore went; the fingerprints must say the same.
    for found in gate::compare_keys(&input) {
        let back = told
            .keys
            .get(&found.key)
            .and_then(|key| key.restored.as_ref());
        if let Some(said) = back.map(|back| back.result)
            && said != found.result
        {
            let (key, said, is) = (&found.key, said.name(), found.result.name());
            return Err(format!("{key} is said to be {said}, but it is {is}"));
        }
    }
    Ok(gate::state::gate(&input))
}

pub(super) fn effects(blocks: &Blocks) -> Found {
    let told = blocks.effects()?;
    // Where the fork stands is gate 1's; if that cannot be read, every effect counts as after it.
    let lineage = blocks.lineage().ok();
    let fork_step = lineage.as_ref().map_or(0, |lineage| lineage.fork_step);
    let steps = lineage.map_or(usize::MAX, |lineage| lineage.parent_steps);
    for effect in &told {
        let key = &effect.key;
        if effect.step < fork_step || effect.step >= steps {
            return Err(format!(
                "effect {key} at step {} is not between fork and end",
                effect.step
            ));
        }
        let settled = matches!(
            effect.state,
            EffectState::Reverted | EffectState::Reconciled
        );
        if settled && effect.evidence == Evidence::None {
            let state = effect.state.name();
            return Err(format!("effect {key} is {state} without evidence"));
        }
    }
    let all: Vec<Effect> = told.into_iter().map(effect).collect();
    let parent = blocks.parent()?;
    Ok(gate::effects::gate(&gate::Effects {
        parent: &parent,
        fork_step,
        all: &all,
        asked: &[],
    }))
}

fn effect(told: blocks::Effect) -> Effect {
    Effect {
        step: told.step,
        agent: String::new(),
        tool: told.tool,
        class: match told.class {
            blocks::Class::Idempotent => EffectClass::Idempotent,
            blocks::Class::Compensable => EffectClass::Compensable,
            blocks::Class::Permanent => EffectClass::Permanent,
            blocks::Class::Unknown => EffectClass::Unknown,
        },
        operation_key: told.key,
        args_sha256: Digest::ZERO,
        result: None,
        state: told.state,
        evidence: match told.evidence {
            Evidence::None => None,
            Evidence::Destination => Some("asked the destination".into()),
            Evidence::HumanDecision => Some("a person decided".into()),
        },
    }
}

pub(super) fn authority(blocks: &Blocks) -> Found {
    let told = blocks.authority()?;
    let parent = blocks.parent()?;
    if told.runs == 0 {
        return Err("the record plans no run".into());
    }
    let approval = told.approval.as_ref();
    if approval.is_some_and(|approval| approval.given > told.at) {
        return Err("the approval was given after the fork was asked for".into());
    }
    if approval.is_some_and(|approval| approval.owner.trim().is_empty()) {
        return Err("the approval names no owner".into());
    }
    let approval = approval.map(|approval| gate::Approval {
        owner: approval.owner.clone(),
        flaw: [
            (!approval.authorised, gate::Flaw::Stranger),
            (told.at >= approval.expires, gate::Flaw::Expired),
            (approval.used, gate::Flaw::Used),
        ]
        .into_iter()
        .find_map(|(is, flaw)| is.then_some(flaw)),
        binding: gate::Binding {
            intervention: None,
            prefix: None,
            workflow: None,
            parent: approval.parent.clone(),
            fork_step: approval.fork_step,
            edit: approval.edit,
            n: approval.runs,
            config: approval.config,
        },
    });
    // What another gate holds for being unreadable need not be held here as well.
    let approved = approval.as_ref().map(|approval| &approval.binding);
    let lineage = blocks.lineage().ok();
    let config = blocks.config().ok().and_then(|config| config.runtime);
    let binding = gate::Binding {
        intervention: None,
        prefix: None,
        workflow: None,
        fork_step: lineage
            .map(|lineage| lineage.fork_step)
            .or(approved.map(|approved| approved.fork_step))
            .unwrap_or_default(),
        config: config
            .or(approved.map(|approved| approved.config))
            .unwrap_or(Digest::ZERO),
        parent,
        edit: told.edit,
        n: told.runs,
    };
    let changed = told.changes.first().map(|change| change.name());
    Ok(gate::authority::gate(&gate::Authority {
        operator: Some(&told.operator),
        driver: Some(&told.driver),
        risk: &Risk::of(told.reach == Reach::LocalFixtures, changed),
        binding: &binding,
        approval: approval.as_ref(),
        intervention: None,
    }))
}

/// A record knows digests of whole configurations: each delta must lead on from where the one before came to.
pub(super) fn config(blocks: &Blocks) -> Found {
    let told = blocks.config()?;
    let gate = GateResult::new(5, "config");
    let Some(pin) = told.pinned else {
        return Ok(gate.fails(
            "the parent's configuration is not pinned",
            "Import the session with its configuration",
        ));
    };
    let gate = gate.rests_on("pin");
    let Some(own) = told.runtime else {
        return Ok(gate.fails(
            "the runtime does not tell its configuration",
            "Use a runtime that does",
        ));
    };
    if own == pin {
        return Ok(gate.holds(format!("pinned {}, no difference", pin.short())));
    }
    let mut used = Vec::new();
    let reached = told.deltas.iter().fold(pin, |at, delta| {
        if delta.from != at {
            return at;
        }
        let (from, to) = (at.short(), delta.to.short());
        used.push(format!("{}: {from} to {to}", delta.part.name()));
        delta.to
    });
    if reached != own {
        let found = format!("pinned {}, but the run has {}", pin.short(), own.short());
        let mend = "Record the change as intended, or restore the pinned configuration";
        return Ok(gate.fails(found, mend).details(used));
    }
    let gate = used.iter().fold(gate, |gate, _| gate.rests_on("delta"));
    let count = used.len();
    let noun = if count == 1 { "change" } else { "changes" };
    Ok(gate
        .holds(format!("pinned {}, {count} intended {noun}", pin.short()))
        .details(used))
}

pub(super) fn outcome(blocks: &Blocks) -> Result<Ending, String> {
    let told = blocks.outcome()?;
    if !told.run.is_over() || told.run == RunStatus::Held {
        let early = told.receipt.is_some()
            || told.final_answer == Some(true)
            || matches!(
                told.result,
                Some(VerifierSaid::Passed | VerifierSaid::Rejected)
            );
        return if early {
            Err(format!(
                "the run is {}, yet it has an outcome",
                told.run.name()
            ))
        } else {
            Ok(Ending::NotYet)
        };
    }
    let own = blocks.own_id()?;
    let own_receipt = told.receipt.is_some_and(|receipt| receipt.branch == own);
    let answered = told
        .final_answer
        .ok_or("`outcome` does not say whether there is a final answer")?;
    let said = told.result.ok_or("`outcome` has no `result`")?;
    let judgement = match said {
        _ if !own_receipt => Judgement::CannotJudge(Unjudged::NoReceipt),
        _ if told.run != RunStatus::Done || !answered => Judgement::CannotJudge(Unjudged::NoAnswer),
        _ if told.verifier.is_none() => Judgement::CannotJudge(Unjudged::NoVerifier),
        VerifierSaid::Passed => Judgement::Passed,
        VerifierSaid::Rejected => Judgement::Rejected,
        VerifierSaid::NotJudged => Judgement::CannotJudge(Unjudged::NoExpected),
    };
    Ok(Ending::Over {
        answered,
        judgement,
        diagnostic: told.diagnostic,
    })
}
