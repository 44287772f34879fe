//! `dover adapter check` over teams of each framework: every boundary is saved, restored in a new process, followed to the end and edited.

use dover::runtime::adapter::NAMES;
use serde_json::Value;

use super::Scene;

/// A test for each team: its framework, entry, task, and further words of the command.
macro_rules! walks {
    ($($test:ident: $framework:literal $entry:literal $task:literal $($word:literal)*;)+) => {
        const WALKED: &[&str] = &[$($framework),+];
        $(#[test]
        fn $test() {
            walk($framework, $entry, $task, &[$($word),*]);
        })+
    };
}

walks! {
    autogen_magentic_one: "autogen" "autogen_magentic.py:build" "How many tins of paint does a floor of 96 square metres need?";
    autogen_selector_with_tools: "autogen" "autogen_selector.py:build" "A seat to Ulm, please";
    autogen_swarm: "autogen" "autogen_swarm.py:build" "I paid 30 and want it back";
    autogen_round_robin_with_nested_terminations: "autogen" "autogen_rounds.py:build" "Write a text shorter than 4 words";
    autogen_agents_that_hold_others: "autogen" "autogen_nested.py:build" "Begin";
    langgraph_line: "langgraph" "langgraph_team.py:line" "How far at 90 km/h in 2 hours?";
    langgraph_parallel_nodes_with_tools: "langgraph" "langgraph_team.py:parallel" "3 widgets, please";
    ag2_classic_group: "ag2-classic" "ag2_classic_team.py:group" "3 widgets, please";
    ag2_discussion_with_tools: "ag2" "ag2_team.py:build" "3 widgets, please" "--allow-tools";
    ag2_dialogue: "ag2" "ag2_team.py:dialogue" "How far at 90 km/h in 2 hours?";
    ag2_classic_maths: "ag2-classic" "ag2_classic_team.py:maths" "How far at 90 km/h in 2 hours?" "--allow-tools";
}

fn walk(framework: &'static str, entry: &str, task: &str, more: &[&str]) {
    let Some(scene) = Scene::of(framework) else {
        return;
    };
    let words = [
        &["adapter", "check", framework, entry, "--task", task],
        more,
    ]
    .concat();
    let walk = scene.json(&words);
    let findings = walk["findings"].as_array().unwrap();
    let count = |what: &str| findings.iter().filter(|it| it["what"] == what).count();
    let boundaries = walk["boundaries"].as_u64().unwrap();
    assert!(boundaries >= 3, "{walk}");
    assert_eq!(count("restore") as u64, boundaries);
    assert_eq!((count("edit"), count("refusal")), (1, 4));
    assert!(findings.iter().all(|it| it["holds"] == true), "{walk}");
    // The environment is the pinned one.
    assert_eq!(walk["notes"].as_array().unwrap().len(), 0, "{walk}");
    scene.nobody_is_left();
}

#[test]
fn every_framework_that_is_offered_is_walked() {
    for name in NAMES {
        assert!(WALKED.contains(&name), "{name}");
    }
}

#[test]
fn what_a_framework_cannot_save_is_no_exact_restore() {
    let Some(scene) = Scene::of("autogen") else {
        return;
    };
    let words = [
        "adapter",
        "check",
        "autogen",
        "autogen_nested.py:build_graph",
    ];
    let walk = scene.json(&[&words[..], &["--task", "Begin"]].concat());
    let restores: Vec<&Value> = walk["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["what"] == "restore")
        .collect();
    assert!(restores.len() >= 3);
    for restore in restores {
        assert_eq!(restore["holds"], Value::Null, "{restore}");
        let found = restore["found"].as_str().unwrap();
        assert!(found.contains("orchestrator/ledger"), "{found}");
    }
}
