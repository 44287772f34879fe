//! `dover eval attribution DIR`: the analyst by rules against the labels of a data set.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use crate::cli::context::{self, Context};
use crate::cli::error::{CliError, Exit};
use crate::cli::out::{Answer, Out, Tone};
use crate::cli::text::count;
use crate::pipeline::eval::attribution::{Accuracy, Attribution, Row, read, table};

/// Runs the subcommand.
pub fn run(context: &mut Context, dir: &Path) -> Result<Exit, CliError> {
    // The logs need not stay: what is kept is the table.
    let (store, _folder) = context::temporary()?;
    let watched = io::stderr().is_terminal();
    let (logs, unused) = read(&store, dir, &mut |at, of| {
        if watched {
            // That nobody can be told is no reason to stop.
            let _ = write!(io::stderr(), "\r{at} of {of} logs read\u{1b}[K");
        }
        true
    })?;
    if watched {
        let _ = write!(io::stderr(), "\r\u{1b}[K");
    }
    if logs.is_empty() {
        let why = unused
            .first()
            .map_or_else(String::new, |one| format!(" {}: {}.", one.file, one.reason));
        return Err(CliError::Usage(format!(
            "{}: no log below it has a label that can be used.{why} Give a directory of logs with mistake_step and mistake_agent, such as Who&When",
            dir.display()
        )));
    }
    context.out.give(&table(&logs, unused))?;
    Ok(Exit::Done)
}

impl Answer for Attribution {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        let [crafted, generated, certain] = self.logs;
        out.row(Tone::Strong, "attribution, in percent")?;
        out.para(0, &format!("{crafted} hand-crafted logs, {generated} algorithm-generated, {certain} of the hand-crafted with a certain GAIA answer"))?;
        out.blank()?;
        let groups =
            ["hand-crafted", "generated", "certain GAIA"].map(|name| format!(" {name:>15}"));
        out.row(Tone::Strong, &format!("{:<METHOD$}{}", "", groups.concat()))?;
        out.row(
            Tone::Strong,
            &format!("{:<METHOD$}{}", "", " agent step   ±3".repeat(3)),
        )?;
        for row in &self.rows {
            let tone = if row.kind == "analyst" {
                Tone::Strong
            } else {
                Tone::Plain
            };
            out.row(tone, &line(row))?;
        }
        out.blank()?;
        out.para(0, "Cross-validated: every log is judged by weights fitted on the logs of other folds. As shipped: by the weights in the program, which were fitted on the odd-numbered logs of Who&When.")?;
        if self.not_beaten.is_empty() {
            out.para(0, "Cross-validated, the analyst beats every baseline.")?;
        } else {
            out.para(0, "Not beaten, cross-validated:")?;
            for one in &self.not_beaten {
                out.para(2, one)?;
            }
        }
        if !self.mismatched.is_empty() {
            out.para(
                0,
                &format!(
                    "{} whose label names an agent who did not speak at that step: {}",
                    count(self.mismatched.len(), "log"),
                    self.mismatched.join(", ")
                ),
            )?;
        }
        if !self.unused.is_empty() {
            out.para(
                0,
                &format!("{} not used:", count(self.unused.len(), "file")),
            )?;
            for one in &self.unused {
                out.para(2, &format!("{}: {}", one.file, one.reason))?;
            }
        }
        Ok(())
    }
}

/// Cells of a method's name: what is left of 80 beside nine numbers.
const METHOD: usize = 31;

fn line(row: &Row) -> String {
    let groups = [row.hand_crafted, row.algorithm_generated, row.certain_gaia];
    let cells = groups.map(
        |Accuracy {
             agent,
             step,
             step_within_3,
         }| {
            let shown = [agent, step, step_within_3].map(|share| {
                share.map_or_else(|| "–".to_owned(), |share| format!("{:.1}", share * 100.0))
            });
            let [agent, step, near] = shown;
            format!(" {agent:>5}{step:>5}{near:>5}")
        },
    );
    format!("{:<METHOD$}{}", row.method, cells.concat())
}
