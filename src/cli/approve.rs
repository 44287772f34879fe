//! `dover approve INTERVENTION --as NAME`: an owner's signed word on exactly one intervention.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::args::Approve;
use super::context::Context;
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use crate::model::Category;
use crate::pipeline::{self, Approved, Keyring, Waiting};

#[derive(Serialize)]
struct Given {
    intervention: String,
    owner: String,
    expires: String,
    parent: String,
    step: usize,
    n: usize,
    category: Category,
    operator: String,
    original: String,
    text: Option<String>,
    changes: Vec<String>,
    file: Option<PathBuf>,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Approve) -> Result<Exit, CliError> {
    let store = context.store()?;
    let (approved, file) = match (&args.from, &args.intervention, &args.owner) {
        (Some(file), ..) => {
            let text = std::fs::read_to_string(file).map_err(|source| CliError::File {
                path: file.clone(),
                source,
                mend: "Give a file that `dover approve --out` wrote",
            })?;
            (pipeline::take_approval(&store, &text)?, None)
        }
        (None, Some(id), Some(owner)) => {
            let ring = Keyring::open()?;
            match &args.out {
                None => (
                    pipeline::approve(&store, id, owner, &ring, args.valid_for)?,
                    None,
                ),
                Some(file) => {
                    let approved = pipeline::signed(&store, id, owner, &ring, args.valid_for)?;
                    write(file, &approved)?;
                    (approved, Some(file.clone()))
                }
            }
        }
        _ => {
            return Err(CliError::Usage(
                "say which intervention and as whom: dover approve release-notes/i1 --as NAME"
                    .to_owned(),
            ));
        }
    };
    let id = approved.statement.binding.intervention.clone();
    let waiting = pipeline::waiting(&store, &id.unwrap_or_default())?;
    context.out.give(&Given::of(waiting, approved, file))?;
    Ok(Exit::Done)
}

fn write(file: &Path, approved: &Approved) -> Result<(), CliError> {
    std::fs::write(file, format!("{}\n", approved.text)).map_err(|source| CliError::File {
        path: file.to_owned(),
        source,
        mend: "Name a file that can be written",
    })
}

impl Given {
    fn of(waiting: Waiting, approved: Approved, file: Option<PathBuf>) -> Self {
        let it = waiting.intervention;
        Self {
            owner: approved.statement.owner,
            expires: approved.statement.expires,
            parent: it.parent.to_string(),
            step: it.step,
            n: it.n,
            category: it.category,
            operator: it.operator,
            original: waiting.original.text,
            text: it.text,
            changes: it.changes.iter().map(ToString::to_string).collect(),
            intervention: it.id,
            file,
        }
    }
}

impl Answer for Given {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        out.row(
            Tone::Strong,
            &format!("{} approved by {}", self.intervention, self.owner),
        )?;
        let runs = if self.n == 1 { "1 run" } else { "runs" };
        let runs = if self.n == 1 {
            runs.to_owned()
        } else {
            format!("{} {runs}", self.n)
        };
        out.labelled(
            "  what     ",
            &format!(
                "{} edit of {} at step {} by {}, {runs}",
                self.category.name(),
                self.parent,
                self.step,
                self.operator
            ),
        )?;
        if let Some(text) = &self.text {
            out.labelled("  - ", &self.original)?;
            out.labelled("  + ", text)?;
        }
        for change in &self.changes {
            out.labelled("  change   ", change)?;
        }
        out.labelled("  until    ", &format!("{}, for one fork", self.expires))?;
        match &self.file {
            Some(file) => out.para(
                0,
                &format!(
                    "Written to {}. Whoever drives takes it in: dover approve --from {}",
                    file.display(),
                    file.display()
                ),
            ),
            None => out.para(
                0,
                &format!(
                    "Whoever drives goes on with: dover resume {}",
                    self.intervention
                ),
            ),
        }
    }
}
