//! `dover owner new NAME`: a key to sign receipts with.

use std::io;
use std::path::PathBuf;

use serde::Serialize;

use super::args::{Owner, OwnerWhat};
use super::context::Context;
use super::error::{CliError, Exit};
use super::out::{Answer, Out};
use crate::pipeline::Keyring;

#[derive(Serialize)]
struct Made {
    owner: String,
    key: String,
    file: PathBuf,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: Owner) -> Result<Exit, CliError> {
    let OwnerWhat::New { name } = args.what;
    let ring = Keyring::open()?;
    let key = ring.create(&name)?.to_string();
    context.out.give(&Made {
        file: ring.file(&name),
        owner: name,
        key,
    })?;
    Ok(Exit::Done)
}

impl Answer for Made {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        out.labelled("owner        ", &self.owner)?;
        out.labelled("public key   ", &self.key)?;
        out.labelled("private key  ", &self.file.display().to_string())?;
        out.para(
            0,
            "Give the public key to whoever checks what you sign. Keep the file to yourself.",
        )?;
        out.para(
            0,
            &format!(
                "To approve edits of high risk in a session: dover set SESSION --owner {}={}",
                self.owner, self.key
            ),
        )
    }
}
