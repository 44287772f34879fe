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
use crate::model::BranchId;
use crate::term::{self, First, Options, Pose};
use crate::ui::colour::Depth;
use crate::ui::svg::svg;

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
    let (key, job) = match args.screen {
        Screen::Session => (None, None),
        Screen::Compare if pair.is_some() => (None, pair),
        Screen::Compare => (Some('c'), None),
        Screen::Editor => (Some('e'), None),
        Screen::Gates => (Some('b'), None),
        Screen::Hypotheses => (Some('h'), None),
        Screen::Interventions => (Some('v'), None),
        Screen::Milestones => (Some('m'), None),
        Screen::Effects => (Some('w'), None),
        Screen::State => (Some('t'), None),
        Screen::Help => (Some('?'), None),
    };
    let mut keys = Vec::new();
    if let Some(step) = args.step {
        let line = format!(":{step}");
        keys.extend(line.chars().map(|c| Key::of(Code::Char(c))));
        keys.push(Key::of(Code::Enter));
    }
    keys.extend(key.map(|c| Key::of(Code::Char(c))));
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
        size: args.size,
    };
    let buffer =
        term::picture(options, pose).map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(svg(&buffer, &look.theme))
}
