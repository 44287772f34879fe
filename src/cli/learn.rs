//! `dover learn`: lessons on the screen, and what is wrong in lessons that somebody writes.
//!
//! Learners work in a store of their own beside the usual one, so that nothing of anybody's is touched.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use include_dir::{Dir, include_dir};
use serde::Serialize;

use super::args::Learn;
use super::context::{self, Context};
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use super::screen;
use crate::app::learn::{Facts, Mistake, Offer, Reading, Run, check, read};
use crate::model::{Attempt, BranchId, SystemClock, clean_line};
use crate::pipeline::{self, Source};
use crate::store::Store;
use crate::term::First;

/// The lessons that the program carries, in the order of their files' names.
static LESSONS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/lessons");

/// A lesson's file as it was read.
struct Read {
    /// The file as it is named in messages.
    file: String,
    /// Where it is; none if the program carries it.
    path: Option<PathBuf>,
    it: Reading,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Learn) -> Result<Exit, CliError> {
    if let Some(path) = &args.check {
        return look_over(context, path);
    }
    let (mut all, start) = chosen(args.what.as_deref())?;
    settle(&mut all);
    if let Some(wrong) = all.iter().find(|one| !one.it.mistakes.is_empty()) {
        let told: Vec<String> = wrong
            .it
            .mistakes
            .iter()
            .map(|one| line(&wrong.file, one))
            .collect();
        return Err(CliError::Usage(format!(
            "the lesson cannot be played:\n{}",
            told.join("\n")
        )));
    }
    let store = store(context)?;
    let attempts = store.attempts()?;
    let offers: Vec<Offer> = all
        .into_iter()
        .filter_map(|one| offer(one, &attempts))
        .collect();
    let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    // Lessons are played on the drawn screen alone, which --plain asks not to see.
    if context.global.display.plain || !(start || terminal) {
        context.out.give(&Listed::from(offers))?;
        return Ok(Exit::Done);
    }
    screen::lessons(context, store, First::Lessons(offers, start))
}

/// The learners' store: beside the usual one, with `learn` in its name.
fn store(context: &Context) -> Result<Store, CliError> {
    let path = context.store_path()?.with_extension("learn.db");
    Ok(Store::open(&path, Arc::new(SystemClock))?)
}

/// The lessons that a word means, and whether the one is to be started at once.
fn chosen(what: Option<&str>) -> Result<(Vec<Read>, bool), CliError> {
    let Some(what) = what else {
        return Ok((built_in(), false));
    };
    let path = Path::new(what);
    if path.exists() {
        return Ok((files(path)?, path.is_file()));
    }
    let all = built_in();
    let names: Vec<String> = all
        .iter()
        .filter_map(|one| Some(one.it.lesson.as_ref()?.name.clone()))
        .collect();
    let found: Vec<Read> = all
        .into_iter()
        .filter(|one| {
            one.it
                .lesson
                .as_ref()
                .is_some_and(|lesson| lesson.name == what)
        })
        .collect();
    if found.is_empty() {
        return Err(CliError::Usage(format!(
            "there is no lesson '{what}' and no such file. There are {}",
            names.join(", ")
        )));
    }
    Ok((found, true))
}

fn built_in() -> Vec<Read> {
    let mut files: Vec<_> = LESSONS.files().collect();
    files.sort_by_key(|file| file.path());
    let texts = files
        .into_iter()
        .filter_map(|file| Some((file.path(), file.contents_utf8()?)));
    texts
        .map(|(path, text)| Read {
            file: path.display().to_string(),
            path: None,
            it: read(text),
        })
        .collect()
}

/// A file, or the `.toml` files of a directory.
fn files(path: &Path) -> Result<Vec<Read>, CliError> {
    let unreadable = |path: &Path, source| CliError::File {
        path: path.to_owned(),
        source,
        mend: "Name a lesson's file, or a directory of them, that can be read",
    };
    let mut found = vec![path.to_owned()];
    if path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|source| unreadable(path, source))?;
        found = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|end| end == "toml"))
            .collect();
        found.sort();
        if found.is_empty() {
            return Err(CliError::Usage(format!(
                "{}: there is no lesson in it: a lesson is a file NAME.toml, see docs/lessons.md",
                path.display()
            )));
        }
    }
    found
        .into_iter()
        .map(|path| {
            let text =
                std::fs::read_to_string(&path).map_err(|source| unreadable(&path, source))?;
            Ok(Read {
                file: path.display().to_string(),
                path: Some(path),
                it: read(&text),
            })
        })
        .collect()
}

/// Tells names that two lessons have.
fn settle(all: &mut [Read]) {
    let mut seen: Vec<(String, String)> = Vec::new();
    for one in all {
        let Some(lesson) = &one.it.lesson else {
            continue;
        };
        match seen.iter().find(|(name, _)| *name == lesson.name) {
            Some((name, file)) => one.it.mistakes.push(Mistake {
                line: lesson.line,
                text: format!(
                    "the name '{name}' is that of {file} already: give one of them another"
                ),
            }),
            None => seen.push((lesson.name.clone(), one.file.clone())),
        }
    }
}

fn offer(read: Read, attempts: &[Attempt]) -> Option<Offer> {
    let lesson = read.it.lesson?;
    let attempt = attempts
        .iter()
        .rev()
        .find(|attempt| attempt.lesson == lesson.name);
    Some(Offer {
        attempt: attempt.cloned(),
        file: read.path,
        lesson: Arc::new(lesson),
    })
}

#[derive(Serialize)]
struct Checked {
    lessons: usize,
    mistakes: Vec<Wrong>,
}

#[derive(Serialize)]
struct Wrong {
    file: String,
    line: usize,
    text: String,
}

fn look_over(context: &mut Context, path: &Path) -> Result<Exit, CliError> {
    if !path.exists() {
        return Err(CliError::Usage(format!(
            "{}: there is no such file or directory. Name a lesson's file, or a directory of them",
            path.display()
        )));
    }
    let mut all = files(path)?;
    settle(&mut all);
    let (store, _folder) = context::temporary()?;
    for one in &mut all {
        let more = played_on(&store, &one.it, one.path.as_deref());
        one.it.mistakes.extend(more);
        one.it.mistakes.sort();
    }
    let lessons = all.len();
    let mistakes: Vec<Wrong> = all
        .into_iter()
        .flat_map(|one| {
            let file = one.file;
            one.it.mistakes.into_iter().map(move |mistake| Wrong {
                file: file.clone(),
                line: mistake.line,
                text: mistake.text,
            })
        })
        .collect();
    let exit = if mistakes.is_empty() {
        Exit::Done
    } else {
        Exit::Held
    };
    context.out.give(&Checked { lessons, mistakes })?;
    Ok(exit)
}

/// What cannot be done on the lesson's run, or why there is none.
fn played_on(store: &Store, it: &Reading, file: Option<&Path>) -> Vec<Mistake> {
    let Some((run, line)) = &it.run else {
        return Vec::new();
    };
    facts(store, run, file).map_or_else(
        |error| {
            vec![Mistake {
                line: *line,
                text: error.to_string(),
            }]
        },
        |facts| check(&it.conditions, &facts),
    )
}

fn facts(store: &Store, run: &Run, file: Option<&Path>) -> Result<Facts, CliError> {
    let log;
    let (source, name) = match run {
        Run::Sample(name) => (Source::Sample(name), name),
        Run::Log(path) => {
            let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
            log = folder.join(path);
            (Source::Log(&log), path)
        }
    };
    let id = pipeline::copy(store, source, "lesson")?;
    let main = BranchId::main(&id);
    let steps = store.branch(&main)?.steps;
    let effects = store.effects(&main)?;
    Ok(Facts {
        name: name.clone(),
        session: store.session(&id)?,
        heads: store.heads(&main, 0..steps)?,
        trials: store.trials(&main)?,
        effects: effects
            .iter()
            .filter(|effect| effect.blocks())
            .map(|effect| effect.step)
            .collect(),
    })
}

fn line(file: &str, mistake: &Mistake) -> String {
    format!("{file}:{}: {}", mistake.line, mistake.text)
}

impl Answer for Checked {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        for Wrong { file, line, text } in &self.mistakes {
            // Never wrapped, for editors jump by such lines.
            let told = format!("{file}:{line}: {text}");
            out.raw(&format!("{}\n", clean_line(&told)))?;
        }
        let count = |count: usize, one: &str| super::text::count(count, one);
        let told = match self.mistakes.len() {
            0 => "no mistake".to_owned(),
            some => count(some, "mistake"),
        };
        out.row(
            Tone::Plain,
            &format!("{}, {told}", count(self.lessons, "lesson")),
        )
    }
}

/// The list without a screen.
#[derive(Serialize)]
struct Listed {
    lessons: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    title: String,
    about: String,
    parts: usize,
    done: usize,
    /// The last attempt.
    attempt: Option<Attempt>,
}

impl From<Vec<Offer>> for Listed {
    fn from(offers: Vec<Offer>) -> Self {
        let row = |offer: Offer| Row {
            name: offer.lesson.name.clone(),
            title: offer.lesson.title.clone(),
            about: offer.lesson.about.clone(),
            parts: offer.lesson.parts.len(),
            done: offer.attempt.as_ref().map_or(0, Attempt::done),
            attempt: offer.attempt,
        };
        Self {
            lessons: offers.into_iter().map(row).collect(),
        }
    }
}

impl Answer for Listed {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        for row in &self.lessons {
            out.row(Tone::Strong, &format!("{}  {}", row.name, row.title))?;
            out.row(
                Tone::Plain,
                &format!("  {} of {} parts done", row.done, row.parts),
            )?;
            out.para(2, &row.about)?;
        }
        out.row(
            Tone::Faint,
            "Lessons are played on the screen: in a terminal dover learn, or dover learn NAME, without --plain",
        )
    }
}
