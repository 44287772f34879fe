//! How a named value may be spelt in a text, as a pattern.
//!
//! Non-goals: parts of a value, other spellings of a name, what was encoded as a whole.

/// With fewer letters and digits only the value as it is written is looked for.
const LEAST: usize = 3;

/// A pattern for how a value may stand in a text: as it is, whatever its white space, as JSON, an address or HTML has its signs; and
/// by whole words in any case, with other signs between them, as file names and slugs have it.
pub(super) fn pattern(value: &str) -> String {
    let exact = |c: char| -> String {
        let plain = regex::escape(&c.to_string());
        if c.is_ascii_alphanumeric() {
            return plain;
        }
        let mut utf8 = [0; 4];
        let bytes = c.encode_utf8(&mut utf8).bytes();
        let percent = joined(bytes.map(|byte| format!("%(?i:{byte:02X})")));
        let mut utf16 = [0; 2];
        let units = c.encode_utf16(&mut utf16);
        let units = units.iter();
        let json = joined(units.map(|unit| format!(r"\\+u(?i:{unit:04x})")));
        match c {
            '"' => format!(r"(?:\\*\x22|%22|{json}|&quot;|&#34;)"),
            '\'' => format!(r"(?:\\*'|%27|{json}|&#39;|&apos;)"),
            '&' => format!("(?:&amp;|&|%26|{json})"),
            '<' => format!("(?:<|&lt;|%3[Cc]|{json})"),
            '>' => format!("(?:>|&gt;|%3[Ee]|{json})"),
            '\\' => r"(?:\\+|%5[Cc])".to_owned(),
            _ => format!("(?:{plain}|{percent}|{json})"),
        }
    };
    let space = r"(?:\s|\\+[nrt]|%20|%0[AaDd9]|\+|&nbsp;)+";
    let words: Vec<String> = value
        .split_whitespace()
        .map(|word| word.chars().map(exact).collect())
        .collect();
    let exact = words.join(space);
    let words: Vec<String> = value
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| word.chars().map(exact_letter).collect())
        .collect();
    let letters = value.chars().filter(|c| c.is_alphanumeric()).count();
    if letters < LEAST {
        return exact;
    }
    // A word within a word is another one: `Ann` is not in `planned`.
    let loose = words.join(r"(?:[\s\p{P}\p{S}]{1,3}|%[0-9A-Fa-f]{2}|\\+[nrt])");
    format!(r"{exact}|\b(?i:{loose})\b")
}

/// A letter, also as an address has it.
fn exact_letter(c: char) -> String {
    let plain = regex::escape(&c.to_string());
    if c.is_ascii() {
        return plain;
    }
    let mut utf8 = [0; 4];
    let bytes = c.encode_utf8(&mut utf8).bytes();
    let percent = joined(bytes.map(|byte| format!("%{byte:02X}")));
    format!("(?:{plain}|{percent})")
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().concat()
}
