//! Weights of the features, fitted on the odd-numbered logs of Who&When (Zhang et al. 2025, MIT) by `dover eval attribution`; the
//! figures it gives for them there are those of refitting in every fold. In the order of [`super::features::LED`] and
//! [`super::features::TALK`].

use super::features::{LED, Manner, TALK};

#[rustfmt::skip]
const OF_LED: [f64; LED.len()] = [
    0.26, // first work
    0.58, // second work
    0.87, // third work
    -0.26, // fourth work
    -0.32, // later work
    0.57, // browses
    0.17, // reads files
    0.4, // thinks
    0.15, // regrets
    0.67, // last work of the only trial
    0.32, // searches
    0.31, // searches again
    0.43, // like its instruction
    -0.39, // instruction
    -0.11, // first instruction
    0.01, // plan
    0.19, // new plan
    -0.58, // ledger
    -0.17, // other words
    0.78, // first trial
];

#[rustfmt::skip]
const OF_TALK: [f64; TALK.len()] = [
    0.47, // first turn
    -0.45, // second turn
    -0.15, // third turn
    -0.85, // output
    0.41, // program
    0.08, // program ran
    0.12, // program failed
    -0.22, // after a failure
    0.76, // assumes
    -0.81, // says little
    -0.49, // last turn
    0.13, // new voice
    0.38, // verifies
    -0.42, // near the end
];

/// The weights that suit a session.
#[must_use]
pub const fn of(manner: Manner) -> &'static [f64] {
    match manner {
        Manner::Led => &OF_LED,
        Manner::Talk => &OF_TALK,
    }
}
