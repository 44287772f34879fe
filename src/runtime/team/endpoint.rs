//! A model endpoint: opens streamed chat completions and asks again, within limits, when it is told to come later.

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

use super::chunk;
use super::fault::Fault;
use super::wire::{self, Ending, Wire};
use super::{TeamSettings, given};
use crate::runtime::RuntimeError;

/// The longest answer taken as one step, in bytes.
const MAX_ANSWER: usize = 1 << 20;
/// The shortest key that is taken for a secret, in characters.
const SECRET: usize = 6;
/// How much of a server's words an error shows, in characters.
const MAX_SHOWN: usize = 300;
/// The first wait before asking again, doubled each time, when the server names none.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Where the answers come from.
pub(super) struct Endpoint {
    base_url: String,
    model: String,
    key: Option<String>,
    wire: Wire,
    tries: u32,
    patience: Duration,
}

impl Endpoint {
    /// Checks the settings; reaches nothing.
    pub(super) fn new(settings: &TeamSettings) -> Result<Self, RuntimeError> {
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
        let http = http.build().map_err(|error| RuntimeError::Endpoint {
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
        })
    }

    /// Opens an answer. Dropping the future or the answer closes the connection.
    pub(super) async fn open(&self, messages: &[Value]) -> Result<Answer, Fault> {
        let request = json!({"model": self.model, "messages": messages, "stream": true});
        let mut waited = Duration::ZERO;
        let mut tried = 1;
        loop {
            let fault = match self.try_once(&request).await {
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
    pub(super) fn explain(&self, fault: Fault) -> RuntimeError {
        fault.explain(&shown(&self.base_url), &self.model, |text| self.clean(text))
    }

    async fn try_once(&self, request: &Value) -> Result<Answer, Fault> {
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
        })
    }

    /// Server text without the key, which a server or a model may quote back.
    pub(super) fn masked(&self, text: &str) -> String {
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
pub(super) struct Answer {
    stream: Pin<Box<dyn Stream<Item = Result<Value, OpenAIError>> + Send>>,
    ending: Arc<Ending>,
    /// The beginning of the first event that was no chunk.
    odd: String,
    received: usize,
    /// Why it ended, once it has.
    pub finish: Option<String>,
}

impl Answer {
    /// The next piece of text; none when the answer is whole. A stream that ends without saying so is a fault.
    pub(super) async fn next(&mut self) -> Result<Option<String>, Fault> {
        while self.finish.is_none() {
            let Some(item) = self.stream.next().await else {
                return self.ended();
            };
            match item {
                Ok(value) => match chunk::read(&value).map_err(Fault::Said)? {
                    Some(chunk) => {
                        self.finish = chunk.finish;
                        self.received += chunk.text.len().max(1);
                        if self.received > MAX_ANSWER {
                            return Err(Fault::Endless);
                        }
                        if !chunk.text.is_empty() {
                            return Ok(Some(chunk.text));
                        }
                    }
                    None => self.note(&value.to_string()),
                },
                Err(OpenAIError::JSONDeserialize(_, text)) => self.note(&text),
                Err(_) if self.ending.broken.get().is_some() => {}
                Err(other) => self.note(&other.to_string()),
            }
        }
        Ok(None)
    }

    fn note(&mut self, odd: &str) {
        if self.odd.is_empty() {
            let _infallible = write!(self.odd, "{odd:.300}");
        }
    }

    /// The stream is over without a finish reason.
    fn ended(&mut self) -> Result<Option<String>, Fault> {
        match self.ending.broken.get() {
            Some(Fault::Silent(after)) => return Err(Fault::Silent(*after)),
            Some(Fault::Cut(why)) => return Err(Fault::Cut(why.clone())),
            Some(other) => return Err(Fault::Cut(other.to_string())),
            None => {}
        }
        if self.received == 0 && !self.odd.is_empty() {
            return Err(Fault::Rubbish(self.odd.clone()));
        }
        if self.ending.done.load(Ordering::Relaxed) {
            self.finish = Some("done".to_owned());
            return Ok(None);
        }
        if self.received == 0 {
            return Err(Fault::Rubbish("nothing at all".to_owned()));
        }
        Err(Fault::Cut(
            "the stream ended without an end mark".to_owned(),
        ))
    }
}

/// An address as it may be shown: without credentials and query.
pub(super) fn shown(base_url: &str) -> String {
    let Ok(mut url) = Url::parse(base_url.trim()) else {
        return "the endpoint".to_owned();
    };
    let _cannot_be_a_base = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().trim_end_matches('/').to_owned()
}

fn bearer(key: &str) -> Result<HeaderValue, RuntimeError> {
    let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| {
        missing(
            "the key has characters that no key has",
            "Set OPENAI_API_KEY again, as one line without spaces",
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn missing(what: &str, mend: &str) -> RuntimeError {
    RuntimeError::Missing {
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
            Endpoint::new(&TeamSettings {
                base_url: Some("http://127.0.0.1:9/v1".to_owned()),
                api_key: Some(key.to_owned()),
                model: Some("m".to_owned()),
                ..TeamSettings::default()
            })
            .unwrap()
        };
        let said = "Bearer sk-12345678, ok";
        assert_eq!(endpoint("sk-12345678").masked(said), "Bearer [key], ok");
        assert_eq!(endpoint("k").masked(said), said);
    }
}
