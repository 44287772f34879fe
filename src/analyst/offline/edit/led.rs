//! Edits where an orchestrator leads: the instruction that the suspected agent got, or the plan it came from, with what the log shows
//! put into it: which page, which control, which source first, what not to do again.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::seen::{
    Period, controls, dated_addresses, kinship, missing_control, offered, period, quoted,
};
use super::{Desk, continued};
use crate::analyst::offline::look::{Part, content_words, pointed_to};
use crate::model::{Aim, Proposal, Step, StepKind};

/// Words of the log that an edit quotes, in characters.
const QUOTED: usize = 100;
/// The most things that an edit tells not to do again.
const VAIN: usize = 2;
/// So many words from the beginning of an order its object begins.
const VERB: usize = 4;

pub(super) fn drafts(desk: &Desk<'_>) -> Vec<Proposal> {
    let told = desk.target(Aim::Instruction);
    let plan = desk.target(Aim::Plan);
    let mut drafts = Vec::new();
    let mut put = |place: Option<(crate::model::Target, &Step)>, text: Option<String>| {
        if let (Some((target, _)), Some(text)) = (place, text) {
            drafts.push(Proposal { target, text });
        }
    };
    let recalls = desk.look().is_some_and(|look| look.recalls);
    if recalls {
        put(plan, plan.and_then(|(_, plan)| looked_up(desk, plan)));
    }
    if let Some((_, instruction)) = told {
        for text in source_first(desk, instruction) {
            put(told, Some(text));
        }
        put(told, through_another_control(desk, instruction));
        put(told, by_address(desk, instruction));
        put(told, by_unused_control(desk, instruction));
    }
    put(plan, plan.and_then(|(_, plan)| dated_plan(desk, plan)));
    if let Some((_, instruction)) = told {
        put(told, Some(made_clear(desk, instruction)));
    }
    put(plan, plan.and_then(|(_, plan)| replanned(desk, plan)));
    drafts
}

/// What is to be found out, from the end of an instruction: "identify the city on the horizon".
fn aim_of(instruction: &str) -> Option<&str> {
    const VERBS: [&str; 14] = [
        "identify",
        "read",
        "note",
        "find",
        "tell",
        "report",
        "determine",
        "list",
        "extract",
        "give",
        "say",
        "see",
        "record",
        "write",
    ];
    let line = instruction
        .lines()
        .next()
        .unwrap_or_default()
        .trim()
        .trim_end_matches('.');
    let at = line.rmatch_indices(" and ").find(|(at, _)| {
        let rest = line.get(at + 5..).unwrap_or_default().to_lowercase();
        VERBS.iter().any(|verb| rest.starts_with(verb))
    });
    line.get(at?.0 + 5..)
}

/// What the task is about, in a noun: "one of the night pictures" are pictures.
fn entries(task: &str) -> &str {
    let after = task.split("one of the ").nth(1).unwrap_or_default();
    let words = after.split_whitespace().take(4);
    words
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .find(|word| word.len() > 3 && word.ends_with('s'))
        .map_or("entry", |noun| noun.trim_end_matches('s'))
}

fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// A source that somebody was pointed to and nobody looked at comes first; what an earlier try pointed to before all.
fn source_first(desk: &Desk<'_>, instruction: &Step) -> Vec<String> {
    let wanted = content_words(&instruction.text);
    let task = content_words(&desk.case.session.task);
    let fits = |source: &String| {
        let about = content_words(source);
        (
            about.intersection(&wanted).count(),
            about.intersection(&task).count(),
        )
    };
    let text = instruction.text.trim();
    let mut sources: Vec<String> = desk
        .looks
        .iter()
        .filter_map(|look| look.unheeded.clone())
        .collect();
    sources.sort_by_key(|source| std::cmp::Reverse(fits(source)));
    let learnt = desk
        .tried
        .iter()
        .rev()
        .flat_map(|one| pointed_to(&one.learnt));
    let sources = learnt.chain(sources).filter(|source| {
        fits(source) != (0, 0) && !text.to_lowercase().contains(&source.to_lowercase())
    });
    sources
        .map(|source| {
            let what = object(text, &source).unwrap_or_else(|| "what it says".to_owned());
            format!(
                "First open {source} and note {what}. Then {}",
                continued(text)
            )
        })
        .collect()
}

/// The thing of an instruction that a source is about: "the build number" for "the build log".
fn object(instruction: &str, source: &str) -> Option<String> {
    let about = content_words(source);
    let words: Vec<&str> = instruction.split_whitespace().collect();
    let articles = |word: &str| ["the", "a", "an"].contains(&word.to_lowercase().as_str());
    let (at, _) = words.iter().enumerate().find(|(_, word)| {
        let word = content_words(word);
        !word.is_disjoint(&about)
    })?;
    let from = (0..at)
        .rev()
        .take(3)
        .find(|before| words.get(*before).is_some_and(|word| articles(word)))?;
    // The thing ends with its clause: "the build number." is one, "the crew saw it" is not.
    let ends = |at: usize| {
        words
            .get(at)
            .is_some_and(|word| word.ends_with(['.', ',', ';']))
            || at + 1 == words.len()
    };
    let to = [at, at + 1].into_iter().find(|to| ends(*to))?;
    let phrase = words.get(from..=to)?.join(" ");
    Some(phrase.trim_end_matches(['.', ',', ';', ':']).to_owned())
}

/// A control is missing: the way to it leads through another that is there.
fn through_another_control(desk: &Desk<'_>, instruction: &Step) -> Option<String> {
    let failed = desk
        .trial()
        .iter()
        .filter(|step| step.index >= instruction.index);
    let (missing, shown) = failed
        .into_iter()
        .find_map(|step| missing_control(&step.text))?;
    let page: String = desk.trial().iter().map(|step| step.text.as_str()).collect();
    let used: HashSet<String> = quoted(&instruction.text).into_iter().collect();
    let open = shown
        .into_iter()
        .filter(|control| !used.contains(control) && *control != missing);
    let way = open
        .max_by_key(|control| kinship(&missing, control, &page))
        .filter(|control| kinship(&missing, control, &page) > 0)?;
    let line = instruction.text.trim();
    let named = ['\'', '"']
        .into_iter()
        .map(|mark| format!("{mark}{missing}{mark}"))
        .find(|name| line.contains(name));
    let text = match &named {
        Some(name) => line.replacen(name.as_str(), &format!("'{way}', then {name}"), 1),
        None => format!("Click '{way}', then '{missing}'. Then {}", continued(line)),
    };
    Some(with_entries(desk, &text))
}

/// Beyond a list there are its entries: each of those that the task is about is opened.
fn with_entries(desk: &Desk<'_>, instruction: &str) -> String {
    let (Some(days), Some(aim)) = (period(&desk.case.session.task), aim_of(instruction)) else {
        return instruction.to_owned();
    };
    let visit = format!(
        "then open each {} of {}, one by one, and {aim}",
        entries(&desk.case.session.task),
        days.words()
    );
    let end = format!("and {aim}");
    if instruction.contains("one by one") || !instruction.contains(&end) {
        return instruction.to_owned();
    }
    instruction.replacen(&end, &visit, 1)
}

/// Pages have dated addresses and the task names days: they are opened by address, without looking for a way.
fn by_address(desk: &Desk<'_>, instruction: &Step) -> Option<String> {
    let days = period(&desk.case.session.task)?;
    let addresses = dated_addresses(&desk.case.steps, days);
    // Only where those days are what was looked for.
    let wanted = content_words(&instruction.text);
    let about = content_words(&days.words());
    let stuck = desk
        .trial()
        .iter()
        .any(|step| step.index >= instruction.index && step.kind == StepKind::Message);
    if addresses.is_empty() || wanted.is_disjoint(&about) || !stuck {
        return None;
    }
    let aim = aim_of(&instruction.text).unwrap_or("note what each of them shows");
    let vain = if scrolled(desk) {
        "Do not scroll. "
    } else {
        ""
    };
    Some(format!(
        "{vain}Open {} one by one and {aim}.",
        listed(&addresses)
    ))
}

/// The trial went down a page screen by screen.
fn scrolled(desk: &Desk<'_>) -> bool {
    let scrolls = desk
        .trial()
        .iter()
        .filter(|step| step.text.starts_with("I scrolled"));
    scrolls.count() > 1
}

/// The page showed a control that nobody used, and going on as before brought nothing.
fn by_unused_control(desk: &Desk<'_>, instruction: &Step) -> Option<String> {
    if !scrolled(desk) {
        return None;
    }
    let before = desk.case.within(0..desk.hypothesis.step + 1).iter().rev();
    let shown = before
        .map(|step| controls(&step.text))
        .find(|controls| !controls.is_empty())?;
    let said: String = desk.trial().iter().map(|step| step.text.as_str()).collect();
    let task = content_words(&desk.case.session.task);
    let unused = shown.into_iter().filter(|control| {
        !said.contains(&format!("pressed '{control}'")) && !control.eq_ignore_ascii_case("home")
    });
    let control = unused.max_by_key(|control| {
        (
            kinship("", control, &said),
            content_words(control).intersection(&task).count(),
        )
    })?;
    Some(format!(
        "Do not scroll. Click '{control}' and go from there. {}",
        instruction.text.trim()
    ))
}

/// The lines of a plan: number, agent, what is to be done.
fn plan_lines(plan: &str) -> Vec<&str> {
    plan.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect()
}

/// Whether a line of a plan is an agent's.
fn is_of(line: &str, agent: &str) -> bool {
    let bare = line.trim_start_matches(|c: char| c.is_ascii_digit() || ".)-*• ".contains(c));
    bare.to_lowercase().starts_with(&agent.to_lowercase())
}

/// Who looks things up here: the agent with most work that shows pages.
fn finder<'a>(desk: &'a Desk<'_>) -> Option<&'a str> {
    let shows = |step: &&Step| {
        step.kind == StepKind::Message && (step.text.contains("](") || !step.meta.pages.is_empty())
    };
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for step in desk.case.steps.iter().filter(shows) {
        match counts.iter_mut().find(|(agent, _)| *agent == step.agent) {
            Some((_, count)) => *count += 1,
            None => counts.push((&step.agent, 1)),
        }
    }
    let most = counts
        .into_iter()
        .filter(|(agent, _)| *agent != desk.hypothesis.agent)
        .max_by_key(|(_, count)| *count);
    most.map(|(agent, _)| agent)
}

/// What somebody guessed is looked up, by somebody who can: in the plan's line for the guess, or as the ledger's next word.
fn looked_up(desk: &Desk<'_>, plan: &Step) -> Option<String> {
    let finder = finder(desk)?;
    let told = desk.look()?.told.and_then(|told| desk.case.steps.get(told));
    let lines = plan_lines(&plan.text);
    let at = lines
        .iter()
        .position(|line| is_of(line, &desk.hypothesis.agent));
    let line = at
        .and_then(|at| lines.get(at)?.split_once(':'))
        .map(|(_, rest)| rest);
    let question = line.or(told.map(|told| told.text.lines().next().unwrap_or_default()))?;
    let what = sought(question);
    let how =
        match period(&desk.case.session.task).map(|days| dated_addresses(&desk.case.steps, days)) {
            Some(addresses) if !addresses.is_empty() => {
                format!("open {} one by one and identify {what}", listed(&addresses))
            }
            _ => match offered(&desk.case.steps, &what, &desk.case.session.task) {
                Some(name) => format!("open '{name}' and read {what}"),
                None => {
                    format!("search for {what}, open the page that states it and read it there")
                }
            },
        };
    let Some(at) = at else {
        return next_word(&plan.text, finder, &format!("{}.", capital(&how)));
    };
    let replaced = lines.iter().enumerate().map(|(place, line)| {
        if place == at {
            let number = line
                .split('.')
                .next()
                .filter(|number| number.chars().all(|c| c.is_ascii_digit()));
            number.map_or_else(
                || format!("{finder}: {how}."),
                |number| format!("{number}. {finder}: {how}."),
            )
        } else {
            (*line).to_owned()
        }
    });
    Some(replaced.collect::<Vec<_>>().join("\n"))
}

/// A ledger with another next speaker and another instruction; none if the text holds no such ledger.
fn next_word(ledger: &str, speaker: &str, instruction: &str) -> Option<String> {
    let at = ledger.find('{')?;
    let (before, object) = (ledger.get(..at)?, ledger.get(at..)?);
    let mut said: serde_json::Value = serde_json::Deserializer::from_str(object)
        .into_iter()
        .next()?
        .ok()?;
    for (field, word) in [
        ("next_speaker", speaker),
        ("instruction_or_question", instruction),
    ] {
        let entry = said.get_mut(field)?;
        match entry.get_mut("answer") {
            Some(answer) => *answer = word.into(),
            None => *entry = word.into(),
        }
    }
    Some(format!(
        "{before}{}",
        serde_json::to_string_pretty(&said).ok()?
    ))
}

fn capital(sentence: &str) -> String {
    let mut chars = sentence.chars();
    let first = chars
        .next()
        .map(|first| first.to_uppercase().collect::<String>());
    first.unwrap_or_default() + chars.as_str()
}

/// The thing that a question is about: "tell us which city on the horizon is the most likely one" is about the city on the horizon.
fn sought(question: &str) -> String {
    let mut words: Vec<&str> = question
        .trim()
        .trim_end_matches('.')
        .split_whitespace()
        .collect();
    if let Some(at) = words
        .iter()
        .position(|word| ["which", "what", "who", "where"].contains(&word.to_lowercase().as_str()))
    {
        words.drain(..=at);
    } else if let Some(at) = words.iter().take(VERB).position(is_article) {
        // "Guess the branch", "tell us the amount".
        words.drain(..at);
    }
    if let Some(at) = words
        .windows(2)
        .position(|pair| matches!(pair, ["is" | "are" | "was", "the" | "most"]))
    {
        words.truncate(at);
    }
    let what = words.join(" ");
    let article = words.first().is_some_and(is_article);
    if article { what } else { format!("the {what}") }
}

fn is_article(word: &&str) -> bool {
    ["the", "a", "an"].contains(&word.to_lowercase().as_str())
}

/// A plan whose search for some days is put into addresses.
fn dated_plan(desk: &Desk<'_>, plan: &Step) -> Option<String> {
    let days = period(&desk.case.session.task)?;
    let addresses = dated_addresses(&desk.case.steps, days);
    if addresses.is_empty() {
        return None;
    }
    let about = content_words(&days.words());
    let lines = plan_lines(&plan.text);
    let at = lines
        .iter()
        .position(|line| content_words(line).intersection(&about).count() >= 2)?;
    let line = lines.get(at)?;
    let (who, rest) = line.split_once(':')?;
    let aim = aim_of(rest).unwrap_or("note what each of them shows");
    let replaced = lines.iter().enumerate().map(|(place, line)| {
        if place == at {
            format!("{who}: open {} one by one and {aim}.", listed(&addresses))
        } else {
            (*line).to_owned()
        }
    });
    Some(replaced.collect::<Vec<_>>().join("\n"))
}

/// What was done in vain in the trial, in the agent's own first words.
fn in_vain(desk: &Desk<'_>) -> Vec<String> {
    let repeated = desk.looks.iter().filter(|look| {
        look.repeats.is_some()
            && look.trial == desk.hypothesis.trial.index
            && look.part == Part::Worker
    });
    let mut found: Vec<String> = Vec::new();
    for look in repeated {
        let text = desk
            .case
            .steps
            .get(look.index)
            .map_or("", |step| step.text.as_str());
        let first = text.split(['\n', '.']).next().unwrap_or_default().trim();
        let first: String = first.chars().take(QUOTED).collect();
        if !first.is_empty() && !found.contains(&first) {
            found.push(first);
        }
    }
    found.truncate(VAIN);
    found
}

/// What the task names exactly and the instruction leaves out: quotations, addresses, days.
fn exact(desk: &Desk<'_>, instruction: &str) -> Vec<String> {
    let task = &desk.case.session.task;
    let mut named: Vec<String> = quoted(task)
        .into_iter()
        .map(|name| format!("“{name}”"))
        .collect();
    named.extend(
        task.split_whitespace()
            .filter(|word| word.starts_with("http"))
            .map(|word| word.trim_end_matches(['.', ',', '?', ')']).to_owned()),
    );
    named.extend(period(task).map(Period::words));
    named.retain(|name| !instruction.contains(name.trim_matches(['“', '”'])));
    named.truncate(3);
    named
}

/// The same instruction, made clear: what exactly the task names, what not to do again, what to bring back.
fn made_clear(desk: &Desk<'_>, instruction: &Step) -> String {
    let mut text = instruction.text.trim().to_owned();
    if !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    let exact = exact(desk, &text);
    if !exact.is_empty() {
        let _ = write!(
            text,
            " Keep exactly to what the task names: {}.",
            listed(&exact)
        );
    }
    let failed = desk.look().filter(|look| look.failed || look.regrets);
    if let Some(words) = failed.and_then(|look| desk.case.steps.get(look.index)) {
        let words = words.text.split('\n').next().unwrap_or_default();
        let words: String = words.chars().take(QUOTED).collect();
        let _ = write!(
            text,
            " Before, this came back: “{}”. Take another way than that.",
            words.trim()
        );
    }
    let vain = in_vain(desk);
    if !vain.is_empty() {
        let vain: Vec<String> = vain.iter().map(|deed| format!("“{deed}”")).collect();
        let _ = write!(
            text,
            " Do not do again what brought nothing: {}.",
            listed(&vain)
        );
    }
    text.push_str(" Bring back the very words that answer this, with the title and address of where they stand; if they are not there, say what is there instead, and do not guess.");
    text
}

/// The plan with what the trial showed put before it.
fn replanned(desk: &Desk<'_>, plan: &Step) -> Option<String> {
    let mut learnt: Vec<String> = in_vain(desk)
        .iter()
        .map(|deed| format!("“{deed}” was done again and again and brought nothing"))
        .collect();
    let failed = desk
        .looks
        .iter()
        .filter(|look| look.failed && look.trial == desk.hypothesis.trial.index);
    learnt.extend(failed.filter_map(|look| {
        let text = &desk.case.steps.get(look.index)?.text;
        let head: String = text.split('\n').next()?.chars().take(QUOTED).collect();
        Some(format!("this failed: “{}”", head.trim()))
    }));
    learnt.dedup();
    learnt.truncate(VAIN + 1);
    if learnt.is_empty() {
        return None;
    }
    Some(format!(
        "{}\n\nMind what is known of this way: {}. Begin with another source or another way, let each line name the page, file or tool it is about, and check each result against the task before the next line.",
        plan.text.trim_end(),
        learnt.join("; ")
    ))
}
