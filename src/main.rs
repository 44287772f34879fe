//! Parses the command line, runs it, maps an error to an exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    // A panic is a defect of dover: color-eyre says where. Errors are sentences and are printed by `cli`.
    if let Err(error) = color_eyre::install() {
        eprintln!("dover: {error}");
    }
    dover::cli::main().into()
}
