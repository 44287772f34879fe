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
    /// Pieces of tool calls.
    pub calls: Vec<Piece>,
    /// Tokens of the whole exchange, sent and received, if the server counts them.
    pub tokens: Option<(u64, u64)>,
}

/// A piece of a tool call, as it streams in.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    /// Which call of the answer.
    pub index: Option<u64>,
    /// Its id, with the first piece.
    pub id: Option<String>,
    /// The tool's name, with the first piece.
    pub name: Option<String>,
    /// More of the arguments.
    pub arguments: String,
}

/// A tool that an answer calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Joins the result to the call; made up where a server gives none.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, JSON text as the model wrote it.
    pub arguments: String,
    index: Option<u64>,
}

impl Call {
    /// A whole call.
    #[must_use]
    pub const fn new(id: String, name: String, arguments: String) -> Self {
        Self {
            id,
            name,
            arguments,
            index: None,
        }
    }
}

/// Puts a piece to the call it belongs to: by its index, else by its id, else to the last one.
pub(super) fn join(calls: &mut Vec<Call>, piece: Piece) {
    let by = |call: &&mut Call| match (piece.index, &piece.id) {
        (Some(index), _) => call.index == Some(index),
        (None, Some(id)) => call.id == *id,
        (None, None) => piece.name.is_none(),
    };
    if let Some(call) = calls.iter_mut().rev().find(by) {
        call.arguments.push_str(&piece.arguments);
        if call.name.is_empty() {
            call.name = piece.name.unwrap_or_default();
        }
        return;
    }
    let id = piece.id.filter(|id| !id.is_empty());
    calls.push(Call {
        id: id.unwrap_or_else(|| format!("call_{}", calls.len() + 1)),
        name: piece.name.unwrap_or_default(),
        arguments: piece.arguments,
        index: piece.index,
    });
}

/// Reads a chunk. An `Err` is the message of an error object.
pub(super) fn read(chunk: &Value) -> Result<Option<Chunk>, String> {
    if chunk.get("error").is_some_and(|error| !error.is_null()) {
        return Err(message_of(&chunk.to_string()));
    }
    let tokens = tokens(chunk);
    let Some(choice) = chunk.pointer("/choices/0") else {
        return Ok(tokens.map(|tokens| Chunk {
            tokens: Some(tokens),
            ..Chunk::default()
        }));
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
    let calls = ["/delta/tool_calls", "/message/tool_calls"]
        .iter()
        .find_map(|place| choice.pointer(place)?.as_array())
        .map(|calls| calls.iter().map(piece).collect())
        .unwrap_or_default();
    Ok(Some(Chunk {
        text,
        finish,
        calls,
        tokens,
    }))
}

/// The server's own count.
fn tokens(chunk: &Value) -> Option<(u64, u64)> {
    let of = |name: &str| chunk.get("usage")?.get(name)?.as_u64();
    Some((
        of("prompt_tokens")?,
        of("completion_tokens").unwrap_or_default(),
    ))
}

fn piece(call: &Value) -> Piece {
    let text = |place: &str| {
        let text = call.pointer(place)?.as_str()?;
        Some(text.to_owned()).filter(|text| !text.is_empty())
    };
    Piece {
        index: call.get("index").and_then(Value::as_u64),
        id: text("/id"),
        name: text("/function/name"),
        // Some servers give the arguments as an object.
        arguments: match call.pointer("/function/arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(other) => other.to_string(),
        },
    }
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
                ..Chunk::default()
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
            (
                json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
                Ok(Some(Chunk {
                    tokens: Some((3, 2)),
                    ..Chunk::default()
                })),
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
    #[test]
    fn joins_the_pieces_of_tool_calls() {
        let pieces = |delta: Value| {
            read(&json!({"choices": [{"delta": delta}]}))
                .unwrap()
                .unwrap()
                .calls
        };
        let mut calls = Vec::new();
        for delta in [
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "fetch", "arguments": ""}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"url\":"}}]}),
            json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "read", "arguments": {"path": "x"}}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": " 1}"}}]}),
        ] {
            for piece in pieces(delta) {
                join(&mut calls, piece);
            }
        }
        let got: Vec<_> = calls
            .iter()
            .map(|it| (it.id.as_str(), it.name.as_str(), it.arguments.as_str()))
            .collect();
        assert_eq!(
            got,
            [
                ("a", "fetch", "{\"url\": 1}"),
                ("b", "read", "{\"path\":\"x\"}")
            ]
        );
    }
}
