//! `dover open`: the screen on one session, or on a log that is still being written.

use std::path::Path;

use super::args::Open;
use super::context::Context;
use super::error::{CliError, Exit};
use super::{plain, screen};
use crate::pipeline::Follower;
use crate::term::First;

pub fn run(context: &Context, args: Open, hide: &[String]) -> Result<Exit, CliError> {
    let plain = context.global.display.plain;
    if !args.follow {
        return if plain {
            plain::run(context, Some(args.what))
        } else {
            screen::run(context, First::One(args.what), hide)
        };
    }
    if plain {
        return Err(CliError::Usage(
            "--plain reads a session as it is: leave --follow away, or leave --plain away"
                .to_owned(),
        ));
    }
    // What cannot be followed is told before the screen is there.
    Follower::new(Path::new(&args.what))?;
    screen::run(context, First::Growing(args.what), hide)
}
