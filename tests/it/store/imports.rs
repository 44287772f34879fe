//! What is taken in comes out as it was, or not at all.

use dover::model::{
    BranchId, Digest, RunStatus, RuntimeRef, Session, Step, StepHead, StepKind, StepMeta, ToolUse,
    Verifier, prefix_digest,
};
use dover::store::StoreError;

use super::{draft, ending, fresh, go, message, plain_steps, session, take_in};

#[test]
fn steps_come_out_as_they_went_in() {
    let (_dir, store) = fresh();
    let steps = [
        Step {
            kind: StepKind::Task,
            ..message(0, "human", "")
        },
        Step {
            to: Some("WebSurfer".to_owned()),
            kind: StepKind::ToolResult,
            meta: StepMeta {
                tool: Some(ToolUse {
                    name: "click".to_owned(),
                    failed: true,
                    arguments: Some("{\"a\":".to_owned()),
                    ..ToolUse::default()
                }),
                facts: vec!["f".to_owned()],
                time: Some("2026-01-01T00:00:00Z".to_owned()),
                ..StepMeta::default()
            },
            ..message(
                1,
                "",
                "nul \0 esc \u{1b}[31m bidi \u{202e} 𒐐 \u{f0b7} \r\n two",
            )
        },
        message(2, "human", &"x".repeat(1 << 20)),
    ];
    let main = take_in(&store, session("s"), &steps);
    assert_eq!(store.steps(&main, 0..3).unwrap(), steps);
    assert_eq!(store.steps(&main, 1..99).unwrap(), steps[1..]);
    assert_eq!(store.steps(&main, 7..9).unwrap(), []);
    assert_eq!(store.step(&main, 1).unwrap(), steps[1]);
    let heads: Vec<_> = steps.iter().map(StepHead::of).collect();
    assert_eq!(store.heads(&main, 0..usize::MAX).unwrap(), heads);
    assert!(heads[1].error);
    assert_eq!(
        store.step(&main, 3).unwrap_err().to_string(),
        "branch s/main has no step 3: its steps are 0 to 2"
    );
}

#[test]
fn a_session_comes_out_as_it_went_in_and_what_a_person_sets_is_kept() {
    let (_dir, store) = fresh();
    let header = Session {
        source: Some("3.json".to_owned()),
        source_digest: Some(Digest::of("bytes")),
        runtime: Some(RuntimeRef {
            name: "scenario".to_owned(),
            world: Some("[world]".to_owned()),
            destination: None,
            seed: u64::MAX,
            adapter: None,
        }),
        ..session("night")
    };
    let main = take_in(&store, header.clone(), &plain_steps(3));
    assert_eq!(store.session("night").unwrap(), header);
    assert_eq!(store.branch(&main).unwrap().seed, u64::MAX);
    assert_eq!(
        store
            .find_by_source(Digest::of("bytes"))
            .unwrap()
            .as_deref(),
        Some("night")
    );
    assert_eq!(store.find_by_source(Digest::of("other")).unwrap(), None);

    let wished = Session {
        expected: Some("42".to_owned()),
        verifier: Some(Verifier::Answer),
        task: "another task".to_owned(),
        ..header.clone()
    };
    store.update_session(&wished, "ann").unwrap();
    let expected = Session {
        task: header.task.clone(),
        ..wished
    };
    assert_eq!(store.session("night").unwrap(), expected);
    assert!(matches!(
        store.session("day"),
        Err(StoreError::NoSession(_))
    ));
    assert!(!store.has_session("day").unwrap());

    store.set_success(&main, Some(false)).unwrap();
    let summary = &store.sessions().unwrap()[0];
    assert_eq!((summary.steps, summary.trials, summary.branches), (3, 1, 1));
    assert_eq!((summary.success, summary.milestones), (Some(false), None));
}

#[test]
fn ids_are_made_unique_and_lists_are_newest_first() {
    let (_dir, store) = fresh();
    for _ in 0..3 {
        take_in(&store, session("Night Picture"), &plain_steps(1));
    }
    let expected = ["night-picture-3", "night-picture-2", "night-picture"];
    assert_eq!(store.session_ids().unwrap(), expected);
    let listed: Vec<_> = store
        .sessions()
        .unwrap()
        .into_iter()
        .map(|s| s.session.id)
        .collect();
    assert_eq!(listed, expected);
    assert!(
        store
            .branch_by_name("night-picture", "main")
            .unwrap()
            .is_some()
    );
    assert!(
        store
            .branch_by_name("night-picture", "b1")
            .unwrap()
            .is_none()
    );
}

#[test]
fn an_import_is_seen_whole_or_not_at_all_and_holds_nobody_up() {
    let (_dir, store) = fresh();
    let mut import = store.import().unwrap();
    for step in &plain_steps(50) {
        import.push(step, None, &[]).unwrap();
    }
    assert!(matches!(
        import.push(&message(51, "a", "gap"), None, &[]),
        Err(StoreError::OutOfTurn { .. })
    ));
    assert!(store.session_ids().unwrap().is_empty());
    take_in(&store, session("meanwhile"), &plain_steps(2));
    drop(import);
    assert_eq!(store.session_ids().unwrap(), ["meanwhile"]);
}

#[test]
fn a_step_classified_later_is_written_as_classified() {
    let (_dir, store) = fresh();
    let mut import = store.import().unwrap();
    let mut steps = plain_steps(4);
    for step in &steps {
        import.push(step, None, &[]).unwrap();
    }
    import.reclassify(1, StepKind::Plan, None).unwrap();
    import
        .reclassify(2, StepKind::Instruction, Some("B"))
        .unwrap();
    assert!(matches!(
        import.reclassify(4, StepKind::Plan, None),
        Err(StoreError::NoStep { .. })
    ));
    steps[1].kind = StepKind::Plan;
    steps[2].kind = StepKind::Instruction;
    steps[2].to = Some("B".to_owned());
    let id = import
        .finish(session("s"), ending(RunStatus::Done))
        .unwrap();
    let main = BranchId::main(&id);
    assert_eq!(store.steps(&main, 0..4).unwrap(), steps);
    let mut digests = None;
    store
        .fork(draft(&main, 3, 1), &mut |facts| {
            digests = facts.prefix_digest.zip(facts.recorded_digest);
            go(facts)
        })
        .unwrap();
    let expected = prefix_digest(&steps[..3]);
    assert_eq!(digests, Some((expected, expected)));
}

#[test]
fn an_empty_session_is_a_session() {
    let (_dir, store) = fresh();
    let main = take_in(&store, session("s"), &[]);
    assert_eq!(store.heads(&main, 0..40).unwrap(), []);
    assert_eq!(store.trials(&main).unwrap(), []);
    assert!(matches!(
        store.step(&main, 0),
        Err(StoreError::NoStep { .. })
    ));
    assert!(matches!(
        store.fork(draft(&main, 0, 1), &mut go),
        Err(StoreError::NoStep { .. })
    ));
}

#[test]
fn the_same_file_taken_in_twice_at_once_is_one_session() {
    let (_dir, store) = fresh();
    let source = || Session {
        source_digest: Some(Digest::of("the file")),
        ..session("night")
    };
    let (mut first, mut second) = (store.import().unwrap(), store.import().unwrap());
    for step in plain_steps(2) {
        first.push(&step, None, &[]).unwrap();
        second.push(&step, None, &[]).unwrap();
    }
    assert_eq!(
        first.finish(source(), ending(RunStatus::Done)).unwrap(),
        "night"
    );
    assert_eq!(
        second.finish(source(), ending(RunStatus::Done)).unwrap(),
        "night"
    );
    assert_eq!(store.session_ids().unwrap(), ["night"]);
}
