//! What a branch left in the world: asking the destinations what became of it, and deciding about it by hand.
//!
//! A destination's word is read strictly. No answer, and an answer that cannot be read, change nothing: they are not "no effect".

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::model::{BranchId, Effect, EffectClass, EffectState, Session};
use crate::store::Store;

use super::fork::blocking;
use super::{PipelineError, external, judge};

/// The longest evidence that is kept.
const EVIDENCE: usize = 200;

/// What asking about one effect gave.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Reconciled {
    /// The effect as it stands now.
    pub effect: Effect,
    /// Where it stood before.
    pub before: EffectState,
    /// The command as it was run; empty if none is configured.
    pub command: Vec<String>,
    /// Why it stands where it stood; none if the destination answered.
    pub failed: Option<String>,
}

/// A destination's answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    state: Said,
    evidence: String,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Said {
    Reconciled,
    Reverted,
    Pending,
}

/// Everything that a branch left in the world at or after a step, whatever became of it, classed by the profile.
///
/// # Errors
/// The store.
pub fn left_behind(
    store: &Store,
    branch: &BranchId,
    step: usize,
) -> Result<Vec<Effect>, PipelineError> {
    let session = store.session(branch.session())?;
    let mut effects = judge::classed(&session, &store.effects(branch)?);
    effects.retain(|effect| effect.step >= step && effect.class != EffectClass::ReadOnly);
    Ok(effects)
}

/// Records what a person says of an effect: it was undone, or it stays and is not repeated.
///
/// # Errors
/// No such effect, no reason, or a state that a person cannot say.
pub fn decide_effect(
    store: &Store,
    branch: &BranchId,
    operation_key: &str,
    state: EffectState,
    why: &str,
    operator: &str,
) -> Result<(), PipelineError> {
    if why.trim().is_empty() {
        return Err(PipelineError::Usage(
            "a decision needs a reason: --why TEXT".into(),
        ));
    }
    if !matches!(state, EffectState::Reconciled | EffectState::Reverted) {
        return Err(PipelineError::Usage(format!(
            "nobody can decide that an effect is {}. Say reconciled (it stays) or reverted (undone)",
            state.name()
        )));
    }
    let evidence = format!("decided by {operator}: {}", why.trim());
    Ok(store.set_effect(branch, operation_key, state, &evidence, operator)?)
}

/// The commands that reconciling would run, each once, for a person to see before.
///
/// # Errors
/// The store.
pub fn commands(
    store: &Store,
    branch: &BranchId,
    step: usize,
) -> Result<Vec<Vec<String>>, PipelineError> {
    let session = store.session(branch.session())?;
    let mut commands = Vec::new();
    for effect in left_behind(store, branch, step)? {
        let command = command(&session, &effect);
        if effect.blocks() && !command.is_empty() && !commands.contains(&command) {
            commands.push(command);
        }
    }
    Ok(commands)
}

/// Asks the destination of every effect that blocks a fork at a step what became of it, one after the other. Dropping the future
/// ends the command that is running and leaves what was learnt before.
///
/// # Errors
/// The store; what a destination does wrong stands in the answer.
pub async fn reconcile(
    store: &Store,
    branch: &BranchId,
    step: usize,
    operator: &str,
) -> Result<Vec<Reconciled>, PipelineError> {
    let id = branch.clone();
    let (session, effects) = blocking(store, move |store| {
        Ok((store.session(id.session())?, left_behind(store, &id, step)?))
    })
    .await?;
    let mut all = Vec::new();
    for effect in effects.into_iter().filter(Effect::blocks) {
        let asked = ask(&session, branch, &effect).await;
        let before = effect.state;
        let (state, evidence, failed) = match asked {
            Ok((Said::Pending, evidence)) => {
                let told = format!("the destination does not know yet: {evidence}");
                (before, None, Some(told))
            }
            Ok((Said::Reverted, evidence)) => (EffectState::Reverted, Some(evidence), None),
            // That it is there does not decide what becomes of it where it cannot be undone.
            Ok((Said::Reconciled, evidence)) => {
                let state = match effect.class {
                    EffectClass::Permanent | EffectClass::Unknown => EffectState::Irreversible,
                    _ => EffectState::Reconciled,
                };
                (state, Some(evidence), None)
            }
            Err(why) => (before, None, Some(why)),
        };
        let effect = Effect {
            state,
            evidence: evidence
                .map(|text| format!("the destination says: {text}"))
                .or(effect.evidence),
            ..effect
        };
        if failed.is_none() {
            let (id, operator, now) = (branch.clone(), operator.to_owned(), effect.clone());
            blocking(store, move |store| {
                let evidence = now.evidence.as_deref().unwrap_or_default();
                Ok(store.set_effect_of(&id, &now, evidence, &operator)?)
            })
            .await?;
        }
        all.push(Reconciled {
            command: command(&session, &effect),
            effect,
            before,
            failed,
        });
    }
    Ok(all)
}

/// The command that asks about an effect: the tool's own, then the operation key.
fn command(session: &Session, effect: &Effect) -> Vec<String> {
    let configured = session
        .profile
        .tools
        .get(&effect.tool)
        .map(|tool| tool.reconcile.clone());
    let mut command = configured.unwrap_or_default();
    if !command.is_empty() {
        command.push(effect.operation_key.clone());
    }
    command
}

async fn ask(
    session: &Session,
    branch: &BranchId,
    effect: &Effect,
) -> Result<(Said, String), String> {
    let command = command(session, effect);
    if command.is_empty() {
        return Err(format!(
            "no command is configured to ask about {}",
            effect.tool
        ));
    }
    let tool = session.profile.tools.get(&effect.tool);
    let limit = tool
        .and_then(|tool| tool.time_limit)
        .unwrap_or(external::LIMIT);
    let question = json!({
        "tool": effect.tool,
        "operation_key": effect.operation_key,
        "class": effect.class,
        "args_sha256": effect.args_sha256,
        "session": session.id,
        "branch": branch,
        "step": effect.step,
    });
    let ran = external::run(
        &command,
        session.base_dir.as_deref(),
        question.to_string().as_bytes(),
        Duration::from_secs(limit),
    )
    .await?;
    let complaint = ran
        .complaint()
        .map(|line| format!(": {line}"))
        .unwrap_or_default();
    match ran.status {
        Some(0) => {}
        Some(status) => return Err(format!("it ended with status {status}{complaint}")),
        None => return Err(format!("a signal ended it{complaint}")),
    }
    let answer: Answer = serde_json::from_slice(&ran.stdout)
        .map_err(|error| format!("its answer cannot be read ({error})"))?;
    let evidence: String = answer.evidence.trim().chars().take(EVIDENCE).collect();
    if evidence.is_empty() {
        return Err("its answer names no evidence".into());
    }
    Ok((answer.state, evidence))
}
