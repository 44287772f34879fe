//! The engine: composes the next step from the state, and lets a step, composed or edited, have its consequences.
//!
//! `compose` is a function of the state alone; chance enters only in `commit`, drawn from seed and step index. So a restored run continues
//! exactly as the recorded one did, and an edit changes what follows only through what its text says.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::core::{Core, holds, same_value};
use super::state::{Belief, Next, State, Unplaced};
use super::world::Statement;
use crate::model::{Checkpoint, Effect, Step, StepKind, StepMeta};
use crate::runtime::Decision;

/// A step about to be made.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub step: Step,
    /// The state once what the step does is done, before anybody hears of it.
    pub after: State,
    /// The request that is fulfilled by it.
    pub fulfils: Option<String>,
}

/// What an edit asked for, and how much of it was done.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    /// Requests not yet fulfilled.
    pub open: Vec<String>,
    /// Whether the edit asked for, forbade or stated anything that was understood.
    pub understood: bool,
}

pub(super) struct Engine {
    pub core: Arc<Core>,
    pub state: State,
    pub seed: u64,
    /// Index of the next step.
    pub step: usize,
    pub kept: Vec<Effect>,
    pub watch: Option<Watch>,
    /// Whether the step being committed is the edited one.
    pub editing: bool,
    /// What the step being committed did to the world outside.
    pub effects: Vec<Effect>,
    /// What was decided about the effect outside that the step being committed has.
    pub decided: Option<Decision>,
    /// Where the tools outside leave what they do; none while a world is played by itself.
    pub destination: Option<PathBuf>,
}

impl Engine {
    pub fn checkpoint(&self) -> Checkpoint {
        self.state.save(&self.core.world, self.step)
    }

    /// The source of chance for what follows from the step being committed.
    pub fn chance(&self, happens: f64) -> bool {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(self.step as u64);
        rng.random_bool(happens.clamp(0.0, 1.0))
    }

    pub fn draft(&self, agent: &str, kind: StepKind, text: String, after: State) -> Draft {
        Draft {
            step: Step {
                index: self.step,
                agent: agent.to_owned(),
                kind,
                text,
                ..Step::default()
            },
            after,
            fulfils: None,
        }
    }

    /// The step that comes next; none at the end.
    pub fn compose(&self) -> Option<Draft> {
        let world = &self.core.world;
        match self.state.memory.next {
            Next::Task => Some(self.draft(
                "human",
                StepKind::Task,
                world.task.trim().to_owned(),
                self.state.clone(),
            )),
            Next::Plan => self.compose_plan(),
            Next::Ledger => self.compose_ledger(),
            Next::Instruction => self.compose_instruction(),
            Next::Turn => self.compose_turn(),
            Next::Result => self.compose_result(),
            Next::Stall => self.compose_stall(),
            Next::Say => self.compose_say(),
            Next::Reply => self.compose_reply(),
            Next::Answer => {
                let text = self.core.fill(&world.answer, &BTreeMap::new(), &self.state);
                let agent = world.orchestrator.as_ref().map(|o| &o.name);
                let agent = agent.or(world.dialogue.as_ref().map(|d| &d.solver))?;
                Some(self.draft(agent, StepKind::Answer, text, self.state.clone()))
            }
            Next::End => None,
        }
    }

    /// Takes a step into the trajectory: as it was composed, or with another text.
    pub fn commit(&mut self, draft: Draft, step: &Step) {
        let edited = draft.step.text != step.text;
        let before = std::mem::replace(&mut self.state, draft.after);
        self.effects.clear();
        self.editing = edited;
        if let Some(ask) = draft.fulfils.filter(|_| !edited) {
            self.fulfilled(&ask);
        }
        if edited && step.kind == StepKind::Message {
            // What was done is done; what is told of it is what the text says.
            self.state.memory.beliefs = before.memory.beliefs;
        }
        let dialogue = self.core.world.dialogue.is_some();
        match step.kind {
            StepKind::Task => {
                let heard = !self.hear(&step.text).is_empty();
                if heard | (dialogue && self.hear_setups(&step.text)) {
                    self.noticed();
                }
                self.state.memory.next = if dialogue { Next::Say } else { Next::Plan };
            }
            StepKind::Plan => self.commit_plan(&step.text),
            StepKind::Ledger => self.commit_ledger(&step.text),
            StepKind::Instruction => self.commit_instruction(step),
            StepKind::ToolCall => self.commit_call(step),
            StepKind::Message if dialogue => self.commit_speech(step, edited),
            StepKind::Message | StepKind::Thought | StepKind::ToolResult => {
                self.commit_turn(&step.text, edited);
            }
            StepKind::Control => self.commit_stall(),
            StepKind::Answer => {
                self.state.memory.answer = Some(step.text.clone());
                self.state.memory.next = Next::End;
                self.noticed();
            }
        }
        self.step += 1;
    }

    /// The edit at hand was understood in some way.
    pub fn noticed(&mut self) {
        if let Some(watch) = self.watch.as_mut().filter(|_| self.editing) {
            watch.understood = true;
        }
    }

    /// A request was carried out.
    pub fn fulfilled(&mut self, ask: &str) {
        if let Some(watch) = &mut self.watch {
            watch.open.retain(|open| open != ask);
        }
    }

    /// Takes what a text states as said, not seen; gives back the facts it was news of. What was seen stands.
    pub fn hear(&mut self, text: &str) -> Vec<String> {
        let mut heard = Vec::new();
        for (fact, value) in self.core.statements(text) {
            let beliefs = &mut self.state.memory.beliefs;
            match beliefs.get(&fact) {
                Some(held) if held.seen || same_value(&held.value, &value) => {}
                _ => {
                    beliefs.insert(fact.clone(), Belief { value, seen: false });
                    heard.push(fact);
                }
            }
        }
        if !heard.is_empty() {
            place(&mut self.state, &self.core);
            self.state.memory.progress = true;
        }
        heard
    }

    /// "It must be X, I think": a value that the fact asked for may have, said in direct reply. Two values, or a denial, say nothing.
    pub fn hear_reply(&mut self, text: &str) -> Option<String> {
        let told = self.state.memory.turn.as_ref()?.told.clone();
        let beliefs = &self.state.memory.beliefs;
        let sought = self.core.facts_sought(&told);
        let fact = sought.iter().find(|fact| !beliefs.contains_key(&fact.id))?;
        let (fact, value) = (fact.id.clone(), self.core.replied(text, &fact.id)?);
        self.state
            .memory
            .beliefs
            .insert(fact.clone(), Belief { value, seen: false });
        place(&mut self.state, &self.core);
        self.state.memory.progress = true;
        Some(fact)
    }
}

/// Takes in what a page or a tool states; gives back the facts that became truly known.
pub(super) fn learn<'a>(
    state: &mut State,
    core: &Core,
    told: &str,
    args: &BTreeMap<String, String>,
    statements: impl IntoIterator<Item = &'a Statement>,
) -> Vec<String> {
    let mut learned = Vec::new();
    for statement in statements {
        let Some(fact) = core.world.fact(&statement.fact) else {
            continue;
        };
        let value = statement.value.as_ref().unwrap_or(&fact.value).clone();
        let given = core.foundation(statement);
        let held = state.memory.beliefs.get(&fact.id);
        if held.is_some_and(|held| held.seen && same_value(&held.value, &value)) {
            continue;
        }
        // What a tool was given rules; an instruction may name what the fact builds on.
        let supported = given.iter().all(|(id, value)| {
            if let Some(arg) = args.get(id) {
                return same_value(arg, value);
            }
            let one = BTreeMap::from([(id.clone(), value.clone())]);
            holds(&state.memory.beliefs, &one) || core.says(told, id, value)
        });
        if supported {
            believe(state, core, &fact.id, value, &mut learned);
        } else {
            let unplaced = Unplaced {
                fact: fact.id.clone(),
                value,
                given,
            };
            if !state.memory.unplaced.contains(&unplaced) {
                state.memory.unplaced.push(unplaced);
            }
        }
    }
    learned.extend(place(state, core));
    learned
}

fn believe(state: &mut State, core: &Core, fact: &str, value: String, learned: &mut Vec<String>) {
    if core.is_true(fact, &value) {
        learned.push(fact.to_owned());
    }
    state.memory.progress = true;
    state
        .memory
        .beliefs
        .insert(fact.to_owned(), Belief { value, seen: true });
}

/// What was read before its foundation was known falls into place.
pub(super) fn place(state: &mut State, core: &Core) -> Vec<String> {
    let mut learned = Vec::new();
    loop {
        let beliefs = &state.memory.beliefs;
        let ready = state
            .memory
            .unplaced
            .iter()
            .position(|u| holds(beliefs, &u.given));
        let Some(at) = ready else { return learned };
        let found = state.memory.unplaced.remove(at);
        believe(state, core, &found.fact, found.value, &mut learned);
    }
}

/// Meta of a step that learned facts.
pub(super) fn meta(facts: Vec<String>) -> StepMeta {
    StepMeta {
        facts,
        ..StepMeta::default()
    }
}
