//! The terminal: guard, events, frames, signals, clipboard, external editor; runs the jobs that the application asks for.
//!
//! One task owns the state. It takes what is ready, updates, and draws once if anything changed, at most so many times a second;
//! an idle screen writes nothing. However the program ends, the terminal is given back.

mod external;
mod find;
mod guard;
mod hypotheses;
mod input;
mod jobs;
mod mend;
mod screen;
mod signals;

pub use signals::Ending;

use std::io;

use crate::app::command::Command;
use crate::pipeline::ModelSettings;
use crate::store::Store;
use crate::ui::glyph::Charset;
use crate::ui::theme::Theme;

/// What the screen is opened with.
pub struct Options {
    /// The store.
    pub store: Store,
    /// A file, a session or a sample to open at once.
    pub open: Option<String>,
    /// The command table, with the person's own keys.
    pub commands: &'static [Command],
    /// Colours.
    pub theme: Theme,
    /// Signs.
    pub charset: Charset,
    /// Who sits here.
    pub operator: String,
    /// The endpoint for logs without a runtime of their own.
    pub model: ModelSettings,
}

/// Why the screen could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum TermError {
    /// The terminal refused.
    #[error(
        "the terminal does not answer: {0}. Run dover in a terminal, or use its subcommands: dover --help"
    )]
    Terminal(#[from] io::Error),
}

/// Shows the screen until the operator quits or a signal ends it, which is told.
///
/// # Errors
/// A terminal that cannot be used.
pub fn run(options: Options) -> Result<Option<Ending>, TermError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(screen::show(options));
    // What still runs on other threads is a store transaction at most, and that is whole or nothing.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    ended
}
