//! Which runtime a session's replay runs on: the one it names, else `team` over a model endpoint.

use std::sync::Arc;

use crate::model::Session;
use crate::runtime::scenario::Scenario;
use crate::runtime::team::{Team, TeamSettings};
use crate::runtime::{Runtime, RuntimeError};

use super::PipelineError;

/// A model endpoint for the `team` runtime. The key is never printed or stored.
#[derive(Clone, Default)]
pub struct ModelSettings {
    /// Base URL, such as `http://127.0.0.1:8000/v1`.
    pub base_url: Option<String>,
    /// The key.
    pub api_key: Option<String>,
    /// The model's name.
    pub model: Option<String>,
}

/// Chooses the runtime of a session.
///
/// # Errors
/// A runtime this program does not have, or an endpoint that was not given.
pub(super) fn choose(
    session: &Session,
    settings: &ModelSettings,
) -> Result<Arc<dyn Runtime>, PipelineError> {
    match session
        .runtime
        .as_ref()
        .map(|runtime| runtime.name.as_str())
    {
        Some("scenario") => Ok(Arc::new(Scenario)),
        Some(other) => Err(RuntimeError::Missing {
            what: format!("the runtime `{other}` that session {} names", session.id),
            mend: "This dover has `scenario` and, for logs without a runtime, `team`".into(),
        }
        .into()),
        None => team(session, settings),
    }
}

/// A model that a fork changed to stays the model of what is forked from it, whatever the settings say.
fn team(session: &Session, settings: &ModelSettings) -> Result<Arc<dyn Runtime>, PipelineError> {
    let changed = session.changed_model().map(str::to_owned);
    let team = Team::new(TeamSettings {
        base_url: settings.base_url.clone(),
        api_key: settings.api_key.clone(),
        model: changed.or_else(|| settings.model.clone()),
        ..TeamSettings::default()
    });
    team.ready()?;
    Ok(Arc::new(team))
}
