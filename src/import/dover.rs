//! dover's own JSONL: a line is a JSON object whose `type` says which noun of the model it holds (`session.schema.json`).
//!
//! A checkpoint line stands before its step or after it, an effect line after the step that caused it. Steps take the places in which
//! they stand and take their state and effects with them, whatever the numbers say; numbers that contradict each other are told.

use std::path::Path;

use serde_json::{Map, Value};

use super::beside::{Beside, Kin};
use crate::model::{
    AgentInfo, Annotation, Checkpoint, Effect, MAX_MILESTONES, Milestone, Session, Step,
};

/// The JSON Schema of a line, as `dover schema session` prints it.
pub const SESSION_SCHEMA: &str = include_str!("session.schema.json");

/// Keys of which a header has at least one; other programs write lines of type `session` too.
const HEADER: [&str; 5] = ["task", "agents", "profile", "runtime", "milestones"];

/// A step with the state before it and its effects, and what its lines contradict themselves in.
#[derive(Default)]
pub(super) struct Made {
    pub step: Step,
    pub checkpoint: Option<Checkpoint>,
    pub effects: Vec<Effect>,
    pub faults: Vec<String>,
}

impl Made {
    /// Gives the step its place, and with it its state and its effects. An effect that names a later step keeps that number: it must
    /// hold back a fork at either.
    pub(super) fn placed(mut self, at: usize) -> Self {
        let own = std::mem::replace(&mut self.step.index, at);
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.step = at;
        }
        for effect in &mut self.effects {
            let named = effect.step;
            effect.step = if named == own { at } else { at.max(named) };
            if named != own {
                self.faults.push(format!(
                    "the effect {} names step {named} and stands after step {own}: it is taken for step {}",
                    effect.operation_key, effect.step
                ));
            }
        }
        self
    }
}

/// What has been read of dover's own lines.
#[derive(Default)]
pub(super) struct Own {
    header: Map<String, Value>,
    pub agents: Vec<AgentInfo>,
    pub milestones: Vec<Milestone>,
    pub annotations: Vec<Annotation>,
    /// The final answer, if a line gives it.
    pub answer: Option<String>,
    checkpoint: Option<Checkpoint>,
    pending: Option<Made>,
    /// The number of the last step line.
    last: Option<usize>,
    /// Steps of the branch that is being read, those it inherits included.
    len: usize,
    kin: Kin,
    /// Branches whose steps are not as many as was said.
    pub short: Vec<String>,
}

/// What a line completes: the step before it, and then what it says itself.
#[derive(Default)]
pub(super) struct Took {
    pub made: Option<Made>,
    pub beside: Option<Beside>,
}

impl Own {
    /// Whether a record opens a file of dover's own: a `session` header, or a `step` with the model's keys.
    pub(super) fn is_header(value: &Value) -> bool {
        match value.get("type").and_then(Value::as_str) {
            Some("session") => HEADER.iter().any(|key| value.get(key).is_some()),
            Some("step") => ["index", "agent", "kind", "text"]
                .iter()
                .all(|key| value.get(key).is_some()),
            _ => false,
        }
    }

    /// Takes a line; hands out what it completes.
    pub(super) fn take(&mut self, value: Value) -> Result<Took, String> {
        let kind = value
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let wrong = |error: serde_json::Error| format!("a {kind} line that is none: {error}");
        if self.kin.skipping && matches!(kind.as_str(), "step" | "checkpoint" | "effect") {
            return Err(format!("a {kind} of a branch that was left out"));
        }
        match kind.as_str() {
            kind if Kin::is(kind) => return self.aside(kind, value),
            "session" => {
                let Value::Object(map) = value else {
                    return Ok(Took::default());
                };
                self.header.extend(map);
            }
            "step" => {
                let step: Step = serde_json::from_value(value).map_err(wrong)?;
                let mut done = self.flush();
                let mut made = Made {
                    checkpoint: self.checkpoint.take(),
                    ..Made::default()
                };
                let twice = self.last == Some(step.index);
                if let Some(last) = self
                    .last
                    .replace(step.index)
                    .filter(|last| *last >= step.index)
                {
                    made.faults
                        .push(format!("its step {} stands after step {last}", step.index));
                }
                if twice
                    && let Some(before) = &mut done
                    && before.checkpoint.take().is_some()
                {
                    // Which of the two it was the state before cannot be told.
                    made.faults
                        .push("the state of a number that stands twice was left out".to_owned());
                }
                if let Some(other) = made.checkpoint.take_if(|state| state.step != step.index) {
                    made.faults.push(format!(
                        "the state before step {} stands before step {}: it was left out",
                        other.step, step.index
                    ));
                }
                made.step = step;
                self.len += 1;
                self.pending = Some(made);
                return Ok(Took {
                    made: done,
                    beside: None,
                });
            }
            "checkpoint" => {
                let checkpoint: Checkpoint = serde_json::from_value(value).map_err(wrong)?;
                match &mut self.pending {
                    Some(made)
                        if made.step.index == checkpoint.step && made.checkpoint.is_none() =>
                    {
                        made.checkpoint = Some(checkpoint);
                    }
                    _ => self.checkpoint = Some(checkpoint),
                }
            }
            "effect" => {
                let effect: Effect = serde_json::from_value(value).map_err(wrong)?;
                let Some(made) = &mut self.pending else {
                    return Err("an effect before any step".to_owned());
                };
                made.effects.push(effect);
            }
            "agent" => self
                .agents
                .push(serde_json::from_value(value).map_err(wrong)?),
            "annotation" => self
                .annotations
                .push(serde_json::from_value(value).map_err(wrong)?),
            "milestone" if self.milestones.len() >= MAX_MILESTONES => {
                return Err(format!("more than {MAX_MILESTONES} milestones"));
            }
            "milestone" => self
                .milestones
                .push(serde_json::from_value(value).map_err(wrong)?),
            "answer" => self.answer = value.get("text").and_then(Value::as_str).map(str::to_owned),
            _ => {
                return Err(format!(
                    "no line of type `{kind}`; see `dover schema session`"
                ));
            }
        }
        Ok(Took::default())
    }

    /// Takes a line about something beside the original run.
    fn aside(&mut self, kind: &str, value: Value) -> Result<Took, String> {
        // A branch that stands before a mark of it is complete too.
        self.short.extend(self.kin.close(self.len));
        let beside = self.kin.take(kind, value)?;
        if let Beside::Branch(branch, _) = &beside {
            self.len = branch.fork_step.unwrap_or_default();
            self.last = None;
            self.checkpoint = None;
        }
        Ok(Took {
            made: self.flush(),
            beside: Some(beside),
        })
    }

    /// The last step before another branch.
    fn flush(&mut self) -> Option<Made> {
        self.pending.take()
    }

    /// The last step, when no more lines come.
    pub(super) fn end(&mut self) -> Option<Made> {
        self.short.extend(self.kin.close(self.len));
        self.flush()
    }

    /// The session that the header describes. A world named as a `.toml` beside the file is read in.
    pub(super) fn session(&mut self, file: &Path) -> Result<Session, String> {
        let mut base =
            serde_json::to_value(Session::default()).map_err(|error| error.to_string())?;
        if let Value::Object(map) = &mut base {
            map.extend(std::mem::take(&mut self.header));
        }
        let mut session: Session = serde_json::from_value(base)
            .map_err(|error| format!("the session line is wrong: {error}"))?;
        "dover".clone_into(&mut session.format);
        // A file must not say which program is started: its team can be played on, not run.
        session.runtime = session.runtime.filter(|it| it.name != "adapter");
        if let Some(runtime) = &mut session.runtime {
            runtime.adapter = None;
        }
        if let Some(world) = session
            .runtime
            .as_mut()
            .and_then(|runtime| runtime.world.as_mut())
            && !world.contains('\n')
            && Path::new(world.as_str())
                .extension()
                .is_some_and(|ext| ext == "toml")
        {
            // Only a file beside the log: a log must not reach elsewhere.
            let name = Path::new(world.as_str()).file_name().unwrap_or_default();
            let path = file.with_file_name(name);
            *world = std::fs::read_to_string(&path)
                .map_err(|error| format!("its world {} cannot be read: {error}", path.display()))?;
        }
        Ok(session)
    }
}
