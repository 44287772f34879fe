//! What differs and why, and that nothing differs unsaid.

use proptest::prelude::*;

use super::*;
use crate::model::{Digest, Part};

fn manifest(parts: &[(&str, &str)]) -> Manifest {
    let mut manifest = Manifest::default();
    for (name, content) in parts {
        manifest.add(*name, content, (*name == "model").then_some(content));
    }
    manifest
}

fn model(name: &str) -> ConfigChange {
    ConfigChange::Model { name: name.into() }
}

fn judged(pin: &Pinned, own: &Manifest, intended: &[ConfigChange], accepted: bool) -> GateResult {
    gate(&Config {
        parent: "main",
        pin,
        own: Some(own),
        intended,
        accepted,
    })
}

#[test]
fn what_differs_is_named_with_its_reason() {
    let old = manifest(&[("model", "a"), ("role Reader", "reads"), ("routing", "")]);
    let new = manifest(&[("model", "b"), ("role Reader", "reads"), ("routing", "")]);
    let log = manifest(&[("role Reader", "reads"), ("routing", "")]);
    let whole = Pinned::Whole(old.clone());
    let table = [
        (
            &whole,
            &old,
            None,
            false,
            Some("3 parts pinned, no difference from main"),
            "",
        ),
        (
            &whole,
            &new,
            None,
            false,
            None,
            "model: a → b (nobody asked for it)",
        ),
        (
            &whole,
            &new,
            None,
            true,
            Some("3 parts pinned, 1 accepted"),
            "model: a → b (accepted)",
        ),
        (
            &whole,
            &new,
            Some("b"),
            false,
            Some("3 parts pinned, 1 as asked"),
            "model: a → b (as asked)",
        ),
        (
            &Pinned::Told(log),
            &new,
            None,
            false,
            Some("3 parts pinned, 1 of them by this fork"),
            "model: not there → b (pinned by this fork)",
        ),
        (
            &Pinned::Nothing,
            &new,
            Some("b"),
            false,
            Some("3 parts pinned, 2 of them by this fork, 1 as asked"),
            "model: not there → b (as asked)",
        ),
    ];
    for (pin, own, asked, accepted, found, detail) in table {
        let asked: Vec<ConfigChange> = asked.map(model).into_iter().collect();
        let gate = judged(pin, own, &asked, accepted);
        assert_eq!(gate.holds, Some(found.is_some()), "{detail}");
        assert_eq!(gate.details.first().map_or("", String::as_str), detail);
        let unasked = "1 of 3 parts differs from main, unasked";
        assert_eq!(gate.found, found.unwrap_or(unasked));
        let offers = gate.actions.contains(&Action::AcceptDelta);
        assert_eq!(offers, found.is_none());
    }
}

#[test]
fn a_change_that_the_run_does_not_have_cannot_be_accepted() {
    let old = manifest(&[("model", "a")]);
    let whole = Pinned::Whole(old.clone());
    for own in [
        old,
        manifest(&[("model", "c")]),
        manifest(&[("routing", "")]),
    ] {
        let gate = judged(&whole, &own, &[model("b")], true);
        assert_eq!(gate.holds, Some(false));
        assert_eq!(gate.found, "1 change asked for did not come about");
        assert!(gate.actions.is_empty());
    }
}

#[test]
fn receipts_count_the_kinds_of_evidence() {
    let old = manifest(&[("model", "a"), ("role Reader", "reads")]);
    let new = manifest(&[("model", "b"), ("role Reader", "writes")]);
    let gate = judged(&Pinned::Whole(old), &new, &[model("b")], true);
    let kinds: Vec<_> = gate.evidence.into_iter().collect();
    assert_eq!(kinds, [("accepted", 1), ("delta", 1), ("pin", 1)]);
}

const NAMES: [&str; 5] = [
    "model",
    "role Reader",
    "prompt Reader",
    "tool mail",
    "routing",
];

fn any_manifest() -> impl Strategy<Value = Manifest> {
    prop::collection::btree_map(prop::sample::select(&NAMES[..]), "[a-c]{0,2}", 1..5).prop_map(
        |parts| {
            manifest(
                &parts
                    .iter()
                    .map(|(k, v)| (*k, v.as_str()))
                    .collect::<Vec<_>>(),
            )
        },
    )
}

proptest! {
    #[test]
    fn a_change_of_one_part_never_passes_unaccepted(
        pinned in any_manifest(),
        name in prop::sample::select(&NAMES[..]),
        content in prop::option::of("[d-f]{1,2}"),
    ) {
        let mut own = pinned.clone();
        match &content {
            Some(content) => own.add(name, content, None),
            None => { own.0.remove(name); }
        }
        prop_assume!(own != pinned && !own.0.is_empty());
        let pin = Pinned::Whole(pinned);
        prop_assert_eq!(judged(&pin, &own, &[], false).holds, Some(false));
        prop_assert_eq!(judged(&pin, &own, &[], true).holds, Some(true));
    }

    #[test]
    fn what_a_log_tells_never_changes_unasked(told in any_manifest(), at in any::<prop::sample::Index>()) {
        let mut own = told.clone();
        let name = at.get(&own.0.keys().cloned().collect::<Vec<_>>()).clone();
        own.0.insert(name, Part { digest: Digest::of("other"), shown: None });
        own.add("team prompts", "ours", None);
        prop_assert_eq!(judged(&Pinned::Told(told.clone()), &own, &[], false).holds, Some(false));
        let mut more = told.clone();
        more.add("team prompts", "ours", None);
        let gate = judged(&Pinned::Told(told), &more, &[], false);
        prop_assert_eq!(gate.holds, Some(true));
        prop_assert_eq!(gate.details.len(), 1);
    }
}
