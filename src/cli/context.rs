//! What every subcommand needs: the store, the operator, the endpoint, the output, and what a word of the command line means.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;

use super::args::{Global, Spending, branch_of};
use super::config::{self, Config};
use super::error::CliError;
use super::out::Out;
use crate::endpoint::{EndpointSettings, Limits, Meter};
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
        let out = Out::stdout(global.json, &global.display);
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

    /// The endpoints: as said, else from the environment, else from `config.toml`. Keys come from the environment alone: command lines are
    /// seen by other users.
    pub fn model(&self) -> Result<ModelSettings, CliError> {
        self.models(&Spending::default())
    }

    /// The same, with what may be spent.
    pub fn models(&self, spending: &Spending) -> Result<ModelSettings, CliError> {
        let config = Config::read()?;
        let prices = config.model.prices();
        if spending.max_cost.is_some() && prices.is_none() {
            return Err(CliError::Usage(format!(
                "--max-cost needs prices: write prices = {{ prompt = …, completion = … }} for a million tokens under [model] in {}, or use --max-tokens",
                config::file().display()
            )));
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and too much saturates"
        )]
        let cost = spending.max_cost.map(|cost| (cost * 1e6) as u64);
        let limits = Limits {
            tokens: spending.max_tokens,
            cost,
        };
        let own = std::env::var("OPENAI_API_KEY").ok();
        let told = self.global.base_url.is_some();
        let endpoint = EndpointSettings {
            base_url: self
                .global
                .base_url
                .clone()
                .or(config.model.base_url.clone()),
            // A key goes to the endpoint that it was named for.
            api_key: if told {
                own.clone()
            } else {
                config.model.key()?.or(own.clone())
            },
            model: self.global.model.clone().or(config.model.name.clone()),
            meter: Meter::new(prices, limits),
            ..EndpointSettings::default()
        };
        let judge = config.judge.map(|judge| -> Result<_, CliError> {
            Ok(EndpointSettings {
                api_key: judge.key()?.or(endpoint
                    .api_key
                    .clone()
                    .filter(|_| judge.base_url.is_none())),
                base_url: judge.base_url.clone().or(endpoint.base_url.clone()),
                model: judge.name.clone().or(endpoint.model.clone()),
                meter: endpoint.meter.priced(judge.prices().or(prices)),
                ..EndpointSettings::default()
            })
        });
        Ok(ModelSettings {
            judge: judge.transpose()?,
            endpoint,
            ..ModelSettings::default()
        })
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
    pipeline::take_in(store, word, &mut |_, _| true).map_or_else(
        |error| match shadowed(store, word)? {
            Some(told) => Err(CliError::Usage(format!("{error}. {told}"))),
            None => Err(error.into()),
        },
        |taken| Ok(taken.0),
    )
}

/// Where a file hides a stored session: how each of the two is named.
fn shadowed(store: &Store, word: &str) -> Result<Option<String>, CliError> {
    let hides = !word.contains('/') && Path::new(word).exists() && store.has_session(word)?;
    Ok(hides.then(|| {
        format!(
            "The file {word} was meant, which stands here; a stored session has that name too. Name the session {word}/main, or the file ./{word}"
        )
    }))
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
