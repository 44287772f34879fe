//! `dover receipt show|export|verify`: the chain of receipts, read, handed out, and checked offline.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use super::args::{Receipt as Args, ReceiptWhat};
use super::context::Context;
use super::error::{CliError, Exit};
use super::out::{Answer, Out, Tone};
use super::place;
use crate::gate::key::PublicKey;
use crate::gate::receipt::{self, Content, Fault, Receipt, hashed};
use crate::model::Digest;
use crate::pipeline::Keyring;
use crate::store::Store;

/// Runs the subcommand.
pub fn run(context: &mut Context, args: Args) -> Result<Exit, CliError> {
    match args.what {
        ReceiptWhat::Show => show(context),
        ReceiptWhat::Export { out, force, sign } => {
            let signer = sign
                .map(|name| Keyring::open()?.private(&name))
                .transpose()?;
            let text = context.store()?.receipts(signer.as_ref())?;
            if let Err(fault) = receipt::verify(text.as_bytes(), None) {
                return Err(CliError::Damaged(fault));
            }
            place::put(&mut context.out, out.as_deref(), force, |out| {
                Ok(out.write_all(text.as_bytes())?)
            })?;
            Ok(Exit::Done)
        }
        ReceiptWhat::Verify { file, key } => {
            let bytes = match file {
                Some(path) => super::classify::bytes(&path)?,
                None => context.store()?.receipts(None)?.into_bytes(),
            };
            verify(context, &bytes, key.as_ref())
        }
    }
}

#[derive(Serialize)]
struct Checked {
    verified: bool,
    receipts: Option<usize>,
    key: Option<String>,
    place: Option<String>,
    reason: Option<String>,
    clock_went_back: Vec<usize>,
    limit: Option<&'static str>,
}

fn verify(context: &mut Context, bytes: &[u8], key: Option<&PublicKey>) -> Result<Exit, CliError> {
    let (exit, checked) = match receipt::verify(bytes, key) {
        Ok(found) => (
            Exit::Done,
            Checked {
                verified: true,
                receipts: Some(found.receipts.len()),
                key: found.key.map(|key| key.to_string()),
                place: None,
                reason: None,
                limit: Some(found.limit()),
                clock_went_back: found.clock_went_back,
            },
        ),
        Err(Fault { place, why }) => (
            Exit::Held,
            Checked {
                verified: false,
                receipts: None,
                key: None,
                place: Some(place.to_string()),
                reason: Some(why),
                clock_went_back: Vec::new(),
                limit: None,
            },
        ),
    };
    context.out.give(&checked)?;
    Ok(exit)
}

impl Answer for Checked {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        if let (Some(place), Some(reason)) = (&self.place, &self.reason) {
            out.row(Tone::Bad, &format!("does not verify: {place} fails"))?;
            return out.para(2, reason);
        }
        let count = self.receipts.unwrap_or_default();
        let noun = if count == 1 { "receipt" } else { "receipts" };
        out.row(
            Tone::Good,
            &format!("verifies: {count} {noun}, nothing missing before the head"),
        )?;
        if let Some(key) = &self.key {
            out.labelled("  signed by ", key)?;
        }
        for number in &self.clock_went_back {
            out.para(2, &format!("The clock went back before receipt {number}."))?;
        }
        out.para(2, &format!("{}.", self.limit.unwrap_or_default()))
    }
}

#[derive(Serialize)]
struct Shown {
    receipts: Vec<Receipt>,
    #[serde(skip)]
    names: BTreeMap<Digest, String>,
}

fn show(context: &mut Context) -> Result<Exit, CliError> {
    let store = context.store()?;
    let text = store.receipts(None)?;
    let found = receipt::verify(text.as_bytes(), None).map_err(CliError::Damaged)?;
    let names = names(&store)?;
    context.out.give(&Shown {
        receipts: found.receipts,
        names,
    })?;
    Ok(Exit::Done)
}

/// What this store knows of the ids that the receipts have hashed.
fn names(store: &Store) -> Result<BTreeMap<Digest, String>, CliError> {
    let mut names = BTreeMap::new();
    for session in store.session_ids()? {
        for branch in store.branches(&session)? {
            names.insert(hashed(branch.id.as_str()), branch.id.to_string());
        }
    }
    Ok(names)
}

impl Answer for Shown {
    fn print(&self, out: &mut Out) -> io::Result<()> {
        if self.receipts.is_empty() {
            return out.para(0, "There are no receipts yet: a fork writes the first.");
        }
        let name = |digest: &Digest| {
            self.names
                .get(digest)
                .cloned()
                .unwrap_or_else(|| digest.short())
        };
        for receipt in &self.receipts {
            let (kind, told) = match &receipt.content {
                Content::Fork(made) | Content::Refusal(made) => {
                    let branches: Vec<_> = made.branches.iter().map(name).collect();
                    let kind = if matches!(receipt.content, Content::Fork(_)) {
                        "fork"
                    } else {
                        "refusal"
                    };
                    let diagnostic = if made.diagnostic { ", diagnostic" } else { "" };
                    let (step, status) = (made.fork_step, made.status.name());
                    (
                        kind,
                        format!(
                            "{} at step {step}: {status}{diagnostic}",
                            branches.join(", ")
                        ),
                    )
                }
                Content::Decision(said) => {
                    let (branch, state) = (name(&said.branch), said.state.name());
                    (
                        "decision",
                        format!("{branch}: operation {} is {state}", said.operation.short()),
                    )
                }
                Content::Outcome(end) => {
                    let status = end.status.map_or("no status", |status| status.name());
                    let run = end.run.name();
                    (
                        "outcome",
                        format!(
                            "{}: {run}, {status}, {} steps",
                            name(&end.branch),
                            end.steps
                        ),
                    )
                }
            };
            let (seq, time) = (receipt.seq, &receipt.time);
            out.labelled(&format!("{seq:>4}  {time}  {kind:<8}  "), &told)?;
        }
        Ok(())
    }
}
