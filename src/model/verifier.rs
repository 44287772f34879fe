//! Verifiers: deterministic judges of a final answer (SPEC 3). A model's opinion is never one.
//!
//! What cannot be judged is said to be so, never passed and never rejected. Two of them look at the run's workspace; that is done
//! where there is one (`pipeline::verify`), here they cannot judge.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Digest, answer};

/// How a final answer is judged (SPEC 3).
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Verifier {
    /// GAIA's scorer against the session's expected answer.
    Answer,
    /// As `Answer`, the answer being read from `\boxed{}` or the last number of the text (maths dialogues).
    Math,
    /// The final answer contains this text, letter case aside.
    Contains(String),
    /// A command that runs in the run's workspace, with the final answer on its standard input: exit status 0 passes, another rejects.
    Command(Vec<String>),
    /// A file of the run's workspace exists, and is as it should be.
    File {
        /// Its path in the workspace.
        path: String,
        /// It contains this text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contains: Option<String>,
        /// It has this digest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<Digest>,
    },
}

impl Verifier {
    /// Its kind as it stands in files.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Math => "math",
            Self::Contains(_) => "contains",
            Self::Command(_) => "command",
            Self::File { .. } => "file",
        }
    }
}

impl fmt::Display for Verifier {
    /// As `dover set --verifier` takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer => f.write_str("answer"),
            Self::Math => f.write_str("math"),
            Self::Contains(text) => write!(f, "contains:{text}"),
            Self::Command(words) => match words.as_slice() {
                [sh, flag, script] if sh == "sh" && flag == "-c" => write!(f, "command:{script}"),
                _ => write!(f, "command:{}", words.join(" ")),
            },
            Self::File {
                path,
                contains,
                sha256,
            } => {
                write!(f, "file:{path}")?;
                if let Some(text) = contains {
                    write!(f, "={text}")?;
                }
                sha256.map_or(Ok(()), |digest| write!(f, " (sha256 {})", digest.short()))
            }
        }
    }
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
    /// The verifier looks at the run's files, and they are not known.
    NoWorkspace,
    /// The verifier's command could not be started, did not end in time or printed without end.
    NotRun,
    /// A signal ended the verifier's command.
    Signal,
    /// The file's path leads out of the workspace.
    Outside,
    /// The file is there and cannot be read.
    Unreadable,
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
            Self::NoWorkspace => "the run has no workspace for the verifier to look at",
            Self::NotRun => "the verifier's command did not run to its end",
            Self::Signal => "the verifier's command was ended by a signal",
            Self::Outside => "the verifier's file lies outside the workspace",
            Self::Unreadable => "the verifier's file cannot be read",
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
        Verifier::Command(_) | Verifier::File { .. } => return Err(Unjudged::NoWorkspace),
    };
    let standard = answer::Expected::parse(standard)?;
    let text = answer
        .filter(|text| !text.trim().is_empty())
        .ok_or(Unjudged::NoAnswer)?;
    Ok(match verifier {
        Verifier::Answer => standard.matches(text),
        Verifier::Math => standard.matches(&answer::math_answer(text)),
        Verifier::Contains(part) => text.to_lowercase().contains(&part.trim().to_lowercase()),
        Verifier::Command(_) | Verifier::File { .. } => return Err(Unjudged::NoWorkspace),
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
            (
                Some(&Verifier::Command(vec!["true".into()])),
                Some("x"),
                Some("x"),
                Unjudged::NoWorkspace,
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
