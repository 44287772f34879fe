//! A session or a comparison, taken along: Markdown, one HTML page, JSONL that imports again equal; a screen as SVG.
//!
//! Everything goes through a [`Source`], which redacts; a writer turns it into one form. A file is written beside its place and put
//! there when it is whole. Non-goals: the saved state of an agent framework's own, pictures within pages.

mod html;
mod jsonl;
mod markdown;
mod place;
mod redact;
mod secrets;
mod source;
mod spelling;
mod told;

use std::io;

use crate::pipeline::PipelineError;
use crate::store::StoreError;

pub use html::html;
pub use jsonl::{original, session as jsonl};
pub use markdown::markdown;
pub use place::write_whole;
pub use redact::{Named, Redacted, Redaction, Redactor};
pub use source::Source;

/// Why something could not be taken along.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The loop.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// What a redaction was asked for cannot be done; the sentence says why.
    #[error("{0}")]
    Redaction(String),
    /// Where it is written to.
    #[error(transparent)]
    Output(#[from] io::Error),
}
