//! Old branches judged again when the verifier, the expected answer or the milestones are others than they were.
//!
//! A run itself never changes; what is said of its end does, each time with a receipt of its own.

use crate::gate;
use crate::model::{self, Branch, RunStatus, Session};
use crate::store::Store;

use super::PipelineError;
use super::score::{own_words, tally};

/// Judges every branch of a session that came to its end, and writes what is different now.
pub(super) fn rejudge(store: &Store, session: &Session) -> Result<(), PipelineError> {
    let interventions = store.interventions(&session.id)?;
    let edited = |branch: &Branch| {
        interventions
            .iter()
            .any(|made| branch.intervention.as_ref() == Some(&made.id) && made.text.is_some())
    };
    for branch in store.branches(&session.id)? {
        if branch.run != RunStatus::Done {
            continue;
        }
        let judgement = model::judge(
            session.verifier.as_ref(),
            session.expected.as_deref(),
            branch.answer.as_deref(),
        );
        let judged = if branch.answer.is_some() && own_words(store, &branch, edited(&branch))? {
            branch.clone()
        } else if branch.parent.is_none() {
            Branch {
                success: branch.answer.as_ref().and_then(|_| judgement.success()),
                ..branch.clone()
            }
        } else {
            Branch {
                success: judgement.success(),
                gate: Some(gate::outcome(
                    branch.answer.as_deref(),
                    judgement,
                    branch.diagnostic,
                )),
                milestones: tally(store, session, &branch)?,
                ..branch.clone()
            }
        };
        if judged != branch {
            store.rejudge(&branch.id, judged.gate, judged.success, judged.milestones)?;
        }
    }
    Ok(())
}
