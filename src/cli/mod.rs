//! The command line: a thin file per subcommand. Each takes its words, asks the loop, and gives one answer.
//!
//! Nothing here decides anything: what a fork comes to is the pipeline's, so that headless and screen cannot differ.
//! With `--json` standard output holds one JSON value or, on an error, nothing: the error is a JSON object on standard error.

mod adapter;
mod approve;
mod args;
mod classify;
mod compare;
mod config;
mod context;
mod debug;
mod demo;
mod doctor;
mod error;
mod eval;
mod export;
mod fork;
mod import;
mod keys;
mod learn;
mod look;
mod open;
mod out;
mod owner;
mod place;
mod plain;
mod receipt;
mod reconcile;
mod replay;
mod resume;
mod run;
mod schema;
mod screen;
mod sessions;
mod set;
mod shell;
mod show;
mod text;
mod themes;
mod trials;
mod workspace;

use std::io::Write;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Cli, Command};
use context::Context;
pub use error::{CliError, Exit};

use crate::term::First;

/// Runs the program on its own command line.
#[must_use]
pub fn main() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let json = cli.global.json;
    run(cli).unwrap_or_else(|error| {
        let exit = error.exit();
        if exit != Exit::Done {
            complain(json, exit, &error.to_string());
        }
        exit
    })
}

fn run(cli: Cli) -> Result<Exit, CliError> {
    context::log()?;
    let screen = matches!(cli.command, None | Some(Command::Open(_)));
    if !cli.hide.is_empty() && (!screen || cli.global.display.plain) {
        // A switch that hid nothing would show a class what it must not see.
        return Err(CliError::Usage(
            "--hide holds on the screen alone: dover --hide … SESSION, or dover --hide … open SESSION. A lesson hides what its file says"
                .to_owned(),
        ));
    }
    let mut context = Context::new(cli.global);
    match cli.command {
        None if context.global.display.plain => plain::run(&context, cli.what),
        None => screen::run(
            &context,
            cli.what.map_or(First::Sessions, First::One),
            &cli.hide,
        ),
        Some(Command::Open(args)) => open::run(&context, args, &cli.hide),
        Some(Command::Follow(args)) => screen::follow(&context, &args.session),
        Some(Command::Import(args)) => import::run(&mut context, &args),
        Some(Command::Trials(args)) => trials::run(&mut context, &args),
        Some(Command::Show(args)) => show::run(&mut context, &args),
        Some(Command::Fork(args)) => fork::run(&mut context, args),
        Some(Command::Debug(args)) => debug::run(&mut context, &args),
        Some(Command::Eval(args)) => eval::run(&mut context, &args),
        Some(Command::Reconcile(args)) => reconcile::run(&mut context, &args),
        Some(Command::Approve(args)) => approve::run(&mut context, &args),
        Some(Command::Resume(args)) => resume::run(&mut context, &args),
        Some(Command::Compare(args)) => compare::run(&mut context, &args),
        Some(Command::Export(args)) => export::run(&mut context, &args),
        Some(Command::Sessions) => sessions::run(&mut context),
        Some(Command::Set(args)) => set::run(&mut context, &args),
        Some(Command::Demo(args)) => demo::run(&mut context, &args),
        Some(Command::Learn(args)) => learn::run(&mut context, &args),
        Some(Command::Adapter(args)) => adapter::run(&mut context, args),
        Some(Command::Classify(args)) => classify::run(&mut context, &args),
        Some(Command::Receipt(args)) => receipt::run(&mut context, args),
        Some(Command::Owner(args)) => owner::run(&mut context, args),
        Some(Command::Workspace(args)) => workspace::run(&mut context, &args),
        Some(Command::Schema(args)) => schema::run(&mut context, &args),
        Some(Command::Run(args)) => run::run(&mut context, &args),
        Some(Command::Keys(args)) => keys::run(&mut context, &args),
        Some(Command::Themes(args)) => themes::run(&mut context, &args),
        Some(Command::Doctor) => doctor::run(&mut context),
        Some(Command::Completions(args)) => shell::completions(&mut context, &args),
        Some(Command::Man(args)) => shell::man(&mut context, &args),
    }
}

/// Says what is wrong with the words, or gives the help asked for.
fn usage(error: &clap::Error) -> Exit {
    let asked = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if !asked && std::env::args_os().any(|word| word == "--json") {
        let message = error.render().to_string();
        complain(
            true,
            Exit::Usage,
            message.trim_start_matches("error: ").trim(),
        );
    } else {
        // Nobody is left to be told that the help could not be printed.
        let _ = error.print();
    }
    if asked { Exit::Done } else { Exit::Usage }
}

/// One error on standard error, in the form asked for.
fn complain(json: bool, exit: Exit, message: &str) {
    let line = if json {
        error::as_json(exit, message)
    } else {
        format!("dover: {}", crate::model::clean(message))
    };
    let _ = writeln!(std::io::stderr(), "{line}");
}
