//! `dover export SESSION --as state`: a branch in the form that its framework itself saves. Nothing is redacted: a team that is told
//! something else than it was told would go on otherwise.

use std::io::{self, Write as _};

use serde::Serialize;

use super::super::args::Export;
use super::super::context::{self, Context};
use super::super::error::{CliError, Exit};
use super::super::out::{Answer, Out, Tone};
use super::super::{place, replay};
use crate::model::BranchId;
use crate::pipeline::{self, SavedState};

#[derive(Serialize)]
struct Handed {
    branch: BranchId,
    /// The last step that is in it.
    step: usize,
    adapter: String,
    framework: Vec<String>,
    file: String,
    /// Parts that are not in it as they were.
    lost: Vec<String>,
}

/// Asks the framework for the state, and writes it.
pub(super) fn run(context: &mut Context, args: &Export) -> Result<Exit, CliError> {
    let store = context.store()?;
    let id = context::branch(&store, args.session.as_deref().unwrap_or_default(), None)?;
    let threads = tokio::runtime::Runtime::new().map_err(CliError::Threads)?;
    let saved = threads.block_on(async {
        tokio::select! {
            biased;
            // The adapter's process goes with what was begun.
            () = replay::ended() => Err(CliError::Usage("stopped; nothing was written".to_owned())),
            saved = pipeline::saved_state(&store, &id, args.at) => Ok(saved?),
        }
    })?;
    let SavedState {
        branch,
        step,
        state,
    } = saved;
    let text = format!("{:#}\n", state.state);
    let file = args.out.as_deref();
    let Some(path) = file.filter(|path| !place::is_stdout(Some(path))) else {
        for part in &state.lost {
            let _ = writeln!(io::stderr(), "not as it was: {part}");
        }
        context.out.raw(&text)?;
        return Ok(Exit::Done);
    };
    place::put(&mut context.out, Some(path), args.force, |out| {
        Ok(out.write_all(text.as_bytes())?)
    })?;
    let versions = state.framework.iter();
    context.out.give(&Handed {
        branch,
        step,
        framework: versions
            .map(|(name, version)| format!("{name} {version}"))
            .collect(),
        adapter: state.adapter,
        file: path.display().to_string(),
        lost: state.lost,
    })?;
    Ok(Exit::Done)
}

impl Answer for Handed {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        out.row(Tone::Strong, &self.file)?;
        let what = format!("{} up to step {}", self.branch, self.step);
        out.labelled("  state  ", &what)?;
        out.labelled("  of     ", &self.framework.join(", "))?;
        for part in &self.lost {
            out.labelled("  not as it was  ", part)?;
        }
        let go_on = format!(
            "  Go on: dover run {} ENTRY --state {}",
            self.adapter, self.file
        );
        out.row(Tone::Faint, &go_on)
    }
}
