//! A parser for JSON that `serde_json` refuses: it finds whole values in damaged text and says what it mended.
//!
//! It mends lone surrogates, raw control characters, NaN and infinities, numbers out of range, trailing commas, Python's quotes and words,
//! and nesting up to [`MAX_DEPTH`]. Where a value breaks off, what was whole inside it is handed out as broken, and the search goes on
//! behind it. Time is linear in the text: an opening bracket that was once seen to break is never tried again.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::{Map, Number, Value};

/// Deepest nesting that is followed.
pub(super) const MAX_DEPTH: usize = 512;

/// Something mended, with its byte offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub at: usize,
    pub reason: &'static str,
}

/// One find in damaged text.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    /// A value, whole or broken off.
    Found(Found),
    /// A `"key": scalar` pair outside any value that could be read.
    Loose { key: String, value: Value },
    /// Text between whole values that is none.
    Gap { at: usize },
}

/// A value found in damaged text.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    /// Its first byte.
    pub at: usize,
    /// The byte behind its last.
    pub end: usize,
    /// The value; of a broken one the whole members.
    pub value: Value,
    /// Where the elements of its lists begin, by key (`""`: the value is the list), and where the list ends.
    pub starts: HashMap<String, Vec<usize>>,
    /// What was mended inside it.
    pub faults: Vec<Fault>,
    /// Where and how it breaks off, if it does.
    pub broken: Option<Fault>,
    /// The last element of its innermost open list is itself broken.
    pub tail: bool,
}

/// Hands out every value found in a text, in order.
pub(super) fn pieces<E>(text: &str, take: &mut dyn FnMut(Piece) -> Result<(), E>) -> Result<(), E> {
    let mut doomed = HashSet::new();
    let mut at = 0;
    let mut broke = false;
    while let Some(start) = next_start(text, at, &doomed) {
        between(text, at..start, broke, take)?;
        let mut parser = Parser::new(text, start);
        let parsed = parser.value(0);
        let end = parser.pos;
        let (value, tail, broken) = if let Ok(value) = parsed {
            at = end;
            (value, false, None)
        } else {
            doomed.extend(parser.open.iter().copied());
            doomed.insert(start);
            at = parser.resume.max(start + 1);
            let (value, tail) = parser.partial.unwrap_or((Value::Null, false));
            let reason = parser.reason;
            (value, tail, Some(Fault { at: end, reason }))
        };
        broke = broken.is_some();
        let mut starts = parser.lists;
        if value.is_array() {
            starts.insert(String::new(), parser.starts);
        }
        take(Piece::Found(Found {
            at: start,
            end,
            value,
            starts,
            faults: parser.faults,
            broken,
            tail,
        }))?;
    }
    between(text, at..text.len(), broke, take)
}

/// What stands between two values: loose pairs, or text that is no value. After a broken value it is that one's rest.
fn between<E>(
    text: &str,
    range: Range<usize>,
    broke: bool,
    take: &mut dyn FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let gap = text.get(range.clone()).unwrap_or_default();
    let pairs = loose(gap);
    let other = |c: char| !(c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}'));
    if pairs.is_empty()
        && !broke
        && let Some(at) = gap.find(other)
    {
        take(Piece::Gap {
            at: range.start + at,
        })?;
    }
    pairs.into_iter().try_for_each(take)
}

/// Where the next value may begin: an object anywhere, a list at the beginning of a line.
fn next_start(text: &str, from: usize, doomed: &HashSet<usize>) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut line_start = from == 0
        || bytes
            .get(..from)?
            .iter()
            .rev()
            .find(|b| !matches!(b, b' ' | b'\t'))
            .is_none_or(|b| matches!(b, b'\n' | b'\r'));
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        let next = bytes
            .get(at + 1..)
            .unwrap_or_default()
            .iter()
            .find(|b| !b.is_ascii_whitespace());
        let opens = match byte {
            b'{' => matches!(next, Some(b'"' | b'\'' | b'}') | None),
            b'[' => line_start && matches!(next, Some(b'"' | b'\'' | b'{' | b'[' | b']') | None),
            _ => false,
        };
        if opens && !doomed.contains(&at) {
            return Some(at);
        }
        line_start = matches!(byte, b'\n' | b'\r') || (line_start && matches!(byte, b' ' | b'\t'));
    }
    None
}

/// `"key": scalar` pairs in text that belongs to no value, one or several a line.
fn loose(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(quote) = text.get(at..).and_then(|rest| rest.find('"')) {
        let start = at + quote;
        at = start + 1;
        let mut parser = Parser::new(text, start);
        let Ok(key) = parser.string(b'"') else { break };
        parser.space();
        if key.contains('\n') || parser.peek() != Some(b':') {
            continue;
        }
        parser.pos += 1;
        parser.space();
        if !matches!(
            parser.peek(),
            Some(b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
        ) {
            continue;
        }
        if let Ok(value) = parser.value(0) {
            parser.space();
            if parser.faults.is_empty() && matches!(parser.peek(), Some(b',' | b'}') | None) {
                at = parser.pos;
                found.push(Piece::Loose { key, value });
            }
        }
    }
    found
}

/// The value broke off; the parser holds what was whole.
struct Stop;

struct Parser<'a> {
    text: &'a str,
    root: usize,
    pos: usize,
    faults: Vec<Fault>,
    /// Brackets open when the value broke off.
    open: Vec<usize>,
    /// Where the search goes on after a break.
    resume: usize,
    reason: &'static str,
    partial: Option<(Value, bool)>,
    python: bool,
    /// Where the elements of the last list near the top begin.
    starts: Vec<usize>,
    /// The same by key, for the lists in the value's own members.
    lists: HashMap<String, Vec<usize>>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, at: usize) -> Self {
        Self {
            text,
            root: at,
            pos: at,
            faults: Vec::new(),
            open: Vec::new(),
            resume: at,
            reason: "not JSON",
            partial: None,
            python: false,
            starts: Vec::new(),
            lists: HashMap::new(),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.pos += 1;
        }
    }

    fn fault(&mut self, reason: &'static str) {
        self.faults.push(Fault {
            at: self.pos,
            reason,
        });
    }

    fn stop(&mut self, reason: &'static str) -> Stop {
        self.reason = if self.peek().is_none() {
            "breaks off at the end of the file"
        } else {
            reason
        };
        Stop
    }

    fn value(&mut self, depth: usize) -> Result<Value, Stop> {
        match self.peek() {
            Some(open @ (b'{' | b'[')) => {
                if depth >= MAX_DEPTH {
                    return Err(self.stop("nested too deeply"));
                }
                // In a file of one record a line, an object at the beginning of a line is the next record.
                if depth > 0 && open == b'{' && self.at_line_start(self.pos) && self.in_record() {
                    return Err(self.stop("breaks off at the end of the line"));
                }
                self.open.push(self.pos);
                let value = if open == b'{' {
                    self.object(depth)?
                } else {
                    self.array(depth)?
                };
                self.open.pop();
                Ok(value)
            }
            Some(quote @ (b'"' | b'\'')) => self.string(quote).map(Value::String),
            Some(_) => self.word(),
            None => Err(self.stop("")),
        }
    }

    fn at_line_start(&self, at: usize) -> bool {
        at == 0 || matches!(self.text.as_bytes().get(at - 1), Some(b'\n' | b'\r'))
    }

    fn in_record(&self) -> bool {
        self.text.as_bytes().get(self.root) == Some(&b'{') && self.at_line_start(self.root)
    }

    fn object(&mut self, depth: usize) -> Result<Value, Stop> {
        let mut map = Map::new();
        let mut open = None;
        self.pos += 1;
        if self.members(depth, &mut map, &mut open).is_ok() {
            return Ok(Value::Object(map));
        }
        let mut tail = false;
        if let (Some((value, broken)), Some(key)) = (self.partial.take(), open) {
            if depth == 0 && value.is_array() {
                self.lists
                    .insert(key.clone(), std::mem::take(&mut self.starts));
            }
            // A container that broke off before it held anything is no content.
            let empty = value.as_array().is_some_and(Vec::is_empty)
                || value.as_object().is_some_and(Map::is_empty);
            if !empty {
                map.insert(key, value);
            }
            tail = broken;
        }
        self.partial = Some((Value::Object(map), tail));
        Err(Stop)
    }

    /// Reads members up to the closing brace. After a break, `open` is the key whose own value broke off, and `resume` the
    /// beginning of the member that is not to be trusted: a quote may have closed too late and swallowed what follows.
    fn members(
        &mut self,
        depth: usize,
        map: &mut Map<String, Value>,
        open: &mut Option<String>,
    ) -> Result<(), Stop> {
        loop {
            self.space();
            self.resume = self.pos;
            let key = match self.peek() {
                Some(b'}') => {
                    self.pos += 1;
                    return Ok(());
                }
                Some(b',') => {
                    self.fault("a comma too many");
                    self.pos += 1;
                    continue;
                }
                Some(quote @ (b'"' | b'\'')) => self.string(quote)?,
                _ => return Err(self.stop("a key is missing")),
            };
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.stop("a colon is missing"));
            }
            self.pos += 1;
            self.space();
            *open = Some(key.clone());
            let value = self.value(depth + 1)?;
            *open = None;
            let text = value.is_string();
            if !text {
                self.resume = self.pos;
            }
            if depth == 0 && value.is_array() {
                self.lists
                    .insert(key.clone(), std::mem::take(&mut self.starts));
            }
            map.insert(key.clone(), value);
            self.space();
            match self.peek() {
                Some(b',') => self.comma(b'}'),
                Some(b'}') => {}
                _ => {
                    if text {
                        map.remove(&key);
                    }
                    return Err(self.stop("a comma or a closing brace is missing"));
                }
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, Stop> {
        let mut list = Vec::new();
        let mut starts = Vec::new();
        self.pos += 1;
        let result = self.elements(depth, &mut list, &mut starts);
        if depth <= 1 {
            starts.push(self.pos);
            self.starts = starts;
        }
        if result.is_ok() {
            return Ok(Value::Array(list));
        }
        let broken = self.partial.take().map(|(value, _)| value);
        let broken = broken.filter(|value| value.as_object().is_some_and(|map| !map.is_empty()));
        let tail = broken.is_some();
        list.extend(broken);
        self.partial = Some((Value::Array(list), tail));
        Err(Stop)
    }

    fn elements(
        &mut self,
        depth: usize,
        list: &mut Vec<Value>,
        starts: &mut Vec<usize>,
    ) -> Result<(), Stop> {
        loop {
            self.space();
            self.resume = self.pos;
            match self.peek() {
                Some(b']') => {
                    self.pos += 1;
                    return Ok(());
                }
                Some(b',') => {
                    self.fault("a comma too many");
                    self.pos += 1;
                    continue;
                }
                _ => {}
            }
            starts.push(self.pos);
            list.push(self.value(depth + 1)?);
            self.resume = self.pos;
            self.space();
            match self.peek() {
                Some(b',') => self.comma(b']'),
                Some(b']') => {}
                _ => return Err(self.stop("a comma or a closing bracket is missing")),
            }
        }
    }

    fn comma(&mut self, close: u8) {
        let at = self.pos;
        self.pos += 1;
        self.space();
        if self.peek() == Some(close) {
            self.faults.push(Fault {
                at,
                reason: "a comma too many",
            });
        }
    }

    fn string(&mut self, quote: u8) -> Result<String, Stop> {
        // Said once: it is the way the whole text is written.
        if quote == b'\'' && !self.python {
            self.python = true;
            self.fault("single quotes, read as Python text");
        }
        let mut out = String::new();
        let start = self.pos;
        self.pos += 1;
        loop {
            let rest = self.text.as_bytes().get(self.pos..).unwrap_or_default();
            let plain = rest
                .iter()
                .position(|&b| b == quote || b == b'\\' || b < 0x20)
                .unwrap_or(rest.len());
            out.push_str(
                self.text
                    .get(self.pos..self.pos + plain)
                    .unwrap_or_default(),
            );
            self.pos += plain;
            match self.peek() {
                Some(b) if b == quote => {
                    self.pos += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out),
                Some(control) => {
                    if !self.faults.iter().any(|fault| fault.at >= start) {
                        self.fault("a raw control character in a string");
                    }
                    out.push(char::from(control));
                    self.pos += 1;
                }
                None => return Err(self.stop("")),
            }
        }
    }

    fn escape(&mut self, out: &mut String) {
        let at = self.pos;
        self.pos += 1;
        let Some(c) = self
            .text
            .get(self.pos..)
            .and_then(|rest| rest.chars().next())
        else {
            return;
        };
        self.pos += c.len_utf8();
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            '"' | '\\' | '/' | '\'' => out.push(c),
            'u' | 'x' => {
                let digits = if c == 'u' { 4 } else { 2 };
                let mut code = self.hex(digits);
                if let Some(high @ 0xD800..=0xDBFF) = code
                    && self.text.as_bytes().get(self.pos..self.pos + 2) == Some(b"\\u")
                {
                    let back = self.pos;
                    self.pos += 2;
                    if let Some(low @ 0xDC00..=0xDFFF) = self.hex(4) {
                        code = Some(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
                    } else {
                        self.pos = back;
                    }
                }
                out.push(code.and_then(char::from_u32).unwrap_or_else(|| {
                    self.faults.push(Fault {
                        at,
                        reason: "half a surrogate pair, replaced by U+FFFD",
                    });
                    char::REPLACEMENT_CHARACTER
                }));
            }
            other => {
                self.faults.push(Fault {
                    at,
                    reason: "an unknown escape",
                });
                out.push('\\');
                out.push(other);
            }
        }
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let code = u32::from_str_radix(self.text.get(self.pos..self.pos + digits)?, 16).ok()?;
        self.pos += digits;
        Some(code)
    }

    /// A number or a bare word.
    fn word(&mut self) -> Result<Value, Stop> {
        let rest = self.text.get(self.pos..).unwrap_or_default();
        let len = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let word = rest.get(..len).unwrap_or_default();
        let value = match word {
            "null" | "None" => Value::Null,
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "NaN" | "nan" | "Infinity" | "-Infinity" | "inf" | "-inf" => {
                self.fault("a number that is none");
                Value::String(word.to_owned())
            }
            _ => match word.parse::<Number>() {
                Ok(number) => Value::Number(number),
                Err(_) if word.parse::<f64>().is_ok() => {
                    self.fault("a number out of range");
                    Value::String(word.to_owned())
                }
                Err(_) => return Err(self.stop("neither a value nor a closing bracket")),
            },
        };
        self.pos += len;
        Ok(value)
    }
}
