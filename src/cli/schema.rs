//! `dover schema NAME`: the schema of a file format, for whoever writes such files.

use super::args::{Schema, SchemaOf};
use super::context::Context;
use super::error::{CliError, Exit};
use crate::gate::receipt::RECEIPT_SCHEMA;
use crate::gate::steering::STEERING_SCHEMA;
use crate::import::{PROFILE_SCHEMA, SESSION_SCHEMA};

/// Runs the subcommand. A schema is JSON in either form of output.
pub fn run(context: &mut Context, args: &Schema) -> Result<Exit, CliError> {
    let text = match args.which {
        SchemaOf::Session => SESSION_SCHEMA,
        SchemaOf::Receipt => RECEIPT_SCHEMA,
        SchemaOf::Steering => STEERING_SCHEMA,
        SchemaOf::Profile => PROFILE_SCHEMA,
    };
    context.out.raw(text)?;
    Ok(Exit::Done)
}
