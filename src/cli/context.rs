//! What every subcommand needs: the store, the operator, the endpoint, the output, and what a word of the command line means.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;

use super::args::{Global, branch_of};
use super::error::CliError;
use super::out::Out;
use crate::endpoint::EndpointSettings;
use crate::model::{BranchId, SystemClock};
use crate::pipeline::{self, ModelSettings};
use crate::store::Store;

/// What every subcommand needs.
pub struct Context {
    /// The words that every subcommand takes.
    pub global: Global,
    /// Where the answer goes.
    pub out: Out,
}

impl Context {
    /// Opens nothing yet.
    #[must_use]
    pub fn new(global: Global) -> Self {
        let out = Out::stdout(global.json);
        Self { global, out }
    }

    /// Where the store is.
    pub fn store_path(&self) -> Result<PathBuf, CliError> {
        Ok(match &self.global.store {
            Some(path) => path.clone(),
            None => Store::default_path()?,
        })
    }

    /// Opens the store.
    pub fn store(&self) -> Result<Store, CliError> {
        Ok(Store::open(&self.store_path()?, Arc::new(SystemClock))?)
    }

    /// The endpoint. The key comes from the environment alone: command lines are seen by other users.
    #[must_use]
    pub fn model(&self) -> ModelSettings {
        ModelSettings {
            endpoint: EndpointSettings {
                base_url: self.global.base_url.clone(),
                api_key: std::env::var("OPENAI_API_KEY").ok(),
                model: self.global.model.clone(),
                ..EndpointSettings::default()
            },
            ..ModelSettings::default()
        }
    }

    /// Who forks: as said, else the user's name, else empty (which gate 4 holds).
    #[must_use]
    pub fn operator(&self) -> String {
        let said = self.global.operator.clone();
        said.or_else(|| {
            ["USER", "LOGNAME", "USERNAME"]
                .iter()
                .find_map(|name| std::env::var(name).ok())
        })
        .filter(|name| !name.trim().is_empty())
        .or_else(login)
        .unwrap_or_default()
    }
}

/// A store that goes with its folder, for what shall leave no trace.
pub fn temporary() -> Result<(Store, TempDir), CliError> {
    let folder = tempfile::tempdir().map_err(|source| CliError::File {
        path: std::env::temp_dir(),
        source,
        mend: "Free some space there or set TMPDIR",
    })?;
    let store = Store::open(&folder.path().join("store.db"), Arc::new(SystemClock))?;
    Ok((store, folder))
}

/// The branch that a word means: a file (its `main`), a stored id or sample (its `main`), or a whole branch id; `name` picks another branch of it.
pub fn branch(store: &Store, word: &str, name: Option<&str>) -> Result<BranchId, CliError> {
    let id = match word.rsplit_once('/') {
        Some((session, _)) if !Path::new(word).exists() && store.has_session(session)? => {
            BranchId::parse(word)
        }
        _ => BranchId::main(&take_in(store, word)?),
    };
    let id = name.map_or_else(|| id.clone(), |name| branch_of(id.session(), name));
    let branches = store.branches(id.session())?;
    if branches.iter().any(|branch| branch.id == id) {
        return Ok(id);
    }
    let names: Vec<_> = branches.iter().map(|branch| branch.id.name()).collect();
    Err(CliError::Usage(format!(
        "{} has no branch '{}'. It has {}",
        id.session(),
        id.name(),
        names.join(", ")
    )))
}

/// Takes a file or sample in, or finds it in the store; says the session's id.
pub fn take_in(store: &Store, word: &str) -> Result<String, CliError> {
    Ok(pipeline::take_in(store, word, &mut |_, _| true)?.0)
}

/// The user's name as the system has it, where the environment does not say.
fn login() -> Option<String> {
    let output = Command::new("id").arg("-un").output().ok()?;
    let name = String::from_utf8(output.stdout).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Writes a log to the file that `DOVER_LOG` names; without it there is none. Keys and message contents are never logged.
pub fn log() -> Result<(), CliError> {
    let Some(path) = std::env::var_os("DOVER_LOG").filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let file = File::options()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|source| CliError::File {
            path: path.into(),
            source,
            mend: "DOVER_LOG must name a file that can be written",
        })?;
    tracing_subscriber::fmt()
        .with_env_filter("dover=debug")
        .with_ansi(false)
        .with_writer(Arc::new(file))
        .init();
    Ok(())
}
