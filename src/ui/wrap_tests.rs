use proptest::prelude::*;

use super::super::colour::Depth;
use super::super::role::Role;
use super::*;

fn wrapped(text: &str, width: u16) -> Wrapped {
    Wrapped::new(Passage::plain(text, Role::Text), width)
}

fn rows(text: &str, width: u16) -> Vec<String> {
    let mut wrapped = wrapped(text, width);
    (0..wrapped.len())
        .map(|row| wrapped.row(row).unwrap().to_owned())
        .collect()
}

#[test]
fn breaks_where_a_reader_expects_it() {
    let table: [(&str, u16, &[&str]); 16] = [
        ("", 10, &[""]),
        ("short", 10, &["short"]),
        ("one two three", 7, &["one two", "three"]),
        ("one two three", 8, &["one two", "three"]),
        ("one  two", 4, &["one", "two"]),
        ("a\n\nb", 5, &["a", "", "b"]),
        ("a\n", 5, &["a", ""]),
        ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
        (
            "see https://x.org/abc",
            8,
            &["see", "https://", "x.org/ab", "c"],
        ),
        // Indentation stays with its word; it is no place to break.
        ("    indented", 8, &["    inde", "nted"]),
        ("天地玄黄", 5, &["天地", "玄黄"]),
        // No row begins with a closing mark.
        ("天地，玄黄", 4, &["天", "地，", "玄黄"]),
        ("say 天地玄黄", 8, &["say 天地", "玄黄"]),
        // A family is one cluster of two cells; a flag too.
        ("👨‍👩‍👧👨‍👩‍👧", 3, &["👨‍👩‍👧", "👨‍👩‍👧"]),
        ("🇩🇪🇫🇷", 2, &["🇩🇪", "🇫🇷"]),
        // A combining mark after a full row belongs to its last letter.
        ("abcde\u{301}f", 5, &["abcde\u{301}", "f"]),
    ];
    for (text, width, expected) in table {
        assert_eq!(rows(text, width), expected, "{text:?} at {width}");
    }
}

#[test]
fn finds_no_more_rows_than_are_asked_for() {
    let mut wrapped = wrapped(&"word ".repeat(1_000_000), 80);
    assert_eq!(wrapped.known(), (0, false));
    let lines = wrapped.lines(10, 5, &Theme::fallback(Depth::None)).len();
    assert_eq!((lines, wrapped.known()), (5, (15, false)));
}

#[test]
fn a_change_of_width_keeps_the_place() {
    let text: String = (0..500).map(|n| format!("word{n} ")).collect();
    let mut wide = wrapped(&text, 60);
    let offset = wide.scrolled(0, 20, 10);
    let first = wide.row_at(offset);
    let word = wide
        .row(first)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .to_owned();
    for width in [13, 31, 120] {
        let mut other = wrapped(&text, width);
        let top = other.row_at(offset);
        assert!(other.row(top).unwrap().contains(&word), "{width}");
    }
    assert_eq!(wide.row_at(offset), 20);
}

#[test]
fn scrolling_stops_at_both_ends() {
    let mut wrapped = wrapped("a\nb\nc\nd\ne", 10);
    let down = wrapped.scrolled(0, 100, 3);
    assert_eq!(wrapped.row_at(down), 2);
    assert_eq!(wrapped.scrolled(down, -100, 3), 0);
    // A pane higher than the text does not scroll.
    assert_eq!(wrapped.scrolled(0, 1, 9), 0);
}

/// Texts of the sort that break wrapping: words, blanks, wide characters, clusters, marks without a letter.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "word",
        "longerword",
        " ",
        "  ",
        "          ",
        "\n",
        "天",
        "，",
        "（",
        "e\u{301}",
        "\u{301}",
        "👨‍👩‍👧",
        "👍🏽",
        "🇩🇪",
        "ﾟ",
        "각",
        "क्षि",
        "\u{200b}",
        "-",
        "…",
        "ﷺ",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_row_is_too_wide_and_nothing_is_lost(text in texts(), width in 2_u16..20) {
        let mut wrapped = wrapped(&text, width);
        let count = wrapped.len();
        let mut from = 0;
        for row in wrapped.rows.clone() {
            prop_assert!(text[row.clone()].cell_width() <= width, "{:?}", &text[row]);
            // Between two rows only what a break swallows.
            prop_assert!(text[from..row.start].chars().all(|c| c == ' ' || c == '\n'));
            from = row.end;
        }
        prop_assert!(text[from..].chars().all(|c| c == ' ' || c == '\n'));
        let lines = text.matches('\n').count() + 1;
        prop_assert!(count >= lines);
    }

    #[test]
    fn the_fast_way_agrees_with_the_general_one(text in "[ab \n]{0,80}", width in 2_usize..12) {
        let mut start = Some(0);
        while let Some(at) = start {
            let general = next_grapheme_row(&text[at..], at, width);
            if let Some(fast) = next_ascii_row(text.as_bytes(), at, width) {
                prop_assert_eq!(&fast, &general, "{:?} from {}", text, at);
            }
            start = general.1;
        }
    }

    #[test]
    fn any_text_and_width_end(text in any::<String>(), width in 0_u16..9) {
        let mut wrapped = wrapped(&text, width);
        prop_assert!(wrapped.len() <= text.len() + 1);
    }
}
