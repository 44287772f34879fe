//! Playing a world, forking it with an edit, and the verdict of SPEC 2.6 written down once more, independently of the program's.

use std::sync::Arc;

use dover::model::{EffectClass, Session, Step, StepKind, Verifier, reached};
use dover::runtime::scenario::{Scenario, parse, play, session};
use dover::runtime::{Decision, Event, Finish, Made, Restore, Runtime};
use futures::executor::block_on;

pub const SEED: u64 = 1;

pub fn sample(name: &str) -> String {
    let path = format!("{}/sample-sessions/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// A session with its recorded run.
pub struct Recorded {
    pub session: Arc<Session>,
    pub made: Vec<Made>,
    pub finish: Finish,
}

pub fn record(world: &str) -> Recorded {
    let parsed = parse(world).unwrap();
    let (made, finish) = play(&parsed, SEED).unwrap();
    Recorded {
        session: Arc::new(session(&parsed, world, SEED)),
        made,
        finish,
    }
}

/// Where an edit goes: the nth step of a kind, or a step by its index.
#[derive(Clone, Copy, Debug)]
pub enum At {
    Instruction(usize),
    Plan(usize),
    Ledger(usize),
    Call(usize),
    Answer,
    Step(usize),
}

impl Recorded {
    pub fn steps(&self) -> Vec<Step> {
        self.made.iter().map(|made| made.step.clone()).collect()
    }

    pub fn at(&self, at: At) -> usize {
        let nth = |kind: StepKind, n: usize| {
            let found = self.made.iter().filter(|m| m.step.kind == kind).nth(n - 1);
            found
                .unwrap_or_else(|| panic!("no {kind:?} {n}"))
                .step
                .index
        };
        match at {
            At::Instruction(n) => nth(StepKind::Instruction, n),
            At::Plan(n) => nth(StepKind::Plan, n),
            At::Ledger(n) => nth(StepKind::Ledger, n),
            At::Call(n) => nth(StepKind::ToolCall, n),
            At::Answer => nth(StepKind::Answer, 1),
            At::Step(n) => n,
        }
    }

    pub fn restore(&self, at: usize, text: Option<&str>, seed: u64) -> Restore {
        let original = self.made[at].step.clone();
        let mut pending = original.clone();
        if let Some(text) = text {
            text.clone_into(&mut pending.text);
        }
        Restore {
            session: Arc::clone(&self.session),
            prefix: Arc::new(self.steps()[..at].to_vec()),
            checkpoint: self.made[at].checkpoint.clone(),
            pending: Some(pending),
            original: Some(original),
            kept: Vec::new(),
            workspace: None,
            seed,
            max_steps: 200,
            made: Arc::default(),
        }
    }

    pub fn fork(&self, at: usize, text: Option<&str>, seed: u64) -> Branch {
        let (own, finish) = run(self.restore(at, text, seed));
        let mut steps = self.steps()[..at].to_vec();
        steps.extend(own.iter().map(|made| made.step.clone()));
        Branch { own, steps, finish }
    }

    pub fn milestones(&self, steps: &[Step]) -> usize {
        reached(&self.session.milestones, steps)
            .iter()
            .flatten()
            .count()
    }

    pub fn success(&self, finish: &Finish) -> bool {
        let expected = self.session.expected.as_deref().unwrap();
        let Some(answer) = &finish.answer else {
            return false;
        };
        match self.session.verifier.as_ref().unwrap() {
            Verifier::Answer => answer.trim().eq_ignore_ascii_case(expected),
            Verifier::Contains(text) => answer.to_lowercase().contains(&text.to_lowercase()),
            Verifier::Math => {
                let digits = answer
                    .rsplit(|c: char| !c.is_ascii_digit())
                    .find(|part| !part.is_empty());
                digits == Some(expected)
            }
            other => panic!("a sample is judged by its answer, not by {other}"),
        }
    }

    /// V, P, R or I over three runs.
    pub fn verdict(&self, at: At, text: &str, seed: u64) -> (char, String) {
        let before = self.milestones(&self.steps());
        let at = self.at(at);
        let (mut succeed, mut further, mut no_further) = (0, 0, 0);
        let mut shown = String::new();
        for run in 0..3 {
            let branch = self.fork(at, Some(text), seed + run);
            let after = self.milestones(&branch.steps);
            let success = self.success(&branch.finish);
            let fulfilled = branch.finish.fulfilled == Some(true);
            succeed += usize::from(success);
            further += usize::from(fulfilled && (success || after > before));
            no_further += usize::from(fulfilled && !success && after <= before);
            let line = format!(
                "\n    {before}→{after} success {success} fulfilled {fulfilled} answer {:?}; {} steps: {}",
                branch.finish.answer,
                branch.steps.len(),
                branch
                    .own
                    .iter()
                    .skip(1)
                    .take(7)
                    .map(|m| format!(
                        "[{}] {}",
                        m.step.agent,
                        m.step
                            .text
                            .chars()
                            .take(90)
                            .collect::<String>()
                            .replace('\n', " ")
                    ))
                    .filter(|t| !t.contains("is_request"))
                    .collect::<Vec<_>>()
                    .join(" | ")
            );
            shown.push_str(&line);
        }
        let verdict = if succeed >= 2 {
            'V'
        } else if further >= 2 {
            'P'
        } else if no_further >= 2 {
            'R'
        } else {
            'I'
        };
        (verdict, shown)
    }
}

pub struct Branch {
    pub own: Vec<Made>,
    /// The whole trajectory.
    pub steps: Vec<Step>,
    pub finish: Finish,
}

pub fn run(restore: Restore) -> (Vec<Made>, Finish) {
    block_on(async {
        let mut run = Scenario.restore(restore).await.unwrap();
        let mut made = Vec::new();
        loop {
            match run.next().await.unwrap() {
                Event::Step(step) => made.push(*step),
                Event::Ask(_) => run.decide(Decision::Allow),
                Event::Delta { .. } | Event::Question { .. } | Event::Pending(_) => {}
                Event::Finished(finish) => return (made, finish),
            }
        }
    })
}

/// Tries every edit with several seeds; an expectation is one or more of V, P, R, I.
pub fn check_table(recorded: &Recorded, table: &[(At, &str, &str)]) {
    let mut wrong = Vec::new();
    for (at, text, expected) in table {
        for seed in [10] {
            let (verdict, seen) = recorded.verdict(*at, text, seed);
            if !expected.contains(verdict) {
                wrong.push(format!(
                    "{at:?} seed {seed} {text:?}\n  expected {expected}, got {verdict}{seen}"
                ));
                break;
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} edits:\n{}",
        wrong.len(),
        table.len(),
        wrong.join("\n")
    );
}

pub fn blocks(class: EffectClass) -> bool {
    class != EffectClass::ReadOnly
}
