//! Where an answer goes that may be kept: a file that was named, whole or not at all, else standard output.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use super::error::CliError;
use super::out::Out;
use crate::export::{self, ExportError};

/// What `--out -` names.
const STDOUT: &str = "-";

/// Whether a word names standard output, as no word does.
pub(super) fn is_stdout(path: Option<&Path>) -> bool {
    path.is_none_or(|path| path == Path::new(STDOUT))
}

/// Writes what `write` gives. A file that is there already is written over only where that was asked for.
pub(super) fn put(
    out: &mut Out,
    path: Option<&Path>,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
) -> Result<(), CliError> {
    let Some(path) = path.filter(|path| !is_stdout(Some(path))) else {
        let mut whole = Vec::new();
        write(&mut whole)?;
        return Ok(out.bytes(&whole)?);
    };
    if !force && path.is_file() {
        return Err(CliError::Usage(format!(
            "{}: the file is there already, so nothing was written. Name another, or write over it with --force",
            path.display()
        )));
    }
    export::write_whole(path, write).map_err(|error| match error {
        ExportError::Output(source) => unwritten(path, source),
        other => other.into(),
    })
}

/// A place that does not fit was named wrongly; one that is full or breaks is a failure.
fn unwritten(path: &Path, source: io::Error) -> CliError {
    let misnamed = matches!(
        source.kind(),
        ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename
    );
    let path = path.to_owned();
    if misnamed {
        CliError::File {
            path,
            source,
            mend: "Nothing was written. Name a file in a folder that can be written",
        }
    } else {
        CliError::Unwritten { path, source }
    }
}
