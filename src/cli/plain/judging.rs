//! What came of it: comparisons, verdicts, hypotheses.

use super::replaying::verdict;
use super::{Done, List, PAGE, Plain, number, tell};
use crate::cli::compare;
use crate::cli::context;
use crate::cli::error::CliError;
use crate::cli::text::count;
use crate::model::{BranchId, Filed, Pair, clean};
use crate::pipeline;
use crate::ui::diff::{Side, WordDiff};

impl Plain {
    /// Compares a branch with its parent: the one named, the best run of the last fork, or the open one.
    pub(super) fn compare(&mut self, rest: &str) -> Done {
        let session = self.opened()?.session.id.clone();
        let branch = if rest.is_empty() {
            match self.best_run()? {
                Some(best) => best,
                None => self.opened()?.branch.clone(),
            }
        } else {
            context::branch(&self.store, &session, Some(rest))?
        };
        let Some(parent) = self.store.branch(&branch)?.parent else {
            return Err(CliError::Usage(format!(
                "{branch} has no parent to be compared with. Say compare and a branch, such as compare b1"
            )));
        };
        let comparison = pipeline::compare(&self.store, &parent, &branch)?;
        let equal = count(comparison.common_prefix, "equal step");
        let told = match comparison.first_divergence {
            None => format!("{parent} beside {branch}: {equal}, no difference."),
            Some(at) => {
                format!("{parent} beside {branch}: {equal}, the first difference at step {at}.")
            }
        };
        self.voice.say(&told)?;
        self.said_gains(&parent, &branch)?;
        let first = comparison.pairs.iter().position(|pair| !pair.same);
        self.compared = Some(comparison);
        match first {
            Some(first) => self.list_pairs(first),
            None => Ok(()),
        }
    }

    fn said_gains(&mut self, parent: &BranchId, branch: &BranchId) -> Done {
        let (before, after) = (
            self.store.milestones(parent)?,
            self.store.milestones(branch)?,
        );
        if after.is_empty() {
            return Ok(());
        }
        let changed = |gained: bool| -> Vec<String> {
            let pairs = before.iter().zip(&after).enumerate();
            pairs
                .filter(|(_, (was, now))| was.is_some() != now.is_some() && now.is_some() == gained)
                .map(|(i, _)| (i + 1).to_string())
                .collect()
        };
        let reached = |list: &[Option<usize>]| list.iter().flatten().count();
        let mut told = vec![format!(
            "Milestones {} of {}, before {}",
            reached(&after),
            after.len(),
            reached(&before)
        )];
        for (word, list) in [("gained", changed(true)), ("lost", changed(false))] {
            if !list.is_empty() {
                told.push(format!("{word} {}", list.join(", ")));
            }
        }
        self.voice.say(&format!("{}.", told.join("; ")))?;
        for id in compare::answer_leaks(&self.store, [parent, branch])? {
            let told = format!("{}: its edit gives the answer away.", id.name());
            self.voice.say(&told)?;
        }
        Ok(())
    }

    /// The best run of the fork that was made last, if one got anywhere.
    fn best_run(&self) -> Result<Option<BranchId>, CliError> {
        let Some(last) = &self.last else {
            return Ok(None);
        };
        let outcome = pipeline::outcome(&self.store, last)?;
        let ran = outcome
            .branches
            .into_iter()
            .filter(|branch| !branch.refused());
        Ok(ran
            .max_by_key(|branch| {
                let gained = branch.milestones.map_or(0, |tally| tally.after);
                let first = std::cmp::Reverse(branch.run_index);
                (branch.success == Some(true), gained, first)
            })
            .map(|branch| branch.id))
    }

    pub(super) fn list_pairs(&mut self, from: usize) -> Done {
        let Some(comparison) = self.compared.clone() else {
            return Err(no_comparison());
        };
        let all = &comparison.pairs;
        for (i, pair) in all.iter().enumerate().skip(from).take(PAGE) {
            let (left, right) = (
                self.side(&comparison.a, pair.a)?,
                self.side(&comparison.b, pair.b)?,
            );
            let n = i + 1;
            let told = match (left, right) {
                (Some(_), Some(right)) if pair.same => format!("{n} same: {right}"),
                (Some(left), Some(right)) => format!("{n} was: {left}\n{n} now: {right}"),
                (Some(left), None) => format!("{n} gone: {left}"),
                (None, Some(right)) => format!("{n} new: {right}"),
                (None, None) => continue,
            };
            self.voice.say(&told)?;
        }
        let next = from.saturating_add(PAGE).min(all.len());
        self.list = List::Pairs(next);
        if next < all.len() {
            let told = format!(
                "{} follow: more says them. full and a number reads one.",
                count(all.len() - next, "pair")
            );
            self.voice.say(&told)?;
        }
        Ok(())
    }

    fn side(&self, id: &BranchId, step: Option<usize>) -> Result<Option<String>, CliError> {
        let Some(at) = step else {
            return Ok(None);
        };
        Ok(self.store.heads(id, at..at + 1)?.first().map(tell::head))
    }

    /// Reads a pair in full, with what was taken out and put in.
    pub(super) fn pair(&mut self, rest: &str) -> Done {
        let n = number(rest, None, "a pair")?;
        let comparison = self.compared.as_ref().ok_or_else(no_comparison)?;
        let pair: Pair = n
            .checked_sub(1)
            .and_then(|n| comparison.pairs.get(n))
            .copied()
            .ok_or_else(|| {
                CliError::Usage(format!(
                    "there is no pair {n}: the comparison has {}",
                    comparison.pairs.len()
                ))
            })?;
        let read =
            |id: &BranchId, at: Option<usize>| at.map(|at| self.store.step(id, at)).transpose();
        let (left, right) = (read(&comparison.a, pair.a)?, read(&comparison.b, pair.b)?);
        let both = (
            comparison.a.name().to_owned(),
            comparison.b.name().to_owned(),
        );
        if let Some(step) = &left {
            self.voice
                .say(&format!("{}: {}", both.0, tell::step(step)))?;
        }
        if let Some(step) = &right {
            self.voice
                .say(&format!("{}: {}", both.1, tell::step(step)))?;
        }
        if let (Some(left), Some(right), false) = (left, right, pair.same) {
            let diff = WordDiff::new(&clean(&left.text), &clean(&right.text));
            let told = diff.passage(Side::Both, true).text().to_owned();
            self.voice
                .say(&format!("Taken out in [- -], put in in {{+ +}}:\n{told}"))?;
        }
        Ok(())
    }

    pub(super) fn verdicts(&mut self) -> Done {
        let session = self.opened()?.session.id.clone();
        let all = pipeline::outcomes(&self.store, &session)?;
        if all.is_empty() {
            return Ok(self
                .voice
                .say("Nothing was tried yet: edit a step, then fork.")?);
        }
        for outcome in &all {
            let it = &outcome.intervention;
            let name = it.id.rsplit('/').next().unwrap_or(&it.id);
            self.voice.say(&format!(
                "{name}, {} at step {} of {} by {}: {}.",
                it.category.name(),
                it.step,
                it.parent.name(),
                it.operator,
                verdict(outcome)
            ))?;
            if let Some(text) = &it.text {
                self.voice.say(&format!("Edit: {text}"))?;
            }
            for branch in &outcome.branches {
                self.voice.say(&tell::branch(branch))?;
            }
        }
        Ok(())
    }

    pub(super) async fn hypotheses(&mut self) -> Done {
        let open = self.opened()?;
        let filed = self.store.hypotheses(&open.session.id)?;
        if filed.iter().any(|filed| filed.branch == open.branch) {
            return self.list_hypotheses();
        }
        self.analyse("offline").await
    }

    pub(super) fn list_hypotheses(&mut self) -> Done {
        let open = self.opened()?;
        let (session, branch) = (open.session.id.clone(), open.branch.clone());
        let filed = self.store.hypotheses(&session)?;
        for one in filed.iter().filter(|filed| filed.branch == branch) {
            let told = self.hypothesis(one)?;
            self.voice.say(&told)?;
        }
        Ok(self.voice.say("test and a name such as h1 takes its edit to the gates; edit and its name changes it first.")?)
    }

    fn hypothesis(&self, filed: &Filed) -> Result<String, CliError> {
        let it = &filed.hypothesis;
        let name = filed.id.rsplit('/').next().unwrap_or(&filed.id);
        let mut told = vec![format!(
            "{name}, trial {}, by {}: step {} {}. {}",
            it.trial.index, filed.analyst, it.step, it.agent, it.reason
        )];
        told.extend(
            it.capability
                .as_ref()
                .map(|lacks| format!("Capability finding: {lacks}.")),
        );
        told.extend(
            filed
                .proposal
                .as_ref()
                .map(|edit| format!("Edit of step {}: {}", edit.target.step, edit.text)),
        );
        if let Some(id) = &filed.intervention {
            let outcome = pipeline::outcome(&self.store, id)?;
            told.push(format!("Tested: {}.", verdict(&outcome)));
        }
        told.extend(filed.note.clone());
        Ok(told.join("\n"))
    }
}

fn no_comparison() -> CliError {
    CliError::Usage(
        "nothing is compared yet. Say compare and a branch, such as compare b1".to_owned(),
    )
}
