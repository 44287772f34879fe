//! One JSON chunk of an answer, as loosely as compatible servers write them: streamed `delta`, whole `message`, or old `text`;
//! content as text, as parts, or null; anything unknown beside it.

use serde_json::Value;

use super::fault::message_of;

/// What a chunk brings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Chunk {
    /// The next piece of text, possibly empty.
    pub text: String,
    /// Why the answer ends here, if it does.
    pub finish: Option<String>,
}

/// Reads a chunk. An `Err` is the message of an error object.
pub(super) fn read(chunk: &Value) -> Result<Option<Chunk>, String> {
    if chunk.get("error").is_some_and(|error| !error.is_null()) {
        return Err(message_of(&chunk.to_string()));
    }
    let Some(choice) = chunk.pointer("/choices/0") else {
        return Ok(None);
    };
    let places = ["/delta/content", "/message/content", "/text"];
    let text = places
        .iter()
        .filter_map(|place| choice.pointer(place))
        .find_map(text_of)
        .unwrap_or_default();
    let finish = choice
        .get("finish_reason")
        .and_then(Value::as_str)
        .filter(|reason| !reason.is_empty())
        .map(str::to_owned);
    Ok(Some(Chunk { text, finish }))
}

/// Text as a string or as a list of parts.
fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => Some(
            parts
                .iter()
                .filter_map(|part| part.get("text").and_then(Value::as_str))
                .collect(),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn takes_what_servers_write() {
        let chunk = |text: &str, finish: Option<&str>| {
            Ok(Some(Chunk {
                text: text.into(),
                finish: finish.map(str::to_owned),
            }))
        };
        let cases = [
            (
                json!({"choices": [{"delta": {"content": "a"}, "finish_reason": null}]}),
                chunk("a", None),
            ),
            (
                json!({"choices": [{"delta": {"role": "assistant", "content": null}}]}),
                chunk("", None),
            ),
            (
                json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
                chunk("", Some("stop")),
            ),
            (
                json!({"choices": [{"delta": {"content": "a"}, "finish_reason": ""}]}),
                chunk("a", None),
            ),
            (
                json!({"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}),
                chunk("whole", Some("stop")),
            ),
            (
                json!({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}]}),
                chunk("ab", None),
            ),
            (json!({"choices": [{"text": "old"}]}), chunk("old", None)),
            (
                json!({"choices": [], "usage": {"total_tokens": 3}}),
                Ok(None),
            ),
            (json!([1, 2]), Ok(None)),
            (
                json!({"error": {"message": "overloaded"}}),
                Err("overloaded".into()),
            ),
            (
                json!({"error": null, "choices": [{"delta": {"content": "a"}}]}),
                chunk("a", None),
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(read(&value), expected, "{value}");
        }
    }
}
