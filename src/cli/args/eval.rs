//! The words of `dover eval`.

use std::path::PathBuf;

use clap::Subcommand;

use super::{Allow, Analysing};
use crate::pipeline::eval::results::Shard;

/// `dover eval`.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Eval {
    /// What to evaluate instead of outcomes.
    #[command(subcommand)]
    pub command: Option<EvalCommand>,
    /// Directories or files: sessions, which are debugged, or results of dover debug --json and dover eval
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only this part of the sessions, such as 2/4; dover eval merge puts the parts together
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Write the results to a file as well, for merging
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print the figures as a Markdown table
    #[arg(long)]
    pub markdown: bool,
    /// Independent runs of each edit [default: 3, or 1 where tools may touch the world outside]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=50))]
    pub runs: Option<u16>,
    /// How often a trial is tried
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=20))]
    pub rounds: u16,
    /// Seed that everything is derived from
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
    /// Where the runs run [default: the session's own, else team]
    #[arg(long, value_name = "NAME", value_parser = ["scenario", "adapter", "team"])]
    pub runtime: Option<String>,
    #[command(flatten)]
    pub allow: Allow,
    #[command(flatten)]
    pub analysing: Analysing,
    /// Runs at the same time
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub jobs: u16,
}

/// A subcommand of `dover eval`.
#[derive(Subcommand, Debug)]
pub enum EvalCommand {
    /// How often attribution by rules finds the labelled mistake, beside baselines and published figures
    Attribution {
        /// A directory of labelled logs, such as Who&When
        dir: PathBuf,
    },
    /// Put the parts of an evaluation together that were made with --shard
    Merge {
        /// What dover eval --shard --out wrote, all parts
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Write the results to a file as well
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Print the figures as a Markdown table
        #[arg(long)]
        markdown: bool,
    },
}
