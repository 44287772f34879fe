//! The adapter runtime: a team of a real agent framework in a process of its own, spoken to in newline-delimited JSON-RPC over stdio.
//!
//! Invariants: a run is a process, a branch a new one, and a live run is never rewound; a process ends with its run; what came back after
//! a restore is saved again and compared by dover, so that the adapter's word is no evidence; a session names a program to start only
//! if it was started here, never because a file says so.
//! Not for: what happens inside one handler of a framework. Between two boundaries there is nothing to fork from.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{Description, Live, Restore, Run, Runtime, RuntimeError, Workspace};
use crate::import;
use crate::model::{AdapterRef, Manifest, Session};

mod check;
mod config;
mod error;
mod export;
mod home;
mod host;
mod install;
mod log;
mod run;
mod state;
mod wire;

pub use check::{Finding, Walk, WalkSettings};
pub use config::title;
pub use error::{AdapterError, Place};
pub use export::Exported;
pub use home::{AdapterHome, CUSTOM, NAMES, differs_from_pin};
pub use host::{Launch, Limits};
pub use install::Installed;

use host::Host;
use run::{AdapterRun, Begun};
use wire::{Greeting, PROTOCOL, Position, Told};

/// Teams of agent frameworks, run by adapter processes.
#[derive(Clone, Debug)]
pub struct Adapter {
    home: AdapterHome,
    limits: Limits,
}

/// What a team's first run begins with.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The task; none where the state has one.
    pub task: Option<String>,
    /// A saved state of the framework's own to begin from.
    pub state: Option<Value>,
    /// The most steps.
    pub max_steps: usize,
}

/// A process that has said what it is.
struct Ready {
    host: Host,
    greeting: Greeting,
    told: Told,
}

impl Adapter {
    /// A runtime with its files in this place.
    #[must_use]
    pub const fn new(home: AdapterHome, limits: Limits) -> Self {
        Self { home, limits }
    }

    /// Starts a team on a task: its session as it is before anything has run, and the run at its first boundary.
    ///
    /// # Errors
    /// The adapter, the entry, or the framework.
    pub async fn begin(
        &self,
        adapter: &AdapterRef,
        start: &Start,
    ) -> Result<(Session, Box<dyn Live>), RuntimeError> {
        let Ready {
            mut host,
            greeting,
            told,
        } = self.ready(adapter, None).await?;
        // What goes on from a saved state has the task that stands there.
        let saved = || start.state.as_ref().and_then(import::task_in);
        let task = start.task.clone().or_else(saved);
        let session = config::session(adapter, task.as_deref(), &greeting, &told);
        let params = match &start.state {
            Some(state) => json!({"task": start.task, "state": state}),
            None => json!({ "task": start.task }),
        };
        host.ask("start", &params);
        let begun = Begun {
            session: Arc::new(session.clone()),
            config: session.config.clone().unwrap_or_default(),
            keys: Vec::new(),
            kept: Vec::new(),
            workspace: Workspace::Dir(adapter.dir.clone()),
            index: 0,
            max_steps: start.max_steps,
        };
        let run = AdapterRun::started(host, begun).live();
        Ok((session, Box::new(run)))
    }

    /// A process that has said what it is.
    async fn ready(
        &self,
        adapter: &AdapterRef,
        workspace: Option<&PathBuf>,
    ) -> Result<Ready, RuntimeError> {
        let launch = self.home.launch(adapter)?;
        let mut host = Host::start(&launch, self.limits)?;
        let params = json!({
            "protocol": PROTOCOL,
            "workdir": workspace.unwrap_or(&adapter.dir),
            // What is not named is held unless it only reads, so that dover decides each.
            "effects_policy": {},
        });
        let greeting: Greeting = host.call("initialize", &params).await?;
        if greeting.protocol.as_u64() != Some(PROTOCOL) {
            return Err(host.version(&greeting.protocol).into());
        }
        let told: Told = host.call("describe", &json!({})).await?;
        Ok(Ready {
            host,
            greeting,
            told,
        })
    }
}

/// The adapter that a session was made by.
fn adapter_of(session: &Session) -> Result<&AdapterRef, RuntimeError> {
    let adapter = session.runtime.as_ref().and_then(|it| it.adapter.as_ref());
    adapter.ok_or_else(|| RuntimeError::Missing {
        what: format!("session {} does not say which adapter made it", session.id),
        mend: "Start the team here: dover run NAME ENTRY --task TEXT".to_owned(),
    })
}

#[async_trait]
impl Runtime for Adapter {
    fn describe(&self, session: &Session) -> Description {
        let adapter = adapter_of(session).ok();
        Description {
            name: "adapter",
            detail: adapter.map_or("no adapter".to_owned(), |it| {
                let versions: Vec<String> = it
                    .framework
                    .iter()
                    .map(|(name, version)| format!("{name} {version}"))
                    .collect();
                format!("{} {}: {}", it.name, it.entry, versions.join(", "))
            }),
            exact: true,
            local_fixtures: adapter.is_some_and(|it| it.local),
            config: session.config.clone().unwrap_or_default(),
        }
    }

    async fn restore(&self, restore: Restore) -> Result<Box<dyn Run>, RuntimeError> {
        let adapter = adapter_of(&restore.session)?;
        let index = restore.prefix.len();
        let (Some(recorded), Some(pending)) = (&restore.checkpoint, &restore.pending) else {
            return Err(RuntimeError::Missing {
                what: format!(
                    "there is no checkpoint before step {index}, which was said inside a handler of the framework"
                ),
                mend: "Fork at another step: the screen says at each whether it has one".to_owned(),
            });
        };
        let whole = state::rebuilt(recorded).map_err(|what| RuntimeError::Missing {
            what: format!("step {index}: {what}"),
            mend: "Fork at a step that this runtime recorded".to_owned(),
        })?;
        let Ready {
            mut host,
            greeting,
            told,
        } = self.ready(adapter, restore.workspace.as_ref()).await?;
        // Whether another configuration may run is for gate 5 to say, so the adapter must not refuse it first.
        let other = state::pin(recorded) != Some(told.config_pin.as_str());
        let params = json!({ "checkpoint": whole, "allow_pin_mismatch": other });
        let at: Position = host.call("restore", &params).await?;
        for warning in &at.warnings {
            host.log().text(&format!("[restore] {warning}"));
        }
        let again: Value = host.call("checkpoint", &json!({})).await?;
        let now = state::kept(&again, index).map_err(|what| host.shape(what))?;
        // What was said before the checkpoint is known.
        host.forget();
        let edited = restore
            .original
            .as_ref()
            .is_some_and(|it| it.text != pending.text);
        let config: Manifest = config::manifest(&greeting, &told);
        let begun = Begun {
            config,
            keys: state::read_back(recorded, &now, &at.keys),
            kept: restore.kept.clone(),
            workspace: restore
                .workspace
                .clone()
                .map_or(Workspace::None, Workspace::Dir),
            index,
            max_steps: restore.max_steps,
            session: restore.session.clone(),
        };
        let run = AdapterRun::restored(host, at, begun, pending.clone(), edited)?;
        Ok(Box::new(run))
    }
}
