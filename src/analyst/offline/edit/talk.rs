//! Edits where nobody leads: what the suspected agent heard last, with what it should have minded beside it. What it heard stays, for it
//! works with that.

use super::Desk;
use crate::analyst::offline::look::{Part, content_words};
use crate::analyst::offline::relation;
use crate::model::{Aim, Proposal, Step};

/// Words of an error that an edit quotes, in characters.
const QUOTED: usize = 160;
/// The most sentences of the task that an edit repeats.
const CONDITIONS: usize = 2;

pub(super) fn drafts(desk: &Desk<'_>) -> Vec<Proposal> {
    let Some((target, heard)) = desk.target(Aim::Instruction) else {
        return Vec::new();
    };
    let mut drafts = Vec::new();
    if let Some(text) = relation_put_right(desk, heard) {
        drafts.push(text);
    }
    let look = desk.look();
    if look.is_some_and(|look| look.ran == Some(false)) {
        drafts.extend(failure(desk).map(|error| {
            after(heard, &format!("Mind what your program will meet: it failed with “{error}”. Guard against exactly that, run it, and state only what its output shows."))
        }));
    }
    if heard_failure(desk, heard) {
        drafts.push(after(
            heard,
            "Mend exactly this failure and nothing else, run the program again, and state only what its output shows. If it cannot be mended, say so and take another source that the task allows.",
        ));
    }
    if look.is_some_and(|look| look.assumes) {
        drafts.push(after(
            heard,
            "Do not assume, simulate or make up data. Use what was given or what a program really returned, name where each value comes from, and say so if a value cannot be had.",
        ));
    }
    drafts.extend(conditions(desk).map(|task| {
        after(heard, &format!("Before you go on, hold this against the task, word by word: {task} Work out each of these conditions by itself, show the numbers or the source for each, and correct what does not fit."))
    }));
    drafts.push(after(
        heard,
        "Before you go on, check the last result in a second, independent way and show both. If they differ, find out which is wrong before anything is built on it.",
    ));
    let proposal = |text| Proposal { target, text };
    drafts.into_iter().map(proposal).collect()
}

fn after(heard: &Step, guidance: &str) -> String {
    format!("{}\n\n{guidance}", heard.text.trim_end())
}

/// The relation that the suspected step, or the first one after the target, reads as its fraction alone.
fn relation_put_right(desk: &Desk<'_>, heard: &Step) -> Option<String> {
    let all = relation::misread(&desk.case.session.task, &desk.case.steps);
    let after = all.iter().filter(|(step, _)| *step >= heard.index);
    let (step, corrected) = after.min_by_key(|(step, _)| *step)?;
    if *step == heard.index {
        // It is what was heard that reads it wrongly: the same words with the expression put right.
        return Some(heard.text.replacen(&corrected.wrong, &corrected.right, 1));
    }
    let subject = match corrected.relation.subject.as_str() {
        "" => "it".to_owned(),
        subject => subject.to_owned(),
    };
    // First, so that the result heard stays the last word.
    Some(format!(
        "Mind the task before the next set-up: {words} counts from the whole, so {subject} = {right}.\n{heard}",
        words = corrected.relation.words,
        right = corrected.right,
        heard = heard.text
    ))
}

/// The failure that followed the suspected step, in its own words.
fn failure(desk: &Desk<'_>) -> Option<String> {
    let after = desk.looks.iter().skip(desk.hypothesis.step + 1);
    let output = after
        .filter(|look| look.part == Part::Output)
        .find(|look| look.failed)?;
    let text = &desk.case.steps.get(output.index)?.text;
    // The last line of a traceback says what happened.
    let line = text
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())?;
    Some(line.chars().take(QUOTED).collect())
}

fn heard_failure(desk: &Desk<'_>, heard: &Step) -> bool {
    desk.looks.get(heard.index).is_some_and(|look| look.failed)
}

/// The sentences of the task with conditions that the trial speaks of least.
fn conditions(desk: &Desk<'_>) -> Option<String> {
    let said: String = desk.trial().iter().map(|step| step.text.as_str()).collect();
    let said = content_words(&said);
    let sentences = desk.case.session.task.split_inclusive(['.', '?', '!']);
    let mut ranked: Vec<(usize, &str)> = sentences
        .map(str::trim)
        .filter(|sentence| sentence.len() > 20)
        .map(|sentence| (content_words(sentence).difference(&said).count(), sentence))
        .collect();
    ranked.sort_by_key(|(unsaid, _)| std::cmp::Reverse(*unsaid));
    let chosen: Vec<String> = ranked
        .into_iter()
        .take(CONDITIONS)
        .map(|(_, sentence)| format!("“{sentence}”"))
        .collect();
    (!chosen.is_empty()).then(|| chosen.join(" "))
}
