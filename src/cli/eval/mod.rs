//! `dover eval`: figures over many sessions.

mod attribution;
mod figures;
mod outcomes;

use super::args::{Eval, EvalCommand};
use super::context::Context;
use super::error::{CliError, Exit};

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Eval) -> Result<Exit, CliError> {
    match &args.command {
        Some(EvalCommand::Attribution { dir }) => attribution::run(context, dir),
        Some(EvalCommand::Merge {
            files,
            out,
            markdown,
        }) => outcomes::merge(context, files, out.as_deref(), *markdown),
        None if args.paths.is_empty() => Err(CliError::Usage(
            "dover eval needs a directory of sessions or results, or `attribution` or `merge`. `dover eval --help` shows all of it".to_owned(),
        )),
        None => outcomes::run(context, args),
    }
}
