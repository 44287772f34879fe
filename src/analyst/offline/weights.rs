//! Weights of the features, fitted on the odd-numbered logs of Who&When (Zhang et al. 2025, MIT) by `dover eval attribution`; the
//! figures it gives for them there are those of refitting in every fold. In the order of [`super::features::LED`] and
//! [`super::features::TALK`].

use super::features::{LED, Manner, TALK};

#[rustfmt::skip]
const OF_LED: [f64; LED.len()] = [
    0.32, // first work
    0.82, // second work
    1.14, // third work
    -0.44, // fourth work
    -0.41, // later work
    0.58, // browses
    0.3, // reads files
    0.55, // thinks
    0.23, // regrets
    0.94, // last work of the only trial
    0.48, // searches
    0.43, // like its instruction
    -0.5, // instruction
    -0.17, // first instruction
    0.03, // plan
    0.39, // new plan
    -0.78, // ledger
    -0.17, // other words
    1.07, // first trial
];

#[rustfmt::skip]
const OF_TALK: [f64; TALK.len()] = [
    0.49, // first turn
    -0.6, // second turn
    -0.19, // third turn
    -1.12, // output
    0.43, // program
    0.06, // program ran
    0.06, // program failed
    -0.35, // after a failure
    0.88, // assumes
    -1.09, // says little
    -0.7, // last turn
    0.1, // new voice
    0.46, // verifies
    -0.47, // near the end
];

/// The weights that suit a session.
#[must_use]
pub const fn of(manner: Manner) -> &'static [f64] {
    match manner {
        Manner::Led => &OF_LED,
        Manner::Talk => &OF_TALK,
    }
}
