//! JSON made readable: every value that stands on lines of its own is indented and given roles; all else stays as it is.
//!
//! Only white space between tokens changes: numbers, escapes, key order and repeated keys are the log's. Broken or cut-off JSON
//! is text like any other. The text is clean (`model::clean`). Non-goals: folding, and JSON in the middle of a line.

use serde::de::IgnoredAny;

use super::passage::Passage;
use super::role::Role;

/// How often a text may look like JSON and not be, before the rest of it is taken as text.
const MAX_FAILURES: usize = 16;

/// The text with its JSON made readable.
#[must_use]
pub fn passage(text: &str) -> Passage {
    let mut passage = Passage::default();
    let mut rest = text;
    while let Some((before, value, after)) = next_value(rest) {
        passage.push(before, Role::Text);
        indent(value, &mut passage);
        rest = after;
    }
    passage.push(rest, Role::Text);
    passage
}

/// The next object or array that begins and ends at a line's edge, with what stands before and after it. An indented line begins
/// none: it is rather the inside of a broken one.
fn next_value(text: &str) -> Option<(&str, &str, &str)> {
    let mut failures = 0;
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with(['{', '[']) {
            let (before, rest) = text.split_at_checked(line_start)?;
            if let Some((value, after)) = split_value(rest) {
                return Some((before, value, after));
            }
            failures += 1;
            if failures == MAX_FAILURES {
                return None;
            }
        }
        line_start += line.len();
    }
    None
}

/// Parts the JSON value at the start from the rest, if nothing else stands on its last line.
fn split_value(text: &str) -> Option<(&str, &str)> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    stream.next()?.ok()?;
    let (value, after) = text.split_at_checked(stream.byte_offset())?;
    let tail = after.lines().next().unwrap_or_default();
    tail.trim().is_empty().then_some((value, after))
}

/// Writes a valid JSON value, a member a line.
fn indent(json: &str, passage: &mut Passage) {
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let (token, after) = split_token(rest);
        let after = after.trim_start();
        let line = |depth: usize| format!("\n{}", "  ".repeat(depth));
        match first {
            '{' | '[' => {
                passage.push(token, Role::Muted);
                if !after.starts_with(['}', ']']) {
                    depth += 1;
                    passage.push(&line(depth), Role::Muted);
                }
            }
            '}' | ']' => {
                if !passage.text().ends_with(['{', '[']) {
                    depth = depth.saturating_sub(1);
                    passage.push(&line(depth), Role::Muted);
                }
                passage.push(token, Role::Muted);
            }
            ',' => {
                passage.push(token, Role::Muted);
                passage.push(&line(depth), Role::Muted);
            }
            ':' => passage.push(": ", Role::Muted),
            '"' if after.starts_with(':') => passage.push(token, Role::Accent),
            '"' => passage.push(token, Role::Text),
            _ => passage.push(token, Role::Title),
        }
        rest = after;
    }
}

/// Parts the first token of valid JSON from the rest.
fn split_token(json: &str) -> (&str, &str) {
    let end = if json.starts_with('"') {
        let mut escaped = false;
        let quote = json.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        quote.map(|(at, _)| at + 1)
    } else if json.starts_with(['{', '}', '[', ']', ',', ':']) {
        Some(1)
    } else {
        json.find(|c: char| c.is_whitespace() || ",:]}".contains(c))
    };
    json.split_at_checked(end.unwrap_or(json.len()))
        .unwrap_or((json, ""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn indents_what_is_json_and_leaves_the_rest() {
        let table = [
            (r#"{"a":1,"b":[]}"#, "{\n  \"a\": 1,\n  \"b\": []\n}"),
            // Number, repeated key and escapes are the log's own.
            (
                r#"{"n":1.10,"n":"\u00e9\"}"}"#,
                "{\n  \"n\": 1.10,\n  \"n\": \"\\u00e9\\\"}\"\n}",
            ),
            (
                "Updated Ledger:\n[true,{}]\nend",
                "Updated Ledger:\n[\n  true,\n  {}\n]\nend",
            ),
            // Not JSON: cut off, a reference, prose in braces, single quotes.
            (r#"{"a": [1, 2"#, r#"{"a": [1, 2"#),
            ("[1] as shown by", "[1] as shown by"),
            ("{curly}", "{curly}"),
            ("{'a': 1}", "{'a': 1}"),
            // The inside of a broken value is not taken for a whole one.
            ("{\n  [1]\n}", "{\n  [1]\n}"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(passage(text).text(), expected, "{text}");
        }
    }

    #[test]
    fn keys_strings_and_literals_differ() {
        let shown = passage(r#"{"a":"b","c":null}"#);
        let roles: Vec<(&str, Role)> = shown
            .parts(0..shown.text().len())
            .map(|(text, look)| (text, look.role))
            .filter(|(_, role)| *role != Role::Muted)
            .collect();
        assert_eq!(
            roles,
            [
                ("\"a\"", Role::Accent),
                ("\"b\"", Role::Text),
                ("\"c\"", Role::Accent),
                ("null", Role::Title)
            ]
        );
    }

    #[test]
    fn nesting_without_end_is_text() {
        let deep = "[".repeat(100_000);
        assert_eq!(passage(&deep).text(), deep);
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a\"\\\\{}:, 天]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c\":]{0,3}", inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn agrees_with_serdes_own_indentation(value in values()) {
            let container = serde_json::json!([value]);
            let shown = passage(&container.to_string());
            prop_assert_eq!(shown.text(), serde_json::to_string_pretty(&container).unwrap());
        }

        #[test]
        fn any_text_loses_nothing_but_white_space(text in "[\\[\\]{}\",:a1 \\n]{0,60}") {
            let ink = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(ink(passage(&text).text()), ink(&text));
        }
    }
}
