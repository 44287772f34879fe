//! The chain: each receipt carries its own SHA-256 and that of the one before it, and a head line anchors the end.
//!
//! Whoever can write the file can compute an unsigned chain anew. A signature over the head binds the whole of it to a key.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Receipt;
use crate::gate::key::{KeyError, PrivateKey, PublicKey};
use crate::model::Digest;

/// What is signed begins with this, so that a signature over a head is one over nothing else.
const DOMAIN: &[u8] = b"dover receipt head 1\n";

/// A receipt with its own digest: the SHA-256 of its canonical JSON without this field.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The receipt.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// Its digest.
    pub sha256: Digest,
}

impl Sealed {
    /// Whether its content is what its own digest says. That it belongs to a chain, only the whole chain shows.
    #[must_use]
    pub fn holds(&self) -> bool {
        canonical(&self.receipt).is_ok_and(|text| Digest::of(text) == self.sha256)
    }
}

/// The receipts among the lines of a chain, without its head.
pub fn lines(chain: &str) -> impl Iterator<Item = Sealed> + '_ {
    chain
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
}

/// The last line: how many receipts there are and which is the last.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
struct Head {
    kind: HeadKind,
    count: usize,
    last: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum HeadKind {
    Head,
}

/// RFC 8785.
pub(in crate::gate) fn canonical(value: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json_canonicalizer::to_string(value)
}

/// Seals a receipt: the line to be kept, without its line feed, and its digest.
pub fn seal(receipt: Receipt) -> Result<(String, Digest), serde_json::Error> {
    let sha256 = Digest::of(canonical(&receipt)?);
    Ok((canonical(&Sealed { receipt, sha256 })?, sha256))
}

/// Puts a chain into a file: the lines as they were kept, then the head, signed if a key is given.
pub fn export<'a>(
    lines: impl IntoIterator<Item = &'a str>,
    count: usize,
    last: Digest,
    signer: Option<&PrivateKey>,
) -> Result<String, serde_json::Error> {
    let mut head = Head {
        kind: HeadKind::Head,
        count,
        last,
        key: signer.map(|key| key.public().to_string()),
        signature: None,
    };
    if let Some(key) = signer {
        head.signature = Some(key.sign(&signed_bytes(&head)?));
    }
    let mut text = String::new();
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&canonical(&head)?);
    text.push('\n');
    Ok(text)
}

/// What a head's signature is made over: the head without it.
fn signed_bytes(head: &Head) -> Result<Vec<u8>, serde_json::Error> {
    let bare = Head {
        signature: None,
        ..head.clone()
    };
    Ok([DOMAIN, canonical(&bare)?.as_bytes()].concat())
}

/// A chain that holds together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Its receipts.
    pub receipts: Vec<Receipt>,
    /// Who signed the head.
    pub key: Option<PublicKey>,
    /// Receipts that carry an earlier time than the one before them.
    pub clock_went_back: Vec<usize>,
}

impl Verified {
    /// What the chain does not prove.
    #[must_use]
    pub fn limit(&self) -> &'static str {
        if self.key.is_some() {
            "The signature proves that the holder of this key had this chain. Whose key it is, and whether more receipts came later, it does not prove"
        } else {
            "It is not signed: whoever holds the store could have computed the whole chain anew. `dover receipt export --sign NAME` binds it to a key"
        }
    }
}

/// Where a chain fails first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At a receipt, counted from 1.
    Receipt(usize),
    /// At the head line.
    Head,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Receipt(number) => write!(f, "receipt {number}"),
            Self::Head => f.write_str("the head line"),
        }
    }
}

/// Why a chain does not verify.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} fails: {why}")]
pub struct Fault {
    /// The first place that fails.
    pub place: Place,
    /// What is wrong there.
    pub why: String,
}

/// Verifies an exported chain; `expected` is the key that must have signed it, if one must.
///
/// # Errors
/// The first place that fails, and why.
pub fn verify(bytes: &[u8], expected: Option<&PublicKey>) -> Result<Verified, Fault> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let ended = lines.pop() == Some(b"".as_slice());
    let head = if ended { lines.pop() } else { None };
    let mut receipts = Vec::with_capacity(lines.len());
    let mut clock_went_back = Vec::new();
    let mut last = Digest::ZERO;
    let mut time = String::new();
    for (index, line) in lines.iter().enumerate() {
        let number = index + 1;
        let sealed = link(line, number, last).map_err(|why| Fault {
            place: Place::Receipt(number),
            why,
        })?;
        last = sealed.sha256;
        if sealed.receipt.time < time {
            clock_went_back.push(number);
        }
        time.clone_from(&sealed.receipt.time);
        receipts.push(sealed.receipt);
    }
    let key = head
        .ok_or_else(|| "it is missing or cut off, so receipts may be missing too".to_owned())
        .and_then(|line| anchor(line, receipts.len(), last, expected))
        .map_err(|why| Fault {
            place: Place::Head,
            why,
        })?;
    Ok(Verified {
        receipts,
        key,
        clock_went_back,
    })
}

/// Reads a line that has one spelling only.
fn read<T: Serialize + for<'de> Deserialize<'de>>(line: &[u8], what: &str) -> Result<T, String> {
    let value: T =
        serde_json::from_slice(line).map_err(|error| format!("it is no {what} ({error})"))?;
    match canonical(&value) {
        Ok(text) if text.as_bytes() == line => Ok(value),
        _ => Err("its bytes are not canonical JSON, or it holds what does not belong there".into()),
    }
}

/// Checks one receipt and its link to the one before it.
fn link(line: &[u8], number: usize, previous: Digest) -> Result<Sealed, String> {
    let sealed: Sealed = read(line, "receipt")?;
    let digest = canonical(&sealed.receipt).map(Digest::of);
    if digest.ok() != Some(sealed.sha256) {
        return Err("its content is not what its own digest says, so it was changed".into());
    }
    if sealed.receipt.seq != number {
        let seq = sealed.receipt.seq;
        return Err(format!(
            "it says that it is number {seq}, so one before it was removed, added or moved"
        ));
    }
    if sealed.receipt.previous != previous {
        return Err("it does not follow the one before it, which was replaced".into());
    }
    Ok(sealed)
}

/// Checks the head against what stands before it.
fn anchor(
    line: &[u8],
    count: usize,
    last: Digest,
    expected: Option<&PublicKey>,
) -> Result<Option<PublicKey>, String> {
    let head: Head = read(line, "head line, so the end was cut off")?;
    if head.count != count {
        return Err(format!(
            "it counts {} receipts, but there are {count}",
            head.count
        ));
    }
    if head.last != last {
        return Err("it names another last receipt".into());
    }
    let key = match (&head.key, &head.signature) {
        (None, None) => None,
        (Some(key), Some(signature)) => {
            let key: PublicKey = key.parse().map_err(|error: KeyError| error.to_string())?;
            let bytes = signed_bytes(&head).map_err(|error| error.to_string())?;
            key.verify(&bytes, signature)
                .map_err(|error| error.to_string())?;
            Some(key)
        }
        _ => return Err("it has a key without a signature or a signature without a key".into()),
    };
    match (expected, key) {
        (Some(_), None) => Err("it is not signed".into()),
        (Some(wanted), Some(key)) if *wanted != key => {
            Err(format!("it is signed by another key, {key}"))
        }
        _ => Ok(key),
    }
}
