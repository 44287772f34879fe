//! A text in `$VISUAL` or `$EDITOR`. The caller gives the terminal back before and takes it again after.

use std::fs;
use std::io::{self, Write};

use tempfile::NamedTempFile;
use tokio::process::{Child, Command};

/// The text as the editor left it, or a sentence that says why there is none.
pub(crate) async fn edit(text: &str) -> Result<String, String> {
    Editor::start(text)?.left().await
}

/// An editor at work on a text. It ends with this.
pub(super) struct Editor {
    /// What a person calls it.
    named: String,
    /// Nobody else may read it, and it goes with this.
    file: NamedTempFile,
    child: Child,
}

impl Editor {
    /// Starts it, or says why it does not start.
    pub(super) fn start(text: &str) -> Result<Self, String> {
        let named = ["VISUAL", "EDITOR"]
            .into_iter()
            .filter_map(|name| std::env::var(name).ok());
        let Some(named) = named.into_iter().find(|value| !value.trim().is_empty()) else {
            return Err(
                "Neither VISUAL nor EDITOR is set; go on typing here, the edit is kept".into(),
            );
        };
        let file = scratch(text)
            .map_err(|error| failed("A file for the editor cannot be written", &error))?;
        let mut words = named.split_whitespace();
        let program = words.next().unwrap_or_default();
        let child = Command::new(program)
            .args(words)
            .arg(file.path())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(&format!("{program} does not start"), &error))?;
        Ok(Self { named, file, child })
    }

    /// Waits until it is left; the text as it was saved last.
    pub(super) async fn left(&mut self) -> Result<String, String> {
        let status = self
            .child
            .wait()
            .await
            .map_err(|error| failed(&self.named, &error))?;
        if !status.success() {
            return Err(failed(&self.named, &status));
        }
        self.saved()
    }

    /// The text as it was saved last. What is no UTF-8 in it stands as `�`, to be seen and mended.
    pub(super) fn saved(&self) -> Result<String, String> {
        let bytes = fs::read(self.file.path())
            .map_err(|error| failed("The edited file cannot be read", &error))?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
    }
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> String {
    format!("{what}: {error}. The edit is kept as it was")
}

fn scratch(text: &str) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix("dover-")
        .suffix(".txt")
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file)
}
