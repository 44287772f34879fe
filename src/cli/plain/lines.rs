//! Lines of standard input, read one at a time and only when one is wanted: an editor that is started in between gets its own keys.

use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The longest line, in bytes; an edit may have many.
const LONGEST: u64 = 1 << 20;

/// The input.
pub struct Lines {
    wanted: Sender<()>,
    came: UnboundedReceiver<io::Result<String>>,
    /// One was asked for and has not come.
    asked: bool,
    back: Option<String>,
    /// Whether somebody sits there.
    pub terminal: bool,
    /// Nothing more comes.
    pub ended: bool,
}

impl Lines {
    /// Standard input.
    #[must_use]
    pub fn stdin() -> Self {
        let (wanted, wants) = channel();
        let (sender, came) = unbounded_channel();
        // It may wait in a read for ever; the end of the program is its end.
        thread::spawn(move || {
            let mut input = io::stdin().lock();
            while wants.recv().is_ok() {
                if !hand_on(&mut input, &sender) {
                    break;
                }
            }
        });
        Self {
            wanted,
            came,
            asked: false,
            back: None,
            terminal: io::stdin().is_terminal(),
            ended: false,
        }
    }

    /// The next line; none at the end. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<io::Result<String>> {
        if let Some(line) = self.back.take() {
            return Some(Ok(line));
        }
        if !self.asked {
            self.asked = self.wanted.send(()).is_ok();
        }
        let line = self.came.recv().await;
        self.asked = false;
        self.ended = line.is_none();
        line
    }

    /// Gives a line back, to be read again.
    pub fn put_back(&mut self, line: String) {
        self.back = Some(line);
    }
}

/// Reads a line and hands it on; false at the end.
fn hand_on(input: &mut impl BufRead, lines: &UnboundedSender<io::Result<String>>) -> bool {
    let mut bytes = Vec::new();
    let line = match input.take(LONGEST).read_until(b'\n', &mut bytes) {
        Ok(0) => return false,
        Ok(_) if bytes.len() as u64 == LONGEST && !bytes.ends_with(b"\n") => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a line is longer than 1 MiB",
        )),
        Ok(_) => String::from_utf8(bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "a line is not UTF-8 text")),
        Err(error) => Err(error),
    };
    let whole = line.is_ok();
    let line = line.map(|line| line.trim_end_matches(['\n', '\r']).to_owned());
    lines.send(line).is_ok() && whole
}
