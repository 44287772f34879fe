//! Whatever an operator does, in whatever order: nothing runs unless its gates held, and the chain of receipts says the same as the store.
//!
//! The oracle looks at the store alone: the effects as they stand, the edit as it was made, the receipts as they were kept.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dover::gate::receipt::{Content, Forked, hashed, verify};
use dover::model::{BranchId, EffectState, Profile, RunStatus, StepKind, SystemClock};
use dover::pipeline::{self, Control, ForkRequest, Keyring, ModelSettings, NewEffects};
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
    /// Names an owner in the profile, or takes the name out of it.
    Own(bool),
    /// The owner approves one of the interventions.
    Approve(usize),
    /// Tries one of the interventions again.
    Resume(usize),
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
        1 => prop::bool::weighted(0.8).prop_map(Act::Own),
        2 => (0..6_usize).prop_map(Act::Approve),
        2 => (0..6_usize).prop_map(Act::Resume),
    ]
}

/// The owner, who has a key; whoever edits is somebody else.
const OWNER: &str = "olga";

struct Scene {
    store: Store,
    keys: Keyring,
    key: String,
    /// Interventions that the owner approved, each with the profile that stood then.
    approved: RefCell<Vec<(String, Profile)>>,
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
        let keys = Keyring::at(dir.path().join("owners"));
        Self {
            key: keys.create(OWNER).unwrap().to_string(),
            keys,
            store,
            approved: RefCell::default(),
            _dir: dir,
        }
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
                self.try_it(request).await;
            }
            Act::Resume(n) => {
                let made = self.store.interventions(SESSION).unwrap();
                let Some(it) = made.get(*n) else { return };
                if let Ok(request) = pipeline::resume_request(&self.store, &it.id, "ann") {
                    self.try_it(request).await;
                }
            }
            Act::Approve(n) => {
                let made = self.store.interventions(SESSION).unwrap();
                let Some(it) = made.get(*n) else { return };
                let hour = Duration::from_hours(1);
                let given = pipeline::approve(&self.store, &it.id, OWNER, &self.keys, hour);
                if given.is_ok() {
                    let now = self.store.session(SESSION).unwrap().profile;
                    self.approved.borrow_mut().push((it.id.clone(), now));
                }
            }
            Act::Own(wanted) => self.change(|profile| {
                profile.owners.remove(OWNER);
                if *wanted {
                    profile.owners.insert(OWNER.into(), self.key.clone());
                }
            }),
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
            Act::Require(wanted) => self.change(|profile| {
                profile.required_keys.retain(|key| key != "moon");
                if *wanted {
                    profile.required_keys.push("moon".into());
                }
            }),
        }
    }

    /// Changes the profile; an approval under another one counts for nothing while it stands.
    fn change(&self, change: impl FnOnce(&mut Profile)) {
        let mut session = self.store.session(SESSION).unwrap();
        change(&mut session.profile);
        pipeline::update(&self.store, &session, "ann").unwrap();
    }

    async fn try_it(&self, request: ForkRequest) {
        let before = self.facts(&request);
        let Ok(plan) = pipeline::plan(&self.store, request.clone(), &ModelSettings::default())
        else {
            return;
        };
        let (progress, _told) = tokio::sync::mpsc::unbounded_channel();
        let outcome = pipeline::fork(
            &self.store,
            plan,
            &dover::pipeline::Jobs::new(1),
            Control::new(),
            progress,
        )
        .await
        .unwrap();
        let ran = outcome
            .branches
            .iter()
            .any(|branch| branch.run != RunStatus::Held || branch.steps > request.step);
        if ran {
            let id = outcome.intervention.id.clone();
            let now = self.store.session(SESSION).unwrap().profile;
            let approved = self.approved.borrow().contains(&(id.clone(), now));
            self.approved.borrow_mut().retain(|(of, _)| *of != id);
            before.may_run(&request, outcome.diagnostic(), approved);
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
    fn may_run(&self, request: &ForkRequest, diagnostic: bool, approved: bool) {
        assert!(!self.blocked, "ran over an effect: {request:?}");
        assert!(
            !self.unknown_key || (diagnostic && request.diagnostic),
            "ran without a required key: {request:?}"
        );
        assert!(
            !self.risky || approved,
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
    fn no_sequence_of_operations_runs_with_a_gate_not_held(acts in prop::collection::vec(act(), 1..14)) {
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

/// What the property hardly ever draws by itself: an edit of high risk that does run.
#[tokio::test]
async fn an_approved_edit_runs_once() {
    let scene = Scene::new();
    let main = BranchId::main(SESSION);
    let instruction = scene
        .store
        .steps(&main, 0..scene.store.step_count(&main).unwrap())
        .unwrap()
        .into_iter()
        .find(|step| step.kind == StepKind::Instruction)
        .unwrap();
    for key in scene.store.effects(&main).unwrap() {
        let key = key.operation_key;
        scene
            .store
            .set_effect(&main, &key, EffectState::Reconciled, "seen", "ann")
            .unwrap();
    }
    scene
        .try_it(ForkRequest {
            text: Some(TEXTS[1].0.into()),
            runs: Some(1),
            ..ForkRequest::at(main, instruction.index, "ann")
        })
        .await;
    let runs = |run| {
        let branches = scene.store.branches(SESSION).unwrap();
        branches.iter().filter(|branch| branch.run == run).count()
            - usize::from(run == RunStatus::Done)
    };
    assert_eq!((runs(RunStatus::Held), runs(RunStatus::Done)), (1, 0));
    for act in [Act::Approve(0), Act::Resume(0)] {
        scene.act(&act).await;
    }
    assert_eq!(runs(RunStatus::Done), 0, "no owner was named");
    for act in [
        Act::Own(true),
        Act::Approve(0),
        Act::Resume(0),
        Act::Resume(0),
    ] {
        scene.act(&act).await;
        scene.holds_together();
    }
    assert_eq!((runs(RunStatus::Held), runs(RunStatus::Done)), (2, 1));
}
