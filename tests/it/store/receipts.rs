//! Receipts in the store: one with each fork, decision and outcome, in one chain, without content, whole after a kill.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use dover::gate::receipt::{Content, Receipt, Word, hashed, verify};
use dover::model::{
    BranchId, Digest, Effect, EffectClass, EffectState, GateStatus, Profile, RunStatus, Session,
    Verifier,
};
use dover::store::{Ending, ForkEvidence, ForkRuling, Store};

use super::{
    draft, ending, fork_and_start, fresh, go, message, open, plain_steps, session, take_in,
};

/// Stands wherever a person's text, secret or path may stand.
const MARKER: &str = "zq7marker";

fn chain(store: &Store) -> Vec<Receipt> {
    let text = store.receipts(None).unwrap();
    verify(text.as_bytes(), None).unwrap().receipts
}

fn mail(step: usize) -> Effect {
    Effect {
        step,
        agent: MARKER.to_owned(),
        tool: MARKER.to_owned(),
        class: EffectClass::Permanent,
        operation_key: format!("{MARKER}-{step}"),
        args_sha256: Digest::of("args"),
        result: Some(MARKER.to_owned()),
        state: EffectState::Pending,
        evidence: None,
    }
}

fn hold() -> ForkRuling {
    ForkRuling {
        gate: GateStatus::EffectsUnreconciled,
        go: false,
        diagnostic: false,
        reason: Some(format!("{MARKER} was sent")),
        receipt: ForkEvidence::default(),
    }
}

/// A refusal, a decision, a fork and an outcome, with the marker in everything that can be named.
fn history(store: &Store) -> BranchId {
    let mut import = store.import().unwrap();
    let all = [message(0, MARKER, MARKER), message(1, MARKER, MARKER)];
    import.push(&all[0], None, &[]).unwrap();
    import.push(&all[1], None, &[mail(1)]).unwrap();
    let header = Session {
        source: Some(format!("{MARKER}.json")),
        expected: Some(MARKER.to_owned()),
        verifier: Some(Verifier::Contains(MARKER.to_owned())),
        profile: Profile {
            sensitive: vec![MARKER.to_owned()],
            ..Profile::default()
        },
        ..session(MARKER)
    };
    let main = BranchId::main(&import.finish(header, ending(RunStatus::Done)).unwrap());
    let mut fork = draft(&main, 1, 1);
    fork.intervention.text = Some(MARKER.to_owned());
    MARKER.clone_into(&mut fork.intervention.operator);
    store.fork(fork.clone(), &mut |_| hold()).unwrap();
    store
        .set_effect(
            &main,
            &format!("{MARKER}-1"),
            EffectState::Reconciled,
            MARKER,
            MARKER,
        )
        .unwrap();
    let (_, branches) = store.fork(fork, &mut go).unwrap();
    let branch = branches[0].id.clone();
    store.start(&branch).unwrap();
    store
        .append(&branch, &message(1, MARKER, MARKER), None, &[])
        .unwrap();
    let end = Ending {
        gate: Some(GateStatus::Verified),
        success: Some(true),
        answer: Some(MARKER.to_owned()),
        reason: Some(MARKER.to_owned()),
        ..ending(RunStatus::Done)
    };
    store.end(&branch, &end).unwrap();
    branch
}

#[test]
fn each_fork_decision_and_outcome_leaves_one_receipt() {
    let (_dir, store) = fresh();
    assert_eq!(chain(&store), []);
    let branch = history(&store);
    let receipts = chain(&store);
    let [refusal, decision, fork, outcome] = receipts.as_slice() else {
        panic!("four receipts, not {}", receipts.len());
    };
    let Content::Refusal(refusal) = &refusal.content else {
        panic!("{refusal:?}")
    };
    assert_eq!(refusal.status, GateStatus::EffectsUnreconciled);
    assert_eq!(refusal.branches, [hashed(&format!("{MARKER}/b1"))]);
    assert_eq!(refusal.operator, Some(hashed("ann")));
    let Content::Decision(decision) = &decision.content else {
        panic!("{decision:?}")
    };
    assert_eq!(decision.state, Word::Reconciled);
    assert_eq!(decision.operation, hashed(&format!("{MARKER}-1")));
    let Content::Fork(fork) = &fork.content else {
        panic!("{fork:?}")
    };
    assert_eq!(fork.branches, [hashed(branch.as_str())]);
    let Content::Outcome(outcome) = &outcome.content else {
        panic!("{outcome:?}")
    };
    assert_eq!(outcome.branch, hashed(branch.as_str()));
    assert_eq!(
        (outcome.status, outcome.success),
        (Some(GateStatus::Verified), Some(true))
    );
    assert!(outcome.answered && outcome.steps == 2);
}

#[test]
fn what_is_refused_leaves_no_receipt() {
    let (_dir, store) = fresh();
    let main = take_in(&store, session("s"), &plain_steps(3));
    assert!(store.fork(draft(&main, 9, 1), &mut go).is_err());
    assert!(
        store
            .set_effect(&main, "nothing", EffectState::Reverted, "", "ann")
            .is_err()
    );
    assert!(store.end(&main, &ending(RunStatus::Done)).is_err());
    assert_eq!(chain(&store), []);
}

#[test]
fn no_receipt_holds_content() {
    let (_dir, store) = fresh();
    history(&store);
    let text = store.receipts(None).unwrap();
    assert_eq!(text.lines().count(), 5);
    assert!(!text.contains(MARKER), "{text}");
    // Nor does the plain digest of a text, which could be guessed word by word, stand for an answer.
    let answer = Digest::of(MARKER).to_string();
    let outcome = text.lines().nth(3).unwrap();
    assert!(!outcome.contains(&answer));
}

#[test]
fn what_another_program_does_to_the_receipts_is_found() {
    let cases = [
        "DROP TRIGGER receipt_delete; DELETE FROM receipt WHERE seq = 4",
        "DROP TRIGGER receipt_delete; DELETE FROM receipt WHERE seq = 2",
        "DROP TRIGGER receipt_update; UPDATE receipt SET body = replace(body, 'verified', 'unverified') WHERE seq = 4",
        "UPDATE receipt_head SET count = 3",
    ];
    for sql in cases {
        let (dir, store) = fresh();
        history(&store);
        let other = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
        assert!(other.execute("DELETE FROM receipt", []).is_err());
        assert!(other.execute("UPDATE receipt SET body = ''", []).is_err());
        other.execute_batch(sql).unwrap();
        let text = store.receipts(None).unwrap();
        assert!(verify(text.as_bytes(), None).is_err(), "{sql}");
    }
}

/// Says to the child which store to write to.
const STORE: &str = "DOVER_TEST_RECEIPTS_STORE";

/// Not a test by itself: the process that is killed.
#[test]
fn child() {
    let Some(path) = std::env::var_os(STORE) else {
        return;
    };
    let store = open(Path::new(&path));
    let main = take_in(&store, session("s"), &plain_steps(5));
    for n in 0_usize.. {
        if n % 2 == 0 {
            store.fork(draft(&main, 3, 2), &mut |_| hold()).unwrap();
        } else {
            let branch = fork_and_start(&store, &main, 3);
            store.end(&branch, &ending(RunStatus::Stopped)).unwrap();
        }
        println!("made {n}");
    }
}

#[test]
fn a_kill_leaves_a_fork_with_its_receipt_or_neither() {
    for made in 0..8 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "store::receipts::child",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(STORE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let wanted = format!("made {made}");
        let told = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok)
            .find(|line| line.contains(&wanted));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(told.is_some(), "the child ended by itself");

        let store = open(&path);
        let count = |of: fn(&Content) -> bool| {
            chain(&store)
                .iter()
                .filter(|receipt| of(&receipt.content))
                .count()
        };
        let forks = count(|content| matches!(content, Content::Fork(_) | Content::Refusal(_)));
        assert!(forks > made);
        assert_eq!(store.interventions("s").unwrap().len(), forks);
        let branches = store.branches("s").unwrap();
        assert_eq!(branches.len(), forks + 1);
        let stopped = branches
            .iter()
            // What was running when the process went is interrupted by whoever opens the store, with a receipt as well.
            .filter(|branch| matches!(branch.run, RunStatus::Stopped | RunStatus::Interrupted))
            .count();
        assert_eq!(
            count(|content| matches!(content, Content::Outcome(_))),
            stopped
        );
    }
}

#[test]
fn a_store_of_schema_1_gets_a_chain() {
    let (dir, store) = fresh();
    let main = take_in(&store, session("s"), &plain_steps(3));
    drop(store);
    let path = dir.path().join("store.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch(
            "DROP TABLE note; DROP TABLE draft; DROP TABLE carried; DROP TABLE receipt; DROP TABLE receipt_head; DROP TABLE approval;
             DROP TABLE attempt; DROP TABLE hypothesis; DROP TABLE debugging; ALTER TABLE branch DROP COLUMN usage;
             ALTER TABLE branch DROP COLUMN config; ALTER TABLE branch DROP COLUMN operator;
             PRAGMA user_version = 1",
        )
        .unwrap();
    drop(other);
    let store = open(&path);
    store.fork(draft(&main, 1, 1), &mut go).unwrap();
    assert_eq!(chain(&store).len(), 1);
}
