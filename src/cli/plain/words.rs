//! The words of plain mode. What the screen can do too has the title and the sentence of the command table; a key of the message list
//! works as a word as well.

use crate::app::Context;
use crate::app::command::{self, Group, Id};
use crate::app::key::Key;

/// What a line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// A command of the screen.
    Screen(Id),
    /// Lists the sessions.
    Sessions,
    /// Says where one is.
    Where,
    /// Lists steps.
    Steps,
    /// Goes on with the last list.
    More,
    /// Lists the branches.
    Branches,
    /// Says the gates again.
    Gates,
    /// Sets how many runs are planned.
    Runs,
    /// Lets paused runs go on.
    GoOn,
}

/// A word with what may follow it.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// What it asks for.
    pub verb: Verb,
    /// Other ways to say it; the first one is its name where the screen has none that fits.
    also: &'static [&'static str],
    /// What may follow.
    pub takes: &'static str,
    /// What it does, where the screen's own sentence speaks of keys or panes.
    told: &'static str,
}

impl Word {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.row() {
            Some(row) if self.told.is_empty() => row.title,
            _ => self.also.first().copied().unwrap_or_default(),
        }
    }

    /// What it does, as a sentence.
    #[must_use]
    pub fn doc(&self) -> &'static str {
        match self.row() {
            Some(row) if self.told.is_empty() => row.doc,
            _ => self.told,
        }
    }

    fn row(&self) -> Option<&'static command::Command> {
        let Verb::Screen(id) = self.verb else {
            return None;
        };
        // Of a run that is being made other words are said of the same command.
        let mut rows = command::table()
            .iter()
            .filter(|row| row.group != Group::Live);
        rows.find(|row| row.id == id)
    }

    /// Every way to say it.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let title = self.row().map(|row| row.title);
        title.into_iter().chain(self.also.iter().copied())
    }
}

/// A word that means what the screen's command means.
const fn screen(id: Id, takes: &'static str, also: &'static [&'static str]) -> Word {
    Word {
        verb: Verb::Screen(id),
        also,
        takes,
        told: "",
    }
}

/// A word with a sentence of its own.
pub const fn own(
    verb: Verb,
    takes: &'static str,
    also: &'static [&'static str],
    told: &'static str,
) -> Word {
    Word {
        verb,
        also,
        takes,
        told,
    }
}

/// All words, under their headings.
#[rustfmt::skip]
pub const WORDS: &[(&str, &[Word])] = &[
    (
        "Sessions and steps",
        &[
            own(Verb::Sessions, "", &["sessions", "list"], "Lists the sessions with their numbers"),
            own(Verb::Screen(Id::Open), "NUMBER, ID, BRANCH or FILE", &["open"], "Opens a session of the list, a branch such as night-picture/b1, or a log"),
            own(Verb::Where, "", &["where"], "Says what is open: task, answer, step, milestones"),
            own(Verb::Steps, "[STEP]", &["steps"], "Lists twenty steps, from the one named or from the first"),
            own(Verb::More, "", &["more"], "Goes on with the list"),
            own(Verb::Screen(Id::Read), "[STEP]", &["read", "step", "go to"], "Reads a step in full and selects it; its number alone does so too"),
            screen(Id::NextStep, "", &[]),
            screen(Id::PreviousStep, "", &[]),
            screen(Id::NextTrial, "", &[]),
            screen(Id::PreviousTrial, "", &[]),
            screen(Id::NextError, "", &[]),
            screen(Id::PreviousError, "", &[]),
            screen(Id::Search, "WORDS", &["find"]),
            screen(Id::NextHit, "", &[]),
            screen(Id::PreviousHit, "", &[]),
            own(Verb::Branches, "", &["branches"], "Lists the branches with what came out of each"),
            own(Verb::Screen(Id::Show), "BRANCH", &["show"], "Goes to a branch, such as b1 or main"),
            screen(Id::State, "[STEP]", &[]),
        ],
    ),
    (
        "From a suspicion to a fork",
        &[
            own(Verb::Screen(Id::Hypotheses), "", &["hypotheses"], "Lists the hypotheses of each trial; a session that nobody analysed is analysed by rules"),
            own(Verb::Screen(Id::Analyse), "", &["analyse"], "Makes a hypothesis and an edit for each trial, by rules; nothing is run"),
            own(Verb::Screen(Id::AskModel), "", &["ask a model"], "The same by the model of the endpoint"),
            screen(Id::Suspect, "REASON", &[]),
            own(Verb::Screen(Id::Test), "HYPOTHESIS", &["test"], "Takes the edit of a hypothesis, such as h1, to the gates as it stands"),
            own(Verb::Screen(Id::Edit), "[STEP or HYPOTHESIS]", &["edit"], "Edits a step: the lines that follow replace its text, until a line that is a single point"),
            own(Verb::Screen(Id::External), "[STEP or HYPOTHESIS]", &["editor", "$EDITOR"], "Edits a step in $VISUAL or $EDITOR"),
            screen(Id::Fork, "[STEP]", &[]),
            screen(Id::Baseline, "[STEP]", &["baseline"]),
            own(Verb::Screen(Id::TryAgain), "INTERVENTION", &["try again"], "Takes an intervention that was held, such as i1, to the gates again as it stands"),
        ],
    ),
    (
        "At the gates",
        &[
            own(Verb::Gates, "", &["gates"], "Asks the gates again"),
            screen(Id::Resume, "", &["run"]),
            screen(Id::Diagnostic, "", &["diagnostic"]),
            own(Verb::Runs, "NUMBER", &["runs"], "Plans so many runs"),
            own(Verb::Screen(Id::Seed), "[NUMBER]", &["seed"], "Takes the next seed, or the one named: other luck, same edit"),
            screen(Id::Acknowledge, "", &[]),
            screen(Id::AcceptDelta, "", &[]),
            own(Verb::Screen(Id::Effects), "[STEP]", &["effects"], "Lists what the branch left in the world past a step, still true or settled"),
            own(Verb::Screen(Id::Reconcile), "", &["reconcile"], "Says the commands that ask the destinations of effects; said once more, runs them"),
            own(Verb::Screen(Id::Keep), "EFFECT REASON", &["keep"], "The effect stays and is not repeated"),
            own(Verb::Screen(Id::Undone), "EFFECT REASON", &["undone"], "The effect was undone"),
            screen(Id::RequestApproval, "", &[]),
            own(Verb::Screen(Id::Approve), "OWNER", &["approve"], "Approves what waits, as that owner"),
            own(Verb::Screen(Id::Allow), "", &["allow"], "Lets new effects outside happen: said before the run all of it, during the run the one that waits"),
            own(Verb::Screen(Id::Refuse), "", &["refuse"], "Refuses them: the tool fails and the run goes on"),
        ],
    ),
    (
        "While runs go",
        &[
            own(Verb::Screen(Id::Pause), "", &["pause"], "Pauses every run before its next step; said at the gates, the runs begin paused"),
            own(Verb::GoOn, "", &["go on", "resume"], "Lets paused runs go on"),
            screen(Id::Step, "", &[]),
            screen(Id::Stop, "", &[]),
        ],
    ),
    (
        "What came of it",
        &[
            own(Verb::Screen(Id::Compare), "[BRANCH]", &["compare"], "Compares a branch, or the best run of the last fork, with its parent"),
            own(Verb::Screen(Id::Expand), "NUMBER", &["full text", "full"], "Reads a pair of the comparison in full"),
            own(Verb::Screen(Id::Verdicts), "", &["verdicts", "verdict"], "Lists the interventions with their runs and verdicts"),
            own(Verb::Screen(Id::Milestones), "", &["milestones"], "Lists which milestones were reached, gained and lost"),
            own(Verb::Screen(Id::Mark), "MILESTONE [STEP]", &["mark"], "Marks a milestone as reached at a step, the selected one if none is named"),
        ],
    ),
    (
        "Everywhere",
        &[
            own(Verb::Screen(Id::Help), "[WORD]", &["help"], "Says the words"),
            own(Verb::Screen(Id::Quit), "", &["quit", "exit"], "Ends; so does the end of the input"),
        ],
    ),
];

/// Every word.
pub fn all() -> impl Iterator<Item = &'static Word> + Clone {
    WORDS.iter().flat_map(|(_, words)| words.iter())
}

/// What a line asks for, and what follows the word.
///
/// # Errors
/// A sentence about a word that there is not.
pub fn parse(line: &str) -> Result<(Verb, &str), String> {
    let line = line.trim();
    let mut signs = line.chars();
    if line.parse::<usize>().is_ok() {
        return Ok((Verb::Screen(Id::Read), line));
    }
    if let (Some(sign), None) = (signs.next(), signs.next()) {
        let meant = command::find(Context::Steps, Key::char(sign)).map(|row| row.id);
        let word = all().find(|word| meant.is_some_and(|id| word.verb == Verb::Screen(id)));
        return word
            .map(|word| (word.verb, ""))
            .ok_or_else(|| unknown(all(), line));
    }
    find(all(), line)
}

/// The same among these words, without numbers and keys.
///
/// # Errors
/// A sentence about a word that there is not.
pub fn find(
    words: impl Iterator<Item = &'static Word> + Clone,
    line: &str,
) -> Result<(Verb, &str), String> {
    let line = line.trim();
    let said = words
        .clone()
        .flat_map(|word| word.names().map(move |name| (word.verb, name)));
    // `next error` before `next`, whatever the order.
    let longest = said
        .filter_map(|(verb, name)| Some((verb, name.len(), after(line, name)?)))
        .max_by_key(|(_, length, _)| *length);
    longest
        .map(|(verb, _, rest)| (verb, rest))
        .ok_or_else(|| unknown(words, line))
}

/// What follows a name at the beginning of a line; none if it does not stand there as a word.
fn after<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (head, rest) = line.split_at_checked(name.len())?;
    let whole = rest.is_empty() || rest.starts_with(char::is_whitespace);
    (whole && head.eq_ignore_ascii_case(name)).then(|| rest.trim())
}

fn unknown(words: impl Iterator<Item = &'static Word>, line: &str) -> String {
    let first = line
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let near: Vec<_> = words
        .map(Word::name)
        .filter(|name| first.len() > 1 && name.split(' ').any(|word| word.starts_with(&first)))
        .collect();
    let hint = if near.is_empty() {
        String::new()
    } else {
        format!(" Perhaps {}.", near.join(", "))
    };
    let shown: String = line.chars().take(60).collect();
    format!("there is no word '{shown}'.{hint} Say help to hear them all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_understood_by_word_number_and_key() {
        let table = [
            ("18", Verb::Screen(Id::Read), "18"),
            ("  Read 18 ", Verb::Screen(Id::Read), "18"),
            ("next error", Verb::Screen(Id::NextError), ""),
            ("fork", Verb::Screen(Id::Fork), ""),
            ("fork and run", Verb::Screen(Id::Resume), ""),
            ("open a b.jsonl", Verb::Screen(Id::Open), "a b.jsonl"),
            ("}", Verb::Screen(Id::NextError), ""),
            ("?", Verb::Screen(Id::Help), ""),
            ("q", Verb::Screen(Id::Quit), ""),
            ("resume", Verb::GoOn, ""),
        ];
        for (line, verb, rest) in table {
            assert_eq!(parse(line), Ok((verb, rest)), "{line}");
        }
    }

    #[test]
    fn a_word_that_is_none_is_answered_with_those_like_it() {
        let told = parse("compar b1").unwrap_err();
        assert!(
            told.contains("'compar b1'") && told.contains("compare"),
            "{told}"
        );
        assert!(parse("forks").is_err() && parse("§").is_err());
    }

    #[test]
    fn every_way_to_say_something_means_one_thing() {
        let mut seen = std::collections::HashMap::new();
        for word in all() {
            assert!(!word.name().is_empty() && word.doc().len() > 5, "{word:?}");
            let mut names: Vec<_> = word.names().collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                let before = seen.insert(name, word.verb);
                assert_eq!(before, None, "{name}");
                assert_eq!(parse(name).map(|(verb, _)| verb), Ok(word.verb), "{name}");
            }
        }
    }
}
