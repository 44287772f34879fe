//! Keys as the command table speaks of them, free of any terminal library.

use std::fmt;

/// What was pressed, modifiers aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A character, its letter case included.
    Char(char),
    /// Return.
    Enter,
    /// Escape.
    Esc,
    /// Tabulator; with shift it goes backwards.
    Tab,
    /// Deletes to the left.
    Backspace,
    /// Deletes to the right.
    Delete,
    /// Arrow.
    Up,
    /// Arrow.
    Down,
    /// Arrow.
    Left,
    /// Arrow.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// A function key.
    F(u8),
}

/// A key with its modifiers. A character carries its shift in its letter case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// What was pressed.
    pub code: Code,
    /// With control.
    pub ctrl: bool,
    /// With alt.
    pub alt: bool,
    /// With shift; never set for characters.
    pub shift: bool,
}

impl Key {
    /// A key without modifiers.
    #[must_use]
    pub const fn of(code: Code) -> Self {
        Self {
            code,
            ctrl: false,
            alt: false,
            shift: false,
        }
    }

    /// A plain character.
    #[must_use]
    pub const fn char(c: char) -> Self {
        Self::of(Code::Char(c))
    }

    /// A character with control.
    #[must_use]
    pub const fn ctrl(c: char) -> Self {
        Self {
            code: Code::Char(c),
            ctrl: true,
            alt: false,
            shift: false,
        }
    }

    /// A key with shift.
    #[must_use]
    pub const fn shift(code: Code) -> Self {
        Self {
            code,
            ctrl: false,
            alt: false,
            shift: true,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [
            (self.ctrl, "Ctrl-"),
            (self.alt, "Alt-"),
            (self.shift, "Shift-"),
        ] {
            if held {
                f.write_str(name)?;
            }
        }
        match self.code {
            Code::Char(' ') => f.write_str("Space"),
            Code::Char(c) if self.ctrl => write!(f, "{}", c.to_uppercase()),
            Code::Char(c) => write!(f, "{c}"),
            Code::F(n) => write!(f, "F{n}"),
            Code::Up => f.write_str("↑"),
            Code::Down => f.write_str("↓"),
            Code::Left => f.write_str("←"),
            Code::Right => f.write_str("→"),
            Code::PageUp => f.write_str("PgUp"),
            Code::PageDown => f.write_str("PgDn"),
            Code::Backspace => f.write_str("Bksp"),
            Code::Delete => f.write_str("Del"),
            other => write!(f, "{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_stands_on_a_keyboard() {
        let table = [
            (Key::char('q'), "q"),
            (Key::char('G'), "G"),
            (Key::char(' '), "Space"),
            (Key::ctrl('s'), "Ctrl-S"),
            (Key::shift(Code::Tab), "Shift-Tab"),
            (Key::of(Code::F(2)), "F2"),
            (Key::of(Code::PageUp), "PgUp"),
            (Key::of(Code::Esc), "Esc"),
        ];
        for (key, name) in table {
            assert_eq!(key.to_string(), name);
        }
    }
}
