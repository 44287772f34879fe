//! `dover keys`: the keys of the screen, from the table that the screen obeys.

use std::io;

use serde::Serialize;

use super::args;
use super::config::Config;
use super::context::Context;
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use crate::app::bindings;
use crate::app::command::{self, Command};

#[derive(Serialize)]
struct Keys {
    keys: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    group: &'static str,
    command: String,
    title: &'static str,
    keys: Vec<String>,
    doc: &'static str,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &args::Keys) -> Result<Exit, CliError> {
    if args.markdown {
        context.out.raw(&command::markdown_table())?;
    } else {
        let commands = Config::read()?.commands()?;
        let keys = rows(commands);
        context.out.give(&Keys { keys })?;
    }
    Ok(Exit::Done)
}

fn rows(commands: &'static [Command]) -> Vec<Row> {
    let groups = command::by_group(commands).into_iter();
    groups
        .flat_map(|(group, commands)| {
            commands.into_iter().map(move |command| Row {
                group: group.title(),
                command: bindings::command_name(command.id),
                title: command.title,
                keys: command.keys.iter().map(ToString::to_string).collect(),
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
        out.row(Tone::Plain, "")
    }
}
