//! The terminal: guard, events, frames, signals, clipboard, external editor; runs the jobs that the application asks for.
//!
//! One task owns the state. It takes what is ready, updates, and draws once if anything changed, at most so many times a second;
//! an idle screen writes nothing. However the program ends, the terminal is given back.

mod copy;
mod drafts;
mod external;
mod find;
mod follow;
mod guard;
mod hypotheses;
mod input;
mod jobs;
mod learn;
mod live;
mod mend;
mod picture;
mod screen;
mod seats;
mod signals;

pub use copy::Clipboard;
pub(crate) use external::edit;
pub(crate) use find::find_error;
pub(crate) use hypotheses::analyse;
pub(crate) use mend::{APPROVAL, hold};
pub use picture::{Pose, picture};
pub use signals::Ending;

use std::io;

use crate::app::keymap::Keymap;
use crate::app::learn::{Hidden, Offer};
use crate::model::{AdapterRef, BranchId};
use crate::pipeline::ModelSettings;
use crate::runtime::adapter::Start;
use crate::store::Store;
use crate::ui::glyph::Charset;
use crate::ui::theme::Theme;

/// A team to be started.
pub struct Team {
    /// Its adapter and entry.
    pub adapter: AdapterRef,
    /// What it begins with.
    pub start: Start,
    /// What a person calls it.
    pub name: String,
}

/// What the screen is opened with.
pub struct Options {
    /// The store.
    pub store: Store,
    /// What to show first.
    pub open: First,
    /// What is kept from the eye; a lesson says for itself.
    pub hide: Hidden,
    /// A team to start at once.
    pub team: Option<Team>,
    /// Colours.
    pub theme: Theme,
    /// Signs.
    pub charset: Charset,
    /// Nothing moves by itself: whole steps only, and what runs is drawn at most once a second.
    pub calm: bool,
    /// Keys.
    pub keymap: Keymap,
    /// The mouse is taken from the start.
    pub mouse: bool,
    /// How a text is copied.
    pub clipboard: Clipboard,
    /// What was wrong with the files of themes and keys, to be said first.
    pub faults: Vec<String>,
    /// Who sits here.
    pub operator: String,
    /// The endpoint for logs without a runtime of their own.
    pub model: ModelSettings,
}

/// What the screen shows first.
pub enum First {
    /// The sessions of the store.
    Sessions,
    /// A file, a session or a sample, opened at once.
    One(String),
    /// A branch of a session, following whoever drives there.
    Follow(BranchId),
    /// A log that is still being written.
    Growing(String),
    /// Lessons; the first is started at once if so said.
    Lessons(Vec<Offer>, bool),
}

/// Why the screen could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum TermError {
    /// The terminal refused.
    #[error(
        "the terminal does not answer: {0}. Run dover in a terminal, or use its subcommands: dover --help"
    )]
    Terminal(#[from] io::Error),
    /// A picture was asked for that cannot be taken; the sentence is the screen's.
    #[error("{0}")]
    Nowhere(String),
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
