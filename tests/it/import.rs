//! What importers do with good, damaged and foreign files. Expected values are written by hand.

use std::path::Path;

use dover::import::{
    Collect, Content, ImportError, Imported, SESSION_SCHEMA, export, import, sniff,
};
use dover::model::{
    AgentInfo, Annotation, Check, Checkpoint, Digest, Effect, EffectClass, EffectState, KeyState,
    Milestone, Profile, RuntimeRef, Session, Step, StepKind, StepMeta, ToolProfile, ToolUse,
    Verifier,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn read_named(name: &str, bytes: &[u8]) -> (Result<Imported, ImportError>, Collect) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, bytes).unwrap();
    let mut sink = Collect::default();
    let got = import(&file, &mut sink, &mut |_, _| true);
    (got, sink)
}

fn read(bytes: &[u8]) -> (Imported, Collect) {
    let (got, sink) = read_named("log.json", bytes);
    (got.unwrap(), sink)
}

fn texts(sink: &Collect) -> Vec<&str> {
    sink.steps.iter().map(|step| step.text.as_str()).collect()
}

const HEAD: &str = r#"{"role":"user","content":"one"}"#;
const TAIL: &str = r#"{"role":"user","content":"three"}"#;

/// A fault between two good records, and what must come of it: texts, read, damaged.
#[test]
fn a_bad_record_never_hides_a_good_one() {
    let table: &[(&str, &str, &[&str], usize, usize)] = &[
        (
            "torn in the middle",
            "{\"role\":\"assistant\",\"con",
            &["one", "three"],
            2,
            1,
        ),
        (
            "torn after a colon",
            "{\"role\":\"assistant\",\"content\":",
            &["one", "three"],
            2,
            1,
        ),
        (
            "torn inside a list",
            "{\"role\":\"assistant\",\"content\":[",
            &["one", "three"],
            2,
            1,
        ),
        (
            "no JSON at all",
            "Traceback (most recent call last):",
            &["one", "three"],
            2,
            1,
        ),
        ("NUL padding", "\0\0\0\0\0\0\0\0", &["one", "three"], 2, 1),
        (
            "a raw line end in a string",
            "{\"role\":\"assistant\",\"content\":\"a\nb\"}",
            &["one", "a\nb", "three"],
            2,
            1,
        ),
        (
            "a raw control character",
            "{\"role\":\"assistant\",\"content\":\"a\u{1}b\"}",
            &["one", "a\u{1}b", "three"],
            2,
            1,
        ),
        (
            "half a surrogate pair",
            "{\"role\":\"assistant\",\"content\":\"a\\ud83d\"}",
            &["one", "a\u{FFFD}", "three"],
            2,
            1,
        ),
        (
            "a comma too many",
            "{\"role\":\"assistant\",\"content\":\"two\",}",
            &["one", "two", "three"],
            2,
            1,
        ),
        (
            "a number out of range",
            "{\"role\":\"assistant\",\"content\":\"two\",\"n\":1e400}",
            &["one", "two", "three"],
            2,
            1,
        ),
        (
            "no number",
            "{\"role\":\"assistant\",\"content\":\"two\",\"n\":NaN}",
            &["one", "two", "three"],
            2,
            1,
        ),
        (
            "cut behind its content",
            "{\"role\":\"assistant\",\"content\":\"two\",\"n\":",
            &["one", "two", "three"],
            2,
            1,
        ),
        (
            "a part, then the whole on one line",
            "{\"role\":\"assistant\",\"cont{\"role\":\"assistant\",\"content\":\"two\"}",
            &["one", "two", "three"],
            3,
            1,
        ),
        (
            "two glued",
            "{\"role\":\"a\",\"content\":\"x\"}{\"role\":\"b\",\"content\":\"y\"}",
            &["one", "x", "y", "three"],
            4,
            0,
        ),
        (
            "pretty-printed",
            "{\n  \"role\": \"a\",\n  \"content\": \"x\"\n}",
            &["one", "x", "three"],
            3,
            0,
        ),
        ("a blank line", "", &["one", "three"], 2, 0),
    ];
    for (name, fault, want, whole, damaged) in table {
        let (got, sink) = read(format!("{HEAD}\n{fault}\n{TAIL}\n").as_bytes());
        let coverage = &got.session.coverage;
        assert_eq!(texts(&sink), *want, "{name}");
        assert_eq!(
            (coverage.read, coverage.damaged, coverage.dropped),
            (*whole, *damaged, 0),
            "{name}"
        );
        assert_eq!(
            coverage.notes.len(),
            *damaged,
            "{name}: each fault has its place"
        );
    }
}

#[test]
fn records_that_are_no_messages_are_kept_and_counted() {
    let (got, sink) = read(format!("{HEAD}\n17\n{{\"a\":1}}\n{TAIL}\n").as_bytes());
    let coverage = &got.session.coverage;
    assert_eq!(
        (coverage.read, coverage.unknown, coverage.damaged),
        (2, 2, 0)
    );
    assert_eq!(texts(&sink), ["one", "17", "{\n  \"a\": 1\n}", "three"]);
    assert_eq!(sink.steps[1].kind, StepKind::Control);
}

#[test]
fn encodings_are_told_by_their_marks() {
    let text = format!("[{HEAD},{{\"role\":\"assistant\",\"content\":\"tři €\"}}]");
    let units: Vec<u16> = text.encode_utf16().collect();
    let le: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let be: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let table = [
        ("UTF-8", text.clone().into_bytes()),
        (
            "UTF-8 with a mark",
            [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        ),
        ("UTF-16 LE", [b"\xFF\xFE", le.as_slice()].concat()),
        ("UTF-16 BE", [b"\xFE\xFF", be.as_slice()].concat()),
        ("UTF-16 LE without a mark", le.clone()),
    ];
    for (name, bytes) in table {
        let (got, sink) = read(&bytes);
        assert_eq!(texts(&sink), ["one", "tři €"], "{name}");
        assert_eq!(got.session.coverage.read, 2, "{name}");
        assert_eq!(
            got.session.source_digest,
            Some(Digest::of(&bytes)),
            "{name}"
        );
    }
    // Latin-1: the byte is lost, the rest is not.
    let (got, sink) =
        read(b"[{\"role\":\"user\",\"content\":\"caf\xE9\"},{\"role\":\"a\",\"content\":\"b\"}]");
    assert_eq!(texts(&sink), ["caf\u{FFFD}", "b"]);
    assert_eq!(
        (got.session.coverage.read, got.session.coverage.damaged),
        (1, 1)
    );
}

#[test]
fn what_is_no_log_is_refused_in_one_sentence() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_map = "{\"a\":".repeat(100_000);
    let table: &[(&str, &[u8], &str)] = &[
        ("empty", b"", "empty"),
        ("white space", b" \n\t", "empty"),
        ("null", b"null", "null"),
        ("a string", b"\"hello\"", "a string"),
        ("an empty list", b"[]", "no messages"),
        ("an empty object", b"{}", "no messages"),
        ("a page", b"<!DOCTYPE html>", "<!DOCTYPE html>"),
        ("prose", b"Dear all,\nnothing here.", "Dear all,"),
        ("gzip", b"\x1F\x8B\x08\0\0\0\0\0", "gunzip"),
        ("a pickle", b"\x80\x04\x95\x00", "pickle"),
        ("an object without messages", b"{\"a\":1,\"b\":2}", "a, b"),
        (
            "labels without history",
            br#"{"question":"q","ground_truth":"g"}"#,
            "question, ground_truth",
        ),
        ("very deep lists", deep.as_bytes(), ""),
        ("very deep objects", deep_map.as_bytes(), ""),
    ];
    for (name, bytes, says) in table {
        let (got, _) = read_named("x.json", bytes);
        let sentence = got.expect_err(name).to_string();
        assert!(sentence.contains(says), "{name}: {sentence}");
        assert!(
            sentence.contains("x.json") && !sentence.contains('\n'),
            "{name}: {sentence}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let mut sink = Collect::default();
    let directory = import(folder.path(), &mut sink, &mut |_, _| true)
        .unwrap_err()
        .to_string();
    assert!(directory.contains("directory"), "{directory}");
    let missing = import(&folder.path().join("none.json"), &mut sink, &mut |_, _| {
        true
    })
    .unwrap_err();
    assert!(
        matches!(missing, ImportError::Unreadable { .. }),
        "{missing}"
    );
}

#[test]
fn nesting_of_200_is_read() {
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let (got, sink) =
        read(format!(r#"[{HEAD},{{"role":"a","content":"b","x":{deep}}}]"#).as_bytes());
    assert_eq!(texts(&sink), ["one", "b"]);
    assert_eq!(got.session.coverage.read, 2);
}

#[test]
fn two_documents_in_one_file_are_one_session_and_a_note() {
    let (got, sink) = read(br#"{"history":[{"role":"human","content":"q1"}]}{"history":[{"role":"human","content":"q2"}]}"#);
    assert_eq!(texts(&sink), ["q1"]);
    assert_eq!(
        (got.session.coverage.read, got.session.coverage.dropped),
        (1, 1)
    );
    assert!(
        got.session.coverage.notes[0]
            .reason
            .contains("second document")
    );
}

#[test]
fn labels_are_annotations_however_they_are_spelled() {
    // mistake_step, the step it must mean.
    let table = [
        (json!("1"), Some(1)),
        (json!(1), Some(1)),
        (json!(1.0), Some(1)),
        (json!("1.0"), Some(1)),
        (json!(-1), None),
        (json!(null), None),
        (json!("99"), None),
        (json!("soon"), None),
    ];
    for (label, step) in table {
        let log = json!({
            "history": [{"role": "human", "content": "q"}, {"role": "WebSurfer", "content": "w"}],
            "groundtruth": 17, "question_id": "x", "mistake_step": label, "mistake_agent": "WebSurfer"
        });
        let (got, _) = read(log.to_string().as_bytes());
        let found = got
            .session
            .annotations
            .iter()
            .find(|label| label.name == "mistake_step")
            .unwrap();
        assert_eq!(found.step, step, "{label}");
        assert_eq!(got.session.format, "who_when");
        assert_eq!(got.session.expected.as_deref(), Some("17"));
        assert_eq!(got.session.verifier, Some(Verifier::Answer));
    }
}

#[test]
fn algorithm_generated_logs_speak_by_name_and_bring_prompts() {
    let log = json!({
        "question": "How many?", "ground_truth": "4", "mistake_step": "1", "question_ID": "x",
        "system_prompt": {"Excel_Expert": "You count."},
        "history": [
            {"content": "# General Task How many?", "role": "assistant", "name": "Excel_Expert"},
            {"content": "exitcode: 0", "role": "user", "name": "Computer_terminal"}
        ]
    });
    let (got, sink) = read(log.to_string().as_bytes());
    let agents: Vec<&str> = sink.steps.iter().map(|step| step.agent.as_str()).collect();
    assert_eq!(agents, ["Excel_Expert", "Computer_terminal"]);
    assert_eq!(
        got.session.agents[0].system_prompt.as_deref(),
        Some("You count.")
    );
    assert_eq!(got.session.task, "How many?");
}

#[test]
fn chat_messages_keep_tool_calls_results_refusals_and_parts() {
    let log = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}},
            {"id": "d", "type": "function", "function": {"name": "g", "arguments": {"y": 2}}}]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
        {"role": "tool", "tool_call_id": "orphan", "content": {"nested": true}},
        {"role": "assistant", "content": null, "function_call": {"name": "old", "arguments": "{"}},
        {"role": "function", "name": "old", "content": "2"},
        {"role": "assistant", "content": null, "refusal": "No."},
        {"role": "assistant", "content": "Done."}
    ]);
    let (got, sink) = read(log.to_string().as_bytes());
    use StepKind::{Control, Message, Task, ToolCall, ToolResult};
    let kinds: Vec<StepKind> = sink.steps.iter().map(|step| step.kind).collect();
    assert_eq!(
        kinds[..9],
        [
            Control, Task, ToolCall, ToolCall, ToolResult, ToolResult, ToolCall, ToolResult,
            Message
        ]
    );
    assert_eq!(sink.steps[1].text, "see\n[picture, 26 bytes in the log]");
    assert_eq!(sink.steps[3].text, "g({\n  \"y\": 2\n})");
    assert_eq!(
        sink.steps[4].meta.tool.as_ref().unwrap().name,
        "f",
        "a result is joined to its call"
    );
    assert_eq!(
        (sink.steps[7].agent.as_str(), sink.steps[8].text.as_str()),
        ("tool", "No.")
    );
    assert!(sink.steps[8].meta.error);
    let keys: Vec<&str> = sink
        .effects
        .iter()
        .map(|effect| effect.operation_key.as_str())
        .collect();
    assert_eq!(keys, ["c@2", "d@3", "call@6"]);
    assert!(
        sink.effects
            .iter()
            .all(|effect| effect.blocks() && effect.class == EffectClass::Unknown)
    );
    assert_eq!(got.session.format, "openai_chat");
    assert_eq!(got.session.coverage.read, 9);
    assert_eq!(
        got.session
            .agents
            .iter()
            .find(|info| info.name == "assistant")
            .unwrap()
            .system_prompt
            .as_deref(),
        Some("Be brief.")
    );
    assert_eq!(got.answer.as_deref(), Some("Done."));
}

#[test]
fn lists_of_a_solver_or_an_assistant_are_no_plans() {
    let dialogues = [
        json!([{"role": "user", "content": "How much is it?"}, {"role": "assistant", "content": "Plan for Rome:\n1. Forum\n2. Lunch"}]),
        json!([
            {"name": "user", "content": "Natalia sold 48 clips in April and half as many in May. How many?"},
            {"name": "Solver", "content": "Steps:\n1. May: 48 / 2 = 24\n2. Sum: 48 + 24 = 72\nCalculator, compute 48 + 24."},
            {"name": "Calculator", "content": "72"},
            {"name": "Solver", "content": "So:\n- 72 clips\n- done"}
        ]),
        json!([
            {"name": "Lead", "content": "Find the date."},
            {"name": "Writer_Expert", "content": "It is 2 May."},
            {"name": "Check_Expert", "content": "Here is a plan to verify what Writer_Expert found:\n1. Open the page\n2. Compare"},
            {"name": "Writer_Expert", "content": "Fine."}
        ]),
    ];
    for log in dialogues {
        let (got, sink) = read(log.to_string().as_bytes());
        assert_eq!(got.session.orchestrator, None, "{log}");
        assert!(
            sink.steps.iter().all(|step| step.kind != StepKind::Plan),
            "{log}"
        );
    }
}

#[test]
fn plans_of_an_orchestrating_agent_count_in_any_framework() {
    for marker in ["1.", "1)", "-", "*", "•", "Step 1:", "(1)"] {
        let item = |n: usize, text: &str| format!("{} {text}", marker.replace('1', &n.to_string()));
        let log = json!([
            {"source": "user", "type": "TextMessage", "content": "Population of Zürich?"},
            {"source": "Chief", "type": "TextMessage", "content": format!("How we go about it:\n{}\n{}", item(1, "Searcher looks it up"), item(2, "Checker compares"))},
            {"source": "Searcher", "type": "TextMessage", "content": "Nothing found."},
            {"source": "Chief", "type": "TextMessage", "content": format!("Searcher, please:\n{}\n{}", item(1, "open the page"), item(2, "read it"))},
            {"source": "Searcher", "type": "TextMessage", "content": "447082"},
            {"source": "Chief", "type": "TextMessage", "content": format!("Once more:\n{}\n{}", item(1, "Searcher tries the archive"), item(2, "Checker compares"))},
            {"source": "Checker", "type": "TextMessage", "content": "Right."},
            {"source": "Chief", "type": "TextMessage", "content": "447082"}
        ]);
        let (got, sink) = read(log.to_string().as_bytes());
        use StepKind::{Answer, Instruction, Message, Plan, Task};
        let kinds: Vec<StepKind> = sink.steps.iter().map(|step| step.kind).collect();
        assert_eq!(
            kinds,
            [
                Task,
                Plan,
                Message,
                Instruction,
                Message,
                Plan,
                Message,
                Answer
            ],
            "{marker}"
        );
        assert_eq!(sink.steps[3].to.as_deref(), Some("Searcher"), "{marker}");
        assert_eq!(
            got.session.orchestrator.as_deref(),
            Some("Chief"),
            "{marker}"
        );
        assert_eq!(got.answer.as_deref(), Some("447082"), "{marker}");
    }
}

#[test]
fn chunks_are_counted_and_the_result_is_not_told_twice() {
    let message = json!({"source": "A", "type": "TextMessage", "content": "x"});
    let lines = [
        message.clone(),
        json!({"source": "A", "type": "ModelClientStreamingChunkEvent", "content": "x"}),
        json!({"source": "A", "type": "ThoughtEvent", "content": "hm"}),
        json!({"source": "A", "type": "HandoffMessage", "content": "over", "target": "B"}),
        json!({"type": "TaskResult", "stop_reason": "enough", "messages": [message]}),
    ];
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let (got, sink) = read(text.join("\n").as_bytes());
    assert_eq!(texts(&sink), ["x", "hm", "over", "enough"]);
    assert_eq!(
        (got.session.coverage.read, got.session.coverage.dropped),
        (4, 1)
    );
    assert_eq!(sink.steps[1].kind, StepKind::Thought);
    assert_eq!(
        (sink.steps[2].kind, sink.steps[2].to.as_deref()),
        (StepKind::Control, Some("B"))
    );
}

#[test]
fn a_caller_can_stop() {
    let text: String = (0..1000).map(|_| format!("{HEAD}\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.jsonl");
    std::fs::write(&file, text).unwrap();
    let mut sink = Collect::default();
    let got = import(&file, &mut sink, &mut |share, steps| {
        share <= 1.0 && steps < 200
    });
    assert!(matches!(got, Err(ImportError::Cancelled)));
    assert!(sink.steps.len() < 300);
}

#[test]
fn worlds_are_told_from_logs() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    assert_eq!(
        sniff(&write("a.txt", "title = \"x\"\n[[agent]]\nname = \"w\"\n")),
        Content::World
    );
    assert_eq!(
        sniff(&write("b.toml", "[package]\nname = \"w\"\n")),
        Content::Log
    );
    // Broken, and yet nothing but a world.
    assert_eq!(
        sniff(&write("d.toml", "title = \n[[page]]\n")),
        Content::World
    );
    assert_eq!(
        sniff(&write("c.json", "{\"a\":\n[[agent]]\n}")),
        Content::Log
    );
    assert_eq!(sniff(Path::new("/nowhere")), Content::Log);
}

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
            seed: 7,
        }),
        profile: Profile {
            required_keys: vec!["agent_memory".into()],
            tools: [(
                "mail".into(),
                ToolProfile {
                    class: EffectClass::Permanent,
                    operation_key: Some("id".into()),
                },
            )]
            .into(),
            sensitive: vec!["budget".into()],
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
    export(&mut bytes, &session, rows, Some("42")).unwrap();
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
fn satisfies(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
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
    export(&mut bytes, &session, rows, Some("42")).unwrap();
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

fn message() -> impl Strategy<Value = Value> {
    ("[A-C]", any::<String>()).prop_map(|(role, text)| json!({"role": role, "content": text}))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Cut anywhere, every whole message of a document is there.
    #[test]
    fn a_cut_document_keeps_its_whole_messages(messages in prop::collection::vec(message(), 1..6), at in any::<prop::sample::Index>()) {
        let whole = json!({"history": messages, "question": "q"}).to_string();
        let mut cut = at.index(whole.len());
        while !whole.is_char_boundary(cut) { cut -= 1; }
        let mut end = "{\"history\":[".len();
        let kept = messages.iter().take_while(|message| { end += message.to_string().len() + 1; end - 1 <= cut }).count();
        let (_, sink) = read_named("cut.json", &whole.as_bytes()[..cut]);
        let want: Vec<&str> = messages.iter().take(kept).map(|message| message["content"].as_str().unwrap()).collect();
        prop_assert_eq!(&texts(&sink)[..kept.min(sink.steps.len())], want.as_slice());
        prop_assert!(sink.steps.len() <= kept + 1);
    }

    /// Whatever stands in a line, the lines after it are read.
    #[test]
    fn rubbish_in_a_line_does_not_hide_the_next(rubbish in "[^\r\n]{0,40}") {
        let text = format!("{HEAD}\n{rubbish}\n{TAIL}\n");
        let (_, sink) = read_named("x.jsonl", text.as_bytes());
        prop_assert_eq!(sink.steps.first().map(|step| step.text.as_str()), Some("one"));
        prop_assert_eq!(sink.steps.last().map(|step| step.text.as_str()), Some("three"));
    }

    /// No bytes make it panic, and what is read adds up.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\":,\\ \n'a1".to_vec())], 0..200)) {
        let (got, sink) = read_named("x.json", &bytes);
        if let Ok(got) = got {
            prop_assert_eq!(got.steps, sink.steps.len());
        }
    }
}
