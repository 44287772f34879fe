//! Milestones: checkable sub-goals of a task, at most [`MAX_MILESTONES`] a session.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{BranchId, Step};

/// K, the most milestones a session has (SPEC 1).
pub const MAX_MILESTONES: usize = 5;

/// How a milestone is recognised.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// A fact of a scenario world became known.
    Fact(String),
    /// A page of a scenario world was read.
    Page(String),
    /// A tool was called and did not fail.
    Tool(String),
    /// A step after the task contains this text, letter case aside.
    Text(String),
    /// Only a person says so, by marking a step.
    Manual,
}

/// A checkable sub-goal.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Milestone {
    /// What a person reads.
    pub title: String,
    /// How it is recognised.
    pub check: Check,
}

/// A person's word that a milestone is reached.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct MilestoneMark {
    /// The branch that it was said of.
    pub branch: BranchId,
    /// The milestone's title.
    pub milestone: String,
    /// The step that reaches it.
    pub step: usize,
}

/// Why a milestone could not be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MilestoneError {
    /// No title before the `=`, or nothing at all.
    #[error("a milestone needs a title: write \"title=text that a step contains\"")]
    NoTitle,
    /// An `=` and nothing behind it.
    #[error(
        "a milestone needs the text that a step contains after '='; without '=' it is marked by hand"
    )]
    NoText,
    /// K is reached.
    #[error("a session has at most {MAX_MILESTONES} milestones; clear them first or keep these")]
    TooMany,
}

/// Reads milestones from a person's words, at most [`MAX_MILESTONES`].
pub fn parse_milestones<'a>(
    words: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<Milestone>, MilestoneError> {
    let milestones: Vec<_> = words
        .into_iter()
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    if milestones.len() > MAX_MILESTONES {
        return Err(MilestoneError::TooMany);
    }
    Ok(milestones)
}

impl FromStr for Milestone {
    type Err = MilestoneError;

    /// Reads `title=text that a step contains`; a title alone is a milestone that a person marks.
    fn from_str(words: &str) -> Result<Self, MilestoneError> {
        let (title, text) = match words.split_once('=') {
            Some((title, text)) => (title.trim(), Some(text.trim())),
            None => (words.trim(), None),
        };
        if title.is_empty() {
            return Err(MilestoneError::NoTitle);
        }
        let check = match text {
            Some("") => return Err(MilestoneError::NoText),
            Some(text) => Check::Text(text.to_owned()),
            None => Check::Manual,
        };
        Ok(Self {
            title: title.to_owned(),
            check,
        })
    }
}

impl Milestone {
    /// Whether this step alone reaches the milestone.
    #[must_use]
    pub fn reached_by(&self, step: &Step) -> bool {
        match &self.check {
            Check::Fact(fact) => step.meta.facts.contains(fact),
            Check::Page(page) => step.meta.pages.contains(page),
            Check::Tool(tool) => {
                step.kind == super::StepKind::ToolResult
                    && step
                        .meta
                        .tool
                        .as_ref()
                        .is_some_and(|used| used.name == *tool && !used.failed)
            }
            Check::Text(text) => {
                step.kind != super::StepKind::Task
                    && !text.trim().is_empty()
                    && step
                        .text
                        .to_lowercase()
                        .contains(&text.trim().to_lowercase())
            }
            Check::Manual => false,
        }
    }
}

/// For each milestone the first step that reached it, over a whole trajectory.
#[must_use]
pub fn reached<'a>(
    milestones: &[Milestone],
    steps: impl IntoIterator<Item = &'a Step>,
) -> Vec<Option<usize>> {
    let mut found = vec![None; milestones.len()];
    for step in steps {
        for (slot, milestone) in found.iter_mut().zip(milestones) {
            if slot.is_none() && milestone.reached_by(step) {
                *slot = Some(step.index);
            }
        }
    }
    found
}

/// Milestones of a branch beside its parent's: A(parent), A(branch), K.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tally {
    /// A(parent), over the parent's whole trajectory.
    pub before: usize,
    /// A(branch), over the branch's whole trajectory.
    pub after: usize,
    /// K.
    pub of: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{StepKind, ToolUse};

    #[test]
    fn reads_a_persons_words() {
        let of = |words: &str| {
            words
                .parse::<Milestone>()
                .map(|found| (found.title, found.check))
        };
        let text = |text: &str| Check::Text(text.into());
        assert_eq!(
            of(" Found it = 4 August "),
            Ok(("Found it".into(), text("4 August")))
        );
        assert_eq!(of("solved=x = 3"), Ok(("solved".into(), text("x = 3"))));
        assert_eq!(of("Asked first"), Ok(("Asked first".into(), Check::Manual)));
        assert_eq!(of(" =text"), Err(MilestoneError::NoTitle));
        assert_eq!(of(""), Err(MilestoneError::NoTitle));
        assert_eq!(of("title= "), Err(MilestoneError::NoText));
    }

    #[test]
    fn at_most_five() {
        assert_eq!(parse_milestones(["a"; 5]).map(|all| all.len()), Ok(5));
        assert_eq!(parse_milestones(["a"; 6]), Err(MilestoneError::TooMany));
        assert_eq!(parse_milestones(["a", "b="]), Err(MilestoneError::NoText));
    }

    #[test]
    fn the_first_step_that_reaches_it_counts() {
        let milestone = |check| Milestone {
            title: "m".into(),
            check,
        };
        let step = |index, kind, text: &str| Step {
            index,
            kind,
            text: text.into(),
            ..Step::default()
        };
        let mut failed = step(2, StepKind::ToolResult, "");
        failed.meta.tool = Some(ToolUse {
            name: "mail".into(),
            failed: true,
            ..ToolUse::default()
        });
        let mut sent = failed.clone();
        sent.index = 3;
        if let Some(tool) = &mut sent.meta.tool {
            tool.failed = false;
        }
        let mut read = step(4, StepKind::Message, "The RHINE");
        read.meta.facts = vec!["river".into()];
        read.meta.pages = vec!["/map".into()];
        let steps = [
            step(0, StepKind::Task, "Is it the Rhine?"),
            step(1, StepKind::ToolCall, "mail"),
            failed,
            sent,
            read,
            step(5, StepKind::Answer, "Rhine"),
        ];
        let checks = [
            Check::Text("rhine".into()),
            Check::Tool("mail".into()),
            Check::Fact("river".into()),
            Check::Page("/map".into()),
            Check::Manual,
        ];
        assert_eq!(
            reached(&checks.map(milestone), &steps),
            [Some(4), Some(3), Some(4), Some(4), None]
        );
    }
}
