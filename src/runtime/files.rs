//! Files of a run's workspace by their relative paths. A name comes from a log or a world, so it leads nowhere else.

use std::io;
use std::path::{Component, Path, PathBuf};

/// The place that a name means inside a directory; none if it would lead out of it.
#[must_use]
pub fn inside(dir: &Path, name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    let named = path.file_name().is_some() && path.components().all(plain);
    named.then(|| dir.join(path))
}

/// Writes a file, its directories included. Refused where the name or a symbolic link on the way leads out.
pub fn write_file(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let path = checked(dir, name)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}

/// Reads a file; none if it is not there.
pub fn read_file(dir: &Path, name: &str) -> io::Result<Option<String>> {
    match std::fs::read(checked(dir, name)?) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The place, if nothing on the way there is a symbolic link.
fn checked(dir: &Path, name: &str) -> io::Result<PathBuf> {
    let out = || io::Error::other(format!("'{name}' leads out of the workspace"));
    let path = inside(dir, name).ok_or_else(out)?;
    let mut on_the_way = path.ancestors().take_while(|part| *part != dir);
    if on_the_way.any(Path::is_symlink) {
        return Err(out());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("tree");
        std::fs::create_dir(&dir).unwrap();
        write_file(&dir, "a/b.txt", "x").unwrap();
        assert_eq!(read_file(&dir, "a/b.txt").unwrap().as_deref(), Some("x"));
        assert_eq!(read_file(&dir, "a/c.txt").unwrap(), None);
        for name in ["../out", "/out", "", ".", "a/../../out"] {
            assert!(write_file(&dir, name, "x").is_err(), "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("..", dir.join("up")).unwrap();
            assert!(write_file(&dir, "up/out", "x").is_err());
            assert!(read_file(&dir, "up/out").is_err());
        }
        assert!(!folder.path().join("out").exists());
    }
}
