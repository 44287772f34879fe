//! Reads a lesson's file and tells every mistake in it, each with its line.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::{command, spell};
use super::lesson::{Condition, Deed, GATES, Hidden, Lesson, Part, Place, Run, STYLES, VERDICTS};

/// Something wrong in a lesson's file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong and what to write.
    pub text: String,
}

/// What could be read of a lesson's file.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The lesson, if nothing is wrong in its file.
    pub lesson: Option<Lesson>,
    /// Its run and the line that names it, whatever else is wrong.
    pub run: Option<(Run, usize)>,
    /// What completes its parts, by their numbers, as far as it can be understood.
    pub conditions: Vec<(usize, Condition)>,
    /// What is wrong.
    pub mistakes: Vec<Mistake>,
}

const LESSON: [&str; 8] = [
    "name", "title", "about", "sample", "log", "hide", "end", "part",
];
const PART: [&str; 7] = ["title", "text", "task", "done", "hints", "after", "hide"];
const DEEDS: [&str; 9] = [
    "visit", "predict", "edit", "run", "verdict", "held", "passed", "compare", "look",
];
const DONE: [&str; 11] = [
    "visit", "predict", "edit", "run", "verdict", "held", "passed", "compare", "look", "at",
    "style",
];

/// Reads a file.
#[must_use]
pub fn read(text: &str) -> Reading {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader {
        text,
        run: None,
        conditions: Vec::new(),
        mistakes: Vec::new(),
    };
    for error in &errors {
        let at = error.span().map_or(0, |span| span.start);
        reader.wrong(at, format!("no TOML: {}", error.message()));
    }
    // What follows from broken TOML would only repeat it.
    let lesson = errors.is_empty().then(|| reader.lesson(table.get_ref()));
    let mut mistakes = reader.mistakes;
    mistakes.sort();
    mistakes.dedup();
    Reading {
        lesson: lesson.flatten().filter(|_| mistakes.is_empty()),
        run: reader.run,
        conditions: reader.conditions,
        mistakes,
    }
}

/// What is most like a misspelt word, as a question; else all that there is.
pub(super) fn meant<'a>(asked: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let likeness = |word: &str| similar::TextDiff::from_chars(asked, word).ratio();
    let best = known
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match best {
        Some(best) if likeness(best) >= 0.6 => format!("did you mean '{best}'?"),
        _ => format!("there are {}", known.join(", ")),
    }
}

struct Reader<'t> {
    text: &'t str,
    run: Option<(Run, usize)>,
    conditions: Vec<(usize, Condition)>,
    mistakes: Vec<Mistake>,
}

type Table<'t> = DeTable<'t>;
type Value<'t> = Spanned<DeValue<'t>>;

impl Reader<'_> {
    fn line(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or(self.text);
        before.matches('\n').count() + 1
    }

    fn wrong(&mut self, at: usize, text: impl Into<String>) {
        let line = self.line(at);
        self.mistakes.push(Mistake {
            line,
            text: text.into(),
        });
    }

    /// Tells keys that mean nothing.
    fn only(&mut self, table: &Table<'_>, whose: &str, known: &[&str]) {
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let meant = meant(name, known.iter().copied());
                self.wrong(
                    key.span().start,
                    format!("{whose} has no key '{name}': {meant}"),
                );
            }
        }
    }

    /// A text that may be missing, never empty.
    fn optional(&mut self, table: &Table<'_>, whose: &str, key: &str) -> Option<String> {
        let value = table.get(key)?;
        match value.get_ref().as_str().map(str::trim) {
            Some("") => self.wrong(
                value.span().start,
                format!("{whose}: '{key}' is empty: write it or leave it out"),
            ),
            Some(text) => {
                self.commands(text, whose, value.span().start);
                return Some(text.to_owned());
            }
            None => self.wrong(
                value.span().start,
                format!("{whose}: '{key}' must be a text in quotation marks"),
            ),
        }
        None
    }

    /// Tells commands that a text names and that are none.
    fn commands(&mut self, text: &str, whose: &str, at: usize) {
        for name in spell::named(text).filter(|name| spell::command(name).is_none()) {
            let ids: Vec<String> = command::table().iter().map(|row| row.id.name()).collect();
            let meant = meant(name, ids.iter().map(String::as_str));
            self.wrong(at, format!("{whose}: ‹{name}› names no command: {meant}"));
        }
    }

    /// A text that must be there.
    fn needed(&mut self, table: &Table<'_>, whose: &str, key: &str, at: usize) -> Option<String> {
        if !table.contains_key(key) {
            self.wrong(at, format!("{whose} has no '{key}': add {key} = \"…\""));
        }
        self.optional(table, whose, key)
    }

    fn lesson(&mut self, table: &Table<'_>) -> Option<Lesson> {
        self.only(table, "the lesson", &LESSON);
        let [name, title, about, end] =
            ["name", "title", "about", "end"].map(|key| self.needed(table, "the lesson", key, 0));
        let name_line = table
            .get("name")
            .map_or(1, |value| self.line(value.span().start));
        if let Some(name) = &name
            && !name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        {
            let at = table.get("name").map_or(0, |value| value.span().start);
            self.wrong(at, format!("the name '{name}' has other signs than a–z, 0–9 and -: it is typed after dover learn"));
        }
        let run = match (table.get("sample"), table.get("log")) {
            (Some(_), None) => self
                .optional(table, "the lesson", "sample")
                .map(Run::Sample),
            (None, Some(_)) => self.optional(table, "the lesson", "log").map(Run::Log),
            (None, None) => {
                self.wrong(
                    0,
                    "the lesson has no run: add sample = \"night-picture\" or log = \"FILE\"",
                );
                None
            }
            (Some(_), Some(log)) => {
                self.wrong(
                    log.span().start,
                    "the lesson has both a sample and a log: leave one out",
                );
                None
            }
        };
        let run_line = table
            .get("sample")
            .or(table.get("log"))
            .map_or(1, |value| self.line(value.span().start));
        self.run = run.clone().map(|run| (run, run_line));
        let hide = self.hidden(table, "the lesson").unwrap_or_default();
        let parts = match table
            .get("part")
            .map(|value| (value, value.get_ref().as_array()))
        {
            Some((_, Some(array))) => {
                let parts: Vec<_> = array
                    .iter()
                    .enumerate()
                    .map(|(i, part)| self.part(i + 1, part, hide))
                    .collect();
                parts.into_iter().collect()
            }
            Some((value, None)) => {
                self.wrong(
                    value.span().start,
                    "'part' must be written as [[part]], once for each part",
                );
                None
            }
            None => {
                self.wrong(
                    0,
                    "the lesson has no part: add [[part]] with title, text, task, done and hints",
                );
                None
            }
        };
        Some(Lesson {
            name: name?,
            title: title?,
            about: about?,
            run: run?,
            parts: parts?,
            end: end?,
            line: name_line,
        })
    }

    fn part(&mut self, number: usize, value: &Value<'_>, hide: Hidden) -> Option<Part> {
        let whose = &format!("part {number}");
        let at = value.span().start;
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(at, format!("{whose} must be a table: write [[part]]"));
            return None;
        };
        self.only(table, whose, &PART);
        let [title, text, task] =
            ["title", "text", "task"].map(|key| self.needed(table, whose, key, at));
        let after = self.optional(table, whose, "after");
        let hints = self.texts(table, whose, "hints");
        if hints.as_ref().is_none_or(Vec::is_empty) {
            let at = table.get("hints").map_or(at, |value| value.span().start);
            self.wrong(
                at,
                format!(
                    "{whose} has no hint: add hints = [\"…\"], from a nudge to the keys themselves"
                ),
            );
        }
        let hide = self.hidden(table, whose).unwrap_or(hide);
        let done = if let Some(value) = table.get("done") {
            self.condition(whose, value)
        } else {
            self.wrong(
                at,
                format!(
                    "{whose} has no 'done', so it could never be completed: add done = {{ … }}"
                ),
            );
            None
        };
        self.conditions
            .extend(done.clone().map(|done| (number, done)));
        Some(Part {
            title: title?,
            text: text?,
            task: task?,
            done: done?,
            hints: hints?,
            after,
            hide,
        })
    }

    fn texts(&mut self, table: &Table<'_>, whose: &str, key: &str) -> Option<Vec<String>> {
        let value = table.get(key)?;
        let texts: Option<Vec<String>> = value.get_ref().as_array().and_then(|array| {
            let texts = array.iter().map(|one| {
                let text = one.get_ref().as_str().map(str::trim);
                self.commands(text.unwrap_or_default(), whose, one.span().start);
                text.filter(|text| !text.is_empty()).map(str::to_owned)
            });
            texts.collect()
        });
        if texts.is_none() {
            self.wrong(
                value.span().start,
                format!("{whose}: '{key}' must be a list of texts: [\"…\", \"…\"]"),
            );
        }
        texts
    }

    fn hidden(&mut self, table: &Table<'_>, whose: &str) -> Option<Hidden> {
        let names = self.texts(table, whose, "hide")?;
        let at = table.get("hide")?.span().start;
        let mut hidden = Hidden::default();
        for name in names {
            if !Hidden::NAMES.contains(&name.as_str()) {
                let meant = meant(&name, Hidden::NAMES);
                self.wrong(
                    at,
                    format!("{whose}: nothing named '{name}' can be hidden: {meant}"),
                );
            }
            hidden.hide(&name);
        }
        Some(hidden)
    }

    fn condition(&mut self, whose: &str, value: &Value<'_>) -> Option<Condition> {
        let at = value.span().start;
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(
                at,
                format!("{whose}: 'done' must be a table, such as done = {{ visit = 3 }}"),
            );
            return None;
        };
        self.only(table, &format!("{whose}: 'done'"), &DONE);
        let named: Vec<&str> = DEEDS
            .into_iter()
            .filter(|deed| table.contains_key(*deed))
            .collect();
        let [name] = named.as_slice() else {
            let known = table
                .keys()
                .all(|key| DONE.contains(&key.get_ref().as_ref()));
            if named.len() > 1 {
                self.wrong(
                    at,
                    format!(
                        "{whose}: 'done' names {}: one deed completes a part",
                        named.join(" and ")
                    ),
                );
            } else if known {
                self.wrong(
                    at,
                    format!(
                        "{whose}: 'done' names no deed: there are {}",
                        DEEDS.join(", ")
                    ),
                );
            }
            return None;
        };
        let said = table.get(*name)?;
        let deed = self.deed(whose, name, said);
        let own_steps = matches!(*name, "visit" | "predict");
        let steps = if own_steps {
            Some(said)
        } else {
            table.get("at")
        };
        if own_steps && let Some(more) = table.get("at") {
            self.wrong(
                more.span().start,
                format!("{whose}: {name} has its steps already: leave 'at' out"),
            );
        }
        let range = match steps {
            Some(value) => self.steps(whose, value).map(Some),
            None => Some(None),
        };
        let (deed, range) = (deed?, range?);
        if range.is_some() && matches!(deed, Deed::Compare | Deed::Look(_)) {
            self.wrong(at, format!("{whose}: {name} knows no step: leave 'at' out"));
        }
        let style = match table.get("style") {
            Some(style) => self.word(whose, "style", style, &STYLES),
            None if deed == Deed::Edit => self.word(whose, "edit", said, &STYLES),
            None => None,
        };
        let styled = matches!(
            deed,
            Deed::Run { baseline: false } | Deed::Verdict(_) | Deed::Held(_) | Deed::Passed(_)
        );
        if let Some(more) = table.get("style")
            && !styled
        {
            self.wrong(
                more.span().start,
                format!("{whose}: 'style' goes with run, verdict, held and passed only"),
            );
        }
        Some(Condition {
            deed,
            at: range,
            style,
            line: self.line(at),
        })
    }

    fn deed(&mut self, whose: &str, name: &str, said: &Value<'_>) -> Option<Deed> {
        let gates = GATES.map(|gate| (gate, gate));
        Some(match name {
            "visit" => Deed::Visit,
            "predict" => Deed::Predict,
            "edit" => {
                self.word(whose, name, said, &STYLES)?;
                Deed::Edit
            }
            "run" => Deed::Run {
                baseline: self.word(whose, name, said, &[("baseline", true), ("edit", false)])?,
            },
            "verdict" => Deed::Verdict(self.word(whose, name, said, &VERDICTS)?),
            "held" => Deed::Held(self.word(whose, name, said, &gates)?),
            "passed" if said.get_ref().as_str() == Some("all") => Deed::Passed(None),
            "passed" => Deed::Passed(Some(self.word(whose, name, said, &gates)?)),
            "look" => Deed::Look(self.word(whose, name, said, &Place::ALL)?),
            _ => {
                if said.get_ref().as_bool() != Some(true) {
                    self.wrong(said.span().start, format!("{whose}: write {name} = true"));
                    return None;
                }
                Deed::Compare
            }
        })
    }

    /// One of a few words.
    fn word<T: Copy>(
        &mut self,
        whose: &str,
        key: &str,
        value: &Value<'_>,
        known: &[(&str, T)],
    ) -> Option<T> {
        let said = value.get_ref().as_str().unwrap_or_default();
        let found = known.iter().find(|(word, _)| *word == said);
        if found.is_none() {
            let meant = meant(said, known.iter().map(|(word, _)| *word));
            self.wrong(
                value.span().start,
                format!("{whose}: '{said}' is no {key}: {meant}"),
            );
        }
        found.map(|(_, meaning)| *meaning)
    }

    /// A step, or the first and the last of some.
    fn steps(&mut self, whose: &str, value: &Value<'_>) -> Option<(usize, usize)> {
        let number = |value: &DeValue<'_>| {
            let digits = value.as_integer()?;
            usize::from_str_radix(digits.as_str(), digits.radix()).ok()
        };
        let found = match value.get_ref() {
            DeValue::Array(array) => match array
                .iter()
                .map(|one| number(one.get_ref()))
                .collect::<Option<Vec<_>>>()
            {
                Some(both) => match both.as_slice() {
                    [first, last] => Some((*first, *last)),
                    _ => None,
                },
                None => None,
            },
            one => number(one).map(|step| (step, step)),
        };
        let Range { start, .. } = value.span();
        match found {
            None => self.wrong(start, format!("{whose}: steps are a number, such as 18, or the first and the last, such as [15, 18]")),
            Some((first, last)) if first > last => {
                self.wrong(start, format!("{whose}: the steps {first} to {last} run backwards: write [{last}, {first}]"));
            }
            Some(_) => return found,
        }
        None
    }
}
