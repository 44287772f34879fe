//! What can be seen of each step by its structure: whose part it is, how it stands to its instruction, whether it failed, repeats,
//! guesses. One pass over the trajectory; nothing here says what that means.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::analyst::{Case, is_human};
use crate::model::{Step, StepKind, trial_of, words};

use super::relation;

/// How much of a message is read for what it says about itself, in bytes; what follows is usually a page.
const HEAD: usize = 400;
/// A message longer than this holds a page, and what a page says is not said by the agent, in bytes.
const OWN: usize = 1200;
/// A message shorter than this says little, in bytes.
const SHORT: usize = 250;

/// Whose part a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A person's: the task, an answer to a question.
    Human,
    /// The orchestrator's plan.
    Plan,
    /// The orchestrator's ledger.
    Ledger,
    /// The orchestrator tells somebody what to do.
    Instruction,
    /// An agent at work: a message, a call.
    Worker,
    /// A program's output.
    Output,
    /// The final answer.
    Answer,
    /// Words of the machinery, and thoughts.
    Machinery,
}

/// One step as it looks.
#[derive(Clone, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a sign of its own, and any of them may hold together"
)]
pub struct Look {
    /// The step.
    pub index: usize,
    /// Whose part it is.
    pub part: Part,
    /// Its number among the steps of the same part, 1-based, over the whole session.
    pub nth: usize,
    /// The number of its trial; 0 before the first.
    pub trial: usize,
    /// The instruction that it follows, for a worker's step of a led session.
    pub told: Option<usize>,
    /// It reports a failure as a fact: a missing control, an exception, a tool that refused.
    pub failed: bool,
    /// It says in words that something did not work.
    pub regrets: bool,
    /// It states what nobody showed it, and says so: a guess, a memory.
    pub recalls: bool,
    /// It works with something made up or assumed.
    pub assumes: bool,
    /// The earlier step of the same agent that did the same.
    pub repeats: Option<usize>,
    /// The ledger after it: in a loop.
    pub looped: bool,
    /// The ledger after it: no progress.
    pub stuck: bool,
    /// The share of its instruction's words that it has.
    pub overlap: f64,
    /// It holds a program.
    pub code: bool,
    /// How the program that it holds went: the output after it succeeded or failed.
    pub ran: Option<bool>,
    /// It is the last of its part.
    pub last: bool,
    /// It says little.
    pub short: bool,
    /// It works with a number relation of the task in another way than the task states it.
    pub misread: bool,
    /// The step that was to bring about what this failure misses.
    pub owed_by: Option<usize>,
    /// A source that it names and nobody looked at afterwards.
    pub unheeded: Option<String>,
    /// An ability that it says it does not have.
    pub lacks: Option<String>,
}

static REGRETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:error|failed|failure|not found|404|unable|cannot|can't|could not|couldn't|no results?|did not|does not exist|there is no)\b").ok()
});
static RECALLS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:from what i (?:remember|recall)|as far as i (?:know|remember|recall)|from memory|if i remember|i (?:would )?guess|my (?:best )?guess|most likely one)\b").ok()
});
static ASSUMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:assum|suppose|let's say|hypothetical|example|placeholder|simulat|manual)")
        .ok()
});
static LACKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:i|we)(?:'m| am| are| do| can)?\s*(?:cannot|can't|not able to|unable to|don't have (?:the )?(?:ability|tools?|means|access) (?:to|for)|not (?:have )?(?:the )?ability to|no way to)\s+([^.;\n]{4,70})").ok()
});
static SEE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let named = r#"['"‘“][^'"’”\n]{3,60}['"’”]"#;
    let described = r"the\s+[a-z][\w-]*(?:\s+[a-z][\w-]*){0,2}?";
    let ends = r"\s+(?:before|first|for|when|if|and)\b|[.,;)\n]|$";
    Regex::new(&format!(
        r"(?i)\b(?:see|check|consult|refer to|look at)\s+(?:also\s+)?(?:({named})|({described})(?:{ends}))"
    ))
    .ok()
});
/// Marks around a name.
const QUOTES: [char; 6] = ['\'', '"', '‘', '’', '“', '”'];
static FAILED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?im)^\s*(?:exitcode: [1-9]|traceback \(most recent|error:|[\w.]*(?:error|exception):)",
    )
    .ok()
});

fn says(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|regex| regex.is_match(text))
}

fn found(pattern: &LazyLock<Option<Regex>>, text: &str) -> Option<String> {
    let captured = pattern.as_ref()?.captures(text)?;
    captured.get(1).map(|part| part.as_str().trim().to_owned())
}

/// The sources that a text points to, as they stand there: "see the build log before you publish", "see 'Names of stars'".
pub(super) fn pointed_to(text: &str) -> Vec<String> {
    let Some(pattern) = SEE.as_ref() else {
        return Vec::new();
    };
    let sources = pattern.captures_iter(text);
    sources
        .filter_map(|found| found.iter().skip(1).flatten().next())
        .map(|source| source.as_str().trim().to_owned())
        .collect()
}

/// The beginning of a text, cut at a character.
fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(HEAD)).unwrap_or(text)
}

/// The words of a text that carry meaning.
pub(super) fn content_words(text: &str) -> HashSet<String> {
    const EMPTY: [&str; 46] = [
        "the", "and", "that", "this", "with", "from", "what", "which", "have", "has", "had", "was",
        "were", "are", "for", "not", "but", "its", "his", "her", "their", "there", "then", "than",
        "them", "they", "you", "your", "please", "will", "would", "can", "could", "should", "one",
        "into", "about", "also", "any", "all", "how", "who", "now", "yet", "did", "does",
    ];
    words(text)
        .into_iter()
        .filter(|word| word.chars().count() > 2 && !EMPTY.contains(&word.as_str()))
        .map(stem)
        .collect()
}

/// A word without the ending of its number.
fn stem(word: String) -> String {
    let plural = word.len() > 4 && word.ends_with('s') && !word.ends_with("ss");
    if plural {
        word.get(..word.len() - 1)
            .map_or(word.clone(), str::to_owned)
    } else {
        word
    }
}

/// The steps of a case as they look. O(text).
#[must_use]
pub fn look(case: &Case) -> Vec<Look> {
    let orchestrator = case.session.orchestrator.as_deref();
    let mut counts: HashMap<Part, usize> = HashMap::new();
    let mut done: HashMap<(String, String), usize> = HashMap::new();
    let mut told: Option<(usize, HashSet<String>)> = None;
    let mut looks: Vec<Look> = Vec::with_capacity(case.steps.len());
    for step in case.steps.iter() {
        let part = part(step, orchestrator);
        let count = counts.entry(part).or_default();
        *count += 1;
        if part == Part::Instruction {
            told = Some((step.index, content_words(&step.text)));
        }
        let working = part == Part::Worker || part == Part::Output;
        let begins = head(&step.text);
        let failed = working
            && (step.meta.error
                || step.meta.tool.as_ref().is_some_and(|tool| tool.failed)
                || (part == Part::Output && says(&FAILED, begins)));
        let following = told.as_ref().filter(|_| part == Part::Worker);
        let overlap = following.map_or(0.0, |(_, wanted)| {
            let had = content_words(&step.text);
            share(wanted.intersection(&had).count(), wanted.len())
        });
        let repeats = (part == Part::Worker)
            .then(|| deed(step))
            .flatten()
            .and_then(|deed| done.insert((step.agent.clone(), deed), step.index));
        looks.push(Look {
            index: step.index,
            part,
            nth: *count,
            trial: trial_of(&case.trials, step.index)
                .filter(|trial| trial.start <= step.index)
                .map_or(0, |trial| trial.index),
            told: following.map(|(index, _)| *index),
            failed,
            regrets: working && says(&REGRETS, begins),
            recalls: working && says(&RECALLS, begins),
            assumes: working && says(&ASSUMES, &step.text),
            repeats,
            looped: false,
            stuck: false,
            overlap,
            code: part == Part::Worker && step.text.contains("```"),
            ran: None,
            last: false,
            short: step.text.len() < SHORT,
            misread: false,
            owed_by: None,
            unheeded: None,
            lacks: if part == Part::Worker {
                found(&LACKS, &step.text)
            } else {
                None
            },
        });
    }
    look_back(case, &mut looks);
    looks
}

fn share(part: usize, whole: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "counts of words")]
    let share = part as f64 / (whole as f64 + 1.0);
    share
}

fn part(step: &Step, orchestrator: Option<&str>) -> Part {
    let leads = orchestrator == Some(step.agent.as_str());
    match step.kind {
        StepKind::Task => Part::Human,
        StepKind::Plan => Part::Plan,
        StepKind::Ledger => Part::Ledger,
        StepKind::Instruction => Part::Instruction,
        StepKind::Control | StepKind::Thought => Part::Machinery,
        StepKind::Answer => Part::Answer,
        StepKind::ToolResult => Part::Output,
        StepKind::ToolCall | StepKind::Message if leads => Part::Machinery,
        StepKind::ToolCall | StepKind::Message => {
            if is_human(&step.agent) {
                Part::Human
            } else if head(&step.text).trim_start().starts_with("exitcode:")
                || step.agent.to_lowercase().ends_with("terminal") && orchestrator.is_none()
            {
                Part::Output
            } else {
                Part::Worker
            }
        }
    }
}

/// What a step does, so that doing it again can be told: a call with its arguments, or the first sentence of a message.
fn deed(step: &Step) -> Option<String> {
    if let Some(tool) = step
        .meta
        .tool
        .as_ref()
        .filter(|_| step.kind == StepKind::ToolCall)
    {
        return Some(format!(
            "{} {}",
            tool.name,
            tool.arguments.as_deref().unwrap_or(&step.text)
        ));
    }
    let first = step
        .text
        .split(['\n', '.'])
        .next()
        .unwrap_or_default()
        .trim();
    let said: Vec<String> = words(first);
    (said.len() >= 3).then(|| said.join(" "))
}

/// What shows only in the light of what came after, or long before.
fn look_back(case: &Case, looks: &mut [Look]) {
    let mut seen_last: HashSet<Part> = HashSet::new();
    let mut ledger = None;
    let mut output = None;
    for (look, step) in looks.iter_mut().zip(case.steps.iter()).rev() {
        look.last = seen_last.insert(look.part);
        match look.part {
            Part::Ledger => ledger = crate::model::ledger_gist(&step.text),
            Part::Output => output = Some(!look.failed),
            Part::Worker => {
                if let Some(gist) = ledger.take() {
                    look.looped = gist.contains("in a loop");
                    look.stuck = gist.contains("no progress");
                }
                look.ran = output.take().filter(|_| look.code);
            }
            Part::Plan | Part::Instruction => ledger = None,
            _ => {}
        }
    }
    let misread = relation::misread(&case.session.task, &case.steps);
    for (step, _) in misread {
        if let Some(look) = looks.get_mut(step) {
            look.misread = true;
        }
    }
    owed(case, looks);
    unheeded(case, looks);
}

/// A failure that names something which an earlier instruction of the trial was about points at who followed that one.
fn owed(case: &Case, looks: &mut [Look]) {
    let failures: Vec<usize> = looks
        .iter()
        .filter(|look| look.failed)
        .map(|look| look.index)
        .collect();
    for at in failures {
        let (Some(step), Some(look)) = (case.steps.get(at), looks.get(at)) else {
            continue;
        };
        let misses = content_words(&step.text);
        let own = look.told.or_else(|| {
            looks
                .iter()
                .take(at)
                .rev()
                .find(|it| it.part == Part::Instruction)
                .map(|it| it.index)
        });
        let trial = look.trial;
        let earlier = looks.iter().take(at).filter(|it| {
            it.trial == trial && it.part == Part::Instruction && Some(it.index) != own
        });
        let fits = earlier.filter_map(|it| {
            let text = &case.steps.get(it.index)?.text;
            let same_as_own = own
                .and_then(|own| case.steps.get(own))
                .is_some_and(|own| own.text == *text);
            let common = content_words(text).intersection(&misses).count();
            (common >= 2 && !same_as_own).then_some((common, it.index))
        });
        let Some((_, instruction)) = fits.max() else {
            continue;
        };
        let follower = looks
            .iter()
            .skip(instruction + 1)
            .take_while(|it| it.part != Part::Instruction)
            .filter(|it| matches!(it.part, Part::Worker | Part::Output))
            .map(|it| it.index)
            .last();
        if let (Some(follower), Some(look)) = (follower, looks.get_mut(at)) {
            look.owed_by = Some(follower);
        }
    }
}

/// A worker's step names a source to look at ("see the build log before you publish"), and nobody speaks of it afterwards.
fn unheeded(case: &Case, looks: &mut [Look]) {
    let mut asked = content_words(&case.session.task);
    for step in case
        .steps
        .iter()
        .filter(|step| step.kind == StepKind::Instruction)
    {
        asked.extend(content_words(&step.text));
    }
    for at in 0..looks.len() {
        let (Some(step), Some(look)) = (case.steps.get(at), looks.get(at)) else {
            continue;
        };
        if !matches!(look.part, Part::Worker | Part::Output) {
            continue;
        }
        let Some(source) = pointed_to(&step.text).into_iter().next() else {
            continue;
        };
        let name = source.trim_start_matches("the ").to_lowercase();
        let name = name.trim_matches(QUOTES);
        let about = content_words(name);
        if step.text.len() > OWN || about.is_disjoint(&asked) {
            continue;
        }
        let heeded = case.steps.iter().skip(at + 1).any(|later| {
            later.kind != StepKind::Ledger
                && later.text != step.text
                && later.text.to_lowercase().contains(name)
        });
        if let Some(look) = looks.get_mut(at).filter(|_| !heeded) {
            look.unheeded = Some(source);
        }
    }
}
