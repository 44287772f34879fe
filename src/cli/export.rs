//! `dover export SESSION`: taken along as Markdown, HTML, JSONL or the picture of a screen; or as its framework's own state.
//!
//! The export goes to standard output or, whole, into a file. What was redacted is told on standard error, whatever the form.

mod picture;
mod results;
mod state;

use std::io::Write;

use serde_json::json;

use super::args::{Export, Form, Unlooked};
use super::context::{self, Context};
use super::error::{CliError, Exit};
use super::place;
use crate::export::{self, ExportError, Named, Redacted, Redaction, Redactor, Source};
use crate::model::BranchId;
use crate::store::Store;

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Export) -> Result<Exit, CliError> {
    check(args)?;
    if let Some(folder) = &args.results {
        return results::run(context, folder, args);
    }
    if args.form == Form::State {
        return state::run(context, args);
    }
    if args.form == Form::Csv {
        return Err(CliError::Usage(
            "a session is no table: --as csv goes with --results DIR. Give md, html, jsonl or svg"
                .to_owned(),
        ));
    }
    let store = context.store()?;
    let (session, branches) = chosen(&store, args)?;
    let redactor = Redactor::new(redaction(args)?)?;
    let mut source = Source::new(&store, &session, &branches, redactor)?;
    // What stands first tells what was taken out of what comes after it.
    source.look_through()?;
    let beside = beside(&store, &branches)?;
    let picture = match args.form {
        Form::Svg => picture::taken(context, args, &mut source, &beside)?,
        _ => String::new(),
    };
    let write = |out: &mut dyn Write| match args.form {
        Form::Jsonl => export::jsonl(out, &mut source),
        Form::Md => export::markdown(out, &mut source, &beside),
        Form::Html => export::html(out, &mut source, &beside),
        Form::Csv => Err(ExportError::Output(std::io::ErrorKind::Unsupported.into())),
        Form::Svg | Form::State => out.write_all(picture.as_bytes()).map_err(Into::into),
    };
    put(context, args, write)?;
    tell(context, source.redacted(), args.form);
    Ok(Exit::Done)
}

/// Writes to the file that was named, whole or not at all, else to standard output.
fn put(
    context: &mut Context,
    args: &Export,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
) -> Result<(), CliError> {
    place::put(&mut context.out, args.out.as_deref(), args.force, write)
}

/// Words that go with one form alone are refused with another: passed over, they would be believed.
fn check(args: &Export) -> Result<(), CliError> {
    let given = [
        (args.screen.is_some(), "--screen", Form::Svg, "svg"),
        (args.step.is_some(), "--step", Form::Svg, "svg"),
        (args.size.is_some(), "--size", Form::Svg, "svg"),
        (args.at.is_some(), "--at", Form::State, "state"),
    ];
    for (given, word, form, name) in given {
        if given && args.form != form {
            return Err(CliError::Usage(format!(
                "{word} goes with --as {name} alone. Leave it out, or add --as {name}"
            )));
        }
    }
    if args.session.is_none() && args.results.is_none() {
        return Err(CliError::Usage(
            "nothing is named to export. Give a SESSION (a file, a stored id or a branch), or --results DIR for the sheet of a class".to_owned(),
        ));
    }
    Ok(())
}

/// The session and the branches of it that were named; none stands for all.
fn chosen(store: &Store, args: &Export) -> Result<(String, Vec<BranchId>), CliError> {
    let word = args.session.as_deref().unwrap_or_default();
    let first = context::branch(store, word, None)?;
    let session = first.session().to_owned();
    let named = store.has_session(&session)? && word == first.as_str();
    let mut branches = Vec::new();
    if named || !args.with.is_empty() {
        branches.push(first.clone());
    }
    for word in &args.with {
        let id = context::branch(store, first.as_str(), Some(word))?;
        if id.session() != session {
            return Err(CliError::Usage(format!(
                "{id} is of another session than {first}. Give --with a branch of {session}"
            )));
        }
        branches.push(id);
    }
    Ok((session, branches))
}

/// The first branch beside each other one; a single one beside its parent.
fn beside(store: &Store, branches: &[BranchId]) -> Result<Vec<(BranchId, BranchId)>, CliError> {
    Ok(match branches {
        [] => Vec::new(),
        [one] => {
            let parent = store.branch(one)?.parent;
            parent
                .map(|parent| (parent, one.clone()))
                .into_iter()
                .collect()
        }
        [first, others @ ..] => {
            let pair = |other: &BranchId| (first.clone(), other.clone());
            others.iter().map(pair).collect()
        }
    })
}

fn redaction(args: &Export) -> Result<Redaction, CliError> {
    let mut named = Vec::new();
    for word in &args.redact {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if !name.is_empty() && !value.is_empty() => (Some(name), value),
            _ => (None, word.as_str()),
        };
        let value = match value.strip_prefix('@') {
            Some(path) => std::fs::read_to_string(path)
                .map(|text| text.trim_end_matches(['\n', '\r']).to_owned())
                .map_err(|source| CliError::File {
                    path: path.into(),
                    source,
                    mend: "Give --redact a file that holds the value",
                })?,
            None => value.to_owned(),
        };
        named.push(Named {
            name: name.map(str::to_owned),
            value,
        });
    }
    let left = |sort| args.no_redact == Some(Unlooked::All) || args.no_redact == Some(sort);
    Ok(Redaction {
        named,
        keys: !left(Unlooked::Keys),
        entropy: !left(Unlooked::Entropy),
    })
}

/// Says what was taken out.
fn tell(context: &Context, redacted: &Redacted, form: Form) {
    if context.out.is_json() {
        // Nobody is left to be told.
        let _ = writeln!(
            std::io::stderr(),
            "{}",
            json!({ "redacted": redacted.sorts(), "places": redacted.places() })
        );
        return;
    }
    let mut line = format!("dover: {redacted}");
    if redacted.total() > 0 && form == Form::Jsonl {
        line.push_str(
            ". Its receipts name digests of what stood there, so they cannot be checked against this file",
        );
    }
    // Nobody is left to be told.
    let _ = writeln!(std::io::stderr(), "{line}");
}
