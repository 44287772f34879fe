//! A file that is whole or not there: written to a temporary beside its place, then renamed.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::Builder;

use super::ExportError;

/// Writes a file through `write`. Whatever fails, what stood there before still stands there and nothing else remains.
///
/// # Errors
/// What `write` says, or the place.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    if path.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    // A link stays a link: what it points to is written.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if place.exists() && !place.is_file() {
        // A pipe or a device has no place to be put into.
        let mut out = BufWriter::new(std::fs::File::options().write(true).open(&place)?);
        write(&mut out)?;
        return Ok(out.flush()?);
    }
    let folder = place.parent().filter(|it| !it.as_os_str().is_empty());
    let mut builder = Builder::new();
    builder.prefix(".dover-").suffix(".part");
    let kept = std::fs::metadata(&place)
        .ok()
        .map(|meta| meta.permissions());
    if kept.is_some() {
        // Renaming would go past a file that must not be written.
        std::fs::File::options().append(true).open(&place)?;
    }
    #[cfg(unix)]
    let permissions = {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: the user's mask takes away from it.
        kept.unwrap_or_else(|| std::fs::Permissions::from_mode(0o666))
    };
    #[cfg(unix)]
    builder.permissions(permissions);
    #[cfg(not(unix))]
    let _ = kept;
    let file = builder
        .tempfile_in(folder.unwrap_or_else(|| Path::new(".")))
        .map_err(bare)?;
    let mut out = BufWriter::new(file);
    write(&mut out).map_err(|error| match error {
        ExportError::Output(error) => bare(error).into(),
        other => other,
    })?;
    let file = out.into_inner().map_err(|error| bare(error.into_error()))?;
    file.as_file().sync_all()?;
    file.persist(&place).map_err(|error| error.error)?;
    Ok(())
}

/// What the system said, without the name of the temporary, which is nobody's business.
fn bare(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source());
    let code = inner
        .and_then(|inner| inner.downcast_ref::<io::Error>())
        .and_then(io::Error::raw_os_error);
    code.map_or(error, io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_fails_half_way_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        write_whole(&path, |out| Ok(out.write_all(b"old")?)).unwrap();
        let failed = write_whole(&path, |out| {
            out.write_all(&vec![b'x'; 100_000])?;
            Err(io::Error::from(io::ErrorKind::StorageFull).into())
        });
        assert!(
            matches!(failed, Err(ExportError::Output(error)) if error.kind() == io::ErrorKind::StorageFull)
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a.md"]);
    }

    #[test]
    fn a_folder_or_a_place_that_is_not_there_is_no_place() {
        let folder = tempfile::tempdir().unwrap();
        let nothing = |_: &mut dyn Write| Ok(());
        assert!(write_whole(folder.path(), nothing).is_err());
        assert!(write_whole(&folder.path().join("no/a.md"), nothing).is_err());
        assert!(names(folder.path()).is_empty());
    }
}
