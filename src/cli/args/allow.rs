//! `--allow WORD`: what the tools of a run may touch beyond the files of its workspace.

use crate::runtime::team::Allowed;

/// What is allowed; nothing where nothing is said.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Allow {
    /// What the team's tools may do: `exec` runs programs in the workspace, `fetch=HOST[,HOST]` reads pages; may be repeated
    #[arg(long = "allow", value_name = "WORD", value_parser = word)]
    words: Vec<String>,
}

impl Allow {
    /// The words taken together.
    #[must_use]
    pub fn allowed(&self) -> Allowed {
        let mut allowed = Allowed::default();
        for word in &self.words {
            // Each was checked as it was read.
            let _checked = allowed.allow(word);
        }
        allowed
    }
}

fn word(text: &str) -> Result<String, String> {
    Allowed::default().allow(text).map(|()| text.to_owned())
}
