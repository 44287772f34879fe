//! An agent's turn: an instruction is read, its requests are done one after another, each as a step; the first that cannot be done ends the turn.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::arithmetic;
use super::decide::{Choice, Mind, forbidden};
use super::engine::{Draft, Engine, learn, meta};
use super::lexicon::Skill;
use super::state::{Act, Call, Next, State, Turn};
use super::world::{Agent, Page, Tool};
use crate::model::{Digest, Effect, EffectClass, EffectState, Step, StepKind, StepMeta, ToolUse};

/// The most steps of one turn.
const MOST_STEPS: usize = 10;

impl Engine {
    pub(super) fn begin_turn(&mut self, agent: &str, text: &str) {
        let reading = self.core.read(text);
        let mut turn = Turn {
            agent: agent.to_owned(),
            told: text.to_owned(),
            ..Turn::default()
        };
        let follows = self.core.world.agent(agent).is_some_and(|agent| {
            reading
                .language
                .as_ref()
                .is_some_and(|language| agent.languages.contains(language))
        });
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
            return self.end_turn(&turn, false);
        };
        let mut failed = false;
        while turn.acts.is_empty() {
            let Some(ask) = turn.asks.pop_front() else {
                break;
            };
            if turn.steps >= MOST_STEPS {
                failed = true;
                turn.asks.clear();
                break;
            }
            let mind = Mind {
                core: &self.core,
                state: &self.state,
                agent: &agent,
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
                Choice::Lost(act) => {
                    turn.acts.push_back(self.permitted(act));
                    turn.asks.clear();
                    turn.ask = None;
                }
                Choice::Do { acts, clear } => {
                    let heeds = self.chance(if clear { agent.clear } else { agent.vague });
                    let lost = mind.lost(&ask);
                    let barred = acts.iter().find(|act| self.barred(act)).cloned();
                    if let Some(act) = barred {
                        turn.acts.push_back(self.permitted(act));
                        turn.asks.clear();
                        turn.ask = None;
                    } else if heeds {
                        turn.acts.extend(acts);
                        turn.ask = Some(ask.text.clone());
                    } else {
                        turn.acts.push_back(self.permitted(lost));
                        turn.asks.clear();
                        turn.ask = None;
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
            self.end_turn(&turn, !failed);
        } else {
            self.state.memory.turn = Some(turn);
        }
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
        let orchestrated = self.core.world.orchestrator.is_some();
        let heard = self.hear(text);
        if let Some(turn) = self.state.memory.turn.as_mut().filter(|_| edited) {
            turn.said.extend(heard.iter().cloned());
        }
        let led = orchestrated && (edited || self.speaks_freely()) && self.take_lead(text);
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
            return self.end_turn(&turn, false);
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
                return self.end_turn(&turn, true);
            }
            self.go_on();
        }
    }

    /// Whether the agent whose turn it is speaks from its own mind, and not only of what it did.
    fn speaks_freely(&self) -> bool {
        let turn = self.state.memory.turn.as_ref();
        turn.and_then(|turn| self.core.world.agent(&turn.agent))
            .is_some_and(|agent| agent.skills.contains(&Skill::Guess))
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

    fn tool_use(&self, name: &str, arguments: Option<String>, failed: bool) -> ToolUse {
        ToolUse {
            name: name.to_owned(),
            arguments,
            class: self.core.world.tool(name).map(|tool| tool.class),
            failed,
            ..ToolUse::default()
        }
    }

    fn perform(&self, act: &Act, told: &str, state: &mut State) -> Done {
        match act {
            Act::Open { address } => self.arrive(address, "I opened", told, state),
            Act::Press { name, address } => self.arrive(
                address,
                &format!("I pressed '{name}'. This is"),
                told,
                state,
            ),
            Act::Missing { name } => Done::failed(format!(
                "There is no control named '{name}' on this page.{}",
                self.controls(state)
            )),
            Act::NoSuchAddress { address } => {
                Done::failed(format!("The address {address} leads nowhere (404)."))
            }
            Act::Back => match state.browser.history.pop() {
                Some(address) => {
                    let done = self.arrive(&address, "I went back to", told, state);
                    state.browser.history.pop();
                    done
                }
                None => Done::failed("There is no page to go back to.".to_owned()),
            },
            Act::Scroll { to } => self.scroll(*to, told, state),
            Act::Search { query, hits } => self.search(query, hits, told, state),
            Act::Read { fact } => self.read_page(fact.as_deref(), told, state),
            Act::Guess { fact } => {
                let Some(fact) = self.core.world.fact(fact) else {
                    return Done::failed(String::new());
                };
                let value = self.core.value_or_guess(state, fact);
                let unsure = if state.memory.beliefs.contains_key(&fact.id) {
                    "As far as we know"
                } else {
                    "From what I remember"
                };
                Done::well(format!("{unsure}, {} is {value}.", fact.about))
            }
            Act::Compute { expression } => match arithmetic::evaluate(expression) {
                Some(value) => Done::well(format!("{expression} = {}", arithmetic::shown(value))),
                None => Done::failed(format!("{expression} cannot be worked out.")),
            },
            Act::Say { text } => Done {
                reached: false,
                ..Done::well(text.clone())
            },
            Act::Call { .. } => Done::well(String::new()),
        }
    }

    fn page<'a>(&'a self, state: &State) -> Option<&'a Page> {
        self.core.world.page(state.browser.address.as_deref()?)
    }

    fn controls(&self, state: &State) -> String {
        let names: Vec<String> = match self.page(state) {
            Some(page) => page
                .link
                .iter()
                .filter(|l| l.screen == state.browser.screen)
                .map(|l| format!("'{}'", l.name))
                .collect(),
            None => state
                .browser
                .results
                .iter()
                .filter_map(|a| self.core.world.page(a))
                .map(|p| format!("'{}'", p.title))
                .collect(),
        };
        if names.is_empty() {
            String::new()
        } else {
            format!(" Controls shown: {}.", names.join(", "))
        }
    }

    /// What the viewport shows, quoted.
    fn view(&self, page: &Page, state: &State) -> String {
        let screen = state.browser.screen;
        let text = page
            .text
            .get(screen)
            .map_or("(more of the same)", |text| text.trim());
        let quoted: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
        let place = if page.length() > 1 {
            format!(" Screen {} of {}.", screen + 1, page.length())
        } else {
            String::new()
        };
        format!("{place}{}\n\n{}", self.controls(state), quoted.join("\n"))
    }

    fn arrive(&self, address: &str, how: &str, told: &str, state: &mut State) -> Done {
        let Some(page) = self.core.world.page(address) else {
            return Done::failed(format!("The address {address} leads nowhere (404)."));
        };
        let browser = &mut state.browser;
        browser.history.extend(browser.address.take());
        browser.address = Some(page.address.clone());
        browser.screen = 0;
        browser.results.clear();
        if !browser.visited.contains(&page.address) {
            browser.visited.push(page.address.clone());
            state.memory.progress = true;
        }
        let shown = page.states.iter().filter(|s| s.screen == 0);
        let facts = learn(state, &self.core, told, &BTreeMap::new(), shown);
        let text = format!(
            "{how} [{}]({}).{}",
            page.title,
            page.address,
            self.view(page, state)
        );
        Done {
            meta: StepMeta {
                pages: vec![page.address.clone()],
                ..meta(facts)
            },
            ..Done::well(text)
        }
    }

    fn scroll(&self, to: Option<usize>, told: &str, state: &mut State) -> Done {
        let Some(page) = self.page(state) else {
            return Done::failed("There is nothing to scroll here.".to_owned());
        };
        let last = page.length() - 1;
        let at = state.browser.screen;
        let screen = to.unwrap_or(at + 1).min(last);
        if screen == at && at == last && to.is_none() {
            return Done::failed(format!(
                "This is the end of [{}]({}) already.",
                page.title, page.address
            ));
        }
        state.browser.screen = screen;
        let facts = learn(
            state,
            &self.core,
            told,
            &BTreeMap::new(),
            page.states.iter().filter(|s| s.screen == screen),
        );
        let how = if to.is_some() {
            "I scrolled to the place"
        } else {
            "I scrolled down one screen"
        };
        let text = format!(
            "{how} on [{}]({}).{}",
            page.title,
            page.address,
            self.view(page, state)
        );
        Done {
            meta: meta(facts),
            ..Done::well(text)
        }
    }

    fn search(&self, query: &str, hits: &[String], told: &str, state: &mut State) -> Done {
        let pages: Vec<&Page> = hits
            .iter()
            .filter_map(|a| self.core.world.page(a))
            .collect();
        match pages.as_slice() {
            [] => Done::failed(format!("I searched for \"{query}\". Nothing fits.")),
            [page] => self.arrive(
                &page.address,
                &format!("I searched for \"{query}\" and opened the only result,"),
                told,
                state,
            ),
            [first, ..] => {
                // The first result is opened, as people do; the others stay in mind.
                let others: Vec<String> = pages
                    .iter()
                    .skip(1)
                    .map(|p| format!("'{}' ({})", p.title, p.address))
                    .collect();
                let how = format!(
                    "I searched for \"{query}\". Other results: {}. I opened the first,",
                    others.join(", ")
                );
                self.arrive(&first.address, &how, told, state)
            }
        }
    }

    fn read_page(&self, fact: Option<&str>, told: &str, state: &mut State) -> Done {
        let Some(page) = self.page(state) else {
            return Done::failed("There is no page to read.".to_owned());
        };
        let facts = learn(state, &self.core, told, &BTreeMap::new(), &page.states);
        let wanted = fact.and_then(|id| self.core.world.fact(id));
        let stated = |id: &str| page.states.iter().any(|s| s.fact == id);
        let belief = wanted
            .and_then(|f| state.memory.beliefs.get(&f.id))
            .filter(|b| b.seen);
        match (wanted, belief) {
            (Some(fact), Some(belief)) => {
                let text = format!(
                    "I went through [{}]({}): {} is {}.",
                    page.title, page.address, fact.about, belief.value
                );
                Done {
                    meta: StepMeta {
                        pages: vec![page.address.clone()],
                        ..meta(facts)
                    },
                    ..Done::well(text)
                }
            }
            (Some(fact), None) => {
                let why = if stated(&fact.id) {
                    "It may, but I do not know what to look for yet."
                } else {
                    "Nothing there says it."
                };
                let text = format!(
                    "I went through [{}]({}) for {}. {why}",
                    page.title, page.address, fact.about
                );
                Done {
                    meta: meta(facts),
                    reached: false,
                    ..Done::well(text)
                }
            }
            (None, _) => {
                let quoted: Vec<String> = page
                    .text
                    .iter()
                    .flat_map(|t| t.trim().lines())
                    .map(|l| format!("> {l}"))
                    .collect();
                let text = format!(
                    "This is what [{}]({}) says:\n\n{}",
                    page.title,
                    page.address,
                    quoted.join("\n")
                );
                Done {
                    meta: StepMeta {
                        pages: vec![page.address.clone()],
                        ..meta(facts)
                    },
                    ..Done::well(text)
                }
            }
        }
    }

    /// The tool is called with the arguments as they stand in the step.
    pub(super) fn commit_call(&mut self, step: &Step) {
        let name = step
            .meta
            .tool
            .as_ref()
            .map(|t| t.name.clone())
            .unwrap_or_default();
        let read: Option<Value> = serde_json::from_str(&step.text).ok();
        let args = read.as_ref().and_then(Value::as_object).map(|object| {
            let plain = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
            object
                .iter()
                .map(|(k, v)| (k.clone(), plain(v)))
                .collect::<BTreeMap<_, _>>()
        });
        let call = match (self.core.world.tool(&name).cloned(), args) {
            (None, _) => Call {
                result: format!("There is no tool '{name}'."),
                failed: true,
                tool: name,
                args: BTreeMap::new(),
            },
            (Some(tool), None) => Call {
                result: format!("The arguments of {} are no JSON object.", tool.name),
                failed: true,
                tool: tool.name,
                args: BTreeMap::new(),
            },
            (Some(tool), Some(args)) => self.call(&tool, args, step),
        };
        if !call.failed {
            self.noticed();
        }
        if let Some(turn) = &mut self.state.memory.turn {
            turn.call = Some(call);
        }
        self.state.memory.next = Next::Result;
    }

    fn call(&mut self, tool: &Tool, args: BTreeMap<String, String>, step: &Step) -> Call {
        let done = |result: String, failed: bool, args| Call {
            tool: tool.name.clone(),
            args,
            result,
            failed,
        };
        if tool
            .needs
            .iter()
            .any(|need| !self.state.memory.beliefs.contains_key(need))
        {
            let text = if tool.refusal.is_empty() {
                format!("{} refuses: something it needs is not known.", tool.name)
            } else {
                tool.refusal.clone()
            };
            return done(text, true, args);
        }
        let approved = |id: &String| {
            self.state
                .approvals
                .get(id)
                .is_some_and(|state| state == "approved")
        };
        let queued = tool.approval.as_ref().is_some_and(|id| !approved(id));
        let template = if queued { &tool.queued } else { &tool.result };
        let result = self.core.fill(template, &args, &self.state);
        if tool.class == EffectClass::ReadOnly || queued {
            return done(result, queued, args);
        }
        let arguments = json!(args).to_string();
        let key = tool
            .operation_key
            .as_ref()
            .and_then(|key| args.get(key))
            .cloned();
        let key = key.unwrap_or_else(|| Digest::of(&arguments).short());
        if let Some(kept) = self
            .kept
            .iter()
            .find(|e| e.tool == tool.name && e.operation_key == key)
        {
            let result = kept.result.clone().unwrap_or(result);
            return done(result, false, args);
        }
        self.effects.push(Effect {
            step: step.index,
            agent: step.agent.clone(),
            tool: tool.name.clone(),
            class: tool.class,
            operation_key: key.clone(),
            args_sha256: Digest::of(&arguments),
            result: Some(result.clone()),
            state: EffectState::Pending,
            evidence: None,
        });
        if let Some(log) = &tool.log {
            let entries = self.state.logs.entry(log.clone()).or_default();
            entries
                .retain(|entry| entry.get("operation_key").and_then(Value::as_str) != Some(&key));
            entries.push(json!({ "operation_key": key, "tool": tool.name, "arguments": args, "result": result }));
        }
        done(result, false, args)
    }

    pub(super) fn compose_result(&self) -> Option<Draft> {
        let mut after = self.state.clone();
        let turn = after.memory.turn.as_mut()?;
        let agent = turn.agent.clone();
        let told = turn.told.clone();
        let ask = turn.ask.clone().filter(|_| turn.acts.is_empty());
        let call = turn.call.take()?;
        let mut facts = Vec::new();
        if let Some(tool) = self.core.world.tool(&call.tool).filter(|_| !call.failed) {
            for (file, template) in &tool.writes {
                let text = self.core.fill(template, &call.args, &after);
                after.files.insert(file.clone(), text);
            }
            if let Some(id) = &tool.grants {
                after.approvals.insert(id.clone(), "approved".to_owned());
            }
            let same = format!("{} {}", call.tool, json!(call.args));
            after.memory.progress |= after.memory.called.insert(same);
            facts = learn(&mut after, &self.core, &told, &call.args, &tool.states);
        }
        let mut draft = self.draft(&agent, StepKind::ToolResult, call.result, after);
        draft.step.meta = StepMeta {
            error: call.failed,
            ..meta(facts)
        };
        draft.step.meta.tool = Some(self.tool_use(&call.tool, None, call.failed));
        if call.failed {
            if let Some(turn) = draft.after.memory.turn.as_mut() {
                turn.ask = None;
                turn.asks.clear();
                turn.acts.clear();
            }
        } else {
            draft.fulfils = ask;
        }
        Some(draft)
    }
}

/// What came of an act.
struct Done {
    text: String,
    meta: StepMeta,
    /// Whether it did what was asked.
    reached: bool,
}

impl Done {
    fn well(text: String) -> Self {
        Self {
            text,
            meta: StepMeta::default(),
            reached: true,
        }
    }

    fn failed(text: String) -> Self {
        Self {
            text,
            meta: StepMeta {
                error: true,
                ..StepMeta::default()
            },
            reached: false,
        }
    }
}
