//! Terminal events as messages. Key releases and what dover has no use for are none.

use std::io;

use crossterm::event::{
    Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};
use futures::StreamExt as _;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

use crate::app::key::{Code, Key};

/// Listens to the terminal. The stream of events has a task of its own, for it remembers only the first waker that it was
/// polled with: whoever looks whether something is ready, as a drain does, would deafen who waits.
pub(super) struct Keyboard {
    heard: UnboundedReceiver<io::Result<Input>>,
    task: JoinHandle<()>,
}

impl Keyboard {
    /// Begins to listen.
    pub(super) fn listen() -> Self {
        let (tell, heard) = unbounded_channel();
        let task = tokio::spawn(async move {
            let mut events = EventStream::new();
            while let Some(event) = events.next().await {
                if tell.send(event.map(Input::from)).is_err() {
                    break;
                }
            }
        });
        Self { heard, task }
    }

    /// What comes next; none when the terminal is gone.
    pub(super) async fn next(&mut self) -> Option<io::Result<Input>> {
        self.heard.recv().await
    }

    /// What came already.
    pub(super) fn ready(&mut self) -> Option<io::Result<Input>> {
        self.heard.try_recv().ok()
    }

    /// Stops listening; when this returns, keys go to somebody else.
    pub(super) async fn deafen(&mut self) {
        self.task.abort();
        // It was aborted, so it has nothing to say.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What came from the terminal.
pub(super) enum Input {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Paste(String),
    /// A column and row were clicked.
    Click(u16, u16),
    /// The wheel was turned there, down or up.
    Wheel(u16, u16, bool),
    /// The terminal has another size, or its contents may be gone.
    Redraw,
    /// Nothing.
    None,
}

impl From<Event> for Input {
    fn from(event: Event) -> Self {
        match event {
            Event::Key(key) => key_of(key).map_or(Self::None, Self::Key),
            Event::Paste(text) => Self::Paste(text),
            Event::Resize(..) | Event::FocusGained => Self::Redraw,
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::Down(MouseButton::Left) => Self::Click(mouse.column, mouse.row),
                MouseEventKind::ScrollDown => Self::Wheel(mouse.column, mouse.row, true),
                MouseEventKind::ScrollUp => Self::Wheel(mouse.column, mouse.row, false),
                _ => Self::None,
            },
            Event::FocusLost => Self::None,
        }
    }
}

fn key_of(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let held = |modifier| event.modifiers.contains(modifier);
    let mut shift = held(KeyModifiers::SHIFT);
    let code = match event.code {
        // A control key's character comes in either letter case.
        KeyCode::Char(c) if held(KeyModifiers::CONTROL) => Code::Char(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Code::Char(c),
        KeyCode::Enter => Code::Enter,
        KeyCode::Esc => Code::Esc,
        KeyCode::Tab => Code::Tab,
        KeyCode::BackTab => {
            shift = true;
            Code::Tab
        }
        KeyCode::Backspace => Code::Backspace,
        KeyCode::Delete => Code::Delete,
        KeyCode::Up => Code::Up,
        KeyCode::Down => Code::Down,
        KeyCode::Left => Code::Left,
        KeyCode::Right => Code::Right,
        KeyCode::PageUp => Code::PageUp,
        KeyCode::PageDown => Code::PageDown,
        KeyCode::Home => Code::Home,
        KeyCode::End => Code::End,
        KeyCode::F(n) => Code::F(n),
        _ => return None,
    };
    Some(Key {
        code,
        ctrl: held(KeyModifiers::CONTROL),
        alt: held(KeyModifiers::ALT),
        shift: shift && !matches!(code, Code::Char(_)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_arrive_as_the_table_names_them() {
        let table = [
            (
                KeyCode::Char('S'),
                KeyModifiers::CONTROL,
                Some(Key::ctrl('s')),
            ),
            (
                KeyCode::Char('G'),
                KeyModifiers::SHIFT,
                Some(Key::char('G')),
            ),
            (
                KeyCode::BackTab,
                KeyModifiers::SHIFT,
                Some(Key::shift(Code::Tab)),
            ),
            (
                KeyCode::BackTab,
                KeyModifiers::NONE,
                Some(Key::shift(Code::Tab)),
            ),
            (KeyCode::CapsLock, KeyModifiers::NONE, None),
        ];
        for (code, modifiers, expected) in table {
            assert_eq!(key_of(KeyEvent::new(code, modifiers)), expected, "{code:?}");
        }
        let release =
            KeyEvent::new_with_kind(KeyCode::Enter, KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(key_of(release), None);
    }
}
