//! A text in `$VISUAL` or `$EDITOR`. The caller gives the terminal back before and takes it again after.

use std::fs;
use std::io::{self, Write};

use tempfile::NamedTempFile;
use tokio::process::Command;

/// The text as the editor left it, or a sentence that says why there is none.
pub(crate) async fn edit(text: &str) -> Result<String, String> {
    let named = ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok());
    let Some(editor) = named.into_iter().find(|value| !value.trim().is_empty()) else {
        return Err("Neither VISUAL nor EDITOR is set; go on typing here, the edit is kept".into());
    };
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        format!("{what}: {error}. The edit is kept as it was")
    };
    // Nobody else may read it, and it goes with this function.
    let file =
        scratch(text).map_err(|error| failed("A file for the editor cannot be written", &error))?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let status = Command::new(program)
        .args(words)
        .arg(file.path())
        .kill_on_drop(true)
        .status()
        .await
        .map_err(|error| failed(&format!("{program} does not start"), &error))?;
    if !status.success() {
        return Err(failed(&editor, &status));
    }
    let text = fs::read_to_string(file.path())
        .map_err(|error| failed("The edited file cannot be read", &error))?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
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
