//! Two ways through a file, one order of records: a fast one that streams valid JSON, and a tolerant one over damaged text.
//!
//! A file is one document with a list of messages, a bare list, or a sequence of values (JSONL, however glued). The fast way reads
//! with `serde_json` and holds one record at a time; where it fails, the tolerant way reads the file again and passes over what was delivered.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::Read;
use std::rc::Rc;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};

use super::ImportError;
use super::feed::Feed;
use super::lenient::{Fault, Found, Piece, pieces};
use super::message::is_message;
use super::saved;

/// Keys under which logs keep their list of messages.
const LISTS: [&str; 12] = [
    "history",
    "messages",
    "chat_history",
    "trajectory",
    "traj",
    "conversation",
    "dialogue",
    "dialog",
    "turns",
    "entries",
    "events",
    "log",
];

/// How the fast way ended.
pub(super) enum Fast {
    Done,
    /// The text is not what `serde_json` takes.
    Damaged,
}

/// How far the reader is, and how far it could be.
pub(super) struct Meter {
    pub read: Rc<Cell<u64>>,
    pub size: u64,
}

/// Streams a file of valid JSON.
pub(super) fn fast(
    reader: impl Read,
    meter: &Meter,
    feed: &mut Feed<'_>,
) -> Result<Fast, ImportError> {
    let mut json = serde_json::Deserializer::from_reader(reader);
    let state = State {
        feed: RefCell::new(feed),
        stop: RefCell::new(None),
        meter,
        roots: Cell::new(0),
    };
    while json.end().is_err() {
        let done = Root(&state).deserialize(&mut json);
        if let Some(stop) = state.stop.take() {
            return Err(stop);
        }
        if done.is_err() {
            return Ok(Fast::Damaged);
        }
        state.roots.set(state.roots.get() + 1);
    }
    Ok(Fast::Done)
}

struct State<'s, 'f> {
    feed: RefCell<&'s mut Feed<'f>>,
    stop: RefCell<Option<ImportError>>,
    meter: &'s Meter,
    /// Values read at the top of the file.
    roots: Cell<usize>,
}

impl State<'_, '_> {
    fn record<E: serde::de::Error>(&self, value: Value) -> Result<(), E> {
        let mut feed = self.feed.borrow_mut();
        feed.share = share(self.meter);
        feed.record(value, None, None).map_err(|stop| {
            *self.stop.borrow_mut() = Some(stop);
            E::custom("stopped")
        })
    }
}

#[allow(clippy::cast_precision_loss)] // A share for a progress bar.
fn share(meter: &Meter) -> f64 {
    (meter.read.get() as f64 / meter.size.max(1) as f64).min(1.0)
}

/// A value at the top of the file.
struct Root<'a, 's, 'f>(&'a State<'s, 'f>);

impl<'de> DeserializeSeed<'de> for Root<'_, '_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Root<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document, a list, or a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if self.0.roots.get() == 0 && LISTS.contains(&key.as_str()) {
                let list = List {
                    state: self.0,
                    document: true,
                };
                if let Listed::Other(value) = access.next_value_seed(list)? {
                    map.insert(key, value);
                }
            } else {
                map.insert(key, access.next_value()?);
            }
        }
        root_map(
            *self.0.feed.borrow_mut(),
            Value::Object(map),
            self.0.roots.get(),
        )
        .map_err(|stop| {
            *self.0.stop.borrow_mut() = Some(stop);
            A::Error::custom("stopped")
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<(), A::Error> {
        List {
            state: self.0,
            document: false,
        }
        .visit_seq(access)
        .map(|_| ())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.0.record(Value::from(text))
    }
    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.0.record(Value::Null)
    }
    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.0.record(Value::from(value))
    }
    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.0.record(Value::from(value))
    }
    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.0.record(Value::from(value))
    }
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.0.record(Value::from(value))
    }
}

/// What became of a list under a key that usually holds messages.
enum Listed {
    Streamed,
    Other(Value),
}

struct List<'a, 's, 'f> {
    state: &'a State<'s, 'f>,
    /// The list is a member of a document, and taken for messages only if it begins with one.
    document: bool,
}

impl<'de> DeserializeSeed<'de> for List<'_, '_, '_> {
    type Value = Listed;
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Listed, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List<'_, '_, '_> {
    type Value = Listed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Listed, A::Error> {
        let mut first = true;
        while let Some(value) = access.next_element::<Value>()? {
            if std::mem::take(&mut first) && self.document && !is_message(&value) {
                let mut left = 1_usize;
                while access.next_element::<IgnoredAny>()?.is_some() {
                    left += 1;
                }
                return Ok(Listed::Other(other_list(left, &value)));
            }
            self.state.record(value)?;
        }
        Ok(Listed::Streamed)
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Listed, A::Error> {
        let map =
            serde::Deserialize::deserialize(serde::de::value::MapAccessDeserializer::new(access))?;
        Ok(Listed::Other(Value::Object(map)))
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Listed, E> {
        Ok(Listed::Other(Value::from(text)))
    }
    fn visit_unit<E: serde::de::Error>(self) -> Result<Listed, E> {
        Ok(Listed::Other(Value::Null))
    }
    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Listed, E> {
        Ok(Listed::Other(Value::from(value)))
    }
    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Listed, E> {
        Ok(Listed::Other(Value::from(value)))
    }
    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Listed, E> {
        Ok(Listed::Other(Value::from(value)))
    }
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Listed, E> {
        Ok(Listed::Other(Value::from(value)))
    }
}

/// Stands for a list that holds no messages, so that it is told and not kept.
fn other_list(len: usize, first: &Value) -> Value {
    Value::Array(vec![Value::from(len), first.clone()])
}

/// A document's members beside its list, or a record of its own.
fn root_map(feed: &mut Feed<'_>, value: Value, roots: usize) -> Result<(), ImportError> {
    if roots == 1 && feed.seen == 0 && !feed.fields.is_empty() {
        // The first line was no message; it stays a record, and may hold labels.
        let first = Value::Object(feed.fields.clone());
        feed.record(first, None, None)?;
    }
    if roots > 0 || feed.seen == 0 && (is_message(&value) || super::dover::Own::is_header(&value)) {
        return second_document(feed, value, roots);
    }
    let Value::Object(map) = value else {
        return Ok(());
    };
    // `{"user_proxy": [messages]}`: lists under names of the log's own.
    let histories = if feed.seen == 0 && !saved::is(&map) {
        saved::histories(&map)
    } else {
        Vec::new()
    };
    saved::longest(feed, &histories)?;
    let read = !histories.is_empty();
    for (key, value) in map {
        if !(read && (value.is_array() || value.is_object())) {
            feed.field(key, value);
        }
    }
    Ok(())
}

/// A further value of the file: a record, or a whole second document, which is another session.
fn second_document(feed: &mut Feed<'_>, value: Value, roots: usize) -> Result<(), ImportError> {
    let another = roots > 0
        && !is_message(&value)
        && LISTS.iter().any(|key| {
            value
                .get(key)
                .and_then(Value::as_array)
                .is_some_and(|list| list.first().is_some_and(is_message))
        });
    if another && feed.known > 0 {
        feed.seen += 1;
        feed.coverage.dropped += 1;
        let place = format!("value {}", roots + 1);
        feed.note(
            place,
            "a second document in the same file; put it into a file of its own",
        );
        return Ok(());
    }
    feed.record(value, None, None)
}

/// Reads damaged text. `replaced`: offsets where bytes were no text.
pub(super) fn tolerant(
    text: &str,
    replaced: &[usize],
    feed: &mut Feed<'_>,
) -> Result<(), ImportError> {
    let lines = Lines::new(text);
    let mut roots = 0;
    pieces(text, &mut |piece| {
        match piece {
            Piece::Found(mut found) => {
                let inside = replaced.partition_point(|&at| at < found.at)
                    ..replaced.partition_point(|&at| at < found.end);
                found
                    .faults
                    .extend(replaced.get(inside).into_iter().flatten().map(|&at| Fault {
                        at,
                        reason: "bytes that are no text, replaced by U+FFFD",
                    }));
                root_value(feed, found, &lines, roots)?;
                roots += 1;
            }
            Piece::Gap { at } => gap(feed, text, at, &lines, roots)?,
            Piece::Loose { key, value } => {
                if !feed.fields.contains_key(&key) {
                    feed.field(key, value);
                }
            }
        }
        Ok(())
    })
}

/// Text that is no value: a damaged record among others, the wrong kind of file if it comes first.
fn gap(
    feed: &mut Feed<'_>,
    text: &str,
    at: usize,
    lines: &Lines,
    roots: usize,
) -> Result<(), ImportError> {
    let reason = if text.as_bytes().get(at) == Some(&0) {
        "NUL bytes"
    } else {
        "text that is no JSON"
    };
    if roots == 0 {
        feed.note(lines.place(at), reason);
        return Ok(());
    }
    feed.record(Value::Null, Some(lines.place(at)), Some(reason))
}

/// A value at the top of damaged text: a document, a list, or a record.
fn root_value(
    feed: &mut Feed<'_>,
    found: Found,
    lines: &Lines,
    roots: usize,
) -> Result<(), ImportError> {
    let Found {
        at,
        value,
        starts,
        faults,
        broken,
        tail,
        ..
    } = found;
    let (key, list, rest) = split(value, roots);
    let Some(list) = list else {
        let fault = broken.or_else(|| faults.into_iter().next());
        let place = lines.place(fault.as_ref().map_or(at, |fault| fault.at));
        let value = Value::Object(rest);
        let document = value.as_object().is_some_and(saved::is);
        if let Some(fault) = fault.as_ref().filter(|_| roots == 0 && document) {
            feed.coverage.damaged += 1;
            feed.note(place, fault.reason);
            return root_map(feed, value, roots);
        }
        return if roots == 0 && fault.is_none() && !is_message(&value) {
            root_map(feed, value, roots)
        } else {
            feed.record(value, Some(place), fault.map(|fault| fault.reason))
        };
    };
    let starts = starts.get(&key).cloned().unwrap_or_default();
    let count = list.len();
    for (i, record) in list.into_iter().enumerate() {
        let from = starts.get(i).copied().unwrap_or(at);
        let to = starts.get(i + 1).copied().unwrap_or(usize::MAX);
        let fault = match &broken {
            Some(fault) if tail && i + 1 == count => Some(fault),
            _ => faults.iter().find(|fault| (from..to).contains(&fault.at)),
        };
        let place = lines.place(fault.map_or(from, |fault| fault.at));
        feed.record(record, Some(place), fault.map(|fault| fault.reason))?;
    }
    if let Some(fault) = broken.filter(|_| !tail) {
        feed.record(Value::Null, Some(lines.place(fault.at)), Some(fault.reason))?;
    }
    let (begin, end) = (
        starts.first().copied().unwrap_or(at),
        starts.last().copied().unwrap_or(at),
    );
    for fault in faults
        .iter()
        .filter(|fault| !(begin..end).contains(&fault.at))
    {
        feed.note(
            lines.place(fault.at),
            format!("{} (outside the messages)", fault.reason),
        );
    }
    for (key, value) in rest {
        feed.field(key, value);
    }
    Ok(())
}

/// A list of messages, at the top or under a key, that key, and what stands beside it.
fn split(value: Value, roots: usize) -> (String, Option<Vec<Value>>, Map<String, Value>) {
    match value {
        Value::Array(list) => (String::new(), Some(list), Map::new()),
        Value::Object(mut map) => {
            let holds = |value: &Value| {
                value
                    .as_array()
                    .is_some_and(|list| list.first().is_none_or(is_message))
            };
            let key = LISTS
                .iter()
                .find(|key| map.get(**key).is_some_and(holds))
                .filter(|_| roots == 0 && !map.contains_key("role"));
            match key.and_then(|key| Some((*key, map.remove(*key)?))) {
                Some((key, Value::Array(list))) => (key.to_owned(), Some(list), map),
                _ => (String::new(), None, map),
            }
        }
        other => (
            String::new(),
            None,
            Map::from_iter([("value".to_owned(), other)]),
        ),
    }
}

/// Line numbers by binary search.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Self(
            text.bytes()
                .enumerate()
                .filter(|(_, byte)| *byte == b'\n')
                .map(|(at, _)| at)
                .collect(),
        )
    }

    fn place(&self, at: usize) -> String {
        format!(
            "line {}, byte {at}",
            self.0.partition_point(|&end| end < at) + 1
        )
    }
}
