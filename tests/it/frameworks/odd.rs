//! Entries and teams that end badly: each is told clearly, keeps its whole steps, and leaves no process.

#[cfg(target_os = "linux")]
use std::io::{BufRead as _, BufReader};
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

use super::Scene;

#[test]
fn an_entry_that_makes_no_team_is_told_with_what_to_do() {
    let Some(scene) = Scene::of("autogen") else {
        return;
    };
    let file = scene
        .home
        .file("needs.py", "import a_package_that_is_not_there\n");
    let table = [
        (
            2,
            file.as_str(),
            "No module named 'a_package_that_is_not_there'",
            "Install it",
        ),
        (
            2,
            "no_such_file.py:build",
            "no_such_file.py",
            "Give its path",
        ),
        (
            2,
            "autogen_odd.py:no_such_function",
            "no_such_function",
            "build_failing",
        ),
        (
            2,
            "autogen_odd.py:make_raising",
            "ValueError: the team has no budget",
            "autogen_odd.py",
        ),
        (
            2,
            "autogen_odd.py:make_exiting",
            "sys.exit('no licence')",
            "Guard such calls",
        ),
        (2, "autogen_odd.py:make_keyless", "api_key", "Set the key"),
        (
            2,
            "autogen_odd.py:build_agent",
            "Saver",
            "RoundRobinGroupChat([agent], max_turns=1)",
        ),
        (
            2,
            "autogen_odd.py:build_running",
            "runtime.start()",
            "runtime",
        ),
    ];
    for (status, entry, what, mend) in table {
        let output = scene
            .dover()
            .args(["run", "autogen", entry, "--task", "Count"])
            .env_remove("OPENAI_API_KEY")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{entry}: {said}");
        assert!(output.stdout.is_empty(), "{entry}");
        assert!(
            said.contains(what) && said.contains(mend),
            "{entry}: {said}"
        );
        scene.nobody_is_left();
    }
    // Nothing came of them.
    let sessions = scene.json(&["sessions"])["sessions"].to_string();
    assert!(!sessions.contains("autogen"), "{sessions}");
}

#[test]
fn a_team_that_ends_badly_keeps_its_steps_and_says_why() {
    let Some(scene) = Scene::of("autogen") else {
        return;
    };
    let table = [
        (
            1,
            "build_failing",
            "failed",
            "RuntimeError: the abacus broke",
            4,
        ),
        (1, "build_exiting", "failed", "3", 2),
        (1, "build_dying", "failed", "exited with status 3", 2),
        (0, "build_printing", "done", "", 3),
        (0, "build_ended", "done", "Maximum number of messages 1", 1),
    ];
    for (status, name, run, reason, steps) in table {
        let entry = format!("autogen_odd.py:{name}");
        let ran = scene.told(status, &["run", "autogen", &entry, "--task", "Count"]);
        assert_eq!(ran["run"], run, "{ran}");
        assert!(ran["reason"].as_str().unwrap().contains(reason), "{ran}");
        let texts = scene.steps(ran["session"].as_str().unwrap());
        assert!(texts.len() >= steps, "{name}: {texts:?}");
        assert_eq!(texts[0]["text"], "Count");
        scene.nobody_is_left();
    }
}

#[test]
fn an_agent_that_saves_nothing_holds_its_forks_or_makes_them_diagnostic() {
    let Some(scene) = Scene::of("autogen") else {
        return;
    };
    let (id, _) = scene.ran("autogen_odd.py:build", "Count");
    let words = ["fork", &id, "--at", "2", "--runs", "1"];
    let held = scene.told(1, &words);
    assert_eq!(held["branches"][0]["gate"], "restore_uncertain");
    let state = held["gates"][1]["details"].to_string();
    assert!(
        state.contains("Opaque") && !state.contains("agents/Saver"),
        "{state}"
    );
    let ran = scene.json(&[&words[..], &["--diagnostic"]].concat());
    let branch = &ran["branches"][0];
    assert_eq!(
        (&branch["run"], &branch["diagnostic"]),
        (&"done".into(), &true.into())
    );
    scene.nobody_is_left();
}

#[cfg(target_os = "linux")]
#[test]
fn a_team_that_blocks_its_event_loop_can_be_stopped() {
    let Some(scene) = Scene::of("autogen") else {
        return;
    };
    let mut dover = scene
        .dover()
        .args([
            "run",
            "autogen",
            "autogen_odd.py:build_blocking",
            "--task",
            "Count",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(dover.stderr.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().contains("turn 1")));
    let kill = Command::new("kill")
        .args(["-TERM", &dover.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let output = dover.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("stopped"));
    assert_eq!(scene.steps("autogen-autogen_odd-build_blocking").len(), 2);
    scene.nobody_is_left();
}
