//! The workflow profile (SPEC 3): what is fixed before the run or at import, so that gates have something to hold on to.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{EffectClass, Session, Verifier};

/// A tool as the workflow profile knows it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(deny_unknown_fields)]
pub struct ToolProfile {
    /// What it may do to the world.
    #[serde(default)]
    pub class: EffectClass,
    /// Where the operation key stands in its arguments, as a dotted path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_key: Option<String>,
    /// Whether it reaches further than local fixtures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// The command that asks the destination what became of an operation; empty if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reconcile: Vec<String>,
    /// Seconds that the command may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<u64>,
}

/// A command that tells revision and value of a state key.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(deny_unknown_fields)]
pub struct KeyProbe {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Seconds that it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<u64>,
}

/// The workflow profile.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// State keys that must have evidence and restore exactly (gate 2).
    #[serde(default)]
    pub required_keys: Vec<String>,
    /// Tools by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ToolProfile>,
    /// Words or values (recipients, budgets, targets) whose change in an edit makes it high risk (gate 4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sensitive: Vec<String>,
    /// Who may approve an edit of high risk: public keys by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub owners: BTreeMap<String, String>,
    /// Whether whoever made an edit may not approve it too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_the_editor: bool,
    /// The directory that the agents work in, a Git work tree; relative to the profile's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// State keys that a command tells, such as `credentials`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, KeyProbe>,
}

/// Everything that is fixed about a session before anything forks: its digest is bound into approvals and receipts.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
pub struct Workflow {
    /// The profile.
    pub profile: Profile,
    /// How a final answer is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<Verifier>,
    /// The answer that is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
}

impl Workflow {
    /// What is different now, a line each; texts are named, not told.
    #[must_use]
    pub fn changes(&self, now: &Self) -> Vec<String> {
        let (old, new) = (&self.profile, &now.profile);
        let mut lines = Vec::new();
        let then: BTreeSet<_> = old.required_keys.iter().collect();
        let now_required: BTreeSet<_> = new.required_keys.iter().collect();
        let removed = then.difference(&now_required);
        lines.extend(removed.map(|key| format!("required key {key} removed")));
        let added = now_required.difference(&then);
        lines.extend(added.map(|key| format!("required key {key} added")));
        for (name, then, now) in differing(&old.tools, &new.tools) {
            tool_changes(&mut lines, name, then, now);
        }
        if old.sensitive != new.sensitive {
            let (then, now) = (old.sensitive.len(), new.sensitive.len());
            lines.push(format!("sensitive words changed: {then} to {now}"));
        }
        for (name, then, now) in differing(&old.owners, &new.owners) {
            lines.push(format!(
                "owner {name} {}",
                word(then, now, "has another key")
            ));
        }
        if old.not_the_editor != new.not_the_editor {
            lines.push(if new.not_the_editor {
                "the editor may no longer approve".to_owned()
            } else {
                "the editor may approve now".to_owned()
            });
        }
        if old.workspace != new.workspace {
            lines.push(format!(
                "workspace {}",
                word(old.workspace.as_ref(), new.workspace.as_ref(), "changed")
            ));
        }
        for (name, then, now) in differing(&old.keys, &new.keys) {
            lines.push(format!(
                "state key {name} {}",
                word(then, now, "is read otherwise")
            ));
        }
        if self.verifier != now.verifier {
            let kind = |one: &Option<Verifier>| one.as_ref().map_or("none", Verifier::kind);
            lines.push(match (kind(&self.verifier), kind(&now.verifier)) {
                (then, now) if then == now => format!("verifier: another {now}"),
                (then, now) => format!("verifier: {then} to {now}"),
            });
        }
        if self.expected != now.expected {
            lines.push(format!(
                "expected answer {}",
                word(self.expected.as_ref(), now.expected.as_ref(), "changed")
            ));
        }
        lines
    }
}

/// How a tool is known otherwise.
fn tool_changes(
    lines: &mut Vec<String>,
    name: &str,
    then: Option<&ToolProfile>,
    now: Option<&ToolProfile>,
) {
    let (Some(then), Some(now)) = (then, now) else {
        let class = now.map_or(String::new(), |now| format!(" as {}", now.class.name()));
        lines.push(format!("tool {name} {}{class}", word(then, now, "changed")));
        return;
    };
    if then.class != now.class {
        let (then, now) = (then.class.name(), now.class.name());
        lines.push(format!("tool {name}: {then} to {now}"));
    }
    if then.outside != now.outside {
        let reach = if now.outside {
            "outside now"
        } else {
            "no longer outside"
        };
        lines.push(format!("tool {name}: {reach}"));
    }
    if then.operation_key != now.operation_key {
        lines.push(format!("tool {name}: its operation key stands elsewhere"));
    }
    if (&then.reconcile, then.time_limit) != (&now.reconcile, now.time_limit) {
        lines.push(format!("tool {name}: reconciled otherwise"));
    }
}

/// The entries that are not the same in both, in the order of their names.
fn differing<'a, T: PartialEq>(
    then: &'a BTreeMap<String, T>,
    now: &'a BTreeMap<String, T>,
) -> impl Iterator<Item = (&'a str, Option<&'a T>, Option<&'a T>)> {
    let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    names.into_iter().filter_map(|name| {
        let (then, now) = (then.get(name), now.get(name));
        (then != now).then_some((name.as_str(), then, now))
    })
}

fn word<T>(then: Option<T>, now: Option<T>, changed: &str) -> &str {
    match (then, now) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => changed,
    }
}

impl Session {
    /// The workflow as it stands now.
    #[must_use]
    pub fn workflow(&self) -> Workflow {
        Workflow {
            profile: self.profile.clone(),
            verifier: self.verifier.clone(),
            expected: self.expected.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EffectClass;

    #[test]
    fn a_change_is_told_in_one_line_each() {
        let tool = |class| ToolProfile {
            class,
            ..ToolProfile::default()
        };
        let then = Workflow {
            profile: Profile {
                required_keys: vec!["browser".into(), "workspace".into()],
                tools: BTreeMap::from([
                    ("send_mail".into(), tool(EffectClass::Unknown)),
                    ("open_ticket".into(), tool(EffectClass::Idempotent)),
                ]),
                ..Profile::default()
            },
            verifier: None,
            expected: Some("17".into()),
        };
        assert!(then.changes(&then).is_empty());
        let mut now = then.clone();
        now.profile.required_keys = vec!["workspace".into(), "credentials".into()];
        now.profile.tools = BTreeMap::from([
            (
                "send_mail".into(),
                ToolProfile {
                    outside: true,
                    reconcile: vec!["ask".into()],
                    ..tool(EffectClass::ReadOnly)
                },
            ),
            ("look".into(), tool(EffectClass::ReadOnly)),
        ]);
        now.profile.owners = BTreeMap::from([("olga".into(), "00".into())]);
        now.profile.not_the_editor = true;
        now.profile.sensitive = vec!["SECRET".into()];
        now.verifier = Some(Verifier::Answer);
        now.expected = Some("18".into());
        let lines = then.changes(&now);
        assert_eq!(
            lines,
            [
                "required key browser removed",
                "required key credentials added",
                "tool look added as read_only",
                "tool open_ticket removed",
                "tool send_mail: unknown to read_only",
                "tool send_mail: outside now",
                "tool send_mail: reconciled otherwise",
                "sensitive words changed: 0 to 1",
                "owner olga added",
                "the editor may no longer approve",
                "verifier: none to answer",
                "expected answer changed",
            ]
        );
        // Any difference is told, or it would be silent.
        assert!(!now.changes(&then).is_empty());
        // A list in another order requires the same.
        let mut turned = then.clone();
        turned.profile.required_keys.reverse();
        assert!(then.changes(&turned).is_empty());
    }
}
