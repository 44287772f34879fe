//! `dover adapter`: environments of agent frameworks, and whether an adapter keeps what it promises.

mod check;
mod install;

use super::args::{Adapter, AdapterWhat};
use super::context::Context;
use super::error::{CliError, Exit};

/// Runs the subcommand.
pub fn run(context: &mut Context, args: Adapter) -> Result<Exit, CliError> {
    match args.what {
        AdapterWhat::Install { name, python } => install::run(context, &name, python.as_deref()),
        AdapterWhat::List => install::list(context),
        AdapterWhat::Check(args) => check::run(context, args),
    }
}
