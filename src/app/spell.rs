//! Sentences that name keys. A command stands in them by its name, as in `‹edit› opens it again` or `‹replay.stop› stops them`, and is
//! spelled as the key that it has here; a person's own keys are then never contradicted by what they read.
//!
//! Notices and reasons are spelled when they are told ([`App::tell`], [`Command::refused`]), texts of a view and of lessons when they
//! are drawn. Non-goal: keys that are no command's, such as those of the editor's own text.

use super::App;
use super::command::{Command, Context, Id, table};
use super::keymap::Keymap;

const OPEN: char = '‹';
const CLOSE: char = '›';

/// The commands that a text names, as it writes them.
pub fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split(OPEN)
        .skip(1)
        .filter_map(|after| Some(after.split_once(CLOSE)?.0))
}

/// A command by its name, `edit` or with its place `gates.edit`.
#[must_use]
pub fn command(name: &str) -> Option<(&'static Command, Option<Context>)> {
    let (place, id) = match name.split_once('.') {
        Some((place, id)) => {
            let mut all = Context::ALL.into_iter();
            (Some(all.find(|context| context.name() == place)?), id)
        }
        None => (None, name),
    };
    let works = |row: &Command| place.is_none_or(|place| row.contexts.contains(&place));
    let row = table()
        .iter()
        .find(|row| works(row) && row.id.name() == id)?;
    Some((row, place))
}

impl Keymap {
    /// A sentence with the keys that its commands have, in the place given or else where they work first.
    #[must_use]
    pub fn spell(&self, here: Context, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(OPEN) {
            out.push_str(before);
            let name = after.split_once(CLOSE);
            let known = name.and_then(|(name, after)| Some((command(name)?, after)));
            if let Some(((row, place), after)) = known {
                out.push_str(&self.key_of(row.id, place.unwrap_or(here)));
                rest = after;
            } else {
                // Somebody else's marks.
                out.push(OPEN);
                rest = after;
            }
        }
        out.push_str(rest);
        out
    }

    /// The key of a command in a place, or else in the first one where it has any.
    fn key_of(&self, id: Id, here: Context) -> String {
        let key = |context: Context| {
            let mut rows = table()
                .iter()
                .filter(|row| row.id == id && row.contexts.contains(&context));
            rows.find_map(|row| self.keys(row, context).first())
        };
        let mut places = std::iter::once(here).chain(Context::ALL);
        if let Some(key) = places.find_map(key) {
            return key.to_string();
        }
        // Without a key it is still found by its name.
        let title = table().iter().find(|row| row.id == id);
        let title = title.map_or("", |row| row.title);
        match id {
            Id::Palette => format!("“{title}” (no key)"),
            _ => format!("{} “{title}”", self.key_of(Id::Palette, here)),
        }
    }
}

impl App {
    /// A sentence with the keys that its commands have here.
    #[must_use]
    pub fn spell(&self, text: &str) -> String {
        self.keymap.spell(self.place(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_spelled_as_its_key_here() {
        let own = "edit = 'F5'\ncopy = []\n[gates]\nedit = 'E'\n[typing]\ngates = 'F7'";
        let map = Keymap::parse("keys.toml", own).unwrap();
        let table = [
            (Context::Steps, "‹edit› edits", "F5 edits"),
            (Context::Gates, "‹edit› edits", "E edits"),
            // Where it has no key, that of another place is meant.
            (Context::Picker, "‹edit› edits", "F5 edits"),
            (Context::Picker, "‹gates.edit›, ‹help›", "E, ?"),
            (Context::Typing, "then ‹gates›", "then F7"),
            (Context::Steps, "‹copy› copies", "Ctrl-P “copy” copies"),
            // What names no command is somebody's text.
            (
                Context::Steps,
                "‹hello› ‹edit ‹ ‹edit›",
                "‹hello› ‹edit ‹ F5",
            ),
            (Context::Steps, "‹picker.edit›", "‹picker.edit›"),
        ];
        for (here, text, expected) in table {
            assert_eq!(map.spell(here, text), expected);
        }
    }
}
