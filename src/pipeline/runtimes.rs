//! Which runtime a session's replay runs on: the one it names (a world, an adapter), else `team` over a model endpoint.

use std::sync::Arc;

use crate::endpoint::EndpointSettings;
use crate::model::Session;
use crate::runtime::adapter::{Adapter, AdapterHome, Limits};
use crate::runtime::scenario::Scenario;
use crate::runtime::team::{Allowed, Team, TeamSettings};
use crate::runtime::{Runtime, RuntimeError};

use super::PipelineError;

/// The model endpoints that the loop may ask.
#[derive(Clone, Debug, Default)]
pub struct ModelSettings {
    /// The model that plays a team on, and that the analyst asks.
    pub endpoint: EndpointSettings,
    /// The model that judges; where nothing is said of it, the same.
    pub judge: Option<EndpointSettings>,
    /// What the team's tools may touch beyond the workspace.
    pub allowed: Allowed,
}

/// Chooses the runtime of a session: the one asked for, else its own.
///
/// # Errors
/// A runtime this program does not have, a log without a world asked to run in one, or an endpoint that was not given.
pub(super) fn choose(
    session: &Session,
    settings: &ModelSettings,
    asked: Option<&str>,
) -> Result<Arc<dyn Runtime>, PipelineError> {
    let own = session.runtime.as_ref();
    let own = own.map_or("team", |runtime| runtime.name.as_str());
    match (asked.unwrap_or(own), own) {
        ("scenario", "scenario") => Ok(Arc::new(Scenario)),
        ("scenario", _) => Err(PipelineError::Usage(format!(
            "session {} has no world to run in, so --runtime scenario cannot be. --runtime team plays it on over a model endpoint",
            session.id
        ))),
        ("adapter", "adapter") => Ok(Arc::new(adapter()?)),
        ("adapter", _) => Err(PipelineError::Usage(format!(
            "session {} was not made by an adapter here, so --runtime adapter cannot be. --runtime team plays it on over a model endpoint",
            session.id
        ))),
        ("team", _) => team(session, settings),
        (other, _) => Err(RuntimeError::Missing {
            what: format!("the runtime `{other}` that session {} names", session.id),
            mend: "This dover has `scenario`, `adapter` and, for logs without a runtime, `team`"
                .into(),
        }
        .into()),
    }
}

/// Teams of agent frameworks, from their usual place.
pub(super) fn adapter() -> Result<Adapter, RuntimeError> {
    Ok(Adapter::new(AdapterHome::usual()?, Limits::default()))
}

/// A model that a fork changed to stays the model of what is forked from it, whatever the settings say.
fn team(session: &Session, settings: &ModelSettings) -> Result<Arc<dyn Runtime>, PipelineError> {
    let changed = session.changed_model().map(str::to_owned);
    let team = Team::new(TeamSettings {
        endpoint: EndpointSettings {
            model: changed.or_else(|| settings.endpoint.model.clone()),
            ..settings.endpoint.clone()
        },
        allowed: settings.allowed.clone(),
        ..TeamSettings::default()
    });
    team.ready()?;
    Ok(Arc::new(team))
}
