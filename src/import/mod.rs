//! Bytes of a log -> steps and a session. Formats are told by content, not by name; every import says what it read and what it could not.
//!
//! Steps go to a [`Sink`] as they are read. What they are is known for certain only at the end, so kinds may be corrected then.
//! Nothing is dropped silently: each record of a file is counted once, as read, unknown, damaged or dropped.
//! Scenario worlds are told apart by [`sniff`] and played elsewhere.

mod agdebugger;
mod beside;
mod classify;
mod dover;
mod error;
mod feed;
mod lenient;
mod lists;
mod message;
mod profile;
mod saved;
mod session;
mod source;
mod walk;

use std::io::{Cursor, Read};
use std::path::Path;

use serde_json::Value;

use crate::model::{Checkpoint, Digest, Effect, Session, Step, StepKind};

pub use beside::Beside;
pub use dover::SESSION_SCHEMA;
pub use error::ImportError;
pub use profile::{PROFILE_SCHEMA, ProfileFile, check_verifier, is_profile};

use error::KNOWN;
use feed::Feed;
use source::{Encoding, Tap};
use walk::{Fast, Meter};

/// Receives the steps of a log in order.
pub trait Sink {
    /// Takes the next step, the state before it and what it did to the world outside.
    fn step(
        &mut self,
        step: Step,
        checkpoint: Option<Checkpoint>,
        effects: Vec<Effect>,
    ) -> Result<(), ImportError>;

    /// Corrects the kind and recipient of a step taken before.
    fn reclassify(
        &mut self,
        index: usize,
        kind: StepKind,
        to: Option<&str>,
    ) -> Result<(), ImportError>;

    /// Takes something beside the original run. After a branch, the steps that come are its own.
    fn beside(&mut self, beside: Beside) -> Result<(), ImportError>;
}

/// A sink that keeps everything in memory.
#[derive(Debug, Default)]
pub struct Collect {
    /// The steps.
    pub steps: Vec<Step>,
    /// The checkpoints, in order.
    pub checkpoints: Vec<Checkpoint>,
    /// The effects, in order.
    pub effects: Vec<Effect>,
    /// What stands beside the original run, in order.
    pub beside: Vec<Beside>,
    /// The steps of its branches, in order.
    pub forked: Vec<Step>,
}

impl Sink for Collect {
    fn step(
        &mut self,
        step: Step,
        checkpoint: Option<Checkpoint>,
        effects: Vec<Effect>,
    ) -> Result<(), ImportError> {
        if self
            .beside
            .iter()
            .any(|one| matches!(one, Beside::Branch(..)))
        {
            self.forked.push(step);
        } else {
            self.steps.push(step);
        }
        self.checkpoints.extend(checkpoint);
        self.effects.extend(effects);
        Ok(())
    }

    fn reclassify(
        &mut self,
        index: usize,
        kind: StepKind,
        to: Option<&str>,
    ) -> Result<(), ImportError> {
        if let Some(step) = self.steps.get_mut(index) {
            step.kind = kind;
            step.to = to.map(str::to_owned);
        }
        Ok(())
    }

    fn beside(&mut self, beside: Beside) -> Result<(), ImportError> {
        self.beside.push(beside);
        Ok(())
    }
}

/// What an import came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The session, its coverage included; the store makes the id unique.
    pub session: Session,
    /// How many steps went to the sink.
    pub steps: usize,
    /// The final answer of the recorded run.
    pub answer: Option<String>,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A log, or something else that [`import`] has a sentence for.
    Log,
    /// A scenario world: TOML with `[[agent]]` or `[[page]]` tables.
    World,
    /// A workflow profile, which is read with the session beside it.
    Profile,
}

/// Tells a scenario world from a log: worlds are TOML and have agents. A world with a fault in it is still a world, so that the fault is
/// told in a world's terms.
#[must_use]
pub fn sniff(path: &Path) -> Content {
    /// Worlds are small; a larger file is a log.
    const LARGEST: u64 = 4 << 20;
    if is_profile(path) {
        return Content::Profile;
    }
    let small = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST);
    let text = if small {
        std::fs::read_to_string(path).unwrap_or_default()
    } else {
        String::new()
    };
    let mut lines = text
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let json = text.trim_start().starts_with(['{', '"']);
    if !json && lines.any(|line| line.starts_with("[[agent]]") || line.starts_with("[[page]]")) {
        Content::World
    } else {
        Content::Log
    }
}

/// The task of the conversation in a state that a framework saved, if it is of a kind that is read here.
#[must_use]
pub fn task_in(state: &Value) -> Option<String> {
    let (mut sink, mut on) = (Collect::default(), |_, _| true);
    let mut feed = Feed::new(&mut sink, &mut on);
    match state {
        Value::Array(list) => list
            .iter()
            .try_for_each(|record| feed.record(record.clone(), None, None)),
        other => walk::root_map(&mut feed, other.clone(), 0),
    }
    .and_then(|()| saved::read(&mut feed))
    .ok()?;
    let own = feed.fields.get("task").map(message::plain);
    own.or(feed.task).filter(|task| !task.trim().is_empty())
}

/// Reads a log. `progress` is told the share read, 0..=1, and the steps so far, and answers whether to go on.
pub fn import(
    path: &Path,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(f64, usize) -> bool,
) -> Result<Imported, ImportError> {
    import_upto(path, u64::MAX, sink, progress)
}

/// Reads the first bytes of a log, as if it ended there.
pub fn import_upto(
    path: &Path,
    upto: u64,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(f64, usize) -> bool,
) -> Result<Imported, ImportError> {
    let (file, encoding, size) = source::open(path)?;
    let unreadable = |source| ImportError::Unreadable {
        file: path.to_owned(),
        source,
    };
    let mut feed = Feed::new(sink, progress);
    let mut tap = Tap::new(file, upto);
    let meter = Meter {
        read: tap.read.clone(),
        size: size.min(upto),
    };
    let mut whole = None;
    let fast = match encoding {
        Encoding::Utf8(mark) => {
            let mut skipped = [0; 3];
            tap.read_exact(skipped.get_mut(..mark).unwrap_or_default())
                .map_err(unreadable)?;
            walk::fast(std::io::BufReader::new(&mut tap), &meter, &mut feed)?
        }
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let mut bytes = Vec::new();
            tap.read_to_end(&mut bytes).map_err(unreadable)?;
            let (text, replaced) = source::decode(&bytes, encoding);
            let fast = walk::fast(Cursor::new(text.as_bytes()), &meter, &mut feed)?;
            whole = Some((text, replaced));
            fast
        }
    };
    let source_digest = tap.digest().map_err(unreadable)?;
    if matches!(fast, Fast::Damaged) {
        let (text, replaced) = if let Some(whole) = whole {
            whole
        } else {
            let mut bytes = std::fs::read(path).map_err(unreadable)?;
            bytes.truncate(usize::try_from(upto).unwrap_or(usize::MAX));
            source::decode(&bytes, encoding)
        };
        feed.again();
        walk::tolerant(&text, &replaced, &mut feed)?;
        saved::read(&mut feed)?;
        refuse_if_nothing(&feed, path, Some(&text))?;
    }
    saved::read(&mut feed)?;
    refuse_if_nothing(&feed, path, None)?;
    finish(feed, path, source_digest)
}

/// The end of an import: kinds by structure, then the session.
fn finish(mut feed: Feed<'_>, path: &Path, source_digest: Digest) -> Result<Imported, ImportError> {
    feed.flush()?;
    let mut answer = None;
    let mut session = if let Some(mut own) = feed.own.take() {
        let mut session = own.session(path).unwrap_or_else(|reason| {
            feed.coverage.damaged += 1;
            feed.coverage.read = feed.coverage.read.saturating_sub(1);
            feed.note("the session line", reason);
            Session {
                format: "dover".to_owned(),
                ..Session::default()
            }
        });
        if let Some(told) = profile::tame(&mut session) {
            feed.note("the session line", told);
        }
        if !session.redacted.is_empty() {
            let sorts: Vec<String> = session
                .redacted
                .iter()
                .map(|(sort, count)| format!("{count} {sort}"))
                .collect();
            let told = format!(
                "it was redacted before ({}): its receipts name digests of texts that are not here",
                sorts.join(", ")
            );
            feed.note("the session", told);
        }
        session.milestones.extend(own.milestones);
        session.annotations.extend(own.annotations);
        session.agents.extend(own.agents);
        for info in std::mem::take(&mut feed.agents) {
            if !session.agents.iter().any(|known| known.name == info.name) {
                session.agents.push(info);
            }
        }
        if session.task.is_empty() {
            session.task = feed.task.take().unwrap_or_default();
        }
        answer = own.answer;
        session
    } else {
        let reason = feed
            .fields
            .remove("stop_reason")
            .map(|reason| message::plain(&reason));
        feed.stopped(reason.filter(|reason| !reason.is_empty()))?;
        let structure = std::mem::take(&mut feed.classifier).finish();
        feed.reclassify(&structure.changes)?;
        session::assemble(&mut feed, path, structure.orchestrator)
    };
    if session.id.is_empty() || session.id != slug_of(&session.id) {
        session.id = session::slug(path);
    }
    if session.title.is_empty() {
        session.title.clone_from(&session.id);
    }
    session.source = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    session.source_digest = Some(source_digest);
    session.coverage = std::mem::take(&mut feed.coverage);
    let answer = answer.or_else(|| feed.answer(session.orchestrator.as_deref()));
    Ok(Imported {
        session,
        steps: feed.steps,
        answer,
    })
}

fn slug_of(id: &str) -> String {
    id.chars()
        .filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.'))
        .collect()
}

/// One sentence for a file in which nothing is a message.
fn refuse_if_nothing(feed: &Feed<'_>, path: &Path, text: Option<&str>) -> Result<(), ImportError> {
    if feed.known > 0 && (feed.steps > 0 || feed.own.is_some()) {
        return Ok(());
    }
    let first = feed.coverage.notes.first();
    let place = first.map_or_else(|| "line 1".to_owned(), |note| note.place.clone());
    let begins = text.map(|text| {
        text.trim_start()
            .chars()
            .take(24)
            .collect::<String>()
            .escape_debug()
            .to_string()
    });
    let reason = match (feed.seen, feed.fields.is_empty(), begins) {
        _ if feed.nothing.is_some() => feed.nothing.unwrap_or_default().to_owned(),
        (_, false, _) => format!(
            "no list of messages in {}",
            feed::keys(&serde_json::Value::Object(feed.fields.clone()))
        ),
        (0, true, None) => "no messages".to_owned(),
        (0, true, Some(begins)) => format!("not JSON; it begins with `{begins}`"),
        (_, true, _) => first.map_or_else(|| "no messages".to_owned(), |note| note.reason.clone()),
    };
    Err(ImportError::Unknown {
        file: path.to_owned(),
        place,
        reason,
        mend: KNOWN.to_owned(),
    })
}
