//! A small OpenAI-compatible model server: chat completions, streamed or whole, and faults on demand.
//!
//! Answers follow from the request alone (see [`answer`]), so a different edit gets a different run. The model's name chooses the manners:
//!
//! | model | what happens |
//! |---|---|
//! | `error-STATUS` | that status with an error object that quotes the key (429 with `Retry-After: 120`) |
//! | `error-STATUS-html` | the same with a page of HTML |
//! | `error-STATUS-then-ok` | a request is refused only the first time (429 with `Retry-After: 0`) |
//! | `rubbish`, `rubbish-stream` | success with text, or events, that are no completion |
//! | `said` | an error object inside a stream |
//! | `odd` | a good stream with odd chunks between |
//! | `cut` | the stream ends in the middle, without an end mark |
//! | `reset` | the connection breaks in the middle |
//! | `stall` | the stream falls silent in the middle |
//! | `slow` | a word every 300 ms |
//! | `no-stream` | one JSON object, although a stream was asked for |
//! | `no-finish` | a stream that ends with `[DONE]` alone |
//! | `empty`, `empty-then-ok` | an answer without words |
//! | `unclear` | an orchestrator that never keeps to the protocol |
//! | `ledger` | an orchestrator that writes its progress ledger in JSON |
//! | `stalling` | the same, and it never sees progress |
//! | `length` | answers marked as cut by the token limit |
//! | those of an analyst | see `analysis.rs` |
//! | `MODE-after-N` | a conversation's first N answers are good |
//! | anything else | a good stream |
//!
//! Whatever the model, an agent that is offered tools calls the one that its last instruction has something for (see [`tool_call`]).
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::too_many_lines
)]

#[path = "analysis.rs"]
mod analysis;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// A running server; it stops when dropped.
pub struct ModelServer {
    address: std::net::SocketAddr,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    /// How long it thinks before each answer.
    delay: Duration,
    seen: Mutex<Vec<Seen>>,
    /// Requests being thought about now, and the most there were at once.
    busy: Mutex<(usize, usize)>,
    left: Notify,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its Authorization header.
    pub authorization: Option<String>,
    /// Its body.
    pub body: Value,
}

impl Seen {
    /// The contents of its messages of a role.
    pub fn contents(&self, role: &str) -> Vec<String> {
        let messages = self.body["messages"].as_array().unwrap();
        messages
            .iter()
            .filter(|message| message["role"] == role)
            .map(|message| message["content"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ModelServer {
    /// Listens on a port of this machine; 0 takes any that is free.
    pub async fn start(port: u16) -> std::io::Result<Self> {
        Self::thinking(port, Duration::ZERO).await
    }

    /// The same with a time that it takes before each answer; requests do not wait for each other.
    pub async fn thinking(port: u16, delay: Duration) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            delay,
            ..Shared::default()
        });
        let served = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let shared = Arc::clone(&served);
                tokio::spawn(async move {
                    // A client that goes away is no failure of the server.
                    let _gone = serve(socket, &shared).await;
                });
            }
        });
        Ok(Self {
            address,
            shared,
            task,
        })
    }

    /// What to set `OPENAI_BASE_URL` to.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far, in order.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// The most requests that were being thought about at once.
    pub fn most_at_once(&self) -> usize {
        self.shared.busy.lock().unwrap().1
    }

    /// Waits until a client has left a stalled answer.
    pub async fn left(&self) {
        self.shared.left.notified().await;
    }
}

/// Reads one request, answers it, and closes.
async fn serve(socket: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut socket = BufReader::new(socket);
    let mut line = String::new();
    socket.read_line(&mut line).await?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut header = String::new();
        socket.read_line(&mut header).await?;
        let Some((name, value)) = header.trim().split_once(':') else {
            break;
        };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    socket.read_exact(&mut body).await?;
    if path == "/v1/models" {
        let list = json!({"object": "list", "data": [{"id": "team", "object": "model"}]});
        return whole(
            &mut socket,
            "200 OK",
            "application/json",
            "",
            &list.to_string(),
        )
        .await;
    }
    if path != "/v1/chat/completions" {
        let error = error_object("no such path");
        return whole(&mut socket, "404 Not Found", "application/json", "", &error).await;
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    if let Err(wrong) = check(&body) {
        let error = error_object(&wrong);
        return whole(
            &mut socket,
            "400 Bad Request",
            "application/json",
            "",
            &error,
        )
        .await;
    }
    let seen = Seen {
        authorization,
        body,
    };
    let again = {
        let mut all = shared.seen.lock().unwrap();
        let again = all.iter().any(|one| one.body == seen.body);
        all.push(seen.clone());
        again
    };
    {
        let mut busy = shared.busy.lock().unwrap();
        busy.0 += 1;
        busy.1 = busy.1.max(busy.0);
    }
    if !shared.delay.is_zero() {
        tokio::time::sleep(shared.delay).await;
    }
    shared.busy.lock().unwrap().0 -= 1;
    let mode = mode(&seen.body, again);
    if mode == "formless" && !seen.body["response_format"].is_null() {
        let error = error_object("response_format is not supported");
        return whole(
            &mut socket,
            "400 Bad Request",
            "application/json",
            "",
            &error,
        )
        .await;
    }
    respond(&mut socket, mode, &seen, shared).await
}

/// The manners for a request, which may have come before.
fn mode(body: &Value, again: bool) -> &str {
    let model = body["model"].as_str().unwrap_or_default();
    if let Some(mode) = model.strip_suffix("-then-ok") {
        return if again { "" } else { mode };
    }
    if let Some((mode, after)) = model.rsplit_once("-after-")
        && let Ok(after) = after.parse::<usize>()
    {
        let messages = body["messages"].as_array().into_iter().flatten();
        let ours = messages.filter_map(|message| message["content"].as_str());
        let ours = ours.filter(|text| text.contains(REPORT) || text.contains(SEARCH));
        return if ours.count() < after { "" } else { mode };
    }
    model
}

/// What the API demands of a request.
fn check(body: &Value) -> Result<(), String> {
    let messages = body["messages"].as_array().ok_or("messages is no array")?;
    if messages.is_empty() {
        return Err("messages is empty".to_owned());
    }
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        if !["system", "user", "assistant"].contains(&role) {
            return Err(format!("unknown role {role:?}"));
        }
        if message["content"].as_str().is_none_or(str::is_empty) {
            return Err("a message has no content".to_owned());
        }
    }
    Ok(())
}

async fn respond(
    socket: &mut BufReader<TcpStream>,
    mode: &str,
    seen: &Seen,
    shared: &Shared,
) -> std::io::Result<()> {
    let body = &seen.body;
    if let Some(error) = mode.strip_prefix("error-") {
        let (status, kind, text) = if let Some(status) = error.strip_suffix("-html") {
            (status, "text/html", "<h1>Sorry</h1>".to_owned())
        } else {
            // Real servers quote the key that they refuse.
            let key = seen.authorization.as_deref().unwrap_or("no key");
            let text = error_object(&format!("refused on demand with {key}"));
            (error, "application/json", text)
        };
        let wait = if body["model"]
            .as_str()
            .is_some_and(|m| m.ends_with("then-ok"))
        {
            0
        } else {
            120
        };
        let extra = match status {
            "429" => format!("Retry-After: {wait}\r\n"),
            _ => String::new(),
        };
        return whole(socket, &format!("{status} Refused"), kind, &extra, &text).await;
    }
    let text = match mode {
        "rubbish" => return whole(socket, "200 OK", "text/html", "", "<h1>It works!</h1>").await,
        "empty" => String::new(),
        "unclear" => "Let us think about it together.".to_owned(),
        "ledger" | "stalling" => ledger(body, mode == "ledger"),
        _ => {
            // Whoever was told that an answer cannot be used asks again in the same talk.
            let told = body["messages"].as_array().is_some_and(|all| all.len() > 2);
            analysis::answer(body, mode, told).unwrap_or_else(|| answer(body))
        }
    };
    let finish = if mode == "length" { "length" } else { "stop" };
    if mode == "no-stream" || body["stream"] != json!(true) {
        let message = json!({"role": "assistant", "content": text});
        let object = json!({"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}]});
        return whole(
            socket,
            "200 OK",
            "application/json",
            "",
            &object.to_string(),
        )
        .await;
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
    socket.write_all(head.as_bytes()).await?;
    match mode {
        "rubbish-stream" => {
            event(socket, "this is no JSON").await?;
            return socket.write_all(b"0\r\n\r\n").await;
        }
        "said" => {
            event(socket, &error_object("overloaded on demand")).await?;
            return socket.write_all(b"0\r\n\r\n").await;
        }
        "odd" => {
            chunk(socket, ": a comment\n\n").await?;
            event(socket, r#"{"choices":[],"usage":null}"#).await?;
            event(socket, "not JSON at all").await?;
            event(socket, r#"{"choices":[{"delta":{"role":"assistant","content":null,"reasoning_content":"hm"}}],"unknown":[1]}"#).await?;
        }
        _ => {}
    }
    if let Some(call) = tool_call(body) {
        // In two pieces, as servers stream it.
        let (head, tail) = call["arguments"].as_str().unwrap().split_at(3);
        for piece in [
            json!({"index": 0, "id": "call_a", "type": "function", "function": {"name": call["name"], "arguments": head}}),
            json!({"index": 0, "function": {"arguments": tail}}),
        ] {
            let delta = json!({"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]});
            event(socket, &delta.to_string()).await?;
        }
        let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
        event(socket, &last.to_string()).await?;
        event(socket, "[DONE]").await?;
        return socket.write_all(b"0\r\n\r\n").await;
    }
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    let breaks = matches!(mode, "cut" | "reset" | "stall");
    let sent = if breaks {
        words.len().div_ceil(2)
    } else {
        words.len()
    };
    for word in words.iter().take(sent) {
        let delta =
            json!({"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": null}]});
        event(socket, &delta.to_string()).await?;
        if mode == "slow" {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }
    match mode {
        "cut" => return socket.write_all(b"0\r\n\r\n").await,
        "reset" => return Ok(()),
        "stall" => {
            // Nothing more is sent; reading returns when the client has gone.
            let mut rest = Vec::new();
            let _gone = socket.read_to_end(&mut rest).await;
            shared.left.notify_one();
            return Ok(());
        }
        "no-finish" => {}
        _ => {
            let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]});
            event(socket, &last.to_string()).await?;
        }
    }
    event(socket, "[DONE]").await?;
    socket.write_all(b"0\r\n\r\n").await
}

async fn whole(
    socket: &mut BufReader<TcpStream>,
    status: &str,
    kind: &str,
    extra: &str,
    body: &str,
) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{extra}Connection: close\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).await?;
    socket.write_all(body.as_bytes()).await?;
    socket.shutdown().await
}

async fn event(socket: &mut BufReader<TcpStream>, data: &str) -> std::io::Result<()> {
    chunk(socket, &format!("data: {data}\n\n")).await
}

async fn chunk(socket: &mut BufReader<TcpStream>, text: &str) -> std::io::Result<()> {
    let framed = format!("{:x}\r\n{text}\r\n", text.len());
    socket.write_all(framed.as_bytes()).await?;
    socket.flush().await
}

fn error_object(message: &str) -> String {
    json!({"error": {"message": message, "type": "on_demand"}}).to_string()
}

/// Marks an agent's report.
const REPORT: &str = "Report:";
/// Marks an orchestrator's instruction.
const SEARCH: &str = "Go on to";
/// After so many reports the task counts as solved.
const ENOUGH: usize = 2;

/// Answers from the request alone. An agent reports on the content words of what it was last told and names their longest as its finding;
/// from the third report on it states that as the final answer. Who is directed by a last message that offers `FINAL ANSWER:` is an orchestrator:
/// it sends an agent, chosen by the last report's length, after the finding, and states it after two reports, or when it is offered no `NEXT:`.
/// These phrases hold no content words of their own, so whatever is found comes from the conversation.
fn answer(body: &Value) -> String {
    let mut talk: Vec<&str> = body["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .skip(1)
        .filter_map(|message| message["content"].as_str())
        .collect();
    let offer = talk.pop_if(|last| last.contains("FINAL ANSWER:"));
    let reports = talk.iter().filter(|text| text.contains(REPORT)).count();
    let told = talk.last().copied().unwrap_or_default();
    let words = content_words(told);
    let finding = words
        .iter()
        .max_by_key(|word| word.chars().count())
        .map_or("nothing", |word| word.as_str());
    let Some(offer) = offer else {
        let report = format!("{REPORT} I saw {} and got {finding}.", words.join(", "));
        return if reports >= ENOUGH {
            format!("{report}\nFINAL ANSWER: {finding}")
        } else {
            report
        };
    };
    if reports >= ENOUGH || !offer.contains("NEXT:") {
        return format!("FINAL ANSWER: {finding}");
    }
    let agents: Vec<&str> = offer
        .split_once("one of:")
        .and_then(|(_, rest)| rest.split_once(')'))
        .map(|(names, _)| names.split(',').map(str::trim).collect())
        .unwrap_or_default();
    let agent = agents
        .get(told.len() % agents.len().max(1))
        .copied()
        .unwrap_or("nobody");
    format!("NEXT: {agent}\n{SEARCH} {finding} and say all you can.")
}

/// The tool that the last message has something for: a command in backticks, an address, a file's name. What a tool answered calls none.
fn tool_call(body: &Value) -> Option<Value> {
    let offered = |name: &str| {
        let tools = body["tools"].as_array();
        tools.is_some_and(|tools| tools.iter().any(|tool| tool["function"]["name"] == name))
    };
    let told = body["messages"].as_array()?.last()?["content"].as_str()?;
    let (speaker, said) = told.split_once(": ")?;
    if speaker.contains(" got from ") {
        return None;
    }
    let call = |name: &str, argument: &str, value: &str| {
        offered(name)
            .then(|| json!({"name": name, "arguments": json!({argument: value}).to_string()}))
    };
    let clean = |word: &&str| word.trim_end_matches(['.', ',', '?']).to_owned();
    let mut words = said.split_whitespace().map(|word| clean(&word));
    let quoted = said.split('`').nth(1);
    quoted
        .and_then(|command| call("run_shell", "command", command))
        .or_else(|| {
            let url = words.clone().find(|word| word.starts_with("http"))?;
            call("fetch_page", "url", &url)
        })
        .or_else(|| {
            let file = words.find(|word| word.contains('.') && !word.contains("://"))?;
            call("read_file", "path", &file)
        })
}

/// An orchestrator's answer as Magentic-One wants it, from the same thoughts as [`answer`]; others answer as ever.
fn ledger(body: &Value, progress: bool) -> String {
    let last = body["messages"].as_array().and_then(|all| all.last());
    let cue = last.and_then(|last| last["content"].as_str());
    let plain = answer(body);
    let cue = cue.unwrap_or_default();
    if cue.contains("Plan:") {
        // A plan states no answer.
        return plain
            .lines()
            .next()
            .unwrap_or_default()
            .replace(REPORT, "Plan:");
    }
    if !cue.contains("progress ledger") {
        return plain;
    }
    let next = plain
        .strip_prefix("NEXT: ")
        .and_then(|rest| rest.split_once('\n'));
    // Who sees no progress sends the first agent again, whatever was reported.
    let first = cue
        .split_once("one of:")
        .and_then(|(_, rest)| rest.split([',', ')']).next());
    let again = (first.unwrap_or_default().trim(), "Try once more.");
    let next = if progress { next } else { next.or(Some(again)) };
    let (agent, instruction) = next.unwrap_or_default();
    json!({
        "is_request_satisfied": {"reason": "counted", "answer": next.is_none()},
        "is_in_loop": {"reason": "looked", "answer": false},
        "is_progress_being_made": {"reason": "looked", "answer": progress},
        "next_speaker": {"reason": "by length", "answer": agent},
        "instruction_or_question": {"reason": "found", "answer": instruction},
    })
    .to_string()
}

/// The words of four letters and more, each once, without a speaker's name in front.
fn content_words(text: &str) -> Vec<String> {
    let said = text.split_once(": ").map_or(text, |(_, said)| said);
    let said = said.strip_prefix(REPORT).unwrap_or(said);
    let mut words: Vec<String> = Vec::new();
    for word in said.split(|c: char| !c.is_alphanumeric()) {
        let known = words.iter().any(|w| w == word);
        if word.chars().count() >= 4 && !known && words.len() < 12 {
            words.push(word.to_owned());
        }
    }
    words
}
