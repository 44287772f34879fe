//! The configuration of a session and of its branches: pinned when a session is taken in, changed by forks, judged by gate 5.
//!
//! Invariant: a branch runs with what its line changed and with nothing that only a held fork asked for.

use std::collections::BTreeSet;

use crate::gate::Report;
use crate::gate::receipt::{About, Word};
use crate::model::{BranchId, ConfigChange, Digest, Manifest, Session};
use crate::runtime::scenario::Scenario;
use crate::runtime::{Description, Runtime};
use crate::store::{ForkDecision, Store};

use super::{PipelineError, Plan};

/// A session as a branch of it has it: with the configuration that the forks on its line changed.
///
/// # Errors
/// No such branch, or the store.
pub fn session_of(store: &Store, branch: &BranchId) -> Result<Session, PipelineError> {
    let mut session = store.session(branch.session())?;
    for change in store.changes(branch)? {
        session.change(change);
    }
    Ok(session)
}

/// Pins the configuration of `main`: a world's own, else what the log tells. What the file claims about it counts for nothing.
pub(super) fn pin(session: &mut Session, tools: BTreeSet<String>) {
    if session.runtime.is_some() {
        let config = Scenario.describe(session).config;
        session.config = (!config.0.is_empty()).then_some(config);
        return;
    }
    let mut config = session.told_config();
    let model = session
        .annotations
        .iter()
        .find(|label| label.name == "model" && label.step.is_none());
    if let Some(model) = model {
        config.add("model", &model.value, Some(&model.value));
    }
    for tool in tools {
        config.add(format!("tool {tool}"), &tool, Some("called in the log"));
    }
    session.config = Some(config);
}

/// Refuses changes that make no sense: of what is not there, of the same part twice, or to what it is already.
pub(super) fn check_changes(
    store: &Store,
    branch: &BranchId,
    session: &Session,
    runtime: &dyn Runtime,
    changes: &[ConfigChange],
) -> Result<(), PipelineError> {
    if changes.is_empty() {
        return Ok(());
    }
    let recorded = store.branch_config(branch)?;
    let described = session
        .runtime
        .as_ref()
        .map(|_| runtime.describe(session).config);
    let has = |name: &str| -> Option<Digest> {
        let part = |config: &Option<Manifest>| Some(config.as_ref()?.0.get(name)?.digest);
        part(&recorded).or_else(|| part(&described))
    };
    let mut seen = BTreeSet::new();
    for change in changes {
        runtime
            .accepts(session, change)
            .map_err(PipelineError::Usage)?;
        let (name, digest) = change.part();
        if has(&name) == Some(digest) {
            return Err(PipelineError::Usage(format!(
                "{change}: that is what {branch} has already. Change something, or leave it out"
            )));
        }
        if !seen.insert(name) {
            return Err(PipelineError::Usage(format!(
                "{change}: the same part is changed twice. Say it once"
            )));
        }
    }
    Ok(())
}

/// The digest of all that an intervention edits: the step as it is delivered and the changes of the configuration.
pub(super) fn edit_digest(step: Digest, changes: &[ConfigChange]) -> Digest {
    if changes.is_empty() {
        return step;
    }
    let parts: Vec<(String, Digest)> = changes.iter().map(ConfigChange::part).collect();
    let parts = parts
        .iter()
        .flat_map(|(name, digest)| [name.as_bytes(), digest.bytes().as_slice()]);
    let head = [b"dover edit with changes".as_slice(), step.bytes()];
    Digest::of_fields(head.into_iter().chain(parts))
}

/// What makes changes of a configuration risky: a run that reaches further than local fixtures would have other powers.
pub(super) fn risky_change(
    changes: &[ConfigChange],
    description: &Description,
) -> Option<&'static str> {
    (!changes.is_empty() && !description.local_fixtures).then_some("the configuration")
}

/// What the operator decided so that this fork may go, as far as the gates needed it.
pub(super) fn decisions(plan: &Plan, report: &Report) -> Vec<ForkDecision> {
    let asked = [
        (2, "acknowledged", About::Drift, Word::Acknowledged),
        (5, "accepted", About::Delta, Word::Accepted),
    ];
    asked
        .into_iter()
        .filter_map(|(number, kind, about, word)| {
            let gate = report.gates.iter().find(|gate| gate.number == number)?;
            gate.evidence.get(kind)?;
            Some(ForkDecision {
                about,
                what: plan.parent.id.to_string(),
                word,
                evidence: gate.details.join("\n"),
            })
        })
        .collect()
}

/// The sentence for a run whose configuration is not the one that was judged; none if it is.
pub(super) fn departed(pinned: Option<&Manifest>, own: &Manifest) -> Option<String> {
    let Some(pinned) = pinned else {
        return Some("gate 5 config: the branch has no record of its configuration".into());
    };
    let differences = pinned.differences(own);
    if differences.is_empty() {
        return None;
    }
    let named: Vec<String> = differences.iter().map(ToString::to_string).collect();
    Some(format!(
        "gate 5 config: the runtime changed between the gates and the run: {}. Fork again",
        named.join("; ")
    ))
}
