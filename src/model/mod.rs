//! The nouns of SPEC section 1 and the rules over them. Pure: no clock, no file system, no terminal, no network.

mod align;
mod answer;
mod attempt;
mod branch;
mod checkpoint;
mod clean;
mod clock;
mod config;
mod digest;
mod edit;
mod effect;
mod failure;
mod figures;
mod filter;
mod hypothesis;
mod lane;
mod leak;
mod ledger;
mod milestone;
mod note;
mod profile;
mod progress;
mod rates;
mod reach;
mod report;
mod session;
mod step;
mod trial;
mod usage;
mod verdict;
mod verifier;
mod words;

pub use align::{Comparison, Mark, Pair, align, compare};
pub use answer::final_answer;
pub use attempt::{Attempt, PartAttempt};
pub use branch::{
    Branch, BranchId, Category, EditClass, GateStatus, Intervention, RunStatus, TOLD,
};
pub use checkpoint::{Checkpoint, KeyState, RestoreResult, RestoredKey, fingerprint};
pub use clean::{clean, clean_line};
pub use clock::{Clock, SystemClock};
pub use config::{ConfigChange, Difference, Manifest, Part, Pinned};
pub use digest::Digest;
pub use edit::edit_class;
pub use effect::{Effect, EffectClass, EffectState};
pub use failure::reports_failure;
pub use figures::{Figures, Fulfilment, RunCounts};
pub use filter::Filter;
pub use hypothesis::{Aim, Filed, Hypothesis, Proposal, Standing, Target, Tried, target};
pub use lane::{Beside, Cell, Fate, Folded, Lane, beside, fate, folded};
pub use leak::leaks_answer;
pub use ledger::ledger_gist;
pub use milestone::{
    Check, MAX_MILESTONES, Milestone, MilestoneError, MilestoneMark, Tally, parse_milestones,
    reached,
};
pub use note::{BranchNote, Note};
pub use profile::{KeyProbe, Profile, ToolProfile, Workflow};
pub use progress::mean_progress;
pub use rates::{VerdictCounts, percent, rate, trial_success_rate};
pub use reach::{Abreast, OTHERS, Placed, Reach, SUSTAINED, abreast, reach};
pub use report::{DebugReport, DebugSettings, RunReport, Tested, TrialReport};
pub use session::{
    AdapterRef, AgentInfo, Annotation, Coverage, CoverageNote, RuntimeRef, Session, title_of,
};
pub use step::{
    HEAD_CHARS, LiveEdit, LiveOp, Step, StepHead, StepKind, StepMeta, ToolUse, head_text,
    prefix_digest,
};
pub use trial::{Trial, trial_of, trials, trials_of_kinds};
pub use usage::Usage;
pub use verdict::{Reason, Ruling, RunScore, Verdict, verdict};
pub use verifier::{Judgement, Unjudged, Verifier, judge};
pub use words::{ChangedWords, MONTHS, changed_words, words};
