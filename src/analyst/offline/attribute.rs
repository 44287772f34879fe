//! From how the steps of a trial look to a ranked list of suspects, each with its reason and the steps that speak for it.
//!
//! Two things are weighed. What shows that something went wrong there: a failure reported as a fact, a guess, a repetition, a number
//! relation misread, a source that nobody looked at. And, where nothing shows it, how decisive mistakes are usually placed: weights fitted on
//! labelled logs ([`super::weights`]).

use std::collections::HashMap;

use super::features::{Manner, Place, searches, vector};
use super::fit::probabilities;
use super::look::{Look, Part, pointed_to};
use super::{reasons, weights};
use crate::analyst::{Case, is_human};
use crate::model::{Hypothesis, Trial, Tried};

/// How much an agent's whole share counts beside a step's own, and that of the steps around it.
const AGENT: f64 = 0.3;
const AROUND: f64 = 0.3;
/// Steps on either side that count as around.
const NEAR: usize = 3;
/// What each sure sign adds, in the same measure as the chances.
const MISREAD: f64 = 3.0;
const RECALLS: f64 = 2.2;
const UNHEEDED: f64 = 1.8;
const FAILED: f64 = 1.5;
const REPEATS: f64 = 0.05;
const OWING: f64 = 2.0;
/// How many suspects are named.
const SUSPECTS: usize = 5;

/// The candidates of a session for the label of a data set: every step with its features.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// Which weights suit.
    pub manner: Manner,
    /// The steps, by their indices.
    pub steps: Vec<usize>,
    /// Who made each.
    pub agents: Vec<String>,
    /// A row of features each.
    pub rows: Vec<Vec<f64>>,
}

/// Steps that an agent can be blamed for. A talk may begin with an agent's own words for the task; no trial has that step, so no edit
/// is ever proposed for it, but data sets label it.
fn blamable(look: &Look, agent: &str, manner: Manner) -> bool {
    let opens = look.index == 0 && manner == Manner::Talk && !is_human(agent);
    (look.part != Part::Human && look.trial > 0) || opens
}

/// The candidates of a case.
#[must_use]
pub fn candidates(case: &Case, looks: &[Look]) -> Candidates {
    let manner = if case.orchestrated() {
        Manner::Led
    } else {
        Manner::Talk
    };
    let mut found = Candidates {
        manner,
        steps: Vec::new(),
        agents: Vec::new(),
        rows: Vec::new(),
    };
    let mut voices: Vec<&str> = Vec::new();
    let (mut failed, mut searched) = (false, false);
    for (look, step) in looks.iter().zip(case.steps.iter()) {
        let first = !voices.contains(&step.agent.as_str());
        if first {
            voices.push(&step.agent);
        }
        let after_failure = std::mem::replace(&mut failed, look.failed);
        if !blamable(look, &step.agent, manner) {
            continue;
        }
        let place = Place {
            index: step.index,
            len: case.steps.len(),
            trials: case.trials.len(),
            searched,
            text: &step.text,
            after_failure,
        };
        searched |= searches(&step.text);
        found.steps.push(step.index);
        found.agents.push(step.agent.clone());
        found
            .rows
            .push(vector(manner, look, &step.agent, first, place));
    }
    found
}

/// How strongly each candidate is suspected: its own chance, with a share of its agent's and of its neighbours'.
#[must_use]
pub fn suspicion(candidates: &Candidates, weights: &[f64]) -> Vec<f64> {
    let chances = probabilities(weights, &candidates.rows);
    let mut agents: HashMap<&str, f64> = HashMap::new();
    for (agent, chance) in candidates.agents.iter().zip(&chances) {
        *agents.entry(agent).or_default() += chance;
    }
    let each = candidates
        .steps
        .iter()
        .zip(&candidates.agents)
        .zip(&chances);
    each.map(|((step, agent), chance)| {
        let near = candidates
            .steps
            .iter()
            .zip(&chances)
            .filter(|(other, _)| other.abs_diff(*step) <= NEAR);
        let around: f64 = near.map(|(_, chance)| chance).sum();
        chance + AGENT * agents.get(agent.as_str()).copied().unwrap_or_default() + AROUND * around
    })
    .collect()
}

/// The strongest suspect of a whole session, by these weights and what is sure.
#[must_use]
pub fn judged(
    case: &Case,
    looks: &[Look],
    candidates: &Candidates,
    weights: &[f64],
) -> Option<usize> {
    let usual = suspicion(candidates, weights);
    let each = candidates.steps.iter().zip(usual);
    let weighed = each.map(|(step, usual)| {
        let sure = looks
            .get(*step)
            .map_or(0.0, |look| reasons::of(case, looks, look).0);
        (usual + sure, *step)
    });
    weighed
        .max_by(|(a, one), (b, other)| a.total_cmp(b).then(other.cmp(one)))
        .map(|(_, step)| step)
}

/// Suspects of one trial, the strongest first.
pub(super) fn attribute(
    case: &Case,
    looks: &[Look],
    trial: &Trial,
    tried: &[Tried],
) -> Vec<Hypothesis> {
    let candidates = candidates(case, looks);
    let usual = suspicion(&candidates, weights::of(candidates.manner));
    let mut ranked: Vec<(f64, Hypothesis)> = candidates
        .steps
        .iter()
        .zip(&usual)
        .filter(|(step, _)| (trial.start..=trial.end).contains(*step))
        .filter_map(|(step, usual)| {
            let look = looks.get(*step)?;
            let made_by = case.steps.get(*step)?;
            if !suspectable(look) || is_human(&made_by.agent) {
                return None;
            }
            let (sure, reason, evidence) = reasons::of(case, looks, look);
            let weight = usual + sure + again(tried, *step);
            Some((
                weight,
                Hypothesis {
                    trial: *trial,
                    step: *step,
                    agent: made_by.agent.clone(),
                    reason,
                    evidence,
                    weight,
                    capability: reasons::lacks(look),
                },
            ))
        })
        .collect();
    ranked.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.step.cmp(&other.step)));
    let strongest = ranked.first().map_or(1.0, |(weight, _)| weight.max(1.0));
    let named = ranked.into_iter().take(SUSPECTS);
    named
        .map(|(weight, hypothesis)| Hypothesis {
            weight: (weight / strongest.max(SURE)).clamp(0.0, 1.0),
            ..hypothesis
        })
        .collect()
}

/// The most that the signs of one step come to, about; so weights of different trials can be compared.
const SURE: f64 = 6.0;

/// Whether an edit could follow: machinery and ledgers are consequences.
fn suspectable(look: &Look) -> bool {
    !matches!(look.part, Part::Machinery | Part::Ledger | Part::Human)
}

/// What was tried in vain is less likely, and the same step twice not at all likely.
fn again(tried: &[Tried], step: usize) -> f64 {
    let times = tried
        .iter()
        .filter(|one| one.hypothesis.step == step)
        .count();
    let told = tried.iter().rfind(|one| one.hypothesis.step == step);
    let way = told.is_some_and(|one| {
        let known: String = tried
            .iter()
            .map(|one| one.proposal.text.to_lowercase())
            .collect();
        pointed_to(&one.learnt)
            .iter()
            .any(|source| !known.contains(&source.to_lowercase()))
    });
    if way {
        // What was learnt there names another way.
        return 0.0;
    }
    #[allow(clippy::cast_precision_loss, reason = "a count of rounds")]
    let penalty = times as f64 * -4.0;
    penalty
}

/// What the sure signs of a step add. `led`: somebody was told to find out, so a failure or a guess is theirs; in a talk a program that
/// failed is the usual way of finding out.
pub(super) fn signs(look: &Look, owes: bool, led: bool) -> f64 {
    let add = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
    // A failure that somebody else's omission explains is a consequence.
    let failed = look.failed && look.owed_by.is_none();
    add(look.misread, MISREAD)
        + add(look.recalls && led, RECALLS)
        + add(look.unheeded.is_some() && led, UNHEEDED)
        + add(failed && led, FAILED)
        + add(look.repeats.is_some(), REPEATS)
        + add(owes, OWING)
}
