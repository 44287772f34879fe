//! The words of `dover learn`.

use std::path::PathBuf;

/// `dover learn`.
#[derive(clap::Args, Debug)]
pub struct Learn {
    /// A lesson's name, its file, or a directory of lessons [default: the list of all]
    #[arg(value_name = "NAME|FILE|DIR", conflicts_with = "check")]
    pub what: Option<String>,
    /// Say what is wrong in a lesson's file, or in all of a directory, line by line
    #[arg(long, value_name = "FILE|DIR")]
    pub check: Option<PathBuf>,
}
