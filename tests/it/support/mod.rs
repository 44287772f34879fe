//! Helpers of the integration tests.

pub mod model_server;
