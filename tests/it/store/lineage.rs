//! What a branch sees of the records of its ancestors: those of the steps that it inherits, and no others.

use dover::model::{
    BranchId, Check, Checkpoint, Digest, Effect, EffectClass, EffectState, KeyState, Milestone,
    RunStatus, Session, Step, StepKind, StepMeta, ToolUse,
};
use dover::store::StoreError;
use serde_json::json;

use super::{draft, ending, fork_and_start, fresh, go, message, plain_steps, session, take_in};

fn effect(step: usize, key: &str) -> Effect {
    Effect {
        step,
        agent: "Clerk".to_owned(),
        tool: "mail".to_owned(),
        class: EffectClass::Permanent,
        operation_key: key.to_owned(),
        args_sha256: Digest::of(key),
        result: Some("sent".to_owned()),
        state: EffectState::Pending,
        evidence: None,
    }
}

#[test]
fn checkpoints_and_effects_follow_the_lineage() {
    let (_dir, store) = fresh();
    let state = |n: usize| Checkpoint {
        step: n,
        keys: [(
            "workspace".to_owned(),
            KeyState::saved(format!("r{n}"), json!({"z": n, "a": [1, null]})),
        )]
        .into(),
    };
    let mut import = store.import().unwrap();
    for step in &plain_steps(6) {
        let made = [effect(step.index, &format!("mail-{}", step.index))];
        let made = if step.index % 2 == 1 { &made[..] } else { &[] };
        import.push(step, Some(&state(step.index)), made).unwrap();
    }
    let main = BranchId::main(
        &import
            .finish(session("s"), ending(RunStatus::Failed))
            .unwrap(),
    );
    let keys = |id: &BranchId| -> Vec<String> {
        store
            .effects(id)
            .unwrap()
            .into_iter()
            .map(|e| e.operation_key)
            .collect()
    };
    assert_eq!(keys(&main), ["mail-1", "mail-3", "mail-5"]);

    let child = fork_and_start(&store, &main, 3);
    store
        .append(
            &child,
            &message(3, "Clerk", "x"),
            Some(&state(33)),
            &[effect(3, "other")],
        )
        .unwrap();
    assert_eq!(keys(&child), ["mail-1", "other"]);
    assert_eq!(keys(&main), ["mail-1", "mail-3", "mail-5"]);
    assert_eq!(store.checkpoint(&child, 2).unwrap(), Some(state(2)));
    assert_eq!(
        store.checkpoint(&child, 3).unwrap().unwrap().keys,
        state(33).keys
    );
    assert_eq!(store.checkpoint(&main, 3).unwrap(), Some(state(3)));
    assert_eq!(store.checkpoint(&child, 4).unwrap(), None);

    let mut after = Vec::new();
    store
        .fork(draft(&main, 3, 1), &mut |facts| {
            after.clone_from(&facts.effects);
            go(facts)
        })
        .unwrap();
    assert_eq!(after, [effect(3, "mail-3"), effect(5, "mail-5")]);

    store
        .set_effect(
            &child,
            "mail-1",
            EffectState::Reconciled,
            "keep, do not repeat",
            "ann",
        )
        .unwrap();
    let known = &store.effects(&main).unwrap()[0];
    assert_eq!(
        (known.state, known.evidence.as_deref()),
        (EffectState::Reconciled, Some("keep, do not repeat"))
    );
    let foreign = store.set_effect(&child, "mail-5", EffectState::Reverted, "not ours", "ann");
    assert!(matches!(foreign, Err(StoreError::Refused(_))));
}

#[test]
fn milestones_are_reached_by_check_and_by_mark() {
    let (_dir, store) = fresh();
    let milestone = |title: &str, check| Milestone {
        title: title.to_owned(),
        check,
    };
    let header = Session {
        milestones: vec![
            milestone("fact", Check::Fact("city".to_owned())),
            milestone("tool", Check::Tool("calc".to_owned())),
            milestone("text", Check::Text("PARIS".to_owned())),
            milestone("hand", Check::Manual),
        ],
        ..session("s")
    };
    let mut steps = plain_steps(6);
    steps[0].text = "Is it Paris?".to_owned();
    steps[2].meta.facts.push("city".to_owned());
    steps[3].kind = StepKind::ToolResult;
    steps[3].meta = StepMeta {
        tool: Some(ToolUse {
            name: "calc".to_owned(),
            ..ToolUse::default()
        }),
        ..StepMeta::default()
    };
    steps[4].text = "It is paris.".to_owned();
    let main = take_in(&store, header.clone(), &steps);
    assert_eq!(
        store.milestones(&main).unwrap(),
        [Some(2), Some(3), Some(4), None]
    );
    assert_eq!(store.sessions().unwrap()[0].milestones, Some((3, 4)));

    let child = fork_and_start(&store, &main, 3);
    assert_eq!(
        store.milestones(&child).unwrap(),
        [Some(2), None, None, None]
    );
    store.mark_milestone(&main, 3, 1).unwrap();
    assert_eq!(
        store.milestones(&child).unwrap(),
        [Some(2), None, None, Some(1)],
        "inherited with its step"
    );
    store.mark_milestone(&main, 3, 5).unwrap();
    assert_eq!(
        store.milestones(&child).unwrap()[3],
        None,
        "the step is not inherited"
    );
    assert_eq!(store.milestones(&main).unwrap()[3], Some(5));
    store.mark_milestone(&child, 1, 0).unwrap();
    assert_eq!(store.milestones(&child).unwrap()[1], Some(0));
    assert_eq!(
        store.milestones(&main).unwrap()[1],
        Some(3),
        "the child's mark is its own"
    );
    assert_eq!(store.sessions().unwrap()[0].milestones, Some((4, 4)));
    assert!(matches!(
        store.mark_milestone(&main, 4, 0),
        Err(StoreError::Refused(_))
    ));
    assert!(matches!(
        store.mark_milestone(&main, 0, 6),
        Err(StoreError::NoStep { .. })
    ));

    let fewer = Session {
        milestones: header.milestones[3..].to_vec(),
        ..header
    };
    store.update_session(&fewer, "ann").unwrap();
    assert_eq!(
        store.milestones(&main).unwrap(),
        [Some(5)],
        "a mark stays with its milestone"
    );
    assert_eq!(store.sessions().unwrap()[0].milestones, Some((1, 1)));
}

#[test]
fn trials_and_search_see_the_inherited_steps() {
    let (_dir, store) = fresh();
    let mut steps = plain_steps(8);
    for plan in [1, 4, 6] {
        steps[plan].kind = StepKind::Plan;
    }
    steps[5] = Step {
        agent: "Größe".to_owned(),
        text: "ΟΔΟΣ heißt Straße\0".to_owned(),
        ..message(5, "", "")
    };
    let main = take_in(&store, session("s"), &steps);
    let spans = |id: &BranchId| -> Vec<_> {
        store
            .trials(id)
            .unwrap()
            .iter()
            .map(|t| (t.start, t.end))
            .collect()
    };
    assert_eq!(spans(&main), [(1, 3), (4, 5), (6, 7)]);
    assert_eq!(store.sessions().unwrap()[0].trials, 3);
    let child = fork_and_start(&store, &main, 6);
    assert_eq!(spans(&child), [(1, 3), (4, 5)]);
    store
        .append(
            &child,
            &Step {
                kind: StepKind::Plan,
                ..message(6, "Solver", "again")
            },
            None,
            &[],
        )
        .unwrap();
    assert_eq!(spans(&child), [(1, 3), (4, 5), (6, 6)]);

    // (words, found in the child): each word in the agent or the text, letter case aside.
    let table: [(&str, &[usize]); 7] = [
        ("οδος", &[5]),
        ("STRASSE grösse", &[5]),
        ("TEXT 4", &[4]),
        ("solver", &[1, 2, 3, 4, 6]),
        ("text 7", &[]),
        ("100% _", &[]),
        ("  ", &[]),
    ];
    for (words, found) in table {
        assert_eq!(store.search(&child, words).unwrap(), found, "{words}");
    }
}

#[test]
fn digests_are_equal_where_agent_kind_recipient_and_text_are() {
    let (_dir, store) = fresh();
    let base = Step {
        to: Some("B".to_owned()),
        ..message(0, "A", "hello")
    };
    let variants = [
        base.clone(),
        Step {
            index: 1,
            meta: StepMeta {
                error: true,
                ..StepMeta::default()
            },
            ..base.clone()
        },
        Step {
            index: 2,
            agent: "C".to_owned(),
            ..base.clone()
        },
        Step {
            index: 3,
            kind: StepKind::Instruction,
            ..base.clone()
        },
        Step {
            index: 4,
            to: None,
            ..base.clone()
        },
        Step {
            index: 5,
            text: "hello ".to_owned(),
            ..base
        },
    ];
    let main = take_in(&store, session("s"), &variants);
    let digests = store.digests(&main, 0..9).unwrap();
    let same: Vec<bool> = digests
        .iter()
        .map(|(digest, ..)| *digest == digests[0].0)
        .collect();
    assert_eq!(same, [true, true, false, false, false, false]);
    assert_eq!(
        (digests[3].1.as_str(), digests[3].2),
        ("A", StepKind::Instruction)
    );
}
