//! Files of the workspace: list, read, write. A name leads nowhere else.

use std::path::{Path, PathBuf};

use crate::runtime::{inside, read_file, write_file};

/// The most names that a list shows.
const MOST: usize = 1000;
/// The largest file that is read, in bytes.
const LARGEST: u64 = 4 << 20;

pub(super) async fn list(dir: PathBuf) -> Result<String, String> {
    off_thread(move || {
        let mut names = Vec::new();
        walk(&dir, &dir, &mut names).map_err(|error| format!("the workspace: {error}"))?;
        names.sort();
        if names.is_empty() {
            return Ok("The workspace is empty.".to_owned());
        }
        Ok(names.join("\n"))
    })
    .await
}

pub(super) async fn read(dir: PathBuf, name: &str) -> Result<String, String> {
    let name = name.to_owned();
    off_thread(move || {
        let size = inside(&dir, &name).and_then(|path| path.metadata().ok());
        if size.as_ref().is_some_and(|it| !it.is_file()) {
            return Err(format!("'{name}' is no file"));
        }
        if size.is_some_and(|it| it.len() > LARGEST) {
            return Err(format!("'{name}' is larger than {LARGEST} bytes"));
        }
        match read_file(&dir, &name) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(format!(
                "there is no file '{name}'. list_files tells which there are"
            )),
            Err(error) => Err(format!("'{name}' cannot be read: {error}")),
        }
    })
    .await
}

pub(super) async fn write(dir: PathBuf, name: &str, text: &str) -> Result<String, String> {
    let (name, text) = (name.to_owned(), text.to_owned());
    off_thread(move || match write_file(&dir, &name, &text) {
        Ok(()) => Ok(format!("{} bytes written to {name}", text.len())),
        Err(error) => Err(format!("'{name}' cannot be written: {error}")),
    })
    .await
}

/// The relative names below a directory; the repository's own and links are left out.
fn walk(root: &Path, dir: &Path, names: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if names.len() >= MOST {
            return Ok(());
        }
        let (kind, path) = (entry.file_type()?, entry.path());
        if kind.is_dir() && entry.file_name() != ".git" {
            walk(root, &path, names)?;
        } else if kind.is_file()
            && let Ok(name) = path.strip_prefix(root)
        {
            names.push(name.display().to_string());
        }
    }
    Ok(())
}

async fn off_thread(
    work: impl FnOnce() -> Result<String, String> + Send + 'static,
) -> Result<String, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err("the tool broke down".to_owned()))
}
