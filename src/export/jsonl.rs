//! A session as dover's own JSONL, which imports again equal: the original run, then what stands beside it, parents before children.
//!
//! What dover found out for itself and where a profile is at home stay with the store. Nothing that starts a program is written.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::ExportError;
use super::source::{PAGE, Source};
use crate::model::{Branch, Checkpoint, Effect, Manifest, RuntimeRef, Session, Step};

/// Writes a session's original run; what is read back is what was written.
pub fn original<'a>(
    out: &mut dyn Write,
    session: &Session,
    steps: impl IntoIterator<Item = (&'a Step, Option<&'a Checkpoint>, &'a [Effect])>,
    answer: Option<&str>,
) -> io::Result<()> {
    header(out, session)?;
    for (step, checkpoint, effects) in steps {
        record(out, step, checkpoint, effects)?;
    }
    answer.map_or(Ok(()), |text| line(out, "answer", &json!({ "text": text })))
}

/// Writes a session with the branches that the source was asked for.
///
/// # Errors
/// The store, or the place that it is written to.
pub fn session(out: &mut dyn Write, source: &mut Source<'_>) -> Result<(), ExportError> {
    header(out, &source.session()?)?;
    for receipt in source.receipts()? {
        line(out, "receipt", &receipt)?;
    }
    for made in source.interventions()? {
        line(out, "intervention", &made)?;
    }
    for mut branch in source.branches()? {
        // Whoever reads the file checks for himself.
        branch.told = false;
        let config = source.own_config(&branch.id)?;
        if branch.parent.is_some() {
            line(
                out,
                "branch",
                &BranchLine {
                    branch: &branch,
                    config,
                },
            )?;
        }
        steps(out, source, &branch)?;
        if branch.parent.is_none() {
            // What was made of the run stands after it: only then does it stand before the first branch.
            line(
                out,
                "branch",
                &BranchLine {
                    branch: &branch,
                    config: None,
                },
            )?;
        }
    }
    for filed in source.hypotheses()? {
        line(out, "hypothesis", &filed)?;
    }
    for mark in source.marks()? {
        line(out, "mark", &mark)?;
    }
    for note in source.notes()? {
        line(out, "note", &note)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct BranchLine<'a> {
    #[serde(flatten)]
    branch: &'a Branch,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Manifest>,
}

/// The steps that a branch made itself, with their states and effects.
fn steps(out: &mut dyn Write, source: &mut Source<'_>, branch: &Branch) -> Result<(), ExportError> {
    let start = branch.fork_step.unwrap_or_default();
    let mut effects = source.own_effects(branch)?;
    for at in (start..branch.steps).step_by(PAGE) {
        let page = at..(at + PAGE).min(branch.steps);
        let last = page.end == branch.steps;
        let mut states = source
            .checkpoints(&branch.id, page.clone())?
            .into_iter()
            .peekable();
        for step in source.steps(&branch.id, page)? {
            let state = states.next_if(|state| state.step == step.index);
            // An effect of a step that never came stands after the last one.
            let end = last && step.index + 1 == branch.steps;
            let own: Vec<Effect> = effects
                .extract_if(.., |effect| end || effect.step <= step.index)
                .collect();
            record(out, &step, state.as_ref(), &own)?;
        }
    }
    Ok(())
}

fn header(out: &mut dyn Write, session: &Session) -> io::Result<()> {
    let header = Session {
        at_start: None,
        told: std::collections::BTreeSet::new(),
        base_dir: None,
        evidence: std::collections::BTreeMap::new(),
        config: None,
        runtime: session.runtime.clone().map(|runtime| RuntimeRef {
            destination: None,
            adapter: None,
            ..runtime
        }),
        ..session.clone()
    };
    line(out, "session", &header)
}

fn record(
    out: &mut dyn Write,
    step: &Step,
    checkpoint: Option<&Checkpoint>,
    effects: &[Effect],
) -> io::Result<()> {
    if let Some(checkpoint) = checkpoint {
        line(out, "checkpoint", checkpoint)?;
    }
    line(out, "step", step)?;
    effects
        .iter()
        .try_for_each(|effect| line(out, "effect", effect))
}

fn line(out: &mut dyn Write, kind: &str, noun: &impl Serialize) -> io::Result<()> {
    let mut map = Map::new();
    map.insert("type".to_owned(), kind.into());
    if let Value::Object(fields) = serde_json::to_value(noun)? {
        map.extend(fields);
    }
    serde_json::to_writer(&mut *out, &map)?;
    out.write_all(b"\n")
}
