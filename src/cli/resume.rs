//! `dover resume INTERVENTION`: what a gate held is tried again, exactly as it stands; what was stopped or interrupted is run again.

use super::args::Resume;
use super::context::Context;
use super::error::{CliError, Exit};
use super::fork;
use crate::pipeline::{self, ForkRequest};

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Resume) -> Result<Exit, CliError> {
    let store = context.store()?;
    let stored = pipeline::resume_request(&store, &args.intervention, &context.operator())?;
    let request = ForkRequest {
        diagnostic: args.diagnostic,
        acknowledge_drift: args.acknowledge_drift,
        accept_delta: args.accept_delta,
        new_effects: args.new_effects.into(),
        ..stored
    };
    fork::carry_out(context, &store, request, args.jobs, &args.allow)
}
