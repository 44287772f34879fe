//! How often the analyst by rules finds the labelled mistake, beside baselines that look at nothing (Who&When, Zhang et al. 2025).
//!
//! Its weights are fitted on such logs, so the figure that counts is the cross-validated one: every log is judged by weights fitted
//! without it. A label never reaches the analyst. Not here: outcomes, which are the measure (SPEC 2.2).

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::analyst::Case;
use crate::analyst::offline::attribute::{Candidates, candidates, judged};
use crate::analyst::offline::features::Manner;
use crate::analyst::offline::fit::{Labelled, fit};
use crate::analyst::offline::look::{Look, look};
use crate::analyst::offline::shipped;
use crate::model::{BranchId, Digest, Session};
use crate::pipeline::{PipelineError, debug, take_in};
use crate::store::Store;

/// Folds of the cross-validation, and how often it is repeated in another order.
const FOLDS: usize = 5;
const REPEATS: usize = 5;
/// The pull of the weights to zero.
pub const PENALTY: f64 = 4.0;
/// Steps off that count as near.
const NEAR: usize = 3;
/// Hand-crafted logs whose GAIA answer is certain, by their numbers.
const CERTAIN: [usize; 15] = [7, 12, 14, 24, 26, 29, 33, 34, 37, 42, 43, 45, 49, 53, 54];
/// Constant steps that are tried as baselines.
const CONSTANT: usize = 12;

/// A labelled log.
pub struct Log {
    /// Its path below the directory.
    pub name: String,
    /// Its number, if the file has one for a name.
    number: Option<usize>,
    case: Case,
    looks: Vec<Look>,
    candidates: Candidates,
    step: usize,
    agent: String,
}

/// A log that cannot be used, and why.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// Its path below the directory.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// Accuracy over a group of logs, in shares of 1.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Default)]
pub struct Accuracy {
    /// The agent is the labelled one.
    pub agent: Option<f64>,
    /// The step is the labelled one.
    pub step: Option<f64>,
    /// The step is at most three away.
    pub step_within_3: Option<f64>,
}

/// One row of the table.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Row {
    /// What guesses.
    pub method: String,
    /// `baseline`, `analyst` or `published`.
    pub kind: &'static str,
    /// Hand-crafted logs: an orchestrator leads.
    pub hand_crafted: Accuracy,
    /// Algorithm-generated logs: experts talk in turn.
    pub algorithm_generated: Accuracy,
    /// The hand-crafted ones whose GAIA answer is certain.
    pub certain_gaia: Accuracy,
}

/// The whole table.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Attribution {
    /// Logs of each group: hand-crafted, algorithm-generated, certain GAIA.
    pub logs: [usize; 3],
    /// Logs whose label names an agent who did not speak at the labelled step; they count by their step and by the agent as labelled.
    pub mismatched: Vec<String>,
    /// Logs that could not be used.
    pub unused: Vec<Unused>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Where the cross-validated analyst does not beat a baseline.
    pub not_beaten: Vec<String>,
    /// Weights fitted on all these logs, by manner, in the order of the features' names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<(String, f64)>,
}

/// Reads all labelled logs below a directory. `tell` hears how many of how many were read; false stops.
///
/// # Errors
/// A directory that cannot be read, or the store.
pub fn read(
    store: &Store,
    dir: &Path,
    tell: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<(Vec<Log>, Vec<Unused>), PipelineError> {
    let files = super::files(dir)?;
    let (mut logs, mut unused) = (Vec::new(), Vec::new());
    for (at, file) in files.iter().enumerate() {
        if !tell(at, files.len()) {
            break;
        }
        let name = file.strip_prefix(dir).unwrap_or(file).display().to_string();
        match read_one(store, file, &name) {
            Ok(log) => logs.push(log),
            Err(reason) => unused.push(Unused { file: name, reason }),
        }
    }
    Ok((logs, unused))
}

fn read_one(store: &Store, file: &Path, name: &str) -> Result<Log, String> {
    let path = file.to_str().ok_or("its name is not UTF-8")?;
    let (id, _) = take_in(store, path, &mut |_, _| true).map_err(|error| error.to_string())?;
    let session = store.session(&id).map_err(|error| error.to_string())?;
    let case = debug::case(store, &BranchId::main(&id)).map_err(|error| error.to_string())?;
    let (step, agent) = label(&session)?;
    if step >= case.steps.len() {
        return Err(format!(
            "the label names step {step}, and there are {}",
            case.steps.len()
        ));
    }
    let looks = look(&case);
    Ok(Log {
        name: name.to_owned(),
        number: file
            .file_stem()
            .and_then(|stem| stem.to_str()?.parse().ok()),
        candidates: candidates(&case, &looks),
        looks,
        case,
        step,
        agent,
    })
}

/// The labelled step and agent.
fn label(session: &Session) -> Result<(usize, String), String> {
    let of = |name: &str| {
        let found = session.annotations.iter().find(|label| label.name == name);
        found.map(|label| label.value.trim().to_owned())
    };
    let step = of("mistake_step").ok_or("no label: it has no mistake_step")?;
    let agent = of("mistake_agent").ok_or("no label: it has no mistake_agent")?;
    let step = step
        .parse()
        .map_err(|_| format!("mistake_step is no number: {step}"))?;
    Ok((step, plain(&agent)))
}

/// An agent's name without what a log adds to it in brackets, letter case aside.
fn plain(agent: &str) -> String {
    let name = agent.split(" (").next().unwrap_or(agent);
    name.trim().to_lowercase()
}

/// A guess about a log.
#[derive(Clone, Debug, PartialEq)]
struct Guess {
    step: Option<usize>,
    agent: Option<String>,
}

impl Guess {
    /// About the agent alone.
    const fn of(agent: Option<String>) -> Self {
        Self { step: None, agent }
    }

    fn at(log: &Log, step: usize) -> Self {
        let step = step.min(log.case.steps.len().saturating_sub(1));
        Self {
            step: Some(step),
            agent: log.case.steps.get(step).map(|step| plain(&step.agent)),
        }
    }
}

impl Log {
    const fn group(&self) -> Manner {
        self.candidates.manner
    }

    fn certain(&self) -> bool {
        self.group() == Manner::Led && self.number.is_some_and(|number| CERTAIN.contains(&number))
    }

    fn labelled(&self) -> Option<Labelled> {
        let label = self
            .candidates
            .steps
            .iter()
            .position(|step| *step == self.step)?;
        Some(Labelled {
            rows: self.candidates.rows.clone(),
            label,
        })
    }

    fn guess(&self, weights: &[f64]) -> Guess {
        let step = judged(&self.case, &self.looks, &self.candidates, weights);
        step.map_or(
            Guess {
                step: None,
                agent: None,
            },
            |step| Guess::at(self, step),
        )
    }
}

/// The table over these logs.
#[must_use]
pub fn table(logs: &[Log], unused: Vec<Unused>) -> Attribution {
    let mut rows = baselines(logs);
    rows.extend(analysts(logs));
    rows.extend(published());
    let count = |holds: &dyn Fn(&Log) -> bool| logs.iter().filter(|log| holds(log)).count();
    let all: Vec<&Log> = logs.iter().collect();
    let weights = [Manner::Led, Manner::Talk].into_iter().flat_map(|manner| {
        let names = manner.names().iter().map(|name| (*name).to_owned());
        names.zip(fitted(&all, manner))
    });
    Attribution {
        logs: [
            count(&|log| log.group() == Manner::Led),
            count(&|log| log.group() == Manner::Talk),
            count(&Log::certain),
        ],
        mismatched: logs
            .iter()
            .filter(|log| Guess::at(log, log.step).agent.as_ref() != Some(&log.agent))
            .map(|log| log.name.clone())
            .collect(),
        unused,
        not_beaten: not_beaten(&rows),
        rows,
        weights: weights.collect(),
    }
}

/// One guess about each log.
fn each(logs: &[Log], guess: &dyn Fn(&Log) -> Guess) -> Vec<(usize, Guess)> {
    logs.iter().map(guess).enumerate().collect()
}

/// Guesses that look at nothing but places and counts.
fn baselines(logs: &[Log]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |method: &str, guesses: Vec<(usize, Guess)>| {
        rows.push(row(logs, method, "baseline", &guesses));
    };
    for step in 0..=CONSTANT {
        add(
            &format!("always step {step}"),
            each(logs, &|log| Guess::at(log, step)),
        );
    }
    add(
        "always the last step",
        each(logs, &|log| Guess::at(log, usize::MAX)),
    );
    add(
        "always the middle step",
        each(logs, &|log| Guess::at(log, log.case.steps.len() / 2)),
    );
    add(
        "commonest labelled step",
        cross_validated(logs, &|others| {
            let step = most(others.iter().map(|other| other.step)).unwrap_or(0);
            Box::new(move |log| Guess::at(log, step))
        }),
    );
    add(
        "best fraction of the length",
        cross_validated(logs, &|others| {
            let tenth = best_tenth(others);
            Box::new(move |log| Guess::at(log, at_tenth(log, tenth)))
        }),
    );
    add(
        "commonest labelled agent",
        cross_validated(logs, &|others| {
            let agent = most(others.iter().map(|other| other.agent.clone()));
            Box::new(move |_| Guess::of(agent.clone()))
        }),
    );
    add(
        "always who speaks most",
        each(logs, &|log| {
            Guess::of(most(log.candidates.agents.iter().map(|agent| plain(agent))))
        }),
    );
    add(
        "always who speaks first",
        each(logs, &|log| {
            Guess::of(log.case.steps.first().map(|step| plain(&step.agent)))
        }),
    );
    rows
}

/// The analyst by rules: with weights fitted without the log in question, and with those in the program.
fn analysts(logs: &[Log]) -> [Row; 2] {
    let validated = cross_validated(logs, &|others| {
        let weights = others.first().map(|other| fitted(others, other.group()));
        Box::new(move |log| log.guess(weights.as_deref().unwrap_or_default()))
    });
    let as_shipped = each(logs, &|log| log.guess(shipped(log.group())));
    [
        row(logs, "offline, cross-validated", "analyst", &validated),
        row(logs, "offline, as shipped", "analyst", &as_shipped),
    ]
}

fn fitted(logs: &[&Log], manner: Manner) -> Vec<f64> {
    let same = logs.iter().filter(|log| log.group() == manner);
    let data: Vec<Labelled> = same.filter_map(|log| log.labelled()).collect();
    fit(&data, manner.names().len(), PENALTY)
}

/// From the logs of other folds, all of one half, to a way of guessing about a log of that half.
type Learn<'a> = dyn Fn(&[&Log]) -> Box<dyn Fn(&Log) -> Guess> + 'a;

/// Guesses about every log by what the logs of other folds teach, several times over in other orders.
fn cross_validated(logs: &[Log], learn: &Learn<'_>) -> Vec<(usize, Guess)> {
    let mut guesses = Vec::new();
    for repeat in 0..REPEATS {
        for manner in [Manner::Led, Manner::Talk] {
            let half = logs
                .iter()
                .enumerate()
                .filter(|(_, log)| log.group() == manner);
            let mut order: Vec<(usize, &Log)> = half.collect();
            order.sort_by_key(|(_, log)| {
                Digest::of_fields([repeat.to_le_bytes().as_slice(), log.name.as_bytes()])
            });
            for fold in 0..FOLDS {
                let places = || order.iter().enumerate();
                let others: Vec<&Log> = places()
                    .filter(|(place, _)| place % FOLDS != fold)
                    .map(|(_, (_, log))| *log)
                    .collect();
                let guess = learn(&others);
                let inside = places().filter(|(place, _)| place % FOLDS == fold);
                guesses.extend(inside.map(|(_, (at, log))| (*at, guess(log))));
            }
        }
    }
    guesses
}

/// What occurs most often; of equals the smallest.
fn most<T: Ord>(all: impl Iterator<Item = T>) -> Option<T> {
    let mut counts = std::collections::BTreeMap::new();
    for one in all {
        *counts.entry(one).or_insert(0) += 1;
    }
    let best = counts.values().copied().max()?;
    counts
        .into_iter()
        .find(|(_, count)| *count == best)
        .map(|(one, _)| one)
}

/// The step at so many tenths of a log's length.
fn at_tenth(log: &Log, tenth: usize) -> usize {
    log.case.steps.len().saturating_sub(1) * tenth / 10
}

/// The tenth of a log's length at which most labelled steps stand.
fn best_tenth(logs: &[&Log]) -> usize {
    let hits = |tenth: &usize| {
        logs.iter()
            .filter(|log| at_tenth(log, *tenth) == log.step)
            .count()
    };
    (0..=10).rev().max_by_key(hits).unwrap_or(0)
}

fn row(logs: &[Log], method: &str, kind: &'static str, guesses: &[(usize, Guess)]) -> Row {
    let over = |holds: &dyn Fn(&Log) -> bool| {
        let judged: Vec<(&Log, &Guess)> = guesses
            .iter()
            .filter_map(|(at, guess)| Some((logs.get(*at)?, guess)))
            .filter(|(log, _)| holds(log))
            .collect();
        accuracy(&judged)
    };
    Row {
        method: method.to_owned(),
        kind,
        hand_crafted: over(&|log| log.group() == Manner::Led),
        algorithm_generated: over(&|log| log.group() == Manner::Talk),
        certain_gaia: over(&Log::certain),
    }
}

/// Shares of right guesses. Whoever names a step or an agent for any log is asked about all: no guess is a wrong one.
fn accuracy(judged: &[(&Log, &Guess)]) -> Accuracy {
    let share = |right: &dyn Fn(&Log, &Guess) -> bool| {
        let right = judged.iter().filter(|(log, guess)| right(log, guess));
        #[allow(clippy::cast_precision_loss, reason = "counts of logs")]
        let share = right.count() as f64 / judged.len() as f64;
        share
    };
    let near = |most: usize| {
        let off = |log: &Log, guess: &Guess| Some(guess.step?.abs_diff(log.step));
        share(&|log, guess| off(log, guess).is_some_and(|off| off <= most))
    };
    let steps = judged.iter().any(|(_, guess)| guess.step.is_some());
    let agents = judged.iter().any(|(_, guess)| guess.agent.is_some());
    Accuracy {
        agent: agents.then(|| share(&|log, guess| guess.agent.as_ref() == Some(&log.agent))),
        step: steps.then(|| near(0)),
        step_within_3: steps.then(|| near(NEAR)),
    }
}

/// Figures of the literature: Zhang et al. 2025 (random, GPT-4o all at once), and the same with step indices and annotator guidance
/// (arXiv 2512.06749).
fn published() -> Vec<Row> {
    let figures = [
        ("published: random", [12.0, 4.2, 29.1, 19.1]),
        ("published: GPT-4o, all at once", [55.2, 6.0, 55.2, 15.3]),
        ("published: GPT-4o, guided", [59.2, 23.6, 57.4, 35.5]),
    ];
    let accuracy = |agent: f64, step: f64| Accuracy {
        agent: Some(agent / 100.0),
        step: Some(step / 100.0),
        step_within_3: None,
    };
    let row = |(method, [a, b, c, d]): (&str, [f64; 4])| Row {
        method: method.to_owned(),
        kind: "published",
        hand_crafted: accuracy(a, b),
        algorithm_generated: accuracy(c, d),
        certain_gaia: Accuracy::default(),
    };
    figures.into_iter().map(row).collect()
}

/// A part of something.
type Of<T, U> = fn(&T) -> U;

/// Where a baseline does as well as the cross-validated analyst or better.
fn not_beaten(rows: &[Row]) -> Vec<String> {
    let Some(own) = rows.iter().find(|row| row.kind == "analyst") else {
        return Vec::new();
    };
    let groups: [(&str, Of<Row, Accuracy>); 3] = [
        ("hand-crafted", |row| row.hand_crafted),
        ("algorithm-generated", |row| row.algorithm_generated),
        ("certain GAIA", |row| row.certain_gaia),
    ];
    let measures: [(&str, Of<Accuracy, Option<f64>>); 3] = [
        ("agent", |it| it.agent),
        ("step", |it| it.step),
        ("step within 3", |it| it.step_within_3),
    ];
    let mut found = Vec::new();
    for (group, of) in groups {
        for (measure, get) in measures {
            let mine = get(&of(own)).unwrap_or_default();
            let baselines = rows.iter().filter(|row| row.kind == "baseline");
            let better = baselines.filter_map(|row| Some((get(&of(row))?, &row.method)));
            let best = better
                .filter(|(value, _)| *value >= mine)
                .max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((value, method)) = best {
                found.push(format!(
                    "{group}, {measure}: {method} {:.1}% against {:.1}%",
                    value * 100.0,
                    mine * 100.0
                ));
            }
        }
    }
    found
}

/// All files below a directory that could be logs, sorted by their paths.
pub(super) fn all_files(dir: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            all_files(&path, found)?;
        } else if path
            .extension()
            .is_some_and(|end| end == "json" || end == "jsonl")
        {
            found.push(path);
        }
    }
    Ok(())
}
