//! What a session file says of its own ends, judged again before it is believed (SPEC 3: a runtime's own word is no evidence).
//!
//! A final answer is judged as it is judged when a run ends, milestones are counted in the steps that are here, an edit is held
//! against its own digest, a branch against the last receipt of its outcome that came with it. No command that a file names is run.
//! What nothing here could check stays as the file tells it and says so. Receipts that came with a file prove no more than that the
//! file is of one piece: whoever writes it can seal them anew.

use std::collections::BTreeMap;

use crate::gate;
use crate::gate::receipt::{Content, Ended, hashed};
use crate::model::{
    Branch, BranchId, CoverageNote, Digest, GateStatus, Intervention, Judgement, RunStatus,
    Session, Unjudged, Verifier,
};
use crate::store::Store;

use super::score::{own_words, tally};
use super::{PipelineError, config, intake, plan};

/// Notes that an import keeps at most.
const NOTES: usize = 100;

/// Checks a session that was just taken in. `named`: the id that the file gives it; `main`: what the verifier said of the original run.
pub(super) fn check(
    store: &Store,
    id: &str,
    named: &str,
    main: Option<bool>,
) -> Result<(), PipelineError> {
    let mut session = store.session(id)?;
    let made = store.interventions(id)?;
    if session.told.is_empty() && made.is_empty() {
        return Ok(());
    }
    let mut faults = Vec::new();
    let changed = changed_edits(store, &session, &made, &mut faults)?;
    let check = Check {
        store,
        session: &session,
        made: &made,
        ends: last_ends(store, id)?,
        marked: !store.marks(id)?.is_empty(),
        named,
        main,
    };
    let mut judged = Vec::new();
    let mut told = session.told.clone();
    for branch in store.branches(id)? {
        let name = branch.id.name().to_owned();
        if !told.contains(&name) {
            continue;
        }
        let (now, sure) = check.branch(&branch, &mut faults)?;
        let edit = branch.intervention.as_ref();
        if sure && edit.is_none_or(|id| !changed.contains(id)) {
            told.remove(&name);
        }
        if now != branch {
            judged.push(now);
        }
    }
    session.told = told;
    let coverage = &mut session.coverage;
    if session.redacted.is_empty() {
        // The line is told once, as damaged and not as read.
        coverage.damaged += faults.len();
        coverage.read = coverage.read.saturating_sub(faults.len());
    }
    coverage.notes.extend(faults);
    coverage.notes.truncate(NOTES);
    Ok(store.settle_brought(&session, &judged)?)
}

/// The last word that the receipts of a file say of each branch's end.
fn last_ends(store: &Store, id: &str) -> Result<BTreeMap<Digest, Ended>, PipelineError> {
    let ends = store.carried(id)?.into_iter();
    let ends = ends.filter_map(|sealed| match sealed.receipt.content {
        Content::Outcome(end) => Some((end.branch, end)),
        _ => None,
    });
    Ok(ends.collect())
}

/// The edits whose text is not the one that their own digest is of.
fn changed_edits(
    store: &Store,
    session: &Session,
    made: &[Intervention],
    faults: &mut Vec<CoverageNote>,
) -> Result<Vec<String>, PipelineError> {
    let mut changed = Vec::new();
    for one in made {
        let step = store.step(&one.parent, one.step)?;
        let digest = plan::edited(&step, one.text.as_deref())
            .map(|step| config::edit_digest(step.digest(), &one.changes));
        if digest.is_ok_and(|digest| digest == one.edit_digest) {
            continue;
        }
        changed.push(one.id.clone());
        if session.redacted.is_empty() {
            faults.push(CoverageNote {
                place: format!("intervention {}", BranchId::parse(&one.id).name()),
                reason: "its text, or the step that it edits, is not what its own digest says: it was changed".to_owned(),
            });
        }
    }
    Ok(changed)
}

/// What branches are held against.
struct Check<'a> {
    store: &'a Store,
    session: &'a Session,
    made: &'a [Intervention],
    ends: BTreeMap<Digest, Ended>,
    /// People marked milestones, which does not change the tally of a run that was over by then.
    marked: bool,
    named: &'a str,
    main: Option<bool>,
}

impl Check<'_> {
    /// A branch as far as it can be believed, and whether all that it says of its end was checked.
    fn branch(
        &self,
        told: &Branch,
        faults: &mut Vec<CoverageNote>,
    ) -> Result<(Branch, bool), PipelineError> {
        let mut now = told.clone();
        let end = self.end(told)?;
        let mut sure = true;
        if let Some(end) = &end {
            now.diagnostic |= end.diagnostic;
            now.fulfilled = end.fulfilled;
        }
        sure &= now.fulfilled.is_none() || end.is_some();
        sure &= self.outcome(&mut now)?;
        if told.milestones.is_some() && told.parent.is_some() {
            let counted = tally(self.store, self.session, told)?;
            let sealed = end.as_ref().is_some_and(|end| end.milestones == counted);
            if !self.marked || sealed {
                now.milestones = counted;
            }
            sure &= counted == told.milestones
                || !self.marked
                || end.is_some_and(|end| end.milestones == told.milestones);
        }
        let differs = differences(told, &now);
        if !differs.is_empty() {
            sure &= now.fulfilled == told.fulfilled;
            faults.push(CoverageNote {
                place: format!("branch {}", told.id.name()),
                reason: format!(
                    "what it says of its end does not hold against its own steps and receipts, and was not believed: {}",
                    differs.join(", ")
                ),
            });
        }
        Ok((now, sure))
    }

    /// The receipt of a branch's end, if it is of the steps that are here.
    fn end(&self, branch: &Branch) -> Result<Option<Ended>, PipelineError> {
        let id = hashed(BranchId::new(self.named, branch.id.name()).as_str());
        let Some(end) = self.ends.get(&id) else {
            return Ok(None);
        };
        let same =
            end.steps == branch.steps && end.trajectory == self.store.trajectory(&branch.id)?;
        Ok(same.then(|| end.clone()))
    }

    /// Judges the final answer; says whether it could be judged.
    fn outcome(&self, branch: &mut Branch) -> Result<bool, PipelineError> {
        let edited = self
            .made
            .iter()
            .any(|made| branch.intervention.as_ref() == Some(&made.id) && made.text.is_some());
        let answer = branch.answer.clone();
        let answer = answer.as_deref();
        // A command is left out of a file, so a session without a verifier may have had one.
        let looks = matches!(
            self.session.verifier,
            None | Some(Verifier::Command(_) | Verifier::File { .. })
        );
        let main = self.main.filter(|_| branch.parent.is_none());
        let own = answer.is_some() && own_words(self.store, branch, edited)?;
        let mut sure = true;
        let judgement = if branch.run != RunStatus::Done || own {
            Judgement::CannotJudge(Unjudged::NoReceipt)
        } else if looks
            && self.session.verifier.is_some()
            && answer.is_none_or(|text| text.trim().is_empty())
        {
            Judgement::CannotJudge(Unjudged::NoAnswer)
        } else if looks {
            // The files that the run left behind are not here, and a file's command is not run.
            sure = branch.success.is_none() || main.is_some();
            match main.or(branch.success) {
                Some(true) => Judgement::Passed,
                Some(false) => Judgement::Rejected,
                None => Judgement::CannotJudge(Unjudged::NoWorkspace),
            }
        } else {
            intake::judged(self.session, answer)
        };
        branch.success = judgement.success();
        if branch.parent.is_none() && answer.is_none() {
            branch.success = None;
        }
        if branch.gate.is_some_and(judged_after) {
            branch.gate = Some(gate::outcome(answer, judgement, branch.diagnostic));
        }
        Ok(sure)
    }
}

/// Whether a status is one that only the outcome gives.
const fn judged_after(gate: GateStatus) -> bool {
    matches!(
        gate,
        GateStatus::Verified | GateStatus::FalseSuccess | GateStatus::Unverified
    )
}

/// What a file says otherwise than it is found, in words.
fn differences(told: &Branch, now: &Branch) -> Vec<String> {
    let mut parts = Vec::new();
    if told.gate != now.gate {
        let name = |gate: Option<GateStatus>| {
            gate.map_or("none".to_owned(), |gate| gate.name().replace('_', " "))
        };
        parts.push(format!("gate {} for {}", name(told.gate), name(now.gate)));
    }
    let word = |it: Option<bool>| match it {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    for (what, said, found) in [
        ("success", told.success, now.success),
        ("fulfilled", told.fulfilled, now.fulfilled),
    ] {
        if said != found {
            parts.push(format!("{what} {} for {}", word(said), word(found)));
        }
    }
    if told.diagnostic != now.diagnostic {
        parts.push("no diagnostic branch for one".to_owned());
    }
    if told.milestones != now.milestones {
        parts.push("its tally of milestones".to_owned());
    }
    parts
}
