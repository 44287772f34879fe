//! Where answers go: JSON with stable names, or text for a person, cleaned and wrapped to the terminal.
//!
//! An answer is one value that knows both forms, so that they cannot say different things.
//! Colour is used on a terminal only, never without `NO_COLOR`'s leave, and never alone.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use super::text;
use crate::model::{clean, clean_line};

/// What a subcommand has to say.
pub trait Answer: Serialize {
    /// Prints it for a person.
    fn print(&self, out: &mut Out) -> io::Result<()>;
}

/// How a piece of text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As the terminal has it.
    Plain,
    /// A heading.
    Strong,
    /// Beside the point.
    Faint,
    /// It holds, it worked.
    Good,
    /// It does not.
    Bad,
}

/// Standard output, in one of its two forms.
pub struct Out {
    json: bool,
    width: usize,
    colour: bool,
    sink: Box<dyn Write>,
}

impl Out {
    /// Standard output as it is: its width if it is a terminal, else 80.
    #[must_use]
    pub fn stdout(json: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let width = terminal
            .then(crossterm::terminal::size)
            .and_then(Result::ok)
            .map_or(80, |(columns, _)| usize::from(columns));
        Self {
            json,
            width: width.max(20),
            colour: terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            sink: Box::new(io::BufWriter::new(io::stdout())),
        }
    }

    /// Columns to write in.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Whether a program reads it.
    #[must_use]
    pub const fn is_json(&self) -> bool {
        self.json
    }

    /// Gives an answer in the form asked for.
    pub fn give(&mut self, answer: &impl Answer) -> io::Result<()> {
        if self.json {
            self.sink.write_all(visible_json(answer)?.as_bytes())?;
        } else {
            answer.print(self)?;
        }
        self.sink.flush()
    }

    /// Writes one line, cut at the edge: for rows of a list.
    pub fn row(&mut self, tone: Tone, text: &str) -> io::Result<()> {
        let cut = text::cut(&clean_line(text), self.width);
        self.put(tone, &cut)
    }

    /// Writes text wrapped to the width; every line begins at column `indent`.
    pub fn para(&mut self, indent: usize, text: &str) -> io::Result<()> {
        self.labelled(&" ".repeat(indent), text)
    }

    /// Writes a label and beside it, hanging, the text.
    pub fn labelled(&mut self, label: &str, text: &str) -> io::Result<()> {
        let indent = text::width(label).min(self.width / 2);
        let room = self.width.saturating_sub(indent).max(10);
        let mut lead = label.to_owned();
        for line in text::wrap(&clean(text), room) {
            self.put(Tone::Plain, format!("{lead}{line}").trim_end())?;
            lead = " ".repeat(indent);
        }
        Ok(())
    }

    /// Writes a heading after an empty line.
    pub fn heading(&mut self, text: &str) -> io::Result<()> {
        self.blank()?;
        self.row(Tone::Strong, text)
    }

    /// Writes an empty line.
    pub fn blank(&mut self) -> io::Result<()> {
        self.sink.write_all(b"\n")
    }

    /// Writes text as it is, for files that go to standard output (a schema, a session, a table).
    pub fn raw(&mut self, text: &str) -> io::Result<()> {
        self.bytes(text.as_bytes())
    }

    /// The same of bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.write_all(bytes)?;
        self.sink.flush()
    }

    fn put(&mut self, tone: Tone, line: &str) -> io::Result<()> {
        let code = match tone {
            Tone::Plain => "",
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Good => "32",
            Tone::Bad => "31",
        };
        if self.colour && !code.is_empty() {
            writeln!(self.sink, "\u{1b}[{code}m{line}\u{1b}[0m")
        } else {
            writeln!(self.sink, "{line}")
        }
    }
}

/// JSON text in which the characters that act on a terminal stand as `\u` escapes: nothing is lost and nothing acts.
fn visible_json(answer: &impl Serialize) -> io::Result<String> {
    let json = serde_json::to_string_pretty(answer)?;
    let mut visible = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if c == '\n' || is_seen(c) {
            visible.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // A `String` takes every write.
            let _ = write!(visible, "\\u{unit:04x}");
        }
    }
    visible.push('\n');
    Ok(visible)
}

/// Whether a character is shown as it is.
fn is_seen(c: char) -> bool {
    matches!(c, ' '..='~') || matches!(clean_line(c.encode_utf8(&mut [0; 4])), Cow::Borrowed(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_json_and_steers_no_terminal() {
        let text = "a\u{1b}[31m\u{202e}b\u{9b}c\u{7f}\nd";
        let written = visible_json(&text).unwrap();
        assert!(written.trim_end().chars().all(|c| (' '..='~').contains(&c)));
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }
}
