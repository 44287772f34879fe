//! State that other tools saved: AGDebugger's sessions with their branches, AutoGen's teams, AG2's histories; never a pickle.

use dover::import::Beside;
use dover::model::{Branch, Category, RunStatus};

use super::*;

/// A message of AGDebugger's queue.
fn sent(at: usize, sender: &str, message: Value) -> Value {
    json!({"message": message, "sender": format!("{sender}_7f/7f"), "recipient": null, "type": "PublishMessageEnvelope", "timestamp": at, "id": 1000 + at})
}

fn word(source: &str, content: &str) -> Value {
    json!({"source": source, "models_usage": null, "metadata": {}, "content": content, "type": "TextMessage"})
}

fn shown(at: usize, source: &str, content: &str) -> Value {
    sent(
        at,
        source,
        json!({"message": word(source, content), "type": "GroupChatMessage"}),
    )
}

/// The same as the others of the team get it.
fn heard(at: usize, source: &str, content: &str) -> Value {
    let response = json!({"chat_message": word(source, content), "inner_messages": []});
    sent(
        at,
        source,
        json!({"agent_response": response, "type": "GroupChatAgentResponse"}),
    )
}

fn asks(at: usize) -> Value {
    sent(at, "Manager", json!({"type": "GroupChatRequestPublish"}))
}

fn stops(at: usize) -> Value {
    let word =
        json!({"source": "MaxMessageTermination", "content": "3 messages", "type": "StopMessage"});
    sent(
        at,
        "Manager",
        json!({"message": word, "type": "GroupChatTermination"}),
    )
}

fn first_session() -> Vec<Value> {
    let start =
        json!({"messages": [word("user", "How many eggs are left?")], "type": "GroupChatStart"});
    vec![
        sent(0, "user", start.clone()),
        sent(1, "Manager", start),
        asks(2),
        sent(3, "Manager", json!({"type": "None"})),
        shown(4, "Counter", "Six are left."),
        heard(5, "Counter", "Six are left."),
        asks(6),
        shown(7, "Checker", "I agree: six."),
        heard(8, "Checker", "I agree: six."),
        stops(9),
    ]
}

/// The second session edits what Counter said, the third runs Checker again unedited, the fourth was reset and not run.
fn agdebugger() -> Value {
    let first = first_session();
    let edited = vec![
        heard(10, "Counter", "Four are left, two broke."),
        asks(11),
        shown(12, "Checker", "Yes, four."),
        heard(13, "Checker", "Yes, four."),
        stops(14),
    ];
    let second = [&first[..5], &edited].concat();
    let third = [
        &second[..6],
        &[asks(15), shown(16, "Checker", "Perhaps four.")],
    ]
    .concat();
    let fourth = third[..7].to_vec();
    let session = |messages: Vec<Value>, from: Option<usize>, score: Value| json!({"messages": messages, "current_session_reset_from": from, "next_session_starts_at": null, "current_session_score": score});
    let passed =
        json!({"passed": true, "first_timestamp": 12, "expected": "four", "actual": "four"});
    json!({"current_session": 3, "message_history": {
        "0": session(first, None, json!(null)),
        "1": session(second, Some(5), passed),
        "2": session(third, Some(11), json!(null)),
        "3": session(fourth, Some(16), json!(null)),
    }})
}

fn branches(sink: &Collect) -> Vec<&Branch> {
    sink.beside
        .iter()
        .filter_map(|beside| match beside {
            Beside::Branch(branch, _) => Some(&**branch),
            _ => None,
        })
        .collect()
}

#[test]
fn sessions_of_agdebugger_are_branches_of_one_another() {
    let (got, sink) = read(agdebugger().to_string().as_bytes());
    assert_eq!(got.session.format, "agdebugger");
    assert_eq!(got.session.task, "How many eggs are left?");
    assert_eq!(got.answer.as_deref(), Some("I agree: six."));
    // What goes through the queue twice is said once.
    assert_eq!(
        texts(&sink),
        [
            "How many eggs are left?",
            "Six are left.",
            "I agree: six.",
            "3 messages"
        ]
    );
    let [one, two] = branches(&sink)[..] else {
        panic!("{:?}", sink.beside);
    };
    let names = |branch: &Branch| {
        let parent = branch.parent.as_ref().map(|id| id.name().to_owned());
        (
            branch.id.name().to_owned(),
            parent,
            branch.fork_step,
            branch.steps,
        )
    };
    assert_eq!(names(one), ("b1".into(), Some("main".into()), Some(1), 4));
    assert_eq!(names(two), ("b2".into(), Some("b1".into()), Some(2), 3));
    let own: Vec<&str> = sink.forked.iter().map(|step| step.text.as_str()).collect();
    assert_eq!(
        own,
        [
            "Four are left, two broke.",
            "Yes, four.",
            "3 messages",
            "Perhaps four."
        ]
    );
    assert_eq!(
        (one.run, two.run),
        (RunStatus::Done, RunStatus::Interrupted)
    );
    assert_eq!(one.answer.as_deref(), Some("Yes, four."));
    for branch in [one, two] {
        // Nobody judged it here, and nothing says that its state was what it had been.
        assert!(branch.diagnostic && branch.gate.is_none() && branch.success.is_none());
        assert!(branch.reason.as_deref().unwrap().starts_with("imported"));
    }
    let made: Vec<_> = sink
        .beside
        .iter()
        .filter_map(|beside| match beside {
            Beside::Intervention(made) => Some((made.step, made.category, made.text.as_deref())),
            _ => None,
        })
        .collect();
    assert_eq!(
        made,
        [
            (1, Category::Message, Some("Four are left, two broke.")),
            (2, Category::None, None)
        ]
    );
}

#[test]
fn every_message_of_agdebugger_is_counted_once() {
    let log = agdebugger();
    let (got, _) = read(log.to_string().as_bytes());
    let coverage = got.session.coverage;
    // Read: task, two words and the stop; the edit, its answer and the stop; the last word. All that there is: 10 + 10 + 8 + 7.
    assert_eq!(
        (
            coverage.read,
            coverage.unknown,
            coverage.damaged,
            coverage.dropped
        ),
        (8, 0, 0, 27)
    );
    let told = |what: &str| coverage.notes.iter().any(|note| note.reason.contains(what));
    assert!(told("repeat another") && told("of the session before it"));
    assert!(told("nothing was said in it since"), "{:?}", coverage.notes);
    // Its own judgement is kept as its own.
    let mut scores = got.session.annotations.iter();
    let score = scores.find(|it| it.name == "agdebugger_score.b1").unwrap();
    assert_eq!(score.value, "passed, expected four, actual four");
    assert_eq!(got.session.expected, None);
}

#[test]
fn what_agdebugger_could_not_write_is_kept_and_told() {
    let mut log = agdebugger();
    let list = log["message_history"]["0"]["messages"]
        .as_array_mut()
        .unwrap();
    list.insert(4, sent(40, "Counter", json!({"type": "Stock", "eggs": 6})));
    list.insert(4, sent(41, "Counter", json!({})));
    let (got, sink) = read(log.to_string().as_bytes());
    assert_eq!(got.session.coverage.unknown, 2);
    assert_eq!(sink.steps[1].agent, "Counter");
    assert_eq!(sink.steps[2].kind, StepKind::Control);
    // The sessions now differ elsewhere than they say, and the branch is forked where they do.
    assert_eq!(branches(&sink)[0].fork_step, Some(1));
    let notes = got.session.coverage.notes;
    assert!(
        notes
            .iter()
            .any(|note| note.reason.contains("differs elsewhere"))
    );
}

#[test]
fn a_failure_of_a_team_is_a_step() {
    let error = json!({"error_type": "ValueError", "error_message": "no ledger", "traceback": "…"});
    let stop = json!({"message": {"source": "M", "content": "An error occurred in the group chat.", "type": "StopMessage"}, "error": error, "type": "GroupChatTermination"});
    let mut list = first_session();
    list.truncate(6);
    list.push(sent(6, "Manager", stop));
    let log = json!({"current_session": 0, "message_history": {"0": {"messages": list, "current_session_reset_from": null}}});
    let (_, sink) = read(log.to_string().as_bytes());
    let last = sink.steps.last().unwrap();
    assert_eq!(last.text, "ValueError: no ledger");
    assert!(last.meta.error);
}

fn team_state() -> Value {
    let call = json!([{"id": "c1", "arguments": "{}", "name": "stock"}]);
    let result = json!([{"content": "6", "name": "stock", "call_id": "c1", "is_error": false}]);
    let said = |kind: &str, source: &str, content: Value| json!({"id": "x", "source": source, "models_usage": null, "metadata": {}, "created_at": "2026-01-02T03:04:05Z", "content": content, "type": kind});
    json!({"type": "TeamState", "version": "1.0.0", "agent_states": {
        "Counter": {"type": "ChatAgentContainerState", "version": "1.0.0", "message_buffer": [], "agent_state": {
            "type": "AssistantAgentState", "version": "1.0.0", "llm_context": {"messages": [
                {"content": "How many eggs?", "source": "user", "type": "UserMessage"},
                {"content": call, "thought": "Look it up.", "source": "Counter", "type": "AssistantMessage"},
                {"content": result, "type": "FunctionExecutionResultMessage"},
                {"content": "Six.", "thought": null, "source": "Counter", "type": "AssistantMessage"}
            ]}}},
        "Quiet": {"type": "ChatAgentContainerState", "version": "1.0.0", "agent_state": {}, "message_buffer": []},
        "RoundRobinGroupChatManager": {"type": "RoundRobinManagerState", "version": "1.0.0", "current_turn": 1, "next_speaker_index": 0, "message_thread": [
            said("TextMessage", "user", json!("How many eggs?")),
            said("ToolCallRequestEvent", "Counter", call.clone()),
            said("ToolCallExecutionEvent", "Counter", result.clone()),
            said("TextMessage", "Counter", json!("Six.")),
        ]}
    }})
}

#[test]
fn a_saved_team_is_its_thread_and_its_agents() {
    let (got, sink) = read(team_state().to_string().as_bytes());
    assert_eq!(got.session.format, "autogen_state");
    let kinds: Vec<StepKind> = sink.steps.iter().map(|step| step.kind).collect();
    let (call, result) = (StepKind::ToolCall, StepKind::ToolResult);
    assert_eq!(kinds[..3], [StepKind::Task, call, result]);
    assert_eq!(texts(&sink), ["How many eggs?", "stock({})", "6", "Six."]);
    let names: Vec<&str> = got
        .session
        .agents
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["user", "Counter", "Quiet"]);
    // The agent's memory is no further conversation, and not passed over in silence.
    assert_eq!(
        (got.session.coverage.read, got.session.coverage.dropped),
        (4, 4)
    );
    let note = &got.session.coverage.notes[0];
    assert_eq!(note.place, "memory of Counter");
    assert!(note.reason.contains("a copy of the thread"), "{note:?}");
    let turn = got.session.annotations.iter();
    let mut turn = turn.filter(|it| it.name == "RoundRobinGroupChatManager.current_turn");
    assert_eq!(turn.next().unwrap().value, "1");
}

#[test]
fn the_oldest_saved_teams_have_the_teams_id_in_their_names() {
    let mut state = team_state();
    let states = state["agent_states"].as_object_mut().unwrap();
    let old = std::mem::take(states).into_iter();
    states.extend(old.map(|(name, state)| (format!("{name}/7e31-8e41"), state)));
    states.insert("collect_output_messages/7e31-8e41".into(), json!({}));
    let (got, sink) = read(state.to_string().as_bytes());
    assert_eq!(sink.steps.len(), 4);
    let names: Vec<&str> = got
        .session
        .agents
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["user", "Counter", "Quiet"]);
}

#[test]
fn a_saved_team_that_was_cut_is_what_an_agent_remembers() {
    let text = team_state().to_string();
    let cut = &text[..text.find("\"RoundRobinGroupChatManager\"").unwrap()];
    let (got, sink) = read(cut.as_bytes());
    assert_eq!(
        texts(&sink),
        ["How many eggs?", "Look it up.", "stock({})", "6", "Six."]
    );
    assert_eq!(sink.steps[3].kind, StepKind::ToolResult);
    assert_eq!(got.session.coverage.damaged, 1);
    let notes = &got.session.coverage.notes;
    assert!(
        notes
            .iter()
            .any(|note| note.reason.contains("what Counter remembers")),
        "{notes:?}"
    );
    // An agent saved by itself is read in the same way.
    let own = &team_state()["agent_states"]["Counter"]["agent_state"];
    let (got, sink) = read(own.to_string().as_bytes());
    assert_eq!((sink.steps.len(), got.session.coverage.read), (5, 4));
    let (fresh, _) = read_named("x.json", br#"{"type":"TeamState","agent_states":{}}"#);
    assert!(fresh.unwrap_err().to_string().contains("said nothing yet"));
}

#[test]
fn the_longest_of_ag2s_histories_is_the_conversation() {
    let said = |role: &str, name: &str, content: &str| json!({"role": role, "name": name, "content": content});
    let whole = json!([
        said("user", "Boss", "How many eggs?"),
        said("assistant", "Counter", "Six."),
        said("user", "Boss", "Thanks.")
    ]);
    // The same from the other side, its end missing.
    let other = json!([
        said("assistant", "Boss", "How many eggs?"),
        said("user", "Counter", "Six.")
    ]);
    let aside = json!([
        said("user", "Boss", "Is Counter right?"),
        said("assistant", "Checker", "Yes.")
    ]);
    let files = [
        json!({"Counter": other, "Boss": whole, "Checker": aside}),
        json!({"Counter": {"Boss": other}, "Boss": {"Counter": whole, "Checker": aside}}),
    ];
    for file in files {
        let (got, sink) = read(file.to_string().as_bytes());
        assert_eq!(texts(&sink), ["How many eggs?", "Six.", "Thanks."]);
        let coverage = got.session.coverage;
        assert_eq!((coverage.read, coverage.dropped), (3, 4));
        let notes: Vec<&str> = coverage
            .notes
            .iter()
            .map(|note| note.reason.as_str())
            .collect();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(
            notes
                .iter()
                .any(|note| note.contains("2 messages, which the longest history has too")),
            "{notes:?}"
        );
        assert!(
            notes
                .iter()
                .any(|note| note.contains("2 of them not in the longest one")),
            "{notes:?}"
        );
    }
}

#[test]
fn a_pickle_is_refused_with_the_way_to_the_json() {
    // As protocols 0, 1, 2 and 4 begin.
    let heads: [&[u8]; 6] = [
        b"(lp0\nVeggs\np1\na.",
        b"(dp0\n.",
        b"]q\x00.",
        b"}q\x00X\x01\x00\x00\x00aq\x01K\x01s.",
        b"\x80\x02}q\x00.",
        b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00]\x94.",
    ];
    for head in heads {
        let (got, sink) = read_named("history.pickle", head);
        let sentence = got.unwrap_err().to_string();
        assert!(sentence.contains("never loaded"), "{sentence}");
        for way in [
            "/api/getSessionHistory",
            "save_state()",
            "groupchat.messages",
        ] {
            assert!(sentence.contains(way), "{sentence}");
        }
        assert!(sink.steps.is_empty());
    }
}

#[test]
fn branches_that_are_brought_stand_in_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("eggs.json");
    std::fs::write(&file, agdebugger().to_string()).unwrap();
    let clock = std::sync::Arc::new(dover::model::SystemClock);
    let store = dover::store::Store::open(&folder.path().join("store.db"), clock).unwrap();
    let (id, _) =
        dover::pipeline::take_in(&store, file.to_str().unwrap(), &mut |_, _| true).unwrap();
    let two = dover::model::BranchId::new(&id, "b2");
    let steps = store.steps(&two, 0..9).unwrap();
    let said: Vec<&str> = steps.iter().map(|step| step.text.as_str()).collect();
    assert_eq!(
        said,
        [
            "How many eggs are left?",
            "Four are left, two broke.",
            "Perhaps four."
        ]
    );
    let branch = store.branch(&two).unwrap();
    let parent = dover::model::BranchId::new(&id, "b1");
    assert_eq!((branch.parent, branch.success), (Some(parent), None));
    assert!(branch.prefix_digest.is_some() && !branch.created.is_empty());
    assert_eq!(branch.intervention, Some(format!("{id}/i2")));
}
