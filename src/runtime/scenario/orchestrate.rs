//! The orchestrator: states plans, keeps the ledger, hands out a line at a time, plans anew when it stalls, and answers in the end.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::core::{Core, sentences};
use super::engine::{Draft, Engine, Watch};
use super::lexicon::Skill;
use super::resolve::Match;
use super::state::{Errand, Next, Order, State};
use super::world::{Agent, Orchestrator};
use crate::model::{Step, StepKind};

/// What the orchestrator means to do.
enum Intent {
    Instruct(Order),
    /// All that the answer needs is there.
    Satisfied,
    /// Another plan, or no more.
    GiveUp,
}

impl Engine {
    fn orchestrator(&self) -> Option<&Orchestrator> {
        self.core.world.orchestrator.as_ref()
    }

    pub(super) fn compose_plan(&self) -> Option<Draft> {
        let orchestrator = self.orchestrator()?;
        let plan = orchestrator
            .plan
            .get(self.state.memory.plans)
            .or(orchestrator.plan.last())?;
        let mut after = self.state.clone();
        after.memory.plans += 1;
        Some(self.draft(
            &orchestrator.name,
            StepKind::Plan,
            plan.trim().to_owned(),
            after,
        ))
    }

    pub(super) fn commit_plan(&mut self, text: &str) {
        let heard = !self.hear(text).is_empty();
        let reading = self.core.read(text);
        let memory = &mut self.state.memory;
        memory.stall = 0;
        memory.progress = true;
        memory.lead = None;
        memory.asked.clear();
        memory.forbidden = reading
            .clauses
            .iter()
            .filter(|c| c.forbids)
            .cloned()
            .collect();
        memory.queue = errands(&self.core, text);
        for errand in &mut memory.queue {
            errand.firm = self.editing;
        }
        memory.next = Next::Ledger;
        self.expect(text, heard);
    }

    /// Takes note of what an edited text asks for, if this is one.
    pub(super) fn expect(&mut self, text: &str, heard: bool) {
        let Some(watch) = self.watch.as_mut().filter(|_| self.editing) else {
            return;
        };
        let reading = self.core.read(text);
        if !self
            .core
            .world
            .agent
            .iter()
            .any(|agent| agent.follows(&reading))
        {
            watch.understood = heard;
            return;
        }
        let open: Vec<String> = reading.asks().map(|ask| ask.text.clone()).collect();
        *watch = Watch {
            understood: !open.is_empty() || !reading.clauses.is_empty() || heard,
            open,
        };
    }

    /// The agent that fits a text best: named in it, else the first that has the skill or tool it asks for.
    fn agent_for(&self, text: &str) -> Option<&Agent> {
        let world = &self.core.world;
        let named = world.agent.iter().find(|agent| {
            super::core::contains_words(&text.to_lowercase(), &agent.name.to_lowercase())
        });
        let reading = self.core.read(text);
        let fits = |agent: &&Agent| {
            reading.asks().any(|ask| {
                ask.skills
                    .iter()
                    .any(|s| *s != Skill::Call && agent.skills.contains(s))
                    || self.core.tool_meant(agent, ask).is_some()
            })
        };
        let tool = world.agent.iter().find(|agent| {
            reading
                .asks()
                .any(|ask| self.core.tool_meant(agent, ask).is_some())
        });
        named
            .or(tool)
            .or_else(|| world.agent.iter().find(fits))
            .or(world.agent.first())
    }

    /// Whether a text names a page that nobody has been to: then it is worth going there, whatever is believed.
    fn names_new_page(&self, text: &str) -> bool {
        let visited = &self.state.browser.visited;
        self.core.read(text).asks().any(|ask| {
            let typed = ask.full().addresses.iter().filter_map(|a| self.core.page_typed(a)).any(|p| !visited.contains(&p.address));
            let named = [&ask.object, &ask.place].into_iter().any(|object| {
                matches!(self.core.resolve(object, &self.core.pages), Match::One(address, true) if !visited.contains(&address))
            });
            typed || named
        })
    }

    fn intent(&self, state: &State) -> Intent {
        let memory = &state.memory;
        if let Some(lead) = &memory.lead {
            return self.instruct(lead, state, false);
        }
        if let Some(errand) = memory.queue.front() {
            let sought = self.core.facts_sought(&errand.text);
            let wanted = sought
                .iter()
                .find(|fact| !memory.beliefs.contains_key(&fact.id));
            let again = wanted.and_then(|fact| {
                let turn = errand.tries.checked_sub(1)?;
                fact.asks.get(turn % fact.asks.len().max(1))
            });
            return self.instruct(again.unwrap_or(&errand.text), state, true);
        }
        let answer = self.core.facts_in(&self.core.world.answer);
        if answer
            .iter()
            .all(|fact| memory.beliefs.contains_key(&fact.id))
        {
            return Intent::Satisfied;
        }
        // Nothing of the plan is left: the first thing that is missing and can be found out.
        let missing = self.core.world.fact.iter().find(|fact| {
            !memory.beliefs.contains_key(&fact.id)
                && fact
                    .needs
                    .iter()
                    .all(|need| memory.beliefs.contains_key(need))
        });
        missing.map_or(Intent::GiveUp, |fact| {
            let tries = memory.asked.get(&fact.id).copied().unwrap_or_default();
            let ask = fact.asks.get(tries % fact.asks.len().max(1)).cloned();
            self.instruct(
                &ask.unwrap_or_else(|| format!("Find out {}.", fact.about)),
                state,
                false,
            )
        })
    }

    /// An instruction with what is known of the things that it builds on.
    fn instruct(&self, text: &str, state: &State, from_plan: bool) -> Intent {
        let Some(agent) = self.agent_for(text) else {
            return Intent::GiveUp;
        };
        let mut known: Vec<String> = Vec::new();
        for fact in self
            .core
            .facts_sought(text)
            .iter()
            .flat_map(|fact| &fact.needs)
        {
            if let (Some(fact), Some(belief)) =
                (self.core.world.fact(fact), state.memory.beliefs.get(fact))
            {
                let line = format!("Known so far: {} is {}.", fact.about, belief.value);
                if !known.contains(&line) && !super::core::contains_words(text, &belief.value) {
                    known.push(line);
                }
            }
        }
        let text = strip_agent(text, agent);
        let text = [vec![text], known].concat().join("\n");
        Intent::Instruct(Order {
            agent: agent.name.clone(),
            text,
            from_plan,
        })
    }

    pub(super) fn compose_ledger(&self) -> Option<Draft> {
        let orchestrator = self.orchestrator()?;
        let mut after = self.state.clone();
        // Lines whose matter is settled are struck out.
        while let Some(errand) = after.memory.queue.front() {
            let sought = self.core.facts_sought(&errand.text);
            let settled = !(sought.is_empty() || errand.firm && errand.tries == 0)
                && sought
                    .iter()
                    .all(|fact| after.memory.beliefs.contains_key(&fact.id))
                && !self.names_new_page(&errand.text);
            if !(errand.done || settled || (sought.is_empty() && errand.tries > 1)) {
                break;
            }
            after.memory.queue.pop_front();
        }
        let memory = &after.memory;
        let stall = if memory.progress { 0 } else { memory.stall + 1 };
        let looping = stall >= orchestrator.stall_limit;
        let intent = self.intent(&after);
        let (satisfied, order) = match intent {
            Intent::Satisfied => (true, Order::default()),
            Intent::GiveUp => (false, Order::default()),
            Intent::Instruct(order) => (false, order),
        };
        let reason = |yes: bool, a: &str, b: &str| if yes { a.to_owned() } else { b.to_owned() };
        let missing = self
            .core
            .world
            .fact
            .iter()
            .find(|f| !memory.beliefs.contains_key(&f.id));
        let missing = missing.map_or("something".to_owned(), |f| f.about.clone());
        let ledger = json!({
            "is_request_satisfied": {
                "reason": if satisfied { "All that the answer needs is there.".to_owned() } else { format!("Still to be found out: {missing}.") },
                "answer": satisfied,
            },
            "is_in_loop": { "reason": reason(looping, "The same is tried again and again.", "Something new is tried."), "answer": looping },
            "is_progress_being_made": {
                "reason": reason(memory.progress, "The last round brought something new.", "The last round brought nothing new."),
                "answer": memory.progress,
            },
            "next_speaker": { "reason": reason(order.from_plan, "The plan's next line is its work.", "It can do this."), "answer": order.agent },
            "instruction_or_question": { "reason": "The next thing to do.", "answer": order.text },
        });
        after.memory.order = Some(order);
        let text = serde_json::to_string_pretty(&ledger).unwrap_or_default();
        let mut draft = self.draft(&orchestrator.name, StepKind::Ledger, text, after);
        draft.step.to = None;
        Some(draft)
    }

    pub(super) fn commit_ledger(&mut self, text: &str) {
        let composed = self.state.memory.order.take().unwrap_or_default();
        let limit = self.orchestrator().map_or(1, |o| o.stall_limit);
        let read: Option<Value> = serde_json::from_str(text).ok();
        let field = |name: &str| {
            read.as_ref()
                .and_then(|v| v.get(name))
                .map(|v| v.get("answer").unwrap_or(v))
                .cloned()
        };
        let yes = |name: &str| field(name).and_then(|v| v.as_bool());
        let word = |name: &str| field(name).and_then(|v| v.as_str().map(str::to_owned));
        // A ledger that is no JSON is taken as what the orchestrator means to have done.
        let said = if read.is_some() {
            word("instruction_or_question")
        } else {
            Some(text.trim().to_owned())
        };
        let said = said.filter(|t| !t.is_empty());
        let own = said.as_ref() == Some(&composed.text);
        let agent = word("next_speaker")
            .and_then(|name| self.core.world.agent(&name).map(|a| a.name.clone()))
            .or_else(|| {
                self.agent_for(said.as_deref().unwrap_or_default())
                    .map(|a| a.name.clone())
            });
        let progress = yes("is_progress_being_made").unwrap_or(true);
        let looping = yes("is_in_loop").unwrap_or(false);
        if let Some(text) = said.as_ref().filter(|_| !own) {
            let text = text.clone();
            self.expect(&text, false);
        } else {
            self.noticed();
        }
        let memory = &mut self.state.memory;
        memory.stall = if progress { 0 } else { memory.stall + 1 };
        memory.progress = false;
        if yes("is_request_satisfied") == Some(true) {
            memory.next = Next::Answer;
            return;
        }
        let (Some(agent), Some(text)) = (agent, said) else {
            memory.next = Next::Stall;
            return;
        };
        if looping && memory.stall >= limit {
            memory.next = Next::Stall;
            return;
        }
        let from_plan = own && composed.from_plan;
        if memory.lead.take().is_none() && own {
            let line = memory.queue.front_mut().filter(|_| from_plan);
            if let Some(errand) = line {
                errand.tries += 1;
            } else if let Some(fact) = self.core.facts_sought(&text).first() {
                *memory.asked.entry(fact.id.clone()).or_default() += 1;
            }
        }
        memory.order = Some(Order {
            agent,
            text,
            from_plan,
        });
        memory.next = Next::Instruction;
    }

    pub(super) fn compose_instruction(&self) -> Option<Draft> {
        let order = self.state.memory.order.clone()?;
        let orchestrator = self.orchestrator()?;
        let mut draft = self.draft(
            &orchestrator.name,
            StepKind::Instruction,
            order.text,
            self.state.clone(),
        );
        draft.step.to = Some(order.agent);
        Some(draft)
    }

    pub(super) fn commit_instruction(&mut self, step: &Step) {
        let order = self.state.memory.order.clone().unwrap_or_default();
        let heard = !self.hear(&step.text).is_empty();
        self.state.memory.progress = false;
        self.expect(&step.text, heard);
        let agent = step
            .to
            .as_deref()
            .and_then(|name| self.core.world.agent(name));
        let agent = agent.map_or(order.agent, |agent| agent.name.clone());
        self.begin_turn(&agent, &step.text);
    }

    pub(super) fn compose_stall(&self) -> Option<Draft> {
        let orchestrator = self.orchestrator()?;
        let more = self.state.memory.plans < orchestrator.plan.len();
        let text = if more {
            "Stalled. Planning anew."
        } else {
            "Stalled. There is no further plan; the answer is given from what is known."
        };
        Some(self.draft(
            &orchestrator.name,
            StepKind::Control,
            text.to_owned(),
            self.state.clone(),
        ))
    }

    pub(super) fn commit_stall(&mut self) {
        let plans = self.orchestrator().map_or(0, |o| o.plan.len());
        let memory = &mut self.state.memory;
        memory.next = if memory.plans < plans {
            Next::Plan
        } else {
            Next::Answer
        };
    }

    /// What an operator lets an agent say may give the orchestrator a lead: something proposed that can be done.
    pub(super) fn take_lead(&mut self, text: &str) -> bool {
        let leads = [Skill::Open, Skill::Press, Skill::Search, Skill::Call];
        let proposals: Vec<&str> = sentences(text)
            .filter(|sentence| {
                let reading = self.core.read(sentence);
                !reading.salad
                    && self.core.statements(sentence).is_empty()
                    && reading
                        .asks()
                        .any(|ask| leads.iter().any(|s| ask.can(*s)) && !ask.object.is_empty())
            })
            .collect();
        let visited = &self.state.browser.visited;
        let named = super::words::tokens(text)
            .into_iter()
            .find_map(|token| match token {
                super::words::Token::Address(typed) => self
                    .core
                    .page_typed(&typed)
                    .map(|page| page.address.clone()),
                _ => None,
            });
        let lead = if proposals.is_empty() {
            named
                .filter(|address| !visited.contains(address))
                .map(|address| format!("Open {address} and read it."))
        } else {
            Some(proposals.join(" "))
        };
        let taken = lead.is_some();
        if taken {
            self.state.memory.lead = lead;
            self.state.memory.progress = true;
        }
        taken
    }

    /// The agent has done what it could: back to the orchestrator.
    pub(super) fn end_turn(&mut self, all_done: bool) {
        let memory = &mut self.state.memory;
        let from_plan = memory.order.take().is_some_and(|order| order.from_plan);
        if from_plan
            && all_done
            && let Some(errand) = memory.queue.front_mut()
        {
            let sought = self.core.facts_sought(&errand.text);
            errand.done = sought
                .iter()
                .all(|fact| memory.beliefs.contains_key(&fact.id));
        }
        memory.forbidden.retain(|rule| !rule.brief);
        memory.turn = None;
        memory.next = Next::Ledger;
    }
}

/// A plan's lines that ask for something. A text in one paragraph is taken sentence by sentence; if nothing in it is understood, it is handed out as it is.
fn errands(core: &Core, text: &str) -> VecDeque<Errand> {
    let listed = text.lines().filter(|line| !line.trim().is_empty()).count() > 1;
    let lines: Vec<&str> = if listed {
        text.lines().collect()
    } else {
        sentences(text).collect()
    };
    let errand = |line: &str| Errand {
        text: told_to(core, &bare(line)),
        ..Errand::default()
    };
    let found: VecDeque<Errand> = lines
        .into_iter()
        .flat_map(|line| by_agent(core, line))
        .filter(|line| {
            let reading = core.read(&told_to(core, &bare(line)));
            !reading.salad && !announces(line) && reading.asks().next().is_some()
        })
        .map(errand)
        .collect();
    let forbids = core.read(text).clauses.iter().any(|clause| clause.forbids);
    if found.is_empty() && !forbids {
        return VecDeque::from([errand(text)]);
    }
    found
}

/// "the Editor signs off and the Publisher publishes": a line for each agent that is given something of its own to do.
fn by_agent<'a>(core: &Core, line: &'a str) -> Vec<&'a str> {
    const JOINTS: [&str; 8] = [
        ",", ";", " and", " then", " and the", ", the", " und", "然后",
    ];
    let mut cuts: Vec<usize> = Vec::new();
    for agent in &core.world.agent {
        for (at, _) in line.match_indices(agent.name.as_str()) {
            let before = line.get(..at).unwrap_or_default().trim_end();
            let joint = JOINTS
                .iter()
                .filter(|joint| before.ends_with(*joint))
                .map(|joint| joint.len())
                .max();
            let rest = line.get(at..).unwrap_or_default();
            if let Some(joint) = joint
                && let Some(own) = before.get(..before.len() - joint)
                && core.read(own).asks().next().is_some()
                && core.read(rest).asks().next().is_some()
            {
                cuts.push(before.len() - joint);
            }
        }
    }
    cuts.sort_unstable();
    let mut parts = Vec::new();
    let mut start = 0;
    for cut in cuts {
        parts.extend(line.get(start..cut));
        start = cut;
    }
    parts.extend(line.get(start..));
    parts
        .into_iter()
        .map(|part| part.trim_start_matches([',', ';', ' ']))
        .collect()
}

/// "We will proceed as follows", "let us do the following:": a line that only says that others come.
fn announces(line: &str) -> bool {
    let line = super::words::fold(line.trim());
    let line = line.trim_end_matches(['.', '!']);
    line.ends_with([':', '：']) || line.ends_with(" follows") || line.ends_with(" wie folgt")
}

/// "Publisher looks up the build and corrects the notes" as it is said to the Publisher: "Publisher: look up the build and correct the notes".
fn told_to(core: &Core, line: &str) -> String {
    const BETWEEN: [&str; 8] = [
        "then",
        "also",
        "next",
        "finally",
        "now",
        "first",
        "afterwards",
        "the",
    ];
    let mut words = line.split_whitespace().peekable();
    // "Finally, the Publisher …", "Second, the Publisher …"
    let plain = |word: &str| word.trim_matches([',', '.']).to_lowercase();
    let position = words.clone().take(5).position(|word| {
        let word = word.trim_matches(',');
        core.world.agent.iter().any(|agent| agent.name == word)
    });
    let Some(at) = position else {
        return line.to_owned();
    };
    let name = words.nth(at).unwrap_or_default().trim_matches(',');
    while words
        .next_if(|word| BETWEEN.contains(&plain(word).as_str()))
        .is_some()
    {}
    let rest: Vec<&str> = words.collect();
    let verb = |at: usize| {
        let (word, tail) = (rest.get(at)?, rest.get(at + 1..).unwrap_or_default());
        third_person(core, word, tail)
    };
    if verb(0).is_none() {
        return line.to_owned();
    }
    // The verb, and each that is joined to it.
    let spoken = rest.iter().enumerate().map(|(at, word)| {
        let before = at.checked_sub(1).and_then(|at| rest.get(at));
        let joined = before.is_none_or(|word| {
            word.ends_with(',') || matches!(plain(word).as_str(), "and" | "then" | "or")
        });
        verb(at)
            .filter(|_| joined)
            .unwrap_or_else(|| (*word).to_owned())
    });
    format!("{name}: {}", spoken.collect::<Vec<_>>().join(" "))
}

/// "corrects" as it is commanded: "correct"; none if that is no verb.
fn third_person(core: &Core, word: &str, tail: &[&str]) -> Option<String> {
    let bare = word.trim_end_matches([',', '.', ';']);
    let mark = word.get(bare.len()..).unwrap_or_default();
    let bare = bare.to_lowercase();
    let hissed = ["shes", "ches", "sses", "xes", "oes"];
    let form = if let Some(stem) = bare.strip_suffix("ies") {
        Some(format!("{stem}y"))
    } else if hissed.iter().any(|end| bare.ends_with(end)) {
        bare.strip_suffix("es").map(str::to_owned)
    } else {
        bare.strip_suffix('s').map(str::to_owned)
    };
    form.and_then(|form| {
        let text = format!("{form} {}", tail.join(" "));
        let terms = core.lexicon.terms(&text, core.lexicon.detect(&text));
        let verb = terms.first().is_some_and(super::terms::Term::verb);
        verb.then(|| format!("{form}{mark}"))
    })
}

/// A line without its number or bullet.
fn bare(line: &str) -> String {
    let line = line
        .trim()
        .trim_start_matches(['-', '*', '•', '#'])
        .trim_start();
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let rest = line.get(digits..).unwrap_or_default();
    match rest.strip_prefix(['.', ')']) {
        Some(rest) if digits > 0 => rest.trim().to_owned(),
        _ => line.to_owned(),
    }
}

/// "WebSurfer: open …" is said to WebSurfer as "open …".
fn strip_agent(text: &str, agent: &Agent) -> String {
    let rest = text
        .strip_prefix(agent.name.as_str())
        .and_then(|rest| rest.trim_start().strip_prefix([':', ',', '：', '，']));
    let text = rest.map_or(text, str::trim);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
