//! An agent's turn: an instruction is read, its requests are done one after another, each as a step; the first that cannot be done ends the turn.

use super::decide::{Choice, Mind};
use super::engine::{Draft, Engine};
use super::forbid::forbidden;
use super::state::{Act, Next, Turn};
use crate::model::StepKind;

/// The most steps of one turn.
const MOST_STEPS: usize = 10;
/// The most requests that are looked at before one of them is acted on.
const MOST_THOUGHTS: usize = 40;

impl Engine {
    pub(super) fn begin_turn(&mut self, agent: &str, text: &str) {
        let reading = self.core.read(text);
        let mut turn = Turn {
            agent: agent.to_owned(),
            told: text.to_owned(),
            ..Turn::default()
        };
        let follows = self
            .core
            .world
            .agent(agent)
            .is_some_and(|agent| agent.follows(&reading));
        let refusal = if !follows && !reading.salad && reading.language.is_some() {
            let spoken = self
                .core
                .world
                .agent(agent)
                .map(|a| a.languages.join(", "))
                .unwrap_or_default();
            Some(format!(
                "I do not follow this language. I follow: {spoken}."
            ))
        } else if reading.clauses.is_empty() || !follows {
            Some("I do not understand what I am to do.".to_owned())
        } else {
            None
        };
        if let Some(text) = refusal {
            turn.acts.push_back(Act::Say { text });
        } else {
            let rules = reading.clauses.iter().filter(|c| c.forbids).cloned();
            self.state.memory.forbidden.extend(rules);
            turn.asks = reading.asks().cloned().collect();
            if turn.asks.is_empty() {
                turn.acts.push_back(Act::Say {
                    text: "Understood. I leave that alone.".to_owned(),
                });
            }
        }
        self.state.memory.turn = Some(turn);
        self.state.memory.next = Next::Turn;
        self.go_on();
    }

    /// Makes up the agent's mind about what comes next, or ends its turn.
    fn go_on(&mut self) {
        let Some(mut turn) = self.state.memory.turn.take() else {
            return;
        };
        let Some(agent) = self.core.world.agent(&turn.agent).cloned() else {
            return self.end_turn(false);
        };
        let mut failed = false;
        let mut thoughts = 0;
        while turn.acts.is_empty() {
            let Some(ask) = turn.asks.pop_front() else {
                break;
            };
            thoughts += 1;
            if turn.steps >= MOST_STEPS || thoughts > MOST_THOUGHTS {
                failed = true;
                turn.asks.clear();
                break;
            }
            let mind = Mind {
                core: &self.core,
                state: &self.state,
                agent: &agent,
                told: &turn.told,
                said: &turn.said,
                acted: turn.steps > 0,
            };
            match mind.decide(&ask) {
                Choice::Nothing => self.fulfilled(&ask.text),
                Choice::Instead(asks) => {
                    for ask in asks.into_iter().rev() {
                        turn.asks.push_front(ask);
                    }
                }
                Choice::Lost(act) => self.give_up(&mut turn, act),
                Choice::Do { acts, clear } => {
                    let heeds = self.chance(if clear { agent.clear } else { agent.vague });
                    if let Some(act) = acts.iter().find(|act| self.barred(act)) {
                        self.give_up(&mut turn, act.clone());
                    } else if heeds {
                        turn.acts.extend(acts);
                        turn.ask = Some(ask.text.clone());
                    } else {
                        let lost = mind.lost(&ask);
                        self.give_up(&mut turn, lost);
                    }
                }
            }
        }
        if turn.acts.is_empty() && turn.steps == 0 {
            turn.acts.push_back(Act::Say {
                text: "There is nothing left to do here.".to_owned(),
            });
        }
        if turn.acts.is_empty() {
            self.end_turn(!failed);
        } else {
            self.state.memory.turn = Some(turn);
        }
    }

    /// The last act of a turn in which the agent did not get on with a request.
    fn give_up(&self, turn: &mut Turn, act: Act) {
        turn.acts.push_back(self.permitted(act));
        turn.asks.clear();
        turn.ask = None;
    }

    fn barred(&self, act: &Act) -> bool {
        self.state
            .memory
            .forbidden
            .iter()
            .any(|rule| forbidden(act, rule, &self.core))
    }

    fn permitted(&self, act: Act) -> Act {
        if self.barred(&act) {
            Act::Say {
                text: "I was told not to do that, so I leave it.".to_owned(),
            }
        } else {
            act
        }
    }

    /// After a step of the turn: the next act, the next request, or the end.
    pub(super) fn commit_turn(&mut self, text: &str, edited: bool) {
        let mut heard = self.hear(text);
        if edited && heard.is_empty() {
            heard.extend(self.hear_reply(text));
        }
        if let Some(turn) = self.state.memory.turn.as_mut().filter(|_| edited) {
            turn.said.extend(heard.iter().cloned());
        }
        // What the world itself makes an agent say proposes nothing.
        let led = edited && self.take_lead(text);
        if edited && (!heard.is_empty() || led) {
            self.noticed();
        }
        let Some(turn) = self.state.memory.turn.clone() else {
            self.state.memory.next = Next::Ledger;
            return;
        };
        self.state.memory.next = Next::Turn;
        if turn.acts.is_empty() && turn.asks.is_empty() && turn.ask.is_none() && turn.steps > 0 {
            // It ended with words, or without what was asked.
            return self.end_turn(false);
        }
        if let Some(turn) = self
            .state
            .memory
            .turn
            .as_mut()
            .filter(|turn| turn.acts.is_empty())
        {
            turn.ask = None;
        }
        if turn.acts.is_empty() {
            if turn.asks.is_empty() {
                return self.end_turn(true);
            }
            self.go_on();
        }
    }

    pub(super) fn compose_turn(&self) -> Option<Draft> {
        let mut after = self.state.clone();
        let turn = after.memory.turn.as_mut()?;
        let agent = turn.agent.clone();
        let told = turn.told.clone();
        let act = turn.acts.pop_front()?;
        turn.steps += 1;
        let last = turn.acts.is_empty();
        let ask = turn.ask.clone().filter(|_| last);
        if let Act::Call { tool, args } = act {
            let mut draft = self.draft(&agent, StepKind::ToolCall, String::new(), after);
            let arguments = serde_json::to_string(&args).unwrap_or_default();
            draft.step.text.clone_from(&arguments);
            draft.step.meta.tool = Some(self.tool_use(&tool, Some(arguments), false));
            return Some(draft);
        }
        let done = self.perform(&act, &told, &mut after);
        let mut draft = self.draft(&agent, StepKind::Message, done.text, after);
        draft.step.meta = done.meta;
        if done.reached {
            draft.fulfils = ask;
        } else if let Some(turn) = draft.after.memory.turn.as_mut() {
            turn.ask = None;
            turn.asks.clear();
            turn.acts.clear();
        }
        Some(draft)
    }
}
