//! Old branches judged again when the verifier, the expected answer or the milestones are others than they were.
//!
//! A run itself never changes; what is said of its end does, each time with a receipt of its own. What did not change is not
//! asked again: a verifier that needs the run's workspace could only say less than it said then.

use crate::gate;
use crate::model::{self, Branch, RunStatus, Session};
use crate::store::Store;

use super::PipelineError;
use super::score::{own_words, tally};

/// Judges every branch of a session that came to its end, and writes what is different now.
pub(super) fn rejudge(
    store: &Store,
    before: &Session,
    session: &Session,
) -> Result<(), PipelineError> {
    let outcome = (&before.verifier, &before.expected) != (&session.verifier, &session.expected);
    let milestones = before.milestones != session.milestones;
    for branch in store.branches(&session.id)? {
        if branch.run != RunStatus::Done {
            continue;
        }
        let mut judged = branch.clone();
        if outcome {
            judge(store, session, &mut judged)?;
        }
        if milestones && branch.parent.is_some() {
            judged.milestones = tally(store, session, &branch)?;
        }
        if judged != branch {
            store.rejudge(&branch.id, judged.gate, judged.success, judged.milestones)?;
        }
    }
    Ok(())
}

/// Judges one outcome as it is judged when a run ends.
fn judge(store: &Store, session: &Session, branch: &mut Branch) -> Result<(), PipelineError> {
    let Some(answer) = branch.answer.as_deref() else {
        return Ok(());
    };
    let edited = store
        .interventions(&session.id)?
        .iter()
        .any(|made| branch.intervention.as_ref() == Some(&made.id) && made.text.is_some());
    if own_words(store, branch, edited)? {
        return Ok(());
    }
    let (verifier, expected) = (session.verifier.as_ref(), session.expected.as_deref());
    let judgement = model::judge(verifier, expected, Some(answer));
    branch.success = judgement.success();
    if branch.gate.is_some() {
        branch.gate = Some(gate::outcome(Some(answer), judgement, branch.diagnostic));
    }
    Ok(())
}
