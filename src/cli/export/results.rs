//! `dover export --results DIR`: what a class did, a row for each exported session: attempts, styles of edit, verdicts, the first success.
//!
//! Each file is read into a store of its own that goes again. One that cannot be read is told on standard error and hides no other.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::put;
use crate::cli::args::{Export, Form};
use crate::cli::context::{self, Context};
use crate::cli::error::{CliError, Exit};
use crate::model::{Category, TOLD, Verdict, clean_line};
use crate::pipeline::{self, Outcome};

const COLUMNS: [&str; 6] = [
    "learner",
    "session",
    "attempts",
    "styles of edit",
    "verdicts",
    "first validated",
];

/// Runs the subcommand.
pub(super) fn run(context: &mut Context, folder: &Path, args: &Export) -> Result<Exit, CliError> {
    if !matches!(args.form, Form::Md | Form::Csv) {
        return Err(CliError::Usage(
            "a class is a table: give --results DIR with --as md or csv".to_owned(),
        ));
    }
    let mut rows = Vec::new();
    let mut exit = Exit::Done;
    for file in files(folder)? {
        match row(&file) {
            Ok(row) => rows.push(row),
            Err(error) => {
                exit = Exit::Usage;
                let line = format!("dover: {error}");
                // Nobody is left to be told.
                let _ = writeln!(std::io::stderr(), "{}", clean_line(&line));
            }
        }
    }
    if rows.is_empty() {
        return Err(CliError::Usage(format!(
            "{}: no session to tell of. Put files there that `dover export S --as jsonl --out NAME.jsonl` wrote, one for each learner",
            folder.display()
        )));
    }
    let csv = args.form == Form::Csv;
    put(context, args, |out| {
        if csv {
            writeln!(out, "{}", COLUMNS.join(","))?;
        } else {
            writeln!(out, "| {} |", COLUMNS.join(" | "))?;
            writeln!(out, "|{}", "---|".repeat(COLUMNS.len()))?;
        }
        for row in rows {
            let cells = row.map(|cell| if csv { quoted(&cell) } else { barred(&cell) });
            if csv {
                writeln!(out, "{}", cells.join(","))?;
            } else {
                writeln!(out, "| {} |", cells.join(" | "))?;
            }
        }
        Ok(())
    })?;
    Ok(exit)
}

/// The exported files of a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let unreadable = |source| CliError::File {
        path: folder.to_owned(),
        source,
        mend: "Give a directory of exported sessions",
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// What one learner did in one session.
fn row(file: &Path) -> Result<[String; 6], CliError> {
    let (store, _folder) = context::temporary()?;
    let session = context::take_in(&store, &file.to_string_lossy())?;
    let outcomes = pipeline::outcomes(&store, &session)?;
    let tried: Vec<&Outcome> = outcomes
        .iter()
        .filter(|one| one.intervention.category != Category::None)
        .collect();
    let styles = tried.iter().map(|one| {
        one.intervention
            .class
            .map_or(one.intervention.category.name(), |class| class.name())
    });
    // An edit that gives the answer away proves nothing, nor does what only a file tells: both are counted apart.
    let verdicts: Vec<String> = tried
        .iter()
        .map(|one| {
            let name = match one.verdict {
                Some(Verdict::Validated) if one.leak().is_some() => "validated by an answer leak",
                Some(verdict) => verdict.name(),
                None => "no verdict",
            };
            let told = if one.told() {
                format!(" ({TOLD})")
            } else {
                String::new()
            };
            format!("{name}{told}")
        })
        .collect();
    let first = tried.iter().position(|one| {
        one.verdict == Some(Verdict::Validated) && one.leak().is_none() && !one.told()
    });
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok([
        name.into_owned(),
        session,
        tried.len().to_string(),
        counted(styles),
        counted(verdicts.iter().map(String::as_str)),
        first.map_or("never".to_owned(), |at| format!("attempt {}", at + 1)),
    ])
}

fn counted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    parts.join(", ")
}

/// A cell of RFC 4180. One that a spreadsheet would take for a formula is made a text.
fn quoted(cell: &str) -> String {
    let cell = clean_line(cell);
    let guard = if cell.starts_with(['=', '+', '-', '@']) {
        "'"
    } else {
        ""
    };
    if cell.contains(['"', ',']) {
        format!("\"{guard}{}\"", cell.replace('"', "\"\""))
    } else {
        format!("{guard}{cell}")
    }
}

/// A cell of a Markdown table.
fn barred(cell: &str) -> String {
    clean_line(cell)
        .replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace('<', "&lt;")
}
