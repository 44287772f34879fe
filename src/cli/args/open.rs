//! `dover open`.

/// `dover open`.
#[derive(clap::Args, Debug)]
pub struct Open {
    /// File or stored id
    #[arg(value_name = "FILE_OR_ID")]
    pub what: String,
    /// Read the file again whenever it grows: what is added becomes new steps at once
    #[arg(long)]
    pub follow: bool,
}
