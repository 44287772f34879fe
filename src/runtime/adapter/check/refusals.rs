//! What an adapter must refuse: another pin, a damaged checkpoint, a run rewound, an edit of what is consumed.

use serde_json::{Value, json};

use super::{Boundary, Walker, resealed};
use crate::runtime::RuntimeError;
use crate::runtime::adapter::error::AdapterError;
use crate::runtime::adapter::wire::{self, Status};

impl Walker<'_> {
    /// Tries what must not work.
    pub(super) async fn refused(&mut self, run: &[Boundary]) {
        let Some(last) = run.last() else { return };
        let zero = "0".repeat(64);
        let other = resealed(&last.checkpoint, "config_pin", zero.into());
        let tried = self.at(&other).await.map(|_| ());
        self.judge("a checkpoint of another configuration", tried, incompatible);

        let mut damaged = last.checkpoint.clone();
        if let Some(step) = damaged.get_mut("step") {
            *step = json!(step.as_u64().unwrap_or(0) + 1);
        }
        let tried = self.at(&damaged).await.map(|_| ());
        self.judge("a damaged checkpoint", tried, incompatible);

        let tried = self.rewound(&last.checkpoint).await;
        self.judge("a restore in a process that has a run", tried, refused);

        if run.len() > 1 {
            let tried = self.too_late(run).await;
            self.judge("an edit of a message that is delivered", tried, refused);
        }
    }

    /// Notes whether something was refused as it must be.
    fn judge(
        &mut self,
        what: &str,
        tried: Result<(), RuntimeError>,
        right: fn(&AdapterError) -> bool,
    ) {
        let (holds, found) = match tried {
            Ok(()) => (false, format!("{what} was taken")),
            Err(RuntimeError::Adapter(error)) if right(&error) => {
                (true, format!("{what} is refused"))
            }
            Err(error) => (false, format!("{what}: {error}")),
        };
        self.found("refusal", None, Some(holds), found);
    }

    async fn rewound(&self, checkpoint: &Value) -> Result<(), RuntimeError> {
        let (mut host, _) = self.at(checkpoint).await?;
        let params = json!({"checkpoint": checkpoint, "allow_pin_mismatch": false});
        let _again: Value = host.call("restore", &params).await?;
        Ok(())
    }

    async fn too_late(&self, run: &[Boundary]) -> Result<(), RuntimeError> {
        let Some(first) = run.first() else {
            return Ok(());
        };
        let (mut host, _) = self.at(&first.checkpoint).await?;
        let at = self.step(&mut host).await?;
        let id = &first.pending.id;
        if at.status == Status::Done || wire::text(id).is_empty() {
            return Ok(());
        }
        let op = json!({"op": "replace_pending", "message_id": id, "content": "too late"});
        let _applied: Value = host.call("edit", &json!({"ops": [op]})).await?;
        Ok(())
    }
}

fn incompatible(error: &AdapterError) -> bool {
    matches!(error, AdapterError::Incompatible { .. })
}

fn refused(error: &AdapterError) -> bool {
    matches!(
        error,
        AdapterError::Incompatible { .. } | AdapterError::Refused { .. }
    )
}
