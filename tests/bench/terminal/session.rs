//! A long session, made up: who speaks, plans, failures and words to be found at known places.

use std::path::Path;
use std::sync::Arc;

use dover::model::{
    AgentInfo, BranchId, Check, Milestone, RunStatus, Session, Step, StepKind, StepMeta,
    SystemClock,
};
use dover::store::{Ending, Store};

/// Steps of the long one.
pub const LONG: usize = 100_000;
/// Every so manieth step of the first half reports a failure; in the second half only the last one does.
pub const FAILURES: usize = 97;
/// Every so manieth step says "lighthouse".
pub const LIGHTHOUSE: usize = 9_973;
/// The step with much text.
pub const BIG: usize = 77_777;
/// Bytes of it.
const BIG_TEXT: usize = 2_000_000;

pub fn open(path: &Path) -> Store {
    Store::open(path, Arc::new(SystemClock)).unwrap()
}

fn step(index: usize, len: usize) -> Step {
    let kind = match index {
        0 => StepKind::Task,
        i if i % 30 == 1 => StepKind::Plan,
        i if i % 3 == 0 => StepKind::Instruction,
        _ => StepKind::Message,
    };
    let word = if index % LIGHTHOUSE == LIGHTHOUSE - 1 {
        "lighthouse"
    } else {
        "archive"
    };
    let sentence = format!(
        "step {index}: the page shows entry {} of the {word}, 八月, and more. ",
        index * 7
    );
    let times = if index == BIG {
        BIG_TEXT / sentence.len()
    } else {
        1 + index % 12
    };
    Step {
        index,
        agent: format!("agent {}", index % 4),
        kind,
        text: if index == BIG {
            (sentence + "\n").repeat(times)
        } else {
            sentence.repeat(times)
        },
        meta: StepMeta {
            error: (index < len / 2 && index % FAILURES == FAILURES - 1) || index == len - 1,
            ..StepMeta::default()
        },
        ..Step::default()
    }
}

/// Takes a session of so many steps in; returns its `main`. A milestone is found in its texts, another one never.
pub fn take_in(store: &Store, id: &str, len: usize) -> BranchId {
    let mut import = store.import().unwrap();
    for index in 0..len {
        import.push(&step(index, len), None, &[]).unwrap();
    }
    let milestone = |title: &str, text: &str| Milestone {
        title: title.into(),
        check: Check::Text(text.into()),
    };
    let session = Session {
        id: id.into(),
        title: "A long session".into(),
        format: "dover".into(),
        task: "find the lighthouse".into(),
        agents: (0..4)
            .map(|n| AgentInfo {
                name: format!("agent {n}"),
                ..AgentInfo::default()
            })
            .collect(),
        milestones: vec![
            milestone("the lighthouse is found", "lighthouse"),
            milestone("the boat is found", "submarine"),
        ],
        ..Session::default()
    };
    let ending = Ending {
        run: RunStatus::Done,
        gate: None,
        fulfilled: None,
        success: Some(false),
        answer: None,
        milestones: None,
        reason: None,
    };
    BranchId::main(&import.finish(session, ending).unwrap())
}
