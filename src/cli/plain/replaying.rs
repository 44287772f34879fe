//! A fork on its way: its steps line by line, and the words that hold, step or stop it.
//!
//! A line that is for later waits until the runs are over, so that a script may say everything at once.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use super::words::{self, Verb};
use super::{Done, Plain, tell};
use crate::app::command::Id;
use crate::cli::error::{CliError, Exit};
use crate::cli::{debug, replay};
use crate::gate::Report;
use crate::model::{BranchId, Effect, RunStatus, TOLD};
use crate::pipeline::{self, Control, Jobs, Outcome, Progress};
use crate::runtime::Decision;

/// Runs that go at the same time.
const AT_ONCE: usize = 3;

/// What a line does to runs that go.
enum Meant {
    Done,
    /// It is for when the runs are over.
    Later,
    /// It makes no sense now.
    Wrong(String),
}

impl Plain {
    /// Forks and runs what is at the gates.
    pub(super) async fn resume(&mut self, diagnostic: bool) -> Done {
        let Some(gates) = &self.gates else {
            return Err(CliError::Usage(
                "no fork is at the gates. edit a step and say fork, or say re-run or test"
                    .to_owned(),
            ));
        };
        let report = gates.report.as_ref();
        let may = if diagnostic {
            report.is_some_and(Report::may_run_diagnostic)
        } else {
            report.is_some_and(Report::ready)
        };
        if !may {
            let why = match report.and_then(Report::reason) {
                Some(reason) if diagnostic => {
                    format!("a diagnostic branch is for when gate 2 alone does not hold: {reason}")
                }
                Some(reason) => reason,
                None if diagnostic => "all gates hold: run makes an exact replay".to_owned(),
                None => "the gates were not asked: say gates".to_owned(),
            };
            return Err(pipeline::PipelineError::Refused(format!(
                "held, nothing has run. {}",
                why.trim_end_matches('.')
            ))
            .into());
        }
        let request = pipeline::ForkRequest {
            diagnostic,
            ..gates.request.clone()
        };
        let control = Control::new();
        if gates.paused {
            control.pause();
        }
        let plan = pipeline::plan(&self.store, request, &self.models)?;
        let outcome = self.watch(plan, control).await?;
        self.gates = None;
        self.came(&outcome)
    }

    /// Says what a fork came to.
    fn came(&mut self, outcome: &Outcome) -> Done {
        let done = outcome
            .branches
            .iter()
            .all(|branch| branch.run == RunStatus::Done);
        self.fate = if done { Exit::Done } else { Exit::Held };
        self.last = Some(outcome.intervention.id.clone());
        self.voice.say(&format!("Verdict: {}.", verdict(outcome)))?;
        self.voice.say(
            "compare puts the best run beside the original, milestones and verdicts say more.",
        )?;
        Ok(())
    }

    /// Replays, saying each step, and obeys what is said meanwhile.
    async fn watch(&mut self, plan: pipeline::Plan, control: Control) -> Result<Outcome, CliError> {
        let store = self.store.clone();
        let (sender, mut events) = mpsc::unbounded_channel();
        let jobs = Jobs::new(AT_ONCE);
        let fork = pipeline::fork(&store, plan, &jobs, control.clone(), sender);
        let interrupt = replay::ended();
        tokio::pin!(fork, interrupt);
        let mut asked = VecDeque::new();
        let mut later = None;
        loop {
            tokio::select! {
                biased;
                () = &mut interrupt => {
                    if control.is_stopped() {
                        return Err(CliError::BrokenOff);
                    }
                    interrupt.set(replay::ended());
                    control.stop();
                    self.voice.say("Stopping; what has run is kept.")?;
                }
                Some(event) = events.recv() => self.event(event, &mut asked)?,
                outcome = &mut fork => {
                    while let Ok(event) = events.try_recv() {
                        self.event(event, &mut asked)?;
                    }
                    if let Some(line) = later {
                        self.lines.put_back(line);
                    }
                    return Ok(outcome?);
                }
                line = self.lines.next(), if later.is_none() && !self.lines.ended => match line {
                    // Nobody is left who could let it go on, or decide.
                    None if !asked.is_empty() => control.stop(),
                    None => control.resume(),
                    Some(line) => {
                        let line = line?;
                        match hand(&line, &control, &mut asked) {
                            Meant::Done => {}
                            Meant::Later => later = Some(line),
                            Meant::Wrong(told) => self.settle(Err(CliError::Usage(told)))?,
                        }
                    }
                },
            }
        }
    }

    fn event(&mut self, event: Progress, asked: &mut VecDeque<(BranchId, Box<Effect>)>) -> Done {
        let told = match event {
            Progress::Forked {
                intervention,
                branches,
            } => {
                self.hold(&(intervention.parent.clone(), intervention.step), None)?;
                let names: Vec<_> = branches.iter().map(|branch| branch.id.name()).collect();
                format!("Forked as {}: {}.", intervention.id, names.join(", "))
            }
            Progress::Step { branch, head } => format!("{}: {}", branch.name(), tell::head(&head)),
            Progress::Ended { branch } => tell::branch(&branch),
            Progress::Asked { branch, effect } => {
                let told = format!(
                    "{} waits: {} of {} would happen outside. Say allow or refuse.",
                    branch.name(),
                    effect.tool,
                    effect.operation_key
                );
                asked.push_back((branch, effect));
                told
            }
            // A step is said once it is whole.
            Progress::Delta { .. } => return Ok(()),
        };
        Ok(self.voice.say(&told)?)
    }
}

/// Obeys a line while runs go.
fn hand(line: &str, control: &Control, asked: &mut VecDeque<(BranchId, Box<Effect>)>) -> Meant {
    if line.trim().is_empty() {
        return Meant::Done;
    }
    let Ok((verb, _)) = words::parse(line) else {
        return Meant::Later;
    };
    match verb {
        Verb::GoOn => control.resume(),
        Verb::Screen(Id::Pause) => control.pause(),
        Verb::Screen(Id::Step) => control.step(),
        Verb::Screen(Id::Stop) => control.stop(),
        Verb::Screen(id @ (Id::Allow | Id::Refuse)) => {
            let Some((branch, _)) = asked.pop_front() else {
                return Meant::Wrong("no run waits with a new effect".to_owned());
            };
            let decision = if id == Id::Allow {
                Decision::Allow
            } else {
                Decision::Refuse
            };
            control.decide(&branch, decision);
        }
        _ if !asked.is_empty() || control.is_paused() => {
            return Meant::Wrong(
                "the runs wait for a word: allow or refuse a new effect, go on after a pause, or stop".to_owned(),
            );
        }
        _ => return Meant::Later,
    }
    Meant::Done
}

/// A verdict with all that belongs to it.
pub(super) fn verdict(outcome: &Outcome) -> String {
    let mut verdict = debug::verdict(
        outcome.verdict,
        outcome.reason.as_deref(),
        outcome.diagnostic(),
        outcome.progress,
    );
    if let Some(leak) = outcome.leak() {
        verdict = format!("{verdict}, but {leak}");
    }
    if outcome.told() {
        format!("{verdict}, {TOLD}")
    } else {
        verdict
    }
}
