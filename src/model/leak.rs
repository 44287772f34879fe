//! Answer leak (SPEC 2.3): an edit that hands over the expected answer proves nothing about the hypothesis.
//!
//! A whole-token match after normalisation. It does not look for paraphrases or for the parts of a list in another order.

use super::words::{places, words};

/// Whether an edit contains the expected answer, which neither the task nor any text of the prefix does.
#[must_use]
pub fn leaks_answer<'a>(
    edit: &str,
    expected: &str,
    task: &str,
    prefix: impl IntoIterator<Item = &'a str>,
) -> bool {
    let answer = Answer::of(expected);
    answer.stands_in(edit)
        && !answer.stands_in(task)
        && !prefix.into_iter().any(|text| answer.stands_in(text))
}

/// An answer as tokens: words, or where it has none (an operator, a symbol) what white space parts.
enum Answer {
    Words(Vec<String>),
    Symbols(String),
}

impl Answer {
    fn of(expected: &str) -> Self {
        let words = words(expected);
        if words.is_empty() {
            Self::Symbols(expected.trim().to_owned())
        } else {
            Self::Words(words)
        }
    }

    fn stands_in(&self, text: &str) -> bool {
        match self {
            Self::Words(answer) => places(&words(text), answer).next().is_some(),
            Self::Symbols(answer) => text.split_whitespace().any(|token| token == answer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_tokens_after_normalisation() {
        let table = [
            ("Say that it is the Rhine.", "Rhine", true),
            ("say that it is the RHINE", "rhine", true),
            ("Look at rhinestones", "Rhine", false),
            ("The answer is 1,000 euros", "1000", true),
            ("The answer is $17.00", "17", true),
            ("Read page 170", "17", false),
            ("It stands on the river Old Rhine", "old rhine", true),
            ("It is old; the Rhine", "old rhine", false),
            ("答案是北京。", "北京", true),
            ("答案是京北。", "北京", false),
            ("use ⊕ here", "⊕", true),
            ("use here", "⊕", false),
            ("anything", "", false),
        ];
        for (edit, expected, leak) in table {
            assert_eq!(
                leaks_answer(edit, expected, "A task.", ["A prefix."]),
                leak,
                "{edit}"
            );
        }
    }

    #[test]
    fn what_is_already_known_is_no_leak() {
        let edit = "Is it the Rhine?";
        assert!(!leaks_answer(
            edit,
            "Rhine",
            "Which town lies on the Rhine?",
            []
        ));
        assert!(!leaks_answer(
            edit,
            "Rhine",
            "Which river?",
            ["a", "I read: RHINE, Danube"]
        ));
        assert!(leaks_answer(
            edit,
            "Rhine",
            "Which river?",
            ["rhinestone", ""]
        ));
    }
}
