//! No subcommand: the screen.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use super::config::Config;
use super::context::Context;
use super::error::{CliError, Exit};
use crate::term::{self, Ending, Options};
use crate::ui::colour::Depth;
use crate::ui::glyph::Charset;
use crate::ui::theme::{BUILT_IN, Theme};

/// Opens the screen, on one session if one is named.
pub fn run(context: &Context, what: Option<String>) -> Result<Exit, CliError> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(CliError::Usage(
            "the screen needs a terminal on standard input and output. Without one run `dover sessions`, `dover show SESSION`, `dover fork SESSION --at N`, or `dover demo`; `dover --help` lists them all".to_owned(),
        ));
    }
    let environment = |name: &str| std::env::var(name).ok();
    let options = Options {
        theme: theme(
            context.global.theme.as_deref(),
            Depth::from_env(environment),
        )?,
        charset: Charset::from_env(environment),
        commands: Config::read()?.commands()?,
        store: context.store()?,
        open: what,
        operator: context.operator(),
        model: context.model()?,
    };
    let ended = term::run(options).map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(match ended {
        None => Exit::Done,
        Some(Ending::HungUp) => Exit::HungUp,
        Some(Ending::Interrupted) => Exit::Interrupted,
        Some(Ending::Terminated) => Exit::Terminated,
    })
}

/// A built-in theme, one of the person's own by name, or a file by its path.
fn theme(asked: Option<&str>, depth: Depth) -> Result<Theme, CliError> {
    let name = asked.unwrap_or(BUILT_IN[0]);
    let own = ProjectDirs::from("", "", "dover").map(|dirs| dirs.config_dir().join("themes"));
    let lookup =
        |name: &str| std::fs::read_to_string(own.as_ref()?.join(format!("{name}.toml"))).ok();
    let theme = if Path::new(name).extension().is_some_and(|end| end == "toml") {
        let path = PathBuf::from(name);
        let text = std::fs::read_to_string(&path).map_err(|source| CliError::File {
            path,
            source,
            mend: "Name a theme file that can be read, or ansi, dark or light",
        })?;
        Theme::parse(name, &text, depth, lookup)
    } else {
        Theme::load(name, depth, lookup)
    };
    theme.map_err(|error| CliError::Usage(error.to_string()))
}
