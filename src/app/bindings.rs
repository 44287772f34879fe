//! A person's own keys: the command table with some keys replaced, or all that is wrong with them.
//!
//! The table that comes out is what dispatch, footer, help and palette read. It is made once and lives as long as the program.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::command::{Command, Context, Id, table};
use super::key::{Code, Key};

/// What a configuration says of keys: by command, and within a context by command.
pub type Wanted = BTreeMap<String, Binding>;

/// The keys of a command, or the commands of a context.
#[derive(Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(untagged)]
pub enum Binding {
    /// One key.
    One(String),
    /// Several; none takes the command's keys away.
    Many(Vec<String>),
    /// The keys of commands in this context alone.
    Within(BTreeMap<String, Keys>),
}

/// The keys of a command.
#[derive(Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(untagged)]
pub enum Keys {
    /// One key.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// A name as it is written in a configuration: `NextError` is `next_error`.
fn name(debug: &str) -> String {
    let mut name = String::new();
    for c in debug.chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(c.to_lowercase());
    }
    name
}

/// The name of a command.
#[must_use]
pub fn command_name(id: Id) -> String {
    name(&format!("{id:?}"))
}

/// The name of a context.
#[must_use]
pub fn context_name(context: Context) -> String {
    name(&format!("{context:?}"))
}

/// The table with the keys that are wanted.
///
/// # Errors
/// Everything that is wrong, one thing a line: names and keys that there are not, keys that mean two things in a context.
pub fn bound(wanted: &Wanted) -> Result<&'static [Command], String> {
    if wanted.is_empty() {
        return Ok(table());
    }
    let mut commands = table().to_vec();
    let mut wrong = Vec::new();
    for (named, binding) in wanted {
        match binding {
            Binding::One(key) => {
                bind(
                    &mut commands,
                    None,
                    named,
                    std::slice::from_ref(key),
                    &mut wrong,
                );
            }
            Binding::Many(keys) => bind(&mut commands, None, named, keys, &mut wrong),
            Binding::Within(inner) => {
                let found = Context::ALL
                    .into_iter()
                    .find(|context| context_name(*context) == *named);
                let Some(context) = found else {
                    let known = Context::ALL.map(context_name).join(", ");
                    wrong.push(format!("there is no place {named}: {known}"));
                    continue;
                };
                for (named, keys) in inner {
                    let keys = match keys {
                        Keys::One(key) => std::slice::from_ref(key),
                        Keys::Many(keys) => keys,
                    };
                    bind(&mut commands, Some(context), named, keys, &mut wrong);
                }
            }
        }
    }
    wrong.extend(conflicts(&commands));
    if wrong.is_empty() {
        Ok(Vec::leak(commands))
    } else {
        Err(wrong.join("\n"))
    }
}

/// Gives a command its keys, in one context or wherever it works.
fn bind(
    commands: &mut Vec<Command>,
    within: Option<Context>,
    named: &str,
    keys: &[String],
    wrong: &mut Vec<String>,
) {
    let mut parsed = Vec::new();
    for key in keys {
        match key.parse::<Key>() {
            Ok(key) => parsed.push(key),
            Err(why) => wrong.push(format!("{named}: {why}")),
        }
    }
    let parsed: &'static [Key] = Vec::leak(parsed);
    let mut found = false;
    let mut own = Vec::new();
    for command in commands.iter_mut() {
        let here = within.is_none_or(|context| command.contexts.contains(&context));
        if command_name(command.id) != named || !here {
            continue;
        }
        found = true;
        match within {
            None => command.keys = parsed,
            Some(context) => {
                let others = command.contexts.iter().filter(|one| **one != context);
                let others: Vec<Context> = others.copied().collect();
                own.push(Command {
                    keys: parsed,
                    contexts: Vec::leak(vec![context]),
                    ..*command
                });
                command.contexts = Vec::leak(others);
            }
        }
    }
    commands.extend(own);
    if !found {
        let place = within.map_or(String::new(), |context| {
            format!(" in {}", context_name(context))
        });
        wrong.push(format!(
            "there is no command {named}{place}: dover keys --json lists them"
        ));
    }
}

/// Keys that mean two things in a context, letters that a text needs, places that no key leaves.
fn conflicts(commands: &[Command]) -> Vec<String> {
    let mut wrong = Vec::new();
    for context in Context::ALL {
        let place = context_name(context);
        let types = matches!(
            context,
            Context::Typing | Context::Prompt | Context::Palette
        );
        let mut seen: HashMap<Key, Id> = HashMap::new();
        let mut left = false;
        for command in commands
            .iter()
            .filter(|one| one.contexts.contains(&context))
        {
            let out = matches!(command.id, Id::Back | Id::Quit | Id::StopTyping);
            left |= out && !command.keys.is_empty();
            for key in command.keys {
                if types && matches!(key.code, Code::Char(_)) && !key.ctrl {
                    let name = command_name(command.id);
                    wrong.push(format!(
                        "{key} in {place} is a letter of the text, not {name}"
                    ));
                }
                match seen.insert(*key, command.id) {
                    Some(before) if before != command.id => wrong.push(format!(
                        "{key} in {place} is both {} and {}",
                        command_name(before),
                        command_name(command.id)
                    )),
                    _ => {}
                }
            }
        }
        if !left {
            wrong.push(format!("no key leaves {place}: give back or quit one"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{command, fixture};

    fn wanted(text: &str) -> Wanted {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_command_gets_the_keys_that_are_wanted_and_loses_its_own() {
        let table = bound(&wanted("next_error = ['F8', 'Ctrl-N']\noverview = 'O'")).unwrap();
        let found = |key| command::find_in(table, Context::Steps, key).map(|one| one.id);
        assert_eq!(found(Key::of(Code::F(8))), Some(Id::NextError));
        assert_eq!(found(Key::ctrl('n')), Some(Id::NextError));
        assert_eq!(found(Key::char('}')), None);
        assert_eq!(found(Key::char('O')), Some(Id::Overview));
        // The screen obeys the table.
        let mut app = fixture::opened();
        app.commands = table;
        fixture::press(&mut app, "o");
        assert_eq!(app.context(), Context::Steps);
        fixture::press(&mut app, "O");
        assert_eq!(app.context(), Context::Overview);
    }

    #[test]
    fn a_key_can_be_given_in_one_place_alone() {
        let table = bound(&wanted("[steps]\nedit = 'E'")).unwrap();
        let found =
            |context, key| command::find_in(table, context, Key::char(key)).map(|one| one.id);
        assert_eq!(found(Context::Steps, 'E'), Some(Id::Edit));
        assert_eq!(found(Context::Steps, 'e'), None);
        assert_eq!(found(Context::Detail, 'e'), Some(Id::Edit));
    }

    #[test]
    fn all_that_is_wrong_is_named() {
        let told = |text: &str| bound(&wanted(text)).unwrap_err();
        let both = told("overview = 'f'");
        assert!(
            both.contains("f in steps is both")
                && both.contains("overview")
                && both.contains("fork")
        );
        assert!(told("fly = 'f'").contains("no command fly"));
        assert!(told("edit = 'Hyper-x'").contains("Hyper-x"));
        assert!(told("[nowhere]\nedit = 'e'").contains("no place nowhere"));
        assert!(told("accept = 'x'").contains("a letter of the text"));
        let stuck = told("back = []");
        assert!(stuck.contains("no key leaves help"), "{stuck}");
        let several = told("overview = 'f'\nfly = 'x'");
        assert!(several.contains("fly") && several.contains("both"));
    }
}
