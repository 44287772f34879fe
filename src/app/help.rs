//! The key help: what the keys of the place below it do, those that work there now first.

use super::command::{self, Command, Context, Group};
use super::extent::Pane;
use super::{App, Prompt, Purpose, View};

/// What a line of the help is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Works where the person was, and now.
    Now,
    /// Belongs to that place, and does not work now.
    Later,
    /// The text's own keys, while typing.
    Text,
    /// Works in other places.
    Elsewhere(Group),
}

impl Part {
    /// The heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Now => "Here, now",
            Self::Later => "Here, at another time",
            Self::Text => "In a text, while typing",
            Self::Elsewhere(group) => group.title(),
        }
    }
}

/// The text's own keys, which are those of every line in a terminal.
const TEXT: [(&str, &str); 8] = [
    ("Home End", "To the line's beginning or end"),
    ("Ctrl-U", "Deletes to the line's beginning"),
    ("Ctrl-K", "Deletes to the line's end"),
    ("Ctrl-W", "Deletes the word before the cursor"),
    ("Alt-D", "Deletes the word after the cursor"),
    ("Ctrl-Z", "Takes the last change back"),
    ("Ctrl-R", "Does it again"),
    ("Ctrl-Y", "Puts in what was deleted last"),
];

/// State of the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// The place that it lies over.
    under: Context,
    /// For each row of the table whether it works there now.
    works: Vec<bool>,
    /// Words that narrow it.
    pub words: String,
}

/// A line of the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Under which heading.
    pub part: Part,
    /// The keys.
    pub keys: String,
    /// What they do.
    pub doc: &'static str,
}

/// Shows the help over the place that has the keys.
pub(super) fn open(app: &mut App) {
    let under = app.place();
    let works = |row: &Command| row.contexts.contains(&under) && row.refused(app).is_none();
    let works = command::table().iter().map(works).collect();
    app.extents.rewind(Pane::Help);
    app.views.push(View::Help(Box::new(Help {
        under,
        works,
        words: String::new(),
    })));
}

/// Asks for words that narrow it.
pub(super) fn ask(app: &mut App) {
    if let Some(View::Help(help)) = app.views.last() {
        app.prompt = Some(Prompt::new(Purpose::Keys, help.words.clone()));
    }
}

/// Takes the words; they narrow it while they are typed.
pub(super) fn narrow(app: &mut App, words: &str) {
    if let Some(View::Help(help)) = app.views.last_mut() {
        words.clone_into(&mut help.words);
    }
    app.extents.rewind(Pane::Help);
}

impl Help {
    /// Its lines under their headings, the nearest first.
    #[must_use]
    pub fn lines(&self, app: &App) -> Vec<Told> {
        let mut told: Vec<Told> = Vec::new();
        let rows = command::table().iter();
        for (row, works) in rows.zip(&self.works) {
            let here = row.contexts.contains(&self.under);
            let (part, keys) = match (here, works) {
                (true, works) => {
                    let keys = app.keymap.keys(row, self.under);
                    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
                    let part = if *works { Part::Now } else { Part::Later };
                    (part, keys.join(" "))
                }
                (false, _) => (Part::Elsewhere(row.group), app.keymap.text(row)),
            };
            told.push(Told {
                part,
                keys,
                doc: row.doc,
            });
        }
        told.extend(TEXT.map(|(keys, doc)| Told {
            part: Part::Text,
            keys: keys.to_owned(),
            doc,
        }));
        let words = self.words.to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        told.retain(|line| {
            let text = format!("{} {}", line.keys, line.doc).to_lowercase();
            words.iter().all(|word| text.contains(word))
        });
        let editor = matches!(self.under, Context::Editor | Context::LiveEditor);
        let groups = command::by_group();
        told.sort_by_key(|line| match line.part {
            Part::Now => 0,
            Part::Text if editor => 1,
            Part::Later => 2,
            Part::Elsewhere(group) => {
                3 + groups
                    .iter()
                    .position(|(one, _)| *one == group)
                    .unwrap_or(0)
            }
            Part::Text => usize::MAX,
        });
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture::{self, press};

    fn help(app: &App) -> Vec<Told> {
        match app.views.last() {
            Some(View::Help(help)) => help.lines(app),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_works_now_is_told_first_and_what_is_refused_after_it() {
        let mut app = fixture::opened();
        press(&mut app, "?");
        let lines = help(&app);
        let part = |doc: &str| {
            lines
                .iter()
                .find(|line| line.doc.starts_with(doc))
                .unwrap()
                .part
        };
        assert_eq!(lines[0].part, Part::Now);
        assert_eq!(part("Edits the selected step"), Part::Now);
        // No lesson is played, nothing was searched.
        assert_eq!(part("Shows the lesson's page"), Part::Later);
        assert_eq!(part("Goes to the next step found"), Part::Later);
        assert_eq!(part("Plans one more run"), Part::Elsewhere(Group::Gates));
        let order: Vec<bool> = lines.iter().map(|line| line.part == Part::Now).collect();
        assert!(order.is_sorted_by(|a, b| a >= b));
        // What works at the gates depends on the gates, not on the help over them.
        let mut app = fixture::at_the_gates(true);
        press(&mut app, "?");
        let ready = help(&app);
        let run = ready
            .iter()
            .find(|line| line.doc.starts_with("Forks and runs"))
            .unwrap();
        assert_eq!(run.part, Part::Now);
    }

    #[test]
    fn it_is_narrowed_while_one_types_and_closed_by_its_own_key() {
        let mut app = fixture::opened();
        press(&mut app, "?/next fail");
        assert_eq!(app.context(), Context::Prompt);
        assert!(help(&app).iter().all(|line| line.doc.contains("fail")));
        press(&mut app, "⏎");
        let narrowed = help(&app).len();
        assert!((1..5).contains(&narrowed), "{narrowed}");
        press(&mut app, "/zzz⎋");
        assert_eq!(help(&app).len(), narrowed, "the words before");
        press(&mut app, "?");
        assert_eq!(app.context(), Context::Steps);
        press(&mut app, "e⎋?");
        let text = help(&app)
            .into_iter()
            .filter(|line| line.part == Part::Text);
        assert!(text.clone().any(|line| line.keys == "Ctrl-W"));
    }
}
