//! Integration tests, one binary so that they link once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs
)]
// Tables of cases are long, and names are taken in where a test needs them.
#![allow(
    clippy::format_collect,
    clippy::items_after_statements,
    clippy::too_many_lines
)]

mod adapter;
mod adapters_page;
mod analyst;
mod attribution;
mod authority;
mod brought;
mod check;
mod cli;
mod config;
mod continued;
mod corpus;
mod debug;
mod effects;
mod export;
mod export_state;
mod follow;
mod fork;
mod frameworks;
mod growing;
mod house;
mod import;
mod kill;
mod learn;
mod live;
mod look;
mod loop_offline;
mod loop_team;
mod never_runs;
mod pairs;
mod plain;
mod plain_live;
mod readme;
mod real_model;
mod receipts;
mod scenario;
mod screen;
mod screen_copy;
mod screen_gates;
mod screen_live;
mod screen_mouse;
mod screen_unsent;
mod state;
mod store;
mod support;
mod team;
