//! What importers do with good, damaged and foreign files. Expected values are written by hand.

mod interchange;
pub mod own_format;

use std::path::Path;

use dover::export::original;
use dover::import::{Collect, Content, ImportError, Imported, SESSION_SCHEMA, import, sniff};
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
