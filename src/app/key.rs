//! Keys as the command table speaks of them, free of any terminal library.

use std::fmt;
use std::str::FromStr;

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

impl FromStr for Key {
    type Err = String;

    /// Reads what [`Key`]'s `Display` writes; arrows also by name.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("“{text}” is no key: write e, G, Ctrl-S, Shift-Tab, F2, Enter, Space or PgUp")
        };
        let mut key = Self::of(Code::Esc);
        let mut rest = text;
        loop {
            let held = [
                ("Ctrl-", &mut key.ctrl),
                ("Alt-", &mut key.alt),
                ("Shift-", &mut key.shift),
            ];
            let next = held
                .into_iter()
                .find_map(|(name, held)| rest.strip_prefix(name).map(|rest| (rest, held)));
            match next {
                Some((after, held)) if !after.is_empty() => {
                    *held = true;
                    rest = after;
                }
                _ => break,
            }
        }
        let mut letters = rest.chars();
        key.code = match (rest, letters.next(), letters.next()) {
            ("Space", ..) => Code::Char(' '),
            ("Enter", ..) => Code::Enter,
            ("Esc", ..) => Code::Esc,
            ("Tab", ..) => Code::Tab,
            ("Bksp" | "Backspace", ..) => Code::Backspace,
            ("Del" | "Delete", ..) => Code::Delete,
            ("↑" | "Up", ..) => Code::Up,
            ("↓" | "Down", ..) => Code::Down,
            ("←" | "Left", ..) => Code::Left,
            ("→" | "Right", ..) => Code::Right,
            ("PgUp" | "PageUp", ..) => Code::PageUp,
            ("PgDn" | "PageDown", ..) => Code::PageDown,
            ("Home", ..) => Code::Home,
            ("End", ..) => Code::End,
            (_, Some(c), None) if !c.is_control() && !key.shift => {
                // With control, letter case is not told apart.
                Code::Char(if key.ctrl { c.to_ascii_lowercase() } else { c })
            }
            (_, Some('F'), Some(_)) => {
                let number = rest.trim_start_matches('F').parse().ok();
                Code::F(number.filter(|n| (1..=24).contains(n)).ok_or_else(wrong)?)
            }
            _ => return Err(wrong()),
        };
        // Outside of a text, Alt and a key is Esc and the key, which terminals cannot tell apart.
        if key.alt {
            return Err(format!(
                "“{text}” cannot be told from Esc and a key: take one without Alt"
            ));
        }
        Ok(key)
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
            assert_eq!(name.parse(), Ok(key));
        }
    }

    #[test]
    fn what_is_no_key_is_refused_by_name() {
        for text in ["", "Hyper-x", "F0", "F99", "ab", "Alt-x", "Shift-x"] {
            let refused = text.parse::<Key>().unwrap_err();
            assert!(refused.contains(text), "{refused}");
        }
        assert_eq!("Up".parse(), Ok(Key::of(Code::Up)));
        assert_eq!("-".parse(), Ok(Key::char('-')));
        assert_eq!("Ctrl-S".parse(), Ok(Key::ctrl('s')));
    }
}
