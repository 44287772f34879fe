//! Evaluation over directories: attribution against labels, outcomes in figures.

pub mod attribution;
pub mod results;

use std::path::{Path, PathBuf};

use super::PipelineError;

/// The logs below a directory, sorted by their paths; a file is itself.
///
/// # Errors
/// A directory that cannot be read, or holds none.
pub fn files(dir: &Path) -> Result<Vec<PathBuf>, PipelineError> {
    if dir.is_file() {
        return Ok(vec![dir.to_owned()]);
    }
    let mut found = Vec::new();
    attribution::all_files(dir, &mut found).map_err(|error| {
        PipelineError::Usage(format!(
            "{}: cannot be read: {error}. Give a directory of logs",
            dir.display()
        ))
    })?;
    found.sort();
    if found.is_empty() {
        return Err(PipelineError::Usage(format!(
            "{}: there is no .json or .jsonl file below it. Give a directory of logs",
            dir.display()
        )));
    }
    Ok(found)
}
