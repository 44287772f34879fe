//! A fork writes its own rows alone, and a run has one life.

use dover::model::{
    BranchId, ConfigChange, GateStatus, Manifest, Pinned, RunStatus, Session, Tally, prefix_digest,
};
use dover::store::{Ending, ForkEvidence, ForkRuling, StoreError};

use super::{
    draft, ending, fork_and_start, fresh, go, message, open, plain_steps, session, take_in,
};

#[test]
fn a_fork_gives_ids_in_turn_and_holds_the_parents_prefix() {
    let (_dir, store) = fresh();
    let steps = plain_steps(6);
    let main = take_in(&store, session("s"), &steps);

    let mut seen = None;
    let (intervention, branches) = store
        .fork(draft(&main, 4, 2), &mut |facts| {
            seen = Some(facts.clone());
            go(facts)
        })
        .unwrap();

    let facts = seen.unwrap();
    let expected = prefix_digest(&steps[..4]);
    assert_eq!(facts.prefix_digest, Some(expected));
    assert_eq!(facts.recorded_digest, Some(expected));
    assert_eq!(facts.parent.unwrap().id, main);
    assert_eq!(
        facts.ids,
        [BranchId::parse("s/b1"), BranchId::parse("s/b2")]
    );
    assert_eq!(intervention.id, "s/i1");
    assert_eq!(intervention.created, "2026-01-31T12:00:00Z");
    assert_eq!(store.interventions("s").unwrap(), [intervention]);

    for (i, branch) in branches.iter().enumerate() {
        assert_eq!(branch.parent.as_ref(), Some(&main));
        assert_eq!(branch.fork_step, Some(4));
        assert_eq!(branch.prefix_digest, Some(expected));
        assert_eq!(branch.run, RunStatus::Planned);
        assert_eq!(branch.gate, Some(GateStatus::ReadyToResume));
        assert_eq!(branch.run_index, i + 1);
        assert_eq!(branch.seed, u64::MAX - i as u64);
        assert_eq!(branch.intervention.as_deref(), Some("s/i1"));
        assert_eq!(store.steps(&branch.id, 0..99).unwrap(), steps[..4]);
    }
    let (next, more) = store.fork(draft(&branches[0].id, 0, 1), &mut go).unwrap();
    assert_eq!(next.id, "s/i2");
    assert_eq!(more[0].id.as_str(), "s/b3");
    assert_eq!(more[0].steps, 0);
    let ids: Vec<_> = store
        .branches("s")
        .unwrap()
        .into_iter()
        .map(|b| b.id.name().to_owned())
        .collect();
    assert_eq!(ids, ["main", "b1", "b2", "b3"]);
    assert_eq!(store.sessions().unwrap()[0].branches, 4);
}

#[test]
fn a_refused_fork_writes_one_held_branch_and_no_step() {
    let (_dir, store) = fresh();
    let main = take_in(&store, session("s"), &plain_steps(4));
    let (_, branches) = store
        .fork(draft(&main, 2, 3), &mut |_| ForkRuling {
            gate: GateStatus::EffectsUnreconciled,
            go: false,
            diagnostic: false,
            reason: Some("a mail was sent".to_owned()),
            receipt: ForkEvidence::default(),
        })
        .unwrap();
    let [held] = branches.as_slice() else {
        panic!("one branch, not {}", branches.len());
    };
    assert_eq!(held.run, RunStatus::Held);
    assert_eq!(held.gate, Some(GateStatus::EffectsUnreconciled));
    assert_eq!(held.reason.as_deref(), Some("a mail was sent"));
    assert_eq!(held.steps, 2);
    assert!(matches!(store.start(&held.id), Err(StoreError::Refused(_))));
    let (_, next) = store.fork(draft(&main, 2, 1), &mut go).unwrap();
    assert_eq!(next[0].id.as_str(), "s/b2");
}

#[test]
fn a_fork_outside_its_parent_or_without_one_is_refused() {
    let (_dir, store) = fresh();
    let main = take_in(&store, session("s"), &plain_steps(4));
    let mut asked = |_: &_| -> ForkRuling { panic!("nothing to rule on") };
    let error = store.fork(draft(&main, 4, 1), &mut asked).unwrap_err();
    assert_eq!(
        error.to_string(),
        "branch s/main has no step 4: its steps are 0 to 3"
    );
    let missing = BranchId::parse("s/b9");
    assert!(matches!(
        store.fork(draft(&missing, 0, 1), &mut asked),
        Err(StoreError::NoBranch(_))
    ));
    assert!(matches!(
        store.fork(draft(&main, 1, 0), &mut asked),
        Err(StoreError::Refused(_))
    ));
    assert_eq!(store.branches("s").unwrap().len(), 1);
    assert!(store.interventions("s").unwrap().is_empty());
}

#[test]
fn a_run_has_one_life() {
    let (_dir, store) = fresh();
    let main = take_in(&store, session("s"), &plain_steps(4));
    let (_, branches) = store.fork(draft(&main, 2, 1), &mut go).unwrap();
    let id = &branches[0].id;
    let step = message(2, "Solver", "edited");
    assert!(
        matches!(
            store.append(id, &step, None, &[]),
            Err(StoreError::Refused(_))
        ),
        "planned"
    );
    store.start(id).unwrap();
    assert!(
        matches!(store.start(id), Err(StoreError::Refused(_))),
        "started twice"
    );
    store.append(id, &step, None, &[]).unwrap();
    for index in [1, 2, 4] {
        let wrong = message(index, "Solver", "out of turn");
        assert!(
            matches!(
                store.append(id, &wrong, None, &[]),
                Err(StoreError::OutOfTurn { .. })
            ),
            "{index}"
        );
    }
    let written = Ending {
        run: RunStatus::Done,
        gate: Some(GateStatus::FalseSuccess),
        fulfilled: Some(true),
        success: Some(false),
        answer: Some("42".to_owned()),
        milestones: Some(Tally {
            before: 1,
            after: 2,
            of: 5,
        }),
        reason: Some("answered".to_owned()),
    };
    assert!(matches!(
        store.end(id, &ending(RunStatus::Running)),
        Err(StoreError::Refused(_))
    ));
    store.end(id, &written).unwrap();
    let branch = store.branch(id).unwrap();
    assert_eq!(
        (
            branch.run,
            branch.gate,
            branch.fulfilled,
            branch.success,
            branch.answer,
            branch.milestones,
            branch.reason
        ),
        (
            written.run,
            written.gate,
            written.fulfilled,
            written.success,
            written.answer.clone(),
            written.milestones,
            written.reason.clone()
        ),
    );
    assert_eq!(branch.steps, 3);
    assert!(
        matches!(store.end(id, &written), Err(StoreError::Refused(_))),
        "ended twice"
    );
    let late = message(3, "Solver", "late");
    assert!(
        matches!(
            store.append(id, &late, None, &[]),
            Err(StoreError::Refused(_))
        ),
        "over"
    );
    assert!(
        matches!(
            store.append(&main, &message(4, "Solver", "late"), None, &[]),
            Err(StoreError::Refused(_))
        ),
        "main"
    );
}

#[test]
fn a_run_that_broke_keeps_what_the_gates_said() {
    let (_dir, store) = fresh();
    let main = take_in(&store, session("s"), &plain_steps(4));
    let (_, branches) = store.fork(draft(&main, 2, 1), &mut go).unwrap();
    store
        .end(&branches[0].id, &ending(RunStatus::Failed))
        .unwrap();
    let branch = store.branch(&branches[0].id).unwrap();
    assert_eq!(
        (branch.run, branch.gate),
        (RunStatus::Failed, Some(GateStatus::ReadyToResume))
    );
}

#[test]
fn a_second_handle_reads_what_the_first_writes() {
    let (dir, first) = fresh();
    let main = take_in(&first, session("s"), &plain_steps(4));
    let child = fork_and_start(&first, &main, 2);
    let second = open(&dir.path().join("store.db"));
    assert_eq!(second.branch(&child).unwrap().run, RunStatus::Running);
    first
        .append(&child, &message(2, "Solver", "new"), None, &[])
        .unwrap();
    assert_eq!(second.step(&child, 2).unwrap().text, "new");
    let foreign = second.append(&child, &message(3, "Solver", "mine"), None, &[]);
    assert!(
        foreign
            .unwrap_err()
            .to_string()
            .contains("run by another process")
    );
    assert_eq!(first.step_count(&child).unwrap(), 3);
}

#[test]
fn a_branch_has_its_own_configuration_or_that_of_the_nearest_before_it() {
    let (_dir, store) = fresh();
    let manifest = |model: &str| {
        let mut manifest = Manifest::default();
        manifest.add("model", model, Some(model));
        manifest
    };
    let told = Session {
        config: Some(manifest("told")),
        ..session("s")
    };
    let main = take_in(&store, told, &plain_steps(4));
    let fork = |parent: &BranchId, model: Option<&str>, go: bool| {
        let mut found = Pinned::Nothing;
        let mut draft = draft(parent, 2, 1);
        let name = model.unwrap_or("none").to_owned();
        draft.intervention.changes = vec![ConfigChange::Model { name }];
        let (_, made) = store
            .fork(draft, &mut |facts| {
                found = facts.config.clone();
                ForkRuling {
                    go,
                    receipt: ForkEvidence {
                        config: model.map(manifest),
                        ..ForkEvidence::default()
                    },
                    ..super::go(facts)
                }
            })
            .unwrap();
        (made[0].id.clone(), found)
    };
    let own = |id: &BranchId| store.branch_config(id).unwrap().unwrap();
    let (b1, found) = fork(&main, Some("a"), true);
    assert_eq!(found, Pinned::Told(manifest("told")));
    let (held, _) = fork(&main, Some("b"), false);
    assert_eq!(
        [own(&main), own(&held)],
        [manifest("told"), manifest("told")]
    );
    assert_eq!(own(&b1), manifest("a"));
    // A branch of an older store has no record: its parent's holds, and what was asked for there was not recorded as done.
    store.start(&b1).unwrap();
    store.append(&b1, &plain_steps(3)[2], None, &[]).unwrap();
    let (silent, found) = fork(&b1, None, true);
    assert_eq!(found, Pinned::Whole(manifest("a")));
    assert_eq!(own(&silent), manifest("a"));
    let change = |name: &str| ConfigChange::Model { name: name.into() };
    assert_eq!(store.changes(&silent).unwrap(), [change("a")]);
    assert_eq!(store.changes(&held).unwrap(), []);
}
