//! From a request to acts: which of its skills an agent uses, on which thing, and what it does when it does not know.
//!
//! Looks at world and state and changes nothing. Chance comes in afterwards, in [`super::turn`].

use std::collections::{BTreeMap, BTreeSet};

use super::clause::{Clause, Object};
use super::core::{Core, contains_words};
use super::expression;
use super::lexicon::Skill;
use super::resolve::{Candidate, Match};
use super::state::{Act, State};
use super::words::fold;
use super::world::{Agent, Habit, Page};

/// What an agent makes of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choice {
    /// Does this; `clear` says that the thing was called by its name, address or number.
    Do { acts: Vec<Act>, clear: bool },
    /// There is nothing more to do for it.
    Nothing,
    /// These requests first, in its place.
    Instead(Vec<Clause>),
    /// Does not know what is meant, and does this.
    Lost(Act),
}

/// A thing that can be gone to.
#[derive(Clone, Debug, PartialEq)]
struct Target {
    address: String,
    /// The control's name, if it stands on the page shown.
    control: Option<String>,
    screen: usize,
}

pub(super) struct Mind<'a> {
    pub core: &'a Core,
    pub state: &'a State,
    pub agent: &'a Agent,
    /// Facts that the agent has told of in this turn.
    pub said: &'a BTreeSet<String>,
    /// The whole instruction.
    pub told: &'a str,
    /// Whether the agent has done anything in this turn.
    pub acted: bool,
}

impl Mind<'_> {
    fn able(&self, skill: Skill) -> bool {
        self.agent.skills.contains(&skill)
    }

    pub fn decide(&self, ask: &Clause) -> Choice {
        if let Some(tool) = self.core.tool_meant(self.agent, ask) {
            // What the instruction itself states rules over what is believed.
            let stated: BTreeMap<String, String> =
                self.core.statements(self.told).into_iter().collect();
            let mut args: BTreeMap<String, String> = tool
                .args
                .iter()
                .map(|(key, text)| (key.clone(), self.core.fill(text, &stated, self.state)))
                .collect();
            let full = ask.full();
            if let Some(key) = &tool.named {
                let number = || {
                    full.numbers
                        .iter()
                        .filter(|n| n.len() == 1)
                        .flatten()
                        .next_back()
                        .map(String::as_str)
                };
                let counts = args
                    .get(key)
                    .is_some_and(|value| value.parse::<f64>().is_ok());
                let given = full.named().filter(|name| *name != tool.name);
                if let Some(value) = given.or_else(|| number().filter(|_| counts)) {
                    args.insert(key.clone(), value.to_owned());
                }
            }
            let tool = tool.name.clone();
            return Choice::Do {
                acts: vec![Act::Call { tool, args }],
                clear: true,
            };
        }
        let can = |skill| ask.can(skill) && self.able(skill);
        // An address is a place to go to, whatever the verb.
        let address =
            !ask.full().addresses.is_empty() && self.able(Skill::Open) && !can(Skill::Search);
        let goes = can(Skill::Open) || can(Skill::Press) || address;
        if goes && let Some(choice) = self.go(ask) {
            return choice;
        }
        if can(Skill::Search) {
            return self.search(ask);
        }
        if can(Skill::Scroll) {
            return self.scroll(ask);
        }
        if can(Skill::Back) {
            return Choice::Do {
                acts: vec![Act::Back],
                clear: true,
            };
        }
        if can(Skill::Compute)
            && let Some(expression) = expression::expression_in(&ask.text)
        {
            return Choice::Do {
                acts: vec![Act::Compute { expression }],
                clear: true,
            };
        }
        let fact = self.core.fact_sought(ask);
        let wants = [Skill::Read, Skill::Guess, Skill::Search]
            .iter()
            .any(|s| ask.can(*s));
        if can(Skill::Read)
            && let Some(choice) = self.read(ask)
        {
            return choice;
        }
        if self.able(Skill::Guess)
            && wants
            && let Some(fact) = fact
        {
            return Choice::Do {
                acts: vec![Act::Guess {
                    fact: fact.id.clone(),
                }],
                clear: true,
            };
        }
        if goes {
            return Choice::Lost(self.lost(ask));
        }
        if ask.can(Skill::Read) && self.acted {
            return Choice::Nothing;
        }
        Choice::Lost(self.unable(ask))
    }

    fn unable(&self, ask: &Clause) -> Act {
        let verb = ask.verb.as_deref().unwrap_or("do");
        let other = self.core.world.agent.iter().find(|other| {
            other.name != self.agent.name
                && ask.skills.iter().any(|skill| other.skills.contains(skill))
        });
        let hint = other.map_or(String::new(), |other| {
            format!(" That is {}'s work.", other.name)
        });
        Act::Say {
            text: format!("I am not able to do this ('{verb}').{hint}"),
        }
    }

    /// What the agent does when it does not know which thing is meant.
    pub fn lost(&self, ask: &Clause) -> Act {
        let full = ask.full();
        if let Some(address) = full.addresses.first() {
            return Act::NoSuchAddress {
                address: address.clone(),
            };
        }
        let name = ask
            .object
            .quotes
            .first()
            .or_else(|| {
                full.numbers
                    .iter()
                    .filter_map(|n| n.first())
                    .max_by_key(|n| n.len())
            })
            .or_else(|| ask.object.words.last());
        let press = ask.can(Skill::Press) && !ask.can(Skill::Open);
        match (self.agent.default, name) {
            (_, Some(name))
                if (press || !ask.object.quotes.is_empty()) && self.able(Skill::Press) =>
            {
                Act::Missing { name: name.clone() }
            }
            (Habit::Press, Some(name)) => Act::Missing { name: name.clone() },
            (Habit::Scroll, _) if self.able(Skill::Scroll) => Act::Scroll { to: None },
            _ => Act::Say {
                text: "I am not sure which one is meant.".to_owned(),
            },
        }
    }

    /// The controls of the page shown.
    fn controls(&self) -> Vec<Candidate<Target>> {
        let browser = &self.state.browser;
        if let Some(page) = browser
            .address
            .as_deref()
            .and_then(|a| self.core.world.page(a))
        {
            return self.links(page, true);
        }
        let found = browser
            .results
            .iter()
            .filter_map(|a| self.core.world.page(a));
        found
            .map(|page| self.page_target(page, Some(page.title.clone())))
            .collect()
    }

    fn links(&self, page: &Page, shown: bool) -> Vec<Candidate<Target>> {
        page.link
            .iter()
            .map(|link| {
                let target = Target {
                    address: link.to.clone(),
                    control: shown.then(|| link.name.clone()),
                    screen: link.screen,
                };
                let names = link.also.iter().chain([&link.name]).map(String::as_str);
                self.core.candidate(target, names)
            })
            .collect()
    }

    fn page_target(&self, page: &Page, control: Option<String>) -> Candidate<Target> {
        let target = Target {
            address: page.address.clone(),
            control,
            screen: 0,
        };
        self.core.candidate(target, page.names())
    }

    /// What the agent remembers: pages whose way is known, pages visited and their links.
    fn remembered(&self) -> Vec<Candidate<Target>> {
        let mut found: Vec<Candidate<Target>> = Vec::new();
        let visited = &self.state.browser.visited;
        for page in &self.core.world.page {
            if page.known || visited.contains(&page.address) {
                found.push(self.page_target(page, None));
            }
        }
        let mut links: Vec<Candidate<Target>> = Vec::new();
        for page in visited.iter().filter_map(|a| self.core.world.page(a)) {
            for mut link in self.links(page, false) {
                link.key.screen = 0;
                links.push(link);
            }
        }
        found.extend(links);
        found
    }

    fn find(&self, object: &Object, only_shown: bool) -> Match<Target> {
        if let Some(address) = object.addresses.first() {
            return match self.core.page_typed(address) {
                Some(page) => Match::One(
                    Target {
                        address: page.address.clone(),
                        control: None,
                        screen: 0,
                    },
                    true,
                ),
                None => Match::None,
            };
        }
        match self.core.resolve(object, &self.controls()) {
            Match::None if !only_shown => self.core.resolve(object, &self.remembered()),
            found => found,
        }
    }

    fn go(&self, ask: &Clause) -> Option<Choice> {
        let only_shown = !(ask.can(Skill::Open) && self.able(Skill::Open));
        let near = ask.object.with(&ask.place);
        // What is said most exactly counts first.
        for object in [&ask.full(), &near, &ask.object] {
            match self.find(object, only_shown) {
                Match::One(target, named) => {
                    let clear = named || object.named().is_some() || !object.numbers.is_empty();
                    return Some(self.visit(target, clear));
                }
                Match::Several(targets) if ask.every => {
                    let acts = targets.into_iter().map(arrive).collect();
                    return Some(Choice::Do { acts, clear: true });
                }
                Match::Several(_) => return Some(Choice::Lost(self.lost(ask))),
                Match::None => {}
            }
        }
        if !ask.place.is_empty()
            && !ask.object.is_empty()
            && let Match::One(target, _) = self.find(&ask.place, false)
            && self.state.browser.address.as_deref() != Some(target.address.as_str())
        {
            let first = Clause {
                text: format!("{} (there)", ask.text),
                object: ask.place.clone(),
                place: Object::default(),
                detail: Object::default(),
                skills: vec![Skill::Open, Skill::Press],
                ..ask.clone()
            };
            let then = Clause {
                place: Object::default(),
                ..ask.clone()
            };
            return Some(Choice::Instead(vec![first, then]));
        }
        if ask.parts.len() > 1 {
            let last = ask.parts.len() - 1;
            let each = ask.parts.iter().enumerate().map(|(at, part)| Clause {
                text: if at == last {
                    ask.text.clone()
                } else {
                    format!("{} #{at}", ask.text)
                },
                object: part.clone(),
                parts: Vec::new(),
                ..ask.clone()
            });
            return Some(Choice::Instead(each.collect()));
        }
        let led_here = |object: &Object| match self.core.resolve(object, &self.remembered()) {
            Match::One(target, _) => {
                self.state.browser.address.as_deref() == Some(target.address.as_str())
            }
            _ => false,
        };
        if self.acted
            && only_shown
            && !ask.object.is_empty()
            && (led_here(&ask.object) || led_here(&ask.full()))
        {
            return Some(Choice::Nothing);
        }
        // "find", "check", "look at" may mean reading what is shown.
        let reads = ask.can(Skill::Read) && self.able(Skill::Read);
        (!reads && !ask.object.is_empty()).then(|| Choice::Lost(self.lost(ask)))
    }

    fn visit(&self, target: Target, clear: bool) -> Choice {
        let here = self.state.browser.address.as_deref() == Some(target.address.as_str());
        if here && self.acted {
            return Choice::Nothing;
        }
        Choice::Do {
            acts: vec![arrive(target)],
            clear,
        }
    }

    fn scroll(&self, ask: &Clause) -> Choice {
        let page = self
            .state
            .browser
            .address
            .as_deref()
            .and_then(|a| self.core.world.page(a));
        let end = page.map(|page| page.length() - 1);
        if ask.whole {
            return Choice::Do {
                acts: vec![Act::Scroll { to: end }],
                clear: true,
            };
        }
        let screen = match self.core.resolve(&ask.full(), &self.controls()) {
            Match::One(target, _) => Some(target.screen),
            Match::Several(targets) => targets.iter().map(|t| t.screen).min(),
            Match::None => None,
        };
        let clear = screen.is_some();
        Choice::Do {
            acts: vec![Act::Scroll { to: screen }],
            clear,
        }
    }

    /// "search the archive for the picture of 4 August": the page first, then what is sought on it.
    fn search_on(&self, ask: &Clause) -> Option<Choice> {
        let alone = ask.verb.as_ref().is_some_and(|verb| !verb.contains(' '));
        if !alone || ask.detail.is_empty() || !self.able(Skill::Open) {
            return None;
        }
        let Match::One(page, _) = self.find(&ask.object, false) else {
            return None;
        };
        let open = |text: String, object: &Object| Clause {
            text,
            object: object.clone(),
            place: Object::default(),
            detail: Object::default(),
            skills: vec![Skill::Open, Skill::Press],
            ..ask.clone()
        };
        let sought = open(ask.text.clone(), &ask.detail);
        let here = self.state.browser.address.as_deref() == Some(page.address.as_str());
        let there = open(format!("{} (there)", ask.text), &ask.object);
        Some(Choice::Instead(if here {
            vec![sought]
        } else {
            vec![there, sought]
        }))
    }

    fn search(&self, ask: &Clause) -> Choice {
        if let Some(choice) = self.search_on(ask) {
            return choice;
        }
        let full = ask.full();
        let mut query: Vec<String> = full.quotes.clone();
        if query.is_empty() {
            query.extend(full.words.clone());
            query.extend(full.numbers.iter().filter_map(|n| n.first().cloned()));
        }
        // What is held of the facts that the sought one builds on belongs to the question.
        if let Some(fact) = self.core.fact_sought(ask) {
            for need in &fact.needs {
                let named = self
                    .core
                    .world
                    .values_of(need)
                    .iter()
                    .any(|v| contains_words(&ask.text, &fold(v)));
                if let Some(belief) = self.state.memory.beliefs.get(need).filter(|_| !named) {
                    query.push(belief.value.clone());
                }
            }
        }
        if query.is_empty() {
            return Choice::Lost(Act::Say {
                text: "I do not know what to search for.".to_owned(),
            });
        }
        let query = query.join(" ");
        let (hits, first, exact) = self.hits(&query);
        Choice::Do {
            acts: vec![Act::Search { query, hits, first }],
            clear: exact || !full.quotes.is_empty(),
        }
    }

    /// Listed pages by how many of the query's words they have, those in the title twice, best first; whether the best stands out; and whether it has all of them in its title.
    fn hits(&self, query: &str) -> (Vec<String>, bool, bool) {
        let object = self.core.object(query);
        let wanted: Vec<&String> = object
            .words
            .iter()
            .chain(object.numbers.iter().flatten())
            .collect();
        let count = |has: &Object| {
            let there = |word: &&&String| {
                has.words.contains(word) || has.numbers.iter().any(|n| n.contains(word))
            };
            wanted.iter().filter(there).count()
        };
        let mut scored: Vec<(usize, bool, &str)> = Vec::new();
        for (address, title, all) in &self.core.index {
            let (title, all) = (count(title), count(all));
            if all * 2 > wanted.len() {
                scored.push((all + title, title == wanted.len(), address));
            }
        }
        scored.sort_by_key(|(score, ..)| std::cmp::Reverse(*score));
        let score = |at: usize| scored.get(at).map(|(score, ..)| *score);
        let first = score(0) > score(1);
        let exact = scored.first().is_some_and(|(_, exact, _)| *exact);
        let hits = scored
            .into_iter()
            .take(5)
            .map(|(_, _, address)| address.to_owned());
        (hits.collect(), first, exact)
    }

    /// "Read the build log", "read the number in the build log": the page first, if another one is shown.
    fn read_elsewhere(&self, ask: &Clause) -> Option<Choice> {
        if !self.able(Skill::Open) {
            return None;
        }
        let found = [&ask.object, &ask.place].into_iter().find_map(|object| {
            match self.find(object, false) {
                Match::One(target, true) if !object.is_empty() => Some((target, object)),
                _ => None,
            }
        });
        let (target, object) = found?;
        if self.state.browser.address.as_deref() == Some(target.address.as_str()) {
            return None;
        }
        let open = Clause {
            text: format!("{} (there)", ask.text),
            object: object.clone(),
            place: Object::default(),
            detail: Object::default(),
            skills: vec![Skill::Open],
            ..ask.clone()
        };
        Some(Choice::Instead(vec![open, ask.clone()]))
    }

    fn read(&self, ask: &Clause) -> Option<Choice> {
        if let Some(choice) = self.read_elsewhere(ask) {
            return Some(choice);
        }
        let fact = self.core.fact_sought(ask);
        if let Some(fact) = fact {
            let known = self
                .state
                .memory
                .beliefs
                .get(&fact.id)
                .is_some_and(|b| b.seen);
            if (known && self.acted) || self.said.contains(&fact.id) {
                return Some(Choice::Nothing);
            }
            if self.state.browser.address.is_some() {
                let acts = vec![Act::Read {
                    fact: Some(fact.id.clone()),
                }];
                return Some(Choice::Do { acts, clear: true });
            }
            return None;
        }
        if self.acted && !ask.whole {
            return Some(Choice::Nothing);
        }
        self.state.browser.address.as_ref()?;
        Some(Choice::Do {
            acts: vec![Act::Read { fact: None }],
            clear: true,
        })
    }
}

fn arrive(target: Target) -> Act {
    match target.control {
        Some(name) => Act::Press {
            name,
            address: target.address,
        },
        None => Act::Open {
            address: target.address,
        },
    }
}
