//! From records to the sink: gives steps their places, keeps the coverage, collects what belongs to the session as a whole.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::beside::Beside;
use super::classify::{ANSWER_MARK, Classifier, is_human, is_machine};
use super::dover::{Made, Own, Took};
use super::message::{Draft, Hint, Reading, read};
use super::{ImportError, Sink};
use crate::model::{
    AgentInfo, Branch, Coverage, CoverageNote, Digest, Effect, EffectClass, EffectState,
    Intervention, Step, StepKind, StepMeta, final_answer,
};

/// Most faults that are told one by one.
const NOTES: usize = 100;
/// Records between two questions whether to go on.
const BEAT: usize = 64;

/// Takes records, one at a time, in the order of the file.
pub(super) struct Feed<'a> {
    sink: &'a mut dyn Sink,
    progress: &'a mut dyn FnMut(f64, usize) -> bool,
    /// Records to pass over because they were delivered before a fallback.
    skip: usize,
    /// Records seen, those passed over included.
    pub seen: usize,
    /// Records that were messages.
    pub known: usize,
    /// Steps delivered.
    pub steps: usize,
    /// First step of each record, for labels that count records.
    pub places: Vec<usize>,
    pub coverage: Coverage,
    /// Members of the document beside its list of records.
    pub fields: Map<String, Value>,
    pub agents: Vec<AgentInfo>,
    /// System prompts among the messages.
    pub prompts: Vec<String>,
    pub classifier: Classifier,
    /// What each format would show.
    pub traits: Traits,
    /// Text of the task step.
    pub task: Option<String>,
    /// The first text that lists the team line by line, perhaps.
    pub team: Option<String>,
    /// Texts that may be the final answer: the last ones.
    last: Vec<Said>,
    calls: HashMap<String, String>,
    /// dover's own lines, if the file has them.
    pub own: Option<Own>,
    /// The place of the next step of the branch that is being read; none while it is the original run.
    forked: Option<usize>,
    /// Branches delivered.
    branches: usize,
    /// Share of the file read.
    pub share: f64,
    /// What the format is called, where it was told from the whole document.
    pub format: Option<&'static str>,
    /// Why a document of a known format has no message.
    pub nothing: Option<&'static str>,
}

/// One of the last things said.
struct Said {
    agent: String,
    text: String,
    /// Nothing was said after it.
    closing: bool,
}

/// Marks of the formats.
#[allow(clippy::struct_excessive_bools)] // Independent of each other.
#[derive(Default)]
pub(super) struct Traits {
    pub asides: bool,
    pub typed: bool,
    pub wrapped: bool,
    pub chat_roles: bool,
    pub other_roles: bool,
}

impl<'a> Feed<'a> {
    pub(super) fn new(
        sink: &'a mut dyn Sink,
        progress: &'a mut dyn FnMut(f64, usize) -> bool,
    ) -> Self {
        Self {
            sink,
            progress,
            skip: 0,
            seen: 0,
            known: 0,
            steps: 0,
            places: Vec::new(),
            coverage: Coverage::default(),
            fields: Map::new(),
            agents: Vec::new(),
            prompts: Vec::new(),
            classifier: Classifier::default(),
            traits: Traits::default(),
            task: None,
            team: None,
            last: Vec::new(),
            calls: HashMap::new(),
            own: None,
            forked: None,
            branches: 0,
            share: 0.0,
            format: None,
            nothing: None,
        }
    }

    /// Begins to read the same file again: records delivered before are passed over.
    pub(super) fn again(&mut self) {
        self.skip = self.seen;
        self.seen = 0;
        self.fields.clear();
    }

    /// Notes a fault.
    pub(super) fn note(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        if self.coverage.notes.len() < NOTES {
            self.coverage.notes.push(CoverageNote {
                place: place.into(),
                reason: reason.into(),
            });
        }
    }

    /// Keeps a member of the document.
    pub(super) fn field(&mut self, key: String, value: Value) {
        self.fields.insert(key, value);
    }

    /// Takes a record. `fault`: it could not be read whole, and why.
    pub(super) fn record(
        &mut self,
        value: Value,
        place: Option<String>,
        fault: Option<&str>,
    ) -> Result<(), ImportError> {
        self.seen += 1;
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(());
        }
        self.beat()?;
        let place = place.unwrap_or_else(|| format!("record {}", self.seen));
        self.places.push(self.steps);
        if let Some(reason) = fault {
            self.coverage.damaged += 1;
            self.note(place.clone(), reason);
        }
        let whole = fault.is_none();
        if self.own.is_some() || (self.known == 0 && Own::is_header(&value)) {
            let own = self.own.get_or_insert_default();
            self.known += 1;
            match own.take(value) {
                Ok(Took { made, beside }) => {
                    self.coverage.read += usize::from(whole);
                    if let Some(made) = made {
                        self.deliver_own(made)?;
                    }
                    if let Some(beside) = beside {
                        self.deliver_beside(beside)?;
                    }
                }
                Err(reason) if whole => {
                    self.coverage.damaged += 1;
                    self.note(place, reason);
                }
                Err(_) => {}
            }
            return Ok(());
        }
        match read(&value) {
            Reading::Steps(drafts) => {
                self.known += 1;
                self.coverage.read += usize::from(whole);
                self.look(&value);
                for draft in drafts {
                    self.deliver(draft)?;
                }
            }
            Reading::Summary { reason, messages } => {
                self.known += 1;
                self.coverage.read += usize::from(whole);
                if self.steps == 0 {
                    for message in messages {
                        if let Reading::Steps(drafts) = read(&message) {
                            for draft in drafts {
                                self.deliver(draft)?;
                            }
                        }
                    }
                }
                self.stopped(reason)?;
            }
            Reading::Chunk => {
                self.known += 1;
                if whole {
                    self.coverage.dropped += 1;
                    self.note(place, "a piece of a message that comes whole later");
                }
            }
            Reading::Unknown if whole => {
                self.coverage.unknown += 1;
                let keys = keys(&value);
                self.note(place, format!("no known record: {keys}; kept as control"));
                let text = super::message::plain(&value);
                let kind = value
                    .get("type")
                    .and_then(Value::as_str)
                    .unwrap_or("record");
                self.deliver(Draft {
                    agent: kind.to_owned(),
                    kind: StepKind::Control,
                    hint: Hint::Fixed,
                    text,
                    ..Draft::default()
                })?;
            }
            Reading::Unknown => {}
        }
        Ok(())
    }

    fn beat(&mut self) -> Result<(), ImportError> {
        let asked = self.seen.is_multiple_of(BEAT);
        if asked && !(self.progress)(self.share, self.steps) {
            return Err(ImportError::Cancelled);
        }
        Ok(())
    }

    /// Counts a message of a document that is told as a whole. What became of it is for the caller to count.
    pub(super) fn counted(&mut self) -> Result<(), ImportError> {
        self.seen += 1;
        self.known += 1;
        self.beat()
    }

    /// Counts messages that stand in the document once more, under a note of their own.
    pub(super) fn repeated(&mut self, count: usize, place: String, reason: impl Into<String>) {
        if count > 0 {
            self.seen += count;
            self.coverage.dropped += count;
            self.note(place, reason);
        }
    }

    /// The run's own word on why it ended.
    pub(super) fn stopped(&mut self, reason: Option<String>) -> Result<(), ImportError> {
        let Some(text) = reason else { return Ok(()) };
        self.deliver(Draft {
            agent: "team".to_owned(),
            kind: StepKind::Control,
            hint: Hint::Fixed,
            text,
            ..Draft::default()
        })
    }

    fn look(&mut self, value: &Value) {
        let role = value
            .get("role")
            .and_then(Value::as_str)
            .unwrap_or_default();
        self.traits.asides |= role.ends_with(')') && role.contains(" (");
        self.traits.typed |= value.get("source").is_some() && value.get("type").is_some();
        self.traits.wrapped |= value.get("message").is_some();
        let known = matches!(
            role,
            "system" | "developer" | "user" | "assistant" | "tool" | "function"
        );
        self.traits.chat_roles |= known;
        self.traits.other_roles |= !known;
    }

    /// Delivers the next step of the original run.
    pub(super) fn deliver(&mut self, draft: Draft) -> Result<(), ImportError> {
        let (hint, prompt) = (draft.hint, draft.prompt);
        let mut step = self.step_of(draft, self.steps);
        step.kind = self.classifier.observe(&step, hint);
        if step.kind == StepKind::Task {
            self.task = Some(step.text.clone());
        }
        self.coverage.content |= !step.text.trim().is_empty();
        if prompt {
            self.prompts.push(step.text.clone());
        }
        self.speaks(&step);
        self.remember(&step);
        let effects = effects(&step);
        self.steps += 1;
        self.sink.step(step, None, effects)
    }

    /// Delivers a branch with the intervention that it executes and the steps that are its own.
    pub(super) fn branch(
        &mut self,
        made: Intervention,
        branch: Branch,
        own: &[Step],
    ) -> Result<(), ImportError> {
        self.deliver_beside(Beside::Intervention(Box::new(made)))?;
        self.deliver_beside(Beside::Branch(Box::new(branch), None))?;
        for step in own {
            self.speaks(step);
            self.sink.step(step.clone(), None, effects(step))?;
        }
        Ok(())
    }

    /// A draft at its place; a result is called by the name of the tool that was called.
    pub(super) fn step_of(&mut self, draft: Draft, index: usize) -> Step {
        let mut tool = draft.tool;
        if let Some(tool) = &mut tool
            && let Some(id) = &tool.call_id
        {
            if draft.kind == StepKind::ToolCall {
                self.calls.insert(id.clone(), tool.name.clone());
            } else if tool.name == "?"
                && let Some(name) = self.calls.get(id)
            {
                tool.name.clone_from(name);
            }
        }
        Step {
            index,
            agent: draft.agent,
            kind: draft.kind,
            to: draft.to,
            text: draft.text,
            meta: StepMeta {
                tool,
                error: draft.error,
                time: draft.time,
                ..StepMeta::default()
            },
        }
    }

    /// An agent is whoever makes a step that is not the machinery's.
    fn speaks(&mut self, step: &Step) {
        if step.kind != StepKind::Control && !self.agents.iter().any(|info| info.name == step.agent)
        {
            self.agents.push(AgentInfo {
                name: step.agent.clone(),
                ..AgentInfo::default()
            });
        }
    }

    /// The final answer: the last that is marked as one; without an orchestrator, an agent's last word.
    pub(super) fn answer(&self, orchestrator: Option<&str>) -> Option<String> {
        let marked = |said: &&Said| said.text.contains(ANSWER_MARK);
        let last = |said: &&Said| match orchestrator {
            Some(name) => said.agent == name && said.closing,
            None => !is_human(&said.agent) && !is_machine(&said.agent),
        };
        let said = self
            .last
            .iter()
            .rev()
            .find(marked)
            .or_else(|| self.last.iter().rev().find(last))?;
        Some(final_answer(said.text.trim().trim_end_matches("TERMINATE")))
            .filter(|text| !text.is_empty())
    }

    fn remember(&mut self, step: &Step) {
        if self.team.is_none()
            && step.kind != StepKind::Task
            && step.text.lines().filter(|line| line.contains(": ")).count() >= 2
        {
            self.team = Some(step.text.chars().take(20_000).collect());
        }
        let control = step.kind == StepKind::Control && !step.text.contains(ANSWER_MARK);
        let silent = step.text.trim().trim_end_matches("TERMINATE").is_empty();
        if !matches!(
            step.kind,
            StepKind::ToolCall | StepKind::ToolResult | StepKind::Task
        ) && !control
            && !silent
        {
            self.last.iter_mut().for_each(|said| said.closing = false);
            self.last.push(Said {
                agent: step.agent.clone(),
                text: step.text.clone(),
                closing: step.kind == StepKind::Message || step.kind == StepKind::Answer,
            });
            if self.last.len() > 8 {
                self.last.remove(0);
            }
        }
    }

    fn deliver_own(&mut self, made: Made) -> Result<(), ImportError> {
        let Made {
            step,
            checkpoint,
            effects,
            faults,
        } = made.placed(self.forked.unwrap_or(self.steps));
        if !faults.is_empty() {
            self.coverage.damaged += 1;
            self.coverage.read = self.coverage.read.saturating_sub(1);
        }
        for fault in faults {
            self.note(format!("step {}", step.index), fault);
        }
        self.coverage.content |= !step.text.trim().is_empty();
        if let Some(next) = &mut self.forked {
            // What a branch says is not what the original run said.
            *next += 1;
            return self.sink.step(step, checkpoint, effects);
        }
        self.speaks(&step);
        if step.kind == StepKind::Task {
            self.task.get_or_insert_with(|| step.text.clone());
        }
        self.remember(&step);
        self.steps += 1;
        self.sink.step(step, checkpoint, effects)
    }

    fn deliver_beside(&mut self, beside: Beside) -> Result<(), ImportError> {
        if let Beside::Branch(branch, _) = &beside {
            self.forked = branch.fork_step;
            self.branches += 1;
        }
        self.sink.beside(beside)
    }

    /// Hands out what dover's own lines still hold back, and says what is to be known of branches that a file brought.
    pub(super) fn flush(&mut self) -> Result<(), ImportError> {
        if let Some(own) = &mut self.own {
            let (made, short) = (own.end(), std::mem::take(&mut own.short));
            if let Some(made) = made {
                self.deliver_own(made)?;
            }
            for fault in short {
                self.coverage.damaged += 1;
                self.coverage.read = self.coverage.read.saturating_sub(1);
                self.note("a branch", fault);
            }
        }
        if self.branches > 0 {
            let told = format!(
                "{} as the file tells them: this store has not seen their forks and outcomes",
                self.branches
            );
            self.note("branches", told);
        }
        Ok(())
    }

    /// Corrects steps delivered before.
    pub(super) fn reclassify(
        &mut self,
        changes: &[(usize, StepKind, Option<String>)],
    ) -> Result<(), ImportError> {
        changes
            .iter()
            .try_for_each(|(index, kind, to)| self.sink.reclassify(*index, *kind, to.as_deref()))
    }
}

/// What a tool call may have done to the world: unknown until somebody says so.
fn effects(step: &Step) -> Vec<Effect> {
    let Some(tool) = step
        .meta
        .tool
        .as_ref()
        .filter(|_| step.kind == StepKind::ToolCall)
    else {
        return Vec::new();
    };
    let id = tool.call_id.as_deref().unwrap_or("call");
    vec![Effect {
        step: step.index,
        agent: step.agent.clone(),
        tool: tool.name.clone(),
        class: EffectClass::Unknown,
        // Frameworks reuse call ids; the index makes the key unique.
        operation_key: format!("{id}@{}", step.index),
        args_sha256: Digest::of(tool.arguments.as_deref().unwrap_or_default()),
        result: None,
        state: EffectState::Pending,
        evidence: None,
    }]
}

/// The keys of an object, or the type of another value, for a sentence.
pub(super) fn keys(value: &Value) -> String {
    match value {
        Value::Object(map) if map.is_empty() => "an empty object".to_owned(),
        Value::Object(map) => {
            let names: Vec<&str> = map.keys().take(6).map(String::as_str).collect();
            let more = if map.len() > 6 { ", …" } else { "" };
            format!("an object with {}{more}", names.join(", "))
        }
        Value::Array(list) => format!("a list of {} values", list.len()),
        Value::String(_) => "a string".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::Bool(_) => "true or false".to_owned(),
        Value::Null => "null".to_owned(),
    }
}
