//! Quotations in running text, told apart from apostrophes: who writes "Ben's" or "don't" quotes nothing.
//!
//! A mark opens after anything but a letter or digit of a script with cases, and is closed by its like before the line ends. Not here:
//! quotations within quotations.

use std::ops::Range;

/// The longest quotation, in characters; what is longer is a passage and names nothing.
const LONGEST: usize = 80;

/// The quotations of a text, in order: what stands between the marks, as byte ranges.
pub(super) fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut before = None;
    for (at, mark) in text.char_indices() {
        let opens = at >= from && !(before.is_some_and(in_word) && matches!(mark, '"' | '\''));
        before = Some(mark);
        let Some(close) = closing(mark).filter(|_| opens) else {
            continue;
        };
        let start = at + mark.len_utf8();
        if let Some(length) = length(text.get(start..).unwrap_or_default(), close) {
            found.push(start..start + length);
            from = start + length + close.len_utf8();
        }
    }
    found
}

const fn closing(mark: char) -> Option<char> {
    match mark {
        '"' | '\'' => Some(mark),
        '“' => Some('”'),
        '‘' => Some('’'),
        _ => None,
    }
}

/// Whether an apostrophe beside this character belongs to a word. Scripts without cases part no words, so that a mark there quotes.
fn in_word(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase() || c.is_numeric()
}

/// How many bytes stand before the mark that closes.
fn length(rest: &str, close: char) -> Option<usize> {
    let mut before = None;
    let mut chars = rest.char_indices().take(LONGEST + 1).peekable();
    while let Some((at, c)) = chars.next() {
        let ends = !chars.peek().is_some_and(|(_, next)| in_word(*next));
        let after_space = before.is_none_or(char::is_whitespace);
        match c {
            '\n' => return None,
            _ if c.is_whitespace() && before.is_none() => return None,
            _ if c == close && ends && !after_space => return Some(at),
            _ => before = Some(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_apostrophe_is_no_quotation() {
        let table: [(&str, &[&str]); 11] = [
            ("Click 'All years', then \"2015\".", &["All years", "2015"]),
            ("Read “The Mill” and ‘The Sea’", &["The Mill", "The Sea"]),
            ("the stone in Ben & Jerry's yard, Ann's", &[]),
            ("I don't know and can't tell", &[]),
            ("Ann's plan and the readers' choice", &[]),
            ("Press 'Don't ask'.", &["Don't ask"]),
            ("the readers' choice is 'Fog'", &["Fog"]),
            // A short one keeps its own closing mark.
            ("\"Pa\" is one form, \"Mato\" another", &["Pa", "Mato"]),
            ("点击'所有年份'", &["所有年份"]),
            ("an open 'end\nand 'x'", &["x"]),
            ("'' and ' a '", &[]),
        ];
        for (text, expected) in table {
            let found: Vec<&str> = quotations(text)
                .into_iter()
                .filter_map(|range| text.get(range))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
        let long = format!("'{}'", "x".repeat(LONGEST + 1));
        assert!(quotations(&long).is_empty());
    }
}
