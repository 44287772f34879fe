//! What a prohibition speaks of: whether an act falls under it.

use super::clause::Clause;
use super::core::Core;
use super::expression;
use super::lexicon::Skill;
use super::resolve::Match;
use super::state::Act;
use super::words::fold;
use super::world::Tool;

/// Whether an act is one that a prohibition speaks of.
pub(super) fn forbidden(act: &Act, rule: &Clause, core: &Core) -> bool {
    let Some(skill) = act.skill() else {
        return false;
    };
    if let (Act::Call { tool, .. }, Some(verb)) = (act, &rule.verb) {
        // A tool's own verb forbids that tool, another tool's verb does not.
        let own = |tool: &Tool| tool.verbs.iter().any(|v| fold(v) == fold(verb));
        let others = core.world.tool.iter().any(own);
        if others && !core.world.tool(tool).is_some_and(own) {
            return false;
        }
    }
    let goes = [Skill::Open, Skill::Press];
    let same_skill = rule.verb.is_none()
        || rule.can(skill)
        || (goes.contains(&skill) && goes.iter().any(|s| rule.can(*s)));
    if !same_skill {
        return false;
    }
    let object = rule.full();
    if object.is_empty() {
        return rule.verb.is_some();
    }
    let names: Vec<String> = match act {
        Act::Open { address } | Act::Press { address, .. } => {
            let page = core.world.page(address);
            let mut names: Vec<String> = page
                .iter()
                .flat_map(|p| p.also.iter().chain([&p.title, &p.address]))
                .cloned()
                .collect();
            if let Act::Press { name, .. } = act {
                names.push(name.clone());
            }
            if object
                .addresses
                .iter()
                .any(|typed| super::resolve::same_address(typed, address))
            {
                return true;
            }
            names
        }
        Act::Missing { name } => vec![name.clone()],
        Act::NoSuchAddress { address } => vec![address.clone()],
        Act::Search { query, .. } => vec![query.clone()],
        Act::Compute { expression } => {
            return expression::expression_in(&rule.text).is_none_or(|e| e == *expression);
        }
        Act::Read { fact: Some(fact) } | Act::Guess { fact } => core
            .world
            .fact(fact)
            .into_iter()
            .flat_map(|fact| fact.also.iter().chain([&fact.about]))
            .cloned()
            .collect(),
        Act::Call { tool, .. } => core
            .world
            .tool(tool)
            .into_iter()
            .flat_map(|t| t.also.iter().chain([&t.about, &t.name]))
            .cloned()
            .collect(),
        Act::Read { fact: None } | Act::Scroll { .. } | Act::Back => return true,
        Act::Say { .. } => return false,
    };
    let candidate = [core.candidate((), names.iter().map(String::as_str))];
    !matches!(core.resolve(&object, &candidate), Match::None)
}
