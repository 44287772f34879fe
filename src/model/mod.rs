//! The nouns of SPEC section 1 and the rules over them. Pure: no clock, no file system, no terminal, no network.

mod branch;
mod checkpoint;
mod clock;
mod digest;
mod effect;
mod milestone;
mod session;
mod step;
mod trial;
mod verifier;

pub use branch::{Branch, BranchId, Category, EditClass, GateStatus, Intervention, RunStatus};
pub use checkpoint::{Checkpoint, KeyState, RestoreResult, RestoredKey, fingerprint};
pub use clock::{Clock, SystemClock};
pub use digest::Digest;
pub use effect::{Effect, EffectClass, EffectState};
pub use milestone::{Check, MAX_MILESTONES, Milestone, Tally, reached};
pub use session::{
    AgentInfo, Annotation, Coverage, CoverageNote, Profile, RuntimeRef, Session, ToolProfile,
};
pub use step::{HEAD_CHARS, Step, StepHead, StepKind, StepMeta, ToolUse, head_text, prefix_digest};
pub use trial::{Trial, trial_of, trials, trials_of_kinds};
pub use verifier::Verifier;
