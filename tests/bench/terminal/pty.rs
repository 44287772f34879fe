//! dover in a pseudo-terminal: what it writes is timed as it arrives, and cut into frames where it says that one ends.

use std::io::{Read as _, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// The end of a synchronized update.
const FRAME_END: &[u8] = b"\x1b[?2026l";
/// How long a wait lasts before the bench gives up.
const DEADLINE: Duration = Duration::from_mins(1);
/// A screen that wrote nothing for so long has nothing more to say.
const QUIET: Duration = Duration::from_millis(300);

/// A running screen.
pub struct Screen {
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    _master: Box<dyn MasterPty + Send>,
    heard: Receiver<(Instant, Vec<u8>)>,
    parser: vt100::Parser,
    /// What was written since the last frame ended.
    unfinished: Vec<u8>,
    /// Bytes and frames so far.
    pub written: usize,
    pub frames: usize,
}

/// What a key led to.
#[derive(Clone, Copy)]
pub struct Pressed {
    /// From the key to the end of the first frame.
    pub first: Duration,
    /// To the end of the frame that shows what was asked for.
    pub shown: Duration,
    /// Bytes until then.
    pub bytes: usize,
}

impl Screen {
    /// Starts dover on a store, in a terminal of columns and rows.
    pub fn start(
        store: &Path,
        args: &[&str],
        env: &[(&str, &str)],
        (cols, rows): (u16, u16),
    ) -> Self {
        let size = PtySize {
            rows,
            cols,
            ..PtySize::default()
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_dover"));
        command.args(args);
        command.cwd(store.parent().unwrap());
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", store.parent().unwrap());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.env("DOVER_STORE", store);
        command.env("DOVER_OPERATOR", "ann");
        for (name, value) in env {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let (tell, heard) = channel();
        let mut reader = pair.master.try_clone_reader().unwrap();
        thread::spawn(move || {
            let mut buffer = [0; 1 << 13];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if tell
                    .send((Instant::now(), buffer[..count].to_vec()))
                    .is_err()
                {
                    return;
                }
            }
        });
        Self {
            child,
            keyboard: pair.master.take_writer().unwrap(),
            _master: pair.master,
            heard,
            parser: vt100::Parser::new(rows, cols, 0),
            unfinished: Vec::new(),
            written: 0,
            frames: 0,
        }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Types.
    pub fn send(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Presses keys and waits until the screen shows what they are for.
    pub fn press(&mut self, keys: &str, shows: &dyn Fn(&str) -> bool) -> Pressed {
        self.quiet();
        let before = self.written;
        let sent = Instant::now();
        self.send(keys);
        let mut first = None;
        loop {
            let at = self.next_frame(&format!("what {keys:?} does"));
            let first = *first.get_or_insert(at - sent);
            if shows(&self.text()) {
                return Pressed {
                    first,
                    shown: at - sent,
                    bytes: self.written - before,
                };
            }
        }
    }

    /// Waits for a text.
    pub fn wait_for(&mut self, text: &str) {
        while !self.text().contains(text) {
            self.next_frame(text);
        }
    }

    /// Waits until nothing more comes.
    pub fn quiet(&mut self) {
        while self.take(QUIET) {}
    }

    /// Takes in what is written in a time.
    pub fn listen(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until {
            self.take(until.saturating_duration_since(Instant::now()));
        }
    }

    /// What stands on the screen.
    pub fn text(&self) -> String {
        self.parser.screen().contents()
    }

    /// When the next frame ended.
    fn next_frame(&mut self, what: &str) -> Instant {
        let (frames, until) = (self.frames, Instant::now() + DEADLINE);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left) {
                Ok((at, bytes)) => {
                    self.hear(&bytes);
                    if self.frames > frames {
                        return at;
                    }
                }
                Err(error) => panic!("waited for {what} ({error}):\n{}", self.text()),
            }
        }
    }

    fn take(&mut self, time: Duration) -> bool {
        match self.heard.recv_timeout(time) {
            Ok((_, bytes)) => {
                self.hear(&bytes);
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => panic!("dover ended:\n{}", self.text()),
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        self.written += bytes.len();
        self.parser.process(bytes);
        self.unfinished.extend_from_slice(bytes);
        while let Some(at) = find(&self.unfinished, FRAME_END) {
            self.frames += 1;
            self.unfinished.drain(..at + FRAME_END.len());
        }
        // A program may ask what terminal this is and wait for the answer.
        if find(bytes, b"\x1b[c").is_some() {
            self.send("\x1b[?62c");
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
