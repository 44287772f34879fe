//! `dover adapter install NAME` and `dover adapter list`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::context::Context;
use super::super::error::{CliError, Exit};
use super::super::out::{Answer, Out};
use super::super::replay;
use super::super::run::team;
use crate::model::clean_line;
use crate::pipeline::PipelineError;
use crate::runtime::adapter::{AdapterHome, NAMES};

#[derive(Serialize)]
struct Done<'a> {
    adapter: &'a str,
    python: PathBuf,
    packages: usize,
    /// Whether it was there before.
    already: bool,
}

#[derive(Serialize)]
struct Listed {
    adapters: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    /// The interpreter; none if it is not installed.
    python: Option<PathBuf>,
}

/// Makes an adapter's environment, telling on standard error what is done.
pub fn run(context: &mut Context, name: &str, python: Option<&Path>) -> Result<Exit, CliError> {
    let home = AdapterHome::usual()?;
    let python = python.map(team::interpreter).transpose()?;
    let quiet = context.out.is_json();
    let mut tell = |line: &str| {
        if !quiet {
            let _ = writeln!(io::stderr(), "{}", clean_line(line));
        }
    };
    let threads = tokio::runtime::Runtime::new().map_err(CliError::Threads)?;
    let done = threads.block_on(async {
        tokio::select! {
            biased;
            () = replay::ended() => Err(broken_off(
                "broken off; nothing was installed. Start it again when you like"
            )),
            done = home.install(name, python.as_deref(), &mut tell) => Ok(done?),
        }
    })?;
    context.out.give(&Done {
        adapter: name,
        python: done.python,
        packages: done.packages,
        already: done.already,
    })?;
    Ok(Exit::Done)
}

impl Answer for Done<'_> {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        let word = if self.already {
            "is installed already"
        } else {
            "is installed"
        };
        let text = format!(
            "{} {word}: {} packages, {}",
            self.adapter,
            self.packages,
            self.python.display()
        );
        out.para(0, &text)
    }
}

/// Somebody broke off what left nothing behind.
pub fn broken_off(told: &str) -> CliError {
    PipelineError::Refused(told.to_owned()).into()
}

/// Lists the adapters.
pub fn list(context: &mut Context) -> Result<Exit, CliError> {
    let home = AdapterHome::usual()?;
    let adapters = NAMES.map(|name| Entry {
        name,
        python: home.python(name),
    });
    context.out.give(&Listed {
        adapters: adapters.into(),
    })?;
    Ok(Exit::Done)
}

impl Answer for Listed {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        for entry in &self.adapters {
            let found = match &entry.python {
                Some(python) => format!("installed: {}", python.display()),
                None => format!("not installed: dover adapter install {}", entry.name),
            };
            out.labelled(&format!("  {:<12} ", entry.name), &found)?;
        }
        Ok(())
    }
}
