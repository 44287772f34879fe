//! Who takes part in a continued run, what each is told about itself, and who speaks next.
//!
//! Roles and prompts are the log's where it has them; else ours, made from the role's name.

use super::tools::{Allowed, Tool};
use crate::model::{AgentInfo, ConfigChange, Manifest, Session, Step, StepKind};

const ORCHESTRATOR: &str = include_str!("prompts/orchestrator.md");
const AGENT: &str = include_str!("prompts/agent.md");
const NOTICE: &str = include_str!("prompts/notice.md");
const DIALOGUE: &str = include_str!("prompts/dialogue.md");
const TURN: &str = include_str!("prompts/turn.md");
const AGAIN: &str = include_str!("prompts/again.md");
const LAST: &str = include_str!("prompts/last.md");
const GO_ON: &str = include_str!("prompts/go_on.md");
const PLAN: &str = include_str!("prompts/plan.md");
const TOOLS: &str = include_str!("prompts/tools.md");
const NO_TOOLS: &str = include_str!("prompts/no_tools.md");
const FINAL: &str = include_str!("prompts/final.md");

/// Everything that shapes a run, part by part (gate 5): the model, dover's own prompts, the agents with theirs.
pub(super) fn config(model: &str, allowed: &Allowed, session: &Session) -> Manifest {
    let own = [
        ORCHESTRATOR,
        AGENT,
        NOTICE,
        DIALOGUE,
        TURN,
        AGAIN,
        LAST,
        GO_ON,
        PLAN,
        FINAL,
        TOOLS,
        NO_TOOLS,
    ];
    let mut config = session.told_config();
    config.add("team prompts", own.concat(), Some("dover's own"));
    let tools = Tool::ALL.map(|tool| tool.schema().to_string()).join("\n");
    let shown = allowed.shown();
    config.add("team tools", format!("{shown}\n{tools}"), Some(&shown));
    config.add("model", model, Some(model).filter(|name| !name.is_empty()));
    config
}

/// Says why a continued run cannot take a change, in a sentence.
pub(super) fn accepts(session: &Session, change: &ConfigChange) -> Result<(), String> {
    let known = |agent: &str| session.agents.iter().any(|info| info.name == agent);
    match change {
        ConfigChange::Tools { .. } => Err(
            "the tools of a continued log are what --allow says. Change --prompt or --set-model"
                .to_owned(),
        ),
        ConfigChange::Prompt { text, .. } if text.trim().is_empty() => {
            Err("the prompt is empty. Write what the agent should be told".to_owned())
        }
        ConfigChange::Prompt { agent, .. } if !known(agent) => {
            let names: Vec<&str> = session
                .agents
                .iter()
                .map(|info| info.name.as_str())
                .collect();
            Err(format!(
                "there is no agent '{agent}'. There are {}",
                names.join(", ")
            ))
        }
        _ => Ok(()),
    }
}

/// The agents of a run.
#[derive(Clone, Debug)]
pub(super) struct Cast {
    /// The one that plans and instructs, if there is one.
    pub orchestrator: Option<String>,
    /// The others, in the order of the log.
    pub agents: Vec<String>,
    /// What the log says of them.
    info: Vec<AgentInfo>,
}

impl Cast {
    /// Whoever the log lists or quotes, without those that only gave the task, worked the machinery or answered as a tool:
    /// a model cannot stand in for them. Where that leaves no dialogue, everybody stays.
    pub(super) fn of<'a>(
        session: &Session,
        steps: &(impl Iterator<Item = &'a Step> + Clone),
    ) -> Self {
        let mut names: Vec<&str> = session.agents.iter().map(|a| a.name.as_str()).collect();
        for step in steps.clone() {
            if !names.contains(&step.agent.as_str()) {
                names.push(&step.agent);
            }
        }
        let orchestrator = session.orchestrator.clone();
        let others = |keep: &dyn Fn(&str) -> bool| -> Vec<String> {
            names
                .iter()
                .filter(|name| orchestrator.as_deref() != Some(**name) && keep(name))
                .map(|name| (*name).to_owned())
                .collect()
        };
        let speaks = |name: &str| {
            let mut own = steps.clone().filter(|step| step.agent == name).peekable();
            own.peek().is_none() || own.any(|step| !is_machinery(step.kind))
        };
        let mut agents = others(&speaks);
        if agents.len() + usize::from(orchestrator.is_some()) < 2 {
            agents = others(&|_| true);
        }
        Self {
            orchestrator,
            agents,
            info: session.agents.clone(),
        }
    }

    /// Whether this is the orchestrator.
    pub(super) fn leads(&self, name: &str) -> bool {
        self.orchestrator.as_deref() == Some(name)
    }

    /// Who speaks after a step: the agent it addresses, the caller of the tool that has answered, else the orchestrator, else the next in turn.
    pub(super) fn after<'a>(
        &self,
        step: &Step,
        before: impl DoubleEndedIterator<Item = &'a Step>,
    ) -> Option<String> {
        let addressed = step.to.as_deref().filter(|to| *to != step.agent);
        if let Some(to) = addressed.and_then(|to| self.member(to)) {
            return Some(to);
        }
        if step.kind == StepKind::ToolResult {
            let caller = before.rev().find(|s| s.kind == StepKind::ToolCall);
            if let Some(caller) = caller.and_then(|call| self.member(&call.agent)) {
                return Some(caller);
            }
        }
        self.orchestrator.clone().or_else(|| {
            let at = self.agents.iter().position(|name| *name == step.agent);
            let next = at.map_or(0, |at| (at + 1) % self.agents.len());
            self.agents.get(next).cloned()
        })
    }

    /// Whether an agent of a dialogue runs code for the other: its name or description says so.
    pub(super) fn executes(&self, name: &str) -> bool {
        const WORDS: [&str; 6] = [
            "proxy",
            "executor",
            "execution",
            "terminal",
            "interpreter",
            "code runner",
        ];
        let info = self.info.iter().find(|info| info.name == name);
        let about = info.and_then(|info| info.description.as_deref());
        let said = format!("{name} {}", about.unwrap_or_default()).to_lowercase();
        WORDS.iter().any(|word| said.contains(word))
    }

    /// The member of this name, however its letter case.
    fn member(&self, name: &str) -> Option<String> {
        let name = name.to_lowercase();
        self.agents
            .iter()
            .chain(&self.orchestrator)
            .find(|member| member.to_lowercase() == name)
            .cloned()
    }

    /// The system message for an agent.
    pub(super) fn system(&self, name: &str, tools: &[Tool]) -> String {
        let info = self.info.iter().find(|info| info.name == name);
        let description = info.and_then(|info| info.description.as_deref());
        let own = info.and_then(|info| info.system_prompt.as_deref());
        let role = own.map_or_else(
            || {
                let ours = if self.leads(name) {
                    ORCHESTRATOR
                } else {
                    AGENT
                };
                ours.replace("{description}", description.unwrap_or_default())
            },
            str::to_owned,
        );
        let dialogue = match self.orchestrator {
            None => DIALOGUE,
            Some(_) => "",
        };
        let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
        let tools = if names.is_empty() {
            NO_TOOLS.to_owned()
        } else {
            TOOLS.replace("{tools}", &names.join(", "))
        };
        let notice = NOTICE
            .replace("{team}", &self.team())
            .replace("{tools}", tools.trim_end());
        // A prompt of the log is not ours to fill in.
        let role = match own {
            Some(_) => role,
            None => role.replace("{name}", name),
        };
        format!(
            "{}\n\n{}{dialogue}",
            role.trim_end(),
            notice.replace("{name}", name)
        )
    }

    /// What is said to the agent whose turn it is, after the conversation; nothing if the conversation speaks for itself.
    pub(super) fn cue(&self, name: &str, cue: Cue) -> Option<String> {
        let text = match (self.leads(name), cue) {
            (true, Cue::Last) => LAST.to_owned(),
            (true, Cue::Plan) => PLAN.to_owned(),
            (true, Cue::Final) => FINAL.to_owned(),
            (true, Cue::Again) => format!("{AGAIN}\n{TURN}"),
            (true, _) => TURN.to_owned(),
            (false, Cue::Last) if self.orchestrator.is_none() => LAST.to_owned(),
            (false, Cue::GoOn) => GO_ON.to_owned(),
            (false, _) => return None,
        };
        let text = text
            .replace("{name}", name)
            .replace("{agents}", &self.agents.join(", "));
        Some(text.trim_end().to_owned())
    }

    /// The team in one line.
    fn team(&self) -> String {
        let names = self.orchestrator.iter().chain(&self.agents);
        let described = names.map(|name| {
            let info = self.info.iter().find(|info| info.name == *name);
            match info.and_then(|info| info.description.as_deref()) {
                Some(description) => format!("{name} ({description})"),
                None => name.clone(),
            }
        });
        described.collect::<Vec<_>>().join(", ")
    }
}

/// Why an agent is spoken to directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cue {
    /// Its turn, in the ordinary way.
    Turn,
    /// The last word was its own.
    GoOn,
    /// Its last reply could not be read.
    Again,
    /// The orchestrator is to write facts and plan.
    Plan,
    /// The orchestrator is to state the answer.
    Final,
    /// No turn is left after this one.
    Last,
}

/// Whether a step is no agent's own words.
const fn is_machinery(kind: StepKind) -> bool {
    matches!(
        kind,
        StepKind::Task | StepKind::Control | StepKind::ToolResult
    )
}
