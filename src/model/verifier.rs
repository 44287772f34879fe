//! Verifiers: deterministic judges of a final answer (SPEC 3). A model's opinion is never one.
//!
//! What cannot be judged is said to be so, never passed and never rejected.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::answer;

/// How a final answer is judged (SPEC 3).
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Verifier {
    /// GAIA's scorer against the session's expected answer.
    Answer,
    /// As `Answer`, the answer being read from `\boxed{}` or the last number of the text (maths dialogues).
    Math,
    /// The final answer contains this text, letter case aside.
    Contains(String),
}

/// What a verifier says of a final answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The answer is right.
    Passed,
    /// The answer is wrong.
    Rejected,
    /// Nothing was judged, for this reason.
    CannotJudge(Unjudged),
}

/// Why nothing was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unjudged {
    /// The session has no verifier.
    NoVerifier,
    /// The verifier compares with an expected answer, and there is none.
    NoExpected,
    /// The expected answer is empty, or nothing but punctuation.
    EmptyExpected,
    /// The expected answer is a number without a finite value.
    NonFiniteExpected,
    /// The run gave no final answer.
    NoAnswer,
    /// The branch has no outcome receipt of its own.
    NoReceipt,
}

impl fmt::Display for Unjudged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoVerifier => "no verifier is set",
            Self::NoExpected => "no expected answer is set",
            Self::EmptyExpected => "the expected answer is empty",
            Self::NonFiniteExpected => "the expected answer is not a finite number",
            Self::NoAnswer => "there is no final answer",
            Self::NoReceipt => "the branch has no outcome receipt of its own",
        })
    }
}

impl Judgement {
    /// Success as a branch records it: none only where nothing could tell. A run without a final answer has not succeeded.
    #[must_use]
    pub const fn success(self) -> Option<bool> {
        match self {
            Self::Passed => Some(true),
            Self::Rejected | Self::CannotJudge(Unjudged::NoAnswer) => Some(false),
            Self::CannotJudge(_) => None,
        }
    }
}

/// Judges a final answer. A blank answer is no answer.
#[must_use]
pub fn judge(
    verifier: Option<&Verifier>,
    expected: Option<&str>,
    answer: Option<&str>,
) -> Judgement {
    ruling(verifier, expected, answer).map_or_else(Judgement::CannotJudge, |right| {
        if right {
            Judgement::Passed
        } else {
            Judgement::Rejected
        }
    })
}

fn ruling(
    verifier: Option<&Verifier>,
    expected: Option<&str>,
    answer: Option<&str>,
) -> Result<bool, Unjudged> {
    let verifier = verifier.ok_or(Unjudged::NoVerifier)?;
    // The standard is looked at before the answer, so that a verifier that can never judge shows at once.
    let standard = match verifier {
        Verifier::Contains(part) => part,
        Verifier::Answer | Verifier::Math => expected.ok_or(Unjudged::NoExpected)?,
    };
    let standard = answer::Expected::parse(standard)?;
    let text = answer
        .filter(|text| !text.trim().is_empty())
        .ok_or(Unjudged::NoAnswer)?;
    Ok(match verifier {
        Verifier::Answer => standard.matches(text),
        Verifier::Math => standard.matches(&answer::math_answer(text)),
        Verifier::Contains(part) => text.to_lowercase().contains(&part.trim().to_lowercase()),
    })
}

#[cfg(test)]
mod tests {
    use super::Judgement::{CannotJudge, Passed, Rejected};
    use super::*;

    fn by_answer(expected: &str, answer: &str) -> Judgement {
        judge(Some(&Verifier::Answer), Some(expected), Some(answer))
    }

    #[test]
    fn what_cannot_be_judged_is_held() {
        let gaia = Some(&Verifier::Answer);
        let table = [
            (None, Some("17"), Some("17"), Unjudged::NoVerifier),
            (gaia, None, Some("17"), Unjudged::NoExpected),
            (gaia, Some("17"), None, Unjudged::NoAnswer),
            (gaia, Some("17"), Some(" \n"), Unjudged::NoAnswer),
            (gaia, Some(""), Some(""), Unjudged::EmptyExpected),
            (gaia, Some(" "), Some("x"), Unjudged::EmptyExpected),
            (gaia, Some("..."), Some("!"), Unjudged::EmptyExpected),
            (gaia, Some(","), Some(";"), Unjudged::EmptyExpected),
            (gaia, Some("inf"), Some("inf"), Unjudged::NonFiniteExpected),
            (gaia, Some("NaN"), Some("NaN"), Unjudged::NonFiniteExpected),
            (gaia, Some("1e999"), Some("x"), Unjudged::NonFiniteExpected),
            (
                gaia,
                Some("a, inf"),
                Some("a, x"),
                Unjudged::NonFiniteExpected,
            ),
            (
                Some(&Verifier::Contains(" ".into())),
                None,
                Some("x"),
                Unjudged::EmptyExpected,
            ),
        ];
        for (verifier, expected, answer, why) in table {
            let got = judge(verifier, expected, answer);
            assert_eq!(got, CannotJudge(why), "{expected:?} {answer:?}");
        }
        assert_eq!(CannotJudge(Unjudged::NoVerifier).success(), None);
        assert_eq!(CannotJudge(Unjudged::NoAnswer).success(), Some(false));
    }

    #[test]
    fn the_word_none_is_an_expected_answer() {
        assert_eq!(by_answer("None", "none."), Passed);
        assert_eq!(by_answer("None", "0"), Rejected);
        assert_eq!(
            judge(Some(&Verifier::Answer), Some("None"), None),
            CannotJudge(Unjudged::NoAnswer)
        );
    }

    #[test]
    fn contains_minds_no_letter_case() {
        let verifier = Verifier::Contains("Ticket OPENED".into());
        let of = |answer| judge(Some(&verifier), None, Some(answer));
        assert_eq!(of("The ticket opened at noon"), Passed);
        assert_eq!(of("The ticket was opened"), Rejected);
    }

    #[test]
    fn maths_reads_the_box_or_the_last_number() {
        let of = |expected, answer| judge(Some(&Verifier::Math), Some(expected), Some(answer));
        let table = [
            ("18", r"So 3 and 15 make \boxed{18}. Checked 2 times.", true),
            ("18", "She makes 9 * 2 = $18 every day.", true),
            ("18", "18 eggs, then 4 are left", false),
            ("1250", r"\boxed{1{,}250}", true),
            ("None", r"\boxed{\text{None}}", true),
            ("None", "None", true),
        ];
        for (expected, answer, right) in table {
            let want = if right { Passed } else { Rejected };
            assert_eq!(of(expected, answer), want, "{answer}");
        }
    }
}
