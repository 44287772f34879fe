//! Does the jobs: store work on blocking threads, checks and forks as tasks. Every job answers with a message or more.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use super::drafts::Keeper;
use super::{Team, find, follow, hypotheses, learn, live, mend};
use crate::app::msg::{
    BranchView, Checked, Comparing, Fault, Hand, Job, Kin, Msg, Opened, StepView, Ticket,
};
use crate::app::state::{At, Recorded};
use crate::app::steps::PAGE;
use crate::model::BranchId;
use crate::pipeline::{
    self, Control, ForkRequest, Jobs, ModelSettings, Order, Orders, Outcome, PipelineError, Plan,
};
use crate::store::{Store, StoreError};

/// Runs of a fork that go at the same time.
const AT_ONCE: usize = 4;
/// A local world makes its steps in no time; this is the pace at which a person can watch them.
const PACE: Duration = Duration::from_millis(80);
/// How long whoever waits for an approval waits between two looks.
const WAIT: Duration = Duration::from_millis(500);

/// Does jobs and remembers the forks that are going.
pub(super) struct Worker {
    store: Store,
    model: ModelSettings,
    answers: UnboundedSender<Msg>,
    forks: HashMap<Ticket, (Arc<Reins>, JoinHandle<()>)>,
    /// The live run: where its orders go, and its task.
    live: Option<(UnboundedSender<Order>, JoinHandle<()>)>,
    keeper: Keeper,
    /// The hand on the analysis that goes on, or on the last one.
    analysis: Control,
}

/// The hand on a fork, with the pace at which it goes.
struct Reins {
    control: Control,
    paced: AtomicBool,
    held: AtomicBool,
}

impl Worker {
    pub(super) fn new(store: Store, model: ModelSettings, answers: UnboundedSender<Msg>) -> Self {
        Self {
            keeper: Keeper::begin(store.clone(), answers.clone()),
            store,
            model,
            answers,
            forks: HashMap::new(),
            live: None,
            analysis: Control::new(),
        }
    }

    /// Starts a team.
    pub(super) fn begin(&mut self, team: Team, operator: String) {
        let (store, answers) = (self.store.clone(), self.answers.clone());
        let (give, orders) = mpsc::unbounded_channel();
        let task = tokio::spawn(live::run(
            store,
            team,
            operator,
            Orders::new(orders),
            answers,
        ));
        self.live = Some((give, task));
    }

    /// Starts a job.
    pub(super) fn start(&mut self, job: Job) {
        let (store, model, answers) =
            (self.store.clone(), self.model.clone(), self.answers.clone());
        match job {
            Job::Hand(ticket, hand) => self.hand(ticket, hand),
            Job::Follow(path) => {
                tokio::spawn(follow::run(store, path, answers));
            }
            Job::KeepDraft(unsent) => self.keeper.keep(unsent),
            Job::Live(order) => {
                if let Some((orders, _)) = &self.live {
                    let _ = orders.send(order);
                }
            }
            Job::Check(ticket, request) => {
                tokio::spawn(async move {
                    let checked = check(&store, &model, request).await;
                    let _ =
                        answers.send(Msg::Checked(ticket, checked.map(Box::new).map_err(fault)));
                });
            }
            Job::Hold(ticket, request) => {
                tokio::spawn(async move {
                    let held = mend::hold(&store, &model, request).await;
                    let _ = answers.send(Msg::Held(ticket, held.map(Box::new).map_err(fault)));
                });
            }
            Job::Answer(ticket, branch, decision) => {
                if let Some((reins, _)) = self.forks.get(&ticket) {
                    reins.control.decide(&branch, decision);
                }
            }
            Job::Reconcile(branch, step, operator) => {
                tokio::spawn(async move {
                    let asked = pipeline::reconcile(&store, &branch, step, &operator).await;
                    let _ = answers.send(Msg::Reconciled(asked.map_err(fault)));
                });
            }
            Job::LookAgain(ticket, id) => {
                tokio::spawn(async move {
                    tokio::time::sleep(WAIT).await;
                    let count = move || store.approvals(&id).map(|kept| kept.len());
                    if let Ok(count) = tokio::task::spawn_blocking(count).await {
                        let _ = answers.send(Msg::LookAgain(ticket, count.map_err(fault)));
                    }
                });
            }
            Job::Analyse(branch, by, operator) => {
                self.analysis.stop();
                let control = Control::new();
                self.analysis = control.clone();
                tokio::spawn(async move {
                    let done =
                        hypotheses::analyse(&store, &model, branch, by, operator, &control).await;
                    let done = done.map(|told| {
                        format!("{told}. ‹test› tests one, ‹hypotheses.edit› changes it first")
                    });
                    let _ = answers.send(Msg::Analysed(done.map_err(fault)));
                });
            }
            Job::StopAnalysis => self.analysis.stop(),
            Job::Fork(ticket, request) => {
                self.forks.retain(|_, (_, task)| !task.is_finished());
                let reins = Arc::new(Reins {
                    control: Control::new(),
                    paced: AtomicBool::new(false),
                    held: AtomicBool::new(false),
                });
                let task =
                    tokio::spawn(fork(store, model, ticket, request, reins.clone(), answers));
                self.forks.insert(ticket, (reins, task));
            }
            job => {
                tokio::spawn(async move {
                    let said = answers.clone();
                    let done =
                        tokio::task::spawn_blocking(move || blocking(&store, &model, job, &said))
                            .await;
                    if let Err(error) = done {
                        let _ = answers.send(Msg::Failed(format!(
                            "A job broke down: {error}. This is a fault of dover: please report it"
                        )));
                    }
                });
            }
        }
    }

    fn hand(&self, ticket: Ticket, hand: Hand) {
        let Some((reins, _)) = self.forks.get(&ticket) else {
            return;
        };
        let paced = reins.paced.load(Ordering::SeqCst);
        match hand {
            Hand::Pause => {
                reins.held.store(true, Ordering::SeqCst);
                reins.control.pause();
            }
            Hand::Resume => {
                reins.held.store(false, Ordering::SeqCst);
                if !paced {
                    reins.control.resume();
                }
            }
            Hand::Step => reins.control.step(),
            Hand::Stop => reins.control.stop(),
        }
    }

    /// Stops every fork and waits until their endings and what was not sent are written.
    pub(super) async fn stop(self) {
        self.keeper.finish().await;
        for (reins, _) in self.forks.values() {
            reins.control.stop();
        }
        if let Some((orders, task)) = self.live {
            let _ = orders.send(Order::Stop);
            let _ = task.await;
        }
        for (_, task) in self.forks.into_values() {
            let _ = task.await;
        }
    }

    /// Drops every fork where it stands: its branches will be found interrupted. What was not sent is written.
    pub(super) async fn drop_all(self) {
        for (_, task) in self.forks.into_values() {
            task.abort();
        }
        if let Some((_, task)) = self.live {
            task.abort();
        }
        self.keeper.finish().await;
    }
}

pub(super) fn fault(error: impl std::fmt::Display) -> Fault {
    error.to_string()
}

pub(super) async fn planned(
    store: &Store,
    model: &ModelSettings,
    request: ForkRequest,
) -> Result<Plan, PipelineError> {
    let (store, model) = (store.clone(), model.clone());
    tokio::task::spawn_blocking(move || pipeline::plan(&store, request, &model))
        .await
        .map_err(|error| PipelineError::Internal(format!("planning broke down: {error}")))?
}

async fn check(
    store: &Store,
    model: &ModelSettings,
    request: ForkRequest,
) -> Result<Checked, PipelineError> {
    let plan = planned(store, model, request).await?;
    let report = pipeline::check(store, &plan).await?;
    Ok(Checked {
        category: plan.category,
        class: plan.class,
        answer_leak: plan.answer_leak,
        runs: plan.runs,
        runtime: format!("{}: {}", plan.description.name, plan.description.detail),
        report,
    })
}

async fn fork(
    store: Store,
    model: ModelSettings,
    ticket: Ticket,
    request: ForkRequest,
    reins: Arc<Reins>,
    answers: UnboundedSender<Msg>,
) {
    let outcome = watched(store, model, ticket, request, &reins, &answers).await;
    let _ = answers.send(Msg::Replayed(ticket, outcome.map(Box::new).map_err(fault)));
}

async fn watched(
    store: Store,
    model: ModelSettings,
    ticket: Ticket,
    request: ForkRequest,
    reins: &Reins,
    answers: &UnboundedSender<Msg>,
) -> Result<Outcome, PipelineError> {
    let plan = planned(&store, &model, request).await?;
    if plan.description.local_fixtures {
        reins.paced.store(true, Ordering::SeqCst);
        reins.control.pause();
    }
    let (progress, mut told) = mpsc::unbounded_channel();
    let jobs = Jobs::new(AT_ONCE);
    let work = pipeline::fork(&store, plan, &jobs, reins.control.clone(), progress);
    tokio::pin!(work);
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            // What was told before the end is told before it here too.
            Some(progress) = told.recv() => {
                let _ = answers.send(Msg::Progress(ticket, progress));
            }
            outcome = &mut work => {
                while let Ok(progress) = told.try_recv() {
                    let _ = answers.send(Msg::Progress(ticket, progress));
                }
                return outcome;
            }
            _ = pace.tick(), if reins.paced.load(Ordering::SeqCst) => {
                if !reins.held.load(Ordering::SeqCst) {
                    reins.control.step();
                }
            }
        }
    }
}

/// Store work. What it says goes out at once.
fn blocking(store: &Store, model: &ModelSettings, job: Job, answers: &UnboundedSender<Msg>) {
    // The screen may be gone already; then nobody needs the answer.
    let say = |msg| {
        let _ = answers.send(msg);
    };
    match job {
        Job::Samples => {
            if let Err(error) = pipeline::take_in_samples(store) {
                say(Msg::Failed(fault(error)));
            }
            say(Msg::Sessions(store.sessions().map_err(fault)));
        }
        Job::Sessions => say(Msg::Sessions(store.sessions().map_err(fault))),
        Job::TakeIn(what) => {
            let mut progress = |share, steps| answers.send(Msg::Importing { share, steps }).is_ok();
            let taken = pipeline::take_in(store, &what, &mut progress);
            // A branch may be meant: it is opened, not only its session.
            let id = |(session, _): (String, bool)| match what.strip_prefix(&format!("{session}/"))
            {
                Some(branch) => format!("{session}/{branch}"),
                None => session,
            };
            say(Msg::TakenIn(taken.map(id).map_err(fault)));
        }
        Job::Open(branch) => say(Msg::Opened(
            open(store, &branch).map(Box::new).map_err(fault),
        )),
        Job::Refresh(session) => say(Msg::Refreshed(kin(store, &session).map_err(fault))),
        Job::Branch(branch) => say(Msg::Branch(
            view(store, &branch).map(Box::new).map_err(fault),
        )),
        Job::Grow(branch, from) => say(grow(store, &branch, from)),
        Job::Heads(branch, page) => {
            let heads = store.heads(&branch, page * PAGE..(page + 1) * PAGE);
            say(Msg::Heads(branch, page, heads.map_err(fault)));
        }
        Job::Step(session, branch, index) => {
            let view = StepView {
                step: store.step(&branch, index).map_err(fault),
                restorability: pipeline::restorability(store, &session, &branch, index, model)
                    .map_err(fault),
            };
            say(Msg::Step(branch, index, Box::new(view)));
        }
        Job::Milestones(branch) => {
            let reached = store.milestones(&branch).map_err(fault);
            say(Msg::Milestones(branch, reached));
        }
        Job::Mark(branch, milestone, step) => say(mark(store, branch, milestone, step)),
        job @ (Job::Left(..) | Job::Settle { .. } | Job::TryAgain(..) | Job::Approve(..)) => {
            mend::blocking(store, job, &say);
        }
        Job::State(branch, step, held) => {
            let recorded = recorded(store, &branch, step, held.as_ref()).map_err(fault);
            say(Msg::State(branch, step, held, Box::new(recorded)));
        }
        job @ (Job::Learn(..) | Job::KeepAttempt(_)) => learn::blocking(store, job, &say),
        job @ (Job::Suspect(_) | Job::Test(..)) => hypotheses::blocking(store, job, &say),
        Job::Outcome(id) => {
            let outcome = pipeline::outcome(store, &id).map(Box::new).map_err(fault);
            say(Msg::Outcome(id, outcome));
        }
        job @ (Job::Filter(..)
        | Job::Failures(_)
        | Job::Drafts(_)
        | Job::Longer(_)
        | Job::Search(..)
        | Job::FindError { .. }
        | Job::Notes(_)
        | Job::Note { .. }
        | Job::Lanes(_)
        | Job::CompareAll(_)) => find::blocking(store, job, &say),
        Job::Compare(a, b) => say(Msg::Compared(
            compare(store, &a, &b).map(Box::new).map_err(fault),
        )),
        Job::Pair((a, left), (b, right)) => {
            let step = |branch: &BranchId, index: Option<usize>| {
                index.map(|index| store.step(branch, index)).transpose()
            };
            let both = step(&a, left).and_then(|left| Ok((left, step(&b, right)?)));
            say(Msg::Pair(both.map(Box::new).map_err(fault)));
        }
        // These have their own ways.
        Job::Check(..)
        | Job::Hold(..)
        | Job::LookAgain(..)
        | Job::Reconcile(..)
        | Job::Answer(..)
        | Job::Fork(..)
        | Job::Analyse(..)
        | Job::StopAnalysis
        | Job::Hand(..)
        | Job::KeepDraft(_)
        | Job::Follow(_)
        | Job::Live(_)
        | Job::Redraw
        | Job::External(_)
        | Job::Copy(_) => {}
    }
}

fn kin(store: &Store, session: &str) -> Result<Kin, StoreError> {
    Ok((
        store.branches(session)?,
        store.interventions(session)?,
        store.hypotheses(session)?,
    ))
}

pub(super) fn view(store: &Store, id: &BranchId) -> Result<BranchView, StoreError> {
    let branch = store.branch(id)?;
    Ok(BranchView {
        trials: store.trials(id)?,
        milestones: store.milestones(id)?,
        parent_milestones: branch
            .parent
            .as_ref()
            .map(|parent| store.milestones(parent))
            .transpose()?,
        branch,
    })
}

fn grow(store: &Store, id: &BranchId, from: usize) -> Msg {
    let grown = view(store, id).and_then(|view| {
        let heads = store.heads(id, from..view.branch.steps)?;
        Ok(Box::new((view, heads)))
    });
    Msg::Grown(grown.map_err(fault))
}

pub(super) fn open(store: &Store, id: &BranchId) -> Result<Opened, StoreError> {
    let session = id.session();
    Ok(Opened {
        session: store.session(session)?,
        branches: store.branches(session)?,
        interventions: store.interventions(session)?,
        hypotheses: store.hypotheses(session)?,
        shown: view(store, id)?,
    })
}

fn mark(store: &Store, branch: BranchId, milestone: usize, step: usize) -> Msg {
    let marked = store.mark_milestone(&branch, milestone, step);
    let reached = marked.and_then(|()| store.milestones(&branch));
    Msg::Milestones(branch, reached.map_err(fault))
}

/// The state before a step, or the nearest one before that, with the one it is held against.
fn recorded(
    store: &Store,
    branch: &BranchId,
    step: usize,
    held: Option<&At>,
) -> Result<Recorded, StoreError> {
    let boundaries = store.boundaries(branch)?;
    let at = boundaries.iter().rev().find(|at| **at <= step);
    let at = at.or(boundaries.first()).copied();
    let read = |at: Option<(&BranchId, usize)>| {
        let read = at.map(|(branch, at)| store.checkpoint(branch, at));
        read.transpose().map(Option::flatten)
    };
    let now = read(at.map(|at| (branch, at)))?;
    let then = read(held.map(|(branch, at)| (branch, *at)))?;
    Ok(Recorded::new(boundaries, now, then))
}

fn compare(store: &Store, a: &BranchId, b: &BranchId) -> Result<Comparing, PipelineError> {
    Ok(Comparing {
        comparison: pipeline::compare(store, a, b)?,
        a: view(store, a)?,
        b: view(store, b)?,
    })
}
