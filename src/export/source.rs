//! What is taken along: a session read from the store, everything redacted on its way out. Writers know nothing else, so none can forget.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::ExportError;
use super::redact::{Redacted, Redactor};
use crate::gate::receipt::{self, Content, Sealed, hashed};
use crate::model::{
    Branch, BranchId, BranchNote, Checkpoint, Digest, Effect, Filed, Intervention, Manifest,
    MilestoneMark, Note, Session, Step, Trial, title_of,
};
use crate::pipeline::{self, Comparison, Outcome};
use crate::store::Store;

/// A session to be written, or some branches of it.
pub struct Source<'a> {
    store: &'a Store,
    session: String,
    /// The branches asked for and those that they come from; all, if none were named.
    only: Option<BTreeSet<BranchId>>,
    redactor: Redactor,
}

impl<'a> Source<'a> {
    /// A session, or the branches named of it with what they come from.
    ///
    /// # Errors
    /// A branch that is not there, or the store.
    pub fn new(
        store: &'a Store,
        session: &str,
        branches: &[BranchId],
        redactor: Redactor,
    ) -> Result<Self, ExportError> {
        let mut only = BTreeSet::new();
        for id in branches {
            let mut next = Some(id.clone());
            while let Some(id) = next.filter(|id| !only.contains(id)) {
                next = store.branch(&id)?.parent;
                only.insert(id);
            }
        }
        Ok(Self {
            store,
            session: session.to_owned(),
            only: (!branches.is_empty()).then_some(only),
            redactor,
        })
    }

    /// What has been taken out so far, by sort.
    #[must_use]
    pub fn redacted(&self) -> &Redacted {
        self.redactor.count()
    }

    /// The session. It says what sorts were looked for and found in all of it once [`Source::look_through`] was called.
    pub fn session(&mut self) -> Result<Session, ExportError> {
        let session = Session {
            redacted: BTreeMap::new(),
            ..self.store.session(&self.session)?
        };
        let before = self.store.session(&self.session)?.redacted;
        let cut = session.titled_by_task();
        let mut session: Session = self.redactor.noun(session)?;
        if cut {
            // Cut once more: half a secret at its end would not be known for one.
            session.title = title_of(&session.task);
        }
        session.redacted = self.redactor.count().with(before);
        Ok(session)
    }

    /// Reads everything once, so that what stands first can say how much was taken out of what comes after.
    pub fn look_through(&mut self) -> Result<(), ExportError> {
        self.session()?;
        self.interventions()?;
        self.hypotheses()?;
        self.marks()?;
        self.notes()?;
        for branch in self.branches()? {
            self.own_config(&branch.id)?;
            self.own_effects(&branch)?;
            let start = branch.fork_step.unwrap_or_default();
            for at in (start..branch.steps).step_by(PAGE) {
                let page = at..(at + PAGE).min(branch.steps);
                self.checkpoints(&branch.id, page.clone())?;
                self.steps(&branch.id, page)?;
            }
        }
        self.redactor.counted();
        Ok(())
    }

    /// The branches, parents before children.
    pub fn branches(&mut self) -> Result<Vec<Branch>, ExportError> {
        let found = self.raw_branches()?;
        self.redactor.nouns(found)
    }

    fn raw_branches(&self) -> Result<Vec<Branch>, ExportError> {
        let mut found = self.store.branches(&self.session)?;
        found.retain(|branch| self.has(&branch.id));
        Ok(found)
    }

    fn has(&self, id: &BranchId) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(id))
    }

    /// The edits behind the branches.
    pub fn interventions(&mut self) -> Result<Vec<Intervention>, ExportError> {
        let found = self.raw_interventions()?;
        self.redactor.nouns(found)
    }

    fn raw_interventions(&self) -> Result<Vec<Intervention>, ExportError> {
        let used: BTreeSet<String> = self
            .raw_branches()?
            .into_iter()
            .filter_map(|branch| branch.intervention)
            .collect();
        let mut found = self.store.interventions(&self.session)?;
        found.retain(|made| self.only.is_none() || used.contains(&made.id));
        Ok(found)
    }

    /// What was suspected.
    pub fn hypotheses(&mut self) -> Result<Vec<Filed>, ExportError> {
        let made: BTreeSet<String> = self
            .raw_interventions()?
            .into_iter()
            .map(|made| made.id)
            .collect();
        let mut found = self.store.hypotheses(&self.session)?;
        found.retain(|filed| {
            self.has(&filed.branch)
                && filed
                    .intervention
                    .as_ref()
                    .is_none_or(|id| made.contains(id))
        });
        self.redactor.nouns(found)
    }

    /// What people marked.
    pub fn marks(&mut self) -> Result<Vec<MilestoneMark>, ExportError> {
        let mut found = self.store.marks(&self.session)?;
        found.retain(|mark| self.has(&mark.branch));
        self.redactor.nouns(found)
    }

    /// What people pinned to steps.
    pub fn notes(&mut self) -> Result<Vec<BranchNote>, ExportError> {
        let mut found = self.store.all_notes(&self.session)?;
        found.retain(|note| self.has(&note.branch));
        self.redactor.nouns(found)
    }

    /// What people pinned to the steps that a branch made itself.
    pub(super) fn own_notes(&mut self, id: &BranchId) -> Result<Vec<Note>, ExportError> {
        let notes = self.notes()?.into_iter();
        let own = notes.filter(|note| note.branch == *id);
        Ok(own.map(|note| note.note).collect())
    }

    /// Verdicts and their reasons, edit by edit: of all runs of each, whatever was asked for.
    pub fn outcomes(&mut self) -> Result<Vec<Outcome>, ExportError> {
        let shown: BTreeSet<String> = self
            .raw_interventions()?
            .into_iter()
            .map(|made| made.id)
            .collect();
        let mut outcomes = pipeline::outcomes(self.store, &self.session)?;
        outcomes.retain(|one| shown.contains(&one.intervention.id));
        for one in &mut outcomes {
            one.intervention = self.redactor.noun(one.intervention.clone())?;
            one.branches = self.redactor.nouns(std::mem::take(&mut one.branches))?;
        }
        Ok(outcomes)
    }

    /// Steps of a branch, inherited ones included.
    pub fn steps(&mut self, id: &BranchId, range: Range<usize>) -> Result<Vec<Step>, ExportError> {
        let found = self.store.steps(id, range)?;
        self.redactor.nouns(found)
    }

    /// One step.
    pub fn step(&mut self, id: &BranchId, index: usize) -> Result<Step, ExportError> {
        let found = self.store.step(id, index)?;
        self.redactor.noun(found)
    }

    /// States before the steps of a branch.
    pub fn checkpoints(
        &mut self,
        id: &BranchId,
        range: Range<usize>,
    ) -> Result<Vec<Checkpoint>, ExportError> {
        let found = self.store.checkpoints(id, range)?;
        self.redactor.nouns(found)
    }

    /// The effects of the steps that a branch made itself.
    pub fn own_effects(&mut self, branch: &Branch) -> Result<Vec<Effect>, ExportError> {
        let mut found = self.store.effects(&branch.id)?;
        found.retain(|effect| branch.fork_step.is_none_or(|at| effect.step >= at));
        self.redactor.nouns(found)
    }

    /// The configuration recorded of a branch itself.
    pub fn own_config(&mut self, id: &BranchId) -> Result<Option<Manifest>, ExportError> {
        let found = self.store.own_config(id)?;
        found.map(|config| self.redactor.noun(config)).transpose()
    }

    /// For each milestone the first step of the branch that reaches it.
    pub fn milestones(&self, id: &BranchId) -> Result<Vec<Option<usize>>, ExportError> {
        Ok(self.store.milestones(id)?)
    }

    /// The trials of a branch.
    pub fn trials(&self, id: &BranchId) -> Result<Vec<Trial>, ExportError> {
        Ok(self.store.trials(id)?)
    }

    /// Two branches beside each other.
    pub fn compare(&self, a: &BranchId, b: &BranchId) -> Result<Comparison, ExportError> {
        Ok(pipeline::compare(self.store, a, b)?)
    }

    /// The receipts that are about these branches, those that came with the session included. They hold no content, so nothing is
    /// taken out of them.
    pub fn receipts(&self) -> Result<Vec<Sealed>, ExportError> {
        let branches: BTreeSet<Digest> = self
            .raw_branches()?
            .iter()
            .map(|branch| hashed(branch.id.as_str()))
            .collect();
        let about = |sealed: &Sealed| match &sealed.receipt.content {
            Content::Fork(made) | Content::Refusal(made) => {
                made.branches.iter().any(|id| branches.contains(id))
            }
            Content::Decision(said) => branches.contains(&said.branch),
            Content::Outcome(end) => branches.contains(&end.branch),
        };
        let mut found = self.store.carried(&self.session)?;
        let text = self.store.receipts(None)?;
        found.extend(receipt::lines(&text).filter(about));
        Ok(found)
    }
}

/// Steps read at a time.
pub(super) const PAGE: usize = 200;
