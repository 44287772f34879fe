//! Whatever an operator does, in whatever order: nothing runs unless its gates held, and the chain of receipts says the same as the store.
//!
//! The oracle looks at the store alone: the effects as they stand, the edit as it was made, the receipts as they were kept.

use std::path::Path;
use std::sync::Arc;

use dover::gate::receipt::{Content, Forked, hashed, verify};
use dover::model::{BranchId, EffectState, RunStatus, StepKind, SystemClock};
use dover::pipeline::{self, Control, ForkRequest, ModelSettings, NewEffects};
use dover::store::Store;
use proptest::prelude::*;

/// A small world: a clerk opens a ticket outside and then fails to read the shelf.
const WORLD: &str = include_str!("worlds/desk.toml");
const SESSION: &str = "desk";

/// What an operator may do.
#[derive(Clone, Debug)]
enum Act {
    /// Forks at the n-th step that can be edited, with one of the texts or none.
    Fork {
        at: usize,
        text: Option<usize>,
        diagnostic: bool,
        acknowledge: bool,
        new_effects: NewEffects,
        operator: &'static str,
    },
    /// Says what became of an effect of a branch.
    Settle {
        branch: usize,
        effect: usize,
        state: EffectState,
    },
    /// Requires a state key that nobody ever recorded, or takes that back.
    Require(bool),
}

/// Texts of edits; those that name a recipient are of high risk.
const TEXTS: [(&str, bool); 4] = [
    (
        "Open 'Returns of today' and read the branch that has the book.",
        false,
    ),
    (
        "Open the ticket for the night team: night@library.example.",
        true,
    ),
    ("Open the ticket for the desk.", false),
    ("Delete everything.", true),
];

fn act() -> impl Strategy<Value = Act> {
    let policy = prop_oneof![
        Just(NewEffects::Hold),
        Just(NewEffects::Allow),
        Just(NewEffects::Refuse)
    ];
    let state = prop_oneof![
        Just(EffectState::Pending),
        Just(EffectState::Irreversible),
        Just(EffectState::Reverted),
        Just(EffectState::Reconciled)
    ];
    prop_oneof![
        4 => (0..8_usize, prop::option::of(0..TEXTS.len()), any::<bool>(), any::<bool>(), policy, prop_oneof![4 => Just("ann"), 1 => Just(" ")])
            .prop_map(|(at, text, diagnostic, acknowledge, new_effects, operator)| Act::Fork { at, text, diagnostic, acknowledge, new_effects, operator }),
        3 => (0..4_usize, 0..3_usize, state).prop_map(|(branch, effect, state)| Act::Settle { branch, effect, state }),
        1 => any::<bool>().prop_map(Act::Require),
    ]
}

struct Scene {
    store: Store,
    _dir: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store.db"), Arc::new(SystemClock)).unwrap();
        let file = dir.path().join("desk.toml");
        std::fs::write(&file, WORLD).unwrap();
        let taken = pipeline::take_in(&store, file.to_str().unwrap(), &mut |_, _| true).unwrap();
        assert_eq!(taken.0, SESSION);
        Self { store, _dir: dir }
    }

    fn branch(&self, n: usize) -> BranchId {
        let branches = self.store.branches(SESSION).unwrap();
        branches[n % branches.len()].id.clone()
    }

    async fn act(&self, act: &Act) {
        match act {
            Act::Fork {
                at,
                text,
                diagnostic,
                acknowledge,
                new_effects,
                operator,
            } => {
                let main = BranchId::main(SESSION);
                let steps = self
                    .store
                    .steps(&main, 0..self.store.step_count(&main).unwrap())
                    .unwrap();
                let editable: Vec<_> = steps
                    .iter()
                    .filter(|step| step.editable() && step.kind != StepKind::Task)
                    .collect();
                let step = editable[at % editable.len()].index;
                let request = ForkRequest {
                    text: text.map(|n| TEXTS[n].0.to_owned()),
                    runs: Some(1),
                    diagnostic: *diagnostic,
                    acknowledge_drift: *acknowledge,
                    new_effects: *new_effects,
                    ..ForkRequest::at(main, step, *operator)
                };
                let before = self.facts(&request);
                let Ok(plan) =
                    pipeline::plan(&self.store, request.clone(), &ModelSettings::default())
                else {
                    return;
                };
                let (progress, _told) = tokio::sync::mpsc::unbounded_channel();
                let outcome = pipeline::fork(&self.store, plan, 1, Control::new(), progress)
                    .await
                    .unwrap();
                let ran = outcome
                    .branches
                    .iter()
                    .any(|branch| branch.run != RunStatus::Held || branch.steps > step);
                if ran {
                    before.may_run(&request, outcome.diagnostic());
                }
            }
            Act::Settle {
                branch,
                effect,
                state,
            } => {
                let branch = self.branch(*branch);
                let effects = self.store.effects(&branch).unwrap();
                if let Some(effect) = effects.get(*effect) {
                    self.store
                        .set_effect(&branch, &effect.operation_key, *state, "seen", "ann")
                        .unwrap();
                }
            }
            Act::Require(wanted) => {
                let mut session = self.store.session(SESSION).unwrap();
                let keys = &mut session.profile.required_keys;
                keys.retain(|key| key != "moon");
                if *wanted {
                    keys.push("moon".into());
                }
                pipeline::update(&self.store, &session, "ann").unwrap();
            }
        }
    }

    /// What the store knows before a fork, looked up by hand.
    fn facts(&self, request: &ForkRequest) -> Before {
        let session = self.store.session(SESSION).unwrap();
        Before {
            blocked: self
                .store
                .effects(&request.branch)
                .unwrap()
                .iter()
                .any(|effect| effect.step >= request.step && effect.blocks()),
            unknown_key: session
                .profile
                .required_keys
                .iter()
                .any(|key| key == "moon"),
            risky: request
                .text
                .as_ref()
                .is_some_and(|text| TEXTS.iter().any(|(known, risky)| known == text && *risky)),
        }
    }

    /// The chain verifies, and it tells the same as the branches.
    fn holds_together(&self) {
        let chain = self.store.receipts(None).unwrap();
        let receipts = verify(chain.as_bytes(), None).unwrap().receipts;
        let forks: Vec<(&Forked, bool)> = receipts
            .iter()
            .filter_map(|receipt| match &receipt.content {
                Content::Fork(forked) => Some((forked, true)),
                Content::Refusal(forked) => Some((forked, false)),
                _ => None,
            })
            .collect();
        for (forked, went) in &forks {
            let open: Vec<u8> = forked
                .gates
                .iter()
                .filter(|gate| !gate.holds)
                .map(|gate| gate.gate)
                .collect();
            assert_eq!(
                *went,
                open.is_empty() || (forked.diagnostic && open == [2]),
                "gates {open:?}, diagnostic {}",
                forked.diagnostic
            );
        }
        for branch in self.store.branches(SESSION).unwrap() {
            let Some(at) = branch.fork_step else { continue };
            let of = |went: bool| {
                forks
                    .iter()
                    .filter(|(forked, is)| {
                        *is == went && forked.branches.contains(&hashed(branch.id.as_str()))
                    })
                    .count()
            };
            let refused = of(false) == 1;
            assert_eq!(of(true) + of(false), 1, "{} has one receipt", branch.id);
            assert!(branch.run.is_over(), "{}", branch.id);
            if refused {
                assert_eq!(
                    (branch.run, branch.steps),
                    (RunStatus::Held, at),
                    "{}",
                    branch.id
                );
            }
        }
    }
}

struct Before {
    blocked: bool,
    unknown_key: bool,
    risky: bool,
}

impl Before {
    fn may_run(&self, request: &ForkRequest, diagnostic: bool) {
        assert!(!self.blocked, "ran over an effect: {request:?}");
        assert!(
            !self.unknown_key || (diagnostic && request.diagnostic),
            "ran without a required key: {request:?}"
        );
        assert!(
            !self.risky,
            "ran at high risk without an approval: {request:?}"
        );
        assert!(
            !request.operator.trim().is_empty(),
            "ran for nobody: {request:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_operations_runs_with_a_gate_not_held(acts in prop::collection::vec(act(), 1..10)) {
        let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let scene = Scene::new();
        for act in &acts {
            threads.block_on(scene.act(act));
            scene.holds_together();
        }
    }
}

#[test]
fn the_world_of_this_test_has_what_it_needs() {
    let scene = Scene::new();
    let main = BranchId::main(SESSION);
    assert!(
        scene
            .store
            .effects(&main)
            .unwrap()
            .iter()
            .any(dover::model::Effect::blocks)
    );
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).exists());
}
