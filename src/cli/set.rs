//! `dover set SESSION`: what a person knows and the log does not say. Steps are never touched.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use super::args::Set;
use super::context::{self, Context};
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use crate::model::{
    BranchId, Check, Effect, MAX_MILESTONES, Milestone, Session, ToolProfile, Verifier,
};
use crate::pipeline;
use crate::store::Store;

#[derive(Serialize)]
struct Known {
    session: String,
    branch: BranchId,
    title: String,
    expected: Option<String>,
    verifier: Option<Verifier>,
    milestones: Vec<Reached>,
    tools: BTreeMap<String, ToolProfile>,
    owners: BTreeMap<String, String>,
    not_the_editor: bool,
    effects: Vec<Effect>,
    /// How the workflow differs from what it was at the start.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Reached {
    #[serde(flatten)]
    milestone: Milestone,
    step: Option<usize>,
}

/// Runs the subcommand.
pub fn run(context: &mut Context, args: &Set) -> Result<Exit, CliError> {
    let store = context.store()?;
    let branch = context::branch(&store, &args.session, None)?;
    let mut session = store.session(branch.session())?;
    let before = session.clone();
    if let Some(file) = &args.profile {
        pipeline::take_profile(&mut session, file)?;
    }
    change(&mut session, args)?;
    // Everything is checked before anything is written.
    check_marks(&store, &session, &branch, args)?;
    check_effects(&store, &branch, args)?;
    if session != before {
        pipeline::update(&store, &session, &context.operator())?;
    }
    for (milestone, step) in &args.marks {
        store.mark_milestone(&branch, *milestone, *step)?;
    }
    for (key, state) in &args.effects {
        let why = args.why.as_deref().unwrap_or_default();
        pipeline::decide_effect(&store, &branch, key, *state, why, &context.operator())?;
    }
    context.out.give(&known(&store, session, branch)?)?;
    Ok(Exit::Done)
}

/// Writes the words into the session's header.
fn change(session: &mut Session, args: &Set) -> Result<(), CliError> {
    if let Some(title) = &args.title {
        session.title.clone_from(title);
    }
    if let Some(expected) = &args.expected {
        session.expected = Some(expected.clone());
        // An expected answer without a judge would judge nothing.
        session.verifier.get_or_insert(Verifier::Answer);
    }
    if let Some(verifier) = &args.verifier {
        session.verifier = Some(verifier.clone());
    }
    if args.clear_milestones {
        session.milestones.clear();
    }
    for words in &args.milestones {
        let milestone = milestone(words)?;
        session
            .milestones
            .retain(|other| other.title != milestone.title);
        session.milestones.push(milestone);
    }
    if session.milestones.len() > MAX_MILESTONES {
        return Err(CliError::Usage(format!(
            "a session has at most {MAX_MILESTONES} milestones, this would make {}. --clear-milestones forgets those set before",
            session.milestones.len()
        )));
    }
    for (name, key) in &args.owners {
        let key = key.to_string();
        session.profile.owners.insert(name.clone(), key);
    }
    for name in &args.remove_owners {
        if session.profile.owners.remove(name).is_none() {
            return Err(CliError::Usage(format!(
                "the profile names no owner {name}, so none was removed"
            )));
        }
    }
    if let Some(wanted) = args.not_the_editor {
        session.profile.not_the_editor = wanted;
    }
    for (name, class) in &args.tools {
        session.profile.tools.entry(name.clone()).or_default().class = *class;
    }
    Ok(())
}

fn milestone(words: &str) -> Result<Milestone, CliError> {
    let (title, check) = match words.split_once('=') {
        Some((title, text)) if !text.trim().is_empty() => {
            (title, Check::Text(text.trim().to_owned()))
        }
        Some((_, _)) => {
            return Err(CliError::Usage(format!(
                "milestone '{words}': after the = stands the text by which a step reaches it"
            )));
        }
        None => (words, Check::Manual),
    };
    if title.trim().is_empty() {
        return Err(CliError::Usage(
            "a milestone needs a title: --milestone TITLE=TEXT".to_owned(),
        ));
    }
    Ok(Milestone {
        title: title.trim().to_owned(),
        check,
    })
}

fn check_marks(
    store: &Store,
    session: &Session,
    branch: &BranchId,
    args: &Set,
) -> Result<(), CliError> {
    let steps = store.branch(branch)?.steps;
    for (milestone, step) in &args.marks {
        if *milestone >= session.milestones.len() || *step >= steps {
            return Err(CliError::Usage(format!(
                "mark {}@{step}: the session has {} milestones (counted from 1), {branch} has {steps} steps (counted from 0)",
                milestone + 1,
                session.milestones.len()
            )));
        }
    }
    Ok(())
}

fn check_effects(store: &Store, branch: &BranchId, args: &Set) -> Result<(), CliError> {
    if args.effects.is_empty() {
        return Ok(());
    }
    let effects = store.effects(branch)?;
    let known = |key: &String| effects.iter().any(|effect| effect.operation_key == *key);
    match args.effects.iter().find(|(key, _)| !known(key)) {
        None => Ok(()),
        Some((key, _)) => {
            let keys: Vec<_> = effects
                .iter()
                .map(|effect| effect.operation_key.as_str())
                .collect();
            let has = if keys.is_empty() {
                "no effects".to_owned()
            } else {
                keys.join(", ")
            };
            Err(CliError::Usage(format!(
                "{branch} has no effect '{key}'. It has {has}"
            )))
        }
    }
}

fn known(store: &Store, session: Session, branch: BranchId) -> Result<Known, CliError> {
    let reached = store.milestones(&branch)?;
    Ok(Known {
        effects: store.effects(&branch)?,
        notes: session
            .at_start
            .as_ref()
            .map(|start| start.changes(&session.workflow()))
            .unwrap_or_default(),
        session: session.id,
        title: session.title,
        expected: session.expected,
        verifier: session.verifier,
        milestones: session
            .milestones
            .into_iter()
            .zip(reached)
            .map(|(milestone, step)| Reached { milestone, step })
            .collect(),
        tools: session.profile.tools,
        owners: session.profile.owners,
        not_the_editor: session.profile.not_the_editor,
        branch,
    })
}

impl Answer for Known {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        out.row(Tone::Strong, &format!("{}  {}", self.branch, self.title))?;
        out.labelled(
            "  expected   ",
            self.expected.as_deref().unwrap_or("not set"),
        )?;
        let verifier = self
            .verifier
            .as_ref()
            .map_or("not set".to_owned(), ToString::to_string);
        out.labelled("  verifier   ", &verifier)?;
        for (i, Reached { milestone, step }) in self.milestones.iter().enumerate() {
            let place = step.map_or("not reached".to_owned(), |step| format!("step {step}"));
            out.labelled(
                "  milestone  ",
                &format!("{} {}: {place}", i + 1, milestone.title),
            )?;
        }
        for (name, tool) in &self.tools {
            out.labelled("  tool       ", &format!("{name}: {}", word(tool.class)))?;
        }
        for (name, key) in &self.owners {
            out.labelled("  owner      ", &format!("{name}: {key}"))?;
        }
        for effect in &self.effects {
            let why = effect
                .evidence
                .as_ref()
                .map_or(String::new(), |why| format!(" ({why})"));
            let line = format!(
                "{} at step {}: {}{why}",
                effect.operation_key,
                effect.step,
                word(effect.state)
            );
            out.labelled("  effect     ", &line)?;
        }
        for note in &self.notes {
            out.labelled("  changed    ", note)?;
        }
        Ok(())
    }
}

/// The word by which JSON names a value.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
