//! The loop between its parts: take a log in, plan an edit, gate it, fork, replay, score, compare.
//! The command line and the screen call the same functions, so that headless and screen cannot differ.

pub mod analysts;
mod approve;
mod brought;
mod compare;
mod config;
mod control;
mod debug;
pub mod eval;
mod export;
mod external;
mod filter;
mod follow;
mod fork;
mod intake;
mod judge;
mod lesson;
mod live;
mod owners;
mod plan;
mod probe;
mod reconcile;
mod rejudge;
mod replay;
mod runtimes;
mod score;
mod verify;
mod workspace;

pub use approve::{Approved, Waiting, approve, resume_request, signed, take_approval, waiting};
pub use compare::compare;
pub use config::session_of;
pub use control::{Control, Jobs};
pub use debug::{Bench, DebugEvent, DebugRequest, debug, edited_step};
pub use export::{SavedState, saved_state};
pub use filter::filter;
pub use follow::{Follower, Growth};
pub use fork::{Progress, check, fork};
pub use intake::{
    play_world, profile_news, sample_file, sample_names, take_in, take_in_samples, take_profile,
    update, world_session,
};
pub use lesson::{Source, copy};
pub use live::{Goal, Lead, Lived, Order, Orders, Standing, Told, Until, live};
pub use owners::{Keyring, config_dir};
pub use plan::{ForkRequest, NewEffects, Plan, Restorability, Tests, plan, restorability};
pub use reconcile::{Reconciled, commands, decide_effect, left_behind, reconcile};
pub use runtimes::ModelSettings;
pub use score::{Outcome, outcome, outcomes};
pub use workspace::{changed_files, look_at};

pub use crate::model::{Comparison, Pair, Verdict};

use crate::import::ImportError;
use crate::runtime::RuntimeError;
use crate::store::StoreError;

/// Why the loop could not go on.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The runtime.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A file that could not be taken in.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// What was asked for makes no sense; the sentence says what would.
    #[error("{0}")]
    Usage(String),
    /// Somebody may not do what was asked for.
    #[error("{0}")]
    Refused(String),
    /// The program contradicts itself.
    #[error("{0}. This is a fault of dover: please report it")]
    Internal(String),
}
