//! What an endpoint is told. The key is never printed or stored.

use std::fmt;
use std::time::Duration;

use super::{Meter, shown};

/// Where a model is, what it may be asked, and how long to wait for it.
#[derive(Clone)]
pub struct EndpointSettings {
    /// Base URL, such as `http://127.0.0.1:8000/v1`.
    pub base_url: Option<String>,
    /// The key; local servers often want none.
    pub api_key: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// How long connecting may take.
    pub connect: Duration,
    /// How long the endpoint may be silent, before its answer and within it.
    pub idle: Duration,
    /// How often a request is made at most when the endpoint asks to come again later.
    pub tries: u32,
    /// How long all waiting between the tries of one request may take.
    pub patience: Duration,
    /// Counts what is used and stops at a limit; clones share it.
    pub meter: Meter,
}

impl Default for EndpointSettings {
    fn default() -> Self {
        Self {
            base_url: None,
            api_key: None,
            model: None,
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(1),
            tries: 3,
            patience: Duration::from_mins(1),
            meter: Meter::default(),
        }
    }
}

impl fmt::Debug for EndpointSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointSettings")
            .field("base_url", &self.base_url.as_deref().map(shown))
            .field("api_key", &self.api_key.as_ref().map(|_| "[key]"))
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// A setting that says something.
#[must_use]
pub fn given(setting: Option<&str>) -> Option<&str> {
    setting.map(str::trim).filter(|text| !text.is_empty())
}
