//! A world with its lexicon: names resolved, facts recognised, templates filled. Knows the state only to look at it.

use std::collections::{BTreeMap, HashMap};

use super::arithmetic::Names;
use super::clause::{Clause, Object};
use super::lexicon::{Lexicon, Sense, Skill};
use super::read::{Reading, read};
use super::resolve::{Candidate, Match, Name, resolve, same_address};
use super::state::{Belief, State};
use super::words::fold;
use super::world::{Agent, Fact, Page, Statement, Tool, World};

/// A world, ready to be played.
#[derive(Clone, Debug)]
pub(super) struct Core {
    pub world: World,
    pub lexicon: Lexicon,
    facts: Vec<Candidate<String>>,
    /// The world's names, cut into words once.
    names: HashMap<String, Name>,
    /// Every page by its address.
    pub pages: Vec<Candidate<String>>,
    /// What the search engine has of each page that it knows: address, words of the title, words of all.
    pub index: Vec<(String, Object, Object)>,
    /// What facts are called, for arithmetic: `{fact}` for each of its names.
    pub variables: Names,
}

impl Core {
    pub fn new(world: World) -> Self {
        let mut lexicon = Lexicon::new(&world.lexicon);
        for agent in &world.agent {
            lexicon.add(&agent.name, None, Sense::Name(agent.name.clone()));
        }
        if let Some(orchestrator) = &world.orchestrator {
            lexicon.add(
                &orchestrator.name,
                None,
                Sense::Name(orchestrator.name.clone()),
            );
        }
        for tool in &world.tool {
            for verb in &tool.verbs {
                lexicon.add(verb, None, Sense::Verb(Skill::Call));
            }
        }
        for name in world.names() {
            lexicon.own(name);
        }
        let names = world
            .names()
            .map(|name| (name.to_owned(), Name::of(name, &lexicon)))
            .collect();
        let variables = Names::new(world.fact.iter().flat_map(|fact| {
            fact.names()
                .map(|name| (name.to_owned(), format!("{{{}}}", fact.id)))
        }));
        let mut core = Self {
            world,
            lexicon,
            facts: Vec::new(),
            names,
            pages: Vec::new(),
            index: Vec::new(),
            variables,
        };
        core.pages = core
            .world
            .page
            .iter()
            .map(|p| core.candidate(p.address.clone(), p.names()))
            .collect();
        let listed = core.world.page.iter().filter(|page| !page.unlisted);
        core.index = listed
            .map(|page| {
                let title = page.names().collect::<Vec<_>>().join(" ");
                let all = format!("{title} {}", page.text.join(" "));
                (page.address.clone(), core.object(&title), core.object(&all))
            })
            .collect();
        core.facts = core
            .world
            .fact
            .iter()
            .map(|fact| core.candidate(fact.id.clone(), fact.names()))
            .collect();
        core
    }

    /// A thing with its names, ready to be compared.
    pub fn candidate<'a, T>(
        &self,
        key: T,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Candidate<T> {
        let name = |name: &str| {
            self.names
                .get(name)
                .cloned()
                .unwrap_or_else(|| Name::of(name, &self.lexicon))
        };
        Candidate {
            key,
            names: names.into_iter().map(name).collect(),
        }
    }

    pub fn resolve<T: Clone + PartialEq>(
        &self,
        object: &Object,
        candidates: &[Candidate<T>],
    ) -> Match<T> {
        resolve(object, candidates, &self.lexicon)
    }

    /// The words of a text as an object.
    pub fn object(&self, text: &str) -> Object {
        Object::of(&self.lexicon.terms(text, self.lexicon.detect(text)))
    }

    pub fn read(&self, text: &str) -> Reading {
        read(text, &self.lexicon)
    }

    /// The fact that an object speaks of.
    pub fn fact_meant(&self, object: &Object) -> Option<&Fact> {
        match self.resolve(object, &self.facts) {
            Match::One(id, _) => self.world.fact(&id),
            // The first in the file's order comes first in the chain.
            Match::Several(ids) => self.world.fact.iter().find(|fact| ids.contains(&fact.id)),
            Match::None => None,
        }
    }

    /// The fact that a clause wants to know.
    pub fn fact_sought(&self, clause: &Clause) -> Option<&Fact> {
        [
            clause.full(),
            clause.object.with(&clause.place),
            clause.object.clone(),
        ]
        .iter()
        .find_map(|object| self.fact_meant(object))
    }

    /// Facts that a text wants to be found out.
    pub fn facts_sought(&self, text: &str) -> Vec<&Fact> {
        let mut found: Vec<&Fact> = Vec::new();
        for clause in self.read(text).asks() {
            // "Look at each picture" is a round of visits, not a question.
            if clause.every && clause.can(Skill::Open) {
                continue;
            }
            let asks = [Skill::Read, Skill::Search, Skill::Guess, Skill::Compute];
            if asks.iter().any(|skill| clause.can(*skill))
                && let Some(fact) = self.fact_sought(clause)
                && !found.contains(&fact)
            {
                found.push(fact);
            }
        }
        found
    }

    /// A page by an address as somebody types it.
    pub fn page_typed(&self, typed: &str) -> Option<&Page> {
        self.world
            .page
            .iter()
            .find(|page| same_address(typed, &page.address))
    }

    /// A tool that an agent has and that a clause asks for.
    pub fn tool_meant<'a>(&'a self, agent: &Agent, clause: &Clause) -> Option<&'a Tool> {
        let tools: Vec<&Tool> = self
            .world
            .tool
            .iter()
            .filter(|t| agent.tools.contains(&t.name))
            .collect();
        let verb = fold(clause.verb.as_deref().unwrap_or_default());
        let candidates: Vec<Candidate<String>> = tools
            .iter()
            .map(|tool| {
                let spoken = tool.name.replace(['_', '-'], " ");
                let names = [tool.about.as_str(), spoken.as_str(), tool.name.as_str()];
                let names = names
                    .into_iter()
                    .chain(tool.also.iter().map(String::as_str));
                self.candidate(tool.name.clone(), names)
            })
            .collect();
        let own_verb = |tool: &Tool| tool.verbs.iter().any(|v| fold(v) == verb);
        // Quotations are what the tool is given, not what it is called, unless they call it.
        let called = clause
            .object
            .named()
            .and_then(|name| tools.iter().find(|t| t.name == name));
        if let Some(tool) = called {
            return Some(tool);
        }
        // "sign off": the verb alone names the tool, if it is one tool's own.
        let mut own = tools.iter().filter(|tool| own_verb(tool));
        if let (true, Some(tool), None) = (clause.full().is_empty(), own.next(), own.next()) {
            return Some(tool);
        }
        let only_tools = |skill: &Skill| *skill == Skill::Call || !agent.skills.contains(skill);
        if clause.full().is_empty() && clause.skills.iter().all(only_tools) {
            // "Approve them": the one thing that this agent approves.
            let mut own = tools.iter().filter(|tool| own_verb(tool));
            return own.next().filter(|_| own.next().is_none()).copied();
        }
        let bare = |object: &Object| Object {
            quotes: Vec::new(),
            addresses: Vec::new(),
            ..object.clone()
        };
        let zones = [
            clause.object.clone(),
            clause.object.with(&clause.place),
            clause.full(),
        ];
        for object in zones.iter().map(bare) {
            let found = match self.resolve(&object, &candidates) {
                Match::One(name, _) => vec![name],
                Match::Several(several) => several,
                Match::None => Vec::new(),
            };
            let mut fitting = found
                .iter()
                .filter_map(|name| self.world.tool(name))
                .filter(|tool| own_verb(tool) || self.generic_call(clause));
            if let (Some(tool), None) = (fitting.next(), fitting.next()) {
                return Some(tool);
            }
        }
        None
    }

    /// "use", "run", "call" ask for any tool; a tool's own verbs ask for that tool only.
    fn generic_call(&self, clause: &Clause) -> bool {
        let verb = clause.verb.as_deref().unwrap_or_default();
        clause.can(Skill::Call)
            && !self
                .world
                .tool
                .iter()
                .any(|tool| tool.verbs.iter().any(|v| fold(v) == fold(verb)))
    }

    /// What a text states of facts: "the city is Hallam", "the build number: 2417". Quoted lines (`>`) are not the speaker's own words.
    pub fn statements(&self, text: &str) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for sentence in sentences(text) {
            if let Some((fact, value)) = self.stated(sentence)
                && found.iter().all(|(id, _)| *id != fact)
            {
                found.push((fact, value));
            }
        }
        found
    }

    /// "X is Y", X being what a fact is called.
    fn stated(&self, sentence: &str) -> Option<(String, String)> {
        const MARKS: [&str; 12] = [
            " is ", " was ", " are ", " = ", " ist ", " heißt ", " lautet ", " est ", "是", "为",
            ": ", "：",
        ];
        let (left, right) = MARKS.iter().find_map(|mark| sentence.split_once(mark))?;
        let reading = self.read(sentence);
        let language = self.lexicon.detect(sentence);
        let denied = self
            .lexicon
            .terms(sentence, language)
            .iter()
            .any(|t| t.has(&Sense::Forbid));
        if denied || reading.salad || sentence.trim_end().ends_with('?') {
            return None;
        }
        // "Correct the notes: the build number is …" speaks of the build number.
        let subject = left.rsplit(": ").next().unwrap_or(left);
        let fact = self.fact_meant(&Object::of(&self.lexicon.terms(subject, language)))?;
        Some((fact.id.clone(), self.value_in(right, fact)?))
    }

    /// A value in words: one the world knows of this fact, else a short name, number or quotation.
    fn value_in(&self, part: &str, fact: &Fact) -> Option<String> {
        let folded = fold(part);
        let mut known: Vec<&str> = self.world.values_of(&fact.id);
        known.sort_by_key(|value| std::cmp::Reverse(value.len()));
        if let Some(value) = known
            .into_iter()
            .find(|value| contains_words(&folded, &fold(value)))
        {
            return Some(value.to_owned());
        }
        if fact.value.parse::<f64>().is_ok() {
            // "175 jars", "5 euros": the number without its unit, but no arithmetic.
            let number = |token| match token {
                super::words::Token::Number(n) => Some(n),
                _ => None,
            };
            let mut tokens = super::words::tokens(part).into_iter();
            let first = tokens.next().and_then(number)?;
            return tokens.all(|t| number(t).is_none()).then_some(first);
        }
        let part = part.trim().trim_matches([
            '"', '\'', '“', '”', '.', '!', ',', '。', '「', '」', '‘', '’',
        ]);
        let name = part.split_whitespace().count() <= 4
            && part
                .chars()
                .next()
                .is_some_and(|c| c.is_uppercase() || c.is_numeric() || super::words::is_han(c));
        (name && !part.is_empty()).then(|| part.to_owned())
    }

    /// The one value of a fact that a reply names, unless it denies, doubts or asks.
    pub fn replied(&self, text: &str, fact: &str) -> Option<String> {
        let own: Vec<&str> = sentences(text).collect();
        let own = own.join(". ");
        let terms = self.lexicon.terms(&own, self.lexicon.detect(&own));
        let denied = terms.iter().any(|term| {
            let negates = [
                "no", "not", "never", "nobody", "doubt", "wrong", "neither", "kein", "nicht",
            ];
            term.has(&Sense::Forbid)
                || negates.contains(&term.raw.to_lowercase().as_str())
                || term.raw.ends_with("n't")
        });
        if denied || own.contains('?') || self.read(&own).salad {
            return None;
        }
        let folded = fold(&own);
        let mut named = self.world.values_of(fact);
        named.retain(|value| contains_words(&folded, &fold(value)));
        let first = *named.first()?;
        named
            .iter()
            .all(|value| same_value(value, first))
            .then(|| first.to_owned())
    }

    /// Whether the text itself states that a fact has this value.
    pub fn says(&self, text: &str, fact: &str, value: &str) -> bool {
        self.statements(text)
            .iter()
            .any(|(id, said)| id == fact && same_value(said, value))
            || contains_words(&fold(text), &fold(value))
    }

    /// Fills `{name}` from the given values, then from what is held or guessed.
    pub fn fill(&self, template: &str, own: &BTreeMap<String, String>, state: &State) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let Some((name, tail)) = after
                .split_once('}')
                .filter(|(name, _)| !name.contains('{'))
            else {
                out.push('{');
                rest = after;
                continue;
            };
            match (own.get(name), self.world.fact(name)) {
                (Some(value), _) => out.push_str(value),
                (None, Some(fact)) => out.push_str(&state.value_or_guess(fact)),
                (None, None) => {
                    out.push('{');
                    out.push_str(name);
                    out.push('}');
                }
            }
            rest = tail;
        }
        out.push_str(rest);
        out
    }

    /// The facts whose values stand in a template.
    pub fn facts_in(&self, template: &str) -> Vec<&Fact> {
        let holds = |fact: &&Fact| template.contains(&format!("{{{}}}", fact.id));
        self.world.fact.iter().filter(holds).collect()
    }

    /// What a statement builds on, with the value that each must have.
    pub fn foundation(&self, statement: &Statement) -> BTreeMap<String, String> {
        let fact = self.world.fact(&statement.fact);
        let mut given: BTreeMap<String, String> = fact
            .into_iter()
            .flat_map(|fact| &fact.needs)
            .filter_map(|id| Some((id.clone(), self.world.fact(id)?.value.clone())))
            .collect();
        given.extend(statement.given.clone());
        given
    }

    pub fn is_true(&self, fact: &str, value: &str) -> bool {
        self.world
            .fact(fact)
            .is_some_and(|fact| same_value(&fact.value, value))
    }
}

/// Whether what is held supports a foundation.
pub(super) fn holds(beliefs: &BTreeMap<String, Belief>, given: &BTreeMap<String, String>) -> bool {
    given
        .iter()
        .all(|(id, value)| beliefs.get(id).is_some_and(|b| same_value(&b.value, value)))
}

pub(super) fn same_value(a: &str, b: &str) -> bool {
    fold(a.trim()) == fold(b.trim())
}

/// Whether the needle stands in the text as whole words.
pub(super) fn contains_words(text: &str, needle: &str) -> bool {
    let inside =
        |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !super::words::is_han(c));
    !needle.is_empty()
        && text.match_indices(needle).any(|(at, _)| {
            let before = text.get(..at).and_then(|t| t.chars().next_back());
            let after = text.get(at + needle.len()..).and_then(|t| t.chars().next());
            !inside(before) && !inside(after)
        })
}

/// The speaker's own sentences: without the lines quoted from a page.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with('>'))
        .flat_map(|line| {
            line.split_inclusive(". ")
                .flat_map(|part| part.split(['。', ';', '；', '!', '！']))
        })
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
}

impl World {
    /// Every name that a text may use, so that none of them is taken for a slip of another word.
    fn names(&self) -> impl Iterator<Item = &str> {
        let pages = self.page.iter().flat_map(|page| {
            let links = page
                .link
                .iter()
                .flat_map(|link| link.also.iter().chain([&link.name]));
            page.also.iter().chain([&page.title]).chain(links)
        });
        let tools = self
            .tool
            .iter()
            .flat_map(|tool| tool.also.iter().chain([&tool.about, &tool.name]));
        let facts = self.fact.iter().flat_map(|fact| {
            fact.also
                .iter()
                .chain([&fact.about, &fact.value, &fact.guess])
        });
        pages.chain(tools).chain(facts).map(String::as_str)
    }

    /// The values of a fact that the world speaks of anywhere.
    pub(super) fn values_of(&self, id: &str) -> Vec<&str> {
        let own = self
            .fact(id)
            .into_iter()
            .flat_map(|fact| [&fact.value, &fact.guess]);
        let pages = self.page.iter().flat_map(|page| &page.states);
        let tools = self.tool.iter().flat_map(|tool| &tool.states);
        let stated = pages
            .chain(tools)
            .filter(|s| s.fact == id)
            .filter_map(|s| s.value.as_ref());
        own.chain(stated).map(String::as_str).collect()
    }
}

impl Page {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.also.iter().chain([&self.title]).map(String::as_str)
    }
}

impl Fact {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        [self.about.as_str(), self.id.as_str()]
            .into_iter()
            .chain(self.also.iter().map(String::as_str))
    }
}
