//! Lessons over the ordinary screen: what the learner did is read off the state after every message, so that a lesson needs no
//! screens, keys or runs of its own. Nothing here judges an edit: verdicts and gates are those of the session.
//!
//! Each attempt has its own copy of the lesson's run; where the learner stands is kept with every part and hint.

mod check;
mod deed;
mod lesson;
mod read;

pub use check::{Facts, check};
use deed::{holds, missed};
pub use lesson::{Condition, Deed, GATES, Hidden, Lesson, Part, Place, Run, STYLES, VERDICTS};
pub use read::{Mistake, Reading, read};

use std::path::PathBuf;
use std::sync::Arc;

use super::command::Id;
use super::extent::Pane;
use super::motion::Motion;
use super::msg::{Fault, Job, Opened, Ticket};
use super::session::{Focus, Open};
use super::{App, View};
use crate::model::{Attempt, Filed, PartAttempt};

/// A lesson that is offered, and how far the learner came with it.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The lesson.
    pub lesson: Arc<Lesson>,
    /// Where its file is; none for those that the program carries.
    pub file: Option<PathBuf>,
    /// The last attempt.
    pub attempt: Option<Attempt>,
}

/// The lessons, and the one that is played.
#[derive(Debug)]
pub struct Learn {
    /// What is offered.
    pub offers: Vec<Offer>,
    /// The selected one.
    pub selected: usize,
    /// The one being played.
    pub course: Option<Course>,
}

/// A lesson being played.
#[derive(Debug)]
pub struct Course {
    /// The lesson.
    pub lesson: Arc<Lesson>,
    /// How far the learner is.
    pub attempt: Attempt,
    /// The part shown.
    pub at: usize,
    /// What was there before the part began and does not count.
    before: Before,
    /// Guesses of this part that were taken down.
    seen: usize,
    /// What to say of the last guess or the last try that missed.
    pub note: Option<String>,
    /// How the work on the screen misses the task, so that it is said once.
    missed: Option<String>,
    /// All is done and the last words are shown.
    pub ended: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Before {
    /// The replay that had ended by then.
    ended: Option<Ticket>,
    guesses: usize,
}

impl Course {
    /// The part shown.
    #[must_use]
    pub fn part(&self) -> Option<&Part> {
        self.lesson.parts.get(self.at)
    }

    /// What was done in it.
    #[must_use]
    pub fn tried(&self) -> Option<&PartAttempt> {
        self.attempt.parts.get(self.at)
    }

    /// Whether its task is done.
    #[must_use]
    pub fn done(&self) -> bool {
        self.tried().is_some_and(|part| part.done)
    }

    /// The hints given so far.
    #[must_use]
    pub fn hints(&self) -> &[String] {
        let given = self.tried().map_or(0, |part| part.hints);
        let hints = self.part().map_or(&[][..], |part| &part.hints);
        hints.get(..given.min(hints.len())).unwrap_or_default()
    }
}

impl App {
    /// The lesson being played.
    #[must_use]
    pub fn course(&self) -> Option<&Course> {
        self.learn.as_ref()?.course.as_ref()
    }

    /// The state at the start of lessons: the list of them, or one at once.
    #[must_use]
    pub fn lessons(operator: String, offers: Vec<Offer>, start: bool) -> (Self, Vec<Job>) {
        let (mut app, _) = Self::start(operator, None, None);
        app.learn = Some(Learn {
            offers,
            selected: 0,
            course: None,
        });
        let jobs = if start {
            begin(&app, false)
        } else {
            Vec::new()
        };
        (app, jobs)
    }

    fn course_mut(&mut self) -> Option<&mut Course> {
        self.learn.as_mut()?.course.as_mut()
    }
}

/// Does what a key of the lessons asks for.
pub(super) fn act(app: &mut App, id: Id) -> Vec<Job> {
    match id {
        Id::Hint => return hint(app),
        Id::StartLesson => return begin(app, false),
        Id::Anew => return begin(app, true),
        Id::GoOn => go_on(app),
        _ => open(app),
    }
    Vec::new()
}

/// Begins the selected lesson where it was left, or anew with a fresh copy of its run.
fn begin(app: &App, anew: bool) -> Vec<Job> {
    let Some(offer) = app
        .learn
        .as_ref()
        .and_then(|learn| learn.offers.get(learn.selected))
    else {
        return Vec::new();
    };
    let kept = offer.attempt.clone().filter(|attempt| {
        // Who finished a lesson plays it again; a lesson that was changed begins anew.
        !anew && !attempt.finished() && attempt.parts.len() == offer.lesson.parts.len()
    });
    let attempt = kept.unwrap_or_else(|| Attempt {
        session: String::new(),
        lesson: offer.lesson.name.clone(),
        title: offer.lesson.title.clone(),
        learner: app.operator.clone(),
        parts: offer
            .lesson
            .parts
            .iter()
            .map(|part| PartAttempt {
                title: part.title.clone(),
                ..PartAttempt::default()
            })
            .collect(),
        revision: 0,
        started: String::new(),
        updated: String::new(),
    });
    vec![Job::Learn(offer.clone(), attempt)]
}

/// The lesson's run is here: its first open part is told.
pub(super) fn begun(app: &mut App, begun: Result<Box<(Attempt, Opened)>, Fault>) {
    let (attempt, opened) = match begun {
        Ok(both) => *both,
        Err(fault) => return app.fail(fault),
    };
    let Some(learn) = &mut app.learn else { return };
    let found = learn
        .offers
        .iter()
        .position(|offer| offer.lesson.name == attempt.lesson);
    let Some((row, lesson)) =
        found.and_then(|row| Some((row, learn.offers.get(row)?.lesson.clone())))
    else {
        return;
    };
    learn.selected = row;
    learn.course = Some(Course {
        lesson,
        at: attempt.next(),
        attempt,
        before: Before::default(),
        seen: 0,
        note: None,
        missed: None,
        ended: false,
    });
    app.open = Some(Open::new(opened));
    app.views.clear();
    app.extents.rewind(Pane::Steps);
    app.extents.rewind(Pane::Detail);
    show(app);
}

/// Opens the part's page; what was done before it does not count.
fn show(app: &mut App) {
    let guesses = app.open.as_ref().map_or(0, |open| open.hypotheses.len());
    let ended = app.replay.as_ref().filter(|replay| !replay.running());
    let ended = ended.map(|replay| replay.ticket);
    let part = app.course().and_then(Course::part);
    // A view that is open already was not opened for this part.
    let stale = part.is_some_and(|part| {
        matches!(part.done.deed, Deed::Look(_) | Deed::Compare)
            && holds(&part.done, app, Before::default())
    });
    if stale {
        app.views.clear();
        if let Some(open) = &mut app.open {
            open.focus = Focus::Steps;
        }
    }
    if let Some(course) = app.course_mut() {
        course.before = Before { ended, guesses };
        course.seen = 0;
        course.note = None;
        course.missed = None;
        app.extents.rewind(Pane::Lesson);
        app.views.push(View::Lesson);
    }
}

/// Opens the lesson's page: of the next part, when this one is done.
fn open(app: &mut App) {
    let Some(course) = app.course_mut() else {
        return;
    };
    if course.done() {
        advance(app);
    } else {
        app.extents.rewind(Pane::Lesson);
        app.views.push(View::Lesson);
    }
}

/// From the page: to the task, or to the next part, or out of the lesson.
fn go_on(app: &mut App) {
    let Some(course) = app.course() else { return };
    let (ended, done) = (course.ended, course.done());
    if matches!(app.views.last(), Some(View::Lesson)) {
        app.views.pop();
    }
    if ended {
        app.open = None;
        app.views.clear();
    } else if done {
        advance(app);
    }
}

fn advance(app: &mut App) {
    let Some(course) = app.course_mut() else {
        return;
    };
    if course.at + 1 < course.lesson.parts.len() {
        course.at += 1;
    } else {
        course.ended = true;
    }
    show(app);
}

/// Gives the next hint.
fn hint(app: &mut App) -> Vec<Job> {
    let Some(course) = app.course_mut() else {
        return Vec::new();
    };
    let of = course.part().map_or(0, |part| part.hints.len());
    let at = course.at;
    let done = course.done();
    let told = match course.attempt.parts.get_mut(at) {
        _ if done => "This part is done: ‹lesson› goes on",
        Some(part) if part.hints < of => {
            part.hints += 1;
            course.note = None;
            course.attempt.revision += 1;
            return vec![Job::KeepAttempt(course.attempt.clone())];
        }
        _ => "There are no more hints; ‹lesson› shows them all again",
    };
    app.tell(told);
    Vec::new()
}

/// Moves the selection of the list.
pub(super) fn go(app: &mut App, motion: Motion) {
    let page = app.extents.get(Pane::Lessons).page();
    if let Some(learn) = &mut app.learn {
        let last = learn.offers.len().saturating_sub(1);
        learn.selected = motion.from(learn.selected, last, page);
    }
}

/// Looks at what the learner did.
pub(super) fn watch(app: &mut App) -> Vec<Job> {
    if app.learn.is_none() {
        return Vec::new();
    }
    if app.open.is_none() {
        leave(app);
    }
    let hidden = app
        .course()
        .filter(|course| !course.ended)
        .and_then(Course::part)
        .map(|part| part.hide);
    app.hide = hidden.unwrap_or_default();
    let reading = matches!(app.views.last(), Some(View::Lesson));
    let Some(course) = app.course().filter(|course| !reading && !course.done()) else {
        return Vec::new();
    };
    let Some(part) = course.part() else {
        return Vec::new();
    };
    let holds = holds(&part.done, app, course.before);
    let guesses = guesses(app, course.before);
    let new_guess = guesses.len() > course.seen;
    let missed = match guesses.last() {
        _ if holds => None,
        // A guess is answered when it is made, again if it is made again.
        Some(step) if part.done.deed == Deed::Predict => {
            new_guess.then(|| deed::wrong_guess(&part.done, app, *step))
        }
        _ => missed(&part.done, app, course.before),
    };
    let Some(course) = app.course_mut() else {
        return Vec::new();
    };
    let at = course.at;
    let Some(tried) = course.attempt.parts.get_mut(at) else {
        return Vec::new();
    };
    tried
        .guesses
        .extend(guesses.get(course.seen..).unwrap_or_default());
    course.seen = guesses.len();
    tried.done = holds;
    if missed.is_some() && missed != course.missed || holds {
        course.note.clone_from(&missed);
    }
    course.missed = missed;
    if !holds && !new_guess {
        return Vec::new();
    }
    course.attempt.revision += 1;
    vec![Job::KeepAttempt(course.attempt.clone())]
}

/// The lesson was left: how far it came stands in the list.
fn leave(app: &mut App) {
    let Some(learn) = &mut app.learn else { return };
    let Some(course) = learn.course.take() else {
        return;
    };
    if let Some(offer) = learn
        .offers
        .iter_mut()
        .find(|offer| offer.lesson.name == course.lesson.name)
    {
        offer.attempt = Some(course.attempt);
    }
}

/// The steps that the learner suspected since the part began.
fn guesses(app: &App, before: Before) -> Vec<usize> {
    let all = app.open.iter().flat_map(|open| &open.hypotheses);
    let new = all.skip(before.guesses).filter(|filed| own(filed));
    new.map(|filed| filed.hypothesis.step).collect()
}

/// Whether a person said it.
#[must_use]
pub fn own(filed: &Filed) -> bool {
    filed.analyst.starts_with("operator ")
}

#[cfg(test)]
pub(crate) mod tests;
