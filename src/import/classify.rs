//! Kinds from structure: who orchestrates, where plans are stated, what is an instruction, a ledger, the final answer.
//!
//! Nothing here knows a product's phrases: a plan restates the task or lists what the others shall do, a ledger is a JSON object,
//! an instruction goes to the agent that speaks next. What a step was is kept as a sketch of a few words, so that memory
//! does not grow with the length of the contents.

use std::collections::BTreeSet;

use super::lists::lists;
use super::message::Hint;
use crate::model::{Step, StepKind};

/// The first line of a word of the machinery is short.
const SHORT: usize = 80;
/// Words kept of a text: enough to see who is named at its beginning and end.
const WORDS: usize = 64;
/// Words kept of a text with a list.
const LIST_WORDS: usize = 1024;

/// The mark that benchmarks put before a final answer.
pub(super) const ANSWER_MARK: &str = "FINAL ANSWER:";

/// What is remembered of a step.
#[allow(clippy::struct_excessive_bools)] // Features of a text, independent of each other.
struct Sketch {
    agent: usize,
    to: Option<usize>,
    hint: Hint,
    kind: StepKind,
    /// Items of lists that do not compute.
    items: usize,
    announced: bool,
    restates: bool,
    ledger: bool,
    short: bool,
    answer: bool,
    words: Box<[u32]>,
    /// Words of the first line and of the items, if there is a list.
    opening: Box<[u32]>,
    listed: Box<[u32]>,
}

/// What the structure says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Structure {
    /// The agent that makes plans and instructions.
    pub orchestrator: Option<String>,
    /// Steps whose kind or recipient is other than it was at first sight.
    pub changes: Vec<(usize, StepKind, Option<String>)>,
}

/// Watches the steps go by and judges at the end.
#[derive(Default)]
pub(super) struct Classifier {
    agents: Vec<String>,
    task: Option<Task>,
    sketches: Vec<Sketch>,
}

struct Task {
    letters: String,
    words: BTreeSet<u32>,
}

/// Whether a name is a person's, as frameworks call the one who asks.
pub(super) fn is_human(agent: &str) -> bool {
    matches!(
        agent.to_lowercase().as_str(),
        "user" | "human" | "user_proxy" | "userproxy" | "human_user" | "customer" | "admin"
    )
}

/// Whether a name is a machine's that runs code or tools and cannot be told to think.
pub(super) fn is_machine(agent: &str) -> bool {
    let name = agent.to_lowercase();
    name == "tool"
        || name == "system"
        || name == "developer"
        || name.ends_with("terminal")
        || name.contains("executor")
}

/// Whether a name says that its bearer leads others.
fn is_leader(agent: &str) -> bool {
    let name = agent.to_lowercase();
    [
        "orchestrat",
        "planner",
        "coordinat",
        "manager",
        "supervisor",
        "conductor",
        "leader",
        "director",
        "boss",
    ]
    .iter()
    .any(|word| name.contains(word))
}

impl Classifier {
    /// Looks at the next step and says what it seems to be at first sight.
    pub(super) fn observe(&mut self, step: &Step, hint: Hint) -> StepKind {
        let agent = self.agent(&step.agent);
        let to = step.to.as_deref().map(|to| self.agent(to));
        let mut listed = Vec::new();
        let seen = lists(&step.text, &mut |item| {
            if listed.len() < LIST_WORDS {
                listed.extend(split(item).map(hash));
            }
        });
        let items = if seen.computed * 2 >= seen.items {
            0
        } else {
            seen.items
        };
        let first = self.task.is_none() && hint == Hint::Open;
        let kind = if first { StepKind::Task } else { step.kind };
        let open = hint == Hint::Open || hint == Hint::Aside;
        let words = words_of(&step.text, if items >= 2 { LIST_WORDS } else { WORDS });
        let sketch = Sketch {
            agent,
            to,
            hint: if first { Hint::Fixed } else { hint },
            kind,
            items,
            announced: seen.announced,
            restates: open
                && !first
                && self
                    .task
                    .as_ref()
                    .is_some_and(|task| task.stands_in(&step.text, items)),
            ledger: open && is_ledger(&step.text),
            short: step
                .text
                .trim()
                .lines()
                .next()
                .is_none_or(|line| line.chars().count() <= SHORT),
            answer: step.text.contains(ANSWER_MARK),
            words,
            opening: if items >= 2 {
                words_of(step.text.trim().lines().next().unwrap_or_default(), WORDS)
            } else {
                Box::default()
            },
            listed: if items >= 2 {
                sorted(listed)
            } else {
                Box::default()
            },
        };
        if first {
            self.task = Some(Task::new(&step.text));
        }
        self.sketches.push(sketch);
        kind
    }

    fn agent(&mut self, name: &str) -> usize {
        self.agents
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| {
                self.agents.push(name.to_owned());
                self.agents.len() - 1
            })
    }

    /// The verdict over the whole log.
    pub(super) fn finish(self) -> Structure {
        let Some(leader) = self.orchestrator() else {
            return Structure {
                orchestrator: None,
                changes: self
                    .answer(None)
                    .into_iter()
                    .map(|(i, kind)| (i, kind, None))
                    .collect(),
            };
        };
        let restating = self
            .by(leader)
            .any(|(_, s)| s.hint == Hint::Open && s.restates && s.items > 0);
        let mut kinds: Vec<(StepKind, Option<usize>)> =
            self.sketches.iter().map(|s| (s.kind, s.to)).collect();
        for (i, sketch) in self.by(leader) {
            let plan = match sketch.hint {
                _ if sketch.ledger || sketch.answer && !sketch.restates => false,
                Hint::Aside => sketch.restates || sketch.items >= 2,
                Hint::Open if restating => sketch.restates,
                Hint::Open => sketch.items >= 2 && self.plan_points(leader, i, sketch) >= 2,
                _ => false,
            };
            let Some(slot) = kinds.get_mut(i) else {
                continue;
            };
            if sketch.ledger {
                slot.0 = StepKind::Ledger;
            } else if plan {
                slot.0 = StepKind::Plan;
            } else if sketch.hint == Hint::Open
                && !sketch.answer
                && let Some(next) = self
                    .next_speaker(i)
                    .filter(|&next| next != leader && self.can_work(next))
            {
                *slot = (StepKind::Instruction, Some(next));
            }
        }
        // Short asides that name an agent or stand before a plan or an end are the machinery's own words.
        for (i, sketch) in self
            .by(leader)
            .filter(|(_, s)| s.hint == Hint::Aside && s.short)
        {
            let next = kinds.get(i + 1).map(|slot| slot.0);
            let ends = matches!(
                next,
                None | Some(StepKind::Plan | StepKind::Control | StepKind::Answer)
            );
            if kinds.get(i).is_some_and(|slot| slot.0 == StepKind::Thought)
                && (ends || self.mentioned(leader, &sketch.words).next().is_some())
                && let Some(slot) = kinds.get_mut(i)
            {
                slot.0 = StepKind::Control;
            }
        }
        if let Some((i, kind)) = self.answer(Some(leader))
            && let Some(slot) = kinds.get_mut(i)
        {
            *slot = (kind, None);
        }
        let changes = kinds
            .into_iter()
            .zip(&self.sketches)
            .enumerate()
            .filter(|(_, ((kind, to), was))| *kind != was.kind || *to != was.to)
            .map(|(i, ((kind, to), _))| (i, kind, to.and_then(|to| self.agents.get(to).cloned())))
            .collect();
        Structure {
            orchestrator: self.agents.get(leader).cloned(),
            changes,
        }
    }

    fn by(&self, agent: usize) -> impl Iterator<Item = (usize, &Sketch)> {
        self.sketches
            .iter()
            .enumerate()
            .filter(move |(_, s)| s.agent == agent)
    }

    fn can_work(&self, agent: usize) -> bool {
        self.agents
            .get(agent)
            .is_some_and(|name| !is_human(name) && !is_machine(name))
    }

    /// The agent whose recipients are marked, else the one with the best reasons to be called orchestrator, at least two of them.
    fn orchestrator(&self) -> Option<usize> {
        let candidates = (0..self.agents.len()).filter(|&a| self.can_work(a));
        let addressing = |a: usize| {
            self.by(a)
                .filter(|(_, s)| s.hint == Hint::Addressed)
                .count()
        };
        let marked = candidates
            .clone()
            .max_by_key(|&a| (addressing(a), usize::MAX - a));
        if let Some(marked) = marked.filter(|&a| addressing(a) > 0) {
            return Some(marked);
        }
        candidates
            .filter(|&a| {
                self.sketches
                    .iter()
                    .any(|s| s.agent != a && self.can_work(s.agent))
            })
            .map(|a| {
                let work = self.first_work(a);
                let best = self
                    .by(a)
                    .filter(|(_, s)| {
                        s.hint == Hint::Open
                            && !s.answer
                            && (s.items >= 2 || s.restates && s.items > 0)
                    })
                    .filter(|(i, s)| s.restates || self.leads(a) || *i < work)
                    .map(|(i, s)| self.plan_points(a, i, s))
                    .max();
                (best.unwrap_or(0), usize::MAX - a, a)
            })
            .max()
            .filter(|(points, _, _)| *points >= 2)
            .map(|(_, _, a)| a)
    }

    /// Reasons to read an agent's list as a plan for others; two are enough.
    fn plan_points(&self, agent: usize, i: usize, sketch: &Sketch) -> usize {
        let next = self.next_speaker(i).filter(|&next| next != agent);
        let names_next =
            |words: &[u32]| next.is_some_and(|next| self.named(agent, words).any(|a| a == next));
        let shared_out = self.named(agent, &sketch.listed).count();
        // A list under the name of one agent is an instruction to it.
        if !sketch.restates && !sketch.announced && shared_out == 0 && names_next(&sketch.opening) {
            return 0;
        }
        2 * usize::from(sketch.restates)
            + shared_out.min(2)
            + usize::from(names_next(&sketch.words))
            + usize::from(sketch.announced)
            + usize::from(self.leads(agent))
    }

    fn leads(&self, agent: usize) -> bool {
        self.agents.get(agent).is_some_and(|name| is_leader(name))
    }

    /// The first step at which another agent works: plans come before it, a review of others' work is none.
    fn first_work(&self, agent: usize) -> usize {
        let works =
            |s: &Sketch| s.agent != agent && s.kind != StepKind::Task && self.can_work(s.agent);
        self.sketches.iter().position(works).unwrap_or(usize::MAX)
    }

    /// The agents, other than the speaker, whose names are among the words.
    fn mentioned(&self, speaker: usize, words: &[u32]) -> impl Iterator<Item = usize> {
        let agents = self
            .agents
            .iter()
            .enumerate()
            .filter(move |(a, _)| *a != speaker);
        agents.filter_map(move |(a, name)| {
            let mut parts = split(name).peekable();
            let said = parts.peek().is_some()
                && parts.all(|part| words.binary_search(&hash(part)).is_ok());
            said.then_some(a)
        })
    }

    /// Those of them that can be told to work.
    fn named(&self, speaker: usize, words: &[u32]) -> impl Iterator<Item = usize> {
        self.mentioned(speaker, words).filter(|&a| self.can_work(a))
    }

    fn next_speaker(&self, i: usize) -> Option<usize> {
        self.sketches
            .get(i + 1..)?
            .iter()
            .find(|s| s.kind != StepKind::Control && s.hint != Hint::Aside)
            .map(|s| s.agent)
    }

    /// The step that states the final answer: the last one that says so, else the orchestrator's last word.
    fn answer(&self, leader: Option<usize>) -> Option<(usize, StepKind)> {
        let speaks = |s: &Sketch| {
            leader.map_or_else(|| self.can_work(s.agent), |leader| s.agent == leader)
                && !matches!(
                    s.kind,
                    StepKind::ToolCall | StepKind::ToolResult | StepKind::Task
                )
        };
        let said = self
            .sketches
            .iter()
            .rposition(|s| s.answer && speaks(s) && !s.restates && !s.ledger);
        let last = self
            .sketches
            .iter()
            .rposition(|s| s.kind != StepKind::Control);
        said.or_else(|| {
            last.filter(|&i| {
                self.sketches.get(i).is_some_and(|s| {
                    leader == Some(s.agent) && s.hint == Hint::Open && !s.restates && !s.ledger
                })
            })
        })
        .map(|i| (i, StepKind::Answer))
    }
}

impl Task {
    fn new(text: &str) -> Self {
        let letters: String = letters(text).take(4000).collect();
        Self {
            letters,
            words: words_of(text, 400).iter().copied().collect(),
        }
    }

    /// Whether a text states the task again, whole or nearly so.
    fn stands_in(&self, text: &str, items: usize) -> bool {
        if self.letters.chars().count() < 8 {
            return false;
        }
        if text.len() >= self.letters.len()
            && letters(text).collect::<String>().contains(&self.letters)
        {
            return true;
        }
        items >= 2 && self.words.len() >= 8 && {
            let there = words_of(text, usize::MAX);
            let kept = self
                .words
                .iter()
                .filter(|word| there.binary_search(word).is_ok())
                .count();
            kept * 10 >= self.words.len() * 9
        }
    }
}

fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn split(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !is_word(c))
        .filter(|word| !word.is_empty())
}

/// Hashes of a text's words, sorted; of a long text the first and the last ones.
fn words_of(text: &str, limit: usize) -> Box<[u32]> {
    let mut split = split(text);
    let mut hashes: Vec<u32> = split.by_ref().take(limit).map(hash).collect();
    hashes.extend(split.rev().take(limit / 2).map(hash));
    sorted(hashes)
}

fn sorted(mut hashes: Vec<u32>) -> Box<[u32]> {
    hashes.sort_unstable();
    hashes.dedup();
    hashes.into_boxed_slice()
}

/// FNV-1a over the lower-case word.
fn hash(word: &str) -> u32 {
    word.chars()
        .flat_map(char::to_lowercase)
        .fold(0x811c_9dc5, |hash, c| {
            (hash ^ u32::from(c)).wrapping_mul(0x0100_0193)
        })
}

/// Whether a text is a JSON object of judgements, under a heading of one line at most. Console noise inside it does not matter.
fn is_ledger(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let opens = lines
        .by_ref()
        .take(3)
        .any(|line| line.starts_with('{') || line == "```json");
    opens && {
        let body = text
            .find('{')
            .and_then(|at| text.get(at..))
            .unwrap_or_default();
        let keys = body
            .split('"')
            .skip(2)
            .step_by(2)
            .filter(|gap| gap.trim_start().starts_with(':'))
            .count();
        keys >= 2
    }
}
