//! Keys of a person's own, from `keys.toml`, over those of the command table.
//!
//! A file names commands as the table has them (`next-error`), anywhere or under one place (`[picker]`), with their keys. Invariants: a
//! key means one thing in a place, every place can be left, and Ctrl-C leaves always; a file that breaks one of these is not taken at
//! all. Non-goal: reading the file.

use std::collections::HashMap;
use std::str::FromStr;

use thiserror::Error;
use toml::de::{DeTable, DeValue};

use super::command::{Command, Context, Id, table};
use super::key::{Code, Key};

/// Where a file is wrong, and what would be right.
#[derive(Error, Debug, PartialEq, Eq)]
#[error("{file}, line {line}: {reason}")]
pub struct KeymapError {
    /// The file.
    pub file: String,
    /// 1-based.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

/// The keys as they are here: those of the table, but for what a person chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keymap {
    own: HashMap<(Context, Id), Vec<Key>>,
}

impl Keymap {
    /// Reads a file's text.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line.
    pub fn parse(file: &str, text: &str) -> Result<Self, KeymapError> {
        let wrong = |offset: usize, reason: String| KeymapError {
            file: file.to_owned(),
            line: 1 + text.get(..offset).unwrap_or_default().matches('\n').count(),
            reason,
        };
        let parsed = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(at, error.message().to_owned())
        })?;
        let mut map = Self::default();
        // Where each was said, for what shows only when all is read.
        let mut said = HashMap::new();
        let (places, anywhere): (Vec<_>, Vec<_>) = parsed
            .get_ref()
            .iter()
            .partition(|(_, value)| matches!(value.get_ref(), DeValue::Table(_)));
        let anywhere = anywhere
            .into_iter()
            .map(|(name, value)| (None, name, value));
        let mut entries: Vec<_> = anywhere.collect();
        for (name, place) in places {
            let at = name.span().start;
            let context = Context::ALL
                .into_iter()
                .find(|context| context.name() == name.get_ref().as_ref())
                .ok_or_else(|| {
                    let known: Vec<_> = Context::ALL.iter().map(|it| it.name()).collect();
                    wrong(
                        at,
                        format!(
                            "[{}] is no place. Places: {}",
                            name.get_ref(),
                            known.join(", ")
                        ),
                    )
                })?;
            if let DeValue::Table(inner) = place.get_ref() {
                entries.extend(
                    inner
                        .iter()
                        .map(|(name, value)| (Some(context), name, value)),
                );
            }
        }
        for (place, name, value) in entries {
            let at = name.span().start;
            let rows: Vec<&Command> = table()
                .iter()
                .filter(|row| row.id.name() == name.get_ref().as_ref())
                .collect();
            let keys = keys_of(value.get_ref()).map_err(|reason| wrong(at, reason))?;
            let id = match rows.first() {
                None => {
                    let reason = format!(
                        "{} is no command. `dover keys --template` lists them all",
                        name.get_ref()
                    );
                    return Err(wrong(at, reason));
                }
                Some(row) if row.id == Id::Leave => {
                    return Err(wrong(
                        at,
                        "Ctrl-C leaves always: take this line out".to_owned(),
                    ));
                }
                Some(row) => row.id,
            };
            let works = |context: &Context| rows.iter().any(|row| row.contexts.contains(context));
            if let Some(context) = place.filter(|context| !works(context)) {
                let reason = format!("{} does not work in {}", id.name(), context.name());
                return Err(wrong(at, reason));
            }
            let contexts = Context::ALL.into_iter().filter(works);
            for context in contexts.filter(|context| place.is_none_or(|place| place == *context)) {
                let mut keys = keys.clone();
                if context.types() {
                    keys.retain(|key| key.ctrl || !matches!(key.code, Code::Char(_)));
                    if keys.is_empty() && place.is_none() {
                        continue;
                    }
                    if keys.is_empty() {
                        let reason = format!(
                            "in {} a plain character is typed: take a key with Ctrl, or F1 to F12",
                            context.name()
                        );
                        return Err(wrong(at, reason));
                    }
                }
                map.own.insert((context, id), keys);
                said.insert((context, id), at);
            }
        }
        map.check().map_err(|(context, id, reason)| {
            wrong(
                said.get(&(context, id)).copied().unwrap_or_default(),
                reason,
            )
        })?;
        Ok(map)
    }

    /// What the whole of it breaks, with an entry that is to blame.
    fn check(&self) -> Result<(), (Context, Id, String)> {
        for context in Context::ALL {
            let mut seen: HashMap<Key, Id> = HashMap::new();
            let rows = || {
                table()
                    .iter()
                    .filter(move |row| row.contexts.contains(&context))
            };
            for row in rows() {
                for key in self.keys(row, context) {
                    let Some(other) = seen.insert(*key, row.id).filter(|other| *other != row.id)
                    else {
                        continue;
                    };
                    // The one that was moved is to blame, not the one that stood there.
                    let (blamed, there) = if self.own.contains_key(&(context, row.id)) {
                        (row.id, other)
                    } else {
                        (other, row.id)
                    };
                    let reason = format!(
                        "{key} is {} in {} already: give that another key, or take another here",
                        there.name(),
                        context.name()
                    );
                    return Err((context, blamed, reason));
                }
            }
            let out = [Id::Back, Id::Quit, Id::StopTyping];
            let can_leave =
                rows().any(|row| out.contains(&row.id) && !self.keys(row, context).is_empty());
            let blamed = out
                .into_iter()
                .find(|id| self.own.contains_key(&(context, *id)));
            if let (false, Some(blamed)) = (can_leave, blamed) {
                let reason = format!(
                    "without a key for {} nobody gets out of {}",
                    blamed.name(),
                    context.name()
                );
                return Err((context, blamed, reason));
            }
        }
        Ok(())
    }

    /// The keys of a row of the table in a place.
    #[must_use]
    pub fn keys(&self, row: &'static Command, context: Context) -> &[Key] {
        self.own
            .get(&(context, row.id))
            .map_or(row.keys, Vec::as_slice)
    }

    /// The command of a key in a place.
    #[must_use]
    pub fn find(&self, context: Context, pressed: Key) -> Option<&'static Command> {
        let mut rows = table().iter().filter(|row| row.contexts.contains(&context));
        rows.find(|row| self.keys(row, context).contains(&pressed))
    }

    /// All keys of a row, wherever it works, as text.
    #[must_use]
    pub fn text(&self, row: &'static Command) -> String {
        let names = self.all(row).into_iter().map(|key| key.to_string());
        names.collect::<Vec<_>>().join(" ")
    }

    /// All keys of a row, each once.
    #[must_use]
    pub fn all(&self, row: &'static Command) -> Vec<Key> {
        let mut all: Vec<Key> = Vec::new();
        for context in row.contexts {
            for key in self.keys(row, *context) {
                if !all.contains(key) {
                    all.push(*key);
                }
            }
        }
        all
    }
}

/// A key, or a list of them.
fn keys_of(value: &DeValue<'_>) -> Result<Vec<Key>, String> {
    let one = |value: &DeValue<'_>| match value {
        DeValue::String(name) => name.parse::<Key>(),
        _ => Err("keys are texts, such as [\"n\", \"Ctrl-N\"]".to_owned()),
    };
    match value {
        DeValue::Array(list) => list.iter().map(|value| one(value.get_ref())).collect(),
        value => one(value).map(|key| vec![key]),
    }
}

impl FromStr for Key {
    type Err = String;

    /// Reads a key as the help writes it; arrows have names too.
    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "{text:?} is no key. Keys: a character, Ctrl-S, Enter, Esc, Tab, Shift-Tab, Space, Up, Down, Left, Right, PgUp, PgDn, Home, End, Bksp, Del, F1 to F12"
            )
        };
        let (mut ctrl, mut shift, mut rest) = (false, false, text);
        while let Some((held, after)) = rest
            .split_once('-')
            .filter(|(held, after)| held.len() > 1 && !after.is_empty())
        {
            match held.to_ascii_lowercase().as_str() {
                "ctrl" => ctrl = true,
                "shift" => shift = true,
                "alt" => {
                    return Err(format!(
                        "{text:?}: Alt cannot be told from Esc in many terminals. Take Ctrl or F1 to F12"
                    ));
                }
                _ => return Err(unknown()),
            }
            rest = after;
        }
        let mut signs = rest.chars();
        let code = match (signs.next(), signs.next()) {
            (Some(sign), None) => arrow(sign).unwrap_or(Code::Char(sign)),
            _ => named(rest).ok_or_else(unknown)?,
        };
        let code = match code {
            Code::Char(_) if shift => {
                return Err(format!(
                    "{text:?}: a character has its shift in itself, write the capital"
                ));
            }
            Code::Char(sign) if ctrl => Code::Char(sign.to_ascii_lowercase()),
            code => code,
        };
        Ok(Self {
            code,
            ctrl,
            alt: false,
            shift,
        })
    }
}

fn arrow(sign: char) -> Option<Code> {
    Some(match sign {
        '↑' => Code::Up,
        '↓' => Code::Down,
        '←' => Code::Left,
        '→' => Code::Right,
        _ => return None,
    })
}

fn named(name: &str) -> Option<Code> {
    let name = name.to_ascii_lowercase();
    let function = || {
        name.strip_prefix('f')?
            .parse()
            .ok()
            .filter(|n| (1..=12).contains(n))
    };
    Some(match name.as_str() {
        "space" => Code::Char(' '),
        "enter" | "return" => Code::Enter,
        "esc" | "escape" => Code::Esc,
        "tab" => Code::Tab,
        "bksp" | "backspace" => Code::Backspace,
        "del" | "delete" => Code::Delete,
        "up" => Code::Up,
        "down" => Code::Down,
        "left" => Code::Left,
        "right" => Code::Right,
        "pgup" | "pageup" => Code::PageUp,
        "pgdn" | "pagedown" => Code::PageDown,
        "home" => Code::Home,
        "end" => Code::End,
        _ => Code::F(function()?),
    })
}

/// A file with every command and its keys, each line commented out, to be changed.
#[must_use]
pub fn template() -> String {
    let mut out = String::from(
        "# Keys of dover's screen. Take the # away and change what you like; the rest stays as it is.\n# A line says the keys of a command wherever it works; under a place such as [picker] only there.\n# Places: ",
    );
    let places: Vec<_> = Context::ALL.iter().map(|context| context.name()).collect();
    out.extend([&places.join(", "), "\n"]);
    let mut told = Vec::new();
    for row in table().iter().filter(|row| row.id != Id::Leave) {
        if told.contains(&row.id) {
            continue;
        }
        told.push(row.id);
        let line = |row: &Command| {
            let keys = row.keys.iter().map(|key| format!("{:?}", key.to_string()));
            let keys: Vec<_> = keys.collect();
            format!("{} = [{}]\n", row.id.name(), keys.join(", "))
        };
        // Keys differ from place to place; those that another command has elsewhere are not for a line about every place.
        let mut all = table().iter().filter(|other| other.id == row.id);
        let stands = all.find(|row| Keymap::parse("keys.toml", &line(row)).is_ok());
        let row = stands.unwrap_or(row);
        let line = format!("\n# {}\n# {}", row.doc, line(row));
        out.push_str(&line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Keymap, String> {
        Keymap::parse("keys.toml", text).map_err(|error| error.to_string())
    }

    fn id(map: &Keymap, context: Context, key: &str) -> Option<Id> {
        map.find(context, key.parse().unwrap()).map(|row| row.id)
    }

    #[test]
    fn every_key_of_the_table_is_read_as_it_is_written() {
        for key in table().iter().flat_map(|row| row.keys) {
            assert_eq!(key.to_string().parse(), Ok(*key));
        }
        assert_eq!("-".parse(), Ok(Key::char('-')));
        assert_eq!("ctrl-N".parse(), Ok(Key::ctrl('n')));
        assert_eq!("F12".parse(), Ok(Key::of(Code::F(12))));
    }

    #[test]
    fn own_keys_take_the_place_of_the_tables() {
        let map = parse("next-error = ['F3', 'x']\n[picker]\nopen = 'o'").unwrap();
        assert_eq!(id(&map, Context::Steps, "F3"), Some(Id::NextError));
        assert_eq!(id(&map, Context::Detail, "x"), Some(Id::NextError));
        assert_eq!(id(&map, Context::Steps, "}"), None);
        assert_eq!(id(&map, Context::Picker, "o"), Some(Id::Open));
        assert_eq!(id(&map, Context::Picker, "Enter"), None);
        // What is not named stays.
        assert_eq!(id(&map, Context::Steps, "{"), Some(Id::PreviousError));
    }

    #[test]
    fn two_commands_may_change_their_keys() {
        let map = parse("edit = 'f'\nfork = 'e'").unwrap_err();
        // Also in the hypotheses, where f tests: the sentence names the place.
        assert!(map.contains("hypotheses"), "{map}");
        let map = parse("[steps]\nedit = 'f'\nfork = 'e'").unwrap();
        assert_eq!(id(&map, Context::Steps, "f"), Some(Id::Edit));
        assert_eq!(id(&map, Context::Steps, "e"), Some(Id::Fork));
    }

    #[test]
    fn typing_keeps_its_characters() {
        // Anywhere: a plain character is skipped where one types, and Esc stays there.
        let map = parse("back = 'b'\n[steps]\nbaseline = 'B'\n[detail]\nbaseline = 'B'\n[branches]\nbaseline = 'B'\n[replay]\nbaseline = 'B'").unwrap();
        assert_eq!(id(&map, Context::Steps, "b"), Some(Id::Back));
        assert_eq!(id(&map, Context::Prompt, "Esc"), Some(Id::Back));
        assert_eq!(id(&map, Context::Prompt, "b"), None);
    }

    #[test]
    fn a_broken_file_is_named_with_its_line() {
        let table = [
            ("edit = ", "keys.toml, line 1: "),
            ("\nedti = 'x'", "keys.toml, line 2: edti is no command"),
            (
                "[step]\nedit = 'x'",
                "keys.toml, line 1: [step] is no place. Places: picker, steps",
            ),
            (
                "[help]\nedit = 'x'",
                "keys.toml, line 2: edit does not work in help",
            ),
            ("edit = 'Ctrl-'", "keys.toml, line 1: \"Ctrl-\" is no key"),
            ("edit = 3", "keys.toml, line 1: keys are texts"),
            ("edit = 'Alt-e'", "keys.toml, line 1: \"Alt-e\": Alt cannot"),
            (
                "edit = 'Shift-e'",
                "keys.toml, line 1: \"Shift-e\": a character has",
            ),
            ("leave = 'x'", "keys.toml, line 1: Ctrl-C leaves always"),
            (
                "# mine\n[steps]\nedit = 'q'",
                "keys.toml, line 3: q is quit in steps already",
            ),
            (
                "[typing]\ngates = 'x'",
                "keys.toml, line 2: in typing a plain character is typed",
            ),
            (
                "[help]\nback = []",
                "keys.toml, line 2: without a key for back nobody gets out of help",
            ),
        ];
        for (text, expected) in table {
            let told = parse(text).unwrap_err();
            assert!(told.starts_with(expected), "{text:?}: {told}");
        }
    }

    #[test]
    fn the_template_is_a_file_that_changes_nothing() {
        let template = template();
        assert_eq!(parse(&template), Ok(Keymap::default()));
        // Each line with its # taken away, by itself.
        let lines = template.lines().filter_map(|line| line.strip_prefix("# "));
        let lines: Vec<&str> = lines.filter(|line| line.contains(" = [")).collect();
        assert!(lines.len() > 50);
        let wrong: Vec<String> = lines.iter().filter_map(|line| parse(line).err()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        for row in table().iter().filter(|row| row.id != Id::Leave) {
            let line = format!("\n# {} = [", row.id.name());
            assert!(template.contains(&line), "{}", row.id.name());
        }
    }
}
