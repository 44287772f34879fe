//! The talk of a solver and a calculator, without an orchestrator.
//!
//! The solver goes for one fact after another and says a set-up for each: as somebody stated it in the talk, or else as is its habit. The calculator
//! works out the arithmetic that really stands in what it is told. What the solver then holds is what it was told.

use std::collections::BTreeMap;

use super::arithmetic::{evaluate, shown};
use super::core::sentences;
use super::engine::{Draft, Engine, place};
use super::expression::{Found, expression_after, expression_with, refers_back};
use super::forbid::forbidden;
use super::lexicon::Skill;
use super::state::{Act, Belief, Next, Turn};
use super::world::{Dialogue, Line};
use crate::model::{Step, StepKind};

/// How often the solver asks for the same thing.
const MOST_TRIES: usize = 2;

impl Engine {
    fn dialogue(&self) -> Option<&Dialogue> {
        self.core.world.dialogue.as_ref()
    }

    fn line(&self) -> Option<&Line> {
        self.dialogue()?.line.get(self.state.memory.line)
    }

    pub(super) fn compose_say(&self) -> Option<Draft> {
        let dialogue = self.dialogue()?;
        let line = self.line()?;
        let setup = self
            .state
            .memory
            .setups
            .get(&line.seeks)
            .unwrap_or(&line.habit);
        let expression = self.core.fill(setup, &BTreeMap::new(), &self.state);
        let own = BTreeMap::from([("expression".to_owned(), plain(&expression))]);
        let text = self.core.fill(&line.say, &own, &self.state);
        let mut draft = self.draft(
            &dialogue.solver,
            StepKind::Message,
            text,
            self.state.clone(),
        );
        draft.step.to = Some(dialogue.calculator.clone());
        Some(draft)
    }

    pub(super) fn compose_reply(&self) -> Option<Draft> {
        let dialogue = self.dialogue()?;
        let act = self.state.memory.turn.as_ref()?.acts.front()?.clone();
        let mut draft = match &act {
            Act::Compute { expression } => {
                let text = match evaluate(expression) {
                    Some(value) => format!("{expression} = {}", shown(value)),
                    None => format!("{expression} cannot be worked out."),
                };
                let after = self.state.clone();
                let mut draft =
                    self.draft(&dialogue.calculator, StepKind::Message, text.clone(), after);
                draft.step.meta.error = !text.contains('=');
                draft.step.meta.facts = self
                    .worked_out(&text)
                    .into_iter()
                    .filter(|(fact, value)| self.core.is_true(fact, value))
                    .map(|(fact, _)| fact)
                    .collect();
                draft.fulfils = self.state.memory.turn.as_ref().and_then(|t| t.ask.clone());
                draft
            }
            Act::Say { text } => self.draft(
                &dialogue.calculator,
                StepKind::Message,
                text.clone(),
                self.state.clone(),
            ),
            _ => return None,
        };
        draft.step.to = Some(dialogue.solver.clone());
        Some(draft)
    }

    /// What the fact sought comes to, by the calculator's words: the number after the last `=`, else the last number.
    fn worked_out(&self, text: &str) -> Option<(String, String)> {
        let sought = self.state.memory.turn.as_ref().map(|t| t.told.clone())?;
        let after = text.rsplit_once('=').map_or(text, |(_, right)| right);
        let number =
            super::words::tokens(after)
                .into_iter()
                .rev()
                .find_map(|token| match token {
                    super::words::Token::Number(n) => Some(n),
                    _ => None,
                })?;
        Some((sought, number))
    }

    /// One of the two has spoken.
    pub(super) fn commit_speech(&mut self, step: &Step, edited: bool) {
        let solver = self.dialogue().is_some_and(|d| d.solver == step.agent);
        if solver {
            self.commit_say(&step.text);
        } else {
            self.commit_reply(step, edited);
        }
    }

    fn commit_say(&mut self, text: &str) {
        let heard = self.hear_setups(text);
        let stated = self.hear(text);
        let calculator = self
            .dialogue()
            .and_then(|d| self.core.world.agent(&d.calculator))
            .cloned();
        let Some(calculator) = calculator else { return };
        let reading = self.core.read(text);
        let follows = reading
            .language
            .as_ref()
            .is_none_or(|l| calculator.languages.contains(l));
        let rules: Vec<_> = reading
            .clauses
            .iter()
            .filter(|c| c.forbids && c.can(Skill::Compute))
            .cloned()
            .collect();
        let found = if follows && !reading.salad {
            self.asked(text)
        } else {
            None
        };
        // "Sunday: …" is worked out for Sunday; a bare expression for what is sought.
        let named = found
            .as_ref()
            .and_then(|(_, sentence)| self.setup_in(sentence))
            .map(|(fact, _, _)| fact);
        let target = named.or_else(|| self.line().map(|l| l.seeks.clone()));
        let mut turn = Turn {
            agent: calculator.name.clone(),
            told: target.unwrap_or_default(),
            said: stated.iter().cloned().collect(),
            ..Turn::default()
        };
        let heeds = self.chance(calculator.clear);
        let act = match found {
            _ if !follows => Act::Say {
                text: format!(
                    "I do not follow this language. I follow: {}.",
                    calculator.languages.join(", ")
                ),
            },
            Some((found, _)) if found.unfinished => Act::Say {
                text: "I cannot follow all of that. Please say it as one expression.".to_owned(),
            },
            Some((found, _)) if heeds => {
                let expression = self
                    .core
                    .fill(&found.expression, &BTreeMap::new(), &self.state);
                let act = Act::Compute {
                    expression: plain(&expression),
                };
                let barred = rules.iter().any(|rule| forbidden(&act, rule, &self.core));
                if barred {
                    Act::Say {
                        text: "I was told not to work that out.".to_owned(),
                    }
                } else {
                    act
                }
            }
            _ if !rules.is_empty() => Act::Say {
                text: "Understood. I do not work it out.".to_owned(),
            },
            None if turn.said.contains(&turn.told) => Act::Say {
                text: "Taken as said. There is nothing to work out.".to_owned(),
            },
            _ => Act::Say {
                text: "I see no arithmetic to do here. Please say it in numbers.".to_owned(),
            },
        };
        let computes = matches!(act, Act::Compute { .. });
        turn.ask = computes.then(|| "compute".to_owned());
        turn.acts.push_back(act);
        self.state.memory.turn = Some(turn);
        self.state.memory.next = Next::Reply;
        if let Some(watch) = self.watch.as_mut().filter(|_| self.editing) {
            watch.understood = computes || heard || !stated.is_empty() || !rules.is_empty();
            if computes {
                watch.open.push("compute".to_owned());
            }
        }
    }

    /// The last arithmetic that a text asks for, else the first that it merely shows, with the sentence in which it stands.
    fn asked(&self, text: &str) -> Option<(Found, String)> {
        let mut found: Option<(Found, String)> = None;
        let mut last: Option<(Found, String)> = None;
        for sentence in sentences(text) {
            let own = self.core.read(sentence);
            if own.clauses.iter().any(|c| c.forbids) {
                continue;
            }
            let asks = own.asks().any(|c| c.can(Skill::Compute));
            let bare = own.clauses.is_empty() && !own.salad;
            let before = last.as_ref().map(|(found, _)| found.expression.as_str());
            let here = self.parts(sentence).into_iter().rev().find_map(|part| {
                let found = expression_after(part, &self.core.variables, before)?;
                Some((found, part.to_owned()))
            });
            // "Compute that."
            let meant = here
                .clone()
                .or_else(|| last.clone().filter(|_| asks && refers_back(sentence)));
            if asks && meant.is_some() || bare && found.is_none() {
                found = meant;
            }
            last = here.or(last);
        }
        found
    }

    /// "Sunday was 105 + 70, so the total is 60 + 45 + 175" says two things; any other sentence says one.
    fn parts<'a>(&self, sentence: &'a str) -> Vec<&'a str> {
        let names = |part: &str| {
            self.core.world.fact.iter().any(|fact| {
                let folded = super::words::fold(part);
                fact.names()
                    .any(|name| super::core::contains_words(&folded, &super::words::fold(name)))
            })
        };
        let parts: Vec<&str> = sentence.split(", ").collect();
        let each =
            |part: &&str| names(part) && expression_with(part, &self.core.variables).is_some();
        if parts.len() > 1 && parts.iter().all(each) {
            parts
        } else {
            vec![sentence]
        }
    }

    fn commit_reply(&mut self, step: &Step, edited: bool) {
        let turn = self.state.memory.turn.clone().unwrap_or_default();
        let computed = matches!(turn.acts.front(), Some(Act::Compute { .. }));
        let heard = self.hear_setups(&step.text) | !self.hear(&step.text).is_empty();
        let says = computed || edited;
        let value = if says {
            self.worked_out(&step.text)
        } else {
            None
        };
        let sought = self.line().map(|l| l.seeks.clone());
        // What the solver itself has stated is not asked for again.
        let mut settled = !says && sought.as_ref().is_some_and(|fact| turn.said.contains(fact));
        if let Some((fact, value)) = value {
            // A result is seen if the arithmetic beside it really gives it.
            let seen = step.text.rsplit_once('=').is_some_and(|(left, _)| {
                super::expression::expression_in(left)
                    .and_then(|e| evaluate(&e))
                    .is_some_and(|v| shown(v) == value)
            });
            settled = sought.as_ref() == Some(&fact);
            self.state
                .memory
                .beliefs
                .insert(fact, Belief { value, seen });
            place(&mut self.state, &self.core);
            if edited {
                self.noticed();
            }
        } else if edited && heard {
            self.noticed();
        }
        let memory = &mut self.state.memory;
        memory.turn = None;
        if settled || memory.line_tries + 1 >= MOST_TRIES {
            memory.line += 1;
            memory.line_tries = 0;
        } else {
            memory.line_tries += 1;
        }
        let more = self.line().is_some();
        self.state.memory.next = if more { Next::Say } else { Next::Answer };
    }

    /// "June is a third more than April and May together": the fact, its set-up, and whether it is written in signs.
    fn setup_in(&self, sentence: &str) -> Option<(String, String, bool)> {
        let reading = self.core.read(sentence);
        if reading.salad || reading.clauses.iter().any(|c| c.forbids) {
            return None;
        }
        let found = expression_after(sentence, &self.core.variables, None)?;
        let template = (!found.unfinished).then_some(found.expression)?;
        // The subject is the fact that the sentence names first, before the expression speaks of others.
        let folded = super::words::fold(sentence);
        let named = self.core.world.fact.iter().flat_map(|fact| {
            let names = fact.names().map(super::words::fold);
            names.map(|name| (name, fact)).collect::<Vec<_>>()
        });
        let (_, _, subject) = named
            .filter(|(name, _)| super::core::contains_words(&folded, name))
            .map(|(name, fact)| (folded.find(&name), std::cmp::Reverse(name.len()), &fact.id))
            .min()?;
        let signs = sentence.contains(['+', '*', '/', '×', '÷', '−', '=']);
        let own = format!("{{{subject}}}");
        (!template.contains(&own)).then(|| (subject.clone(), template, signs))
    }

    /// Takes in set-ups that a text states. What is written in signs is always taken up, what is said in words as often as the solver heeds words.
    pub(super) fn hear_setups(&mut self, text: &str) -> bool {
        let solver = self
            .dialogue()
            .and_then(|d| self.core.world.agent(&d.solver));
        let heeds = self.chance(solver.map_or(0.0, |s| s.vague));
        let found: Vec<_> = sentences(text)
            .flat_map(|sentence| self.parts(sentence))
            .filter_map(|sentence| self.setup_in(sentence))
            .collect();
        let mut heard = false;
        for (fact, template, signs) in found {
            if signs || heeds {
                self.state.memory.setups.insert(fact, template);
                heard = true;
            }
        }
        heard
    }
}

/// Without the brackets around the whole.
fn plain(expression: &str) -> String {
    let inner = expression
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    match inner {
        Some(inner) if evaluate(inner).is_some() && evaluate(inner) == evaluate(expression) => {
            inner.to_owned()
        }
        _ => expression.to_owned(),
    }
}
