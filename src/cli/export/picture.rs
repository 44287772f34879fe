//! The picture of a screen. It is taken of a store that holds the export alone, so that what is redacted is nowhere to be seen.

use std::fs::File;
use std::io::{BufWriter, Write};

use crate::app::key::{Code, Key};
use crate::app::learn::Hidden;
use crate::app::msg::Job;
use crate::cli::args::{Export, Screen};
use crate::cli::context::{self, Context};
use crate::cli::error::CliError;
use crate::cli::look;
use crate::export::{self, ExportError, Source};
use crate::model::{Branch, BranchId, RunStatus};
use crate::term::{self, First, Options, Pose};
use crate::ui::colour::Depth;
use crate::ui::svg::svg;

/// Columns and rows.
const SIZE: (u16, u16) = (120, 40);
/// Branches beside each other.
const SEVERAL: usize = 4;

/// The best run that got to its end beside its parent: one that is right, else the one that gained most, else the first.
fn best(branches: &[Branch]) -> Option<Job> {
    let ended = |branch: &&Branch| branch.parent.is_some() && branch.run == RunStatus::Done;
    let worth = |branch: &&Branch| {
        let gained = branch.milestones.map_or(0, |it| it.after);
        (branch.success == Some(true), gained)
    };
    // Of equals `max_by_key` takes the last.
    let best = branches.iter().rev().filter(ended).max_by_key(worth)?;
    Some(Job::Compare(best.parent.clone()?, best.id.clone()))
}

/// The SVG of the screen asked for.
pub(super) fn taken(
    context: &Context,
    args: &Export,
    source: &mut Source<'_>,
    beside: &[(BranchId, BranchId)],
) -> Result<String, CliError> {
    let look = look::look_in(&context.global.display, Depth::True)?;
    let (store, folder) = context::temporary()?;
    let path = folder.path().join("export.jsonl");
    let written = File::create(&path)
        .map_err(ExportError::from)
        .and_then(|file| {
            let mut out = BufWriter::new(file);
            export::jsonl(&mut out, source)?;
            Ok(out.flush()?)
        });
    written?;
    let session = context::take_in(&store, &path.to_string_lossy())?;
    let here = |id: &BranchId| BranchId::new(&session, id.name());
    let word = args.session.as_deref().unwrap_or_default();
    let asked = BranchId::parse(word);
    let open = if word.contains('/') && here(&asked) == asked {
        asked
    } else {
        BranchId::main(&session)
    };
    let pair = beside.first().map(|(a, b)| Job::Compare(here(a), here(b)));
    let branches = store.branches(&session)?;
    let (pressed, job) = match args.screen.unwrap_or_default() {
        Screen::Session => ("", None),
        Screen::Compare => match pair.or_else(|| best(&branches)) {
            Some(pair) => ("", Some(pair)),
            None => ("c", None),
        },
        Screen::Several if branches.len() > 2 => {
            let ids = branches.iter().map(|branch| branch.id.clone());
            ("", Some(Job::CompareAll(ids.take(SEVERAL).collect())))
        }
        Screen::Several => ("c", None),
        Screen::Overview => ("o", None),
        Screen::Grid => ("om", None),
        Screen::Editor => ("e", None),
        Screen::Gates => ("b", None),
        Screen::Hypotheses => ("h", None),
        Screen::Interventions => ("v", None),
        Screen::Milestones => ("m", None),
        Screen::Effects => ("w", None),
        Screen::State => ("t", None),
        Screen::Help => ("?", None),
    };
    let mut keys = Vec::new();
    if let Some(step) = args.step {
        let line = format!(":{step}");
        keys.extend(line.chars().map(|c| Key::of(Code::Char(c))));
        keys.push(Key::of(Code::Enter));
    }
    keys.extend(pressed.chars().map(|c| Key::of(Code::Char(c))));
    let options = Options {
        store,
        open: First::One(open.to_string()),
        hide: Hidden::default(),
        theme: look.theme.clone(),
        charset: look.charset,
        calm: look.calm,
        keymap: look.keymap,
        mouse: false,
        clipboard: look.clipboard,
        faults: Vec::new(),
        team: None,
        operator: context.operator(),
        model: context.model()?,
    };
    let pose = Pose {
        keys,
        job,
        size: args.size.unwrap_or(SIZE),
    };
    let buffer =
        term::picture(options, pose).map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(svg(&buffer, &look.theme))
}
