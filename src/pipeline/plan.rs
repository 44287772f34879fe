//! From what an operator asks for to an edit that makes sense, or to the sentence that says why it does not.

use std::sync::Arc;

use crate::analyst::Analyst;
use crate::model::{
    self, Branch, BranchId, Category, ConfigChange, Digest, EditClass, Filed, Intervention,
    Session, Step,
};
use crate::runtime::{Description, Runtime, RuntimeError};
use crate::store::Store;

use super::{ModelSettings, PipelineError, config, judge, workspace};

/// n, where nothing outside local fixtures can be touched (SPEC 2.4).
const RUNS: usize = 3;
/// The most runs of one intervention.
const MAX_RUNS: usize = 50;

/// What an operator asks for.
#[derive(Clone, Debug)]
pub struct ForkRequest {
    /// The branch to fork.
    pub branch: BranchId,
    /// The step to fork at.
    pub step: usize,
    /// The text that replaces the step's content; none for the unedited re-run.
    pub text: Option<String>,
    /// The edit's category; by default that of the step's kind.
    pub category: Option<Category>,
    /// n; by default 3, or 1 where a reachable tool outside local fixtures is not read-only.
    pub runs: Option<usize>,
    /// Seed that the runs' seeds are derived from.
    pub seed: u64,
    /// Run as a diagnostic branch if gate 2 alone does not hold.
    pub diagnostic: bool,
    /// Who asks.
    pub operator: String,
    /// Intended changes of the configuration; with any, the category is `config`.
    pub changes: Vec<ConfigChange>,
    /// The tool registry may have drifted: the operator has seen it.
    pub acknowledge_drift: bool,
    /// Differences of the configuration that nobody asked for are accepted as intended.
    pub accept_delta: bool,
    /// What becomes of new effects outside local fixtures.
    pub new_effects: NewEffects,
    /// An intervention that is tried again as it stands, by its id: one that was held, or one of which runs were stopped.
    pub resume: Option<String>,
    /// Of an intervention tried again, the stopped runs that are to be run again.
    pub stopped: Vec<BranchId>,
    /// The hypothesis that the edit tests.
    pub tests: Option<Tests>,
    /// The runtime, by its name; none for the session's own.
    pub runtime: Option<String>,
}

/// The hypothesis that an edit tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tests {
    /// Its id.
    pub id: String,
    /// Whether it is a capability finding, which is never Refuted.
    pub capability: bool,
}

impl Tests {
    /// That an edit tests this hypothesis.
    #[must_use]
    pub fn of(filed: &Filed) -> Self {
        Self {
            id: filed.id.clone(),
            capability: filed.hypothesis.capability.is_some(),
        }
    }
}

/// What becomes of new effects outside local fixtures while a run goes (SPEC 3): each is decided, none happens by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NewEffects {
    /// The run is held there.
    #[default]
    Hold,
    /// The run waits until somebody decides.
    Ask,
    /// They may happen; the operator decided so beforehand.
    Allow,
    /// They must not happen; the tool fails and the run goes on.
    Refuse,
}

impl ForkRequest {
    /// An unedited re-run, to be filled in.
    #[must_use]
    pub fn at(branch: BranchId, step: usize, operator: impl Into<String>) -> Self {
        Self {
            branch,
            step,
            text: None,
            category: None,
            runs: None,
            seed: 0,
            diagnostic: false,
            operator: operator.into(),
            changes: Vec::new(),
            acknowledge_drift: false,
            accept_delta: false,
            new_effects: NewEffects::default(),
            resume: None,
            stopped: Vec::new(),
            tests: None,
            runtime: None,
        }
    }
}

/// An edit that makes sense, ready for the gates.
#[derive(Clone)]
pub struct Plan {
    /// What was asked.
    pub request: ForkRequest,
    /// The session.
    pub session: Arc<Session>,
    /// The parent.
    pub parent: Branch,
    /// The step as the parent has it.
    pub original: Step,
    /// The step as it will be delivered.
    pub pending: Step,
    /// The edit's category.
    pub category: Category,
    /// Its coarse class; none for the baseline.
    pub class: Option<EditClass>,
    /// The text contains the expected answer, which neither the task nor the prefix does: flagged, not refused.
    pub answer_leak: bool,
    /// n.
    pub runs: usize,
    /// The intervention that is tried again, if it is one.
    pub again: Option<Intervention>,
    /// Its stopped runs that are run again, if it was not held.
    pub stopped: Vec<Branch>,
    /// Where it will run.
    pub runtime: Arc<dyn Runtime>,
    /// What that is.
    pub description: Description,
    /// Who says whether an edit was executed, where the runtime cannot tell, and where milestones without a check were reached.
    pub judge: Option<Arc<dyn Analyst>>,
}

impl Plan {
    /// The plan with somebody who judges what its runtime cannot tell.
    #[must_use]
    pub fn judged_by(self, judge: Arc<dyn Analyst>) -> Self {
        Self {
            judge: Some(judge),
            ..self
        }
    }

    /// Whether the runs will be diagnostic if gate 2 does not hold: asked for, or in the runtime's nature.
    #[must_use]
    pub fn diagnostic(&self) -> bool {
        self.request.diagnostic || !self.description.exact
    }

    /// The digest of all that is edited: the step as it will be delivered, and the changes of the configuration.
    #[must_use]
    pub fn edit_digest(&self) -> Digest {
        config::edit_digest(self.pending.digest(), &self.request.changes)
    }
}

/// Makes sense of a request. Reads the prefix once, to look for the expected answer in it.
///
/// # Errors
/// No such branch or step, an empty edit, a step that cannot be edited, a category that does not fit, no runtime.
pub fn plan(
    store: &Store,
    request: ForkRequest,
    model: &ModelSettings,
) -> Result<Plan, PipelineError> {
    let parent = store.branch(&request.branch)?;
    let mut session = super::session_of(store, &request.branch)?;
    if request.step >= parent.steps {
        return Err(usage(match parent.steps {
            0 => format!("{} has no steps, so there is nothing to fork", parent.id),
            n => format!(
                "{} has no step {}: its steps are 0 to {}. `dover show {}` lists them",
                parent.id,
                request.step,
                n - 1,
                parent.id
            ),
        }));
    }
    if !parent.run.is_over() {
        return Err(usage(format!(
            "{} is still running. Wait for its end or stop it, then fork it",
            parent.id
        )));
    }
    let again = match &request.resume {
        Some(id) => Some(super::approve::stored(store, id)?),
        None => None,
    };
    let stopped = request
        .stopped
        .iter()
        .map(|id| store.branch(id))
        .collect::<Result<_, _>>()?;
    let original = store.step(&request.branch, request.step)?;
    let pending = edited(&original, request.text.as_deref())?;
    let category = category(&request, &original)?;
    let before = session.clone();
    for change in &request.changes {
        session.change(change.clone());
    }
    let session = Arc::new(session);
    let runtime = super::runtimes::choose(&session, model, request.runtime.as_deref())?;
    config::check_changes(store, &request.branch, &before, &*runtime, &request.changes)?;
    let description = runtime.describe(&session);
    let class = request
        .text
        .as_deref()
        .map(|text| model::edit_class(&original.text, text, category));
    let answer_leak = match (&request.text, &session.expected) {
        (Some(text), Some(expected)) => {
            let prefix = store.steps(&request.branch, 0..request.step)?;
            let known = prefix.iter().map(|step| step.text.as_str());
            model::leaks_answer(text, expected, &session.task, known)
        }
        _ => false,
    };
    let runs = match request.runs {
        Some(0) => {
            return Err(usage(
                "0 runs would show nothing. Give --runs 1 or more".into(),
            ));
        }
        Some(n) if n > MAX_RUNS => {
            return Err(usage(format!(
                "{n} runs are more than the {MAX_RUNS} that one intervention may have"
            )));
        }
        Some(n) => n,
        None if description.local_fixtures => RUNS,
        None => 1,
    };
    Ok(Plan {
        request,
        session,
        parent,
        original,
        pending,
        category,
        class,
        answer_leak,
        runs,
        again,
        stopped,
        runtime,
        description,
        judge: Some(super::analysts::judge(model)),
    })
}

fn usage(sentence: String) -> PipelineError {
    PipelineError::Usage(sentence)
}

/// The step with its new content.
pub(super) fn edited(original: &Step, text: Option<&str>) -> Result<Step, PipelineError> {
    let Some(text) = text else {
        return Ok(original.clone());
    };
    if text.trim().is_empty() {
        return Err(usage(
            "the edit is empty. Write what the step should say, or leave the text out for an unedited re-run".into(),
        ));
    }
    if text == original.text {
        return Err(usage(
            "the edit is the text as it stands. Change it, or leave the text out for an unedited re-run".into(),
        ));
    }
    if !original.editable() {
        return Err(usage(format!(
            "step {} is a {} step, which is the machinery's own. Edit an instruction, a plan or a message",
            original.index,
            original.kind.name()
        )));
    }
    // What the old text made known does not hold for the new one.
    let mut step = Step {
        text: text.to_owned(),
        ..original.clone()
    };
    step.meta.facts.clear();
    step.meta.pages.clear();
    step.meta.error = false;
    Ok(step)
}

/// The edit's category: that of the step's kind unless another was given that the step can carry.
fn category(request: &ForkRequest, original: &Step) -> Result<Category, PipelineError> {
    if !request.changes.is_empty() {
        return match request.category {
            None | Some(Category::Config) => Ok(Category::Config),
            Some(other) => Err(usage(format!(
                "a changed configuration is of category config, not {}. Leave --category out",
                other.name()
            ))),
        };
    }
    if request.category == Some(Category::Config) {
        return Err(usage(
            "category config needs a change: give --prompt, --set-model or --tools".into(),
        ));
    }
    if request.text.is_none() {
        return match request.category {
            None | Some(Category::None) => Ok(Category::None),
            Some(other) => Err(usage(format!(
                "category {} needs a text: give --text or --text-file",
                other.name()
            ))),
        };
    }
    let natural = Category::of_kind(original.kind);
    match request.category {
        None => Ok(natural),
        Some(asked) if asked == natural || asked == Category::Message => Ok(asked),
        Some(asked) => Err(usage(format!(
            "step {} is a {} step, so an edit of it is `{}`, not `{}`",
            original.index,
            original.kind.name(),
            natural.name(),
            asked.name()
        ))),
    }
}

/// What is said beside the fork key before it is pressed (SPEC 3: the limit stands beside the control).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restorability {
    /// Every required key has a saved value and the runtime can restore exactly. Nothing else may be green.
    pub exact: bool,
    /// One line of at most 60 cells.
    pub line: String,
}

/// The nearest steps before and after one that have a checkpoint, as text: `step 0 or step 2`.
pub(super) fn nearest(boundaries: &[usize], step: usize) -> Option<String> {
    let before = boundaries.iter().rfind(|at| **at < step);
    let after = boundaries.iter().find(|at| **at > step);
    let steps: Vec<String> = [before, after]
        .into_iter()
        .flatten()
        .map(|at| format!("step {at}"))
        .collect();
    (!steps.is_empty()).then(|| steps.join(" or "))
}

/// Tells how well a fork at a step could be restored, from the records alone; nothing is started.
pub fn restorability(
    store: &Store,
    session: &Session,
    branch: &BranchId,
    step: usize,
    model: &ModelSettings,
) -> Result<Restorability, PipelineError> {
    let uncertain = |line: String| Ok(Restorability { exact: false, line });
    let runtime = match super::runtimes::choose(session, model, None) {
        Ok(runtime) => runtime,
        Err(PipelineError::Runtime(RuntimeError::Missing { what, .. })) => {
            return uncertain(format!("no fork: {what}"));
        }
        Err(error) => return Err(error),
    };
    if !runtime.describe(session).exact {
        return uncertain("diagnostic only: the transcript is re-seeded".into());
    }
    let Some(checkpoint) = store.checkpoint(branch, step)? else {
        let near = nearest(&store.boundaries(branch)?, step);
        let near = near.map_or(String::new(), |steps| format!("; the nearest: {steps}"));
        return uncertain(format!("uncertain: no checkpoint at this step{near}"));
    };
    let required = &session.profile.required_keys;
    // Where the profile names none, all that was recorded is required, as gate 2 has it.
    let recorded: Vec<String> = checkpoint.keys.keys().cloned().collect();
    let required = if required.is_empty() {
        &recorded
    } else {
        required
    };
    // A key of the profile's commands has no value that could be saved: whether it is as it was shows when it is asked.
    let (asked, kept): (Vec<&str>, Vec<&str>) = required
        .iter()
        .map(String::as_str)
        .partition(|key| session.evidence.contains_key(*key));
    let real = session.profile.workspace.is_some();
    let saved = |key: &str| {
        checkpoint.keys.get(key).is_some_and(|state| {
            let tree = real && key == workspace::KEY;
            state.value.is_some() && (!tree || workspace::is_saved(state))
        })
    };
    let missing: Vec<&str> = kept.into_iter().filter(|key| !saved(key)).collect();
    let pending = judge::classed(session, &store.effects(branch)?)
        .iter()
        .filter(|effect| effect.step >= step && effect.blocks())
        .count();
    if pending > 0 {
        let noun = if pending == 1 { "effect" } else { "effects" };
        return uncertain(format!("held: {pending} {noun} after this step to settle"));
    }
    if missing.is_empty() && !asked.is_empty() {
        uncertain(format!("asked at the fork: {}", asked.join(", ")))
    } else if missing.is_empty() {
        let n = required.len();
        Ok(Restorability {
            exact: true,
            line: format!("{n} of {n} state keys saved, tested at the gates"),
        })
    } else {
        uncertain(format!("uncertain: {} not saved", missing.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_nearest_steps_with_a_state_are_named() {
        let table = [
            (1, Some("step 0 or step 2")),
            (7, Some("step 6")),
            (0, Some("step 2")),
        ];
        for (step, expected) in table {
            assert_eq!(super::nearest(&[0, 2, 6], step).as_deref(), expected);
        }
        assert_eq!(super::nearest(&[], 3), None);
    }
}
