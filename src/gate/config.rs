//! Gate 5, config: what runs is what was pinned, part by part, and every difference was meant and recorded.
//!
//! What the parent's record cannot know (a log does not tell dover's own prompts) is pinned by the fork and said so, once.

use super::{Action, GateResult};
use crate::model::{ConfigChange, Difference, Manifest, Pinned};

/// What gate 5 judges.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    /// The parent's name, for a person.
    pub parent: &'a str,
    /// What is recorded of the parent's configuration.
    pub pin: &'a Pinned,
    /// The configuration that the run itself has now.
    pub own: Option<&'a Manifest>,
    /// Changes that the operator asked for.
    pub intended: &'a [ConfigChange],
    /// Whether the operator has accepted the differences that nobody asked for.
    pub accepted: bool,
}

/// Why a part differs from the parent's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// Asked for.
    Intended,
    /// The parent's record could not know it.
    Pinned,
    /// Accepted as it is.
    Accepted,
    /// Nobody knows.
    Unasked,
}

impl Why {
    /// The kind of evidence, for receipts.
    const fn evidence(self) -> &'static str {
        match self {
            Self::Intended => "delta",
            Self::Pinned => "pinned_now",
            Self::Accepted => "accepted",
            Self::Unasked => "unasked",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Intended => "as asked",
            Self::Pinned => "pinned by this fork",
            Self::Accepted => "accepted",
            Self::Unasked => "nobody asked for it",
        }
    }
}

pub(super) fn gate(input: &Config) -> GateResult {
    let gate = GateResult::new(5, "config");
    let Some(own) = input.own else {
        return gate.fails(
            "the runtime does not tell its configuration",
            "Use a runtime that does",
        );
    };
    let total = own.0.len();
    if total == 0 {
        return gate.fails("the run's configuration has no part", "Mend its world");
    }
    let unmet = unmet(own, input.intended);
    if !unmet.is_empty() {
        return gate
            .fails(
                format!(
                    "{} asked for did not come about",
                    count(unmet.len(), "change")
                ),
                "Ask for what this runtime can change",
            )
            .details(unmet);
    }
    let nothing = Manifest::default();
    let found: Vec<(Difference, Why)> = input
        .pin
        .manifest()
        .unwrap_or(&nothing)
        .differences(own)
        .into_iter()
        .map(|part| {
            let why = why(&part, input);
            (part, why)
        })
        .collect();
    let of = |wanted: Why| found.iter().filter(|(_, why)| *why == wanted).count();
    let gate = match input.pin {
        Pinned::Nothing => gate,
        _ => gate.rests_on("pin"),
    };
    let gate = found
        .iter()
        .fold(gate, |gate, (_, why)| gate.rests_on(why.evidence()));
    let details: Vec<String> = found
        .iter()
        .map(|(part, why)| format!("{part} ({})", why.words()))
        .collect();
    let parent = input.parent;
    let unasked = of(Why::Unasked);
    let gate = if unasked > 0 {
        let noun = if unasked == 1 { "differs" } else { "differ" };
        gate.fails(
            format!("{unasked} of {total} parts {noun} from {parent}, unasked"),
            "Restore what was pinned, or accept it as it is: --accept-delta",
        )
        .offers(Action::AcceptDelta)
    } else if found.is_empty() {
        gate.holds(format!("{total} parts pinned, no difference from {parent}"))
    } else {
        let said: Vec<String> = [
            (Why::Pinned, "of them by this fork"),
            (Why::Intended, "as asked"),
            (Why::Accepted, "accepted"),
        ]
        .into_iter()
        .filter(|(why, _)| of(*why) > 0)
        .map(|(why, what)| format!("{} {what}", of(why)))
        .collect();
        gate.holds(format!("{total} parts pinned, {}", said.join(", ")))
    };
    gate.details(details)
}

/// Changes that were asked for and that the run does not have, a line each.
fn unmet(own: &Manifest, intended: &[ConfigChange]) -> Vec<String> {
    intended
        .iter()
        .map(ConfigChange::part)
        .filter(|(name, digest)| own.0.get(name).map(|part| part.digest) != Some(*digest))
        .map(|(name, digest)| format!("{name}: the run does not have {}", digest.short()))
        .collect()
}

fn why(part: &Difference, input: &Config) -> Why {
    let asked = input
        .intended
        .iter()
        .map(ConfigChange::part)
        .any(|(name, digest)| {
            part.part == name && part.after.as_ref().map(|part| part.digest) == Some(digest)
        });
    // A log's record is not the configuration itself: what it tells beside what runs (its tools, say) is no change of anybody's.
    let unknown = match input.pin {
        Pinned::Nothing => true,
        Pinned::Told(_) => part.before.is_none() || part.after.is_none(),
        Pinned::Whole(_) => false,
    };
    if asked {
        Why::Intended
    } else if unknown {
        Why::Pinned
    } else if input.accepted {
        Why::Accepted
    } else {
        Why::Unasked
    }
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests;
