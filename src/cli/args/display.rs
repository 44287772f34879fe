//! How things are shown, for every eye and ear; what a shell and a manual reader want.

use std::path::PathBuf;

use clap_complete::Shell;

/// How things are shown. What is not said here is read from `[screen]` in `config.toml`.
#[derive(clap::Args, Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Display {
    /// Colours of the screen: the name of a theme (`dover themes` shows them), or a theme file
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Signs of ASCII only [default: by the locale]
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Whole lines instead of a screen, for screen readers and pipes: nothing is drawn over, no colours
    #[arg(long, global = true)]
    pub plain: bool,
    /// Nothing moves by itself: steps appear when they are whole, progress at most once a second
    #[arg(long, global = true)]
    pub reduced_motion: bool,
    /// Take the mouse from the start: the wheel scrolls, a click selects; F4 takes it and gives it back at any time
    #[arg(long, global = true)]
    pub mouse: bool,
}

/// `dover themes`.
#[derive(clap::Args, Debug)]
pub struct Themes {
    /// Only this one, by its name or its file
    pub name: Option<String>,
}

/// `dover completions`.
#[derive(clap::Args, Debug)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `dover man`.
#[derive(clap::Args, Debug)]
pub struct Man {
    /// Write the pages of all subcommands too, into this directory
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
