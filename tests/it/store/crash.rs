//! A process is killed in the middle of a replay: every finished step is there, nothing is half a step.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use dover::model::{BranchId, Checkpoint, KeyState, RunStatus};
use serde_json::json;

use super::{draft, fork_and_start, go, message, open, plain_steps, session, take_in};

/// Says to the child which store to write to.
const STORE: &str = "DOVER_TEST_CRASH_STORE";

/// Not a test by itself: the process that is killed. It tells each step that it has committed and goes on until the end comes.
#[test]
fn child() {
    let Some(path) = std::env::var_os(STORE) else {
        return;
    };
    let store = open(Path::new(&path));
    let main = take_in(&store, session("s"), &plain_steps(5));
    let branch = fork_and_start(&store, &main, 3);
    store.fork(draft(&main, 1, 1), &mut go).unwrap();
    let mut import = store.import().unwrap();
    for index in 3_usize.. {
        import
            .push(&message(index - 3, "a", "unfinished"), None, &[])
            .unwrap();
        let state = Checkpoint {
            step: index,
            keys: [("memory".to_owned(), KeyState::saved("r", json!(index)))].into(),
        };
        let step = message(index, "Solver", &format!("made {index}"));
        store.append(&branch, &step, Some(&state), &[]).unwrap();
        println!("committed {index}");
    }
}

#[test]
fn a_kill_leaves_whole_steps_and_an_interrupted_branch() {
    for committed in [3, 4, 17] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "store::crash::child",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(STORE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let wanted = format!("committed {committed}");
        let told = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok)
            .find(|line| line.contains(&wanted));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(told.is_some(), "the child ended by itself");

        let store = open(&path);
        assert_eq!(
            store.session_ids().unwrap(),
            ["s"],
            "nothing of the unfinished import"
        );
        let branch = store.branch(&BranchId::parse("s/b1")).unwrap();
        assert_eq!(branch.run, RunStatus::Interrupted);
        assert_eq!(
            store.branch(&BranchId::parse("s/b2")).unwrap().run,
            RunStatus::Interrupted
        );
        assert!(branch.steps > committed, "a finished step is missing");
        let steps = store.steps(&branch.id, 0..usize::MAX).unwrap();
        assert_eq!(steps.len(), branch.steps);
        assert_eq!(steps[..3], plain_steps(5)[..3]);
        for step in &steps[3..] {
            assert_eq!(step.text, format!("made {}", step.index));
            let state = store.checkpoint(&branch.id, step.index).unwrap().unwrap();
            assert_eq!(state.keys["memory"].value, Some(json!(step.index)));
        }
        assert_eq!(store.checkpoint(&branch.id, branch.steps).unwrap(), None);
        let mut whole = None;
        store
            .fork(draft(&branch.id, branch.steps - 1, 1), &mut |facts| {
                whole = Some(facts.prefix_digest == facts.recorded_digest);
                go(facts)
            })
            .unwrap();
        assert_eq!(whole, Some(true));
        let locks = std::fs::read_dir(dir.path().join("store.db.owners"))
            .unwrap()
            .count();
        assert_eq!(locks, 1, "the dead one's lock is gone, ours is there");
    }
}
