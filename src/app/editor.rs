//! The editor of one step: the original stays beside the text. Nothing typed is lost: what is not forked stays as a draft.

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
    /// What the text was when it was first opened, as the text area gives it back.
    seed: String,
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
        let seed = tidy(&original.text);
        let area = area_of(draft.unwrap_or(&seed));
        Self {
            branch,
            original,
            seed,
            area,
            typing: true,
            live: None,
            tests: None,
        }
    }

    /// The text as it stands.
    #[must_use]
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Whether the text differs from the original.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.text() != self.seed
    }

    /// Puts another text in, as the external editor gave it; undo brings the old one back.
    pub fn replace(&mut self, text: &str) {
        self.area.select_all();
        self.area.cut();
        self.area.insert_str(tidy(text));
    }

    /// Inserts what was pasted.
    pub fn paste(&mut self, text: &str) {
        self.area.insert_str(tidy(text));
    }

    /// Takes a key as text.
    pub fn press(&mut self, key: Key) {
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

/// Line ends become `\n`; what a terminal would obey or hide goes, for the operator must see all that is sent.
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
        assert_eq!(editor.text(), "Click\n[31m'2015'");
        editor.press(Key::char('!'));
        assert!(editor.changed());
        editor.press(Key::of(Code::Backspace));
        assert!(!editor.changed());
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
