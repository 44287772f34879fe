//! What several tests need.
#![allow(dead_code)]

use std::io::Write as _;

pub mod model_server;
pub mod pty;
pub mod python;

/// Says what cannot run here and why, past what the harness captures; a failure where nobody would read it.
pub fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
    assert_ne!(
        std::env::var("CI").as_deref(),
        Ok("true"),
        "skipped where nothing may be: {why}"
    );
}
