//! What can go wrong at a model endpoint, as a sentence that says what to do. Server text in it is cut, cleaned, and free of the key.

use std::time::Duration;

use http::StatusCode;
use jiff::fmt::rfc2822::DateTimeParser;

use super::EndpointError;

/// A request that did not become an answer.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// An HTTP status other than success.
    #[error("status {status}")]
    Refused {
        /// The status.
        status: StatusCode,
        /// What the body said.
        body: String,
        /// When to come again.
        retry_after: Option<Duration>,
    },
    /// An error object where an answer should be.
    #[error("error object: {0}")]
    Said(String),
    /// Nobody answers at the address.
    #[error("unreachable: {0}")]
    Unreachable(String),
    /// Silence for longer than allowed.
    #[error("silent for {0:?}")]
    Silent(Duration),
    /// Success, but no chat completion.
    #[error("no chat completion")]
    Rubbish(String),
    /// The stream broke off before its end.
    #[error("cut: {0}")]
    Cut(String),
    /// An answer without words, twice.
    #[error("empty")]
    Empty,
    /// An answer without end.
    #[error("endless")]
    Endless,
    /// A limit of tokens or money is reached.
    #[error("spent: {0}")]
    Spent(String),
}

impl Fault {
    /// Whether asking again soon may help.
    pub(super) fn passing(&self) -> bool {
        match self {
            // A spent quota answers 429 too, and waiting does not fill it.
            Self::Refused { status, body, .. } if *status == StatusCode::TOO_MANY_REQUESTS => {
                !body.contains("insufficient_quota")
            }
            Self::Refused { status, .. } => {
                status.is_server_error() || *status == StatusCode::REQUEST_TIMEOUT
            }
            _ => false,
        }
    }

    /// Whether the server does not take the request as it is.
    #[must_use]
    pub fn is_bad_request(&self) -> bool {
        matches!(self, Self::Refused { status, .. } if matches!(*status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY))
    }

    /// When the server wants to be asked again.
    pub(super) const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The error as an operator reads it. `clean` makes server text fit to be shown.
    pub(super) fn explain(
        self,
        at: &str,
        model: &str,
        clean: impl Fn(&str) -> String,
    ) -> EndpointError {
        let (what, mend) = match self {
            Self::Refused {
                status,
                body,
                retry_after,
            } => {
                let said = clean(&message_of(&body));
                let said = if said.is_empty() {
                    said
                } else {
                    format!(": {said}")
                };
                (
                    format!("{at} answered {status}{said}"),
                    mend_status(status, model, &body, retry_after),
                )
            }
            Self::Said(text) => (
                format!("{at} answered with an error: {}", clean(&text)),
                "Read what it says, then fork again".to_owned(),
            ),
            Self::Unreachable(why) => (
                format!("no connection to {at}: {}", clean(&why)),
                "Check OPENAI_BASE_URL and that the server is running".to_owned(),
            ),
            Self::Silent(after) => (
                format!("{at} was silent for {} s", after.as_secs_f32()),
                "Check that the server is not overloaded, then fork again".to_owned(),
            ),
            Self::Rubbish(head) => (
                format!(
                    "{at} answered something else than a chat completion: {}",
                    clean(&head)
                ),
                "Check that OPENAI_BASE_URL is an OpenAI-compatible API; it usually ends in /v1"
                    .to_owned(),
            ),
            Self::Cut(why) => (
                format!(
                    "{at} broke off in the middle of an answer ({})",
                    clean(&why)
                ),
                "The unfinished step was not kept, every step before it was; fork again".to_owned(),
            ),
            Self::Empty => (
                format!("{at} answered without any text, twice"),
                format!("Try another model than {model}, or fork at another step"),
            ),
            Self::Endless => (
                format!("{at} answered with more text than a step may have"),
                format!("Try another model than {model}"),
            ),
            Self::Spent(what) => (
                format!("stopped before asking {at}: {what}"),
                "Raise --max-tokens or --max-cost, or do less at once".to_owned(),
            ),
        };
        EndpointError::Failed { what, mend }
    }
}

fn mend_status(
    status: StatusCode,
    model: &str,
    body: &str,
    retry_after: Option<Duration>,
) -> String {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "Check OPENAI_API_KEY: it is missing, wrong, or may not use this model".to_owned()
        }
        StatusCode::NOT_FOUND => format!(
            "Check the model's name ({model}; --model or OPENAI_MODEL) and OPENAI_BASE_URL, which usually ends in /v1"
        ),
        StatusCode::TOO_MANY_REQUESTS => match retry_after {
            Some(wait) => format!("Try again in {} s, or run fewer at once", wait.as_secs()),
            None => "Try again later, run fewer at once, or check the account's quota".to_owned(),
        },
        _ if body.contains("context") && body.contains("length") => {
            "Fork at an earlier step, or use a model that takes longer conversations".to_owned()
        }
        status if status.is_server_error() => {
            "The server is in trouble; look at its log, or try again later".to_owned()
        }
        _ => format!("Check that the server speaks the chat completions API and takes {model}"),
    }
}

/// The message of an error body: the usual places in JSON, else the body itself.
pub(super) fn message_of(body: &str) -> String {
    let json: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let places = ["/error/message", "/message", "/detail", "/error"];
    json.and_then(|json| {
        places
            .iter()
            .find_map(|place| json.pointer(place)?.as_str().map(str::to_owned))
    })
    .unwrap_or_else(|| body.to_owned())
}

/// Reads a Retry-After header: seconds, or a date (RFC 9110, 10.2.3).
pub(super) fn retry_after(header: &str, now: jiff::Timestamp) -> Option<Duration> {
    if let Ok(seconds) = header.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = DateTimeParser::new().parse_timestamp(header.trim()).ok()?;
    Some(Duration::try_from(at.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_retry_after_in_both_forms() {
        let now: jiff::Timestamp = "2015-10-21T07:27:30Z".parse().unwrap();
        let cases = [
            ("0", Some(0)),
            ("120", Some(120)),
            // RFC 9110's own date, thirty seconds ahead; and one that is past.
            ("Wed, 21 Oct 2015 07:28:00 GMT", Some(30)),
            ("Fri, 31 Dec 1999 23:59:59 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
        ];
        for (header, seconds) in cases {
            let expected = seconds.map(Duration::from_secs);
            assert_eq!(retry_after(header, now), expected, "{header}");
        }
    }

    #[test]
    fn finds_the_message_of_an_error_body() {
        let cases = [
            (r#"{"error":{"message":"no key"}}"#, "no key"),
            (r#"{"error":"model not loaded"}"#, "model not loaded"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            ("<h1>Bad gateway</h1>", "<h1>Bad gateway</h1>"),
        ];
        for (body, expected) in cases {
            assert_eq!(message_of(body), expected);
        }
    }

    #[test]
    fn a_spent_quota_does_not_pass() {
        let refused = |status, body: &str| Fault::Refused {
            status,
            body: body.into(),
            retry_after: None,
        };
        assert!(refused(StatusCode::TOO_MANY_REQUESTS, "slow down").passing());
        assert!(
            !refused(
                StatusCode::TOO_MANY_REQUESTS,
                r#"{"code":"insufficient_quota"}"#
            )
            .passing()
        );
        assert!(refused(StatusCode::BAD_GATEWAY, "").passing());
        assert!(!refused(StatusCode::UNAUTHORIZED, "").passing());
    }
}
