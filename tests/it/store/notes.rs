//! What a person pins to a step stays with the step, in every branch that has it; the lanes of an overview share prefixes.

use dover::model::{BranchId, StepKind, folded};

use super::{fork_and_start, fresh, message, open, plain_steps, session, take_in};

#[test]
fn a_note_belongs_to_its_step_and_outlives_the_process() {
    let (dir, store) = fresh();
    let main = take_in(&store, session("s"), &plain_steps(6));
    let b1 = fork_and_start(&store, &main, 4);
    store
        .append(&b1, &message(4, "Solver", "new"), None, &[])
        .unwrap();
    // Written from the fork, on a step of its prefix and on its own.
    store
        .keep_note(&b1, 2, Some("too vague"), "", "ann")
        .unwrap();
    store.keep_note(&b1, 4, Some(""), "", "ann").unwrap();
    store.keep_note(&main, 5, Some("late"), "", "bob").unwrap();
    let told = |store: &dover::store::Store, id: &BranchId| -> Vec<(usize, String)> {
        let notes = store.notes(id).unwrap();
        notes.into_iter().map(|it| (it.step, it.text)).collect()
    };
    let vague = (2, "too vague".to_owned());
    assert_eq!(told(&store, &main), [vague.clone(), (5, "late".into())]);
    assert_eq!(told(&store, &b1), [vague, (4, String::new())]);
    store.keep_note(&main, 2, None, "too vague", "bob").unwrap();
    drop(store);
    let store = open(&dir.path().join("store.db"));
    assert_eq!(told(&store, &b1), [(4, String::new())]);
    let refused = store.keep_note(&main, 6, Some("x"), "", "ann").unwrap_err();
    assert!(refused.to_string().contains('6'), "{refused}");
}

#[test]
fn lanes_hold_own_steps_alone() {
    let (_dir, store) = fresh();
    let main = take_in(&store, session("s"), &plain_steps(6));
    let b1 = fork_and_start(&store, &main, 4);
    store
        .append(&b1, &message(4, "Solver", "new"), None, &[])
        .unwrap();
    let lanes = store.lanes("s").unwrap();
    let shapes: Vec<_> = lanes
        .iter()
        .map(|lane| (lane.branch.name(), lane.parent, lane.from, lane.cells.len()))
        .collect();
    assert_eq!(shapes, [("main", None, 0, 6), ("b1", Some(0), 4, 1)]);
    let first = folded(&lanes, 1, &(0..1)).unwrap();
    assert_eq!((first.cell.kind, first.own), (StepKind::Task, false));
}
