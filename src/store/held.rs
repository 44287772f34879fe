//! A file that is this process's own as long as it lives: under an exclusive lock, which the system lets go of when the process
//! dies, however it dies. Locks of the living are never waited for.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A file held; it goes when this does. One that stays behind is removed by the next who finds its lock free.
pub(super) struct Held {
    pub(super) name: String,
    pub(super) file: File,
    path: PathBuf,
}

impl Held {
    /// Takes a name in a directory that nobody has.
    pub(super) fn new(dir: &Path, extension: &str) -> io::Result<Self> {
        std::fs::create_dir_all(dir)?;
        let pid = std::process::id();
        for n in 0_u32.. {
            let name = format!("{pid}-{n}.{extension}");
            let path = dir.join(&name);
            let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            // Whoever took it for stale before it was locked removed it.
            if file.try_lock().is_ok() && path.exists() {
                return Ok(Self { name, file, path });
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The names of a directory's files that have this extension.
pub(super) fn names(dir: &Path, extension: &str) -> Vec<String> {
    std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            Path::new(name)
                .extension()
                .is_some_and(|own| own == extension)
        })
        .collect()
}
