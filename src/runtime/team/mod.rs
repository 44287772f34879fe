//! The team runtime: continues an imported log, forked at a step, with nothing but an OpenAI-compatible endpoint.
//! The log's own agents take turns as chat roles; the prefix is sent as it was, the edited step stands at its place.
//!
//! Invariants: a step is handed out whole or not at all; the key is in no text, log or error; dropping a run drops its connection.
//! Workers have tools as far as `--allow` and the run's workspace go; a program asks the operator before it runs.
//! Not for: exact replay (nothing but the transcript is restored, so every branch is diagnostic).

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;

use super::{Description, Restore, Run, Runtime, RuntimeError};
use crate::endpoint::{Endpoint, EndpointSettings, given, shown};
use crate::model::{ConfigChange, Manifest, RestoredKey, Session};

mod answer;
mod cast;
mod code;
mod ledger;
mod reply;
mod run;
mod tools;
mod transcript;

pub use tools::Allowed;

/// What the team runtime is told.
#[derive(Clone, Debug)]
pub struct TeamSettings {
    /// The model.
    pub endpoint: EndpointSettings,
    /// The most steps a run makes, the pending one included, whatever else the caller allows.
    pub max_steps: usize,
    /// The longest conversation sent, in characters; what is over it is left out from the middle and noted.
    pub max_chars: usize,
    /// What the workers' tools may touch beyond the workspace.
    pub allowed: Allowed,
    /// How long one use of a tool may take.
    pub tool_limit: Duration,
}

impl Default for TeamSettings {
    fn default() -> Self {
        Self {
            endpoint: EndpointSettings::default(),
            max_steps: 30,
            max_chars: 400_000,
            allowed: Allowed::default(),
            tool_limit: Duration::from_secs(30),
        }
    }
}

/// A built-in orchestrator with workers over a model endpoint.
#[derive(Clone, Debug)]
pub struct Team {
    settings: TeamSettings,
}

impl Team {
    /// A runtime with these settings; what is missing is told when it is needed.
    #[must_use]
    pub fn new(settings: TeamSettings) -> Self {
        Self { settings }
    }

    /// Tells what must be set before anything can run.
    pub fn ready(&self) -> Result<(), RuntimeError> {
        Ok(Endpoint::new(&self.settings.endpoint).map(drop)?)
    }
}

#[async_trait]
impl Runtime for Team {
    fn describe(&self, session: &Session) -> Description {
        let model = given(self.settings.endpoint.model.as_deref());
        let at = given(self.settings.endpoint.base_url.as_deref());
        Description {
            name: "team",
            detail: match (model, at) {
                (Some(model), Some(at)) => format!(
                    "{model} at {}; tools: {}",
                    shown(at),
                    self.settings.allowed.shown()
                ),
                (None, _) => "no model: set --model or OPENAI_MODEL".to_owned(),
                (_, None) => "no endpoint: set OPENAI_BASE_URL".to_owned(),
            },
            exact: false,
            local_fixtures: !self.settings.allowed.outside(),
            config: self.config(session),
        }
    }

    fn accepts(&self, session: &Session, change: &ConfigChange) -> Result<(), String> {
        cast::accepts(session, change)
    }

    async fn restore(&self, restore: Restore) -> Result<Box<dyn Run>, RuntimeError> {
        let endpoint = Endpoint::new(&self.settings.endpoint)?;
        let config = self.config(&restore.session);
        Ok(Box::new(run::TeamRun::new(
            endpoint,
            &self.settings,
            config,
            restore,
        )?))
    }
}

impl Team {
    fn config(&self, session: &Session) -> Manifest {
        let model = given(self.settings.endpoint.model.as_deref());
        cast::config(model.unwrap_or_default(), &self.settings.allowed, session)
    }
}

/// Nothing can be read back from a chat endpoint: each key says why.
fn keys(restore: &Restore) -> Vec<RestoredKey> {
    const MEMORY: &str = "agent_memory";
    let required = restore.session.profile.required_keys.iter();
    let recorded = restore.checkpoint.iter().flat_map(|c| c.keys.keys());
    let names: BTreeSet<&str> = required
        .chain(recorded)
        .map(String::as_str)
        .chain([MEMORY])
        .collect();
    let key = |name: &str| RestoredKey {
        key: name.to_owned(),
        revision: None,
        fingerprint: None,
        test: if name == MEMORY {
            "transcript re-seeded".to_owned()
        } else {
            "not kept by a model endpoint".to_owned()
        },
    };
    names.into_iter().map(key).collect()
}
