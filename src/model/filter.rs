//! What narrows a message list: agents, recipients, kinds, a trial, words. Written as a person writes it, in one line.

use super::StepKind;

/// Parts of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Parts of agents' names, letter case aside.
    pub agents: Vec<String>,
    /// Parts of the names of those addressed, letter case aside.
    pub to: Vec<String>,
    /// Kinds.
    pub kinds: Vec<StepKind>,
    /// The number of a trial.
    pub trial: Option<usize>,
    /// What agent or text contain, letter case aside: words beside each other are one, quoted ones one each.
    pub words: Vec<String>,
}

/// A filter. Every part that is there must hold, where several agents, recipients or kinds are named one of them; and of what is
/// turned round by a `-` nothing may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// What must hold.
    pub with: Parts,
    /// What may not.
    pub without: Parts,
}

/// What stands between two spaces, quotes taken off.
#[derive(Default)]
struct Token {
    not: bool,
    key: Option<String>,
    value: String,
    quoted: bool,
}

/// What a part may be named, as far as a sentence about a wrong one tells.
const KEYS: &str = "agent:NAME to:NAME kind:KIND trial:N, and - before what is not meant";

impl Filter {
    /// Reads `agent:web to:"the user" -kind:tool trial:2 words`.
    ///
    /// # Errors
    /// A part that there cannot be, in a sentence.
    pub fn parse(line: &str) -> Result<Self, String> {
        let mut filter = Self::default();
        // Words beside each other, turned round or not.
        let mut run: Option<bool> = None;
        for token in tokens(line)? {
            let not = token.not;
            let bare = token.key.is_none() && !token.quoted;
            let parts = if not {
                &mut filter.without
            } else {
                &mut filter.with
            };
            match parts.words.last_mut() {
                Some(last) if bare && !not && run == Some(not) => {
                    *last = format!("{last} {}", token.value);
                }
                _ => parts.take(token)?,
            }
            run = bare.then_some(not);
        }
        Ok(filter)
    }

    /// Whether a step of this agent, recipient and kind passes; its words and its trial are others' to look at.
    #[must_use]
    pub fn keeps(&self, agent: &str, to: Option<&str>, kind: StepKind) -> bool {
        let (agent, to) = (agent.to_lowercase(), to.map(str::to_lowercase));
        let speaks = |names: &[String]| names.iter().any(|name| agent.contains(name.as_str()));
        let hears = |names: &[String]| {
            let to = to.as_deref();
            to.is_some_and(|to| names.iter().any(|name| to.contains(name.as_str())))
        };
        let (with, without) = (&self.with, &self.without);
        (with.agents.is_empty() || speaks(&with.agents))
            && (with.to.is_empty() || hears(&with.to))
            && (with.kinds.is_empty() || with.kinds.contains(&kind))
            && !speaks(&without.agents)
            && !hears(&without.to)
            && !without.kinds.contains(&kind)
    }
}

impl Parts {
    fn take(&mut self, token: Token) -> Result<(), String> {
        let Token { key, value, .. } = token;
        let Some(key) = key else {
            self.words.push(value);
            return Ok(());
        };
        let known = matches!(key.as_str(), "agent" | "to" | "kind" | "trial");
        if !known {
            return Err(format!(
                "A filter has no “{key}:”, only {KEYS}. To look for the words, quote them: \"{key}:{value}\""
            ));
        }
        if value.is_empty() {
            return Err(format!("“{key}:” names nothing: a filter has {KEYS}"));
        }
        match key.as_str() {
            "agent" => self.agents.push(value.to_lowercase()),
            "to" => self.to.push(value.to_lowercase()),
            "kind" => {
                let name = value.to_lowercase().replace('-', "_");
                let before = self.kinds.len();
                let kinds = StepKind::ALL.into_iter();
                self.kinds
                    .extend(kinds.filter(|kind| kind.name().starts_with(&name)));
                if self.kinds.len() == before {
                    let known = StepKind::ALL.map(StepKind::name).join(", ");
                    return Err(format!("No kind of step is named “{value}”: {known}"));
                }
            }
            _ => {
                let number = value.parse().ok().filter(|number| *number > 0);
                self.trial = Some(number.ok_or_else(|| {
                    format!("“trial:{value}” names no trial: write trial:2 for the second")
                })?);
            }
        }
        Ok(())
    }
}

/// The parts of a line. A quote holds spaces together, after a key or by itself.
fn tokens(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let mut token = Token::default();
        let turned = rest
            .strip_prefix('-')
            .filter(|after| after.starts_with(|c: char| !c.is_whitespace() && c != '-'));
        if let Some(after) = turned {
            (token.not, rest) = (true, after);
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        // An address and a time of day are words.
        if let Some((key, value)) = word.split_once(':')
            && !key.is_empty()
            && key.chars().all(char::is_alphabetic)
            && !value.starts_with("//")
        {
            token.key = Some(key.to_lowercase());
            rest = rest.get(key.len() + 1..).unwrap_or_default();
        }
        if let Some(after) = rest.strip_prefix('"') {
            let Some((quoted, after)) = after.split_once('"') else {
                return Err(format!(
                    "A quote is opened and not closed: “{}”",
                    line.trim()
                ));
            };
            (token.value, token.quoted) = (quoted.trim().to_owned(), true);
            rest = after;
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (value, after) = rest.split_at(end);
            value.clone_into(&mut token.value);
            rest = after;
        }
        if token.key.is_some() || !token.value.is_empty() {
            tokens.push(token);
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_passes() {
        let filter = Filter::parse("agent:WEB kind:tool trial:2 the archive http://x").unwrap();
        assert_eq!(filter.with.agents, ["web"]);
        assert_eq!(
            filter.with.kinds,
            [StepKind::ToolCall, StepKind::ToolResult]
        );
        assert_eq!(filter.with.trial, Some(2));
        assert_eq!(filter.with.words, ["the archive http://x"]);
        assert!(filter.keeps("WebSurfer", None, StepKind::ToolCall));
        assert!(!filter.keeps("WebSurfer", None, StepKind::Message));
        assert!(!filter.keeps("Orchestrator", None, StepKind::ToolCall));
        assert!(Filter::default().keeps("anybody", None, StepKind::Task));
    }

    #[test]
    fn names_are_quoted_recipients_named_and_parts_turned_round() {
        let filter = Filter::parse(r#"to:"web surfer" -agent:human -kind:plan -"so far" a b"#);
        let filter = filter.unwrap();
        assert_eq!(filter.with.to, ["web surfer"]);
        assert_eq!(filter.with.words, ["a b"]);
        assert_eq!(filter.without.words, ["so far"]);
        let message = StepKind::Message;
        assert!(filter.keeps("Orchestrator", Some("Web Surfer"), message));
        assert!(!filter.keeps("Orchestrator", Some("Coder"), message));
        assert!(!filter.keeps("Orchestrator", None, message));
        assert!(!filter.keeps("Human", Some("Web Surfer"), message));
        assert!(!filter.keeps("Orchestrator", Some("Web Surfer"), StepKind::Plan));

        let words = Filter::parse(r#"-error "foo:bar" a - b 12:30 -x -y"#).unwrap();
        assert_eq!(words.with.words, ["foo:bar", "a - b 12:30"]);
        assert_eq!(words.without.words, ["error", "x", "y"]);
    }

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence() {
        let table = [
            ("kind:sonnet", "sonnet"),
            ("trial:0", "trial:0"),
            ("trial:two", "trial:two"),
            ("foo:bar", "no “foo:”"),
            ("kind:", "“kind:” names nothing"),
            ("-to: x", "“to:” names nothing"),
            ("agent:\"X Y", "not closed"),
        ];
        for (line, said) in table {
            let refused = Filter::parse(line).unwrap_err();
            assert!(refused.contains(said), "{line}: {refused}");
        }
    }
}
