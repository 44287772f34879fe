//! From the end of a run to its score, and from an intervention's runs to a verdict.

use crate::gate::{self, Report};
use crate::model::{
    self, Branch, BranchId, Category, GateStatus, Intervention, Judgement, RunScore, RunStatus,
    Session, Tally, Unjudged, Verdict,
};
use crate::runtime::Finish;
use crate::store::{Ending, Store};

use super::PipelineError;

/// What a fork came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The intervention.
    pub intervention: Intervention,
    /// Its branches as they are now.
    pub branches: Vec<Branch>,
    /// What the gates found, while that is known: the store keeps the status, not the findings.
    pub report: Option<Report>,
    /// Mean progress over its runs, in −1..=1; none without milestones.
    pub progress: Option<f64>,
    /// The verdict; none for a single sample, a baseline, or runs that are not over.
    pub verdict: Option<Verdict>,
    /// Why there is no verdict or why it is inconclusive.
    pub reason: Option<String>,
}

impl Outcome {
    /// Judges an intervention by its branches.
    #[must_use]
    pub fn of(intervention: Intervention, mut branches: Vec<Branch>) -> Self {
        // Earlier tries that a gate refused are over and done with once a later one was made.
        if branches.iter().all(Branch::refused) {
            branches.drain(..branches.len().saturating_sub(1));
        } else {
            branches.retain(|branch| !branch.refused());
        }
        // A run that was stopped and run again counts once, as it went at last.
        let later: Vec<usize> = branches.iter().map(|branch| branch.run_index).collect();
        let mut at = 0;
        branches.retain(|branch| {
            at += 1;
            !later
                .get(at..)
                .unwrap_or_default()
                .contains(&branch.run_index)
        });
        let scores: Vec<RunScore> = branches.iter().map(RunScore::from).collect();
        let ruling = model::verdict(
            &scores,
            intervention.n,
            intervention.category,
            intervention.capability,
        );
        Self {
            progress: model::mean_progress(&scores),
            verdict: ruling.verdict,
            reason: ruling.reason.map(|reason| reason.to_string()),
            report: None,
            intervention,
            branches,
        }
    }

    /// The runs that did not come to their end and may yet: those that were stopped or interrupted, and those held on their way.
    #[must_use]
    pub fn unfinished(&self) -> Vec<BranchId> {
        let again = |branch: &&Branch| match branch.run {
            RunStatus::Stopped | RunStatus::Interrupted => true,
            RunStatus::Held => !branch.refused(),
            _ => false,
        };
        let again = self.branches.iter().filter(again);
        again.map(|branch| branch.id.clone()).collect()
    }

    /// Whether its branches are diagnostic, so that the verdict carries the word.
    #[must_use]
    pub fn diagnostic(&self) -> bool {
        self.branches.iter().any(|branch| branch.diagnostic)
    }

    /// What marks the verdict of an edit that contains the expected answer, so that success would prove little.
    #[must_use]
    pub const fn leak(&self) -> Option<&'static str> {
        if self.intervention.answer_leak {
            Some("the edit gives the answer away")
        } else {
            None
        }
    }

    /// Whether it rests on what a file tells and nothing here could check.
    #[must_use]
    pub fn told(&self) -> bool {
        self.branches.iter().any(|branch| branch.told)
    }

    /// Whether it is the unedited re-run.
    #[must_use]
    pub fn baseline(&self) -> bool {
        self.intervention.category == Category::None
    }
}

/// Judges an intervention from what the store has of it.
///
/// # Errors
/// No such intervention, or the store.
pub fn outcome(store: &Store, intervention: &str) -> Result<Outcome, PipelineError> {
    let session = BranchId::parse(intervention).session().to_owned();
    let found = store
        .interventions(&session)?
        .into_iter()
        .find(|one| one.id == intervention);
    let Some(found) = found else {
        return Err(PipelineError::Usage(format!(
            "there is no intervention {intervention} in session {session}. `dover show {session}` lists its branches"
        )));
    };
    let branches = store
        .branches(&session)?
        .into_iter()
        .filter(|branch| branch.intervention.as_deref() == Some(intervention))
        .collect();
    Ok(Outcome::of(found, branches))
}

/// The outcomes of all interventions of a session, oldest first.
pub fn outcomes(store: &Store, session: &str) -> Result<Vec<Outcome>, PipelineError> {
    let branches = store.branches(session)?;
    let of = |id: &str| -> Vec<Branch> {
        branches
            .iter()
            .filter(|branch| branch.intervention.as_deref() == Some(id))
            .cloned()
            .collect()
    };
    Ok(store
        .interventions(session)?
        .into_iter()
        .map(|intervention| {
            let branches = of(&intervention.id);
            Outcome::of(intervention, branches)
        })
        .collect())
}

/// A run that came to its end by itself, scored. `edited`: its first own step is an edit.
///
/// A run that says nothing after the edit has for an answer the operator's own words. They prove nothing, so nothing is verified.
pub(super) fn score(
    store: &Store,
    session: &Session,
    branch: &Branch,
    edited: bool,
    finish: Finish,
    judgement: Judgement,
) -> Result<Ending, PipelineError> {
    if own_words(store, branch, edited)? && finish.answer.is_some() {
        return Ok(Ending {
            run: RunStatus::Done,
            gate: Some(GateStatus::Unverified),
            fulfilled: finish.fulfilled,
            success: None,
            milestones: tally(store, session, branch)?,
            answer: finish.answer,
            reason: Some("the answer is the edit's own words, so nothing was verified".to_owned()),
        });
    }
    // Why nothing was judged is worth more than that the run answered.
    let unjudged = match judgement {
        Judgement::CannotJudge(why) if why != Unjudged::NoAnswer && session.verifier.is_some() => {
            Some(why.to_string())
        }
        _ => None,
    };
    Ok(Ending {
        run: RunStatus::Done,
        gate: Some(gate::outcome(
            finish.answer.as_deref(),
            judgement,
            branch.diagnostic,
        )),
        fulfilled: finish.fulfilled,
        success: judgement.success(),
        milestones: tally(store, session, branch)?,
        answer: finish.answer,
        reason: unjudged.or(Some(finish.reason).filter(|reason| !reason.is_empty())),
    })
}

/// Whether a run says nothing after the edit that it begins with.
pub(super) fn own_words(
    store: &Store,
    branch: &Branch,
    edited: bool,
) -> Result<bool, PipelineError> {
    Ok(edited && branch.fork_step.map(|at| at + 1) == Some(store.step_count(&branch.id)?))
}

/// Milestones of a branch beside its parent's; none if the session has none.
pub(super) fn tally(
    store: &Store,
    session: &Session,
    branch: &Branch,
) -> Result<Option<Tally>, PipelineError> {
    if session.milestones.is_empty() {
        return Ok(None);
    }
    let count = |id: &BranchId| -> Result<usize, PipelineError> {
        Ok(store.milestones(id)?.iter().flatten().count())
    };
    let before = branch.parent.as_ref().map_or(Ok(0), count)?;
    Ok(Some(Tally {
        before,
        after: count(&branch.id)?,
        of: session.milestones.len(),
    }))
}
