//! A lesson as data: a run, and parts to do on it one after the other. `docs/lessons.md` tells how to write one.

use crate::model::{EditClass, Verdict};

/// What is kept from the eye.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Hidden {
    /// Labels of the log, and what analysts suspect.
    pub labels: bool,
    /// Verdicts, and whether answers are right.
    pub verdicts: bool,
    /// Expected answers.
    pub answers: bool,
}

impl Hidden {
    /// What can be hidden, as lessons name it.
    pub const NAMES: [&'static str; 3] = ["labels", "verdicts", "answers"];

    /// All of [`Self::NAMES`] that are said.
    #[must_use]
    pub fn of(names: &[String]) -> Self {
        let mut hidden = Self::default();
        for name in names {
            hidden.hide(name);
        }
        hidden
    }

    /// Hides one more of [`Self::NAMES`].
    pub(super) fn hide(&mut self, name: &str) {
        match name {
            "labels" => self.labels = true,
            "verdicts" => self.verdicts = true,
            "answers" => self.answers = true,
            _ => {}
        }
    }
}

/// The run of a lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// A sample, by name.
    Sample(String),
    /// A log, by its path from the lesson's file.
    Log(String),
}

/// A lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// Its name, unique among the lessons that are offered together.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What is learned, in a sentence.
    pub about: String,
    /// The run it is played on.
    pub run: Run,
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// What is said at the end.
    pub end: String,
    /// The line of its file that names it.
    pub line: usize,
}

/// A part of a lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its title.
    pub title: String,
    /// What there is to read.
    pub text: String,
    /// What there is to do.
    pub task: String,
    /// What completes it.
    pub done: Condition,
    /// Hints, given one after the other.
    pub hints: Vec<String>,
    /// What is said once it is done.
    pub after: Option<String>,
    /// What is hidden meanwhile.
    pub hide: Hidden,
}

/// What the learner must have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The deed.
    pub deed: Deed,
    /// The first and last step at which it counts; any step without.
    pub at: Option<(usize, usize)>,
    /// The style that an edit must have.
    pub style: Option<EditClass>,
    /// Its line in the file.
    pub line: usize,
}

/// A kind of deed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A step was selected.
    Visit,
    /// A step was suspected by the learner.
    Predict,
    /// An edit was taken to the gates.
    Edit,
    /// Runs came to their end: of the baseline, or of an edit.
    Run {
        /// Whether unedited.
        baseline: bool,
    },
    /// Runs of an edit came to a verdict.
    Verdict(Verdict),
    /// A gate held a fork back.
    Held(&'static str),
    /// A gate holds, or all of them.
    Passed(Option<&'static str>),
    /// Two branches were put side by side.
    Compare,
    /// A view was opened.
    Look(Place),
}

/// A view that a lesson may send the learner to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Milestones.
    Milestones,
    /// Milestones of a run, opened in its replay.
    Gained,
    /// Hypotheses.
    Hypotheses,
    /// Hypotheses, once an analyst has said its own.
    Analysis,
    /// What was tried, with verdicts.
    Verdicts,
    /// What was left in the world.
    Effects,
    /// The state before a step.
    State,
    /// The whole text of the selected step.
    Text,
    /// The key help.
    Help,
}

impl Place {
    /// All, with the names that lessons use.
    pub const ALL: [(&'static str, Self); 9] = [
        ("milestones", Self::Milestones),
        ("gained", Self::Gained),
        ("hypotheses", Self::Hypotheses),
        ("analysis", Self::Analysis),
        ("verdicts", Self::Verdicts),
        ("effects", Self::Effects),
        ("state", Self::State),
        ("text", Self::Text),
        ("help", Self::Help),
    ];
}

/// The gates that can hold a fork back, by name.
pub const GATES: [&str; 5] = ["lineage", "state", "effects", "authority", "config"];

/// The styles of edits, by name.
pub const STYLES: [(&str, EditClass); 4] = [
    ("add_detail", EditClass::AddDetail),
    ("simplify", EditClass::Simplify),
    ("change_plan", EditClass::ChangePlan),
    ("other", EditClass::Other),
];

/// The verdicts, by name.
pub const VERDICTS: [(&str, Verdict); 4] = [
    ("validated", Verdict::Validated),
    ("partially_validated", Verdict::PartiallyValidated),
    ("refuted", Verdict::Refuted),
    ("inconclusive", Verdict::Inconclusive),
];
