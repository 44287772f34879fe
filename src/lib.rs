//! dover, a terminal debugger for LLM multi-agent conversations.
//!
//! # The map
//!
//! | module | what it is for |
//! |---|---|
//! | [`model`] | the nouns of the field and the rules over them: steps, trials, branches, verdicts; pure |
//! | [`gate`] | six gates around a reset; pure, a file per gate |
//! | [`store`] | SQLite: sessions, branches with shared prefixes, checkpoints |
//! | [`import`] | bytes to a session: a file per format, one recogniser, one coverage report |
//! | [`endpoint`] | an OpenAI-compatible model endpoint: streams, tool calls, retries, a meter with limits |
//! | [`runtime`] | where a replay really runs: `scenario` worlds, `team` over a model endpoint |
//! | [`analyst`] | where a trial went wrong, and one edit for it: `offline` by rules, `model` by an endpoint |
//! | [`pipeline`] | the loop: plan an edit, gate it, fork, replay, verdict |
//! | [`app`] | what the screen is about: state, messages, update, jobs, the command table; no drawing, no I/O |
//! | [`ui`] | how it looks: theme, widgets, screens; reads application state only |
//! | [`export`] | a session or a comparison, taken along: Markdown, HTML, JSONL; redaction |
//! | [`term`] | the terminal: guard, events, frames, signals, clipboard, external editor; runs the jobs |
//! | [`cli`] | a thin file per subcommand |
//!
//! # Rules of the house
//!
//! Imports run one way: `model` ← `gate` ← `store`, `import` ← `endpoint` ← `runtime` ← `analyst` ← `pipeline` ← `app` ← `ui` ← `export` ← `term` ← `cli`; a test scans them.
//! `model` and `gate` know neither tokio, ratatui, rusqlite nor the file system.
//! A branch is never edited: reset is fork. Clock, ids and randomness are injected. Text from a log is cleaned once, on its way to a view.
//! Every error says what failed, where, and what to do next.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::format_collect,
        clippy::float_cmp
    )
)]

pub mod analyst;
pub mod app;
pub mod cli;
pub mod endpoint;
pub mod export;
pub mod gate;
pub mod import;
pub mod model;
pub mod pipeline;
pub mod runtime;
pub mod store;
pub mod term;
pub mod ui;
