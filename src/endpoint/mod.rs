//! A model endpoint: opens streamed chat completions and asks again, within limits, when it is told to come later.
//!
//! Invariants: the key is in no text, log or error; dropping an answer drops its connection; every whole answer is counted once by the
//! [`Meter`], and nothing is asked past its limits.

mod chunk;
mod error;
mod fault;
mod meter;
mod models;
mod settings;
mod wire;

use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures::{Stream, StreamExt};
use http::HeaderValue;
use reqwest::Url;
use serde_json::{Value, json};

use crate::model::Usage;
pub use chunk::Call;
pub use error::EndpointError;
pub use fault::Fault;
pub use meter::{Limits, Meter, Prices, estimate, estimate_messages, money};
pub use settings::{EndpointSettings, given};
use wire::{Ending, Wire};

/// The longest answer taken as one step, in bytes.
const MAX_ANSWER: usize = 1 << 20;
/// The shortest key that is taken for a secret, in characters.
const SECRET: usize = 6;
/// How much of a server's words an error shows, in characters.
const MAX_SHOWN: usize = 300;
/// The first wait before asking again, doubled each time, when the server names none.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Where the answers come from.
pub struct Endpoint {
    base_url: String,
    model: String,
    key: Option<String>,
    wire: Wire,
    tries: u32,
    patience: Duration,
    meter: Meter,
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// The conversation, in the chat completions API's form.
    pub messages: Vec<Value>,
    /// Tools that may be called, in the same API's form.
    pub tools: Vec<Value>,
    /// The form of the answer (`response_format`), where one is wanted.
    pub format: Option<Value>,
    /// The most tokens the answer may have.
    pub max_tokens: Option<u32>,
}

impl Prompt {
    /// A conversation without tools.
    #[must_use]
    pub fn of(messages: Vec<Value>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }

    fn body(&self, model: &str) -> Value {
        let mut body = json!({
            "model": model, "messages": self.messages, "stream": true, "stream_options": {"include_usage": true},
        });
        let tools = (!self.tools.is_empty()).then(|| json!(self.tools));
        let asked = [
            ("tools", tools),
            ("response_format", self.format.clone()),
            ("max_tokens", self.max_tokens.map(|most| json!(most))),
        ];
        if let Some(body) = body.as_object_mut() {
            body.extend(
                asked
                    .into_iter()
                    .filter_map(|(name, value)| Some((name.to_owned(), value?))),
            );
        }
        body
    }
}

impl Endpoint {
    /// Checks the settings; reaches nothing.
    ///
    /// # Errors
    /// What is missing or cannot be right.
    pub fn new(settings: &EndpointSettings) -> Result<Self, EndpointError> {
        let base_url = given(settings.base_url.as_deref()).ok_or_else(|| {
            missing(
                "no model endpoint is set",
                "Set OPENAI_BASE_URL, such as http://127.0.0.1:8000/v1",
            )
        })?;
        let model = given(settings.model.as_deref())
            .ok_or_else(|| missing("no model is named", "Give --model NAME or set OPENAI_MODEL"))?;
        let url = Url::parse(base_url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| {
                missing(
                    "the model endpoint is not a web address",
                    "Set OPENAI_BASE_URL to one such as http://127.0.0.1:8000/v1",
                )
            })?;
        let key = given(settings.api_key.as_deref()).map(str::to_owned);
        let authorization = key.as_deref().map(bearer).transpose()?;
        let mut http = reqwest::Client::builder()
            .connect_timeout(settings.connect)
            .read_timeout(settings.idle);
        // A proxy of the environment cannot reach this machine's own loopback.
        if url
            .host_str()
            .is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"))
        {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| EndpointError::Failed {
            what: format!("the HTTP client cannot start: {error}"),
            mend: "Check the system's certificates and proxy settings".to_owned(),
        })?;
        Ok(Self {
            base_url: base_url.trim_end_matches('/').to_owned(),
            model: model.to_owned(),
            key,
            wire: Wire {
                http,
                authorization,
                idle: settings.idle,
            },
            tries: settings.tries.max(1),
            patience: settings.patience,
            meter: settings.meter.clone(),
        })
    }

    /// Opens an answer. Dropping the future or the answer closes the connection.
    pub async fn open(&self, prompt: &Prompt) -> Result<Answer, Fault> {
        let request = prompt.body(&self.model);
        let sent = estimate_messages(&prompt.messages) + estimate(&json!(prompt.tools).to_string());
        self.meter.admit(sent).map_err(Fault::Spent)?;
        let mut waited = Duration::ZERO;
        let mut tried = 1;
        loop {
            let fault = match self.try_once(&request, sent).await {
                Ok(answer) => return Ok(answer),
                Err(fault) => fault,
            };
            let wait = fault
                .retry_after()
                .unwrap_or(FIRST_WAIT * 2_u32.saturating_pow(tried - 1));
            if !fault.passing() || tried >= self.tries || waited + wait > self.patience {
                return Err(fault);
            }
            tracing::debug!(?wait, %fault, "asking the endpoint again");
            tokio::time::sleep(wait).await;
            waited += wait;
            tried += 1;
        }
    }

    /// An error as an operator reads it.
    #[must_use]
    pub fn explain(&self, fault: Fault) -> EndpointError {
        fault.explain(&shown(&self.base_url), &self.model, |text| self.clean(text))
    }

    async fn try_once(&self, request: &Value, sent: u64) -> Result<Answer, Fault> {
        let ending = Arc::new(Ending::default());
        let config = OpenAIConfig::new()
            .with_api_base(&self.base_url)
            .with_api_key("")
            .with_org_id("")
            .with_project_id("");
        let (wire, told) = (self.wire.clone(), Arc::clone(&ending));
        // Without a service of its own async-openai retries for itself and drops the Retry-After of a refusal.
        let service = tower::service_fn(move |factory: HttpRequestFactory| {
            wire.clone().send(factory, Arc::clone(&told))
        });
        let client = Client::build(self.wire.http.clone(), config).with_http_service(service);
        let stream = client
            .chat()
            .create_stream_byot(request)
            .await
            .map_err(wire::unwrap)?;
        Ok(Answer {
            stream,
            ending,
            odd: String::new(),
            received: 0,
            finish: None,
            calls: Vec::new(),
            counted: None,
            usage: Usage::default(),
            text: String::new(),
            sent,
            meter: self.meter.clone(),
        })
    }

    /// Server text without the key, which a server or a model may quote back.
    #[must_use]
    pub fn masked(&self, text: &str) -> String {
        match &self.key {
            // A key of a few characters is no secret but a placeholder, and would mask ordinary words.
            Some(key) if key.len() >= SECRET => text.replace(key.as_str(), "[key]"),
            _ => text.to_owned(),
        }
    }

    /// Server text that is fit to be shown: short, one line, without the key.
    fn clean(&self, text: &str) -> String {
        let text = self.masked(text);
        let mut cleaned = String::new();
        for (count, word) in text.split_whitespace().enumerate() {
            if count > 0 {
                cleaned.push(' ');
            }
            cleaned.extend(word.chars().filter(|c| !c.is_control()));
        }
        if cleaned.chars().count() > MAX_SHOWN {
            cleaned = cleaned.chars().take(MAX_SHOWN).collect();
            cleaned.push('…');
        }
        cleaned
    }
}

/// An answer on its way in.
pub struct Answer {
    stream: Pin<Box<dyn Stream<Item = Result<Value, OpenAIError>> + Send>>,
    ending: Arc<Ending>,
    /// The beginning of the first event that was no chunk.
    odd: String,
    received: usize,
    /// Why it ended, once it has.
    pub finish: Option<String>,
    /// The tools it calls, whole once it has ended.
    pub calls: Vec<Call>,
    /// What it took, once it has ended.
    pub usage: Usage,
    counted: Option<(u64, u64)>,
    text: String,
    sent: u64,
    meter: Meter,
}

impl Answer {
    /// The next piece of text; none when the answer is whole. A stream that ends without saying so is a fault.
    pub async fn next(&mut self) -> Result<Option<String>, Fault> {
        // Servers that count the tokens say so after the finish reason, so a stream is read to its end.
        loop {
            let Some(item) = self.stream.next().await else {
                return self.ended();
            };
            match item {
                Ok(value) => match chunk::read(&value).map_err(Fault::Said)? {
                    Some(chunk) => {
                        if let Some(text) = self.take(chunk)? {
                            return Ok(Some(text));
                        }
                    }
                    None => self.note(&value.to_string()),
                },
                Err(OpenAIError::JSONDeserialize(_, text)) => self.note(&text),
                Err(_) if self.ending.broken.get().is_some() => {}
                Err(other) => self.note(&other.to_string()),
            }
        }
    }

    fn take(&mut self, chunk: chunk::Chunk) -> Result<Option<String>, Fault> {
        self.counted = chunk.tokens.or(self.counted);
        if self.finish.is_some() {
            return Ok(None);
        }
        self.finish = chunk.finish;
        self.received += chunk.text.len().max(1);
        for piece in chunk.calls {
            self.received += piece.arguments.len();
            chunk::join(&mut self.calls, piece);
        }
        if self.received > MAX_ANSWER {
            return Err(Fault::Endless);
        }
        if chunk.text.is_empty() {
            return Ok(None);
        }
        self.text.push_str(&chunk.text);
        Ok(Some(chunk.text))
    }

    fn note(&mut self, odd: &str) {
        if self.odd.is_empty() {
            let _infallible = write!(self.odd, "{odd:.300}");
        }
    }

    /// The stream is over: whole if it gave a finish reason or an end mark.
    fn ended(&mut self) -> Result<Option<String>, Fault> {
        if self.finish.is_none() {
            match self.ending.broken.get() {
                Some(Fault::Silent(after)) => return Err(Fault::Silent(*after)),
                Some(Fault::Cut(why)) => return Err(Fault::Cut(why.clone())),
                Some(other) => return Err(Fault::Cut(other.to_string())),
                None => {}
            }
            if self.received == 0 && !self.odd.is_empty() {
                return Err(Fault::Rubbish(self.odd.clone()));
            }
            if !self.ending.done.load(Ordering::Relaxed) {
                return Err(if self.received == 0 {
                    Fault::Rubbish("nothing at all".to_owned())
                } else {
                    Fault::Cut("the stream ended without an end mark".to_owned())
                });
            }
            self.finish = Some("done".to_owned());
        }
        if self.usage.is_empty() {
            let arguments = self.calls.iter().map(|call| call.arguments.as_str());
            let received: String = std::iter::once(self.text.as_str())
                .chain(arguments)
                .collect();
            self.usage = self.meter.count(self.counted, self.sent, &received);
        }
        Ok(None)
    }
}

/// An address as it may be shown: without credentials and query.
#[must_use]
pub fn shown(base_url: &str) -> String {
    let Ok(mut url) = Url::parse(base_url.trim()) else {
        return "the endpoint".to_owned();
    };
    let _cannot_be_a_base = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().trim_end_matches('/').to_owned()
}

fn bearer(key: &str) -> Result<HeaderValue, EndpointError> {
    let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| {
        missing(
            "the key has characters that no key has",
            "Set OPENAI_API_KEY again, as one line without spaces",
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn missing(what: &str, mend: &str) -> EndpointError {
    EndpointError::Missing {
        what: what.to_owned(),
        mend: mend.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_quoted_back_is_masked_and_a_placeholder_is_not() {
        let endpoint = |key: &str| {
            Endpoint::new(&EndpointSettings {
                base_url: Some("http://127.0.0.1:9/v1".to_owned()),
                api_key: Some(key.to_owned()),
                model: Some("m".to_owned()),
                ..EndpointSettings::default()
            })
            .unwrap()
        };
        let said = "Bearer sk-12345678, ok";
        assert_eq!(endpoint("sk-12345678").masked(said), "Bearer [key], ok");
        assert_eq!(endpoint("k").masked(said), said);
    }
}
