//! Which analyst is asked.

use std::sync::Arc;

use super::{ModelSettings, PipelineError};
use crate::analyst::Analyst;
use crate::analyst::offline::Offline;

/// The names that can be asked for.
pub const NAMES: [&str; 1] = ["offline"];

/// An analyst by its name, as it was asked for or as it names itself.
///
/// # Errors
/// A name that nobody has, or an endpoint that was not given.
pub fn choose(
    name: &str,
    _models: &ModelSettings,
    _few_shot: bool,
) -> Result<Arc<dyn Analyst>, PipelineError> {
    match name.split_whitespace().next() {
        Some("offline") => Ok(Arc::new(Offline)),
        _ => Err(PipelineError::Usage(format!(
            "there is no analyst '{name}': say {}",
            NAMES.join(" or ")
        ))),
    }
}

/// Who judges what a runtime cannot tell.
#[must_use]
pub fn judge(_models: &ModelSettings) -> Arc<dyn Analyst> {
    Arc::new(Offline)
}
