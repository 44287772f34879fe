//! Why an endpoint could not answer, as an operator reads it.

/// What failed and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// Something that must be given is not.
    #[error("{what}. {mend}")]
    Missing {
        /// What is missing.
        what: String,
        /// How to give it.
        mend: String,
    },
    /// The endpoint refused, broke off, or may not be asked any more.
    #[error("model endpoint: {what}. {mend}")]
    Failed {
        /// What it said or did.
        what: String,
        /// What to do.
        mend: String,
    },
}
