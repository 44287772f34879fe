//! AGDebugger's sessions, as its `getSessionHistory` gives them: numbered from 0, each reset from a message of the one before it.
//!
//! The first is the original run, every further one a branch of the one before: what both begin with is inherited, the rest is its own.
//! AGDebugger keeps what went through the runtime's queue, where one message of an agent stands several times: as it is shown, and as
//! the others get it. Here it is one step. No gate saw these resets, so the branches are diagnostic and nobody has judged them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::ImportError;
use super::classify::{Classifier, is_human, is_machine};
use super::feed::{Feed, keys};
use super::message::{Draft, Hint, Reading, plain, read as read_message};
use crate::model::{
    Branch, BranchId, Category, Intervention, RunStatus, Step, StepKind, edit_class, final_answer,
};

/// What made the branches.
const NAME: &str = "agdebugger";

/// The sessions of a document's `message_history` in order, if that is what it holds.
fn sessions(history: &Value) -> Option<BTreeMap<u64, &Map<String, Value>>> {
    let numbered = |(number, session): (&String, _)| {
        let session = Value::as_object(session)?;
        session.get("messages")?.as_array()?;
        Some((number.parse().ok()?, session))
    };
    let found: Option<BTreeMap<_, _>> = history.as_object()?.iter().map(numbered).collect();
    found.filter(|found| !found.is_empty())
}

/// Whether a document's `message_history` holds sessions of AGDebugger.
pub(super) fn is(history: &Value) -> bool {
    sessions(history).is_some()
}

/// Delivers the original run, then the branches.
pub(super) fn read(feed: &mut Feed<'_>, history: &Value) -> Result<(), ImportError> {
    feed.format = Some(NAME);
    let mut before: Option<Told> = None;
    let mut scores = Map::new();
    for (number, session) in sessions(history).unwrap_or_default() {
        let list = session.get("messages").and_then(Value::as_array);
        let list = list.map_or(&[][..], Vec::as_slice);
        let told = match before.take() {
            None => first(feed, number, list)?,
            Some(parent) => fork(feed, number, session, list, parent)?,
        };
        if let Some(score) = session.get("current_session_score").and_then(score) {
            scores.insert(told.branch.clone(), score.into());
        }
        before = Some(told);
    }
    if !scores.is_empty() {
        feed.field("agdebugger_score".to_owned(), Value::Object(scores));
    }
    Ok(())
}

/// AGDebugger's own judgement of a session, in words: it is not dover's.
fn score(score: &Value) -> Option<String> {
    let mut words = if score.get("passed")?.as_bool()? {
        "passed".to_owned()
    } else {
        "failed".to_owned()
    };
    for key in ["expected", "actual"] {
        if let Some(text) = score.get(key).and_then(Value::as_str) {
            words = format!("{words}, {key} {text}");
        }
    }
    Some(words)
}

fn first(feed: &mut Feed<'_>, number: u64, list: &[Value]) -> Result<Told, ImportError> {
    let mut told = Told::default();
    told.hear(feed, number, list)?;
    for draft in &told.drafts {
        feed.deliver(draft.clone())?;
    }
    Ok(Told {
        branch: "main".to_owned(),
        steps: classified(feed, &told.drafts).0,
        ..told
    })
}

/// A session that was reset from a message of the one before it.
fn fork(
    feed: &mut Feed<'_>,
    number: u64,
    session: &Map<String, Value>,
    list: &[Value],
    parent: Told,
) -> Result<Told, ImportError> {
    let same = |(a, b): &(&Value, &Value)| {
        a.get("timestamp") == b.get("timestamp") && a.get("message") == b.get("message")
    };
    let inherited = parent.list.iter().zip(list).take_while(same).count();
    feed.repeated(
        inherited,
        format!("session {number}"),
        format!("{inherited} messages are those of the session before it"),
    );
    let reset = session.get("current_session_reset_from");
    let reset = reset.filter(|at| !at.is_null());
    let cut = parent.list.get(inherited);
    if let Some(at) = reset
        && cut.and_then(|message| message.get("timestamp")) != Some(at)
    {
        feed.note(
            format!("session {number}"),
            format!("it says that it was reset from message {at}, and differs elsewhere from the session before it: what stands there counts"),
        );
    }
    let mut told = parent.until(inherited);
    let told_before = told.drafts.len();
    told.hear(feed, number, list.get(inherited..).unwrap_or_default())?;
    told.list = list.to_vec();
    let (steps, led) = classified(feed, &told.drafts);
    told.steps = steps;
    // A branch begins at a step of its parent; where nothing was taken back, that is the last one, said again.
    let at = told_before.min(parent.steps.len().saturating_sub(1));
    let own = told.steps.get(at..).unwrap_or_default();
    let (Some(edited), Some(original)) = (own.first(), parent.steps.get(at)) else {
        feed.note(
            format!("session {number}"),
            "it was reset, and nothing was said in it since: no branch".to_owned(),
        );
        return Ok(Told {
            branch: parent.branch,
            ..told
        });
    };
    let edited_here = list.get(inherited).map(|message| message.get("message"));
    let again = cut.map(|message| message.get("message")) == edited_here;
    let name = format!("b{number}");
    let from = BranchId::new(NAME, &parent.branch);
    let made = intervention(&name, from.clone(), original, (!again).then_some(edited));
    let branch = Branch {
        id: BranchId::new(NAME, &name),
        parent: Some(from),
        fork_step: Some(at),
        prefix_digest: None,
        intervention: Some(made.id.clone()),
        run_index: 1,
        operator: Some(NAME.to_owned()),
        seed: 0,
        runtime: Some(NAME.to_owned()),
        gate: None,
        run: if told.ended {
            RunStatus::Done
        } else {
            RunStatus::Interrupted
        },
        diagnostic: true,
        fulfilled: None,
        success: None,
        answer: answer(own, led),
        milestones: None,
        reason: Some(format!(
            "imported: AGDebugger's session {number}{}; no gate saw it",
            reset.map_or_else(String::new, |at| format!(", reset from its message {at}"))
        )),
        created: String::new(),
        steps: told.steps.len(),
        usage: None,
        told: false,
    };
    feed.branch(made, branch, own)?;
    Ok(Told {
        branch: name,
        ..told
    })
}

/// What was changed: nothing, where the message was only sent again.
fn intervention(
    name: &str,
    parent: BranchId,
    original: &Step,
    edited: Option<&Step>,
) -> Intervention {
    let category = edited.map_or(Category::None, |_| Category::of_kind(original.kind));
    Intervention {
        id: format!("{NAME}/i{}", name.trim_start_matches('b')),
        parent,
        step: original.index,
        category,
        class: edited.map(|edited| edit_class(&original.text, &edited.text, category)),
        text: edited.map(|edited| edited.text.clone()),
        changes: Vec::new(),
        edit_digest: edited.unwrap_or(original).digest(),
        config: None,
        n: 1,
        seed: 0,
        answer_leak: false,
        operator: NAME.to_owned(),
        created: String::new(),
        hypothesis: None,
        capability: false,
    }
}

/// The step that states the final answer; where nobody leads, an agent's last word.
fn answer(own: &[Step], led: bool) -> Option<String> {
    let last = |step: &&Step| {
        let speaks = !is_human(&step.agent) && !is_machine(&step.agent);
        !led && speaks && step.kind == StepKind::Message
    };
    let answers = own.iter().rfind(|step| step.kind == StepKind::Answer);
    let said = answers.or_else(|| own.iter().rfind(last))?;
    Some(final_answer(said.text.trim().trim_end_matches("TERMINATE"))).filter(|it| !it.is_empty())
}

/// The steps of a whole session, their kinds told by structure, and whether somebody leads.
fn classified(feed: &mut Feed<'_>, drafts: &[Draft]) -> (Vec<Step>, bool) {
    let mut classifier = Classifier::default();
    let mut steps: Vec<Step> = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        let hint = draft.hint;
        let mut step = feed.step_of(draft.clone(), index);
        step.kind = classifier.observe(&step, hint);
        steps.push(step);
    }
    let structure = classifier.finish();
    for (index, kind, to) in structure.changes {
        if let Some(step) = steps.get_mut(index) {
            step.kind = kind;
            step.to = to;
        }
    }
    (steps, structure.orchestrator.is_some())
}

/// What a session says.
#[derive(Default)]
struct Told {
    /// The branch that it became.
    branch: String,
    /// Its messages as AGDebugger keeps them.
    list: Vec<Value>,
    /// For each of them the step that it makes or repeats, or before which it stands.
    places: Vec<usize>,
    drafts: Vec<Draft>,
    steps: Vec<Step>,
    /// What was shown of a turn, with its step: the turn's outcome follows and says it again.
    shown: Vec<(Value, usize)>,
    /// The messages that the team was last started with.
    started: Option<Value>,
    ended: bool,
}

/// What one message of the queue is.
enum Heard {
    Said(Vec<Draft>),
    /// It repeats a step, or it moves the team on and has no words.
    Silent(usize),
    Unknown(Draft),
}

impl Told {
    /// The same session before one of its messages.
    fn until(&self, message: usize) -> Self {
        let step = self.places.get(message).copied();
        let step = step.unwrap_or(self.drafts.len());
        let shown = self.shown.iter().filter(|(_, at)| *at < step);
        Self {
            places: self.places.iter().take(message).copied().collect(),
            drafts: self.drafts.iter().take(step).cloned().collect(),
            shown: shown.cloned().collect(),
            started: self.started.clone().filter(|_| step > 0),
            ..Self::default()
        }
    }

    /// Takes messages in, and counts each of them.
    fn hear(
        &mut self,
        feed: &mut Feed<'_>,
        number: u64,
        list: &[Value],
    ) -> Result<(), ImportError> {
        let mut silent = 0;
        for message in list {
            feed.counted()?;
            let (place, drafts) = match self.one(message) {
                Heard::Said(drafts) => {
                    feed.coverage.read += 1;
                    (self.drafts.len(), drafts)
                }
                Heard::Silent(place) => {
                    silent += 1;
                    (place, Vec::new())
                }
                Heard::Unknown(draft) => {
                    feed.coverage.unknown += 1;
                    let at = message.get("timestamp").unwrap_or(&Value::Null);
                    let what = keys(message.get("message").unwrap_or(message));
                    feed.note(
                        format!("session {number}, message {at}"),
                        format!("no known message: {what}; kept as control"),
                    );
                    (self.drafts.len(), vec![draft])
                }
            };
            self.places.push(place);
            self.drafts.extend(drafts);
        }
        feed.coverage.dropped += silent;
        if silent > 0 {
            feed.note(
                format!("session {number}"),
                format!("{silent} messages of the queue repeat another or have no words (copies, requests to speak)"),
            );
        }
        self.list.extend(list.iter().cloned());
        Ok(())
    }

    fn one(&mut self, envelope: &Value) -> Heard {
        let next = self.drafts.len();
        let message = envelope.get("message").unwrap_or(&Value::Null);
        let kind = message
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        match kind {
            "GroupChatStart" => {
                let messages = message.get("messages").unwrap_or(&Value::Null);
                if self.started.replace(messages.clone()).as_ref() == Some(messages) {
                    return Heard::Silent(next.saturating_sub(1));
                }
                let list = messages.as_array().into_iter().flatten();
                said_or(list.flat_map(drafts).collect(), next)
            }
            "GroupChatMessage" => {
                let inner = message.get("message").unwrap_or(&Value::Null);
                self.shown.push((inner.clone(), next));
                said_or(drafts(inner), next)
            }
            "GroupChatAgentResponse" | "GroupChatTeamResponse" => {
                let shown = std::mem::take(&mut self.shown);
                // AutoGen renamed it in 0.6.
                let response = message.get("agent_response").or(message.get("response"));
                let word = response.and_then(|response| response.get("chat_message"));
                let again = shown.iter().rfind(|(one, _)| Some(one) == word);
                match (again, word) {
                    (Some((_, place)), _) => Heard::Silent(*place),
                    (None, Some(word)) => said_or(drafts(word), next),
                    (None, None) => Heard::Silent(next),
                }
            }
            "GroupChatTermination" => {
                self.ended = true;
                match message.get("error").filter(|error| !error.is_null()) {
                    Some(error) => failed(envelope, error),
                    None => said_or(message.get("message").map_or(Vec::new(), drafts), next),
                }
            }
            "GroupChatError" => failed(envelope, message.get("error").unwrap_or(&Value::Null)),
            "None"
            | "GroupChatRequestPublish"
            | "GroupChatReset"
            | "GroupChatPause"
            | "GroupChatResume" => Heard::Silent(next),
            _ => other(envelope, message),
        }
    }
}

fn said_or(drafts: Vec<Draft>, place: usize) -> Heard {
    if drafts.is_empty() {
        Heard::Silent(place)
    } else {
        Heard::Said(drafts)
    }
}

fn failed(envelope: &Value, error: &Value) -> Heard {
    let part = |key: &str| error.get(key).map(plain).unwrap_or_default();
    Heard::Said(vec![Draft {
        error: true,
        text: format!("{}: {}", part("error_type"), part("error_message")),
        ..control(envelope)
    }])
}

fn drafts(message: &Value) -> Vec<Draft> {
    match read_message(message) {
        Reading::Steps(drafts) => drafts,
        _ => Vec::new(),
    }
}

/// A message that is no team's: an agent's own type, or a thought.
fn other(envelope: &Value, message: &Value) -> Heard {
    let known = drafts(message);
    if !known.is_empty() {
        return Heard::Said(known);
    }
    let thought = envelope.get("type").and_then(Value::as_str) == Some("ThoughtMessage");
    let draft = Draft {
        text: plain(message),
        ..control(envelope)
    };
    if thought {
        return Heard::Said(vec![Draft {
            kind: StepKind::Thought,
            ..draft
        }]);
    }
    Heard::Unknown(draft)
}

fn control(envelope: &Value) -> Draft {
    Draft {
        agent: sender(envelope),
        kind: StepKind::Control,
        hint: Hint::Fixed,
        ..Draft::default()
    }
}

/// `Solver_4b9fcf51-…/4b9fcf51-…`: the agent's name without the team's id.
fn sender(envelope: &Value) -> String {
    let whole = envelope.get("sender").and_then(Value::as_str);
    let Some((name, team)) = whole.and_then(|whole| whole.split_once('/')) else {
        return whole.unwrap_or("team").to_owned();
    };
    let name = name.strip_suffix(team).unwrap_or(name);
    name.trim_end_matches('_').to_owned()
}
