//! One HTTP exchange beneath async-openai: carries the key, turns a refusal into a [`Fault`], makes a plain JSON answer one event,
//! and remembers how the stream ended, which the events alone do not tell.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures::TryStreamExt;
use http::{HeaderValue, header};
use reqwest::{Body, Response};
use tower::BoxError;

use super::fault::{Fault, retry_after};

/// The longest body that is read whole.
const MAX_BODY: usize = 16 << 20;

/// How a stream ended.
#[derive(Debug, Default)]
pub(super) struct Ending {
    /// `data: [DONE]` came by.
    pub done: AtomicBool,
    /// The transport broke.
    pub broken: OnceLock<Fault>,
}

/// A client with the key, and the silence it bears.
#[derive(Clone)]
pub(super) struct Wire {
    pub http: reqwest::Client,
    pub authorization: Option<HeaderValue>,
    pub idle: Duration,
}

impl Wire {
    /// Sends a request once.
    pub(super) async fn send(
        self,
        request: HttpRequestFactory,
        ending: Arc<Ending>,
    ) -> Result<Response, BoxError> {
        let mut request = request.build().await?;
        // async-openai's own header holds no key: the real one is put in here and marked, so that nothing prints it.
        request.headers_mut().remove(header::AUTHORIZATION);
        if let Some(key) = &self.authorization {
            request
                .headers_mut()
                .insert(header::AUTHORIZATION, key.clone());
        }
        let idle = self.idle;
        let response = self
            .http
            .execute(request)
            .await
            .map_err(|error| fault_of(&error, idle))?;
        if !response.status().is_success() {
            return Err(refusal(response).await.into());
        }
        let streams = response
            .headers()
            .get(header::CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let mut response = response;
        if !streams {
            response = as_event(response, idle).await?;
        }
        Ok(watched(response, ending, idle))
    }
}

/// What a transport error means.
pub(super) fn fault_of(error: &reqwest::Error, idle: Duration) -> Fault {
    if error.is_connect() {
        Fault::Unreachable(root(error))
    } else if error.is_timeout() {
        Fault::Silent(idle)
    } else {
        Fault::Cut(root(error))
    }
}

/// The innermost cause, without the address, which may hold credentials.
fn root(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// What a refusal says.
pub(super) async fn refusal(response: Response) -> Fault {
    let status = response.status();
    let retry_after = response
        .headers()
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| retry_after(value, jiff::Timestamp::now()));
    // A body that cannot be read takes nothing from what the status says.
    let body = text(response).await.unwrap_or_default();
    Fault::Refused {
        status,
        body,
        retry_after,
    }
}

/// Reads a body whole, up to a limit.
pub(super) async fn text(mut response: Response) -> Result<String, reqwest::Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BODY {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// An answer of a server that does not stream, as a stream of one event. A body of events under another name passes as it is.
async fn as_event(response: Response, idle: Duration) -> Result<Response, Fault> {
    let body = text(response)
        .await
        .map_err(|error| fault_of(&error, idle))?;
    let events = match serde_json::from_str::<serde_json::Value>(&body) {
        Ok(json) => format!("data: {json}\n\ndata: [DONE]\n\n"),
        Err(_) if body.lines().any(|line| line.starts_with("data:")) => body,
        Err(_) => return Err(Fault::Rubbish(body)),
    };
    Ok(http::Response::new(events).into())
}

/// The same response, whose body tells `ending` how it ends.
fn watched(response: Response, ending: Arc<Ending>, idle: Duration) -> Response {
    let mut line = Vec::new();
    let at_end = Arc::clone(&ending);
    let body = response
        .bytes_stream()
        .inspect_ok(move |bytes| {
            for byte in bytes {
                see(&mut line, *byte, &ending);
            }
        })
        .inspect_err(move |error| {
            let _first_only = at_end.broken.set(fault_of(error, idle));
        });
    http::Response::new(Body::wrap_stream(body)).into()
}

/// Follows the lines of a stream. A line break inside a message is escaped in its JSON, so a whole line `data: [DONE]` is the end mark and nothing else.
fn see(line: &mut Vec<u8>, byte: u8, ending: &Ending) {
    const LONGEST: usize = 24;
    if !matches!(byte, b'\n' | b'\r') {
        if line.len() < LONGEST {
            line.push(byte);
        }
        return;
    }
    let data = line.strip_prefix(b"data:").map(<[u8]>::trim_ascii);
    if data == Some(b"[DONE]") {
        ending.done.store(true, Ordering::Relaxed);
    }
    line.clear();
}

/// The fault inside an error of async-openai.
pub(super) fn unwrap(error: OpenAIError) -> Fault {
    match error {
        OpenAIError::Boxed(inner) => match inner.downcast::<Fault>() {
            Ok(fault) => *fault,
            Err(other) => Fault::Unreachable(other.to_string()),
        },
        OpenAIError::Reqwest(error) => Fault::Unreachable(root(&error)),
        other => Fault::Rubbish(other.to_string()),
    }
}
