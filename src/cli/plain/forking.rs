//! From an edit to a fork: by lines, in an editor, or as a hypothesis proposes it.

use std::time::Duration;

use super::{Done, Plain, number};
use crate::app::hypotheses::By;
use crate::app::unsent::Draft;
use crate::cli::error::CliError;
use crate::cli::replay;
use crate::model::{BranchId, Filed, Hypothesis, Standing, Step, trial_of};
use crate::pipeline::{self, Control, ForkRequest, Tests};
use crate::term;

/// The line that ends an edit; a line of the edit that is one gets a second point.
pub(super) const END: &str = ".";

/// After so long without a line, what was written is given to the store.
const PAUSE: Duration = Duration::from_secs(1);

impl Plain {
    /// The step that is meant, and what is known of its edit: a step's number, a hypothesis, or the selected step.
    fn meant(&self, rest: &str) -> Result<(BranchId, Step, Option<Draft>), CliError> {
        let open = self.opened()?;
        if let Some(id) = self.hypothesis_id(rest)? {
            let (filed, step) = pipeline::edited_step(&self.store, &id)?;
            let tests = Tests::of(&filed);
            let kept = self
                .drafts
                .get(&(filed.branch.clone(), step.index))
                .cloned();
            let proposed = filed.proposal.map(|it| it.text).unwrap_or_default();
            let text = kept.map_or(proposed, |kept| kept.text);
            return Ok((
                filed.branch,
                step,
                Some(Draft {
                    text,
                    tests: Some(tests),
                }),
            ));
        }
        let at = number(rest, Some(open.step), "a step")?;
        let step = self.store.step(&open.branch, at)?;
        let draft = self.drafts.get(&(open.branch.clone(), at)).cloned();
        Ok((open.branch.clone(), step, draft))
    }

    /// The whole id of a hypothesis such as `h1`; none if the word is none.
    fn hypothesis_id(&self, word: &str) -> Result<Option<String>, CliError> {
        let name = word.rsplit('/').next().unwrap_or(word);
        let digits = name
            .strip_prefix(['h', 'H'])
            .filter(|digits| digits.parse::<usize>().is_ok());
        let session = &self.opened()?.session.id;
        Ok(digits.map(|digits| format!("{session}/h{digits}")))
    }

    /// Takes an edit from the lines that follow.
    pub(super) async fn edit(&mut self, rest: &str) -> Done {
        let (branch, step, draft) = self.meant(rest)?;
        editable(&step)?;
        self.voice
            .say(&format!("Step {} says:\n{}", step.index, step.text))?;
        if let Some(draft) = draft.as_ref().filter(|draft| !draft.text.is_empty()) {
            self.voice
                .say(&format!("The edit so far:\n{}", draft.text))?;
        }
        self.voice.say("Write what it shall say instead. A line that is a single point ends it; nothing before it drops the edit.")?;
        let tests = draft.and_then(|draft| draft.tests);
        let place = (branch, step.index);
        let mut lines = Vec::new();
        let mut unkept = false;
        loop {
            let line = tokio::select! {
                biased;
                () = replay::ended() => {
                    self.hold_begun(&place, written(&lines, tests.as_ref()))?;
                    self.leaving = true;
                    return Ok(());
                }
                line = self.lines.next() => line,
                () = tokio::time::sleep(PAUSE), if unkept => {
                    self.hold_begun(&place, written(&lines, tests.as_ref()))?;
                    unkept = false;
                    continue;
                }
            };
            match line.transpose() {
                Ok(Some(line)) if line == END => break,
                Ok(Some(line)) => lines.push(line),
                ended => {
                    return self.broken_off(&place, written(&lines, tests.as_ref()), ended.err());
                }
            }
            unkept = true;
        }
        let text = unstuffed(&lines);
        self.keep(&place, &step, text, tests)
    }

    /// An edit that broke off is kept as far as it came.
    fn broken_off(
        &mut self,
        place: &(BranchId, usize),
        edit: Option<Draft>,
        fault: Option<std::io::Error>,
    ) -> Done {
        let at = place.1;
        let what = fault.map_or_else(
            || format!("the edit of step {at} was not ended by a line with a single point"),
            |fault| format!("the edit of step {at} broke off: {fault}"),
        );
        let Some(edit) = edit else {
            return Err(CliError::Usage(format!("{what}, and nothing was written")));
        };
        self.hold(place, Some(edit))?;
        Err(CliError::Usage(format!(
            "{what}. It is kept as far as it came: fork {at} takes it to the gates so, edit {at} writes it anew"
        )))
    }

    /// Takes an edit from the operator's editor.
    pub(super) async fn edit_outside(&mut self, rest: &str) -> Done {
        let (branch, step, draft) = self.meant(rest)?;
        editable(&step)?;
        if !self.lines.terminal {
            return Err(CliError::Usage(
                "an editor needs a terminal on standard input. edit takes the text from the lines that follow".to_owned(),
            ));
        }
        let begun = draft.as_ref().map(|draft| draft.text.clone());
        let begun = begun
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| step.text.clone());
        let text = term::edit(&begun).await.map_err(CliError::Usage)?;
        let place = (branch, step.index);
        self.keep(&place, &step, text, draft.and_then(|draft| draft.tests))
    }

    fn keep(
        &mut self,
        place: &(BranchId, usize),
        step: &Step,
        text: String,
        tests: Option<Tests>,
    ) -> Done {
        if text.trim().is_empty() || text == step.text {
            self.hold(place, None)?;
            let told = format!("Step {} is as it was: no edit of it is kept.", step.index);
            return Ok(self.voice.say(&told)?);
        }
        let told = format!(
            "The edit of step {} is kept beside the original. fork {} takes it to the gates.",
            step.index, step.index
        );
        self.hold(place, Some(Draft { text, tests }))?;
        self.opened_mut()?.step = step.index;
        Ok(self.voice.say(&told)?)
    }

    /// Takes the edit of a step to the gates.
    pub(super) async fn fork(&mut self, rest: &str) -> Done {
        let (branch, step, draft) = self.meant(rest)?;
        let Some(draft) = draft.filter(|draft| !draft.text.is_empty()) else {
            return Err(CliError::Usage(format!(
                "step {0} has no edit yet. edit {0} makes one, re-run {0} runs it as it stands",
                step.index
            )));
        };
        let request = ForkRequest {
            text: Some(draft.text),
            tests: draft.tests,
            ..ForkRequest::at(branch, step.index, self.operator.clone())
        };
        self.take_to_gates(request).await
    }

    /// Takes the unedited re-run of a step to the gates.
    pub(super) async fn baseline(&mut self, rest: &str) -> Done {
        let open = self.opened()?;
        let at = number(rest, Some(open.step), "a step")?;
        let request = ForkRequest::at(open.branch.clone(), at, self.operator.clone());
        self.take_to_gates(request).await
    }

    /// Takes what was held to the gates as it stands.
    pub(super) async fn try_again(&mut self, rest: &str) -> Done {
        let session = &self.opened()?.session.id;
        if rest.is_empty() {
            return Err(CliError::Usage(
                "say which intervention, such as try again i1".to_owned(),
            ));
        }
        let id = if rest.contains('/') {
            rest.to_owned()
        } else {
            format!("{session}/{rest}")
        };
        let request = pipeline::resume_request(&self.store, &id, &self.operator)?;
        self.take_to_gates(request).await
    }

    /// Takes the edit of a hypothesis to the gates.
    pub(super) async fn test(&mut self, rest: &str) -> Done {
        let id = self.hypothesis_id(rest)?.ok_or_else(|| {
            CliError::Usage(format!(
                "'{rest}' is no hypothesis. Say one such as test h1; hypotheses lists them"
            ))
        })?;
        let (filed, step) = pipeline::edited_step(&self.store, &id)?;
        let tests = Some(Tests::of(&filed));
        let Some(proposal) = filed.proposal else {
            return Err(CliError::Usage(format!(
                "{id} has no edit yet. edit {rest} writes one"
            )));
        };
        let request = ForkRequest {
            text: Some(proposal.text),
            tests,
            ..ForkRequest::at(filed.branch, step.index, self.operator.clone())
        };
        self.take_to_gates(request).await
    }

    /// Keeps the operator's own suspicion about the selected step.
    pub(super) fn suspect(&mut self, why: &str) -> Done {
        let open = self.opened()?;
        if why.is_empty() {
            return Err(CliError::Usage(
                "say why the selected step is suspected: suspect REASON".to_owned(),
            ));
        }
        let step = self.store.step(&open.branch, open.step)?;
        let trials = self.store.trials(&open.branch)?;
        let trial = trial_of(&trials, step.index).filter(|trial| trial.start <= step.index);
        let Some(trial) = trial else {
            return Err(CliError::Usage(
                "what stands before the first plan is the task: no agent made it. Read a step of a trial first".to_owned(),
            ));
        };
        let filed = self.store.file(Filed {
            id: String::new(),
            branch: open.branch.clone(),
            round: 1,
            analyst: format!("operator {}", self.operator),
            hypothesis: Hypothesis {
                trial: *trial,
                step: step.index,
                agent: step.agent,
                reason: why.to_owned(),
                evidence: vec![step.index],
                weight: 1.0,
                capability: None,
            },
            proposal: None,
            intervention: None,
            standing: Standing::Proposed,
            note: None,
        })?;
        let name = filed.id.rsplit('/').next().unwrap_or(&filed.id);
        let told = format!("{name} is kept. edit {name} writes the edit that tests it.");
        Ok(self.voice.say(&told)?)
    }

    /// Makes a hypothesis and an edit for each trial.
    pub(super) async fn analyse(&mut self, analyst: &str) -> Done {
        let branch = self.opened()?.branch.clone();
        let by = if analyst == "model" {
            By::Model
        } else {
            By::Offline
        };
        self.voice.say("Analysing.")?;
        let control = Control::new();
        let told = {
            let (store, models) = (&self.store, &self.models);
            let work = term::analyse(store, models, branch, by, self.operator.clone(), &control);
            tokio::pin!(work);
            tokio::select! {
                biased;
                () = replay::interrupted() => {
                    control.stop();
                    work.await?
                }
                told = &mut work => told?,
            }
        };
        self.voice.say(&format!("{told}."))?;
        self.list_hypotheses()
    }
}

/// The text of an edit's lines.
pub(super) fn unstuffed(lines: &[String]) -> String {
    let unstuffed = lines.iter().map(|line| {
        let points = line.len() > 1 && line.chars().all(|c| c == '.');
        if points {
            line.get(1..).unwrap_or_default()
        } else {
            line
        }
    });
    unstuffed.collect::<Vec<_>>().join("\n")
}

/// What was written so far; none if that is nothing.
fn written(lines: &[String], tests: Option<&Tests>) -> Option<Draft> {
    let text = unstuffed(lines);
    (!text.trim().is_empty()).then(|| Draft {
        text,
        tests: tests.cloned(),
    })
}

fn editable(step: &Step) -> Done {
    if step.editable() {
        return Ok(());
    }
    Err(CliError::Usage(format!(
        "step {} is a {} step, a word of the machinery. Edit an instruction, a plan or a message",
        step.index,
        step.kind.name()
    )))
}
