//! What the loop made of one session: every hypothesis with its runs and its verdict. Written by `dover debug`, read by `dover eval`.

use serde::{Deserialize, Serialize};

use super::{
    BranchId, Category, EditClass, Filed, GateStatus, RunScore, RunStatus, Tally, Trial, Usage,
    Verdict,
};

/// How the loop over one session was asked for.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct DebugSettings {
    /// The branch that is analysed.
    pub branch: BranchId,
    /// Numbers of the trials to debug; none for all.
    pub trials: Option<Vec<usize>>,
    /// n; none for the default of the runtime.
    pub runs: Option<usize>,
    /// How often a refuted hypothesis of a trial comes back with what was learnt, the first time included.
    pub rounds: usize,
    /// Seed that everything is derived from.
    pub seed: u64,
    /// Who analyses: `offline`, `model NAME`.
    pub analyst: String,
    /// The runtime asked for; none for the session's own.
    pub runtime: Option<String>,
    /// How many hypotheses the session had before.
    pub since: usize,
}

/// One session, debugged.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct DebugReport {
    /// The branch that was analysed.
    pub branch: BranchId,
    /// Who analysed: `offline`, `model NAME`.
    pub analyst: String,
    /// Where the runs ran.
    pub runtime: String,
    /// Seed that everything was derived from.
    pub seed: u64,
    /// How many milestones the session has; progress is undefined at 0.
    pub milestones: usize,
    /// Its trials, in order.
    pub trials: Vec<TrialReport>,
    /// What is to be said of the whole: milestones made on the way, or why there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the analyst's own calls took; those of the runs stand with the runs.
    #[serde(default)]
    pub usage: Usage,
}

impl DebugReport {
    /// All runs.
    pub fn runs(&self) -> impl Iterator<Item = &RunReport> {
        let tested = self.trials.iter().flat_map(|trial| &trial.tested);
        tested.flat_map(|tested| &tested.runs)
    }
}

/// One trial and what was tried in it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct TrialReport {
    /// The trial.
    pub trial: Trial,
    /// Its hypotheses, a round each.
    pub tested: Vec<Tested>,
    /// Why nothing more was tried, where something kept it from that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One hypothesis and what its runs came to. Without runs nothing could be tested; its note says why.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Tested {
    /// The hypothesis, its edit and what was learnt.
    pub hypothesis: Filed,
    /// The kind of edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// Its coarse class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<EditClass>,
    /// How many runs were planned.
    pub n: usize,
    /// The runs.
    pub runs: Vec<RunReport>,
    /// The verdict; none for a single sample or runs that are not over.
    pub verdict: Option<Verdict>,
    /// Why there is none, or why it is Inconclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Mean progress, in −1..=1; none without milestones.
    pub progress: Option<f64>,
    /// Whether the verdict carries the word "diagnostic".
    #[serde(default)]
    pub diagnostic: bool,
}

/// One run.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct RunReport {
    /// Its branch.
    pub branch: BranchId,
    /// How the run ended.
    pub run: RunStatus,
    /// What the gates say.
    pub gate: Option<GateStatus>,
    /// Whether the edit was faithfully executed; unknown counts as no.
    pub fulfilled: Option<bool>,
    /// Whether the verifier passed the answer; none if nothing could tell.
    pub success: Option<bool>,
    /// Milestones beside the parent's; none if the session has none.
    pub milestones: Option<Tally>,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What its model calls took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl RunReport {
    /// What it is scored by.
    #[must_use]
    pub const fn score(&self) -> RunScore {
        RunScore {
            run: self.run,
            fulfilled: self.fulfilled,
            success: self.success,
            milestones: self.milestones,
        }
    }
}
