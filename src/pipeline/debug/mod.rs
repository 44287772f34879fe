//! The whole loop over a session (SPEC 2): a hypothesis for every trial, an edit for each, its runs, their verdict, and again with what
//! was learnt where it was refuted.
//!
//! Analysis goes ahead in the order of the trials, runs of all of them go at the same time within one limit, and rounds wait for each
//! other: so ids, seeds and verdicts are the same for the same seed, however fast each run is. Everything made is in the store at
//! once, so a loop that was stopped goes on from there.

mod course;
mod report;

use std::sync::Arc;

use futures::stream::{self, FuturesUnordered};
use futures::{Stream, StreamExt as _};
use tokio::sync::mpsc::{self, UnboundedSender};

use crate::analyst::{Analyst, Case};
use crate::model::{
    Aim, BranchId, Check, DebugReport, DebugSettings, Filed, MAX_MILESTONES, Step, StepKind, Trial,
    Usage, target,
};
use crate::store::Store;

use super::fork::{Forked, blocking};
use super::{
    Control, ForkRequest, Jobs, ModelSettings, NewEffects, Outcome, PipelineError, Plan, Progress,
    Tests, plan, session_of, update,
};
use course::{Course, Due, Found, Next};

/// What is said of a trial that a stop kept from going on.
const STOPPED: &str = "stopped by the operator; --resume goes on";

/// What a loop needs beside its settings.
#[derive(Clone)]
pub struct DebugRequest {
    /// How it is asked for.
    pub settings: DebugSettings,
    /// Whether it goes on with what the store has of these settings.
    pub resume: bool,
    /// Who asks.
    pub operator: String,
    /// Whether runs may go although the state cannot be restored exactly.
    pub diagnostic: bool,
    /// What becomes of new effects outside local fixtures.
    pub new_effects: NewEffects,
    /// Hypotheses and edits are made and kept, and nothing is run.
    pub propose: bool,
}

/// What happens during a loop, for whoever watches.
#[derive(Clone, Debug)]
pub enum DebugEvent {
    /// It begins: the trials, and about what the analyst will take.
    Begun {
        /// The trials to debug.
        trials: Vec<Trial>,
        /// About what analysing them takes.
        estimate: Usage,
    },
    /// A trial is being analysed.
    Analysing {
        /// Its number.
        trial: usize,
    },
    /// A hypothesis was made, with its edit or the reason why there is none.
    Filed(Box<Filed>),
    /// Something happened to a fork or a run.
    Run(Box<Progress>),
    /// All runs of a hypothesis ended.
    Judged {
        /// The trial's number.
        trial: usize,
        /// What they came to.
        outcome: Box<Outcome>,
    },
    /// Something kept a trial, or the whole loop, from going on.
    Note {
        /// The trial's number; none for the whole loop.
        trial: Option<usize>,
        /// What and why.
        text: String,
    },
}

/// What the loop works with.
pub struct Bench<'a> {
    /// The store.
    pub store: &'a Store,
    /// Who analyses.
    pub analyst: Arc<dyn Analyst>,
    /// The endpoints.
    pub models: &'a ModelSettings,
    /// How many runs go at the same time.
    pub jobs: &'a Jobs,
    /// The hand on all of it.
    pub control: &'a Control,
    /// Who is told.
    pub events: UnboundedSender<DebugEvent>,
}

impl Bench<'_> {
    fn tell(&self, event: DebugEvent) {
        // A watcher that went away does not stop the work.
        let _ = self.events.send(event);
    }
}

/// Debugs the trials of a branch.
///
/// # Errors
/// No such branch or trial, or the store. What a model, a runtime or a gate has against one trial is said in the report.
pub async fn debug(bench: &Bench<'_>, request: DebugRequest) -> Result<DebugReport, PipelineError> {
    let mut begun = begin(bench, request).await?;
    loop {
        let due = begun.due();
        if due.is_empty() {
            break;
        }
        if bench.control.is_stopped() {
            for course in &due {
                begun.note(bench, course.at, STOPPED.to_owned());
            }
            break;
        }
        round(bench, &mut begun, due).await?;
    }
    for at in begun.broken_off() {
        begun.note(bench, at, STOPPED.to_owned());
    }
    report::report(bench, begun)
}

/// A loop on its way.
struct Begun {
    request: DebugRequest,
    case: Case,
    courses: Vec<Course>,
    notes: Vec<String>,
    /// A judge of its own, where one is set; else whoever analyses judges too. One for the whole loop, so that its calls are counted.
    judge: Option<Arc<dyn Analyst>>,
}

impl Begun {
    /// The courses that can go on.
    fn due(&self) -> Vec<Due> {
        let (rounds, propose) = (self.request.settings.rounds, self.request.propose);
        let due = |(at, course): (usize, &Course)| course.due(at, rounds, propose);
        self.courses.iter().enumerate().filter_map(due).collect()
    }

    /// The courses with runs that were stopped.
    fn broken_off(&self) -> Vec<usize> {
        let courses = self.courses.iter().enumerate();
        let broken = courses.filter(|(_, course)| course.broken_off());
        broken.map(|(at, _)| at).collect()
    }

    fn note(&mut self, bench: &Bench<'_>, at: usize, text: String) {
        if let Some(course) = self.courses.get_mut(at) {
            bench.tell(DebugEvent::Note {
                trial: Some(course.trial.index),
                text: text.clone(),
            });
            course.note = Some(text);
        }
    }
}

/// Reads the branch, cuts it into trials, takes up what an earlier loop left.
async fn begin(bench: &Bench<'_>, request: DebugRequest) -> Result<Begun, PipelineError> {
    let branch = request.settings.branch.clone();
    let id = branch.clone();
    let mut case = blocking(bench.store, move |store| case(store, &id)).await?;
    if !case.steps.iter().any(|step| step.kind == StepKind::Plan) {
        match bench.analyst.segment(&case).await {
            Ok(trials) => case.trials = Arc::new(trials),
            Err(error) => return Err(PipelineError::Refused(error.to_string())),
        }
    }
    let chosen = chosen(&case, request.settings.trials.as_deref(), &branch)?;
    bench.tell(DebugEvent::Begun {
        estimate: bench.analyst.estimate(&case, &chosen),
        trials: chosen.clone(),
    });
    let mut notes = Vec::new();
    notes.extend(milestones(bench, &mut case, &request).await?);
    let (settings, resume) = (request.settings.clone(), request.resume);
    let courses = blocking(bench.store, move |store| {
        if !resume {
            store.keep_debugging(&settings)?;
        }
        course::all(store, &settings, &chosen, resume)
    })
    .await?;
    for text in &notes {
        bench.tell(DebugEvent::Note {
            trial: None,
            text: text.clone(),
        });
    }
    Ok(Begun {
        request,
        case,
        courses,
        notes,
        judge: bench
            .models
            .judge
            .as_ref()
            .map(|_| super::analysts::judge(bench.models)),
    })
}

/// A branch as an analyst may see it: without labels, and without the world that only its runtime knows.
pub(super) fn case(store: &Store, branch: &BranchId) -> Result<Case, PipelineError> {
    let known = store.branch(branch)?;
    let mut session = session_of(store, branch)?;
    session.annotations.clear();
    session.runtime = None;
    Ok(Case {
        session: Arc::new(session),
        steps: Arc::new(store.steps(branch, 0..known.steps)?),
        trials: Arc::new(store.trials(branch)?),
    })
}

/// A hypothesis and the step that its edit goes to: where it was put, else where the rule says (SPEC 2.3).
///
/// # Errors
/// No such hypothesis, or no step of its trial that could be edited for it.
pub fn edited_step(store: &Store, id: &str) -> Result<(Filed, Step), PipelineError> {
    let session = BranchId::parse(id).session().to_owned();
    let filed = store
        .hypotheses(&session)?
        .into_iter()
        .find(|it| it.id == id);
    let filed = filed.ok_or_else(|| {
        PipelineError::Usage(format!(
            "there is no hypothesis {id} in session {session}. `dover debug {session} --propose` makes some"
        ))
    })?;
    if let Some(proposal) = &filed.proposal {
        let step = store.step(&filed.branch, proposal.target.step)?;
        return Ok((filed, step));
    }
    let case = case(store, &filed.branch)?;
    let at = |aim| target(&case.steps, &filed.hypothesis, aim, case.orchestrated());
    let at = at(Aim::Instruction).or_else(|| at(Aim::Plan));
    let step = at.and_then(|at| case.steps.get(at.step)).cloned();
    let step = step.ok_or_else(|| {
        PipelineError::Usage(format!(
            "no step of trial {} could be edited for {id}: nothing was said to {} there, and there is no plan. Suspect another step",
            filed.hypothesis.trial.index, filed.hypothesis.agent
        ))
    })?;
    Ok((filed, step))
}

fn chosen(
    case: &Case,
    asked: Option<&[usize]>,
    branch: &BranchId,
) -> Result<Vec<Trial>, PipelineError> {
    let Some(asked) = asked else {
        return Ok(case.trials.to_vec());
    };
    let number = |n: &usize| {
        let found = case.trials.iter().find(|trial| trial.index == *n);
        found.copied().ok_or_else(|| {
            PipelineError::Usage(format!(
                "{branch} has no trial {n}: it has {}. `dover trials {branch}` lists them",
                case.trials.len()
            ))
        })
    };
    let mut trials: Vec<Trial> = asked.iter().map(number).collect::<Result<_, _>>()?;
    trials.sort_by_key(|trial| trial.index);
    trials.dedup();
    Ok(trials)
}

/// Milestones for a session that has none, and the steps where the branch reaches those that have no check. Says what was done.
async fn milestones(
    bench: &Bench<'_>,
    case: &mut Case,
    request: &DebugRequest,
) -> Result<Option<String>, PipelineError> {
    let mut said = None;
    let branch = request.settings.branch.clone();
    if case.session.milestones.is_empty() {
        match bench.analyst.milestones(case).await {
            Ok(made) if made.is_empty() => {}
            Ok(mut made) => {
                made.truncate(MAX_MILESTONES);
                said = Some(format!(
                    "{} milestones made by {}",
                    made.len(),
                    bench.analyst.name()
                ));
                let session = Arc::make_mut(&mut case.session);
                session.milestones.clone_from(&made);
                let (name, operator) = (session.id.clone(), request.operator.clone());
                blocking(bench.store, move |store| {
                    let mut session = store.session(&name)?;
                    session.milestones = made;
                    update(store, &session, &operator)
                })
                .await?;
            }
            Err(error) => said = Some(format!("no milestones: {error}")),
        }
    }
    if let Some(failed) = mark_by(&*bench.analyst, bench.store, case, &branch).await? {
        said = Some(failed);
    }
    Ok(said)
}

/// Marks the milestones without a check that an analyst finds reached on a branch. Says why it could not.
pub(super) async fn mark_by(
    analyst: &dyn Analyst,
    store: &Store,
    case: &Case,
    branch: &BranchId,
) -> Result<Option<String>, PipelineError> {
    let all = &case.session.milestones;
    if !all.iter().any(|milestone| milestone.check == Check::Manual) {
        return Ok(None);
    }
    let found = match analyst.judge_milestones(case, all).await {
        Ok(found) => found,
        Err(error) => return Ok(Some(format!("milestones were not judged: {error}"))),
    };
    let (case, branch) = (case.clone(), branch.clone());
    blocking(store, move |store| {
        let known = store.milestones(&branch)?;
        let marked = case.session.milestones.iter().zip(known).zip(found);
        for (number, ((milestone, known), found)) in marked.enumerate() {
            if let (Check::Manual, None, Some(step)) = (&milestone.check, known, found) {
                store.mark_milestone(&branch, number, step)?;
            }
        }
        Ok(None)
    })
    .await
}

/// What a course came to in a round: nothing was run, or its runs ended, or something was in the way.
type Came = Result<Option<Outcome>, PipelineError>;

/// Takes each of these courses one step further: to a hypothesis and through its runs, or through the runs that were stopped.
async fn round(bench: &Bench<'_>, begun: &mut Begun, due: Vec<Due>) -> Result<(), PipelineError> {
    let (told, mut tells) = mpsc::unbounded_channel();
    let mut ready = Box::pin(analysed(bench, begun.case.clone(), due));
    let mut going = FuturesUnordered::new();
    let mut over: Vec<(usize, Came)> = Vec::new();
    let mut more = true;
    while more || !going.is_empty() {
        tokio::select! {
            biased;
            Some(progress) = tells.recv() => bench.tell(DebugEvent::Run(Box::new(progress))),
            Some(ended) = going.next() => over.push(ended),
            () = bench.control.stopped(), if more => more = false,
            found = ready.next(), if more => match found {
                None => more = false,
                Some((at, found)) => match written(bench, begun, at, found, &told).await {
                    Ok(Some(forked)) => {
                        let told = told.clone();
                        going.push(async move {
                            let outcome = forked.replay(bench.store, bench.jobs, bench.control, &told).await;
                            (at, outcome.map(Some))
                        });
                    }
                    Ok(None) => over.push((at, Ok(None))),
                    Err(error) => over.push((at, Err(error))),
                },
            },
        }
    }
    drop(going);
    while let Ok(progress) = tells.try_recv() {
        bench.tell(DebugEvent::Run(Box::new(progress)));
    }
    over.sort_by_key(|(at, _)| *at);
    for (at, came) in over {
        settle(bench, begun, at, came).await?;
    }
    Ok(())
}

/// Analyses in the order of the trials, as many at a time as runs may go.
fn analysed<'a>(
    bench: &'a Bench<'_>,
    case: Case,
    due: Vec<Due>,
) -> impl Stream<Item = (usize, Found)> + 'a {
    let each = due.into_iter().map(move |due| {
        let (case, analyst) = (case.clone(), bench.analyst.clone());
        async move {
            if matches!(due.next, Next::Analyse) {
                bench.tell(DebugEvent::Analysing {
                    trial: due.trial.index,
                });
            }
            (due.at, due.found(&case, &*analyst).await)
        }
    });
    stream::iter(each).buffered(bench.jobs.limit())
}

/// Keeps what was found, and forks where there is something to run.
async fn written(
    bench: &Bench<'_>,
    begun: &mut Begun,
    at: usize,
    found: Found,
    told: &UnboundedSender<Progress>,
) -> Result<Option<Forked>, PipelineError> {
    let request = match found {
        Found::Failed(why) => return Err(PipelineError::Refused(why)),
        Found::Fresh(draft) => {
            let draft = Filed {
                branch: begun.request.settings.branch.clone(),
                analyst: bench.analyst.name(),
                ..*draft
            };
            let filed = blocking(bench.store, move |store| Ok(store.file(draft)?)).await?;
            bench.tell(DebugEvent::Filed(Box::new(filed.clone())));
            let request = begun.request.test(&filed);
            if let Some(course) = begun.courses.get_mut(at) {
                course.tested.push((filed, None));
            }
            request
        }
        Found::Kept(filed) => begun.request.test(&filed),
        Found::Stopped(intervention, stopped) => {
            let (id, operator) = (intervention, begun.request.operator.clone());
            let again = blocking(bench.store, move |store| {
                super::approve::again(store, &id, stopped, &operator)
            })
            .await?;
            Some(begun.request.over(again))
        }
    };
    let Some(request) = request.filter(|_| !begun.request.propose) else {
        return Ok(None);
    };
    let models = bench.models.clone();
    let judge = begun.judge.clone();
    let judge = judge.unwrap_or_else(|| bench.analyst.clone());
    let plan: Plan = blocking(bench.store, move |store| plan(store, request, &models)).await?;
    Forked::write(bench.store, plan.judged_by(judge), told)
        .await
        .map(Some)
}

/// Takes in what a course came to; only a fault of the store ends the loop.
async fn settle(
    bench: &Bench<'_>,
    begun: &mut Begun,
    at: usize,
    came: Came,
) -> Result<(), PipelineError> {
    let outcome = match came {
        Ok(outcome) => outcome,
        Err(error @ (PipelineError::Store(_) | PipelineError::Internal(_))) => return Err(error),
        Err(error) => {
            begun.note(bench, at, error.to_string());
            return Ok(());
        }
    };
    let Some(course) = begun.courses.get_mut(at) else {
        return Ok(());
    };
    let Some(outcome) = outcome else {
        course.note = course.untestable();
        return Ok(());
    };
    let id = outcome.intervention.id.clone();
    course.judged(bench.store, outcome.clone()).await?;
    bench.tell(DebugEvent::Judged {
        trial: course.trial.index,
        outcome: Box::new(outcome),
    });
    tracing::debug!(intervention = id, "judged");
    Ok(())
}

impl DebugRequest {
    /// The fork that tests a hypothesis; none where it has no edit.
    fn test(&self, filed: &Filed) -> Option<ForkRequest> {
        let proposal = filed.proposal.as_ref()?;
        let at = ForkRequest::at(filed.branch.clone(), proposal.target.step, &self.operator);
        Some(self.over(ForkRequest {
            text: Some(proposal.text.clone()),
            category: Some(proposal.target.category),
            runs: self.settings.runs,
            seed: self.settings.seed,
            tests: Some(Tests::of(filed)),
            ..at
        }))
    }

    /// A request under the words that hold for the whole loop.
    fn over(&self, request: ForkRequest) -> ForkRequest {
        ForkRequest {
            diagnostic: self.diagnostic,
            new_effects: self.new_effects,
            runtime: self.settings.runtime.clone(),
            ..request
        }
    }
}
