//! Number relations of a task in words ("two thirds more than", "a quarter fewer than"), and the arithmetic that reads one of them
//! as its fraction alone: who adds two thirds has five thirds.

use std::sync::LazyLock;

use regex::Regex;

use super::look::content_words;
use crate::model::{Step, StepKind};

/// A relation: a fraction that is added to its base or taken from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// As the task says it.
    pub words: String,
    /// The thing that is so much more or less, as the task names it; empty if it does not.
    pub subject: String,
    /// Numerator.
    pub over: u32,
    /// Denominator.
    pub under: u32,
    /// Whether it is taken from the base.
    pub less: bool,
}

static PHRASE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:(?P<count>a|an|one|two|three|four|five|seven|\d+)[ -])?(?P<part>half|halves|thirds?|quarters?|fourths?|fifths?|sixths?|eighths?|tenths?|percent|per cent|%)\s*(?P<way>(?:again\s+)?(?:on top|more|extra|additional|higher|longer|larger|older|greater)|again|fewer|less|lower|cheaper|shorter|smaller|off)\b").ok()
});

/// The relations that a task states.
#[must_use]
pub fn relations(task: &str) -> Vec<Relation> {
    let Some(phrase) = PHRASE.as_ref() else {
        return Vec::new();
    };
    phrase
        .captures_iter(task)
        .filter_map(|found| relation(task, &found))
        .collect()
}

fn relation(task: &str, found: &regex::Captures<'_>) -> Option<Relation> {
    let whole = found.get(0)?;
    let count = found
        .name("count")
        .map_or("one", |count| count.as_str())
        .to_lowercase();
    let count = match count.as_str() {
        "a" | "an" | "one" => 1,
        "two" => 2,
        "three" => 3,
        "four" => 4,
        "five" => 5,
        "seven" => 7,
        digits => digits.parse().ok()?,
    };
    let part = found.name("part")?.as_str().to_lowercase();
    let under = match part.trim_end_matches('s') {
        "half" | "halve" => 2,
        "third" => 3,
        "quarter" | "fourth" => 4,
        "fifth" => 5,
        "sixth" => 6,
        "eighth" => 8,
        "tenth" => 10,
        _ => 100,
    };
    let way = found.name("way")?.as_str().to_lowercase();
    let less = [
        "fewer", "less", "lower", "cheaper", "shorter", "smaller", "off",
    ]
    .contains(&way.as_str());
    let clause = task.get(..whole.start())?;
    let from = clause
        .rfind(['.', ',', ';', '?', '!'])
        .map_or(0, |at| at + 1);
    let clause = clause.get(from..).unwrap_or_default();
    // The name that stands nearest before the words; a clause begins with "and" or "On" as often as with it.
    let subject = clause
        .split_whitespace()
        .rev()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .find(|word| {
            word.chars().next().is_some_and(char::is_uppercase) && !content_words(word).is_empty()
        })
        .unwrap_or_default();
    Some(Relation {
        words: whole.as_str().to_owned(),
        subject: subject.to_owned(),
        over: count,
        under,
        less,
    })
}

/// An expression that takes the fraction alone, put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrected {
    /// The relation that was misread.
    pub relation: Relation,
    /// What was worked with.
    pub wrong: String,
    /// What the task says.
    pub right: String,
}

/// The steps whose arithmetic takes a relation's fraction alone, each with the expression put right.
#[must_use]
pub fn misread(task: &str, steps: &[Step]) -> Vec<(usize, Corrected)> {
    let relations = relations(task);
    if relations.is_empty() {
        return Vec::new();
    }
    let mut known: Vec<String> = Vec::new();
    let spoken = steps.iter().filter(|step| {
        matches!(
            step.kind,
            StepKind::Message | StepKind::ToolCall | StepKind::Answer
        )
    });
    spoken
        .filter_map(|step| {
            let corrected = relations
                .iter()
                .find_map(|relation| correct(relation, &step.text));
            Some((step.index, corrected?))
        })
        // Whoever only says it after somebody does not misread it.
        .filter(|(_, corrected)| {
            let first = !known.contains(&corrected.wrong);
            known.push(corrected.wrong.clone());
            first
        })
        .collect()
}

/// After a whole number: neither a digit nor a decimal point with one.
const END: &str = r"(?:[^\d.]|\.(?:\D|$)|$)";

/// Finds `BASE * over / under` in a text where the base is not added to it or it taken from the base.
fn correct(relation: &Relation, text: &str) -> Option<Corrected> {
    let (over, under) = (relation.over, relation.under);
    let fraction = if over == 1 {
        format!(r"/ *{under}{END}")
    } else {
        format!(r"(?:\* *{over} */ *{under}{END}|\* *\( *{over} */ *{under} *\))")
    };
    let pattern = Regex::new(&format!(
        r"(?P<lead>[\d)] *[-+*/] *)?(?P<base>\([^()]+\)|\d[\d.,]*) *(?P<fraction>{fraction})"
    ))
    .ok()?;
    let found = pattern.captures(text)?;
    // `60 - 60 / 4` and `105 + 105 * 2 / 3` are what the words say.
    if found.name("lead").is_some() {
        return None;
    }
    let base = found.name("base")?.as_str();
    let taken = found.name("fraction")?.as_str();
    let taken = taken.trim_end_matches(|c: char| !(c.is_ascii_digit() || c == ')'));
    let wrong = format!("{base} {}", taken.trim());
    // A fraction of the base that is itself a part of a sum is somebody's own way.
    let after = text
        .get(found.get(0)?.end()..)
        .unwrap_or_default()
        .trim_start();
    if after.starts_with(['+', '-', '*']) && !relation.less {
        return None;
    }
    let sign = if relation.less { '-' } else { '+' };
    Some(Corrected {
        relation: relation.clone(),
        right: format!("{base} {sign} {wrong}"),
        wrong,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_are_read_with_what_they_are_about() {
        let told = |task: &str| {
            let all = relations(task);
            all.into_iter()
                .map(|it| (it.subject, it.over, it.under, it.less))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            told(
                "On Saturday he sold a quarter fewer than on Friday, and Sunday brought two thirds again on top."
            ),
            [
                ("Saturday".into(), 1, 4, true),
                ("Sunday".into(), 2, 3, false)
            ]
        );
        assert_eq!(
            told("The coat is 20 percent cheaper."),
            [(String::new(), 20, 100, true)]
        );
        assert_eq!(told("He ate two thirds of the cake."), []);
        assert_eq!(told("Half more than Anna"), [(String::new(), 1, 2, false)]);
    }

    #[test]
    fn a_fraction_alone_is_put_right_and_the_whole_is_left() {
        let more = &relations("Sunday brought two thirds again on top of that")[0];
        let less = &relations("On Saturday he sold a quarter fewer")[0];
        let right = |relation: &Relation, text: &str| correct(relation, text).map(|it| it.right);
        assert_eq!(
            right(more, "please compute (60 + 45) * 2 / 3.").as_deref(),
            Some("(60 + 45) + (60 + 45) * 2 / 3")
        );
        assert_eq!(right(more, "105 + 105 * 2 / 3"), None);
        assert_eq!(right(more, "(60 + 45) * 5 / 3"), None);
        assert_eq!(right(less, "60 - 60 / 4"), None);
        assert_eq!(
            right(less, "compute 60 / 4").as_deref(),
            Some("60 - 60 / 4")
        );
        assert_eq!(right(less, "60 / 40"), None);
    }
}
