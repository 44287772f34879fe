//! Edits that were not sent: kept in the store as they are made, as the screen keeps its own, and offered when their session is opened.

use super::{Plain, tell};
use crate::app::unsent::Draft;
use crate::cli::error::CliError;
use crate::model::BranchId;
use crate::pipeline::Tests;
use crate::store::Unsent;

impl Plain {
    /// Says which edits of the session the store has, and takes them up. What was written in this sitting is newer.
    pub(super) fn offer(&mut self) -> Result<(), CliError> {
        let session = self.opened()?.session.id.clone();
        let kept = self.store.drafts(&session)?;
        if kept.is_empty() {
            return Ok(());
        }
        let hypotheses = self.store.hypotheses(&session)?;
        for edit in kept {
            let Some(text) = edit.text.clone() else {
                continue;
            };
            let place = (edit.branch.clone(), edit.step);
            if self.drafts.contains_key(&place) {
                continue;
            }
            let told = tell::unsent(&edit, &self.opened()?.branch, &self.operator);
            let of = hypotheses
                .iter()
                .find(|filed| edit.tests.as_ref() == Some(&filed.id));
            let tests = of.map(Tests::of);
            self.drafts.insert(place, Draft { text, tests });
            self.voice.say(&told)?;
        }
        Ok(())
    }

    /// Keeps an edit here and in the store, or forgets it. A store that cannot be written does not stop anybody from editing.
    pub(super) fn hold(
        &mut self,
        place: &(BranchId, usize),
        edit: Option<Draft>,
    ) -> Result<(), CliError> {
        let unsent = Unsent {
            branch: place.0.clone(),
            step: place.1,
            text: edit.as_ref().map(|edit| edit.text.clone()),
            tests: edit.as_ref().and_then(Draft::hypothesis),
            operator: self.operator.clone(),
        };
        let before = match edit {
            Some(edit) => self.drafts.insert(place.clone(), edit),
            None => self.drafts.remove(place),
        };
        if unsent.text.is_none() && before.is_none() {
            return Ok(());
        }
        if let Err(fault) = self.store.keep_draft(&unsent) {
            self.voice.say(&format!(
                "The edit of step {} lasts as long as this sitting: {fault}.",
                unsent.step
            ))?;
        }
        Ok(())
    }

    /// Keeps what was begun; one that was kept before stays until something is written in its place.
    pub(super) fn hold_begun(
        &mut self,
        place: &(BranchId, usize),
        edit: Option<Draft>,
    ) -> Result<(), CliError> {
        match edit {
            Some(edit) => self.hold(place, Some(edit)),
            None => Ok(()),
        }
    }
}
