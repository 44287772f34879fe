//! What dover is for, on real frameworks: a run with a wrong answer, an edit, a fork that is right, and what is taken back.

use serde_json::Value;

use super::{Scene, gates_hold};

const PAINT: &str = "How many tins of paint does a floor of 96 square metres need?";
const WALL: &str = "Find the coverage of a tin of wall paint.";
const FLOOR: &str = "Find the coverage of a tin of floor paint.";

/// Answers of a fork's branches.
fn answers(forked: &Value) -> Vec<&str> {
    let branches = forked["branches"].as_array().unwrap().iter();
    branches
        .map(|branch| branch["answer"].as_str().unwrap())
        .collect()
}

/// The only step of this kind that contains a text.
#[track_caller]
fn step(steps: &[Value], kind: &str, part: &str) -> usize {
    let found: Vec<usize> = (0..steps.len())
        .filter(|&i| steps[i]["kind"] == kind && steps[i]["text"].as_str().unwrap().contains(part))
        .collect();
    assert_eq!(found.len(), 1, "{kind} with {part} in {steps:?}");
    found[0]
}

#[test]
fn magentic_one_with_a_wrong_instruction_is_put_right_and_wrong_again() {
    let Some(scene) = Scene::of("autogen") else {
        return;
    };
    // A tin of wall paint covers 6 square metres, one of floor paint 12: 96 / 6 and 96 / 12.
    let (id, ran) = scene.ran("autogen_magentic.py:build", PAINT);
    assert_eq!(ran["answer"], "FINAL ANSWER: 16");
    let main = scene.steps(&id);
    let kinds: Vec<&str> = main.iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(&kinds[..2], ["task", "ledger"]);
    let instruction = step(&main, "instruction", WALL);
    assert_eq!(main[instruction]["to"], "Storekeeper");
    let at = instruction.to_string();
    let verifier = "contains:FINAL ANSWER: 8";
    scene.json(&["set", &id, "--expected", "8", "--verifier", verifier]);

    let put_right = scene.json(&["fork", &id, "--at", &at, "--text", FLOOR]);
    gates_hold(&put_right);
    assert_eq!(answers(&put_right), ["FINAL ANSWER: 8"; 3]);
    assert_eq!(put_right["verdict"], "validated");
    for branch in put_right["branches"].as_array().unwrap() {
        assert_eq!(
            (&branch["gate"], &branch["run"]),
            (&"verified".into(), &"done".into())
        );
        assert_eq!(branch["diagnostic"], false);
    }
    let b1 = put_right["branches"][0]["id"].as_str().unwrap();
    let compared = scene.json(&["compare", &id, b1]);
    assert_eq!(compared["common_prefix"], instruction);
    assert_eq!(compared["first_divergence"], instruction);

    // The state that the edit met gives the old answer when nothing is edited, and when the edit is taken back.
    let baseline = scene.json(&["fork", &id, "--at", &at, "--runs", "1"]);
    assert_eq!(answers(&baseline), ["FINAL ANSWER: 16"]);
    assert_eq!(
        (&baseline["baseline"], &baseline["verdict"]),
        (&true.into(), &Value::Null)
    );
    let back = scene.json(&["fork", b1, "--at", &at, "--text", WALL, "--runs", "1"]);
    assert_eq!(answers(&back), ["FINAL ANSWER: 16"]);
    assert_eq!(back["branches"][0]["gate"], "false_success");

    // A changed plan is planned from.
    let plan = step(&main, "plan", WALL);
    let text = main[plan]["text"].as_str().unwrap();
    let planned = text.replace("wall paint", "floor paint");
    let words = [
        "fork",
        &id,
        "--at",
        &plan.to_string(),
        "--runs",
        "1",
        "--text",
        &planned,
    ];
    let planned = scene.json(&words);
    gates_hold(&planned);
    assert_eq!(planned["intervention"]["category"], "plan");
    assert_eq!(answers(&planned), ["FINAL ANSWER: 8"]);

    assert_eq!(scene.steps(&id), main);
    scene.json(&["receipt", "verify"]);
    scene.nobody_is_left();
}

/// A fork with one text changed, of a framework whose model checks what was boxed last.
fn changed(
    framework: &'static str,
    entry: &str,
    task: &str,
    kind: &str,
    from: &str,
    to: &str,
) -> Vec<String> {
    let Some(scene) = Scene::of(framework) else {
        return Vec::new();
    };
    let (id, _) = scene.ran(entry, task);
    let main = scene.steps(&id);
    let at = step(&main, kind, from);
    let text = main[at]["text"].as_str().unwrap().replace(from, to);
    let words = [
        "fork",
        &id,
        "--at",
        &at.to_string(),
        "--runs",
        "1",
        "--new-effects",
        "allow",
    ];
    let forked = scene.json(&[&words[..], &["--text", &text]].concat());
    gates_hold(&forked);
    assert_eq!(forked["branches"][0]["diagnostic"], false);
    let branch = forked["branches"][0]["id"].as_str().unwrap();
    assert_eq!(
        scene.json(&["compare", &id, branch])["first_divergence"],
        at
    );
    let unedited = scene.json(&words);
    assert_eq!(
        unedited["branches"][0]["answer"],
        scene.json(&["show", &id])["answer"]
    );
    assert_eq!(scene.steps(&id), main);
    let steps = scene.steps(branch);
    scene.nobody_is_left();
    steps
        .iter()
        .map(|it| it["text"].as_str().unwrap().to_owned())
        .collect()
}

const JOURNEY: &str = "How far at 90 km/h in 2 hours?";

#[test]
fn a_line_of_nodes_goes_on_from_the_edited_message() {
    let texts = changed(
        "langgraph",
        "langgraph_team.py:line",
        JOURNEY,
        "message",
        "The distance is 90 * 2. \\boxed{180}",
        "It is \\boxed{181}",
    );
    if let Some(last) = texts.last() {
        assert_eq!(last, "Checked. FINAL \\boxed{181}");
    }
}

#[test]
fn parallel_nodes_are_forked_together() {
    // A widget costs 10, which the adder hears from the buyer, from one reckoner, and from the other, who sees no journey in it: 0.
    let texts = changed(
        "langgraph",
        "langgraph_team.py:parallel",
        "3 widgets, please",
        "message",
        "The tool says 10. \\boxed{10}",
        "It says \\boxed{11}",
    );
    if !texts.is_empty() {
        assert!(
            texts.contains(&"Together 22. \\boxed{22}".to_owned()),
            "{texts:?}"
        );
    }
}

#[test]
fn a_group_chat_goes_on_from_the_edited_message() {
    let texts = changed(
        "ag2-classic",
        "ag2_classic_team.py:group",
        "3 widgets, please",
        "message",
        "The tool says 10. \\boxed{10}",
        "It says \\boxed{12}",
    );
    if !texts.is_empty() {
        assert!(
            texts.contains(&"Checked. FINAL \\boxed{12}".to_owned()),
            "{texts:?}"
        );
    }
}

#[test]
fn a_maths_dialogue_runs_the_edited_program_once_what_it_ran_is_settled() {
    let Some(scene) = Scene::of("ag2-classic") else {
        return;
    };
    let (id, ran) = scene.ran("ag2_classic_team.py:maths", JOURNEY);
    assert!(
        ran["answer"].as_str().unwrap().contains("\\boxed{180}"),
        "{ran}"
    );
    let main = scene.steps(&id);
    let at = step(&main, "message", "print(90 * 2)");
    let text = main[at]["text"]
        .as_str()
        .unwrap()
        .replace("90 * 2", "90 * 3");
    let at = at.to_string();
    let words = [
        "fork",
        &id,
        "--at",
        &at,
        "--text",
        &text,
        "--runs",
        "1",
        "--new-effects",
        "allow",
    ];
    // A program was run after that step, and nobody knows what it did.
    let held = scene.told(1, &words);
    assert_eq!(held["branches"][0]["gate"], "effects_unreconciled");
    let asked = scene.told(1, &["reconcile", &id]);
    let effects = asked["effects"].as_array().unwrap();
    assert_eq!(effects.len(), 1);
    let key = effects[0]["effect"]["operation_key"].as_str().unwrap();
    let settled = format!("{key}=reverted");
    scene.json(&["set", &id, "--effect", &settled, "--why", "it only reckons"]);
    let forked = scene.json(&words);
    gates_hold(&forked);
    assert!(answers(&forked)[0].contains("\\boxed{270}"), "{forked}");
    scene.nobody_is_left();
}
