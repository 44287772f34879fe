//! The screen as a person has it: the release binary in a pseudo-terminal. What a key costs, what an idle screen costs, bytes, memory.
//!
//! `cargo bench --bench terminal` prints tables; `cargo bench --bench terminal -- keys` one of keys, idle, frames, costs. Other work on the
//! machine adds to every time, so a worst case tells more of the machine than of dover when the median is far from it.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    missing_docs
)]

mod costs;
mod frames;
mod idle;
mod keys;
mod proc;
mod pty;
mod session;

use std::time::Duration;

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let store = session::open(&path);
    session::take_in(&store, "long", session::LONG);
    if wants("keys") {
        keys::run(&path);
    }
    if wants("frames") {
        frames::run(&path);
    }
    if wants("idle") {
        idle::run(dir.path(), &path);
    }
    if wants("costs") {
        costs::run(&store);
    }
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all[all.len() / 2]
}

fn worst(all: Vec<Duration>) -> Duration {
    all.into_iter().max().unwrap()
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
