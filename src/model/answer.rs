//! Answers: GAIA's comparison of an answer with the expected one, and where the answer stands in a text.
//!
//! The comparison is that of GAIA's `question_scorer`, except that an expected value with nothing to compare (empty, or a
//! number without a finite value) is refused: there an unreadable answer would count as infinite, and so as equal.

use super::Unjudged;

/// An expected answer, read as GAIA reads it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expected {
    /// Compared as a number.
    Number(f64),
    /// Compared element by element, punctuation kept.
    List(Vec<Element>),
    /// Compared without white space, case and punctuation.
    Text(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Element {
    Number(f64),
    Text(String),
}

impl Expected {
    pub(super) fn parse(expected: &str) -> Result<Self, Unjudged> {
        if plain_text(expected).is_empty() {
            return Err(Unjudged::EmptyExpected);
        }
        if let Some(value) = number(expected) {
            return finite(value).map(Self::Number);
        }
        if !expected.contains(SEPARATORS) {
            return Ok(Self::Text(plain_text(expected)));
        }
        let elements = expected
            .split(SEPARATORS)
            .map(|element| match number(element) {
                Some(value) => finite(value).map(Element::Number),
                None => Ok(Element::Text(compact(element))),
            });
        elements.collect::<Result<_, _>>().map(Self::List)
    }

    pub(super) fn matches(&self, answer: &str) -> bool {
        match self {
            Self::Number(value) => same_number(*value, answer),
            Self::Text(text) => *text == plain_text(answer),
            Self::List(elements) => {
                let given: Vec<&str> = answer.split(SEPARATORS).collect();
                given.len() == elements.len()
                    && elements
                        .iter()
                        .zip(given)
                        .all(|(element, given)| match element {
                            Element::Number(value) => same_number(*value, given),
                            Element::Text(text) => *text == compact(given),
                        })
            }
        }
    }
}

const SEPARATORS: [char; 2] = [',', ';'];

fn finite(value: f64) -> Result<f64, Unjudged> {
    value
        .is_finite()
        .then_some(value)
        .ok_or(Unjudged::NonFiniteExpected)
}

/// Exact equality of the two values read, as GAIA has it; no tolerance.
#[allow(clippy::float_cmp)]
fn same_number(value: f64, answer: &str) -> bool {
    number(&answer.replace(['$', '%', ','], "")) == Some(value)
}

/// What Python's `float` reads: white space around, an underscore between digits, digits of full width.
fn number(text: &str) -> Option<f64> {
    let text: String = text.trim().chars().map(half_width).collect();
    let digits = |at: Option<char>| at.is_some_and(|c| c.is_ascii_digit());
    let misplaced = text.match_indices('_').any(|(at, _)| {
        let before = text.get(..at).and_then(|s| s.chars().next_back());
        let after = text.get(at + 1..).and_then(|s| s.chars().next());
        !digits(before) || !digits(after)
    });
    if misplaced {
        return None;
    }
    text.replace('_', "").parse().ok()
}

/// A decimal digit of full width, as East Asian text sets them, as the ASCII digit.
fn half_width(c: char) -> char {
    match c {
        '\u{FF10}'..='\u{FF19}' => char::from_u32(c as u32 - 0xFF10 + 0x30).unwrap_or(c),
        _ => c,
    }
}

/// Without white space and letter case.
fn compact(text: &str) -> String {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    dense.to_lowercase()
}

/// Without white space, letter case and (ASCII) punctuation.
fn plain_text(text: &str) -> String {
    let mut text = compact(text);
    text.retain(|c| !c.is_ascii_punctuation());
    text
}

/// The final answer of a text: what follows the last `FINAL ANSWER:` on its line, or else the whole text; trimmed.
#[must_use]
pub fn final_answer(text: &str) -> String {
    let Some((before, after)) = text.rsplit_once("FINAL ANSWER:") else {
        return text.trim().to_owned();
    };
    let line = after.lines().next().unwrap_or_default().trim();
    // Models like to set the whole line in bold type: **FINAL ANSWER: 17** or **FINAL ANSWER:** 17.
    let line = if before.ends_with("**") {
        line.strip_prefix("**")
            .or_else(|| line.strip_suffix("**"))
            .unwrap_or(line)
    } else {
        line
    };
    line.trim().to_owned()
}

/// The answer of a maths dialogue: the last `\boxed{}`, else the last number, else the text as it stands.
pub(super) fn math_answer(text: &str) -> String {
    boxed(text)
        .map(plain_latex)
        .or_else(|| last_number(text))
        .unwrap_or_else(|| final_answer(text))
}

/// What stands between the balanced braces of the last `\boxed{…}`.
fn boxed(text: &str) -> Option<&str> {
    let (_, inside) = text.rsplit_once(r"\boxed{")?;
    let mut depth = 1_usize;
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return inside.get(..at);
        }
    }
    None
}

/// Takes off what LaTeX puts around a plain value: escapes, thin spaces, `{,}` in a long number, `\text{…}` around a word.
fn plain_latex(text: &str) -> String {
    let mut text = text.replace("{,}", ",");
    for (mark, plain) in [(r"\$", "$"), (r"\%", "%"), (r"\,", ""), (r"\!", "")] {
        text = text.replace(mark, plain);
    }
    let inner = text
        .trim()
        .strip_prefix(r"\text{")
        .and_then(|t| t.strip_suffix('}'));
    inner.unwrap_or(&text).trim().to_owned()
}

/// The last number of a text, its sign only where it is one: the `-04` of a date is 4.
fn last_number(text: &str) -> Option<String> {
    let chars: Vec<char> = text.chars().map(half_width).collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or(' ');
    let digit = |i: usize| at(i).is_ascii_digit();
    let mut last = None;
    let mut i = 0;
    while i < chars.len() {
        let before = |k: usize| i.checked_sub(k).map_or(' ', at);
        let bare_point = at(i) == '.' && digit(i + 1) && !before(1).is_ascii_digit();
        if !digit(i) && !bare_point {
            i += 1;
            continue;
        }
        let negative = matches!(before(1), '-' | '−') && !before(2).is_alphanumeric();
        let mut value = String::from(if negative { "-" } else { "" });
        let mut pointed = false;
        while digit(i) || digit(i + 1) && (at(i) == ',' || at(i) == '.' && !pointed) {
            pointed |= at(i) == '.';
            value.push(at(i));
            i += 1;
        }
        last = Some(value);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_as_gaia_does() {
        let table = [
            // Numbers: the answer may carry $ % and thousands' commas, and nothing else.
            ("17", "17", true),
            ("17", " 17.0 ", true),
            ("17", "$17", true),
            ("17", "17%", true),
            ("1000", "1,000", true),
            ("0.5", ".5", true),
            ("17", "seventeen", false),
            ("17", "17 euros", false),
            ("17", "17.01", false),
            ("-3", "- 3", false),
            ("1e3", "1000", true),
            ("1_000", "1000", true),
            ("17", "\u{FF11}\u{FF17}", true),
            ("17", "inf", false),
            ("17", "nan", false),
            // An expected text with a comma is a list, even where a person reads a number.
            ("1,000", "1000", false),
            ("1,000", "1,000", true),
            // Lists: equal length, element by element, order and punctuation count, spaces and case do not.
            ("a, b, c", "A,B ,c", true),
            ("a; b", "a, b", true),
            ("a, b, c", "a, b", false),
            ("a, b", "b, a", false),
            ("St. Louis, 3", "st. louis, $3", true),
            ("St. Louis, 3", "St Louis, 3", false),
            // Texts: without white space, case and punctuation.
            ("sea gull", "Seagull.", true),
            ("Fred's", "freds", true),
            ("$17 only", "17 only", true),
            ("北京", "北京", true),
            ("北京", "北京。", false),
            ("Rhine", "the Rhine", false),
        ];
        for (expected, answer, right) in table {
            let got = Expected::parse(expected).unwrap().matches(answer);
            assert_eq!(got, right, "{expected} / {answer}");
        }
    }

    #[test]
    fn the_final_answer_stands_after_its_words() {
        let table = [
            ("  plain \n", "plain"),
            ("x\nFINAL ANSWER: 17\nSCENARIO.PY COMPLETE", "17"),
            ("FINAL ANSWER: 1\nno, wait\nFINAL ANSWER:  2 ", "2"),
            ("**FINAL ANSWER: 17**", "17"),
            ("**FINAL ANSWER:** 17", "17"),
            ("FINAL ANSWER: A**", "A**"),
            ("FINAL ANSWER:\r\nrest", ""),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(final_answer(text), expected, "{text:?}");
        }
    }

    #[test]
    fn maths_answers_stand_in_the_box_or_last() {
        let table = [
            (r"\boxed{3} then \boxed{ 4 }", "4"),
            (r"\boxed{\frac{3}{4}}", r"\frac{3}{4}"),
            (r"\boxed{\$18}", "$18"),
            (r"\boxed{\text{None}}", "None"),
            (r"\boxed{17", "17"),
            ("It is 1,234.5.", "1,234.5"),
            ("on 2015-08-04", "04"),
            ("it falls to -4 degrees", "-4"),
            ("x=-4", "-4"),
            ("5−3 is .5", ".5"),
            ("1.2.3", "3"),
            ("nothing here ", "nothing here"),
        ];
        for (text, expected) in table {
            assert_eq!(math_answer(text), expected, "{text}");
        }
    }
}
