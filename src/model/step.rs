//! A step: one message of the trajectory.

use serde::{Deserialize, Serialize};

use super::{Digest, EffectClass, ledger_gist, reports_failure};

/// What a step is (SPEC 1).
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default,
)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// The task as it was given, usually step 0.
    Task,
    /// A plan stated by the orchestrator; a trial starts here.
    Plan,
    /// The orchestrator's account of progress.
    Ledger,
    /// The orchestrator tells a sub-agent what to do.
    Instruction,
    /// Reasoning that nobody is addressed by.
    Thought,
    /// Anything an agent says to the others.
    #[default]
    Message,
    /// A tool is asked.
    ToolCall,
    /// A tool has answered.
    ToolResult,
    /// The final answer.
    Answer,
    /// A word of the machinery: next speaker, termination, hand-off.
    Control,
}

impl StepKind {
    /// Every kind, in the order of SPEC 1.
    pub const ALL: [Self; 10] = [
        Self::Task,
        Self::Plan,
        Self::Ledger,
        Self::Instruction,
        Self::Thought,
        Self::Message,
        Self::ToolCall,
        Self::ToolResult,
        Self::Answer,
        Self::Control,
    ];

    /// The name as it stands in files and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Plan => "plan",
            Self::Ledger => "ledger",
            Self::Instruction => "instruction",
            Self::Thought => "thought",
            Self::Message => "message",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::Answer => "answer",
            Self::Control => "control",
        }
    }
}

/// A tool as a `tool_call` or `tool_result` step speaks of it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub struct ToolUse {
    /// The tool's name.
    pub name: String,
    /// Joins a result to its call; frameworks reuse these ids, so it is unique only between a call and the next call of that id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The arguments as the log has them: usually JSON text, possibly truncated or broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// What the tool may do to the world, if anybody has said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<EffectClass>,
    /// Whether a result reports a failure of the tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Whether a result is that of an effect that stays in the world: the call was answered from the record and did nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_record: bool,
}

/// What a person did to a run that went on.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LiveOp {
    /// Gave a waiting message another text.
    Replace,
    /// Put a message in.
    Insert,
    /// Took a message out.
    Drop,
    /// Sent a message from outside the team.
    Send,
    /// Answered a tool call in its tool's place.
    Answer,
    /// Answered what the team asked a person.
    Reply,
}

impl LiveOp {
    /// The word for it, in the past.
    #[must_use]
    pub const fn done(self) -> &'static str {
        match self {
            Self::Replace => "edited",
            Self::Insert => "inserted",
            Self::Drop => "dropped",
            Self::Send => "sent",
            Self::Answer => "answered in the tool's place",
            Self::Reply => "replied",
        }
    }
}

/// A change that a person made to a live run, kept with the step that was committed next.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct LiveEdit {
    /// What was done.
    pub op: LiveOp,
    /// Who did it.
    pub by: String,
    /// Whose message it was or whom it is from; the tool that was answered for; the agent that asked.
    pub of: String,
    /// The text that was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The text that is there now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What is known of a step beside its text. Every field may be empty.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub struct StepMeta {
    /// The tool asked or answering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolUse>,
    /// Facts that became known at this step (scenario worlds).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    /// Addresses of the pages read at this step (scenario worlds).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<String>,
    /// The step reports that something went wrong (a missing control, an exception).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub error: bool,
    /// What a person changed of the run while it stood before this step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub live_edits: Vec<LiveEdit>,
    /// When the step was made, RFC 3339, if the log says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl StepMeta {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One message m_t by agent a_t.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub struct Step {
    /// 0-based place in the branch.
    pub index: usize,
    /// Who made it.
    pub agent: String,
    /// What it is.
    pub kind: StepKind,
    /// The agent addressed, for instructions and direct messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The content, untrusted and uncleaned.
    pub text: String,
    /// What else is known.
    #[serde(default, skip_serializing_if = "StepMeta::is_empty")]
    pub meta: StepMeta,
}

impl Step {
    /// Digest over everything but the index: the link that a step adds to its branch's prefix chain.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let meta = if self.meta.is_empty() {
            Vec::new()
        } else {
            serde_json::to_vec(&self.meta).unwrap_or_default()
        };
        Digest::of_fields([
            self.agent.as_bytes(),
            self.kind.name().as_bytes(),
            self.to.as_deref().unwrap_or_default().as_bytes(),
            self.text.as_bytes(),
            &meta,
        ])
    }

    /// Whether an operator may put an edit here. `control` and `thought` are the machinery's own (SPEC 2.3).
    #[must_use]
    pub const fn editable(&self) -> bool {
        !matches!(self.kind, StepKind::Control | StepKind::Thought)
    }
}

/// Digest of a prefix: the steps' digests chained from [`Digest::ZERO`].
#[must_use]
pub fn prefix_digest<'a>(steps: impl IntoIterator<Item = &'a Step>) -> Digest {
    steps
        .into_iter()
        .fold(Digest::ZERO, |chain, step| chain.chain(step.digest()))
}

/// A step as a list shows it: the first line of its text, cut, without the rest in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepHead {
    /// 0-based place in the branch.
    pub index: usize,
    /// Who made it.
    pub agent: String,
    /// What it is.
    pub kind: StepKind,
    /// The agent addressed.
    pub to: Option<String>,
    /// The first [`HEAD_CHARS`] characters of the text, white space folded, uncleaned; of a ledger its gist.
    pub head: String,
    /// Length of the whole text in bytes.
    pub len: usize,
    /// The step reports a failure.
    pub error: bool,
}

/// How many characters of a step's text a list keeps.
pub const HEAD_CHARS: usize = 200;

impl StepHead {
    /// The head of a step.
    #[must_use]
    pub fn of(step: &Step) -> Self {
        Self {
            index: step.index,
            agent: step.agent.clone(),
            kind: step.kind,
            to: step.to.clone(),
            head: if step.meta.tool.as_ref().is_some_and(|tool| tool.from_record) {
                head_text(&format!("from the record, not repeated: {}", step.text))
            } else {
                ledger_gist(&step.text).unwrap_or_else(|| head_text(&step.text))
            },
            len: step.text.len(),
            error: reports_failure(step),
        }
    }
}

/// The beginning of a text with white space folded, at most [`HEAD_CHARS`] characters.
#[must_use]
pub fn head_text(text: &str) -> String {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let rest = words.flat_map(|word| std::iter::once(' ').chain(word.chars()));
    first.chars().chain(rest).take(HEAD_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_head_is_one_line_with_its_white_space_folded() {
        let table = [
            ("", ""),
            ("  \n\t ", ""),
            ("one\r\n\r\n  two\tthree ", "one two three"),
            ("图\u{3000}片", "图 片"),
        ];
        for (text, expected) in table {
            assert_eq!(head_text(text), expected, "{text:?}");
        }
        assert_eq!(head_text(&"x".repeat(1000)), "x".repeat(HEAD_CHARS));
    }

    #[test]
    fn a_head_tells_of_a_failure() {
        let mut step = Step::default();
        assert!(!StepHead::of(&step).error);
        step.meta.tool = Some(ToolUse {
            failed: true,
            ..ToolUse::default()
        });
        assert!(StepHead::of(&step).error);
    }

    #[test]
    fn control_and_thought_are_not_edited() {
        let edited = StepKind::ALL.map(|kind| Step {
            kind,
            ..Step::default()
        });
        let refused: Vec<_> = edited.iter().filter(|step| !step.editable()).collect();
        let kinds: Vec<_> = refused.iter().map(|step| step.kind).collect();
        assert_eq!(kinds, [StepKind::Thought, StepKind::Control]);
    }

    proptest! {
        #[test]
        fn a_head_is_a_short_beginning_of_the_folded_text(text in "(\\PC|[ \n\t]){0,600}") {
            let head = head_text(&text);
            let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert!(folded.starts_with(&head));
            prop_assert_eq!(head.chars().count(), folded.chars().count().min(HEAD_CHARS));
        }

        #[test]
        fn an_index_is_no_part_of_a_step_and_every_prefix_has_its_own_digest(texts in prop::collection::vec(".{0,8}", 0..8)) {
            let steps: Vec<_> = texts.iter().map(|text| Step { text: text.clone(), ..Step::default() }).collect();
            let moved: Vec<_> = steps.iter().map(|step| Step { index: step.index + 7, ..step.clone() }).collect();
            prop_assert_eq!(prefix_digest(&steps), prefix_digest(&moved));
            let prefixes: std::collections::HashSet<_> = (0..=steps.len()).map(|n| prefix_digest(&steps[..n])).collect();
            prop_assert_eq!(prefixes.len(), steps.len() + 1);
        }
    }
}
