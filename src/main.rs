//! Parses the command line, runs it, maps an error to an exit status.

fn main() {}
