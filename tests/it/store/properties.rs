//! The three invariants of SPEC 1 under random histories, beside a plain model that copies every prefix:
//! the failed original stays unchanged, a fork point never moves, an edit and every later effect belong to the new branch alone.

use std::collections::HashSet;

use dover::model::{
    Branch, BranchId, Check, Digest, Effect, EffectClass, EffectState, Milestone, RunStatus,
    Session, Step, StepHead, StepKind, prefix_digest, trials_of_kinds,
};
use dover::store::{ForkRuling, Grown, Store};
use proptest::prelude::*;

use super::{draft, ending, fresh, go, message, open, session, take_in};

/// One thing that an operator or a run does. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Act {
    Fork {
        branch: usize,
        step: usize,
        runs: usize,
        go: bool,
    },
    Start {
        branch: usize,
    },
    Append {
        branch: usize,
        offset: usize,
        text: String,
        kind: usize,
        effect: bool,
    },
    End {
        branch: usize,
        run: RunStatus,
    },
    Decide {
        branch: usize,
        effect: usize,
    },
    Reopen,
}

fn act() -> impl Strategy<Value = Act> {
    let n = 0_usize..64;
    let run = prop_oneof![
        Just(RunStatus::Done),
        Just(RunStatus::Failed),
        Just(RunStatus::Stopped)
    ];
    prop_oneof![
        3 => (n.clone(), n.clone(), 1_usize..3, prop::bool::weighted(0.8))
            .prop_map(|(branch, step, runs, go)| Act::Fork { branch, step, runs, go }),
        3 => n.clone().prop_map(|branch| Act::Start { branch }),
        8 => (n.clone(), prop_oneof![9 => Just(0_usize), 1 => 1_usize..3], "[a-cß]{0,3}", n.clone(), any::<bool>())
            .prop_map(|(branch, offset, text, kind, effect)| Act::Append { branch, offset, text, kind, effect }),
        2 => (n.clone(), run).prop_map(|(branch, run)| Act::End { branch, run }),
        1 => (n.clone(), n).prop_map(|(branch, effect)| Act::Decide { branch, effect }),
        1 => Just(Act::Reopen),
    ]
}

/// What a branch should be: its whole trajectory, copied at the fork.
#[derive(Clone)]
struct Expected {
    id: BranchId,
    parent: Option<BranchId>,
    fork_step: Option<usize>,
    prefix: Option<Digest>,
    steps: Vec<Step>,
    effects: Vec<String>,
    run: RunStatus,
}

fn effect(step: usize, key: String) -> Effect {
    Effect {
        step,
        agent: "Solver".to_owned(),
        tool: "mail".to_owned(),
        class: EffectClass::Permanent,
        args_sha256: Digest::of(&key),
        operation_key: key,
        result: None,
        state: EffectState::Pending,
        evidence: None,
    }
}

fn perform(
    store: &mut Store,
    path: &std::path::Path,
    all: &mut Vec<Expected>,
    act: Act,
    serial: usize,
) {
    match act {
        Act::Fork {
            branch,
            step,
            runs,
            go: may,
        } => {
            let parent = all[branch % all.len()].clone();
            // One past the end is among the steps tried.
            let step = step % (parent.steps.len() + 1);
            let made = store.fork(draft(&parent.id, step, runs), &mut |facts| ForkRuling {
                go: may,
                diagnostic: false,
                ..go(facts)
            });
            if step == parent.steps.len() {
                made.unwrap_err();
                return;
            }
            let (_, made) = made.unwrap();
            assert_eq!(made.len(), if may { runs } else { 1 });
            for Branch { id, .. } in made {
                all.push(Expected {
                    id,
                    parent: Some(parent.id.clone()),
                    fork_step: Some(step),
                    prefix: Some(prefix_digest(&parent.steps[..step])),
                    steps: parent.steps[..step].to_vec(),
                    effects: parent
                        .effects
                        .iter()
                        .filter(|key| step_of(key) < step)
                        .cloned()
                        .collect(),
                    run: if may {
                        RunStatus::Planned
                    } else {
                        RunStatus::Held
                    },
                });
            }
        }
        Act::Start { branch } => {
            let i = branch % all.len();
            assert_eq!(
                store.start(&all[i].id).is_ok(),
                all[i].run == RunStatus::Planned
            );
            if all[i].run == RunStatus::Planned {
                all[i].run = RunStatus::Running;
            }
        }
        Act::Append {
            branch,
            offset,
            text,
            kind,
            effect: with,
        } => {
            let i = branch % all.len();
            let index = all[i].steps.len() + offset;
            let step = Step {
                kind: StepKind::ALL[kind % StepKind::ALL.len()],
                ..message(index, "Solver", &text)
            };
            let key = format!("{index}:{serial}");
            let made = [effect(index, key.clone())];
            let done = store.append(&all[i].id, &step, None, if with { &made } else { &[] });
            assert_eq!(
                done.is_ok(),
                offset == 0 && all[i].run == RunStatus::Running
            );
            if done.is_ok() {
                all[i].steps.push(step);
                all[i].effects.extend(with.then_some(key));
            }
        }
        Act::End { branch, run } => {
            let i = branch % all.len();
            let done = store.end(&all[i].id, &ending(run));
            assert_eq!(done.is_ok(), !all[i].run.is_over());
            if done.is_ok() {
                all[i].run = run;
            }
        }
        Act::Decide { branch, effect } => {
            let one = &all[branch % all.len()];
            if let Some(key) = one.effects.get(effect % one.effects.len().max(1)) {
                store
                    .set_effect(&one.id, key, EffectState::Reconciled, "keep", "ann")
                    .unwrap();
            }
        }
        Act::Reopen => {
            // The old handle goes first, as a process that ends does.
            let aside = tempfile::tempdir().unwrap();
            *store = open(&aside.path().join("aside.db"));
            *store = open(path);
            for one in all.iter_mut().filter(|one| !one.run.is_over()) {
                one.run = RunStatus::Interrupted;
            }
        }
    }
}

fn step_of(key: &str) -> usize {
    key.split_once(':').unwrap().0.parse().unwrap()
}

fn check(store: &Store, all: &[Expected]) {
    let branches = store.branches("s").unwrap();
    assert_eq!(branches.len(), all.len());
    let mut older = HashSet::new();
    for (branch, expected) in branches.iter().zip(all) {
        assert_eq!(branch.id, expected.id);
        assert_eq!(branch.parent, expected.parent);
        assert_eq!(branch.fork_step, expected.fork_step);
        assert_eq!(branch.prefix_digest, expected.prefix);
        assert_eq!(branch.run, expected.run);
        assert_eq!(branch.steps, expected.steps.len());
        assert_eq!(
            store.steps(&branch.id, 0..usize::MAX).unwrap(),
            expected.steps
        );
        let heads: Vec<_> = expected.steps.iter().map(StepHead::of).collect();
        assert_eq!(store.heads(&branch.id, 0..usize::MAX).unwrap(), heads);
        let kinds: Vec<_> = expected.steps.iter().map(|step| step.kind).collect();
        assert_eq!(store.trials(&branch.id).unwrap(), trials_of_kinds(&kinds));
        let effects: Vec<_> = store
            .effects(&branch.id)
            .unwrap()
            .into_iter()
            .map(|e| e.operation_key)
            .collect();
        assert_eq!(effects, expected.effects);
        // Acyclic: every parent was made before its child.
        assert!(
            branch
                .parent
                .as_ref()
                .is_none_or(|parent| older.contains(parent))
        );
        older.insert(branch.id.clone());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_behaves_as_copies_would(acts in prop::collection::vec(act(), 1..40)) {
        let (dir, mut store) = fresh();
        let path = dir.path().join("store.db");
        let steps = super::plain_steps(5);
        let main = take_in(&store, session("s"), &steps);
        let mut all = vec![Expected {
            id: main,
            parent: None,
            fork_step: None,
            prefix: None,
            steps,
            effects: Vec::new(),
            run: RunStatus::Done,
        }];
        for (serial, act) in acts.into_iter().enumerate() {
            perform(&mut store, &path, &mut all, act, serial);
        }
        check(&store, &all);
    }

    #[test]
    fn trials_counted_step_by_step_are_those_counted_at_once(
        first in prop::collection::vec(0..StepKind::ALL.len(), 0..12), added in prop::collection::vec(0..StepKind::ALL.len(), 0..12)
    ) {
        let (_dir, store) = fresh();
        let main = BranchId::main(&store.begin(session("s")).unwrap());
        let mut kinds = Vec::new();
        let mut next = |kind: usize| {
            kinds.push(StepKind::ALL[kind]);
            let index = kinds.len() - 1;
            let step = Step { kind: kinds[index], ..message(index, "Solver", "text") };
            (step, trials_of_kinds(&kinds).len())
        };
        let counted = || store.sessions().unwrap()[0].trials;
        for kind in first {
            let (step, expected) = next(kind);
            store.append(&main, &step, None, &[]).unwrap();
            prop_assert_eq!(counted(), expected);
        }
        store.end(&main, &ending(RunStatus::Done)).unwrap();
        // The same run, read from a log that grows.
        let before = counted();
        let (steps, expected): (Vec<_>, Vec<_>) = added.into_iter().map(next).unzip();
        let steps = steps.into_iter().map(|step| (step, None, Vec::new())).collect();
        store.grow("s", &Grown { steps, session: session("s"), answer: None, success: None }).unwrap();
        prop_assert_eq!(counted(), expected.last().copied().unwrap_or(before));
    }

    #[test]
    fn milestones_looked_for_step_by_step_are_those_looked_for_at_once(
        first in prop::collection::vec("[ab]{1,2}", 0..8), added in prop::collection::vec("[ab]{1,2}", 1..8), look in any::<bool>()
    ) {
        let (dir, store) = fresh();
        let milestones: Vec<Milestone> = ["aa", "ab", "ba"]
            .map(|text| Milestone { title: text.into(), check: Check::Text(text.into()) })
            .to_vec();
        let main = BranchId::main(&store.begin(Session { milestones: milestones.clone(), ..session("s") }).unwrap());
        let expected = |texts: &[&String]| -> Vec<Option<usize>> {
            let place = |wanted: &str| texts.iter().position(|text| text.contains(wanted));
            ["aa", "ab", "ba"].map(place).to_vec()
        };
        let steps = |from: usize, texts: &[String]| -> Vec<Step> {
            texts.iter().enumerate().map(|(n, text)| message(from + n, "Solver", text)).collect()
        };
        for (n, step) in steps(0, &first).iter().enumerate() {
            store.append(&main, step, None, &[]).unwrap();
            if look {
                let so_far: Vec<&String> = first.iter().take(n + 1).collect();
                prop_assert_eq!(store.milestones(&main).unwrap(), expected(&so_far));
            }
        }
        store.end(&main, &ending(RunStatus::Done)).unwrap();
        let more = steps(first.len(), &added).into_iter().map(|step| (step, None, Vec::new())).collect();
        store.grow("s", &Grown { steps: more, session: session("s"), answer: None, success: None }).unwrap();
        let all: Vec<&String> = first.iter().chain(&added).collect();
        let reached = expected(&all).iter().flatten().count();
        prop_assert_eq!(store.sessions().unwrap()[0].milestones, Some((reached, 3)));
        prop_assert_eq!(store.milestones(&main).unwrap(), expected(&all));
        prop_assert_eq!(open(&dir.path().join("store.db")).milestones(&main).unwrap(), expected(&all));
        // Other milestones are looked for anew.
        let changed = Session { milestones: milestones[1..].to_vec(), ..store.session("s").unwrap() };
        store.update_session(&changed, "ann").unwrap();
        prop_assert_eq!(store.milestones(&main).unwrap(), &expected(&all)[1..]);
    }

    #[test]
    fn any_window_is_a_slice_of_the_whole(forks in prop::collection::vec(0_usize..12, 1..8), start in 0_usize..16, len in 0_usize..16) {
        let (_dir, store) = fresh();
        let mut steps = super::plain_steps(12);
        let mut branch = take_in(&store, session("s"), &steps);
        for (depth, at) in forks.into_iter().enumerate() {
            branch = super::fork_and_start(&store, &branch, at.min(steps.len() - 1));
            steps.truncate(at.min(steps.len() - 1));
            for _ in 0..3 {
                let step = message(steps.len(), "Solver", &format!("depth {depth}"));
                store.append(&branch, &step, None, &[]).unwrap();
                steps.push(step);
            }
        }
        let from = start.min(steps.len());
        let to = (start + len).clamp(from, steps.len());
        prop_assert_eq!(store.steps(&branch, start..start + len).unwrap(), &steps[from..to]);
        let digests = store.digests(&branch, start..start + len).unwrap();
        prop_assert_eq!(digests.len(), to - from);
    }
}
