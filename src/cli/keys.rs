//! `dover keys`: the keys of the screen, from the table that the screen obeys and the person's own file.

use std::io::{self, Write as _};

use serde::Serialize;

use super::args;
use super::context::Context;
use super::error::{CliError, Exit};
use super::look;
use super::out::{Answer, Out, Tone};
use crate::app::command;
use crate::app::keymap::{self, Keymap};

#[derive(Serialize)]
struct Keys {
    keys: Vec<Row>,
    /// What is wrong with the person's own file.
    fault: Option<String>,
}

#[derive(Serialize)]
struct Row {
    group: &'static str,
    /// As `keys.toml` has it.
    name: String,
    title: &'static str,
    keys: Vec<String>,
    doc: &'static str,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &args::Keys) -> Result<Exit, CliError> {
    if args.markdown {
        context.out.raw(&command::markdown_table())?;
    } else if args.template {
        context.out.raw(&keymap::template())?;
    } else {
        let (keymap, fault) = match look::keymap() {
            Ok(keymap) => (keymap, None),
            Err(fault) => (Keymap::default(), Some(fault)),
        };
        if let Some(fault) = &fault {
            writeln!(io::stderr(), "{fault}. The default keys are used")?;
        }
        context.out.give(&Keys {
            keys: rows(&keymap),
            fault,
        })?;
    }
    Ok(Exit::Done)
}

fn rows(keymap: &Keymap) -> Vec<Row> {
    let groups = command::by_group().into_iter();
    groups
        .flat_map(|(group, commands)| {
            commands.into_iter().map(move |command| Row {
                group: group.title(),
                name: command.id.name(),
                title: command.title,
                keys: keymap
                    .all(command)
                    .iter()
                    .map(ToString::to_string)
                    .collect(),
                doc: command.doc,
            })
        })
        .collect()
}

impl Answer for Keys {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        let mut group = "";
        for row in &self.keys {
            if row.group != group {
                group = row.group;
                out.heading(group)?;
            }
            out.labelled(&format!("  {:<16} ", row.keys.join(" ")), row.doc)?;
        }
        out.blank()?;
        if self.fault.is_none()
            && let Some(file) = look::keys_file()
        {
            out.row(
                Tone::Faint,
                &format!("To change them: dover keys --template > {}", file.display()),
            )?;
        }
        Ok(())
    }
}
