//! No subcommand: the screen.

use std::io::{self, IsTerminal};

use super::context::Context;
use super::error::{CliError, Exit};

/// Opens the screen, on one session if one is named.
pub fn run(_context: &Context, _what: Option<String>) -> Result<Exit, CliError> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(CliError::Usage(
            "the screen needs a terminal on standard input and output. Without one run `dover sessions`, `dover show SESSION`, `dover fork SESSION --at N`, or `dover demo`; `dover --help` lists them all".to_owned(),
        ));
    }
    Ok(Exit::Done)
}
