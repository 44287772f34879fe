//! dover's own session files: what is written is read back, and the schema describes it.

use super::*;
use dover::model::{LiveEdit, LiveOp};

fn full_session() -> (Session, Vec<Step>, Checkpoint, Effect) {
    let session = Session {
        id: "night".into(),
        title: "Night".into(),
        format: "dover".into(),
        task: "t".into(),
        agents: vec![AgentInfo {
            name: "A".into(),
            description: Some("d".into()),
            system_prompt: Some("p".into()),
        }],
        orchestrator: Some("A".into()),
        expected: Some("42".into()),
        verifier: Some(Verifier::Contains("42".into())),
        milestones: vec![Milestone {
            title: "m".into(),
            check: Check::Text("x".into()),
        }],
        runtime: Some(RuntimeRef {
            name: "scenario".into(),
            world: Some("[world]\n".into()),
            destination: None,
            seed: 7,
            adapter: None,
        }),
        profile: Profile {
            required_keys: vec!["agent_memory".into()],
            tools: [(
                "mail".into(),
                ToolProfile {
                    class: EffectClass::Permanent,
                    operation_key: Some("id".into()),
                    ..ToolProfile::default()
                },
            )]
            .into(),
            sensitive: vec!["budget".into()],
            ..Profile::default()
        },
        annotations: vec![Annotation {
            step: Some(1),
            name: "n".into(),
            value: "v".into(),
        }],
        ..Session::default()
    };
    let tool = ToolUse {
        name: "mail".into(),
        call_id: Some("c".into()),
        arguments: Some("{}".into()),
        class: Some(EffectClass::Permanent),
        from_record: false,
        failed: false,
    };
    let steps = vec![
        Step {
            index: 0,
            agent: "user".into(),
            kind: StepKind::Task,
            text: "t".into(),
            ..Step::default()
        },
        Step {
            index: 1,
            agent: "A".into(),
            kind: StepKind::ToolCall,
            to: Some("B".into()),
            text: "mail()".into(),
            meta: StepMeta {
                tool: Some(tool),
                facts: vec!["f".into()],
                pages: vec!["p".into()],
                error: true,
                live_edits: vec![LiveEdit {
                    op: LiveOp::Replace,
                    by: "ann".into(),
                    of: "A".into(),
                    before: Some("mail(1)".into()),
                    after: Some("mail()".into()),
                }],
                time: Some("2026-01-01T00:00:00Z".into()),
            },
        },
    ];
    let checkpoint = Checkpoint {
        step: 1,
        keys: [(
            "agent_memory".into(),
            KeyState::saved("1", json!({"k": [1]})),
        )]
        .into(),
    };
    let effect = Effect {
        step: 1,
        agent: "A".into(),
        tool: "mail".into(),
        class: EffectClass::Permanent,
        operation_key: "m1".into(),
        args_sha256: Digest::of("{}"),
        result: Some("sent".into()),
        state: EffectState::Pending,
        evidence: Some("log".into()),
    };
    (session, steps, checkpoint, effect)
}

#[test]
fn what_is_exported_is_read_back() {
    let (session, steps, checkpoint, effect) = full_session();
    let mut bytes = Vec::new();
    let rows = [
        (&steps[0], None, [].as_slice()),
        (&steps[1], Some(&checkpoint), std::slice::from_ref(&effect)),
    ];
    original(&mut bytes, &session, rows, Some("42")).unwrap();
    let (got, sink) = read_named("other.jsonl", &bytes);
    let got = got.unwrap();
    assert_eq!(sink.steps, steps);
    assert_eq!(sink.checkpoints, [checkpoint]);
    assert_eq!(sink.effects, [effect]);
    assert_eq!(got.answer.as_deref(), Some("42"));
    assert_eq!(got.session.coverage.read, 6);
    let same = Session {
        source: None,
        source_digest: None,
        coverage: session.coverage.clone(),
        agents: session.agents.clone(),
        ..got.session.clone()
    };
    assert_eq!(same, session);
    let names: Vec<&str> = got
        .session
        .agents
        .iter()
        .map(|info| info.name.as_str())
        .collect();
    assert_eq!(names, ["A", "user"]);
}

/// Whether a value satisfies a schema, as far as `session.schema.json` uses JSON Schema; every key of an object must be described.
pub fn satisfies(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    if schema == &Value::Bool(true) {
        return Ok(());
    }
    let mut described = Vec::new();
    let mut schemas = vec![schema];
    if let Some(name) = schema["$ref"].as_str() {
        schemas.push(
            root.pointer(name.trim_start_matches('#'))
                .ok_or_else(|| format!("no {name}"))?,
        );
    }
    for schema in &schemas {
        if let Some(choice) = schema["oneOf"].as_array() {
            let fits = choice
                .iter()
                .filter(|one| satisfies(value, one, root).is_ok())
                .count();
            if fits != 1 {
                return Err(format!("{value} fits {fits} of {}", choice.len()));
            }
            described.push("*");
        }
        if schema.get("const").is_some_and(|only| only != value)
            || schema["enum"]
                .as_array()
                .is_some_and(|all| !all.contains(value))
        {
            return Err(format!("{value} is not allowed"));
        }
        let fits = match schema["type"].as_str() {
            Some("string") => value.is_string(),
            Some("integer") => value.is_u64(),
            Some("boolean") => value.is_boolean(),
            Some("array") => value.is_array(),
            Some("object") => value.is_object(),
            _ => true,
        };
        if !fits {
            return Err(format!("{value} is no {}", schema["type"]));
        }
        for key in schema["required"].as_array().into_iter().flatten() {
            value
                .get(key.as_str().unwrap())
                .ok_or_else(|| format!("{key} is missing"))?;
        }
        for element in value.as_array().into_iter().flatten() {
            satisfies(element, &schema["items"], root)?;
        }
        for (key, member) in value.as_object().into_iter().flatten() {
            if let Some(inner) = schema["properties"]
                .get(key)
                .or_else(|| schema.get("additionalProperties"))
            {
                satisfies(member, inner, root)?;
                described.push(key);
            }
        }
    }
    let bare = value.is_object()
        && !schemas
            .iter()
            .any(|s| s.get("properties").is_some() || s.get("additionalProperties").is_some());
    match value
        .as_object()
        .into_iter()
        .flatten()
        .find(|(key, _)| !described.contains(&"*") && !bare && !described.contains(&key.as_str()))
    {
        Some((key, _)) => Err(format!("{key} is not described")),
        None => Ok(()),
    }
}

#[test]
fn the_schema_describes_every_field_that_is_written() {
    let schema: Value = serde_json::from_str(SESSION_SCHEMA).unwrap();
    let (session, steps, checkpoint, effect) = full_session();
    let mut bytes = Vec::new();
    let rows = [
        (&steps[0], None, [].as_slice()),
        (&steps[1], Some(&checkpoint), std::slice::from_ref(&effect)),
    ];
    original(&mut bytes, &session, rows, Some("42")).unwrap();
    for line in String::from_utf8(bytes).unwrap().lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        let name = value["type"].as_str().unwrap();
        assert_eq!(
            satisfies(&value, &schema["$defs"][name], &schema),
            Ok(()),
            "{line}"
        );
    }
    let kinds: Vec<&str> = schema["$defs"]["step"]["properties"]["kind"]["enum"]
        .as_array()
        .unwrap()
        .iter()
        .map(|k| k.as_str().unwrap())
        .collect();
    assert_eq!(kinds, StepKind::ALL.map(StepKind::name));
    // The check can fail: a step without its text, and one with a key that nobody knows.
    let step = &schema["$defs"]["step"];
    assert!(
        satisfies(
            &json!({"type": "step", "index": 0, "agent": "a", "kind": "task"}),
            step,
            &schema
        )
        .is_err()
    );
    assert!(
        satisfies(
            &json!({"type": "step", "index": 0, "agent": "a", "kind": "task", "text": "", "x": 1}),
            step,
            &schema
        )
        .is_err()
    );
}

#[test]
fn a_world_beside_the_file_is_read_in_and_none_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("in");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(folder.path().join("w.toml"), "outside").unwrap();
    let file = inner.join("s.jsonl");
    let header = |world: &str| {
        json!({"type": "session", "task": "t", "runtime": {"name": "scenario", "world": world}})
            .to_string()
    };
    let step = json!({"type": "step", "index": 0, "agent": "a", "kind": "task", "text": "t"});
    let read_with = |world: &str| {
        std::fs::write(&file, format!("{}\n{step}\n", header(world))).unwrap();
        import(&file, &mut Collect::default(), &mut |_, _| true)
            .unwrap()
            .session
    };
    let missing = read_with("../w.toml");
    assert_eq!(missing.runtime, None);
    assert!(
        missing.coverage.notes[0].reason.contains("w.toml"),
        "{:?}",
        missing.coverage
    );
    std::fs::write(inner.join("w.toml"), "[world]\nname = \"n\"\n").unwrap();
    assert_eq!(
        read_with("w.toml").runtime.unwrap().world.as_deref(),
        Some("[world]\nname = \"n\"\n")
    );
}
