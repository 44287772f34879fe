//! What can go wrong between dover and an adapter, told apart: the process, the protocol, the framework, the user's entry.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Where it went wrong: which adapter, doing what.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// The adapter's name.
    pub adapter: String,
    /// What was asked of it, and how far the run was.
    pub doing: String,
    /// Where what it printed is kept.
    pub log: Option<PathBuf>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "adapter {}, {}", self.adapter, self.doing)
    }
}

impl Place {
    /// Where to read on.
    fn more(&self) -> String {
        let log = self.log.as_ref();
        log.map_or(String::new(), |path| {
            format!(". What it printed: {}", path.display())
        })
    }
}

/// Why an adapter could not go on. Each says what failed, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    /// The process could not be started.
    #[error("adapter {adapter}: `{command}` cannot be started: {source}. {mend}")]
    Start {
        /// Its name.
        adapter: String,
        /// The program.
        command: String,
        /// What the system said.
        source: io::Error,
        /// How to get it.
        mend: String,
    },
    /// The framework's environment could not be made.
    #[error("adapter {adapter} was not installed: {what}. {mend}")]
    Install {
        /// Its name.
        adapter: String,
        /// What went wrong.
        what: String,
        /// What to do.
        mend: String,
    },
    /// A line that is no message of the protocol.
    #[error(
        "{at}: it wrote a line that is no message of the protocol: {line}. Standard output belongs to the protocol: let the program print to standard error{more}",
        more = at.more()
    )]
    Junk {
        /// Where.
        at: Box<Place>,
        /// The beginning of the line.
        line: String,
    },
    /// A line over the limit.
    #[error(
        "{at}: a line is longer than {limit} bytes and was not read. Keep large values out of the agents' state, or split them{more}",
        more = at.more()
    )]
    Huge {
        /// Where.
        at: Box<Place>,
        /// The most bytes of a line.
        limit: usize,
    },
    /// Nothing was heard for too long.
    #[error(
        "{at}: nothing was heard for {} s, so it was ended. Look whether the team blocks its event loop or waits for a model that does not answer{more}",
        limit.as_secs_f32(), more = at.more()
    )]
    Silent {
        /// Where.
        at: Box<Place>,
        /// How long dover waited.
        limit: Duration,
    },
    /// The process went away.
    #[error(
        "{at}: the process {how}{said}. Look what the team does there: an entry must not end the program{more}",
        more = at.more()
    )]
    Exited {
        /// Where.
        at: Box<Place>,
        /// Its status or signal.
        how: String,
        /// What it complained of last, in brackets; empty if it said nothing.
        said: String,
    },
    /// The adapter speaks another version of the protocol.
    #[error(
        "{at}: it speaks protocol {theirs}, this dover speaks {ours}. Use the adapter that came with this dover, or bring yours up to date",
        ours = super::wire::PROTOCOL
    )]
    Version {
        /// Where.
        at: Box<Place>,
        /// What it speaks.
        theirs: String,
    },
    /// A message that is JSON-RPC and still not what the protocol says.
    #[error("{at}: its answer is not what the protocol says: {what}. Mend the adapter{more}", more = at.more())]
    Shape {
        /// Where.
        at: Box<Place>,
        /// What is wrong.
        what: String,
    },
    /// The framework, or the team in it, raised an error (-32030).
    #[error("{at}: the framework failed: {message}{raised}. Mend the team or what it calls{more}", more = at.more())]
    Framework {
        /// Where.
        at: Box<Place>,
        /// The exception.
        message: String,
        /// The innermost place of its traceback, in brackets.
        raised: String,
        /// The traceback.
        traceback: String,
    },
    /// The user's entry cannot be imported or does not make a team (-32031).
    #[error(
        "{at}: the entry {entry} cannot be used: {message}{raised}. Try it alone with the same Python, from the same directory{more}",
        more = at.more()
    )]
    Entry {
        /// Where.
        at: Box<Place>,
        /// The entry.
        entry: String,
        /// Why.
        message: String,
        /// The innermost place of its traceback, in brackets.
        raised: String,
    },
    /// The adapter refused what does not fit (-32010): a pin, a hash, another adapter's checkpoint.
    #[error(
        "{at}: it does not fit: {message}. Take what the same team saved, or start the run anew"
    )]
    Incompatible {
        /// Where.
        at: Box<Place>,
        /// What does not fit.
        message: String,
    },
    /// The team asks a person for a word, and nobody is there.
    #[error(
        "{at}: the team asks a person: {prompt}. Nobody can answer here: let the team's user agent answer by itself"
    )]
    Asks {
        /// Where.
        at: Box<Place>,
        /// What it asks.
        prompt: String,
    },
    /// The adapter refused for another reason that the protocol names.
    #[error("{at}: refused, {why} ({code}): {message}{more}", more = at.more())]
    Refused {
        /// Where.
        at: Box<Place>,
        /// The protocol's number.
        code: i64,
        /// What it means.
        why: &'static str,
        /// What the adapter said.
        message: String,
    },
}

impl AdapterError {
    /// The adapter's own words, where it said no to something and stands where it stood.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Self::Refused { message, .. } => Some(message),
            _ => None,
        }
    }
}

/// What a number of the protocol means.
pub(super) const fn meaning(code: i64) -> &'static str {
    match code {
        -32700 | -32600 => "it did not understand the line",
        -32601 => "it has no such method",
        -32602 => "it did not understand the parameters",
        -32001 => "the run is not paused",
        -32011 => "the state cannot be looked into",
        -32012 => "a handler is still at work",
        -32013 => "the message is consumed already",
        -32020 => "an effect is blocked",
        -32040 => "this adapter cannot do it",
        -32050 => "the recorded model calls do not fit any more",
        _ => "for a reason of its own",
    }
}

/// The innermost place of a Python traceback, in brackets: file and line.
pub(super) fn raised(traceback: &str) -> String {
    let mut frames = traceback
        .lines()
        .filter(|line| line.trim_start().starts_with("File \""));
    frames.next_back().map_or(String::new(), |line| {
        let place = line.trim_start().trim_start_matches("File ");
        let place = place.split(", in ").next().unwrap_or(place);
        format!(" ({})", place.replace('"', ""))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_frame_is_told() {
        let traceback = "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in f\n    g()\n  File \"/a/c.py\", line 9, in g\n    raise ValueError\nValueError";
        assert_eq!(raised(traceback), " (/a/c.py, line 9)");
        assert_eq!(raised("ValueError: no"), "");
    }
}
