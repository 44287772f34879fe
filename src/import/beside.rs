//! What dover's own JSONL says beside the original run: interventions, branches, hypotheses, marks.
//!
//! A branch line begins a branch: the step, checkpoint and effect lines that follow are its own, until the next branch line. What a line
//! names must stand before it, so that a file cannot make a graph that a store could not have made.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use crate::gate::receipt::Sealed;
use crate::model::{Branch, BranchId, BranchNote, Filed, Intervention, Manifest, MilestoneMark};

/// Something that belongs to a session beside the steps of its original run.
#[derive(Clone, Debug, PartialEq)]
pub enum Beside {
    /// A branch and the configuration that it ran with. The steps that follow are its own.
    Branch(Box<Branch>, Option<Manifest>),
    /// How the original run ended.
    Main(Box<Branch>),
    /// A receipt of the store that the session came from.
    Receipt(Box<Sealed>),
    /// An edit.
    Intervention(Box<Intervention>),
    /// What was suspected.
    Hypothesis(Box<Filed>),
    /// A person's word that a milestone is reached.
    Mark(MilestoneMark),
    /// A person's mark or note on a step.
    Note(BranchNote),
}

/// A branch's line: the noun and its configuration.
#[derive(Deserialize)]
struct BranchLine {
    #[serde(flatten)]
    branch: Branch,
    #[serde(default)]
    config: Option<Manifest>,
}

/// What was read so far, as far as later lines may name it.
#[derive(Default)]
pub(super) struct Kin {
    /// The branch that step lines go to now; none for the original run.
    current: Option<BranchId>,
    /// How many steps it is told to have.
    told: usize,
    /// Branches that are complete, by their own names, with their lengths.
    lengths: BTreeMap<String, usize>,
    interventions: BTreeSet<String>,
    hypotheses: BTreeSet<String>,
    /// The branch before was left out, and what belongs to it is too.
    pub skipping: bool,
}

impl Kin {
    /// Whether a line is one of these.
    pub(super) fn is(kind: &str) -> bool {
        matches!(
            kind,
            "branch" | "intervention" | "hypothesis" | "mark" | "note" | "receipt"
        )
    }

    /// Ends the branch that was being read at so many steps; says what is missing.
    pub(super) fn close(&mut self, len: usize) -> Option<String> {
        if self.skipping {
            return None;
        }
        let name = self.current.as_ref().map_or("main", BranchId::name);
        let short = self.current.is_some() && len != self.told;
        let fault = short.then(|| {
            format!(
                "the branch {name} has {len} steps here, and its line says {}",
                self.told
            )
        });
        self.lengths.insert(name.to_owned(), len);
        self.told = len;
        fault
    }

    /// Takes a line; `Err` is a sentence about what is wrong with it.
    pub(super) fn take(&mut self, kind: &str, value: Value) -> Result<Beside, String> {
        let wrong = |error: serde_json::Error| format!("a {kind} line that is none: {error}");
        match kind {
            "receipt" => {
                let sealed: Sealed = serde_json::from_value(value).map_err(wrong)?;
                if sealed.holds() {
                    return Ok(Beside::Receipt(Box::new(sealed)));
                }
                Err(format!(
                    "the content of receipt {} is not what its own digest says: it was changed",
                    sealed.receipt.seq
                ))
            }
            "branch" => {
                self.skipping = true;
                let line: BranchLine = serde_json::from_value(value).map_err(wrong)?;
                if line.branch.parent.is_none() && line.branch.id.name() == "main" {
                    self.skipping = false;
                    if self.current.is_some() {
                        return Err("what became of main stands among the branches".to_owned());
                    }
                    return Ok(Beside::Main(Box::new(line.branch)));
                }
                self.branch(&line.branch)?;
                self.skipping = false;
                self.current = Some(line.branch.id.clone());
                self.told = line.branch.steps;
                Ok(Beside::Branch(Box::new(line.branch), line.config))
            }
            "intervention" => {
                let made: Intervention = serde_json::from_value(value).map_err(wrong)?;
                let name = numbered(&made.id, 'i')?;
                if !self.interventions.insert(name) {
                    return Err(format!("the intervention {} stands here twice", made.id));
                }
                Ok(Beside::Intervention(Box::new(made)))
            }
            "hypothesis" => {
                let filed: Filed = serde_json::from_value(value).map_err(wrong)?;
                let name = numbered(&filed.id, 'h')?;
                self.known(&filed.branch)?;
                if let Some(id) = &filed.intervention {
                    self.made(id)?;
                }
                if !self.hypotheses.insert(name) {
                    return Err(format!("the hypothesis {} stands here twice", filed.id));
                }
                Ok(Beside::Hypothesis(Box::new(filed)))
            }
            "note" => {
                let note: BranchNote = serde_json::from_value(value).map_err(wrong)?;
                let len = self.known(&note.branch)?;
                if note.note.step >= len {
                    return Err(format!(
                        "a note at step {} of {}, which has {len}",
                        note.note.step, note.branch
                    ));
                }
                Ok(Beside::Note(note))
            }
            _ => {
                let mark: MilestoneMark = serde_json::from_value(value).map_err(wrong)?;
                let len = self.known(&mark.branch)?;
                if mark.step >= len {
                    return Err(format!(
                        "a mark at step {} of {}, which has {len}",
                        mark.step, mark.branch
                    ));
                }
                Ok(Beside::Mark(mark))
            }
        }
    }

    /// Whether a branch may stand where its line says.
    fn branch(&self, branch: &Branch) -> Result<(), String> {
        let name = branch.id.name();
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return Err(format!("{} is no branch's name", branch.id));
        }
        if self.lengths.contains_key(name) {
            return Err(format!("the branch {name} stands here twice"));
        }
        let (Some(parent), Some(at)) = (&branch.parent, branch.fork_step) else {
            return Err(format!("the branch {name} has no parent or no fork step"));
        };
        let len = self.known(parent)?;
        if at >= len {
            return Err(format!(
                "the branch {name} forks at step {at} of {parent}, which has {len}"
            ));
        }
        branch
            .intervention
            .as_deref()
            .map_or(Ok(()), |id| self.made(id))
    }

    fn known(&self, branch: &BranchId) -> Result<usize, String> {
        let len = self.lengths.get(branch.name()).copied();
        len.ok_or_else(|| format!("no branch {branch} stands before this line"))
    }

    fn made(&self, intervention: &str) -> Result<(), String> {
        let name = numbered(intervention, 'i')?;
        if self.interventions.contains(&name) {
            return Ok(());
        }
        Err(format!(
            "no intervention {intervention} stands before this line"
        ))
    }
}

/// The own part of an id such as `night-picture/i3`.
fn numbered(id: &str, letter: char) -> Result<String, String> {
    let name = id.rsplit('/').next().unwrap_or_default();
    let number = name.strip_prefix(letter);
    let number = number.and_then(|digits| digits.parse::<u32>().ok());
    match number {
        Some(number @ 1..) => Ok(format!("{letter}{number}")),
        _ => Err(format!("{id} is no id such as night-picture/{letter}1")),
    }
}
