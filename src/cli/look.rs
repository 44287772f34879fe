//! How the screen shall look and which keys it obeys: what the words say, else `config.toml` and the files beside it.
//!
//! Invariant: a theme or key file with a fault never keeps anybody out. The default is used, and a sentence names the file and the line.

use std::io;
use std::path::{Path, PathBuf};

use super::args::Display;
use super::config::{self, Config};
use super::error::CliError;
use crate::app::keymap::Keymap;
use crate::pipeline::config_dir;
use crate::runtime::adapter::AdapterHome;
use crate::term::Clipboard;
use crate::ui::colour::Depth;
use crate::ui::glyph::Charset;
use crate::ui::theme::{BUILT_IN, Theme, ThemeError};

/// How the screen looks.
pub struct Look {
    /// Colours.
    pub theme: Theme,
    /// Signs.
    pub charset: Charset,
    /// Nothing moves by itself.
    pub calm: bool,
    /// Keys.
    pub keymap: Keymap,
    /// The mouse is taken from the start.
    pub mouse: bool,
    /// How a text is copied.
    pub clipboard: Clipboard,
    /// What was wrong with files, a sentence each.
    pub faults: Vec<String>,
}

/// Reads all of it.
///
/// # Errors
/// A theme that was named on the command line and is not there; `config.toml`.
pub fn look(display: &Display) -> Result<Look, CliError> {
    look_in(display, Depth::from_env(environment))
}

/// The same in as many colours as are asked for.
///
/// # Errors
/// As [`look`].
pub fn look_in(display: &Display, depth: Depth) -> Result<Look, CliError> {
    let config = Config::read()?.screen;
    let mut faults = Vec::new();
    let asked = display.theme.as_deref();
    let theme = match theme(
        asked.or(config.theme.as_deref()).unwrap_or(BUILT_IN[0]),
        depth,
    ) {
        Ok(theme) => theme,
        // A name that was just typed is typed again.
        Err(Fault::Absent(error)) if asked.is_some() => return Err(error),
        Err(Fault::Absent(error)) => {
            faults.push(format!(
                "{}: {error}. The default theme is used",
                config::file().display()
            ));
            Theme::fallback(depth)
        }
        Err(Fault::Broken(error)) => {
            faults.push(format!("{error}. The default theme is used"));
            Theme::fallback(depth)
        }
    };
    let keymap = keymap().unwrap_or_else(|fault| {
        faults.push(format!("{fault}. The default keys are used"));
        Keymap::default()
    });
    Ok(Look {
        theme,
        charset: if display.ascii || config.ascii {
            Charset::Ascii
        } else {
            Charset::from_env(environment)
        },
        calm: display.reduced_motion || config.reduced_motion,
        keymap,
        mouse: display.mouse || config.mouse,
        clipboard: Clipboard {
            file: clipboard_file(),
            terminal: !config.copy_to_file_only,
        },
        faults,
    })
}

/// The file that has what was copied last, in the directory of the person's own data.
fn clipboard_file() -> Option<PathBuf> {
    let home = AdapterHome::usual().ok()?;
    Some(home.dir().parent()?.join("clipboard"))
}

/// A variable of the environment.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Why a theme is not had.
pub enum Fault {
    /// There is none of that name, or its file cannot be read.
    Absent(CliError),
    /// Its file says something wrong.
    Broken(ThemeError),
}

/// A built-in theme, one of the person's own by name, or a file by its path.
pub fn theme(name: &str, depth: Depth) -> Result<Theme, Fault> {
    let theme = if Path::new(name).extension().is_some_and(|end| end == "toml") {
        let path = PathBuf::from(name);
        let text = std::fs::read_to_string(&path).map_err(|source| {
            Fault::Absent(CliError::File {
                path,
                source,
                mend: "Name a theme file that can be read, or a theme that `dover themes` lists",
            })
        })?;
        Theme::parse(name, &text, depth, own_theme)
    } else {
        Theme::load(name, depth, own_theme)
    };
    theme.map_err(|error| match error {
        ThemeError::Unknown { name: ref unknown } if unknown == name => {
            Fault::Absent(CliError::Usage(error.to_string()))
        }
        error => Fault::Broken(error),
    })
}

/// The text of a person's own theme.
fn own_theme(name: &str) -> Option<String> {
    std::fs::read_to_string(themes_dir()?.join(format!("{name}.toml"))).ok()
}

fn themes_dir() -> Option<PathBuf> {
    Some(config_dir().ok()?.join("themes"))
}

/// The names of a person's own themes.
pub fn own_themes() -> Vec<String> {
    let entries = themes_dir().and_then(|dir| std::fs::read_dir(dir).ok());
    let files = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()));
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

/// The file of a person's own keys.
pub fn keys_file() -> Option<PathBuf> {
    Some(config_dir().ok()?.join("keys.toml"))
}

/// A person's own keys, or the default ones where there is no file.
///
/// # Errors
/// A sentence that names the file and what is wrong with it.
pub fn keymap() -> Result<Keymap, String> {
    let Some(path) = keys_file() else {
        return Ok(Keymap::default());
    };
    let name = path.display().to_string();
    match std::fs::read_to_string(&path) {
        Ok(text) => Keymap::parse(&name, &text).map_err(|error| error.to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Keymap::default()),
        Err(error) => Err(format!(
            "{name}: {error}. Mend its permissions or move it away"
        )),
    }
}
