//! Gate panels of forks that are held, each for another reason, for tests.

use super::effects::Left;
use super::fixture::{at_the_gates, checked, replaying};
use super::{App, Msg, update};
use crate::gate::{Action, Report};
use crate::model::{BranchId, Digest, Effect, EffectClass, EffectState, GateStatus};
use crate::pipeline::{ForkRequest, Progress};

/// A gate that does not hold: its number and what it says.
pub(crate) struct Held {
    pub(crate) number: u8,
    pub(crate) status: GateStatus,
    pub(crate) found: &'static str,
    pub(crate) details: &'static [&'static str],
    pub(crate) mend: &'static str,
    pub(crate) actions: &'static [Action],
}

pub(crate) const EFFECTS: Held = Held {
    number: 3,
    status: GateStatus::EffectsUnreconciled,
    found: "3 effects after the checkpoint: 2 pending, 1 irreversible",
    details: &[
        "step 10 open_ticket T-1 pending",
        "step 12 open_ticket T-2 pending",
        "step 13 send_mail M-1 irreversible: it is there, tool is permanent",
    ],
    mend: "Ask the destinations, then decide what is left",
    actions: &[Action::Reconcile, Action::Decide],
};

pub(crate) const APPROVAL: Held = Held {
    number: 4,
    status: GateStatus::NeedsApproval,
    found: "high risk: the edit touches production. Nobody approved it",
    details: &["edit 9f2c31aa, 3 runs, configuration 41ac77d0"],
    mend: "An owner must approve exactly this edit: olga",
    actions: &[Action::RequestApproval],
};

pub(crate) const DRIFT: Held = Held {
    number: 2,
    status: GateStatus::RestoreUncertain,
    found: "tool_registry drifted: a tool more than at the checkpoint",
    details: &[
        "agent_memory exact: loaded memory hashed again",
        "tool_registry drifted: schema hash and count",
    ],
    mend: "Acknowledge the drift, or run a diagnostic branch",
    actions: &[Action::Diagnostic, Action::Acknowledge],
};

pub(crate) const DELTA: Held = Held {
    number: 5,
    status: GateStatus::ConfigUnpinned,
    found: "1 of 6 parts differs from main, unasked",
    details: &["prompt WebSurfer: was 41ac77d0, is 0d3f2a11"],
    mend: "Restore what was pinned, or accept it as it is: --accept-delta",
    actions: &[Action::AcceptDelta],
};

/// The findings of a fork that is held by one gate.
pub(crate) fn report(held: &Held) -> Report {
    let mut report = checked(true).report;
    report.status = held.status;
    if held.status == GateStatus::ConfigUnpinned {
        let note = "the workflow changed since the start: the verifier is contains:Milan";
        report.notes.push(note.into());
    }
    for gate in &mut report.gates {
        if gate.number == held.number {
            gate.holds = Some(false);
            gate.found = held.found.into();
            gate.details = held.details.iter().map(ToString::to_string).collect();
            gate.mend = Some(held.mend.into());
            gate.actions = held.actions.to_vec();
        }
    }
    report
}

/// The gates say so.
pub(crate) fn say(app: &mut App, report: Report) -> Vec<super::Job> {
    let ticket = app.gates().unwrap().ticket;
    let mut checked = checked(true);
    checked.report = report;
    update(app, Msg::Checked(ticket, Ok(Box::new(checked))))
}

/// A fork that waits for an approval.
pub(crate) fn waiting() -> App {
    let mut app = held(&APPROVAL);
    super::fixture::press(&mut app, "p");
    let gates = app.gates().unwrap();
    let (ticket, request) = (gates.ticket, gates.request.clone());
    let held = ForkRequest {
        resume: Some("night-picture/i2".into()),
        runs: Some(3),
        ..request
    };
    update(&mut app, Msg::Held(ticket, Ok(Box::new(held))));
    say(&mut app, report(&APPROVAL));
    app
}

/// The gate panel of a fork that is held by one gate.
pub(crate) fn held(by: &Held) -> App {
    let mut app = at_the_gates(true);
    say(&mut app, report(by));
    app
}

pub(crate) fn effect(step: usize, tool: &str, key: &str, state: EffectState) -> Effect {
    Effect {
        step,
        agent: "WebSurfer".into(),
        tool: tool.into(),
        class: if tool == "send_mail" {
            EffectClass::Permanent
        } else {
            EffectClass::Compensable
        },
        operation_key: key.into(),
        args_sha256: Digest::of(key),
        result: None,
        state,
        evidence: (state != EffectState::Pending).then(|| "the destination says: line 1".into()),
    }
}

/// What was left past step 9: one effect is settled, two are open, one of those can be asked about.
pub(crate) fn left() -> Left {
    Left {
        effects: vec![
            effect(10, "open_ticket", "T-1", EffectState::Reconciled),
            effect(12, "open_ticket", "T-2", EffectState::Pending),
            effect(13, "send_mail", "M-1", EffectState::Irreversible),
        ],
        commands: vec![
            ["sh", "desk.sh", "tickets", "T-2"]
                .map(str::to_owned)
                .to_vec(),
        ],
    }
}

/// The panel of what was left, over the gates that are held by it.
pub(crate) fn effects(keys: &str) -> App {
    let mut app = held(&EFFECTS);
    super::fixture::press(&mut app, "w");
    let branch = BranchId::main("night-picture");
    update(&mut app, Msg::Left(branch, 9, Ok(Box::new(left()))));
    super::fixture::press(&mut app, keys);
    app
}

/// Two runs that wait with a new effect.
pub(crate) fn asked() -> App {
    let mut app = replaying();
    let ticket = app.replay.as_ref().unwrap().ticket;
    for (name, key) in [("b2", "M-1"), ("b3", "M-1")] {
        let branch = BranchId::new("night-picture", name);
        let text = r#"{"message_id":"M-1","to":"announce@example.org"}"#;
        let told = [
            Progress::Delta {
                branch: branch.clone(),
                agent: "WebSurfer".into(),
                text: text.into(),
            },
            Progress::Asked {
                branch,
                effect: Box::new(effect(11, "send_mail", key, EffectState::Pending)),
            },
        ];
        for progress in told {
            update(&mut app, Msg::Progress(ticket, progress));
        }
    }
    app
}
