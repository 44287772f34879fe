//! The chain against everything that can happen to a file.

use proptest::prelude::*;

use super::*;
use crate::gate::key::PrivateKey;

fn key(seed: u8) -> PrivateKey {
    PrivateKey::from_seed(&[seed; 32])
}

fn forked(n: usize) -> Forked {
    Forked {
        intervention: hashed("s/i1"),
        parent: hashed("s/main"),
        fork_step: n,
        prefix: Digest::of("prefix"),
        branches: vec![hashed("s/b1"), hashed("s/b2")],
        category: Category::Plan,
        edit_class: Some(EditClass::AddDetail),
        edit: Digest::of("edit"),
        runs: 2,
        operator: hashed_name("ann"),
        approver: hashed_name(" "),
        approval: None,
        profile: Digest::of("profile"),
        profile_at_start: (n > 3).then(|| Digest::of("profile at start")),
        config: Some(Digest::of("config")),
        diagnostic: false,
        gates: vec![GateNote {
            gate: 2,
            holds: true,
            evidence: [("exact".to_owned(), 5)].into(),
        }],
        status: GateStatus::ReadyToResume,
    }
}

fn contents() -> Vec<Content> {
    vec![
        Content::Refusal(forked(3)),
        Content::Decision(Decided {
            about: About::Effect,
            branch: hashed("s/main"),
            operation: hashed("ticket-1"),
            state: Word::Reconciled,
            evidence: Digest::of("keep"),
            operator: None,
        }),
        Content::Fork(forked(3)),
        Content::Outcome(Ended {
            branch: hashed("s/b1"),
            run: RunStatus::Done,
            status: Some(GateStatus::Verified),
            diagnostic: false,
            answered: true,
            success: Some(true),
            verifier: Some(VerifierKind::Contains),
            fulfilled: None,
            milestones: Some(Tally {
                before: 1,
                after: 3,
                of: 4,
            }),
            steps: 9,
            trajectory: Digest::of("steps"),
        }),
    ]
}

fn chain_of(contents: Vec<Content>, signer: Option<&PrivateKey>) -> String {
    let mut previous = Digest::ZERO;
    let mut lines = Vec::new();
    for (index, content) in contents.into_iter().enumerate() {
        let (line, digest) = seal(Receipt {
            seq: index + 1,
            time: format!("2026-03-02T10:00:0{index}Z"),
            previous,
            content,
        })
        .unwrap();
        previous = digest;
        lines.push(line);
    }
    export(
        lines.iter().map(String::as_str),
        lines.len(),
        previous,
        signer,
    )
    .unwrap()
}

fn fails(text: &str) -> String {
    verify(text.as_bytes(), None).unwrap_err().to_string()
}

#[test]
fn a_chain_comes_back_as_it_was_written() {
    let text = chain_of(contents(), None);
    let found = verify(text.as_bytes(), None).unwrap();
    let back: Vec<_> = found
        .receipts
        .into_iter()
        .map(|receipt| receipt.content)
        .collect();
    assert_eq!(back, contents());
    assert_eq!((found.key, found.clock_went_back), (None, vec![]));
    let empty = chain_of(vec![], Some(&key(1)));
    assert_eq!(
        verify(empty.as_bytes(), None).unwrap().key,
        Some(key(1).public())
    );
}

#[test]
fn a_receipt_is_canonical_json_with_its_own_digest() {
    let text = chain_of(contents(), None);
    let line = text.lines().nth(1).unwrap();
    // RFC 8785 by hand: keys in order, no white space.
    let digest = |text: &str| Digest::of(text).to_string();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let bare = format!(
        r#"{{"branch":"{}","evidence":"{}","kind":"decision","operation":"{}","operator":null,"previous":"{}","seq":2,"state":"reconciled","time":"2026-03-02T10:00:01Z"}}"#,
        hashed("s/main"),
        digest("keep"),
        hashed("ticket-1"),
        first["sha256"].as_str().unwrap(),
    );
    let sealed = bare.replace(
        r#","state""#,
        &format!(r#","sha256":"{}","state""#, digest(&bare)),
    );
    assert_eq!(line, sealed);
}

#[test]
fn every_change_of_one_byte_in_a_signed_chain_is_found() {
    let text = chain_of(contents().split_off(2), Some(&key(1))).into_bytes();
    assert!(verify(&text, None).is_ok());
    for at in 0..text.len() {
        // Another letter case, the nearest byte, a flipped high bit, a line feed, a space.
        for byte in [text[at] ^ 0x20, text[at] ^ 1, text[at] ^ 0x80, b'\n', b' '] {
            let mut changed = text.clone();
            changed[at] = byte;
            assert!(
                changed == text || verify(&changed, None).is_err(),
                "byte {at} to {byte}"
            );
        }
        let mut shorter = text.clone();
        shorter.remove(at);
        assert!(verify(&shorter, None).is_err(), "without byte {at}");
        assert!(verify(&text[..at], None).is_err(), "cut at {at}");
    }
}

#[test]
fn what_fails_first_is_named() {
    let text = chain_of(contents(), None);
    let lines: Vec<&str> = text.lines().collect();
    let of =
        |picked: &[usize]| -> String { picked.iter().flat_map(|i| [lines[*i], "\n"]).collect() };
    let table = [
        (
            of(&[0, 2, 3, 4]),
            "receipt 2 fails: it says that it is number 3",
        ),
        (
            of(&[1, 2, 3, 4]),
            "receipt 1 fails: it says that it is number 2",
        ),
        (
            of(&[0, 2, 1, 3, 4]),
            "receipt 2 fails: it says that it is number 3",
        ),
        (
            of(&[0, 1, 1, 2, 3, 4]),
            "receipt 3 fails: it says that it is number 2",
        ),
        (
            of(&[0, 1, 2, 4]),
            "the head line fails: it counts 4 receipts, but there are 3",
        ),
        (
            of(&[0, 1, 2, 3]),
            "the head line fails: it is no head line, so the end was cut off",
        ),
        (of(&[0, 1, 4, 2, 3, 4]), "receipt 3 fails: it is no receipt"),
        (of(&[]), "the head line fails: it is missing"),
        (
            text.trim_end().to_owned(),
            "the head line fails: it is missing",
        ),
        (
            text.replace('\n', "\r\n"),
            "receipt 1 fails: its bytes are not canonical",
        ),
        (
            text.replacen("\"operator\":null", "\"operator\":null,\"text\":\"x\"", 1),
            "receipt 2 fails: its bytes are not canonical",
        ),
        (
            text.replacen("reconciled", "reverted", 1),
            "receipt 2 fails: its content is not what its own digest says",
        ),
    ];
    for (text, told) in table {
        let fault = fails(&text);
        assert!(fault.starts_with(told), "{fault}\nnot {told}");
    }
    // A receipt replaced by another that is whole in itself: its follower tells.
    let mut other = contents();
    other[1] = Content::Fork(forked(7));
    let other = chain_of(other, None);
    let mixed = text.replace(lines[1], other.lines().nth(1).unwrap());
    assert_eq!(
        fails(&mixed),
        "receipt 3 fails: it does not follow the one before it, which was replaced"
    );
    // One added at the end of the lines, the head being left alone.
    let longer = chain_of([contents(), vec![Content::Fork(forked(1))]].concat(), None);
    let added = longer
        .lines()
        .take(5)
        .flat_map(|line| [line, "\n"])
        .collect::<String>();
    assert!(
        fails(&format!("{added}{}\n", lines[4]))
            .starts_with("the head line fails: it counts 4 receipts, but there are 5")
    );
}

#[test]
fn a_chain_computed_anew_passes_unsigned_and_fails_under_the_key() {
    let mut forged = contents();
    forged.pop();
    let unsigned = chain_of(forged.clone(), None);
    let found = verify(unsigned.as_bytes(), None).unwrap();
    assert!(found.limit().contains("computed the whole chain anew"));
    let wanted = key(1).public();
    let told = |text: &str| verify(text.as_bytes(), Some(&wanted)).map_err(|fault| fault.why);
    assert_eq!(told(&unsigned).unwrap_err(), "it is not signed");
    let other = told(&chain_of(forged.clone(), Some(&key(2)))).unwrap_err();
    assert!(other.starts_with("it is signed by another key"));
    assert!(told(&chain_of(forged.clone(), Some(&key(1)))).is_ok());
    // The old signature under a new head.
    let signed = chain_of(contents(), Some(&key(1)));
    let line = |text: &str| text.lines().last().unwrap().to_owned();
    let old: serde_json::Value = serde_json::from_str(&line(&signed)).unwrap();
    let mut head: serde_json::Value = serde_json::from_str(&line(&unsigned)).unwrap();
    head["key"] = old["key"].clone();
    head["signature"] = old["signature"].clone();
    let head = chain::canonical(&head).unwrap();
    let told = fails(&unsigned.replace(&line(&unsigned), &head));
    assert_eq!(told, "the head line fails: the signature does not fit");
}

#[test]
fn a_clock_that_goes_back_is_told_and_breaks_nothing() {
    let receipt = |seq, time: &str, previous| {
        let content = Content::Fork(forked(1));
        seal(Receipt {
            seq,
            time: time.into(),
            previous,
            content,
        })
        .unwrap()
    };
    let (one, first) = receipt(1, "2026-03-02T10:00:00Z", Digest::ZERO);
    let (two, last) = receipt(2, "2026-03-02T09:00:00Z", first);
    let text = export([one.as_str(), two.as_str()], 2, last, None).unwrap();
    assert_eq!(verify(text.as_bytes(), None).unwrap().clock_went_back, [2]);
}

proptest! {
    #[test]
    fn any_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(verify(&bytes, None).is_err());
    }

    #[test]
    fn any_cut_and_paste_of_lines_is_found(picked in prop::collection::vec(0..5_usize, 0..7)) {
        let text = chain_of(contents(), Some(&key(1)));
        let lines: Vec<&str> = text.lines().collect();
        let made: String = picked.iter().flat_map(|i| [lines[*i], "\n"]).collect();
        prop_assert_eq!(verify(made.as_bytes(), None).is_ok(), made == text);
    }
}
