//! What must hold of a world before it is played: whatever it names is there, and nothing in it would be passed over in silence.
//! Every complaint names the table and the key, and says what would be right.

use std::collections::{BTreeMap, BTreeSet};

use super::super::arithmetic::evaluate;
use super::super::lexicon::{LexiconData, built_in};
use super::{Agent, Dialogue, Fact, Orchestrator, Page, Statement, Tool, World, wrong};
use crate::model::{Check, Judgement, MAX_MILESTONES, Verifier, judge};
use crate::runtime::RuntimeError;

type Checked = Result<(), RuntimeError>;

/// A complaint, unless it holds.
fn must(holds: bool, place: &str, reason: impl FnOnce() -> String) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(wrong(place, reason()))
    }
}

/// A complaint about a name that nothing has.
fn there(known: bool, place: &str, kind: &str, name: &str) -> Checked {
    must(known, place, || {
        format!("there is no {kind} '{name}'; add it or correct the name")
    })
}

/// Each name once, letter case aside, and none of them blank.
fn unique<'a>(place: &str, names: impl IntoIterator<Item = &'a str>) -> Checked {
    let mut seen = BTreeSet::new();
    names.into_iter().try_for_each(|name| {
        let own = !name.trim().is_empty() && seen.insert(name.to_lowercase());
        must(own, place, || {
            format!("'{name}' is empty or there twice; give each its own name")
        })
    })
}

/// Other names: a blank one would be heard everywhere.
fn spoken(place: &str, names: &[String]) -> Checked {
    let blank = names.iter().any(|name| name.trim().is_empty());
    must(!blank, place, || {
        "one is empty; fill it in or leave it out".to_owned()
    })
}

/// The names in braces of a template. What is no name, such as `{ "a": 1 }`, is text.
fn placeholders(template: &str) -> Vec<&str> {
    template
        .split('{')
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('}')?.0))
        .filter(|name| {
            name.starts_with(char::is_alphabetic)
                && name
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        })
        .collect()
}

/// "2. Clerk: open …" is meant for Clerk: a capitalised head of a line, before a colon and something to do.
fn addressee(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(|c: char| {
        c.is_whitespace() || c.is_ascii_digit() || matches!(c, '.' | ')' | '-' | '*' | '•')
    });
    let (head, rest) = line.split_once(": ")?;
    let name = head.split(' ').all(|word| {
        word.starts_with(char::is_uppercase) && word.chars().all(char::is_alphanumeric)
    });
    (name && !rest.trim().is_empty()).then_some(head)
}

impl World {
    /// Everything that is referred to must be there, and everything that is there must be of use.
    pub(super) fn check(&self) -> Checked {
        let orchestrator = self.orchestrator.iter().map(|o| o.name.as_str());
        unique(
            "table [[agent]], name",
            self.agent
                .iter()
                .map(|a| a.name.as_str())
                .chain(orchestrator),
        )?;
        unique(
            "table [[fact]], id",
            self.fact.iter().map(|f| f.id.as_str()),
        )?;
        unique(
            "table [[page]], address",
            self.page.iter().map(|p| p.address.as_str()),
        )?;
        unique(
            "table [[tool]], name",
            self.tool.iter().map(|t| t.name.as_str()),
        )?;
        unique(
            "table [[approval]], id",
            self.approval.iter().map(|a| a.id.as_str()),
        )?;
        must(!self.agent.is_empty(), "table [[agent]]", || {
            "there is none; add at least one".to_owned()
        })?;
        self.check_lexicon()?;
        self.agent.iter().try_for_each(|a| self.check_agent(a))?;
        self.fact.iter().try_for_each(|f| self.check_fact(f))?;
        self.page.iter().try_for_each(|p| self.check_page(p))?;
        self.tool.iter().try_for_each(|t| self.check_tool(t))?;
        for approval in &self.approval {
            let known = ["pending", "approved"].contains(&approval.state.as_str());
            let place = format!("approval '{}', state", approval.id);
            must(known, &place, || {
                format!("'{}' is neither pending nor approved", approval.state)
            })?;
        }
        if let Some(start) = &self.start {
            there(self.page(start).is_some(), "key start", "page", start)?;
        }
        let keys = self.keys();
        for key in self.required_keys.iter().flatten() {
            must(keys.contains(key), "key required_keys", || {
                format!(
                    "this world has no state '{key}'; it has {}",
                    keys.join(", ")
                )
            })?;
        }
        match (&self.orchestrator, &self.dialogue) {
            (Some(orchestrator), None) => self.check_orchestrator(orchestrator),
            (None, Some(dialogue)) => self.check_dialogue(dialogue),
            _ => Err(wrong(
                "tables [orchestrator] and [dialogue]",
                "there must be exactly one of them",
            )),
        }?;
        self.check_milestones()?;
        self.check_answer()
    }

    /// The braces of a template stand for facts, or for what else may stand there.
    fn check_template(&self, place: &str, template: &str, own: &[&str]) -> Checked {
        placeholders(template).into_iter().try_for_each(|name| {
            let known = own.contains(&name) || self.fact(name).is_some();
            let also = match own {
                [] => String::new(),
                own => format!("; {{{}}} may stand there too", own.join("}, {")),
            };
            must(known, place, || {
                format!("{{{name}}} is no fact; add it or correct the name{also}")
            })
        })
    }

    fn check_facts<'a>(&self, place: &str, ids: impl IntoIterator<Item = &'a String>) -> Checked {
        ids.into_iter()
            .try_for_each(|id| there(self.fact(id).is_some(), place, "fact", id))
    }

    fn check_statements(&self, place: &str, states: &[Statement], screens: usize) -> Checked {
        for statement in states {
            let place = format!("{place}, states");
            self.check_facts(&place, statement.given.keys().chain([&statement.fact]))?;
            check_screen(&place, statement.screen, screens)?;
        }
        Ok(())
    }

    fn check_addressee(&self, place: &str, line: &str) -> Checked {
        addressee(line).map_or(Ok(()), |name| {
            must(self.agent(name).is_some(), place, || {
                let agents: Vec<&str> = self.agent.iter().map(|a| a.name.as_str()).collect();
                format!(
                    "'{name}: …' names no agent; the agents are {}",
                    agents.join(", ")
                )
            })
        })
    }

    fn check_lexicon(&self) -> Checked {
        let known: BTreeSet<String> = built_in().arithmetic.into_keys().collect();
        for key in self.lexicon.arithmetic.keys() {
            must(known.contains(key), "table [lexicon.arithmetic]", || {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                format!("there is no '{key}'; there are {}", known.join(", "))
            })?;
        }
        let pair = |key: &str, sign| {
            key.split_once(sign).is_some_and(|(a, b)| {
                a.parse::<u32>().is_ok() && b.parse().is_ok_and(|b: u32| b > 0)
            })
        };
        for key in self.lexicon.fractions.keys() {
            must(pair(key, '/'), "table [lexicon.fractions]", || {
                format!("'{key}' is no fraction; write it as \"2/3\"")
            })?;
        }
        for key in keys_of(&self.lexicon, "spans") {
            must(pair(&key, '-'), "table [lexicon.spans]", || {
                format!("'{key}' is no span; write it as \"1-7\"")
            })?;
        }
        for key in keys_of(&self.lexicon, "numbers") {
            must(
                key.parse::<u32>().is_ok(),
                "table [lexicon.numbers]",
                || format!("'{key}' is no number; write it in digits"),
            )?;
        }
        let blank = codes(&self.lexicon)
            .iter()
            .any(|code| code.trim().is_empty());
        must(!blank, "table [[lexicon.language]], code", || {
            "it is missing; give the language's ISO code, such as \"en\"".to_owned()
        })
    }

    fn check_agent(&self, agent: &Agent) -> Checked {
        let place = |key: &str| format!("agent '{}', {key}", agent.name);
        for (key, value) in [("clear", agent.clear), ("vague", agent.vague)] {
            must((0.0..=1.0).contains(&value), &place(key), || {
                format!("{value} is no share; give a number from 0 (never) to 1 (always)")
            })?;
        }
        let known: BTreeSet<String> = [codes(&built_in()), codes(&self.lexicon)]
            .concat()
            .into_iter()
            .collect();
        must(!agent.languages.is_empty(), &place("languages"), || {
            "there is none; leave the key out for [\"en\"]".to_owned()
        })?;
        for code in &agent.languages {
            must(known.contains(code), &place("languages"), || {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                format!(
                    "nothing is known of the language '{code}'; there are {}, and [[lexicon.language]] adds one",
                    known.join(", ")
                )
            })?;
        }
        agent
            .tools
            .iter()
            .try_for_each(|name| there(self.tool(name).is_some(), &place("tools"), "tool", name))
    }

    fn check_fact(&self, fact: &Fact) -> Checked {
        let place = |key: &str| format!("fact '{}', {key}", fact.id);
        spoken(&place("also"), &fact.also)?;
        for (key, text) in [
            ("about", &fact.about),
            ("value", &fact.value),
            ("guess", &fact.guess),
        ] {
            must(!text.trim().is_empty(), &place(key), || {
                "it is empty; fill it in".to_owned()
            })?;
        }
        self.check_facts(&place("needs"), &fact.needs)?;
        let (mut before, mut open) = (BTreeSet::new(), fact.needs.clone());
        while let Some(id) = open.pop() {
            must(id != fact.id, &place("needs"), || {
                "it needs itself in the end; break the circle".to_owned()
            })?;
            if before.insert(id.clone()) {
                open.extend(self.fact(&id).iter().flat_map(|f| f.needs.clone()));
            }
        }
        fact.asks
            .iter()
            .try_for_each(|ask| self.check_addressee(&place("asks"), ask))
    }

    fn check_page(&self, page: &Page) -> Checked {
        let place = format!("page '{}'", page.address);
        spoken(&format!("{place}, also"), &page.also)?;
        self.check_statements(&place, &page.states, page.length())?;
        page.link.iter().try_for_each(|link| {
            let place = format!("{place}, link '{}'", link.name);
            spoken(&format!("{place}, also"), &link.also)?;
            check_screen(&place, link.screen, page.length())?;
            there(self.page(&link.to).is_some(), &place, "page", &link.to)
        })
    }

    fn check_tool(&self, tool: &Tool) -> Checked {
        let place = |key: &str| format!("tool '{}', {key}", tool.name);
        self.check_statements(&format!("tool '{}'", tool.name), &tool.states, 1)?;
        self.check_facts(&place("needs"), &tool.needs)?;
        spoken(&place("also"), &tool.also)?;
        spoken(&place("verbs"), &tool.verbs)?;
        must(!tool.verbs.is_empty(), &place("verbs"), || {
            "there is none; give the verbs that ask for it".to_owned()
        })?;
        let used = self
            .agent
            .iter()
            .any(|agent| agent.tools.contains(&tool.name));
        must(used, &place("name"), || {
            "no agent may call it; add it to the tools of one".to_owned()
        })?;
        for (key, id) in [("approval", &tool.approval), ("grants", &tool.grants)] {
            if let Some(id) = id {
                let known = self.approval.iter().any(|a| a.id == *id);
                there(known, &place(key), "approval", id)?;
            }
        }
        must(
            tool.approval.is_some() != tool.queued.is_empty(),
            &place("queued"),
            || {
                "approval and queued go together: the approval, and the answer while it is pending"
                    .to_owned()
            },
        )?;
        for (key, argument) in [
            ("operation_key", &tool.operation_key),
            ("named", &tool.named),
        ] {
            if let Some(argument) = argument {
                there(
                    tool.args.contains_key(argument),
                    &place(key),
                    "argument",
                    argument,
                )?;
            }
        }
        let own: Vec<&str> = tool.args.keys().map(String::as_str).collect();
        for (argument, template) in &tool.args {
            self.check_template(&place(&format!("args.{argument}")), template, &[])?;
        }
        for (file, template) in &tool.writes {
            self.check_template(&place(&format!("writes '{file}'")), template, &own)?;
        }
        self.check_template(&place("result"), &tool.result, &own)?;
        self.check_template(&place("queued"), &tool.queued, &own)
    }

    fn check_orchestrator(&self, orchestrator: &Orchestrator) -> Checked {
        let place = "table [orchestrator]";
        must(
            !orchestrator.plan.is_empty(),
            &format!("{place}, plan"),
            || "there is none; give at least one text".to_owned(),
        )?;
        must(
            orchestrator.stall_limit > 0,
            &format!("{place}, stall_limit"),
            || "0 would stall at once; give at least 1".to_owned(),
        )?;
        for (at, plan) in orchestrator.plan.iter().enumerate() {
            let place = format!("{place}, plan {}", at + 1);
            must(!plan.trim().is_empty(), &place, || {
                "it is empty; write a line for each thing to do".to_owned()
            })?;
            plan.lines()
                .try_for_each(|line| self.check_addressee(&place, line))?;
        }
        Ok(())
    }

    fn check_dialogue(&self, dialogue: &Dialogue) -> Checked {
        let place = |key: &str| format!("table [dialogue], {key}");
        for (key, name) in [
            ("solver", &dialogue.solver),
            ("calculator", &dialogue.calculator),
        ] {
            there(self.agent(name).is_some(), &place(key), "agent", name)?;
        }
        let two = !dialogue.solver.eq_ignore_ascii_case(&dialogue.calculator);
        must(two, &place("calculator"), || {
            "it is the solver; a dialogue takes two agents".to_owned()
        })?;
        must(!dialogue.line.is_empty(), &place("line"), || {
            "there is none; add a [[dialogue.line]] for each thing to work out".to_owned()
        })?;
        for line in &dialogue.line {
            let place = |key: &str| format!("dialogue.line for '{}', {key}", line.seeks);
            there(
                self.fact(&line.seeks).is_some(),
                &place("seeks"),
                "fact",
                &line.seeks,
            )?;
            self.check_template(&place("say"), &line.say, &["expression"])?;
            self.check_template(&place("habit"), &line.habit, &[])?;
            must(line.say.contains("{expression}"), &place("say"), || {
                "{expression} is missing; put it where the arithmetic goes".to_owned()
            })?;
            let expression = self.filled(&line.habit);
            must(evaluate(&expression).is_some(), &place("habit"), || {
                format!(
                    "'{expression}' cannot be worked out; use numbers, {{fact}}, + - * / and brackets"
                )
            })?;
        }
        Ok(())
    }

    fn check_milestones(&self) -> Checked {
        let count = self.milestone.len();
        must(count <= MAX_MILESTONES, "table [[milestone]]", || {
            format!("{count} are too many; keep the {MAX_MILESTONES} that matter")
        })?;
        self.milestone.iter().try_for_each(|milestone| {
            let place = format!("milestone '{}', check", milestone.title);
            match &milestone.check {
                Check::Fact(id) => there(self.fact(id).is_some(), &place, "fact", id),
                Check::Page(address) => {
                    there(self.page(address).is_some(), &place, "page", address)
                }
                Check::Tool(name) => there(self.tool(name).is_some(), &place, "tool", name),
                Check::Text(text) => must(!text.trim().is_empty(), &place, || {
                    "the text is empty and stands in every step; give one".to_owned()
                }),
                Check::Manual => Ok(()),
            }
        })
    }

    /// Who knows everything must be judged right.
    fn check_answer(&self) -> Checked {
        self.check_template("key answer", &self.answer, &[])?;
        must(!placeholders(&self.answer).is_empty(), "key answer", || {
            "it names no fact, so every run would answer the same; put a {fact} in".to_owned()
        })?;
        let blank = matches!(&self.verifier, Verifier::Contains(text) if text.trim().is_empty());
        must(!blank, "key verifier", || {
            "the text is empty and stands in every answer; give one".to_owned()
        })?;
        let command = matches!(self.verifier, Verifier::Command(_));
        must(!command, "key verifier", || {
            "a world runs no command; put it into the profile file beside the world".to_owned()
        })?;
        if matches!(self.verifier, Verifier::File { .. }) {
            return Ok(());
        }
        let answer = self.filled(&self.answer);
        let judged = judge(Some(&self.verifier), Some(&self.expected), Some(&answer));
        must(judged == Judgement::Passed, "key verifier", || {
            format!(
                "with the true value of every fact the answer is '{answer}', which does not pass; correct answer, expected, verifier or the facts"
            )
        })
    }

    /// A template with the true value of every fact.
    fn filled(&self, template: &str) -> String {
        self.fact.iter().fold(template.to_owned(), |text, fact| {
            text.replace(&format!("{{{}}}", fact.id), &fact.value)
        })
    }
}

fn check_screen(place: &str, screen: usize, screens: usize) -> Checked {
    must(screen < screens, place, || {
        format!(
            "screen {screen} is not there; the last one is {}, counted from 0",
            screens - 1
        )
    })
}

/// The codes of the languages that a lexicon speaks of.
fn codes(lexicon: &LexiconData) -> Vec<String> {
    let read = serde_json::to_value(lexicon).unwrap_or_default();
    let languages = read.get("language").and_then(|list| list.as_array());
    let code = |language: &serde_json::Value| Some(language.get("code")?.as_str()?.to_owned());
    languages.into_iter().flatten().filter_map(code).collect()
}

fn keys_of(lexicon: &LexiconData, table: &str) -> Vec<String> {
    let read = serde_json::to_value(lexicon).unwrap_or_default();
    let table = read.get(table).cloned().unwrap_or_default();
    let table: BTreeMap<String, serde_json::Value> =
        serde_json::from_value(table).unwrap_or_default();
    table.into_keys().collect()
}
