//! A step as numbers: what speaks for its being the decisive mistake. Two sets, for sessions that somebody leads and for talks.

use super::look::{Look, Part};

/// Which set of features a session has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// An orchestrator plans and instructs.
    Led,
    /// The agents talk with each other.
    Talk,
}

/// Names of the features of a led session, in the order of [`vector`].
pub const LED: [&str; 20] = [
    "first work",
    "second work",
    "third work",
    "fourth work",
    "later work",
    "browses",
    "reads files",
    "thinks",
    "regrets",
    "last work of the only trial",
    "searches",
    "searches again",
    "like its instruction",
    "instruction",
    "first instruction",
    "plan",
    "new plan",
    "ledger",
    "other words",
    "first trial",
];

/// Names of the features of a talk, in the order of [`vector`].
pub const TALK: [&str; 14] = [
    "first turn",
    "second turn",
    "third turn",
    "output",
    "program",
    "program ran",
    "program failed",
    "after a failure",
    "assumes",
    "says little",
    "last turn",
    "new voice",
    "verifies",
    "near the end",
];

impl Manner {
    /// The names of its features.
    #[must_use]
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Led => &LED,
            Self::Talk => &TALK,
        }
    }
}

/// One step among all, as numbers in the order of its manner's names. `agent`: who made it; `first`: its first turn; `step`: its place
/// and the number of steps.
#[must_use]
pub fn vector(manner: Manner, look: &Look, agent: &str, first: bool, place: Place<'_>) -> Vec<f64> {
    let agent = agent.to_lowercase();
    let has = |any: &[&str]| any.iter().any(|part| agent.contains(part));
    let work = look.part == Part::Worker || look.part == Part::Output;
    match manner {
        Manner::Led => {
            let nth = |n: usize| work && look.nth == n;
            numbers([
                nth(1),
                nth(2),
                nth(3),
                nth(4),
                work && look.nth > 4,
                work && has(&["web", "surf", "brows"]) && !has(&["file"]),
                work && has(&["file", "document"]),
                look.part == Part::Worker
                    && !has(&[
                        "web", "surf", "brows", "file", "document", "terminal", "executor",
                    ]),
                work && look.regrets,
                work && look.last && place.trials == 1,
                work && searches(place.text),
                work && searches(place.text) && place.searched,
                false,
                look.part == Part::Instruction,
                look.part == Part::Instruction && look.nth == 1,
                look.part == Part::Plan,
                look.part == Part::Plan && look.nth > 1,
                look.part == Part::Ledger,
                matches!(look.part, Part::Machinery | Part::Answer),
                look.trial <= 1,
            ])
            .enumerate()
            .map(|(at, value)| {
                if LED.get(at) == Some(&"like its instruction") {
                    look.overlap
                } else {
                    value
                }
            })
            .collect()
        }
        Manner::Talk => {
            let turn = |n: usize| place.index == n;
            numbers([
                turn(1),
                turn(2),
                turn(3),
                look.part == Part::Output,
                look.code,
                look.ran == Some(true),
                look.ran == Some(false),
                place.after_failure,
                work && look.assumes,
                look.short,
                place.index + 1 == place.len,
                first,
                has(&["verif", "valid", "check", "review", "critic"]),
                place.index + 3 >= place.len,
            ])
            .collect()
        }
    }
}

/// Where a step stands.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Its index.
    pub index: usize,
    /// How many steps there are.
    pub len: usize,
    /// How many trials there are.
    pub trials: usize,
    /// Whether somebody searched before.
    pub searched: bool,
    /// Its text.
    pub text: &'a str,
    /// Whether the step before reports a failure.
    pub after_failure: bool,
}

/// Whether a worker's message says that it typed a query.
#[must_use]
pub fn searches(text: &str) -> bool {
    text.trim_start().starts_with("I typed")
}

fn numbers<const N: usize>(flags: [bool; N]) -> impl Iterator<Item = f64> {
    flags.into_iter().map(|flag| f64::from(u8::from(flag)))
}
