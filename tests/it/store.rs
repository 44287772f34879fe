//! The store: what goes in comes out, forks share prefixes, nothing that was made changes.

mod crash;
mod faults;
mod forks;
mod imports;
mod lineage;
mod notes;
mod properties;
mod receipts;

use std::path::Path;
use std::sync::Arc;

use dover::model::{
    BranchId, Category, Clock, Digest, GateStatus, Intervention, RunStatus, Session, Step, StepKind,
};
use dover::store::{Ending, ForkDraft, ForkEvidence, ForkFacts, ForkRuling, Store};

/// A clock that stands still.
pub struct Noon;

impl Clock for Noon {
    fn now(&self) -> String {
        "2026-01-31T12:00:00Z".to_owned()
    }
}

pub fn open(path: &Path) -> Store {
    Store::open(path, Arc::new(Noon)).unwrap()
}

/// A store in a directory that goes away with the first value.
pub fn fresh() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("store.db"));
    (dir, store)
}

pub fn message(index: usize, agent: &str, text: &str) -> Step {
    Step {
        index,
        agent: agent.to_owned(),
        kind: StepKind::Message,
        text: text.to_owned(),
        ..Step::default()
    }
}

/// A task, and messages that tell their own index.
pub fn plain_steps(len: usize) -> Vec<Step> {
    (0..len)
        .map(|i| Step {
            kind: if i == 0 {
                StepKind::Task
            } else {
                StepKind::Message
            },
            ..message(
                i,
                if i == 0 { "human" } else { "Solver" },
                &format!("text {i}"),
            )
        })
        .collect()
}

pub fn ending(run: RunStatus) -> Ending {
    Ending {
        run,
        gate: None,
        fulfilled: None,
        success: None,
        answer: None,
        milestones: None,
        reason: None,
    }
}

pub fn session(id: &str) -> Session {
    Session {
        id: id.to_owned(),
        title: id.to_owned(),
        format: "dover".to_owned(),
        task: "text 0".to_owned(),
        ..Session::default()
    }
}

/// Takes steps in as a session; returns its `main`.
pub fn take_in(store: &Store, session: Session, steps: &[Step]) -> BranchId {
    let mut import = store.import().unwrap();
    for step in steps {
        import.push(step, None, &[]).unwrap();
    }
    let id = import.finish(session, ending(RunStatus::Done)).unwrap();
    BranchId::main(&id)
}

pub fn draft(parent: &BranchId, step: usize, runs: usize) -> ForkDraft {
    ForkDraft {
        operator: "ann".to_owned(),
        intervention: Intervention {
            id: String::new(),
            parent: parent.clone(),
            step,
            category: Category::Message,
            class: None,
            text: Some("edited".to_owned()),
            changes: Vec::new(),
            config: None,
            edit_digest: Digest::of("edited"),
            n: runs,
            seed: 7,
            answer_leak: false,
            operator: "ann".to_owned(),
            created: String::new(),
            hypothesis: None,
            capability: false,
        },
        runtime: "scenario".to_owned(),
        runs: (0..runs).map(|i| (i + 1, u64::MAX - i as u64)).collect(),
    }
}

pub fn go(_: &ForkFacts) -> ForkRuling {
    ForkRuling {
        gate: GateStatus::ReadyToResume,
        go: true,
        diagnostic: false,
        reason: None,
        receipt: ForkEvidence::default(),
    }
}

/// Forks once and starts the branch.
pub fn fork_and_start(store: &Store, parent: &BranchId, step: usize) -> BranchId {
    let (_, branches) = store.fork(draft(parent, step, 1), &mut go).unwrap();
    store.start(&branches[0].id).unwrap();
    branches[0].id.clone()
}
