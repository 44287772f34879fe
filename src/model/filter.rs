//! What narrows a message list: agents, kinds, a trial, words. Written as a person writes it, in one line.

use super::StepKind;

/// A filter. Every part that is there must hold; of several agents or kinds one must.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Parts of agents' names, letter case aside.
    pub agents: Vec<String>,
    /// Kinds.
    pub kinds: Vec<StepKind>,
    /// The number of a trial.
    pub trial: Option<usize>,
    /// Words that agent or text contain, letter case aside.
    pub words: String,
}

impl Filter {
    /// Reads `agent:web kind:tool trial:2 words`.
    ///
    /// # Errors
    /// A kind or a trial that there cannot be, in a sentence.
    pub fn parse(line: &str) -> Result<Self, String> {
        let mut filter = Self::default();
        let mut words: Vec<&str> = Vec::new();
        for part in line.split_whitespace() {
            match part.split_once(':') {
                Some(("agent", name)) if !name.is_empty() => {
                    filter.agents.push(name.to_lowercase());
                }
                Some(("kind", name)) if !name.is_empty() => {
                    let name = name.to_lowercase().replace('-', "_");
                    let kinds = StepKind::ALL
                        .into_iter()
                        .filter(|kind| kind.name().starts_with(&name));
                    let before = filter.kinds.len();
                    filter.kinds.extend(kinds);
                    if filter.kinds.len() == before {
                        let known = StepKind::ALL.map(StepKind::name).join(", ");
                        return Err(format!("No kind of step is named “{name}”: {known}"));
                    }
                }
                Some(("trial", number)) if !number.is_empty() => {
                    let number = number.parse().ok().filter(|number| *number > 0);
                    filter.trial = Some(number.ok_or_else(|| {
                        format!("“{part}” names no trial: write trial:2 for the second")
                    })?);
                }
                _ => words.push(part),
            }
        }
        filter.words = words.join(" ");
        Ok(filter)
    }

    /// Whether a step of this agent and kind passes; its words and its trial are others' to look at.
    #[must_use]
    pub fn keeps(&self, agent: &str, kind: StepKind) -> bool {
        let agent = agent.to_lowercase();
        let named = |part: &String| agent.contains(part.as_str());
        (self.agents.is_empty() || self.agents.iter().any(named))
            && (self.kinds.is_empty() || self.kinds.contains(&kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_passes() {
        let filter = Filter::parse("agent:WEB kind:tool trial:2 the archive http://x").unwrap();
        assert_eq!(filter.agents, ["web"]);
        assert_eq!(filter.kinds, [StepKind::ToolCall, StepKind::ToolResult]);
        assert_eq!(filter.trial, Some(2));
        assert_eq!(filter.words, "the archive http://x");
        assert!(filter.keeps("WebSurfer", StepKind::ToolCall));
        assert!(!filter.keeps("WebSurfer", StepKind::Message));
        assert!(!filter.keeps("Orchestrator", StepKind::ToolCall));
        assert!(Filter::default().keeps("anybody", StepKind::Task));
    }

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence() {
        for line in ["kind:sonnet", "trial:0", "trial:two"] {
            let refused = Filter::parse(line).unwrap_err();
            assert!(
                refused.contains(line.split(':').next_back().unwrap()),
                "{refused}"
            );
        }
    }
}
