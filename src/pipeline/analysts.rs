//! Which analyst is asked.

use std::sync::Arc;

use super::{ModelSettings, PipelineError};
use crate::analyst::Analyst;
use crate::analyst::model::ModelAnalyst;
use crate::analyst::offline::Offline;
use crate::runtime::RuntimeError;

/// The names that can be asked for.
pub const NAMES: [&str; 2] = ["offline", "model"];

/// An analyst by its name, as it was asked for or as it names itself.
///
/// # Errors
/// A name that nobody has, or an endpoint that was not given.
pub fn choose(
    name: &str,
    models: &ModelSettings,
    few_shot: bool,
) -> Result<Arc<dyn Analyst>, PipelineError> {
    match name.split_whitespace().next() {
        Some("offline") => Ok(Arc::new(Offline)),
        Some("model") => {
            let analyst = ModelAnalyst::new(&models.endpoint, models.judge.as_ref(), few_shot);
            Ok(Arc::new(analyst.map_err(RuntimeError::from)?))
        }
        _ => Err(PipelineError::Usage(format!(
            "there is no analyst '{name}': say {}",
            NAMES.join(" or ")
        ))),
    }
}

/// Who judges what a runtime cannot tell: the judge, if one is set, else rules.
#[must_use]
pub fn judge(models: &ModelSettings) -> Arc<dyn Analyst> {
    let judge = models.judge.as_ref();
    let model = judge.and_then(|judge| ModelAnalyst::new(judge, None, false).ok());
    model.map_or_else(
        || -> Arc<dyn Analyst> { Arc::new(Offline) },
        |model| Arc::new(model),
    )
}
