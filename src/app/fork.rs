//! A fork on its way: the gate panel before it and the replay after it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::msg::{Checked, Fault, Job, Ticket};
use crate::gate::{Action, GateResult, Report};
use crate::model::{Branch, BranchId, Effect, Intervention, RunStatus, Session, Step, StepHead};
use crate::pipeline::{ForkRequest, Outcome, Progress};

/// Bytes of the step being made that are shown; older ones are let go.
const DELTA_BYTES: usize = 16 * 1024;

/// State of the gate panel.
#[derive(Debug)]
pub struct Gates {
    /// The fork it is about.
    pub ticket: Ticket,
    /// What is asked.
    pub request: ForkRequest,
    /// The step as the parent has it.
    pub original: Step,
    /// What the gates said last.
    pub checked: Option<Result<Checked, Fault>>,
    /// The gates are being asked (again): what they said is not to be acted upon.
    pub checking: bool,
    /// The gate that the operator picked, as a place in the report; none: the panel picks.
    pub picked: Option<usize>,
    /// How many approvals of what waits were seen.
    pub approvals: usize,
    /// The window keeps to the opened gate; paging frees it.
    pub follow: bool,
}

impl Gates {
    /// A panel about to ask the gates.
    #[must_use]
    pub const fn new(ticket: Ticket, request: ForkRequest, original: Step) -> Self {
        Self {
            ticket,
            request,
            original,
            checked: None,
            checking: true,
            picked: None,
            approvals: 0,
            follow: true,
        }
    }

    /// Asks the gates anew, under a new ticket; what they said before counts no more.
    pub(super) fn ask(&mut self, ticket: Ticket) -> Job {
        self.ticket = ticket;
        self.checking = true;
        self.picked = None;
        self.follow = true;
        Job::Check(ticket, self.request.clone())
    }

    /// The gate shown with its evidence, as a place in the report: the one picked, else the first that does not hold, else the
    /// last, which has nothing to open.
    #[must_use]
    pub fn opened(&self) -> usize {
        let held = || {
            let mut gates = self.found().iter();
            gates.position(|gate| gate.holds == Some(false))
        };
        self.picked.or_else(held).unwrap_or_else(|| self.last())
    }

    /// The last gate's place in the report.
    #[must_use]
    pub fn last(&self) -> usize {
        self.found().len().saturating_sub(1)
    }

    /// What was found last, whether it still counts or not.
    fn found(&self) -> &[GateResult] {
        match &self.checked {
            Some(Ok(checked)) => &checked.report.gates,
            _ => &[],
        }
    }

    /// The intervention that was held and is tried again, by its id.
    #[must_use]
    pub fn waits_as(&self) -> Option<&str> {
        self.request.resume.as_deref()
    }

    /// Whether something can be done about a gate that does not hold.
    #[must_use]
    pub fn offers(&self, action: Action) -> bool {
        let report = self.report();
        let offering =
            |gate: &GateResult| gate.holds == Some(false) && gate.actions.contains(&action);
        report.is_some_and(|report| report.gates.iter().any(offering))
    }

    /// What the gates say of exactly this request, once they said it.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        let checked = self.checked.as_ref().filter(|_| !self.checking)?;
        checked.as_ref().ok().map(|checked| &checked.report)
    }

    /// n, once it is known.
    #[must_use]
    pub fn runs(&self) -> Option<usize> {
        let planned = self
            .checked
            .as_ref()
            .and_then(|checked| checked.as_ref().ok());
        self.request.runs.or(planned.map(|checked| checked.runs))
    }
}

/// One run as it is watched.
#[derive(Debug)]
pub struct Run {
    /// Its branch as last told.
    pub branch: Branch,
    /// Steps made so far, from the fork step on.
    pub heads: Vec<StepHead>,
    /// The step being made: who speaks, and its text so far.
    pub delta: Option<(String, String)>,
    /// For each milestone the first step that reaches it, as far as asked.
    pub milestones: Vec<Option<usize>>,
    /// A question for milestones is under way.
    pub asking: bool,
    /// The step whose text is here, by its index.
    pub detail: Option<(usize, Result<Step, Fault>)>,
    /// A step asked for, by its index, that has not come.
    pub asked: Option<usize>,
    /// The selected step, as a place in `heads`.
    pub selected: usize,
    /// Steps that came while the selection was not at the tail.
    pub unseen: usize,
}

impl Run {
    pub(super) fn new(branch: Branch) -> Self {
        Self {
            branch,
            heads: Vec::new(),
            delta: None,
            milestones: Vec::new(),
            asking: false,
            detail: None,
            asked: None,
            selected: 0,
            unseen: 0,
        }
    }

    /// The selected step in full, if it is here.
    #[must_use]
    pub fn step(&self) -> Option<&Step> {
        let index = self.heads.get(self.selected)?.index;
        let (at, step) = self.detail.as_ref()?;
        step.as_ref().ok().filter(|_| *at == index)
    }

    /// The selected step, asked for once.
    pub fn wanted(&mut self, session: &Arc<Session>) -> Option<Job> {
        let index = self.heads.get(self.selected)?.index;
        let known = self.detail.as_ref().is_some_and(|(at, _)| *at == index);
        if known || self.asked.is_some() {
            return None;
        }
        self.asked = Some(index);
        Some(Job::Step(session.clone(), self.branch.id.clone(), index))
    }

    /// Moves the selection; it stays inside.
    pub fn select(&mut self, to: usize) {
        self.selected = to.min(self.heads.len().saturating_sub(1));
        if self.selected + 1 >= self.heads.len() {
            self.unseen = 0;
        }
    }

    pub(super) fn push(&mut self, head: StepHead) {
        let at_tail = self.selected + 1 >= self.heads.len();
        self.heads.push(head);
        self.delta = None;
        if at_tail {
            self.selected = self.heads.len() - 1;
        } else {
            self.unseen += 1;
        }
    }

    pub(super) fn hear(&mut self, agent: String, text: &str) {
        let (speaker, so_far) = self
            .delta
            .get_or_insert_with(|| (agent.clone(), String::new()));
        if *speaker != agent {
            *speaker = agent;
            so_far.clear();
        }
        so_far.push_str(text);
        if so_far.len() > DELTA_BYTES {
            let cut = so_far.ceil_char_boundary(so_far.len() - DELTA_BYTES / 2);
            so_far.drain(..cut);
        }
    }
}

/// A fork being replayed, or the last one that was.
#[derive(Debug)]
pub struct Replay {
    /// The fork.
    pub ticket: Ticket,
    /// What was asked.
    pub request: ForkRequest,
    /// The step as the parent has it.
    pub original: Step,
    /// What the gates said before.
    pub checked: Checked,
    /// The intervention, once it is written.
    pub intervention: Option<Intervention>,
    /// Its runs.
    pub runs: Vec<Run>,
    /// The run watched.
    pub current: usize,
    /// Whether the runs wait for a word.
    pub paused: bool,
    /// New effects that runs wait with, the one asked about first in front.
    pub asked: VecDeque<(BranchId, Box<Effect>)>,
    /// What it came to.
    pub outcome: Option<Result<Outcome, Fault>>,
}

impl Replay {
    /// A fork that the gates let through.
    #[must_use]
    pub fn new(gates: Gates, checked: Checked) -> Self {
        Self {
            ticket: gates.ticket,
            request: gates.request,
            original: gates.original,
            checked,
            intervention: None,
            runs: Vec::new(),
            current: 0,
            paused: false,
            asked: VecDeque::new(),
            outcome: None,
        }
    }

    /// Whether anything may still happen.
    #[must_use]
    pub const fn running(&self) -> bool {
        self.outcome.is_none()
    }

    /// The run watched.
    #[must_use]
    pub fn run(&self) -> Option<&Run> {
        self.runs.get(self.current)
    }

    /// The run watched.
    pub fn run_mut(&mut self) -> Option<&mut Run> {
        self.runs.get_mut(self.current)
    }

    /// A run by its branch.
    pub fn run_of(&mut self, branch: &BranchId) -> Option<&mut Run> {
        self.runs.iter_mut().find(|run| run.branch.id == *branch)
    }

    /// Takes in what happened; tells the branch whose milestones should be asked for.
    pub fn take(&mut self, progress: Progress) -> Option<BranchId> {
        match progress {
            Progress::Forked {
                intervention,
                branches,
            } => {
                self.intervention = Some(intervention);
                self.runs = branches.into_iter().map(Run::new).collect();
                None
            }
            Progress::Delta {
                branch,
                agent,
                text,
            } => {
                let run = self.run_of(&branch)?;
                run.hear(agent, &text);
                None
            }
            Progress::Asked { branch, effect } => {
                self.asked.push_back((branch, effect));
                None
            }
            Progress::Step { branch, head } => {
                let run = self.run_of(&branch)?;
                if run.branch.run == RunStatus::Planned {
                    run.branch.run = RunStatus::Running;
                }
                run.branch.steps = run.branch.steps.max(head.index + 1);
                run.push(head);
                (!std::mem::replace(&mut run.asking, true)).then_some(branch)
            }
            Progress::Ended { branch } => {
                self.asked.retain(|(asked, _)| *asked != branch.id);
                let run = self.run_of(&branch.id)?;
                let id = branch.id.clone();
                run.branch = *branch;
                run.delta = None;
                (!std::mem::replace(&mut run.asking, true)).then_some(id)
            }
        }
    }
}
