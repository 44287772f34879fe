//! `dover classify FILE`: what the gates make of steering records. Nothing is run, and no store is opened.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use serde::Serialize;

use super::args::Classify;
use super::context::Context;
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use crate::gate::GateResult;
use crate::gate::steering::{self, Classified};
use crate::model::{BranchId, GateStatus};

#[derive(Serialize)]
struct Records<'a> {
    records: Vec<Told<'a>>,
}

#[derive(Serialize)]
struct Told<'a> {
    record: usize,
    id: Option<&'a str>,
    status: GateStatus,
    deciding_gate: Option<Deciding>,
    reason: &'a str,
    mend: Option<&'a str>,
    gates: &'a [GateResult],
}

#[derive(Serialize)]
struct Deciding {
    number: u8,
    name: &'static str,
}

/// Runs the subcommand. Classifying is done whatever the statuses are.
pub fn run(context: &mut Context, args: &Classify) -> Result<Exit, CliError> {
    let text = read(&args.file)?;
    let found = steering::classify(&text)
        .map_err(|error| CliError::Usage(format!("{}: {error}", args.file.display())))?;
    context.out.give(&Records {
        records: found.iter().map(record).collect(),
    })?;
    Ok(Exit::Done)
}

fn record(one: &Classified) -> Told<'_> {
    let gate = one.deciding_gate();
    Told {
        record: one.record,
        id: one.id.as_ref().map(BranchId::as_str),
        status: one.report.status,
        deciding_gate: gate.map(|gate| Deciding {
            number: gate.number,
            name: gate.name,
        }),
        reason: one.reason(),
        mend: gate.and_then(|gate| gate.mend.as_deref()),
        gates: &one.report.gates,
    }
}

fn read(path: &Path) -> Result<String, CliError> {
    String::from_utf8(bytes(path)?).map_err(|error| unreadable(path, io::Error::other(error)))
}

/// Reads a file; `-` is standard input.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>, CliError> {
    let found = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(path)
    };
    found.map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, source: io::Error) -> CliError {
    CliError::File {
        path: path.to_owned(),
        source,
        mend: "Name a file of text that can be read",
    }
}

impl Answer for Records<'_> {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        for record in &self.records {
            let id = record.id.unwrap_or("(no id)");
            let tone = match record.status {
                GateStatus::Verified => Tone::Good,
                GateStatus::ReadyToResume => Tone::Strong,
                _ => Tone::Bad,
            };
            let status = record.status.name();
            let gate = record
                .deciding_gate
                .as_ref()
                .map(|gate| format!("gate {} {}", gate.number, gate.name))
                .unwrap_or_default();
            out.row(tone, &format!("{id:<24} {status:<20} {gate}"))?;
            out.para(2, record.reason)?;
        }
        Ok(())
    }
}
