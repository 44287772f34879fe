//! No subcommand: the screen.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};

use super::context::Context;
use super::error::{CliError, Exit};
use super::look::{self, Look};
use crate::app::learn::Hidden;
use crate::model::BranchId;
use crate::store::{Store, StoreError};
use crate::term::{self, Ending, First, Options, Team};

/// Opens the screen.
pub fn run(context: &Context, first: First, hide: &[String]) -> Result<Exit, CliError> {
    show(context, context.store()?, first, Hidden::of(hide), None)
}

/// Opens the screen on a stored session to look on; nothing is taken in, since nothing is written.
pub fn follow(context: &Context, word: &str) -> Result<Exit, CliError> {
    let store = context.store()?;
    let branch = BranchId::parse(word);
    if !store.has_session(branch.session())? {
        return Err(StoreError::NoSession(word.to_owned()).into());
    }
    let branch = store.branch(&branch)?.id;
    show(
        context,
        store,
        First::Follow(branch),
        Hidden::default(),
        None,
    )
}

/// Opens the screen on a team that is started.
pub fn team(context: &Context, team: Team) -> Result<Exit, CliError> {
    let hide = Hidden::default();
    show(context, context.store()?, First::Sessions, hide, Some(team))
}

/// Opens the screen on lessons, in a store of their own.
pub fn lessons(context: &Context, store: Store, lessons: First) -> Result<Exit, CliError> {
    show(context, store, lessons, Hidden::default(), None)
}

/// Whether a person sits at a terminal.
pub fn possible() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Whether a terminal of this kind does more than write line after line.
fn draws(term: Option<&OsStr>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

fn show(
    context: &Context,
    store: Store,
    open: First,
    hide: Hidden,
    team: Option<Team>,
) -> Result<Exit, CliError> {
    if !possible() {
        return Err(CliError::Usage(
            "the screen needs a terminal on standard input and output. Without one run `dover --plain`, `dover sessions`, `dover show SESSION`, `dover fork SESSION --at N`, or `dover demo`; `dover --help` lists them all".to_owned(),
        ));
    }
    if !draws(std::env::var_os("TERM").as_deref()) {
        return Err(CliError::Usage(
            "the screen needs a terminal that can place its cursor, and TERM names none. Run `dover --plain`, the same line by line, or set TERM, for instance to xterm-256color".to_owned(),
        ));
    }
    let Look {
        theme,
        charset,
        calm,
        keymap,
        mouse,
        clipboard,
        faults,
    } = look::look(&context.global.display)?;
    let options = Options {
        theme,
        charset,
        calm,
        keymap,
        mouse,
        clipboard,
        faults,
        store,
        open,
        hide,
        team,
        operator: context.operator(),
        model: context.model()?,
    };
    let ended = term::run(options).map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(match ended {
        None => Exit::Done,
        Some(Ending::HungUp) => Exit::HungUp,
        Some(Ending::Interrupted) => Exit::Interrupted,
        Some(Ending::Terminated) => Exit::Terminated,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_only_writes_lines_gets_no_screen() {
        for (term, draws) in [
            (None, false),
            (Some(""), false),
            (Some("dumb"), false),
            (Some("xterm"), true),
        ] {
            assert_eq!(super::draws(term.map(OsStr::new)), draws, "{term:?}");
        }
    }
}
