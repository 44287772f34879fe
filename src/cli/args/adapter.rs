//! Words about teams of agent frameworks.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::PossibleValuesParser;

use super::Effects;
use crate::runtime::adapter::{CUSTOM, NAMES};

/// `dover run autogen` and its like.
#[derive(clap::Args, Debug)]
pub struct StartTeam {
    /// What makes the team: module:factory, or a file such as team.py:build
    pub entry: String,
    /// Use this Python instead of the one that `dover adapter install` made
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
    #[command(flatten)]
    pub starting: Starting,
}

/// `dover run custom`.
#[derive(clap::Args, Debug)]
pub struct StartCustom {
    #[command(flatten)]
    pub starting: Starting,
    /// The adapter: a program that speaks the protocol on its standard input and output
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// What every start of a team takes.
#[derive(clap::Args, Debug)]
pub struct Starting {
    /// The task
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        required_unless_present = "state"
    )]
    pub task: Option<String>,
    /// Begin from a state that the framework itself saved, a JSON file; its own task goes on where none is given
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// The most steps
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..))]
    pub max_steps: u16,
    /// Run to the end without the screen, on a terminal too
    #[arg(long)]
    pub batch: bool,
    /// What becomes of tool calls that do more than read, where no screen asks; each that happens is recorded
    #[arg(long, value_name = "WORD", value_enum, default_value_t = Effects::Allow)]
    pub new_effects: Effects,
}

/// `dover adapter`.
#[derive(clap::Args, Debug)]
pub struct Adapter {
    /// What to do
    #[command(subcommand)]
    pub what: AdapterWhat,
}

/// What can be done about adapters.
#[derive(Subcommand, Debug)]
pub enum AdapterWhat {
    /// Make an environment with a framework's pinned packages, in the data directory
    Install {
        /// Which adapter
        #[arg(value_parser = PossibleValuesParser::new(NAMES))]
        name: String,
        /// The Python to make it with [default: python3]
        #[arg(long, value_name = "PATH")]
        python: Option<PathBuf>,
    },
    /// List the adapters and which are installed
    List,
    /// Walk a team through start, checkpoints, kill, restore, edit and refusals, and say what holds
    Check(Check),
}

/// `dover adapter check`.
#[derive(clap::Args, Debug)]
pub struct Check {
    /// The adapter, or custom with a command
    #[arg(value_parser = PossibleValuesParser::new(NAMES.into_iter().chain([CUSTOM])))]
    pub name: String,
    /// What makes the team: module:factory, or a file such as team.py:build
    #[arg(required_unless_present = "command")]
    pub entry: Option<String>,
    /// The task; with a model that answers the same way each time, or differences are the model's
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "What are 2 and 5 together?",
        allow_hyphen_values = true
    )]
    pub task: String,
    /// Use this Python instead of the one that `dover adapter install` made
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    pub python: Option<PathBuf>,
    /// The most boundaries that are walked
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
    pub max_steps: u16,
    /// Let tool calls happen that do more than read; else they are refused
    #[arg(long)]
    pub allow_tools: bool,
    /// With custom: a program that speaks the protocol
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}
