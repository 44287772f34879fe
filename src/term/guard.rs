//! The terminal taken and given back: raw mode, alternate screen, bracketed paste. On drop, and before a panic's message.

use std::io::{self, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::style::ResetColor;
use crossterm::terminal::{
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};

static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// Holds the terminal while it lives.
pub(super) struct Guard(());

impl Guard {
    /// Takes the terminal.
    pub(super) fn take() -> io::Result<Self> {
        give_back_on_panic();
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let guard = Self(());
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        Ok(guard)
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
