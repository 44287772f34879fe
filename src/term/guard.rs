//! The terminal taken and given back: raw mode, alternate screen, bracketed paste, on request the mouse. On drop, and before a panic's
//! message.

use std::io::{self, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::style::{Print, ResetColor};
use crossterm::terminal::{
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};

static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The mouse's buttons and wheel, told by column and row (SGR). Nothing is told of mere motion: it would only cost bytes over SSH.
const TAKE_MOUSE: &str = "\x1b[?1000h\x1b[?1006h";
const GIVE_MOUSE: &str = "\x1b[?1006l\x1b[?1000l";

/// Holds the terminal while it lives.
pub(super) struct Guard {
    mouse: bool,
}

impl Guard {
    /// Takes the terminal.
    pub(super) fn take() -> io::Result<Self> {
        give_back_on_panic();
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let guard = Self { mouse: false };
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        Ok(guard)
    }

    /// Takes the mouse too, or gives it back.
    pub(super) fn mouse(&mut self, on: bool) -> io::Result<()> {
        if self.mouse != on {
            execute!(stdout(), Print(if on { TAKE_MOUSE } else { GIVE_MOUSE }))?;
            self.mouse = on;
        }
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back, once. A terminal that is gone cannot be told so: failures are no news.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(
            stdout(),
            EndSynchronizedUpdate,
            Print(GIVE_MOUSE),
            DisableBracketedPaste,
            ResetColor,
            LeaveAlternateScreen,
            Show
        );
        let _ = disable_raw_mode();
    }
}

/// A panic of the screen gives the terminal back before its message. One of a job leaves the screen alone: the job's answer
/// tells of it.
fn give_back_on_panic() {
    HOOK.call_once(|| {
        let screen = thread::current().id();
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if thread::current().id() == screen {
                give_back();
            } else if TAKEN.load(Ordering::SeqCst) {
                return;
            }
            before(panic);
        }));
    });
}
