//! What the operator allows the workers: nothing outside the workspace unless it is said.

use std::collections::BTreeSet;

/// What the tools may do beyond the files of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Programs may be run in the workspace.
    pub exec: bool,
    /// Hosts whose pages may be read.
    pub hosts: BTreeSet<String>,
}

impl Allowed {
    /// Takes one word of the command line in: `exec` or `fetch=HOST[,HOST]`.
    ///
    /// # Errors
    /// A sentence, if it is neither.
    pub fn allow(&mut self, word: &str) -> Result<(), String> {
        let wrong = || {
            format!("'{word}' is nothing that can be allowed. There are exec and fetch=HOST[,HOST]")
        };
        if word == "exec" {
            self.exec = true;
            return Ok(());
        }
        let hosts = word.strip_prefix("fetch=").ok_or_else(wrong)?;
        for host in hosts.split(',') {
            let host = host.trim().to_lowercase();
            let odd = |c: char| c.is_whitespace() || "/@?#*".contains(c);
            if host.is_empty() || host.contains(odd) {
                return Err(wrong());
            }
            self.hosts.insert(host);
        }
        Ok(())
    }

    /// Whether anything outside the workspace can be touched.
    #[must_use]
    pub fn outside(&self) -> bool {
        self.exec || !self.hosts.is_empty()
    }

    /// What is allowed, for a person.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut words = Vec::new();
        if self.exec {
            words.push("exec".to_owned());
        }
        if !self.hosts.is_empty() {
            let hosts: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
            words.push(format!("fetch={}", hosts.join(",")));
        }
        if words.is_empty() {
            "files of the workspace".to_owned()
        } else {
            format!("files of the workspace, {}", words.join(", "))
        }
    }
}
