//! Untrusted text made safe to show: every character that a terminal would obey, hide or reorder by becomes a visible sign.
//!
//! The cleaned text holds no control character (but `\n`, where lines are kept), no bidirectional control and no invisible
//! format character, except the joiner and the variation selector inside an emoji. Cleaning twice changes nothing.
//! Right-to-left letters stay as they are; nothing is judged or dropped.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// Columns between tab stops.
const TAB: usize = 4;

/// Cleans text of many lines: line separators of any kind become `\n`.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    cleaned(text, '\n')
}

/// Cleans text for one row: line breaks are shown as `⏎`.
#[must_use]
pub fn clean_line(text: &str) -> Cow<'_, str> {
    cleaned(text, '⏎')
}

fn cleaned(text: &str, line_break: char) -> Cow<'_, str> {
    if text
        .chars()
        .all(|c| !is_suspect(c) || c == '\n' && line_break == '\n')
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut column = 0;
    // Whether what was last written is an emoji, so that a joiner or selector belongs to it.
    let mut emoji = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let from = out.len();
        let was_emoji = std::mem::replace(&mut emoji, is_emoji(c));
        match c {
            '\r' if next == Some('\n') => emoji = was_emoji,
            '\n' | '\u{2028}' | '\u{2029}' => out.push(line_break),
            '\t' => out.extend(std::iter::repeat_n(' ', TAB - column % TAB)),
            VS16 if was_emoji || is_keycap(&out, next) => {
                emoji = was_emoji;
                out.push(c);
            }
            ZWJ if was_emoji && next.is_some_and(is_emoji) => out.push(c),
            '\0'..='\u{1F}' => out.extend(char::from_u32(0x2400 + c as u32)),
            '\u{7F}' => out.push('␡'),
            _ if is_suspect(c) => flag(c, &mut out),
            _ => out.push(c),
        }
        let written = out.get(from..).unwrap_or_default();
        column = if written == "\n" {
            0
        } else {
            column + written.chars().filter_map(char::width).sum::<usize>()
        };
    }
    Cow::Owned(out)
}

const ZWJ: char = '\u{200D}';
const VS16: char = '\u{FE0F}';

/// Whether a variation selector stands between a digit, `#` or `*` and the enclosing keycap.
fn is_keycap(written: &str, next: Option<char>) -> bool {
    written.ends_with(|c: char| c.is_ascii_digit() || c == '#' || c == '*')
        && next == Some('\u{20E3}')
}

/// Whether the character may not be shown as it is, or only after a look at its neighbours.
fn is_suspect(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control() || is_invisible(c) || name(c).is_some()
}

/// Writes a character by its name in brackets, such as `⟨RLO⟩`, or by its number.
fn flag(c: char, out: &mut String) {
    let number = || format!("U+{:04X}", c as u32);
    let name = name(c).map_or_else(number, str::to_owned);
    out.extend(["⟨", &name, "⟩"]);
}

/// The usual short name of a format character that reorders or hides.
fn name(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{202A}' => "LRE",
        '\u{202B}' => "RLE",
        '\u{202C}' => "PDF",
        '\u{202D}' => "LRO",
        '\u{202E}' => "RLO",
        '\u{2066}' => "LRI",
        '\u{2067}' => "RLI",
        '\u{2068}' => "FSI",
        '\u{2069}' => "PDI",
        '\u{200E}' => "LRM",
        '\u{200F}' => "RLM",
        '\u{061C}' => "ALM",
        '\u{200B}' => "ZWSP",
        '\u{200C}' => "ZWNJ",
        '\u{200D}' => "ZWJ",
        '\u{2060}' => "WJ",
        '\u{FEFF}' => "BOM",
        '\u{00AD}' => "SHY",
        '\u{034F}' => "CGJ",
        _ => return None,
    })
}

/// Invisible characters without a usual name: line and paragraph separators, fillers, invisible operators, deprecated and
/// interlinear format characters, variation selectors, tags.
#[rustfmt::skip]
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{2028}' | '\u{2029}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{2061}'..='\u{2065}' | '\u{206A}'..='\u{206F}' | '\u{3164}' | '\u{FFA0}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Whether the character is a pictograph of the emoji blocks; generous, since it only decides what may be joined.
const fn is_emoji(c: char) -> bool {
    matches!(c,
        '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | '〰' | '〽' | '㊗' | '㊙' | 'Ⓜ'
        | '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{25A0}'..='\u{27BF}' | '\u{2900}'..='\u{297F}'
        | '\u{2B00}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shows_what_a_terminal_would_obey() {
        let table = [
            ("\u{1b}[31mred\u{1b}[0m", "␛[31mred␛[0m"),
            ("bell\u{7}nul\0del\u{7f}", "bell␇nul␀del␡"),
            ("csi \u{9b}31m", "csi ⟨U+009B⟩31m"),
            ("a\u{202e}gpj.exe\u{202c}", "a⟨RLO⟩gpj.exe⟨PDF⟩"),
            ("\u{2066}x\u{2069}\u{200e}", "⟨LRI⟩x⟨PDI⟩⟨LRM⟩"),
            ("pay\u{200b}pal \u{feff}", "pay⟨ZWSP⟩pal ⟨BOM⟩"),
            ("hidden\u{e0041}", "hidden⟨U+E0041⟩"),
            ("ab\u{200d}c\u{fe0f}", "ab⟨ZWJ⟩c⟨U+FE0F⟩"),
            ("one\r\ntwo\rthree\n", "one\ntwo␍three\n"),
            ("one\u{2028}two\u{2029}", "one\ntwo\n"),
            ("a\tb\n\tc\t\td", "a   b\n    c       d"),
            ("图\tb", "图  b"),
            ("plain, שלום, 你好, e\u{301}", "plain, שלום, 你好, e\u{301}"),
        ];
        for (text, expected) in table {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn emoji_keep_what_holds_them_together() {
        for text in [
            "👩\u{200d}💻",
            "❤\u{fe0f}\u{200d}🔥",
            "👩🏽\u{200d}🚀",
            "1\u{fe0f}\u{20e3}",
            "✈\u{fe0f}",
        ] {
            assert_eq!(clean(text), text);
        }
        assert_eq!(clean("👩\u{200d}x"), "👩⟨ZWJ⟩x");
        assert_eq!(clean("👩\u{200d}\u{200d}💻"), "👩⟨ZWJ⟩⟨ZWJ⟩💻");
    }

    #[test]
    fn a_row_shows_its_line_breaks() {
        assert_eq!(clean_line("a\r\nb\nc\u{2028}d"), "a⏎b⏎c⏎d");
        assert!(matches!(clean_line("a b"), Cow::Borrowed(_)));
        assert!(matches!(clean("a\nb"), Cow::Borrowed(_)));
    }

    /// Characters of every kind that matters, more often than chance would bring them.
    fn hostile() -> impl Strategy<Value = String> {
        let special = prop::sample::select(
            "\0\u{1b}\r\n\t\u{7f}\u{85}\u{9b}\u{202e}\u{2066}\u{200b}\u{200d}\u{fe0f}\u{2028}\u{feff}👩💻❤1\u{20e3}a图"
                .chars()
                .collect::<Vec<_>>(),
        );
        prop::collection::vec(prop_oneof![3 => special, 1 => any::<char>()], 0..40)
            .prop_map(String::from_iter)
    }

    /// Bidirectional controls, line separators, and a space of no width.
    fn acts(c: char) -> bool {
        let bidi = matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{61C}');
        bidi || matches!(
            c,
            '\u{200E}' | '\u{200F}' | '\u{2028}' | '\u{2029}' | '\u{200B}'
        )
    }

    proptest! {
        #[test]
        fn nothing_acts_on_the_terminal(text in hostile()) {
            for (cleaned, kept) in [(clean(&text), Some('\n')), (clean_line(&text), None)] {
                let mut others = cleaned.chars().filter(|c| Some(*c) != kept);
                let found = others.find(|c| c.is_control() || acts(*c));
                prop_assert_eq!(found, None);
            }
        }

        #[test]
        fn cleaning_twice_changes_nothing(text in hostile()) {
            let (many, one) = (clean(&text), clean_line(&text));
            prop_assert_eq!(clean(&many), many.as_ref());
            prop_assert_eq!(clean_line(&one), one.as_ref());
        }

        #[test]
        fn a_row_is_one_row(text in hostile()) {
            prop_assert_eq!(clean_line(&text).lines().count().max(1), 1);
        }
    }
}
