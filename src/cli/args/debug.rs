//! The words of `dover debug`.

use super::{Allow, Analysing, Effects};

/// `dover debug`.
#[derive(clap::Args, Debug)]
pub struct Debug {
    /// File, stored id or branch
    pub session: String,
    /// One branch of it, such as b2 [default: main]
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Trials to debug, by their numbers [default: all]
    #[arg(
        long,
        value_name = "N,N",
        value_delimiter = ',',
        conflicts_with = "resume"
    )]
    pub trials: Option<Vec<usize>>,
    /// Independent runs of each edit [default: 3, or 1 where tools may touch the world outside]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=50), conflicts_with = "resume")]
    pub runs: Option<u16>,
    /// How often a trial is tried: a refuted hypothesis comes back with what was learnt
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=20), conflicts_with = "resume")]
    pub rounds: u16,
    /// Seed that the runs' seeds are derived from
    #[arg(
        long,
        value_name = "SEED",
        default_value_t = 0,
        conflicts_with = "resume"
    )]
    pub seed: u64,
    /// Where the runs run [default: the session's own, else team]
    #[arg(long, value_name = "NAME", value_parser = ["scenario", "adapter", "team"], conflicts_with = "resume")]
    pub runtime: Option<String>,
    #[command(flatten)]
    pub allow: Allow,
    #[command(flatten)]
    pub analysing: Analysing,
    /// Runs at the same time, of all trials together
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub jobs: u16,
    /// Go on with a loop that was stopped or held; what has run is not run again
    #[arg(long)]
    pub resume: bool,
    /// Make hypotheses and edits, and run nothing
    #[arg(long)]
    pub propose: bool,
    /// Run although the state cannot be restored exactly; the branches say so for ever
    #[arg(long)]
    pub diagnostic: bool,
    /// What becomes of new effects outside local fixtures
    #[arg(long, value_name = "WORD", value_enum, default_value_t)]
    pub new_effects: Effects,
}
