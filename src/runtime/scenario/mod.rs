//! The embedded scenario runtime.

mod lexicon;
mod read;
mod words;

use async_trait::async_trait;

use super::{Description, Restore, Run, Runtime, RuntimeError};
use crate::model::{Digest, Session};

/// The scenario runtime.
pub struct Scenario;

/// A world as data.
pub struct World;

fn unbuilt() -> RuntimeError {
    RuntimeError::Missing {
        what: "the scenario runtime".into(),
        mend: "It is being built".into(),
    }
}

/// Reads a world file.
pub fn parse(_text: &str) -> Result<World, RuntimeError> {
    Err(unbuilt())
}

/// The header of a world's session.
#[must_use]
pub fn session(_world: &World, _text: &str, _seed: u64) -> Session {
    Session::default()
}

#[async_trait]
impl Runtime for Scenario {
    fn describe(&self, _session: &Session) -> Description {
        Description {
            name: "scenario",
            detail: String::new(),
            exact: true,
            local_fixtures: true,
            config: Digest::ZERO,
        }
    }

    async fn restore(&self, _restore: Restore) -> Result<Box<dyn Run>, RuntimeError> {
        Err(unbuilt())
    }
}
