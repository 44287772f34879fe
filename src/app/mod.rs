//! What the screen is about: state, messages, update, jobs, the command table. No drawing, no I/O, no clock.
//!
//! A key becomes a [`command::Id`] by the one table, [`update`] changes the state and answers with [`Job`]s, the driver in
//! `term` does them and sends [`Msg`]s back. Views lie on a stack over the picker and the open session, so that `Esc` is one
//! step back from anywhere. Long lists are never held whole: [`steps::StepList`].

mod act;
pub mod ahead;
pub mod command;
pub mod company;
pub mod compare;
mod course;
mod debug;
pub mod editor;
pub mod effects;
pub mod extent;
#[cfg(test)]
pub(crate) mod find_fixture;
#[cfg(test)]
pub(crate) mod fixture;
mod follow;
pub mod fork;
#[cfg(test)]
pub(crate) mod gate_fixture;
pub mod help;
pub mod hypotheses;
mod judge;
pub mod jumps;
pub mod key;
pub mod keymap;
pub mod learn;
pub mod live;
mod mend;
pub mod motion;
pub mod msg;
pub mod overview;
pub mod palette;
pub mod picker;
pub mod pin;
pub mod pointer;
#[cfg(test)]
pub(crate) mod press_fixture;
mod read;
pub mod session;
pub mod several;
pub mod spell;
pub mod state;
pub mod steps;
mod table;
pub mod tree;
pub mod unsent;
mod update;

pub use command::Context;
pub use msg::{Job, Msg};
pub use update::update;

use std::collections::BTreeMap;

use crate::model::{Branch, BranchId};
use crate::store::Request;
use company::Company;
use compare::Compare;
use editor::Editor;
use effects::Effects;
use extent::Extents;
use fork::{Gates, Replay};
use jumps::Jumps;
use keymap::Keymap;
use live::Live;
use msg::Ticket;
use overview::Overview;
use palette::Palette;
use picker::{Importing, Picker};
use session::{Focus, Open};
use several::Several;
use state::StateView;

/// A view over the picker or the session.
#[derive(Debug)]
pub enum View {
    /// The editor.
    Editor(Box<Editor>),
    /// The gate panel.
    Gates(Box<Gates>),
    /// The replay; its state outlives the view.
    Replay,
    /// The comparison.
    Compare(Box<Compare>),
    /// Milestones; the selected one.
    Milestones(usize),
    /// Interventions; the selected one.
    Interventions(usize),
    /// Hypotheses; the selected row.
    Hypotheses(usize),
    /// What was left in the world.
    Effects(Box<Effects>),
    /// The state before a step.
    State(Box<StateView>),
    /// The live run; its state outlives the view.
    Live,
    /// The whole session at a glance.
    Overview(Box<Overview>),
    /// Where something happened.
    Jumps(Box<Jumps>),
    /// Up to four branches side by side.
    Several(Box<Several>),
    /// The key help.
    Help(Box<help::Help>),
    /// The last notice in full.
    Notice,
    /// The page of the lesson being played.
    Lesson,
    /// Whose request for the driver's seat is to be answered.
    Seat(Request, String),
}

/// What a line of input is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Narrows the picker.
    Filter,
    /// Searches the branch.
    Search,
    /// Goes to a step.
    Goto,
    /// Names the owner who approves.
    Owner,
    /// Says why an effect stays and is not repeated.
    Keep,
    /// Says why an effect counts as undone.
    Undone,
    /// Says why a step is suspected.
    Suspect,
    /// Says how many steps a live run goes.
    Steps,
    /// Says what a live run stops before.
    Until,
    /// Says who speaks to whom in a message to be put in.
    Insert,
    /// Says whom a message is sent to.
    Send,
    /// Narrows the message list.
    Narrow,
    /// Notes something on a step.
    Note,
    /// Narrows the key help.
    Keys,
}

/// A line of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What it is for.
    pub purpose: Purpose,
    /// The line so far.
    pub line: String,
    /// What stood there first.
    pub was: String,
    /// A paste was longer than a line may be.
    pub cut: bool,
}

impl Prompt {
    /// A line that begins with what is there already.
    #[must_use]
    pub fn new(purpose: Purpose, line: String) -> Self {
        Self {
            purpose,
            was: line.clone(),
            line,
            cut: false,
        }
    }
}

/// A line for the operator: what happened and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The sentence.
    pub text: String,
    /// Whether something failed.
    pub fault: bool,
}

/// Milestones of a branch beside those of its parent.
#[derive(Clone, Copy, Debug)]
pub struct Milestones<'a> {
    /// The branch.
    pub branch: &'a Branch,
    /// For each milestone the first step that reaches it.
    pub reached: &'a [Option<usize>],
    /// The parent and the same of it.
    pub before: Option<(&'a Branch, &'a [Option<usize>])>,
}

/// The whole state of the screen.
#[derive(Debug)]
pub struct App {
    /// Who sits here; stands in interventions.
    pub operator: String,
    /// The picker, below everything.
    pub picker: Picker,
    /// The open session, over the picker.
    pub open: Option<Open>,
    /// Views over both, the topmost last.
    pub views: Vec<View>,
    /// Edits not forked yet, by branch and step.
    pub drafts: BTreeMap<(BranchId, usize), unsent::Draft>,
    /// What the store has of them.
    pub kept: unsent::Kept,
    /// A line of input, over everything.
    pub prompt: Option<Prompt>,
    /// The command palette, over everything.
    pub palette: Option<Palette>,
    /// The fork being replayed, or the last one that was.
    pub replay: Option<Replay>,
    /// The team that runs now, or the last one that did.
    pub live: Option<Live>,
    /// The session of the log that is followed.
    pub followed: Option<String>,
    /// It was told that steps of it look otherwise by now.
    follow_told: bool,
    /// Who analyses the open session just now.
    pub analysing: Option<hypotheses::By>,
    /// The lessons, when the screen was opened to learn.
    pub learn: Option<learn::Learn>,
    /// What is kept from the eye.
    pub hide: learn::Hidden,
    /// What the operator should know now; goes with the next key.
    pub notice: Option<Notice>,
    /// The last notice, for the popup.
    pub last_notice: Option<Notice>,
    /// Where the panes stand, as last drawn.
    pub extents: Extents,
    /// The operator was asked whether running branches shall be stopped.
    pub asked_to_quit: bool,
    /// How to leave, once that is decided.
    pub exit: Option<Exit>,
    /// The keys, a person's own over those of the table.
    pub keymap: Keymap,
    /// The mouse is taken from the terminal.
    pub mouse: bool,
    /// What the last click hit, if nothing was done since.
    clicked: Option<pointer::Target>,
    /// What was typed ahead of what is being read.
    ahead: ahead::Ahead,
    /// The state that others are held against, until it is let go.
    held: Option<state::At>,
    /// Who else sits at the session.
    pub company: Company,
    tickets: Ticket,
}

/// How to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Stop what runs, then go.
    Quit,
    /// Go at once; what runs becomes interrupted.
    Leave,
}

impl App {
    /// The state at the start and the first jobs: the samples, and what was asked for on the command line; `live` names a team that
    /// is being started.
    #[must_use]
    pub fn start(operator: String, open: Option<String>, live: Option<String>) -> (Self, Vec<Job>) {
        let mut app = Self {
            operator,
            picker: Picker::default(),
            open: None,
            views: live.iter().map(|_| View::Live).collect(),
            drafts: BTreeMap::new(),
            kept: unsent::Kept::default(),
            prompt: None,
            palette: None,
            replay: None,
            live: live.map(Live::new),
            followed: None,
            follow_told: false,
            analysing: None,
            learn: None,
            hide: learn::Hidden::default(),
            notice: None,
            last_notice: None,
            extents: Extents::default(),
            asked_to_quit: false,
            exit: None,
            keymap: Keymap::default(),
            mouse: false,
            clicked: None,
            ahead: ahead::Ahead::default(),
            held: None,
            company: Company::default(),
            tickets: 0,
        };
        let mut jobs = vec![Job::Samples];
        if let Some(what) = open {
            app.picker.importing = Some(Importing {
                what: what.clone(),
                ..Importing::default()
            });
            jobs.insert(0, Job::TakeIn(what));
        }
        (app, jobs)
    }

    /// Where the operator is.
    #[must_use]
    pub fn context(&self) -> Context {
        if self.prompt.is_some() {
            return Context::Prompt;
        }
        if self.palette.is_some() {
            return Context::Palette;
        }
        self.place()
    }

    /// The view or pane that is on top, whatever is typed over it.
    #[must_use]
    pub fn place(&self) -> Context {
        match (self.views.last(), &self.open) {
            (Some(View::Editor(editor)), _) if editor.live.is_some() => {
                if editor.typing {
                    Context::LiveTyping
                } else {
                    Context::LiveEditor
                }
            }
            (Some(View::Editor(editor)), _) if editor.typing => Context::Typing,
            (Some(View::Editor(_)), _) => Context::Editor,
            (Some(View::Gates(_)), _) => Context::Gates,
            (Some(View::Replay), _) => Context::Replay,
            (Some(View::Compare(compare)), _) if compare.expanded => Context::Pair,
            (Some(View::Compare(_)), _) => Context::Compare,
            (Some(View::Milestones(_)), _) => Context::Milestones,
            (Some(View::Interventions(_)), _) => Context::Interventions,
            (Some(View::Hypotheses(_)), _) => Context::Hypotheses,
            (Some(View::Effects(_)), _) => Context::Effects,
            (Some(View::State(_)), _) => Context::State,
            (Some(View::Live), _) => Context::Live,
            (Some(View::Overview(overview)), _) if overview.grid => Context::Grid,
            (Some(View::Overview(_)), _) => Context::Overview,
            (Some(View::Several(_)), _) => Context::Several,
            (Some(View::Jumps(_)), _) => Context::Jumps,
            (Some(View::Help(_)), _) => Context::Help,
            (Some(View::Notice), _) => Context::Notice,
            (Some(View::Lesson), _) => Context::Lesson,
            (Some(View::Seat(..)), _) => Context::Seat,
            (None, None) if self.learn.is_some() => Context::Lessons,
            (None, None) => Context::Picker,
            (None, Some(open)) => match open.focus {
                Focus::Steps => Context::Steps,
                Focus::Detail => Context::Detail,
                Focus::Branches => Context::Branches,
            },
        }
    }

    /// The gate panel, if it is on top.
    #[must_use]
    pub fn gates(&self) -> Option<&Gates> {
        match self.views.last() {
            Some(View::Gates(gates)) => Some(gates),
            _ => None,
        }
    }

    /// The replay, if it belongs to the open session.
    #[must_use]
    pub fn replay_here(&self) -> Option<&Replay> {
        let session = &self.open.as_ref()?.session.id;
        let replay = self.replay.as_ref()?;
        (replay.request.branch.session() == session).then_some(replay)
    }

    /// The branch that the milestone panel is about: that of the view below it.
    #[must_use]
    pub fn milestones(&self) -> Option<Milestones<'_>> {
        let open = self.open.as_ref()?;
        let below = self
            .views
            .iter()
            .rev()
            .find(|view| !matches!(view, View::Milestones(_)));
        match below {
            Some(View::Compare(compare)) => Some(Milestones {
                branch: &compare.b.branch,
                reached: &compare.b.milestones,
                before: Some((&compare.a.branch, &compare.a.milestones)),
            }),
            Some(View::Replay) => {
                let replay = self.replay_here()?;
                let run = replay.run()?;
                let parent = (open.branch.id == replay.request.branch)
                    .then_some((&open.branch, open.milestones.as_slice()));
                Some(Milestones {
                    branch: &run.branch,
                    reached: &run.milestones,
                    before: parent,
                })
            }
            _ => {
                let parent = open
                    .branches
                    .iter()
                    .find(|b| Some(&b.id) == open.branch.parent.as_ref());
                Some(Milestones {
                    branch: &open.branch,
                    reached: &open.milestones,
                    before: parent.zip(open.parent_milestones.as_deref()),
                })
            }
        }
    }

    /// Whether runs are going.
    #[must_use]
    pub fn running(&self) -> bool {
        self.replay.as_ref().is_some_and(Replay::running)
            || self.live.as_ref().is_some_and(Live::running)
    }

    /// Tells the operator something; commands named in it are spelled as their keys.
    pub fn tell(&mut self, text: impl AsRef<str>) {
        self.say(text.as_ref(), false);
    }

    /// Tells the operator what may help, unless something that failed is being told.
    pub fn advise(&mut self, text: impl AsRef<str>) {
        if !self.notice.as_ref().is_some_and(|notice| notice.fault) {
            self.tell(text);
        }
    }

    /// Tells the operator what failed.
    pub fn fail(&mut self, text: impl AsRef<str>) {
        self.say(text.as_ref(), true);
    }

    fn say(&mut self, text: &str, fault: bool) {
        let text = self.spell(text);
        let notice = Notice { text, fault };
        self.last_notice = Some(notice.clone());
        self.notice = Some(notice);
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        self.tickets
    }
}

#[cfg(test)]
mod ahead_tests;
#[cfg(test)]
pub(crate) mod company_tests;
#[cfg(test)]
mod effects_tests;
#[cfg(test)]
mod gates_tests;
#[cfg(test)]
pub(crate) mod hypotheses_tests;
#[cfg(test)]
pub(crate) mod live_tests;
#[cfg(test)]
mod tests;
