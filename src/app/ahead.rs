//! Keys typed ahead: what was asked for by a key and decides where the next one goes is waited for, in order, while the screen is
//! drawn on. Esc takes back what is waited for and the keys behind it; a reading that fails drops the keys behind it, for they were
//! meant for what it would have shown.
//!
//! Not here: what takes as long as somebody else likes (gates, runs, destinations, models). A key is never typed into those unseen.

use std::collections::VecDeque;

use super::command::{Context, Id};
use super::key::{Code, Key};
use super::msg::{Job, Msg};
use super::session::Open;
use super::{App, motion, pin, update};

/// Keys that wait at most.
pub const MOST: usize = 500;

/// What was typed ahead, and what it waits for.
#[derive(Debug, Default)]
pub struct Ahead {
    typed: VecDeque<Msg>,
    awaited: Vec<Awaited>,
    /// Whether a frame was drawn since the last change; none while nothing was drawn at all.
    seen: Option<bool>,
}

#[derive(Debug)]
struct Awaited {
    answer: Answer,
    /// It was taken back: its answer is passed over.
    dropped: bool,
}

/// An answer that decides where the next key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Opened,
    Branch,
    ErrorAt,
    Hits,
    Compared,
    ComparedAll,
    ToTest,
    TriedAgain,
    Learning,
    Edited,
    Filtered,
    Failures,
    Lanes,
    Left,
    State,
    Notes,
    Drafts,
    Suspected,
    Settled,
}

impl Answer {
    const fn to(job: &Job) -> Option<Self> {
        Some(match job {
            Job::Open(_) => Self::Opened,
            Job::Branch(_) => Self::Branch,
            Job::FindError { .. } => Self::ErrorAt,
            Job::Search(..) => Self::Hits,
            Job::Compare(..) => Self::Compared,
            Job::CompareAll(_) => Self::ComparedAll,
            Job::Test(..) => Self::ToTest,
            Job::TryAgain(..) => Self::TriedAgain,
            Job::Learn(..) => Self::Learning,
            Job::External(_) => Self::Edited,
            Job::Filter(..) => Self::Filtered,
            Job::Failures(_) => Self::Failures,
            Job::Lanes(_) => Self::Lanes,
            Job::Left(..) => Self::Left,
            Job::State(..) => Self::State,
            Job::Notes(_) | Job::Note { .. } => Self::Notes,
            Job::Drafts(_) => Self::Drafts,
            Job::Suspect(_) => Self::Suspected,
            Job::Settle { .. } => Self::Settled,
            _ => return None,
        })
    }

    const fn of(msg: &Msg) -> Option<Self> {
        Some(match msg {
            Msg::Opened(_) => Self::Opened,
            Msg::Branch(_) => Self::Branch,
            Msg::ErrorAt(..) => Self::ErrorAt,
            Msg::Hits(..) => Self::Hits,
            Msg::Compared(_) => Self::Compared,
            Msg::ComparedAll(_) => Self::ComparedAll,
            Msg::ToTest(_) => Self::ToTest,
            Msg::TriedAgain(_) => Self::TriedAgain,
            Msg::Learning(_) => Self::Learning,
            Msg::Edited(_) => Self::Edited,
            Msg::Filtered(..) => Self::Filtered,
            Msg::Failures(..) => Self::Failures,
            Msg::Lanes(..) => Self::Lanes,
            Msg::Left(..) => Self::Left,
            Msg::State(..) => Self::State,
            Msg::Notes(..) => Self::Notes,
            Msg::Drafts(_) => Self::Drafts,
            Msg::Suspected(_) => Self::Suspected,
            Msg::Settled(_) => Self::Settled,
            _ => return None,
        })
    }

    /// Whether nothing is shown of it until it is here, so that Esc takes it back.
    const fn to_come(self) -> bool {
        matches!(
            self,
            Self::Opened
                | Self::Branch
                | Self::ErrorAt
                | Self::Hits
                | Self::Compared
                | Self::ComparedAll
                | Self::ToTest
                | Self::TriedAgain
                | Self::Learning
                | Self::Filtered
        )
    }
}

impl App {
    /// Whether keys wait for something that is still being read.
    #[must_use]
    pub fn keys_wait(&self) -> bool {
        !self.ahead.typed.is_empty()
    }
}

/// Takes a message in: now, or, if it was typed ahead of what it is meant for, when that is here.
pub(super) fn take(app: &mut App, msg: Msg) -> Vec<Job> {
    let Some(msg) = enter(app, msg) else {
        return Vec::new();
    };
    let mut jobs = step(app, msg);
    while let Some(msg) = next(app) {
        jobs.extend(step(app, msg));
    }
    jobs
}

/// What is to be done with a message now; none if it waits, or answers what was taken back.
fn enter(app: &mut App, msg: Msg) -> Option<Msg> {
    match &msg {
        Msg::Key(_) | Msg::Paste(_) => {}
        msg if passed_over(app, msg) => return None,
        _ => return Some(msg),
    }
    if !app.keys_wait() && !must_wait(app, &msg) {
        return Some(msg);
    }
    let key = match &msg {
        Msg::Key(key) => takes_back(app, *key).then_some(*key),
        _ => None,
    };
    let Some(key) = key else {
        if app.ahead.typed.len() < MOST {
            app.ahead.typed.push_back(msg);
        } else {
            app.tell(format!(
                "More than {MOST} keys wait: those after them are dropped"
            ));
        }
        return None;
    };
    let leaves = app.keymap.find(app.context(), key);
    let leaves = leaves.is_some_and(|row| row.id == Id::Leave);
    if !take_back(app) || leaves {
        return Some(msg);
    }
    let plain = Key { alt: false, ..key };
    if key.alt && plain.code != Code::Esc {
        return enter(app, Msg::Key(plain));
    }
    None
}

/// Whether a key goes back or leaves. Esc and a quick key look like that key with Alt.
fn takes_back(app: &App, key: Key) -> bool {
    let found = app.keymap.find(app.context(), key);
    let back = found.is_some_and(|row| row.id == Id::Leave);
    back || key.code == Code::Esc || key.alt
}

/// Drops the keys that wait, and what they wait for where nothing is shown of that yet; tells whether something was taken back, so
/// that there is nothing else to go back from.
fn take_back(app: &mut App) -> bool {
    let keys = !app.ahead.typed.is_empty();
    let asked = app.ahead.awaited.iter().filter(|one| !one.dropped);
    let asked: Vec<Answer> = asked.map(|one| one.answer).collect();
    let to_come = asked.iter().any(|answer| answer.to_come());
    app.ahead.typed.clear();
    app.ahead
        .awaited
        .retain(|one| one.dropped || one.answer.to_come());
    for one in &mut app.ahead.awaited {
        one.dropped = true;
    }
    if let Some(open) = &mut app.open {
        if asked.contains(&Answer::Branch) {
            open.land = None;
        }
        if asked.contains(&Answer::Hits) {
            open.search = None;
        }
    }
    if asked.contains(&Answer::Filtered) {
        pin::narrow(app, "");
    }
    if to_come {
        app.tell("Taken back: what was asked for is not shown");
    }
    // Keys that wait for a text or a frame are what goes, and nothing else.
    to_come || keys && asked.is_empty()
}

/// Whether a message answers what was taken back.
fn passed_over(app: &mut App, msg: &Msg) -> bool {
    let awaited = &mut app.ahead.awaited;
    let place = Answer::of(msg).and_then(|answer| {
        awaited
            .iter()
            .position(|one| one.dropped && one.answer == answer)
    });
    place.map(|place| awaited.remove(place)).is_some()
}

/// The first of what was typed ahead, if what it is meant for is here.
fn next(app: &mut App) -> Option<Msg> {
    let first = app.ahead.typed.front()?;
    if must_wait(app, first) {
        return None;
    }
    if unseen(app, first) {
        app.ahead.typed.clear();
        app.tell("Look at it first: this is not done by a key that was typed ahead");
        return None;
    }
    app.ahead.typed.pop_front()
}

/// Whether a key that waited asks for something beyond the screen, which is never done before it was looked at.
fn unseen(app: &App, msg: &Msg) -> bool {
    let Msg::Key(key) = msg else { return false };
    let found = app.keymap.find(app.context(), *key);
    found.is_some_and(|row| {
        matches!(
            row.id,
            Id::Reconcile | Id::Resume | Id::Diagnostic | Id::Approve | Id::Allow
        )
    })
}

/// Takes one message in, and notes what is to be waited for after it.
fn step(app: &mut App, msg: Msg) -> Vec<Job> {
    let awaited = Answer::of(&msg).and_then(|answer| {
        let mut all = app.ahead.awaited.iter();
        all.position(|one| one.answer == answer)
    });
    if let Some(place) = awaited {
        app.ahead.awaited.remove(place);
    }
    let asks = matches!(
        msg,
        Msg::Key(_) | Msg::Paste(_) | Msg::Click(_) | Msg::TakenIn(_)
    ) || awaited.is_some();
    let drawn = matches!(msg, Msg::Drawn(_));
    let failed = matches!(msg, Msg::Failed(_));
    let jobs = update::one(app, msg);
    app.ahead.seen = app.ahead.seen.map(|_| drawn).or(drawn.then_some(true));
    if asks {
        let answers = jobs.iter().filter_map(Answer::to);
        app.ahead.awaited.extend(answers.map(|answer| Awaited {
            answer,
            dropped: false,
        }));
    }
    if failed {
        app.ahead.awaited.clear();
    }
    if failed || awaited.is_some() && app.notice.as_ref().is_some_and(|notice| notice.fault) {
        app.ahead.typed.clear();
    }
    jobs
}

/// Whether what was typed is meant for something that is not here.
fn must_wait(app: &App, msg: &Msg) -> bool {
    if app.ahead.awaited.iter().any(|one| !one.dropped) {
        return true;
    }
    let Msg::Key(key) = msg else { return false };
    let context = app.context();
    let Some(id) = app.keymap.find(context, *key).map(|row| row.id) else {
        return false;
    };
    let reads = matches!(
        context,
        Context::Steps | Context::Detail | Context::Branches
    ) && matches!(id, Id::Edit | Id::Fork | Id::Baseline | Id::Copy);
    let scrolls = context == Context::Detail && motion::Motion::of(id).is_some();
    if (reads || scrolls) && app.open.as_ref().is_some_and(Open::reading) {
        return true;
    }
    app.ahead.seen == Some(false) && motion::Motion::of(id).is_some_and(|to| motion::blind(app, to))
}
