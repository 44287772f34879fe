//! The gates together: a fork that may resume, and every way to take one condition away.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::{
    BranchId, Checkpoint, ConfigChange, Digest, Effect, EffectClass, EffectState, GateStatus,
    Judgement, KeyState, Manifest, Pinned, RestoreResult, RestoredKey, Unjudged,
};

/// An input that owns what it speaks of.
#[derive(Clone)]
struct Case {
    branches: Vec<BranchId>,
    parent: BranchId,
    parent_exists: bool,
    steps: usize,
    ancestors: Vec<BranchId>,
    recorded: Option<Digest>,
    recomputed: Option<Digest>,
    fork_step: usize,
    required: Vec<String>,
    checkpoint: Option<Checkpoint>,
    restored: Vec<RestoredKey>,
    drift_acknowledged: bool,
    effects: Vec<Effect>,
    operator: Option<&'static str>,
    driver: Option<&'static str>,
    risk: Risk,
    binding: Binding,
    approval: Option<Approval>,
    pin: Pinned,
    own: Option<Manifest>,
    intended: Vec<ConfigChange>,
    accepted: bool,
}

impl Case {
    /// Holds at every gate by every kind of evidence: high risk approved, a kept effect, an intended delta.
    fn holding() -> Self {
        let parent = BranchId::new("s", "b1");
        let keys: BTreeMap<_, _> = ["agent_memory", "browser", "tool_registry"]
            .map(|key| (key.to_owned(), KeyState::saved("r1", json!({ "of": key }))))
            .into();
        let restored = keys.iter().map(|(key, state)| RestoredKey {
            key: key.clone(),
            revision: Some(state.revision.clone()),
            fingerprint: Some(state.fingerprint),
            test: "loaded and hashed again".into(),
        });
        let binding = Binding {
            intervention: Some("s/i1".into()),
            prefix: Some(Digest::of("prefix")),
            workflow: Some(Digest::of("workflow")),
            parent: parent.clone(),
            fork_step: 3,
            edit: Digest::of("edit"),
            n: 3,
            config: Digest::of("new"),
        };
        Self {
            branches: vec![BranchId::new("s", "b2"), BranchId::new("s", "b3")],
            parent_exists: true,
            steps: 10,
            ancestors: vec![BranchId::main("s")],
            recorded: Some(Digest::of("prefix")),
            recomputed: Some(Digest::of("prefix")),
            fork_step: 3,
            required: keys.keys().cloned().collect(),
            restored: restored.collect(),
            checkpoint: Some(Checkpoint { step: 3, keys }),
            drift_acknowledged: false,
            effects: vec![
                effect(1, EffectClass::Permanent, EffectState::Pending),
                effect(4, EffectClass::Permanent, EffectState::Reconciled),
                effect(5, EffectClass::Compensable, EffectState::Reverted),
                effect(6, EffectClass::ReadOnly, EffectState::Pending),
            ],
            operator: Some("ann"),
            driver: Some("ann"),
            risk: Risk {
                high: true,
                why: "the edit changes 'budget'".into(),
            },
            approval: Some(Approval {
                owner: "olga".into(),
                flaw: None,
                binding: binding.clone(),
            }),
            binding,
            pin: Pinned::Whole(manifest("old")),
            own: Some(manifest("new")),
            intended: vec![ConfigChange::Model { name: "new".into() }],
            accepted: false,
            parent,
        }
    }

    fn report(&self) -> Report {
        let facts = self.parent_exists.then_some(ParentFacts {
            steps: self.steps,
            ancestors: &self.ancestors,
            recorded: self.recorded,
            recomputed: self.recomputed,
        });
        evaluate(&Input {
            lineage: Lineage {
                branches: &self.branches,
                parent: &self.parent,
                facts,
                fork_step: self.fork_step,
            },
            state: State {
                required: &self.required,
                checkpoint: self.checkpoint.as_ref(),
                restored: &self.restored,
                drift_acknowledged: self.drift_acknowledged,
            },
            effects: Effects {
                parent: &self.parent,
                fork_step: self.fork_step,
                all: &self.effects,
                asked: &[],
            },
            authority: Authority {
                operator: self.operator,
                driver: self.driver,
                risk: &self.risk,
                binding: &self.binding,
                approval: self.approval.as_ref(),
                intervention: Some("s/i1"),
            },
            config: Config {
                parent: "b1",
                pin: &self.pin,
                own: self.own.as_ref(),
                intended: &self.intended,
                accepted: self.accepted,
            },
        })
    }

    fn key(&mut self, key: &str) -> &mut RestoredKey {
        let found = self.restored.iter_mut().find(|read| read.key == key);
        found.unwrap()
    }

    fn approval(&mut self) -> &mut Approval {
        self.approval.as_mut().unwrap()
    }
}

fn effect(step: usize, class: EffectClass, state: EffectState) -> Effect {
    Effect {
        step,
        agent: "Publisher".into(),
        tool: "mail".into(),
        class,
        operation_key: format!("mail-{step}"),
        args_sha256: Digest::of("args"),
        result: None,
        state,
        evidence: None,
    }
}

fn manifest(model: &str) -> Manifest {
    let mut manifest = Manifest::default();
    manifest.add("model", model, Some(model));
    manifest.add("role Publisher", "publishes", None);
    manifest
}

/// One way to take one condition away, and the status that must name it.
type Fault = (&'static str, GateStatus, fn(&mut Case));

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    ("own parent", GateStatus::InvalidLineage, |c| { c.branches[1] = c.parent.clone(); }),
    ("no id", GateStatus::InvalidLineage, |c| c.branches.clear()),
    ("no parent", GateStatus::InvalidLineage, |c| { c.parent_exists = false; }),
    ("outside", GateStatus::InvalidLineage, |c| c.steps = 3),
    ("empty parent", GateStatus::InvalidLineage, |c| c.steps = 0),
    ("other prefix", GateStatus::InvalidLineage, |c| { c.recomputed = Some(Digest::of("x")); }),
    ("no record", GateStatus::InvalidLineage, |c| { c.recorded = None; }),
    ("no digest at all", GateStatus::InvalidLineage, |c| { (c.recorded, c.recomputed) = (None, None); }),
    ("cycle to parent", GateStatus::InvalidLineage, |c| { c.ancestors.push(c.parent.clone()); }),
    ("cycle to branch", GateStatus::InvalidLineage, |c| { c.ancestors.push(c.branches[0].clone()); }),
    ("cycle above", GateStatus::InvalidLineage, |c| { c.ancestors.push(BranchId::main("s")); }),
    ("no checkpoint", GateStatus::RestoreUncertain, |c| { c.checkpoint = None; }),
    ("nothing recorded", GateStatus::RestoreUncertain, |c| { (c.required, c.checkpoint) = (vec![], None); }),
    ("missing key", GateStatus::RestoreUncertain, |c| { c.required.push("workspace".into()); }),
    ("untested key", GateStatus::RestoreUncertain, |c| { c.key("browser").fingerprint = None; }),
    ("untold revision", GateStatus::RestoreUncertain, |c| { c.key("browser").revision = None; }),
    ("not read back", GateStatus::RestoreUncertain, |c| { c.restored.clear(); }),
    ("drift", GateStatus::RestoreUncertain, |c| {
        c.drift_acknowledged = true;
        c.key("browser").fingerprint = Some(Digest::of("x"));
    }),
    ("other revision", GateStatus::RestoreUncertain, |c| { c.key("agent_memory").revision = Some("r2".into()); }),
    ("second reading differs", GateStatus::RestoreUncertain, |c| {
        let mut again = c.key("browser").clone();
        again.fingerprint = Some(Digest::of("x"));
        c.restored.insert(0, again);
    }),
    ("registry drift", GateStatus::RestoreUncertain, |c| { c.key("tool_registry").fingerprint = Some(Digest::of("x")); }),
    ("registry untested", GateStatus::RestoreUncertain, |c| {
        c.drift_acknowledged = true;
        c.key("tool_registry").fingerprint = None;
    }),
    ("pending", GateStatus::EffectsUnreconciled, |c| { c.effects[1].state = EffectState::Pending; }),
    ("irreversible", GateStatus::EffectsUnreconciled, |c| { c.effects[2].state = EffectState::Irreversible; }),
    ("pending at the step", GateStatus::EffectsUnreconciled, |c| c.effects[0].step = 3),
    ("unknown tool", GateStatus::EffectsUnreconciled, |c| { c.effects[3].class = EffectClass::Unknown; }),
    ("no operator", GateStatus::NeedsApproval, |c| { c.operator = None; }),
    ("blank operator", GateStatus::NeedsApproval, |c| { (c.operator, c.driver) = (Some(" "), Some(" ")); }),
    ("not the driver", GateStatus::NeedsApproval, |c| { c.driver = Some("bob"); }),
    ("no driver", GateStatus::NeedsApproval, |c| c.driver = None),
    ("no approval", GateStatus::NeedsApproval, |c| { c.approval = None; }),
    ("not an owner", GateStatus::NeedsApproval, |c| { c.approval().flaw = Some(Flaw::Stranger); }),
    ("expired", GateStatus::NeedsApproval, |c| { c.approval().flaw = Some(Flaw::Expired); }),
    ("used", GateStatus::NeedsApproval, |c| { c.approval().flaw = Some(Flaw::Used); }),
    ("other intervention", GateStatus::NeedsApproval, |c| { c.approval().binding.intervention = None; }),
    ("other prefix", GateStatus::NeedsApproval, |c| { c.approval().binding.prefix = Some(Digest::ZERO); }),
    ("other workflow", GateStatus::NeedsApproval, |c| { c.approval().binding.workflow = None; }),
    ("other n", GateStatus::NeedsApproval, |c| { c.approval().binding.n = 1; }),
    ("other step", GateStatus::NeedsApproval, |c| { c.approval().binding.fork_step = 4; }),
    ("other edit", GateStatus::NeedsApproval, |c| { c.approval().binding.edit = Digest::ZERO; }),
    ("other config", GateStatus::NeedsApproval, |c| { c.approval().binding.config = Digest::ZERO; }),
    ("other parent", GateStatus::NeedsApproval, |c| { c.approval().binding.parent = BranchId::main("s"); }),
    ("no manifest", GateStatus::ConfigUnpinned, |c| c.own = None),
    ("no part", GateStatus::ConfigUnpinned, |c| { (c.own, c.intended) = (Some(Manifest::default()), vec![]); }),
    ("nobody asked", GateStatus::ConfigUnpinned, |c| c.intended.clear()),
    ("asked for another", GateStatus::ConfigUnpinned, |c| { c.intended = vec![ConfigChange::Model { name: "x".into() }]; }),
    ("more than was asked", GateStatus::ConfigUnpinned, |c| { c.own.as_mut().unwrap().add("role Publisher", "x", None); }),
    ("a part too many", GateStatus::ConfigUnpinned, |c| { c.own.as_mut().unwrap().add("tool mail", "x", None); }),
    ("a part too few", GateStatus::ConfigUnpinned, |c| { c.own.as_mut().unwrap().0.remove("role Publisher"); }),
];

#[test]
fn what_holds_everywhere_is_ready() {
    let report = Case::holding().report();
    assert_eq!(report.status, GateStatus::ReadyToResume);
    assert!(report.ready());
    let holds: Vec<_> = report.gates.iter().map(|gate| gate.holds).collect();
    let yes = Some(true);
    assert_eq!(holds, [yes, yes, yes, yes, yes, None]);
    assert_eq!(report.reason(), None);
}

#[test]
fn each_fault_alone_names_its_gate() {
    for (name, status, fault) in FAULTS {
        let mut case = Case::holding();
        fault(&mut case);
        let report = case.report();
        assert_eq!(report.status, *status, "{name}");
        let failing = report.gates.iter().filter(|gate| gate.holds == Some(false));
        let failing: Vec<_> = failing.collect();
        assert_eq!(failing.len(), 1, "{name}");
        assert!(failing[0].mend.is_some(), "{name}");
        assert_eq!(
            report.may_run_diagnostic(),
            *status == GateStatus::RestoreUncertain,
            "{name}"
        );
    }
}

#[test]
fn what_gates_found_fits_a_panel() {
    let faults = FAULTS.iter().map(|(_, _, fault)| *fault);
    for fault in faults.chain([(|_| ()) as fn(&mut Case)]) {
        let mut case = Case::holding();
        fault(&mut case);
        for gate in case.report().gates {
            assert!(gate.found.chars().count() <= 60, "{}", gate.found);
            assert!(!gate.found.is_empty() && !gate.found.ends_with('.'));
        }
    }
}

#[test]
fn the_first_failing_gate_names_the_status() {
    let all: Vec<_> = FAULTS
        .iter()
        .map(|(_, status, fault)| (*status, *fault))
        .collect();
    for (first, one) in &all {
        for (second, other) in &all {
            // Within a gate one fault may undo another; across gates they are independent.
            if first == second {
                continue;
            }
            let mut case = Case::holding();
            one(&mut case);
            other(&mut case);
            // GateStatus is ordered as the gates are.
            assert_eq!(case.report().status, *first.min(second));
        }
    }
}

#[test]
fn simple_forks_hold_by_simple_evidence() {
    let mut case = Case::holding();
    case.effects.clear();
    case.approval = None;
    case.risk = risk("a", "b", &crate::model::Profile::default(), true);
    case.own = Some(manifest("old"));
    case.intended.clear();
    case.fork_step = 9;
    let report = case.report();
    assert_eq!(report.status, GateStatus::ReadyToResume);
    let found: Vec<_> = report
        .gates
        .iter()
        .map(|gate| gate.found.as_str())
        .collect();
    assert_eq!(found[1], "3 of 3 keys exact");
    assert_eq!(found[2], "none after the checkpoint");
    assert_eq!(found[3], "low risk: local fixtures only, operator ann");
    assert_eq!(found[4], "2 parts pinned, no difference from b1");
}

#[test]
fn acknowledged_drift_of_the_tool_registry_is_enough() {
    let mut case = Case::holding();
    case.key("tool_registry").fingerprint = Some(Digest::of("x"));
    case.drift_acknowledged = true;
    let report = case.report();
    assert_eq!(report.status, GateStatus::ReadyToResume);
    assert_eq!(
        report.gates[1].found,
        "2 of 3 keys exact, tool registry's drift acknowledged"
    );
}

#[test]
fn a_profile_without_required_keys_requires_what_was_recorded() {
    let mut case = Case::holding();
    case.required.clear();
    assert!(case.report().ready());
    case.key("browser").fingerprint = Some(Digest::of("x"));
    assert_eq!(case.report().status, GateStatus::RestoreUncertain);
}

#[test]
fn keys_are_judged_by_comparison() {
    let mut case = Case::holding();
    case.required = ["tool_registry", "workspace", "browser", "agent_memory"]
        .map(str::to_owned)
        .to_vec();
    case.key("browser").fingerprint = Some(Digest::of("x"));
    case.key("agent_memory").fingerprint = None;
    let keys = compare_keys(&State {
        required: &case.required,
        checkpoint: case.checkpoint.as_ref(),
        restored: &case.restored,
        drift_acknowledged: false,
    });
    let got: Vec<_> = keys
        .iter()
        .map(|key| (key.key.as_str(), key.result))
        .collect();
    assert_eq!(
        got,
        [
            ("agent_memory", RestoreResult::Untested),
            ("browser", RestoreResult::Drifted),
            ("tool_registry", RestoreResult::Exact),
            ("workspace", RestoreResult::Missing),
        ]
    );
    let state = &case.report().gates[1];
    assert_eq!(
        state.found,
        "3 of 4 keys not exact: 1 drifted, 1 missing, 1 untested"
    );
    // What fails stands first, the worst at the top.
    let told = &state.details[2];
    let words = "browser drifted: loaded and hashed again; was r1 (";
    assert!(
        told.starts_with(words) && told.contains("), is r1 ("),
        "{told}"
    );
}

#[test]
fn a_held_fork_says_what_to_do() {
    let mut case = Case::holding();
    case.parent = BranchId::main("publish");
    case.approval().binding.parent = case.parent.clone();
    case.ancestors.clear();
    case.effects[1].state = EffectState::Pending;
    case.effects[2].state = EffectState::Pending;
    assert_eq!(
        case.report().reason().unwrap(),
        "gate 3 effects: 2 effects after the checkpoint: 2 pending. \
         Decide: dover set publish --effect mail-4=keep --why TEXT (or =reverted); \
         or say what the tool does: --tool NAME=read_only"
    );
}

#[test]
fn the_outcome_is_judged_by_the_verifier_alone() {
    use GateStatus::{FalseSuccess, Unverified, Verified};
    use Judgement::{CannotJudge, Passed, Rejected};
    let none = CannotJudge(Unjudged::NoVerifier);
    let unanswered = CannotJudge(Unjudged::NoAnswer);
    let table = [
        (Some("17"), Passed, false, Verified),
        (Some("17"), Passed, true, Unverified),
        (Some("18"), Rejected, false, FalseSuccess),
        (Some("18"), Rejected, true, FalseSuccess),
        (Some("17"), none, false, Unverified),
        (None, unanswered, false, Unverified),
        (None, unanswered, true, Unverified),
        (None, Passed, false, Unverified),
        (None, Rejected, false, Unverified),
    ];
    for (answer, judgement, diagnostic, status) in table {
        assert_eq!(outcome(answer, judgement, diagnostic), status);
        let report = Case::holding()
            .report()
            .judged(answer, judgement, diagnostic);
        assert_eq!(report.status, status);
        assert_eq!(report.gates.len(), 6);
        assert_eq!(report.gates[5].holds, Some(status == Verified));
    }
}

proptest! {
    #[test]
    fn any_set_of_faults_is_never_ready(picked in prop::sample::subsequence(FAULTS.to_vec(), 1..5)) {
        // One fault of a gate at most: two could undo each other.
        let mut case = Case::holding();
        let mut seen = std::collections::BTreeSet::new();
        for (_, status, fault) in picked {
            if seen.insert(status) {
                fault(&mut case);
            }
        }
        let report = case.report();
        prop_assert!(!report.ready());
        prop_assert_eq!(Some(&report.status), seen.first());
        prop_assert!(report.reason().is_some());
    }
}
