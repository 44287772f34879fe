//! A team that runs now: its steps so far, what waits at the boundary it stands at, its log; and the orders that a person gives it.
//!
//! What a person writes for it goes through the editor, whatever it is for ([`For`]), and nothing written is lost before it is sent.

use std::collections::VecDeque;
use std::sync::Arc;

use super::command::Id;
use super::editor::Editor;
use super::extent::Pane;
use super::fork::Run;
use super::motion::Motion;
use super::msg::{Fault, Job};
use super::{App, Prompt, Purpose, View, state};
use crate::model::{Branch, BranchId, Session, Step, Usage};
use crate::pipeline::{Goal, Lived, Order, Progress, Standing, Told, Until};
use crate::runtime::{Level, LogLine, QueueEdit, Queued};

/// Lines of the log that are kept; the file has more.
const LINES: usize = 2_000;

/// Which pane takes the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LivePane {
    /// What waits.
    Queue,
    /// The steps made.
    Steps,
    /// The log.
    Log,
}

impl LivePane {
    const fn next(self) -> Self {
        match self {
            Self::Queue => Self::Steps,
            Self::Steps => Self::Log,
            Self::Log => Self::Queue,
        }
    }
}

/// Where the run is.
#[derive(Debug)]
pub enum Phase {
    /// The team is being made.
    Starting,
    /// It moves; whether it was told to pause at the next boundary.
    Moves(bool),
    /// It waits for a word.
    Stands(Standing),
    /// It ended; nothing of it is there where it failed before its first step.
    Over(Result<Box<Branch>, Fault>),
}

/// What is being written.
#[derive(Clone, Debug, PartialEq)]
pub enum For {
    /// A message that waits or shall.
    Queue(QueueEdit),
    /// A tool's answer.
    Tool(String),
    /// A person's word to an agent.
    Agent(String),
}

impl For {
    /// Whether the same text could be meant for both.
    fn alike(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Queue(QueueEdit::Replace { id, .. }),
                Self::Queue(QueueEdit::Replace { id: same, .. }),
            ) => id == same,
            (Self::Queue(QueueEdit::Insert { .. }), Self::Queue(QueueEdit::Insert { .. }))
            | (Self::Queue(QueueEdit::Send { .. }), Self::Queue(QueueEdit::Send { .. })) => true,
            (Self::Queue(_), _) | (_, Self::Queue(_)) => false,
            _ => self == other,
        }
    }
}

/// A live run as it is watched.
#[derive(Debug)]
pub struct Live {
    /// The adapter and its entry.
    pub name: String,
    /// The session so far; nothing in it until the team is there.
    pub session: Arc<Session>,
    /// Its steps, once the first is in the store.
    pub run: Option<Run>,
    /// Where it is.
    pub phase: Phase,
    /// The selected message of the queue.
    pub row: usize,
    /// The log.
    pub log: VecDeque<LogLine>,
    /// The least level shown.
    pub level: Level,
    /// The selected line of those shown; none: the last.
    pub line: Option<usize>,
    /// What its model calls took.
    pub usage: Usage,
    /// Which pane takes the keys.
    pub focus: LivePane,
    /// Written and not sent.
    drafts: Vec<(For, String)>,
    /// Sent, and not known to be taken.
    sent: Option<(For, String)>,
}

impl Live {
    /// A team that is about to start.
    #[must_use]
    pub fn new(name: String) -> Self {
        Self {
            name,
            session: Arc::default(),
            run: None,
            phase: Phase::Starting,
            row: 0,
            log: VecDeque::new(),
            level: Level::Info,
            line: None,
            usage: Usage::default(),
            focus: LivePane::Queue,
            drafts: Vec::new(),
            sent: None,
        }
    }

    /// Whether anything may still happen.
    #[must_use]
    pub const fn running(&self) -> bool {
        !matches!(self.phase, Phase::Over(_))
    }

    /// Its branch, once there is one.
    #[must_use]
    pub fn main(&self) -> Option<&BranchId> {
        self.run.as_ref().map(|run| &run.branch.id)
    }

    /// What waits, where it stands at a boundary.
    #[must_use]
    pub fn queue(&self) -> Option<&[Queued]> {
        match &self.phase {
            Phase::Stands(Standing::Boundary(queue)) => Some(queue),
            _ => None,
        }
    }

    /// The selected message of those that wait.
    #[must_use]
    pub fn waiting(&self) -> Option<&Queued> {
        self.queue()?.get(self.row)
    }

    /// The lines of the log at the level shown.
    pub fn lines(&self) -> impl Iterator<Item = &LogLine> {
        self.log.iter().filter(|line| line.level >= self.level)
    }

    /// What the same held call answered before, if that is on record.
    #[must_use]
    pub fn recorded(&self) -> Option<&str> {
        match &self.phase {
            Phase::Stands(Standing::Held { recorded, .. }) => recorded.as_deref(),
            _ => None,
        }
    }
}

/// Takes in what is told of the run.
pub(super) fn told(app: &mut App, told: Told) -> Vec<Job> {
    let Some(live) = &mut app.live else {
        return Vec::new();
    };
    match told {
        Told::Team(session) => {
            live.session = Arc::from(session);
            live.phase = Phase::Moves(true);
        }
        Told::Began(branch) => {
            let id = branch.id.clone();
            live.run = Some(Run::new(*branch));
            // The session lies under the run, unless the person went elsewhere meanwhile.
            if app.views.iter().any(|view| matches!(view, View::Live)) {
                return vec![Job::Open(id)];
            }
        }
        Told::Progress(progress) => {
            if let (Some(run), Progress::Delta { agent, text, .. }) = (&mut live.run, &*progress) {
                run.hear(agent.clone(), text);
            }
            if let (Some(run), Progress::Step { head, .. }) = (&mut live.run, &*progress) {
                run.branch.steps = head.index + 1;
                run.push(head.clone());
            }
            return super::course::follow(app, &progress);
        }
        Told::Moves => {
            live.sent = None;
            live.phase = Phase::Moves(false);
        }
        Told::Stands(standing) => stands(live, standing),
        Told::State(step, checkpoint) => return state::live(app, step, *checkpoint),
        Told::Log(said) => {
            live.log.push_back(said);
            if live.log.len() > LINES {
                live.log.pop_front();
                live.line = live.line.map(|at| at.saturating_sub(1));
            }
        }
        Told::Usage(usage) => live.usage = usage,
        Told::Did(what) => {
            live.sent = None;
            app.tell(what);
        }
        Told::Refused(why) => {
            // What was written is not lost by being refused.
            live.drafts.extend(live.sent.take());
            app.fail(why);
        }
    }
    Vec::new()
}

fn stands(live: &mut Live, standing: Standing) {
    if let Some(run) = &mut live.run {
        run.delta = None;
    }
    if let Standing::Boundary(queue) = &standing {
        let fresh = live.queue().is_none();
        let last = queue.len().saturating_sub(1);
        live.row = if fresh { 0 } else { live.row.min(last) };
    }
    live.focus = match &standing {
        Standing::Boundary(_) if live.focus == LivePane::Steps => LivePane::Steps,
        _ => LivePane::Queue,
    };
    live.phase = Phase::Stands(standing);
}

/// The run came to its end.
pub(super) fn over(app: &mut App, result: Result<Lived, Fault>) -> Vec<Job> {
    let Some(live) = &mut app.live else {
        return Vec::new();
    };
    live.focus = LivePane::Steps;
    let ended = match result {
        Ok(lived) => {
            if let Some(run) = &mut live.run {
                run.branch = lived.branch.clone();
                run.delta = None;
            }
            let notes = lived.notes.join(" ");
            Ok((lived.branch, notes))
        }
        Err(fault) => Err(fault),
    };
    match ended {
        Ok((branch, notes)) => {
            let id = branch.id.clone();
            live.phase = Phase::Over(Ok(Box::new(branch)));
            if notes.is_empty() {
                app.tell("The run is over: ‹live.back› goes to its steps, ‹steps.edit› edits any of them for a fork");
            } else {
                app.tell(notes);
            }
            let here = app.open.as_ref().is_some_and(|open| open.branch.id == id);
            if here {
                vec![Job::Branch(id)]
            } else {
                Vec::new()
            }
        }
        Err(fault) => {
            live.phase = Phase::Over(Err(fault.clone()));
            app.fail(fault);
            Vec::new()
        }
    }
}

/// Orders what one key says.
pub(super) fn order(app: &mut App, id: Id) -> Vec<Job> {
    ordered(app, id).map(Job::Live).into_iter().collect()
}

fn ordered(app: &mut App, id: Id) -> Option<Order> {
    let live = app.live.as_mut()?;
    Some(match id {
        Id::Pause => match &mut live.phase {
            Phase::Moves(pausing) => {
                *pausing = true;
                Order::Go(Goal::Pause)
            }
            _ => Order::Go(Goal::End),
        },
        Id::Step => Order::Go(Goal::Steps(1)),
        Id::Stop => Order::Stop,
        Id::Allow => Order::Allow,
        Id::Refuse => Order::Refuse,
        Id::FromRecord => Order::Answer(live.recorded()?.to_owned()),
        Id::Drop => Order::Edit(QueueEdit::Drop {
            id: live.waiting()?.id.clone(),
        }),
        _ => return None,
    })
}

/// The state before the selected step, or before the message that waits.
pub(super) fn look(app: &mut App) -> Vec<Job> {
    let Some(live) = &app.live else {
        return Vec::new();
    };
    let run = live.run.as_ref();
    let step =
        run.and_then(|run| Some((run.branch.id.clone(), run.heads.get(run.selected)?.index)));
    match (live.focus, step) {
        (LivePane::Steps, Some((branch, step))) => state::show(app, branch, step),
        _ if live.queue().is_some() => vec![Job::Live(Order::Look)],
        _ => {
            app.tell(
                "The state is seen where the run stands: ‹live.pause› pauses it at the next boundary",
            );
            Vec::new()
        }
    }
}

/// Moves in a pane of the live run.
pub(super) fn go(app: &mut App, pane: Pane, motion: Motion) {
    let rows = app.extents.get(pane).page();
    app.extents.rewind(Pane::LiveText);
    let Some(live) = &mut app.live else { return };
    match pane {
        Pane::Run => {
            if let Some(run) = &mut live.run {
                let last = run.heads.len().saturating_sub(1);
                run.select(motion.from(run.selected, last, rows));
            }
        }
        Pane::Queue => {
            let last = live.queue().map_or(0, <[_]>::len).saturating_sub(1);
            live.row = motion.from(live.row, last, rows);
        }
        _ => {
            let last = live.lines().count().saturating_sub(1);
            let to = motion.from(live.line.unwrap_or(last), last, rows);
            live.line = (to < last).then_some(to);
        }
    }
}

/// Gives the keys to another pane.
pub(super) fn focus(app: &mut App, forward: bool) {
    if let Some(live) = &mut app.live {
        let next = live.focus.next();
        live.focus = if forward { next } else { next.next() };
    }
}

/// Shows less of the log, or all of it again.
pub(super) fn level(app: &mut App) {
    if let Some(live) = &mut app.live {
        let next = Level::ALL.into_iter().find(|level| *level > live.level);
        live.level = next.unwrap_or(Level::Info);
        live.line = None;
        let word = live.level.name();
        app.tell(format!("The log shows what is at least of level {word}"));
    }
}

/// Opens the editor for what the selected row wants.
pub(super) fn edit(app: &mut App) {
    let Some(one) = app.live.as_ref().and_then(Live::waiting) else {
        return;
    };
    let (text, id) = (one.step.text.clone(), one.id.clone());
    let step = one.step.clone();
    write(app, For::Queue(QueueEdit::Replace { id, text }), step);
}

/// Opens the editor for an answer: a tool's, or a person's.
pub(super) fn answer(app: &mut App) {
    let Some(Phase::Stands(standing)) = app.live.as_ref().map(|live| &live.phase) else {
        return;
    };
    let (purpose, step) = match standing {
        Standing::Held {
            effect, recorded, ..
        } => {
            let step = Step {
                agent: effect.tool.clone(),
                to: Some(effect.agent.clone()),
                text: recorded.clone().unwrap_or_default(),
                ..Step::default()
            };
            (For::Tool(effect.tool.clone()), step)
        }
        Standing::Asked { agent, .. } => {
            let step = Step {
                agent: app.operator.clone(),
                to: Some(agent.clone()),
                ..Step::default()
            };
            (For::Agent(agent.clone()), step)
        }
        Standing::Boundary(_) => return,
    };
    write(app, purpose, step);
}

fn write(app: &mut App, purpose: For, original: Step) {
    let Some(live) = &app.live else { return };
    let kept = live.drafts.iter().find(|(of, _)| of.alike(&purpose));
    let kept = kept.map(|(_, text)| text.clone());
    let main = live.main().cloned();
    let branch = main.unwrap_or_else(|| BranchId::main(&live.session.id));
    let mut editor = Editor::new(branch, original, kept.as_deref());
    editor.live = Some(purpose);
    app.extents.rewind(Pane::Original);
    app.views.push(View::Editor(Box::new(editor)));
}

/// Sends what the editor holds.
pub(super) fn put(app: &mut App) -> Vec<Job> {
    let Some(View::Editor(editor)) = app.views.last() else {
        return Vec::new();
    };
    let (text, Some(purpose)) = (editor.text(), editor.live.clone()) else {
        return Vec::new();
    };
    if text.trim().is_empty() {
        app.tell("There is nothing to send yet: write something, or ‹live-typing.stop-typing› ‹live-editor.back› goes back");
        return Vec::new();
    }
    app.views.pop();
    if let Some(live) = &mut app.live {
        live.drafts.retain(|(of, _)| !of.alike(&purpose));
        live.sent = Some((purpose.clone(), text.clone()));
    }
    vec![Job::Live(match purpose {
        For::Tool(_) => Order::Answer(text),
        For::Agent(_) => Order::Reply(text),
        For::Queue(change) => Order::Edit(change.saying(text)),
    })]
}

/// The editor is left without sending: what is in it stays.
pub(super) fn keep(app: &mut App, purpose: For, text: String) {
    if let Some(live) = &mut app.live {
        live.drafts.retain(|(of, _)| !of.alike(&purpose));
        live.drafts.push((purpose, text));
        app.tell("What you wrote is kept and not sent: the same key opens it again");
    }
}

/// Asks for a line: how far, whom.
pub(super) fn ask(app: &mut App, purpose: Purpose) {
    let Some(live) = &app.live else { return };
    let agents: Vec<&str> = live
        .session
        .agents
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    let begun = match (purpose, live.waiting()) {
        (Purpose::Insert, Some(one)) => {
            let to = one.step.to.as_deref().unwrap_or_default();
            format!("{} > {to}", one.step.agent)
        }
        (Purpose::Send, _) => agents.first().copied().unwrap_or_default().to_owned(),
        _ => String::new(),
    };
    if matches!(purpose, Purpose::Insert | Purpose::Send) {
        app.tell(format!("Agents: {}", agents.join(", ")));
    }
    app.prompt = Some(Prompt::new(purpose, begun));
}

/// Takes the line.
pub(super) fn accept(app: &mut App, purpose: Purpose, said: &str) -> Vec<Job> {
    let Some(live) = &app.live else {
        return Vec::new();
    };
    match purpose {
        Purpose::Steps => match said.parse::<usize>() {
            Ok(count) if count > 0 => return vec![Job::Live(Order::Go(Goal::Steps(count)))],
            _ => app.fail(format!("“{said}” is no number of steps from 1")),
        },
        Purpose::Until => {
            let session = live.session.clone();
            let known: Vec<String> = session.agents.iter().map(|it| it.name.clone()).collect();
            match Until::parse(said, &known) {
                Ok(until) => return vec![Job::Live(Order::Go(Goal::Until(until)))],
                Err(fault) => app.fail(fault),
            }
        }
        Purpose::Insert => {
            let at = live.row;
            let Some((from, to)) = said.split_once('>') else {
                app.fail("Say who speaks and to whom, as in: Orchestrator > Coder");
                return Vec::new();
            };
            let (from, to) = (from.trim().to_owned(), to.trim().to_owned());
            let step = Step {
                agent: from.clone(),
                to: Some(to.clone()),
                ..Step::default()
            };
            let text = String::new();
            write(
                app,
                For::Queue(QueueEdit::Insert { from, to, text, at }),
                step,
            );
        }
        Purpose::Send => {
            let to = said.to_owned();
            let step = Step {
                agent: app.operator.clone(),
                to: Some(to.clone()),
                ..Step::default()
            };
            let text = String::new();
            write(app, For::Queue(QueueEdit::Send { to, text }), step);
        }
        _ => {}
    }
    Vec::new()
}
