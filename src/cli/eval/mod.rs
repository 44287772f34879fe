//! `dover eval`: figures over many sessions.

mod attribution;

use super::args::{Eval, EvalCommand};
use super::context::Context;
use super::error::{CliError, Exit};

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Eval) -> Result<Exit, CliError> {
    match &args.command {
        Some(EvalCommand::Attribution { dir }) => attribution::run(context, dir),
        None => Ok(Exit::Done),
    }
}
