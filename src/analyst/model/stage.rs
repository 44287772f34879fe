//! The stages of the analysis: each with its prompt, the schema of its answer, and the answer as it is read.

use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

/// One stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Where trials begin.
    Segment,
    /// Who is suspected.
    Attribute,
    /// What is said instead.
    Intervene,
    /// Sub-goals.
    Milestones,
    /// Which of them were reached.
    JudgeMilestones,
    /// Whether an edit was executed.
    JudgeFulfilment,
}

impl Stage {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Segment => "segment",
            Self::Attribute => "attribute",
            Self::Intervene => "intervene",
            Self::Milestones => "milestones",
            Self::JudgeMilestones => "judge_milestones",
            Self::JudgeFulfilment => "judge_fulfilment",
        }
    }

    /// What the model is told to do.
    #[must_use]
    pub const fn prompt(self) -> &'static str {
        match self {
            Self::Segment => include_str!("prompts/segment.md"),
            Self::Attribute => include_str!("prompts/attribute.md"),
            Self::Intervene => include_str!("prompts/intervene.md"),
            Self::Milestones => include_str!("prompts/milestones.md"),
            Self::JudgeMilestones => include_str!("prompts/judge_milestones.md"),
            Self::JudgeFulfilment => include_str!("prompts/judge_fulfilment.md"),
        }
    }

    /// The JSON schema of its answer, as text.
    #[must_use]
    pub const fn schema(self) -> &'static str {
        match self {
            Self::Segment => include_str!("prompts/segment.schema.json"),
            Self::Attribute => include_str!("prompts/attribute.schema.json"),
            Self::Intervene => include_str!("prompts/intervene.schema.json"),
            Self::Milestones => include_str!("prompts/milestones.schema.json"),
            Self::JudgeMilestones => include_str!("prompts/judge_milestones.schema.json"),
            Self::JudgeFulfilment => include_str!("prompts/judge_fulfilment.schema.json"),
        }
    }

    /// The form of the answer, as the chat completions API takes it.
    #[must_use]
    pub fn format(self) -> Option<Value> {
        let schema: Value = serde_json::from_str(self.schema()).ok()?;
        Some(json!({
            "type": "json_schema",
            "json_schema": {"name": self.name(), "strict": true, "schema": schema},
        }))
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An index; models write it as a number or as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index(pub usize);

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let number = match &value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.trim().trim_matches(['[', ']']).parse().ok(),
            _ => None,
        };
        let index = number.and_then(|number| usize::try_from(number).ok());
        index.map(Self).ok_or_else(|| {
            serde::de::Error::custom(format!("{value} is no step: write the index as a number"))
        })
    }
}

/// Answer of [`Stage::Segment`].
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Segmented {
    /// Where plans stand.
    pub starts: Vec<Index>,
}

/// Answer of [`Stage::Attribute`].
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Attributed {
    /// The suspected step.
    pub step: Index,
    /// The suspected agent.
    pub agent: String,
    /// Why.
    pub reason: String,
    /// Steps that speak for it.
    pub evidence: Vec<Index>,
    /// What the agent lacks.
    pub capability: Option<String>,
}

/// Answer of [`Stage::Intervene`].
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Intervened {
    /// Which message.
    pub target: String,
    /// Its new text.
    pub text: String,
}

/// Answer of [`Stage::Milestones`].
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// The sub-goals.
    pub milestones: Vec<Goal>,
}

/// One sub-goal.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// What a person reads.
    pub title: String,
    /// Text that a step contains when it is reached.
    pub text: Option<String>,
}

/// Answer of [`Stage::JudgeMilestones`].
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Reached {
    /// Each milestone.
    pub reached: Vec<One>,
}

/// One milestone, judged.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct One {
    /// Its number, 1-based.
    pub number: Index,
    /// The first step that reaches it.
    pub step: Option<Index>,
}

/// Answer of [`Stage::JudgeFulfilment`].
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Fulfilled {
    /// Whether it was done.
    pub fulfilled: Option<bool>,
    /// Why; for whoever reads the log.
    #[serde(default)]
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of an object's fields by its schema, and whether others are allowed.
    fn fields(schema: &Value) -> Vec<String> {
        assert_eq!(schema["additionalProperties"], false);
        let required: Vec<_> = schema["required"].as_array().unwrap().clone();
        let names = schema["properties"].as_object().unwrap().keys();
        names
            .inspect(|name| assert!(required.contains(&json!(name)), "{name}"))
            .cloned()
            .collect()
    }

    #[test]
    fn schemas_and_structures_say_the_same() {
        let of = |stage: Stage| fields(&serde_json::from_str(stage.schema()).unwrap());
        let ok = |accepted: bool, stage: Stage| assert!(accepted, "{stage}");
        let read = |stage: Stage, value: Value| match stage {
            Stage::Segment => serde_json::from_value::<Segmented>(value).is_ok(),
            Stage::Attribute => serde_json::from_value::<Attributed>(value).is_ok(),
            Stage::Intervene => serde_json::from_value::<Intervened>(value).is_ok(),
            Stage::Milestones => serde_json::from_value::<Named>(value).is_ok(),
            Stage::JudgeMilestones => serde_json::from_value::<Reached>(value).is_ok(),
            Stage::JudgeFulfilment => serde_json::from_value::<Fulfilled>(value).is_ok(),
        };
        let whole = [
            (Stage::Segment, json!({"starts": [1, 9]})),
            (
                Stage::Attribute,
                json!({"step": 3, "agent": "A", "reason": "r", "evidence": [3], "capability": null}),
            ),
            (Stage::Intervene, json!({"target": "plan", "text": "t"})),
            (
                Stage::Milestones,
                json!({"milestones": [{"title": "t", "text": null}]}),
            ),
            (
                Stage::JudgeMilestones,
                json!({"reached": [{"number": 1, "step": null}]}),
            ),
            (
                Stage::JudgeFulfilment,
                json!({"fulfilled": null, "reason": ""}),
            ),
        ];
        for (stage, value) in whole {
            let names: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
            assert_eq!(of(stage), names, "{stage}");
            ok(read(stage, value.clone()), stage);
            let mut more = value;
            more["more"] = json!(1);
            ok(!read(stage, more), stage);
            assert!(stage.format().is_some());
            assert!(stage.prompt().contains("JSON object"));
        }
    }

    #[test]
    fn an_index_may_be_text() {
        let read = |text: &str| {
            serde_json::from_str::<Index>(text)
                .map(|it| it.0)
                .map_err(|e| e.to_string())
        };
        assert_eq!(read("12"), Ok(12));
        assert_eq!(read("\"12\""), Ok(12));
        assert_eq!(read("\"[12]\""), Ok(12));
        assert!(
            read("\"the second\"")
                .unwrap_err()
                .contains("write the index as a number")
        );
        assert!(read("-1").is_err() && read("1.5").is_err() && read("null").is_err());
    }
}
