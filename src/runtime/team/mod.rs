//! The team runtime: continues an imported log, forked at a step, with nothing but an OpenAI-compatible endpoint.
//! The log's own agents take turns as chat roles; the prefix is sent as it was, the edited step stands at its place.
//!
//! Invariants: a step is handed out whole or not at all; the key is in no text, log or error; dropping a run drops its connection.
//! Not for: tools (there are none, and agents are told so) and exact replay (nothing but the transcript is restored, so every branch is diagnostic).

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use super::{Description, Restore, Run, Runtime, RuntimeError};
use crate::model::{ConfigChange, Manifest, RestoredKey, Session};

mod answer;
mod cast;
mod chunk;
mod endpoint;
mod fault;
mod reply;
mod run;
mod transcript;
mod wire;

/// What the team runtime is told. The key is never printed.
#[derive(Clone)]
pub struct TeamSettings {
    /// Base URL, such as `http://127.0.0.1:8000/v1`.
    pub base_url: Option<String>,
    /// The key; local servers often want none.
    pub api_key: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// The most steps a run makes, the pending one included, whatever else the caller allows.
    pub max_steps: usize,
    /// The longest conversation sent, in characters; what is over it is left out from the middle and noted.
    pub max_chars: usize,
    /// How long connecting may take.
    pub connect: Duration,
    /// How long the endpoint may be silent, before its answer and within it.
    pub idle: Duration,
    /// How often a request is made at most when the endpoint asks to come again later.
    pub tries: u32,
    /// How long all waiting between the tries of one request may take.
    pub patience: Duration,
}

impl Default for TeamSettings {
    fn default() -> Self {
        Self {
            base_url: None,
            api_key: None,
            model: None,
            max_steps: 30,
            max_chars: 400_000,
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(1),
            tries: 3,
            patience: Duration::from_mins(1),
        }
    }
}

impl fmt::Debug for TeamSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamSettings")
            .field("base_url", &self.base_url.as_deref().map(endpoint::shown))
            .field("api_key", &self.api_key.as_ref().map(|_| "[key]"))
            .field("model", &self.model)
            .finish_non_exhaustive()
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
        endpoint::Endpoint::new(&self.settings).map(drop)
    }
}

#[async_trait]
impl Runtime for Team {
    fn describe(&self, session: &Session) -> Description {
        let model = given(self.settings.model.as_deref());
        let at = given(self.settings.base_url.as_deref());
        Description {
            name: "team",
            detail: match (model, at) {
                (Some(model), Some(at)) => format!(
                    "{model} at {}; no tools, only the endpoint is reached",
                    endpoint::shown(at)
                ),
                (None, _) => "no model: set --model or OPENAI_MODEL".to_owned(),
                (_, None) => "no endpoint: set OPENAI_BASE_URL".to_owned(),
            },
            exact: false,
            local_fixtures: true,
            config: self.config(session),
        }
    }

    fn accepts(&self, session: &Session, change: &ConfigChange) -> Result<(), String> {
        cast::accepts(session, change)
    }

    async fn restore(&self, restore: Restore) -> Result<Box<dyn Run>, RuntimeError> {
        let endpoint = endpoint::Endpoint::new(&self.settings)?;
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
        let model = given(self.settings.model.as_deref());
        cast::config(model.unwrap_or_default(), session)
    }
}

/// A setting that says something.
fn given(setting: Option<&str>) -> Option<&str> {
    setting.map(str::trim).filter(|text| !text.is_empty())
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
