//! Finding and reading: sessions, steps, branches, milestones, state.

use std::path::Path;

use super::{Done, List, Open, PAGE, Plain, number, tell};
use crate::cli::context;
use crate::cli::error::CliError;
use crate::cli::text::{count, in_trials};
use crate::model::{BranchId, Checkpoint, TOLD, clean_line};
use crate::pipeline::{self, PipelineError};
use crate::store::StoreError;
use crate::term;

impl Plain {
    pub(super) fn sessions(&mut self) -> Done {
        match pipeline::take_in_samples(&self.store) {
            // A store that can only be read is listed as it is.
            Err(PipelineError::Store(StoreError::ReadOnly { .. })) => {}
            taken => taken?,
        }
        let all = self.store.sessions()?;
        self.voice
            .say(&format!("{}.", count(all.len(), "session")))?;
        for (i, summary) in all.iter().enumerate() {
            let outcome = match summary.success {
                Some(true) => "right answer",
                Some(false) => "failed",
                None => "not judged",
            };
            let told = if summary.told() {
                format!(", {TOLD}")
            } else {
                String::new()
            };
            let milestones = summary
                .milestones
                .map_or_else(String::new, |(reached, of)| {
                    format!(", {reached} of {of} milestones")
                });
            self.voice.say(&format!(
                "{}. {}: {}. {outcome}{told}, {}, {}{milestones}.",
                i + 1,
                clean_line(&summary.session.id),
                clean_line(&summary.session.title),
                in_trials(summary.steps, summary.trials),
                count(summary.branches, "branch"),
            ))?;
        }
        self.listed = all.into_iter().map(|summary| summary.session.id).collect();
        Ok(())
    }

    pub(super) fn open(&mut self, what: &str) -> Done {
        if what.is_empty() {
            return Err(CliError::Usage(
                "say what to open: a number of the list, an id, a branch or a file".to_owned(),
            ));
        }
        let place = what
            .parse::<usize>()
            .ok()
            .filter(|_| !Path::new(what).exists());
        let what = match place {
            None => what.to_owned(),
            Some(n) => n.checked_sub(1).and_then(|n| self.listed.get(n)).cloned().ok_or_else(|| {
                CliError::Usage(format!(
                    "there is no session {n} in the list, which has {}. Say sessions to hear it",
                    self.listed.len()
                ))
            })?,
        };
        let branch = context::branch(&self.store, &what, None)?;
        self.enter(branch)?;
        self.say_where()?;
        self.offer()
    }

    /// Makes a branch the open one, at its first step.
    fn enter(&mut self, branch: BranchId) -> Done {
        let session = self.store.session(branch.session())?;
        self.open = Some(Open {
            session,
            steps: self.store.step_count(&branch)?,
            branch,
            step: 0,
            hits: Vec::new(),
        });
        self.list = List::Steps(0);
        self.gates = None;
        self.compared = None;
        Ok(())
    }

    pub(super) fn say_where(&mut self) -> Done {
        let open = self.opened()?;
        let (session, id, step) = (&open.session, &open.branch, open.step);
        let branch = self.store.branch(id)?;
        let trials = self.store.trials(id)?.len();
        let mut told = vec![format!("{id}: {}.", session.title)];
        told.push(format!("Task: {}", session.task));
        told.extend(
            branch
                .answer
                .as_ref()
                .map(|answer| format!("Answer: {answer}")),
        );
        told.extend(
            session
                .expected
                .as_ref()
                .map(|right| format!("Expected: {right}")),
        );
        let answer = tell::answer(&branch);
        let reached = self.store.milestones(id)?;
        let milestones = if reached.is_empty() {
            String::new()
        } else {
            format!(
                ", {} of {} milestones",
                reached.iter().flatten().count(),
                reached.len()
            )
        };
        told.push(format!(
            "{}, {}{milestones}. Step {step} is selected.",
            in_trials(open.steps, trials),
            if answer.is_empty() {
                branch.run.name()
            } else {
                answer
            },
        ));
        if !session.coverage.whole() {
            told.push(session.coverage.line());
        }
        Ok(self.voice.say(&told.join("\n"))?)
    }

    pub(super) fn steps(&mut self, rest: &str) -> Done {
        let from = number(rest, Some(0), "a step")?;
        self.list_steps(from)
    }

    pub(super) fn more(&mut self) -> Done {
        match self.list {
            List::Steps(from) => self.list_steps(from),
            List::Pairs(from) => self.list_pairs(from),
        }
    }

    fn list_steps(&mut self, from: usize) -> Done {
        let open = self.opened()?;
        let (id, len) = (open.branch.clone(), open.steps);
        let trials = self.store.trials(&id)?;
        let reached = self.store.milestones(&id)?;
        let branches = self.store.branches(id.session())?;
        let heads = self.store.heads(&id, from..from.saturating_add(PAGE))?;
        if heads.is_empty() {
            let told = format!("No step from {from} on: {id} has {}.", count(len, "step"));
            return Ok(self.voice.say(&told)?);
        }
        for head in &heads {
            for trial in trials.iter().filter(|trial| trial.start == head.index) {
                self.voice.say(&format!(
                    "Trial {}, steps {} to {}.",
                    trial.index, trial.start, trial.end
                ))?;
            }
            let stars = reached
                .iter()
                .enumerate()
                .filter(|(_, at)| **at == Some(head.index));
            let mut marks: Vec<String> =
                stars.map(|(i, _)| format!("milestone {}", i + 1)).collect();
            if self.drafts.contains_key(&(id.clone(), head.index)) {
                marks.push("edited, not forked".to_owned());
            }
            let forks = branches
                .iter()
                .filter(|it| it.parent.as_ref() == Some(&id) && it.fork_step == Some(head.index));
            marks.extend(forks.map(|it| format!("fork {}", it.id.name())));
            let marks = if marks.is_empty() {
                String::new()
            } else {
                format!(" ({})", marks.join(", "))
            };
            self.voice.say(&format!("{}{marks}", tell::head(head)))?;
        }
        let next = from + heads.len();
        self.list = List::Steps(next);
        if next < len {
            let told = format!("{} follow: more says them.", count(len - next, "step"));
            self.voice.say(&told)?;
        }
        Ok(())
    }

    /// Reads a step in full, and how well a fork there could be restored.
    pub(super) fn read(&mut self, rest: &str) -> Done {
        let at = number(rest, Some(self.opened()?.step), "a step")?;
        let open = self.opened()?;
        let step = self.store.step(&open.branch, at)?;
        let kin =
            pipeline::restorability(&self.store, &open.session, &open.branch, at, &self.models)?;
        let sure = if kin.exact { "" } else { "Not certain: " };
        self.voice.say(&tell::step(&step))?;
        self.voice
            .say(&format!("A fork here: {sure}{}.", kin.line))?;
        if let Some(draft) = self.drafts.get(&(self.opened()?.branch.clone(), at)) {
            self.voice
                .say(&format!("Your edit of it:\n{}", draft.text))?;
        }
        self.opened_mut()?.step = at;
        Ok(())
    }

    pub(super) fn read_beside(&mut self, next: bool) -> Done {
        let open = self.opened()?;
        let at = if next {
            Some(open.step + 1).filter(|at| *at < open.steps)
        } else {
            open.step.checked_sub(1)
        };
        self.read_found(at, "step", next)
    }

    pub(super) fn go_to_trial(&mut self, next: bool) -> Done {
        let (id, at) = (self.opened()?.branch.clone(), self.opened()?.step);
        let starts = self.store.trials(&id)?.into_iter().map(|trial| trial.start);
        let found = if next {
            starts.into_iter().find(|start| *start > at)
        } else {
            starts.into_iter().rfind(|start| *start < at)
        };
        self.read_found(found, "trial", next)
    }

    pub(super) fn go_to_error(&mut self, next: bool) -> Done {
        let open = self.opened()?;
        let found = term::find_error(&self.store, &open.branch, open.step, next, open.steps)?;
        self.read_found(found, "step that reports a failure", next)
    }

    pub(super) fn search(&mut self, words: &str) -> Done {
        let id = self.opened()?.branch.clone();
        if words.is_empty() {
            return Err(CliError::Usage(
                "say what to search: search WORDS".to_owned(),
            ));
        }
        let hits = self.store.search(&id, words)?;
        let told = count(hits.len(), "step");
        self.voice.say(&format!("{told} with '{words}'."))?;
        for at in hits.iter().take(PAGE) {
            for head in self.store.heads(&id, *at..at + 1)? {
                self.voice.say(&tell::head(&head))?;
            }
        }
        if hits.len() > PAGE {
            self.voice
                .say("These were the first twenty; next hit reads on.")?;
        }
        self.opened_mut()?.hits = hits;
        Ok(())
    }

    pub(super) fn go_to_hit(&mut self, next: bool) -> Done {
        let open = self.opened()?;
        if open.hits.is_empty() {
            return Err(CliError::Usage(
                "nothing was found yet. Say search and the words".to_owned(),
            ));
        }
        let mut hits = open.hits.iter().copied();
        let found = if next {
            hits.find(|at| *at > open.step)
        } else {
            hits.rfind(|at| *at < open.step)
        };
        self.read_found(found, "hit", next)
    }

    fn read_found(&mut self, at: Option<usize>, what: &str, next: bool) -> Done {
        if let Some(at) = at {
            return self.read(&at.to_string());
        }
        let way = if next { "after" } else { "before" };
        let here = self.opened()?.step;
        Ok(self.voice.say(&format!("No {what} {way} step {here}."))?)
    }

    pub(super) fn branches(&mut self) -> Done {
        let open = self.opened()?;
        let all = self.store.branches(&open.session.id)?;
        self.voice
            .say(&format!("{}.", count(all.len(), "branch")))?;
        for branch in &all {
            self.voice.say(&tell::branch(branch))?;
        }
        Ok(())
    }

    /// Goes to a branch of the open session, keeping the step where it has one.
    pub(super) fn show(&mut self, name: &str) -> Done {
        let open = self.opened()?;
        let (session, step) = (open.session.id.clone(), open.step);
        if name.is_empty() {
            return Err(CliError::Usage(
                "say which branch, such as show b1".to_owned(),
            ));
        }
        let branch = context::branch(&self.store, &session, Some(name))?;
        self.enter(branch)?;
        let open = self.opened_mut()?;
        open.step = step.min(open.steps.saturating_sub(1));
        self.say_where()
    }

    pub(super) fn milestones(&mut self) -> Done {
        let open = self.opened()?;
        let id = &open.branch;
        let reached = self.store.milestones(id)?;
        if reached.is_empty() {
            let told = format!(
                "No milestones are set. dover set {} --milestone sets some.",
                id.session()
            );
            return Ok(self.voice.say(&told)?);
        }
        let parent = self.store.branch(id)?.parent;
        let before = parent
            .map(|parent| self.store.milestones(&parent))
            .transpose()?;
        let told = open
            .session
            .milestones
            .iter()
            .enumerate()
            .map(|(i, milestone)| {
                let now = reached.get(i).copied().flatten();
                let was = before
                    .as_ref()
                    .map(|before| before.get(i).copied().flatten());
                let place = now.map_or_else(
                    || "not reached".to_owned(),
                    |at| format!("reached at step {at}"),
                );
                let word = match (was, now) {
                    (Some(None), Some(_)) => ", gained",
                    (Some(Some(_)), None) => ", lost",
                    _ => "",
                };
                format!("Milestone {}, {}: {place}{word}.", i + 1, milestone.title)
            });
        let told: Vec<String> = told.collect();
        Ok(self.voice.say(&told.join("\n"))?)
    }

    pub(super) fn mark(&mut self, rest: &str) -> Done {
        let (milestone, step) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let open = self.opened()?;
        let step = number(step.trim(), Some(open.step), "a step")?;
        let n = number(milestone, None, "a milestone")?;
        let of = open.session.milestones.len();
        if n == 0 || n > of || step >= open.steps {
            return Err(CliError::Usage(format!(
                "there is no milestone {n} or no step {step}: {} has milestones 1 to {of} and {}",
                open.branch,
                count(open.steps, "step")
            )));
        }
        self.store.mark_milestone(&open.branch, n - 1, step)?;
        self.milestones()
    }

    /// What was recorded before a step, or the nearest before that.
    pub(super) fn state(&mut self, rest: &str) -> Done {
        let open = self.opened()?;
        let at = number(rest, Some(open.step), "a step")?;
        let recorded = self.store.boundaries(&open.branch)?;
        let near = recorded
            .iter()
            .rev()
            .find(|it| **it <= at)
            .or(recorded.first());
        let checkpoint = match near {
            Some(at) => self.store.checkpoint(&open.branch, *at)?,
            None => None,
        };
        let Some(checkpoint) = checkpoint else {
            return Ok(self
                .voice
                .say("No state was recorded; a fork here can only be diagnostic.")?);
        };
        self.say_state(&checkpoint)
    }

    /// Says a state, key by key.
    pub(super) fn say_state(&mut self, checkpoint: &Checkpoint) -> Done {
        self.voice
            .say(&format!("State before step {}.", checkpoint.step))?;
        for (name, key) in &checkpoint.keys {
            let value = key.value.as_ref().map_or_else(
                || "fingerprint only".to_owned(),
                |value| format!("saved: {value}"),
            );
            self.voice
                .say(&format!("{name}, revision {}, {value}", key.revision))?;
        }
        Ok(())
    }
}
