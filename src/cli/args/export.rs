//! The words of `dover export`.

use std::path::PathBuf;

use clap::ValueEnum;

/// `dover export`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "What looks like a key (sk-…, ghp_…, AKIA…, JWT, bearer, PEM, password=…) and what is too random to be words (more than 20 characters of the base64 set above 4.5 bits a character, of the hexadecimal above 3, as TruffleHog measures) is taken out unless --no-redact says otherwise. How much of which sort is told on standard error."
)]
pub struct Export {
    /// File, stored id or branch; a branch is taken with what it comes from
    pub session: Option<String>,
    /// Instead of a session a class: a row for each exported JSONL file in the directory, as md or csv
    #[arg(long, value_name = "DIR", conflicts_with_all = ["session", "with", "redact", "no_redact", "screen", "step", "size", "at"])]
    pub results: Option<PathBuf>,
    /// Another branch of it beside that one, such as b3; may be repeated
    #[arg(long = "with", value_name = "BRANCH")]
    pub with: Vec<String>,
    /// The form
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t)]
    pub form: Form,
    /// Write to a file [default: standard output, as with `-`]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write over a file that is there already
    #[arg(long)]
    pub force: bool,
    /// Take a value out wherever it stands; with a name, that stands in its place. `@FILE` reads the value from a file
    ///
    /// It is found as it is written, also within words; whole words of it also in any case and joined otherwise, as in
    /// alice-example; and as JSON, HTML and addresses (%20) spell it. Not found: parts of it, other spellings, translations,
    /// what was encoded as a whole (base64) and texts in pictures.
    #[arg(
        long = "redact",
        value_name = "[NAME=]VALUE",
        allow_hyphen_values = true
    )]
    pub redact: Vec<String>,
    /// Leave in what only looks like a secret: keys, entropy, or (without a word) both
    #[arg(long, value_name = "SORT", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub no_redact: Option<Unlooked>,
    /// The last step that is in a state [default: the branch's last]
    #[arg(long, value_name = "N")]
    pub at: Option<usize>,
    /// The screen that an SVG shows
    #[arg(long, value_name = "SCREEN", value_enum)]
    pub screen: Option<Screen>,
    /// The step that it stands on
    #[arg(long, value_name = "N")]
    pub step: Option<usize>,
    /// Its columns and rows [default: 120x40]
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = size)]
    pub size: Option<(u16, u16)>,
}

/// A form to export in.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Form {
    /// Markdown
    #[default]
    Md,
    /// One HTML page that needs nothing else
    Html,
    /// dover's own lines, which import again equal
    Jsonl,
    /// A picture of a screen
    Svg,
    /// The saved state of the framework that ran the branch, as the framework's own load function takes it
    State,
    /// A table of --results
    Csv,
}

/// What is not looked for.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlooked {
    /// Strings shaped like keys
    Keys,
    /// Random strings
    Entropy,
    /// Both
    All,
}

/// A screen to make a picture of.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Screen {
    /// The steps, the text of one, the branches
    #[default]
    Session,
    /// A branch beside its parent; of a session its best branch
    Compare,
    /// Up to four branches beside each other
    Several,
    /// All branches at a glance
    Overview,
    /// Milestones by branch
    Grid,
    /// The editor at a step
    Editor,
    /// The gates before a fork at a step
    Gates,
    /// Hypotheses and verdicts
    Hypotheses,
    /// Edits, their runs and verdicts
    Interventions,
    /// Milestones gained and lost
    Milestones,
    /// What was left in the world
    Effects,
    /// The state recorded before a step
    State,
    /// The keys
    Help,
}

fn size(text: &str) -> Result<(u16, u16), String> {
    let sides = text
        .split_once('x')
        .and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)));
    match sides {
        Some((columns @ 24..=500, rows @ 6..=500)) => Ok((columns, rows)),
        _ => {
            Err("write columns and rows, such as 120x40: 24x6 at least, 500x500 at most".to_owned())
        }
    }
}
