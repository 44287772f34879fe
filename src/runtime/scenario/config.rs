//! The configuration of a world, part by part (gate 5), and what a fork may change of it.

use super::world::World;
use crate::model::{ConfigChange, Manifest, Session};

/// Roles, tools, routing rules, facts and words.
pub(super) fn config(world: &World) -> Manifest {
    fn part(value: &impl serde::Serialize) -> Vec<u8> {
        serde_json::to_vec(value).unwrap_or_default()
    }
    let mut config = Manifest::default();
    for agent in &world.agent {
        let mut role = agent.clone();
        let tools = std::mem::take(&mut role.tools);
        config.add(format!("role {}", agent.name), part(&role), None);
        config.add_tools(&agent.name, &tools);
    }
    for tool in &world.tool {
        config.add(format!("tool {}", tool.name), part(tool), None);
    }
    let lead = world.orchestrator.as_ref().map(|lead| lead.name.as_str());
    config.add(
        "routing",
        part(&(&world.orchestrator, &world.dialogue)),
        Some(lead.unwrap_or("in turn")),
    );
    config.add("world", part(&(&world.fact, &world.lexicon)), None);
    config
}

/// Gives agents the tools that forks gave them.
pub(super) fn change(world: &mut World, session: &Session) {
    for change in &session.changes {
        if let ConfigChange::Tools { agent, tools } = change
            && let Some(changed) = world.agent.iter_mut().find(|known| known.name == *agent)
        {
            changed.tools.clone_from(tools);
        }
    }
}

/// Says why a world cannot take a change, in a sentence.
pub(super) fn accepts(world: &World, change: &ConfigChange) -> Result<(), String> {
    let ConfigChange::Tools { agent, tools } = change else {
        return Err(
            "agents of a scenario have neither prompt nor model: they follow what they are told. Edit a step, or change --tools"
                .to_owned(),
        );
    };
    if !world.agent.iter().any(|known| known.name == *agent) {
        let names = world.agent.iter().map(|known| known.name.as_str());
        return Err(format!(
            "there is no agent '{agent}' with tools. There are {}",
            listed(names)
        ));
    }
    match tools.iter().find(|name| world.tool(name).is_none()) {
        None => Ok(()),
        Some(_) if world.tool.is_empty() => Err("this world has no tools to give".to_owned()),
        Some(unknown) => Err(format!(
            "there is no tool '{unknown}'. There are {}",
            listed(world.tool.iter().map(|tool| tool.name.as_str()))
        )),
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
