//! Reads a reply as it streams: leaves the model's `<think>` block out, takes the orchestrator's opening line off, and trims,
//! so that the pieces handed out always concatenate to the step's text.
//!
//! The opening line is a small text protocol, `NEXT: AGENT`, `PLAN` or `FINAL ANSWER: …`. Models keep to it loosely, so whatever
//! else an orchestrator says is read with goodwill: a directive further down, or the agent that the text names.

use super::{answer, ledger};

/// What an orchestrator's reply is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// An instruction to this agent.
    Next(String),
    /// A new plan.
    Plan,
    /// A progress ledger.
    Ledger,
    /// The final answer.
    Answer(String),
    /// None of these.
    Unclear,
}

/// A first line longer than this is prose, not a directive.
const LONGEST_DIRECTIVE: usize = 300;

/// A reply on its way in.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// Whether an opening line is looked for.
    directed: bool,
    /// What the opening line said.
    opening: Option<Turn>,
    /// What has come in and is not decided yet.
    pending: String,
    /// Inside a `<think>` block.
    thinking: bool,
    /// The opening is behind.
    begun: bool,
    /// What was handed out.
    text: String,
}

impl Reply {
    /// A reply of an agent whose words are taken as they come.
    pub(super) fn plain() -> Self {
        Self::default()
    }

    /// A reply of an orchestrator.
    pub(super) fn directed() -> Self {
        Self {
            directed: true,
            ..Self::default()
        }
    }

    /// Takes the next piece; gives what can be shown of it now.
    pub(super) fn push(&mut self, piece: &str, agents: &[String]) -> Option<String> {
        self.pending.push_str(piece);
        if !self.begun && !self.begin(agents, false) {
            return None;
        }
        // White space at the end waits for what follows it.
        let tail = self.pending.split_off(self.pending.trim_end().len());
        let mut shown = std::mem::replace(&mut self.pending, tail);
        if self.text.is_empty() {
            shown = shown.trim_start().to_owned();
        }
        if shown.is_empty() {
            return None;
        }
        self.text.push_str(&shown);
        Some(shown)
    }

    /// The reply is whole: the last piece to show, and the text.
    pub(super) fn finish(&mut self, agents: &[String]) -> (Option<String>, String) {
        if !self.begun {
            self.begin(agents, true);
        }
        let last = self.push("", agents);
        (last, std::mem::take(&mut self.text))
    }

    /// What an orchestrator's whole text is.
    pub(super) fn turn(&mut self, text: &str, agents: &[String]) -> Turn {
        match self.opening.take() {
            Some(Turn::Answer(_)) | None => {}
            Some(turn) => return turn,
        }
        if ledger::read(text).is_some() {
            return Turn::Ledger;
        }
        if let Some(answer) = answer::stated(text) {
            return Turn::Answer(answer);
        }
        text.lines()
            .find_map(|line| directive(line, agents))
            .map(|(turn, _)| turn)
            .or_else(|| named(text, agents).map(|agent| Turn::Next(agent.to_owned())))
            .unwrap_or(Turn::Unclear)
    }

    /// Tries to get past what may stand before the text proper; tells whether it did.
    fn begin(&mut self, agents: &[String], whole: bool) -> bool {
        const OPEN: &str = "<think>";
        const CLOSE: &str = "</think>";
        let start = self.pending.trim_start();
        if !self.thinking && start.starts_with(OPEN) {
            self.thinking = true;
        }
        if self.thinking {
            let Some((_, rest)) = self.pending.split_once(CLOSE) else {
                // Nothing of a thought is kept but what may be the beginning of its closing mark.
                let end = self.pending.len().saturating_sub(CLOSE.len());
                self.pending.drain(..self.pending.floor_char_boundary(end));
                return false;
            };
            self.pending = rest.to_owned();
            self.thinking = false;
        } else if !whole && OPEN.starts_with(start) {
            return false;
        }
        if self.directed {
            let start = self.pending.trim_start();
            let (line, rest) = match start.split_once('\n') {
                Some((line, rest)) => (line, rest),
                None if whole || start.len() > LONGEST_DIRECTIVE => (start, ""),
                None => return false,
            };
            if let Some((turn, after)) = directive(line, agents) {
                let kept = match turn {
                    // Logs keep the words `FINAL ANSWER` in the message, and so does a step.
                    Turn::Answer(_) => None,
                    _ => Some(format!("{after}\n{rest}")),
                };
                self.opening = Some(turn);
                if let Some(kept) = kept {
                    self.pending = kept;
                }
            }
        }
        self.begun = true;
        true
    }
}

/// Reads one line as a directive; gives what stands behind it on the same line.
fn directive<'a>(line: &'a str, agents: &[String]) -> Option<(Turn, &'a str)> {
    const MARKS: [char; 9] = ['*', '#', '`', '_', '"', '\'', '[', ']', ' '];
    if let Some(answer) = answer::after_marker(line) {
        return Some((Turn::Answer(answer.to_owned()), ""));
    }
    let line = line.trim().trim_start_matches(MARKS);
    if let Some(rest) = strip_word(line, "next") {
        let rest = strip_word(rest.trim_start(), "speaker").unwrap_or(rest);
        let rest = rest.trim_start_matches(MARKS).strip_prefix(':')?;
        let rest = rest.trim_start_matches(MARKS);
        // The longest name wins, so that `Web` never takes what is meant for `WebSurfer`.
        let agent = agents
            .iter()
            .filter(|agent| strip_word(rest, agent).is_some())
            .max_by_key(|agent| agent.len())?;
        let rest = strip_word(rest, agent)?;
        let after = rest.trim_start_matches(|c| MARKS.contains(&c) || ":-–—,.".contains(c));
        return Some((Turn::Next(agent.clone()), after));
    }
    let rest = strip_word(line, "plan")?;
    let after = rest.trim_start_matches(|c| MARKS.contains(&c) || c == ':');
    (rest.len() > after.len() && rest.contains(':') || after.is_empty())
        .then_some((Turn::Plan, after))
}

/// The text behind a whole word at its beginning, letter case aside.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    let rest = text.get(word.len()..)?;
    let whole = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (whole && head.to_lowercase() == word.to_lowercase()).then_some(rest)
}

/// The agent that a text names first, as a whole word.
fn named<'a>(text: &str, agents: &'a [String]) -> Option<&'a str> {
    let starts = text
        .char_indices()
        .scan(None, |before: &mut Option<char>, (at, c)| {
            let start = before.is_none_or(|b| !b.is_alphanumeric() && b != '_');
            *before = Some(c);
            Some((at, start))
        });
    starts
        .filter(|(_, start)| *start)
        .filter_map(|(at, _)| text.get(at..))
        .find_map(|rest| {
            agents
                .iter()
                .filter(|agent| strip_word(rest, agent).is_some())
                .max_by_key(|agent| agent.len())
        })
        .map(String::as_str)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn agents() -> Vec<String> {
        ["WebSurfer", "Web", "Bücherwurm"]
            .map(str::to_owned)
            .to_vec()
    }

    /// Streams a reply in pieces of `size` characters; gives the pieces shown, the text and the turn.
    fn stream(mut reply: Reply, source: &str, size: usize) -> (String, String, Turn) {
        let agents = agents();
        let chars: Vec<char> = source.chars().collect();
        let mut shown: String = chars
            .chunks(size)
            .filter_map(|piece| reply.push(&piece.iter().collect::<String>(), &agents))
            .collect();
        let (last, text) = reply.finish(&agents);
        shown.extend(last);
        let turn = reply.turn(&text, &agents);
        (shown, text, turn)
    }

    #[test]
    fn reads_the_orchestrator_with_goodwill() {
        let next = |name: &str| Turn::Next(name.to_owned());
        let cases = [
            (
                "NEXT: WebSurfer\nOpen the archive.",
                next("WebSurfer"),
                "Open the archive.",
            ),
            ("next: web\nLook.", next("Web"), "Look."),
            (
                "**NEXT: `WebSurfer`**\n\nOpen it.",
                next("WebSurfer"),
                "Open it.",
            ),
            (
                "Next speaker: WebSurfer - open it.",
                next("WebSurfer"),
                "open it.",
            ),
            ("NEXT: bücherwurm\nLies.", next("Bücherwurm"), "Lies."),
            ("PLAN\n1. Look\n2. Read", Turn::Plan, "1. Look\n2. Read"),
            ("Plan: look, then read", Turn::Plan, "look, then read"),
            (
                "FINAL ANSWER: Oslo",
                Turn::Answer("Oslo".into()),
                "FINAL ANSWER: Oslo",
            ),
            (
                "<think>NEXT: Web\n</think>\nPLAN\n1. Look",
                Turn::Plan,
                "1. Look",
            ),
            (
                "Good.\nNEXT: WebSurfer\nGo.",
                next("WebSurfer"),
                "Good.\nNEXT: WebSurfer\nGo.",
            ),
            (
                "Please, WebSurfer, look.",
                next("WebSurfer"),
                "Please, WebSurfer, look.",
            ),
            ("NEXT: Nobody\nLook.", Turn::Unclear, "NEXT: Nobody\nLook."),
            (
                "Webs are spun. Planning helps.",
                Turn::Unclear,
                "Webs are spun. Planning helps.",
            ),
            ("Next we wait.", Turn::Unclear, "Next we wait."),
        ];
        for (source, turn, text) in cases {
            for size in [1, 7, 1000] {
                let got = stream(Reply::directed(), source, size);
                assert_eq!(got, (text.into(), text.into(), turn.clone()), "{source:?}");
            }
        }
    }

    #[test]
    fn thought_alone_is_no_answer() {
        assert_eq!(stream(Reply::plain(), "<think>hm", 2).1, "");
        assert_eq!(stream(Reply::plain(), "<think>hm</think> yes", 2).1, "yes");
        assert_eq!(stream(Reply::plain(), "<th", 1).1, "<th");
    }

    proptest! {
        #[test]
        fn pieces_concatenate_to_the_text(source in "(NEXT: Web\n|PLAN\n|)[ \na-zäß<>/:*]{0,60}", size in 1..9_usize) {
            for reply in [Reply::plain(), Reply::directed()] {
                let (shown, text, _) = stream(reply, &source, size);
                prop_assert_eq!(&shown, &text);
                prop_assert_eq!(text.trim(), &text);
            }
        }

        #[test]
        fn plain_words_are_kept_as_they_are(source in "[ \na-zäß:*]{0,60}", size in 1..9_usize) {
            let (_, text, _) = stream(Reply::plain(), &source, size);
            prop_assert_eq!(text, source.trim());
        }
    }
}
