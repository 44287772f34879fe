//! A fresh copy of a run to learn on: nothing that was taken in before is touched, and a copy never meets another's desk.

use std::path::Path;

use super::PipelineError;
use super::intake::{log, sample_names, unpacked};
use crate::import::ProfileFile;
use crate::store::Store;

/// Where the run of a lesson comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// A sample that the program carries.
    Sample(&'a str),
    /// A log.
    Log(&'a Path),
}

/// Makes a new session of a run, under an id like the one wished for; returns the id it was given.
///
/// # Errors
/// No such sample, a log that cannot be read, or the store.
pub fn copy(store: &Store, source: Source<'_>, wish: &str) -> Result<String, PipelineError> {
    let mut id = wish.to_owned();
    let mut n = 2;
    while store.has_session(&id)? {
        id = format!("{wish}-{n}");
        n += 1;
    }
    let take = |path: &Path, desk: Option<&Path>| {
        let profile = ProfileFile::beside(path)?;
        log(
            store,
            (path, u64::MAX),
            desk,
            profile.as_ref(),
            Some(&id),
            &mut |_, _| true,
        )
    };
    match source {
        Source::Sample(name) if sample_names().contains(&name) => {
            let taken = unpacked(store, name, &id, |path, desk| Ok((take(path, desk)?, true)));
            Ok(taken?.0)
        }
        Source::Sample(name) => Err(PipelineError::Usage(format!(
            "there is no sample '{name}'. There are {}",
            sample_names().join(", ")
        ))),
        Source::Log(path) => take(path, None),
    }
}
