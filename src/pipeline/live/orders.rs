//! What a person may order of a live run, and what is told of it.

use tokio::sync::mpsc::UnboundedReceiver;

use super::super::Progress;
use crate::model::{Branch, Checkpoint, Effect, Session, Step, StepKind, Usage};
use crate::runtime::{LogLine, QueueEdit, Queued};

/// How far a run goes by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// To the next boundary, where it stands.
    Pause,
    /// So many messages on.
    Steps(usize),
    /// Until such a message is about to be committed.
    Until(Until),
    /// To its end.
    End,
}

impl Goal {
    /// Whether the run stands before this step; what is left to do afterwards.
    pub(super) fn reached(&mut self, pending: &Step) -> bool {
        let stands = match self {
            Self::Pause => true,
            Self::Steps(left) => {
                *left = left.saturating_sub(1);
                *left == 0
            }
            Self::Until(until) => until.matches(pending),
            Self::End => false,
        };
        if stands {
            *self = Self::Pause;
        }
        stands
    }
}

/// A kind of message to stop before. What is not named may be anything.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Until {
    /// Who says it.
    pub agent: Option<String>,
    /// What it is.
    pub kind: Option<StepKind>,
    /// Words in it, in any case.
    pub text: Option<String>,
}

impl Until {
    /// Reads `agent:NAME kind:KIND words`, each part once and in any order; `known` are the team's agents.
    ///
    /// # Errors
    /// A sentence that says which part is wrong and what there is.
    pub fn parse(line: &str, known: &[String]) -> Result<Self, String> {
        let mut until = Self::default();
        let mut words = Vec::new();
        for part in line.split_whitespace() {
            if let Some(name) = part.strip_prefix("agent:") {
                let found = known.iter().find(|it| it.eq_ignore_ascii_case(name));
                let found = found.ok_or_else(|| {
                    format!("There is no agent {name}. There are: {}", known.join(", "))
                })?;
                until.agent = Some(found.clone());
            } else if let Some(name) = part.strip_prefix("kind:") {
                let kinds = StepKind::ALL;
                let found = kinds.iter().find(|kind| kind.name() == name);
                let found = found.ok_or_else(|| {
                    let names = kinds.map(StepKind::name).join(", ");
                    format!("There is no kind {name}. There are: {names}")
                })?;
                until.kind = Some(*found);
            } else {
                words.push(part);
            }
        }
        until.text = (!words.is_empty()).then(|| words.join(" ").to_lowercase());
        if until == Self::default() {
            return Err(
                "Say what to stop before: agent:NAME, kind:KIND, or words of the message"
                    .to_owned(),
            );
        }
        Ok(until)
    }

    /// Whether a step is what was meant.
    #[must_use]
    pub fn matches(&self, step: &Step) -> bool {
        self.agent.as_ref().is_none_or(|agent| *agent == step.agent)
            && self.kind.is_none_or(|kind| kind == step.kind)
            && self
                .text
                .as_ref()
                .is_none_or(|text| step.text.to_lowercase().contains(text))
    }
}

/// What is ordered.
#[derive(Clone, Debug)]
pub enum Order {
    /// Go on, or pause.
    Go(Goal),
    /// End the run here; what was made stays.
    Stop,
    /// Change what waits.
    Edit(QueueEdit),
    /// Tell the state before the next message.
    Look,
    /// Let the call that is held happen.
    Allow,
    /// Do not; the agent is told so.
    Refuse,
    /// Answer it in its tool's place.
    Answer(String),
    /// Answer what the team asks a person.
    Reply(String),
}

/// Orders as they come. Nobody left to give any means stop.
pub struct Orders {
    from: UnboundedReceiver<Order>,
}

impl Orders {
    /// Orders from here.
    #[must_use]
    pub const fn new(from: UnboundedReceiver<Order>) -> Self {
        Self { from }
    }

    pub(super) async fn next(&mut self) -> Order {
        self.from.recv().await.unwrap_or(Order::Stop)
    }
}

/// Why a run goes no further until somebody says so.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// At a boundary, with what waits there, the next message first.
    Boundary(Vec<Queued>),
    /// A call is held.
    Held {
        /// What it would do.
        effect: Box<Effect>,
        /// Its arguments.
        arguments: Option<String>,
        /// What the same call answered before, if that is on record.
        recorded: Option<String>,
    },
    /// A person is asked.
    Asked {
        /// By whom.
        agent: String,
        /// What.
        prompt: String,
    },
}

/// What is told of a live run.
#[derive(Clone, Debug)]
pub enum Told {
    /// The team is there: its session so far.
    Team(Box<Session>),
    /// The first of it is in the store.
    Began(Box<Branch>),
    /// A step, a piece of one, or the end.
    Progress(Box<Progress>),
    /// It moves.
    Moves,
    /// It stands.
    Stands(Standing),
    /// The state before the next message, which is at this place.
    State(usize, Box<Checkpoint>),
    /// A line of its log.
    Log(LogLine),
    /// What its model calls took so far.
    Usage(Usage),
    /// An order was carried out.
    Did(String),
    /// An order was refused; the run stands as it did.
    Refused(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(agent: &str, kind: StepKind, text: &str) -> Step {
        Step {
            agent: agent.to_owned(),
            kind,
            text: text.to_owned(),
            ..Step::default()
        }
    }

    #[test]
    fn a_run_stops_before_what_was_named() {
        let known = ["Coder".to_owned(), "WebSurfer".to_owned()];
        let until = Until::parse("agent:websurfer kind:message Not Found", &known).unwrap();
        assert!(until.matches(&step("WebSurfer", StepKind::Message, "404 NOT found")));
        assert!(!until.matches(&step("WebSurfer", StepKind::Message, "found not")));
        assert!(!until.matches(&step("Coder", StepKind::Message, "not found")));
        assert!(!until.matches(&step("WebSurfer", StepKind::Answer, "not found")));
        for (line, said) in [
            ("", "Say what"),
            ("agent:Bob", "There are: Coder, WebSurfer"),
            ("kind:mesage", "message"),
        ] {
            let fault = Until::parse(line, &known).unwrap_err();
            assert!(fault.contains(said), "{fault}");
        }
    }

    #[test]
    fn steps_are_counted_from_where_the_run_stands() {
        let any = step("a", StepKind::Message, "");
        let mut goal = Goal::Steps(3);
        let stands: Vec<bool> = (0..4).map(|_| goal.reached(&any)).collect();
        assert_eq!(stands, [false, false, true, true]);
        assert_eq!(goal, Goal::Pause);
        let mut goal = Goal::End;
        assert!(!goal.reached(&any));
    }
}
