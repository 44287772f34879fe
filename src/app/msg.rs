//! What comes in (`Msg`) and what goes out (`Job`). A job never touches the state; its answer is a message.

use std::sync::Arc;

use super::extent::{Extents, Pane};
use super::hypotheses::By;
use super::several::ComparingAll;
use super::{
    effects::Left,
    key::Key,
    learn::Offer,
    pointer::Target,
    state::{At, Recorded},
};
use crate::gate::Report;
use crate::model::{
    Attempt, Branch, BranchId, Category, EditClass, EffectState, Filed, Filter, Intervention, Lane,
    Note, Session, Step, StepHead, Trial,
};
use crate::pipeline::{
    Comparison, ForkRequest, Growth, Lived, Order, Outcome, Progress, Reconciled, Restorability,
    Told,
};
use crate::runtime::Decision;
use crate::store::{Around, SessionSummary, Unsent};

/// A sentence that says what failed, where, and what to do.
pub type Fault = String;

/// Names one fork from the gate panel to its end, so that a late answer finds its place or none.
pub type Ticket = u64;

/// Something that happened.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "messages are taken in one by one; few wait"
)]
pub enum Msg {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Paste(String),
    /// Something on the screen was clicked.
    Click(Target),
    /// The wheel was turned over a pane, down or up.
    Wheel(Pane, bool),
    /// A text was copied, as far as that can be known: a sentence that says so.
    Copied(String),
    /// Whoever typed made a pause, or leaves.
    Pause,
    /// A frame was drawn: where its panes stand now.
    Drawn(Box<Extents>),
    /// The sessions of the store.
    Sessions(Result<Vec<SessionSummary>, Fault>),
    /// A log is being read.
    Importing {
        /// The share read, 0..=1.
        share: f64,
        /// Steps so far.
        steps: usize,
    },
    /// A log was taken in: its session's id.
    TakenIn(Result<String, Fault>),
    /// Something was found in the log that is followed.
    Followed(Result<Growth, Fault>),
    /// A branch that became longer, as it is now.
    Longer(Result<Box<Longer>, Fault>),
    /// A session was read.
    Opened(Result<Box<Opened>, Fault>),
    /// A session's branches, interventions and hypotheses, read again.
    Refreshed(Result<Kin, Fault>),
    /// The branch was analysed: a sentence about what was found.
    Analysed(Result<String, Fault>),
    /// One's own hypothesis was kept.
    Suspected(Result<Box<Filed>, Fault>),
    /// The step that the edit of a hypothesis goes to, and whether the edit is to be changed first.
    ToTest(Result<Box<(Filed, Step, bool)>, Fault>),
    /// A branch was read, to be shown.
    Branch(Result<Box<BranchView>, Fault>),
    /// The edits of a session that were not sent.
    Drafts(Result<Vec<Unsent>, Fault>),
    /// A page of steps.
    Heads(BranchId, usize, Result<Vec<StepHead>, Fault>),
    /// A step in full, and how well a fork there could be restored.
    Step(BranchId, usize, Box<StepView>),
    /// Steps that contain the words.
    Hits(BranchId, String, Result<Vec<usize>, Fault>),
    /// The next step that reports a failure.
    ErrorAt(BranchId, Result<Option<usize>, Fault>),
    /// The gates' findings.
    Checked(Ticket, Result<Box<Checked>, Fault>),
    /// A fork was written and waits for an approval: the request that resumes it.
    Held(Ticket, Result<Box<ForkRequest>, Fault>),
    /// The request that tries a held intervention again, with the step as the parent has it.
    TriedAgain(Result<Box<(ForkRequest, Step)>, Fault>),
    /// How many approvals what waits has by now.
    LookAgain(Ticket, Result<usize, Fault>),
    /// An owner approved what waits: a sentence that says so.
    Approved(Ticket, Result<String, Fault>),
    /// What a branch left in the world from a step on.
    Left(BranchId, usize, Result<Box<Left>, Fault>),
    /// The states recorded before steps: branch, step, the step held.
    State(BranchId, usize, Option<At>, Box<Result<Recorded, Fault>>),
    /// The destinations were asked.
    Reconciled(Result<Vec<Reconciled>, Fault>),
    /// An effect was decided about: a sentence that says so.
    Settled(Result<String, Fault>),
    /// Something happened to a fork.
    Progress(Ticket, Progress),
    /// All runs of a fork ended.
    Replayed(Ticket, Result<Box<Outcome>, Fault>),
    /// Milestones of a branch: the first step that reaches each.
    Milestones(BranchId, Result<Vec<Option<usize>>, Fault>),
    /// What an earlier intervention came to.
    Outcome(String, Result<Box<Outcome>, Fault>),
    /// The steps that pass a filter.
    Filtered(BranchId, Box<Filter>, Result<Vec<usize>, Fault>),
    /// The steps of a branch that report a failure.
    Failures(BranchId, Result<Vec<StepHead>, Fault>),
    /// The marks and notes on a branch's steps.
    Notes(BranchId, Result<Vec<Note>, Fault>),
    /// All branches of a session as lanes.
    Lanes(String, Result<Vec<Lane>, Fault>),
    /// Two branches side by side.
    Compared(Result<Box<Comparing>, Fault>),
    /// Up to four branches side by side.
    ComparedAll(Result<Box<ComparingAll>, Fault>),
    /// A pair of the comparison in full.
    Pair(Result<Box<Both>, Fault>),
    /// The external editor came back.
    Edited(Result<String, Fault>),
    /// The run of a lesson is there, and how far the learner is.
    Learning(Result<Box<(Attempt, Opened)>, Fault>),
    /// Something is told of the live run.
    Live(Told),
    /// The live run ended.
    LiveOver(Result<Box<Lived>, Fault>),
    /// Who sits at the store's sessions changed.
    Company(Box<Around>),
    /// Others wrote to the store.
    StoreChanged,
    /// A branch as it is now, and its steps past those that were known.
    Grown(Result<Box<Grown>, Fault>),
    /// Something went wrong.
    Failed(Fault),
}

/// What hangs on a session: branches, interventions, hypotheses.
pub type Kin = (Vec<Branch>, Vec<Intervention>, Vec<Filed>);

/// A branch, and its steps from some step on.
pub type Grown = (BranchView, Vec<StepHead>);

/// The steps of a pair, left and right.
pub type Both = (Option<Step>, Option<Step>);

/// A session as it is opened.
#[derive(Debug)]
pub struct Opened {
    /// The session.
    pub session: Session,
    /// Its branches, `main` first.
    pub branches: Vec<Branch>,
    /// Its interventions, oldest first.
    pub interventions: Vec<Intervention>,
    /// What is suspected in it.
    pub hypotheses: Vec<Filed>,
    /// The branch shown first.
    pub shown: BranchView,
}

/// A branch as the message list takes it.
#[derive(Debug)]
pub struct BranchView {
    /// The branch.
    pub branch: Branch,
    /// Its trials.
    pub trials: Vec<Trial>,
    /// For each milestone the first step that reaches it.
    pub milestones: Vec<Option<usize>>,
    /// The same on its parent.
    pub parent_milestones: Option<Vec<Option<usize>>>,
}

/// A branch of a log that grows, with what the log's session knows by now.
#[derive(Debug)]
pub struct Longer {
    /// The branch.
    pub view: BranchView,
    /// The session.
    pub session: Session,
}

/// A step in full.
#[derive(Debug)]
pub struct StepView {
    /// The step.
    pub step: Result<Step, Fault>,
    /// What is said beside the fork key.
    pub restorability: Result<Restorability, Fault>,
}

/// A plan that makes sense and what the gates say of it.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The edit's category.
    pub category: Category,
    /// Its coarse class.
    pub class: Option<EditClass>,
    /// The text contains the expected answer.
    pub answer_leak: bool,
    /// n.
    pub runs: usize,
    /// Where it will run, for a person.
    pub runtime: String,
    /// The gates.
    pub report: Report,
}

/// Two branches, aligned, with what a list of each needs.
#[derive(Debug)]
pub struct Comparing {
    /// The alignment.
    pub comparison: Comparison,
    /// The left branch.
    pub a: BranchView,
    /// The right branch.
    pub b: BranchView,
}

/// Hand on the runs of a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    /// Before the next step of each.
    Pause,
    /// Go on.
    Resume,
    /// One step each.
    Step,
    /// For good.
    Stop,
}

/// Something to be done outside.
#[derive(Clone, Debug)]
pub enum Job {
    /// Takes in the samples that are missing and lists the sessions.
    Samples,
    /// Lists the sessions.
    Sessions,
    /// Takes a file in, or finds a session.
    TakeIn(String),
    /// Takes in what is written to a log, as long as the screen is there.
    Follow(String),
    /// Reads a branch that became longer.
    Longer(BranchId),
    /// Reads a session and one of its branches.
    Open(BranchId),
    /// Reads a session's branches and interventions again.
    Refresh(String),
    /// Reads a branch to be shown.
    Branch(BranchId),
    /// Reads a branch that may have grown, and its steps from that one on.
    Grow(BranchId, usize),
    /// Reads the edits of a session that were not sent.
    Drafts(String),
    /// Keeps an edit that was not sent, or forgets it.
    KeepDraft(Unsent),
    /// Reads a page of steps.
    Heads(BranchId, usize),
    /// Reads a step in full.
    Step(Arc<Session>, BranchId, usize),
    /// Searches a branch.
    Search(BranchId, String),
    /// Finds the next failure before or after a step.
    FindError {
        /// The branch.
        branch: BranchId,
        /// Where to start; itself not meant.
        from: usize,
        /// Which way.
        forward: bool,
        /// Steps of the branch.
        len: usize,
    },
    /// Plans and checks a fork without running anything.
    Check(Ticket, ForkRequest),
    /// Writes a fork that the gates hold, so that it can be approved.
    Hold(Ticket, ForkRequest),
    /// Finds how a held intervention is tried again, by its id and in an operator's name.
    TryAgain(String, String),
    /// Counts after a while the approvals of an intervention that waits, by its id.
    LookAgain(Ticket, String),
    /// Approves an intervention as an owner, by both names.
    Approve(Ticket, String, String),
    /// Reads what a branch left in the world from a step on.
    Left(BranchId, usize),
    /// Reads the state before a step, and that before another to hold it against.
    State(BranchId, usize, Option<At>),
    /// Asks the destinations of what a branch left from a step on, in an operator's name.
    Reconcile(BranchId, usize, String),
    /// Records what a person says of an effect.
    Settle {
        /// The branch.
        branch: BranchId,
        /// The effect's operation key.
        key: String,
        /// It stays, or it was undone.
        state: EffectState,
        /// The reason.
        why: String,
        /// Who decides.
        operator: String,
    },
    /// Decides about the new effect that a run of a fork waits with.
    Answer(Ticket, BranchId, Decision),
    /// Forks and runs.
    Fork(Ticket, ForkRequest),
    /// Holds, steps or stops the runs of a fork.
    Hand(Ticket, Hand),
    /// Reads a branch's milestones.
    Milestones(BranchId),
    /// Judges an intervention again.
    Outcome(String),
    /// Makes hypotheses and edits for the trials of a branch, in an operator's name.
    Analyse(BranchId, By, String),
    /// Stops that.
    StopAnalysis,
    /// Keeps a hypothesis.
    Suspect(Box<Filed>),
    /// Finds the step that the edit of a hypothesis goes to; whether the edit is to be changed first.
    Test(String, bool),
    /// Finds the steps that pass a filter.
    Filter(BranchId, Filter),
    /// Finds the steps of a branch that report a failure.
    Failures(BranchId),
    /// Reads the marks and notes on a branch's steps.
    Notes(BranchId),
    /// Writes the note of a step, none takes it away, and reads the branch's notes.
    Note {
        /// The branch.
        branch: BranchId,
        /// The step.
        step: usize,
        /// The words; none for no note, empty for a mark.
        text: Option<String>,
        /// The words that it is written over.
        was: String,
        /// Who writes it.
        operator: String,
    },
    /// Reads all branches of a session as lanes.
    Lanes(String),
    /// Aligns two branches.
    Compare(BranchId, BranchId),
    /// Aligns the others with the first of up to four branches.
    CompareAll(Vec<BranchId>),
    /// Reads a pair in full.
    Pair((BranchId, Option<usize>), (BranchId, Option<usize>)),
    /// Marks a milestone as reached at a step, and reads the branch's milestones.
    Mark(BranchId, usize, usize),
    /// Begins or takes up a lesson: a copy of its run is made for an attempt that has none.
    Learn(Offer, Attempt),
    /// Keeps how far the learner is.
    KeepAttempt(Attempt),
    /// Orders something of the live run.
    Live(Order),
    /// Draws the whole screen anew.
    Redraw,
    /// Opens a text in the external editor.
    External(String),
    /// Copies a text, by the terminal and into a file.
    Copy(String),
}
