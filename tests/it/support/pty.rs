//! A program in a pseudo-terminal, and what a person would see of it.
//!
//! Waits for what is on the screen, never for time; every wait has a deadline and fails with the screen as it stood.

use std::io::{Read, Write};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{
    ChildKiller, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system,
};

/// How long a wait lasts before the test fails: long, for a busy machine; nobody waits it out when all is well.
const DEADLINE: Duration = Duration::from_secs(20);

enum Event {
    Output(Vec<u8>),
    Exit(ExitStatus),
}

/// A running program and its terminal.
pub struct Pty {
    pid: u32,
    killer: Box<dyn ChildKiller + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    events: Receiver<Event>,
    parser: vt100::Parser,
    output: Vec<u8>,
    exit: Option<ExitStatus>,
}

impl Pty {
    /// Starts dover in a terminal of `size` (columns, rows), with nothing in its environment but what is given and a few basics.
    pub fn dover(args: &[&str], env: &[(&str, &str)], size: (u16, u16)) -> Self {
        Self::start(env!("CARGO_BIN_EXE_dover"), args, env, size)
    }

    /// Starts any program, as [`Pty::dover`].
    pub fn start(
        program: &str,
        args: &[&str],
        env: &[(&str, &str)],
        (cols, rows): (u16, u16),
    ) -> Self {
        let pair = native_pty_system().openpty(pty_size(cols, rows)).unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.cwd(std::env::current_dir().unwrap());
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        for (name, value) in env {
            command.env(name, value);
        }
        let mut child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let (pid, killer) = (child.process_id().unwrap(), child.clone_killer());
        let (events, receiver) = channel();
        read_output(pair.master.try_clone_reader().unwrap(), events.clone());
        thread::spawn(move || events.send(Event::Exit(child.wait().unwrap())));
        Self {
            pid,
            killer,
            keyboard: pair.master.take_writer().unwrap(),
            master: pair.master,
            events: receiver,
            parser: vt100::Parser::new(rows, cols, 0),
            output: Vec::new(),
            exit: None,
        }
    }

    /// Types a text. After `Esc` wait for its effect first: the two together would be an Alt key.
    pub fn send(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Presses keys by name, as [`bytes_of`] has them.
    pub fn keys(&mut self, names: &[&str]) {
        let bytes: String = names.iter().map(|name| bytes_of(name)).collect();
        self.send(&bytes);
    }

    /// Pastes a text as a terminal does that was asked for bracketed paste.
    pub fn paste(&mut self, text: &str) {
        self.send(&format!("\x1b[200~{text}\x1b[201~"));
    }

    /// The screen's text.
    pub fn screen(&self) -> String {
        self.parser.screen().contents()
    }

    /// Everything the program has written.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Waits until the screen shows a text.
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(&format!("{text:?} on the screen"), |pty| {
            pty.screen().contains(text)
        });
    }

    /// Waits until something outside the screen holds; what is drawn meanwhile is taken in.
    pub fn wait_outside(&mut self, what: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + DEADLINE;
        while !holds() {
            assert!(
                Instant::now() < deadline,
                "waited for {what}:\n{}",
                self.screen()
            );
            if let Ok(event) = self.events.recv_timeout(Duration::from_millis(20)) {
                self.take(event);
            }
        }
    }

    /// Waits until something holds; `what` names it if it never does.
    pub fn wait_until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        while !holds(self) {
            let left = deadline.saturating_duration_since(Instant::now());
            let reason = match self.events.recv_timeout(left) {
                Ok(event) => {
                    self.take(event);
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => "the deadline passed",
                Err(RecvTimeoutError::Disconnected) => "the program ended",
            };
            let (screen, exit) = (self.screen(), &self.exit);
            panic!("waited for {what}, but {reason} (exit {exit:?}); the screen:\n{screen}");
        }
    }

    /// Changes the terminal's size; the program gets SIGWINCH.
    pub fn resize(&mut self, cols: u16, rows: u16) {
        // The screen that is kept here cannot be of no size.
        self.parser.screen_mut().set_size(rows.max(1), cols.max(1));
        self.master.resize(pty_size(cols, rows)).unwrap();
    }

    /// Sends a signal, such as `TERM` or `HUP`.
    pub fn signal(&self, name: &str) {
        let pid = self.pid.to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.unwrap().success(), "kill -s {name} {pid}");
    }

    /// Waits for the program's end and its last output.
    pub fn wait_exit(&mut self) -> ExitStatus {
        self.wait_until("the program's end", |pty| pty.exit.is_some());
        // The reader stops at the end of the output; what it has read until then still counts.
        while let Ok(event) = self.events.recv_timeout(DEADLINE) {
            self.take(event);
        }
        self.exit.clone().unwrap()
    }

    /// What of the terminal was not given back; empty if all was: main screen, cursor, bracketed paste, mouse.
    pub fn kept(&self) -> Vec<&'static str> {
        let screen = self.parser.screen();
        let mouse = screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None;
        [
            (screen.alternate_screen(), "alternate screen"),
            (screen.hide_cursor(), "cursor"),
            (screen.bracketed_paste(), "bracketed paste"),
            (mouse, "mouse"),
        ]
        .into_iter()
        .filter_map(|(kept, name)| kept.then_some(name))
        .collect()
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Exit(status) => self.exit = Some(status),
            Event::Output(bytes) => {
                self.parser.process(&bytes);
                self.output.extend_from_slice(&bytes);
                // A program may ask what terminal this is and wait for the answer.
                if bytes.windows(3).any(|window| window == b"\x1b[c") {
                    self.send("\x1b[?62c");
                }
            }
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if self.exit.is_none() {
            let _ = self.killer.kill();
        }
    }
}

fn read_output(mut reader: Box<dyn Read + Send>, events: Sender<Event>) {
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        // Linux ends a pseudo-terminal with an error, others with 0.
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            if events
                .send(Event::Output(buffer[..count].to_vec()))
                .is_err()
            {
                return;
            }
        }
    });
}

fn pty_size(cols: u16, rows: u16) -> PtySize {
    PtySize {
        rows,
        cols,
        ..PtySize::default()
    }
}

/// What xterm sends for a key: `Enter`, `Esc`, `Up`, `F5`, `Ctrl-s`, or a character itself.
pub fn bytes_of(name: &str) -> String {
    let bytes = match name {
        "Enter" => "\r",
        "Esc" => "\x1b",
        "Tab" => "\t",
        "BackTab" => "\x1b[Z",
        "Backspace" => "\x7f",
        "Delete" => "\x1b[3~",
        "Up" => "\x1b[A",
        "Down" => "\x1b[B",
        "Right" => "\x1b[C",
        "Left" => "\x1b[D",
        "Home" => "\x1b[H",
        "End" => "\x1b[F",
        "PageUp" => "\x1b[5~",
        "PageDown" => "\x1b[6~",
        "F1" => "\x1bOP",
        "F2" => "\x1bOQ",
        "F5" => "\x1b[15~",
        _ => {
            let Some(letter) = name.strip_prefix("Ctrl-") else {
                assert!(name.chars().count() == 1, "no key is named {name:?}");
                return name.to_owned();
            };
            let code = letter.to_ascii_uppercase().as_bytes()[0] & 0x1f;
            return char::from(code).to_string();
        }
    };
    bytes.to_owned()
}

#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Pty {
        Pty::start("sh", &["-c", script], &[("WORD", "given")], (40, 10))
    }

    #[test]
    fn keys_arrive_and_the_screen_is_seen() {
        let mut pty = shell("echo $WORD; read line; echo got-$line; exit 3");
        pty.wait_for("given");
        pty.send("some");
        pty.keys(&["t", "h", "Enter"]);
        pty.wait_for("got-someth");
        assert_eq!(pty.wait_exit().exit_code(), 3);
        assert!(pty.output().starts_with(b"given\r\n"));
    }

    #[test]
    fn a_resize_is_told_and_a_signal_ends() {
        let mut pty = shell(
            "trap 'stty size; exit 7' TERM; echo ready; while :; do read line; echo $line; done",
        );
        pty.wait_for("ready");
        pty.resize(60, 20);
        pty.signal("TERM");
        pty.wait_for("20 60");
        assert_eq!(pty.wait_exit().exit_code(), 7);
    }

    #[test]
    fn a_terminal_that_is_kept_is_noticed() {
        let mut kept = shell(r"printf '\033[?1049h\033[?2004h\033[?25l'");
        kept.wait_exit();
        assert_eq!(
            kept.kept(),
            ["alternate screen", "cursor", "bracketed paste"]
        );
        let mut given = shell(r"printf '\033[?1049h\033[?2004h\033[?2004l\033[?1049l'");
        given.wait_exit();
        assert_eq!(given.kept(), [""; 0]);
    }
}
