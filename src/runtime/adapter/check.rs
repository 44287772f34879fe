//! The conformance walk of an adapter: start, a checkpoint at every boundary, kill; each checkpoint restored in a new process and run on;
//! an edit; what must be refused. After a restore every part of the state and the pending messages must be, item by item, what the
//! uninterrupted run had there, and so at each later boundary but for what the framework makes anew in every run ([`steady`]).
//!
//! A team whose model answers differently each time cannot be followed past the restore: that shows as a difference further on.
//! Not here: what a fork may do. The gates judge that, run by run.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use super::error::AdapterError;
use super::host::{Heard, Host};
use super::wire::{self, Message, Notice, Position, Status, Told};
use super::{Adapter, Ready, state};
use crate::gate::receipt::canonical_digest;
use crate::model::AdapterRef;
use crate::runtime::RuntimeError;

mod refusals;
mod steady;

use steady::Again;

/// One thing that was tried.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was tried: `start`, `checkpoint`, `restore`, `edit`, `refusal`.
    pub what: &'static str,
    /// The boundary, counted from 0.
    pub boundary: Option<usize>,
    /// Whether it holds; none where the framework itself saves too little to tell.
    pub holds: Option<bool>,
    /// What was found.
    pub found: String,
    /// How long it took.
    pub ms: u64,
}

/// What a walk found.
#[derive(Serialize, Clone, Debug, Default)]
pub struct Walk {
    /// The framework's packages and versions.
    pub framework: std::collections::BTreeMap<String, String>,
    /// Boundaries of the uninterrupted run.
    pub boundaries: usize,
    /// Its final answer.
    pub answer: Option<String>,
    /// Everything that was tried, in order.
    pub findings: Vec<Finding>,
}

impl Walk {
    /// Whether nothing fails that must hold.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.findings.iter().all(|it| it.holds != Some(false))
    }
}

/// What a walk is made with.
#[derive(Clone, Debug)]
pub struct WalkSettings {
    /// The task.
    pub task: String,
    /// The most boundaries that are walked.
    pub max_steps: usize,
    /// Whether tool calls that do more than read may happen.
    pub allow_tools: bool,
}

/// A boundary of the uninterrupted run.
struct Boundary {
    checkpoint: Value,
    queue: Option<Value>,
    pending: Message,
}

/// A walk on its way.
struct Walker<'a> {
    runtime: &'a Adapter,
    adapter: &'a AdapterRef,
    settings: &'a WalkSettings,
    walk: Walk,
    tell: &'a mut (dyn FnMut(&Finding) + Send),
    since: Instant,
    /// A second uninterrupted run, where it said the same.
    again: Option<Again>,
}

impl Adapter {
    /// Walks through everything that an adapter must be able to do. `tell` hears of each finding as it is made.
    ///
    /// # Errors
    /// The team cannot be started at all.
    pub async fn check(
        &self,
        adapter: &AdapterRef,
        settings: &WalkSettings,
        tell: &mut (dyn FnMut(&Finding) + Send),
    ) -> Result<Walk, RuntimeError> {
        let mut walker = Walker {
            runtime: self,
            adapter,
            settings,
            walk: Walk::default(),
            tell,
            since: Instant::now(),
            again: None,
        };
        let (run, told) = walker.uninterrupted().await?;
        walker.same_pin(&told).await;
        walker.once_more(&run).await;
        for n in 0..run.len() {
            walker.restored(&run, n).await;
        }
        walker.edited(&run).await;
        walker.refused(&run).await;
        Ok(walker.walk)
    }
}

impl Walker<'_> {
    fn found(
        &mut self,
        what: &'static str,
        boundary: Option<usize>,
        holds: Option<bool>,
        found: String,
    ) {
        let took = std::mem::replace(&mut self.since, Instant::now()).elapsed();
        let finding = Finding {
            what,
            boundary,
            holds,
            found,
            ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        };
        (self.tell)(&finding);
        self.walk.findings.push(finding);
    }

    async fn ready(&self) -> Result<Ready, RuntimeError> {
        self.runtime.ready(self.adapter, None).await
    }

    /// A new process at a checkpoint.
    async fn at(&self, checkpoint: &Value) -> Result<(Host, Position), RuntimeError> {
        let Ready { mut host, .. } = self.ready().await?;
        let params = json!({"checkpoint": checkpoint, "allow_pin_mismatch": false});
        let at = self.go(&mut host, "restore", &params).await?;
        Ok((host, at))
    }

    /// Lets the run move, answering for tools that are held.
    async fn go(
        &self,
        host: &mut Host,
        method: &'static str,
        params: &Value,
    ) -> Result<Position, AdapterError> {
        host.ask(method, params);
        loop {
            match host.hear().await? {
                Heard::Answer(value) => {
                    let at: Position = host.read(value)?;
                    host.step = Some(at.step);
                    match at.status {
                        Status::Failed => {
                            return Err(host.failed(&at.reason().unwrap_or_default()));
                        }
                        Status::Input => return Err(host.asks(String::new())),
                        Status::Paused | Status::Done => return Ok(at),
                    }
                }
                Heard::Notice(notice) => self.asked(host, &notice)?,
            }
        }
    }

    /// Answers for a tool call that is held.
    fn asked(&self, host: &mut Host, notice: &Notice) -> Result<(), AdapterError> {
        let Notice::Asked(question) = notice else {
            return Ok(());
        };
        if question.call.tool.is_empty() {
            return Err(host.asks(wire::text(&question.prompt)));
        }
        let word = if self.settings.allow_tools {
            "run"
        } else {
            "refuse"
        };
        let value = json!({ "decision": word });
        let params = json!({"request_id": question.request_id, "value": value});
        host.tell("respond", &params);
        Ok(())
    }

    async fn step(&self, host: &mut Host) -> Result<Position, AdapterError> {
        self.go(host, "step", &json!({"count": 1})).await
    }

    /// The run that all others are compared with, then killed.
    async fn uninterrupted(&mut self) -> Result<(Vec<Boundary>, Told), RuntimeError> {
        let Ready {
            mut host,
            greeting,
            told,
        } = self.ready().await?;
        let versions: Vec<String> = greeting
            .framework
            .iter()
            .map(|(name, version)| format!("{name} {version}"))
            .collect();
        self.walk.framework = greeting.framework;
        let imported = self.since.elapsed().as_millis();
        let mut at = self
            .go(&mut host, "start", &json!({"task": self.settings.task}))
            .await?;
        let found = format!(
            "imports and description {imported} ms, first boundary {} ms later; {} {}",
            self.since.elapsed().as_millis().saturating_sub(imported),
            greeting.adapter,
            versions.join(", ")
        );
        self.found("start", Some(0), Some(true), found);
        let mut slowest = Duration::ZERO;
        let run = self.boundaries(&mut host, &mut at, &mut slowest).await?;
        let bytes: usize = run.iter().map(|it| it.checkpoint.to_string().len()).sum();
        self.walk.boundaries = run.len();
        self.walk.answer = at.answer();
        let end = match at.status {
            Status::Done => "ran to its end".to_owned(),
            _ => format!("stopped after {}", run.len()),
        };
        let found = format!(
            "{} saved, {bytes} bytes, slowest {} ms; {end}",
            boundaries(run.len()),
            slowest.as_millis()
        );
        self.found("checkpoint", None, Some(!run.is_empty()), found);
        self.sealed(&run);
        self.killed(host).await;
        Ok((run, told))
    }

    /// Every boundary from here to the end, each saved.
    async fn boundaries(
        &self,
        host: &mut Host,
        at: &mut Position,
        slowest: &mut Duration,
    ) -> Result<Vec<Boundary>, AdapterError> {
        let mut run = Vec::new();
        while let (Status::Paused, Some(pending)) = (at.status, at.pending.clone()) {
            let begun = Instant::now();
            let checkpoint: Value = host.call("checkpoint", &json!({})).await?;
            *slowest = (*slowest).max(begun.elapsed());
            state::kept(&checkpoint, run.len()).map_err(|what| host.shape(what))?;
            let queue = queue(host).await?;
            run.push(Boundary {
                checkpoint,
                queue,
                pending,
            });
            if run.len() >= self.settings.max_steps {
                break;
            }
            *at = self.step(host).await?;
        }
        Ok(run)
    }

    /// Whether each checkpoint carries the hash of its own canonical JSON.
    fn sealed(&mut self, run: &[Boundary]) {
        let own = |it: &&Boundary| {
            let step = it.checkpoint.get("step").cloned().unwrap_or_default();
            resealed(&it.checkpoint, "step", step).get("sha256") == it.checkpoint.get("sha256")
        };
        let count = run.iter().filter(own).count();
        let holds = count == run.len();
        let found = if holds {
            "sha256 is that of the canonical JSON of all other fields".to_owned()
        } else {
            format!(
                "{} of {} checkpoints carry another sha256 than that of their canonical JSON",
                run.len() - count,
                run.len()
            )
        };
        self.found("hash", None, Some(holds), found);
    }

    /// No process is left when a run is let go.
    async fn killed(&mut self, host: Host) {
        let gone = host.ended().await;
        let found = if gone {
            "the process and what it started are gone"
        } else {
            "the process did not end"
        };
        self.found("kill", None, Some(gone), found.to_owned());
    }

    async fn same_pin(&mut self, first: &Told) {
        let (holds, found) = match self.ready().await {
            Ok(ready) if ready.told.config_pin == first.config_pin => {
                (true, "the same in two processes".to_owned())
            }
            Ok(ready) => {
                let at = state::difference(&first.pinned, &ready.told.pinned, "pinned");
                (
                    false,
                    format!("not the same in two processes: {}", at.unwrap_or_default()),
                )
            }
            Err(error) => (false, error.to_string()),
        };
        self.found("pin", None, Some(holds), found);
    }

    /// One checkpoint in a new process: what came back, and whether the run goes on as it did.
    async fn restored(&mut self, run: &[Boundary], n: usize) {
        let (holds, found) = match self.restore_and_follow(run, n).await {
            Ok(told) => told,
            Err(error) => (Some(false), error.to_string()),
        };
        self.found("restore", Some(n), holds, found);
    }

    async fn restore_and_follow(
        &self,
        run: &[Boundary],
        n: usize,
    ) -> Result<(Option<bool>, String), RuntimeError> {
        let Some(first) = run.get(n) else {
            return Ok((None, "not reached".to_owned()));
        };
        let (mut host, mut at) = self.at(&first.checkpoint).await?;
        let unsaved = unsaved(&first.checkpoint);
        for (boundary, there) in run.iter().enumerate().skip(n) {
            // Right after the restore there is nothing new that could differ.
            let again = self.again.as_ref().filter(|_| boundary > n);
            let differs = different(&mut host, there, again.map(|it| (it, boundary))).await?;
            if !differs.is_empty() {
                let place = match boundary - n {
                    0 => "after the restore".to_owned(),
                    later => format!("{later} messages later"),
                };
                return Ok((Some(false), format!("{place}: {}", differs.join(", "))));
            }
            if boundary + 1 < self.settings.max_steps {
                at = self.step(&mut host).await?;
            }
        }
        if run.len() < self.settings.max_steps && at.status != Status::Done {
            return Ok((
                Some(false),
                "it goes on where the uninterrupted run ended".to_owned(),
            ));
        }
        if at.status == Status::Done && at.answer() != self.walk.answer {
            let (was, is) = (self.walk.answer.clone(), at.answer());
            return Ok((
                Some(false),
                format!("another answer: {} instead of {}", shown(is), shown(was)),
            ));
        }
        let same = format!(
            "memory and pending messages the same at {}, same end",
            boundaries(run.len() - n)
        );
        Ok(match unsaved.as_slice() {
            [] => (Some(true), same),
            parts => (
                None,
                format!("{same}; not saved whole: {}", parts.join(", ")),
            ),
        })
    }

    /// An edit of a pending message reaches every copy, and the run goes on from it.
    async fn edited(&mut self, run: &[Boundary]) {
        let editable = |it: &&Boundary| {
            !matches!(it.pending.kind.as_str(), "control" | "thought")
                && it.pending.content.is_string()
        };
        let place = run
            .iter()
            .take(run.len().saturating_sub(1))
            .rev()
            .find(editable)
            .or(run.first());
        let Some(place) = place else { return };
        let n = run.iter().position(|it| std::ptr::eq(it, place));
        let (holds, found) = match self.edit_and_follow(place).await {
            Ok((holds, found)) => (Some(holds), found),
            Err(error) => (Some(false), error.to_string()),
        };
        self.found("edit", n, holds, found);
    }

    async fn edit_and_follow(&self, place: &Boundary) -> Result<(bool, String), RuntimeError> {
        let (mut host, _) = self.at(&place.checkpoint).await?;
        let old = wire::text(&place.pending.content);
        let new = format!("{old} dover-check-edit");
        let op = json!({"op": "replace_pending", "message_id": place.pending.id, "content": new});
        let answer: Value = host.call("edit", &json!({"ops": [op]})).await?;
        if wire::text(answer.pointer("/pending/content").unwrap_or(&Value::Null)) != new {
            return Ok((
                false,
                "the pending message is not the edited one".to_owned(),
            ));
        }
        let copies = answer
            .pointer("/applied/0/copies")
            .cloned()
            .unwrap_or_default();
        let at = self.step(&mut host).await?;
        if at.status == Status::Done {
            return Ok((
                true,
                format!("copies edited: {copies}; the run ended with it"),
            ));
        }
        let after: Value = host.call("checkpoint", &json!({})).await?;
        let state = after.get("state").cloned().unwrap_or_default();
        let mut texts = Vec::new();
        strings(&state, &mut texts);
        // The old text within the new one does not count.
        let still = texts
            .iter()
            .any(|text| text.contains(&old) && !text.contains(&new));
        let before = place.checkpoint.get("state").cloned().unwrap_or_default();
        let mut earlier = Vec::new();
        strings(&before, &mut earlier);
        let own = earlier.iter().filter(|text| **text == old).count();
        let reached = texts.iter().any(|text| text.contains(&new));
        Ok(match (reached, still) {
            (false, _) => (false, "no agent has heard the edited text".to_owned()),
            // Where the same text was said before, the old one may stand there rightly.
            (true, true) if own <= 1 && old.len() > 12 => {
                (false, "some agent still has the old text".to_owned())
            }
            _ => (
                true,
                format!("copies edited: {copies}; delivered, and the run goes on from it"),
            ),
        })
    }
}

/// The pending messages, where the adapter has them.
async fn queue(host: &mut Host) -> Result<Option<Value>, AdapterError> {
    match host.call::<Value>("queue", &json!({})).await {
        Ok(queue) => Ok(Some(queue)),
        Err(AdapterError::Refused {
            code: -32601 | -32040,
            ..
        }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where a run differs from the uninterrupted one at a boundary, at most three places.
async fn different(
    host: &mut Host,
    there: &Boundary,
    again: Option<(&Again, usize)>,
) -> Result<Vec<String>, AdapterError> {
    let checkpoint = |value: &Value| match again {
        Some((again, n)) => again.steady(there, n, value),
        None => value.clone(),
    };
    let now: Value = host.call("checkpoint", &json!({})).await?;
    let mut found = state::item_by_item(&checkpoint(&there.checkpoint), &checkpoint(&now));
    if let Some(before) = &there.queue {
        let pending = |value: &Value| match again {
            Some((again, n)) => again.steady_queue(before, n, value),
            None => value.clone(),
        };
        let after = queue(host).await?.unwrap_or_default();
        found.extend(state::difference(
            &pending(before),
            &pending(&after),
            "queue",
        ));
    }
    found.truncate(3);
    Ok(found)
}

/// Parts that the framework does not save whole.
fn unsaved(checkpoint: &Value) -> Vec<String> {
    let parts = checkpoint.get("state").and_then(Value::as_object);
    let parts = parts.into_iter().flatten();
    let whole = |entry: &Value| state::fidelity(entry) == "full";
    parts
        .filter(|(_, entry)| !whole(entry))
        .map(|(part, _)| part.clone())
        .collect()
}

fn boundaries(count: usize) -> String {
    match count {
        1 => "1 boundary".to_owned(),
        many => format!("{many} boundaries"),
    }
}

fn shown(answer: Option<String>) -> String {
    answer.map_or("none".to_owned(), |text| text.chars().take(60).collect())
}

/// All texts in a value.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|one| strings(one, found)),
        Value::Object(map) => map.values().for_each(|one| strings(one, found)),
        _ => {}
    }
}

/// The checkpoint with another field and a hash that fits, as far as dover can make one.
fn resealed(checkpoint: &Value, name: &str, value: Value) -> Value {
    let mut changed = checkpoint.clone();
    if let Some(map) = changed.as_object_mut() {
        map.insert(name.to_owned(), value);
        map.shift_remove("sha256");
        if let Ok(digest) = canonical_digest(&*map) {
            map.insert("sha256".to_owned(), digest.to_string().into());
        }
    }
    changed
}
