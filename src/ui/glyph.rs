//! Signs that stand beside a colour, each with its word and an ASCII stand-in. Every one is a cell wide.

use std::borrow::Cow;

use crate::model::{GateStatus, RestoreResult, RunStatus};

/// A sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyph {
    sign: &'static str,
    ascii: &'static str,
    /// What it says, for readers that hear the screen.
    pub word: &'static str,
}

/// Which signs the terminal can be trusted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// The locale is UTF-8.
    Unicode,
    /// Anything else.
    Ascii,
}

impl Charset {
    /// Judges by the locale, as POSIX ranks its variables. Without any, UTF-8 is assumed, as on Windows and macOS.
    #[must_use]
    pub fn from_env(var: impl Fn(&str) -> Option<String>) -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .filter_map(|name| var(name))
            .find(|value| !value.is_empty())
            .map(|value| value.to_lowercase().replace('-', ""));
        match locale {
            Some(locale) if !locale.contains("utf8") => Self::Ascii,
            _ => Self::Unicode,
        }
    }
}

macro_rules! glyphs {
    ($($(#[$doc:meta])* $name:ident $sign:literal $ascii:literal $word:literal;)*) => {
        impl Glyph {
            $($(#[$doc])* pub const $name: Self = Self { sign: $sign, ascii: $ascii, word: $word };)*
            /// Every sign.
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }
    };
}

glyphs! {
    /// The person who gave the task.
    HUMAN "☺" "U" "human";
    /// An agent that plans and instructs.
    ORCHESTRATOR "◆" "#" "orchestrator";
    /// Any other agent.
    AGENT "●" "o" "agent";
    /// The picked row.
    CURSOR "▸" ">" "selected";
    /// Before the agent that is addressed.
    TO "→" "@" "to";
    /// A step with a hypothesis.
    HYPOTHESIS "⚑" "!" "hypothesis";
    /// Holds, passed, reached.
    PASS "✓" "v" "pass";
    /// Failed.
    FAIL "✗" "x" "failed";
    /// Neither one nor the other.
    UNCERTAIN "◐" "?" "uncertain";
    /// Stands still until somebody acts.
    HOLD "■" "H" "held";
    /// Not there.
    MISSING "○" "_" "missing";
    /// May go.
    READY "▷" "R" "ready";
    /// Is going.
    RUNNING "▶" "%" "running";
    /// Waits for a word.
    PAUSED "‖" "P" "paused";
    /// Came to its end.
    DONE "□" "." "done";
    /// Stopped half-way.
    STOPPED "▪" "s" "stopped";
    /// A milestone reached, in a bar.
    FULL "▰" "=" "reached";
    /// A milestone not reached, in a bar.
    EMPTY "▱" "-" "open";
    /// A milestone at a step.
    MILESTONE "★" "*" "milestone";
    /// Where two branches differ.
    DIFFERS "≠" "~" "differs";
    /// A branch forked here.
    FORK "├" "Y" "fork";
    /// Cut off.
    MORE "…" "$" "more";
    /// New rows below.
    BELOW "↓" "+" "below";
    /// Rows above.
    ABOVE "↑" "^" "above";
    /// A step that a person marked.
    MARKED "◈" "m" "marked";
    /// A step with a note.
    NOTE "¶" "n" "note";
    /// Between two parts of a path.
    PATH "›" "/" "in";
}

/// What stands for signs that are no [`Glyph`]: lines, quotation marks, dashes, and the marks of cleaned text.
const OTHERS: &[(char, char)] = &[
    ('─', '-'),
    ('│', '|'),
    ('·', '-'),
    ('–', '-'),
    ('−', '-'),
    ('“', '"'),
    ('”', '"'),
    ('×', 'x'),
    ('☆', ','),
    ('⏎', '\\'),
    ('␡', '^'),
    ('⟨', '<'),
    ('⟩', '>'),
    ('←', '<'),
];

/// The ASCII stand-in of a sign, one cell as it is; none for what is text.
#[must_use]
pub fn stand_in(sign: char) -> Option<char> {
    if matches!(sign, '\u{2400}'..='\u{241F}') {
        return Some('^');
    }
    let drawn = || {
        let glyph = Glyph::ALL
            .iter()
            .find(|glyph| glyph.sign.chars().eq([sign]))?;
        glyph.ascii.chars().next()
    };
    let others = OTHERS.iter().find(|(other, _)| *other == sign);
    others.map(|(_, ascii)| *ascii).or_else(drawn)
}

/// A text with ASCII in the place of signs; letters of any script stay.
#[must_use]
pub fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| stand_in(c).unwrap_or(c)).collect()
}

impl Glyph {
    /// The sign where the terminal shows all.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        self.sign
    }

    /// The sign as this terminal can show it.
    #[must_use]
    pub const fn show(self, charset: Charset) -> &'static str {
        match charset {
            Charset::Unicode => self.sign,
            Charset::Ascii => self.ascii,
        }
    }

    /// The sign of a gate status; only what is certain has the tick.
    #[must_use]
    pub const fn gate(status: GateStatus) -> Self {
        match status {
            GateStatus::ReadyToResume => Self::READY,
            GateStatus::Verified => Self::PASS,
            GateStatus::FalseSuccess | GateStatus::InvalidLineage => Self::FAIL,
            GateStatus::RestoreUncertain | GateStatus::Unverified => Self::UNCERTAIN,
            GateStatus::EffectsUnreconciled
            | GateStatus::NeedsApproval
            | GateStatus::ConfigUnpinned => Self::HOLD,
        }
    }

    /// The sign of a run status. None is the tick: that a run is done says nothing about its answer.
    #[must_use]
    pub const fn run(status: RunStatus) -> Self {
        match status {
            RunStatus::Planned => Self::MISSING,
            RunStatus::Held => Self::HOLD,
            RunStatus::Running => Self::RUNNING,
            RunStatus::Done => Self::DONE,
            RunStatus::Failed => Self::FAIL,
            RunStatus::Stopped => Self::STOPPED,
            RunStatus::Interrupted => Self::UNCERTAIN,
        }
    }

    /// The sign of a restored state key.
    #[must_use]
    pub const fn restore(result: RestoreResult) -> Self {
        match result {
            RestoreResult::Exact => Self::PASS,
            RestoreResult::Drifted | RestoreResult::Untested => Self::UNCERTAIN,
            RestoreResult::Missing => Self::MISSING,
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::CellWidth;

    use super::*;
    use crate::ui::role::{GATE_STATUSES, RUN_STATUSES};

    #[test]
    fn every_sign_is_one_cell_and_has_a_word() {
        for glyph in Glyph::ALL {
            assert_eq!(glyph.sign.cell_width(), 1, "{}", glyph.sign);
            assert!(glyph.ascii.len() == 1 && glyph.ascii.is_ascii());
            assert!(!glyph.word.is_empty());
        }
    }

    #[test]
    fn signs_are_told_apart() {
        for (at, one) in Glyph::ALL.iter().enumerate() {
            for other in &Glyph::ALL[at + 1..] {
                assert_ne!(one.sign, other.sign);
                assert_ne!(one.ascii, other.ascii, "{} and {}", one.word, other.word);
                assert_ne!(one.word, other.word);
            }
        }
    }

    #[test]
    fn only_verified_has_the_tick() {
        for charset in [Charset::Unicode, Charset::Ascii] {
            let tick = Glyph::PASS.show(charset);
            for status in GATE_STATUSES {
                let ticked = Glyph::gate(status).show(charset) == tick;
                assert_eq!(ticked, status == GateStatus::Verified, "{}", status.name());
            }
            for status in RUN_STATUSES {
                assert_ne!(Glyph::run(status).show(charset), tick, "{}", status.name());
            }
        }
    }

    #[test]
    fn the_locale_decides() {
        let table: [(&[(&str, &str)], Charset); 5] = [
            (&[], Charset::Unicode),
            (&[("LANG", "de_DE.UTF-8")], Charset::Unicode),
            (&[("LANG", "C.utf8"), ("LC_ALL", "")], Charset::Unicode),
            (&[("LANG", "C")], Charset::Ascii),
            (
                &[("LC_ALL", "POSIX"), ("LANG", "en_GB.UTF-8")],
                Charset::Ascii,
            ),
        ];
        for (env, charset) in table {
            let var = |name: &str| {
                env.iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(Charset::from_env(var), charset, "{env:?}");
        }
    }
}
