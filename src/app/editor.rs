//! The editor of one step: the original stays beside the text. Nothing typed is lost: what is not forked stays as a draft.
//!
//! Nothing of the original is lost either: text that is not touched stays as the log has it, whatever a terminal would make of it, and
//! the screen shows signs for what cannot be seen.

use ratatui_textarea::{CursorMove, Input, Key as Pressed, TextArea, WrapMode};

use super::key::{Code, Key};
use super::live::For;
use super::unsent::Draft;
use crate::model::{BranchId, Step};
use crate::pipeline::Tests;

/// State of the editor.
#[derive(Debug)]
pub struct Editor {
    /// The branch edited.
    pub branch: BranchId,
    /// The step as the branch has it.
    pub original: Step,
    /// Every line of the original ends as some systems end lines, and so do those of the text.
    crlf: bool,
    /// The text.
    pub area: TextArea<'static>,
    /// Whether keys are text.
    pub typing: bool,
    /// What is written for a live run; none: an edit for a fork.
    pub live: Option<For>,
    /// The hypothesis that the edit tests.
    pub tests: Option<Tests>,
}

impl Editor {
    /// The step that it edits.
    #[must_use]
    pub fn place(&self) -> (BranchId, usize) {
        (self.branch.clone(), self.original.index)
    }

    /// What it holds.
    #[must_use]
    pub fn draft(&self) -> Draft {
        Draft {
            text: self.text(),
            tests: self.tests.clone(),
        }
    }

    /// Opens a step, with the draft if there is one. The cursor stands at the end.
    #[must_use]
    pub fn new(branch: BranchId, original: Step, draft: Option<&str>) -> Self {
        let ends = original.text.matches('\n').count();
        let crlf = ends > 0 && original.text.matches("\r\n").count() == ends;
        let area = area_of(&unix(draft.unwrap_or(&original.text), crlf));
        Self {
            branch,
            original,
            crlf,
            area,
            typing: true,
            live: None,
            tests: None,
        }
    }

    /// The text as it stands.
    #[must_use]
    pub fn text(&self) -> String {
        self.area
            .lines()
            .join(if self.crlf { "\r\n" } else { "\n" })
    }

    /// Whether the text differs from the original.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.text() != self.original.text
    }

    /// Puts another text in, as the external editor gave it; undo brings the old one back.
    pub fn replace(&mut self, text: &str) {
        self.area.select_all();
        self.area.cut();
        self.area.insert_str(unix(text, self.crlf));
    }

    /// Inserts what was pasted.
    pub fn paste(&mut self, text: &str) {
        self.area.insert_str(tidy(text));
    }

    /// Takes a key as text. Where the text area has keys of its own that mean something else in every other line, it does not get them.
    pub fn press(&mut self, key: Key) {
        if key.ctrl && key.code == Code::Char('u') {
            self.area.delete_line_by_head();
            return;
        }
        if key.ctrl && key.code == Code::Char('z') {
            self.area.undo();
            return;
        }
        let pressed = match key.code {
            Code::Char(c) => Pressed::Char(c),
            Code::Enter => Pressed::Enter,
            Code::Esc => Pressed::Esc,
            Code::Tab => Pressed::Tab,
            Code::Backspace => Pressed::Backspace,
            Code::Delete => Pressed::Delete,
            Code::Up => Pressed::Up,
            Code::Down => Pressed::Down,
            Code::Left => Pressed::Left,
            Code::Right => Pressed::Right,
            Code::PageUp => Pressed::PageUp,
            Code::PageDown => Pressed::PageDown,
            Code::Home => Pressed::Home,
            Code::End => Pressed::End,
            Code::F(n) => Pressed::F(n),
        };
        self.area.input(Input {
            key: pressed,
            ctrl: key.ctrl,
            alt: key.alt,
            shift: key.shift,
        });
    }
}

fn area_of(text: &str) -> TextArea<'static> {
    let mut area = TextArea::from(text.split('\n'));
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}

/// Lines that end as they do here; a line end that stands out stays.
fn unix(text: &str, crlf: bool) -> String {
    if crlf {
        text.replace("\r\n", "\n")
    } else {
        text.to_owned()
    }
}

/// What was pasted: line ends become `\n`; what a terminal would obey or hide goes, for nobody meant to write it.
fn tidy(text: &str) -> String {
    let unix = text.replace("\r\n", "\n").replace('\r', "\n");
    unix.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .filter(|c| !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn editor(text: &str, draft: Option<&str>) -> Editor {
        let original = Step {
            text: text.into(),
            ..Step::default()
        };
        Editor::new(BranchId::main("s"), original, draft)
    }

    #[test]
    fn only_a_real_change_counts() {
        let mut editor = editor("Click\r\n\u{1b}[31m'2015'", None);
        assert!(!editor.changed());
        assert_eq!(editor.text(), "Click\r\n\u{1b}[31m'2015'");
        editor.press(Key::char('!'));
        assert!(editor.changed());
        editor.press(Key::of(Code::Backspace));
        assert!(!editor.changed());
    }

    #[test]
    fn no_character_of_the_original_is_lost() {
        for text in [
            "a\u{202e}b\u{202c}\tc\u{200b}",
            "one\r\ntwo\r\n",
            "one\r\ntwo\nthree\rfour\n",
            "\u{feff}x\u{7}",
        ] {
            let mut editor = editor(text, None);
            assert!(!editor.changed(), "{text:?}");
            editor.press(Key::char('!'));
            editor.press(Key::ctrl('z'));
            assert_eq!(editor.text(), text);
            // As an editor outside gives it back.
            if !text.contains("\ntwo\n") {
                editor.replace(text);
                assert!(!editor.changed(), "{text:?}");
            }
        }
    }

    #[test]
    fn keys_of_the_line_are_those_of_every_terminal() {
        let mut editor = editor("one\ntwo words", None);
        editor.press(Key::ctrl('u'));
        assert_eq!(editor.text(), "one\n");
        editor.press(Key::ctrl('z'));
        assert_eq!(editor.text(), "one\ntwo words");
        editor.press(Key::ctrl('w'));
        assert_eq!(editor.text(), "one\ntwo ");
        editor.press(Key::ctrl('z'));
        editor.press(Key::ctrl('r'));
        assert_eq!(editor.text(), "one\ntwo ");
    }

    #[test]
    fn a_draft_comes_back_and_a_paste_is_harmless() {
        let mut editor = editor("a", Some("a b"));
        assert!(editor.changed());
        editor.paste("\u{202e}c\r\nd\u{7}");
        assert_eq!(editor.text(), "a bc\nd");
        editor.replace("x");
        assert_eq!(editor.text(), "x");
    }
}
