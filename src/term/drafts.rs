//! Keeps edits that were not sent: one after the other, in the order in which they were given, so that what was sent does not come back.

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::app::Msg;
use crate::store::{Store, Unsent};

/// Writes edits to the store as they are given.
pub(super) struct Keeper {
    give: UnboundedSender<Unsent>,
    task: JoinHandle<()>,
}

impl Keeper {
    /// Begins to wait for edits. That one could not be kept is told once.
    pub(super) fn begin(store: Store, answers: UnboundedSender<Msg>) -> Self {
        let (give, mut given) = unbounded_channel::<Unsent>();
        let task = tokio::spawn(async move {
            let mut told = false;
            while let Some(unsent) = given.recv().await {
                let (store, step) = (store.clone(), unsent.step);
                let kept = spawn_blocking(move || store.keep_draft(&unsent)).await;
                let fault = match kept {
                    Ok(Ok(())) => continue,
                    Ok(Err(error)) => error.to_string(),
                    Err(error) => error.to_string(),
                };
                if !std::mem::replace(&mut told, true) {
                    let _ = answers.send(Msg::Failed(format!(
                        "The edit of step {step} stands on this screen only: {fault}"
                    )));
                }
            }
        });
        Self { give, task }
    }

    /// Keeps an edit.
    pub(super) fn keep(&self, unsent: Unsent) {
        let _ = self.give.send(unsent);
    }

    /// Waits until everything given is written.
    pub(super) async fn finish(self) {
        drop(self.give);
        let _ = self.task.await;
    }
}
