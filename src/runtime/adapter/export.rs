//! A recorded state as the framework itself would have saved it, for use without dover.
//!
//! It is made by the framework: a new process restores the checkpoint, says the message that is pending there, and saves. Nobody is asked
//! to speak and no tool is called. The team must be the one that was recorded; another is refused, not fitted.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::wire::Position;
use super::{Adapter, Ready, adapter_of, state};
use crate::model::{Checkpoint, Session};
use crate::runtime::RuntimeError;

/// A state of the framework's own.
#[derive(Deserialize, Clone, Debug)]
pub struct Exported {
    /// The adapter that made it.
    #[serde(default)]
    pub adapter: String,
    /// The framework's packages and their versions.
    #[serde(default)]
    pub framework: BTreeMap<String, String>,
    /// What the framework's own load function takes.
    pub state: Value,
    /// Parts that are not in it as they were.
    #[serde(skip)]
    pub lost: Vec<String>,
}

impl Adapter {
    /// The state behind a step, from the checkpoint before it.
    ///
    /// # Errors
    /// The session or the checkpoint is of no adapter, the team is another, or the framework has no saved state of its own.
    pub async fn export(
        &self,
        session: &Session,
        recorded: &Checkpoint,
    ) -> Result<Exported, RuntimeError> {
        let adapter = adapter_of(session)?;
        let whole = state::rebuilt(recorded).map_err(|what| RuntimeError::Missing {
            what: format!("step {}: {what}", recorded.step),
            mend: "Take a step that an adapter recorded".to_owned(),
        })?;
        let Ready { mut host, .. } = self.ready(adapter, None).await?;
        let at: Position = host
            .call("restore", &json!({ "checkpoint": whole }))
            .await?;
        let mut exported: Exported = host.call("export", &json!({ "commit": true })).await?;
        let lost = at.keys.iter().filter(|(_, word)| *word != "exact");
        exported.lost = lost
            .map(|(part, word)| format!("{part} ({word})"))
            .collect();
        exported.lost.extend(at.warnings);
        Ok(exported)
    }
}
