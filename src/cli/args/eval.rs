//! The words of `dover eval`.

use std::path::PathBuf;

use clap::Subcommand;

/// `dover eval`.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Eval {
    /// What to evaluate instead of outcomes.
    #[command(subcommand)]
    pub command: Option<EvalCommand>,
}

/// A subcommand of `dover eval`.
#[derive(Subcommand, Debug)]
pub enum EvalCommand {
    /// How often attribution by rules finds the labelled mistake, beside baselines and published figures
    Attribution {
        /// A directory of labelled logs, such as Who&When
        dir: PathBuf,
    },
}
