//! Keys for tests, written as signs. They are the table's own; an application with keys of a person's own gets theirs for the same command.

use std::cell::RefCell;

use super::command;
use super::key::{Code, Key};
use super::keymap::Keymap;
use super::{App, Job, Msg, fixture, update};

thread_local! {
    static KEYS: RefCell<Keymap> = RefCell::default();
}

/// Makes applications that have these keys.
pub(crate) fn with_keys<T>(keys: &Keymap, get: impl FnOnce() -> T) -> T {
    KEYS.with_borrow_mut(|now| now.clone_from(keys));
    let made = get();
    KEYS.with_borrow_mut(|now| *now = Keymap::default());
    made
}

/// An application as it starts, with the keys that are asked for.
pub(crate) fn started(mut app: App) -> App {
    app.keymap = KEYS.with_borrow(Clone::clone);
    app
}

/// Presses one key and tells what is to be done.
pub(crate) fn press_one(app: &mut App, sign: char) -> Vec<Job> {
    let key = match sign {
        '⏎' => Key::of(Code::Enter),
        '⎋' => Key::of(Code::Esc),
        '⇥' => Key::of(Code::Tab),
        '␓' => Key::ctrl('s'),
        '⌦' => Key::ctrl('u'),
        c => Key::char(c),
    };
    let context = app.context();
    let own = command::find(context, key)
        .filter(|_| app.keymap != Keymap::default())
        .and_then(|row| app.keymap.keys(row, context).first().copied());
    update(app, Msg::Key(own.unwrap_or(key)))
}

/// Presses keys and lets the store answer.
pub(crate) fn press(app: &mut App, keys: &str) {
    for sign in keys.chars() {
        let jobs = press_one(app, sign);
        fixture::answer(app, jobs);
    }
}
