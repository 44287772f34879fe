//! Approving an intervention that waits, and trying it again as it stands.

use std::time::Duration;

use crate::gate::approval::{Signed, Statement, is_the_editor, sign};
use crate::gate::receipt::canonical_digest;
use crate::gate::{Approval, Binding};
use crate::model::{Branch, BranchId, Digest, Intervention, Session, Step, Workflow};
use crate::store::{ForkFacts, Store};

use super::{ForkRequest, Keyring, PipelineError};

/// An intervention as whoever approves it must see it.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The intervention.
    pub intervention: Intervention,
    /// The session.
    pub session: Session,
    /// The step as the parent has it.
    pub original: Step,
    /// Its branches so far.
    pub branches: Vec<Branch>,
}

/// An approval that was given.
#[derive(Clone, Debug)]
pub struct Approved {
    /// What was signed.
    pub statement: Statement,
    /// The approval as it is kept or handed on.
    pub text: String,
}

/// What was held, looked up to be approved or tried again.
///
/// # Errors
/// No such intervention, or one whose newest try was let go.
pub fn waiting(store: &Store, id: &str) -> Result<Waiting, PipelineError> {
    let intervention = stored(store, id)?;
    let name = intervention.parent.session();
    let branches: Vec<Branch> = store
        .branches(name)?
        .into_iter()
        .filter(|branch| branch.intervention.as_deref() == Some(id))
        .collect();
    if let Some(ran) = branches.last().filter(|branch| !branch.refused()) {
        return Err(let_go(id, ran));
    }
    Ok(Waiting {
        session: store.session(name)?,
        original: store.step(&intervention.parent, intervention.step)?,
        intervention,
        branches,
    })
}

fn let_go(id: &str, ran: &Branch) -> PipelineError {
    PipelineError::Usage(format!(
        "{id} was let go already: its branch {} is {}. Fork anew for another try",
        ran.id,
        ran.run.name()
    ))
}

/// The request that goes on with an intervention exactly as it stands: one that was held is tried again, and of one that ran, the
/// runs that were stopped or interrupted are run again, each as a branch of its own.
///
/// # Errors
/// No such intervention, or one whose runs all came to their end or still go.
pub fn resume_request(
    store: &Store,
    id: &str,
    operator: &str,
) -> Result<ForkRequest, PipelineError> {
    let outcome = super::outcome(store, id)?;
    let unfinished = outcome.unfinished();
    if unfinished.is_empty()
        && let Some(ran) = outcome.branches.iter().find(|branch| !branch.refused())
    {
        return Err(let_go(id, ran));
    }
    again(store, id, unfinished, operator)
}

/// The request that runs stopped runs of an intervention again, exactly as it stands.
pub(super) fn again(
    store: &Store,
    id: &str,
    stopped: Vec<BranchId>,
    operator: &str,
) -> Result<ForkRequest, PipelineError> {
    Ok(ForkRequest {
        stopped,
        ..request(stored(store, id)?, operator)
    })
}

/// The request that an intervention came from.
fn request(it: Intervention, operator: &str) -> ForkRequest {
    ForkRequest {
        text: it.text,
        category: Some(it.category),
        runs: Some(it.n),
        seed: it.seed,
        changes: it.changes,
        resume: Some(it.id),
        ..ForkRequest::at(it.parent, it.step, operator)
    }
}

/// Signs and keeps an owner's approval of an intervention that waits.
///
/// # Errors
/// Nothing waits, the owner may not approve it, or there is no key.
pub fn approve(
    store: &Store,
    id: &str,
    owner: &str,
    keyring: &Keyring,
    valid_for: Duration,
) -> Result<Approved, PipelineError> {
    let approved = signed(store, id, owner, keyring, valid_for)?;
    keep(store, &approved)?;
    Ok(approved)
}

/// Signs an owner's approval without keeping it, to be handed on.
///
/// # Errors
/// As [`approve`].
pub fn signed(
    store: &Store,
    id: &str,
    owner: &str,
    keyring: &Keyring,
    valid_for: Duration,
) -> Result<Approved, PipelineError> {
    let waiting = waiting(store, id)?;
    let key = keyring.private(owner)?;
    let profile = &waiting.session.profile;
    let session = &waiting.session.id;
    let public = key.public().to_string();
    match profile.owners.get(owner) {
        Some(named) if *named == public => {}
        Some(_) => {
            return Err(refused(format!(
                "{owner} may not approve {id}: the profile of {session} names another key for {owner}"
            )));
        }
        None => {
            return Err(refused(format!(
                "{owner} may not approve {id}: the profile of {session} names no such owner. `dover set {session} --owner {owner}={public}` would, as a change that is shown"
            )));
        }
    }
    let editor = &waiting.intervention.operator;
    if profile.not_the_editor && is_the_editor(profile, owner, editor) {
        return Err(refused(format!(
            "{owner} may not approve {id}: {editor} made the edit, and the profile asks for somebody else"
        )));
    }
    let facts = store.fork_facts(
        &waiting.intervention.parent,
        waiting.intervention.step,
        waiting.intervention.n,
        Some(id),
    )?;
    let issued: jiff::Timestamp = facts
        .now
        .parse()
        .map_err(|_| PipelineError::Internal(format!("the clock tells no time: {}", facts.now)))?;
    let expires = issued
        .checked_add(valid_for)
        .map_err(|_| refused("an approval cannot last that long. Say --for 1h".into()))?;
    let statement = Statement {
        binding: binding(&waiting, &facts)?,
        owner: owner.to_owned(),
        issued: facts.now,
        expires: expires.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    };
    let text = sign(statement.clone(), &key).map_err(|error| {
        PipelineError::Internal(format!("an approval cannot be written: {error}"))
    })?;
    Ok(Approved { statement, text })
}

/// Keeps an approval that was signed elsewhere, once it has been looked at as gate 4 will look at it.
///
/// # Errors
/// What is wrong with it.
pub fn take_approval(store: &Store, text: &str) -> Result<Approved, PipelineError> {
    let refuse = |why: String| refused(format!("this approval is not taken: {why}"));
    let read = Signed::parse(text).map_err(refuse)?;
    let id = read.statement.binding.intervention.clone();
    let id = id.ok_or_else(|| refuse("it names no intervention".into()))?;
    let waiting = waiting(store, &id)?;
    let it = &waiting.intervention;
    let facts = store.fork_facts(&it.parent, it.step, it.n, Some(&id))?;
    let owner = &read.statement.owner;
    if let Some(flaw) = read.flaw(&waiting.session.profile, &it.operator, &facts.now, false) {
        return Err(refuse(format!("{owner} {}", flaw.words())));
    }
    if read.statement.binding != binding(&waiting, &facts)? {
        return Err(refuse(format!(
            "{owner} approved something else under the name {id}"
        )));
    }
    let approved = Approved {
        text: text.trim_end_matches('\n').to_owned(),
        statement: read.statement,
    };
    keep(store, &approved)?;
    Ok(approved)
}

fn keep(store: &Store, approved: &Approved) -> Result<(), PipelineError> {
    let id = approved.statement.binding.intervention.as_deref();
    let intervention = stored(store, id.unwrap_or_default())?;
    Ok(store.approve(&intervention, &approved.statement.owner, &approved.text)?)
}

/// What an approval of a waiting intervention is bound to.
fn binding(waiting: &Waiting, facts: &ForkFacts) -> Result<Binding, PipelineError> {
    let it = &waiting.intervention;
    let config = it.config.ok_or_else(|| {
        refused(format!(
            "{0} cannot be approved yet: its configuration differs from the parent's, and nobody has accepted that. `dover resume {0} --accept-delta` does",
            it.id
        ))
    })?;
    Ok(Binding {
        intervention: Some(it.id.clone()),
        parent: it.parent.clone(),
        prefix: facts.prefix_digest,
        fork_step: it.step,
        edit: it.edit_digest,
        n: it.n,
        config,
        workflow: workflow_digest(&facts.workflow),
    })
}

/// Digest of a workflow; none would be a fault of the program, and binds nothing.
pub(super) fn workflow_digest(workflow: &Workflow) -> Option<Digest> {
    canonical_digest(workflow).ok()
}

/// The approvals of an intervention as gate 4 takes them, each with its text. What cannot be read approves nothing.
pub(super) fn judged(facts: &ForkFacts, editor: &str) -> Vec<(Approval, String)> {
    let profile = &facts.workflow.profile;
    facts
        .approvals
        .iter()
        .filter_map(|kept| {
            let read = Signed::parse(&kept.text).ok()?;
            Some((
                read.judged(profile, editor, &facts.now, kept.used),
                kept.text.clone(),
            ))
        })
        .collect()
}

/// An intervention by its id.
pub(super) fn stored(store: &Store, id: &str) -> Result<Intervention, PipelineError> {
    let session = BranchId::parse(id).session().to_owned();
    let all = store.interventions(&session)?;
    all.into_iter().find(|one| one.id == id).ok_or_else(|| {
        PipelineError::Usage(format!(
            "there is no intervention {id}. `dover show {session}` lists its branches, each with its intervention"
        ))
    })
}

fn refused(sentence: String) -> PipelineError {
    PipelineError::Refused(sentence)
}
