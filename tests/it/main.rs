//! Integration tests, one binary so that they link once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs
)]

mod cli;
mod continued;
mod corpus;
mod fork;
mod house;
mod import;
mod kill;
mod readme;
mod receipts;
mod scenario;
mod screen;
mod store;
mod support;
mod team;
