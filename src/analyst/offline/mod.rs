//! The analyst by rules: looks at the structure of a log and asks nobody. No key, no network, the same every time.
//!
//! [`look`] sees, [`attribute`] weighs, [`edit`] writes the edit, [`fulfil`] compares what an edit asked for with what was done. Not
//! here: knowing what a text means. Where nothing shows, it says so.

pub mod attribute;
mod edit;
pub mod features;
pub mod fit;
mod fulfil;
pub mod look;
mod milestones;
mod quote;
mod reasons;
mod relation;
mod weights;

use async_trait::async_trait;

use super::{Analyst, AnalystError, Case, Intervention};
use crate::model::{Hypothesis, Milestone, Step, Trial, Tried};

/// The weights that come with the program.
#[must_use]
pub const fn shipped(manner: features::Manner) -> &'static [f64] {
    weights::of(manner)
}

/// Rules over structure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offline;

#[async_trait]
impl Analyst for Offline {
    fn name(&self) -> String {
        "offline".to_owned()
    }

    async fn attribute(
        &self,
        case: &Case,
        trial: &Trial,
        tried: &[Tried],
    ) -> Result<Vec<Hypothesis>, AnalystError> {
        Ok(attribute::attribute(case, &look::look(case), trial, tried))
    }

    async fn intervene(
        &self,
        case: &Case,
        hypothesis: &Hypothesis,
        tried: &[Tried],
    ) -> Result<Intervention, AnalystError> {
        Ok(edit::intervene(case, hypothesis, tried))
    }

    async fn milestones(&self, case: &Case) -> Result<Vec<Milestone>, AnalystError> {
        Ok(milestones::milestones(case))
    }

    async fn judge_milestones(
        &self,
        case: &Case,
        milestones: &[Milestone],
    ) -> Result<Vec<Option<usize>>, AnalystError> {
        Ok(milestones::judge(case, milestones))
    }

    async fn judge_fulfilment(
        &self,
        original: &Step,
        edited: &Step,
        after: &[Step],
    ) -> Result<Option<bool>, AnalystError> {
        Ok(fulfil::fulfilled(original, edited, after))
    }
}
