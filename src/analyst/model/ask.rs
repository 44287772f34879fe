//! One question to a model: asked, read as one JSON object of a schema, held against what is true, and asked again with the reason when it
//! does not fit, a few times and no more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::stage::Stage;
use crate::analyst::AnalystError;
use crate::endpoint::{Endpoint, Fault, Prompt};
use crate::model::Usage;

/// How often a question is asked at most: once, and twice again.
pub const TRIES: usize = 3;
/// The longest answer, in tokens.
const ANSWER: u32 = 4_000;
/// How much of an unusable answer is repeated to the model, in characters.
const REPEATED: usize = 2_000;

/// A model that is asked.
pub struct Asked {
    endpoint: Endpoint,
    /// The server takes no `response_format`.
    formless: AtomicBool,
    used: Mutex<Usage>,
}

impl Asked {
    /// A model at an endpoint.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            formless: AtomicBool::new(false),
            used: Mutex::default(),
        }
    }

    /// What the calls took so far.
    pub fn used(&self) -> Usage {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks, and gives what `check` makes of the answer.
    ///
    /// # Errors
    /// The endpoint's, or that no answer could be used.
    pub async fn ask<T: DeserializeOwned, U>(
        &self,
        stage: Stage,
        question: String,
        check: impl Fn(T) -> Result<U, String>,
    ) -> Result<U, AnalystError> {
        let mut messages = vec![
            json!({"role": "system", "content": stage.prompt()}),
            json!({"role": "user", "content": question}),
        ];
        let mut reason = String::new();
        for _ in 0..TRIES {
            let text = self.answer(stage, &messages).await?;
            let read = one_object(&text).and_then(|object| {
                serde_json::from_value::<T>(object)
                    .map_err(|error| format!("it does not fit the schema: {error}"))
            });
            match read.and_then(&check) {
                Ok(found) => return Ok(found),
                Err(why) => reason = why,
            }
            // No message may be without content.
            let said = if text.trim().is_empty() {
                "(nothing)"
            } else {
                &text
            };
            let said: String = said.chars().take(REPEATED).collect();
            messages.truncate(2);
            messages.push(json!({"role": "assistant", "content": said}));
            messages.push(json!({"role": "user", "content": format!(
                "That answer cannot be used: {reason}. Answer again with one JSON object as it was described, and nothing else."
            )}));
        }
        Err(AnalystError::Unusable {
            stage: stage.name(),
            reason,
            tries: TRIES,
        })
    }

    /// One whole answer.
    async fn answer(&self, stage: Stage, messages: &[Value]) -> Result<String, AnalystError> {
        loop {
            let formless = self.formless.load(Ordering::Relaxed);
            let prompt = Prompt {
                messages: messages.to_vec(),
                tools: Vec::new(),
                format: stage.format().filter(|_| !formless),
                max_tokens: Some(ANSWER),
            };
            match self.once(&prompt).await {
                Ok(text) => return Ok(text),
                // Many servers know no schema; the prompt says the form too.
                Err(fault) if fault.is_bad_request() && !formless => {
                    self.formless.store(true, Ordering::Relaxed);
                }
                Err(fault) => return Err(self.endpoint.explain(fault).into()),
            }
        }
    }

    async fn once(&self, prompt: &Prompt) -> Result<String, Fault> {
        let mut answer = self.endpoint.open(prompt).await?;
        let mut text = String::new();
        while let Some(piece) = answer.next().await? {
            text.push_str(&piece);
        }
        self.used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(&answer.usage);
        Ok(text)
    }
}

/// The one JSON object in an answer: bare, fenced, or with words around it.
fn one_object(text: &str) -> Result<Value, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let from = rest.get(at..).unwrap_or_default();
        let mut objects = serde_json::Deserializer::from_str(from).into_iter::<Value>();
        rest = match objects.next() {
            Some(Ok(object)) => {
                found.push(object);
                from.get(objects.byte_offset()..).unwrap_or_default()
            }
            _ => from.get(1..).unwrap_or_default(),
        };
    }
    match (found.len(), found.pop()) {
        (1, Some(object)) => Ok(object),
        (0, _) if text.trim().is_empty() => Err("it is empty".to_owned()),
        (0, _) => Err("there is no JSON object in it".to_owned()),
        (many, _) => Err(format!("there are {many} JSON objects in it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_object_is_found_and_two_are_none() {
        let table = [
            (r#"{"a": 1}"#, Ok(json!({"a": 1}))),
            ("```json\n{\"a\": 1}\n```", Ok(json!({"a": 1}))),
            (
                r#"Sure! Here it is: {"a": {"b": 2}} Hope it helps."#,
                Ok(json!({"a": {"b": 2}})),
            ),
            (r#"Die Antwort {hier} ist {"a": 1}"#, Ok(json!({"a": 1}))),
            (
                r#"{"a": 1} {"a": 2}"#,
                Err("there are 2 JSON objects in it".to_owned()),
            ),
            (
                "I think step 4.",
                Err("there is no JSON object in it".to_owned()),
            ),
            (
                r#"{"a": 1"#,
                Err("there is no JSON object in it".to_owned()),
            ),
            ("  ", Err("it is empty".to_owned())),
        ];
        for (text, expected) in table {
            assert_eq!(one_object(text), expected, "{text}");
        }
    }
}
