//! `dover eval PATH…`: debugs the sessions or reads the results below, and gives the figures; `dover eval merge` puts shards together.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::figures::Told;
use crate::cli::args::Eval;
use crate::cli::context::{self, Context};
use crate::cli::debug::{Watch, carry_out};
use crate::cli::error::{CliError, Exit};
use crate::model::{BranchId, DebugReport, DebugSettings};
use crate::pipeline::eval::files;
use crate::pipeline::eval::results::{Judged, Results, Settings, Unread, merge as put_together};
use crate::pipeline::{self, DebugRequest, Jobs, ModelSettings, NewEffects};

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Eval) -> Result<Exit, CliError> {
    let models = ModelSettings {
        allowed: args.allow.allowed(),
        ..context.models(&args.analysing.spending)?
    };
    let name = args
        .analysing
        .analyst
        .clone()
        .unwrap_or_else(|| "offline".to_owned());
    let all = listed(&args.paths)?;
    let mut results = Results {
        shard: args.shard,
        files: all.len(),
        settings: Some(Settings {
            analyst: name,
            runtime: args.runtime.clone(),
            runs: args.runs.map(usize::from),
            rounds: usize::from(args.rounds),
            seed: args.seed,
        }),
        results: Vec::new(),
        unread: Vec::new(),
    };
    let chosen: Vec<&Found> = all
        .iter()
        .enumerate()
        .filter(|(place, _)| args.shard.is_none_or(|shard| shard.has(*place)))
        .map(|(_, found)| found)
        .collect();
    for (at, found) in chosen.iter().enumerate() {
        tell(&format!("{} of {}: {}", at + 1, chosen.len(), found.file));
        match one(context, args, &models, found) {
            Ok(read) => results.results.extend(read),
            // Whoever breaks off twice wants to leave.
            Err(CliError::BrokenOff) => return Err(CliError::BrokenOff),
            Err(error) => results.unread.push(Unread {
                file: found.file.clone(),
                reason: error.to_string(),
            }),
        }
    }
    tell("");
    if results.results.is_empty() && !chosen.is_empty() {
        let why = results
            .unread
            .first()
            .map_or_else(String::new, |one| format!(" {}: {}", one.file, one.reason));
        return Err(CliError::Usage(format!("nothing could be evaluated.{why}")));
    }
    give(context, results, args.out.as_deref(), args.markdown)
}

/// Puts shards together.
pub fn merge(
    context: &mut Context,
    files: &[PathBuf],
    out: Option<&Path>,
    markdown: bool,
) -> Result<Exit, CliError> {
    let mut parts = Vec::new();
    for file in files {
        let text = read(file)?;
        let part: Results = serde_json::from_str(&text).map_err(|error| {
            CliError::Usage(format!(
                "{}: no result of dover eval --out: {error}",
                file.display()
            ))
        })?;
        parts.push((file.display().to_string(), part));
    }
    let whole = put_together(parts).map_err(CliError::Usage)?;
    give(context, whole, out, markdown)
}

/// Writes and prints results.
fn give(
    context: &mut Context,
    results: Results,
    out: Option<&Path>,
    markdown: bool,
) -> Result<Exit, CliError> {
    if let Some(path) = out {
        let text = serde_json::to_string(&results).map_err(io::Error::from)?;
        std::fs::write(path, text + "\n").map_err(|source| CliError::File {
            path: path.to_owned(),
            source,
            mend: "Give --out a file that can be written",
        })?;
    }
    let told = Told::new(results);
    if markdown && !context.out.is_json() {
        context.out.raw(&told.markdown())?;
    } else {
        context.out.give(&told)?;
    }
    Ok(Exit::Done)
}

/// A file to be evaluated.
struct Found {
    path: PathBuf,
    /// Below what was named.
    file: String,
    set: String,
}

/// All files below the paths, sorted, each with its set: the directory that it lies in.
fn listed(paths: &[PathBuf]) -> Result<Vec<Found>, CliError> {
    let mut found = Vec::new();
    for path in paths {
        // A stored session or a sample may be named as well.
        if !path.exists() {
            found.push(Found {
                file: path.display().to_string(),
                set: "stored".to_owned(),
                path: path.clone(),
            });
            continue;
        }
        for file in files(path)? {
            let parent = file.parent().and_then(Path::file_name);
            found.push(Found {
                file: file
                    .strip_prefix(path)
                    .unwrap_or(&file)
                    .display()
                    .to_string(),
                set: parent.map_or_else(
                    || ".".to_owned(),
                    |name| name.to_string_lossy().into_owned(),
                ),
                path: file,
            });
        }
    }
    Ok(found)
}

/// The reports of one file: those that it holds, or that of the session it is, debugged in a store of its own.
fn one(
    context: &Context,
    args: &Eval,
    models: &ModelSettings,
    found: &Found,
) -> Result<Vec<Judged>, CliError> {
    let named = |report: DebugReport| Judged {
        set: found.set.clone(),
        file: found.file.clone(),
        report,
    };
    if found.path.is_file() {
        let text = std::fs::read_to_string(&found.path).unwrap_or_default();
        // A log of any other format has no such fields.
        if let Ok(report) = serde_json::from_str::<DebugReport>(&text) {
            return Ok(vec![named(report)]);
        }
        if let Ok(results) = serde_json::from_str::<Results>(&text) {
            return Ok(results.results);
        }
    }
    let (store, _folder) = context::temporary()?;
    let word = found
        .path
        .to_str()
        .ok_or_else(|| CliError::Usage("its name is not UTF-8".to_owned()))?;
    let (session, _) = pipeline::take_in(&store, word, &mut |_, _| true)?;
    let name = args.analysing.analyst.as_deref().unwrap_or("offline");
    let analyst = pipeline::analysts::choose(name, models, args.analysing.few_shot)?;
    let request = DebugRequest {
        settings: DebugSettings {
            branch: BranchId::main(&session),
            trials: None,
            runs: args.runs.map(usize::from),
            rounds: usize::from(args.rounds),
            seed: args.seed,
            analyst: analyst.name(),
            runtime: args.runtime.clone(),
            since: 0,
        },
        resume: false,
        operator: context.operator(),
        diagnostic: false,
        new_effects: NewEffects::Hold,
        propose: false,
    };
    let jobs = Jobs::new(usize::from(args.jobs));
    let report = carry_out(&store, models, analyst, &jobs, request, Watch::silent())?;
    // A session of which nothing could be run says why in its notes.
    Ok(vec![named(report)])
}

fn read(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|source| CliError::File {
        path: path.to_owned(),
        source,
        mend: "Give a file that dover eval --out wrote",
    })
}

/// One line that stands, for whoever watches.
fn tell(line: &str) {
    if io::stderr().is_terminal() {
        let end = if line.is_empty() { "" } else { " …" };
        // That nobody can be told is no reason to stop.
        let _ = write!(
            io::stderr(),
            "\r{}{end}\u{1b}[K",
            crate::model::clean_line(line)
        );
    }
}
