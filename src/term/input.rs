//! Terminal events as messages. Key releases and what dover has no use for are none.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::app::Msg;
use crate::app::key::{Code, Key};

/// What came from the terminal.
pub(super) enum Input {
    /// Something for the application.
    Msg(Msg),
    /// The terminal has another size, or its contents may be gone.
    Redraw,
    /// Nothing.
    None,
}

impl From<Event> for Input {
    fn from(event: Event) -> Self {
        match event {
            Event::Key(key) => key_of(key).map_or(Self::None, |key| Self::Msg(Msg::Key(key))),
            Event::Paste(text) => Self::Msg(Msg::Paste(text)),
            Event::Resize(..) | Event::FocusGained => Self::Redraw,
            Event::FocusLost | Event::Mouse(_) => Self::None,
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
