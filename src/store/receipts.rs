//! The chain of receipts. A receipt is written in the transaction of what it is about: both are there or neither.

use rusqlite::{Connection, Transaction, params};

use super::Store;
use super::error::{Fault, StoreError};
use super::records::ForkRuling;
use super::{lineage, sessions, steps};
use crate::gate::key::PrivateKey;
use crate::gate::receipt::{
    self, About, Content, Decided, Ended, Forked, GateNote, Receipt, Word, canonical_digest,
    hashed, hashed_name, seal,
};
use crate::model::{Branch, BranchId, Digest, Intervention, Manifest, Session, Workflow};

impl Store {
    /// The whole chain as it is exported: the lines as they were kept, then the head, signed if a key is given.
    pub fn receipts(&self, signer: Option<&PrivateKey>) -> Result<String, StoreError> {
        self.read(|conn| {
            let lines: rusqlite::Result<Vec<String>> = conn
                .prepare_cached("SELECT body FROM receipt ORDER BY seq")?
                .query_map([], |row| row.get(0))?
                .collect();
            let (count, last) = head(conn)?;
            receipt::export(lines?.iter().map(String::as_str), count, last, signer)
                .map_err(|error| unwritable(&error))
        })
    }

    /// Records a decision that changes nothing else in the store.
    pub fn decide(
        &self,
        about: About,
        branch: &BranchId,
        what: &str,
        word: Word,
        evidence: &str,
        operator: &str,
    ) -> Result<(), StoreError> {
        self.write(|tx| self.receipt(tx, decided(about, branch, what, word, evidence, operator)))
    }

    /// Appends to the chain, inside the transaction of what the receipt is about.
    pub(super) fn receipt(&self, tx: &Transaction<'_>, content: Content) -> Result<(), Fault> {
        let (count, last) = head(tx)?;
        let receipt = Receipt {
            seq: count + 1,
            time: self.inner.clock.now(),
            previous: last,
            content,
        };
        let (line, digest) = seal(receipt).map_err(|error| unwritable(&error))?;
        tx.prepare_cached("INSERT INTO receipt (seq, body) VALUES (?1, ?2)")?
            .execute(params![count + 1, line])?;
        tx.prepare_cached("UPDATE receipt_head SET count = ?1, last = ?2")?
            .execute(params![count + 1, digest])?;
        Ok(())
    }
}

fn head(conn: &Connection) -> rusqlite::Result<(usize, Digest)> {
    conn.prepare_cached("SELECT count, last FROM receipt_head")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// A fork's receipt, or that of its refusal.
pub(super) fn forked(
    conn: &Connection,
    intervention: &Intervention,
    operator: &str,
    prefix: Digest,
    branches: &[Branch],
    ruling: &ForkRuling,
) -> Result<Content, Fault> {
    let (_, session) = sessions::header(conn, intervention.parent.session())?;
    let evidence = &ruling.receipt;
    let approval = evidence.approval.as_ref();
    let workflow = workflow_digest(&session.workflow())?;
    let at_start = session.at_start.as_deref();
    let at_start = at_start.map(workflow_digest).transpose()?;
    let forked = Forked {
        intervention: hashed(&intervention.id),
        parent: hashed(intervention.parent.as_str()),
        fork_step: intervention.step,
        prefix,
        branches: branches
            .iter()
            .map(|branch| hashed(branch.id.as_str()))
            .collect(),
        category: intervention.category,
        edit_class: intervention.class,
        edit: intervention.edit_digest,
        runs: intervention.n,
        operator: hashed_name(operator),
        approver: approval.and_then(|(owner, _)| hashed_name(owner)),
        approval: approval.map(|(_, text)| Digest::of(text)),
        profile: workflow,
        profile_at_start: at_start.filter(|digest| *digest != workflow),
        config: evidence.config.as_ref().map(Manifest::digest),
        diagnostic: ruling.diagnostic,
        gates: GateNote::of(&evidence.gates),
        status: ruling.gate,
    };
    Ok(if ruling.go {
        Content::Fork(forked)
    } else {
        Content::Refusal(forked)
    })
}

/// The receipt of what somebody decided.
pub(super) fn decided(
    about: About,
    branch: &BranchId,
    what: &str,
    word: Word,
    evidence: &str,
    operator: &str,
) -> Content {
    Content::Decision(Decided {
        about,
        branch: hashed(branch.as_str()),
        operation: hashed(what),
        state: word,
        evidence: Digest::of(evidence),
        operator: hashed_name(operator),
    })
}

/// The receipt of a workflow that somebody changed: the evidence is the new one's digest, as later forks carry it.
pub(super) fn workflow_changed(session: &Session, operator: &str) -> Result<Content, Fault> {
    Ok(Content::Decision(Decided {
        about: About::Profile,
        branch: hashed(BranchId::main(&session.id).as_str()),
        operation: hashed(&session.id),
        state: Word::Changed,
        evidence: workflow_digest(&session.workflow())?,
        operator: hashed_name(operator),
    }))
}

fn workflow_digest(workflow: &Workflow) -> Result<Digest, Fault> {
    canonical_digest(workflow).map_err(|error| unwritable(&error))
}

/// The receipt of a run that came to its end.
pub(super) fn ended(conn: &Connection, branch: &Branch) -> Result<Content, Fault> {
    let (_, session) = sessions::header(conn, branch.id.session())?;
    let line = lineage::Line::of(conn, &branch.id)?;
    let trajectory = steps::recorded_digest(conn, &line, line.len)?
        .ok_or_else(|| steps::no_step(&branch.id, line.len, line.len))?;
    Ok(Content::Outcome(Ended {
        branch: hashed(branch.id.as_str()),
        run: branch.run,
        status: branch.gate,
        diagnostic: branch.diagnostic,
        answered: branch.answer.is_some(),
        success: branch.success,
        verifier: session.verifier.as_ref().map(Into::into),
        fulfilled: branch.fulfilled,
        milestones: branch.milestones,
        steps: branch.steps,
        trajectory,
    }))
}

/// Receipts are plain records, so this would be a fault of the program.
fn unwritable(error: &serde_json::Error) -> Fault {
    StoreError::Refused(format!(
        "the receipt could not be written ({error}), so nothing was. This is a fault of dover: please report it"
    ))
    .into()
}
