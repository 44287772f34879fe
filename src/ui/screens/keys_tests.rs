//! No text names a key that a person moved elsewhere: every command gets a key that stands nowhere else, and every screen, notice and
//! refusal is searched for the table's own.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::tests::{screen, screens};
use crate::app::command::{Context, Id, table};
use crate::app::keymap::Keymap;
use crate::app::press_fixture::with_keys;
use crate::app::{App, Msg, fixture, update};

/// A key for every command, such as no text has.
fn own_keys() -> Keymap {
    let mut file = String::new();
    let sign = |id: Id| {
        let at = table().iter().position(|row| row.id == id).unwrap();
        char::from_u32(0x1401 + u32::try_from(at).unwrap()).unwrap()
    };
    for context in Context::ALL {
        writeln!(file, "[{}]", context.name()).unwrap();
        let held = if context.types() { "Ctrl-" } else { "" };
        let here = table().iter().filter(|row| row.contexts.contains(&context));
        for row in here.filter(|row| row.id != Id::Leave) {
            writeln!(file, "{} = '{held}{}'", row.id.name(), sign(row.id)).unwrap();
        }
    }
    Keymap::parse("keys.toml", &file).unwrap()
}

/// What stands in a text as a key of the table: a letter by itself or a key's name. `a` is an article too (both are seen in the source, by `tests/it/house.rs`); the editor's own text has
/// Ctrl-K and Ctrl-U; Ctrl-C leaves always.
fn named(text: &str) -> BTreeSet<String> {
    let keys = table().iter().flat_map(|row| row.keys);
    let keys: BTreeSet<String> = keys.map(ToString::to_string).collect();
    let letter = |word: &str| {
        let mut signs = word.chars();
        let one = signs.next().filter(char::is_ascii_alphabetic);
        one.is_some() && signs.next().is_none() && !["a", "A"].contains(&word)
    };
    let name = |word: &str| {
        let own = ["Ctrl-C", "Ctrl-K", "Ctrl-U", "Home", "End"].contains(&word);
        word.starts_with(|c: char| c.is_ascii_uppercase()) && word.len() > 1 && !own
    };
    let words = text.split_whitespace();
    let words = words.map(|word| word.trim_matches(|c: char| "()“”:;,.?!|".contains(c)));
    words
        .filter(|word| keys.contains(*word) && (letter(word) || name(word)))
        .map(str::to_owned)
        .collect()
}

fn search(place: &str, text: &str) {
    // A command is called so.
    let found = named(&text.replace("n steps", ""));
    assert!(found.is_empty(), "{place} names {found:?}:\n{text}");
}

#[test]
fn the_search_sees_a_key_that_is_named() {
    for (text, key) in [
        ("kept: f takes it to the gates", "f"),
        ("(Esc, then r)", "r"),
        ("press Enter", "Enter"),
        ("then Ctrl-S forks it", "Ctrl-S"),
    ] {
        assert!(named(text).contains(key), "{text}");
    }
    assert!(named("a step of branch b1 isn't held at all").is_empty());
}

#[test]
fn no_screen_names_a_key_that_was_moved() {
    let keys = own_keys();
    let all = with_keys(&keys, screens).into_iter();
    // In the overview a letter is an agent.
    for (name, mut app) in all.filter(|(name, _)| !name.starts_with("overview")) {
        for (width, height) in [(80, 24), (140, 250)] {
            let text = screen(&mut app, name, width, height);
            // A count of what lies below may cut a word.
            let lines: Vec<&str> = text.lines().filter(|line| !line.contains('↓')).collect();
            search(name, &lines.join("\n"));
        }
    }
}

#[test]
fn nothing_told_or_refused_names_a_key_that_was_moved() {
    let keys = own_keys();
    for (name, mut app) in with_keys(&keys, screens) {
        let told = |app: &App, place: &str| {
            if let Some(notice) = &app.notice {
                search(place, &notice.text);
            }
        };
        told(&app, name);
        for row in table().iter().filter(|row| row.id != Id::Leave) {
            let context = app.context();
            if !row.contexts.contains(&context) {
                continue;
            }
            let place = format!("{name}: {} in {}", row.id.name(), context.name());
            if let Some(why) = row.refused(&app) {
                search(&place, &why);
            }
            let Some(key) = app.keymap.keys(row, context).first().copied() else {
                continue;
            };
            let jobs = update(&mut app, Msg::Key(key));
            told(&app, &place);
            fixture::answer(&mut app, jobs);
            told(&app, &place);
        }
    }
}
