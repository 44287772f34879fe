//! A run held at a boundary by a person: the protocol's `queue`, `edit`, `send`, `checkpoint` and `respond`.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::super::wire::{Message, text};
use super::{AdapterRun, Boundary, State};
use crate::model::Checkpoint;
use crate::runtime::{Live, LogLine, QueueEdit, Queued, RuntimeError};

/// The answer to `edit`.
#[derive(Deserialize)]
struct Edited {
    #[serde(default)]
    applied: Vec<Applied>,
}

#[derive(Deserialize)]
struct Applied {
    #[serde(default)]
    copies: Value,
}

impl AdapterRun {
    /// Tells from now on what is pending, and asks instead of failing where a person is asked.
    pub(in super::super) fn live(mut self) -> Self {
        self.live = true;
        self
    }

    async fn messages(&mut self) -> Result<Vec<Message>, RuntimeError> {
        Ok(self.host.call("queue", &json!({})).await?)
    }
}

#[async_trait]
impl Live for AdapterRun {
    async fn queue(&mut self) -> Result<Vec<Queued>, RuntimeError> {
        let messages = self.messages().await?;
        let waiting = messages.into_iter().enumerate().map(|(place, message)| {
            let mut step = self.step(&message);
            step.index += place;
            Queued {
                id: message.id,
                step,
            }
        });
        Ok(waiting.collect())
    }

    async fn change(&mut self, change: &QueueEdit) -> Result<u64, RuntimeError> {
        let op = match change {
            QueueEdit::Replace { id, text } => {
                json!({"op": "replace_pending", "message_id": id, "content": text})
            }
            QueueEdit::Insert { from, to, text, at } => {
                json!({"op": "insert", "from": from, "to": to, "content": text, "at": at})
            }
            QueueEdit::Drop { id } => json!({"op": "drop", "message_id": id}),
            QueueEdit::Send { to, text } => {
                let params = json!({"to": to, "content": text});
                let _id: Value = self.host.call("send", &params).await?;
                Value::Null
            }
        };
        let mut copies = 1;
        if !op.is_null() {
            let edited: Edited = self.host.call("edit", &json!({"ops": [op]})).await?;
            let told = edited.applied.first().map(|it| it.copies.as_u64());
            copies = told.flatten().unwrap_or(copies);
        }
        let first = self.messages().await?.into_iter().next();
        if let State::At(at) = &mut self.state {
            **at = Boundary {
                told: true,
                ..Boundary::of(first)
            };
        }
        Ok(copies)
    }

    async fn look(&mut self) -> Result<Checkpoint, RuntimeError> {
        Ok(self.checkpoint().await?)
    }

    fn held_arguments(&self) -> Option<String> {
        match &self.state {
            State::Held(question) => {
                let arguments = text(&question.call.args);
                (!arguments.is_empty()).then(|| self.host.log().masked(&arguments))
            }
            _ => None,
        }
    }

    fn answer(&mut self, result: &str) {
        if let State::Held(question) = &self.state {
            let question = question.clone();
            self.respond(&question, &json!({"decision": "answer", "result": result}));
            self.state = State::Works;
        }
    }

    fn reply(&mut self, text: &str) {
        if let State::Asks(question) = &self.state {
            let question = question.clone();
            self.respond(&question, &json!(text));
            self.replied = true;
            self.state = State::Works;
        }
    }

    fn follow_log(&self) -> UnboundedReceiver<LogLine> {
        self.host.log().follow()
    }
}
