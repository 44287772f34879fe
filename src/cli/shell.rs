//! `dover completions SHELL` and `dover man`: what a shell and a manual reader want, from the definition of the command line itself.

use std::path::Path;

use clap::CommandFactory;

use super::args::{Cli, Completions, Man};
use super::context::Context;
use super::error::{CliError, Exit};

/// Prints a shell's completions.
pub fn completions(context: &mut Context, args: &Completions) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "dover", &mut script);
    context.out.raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// Prints the manual page, or writes it and those of the subcommands to a directory.
pub fn man(context: &mut Context, args: &Man) -> Result<Exit, CliError> {
    if let Some(dir) = &args.dir {
        return pages(dir)
            .map(|()| Exit::Done)
            .map_err(|source| CliError::File {
                path: dir.clone(),
                source,
                mend: "Name a directory that can be written",
            });
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    context.out.raw(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Done)
}

fn pages(dir: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)?;
    clap_mangen::generate_to(Cli::command(), dir)
}
