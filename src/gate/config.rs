//! Gate 5, config: what runs is what was pinned, and every difference was meant and recorded.

use super::GateResult;
use crate::model::Digest;

/// What gate 5 judges. Each digest is over roles, model ids, system prompts, tool schemas and routing rules.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    /// The parent's configuration as it was pinned.
    pub pin: Option<Digest>,
    /// The configuration that the run itself has now.
    pub own: Option<Digest>,
    /// Intended differences, in the order they were made.
    pub deltas: &'a [Delta],
}

/// A recorded, intended change of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    /// What was changed, in a few words.
    pub what: String,
    /// The digest before.
    pub from: Digest,
    /// The digest after.
    pub to: Digest,
}

pub(super) fn gate(input: &Config) -> GateResult {
    let gate = GateResult::new(5, "config");
    let Some(pin) = input.pin else {
        return gate.fails(
            "the parent's configuration is not pinned",
            "Import the session with its configuration",
        );
    };
    let gate = gate.rests_on("pin");
    let Some(own) = input.own else {
        return gate.fails(
            "the runtime does not tell its configuration",
            "Use a runtime that does",
        );
    };
    if own == pin {
        return gate.holds(format!("pinned {}, no difference", pin.short()));
    }
    let mut used = Vec::new();
    let reached = input.deltas.iter().fold(pin, |at, delta| {
        if delta.from == at {
            used.push(format!(
                "{}: {} to {}",
                delta.what,
                at.short(),
                delta.to.short()
            ));
            delta.to
        } else {
            at
        }
    });
    if reached == own {
        let gate = used.iter().fold(gate, |gate, _| gate.rests_on("delta"));
        let count = used.len();
        let noun = if count == 1 { "change" } else { "changes" };
        return gate
            .holds(format!("pinned {}, {count} intended {noun}", pin.short()))
            .details(used);
    }
    gate.fails(
        format!("pinned {}, but the run has {}", pin.short(), own.short()),
        "Record the change as intended, or restore the pinned configuration",
    )
    .details(used)
}
