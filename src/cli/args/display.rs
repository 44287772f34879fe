//! How things are shown, for every eye and ear.

/// How things are shown. What is not said here is read from `[screen]` in `config.toml`.
#[derive(clap::Args, Debug, Clone, Default)]
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
}
