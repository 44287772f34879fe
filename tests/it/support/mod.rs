//! What several tests need.
#![allow(dead_code)]

pub mod model_server;
pub mod pty;
pub mod python;
