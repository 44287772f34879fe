//! The course of one trial through the loop: what was suspected, what came of it, and what is due next. Read from the store when a
//! stopped loop goes on.

use crate::analyst::{Analyst, AnalystError, Case, Intervention};
use crate::model::{
    Branch, BranchId, DebugSettings, Filed, Hypothesis, RunStatus, Standing, StepKind, Tally,
    Trial, Tried, Verdict,
};
use crate::pipeline::fork::blocking;
use crate::pipeline::{Outcome, PipelineError, outcomes};
use crate::store::Store;

/// How many hypotheses of a trial are asked for an edit before it counts as untestable.
const CANDIDATES: usize = 3;
/// How much of each of them is repeated, in characters.
const SAID: usize = 500;
/// How many of the steps after an edit tell what was learnt.
const TOLD: usize = 4;

/// One trial on its way.
pub(super) struct Course {
    /// The trial.
    pub(super) trial: Trial,
    /// Its hypotheses, a round each, with what their runs came to.
    pub(super) tested: Vec<(Filed, Option<Outcome>)>,
    /// Why it does not go on.
    pub(super) note: Option<String>,
    /// What was refuted so far.
    tried: Vec<Tried>,
    /// Runs that were stopped in an earlier loop are run again once.
    taken_up: bool,
}

/// What a course needs next.
pub(super) enum Next {
    /// A hypothesis and an edit.
    Analyse,
    /// Runs for a hypothesis that is kept.
    Run(Box<Filed>),
    /// An intervention that was held, or the runs of it that did not come to their end.
    Again(String, Vec<BranchId>),
}

/// A course that can go on, by its place.
pub(super) struct Due {
    pub(super) at: usize,
    pub(super) trial: Trial,
    pub(super) next: Next,
    round: usize,
    tried: Vec<Tried>,
}

/// What analysing a course gave.
pub(super) enum Found {
    /// A new hypothesis, with its edit or the reason why there is none; branch, analyst and id are still open.
    Fresh(Box<Filed>),
    /// One that is kept.
    Kept(Box<Filed>),
    /// An intervention to be tried again, or some runs of it.
    Stopped(String, Vec<BranchId>),
    /// The analyst has nothing to say.
    Failed(String),
}

/// The courses of these trials, as an earlier loop of the same settings left them if it shall go on.
pub(super) fn all(
    store: &Store,
    settings: &DebugSettings,
    trials: &[Trial],
    resume: bool,
) -> Result<Vec<Course>, PipelineError> {
    let session = settings.branch.session();
    let (filed, mut outcomes) = if resume {
        let filed = store.hypotheses(session)?.into_iter().skip(settings.since);
        let ours = |it: &Filed| it.analyst == settings.analyst && it.branch == settings.branch;
        (filed.filter(ours).collect(), outcomes(store, session)?)
    } else {
        (Vec::new(), Vec::new())
    };
    let mut courses: Vec<Course> = trials.iter().copied().map(Course::new).collect();
    for filed in filed {
        let found = courses
            .iter_mut()
            .find(|course| course.trial.index == filed.hypothesis.trial.index);
        let at = outcomes
            .iter()
            .position(|outcome| Some(&outcome.intervention.id) == filed.intervention.as_ref());
        let outcome = at.map(|at| outcomes.swap_remove(at));
        if let Some(course) = found {
            let tried = match &outcome {
                Some(outcome) => learnt(store, filed.clone(), outcome)?,
                None => None,
            };
            course.tested.push((filed, outcome));
            course.keep(tried);
        }
    }
    Ok(courses)
}

impl Course {
    fn new(trial: Trial) -> Self {
        Self {
            trial,
            tested: Vec::new(),
            note: None,
            tried: Vec::new(),
            taken_up: false,
        }
    }

    /// What this course needs next, if it can go on.
    pub(super) fn due(&self, at: usize, rounds: usize, propose: bool) -> Option<Due> {
        let round = self.tested.len() + 1;
        let next = match self.tested.last() {
            _ if self.note.is_some() => None,
            None => Some(Next::Analyse),
            Some((filed, None)) => {
                (filed.proposal.is_some() && !propose).then(|| Next::Run(Box::new(filed.clone())))
            }
            Some((_, Some(outcome))) => {
                let (again, held) = (outcome.unfinished(), refused(outcome));
                if (held || !again.is_empty()) && !self.taken_up && !propose {
                    Some(Next::Again(outcome.intervention.id.clone(), again))
                } else {
                    (outcome.verdict == Some(Verdict::Refuted) && round <= rounds)
                        .then_some(Next::Analyse)
                }
            }
        };
        Some(Due {
            at,
            trial: self.trial,
            next: next?,
            round,
            tried: self.tried.clone(),
        })
    }

    /// Whether runs of it were stopped and not run again.
    pub(super) fn broken_off(&self) -> bool {
        let last = self.tested.last().and_then(|(_, outcome)| outcome.as_ref());
        last.is_some_and(|outcome| outcome.branches.iter().any(was_stopped))
    }

    /// Why the last hypothesis cannot be tested.
    pub(super) fn untestable(&self) -> Option<String> {
        let (filed, _) = self.tested.last()?;
        (filed.standing == Standing::Untestable)
            .then(|| filed.note.clone())
            .flatten()
    }

    /// Takes in what the runs of the last hypothesis came to.
    pub(super) async fn judged(
        &mut self,
        store: &Store,
        outcome: Outcome,
    ) -> Result<(), PipelineError> {
        self.taken_up = true;
        let Some((last, kept)) = self.tested.last_mut() else {
            return Ok(());
        };
        let (session, id) = (last.branch.session().to_owned(), last.id.clone());
        let filed = blocking(store, move |store| {
            Ok(store
                .hypotheses(&session)?
                .into_iter()
                .find(|it| it.id == id))
        })
        .await?;
        if let Some(filed) = filed {
            *last = filed;
        }
        let filed = last.clone();
        *kept = Some(outcome.clone());
        let tried = blocking(store, move |store| learnt(store, filed, &outcome)).await?;
        self.keep(tried);
        Ok(())
    }

    fn keep(&mut self, tried: Option<Tried>) {
        if let Some(tried) = tried {
            if let Some((filed, _)) = self.tested.last_mut() {
                filed.note = Some(tried.learnt.clone());
            }
            self.tried.push(tried);
        }
    }
}

/// Whether somebody stopped a run, or it went with its program.
fn was_stopped(branch: &Branch) -> bool {
    matches!(branch.run, RunStatus::Stopped | RunStatus::Interrupted)
}

/// Whether a gate refused an intervention: nothing of it has run.
fn refused(outcome: &Outcome) -> bool {
    outcome.branches.iter().all(Branch::refused)
}

impl Due {
    /// Asks the analyst, if that is what is due. The first hypothesis that an edit can be made for is taken.
    pub(super) async fn found(self, case: &Case, analyst: &dyn Analyst) -> Found {
        match self.next {
            Next::Run(filed) => Found::Kept(filed),
            Next::Again(intervention, stopped) => Found::Stopped(intervention, stopped),
            Next::Analyse => {
                match fresh(case, analyst, &self.trial, &self.tried, self.round).await {
                    Ok(Some(filed)) => Found::Fresh(Box::new(filed)),
                    Ok(None) => Found::Failed(format!(
                        "no hypothesis: no agent speaks in trial {}",
                        self.trial.index
                    )),
                    Err(error) => Found::Failed(error.to_string()),
                }
            }
        }
    }
}

async fn fresh(
    case: &Case,
    analyst: &dyn Analyst,
    trial: &Trial,
    tried: &[Tried],
    round: usize,
) -> Result<Option<Filed>, AnalystError> {
    let mut untestable = None;
    let suspects = analyst.attribute(case, trial, tried).await?;
    for hypothesis in suspects.into_iter().take(CANDIDATES) {
        match analyst.intervene(case, &hypothesis, tried).await? {
            Intervention::Edit(proposal) => {
                return Ok(Some(Filed {
                    proposal: Some(proposal),
                    ..filed(hypothesis, round)
                }));
            }
            Intervention::Nothing(why) => {
                untestable.get_or_insert(Filed {
                    standing: Standing::Untestable,
                    note: Some(why),
                    ..filed(hypothesis, round)
                });
            }
        }
    }
    Ok(untestable)
}

fn filed(hypothesis: Hypothesis, round: usize) -> Filed {
    Filed {
        id: String::new(),
        branch: BranchId::main(""),
        round,
        analyst: String::new(),
        hypothesis,
        proposal: None,
        intervention: None,
        standing: Standing::Proposed,
        note: None,
    }
}

/// What a refuted hypothesis taught, written on it; none for any other.
fn learnt(store: &Store, filed: Filed, outcome: &Outcome) -> Result<Option<Tried>, PipelineError> {
    let (Some(Verdict::Refuted), Some(proposal)) = (outcome.verdict, filed.proposal.clone()) else {
        return Ok(None);
    };
    let done = outcome
        .branches
        .iter()
        .filter(|branch| branch.run == RunStatus::Done);
    let runs = done
        .map(|branch| run_went(store, branch))
        .collect::<Result<Vec<_>, _>>()?;
    let mut distinct: Vec<(String, usize)> = Vec::new();
    for went in runs {
        match distinct.iter_mut().find(|(known, _)| *known == went) {
            Some((_, count)) => *count += 1,
            None => distinct.push((went, 1)),
        }
    }
    let n = outcome.intervention.n;
    let learnt = distinct
        .into_iter()
        .map(|(went, count)| format!("{count} of {n} runs: {went}"))
        .collect::<Vec<_>>()
        .join("\n");
    store.refile(&Filed {
        note: Some(learnt.clone()),
        ..filed.clone()
    })?;
    Ok(Some(Tried {
        hypothesis: filed.hypothesis,
        proposal,
        verdict: outcome.verdict,
        learnt,
    }))
}

/// How one run went on after the edit: its milestones, its answer, what was said first.
fn run_went(store: &Store, branch: &Branch) -> Result<String, PipelineError> {
    let from = branch.fork_step.map_or(0, |at| at + 1);
    let steps = store.steps(&branch.id, from..branch.steps)?;
    let said = steps
        .iter()
        .filter(|step| !matches!(step.kind, StepKind::Control | StepKind::Ledger))
        .take(TOLD)
        .map(|step| {
            let words: Vec<&str> = step.text.split_whitespace().collect();
            let text: String = words.join(" ").chars().take(SAID).collect();
            format!("{} said: {text}", step.agent)
        });
    let milestones = branch.milestones.map(|Tally { before, after, of }| {
        format!("milestones {before} before, {after} after, of {of}")
    });
    let answer = branch
        .answer
        .as_ref()
        .map(|answer| format!("wrong answer: {answer}"));
    let all: Vec<String> = milestones.into_iter().chain(answer).chain(said).collect();
    Ok(all.join("; "))
}
