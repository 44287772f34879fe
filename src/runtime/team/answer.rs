//! Recognises a final answer in what an agent says: `FINAL ANSWER: …`, `\boxed{…}`, a closing `TERMINATE`.
//!
//! A marker counts only where it is used, at the beginning or the end of a line, not where a message merely speaks of it.

/// The answer that a `FINAL ANSWER` line states.
#[must_use]
pub(super) fn stated(text: &str) -> Option<String> {
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(rest) = after_marker(line) else {
            continue;
        };
        let rest = if rest.is_empty() {
            lines.map(bare).find(|line| !line.is_empty())?
        } else {
            rest
        };
        return Some(rest.to_owned());
    }
    None
}

/// The answer that ends a dialogue without an orchestrator. `before` is what was said last before this text: a bare `TERMINATE` confirms it.
#[must_use]
pub(super) fn closing(text: &str, before: Option<&str>) -> Option<String> {
    stated(text).or_else(|| boxed(text)).or_else(|| {
        let rest = text.trim_end().strip_suffix("TERMINATE")?;
        if rest.chars().next_back().is_some_and(char::is_alphanumeric) {
            return None;
        }
        if rest.trim().is_empty() {
            let before = before?;
            return Some(
                stated(before)
                    .or_else(|| boxed(before))
                    .unwrap_or_else(|| before.trim().to_owned()),
            );
        }
        Some(rest.trim().to_owned())
    })
}

/// What follows `FINAL ANSWER` in a line that begins with it, decoration aside.
pub(super) fn after_marker(line: &str) -> Option<&str> {
    const MARKER: &str = "final answer";
    let line = bare(line);
    let head = line.get(..MARKER.len())?;
    let rest = line.get(MARKER.len()..)?;
    let marked = head.eq_ignore_ascii_case(MARKER)
        && (rest.trim().is_empty() || rest.trim_start_matches(['*', ' ']).starts_with(':'));
    marked.then(|| bare(rest.trim_start_matches(['*', ' ', ':'])))
}

/// A line without the marks that Markdown puts around it.
fn bare(line: &str) -> &str {
    line.trim()
        .trim_start_matches(['*', '#', '>', '`', ' '])
        .trim_end_matches(['*', '`', ' '])
}

/// The content of the last `\boxed{…}` that is not empty, braces balanced.
fn boxed(text: &str) -> Option<String> {
    text.rmatch_indices("\\boxed{")
        .filter_map(|(at, opening)| balanced(text.get(at + opening.len()..)?))
        .map(str::trim)
        .find(|inner| !inner.is_empty())
        .map(str::to_owned)
}

/// The text up to the brace that closes one already open.
fn balanced(text: &str) -> Option<&str> {
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(..at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_stated_answer_where_it_is_stated() {
        let cases = [
            ("FINAL ANSWER: Oslo", Some("Oslo")),
            ("We are done.\n**Final answer:** 42", Some("42")),
            ("FINAL ANSWER:\n\n  Oslo\nbecause", Some("Oslo")),
            ("## Final Answer\n17", Some("17")),
            ("Tell me your FINAL ANSWER: soon", None),
            ("Final answers are due", None),
            ("FINAL ANSWER:", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(stated(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn closes_a_dialogue() {
        let cases = [
            (
                "so it is \\boxed{\\frac{1}{2}}.",
                None,
                Some("\\frac{1}{2}"),
            ),
            ("\\boxed{1}, no: \\boxed{2}", None, Some("2")),
            ("put it in \\boxed{}", None, None),
            ("open \\boxed{1", None, None),
            ("The sum is 5. TERMINATE", None, Some("The sum is 5.")),
            ("TERMINATE\n", Some("It is 7."), Some("It is 7.")),
            ("TERMINATE", None, None),
            ("Reply TERMINATE when you are done", None, None),
            ("DETERMINATE", None, None),
        ];
        for (text, before, expected) in cases {
            assert_eq!(closing(text, before).as_deref(), expected, "{text:?}");
        }
    }
}
