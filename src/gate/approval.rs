//! Approvals: an owner's signed word that exactly one intervention may run (SPEC 3, gate 4).
//!
//! What is signed is canonical JSON (RFC 8785) behind a line that no other signature of dover begins with. An approval is a
//! bearer of nothing: it counts only beside a profile that names its key, at its time, once, for what it is bound to.

use serde::{Deserialize, Serialize};

use super::authority::{Approval, Binding, Flaw};
use super::key::{PrivateKey, PublicKey};
use super::receipt::canonical;
use crate::model::Profile;

/// What is signed begins with this.
const DOMAIN: &[u8] = b"dover approval 1\n";

/// What an owner says.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What may run.
    #[serde(flatten)]
    pub binding: Binding,
    /// Who says so.
    pub owner: String,
    /// Since when, RFC 3339.
    pub issued: String,
    /// Until when, RFC 3339.
    pub expires: String,
}

/// A statement with its signature.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// What was signed.
    #[serde(flatten)]
    pub statement: Statement,
    /// The signer's public key.
    pub key: String,
    /// Ed25519 over the statement, in hex.
    pub signature: String,
}

/// Signs a statement; the text is what is kept and handed on.
pub fn sign(statement: Statement, key: &PrivateKey) -> Result<String, serde_json::Error> {
    let signature = key.sign(&signed_bytes(&statement)?);
    canonical(&Signed {
        statement,
        key: key.public().to_string(),
        signature,
    })
}

fn signed_bytes(statement: &Statement) -> Result<Vec<u8>, serde_json::Error> {
    Ok([DOMAIN, canonical(statement)?.as_bytes()].concat())
}

impl Signed {
    /// Reads an approval, which has one spelling only.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_end_matches('\n');
        let signed: Self =
            serde_json::from_str(text).map_err(|error| format!("it is no approval ({error})"))?;
        match canonical(&signed) {
            Ok(own) if own == text => Ok(signed),
            _ => Err(
                "its bytes are not canonical JSON, or it holds what does not belong there".into(),
            ),
        }
    }

    /// What is wrong with it at this moment, beside what it is bound to.
    #[must_use]
    pub fn flaw(&self, profile: &Profile, editor: &str, now: &str, used: bool) -> Option<Flaw> {
        let said = &self.statement;
        let key: Option<PublicKey> = self.key.parse().ok();
        let genuine = key.is_some_and(|key| {
            signed_bytes(said).is_ok_and(|bytes| key.verify(&bytes, &self.signature).is_ok())
        });
        if !genuine {
            return Some(Flaw::Signature);
        }
        if profile.owners.get(&said.owner) != Some(&self.key) {
            return Some(Flaw::Stranger);
        }
        if profile.not_the_editor && is_the_editor(profile, &said.owner, editor) {
            return Some(Flaw::Editor);
        }
        let time = |text: &str| text.parse::<jiff::Timestamp>().ok();
        let (Some(issued), Some(expires), Some(now)) =
            (time(&said.issued), time(&said.expires), time(now))
        else {
            return Some(Flaw::NoTime);
        };
        if issued > now {
            Some(Flaw::Early)
        } else if now >= expires {
            Some(Flaw::Expired)
        } else {
            used.then_some(Flaw::Used)
        }
    }

    /// As gate 4 takes it.
    #[must_use]
    pub fn judged(&self, profile: &Profile, editor: &str, now: &str, used: bool) -> Approval {
        Approval {
            owner: self.statement.owner.clone(),
            flaw: self.flaw(profile, editor, now, used),
            binding: self.statement.binding.clone(),
        }
    }
}

/// Whether an owner is the one who made the edit: by name, letter case aside, or by a key under the editor's name.
#[must_use]
pub fn is_the_editor(profile: &Profile, owner: &str, editor: &str) -> bool {
    let same = |a: &str, b: &str| a.trim().to_lowercase() == b.trim().to_lowercase();
    let key = profile.owners.get(owner);
    same(owner, editor)
        || profile
            .owners
            .iter()
            .any(|(name, own)| same(name, editor) && Some(own) == key)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::model::{BranchId, Digest};

    const NOW: &str = "2026-03-02T10:00:00Z";

    fn key(seed: u8) -> PrivateKey {
        PrivateKey::from_seed(&[seed; 32])
    }

    fn profile() -> Profile {
        Profile {
            owners: [("olga", key(1)), ("ann", key(2))]
                .map(|(name, key)| (name.to_owned(), key.public().to_string()))
                .into(),
            not_the_editor: true,
            ..Profile::default()
        }
    }

    fn statement(owner: &str) -> Statement {
        Statement {
            binding: Binding {
                intervention: Some("s/i1".into()),
                parent: BranchId::main("s"),
                prefix: Some(Digest::of("prefix")),
                fork_step: 3,
                edit: Digest::of("edit"),
                n: 1,
                config: Digest::of("config"),
                workflow: Some(Digest::of("workflow")),
            },
            owner: owner.into(),
            issued: "2026-03-02T09:30:00Z".into(),
            expires: "2026-03-02T10:30:00Z".into(),
        }
    }

    fn signed(owner: &str, seed: u8) -> Signed {
        Signed::parse(&sign(statement(owner), &key(seed)).unwrap()).unwrap()
    }

    #[test]
    fn who_may_approve_and_when() {
        let table = [
            ("olga", 1, NOW, false, None),
            ("olga", 2, NOW, false, Some(Flaw::Stranger)),
            ("bob", 3, NOW, false, Some(Flaw::Stranger)),
            ("ann", 2, NOW, false, Some(Flaw::Editor)),
            ("olga", 1, "2026-03-02T09:29:59Z", false, Some(Flaw::Early)),
            ("olga", 1, "2026-03-02T09:30:00Z", false, None),
            (
                "olga",
                1,
                "2026-03-02T10:30:00Z",
                false,
                Some(Flaw::Expired),
            ),
            ("olga", 1, "noon", false, Some(Flaw::NoTime)),
            ("olga", 1, NOW, true, Some(Flaw::Used)),
        ];
        for (owner, seed, now, used, flaw) in table {
            let found = signed(owner, seed).flaw(&profile(), "Ann ", now, used);
            assert_eq!(found, flaw, "{owner} {seed} {now} {used}");
        }
        // Where the profile does not mind, the editor may approve.
        let lax = Profile {
            not_the_editor: false,
            ..profile()
        };
        assert_eq!(signed("ann", 2).flaw(&lax, "ann", NOW, false), None);
        // The editor's own key under another name is still the editor's.
        let mut twice = profile();
        let own = twice.owners["ann"].clone();
        twice.owners.insert("other".into(), own);
        assert_eq!(
            signed("other", 2).flaw(&twice, "ann", NOW, false),
            Some(Flaw::Editor)
        );
    }

    #[test]
    fn a_broken_or_bent_signature_and_a_weak_key_are_refused() {
        let good = signed("olga", 1);
        let mut bent = good.clone();
        bent.signature = bent.signature.to_uppercase();
        let mut cut = good.clone();
        cut.signature.pop();
        let mut weak = good.clone();
        weak.key = "01".to_owned() + &"00".repeat(31);
        let mut of_a_receipt = good;
        of_a_receipt.signature =
            key(1).sign(canonical(&of_a_receipt.statement).unwrap().as_bytes());
        for broken in [bent, cut, weak, of_a_receipt] {
            let flaw = broken.flaw(&profile(), "ann", NOW, false);
            assert_eq!(flaw, Some(Flaw::Signature), "{broken:?}");
        }
    }

    proptest! {
        #[test]
        fn no_change_of_one_field_leaves_an_approval_good(field in 0..11_usize, word in "[a-z0-9]{1,12}") {
            let text = sign(statement("olga"), &key(1)).unwrap();
            let mut value: Value = serde_json::from_str(&text).unwrap();
            let fields = value.as_object_mut().unwrap();
            let name = fields.keys().nth(field).unwrap().clone();
            let old = fields[&name].clone();
            let new = if old.is_number() { json!(word.len() + 100) } else { json!(word) };
            prop_assume!(new != old);
            fields.insert(name.clone(), new);
            let changed = canonical(&value).unwrap();
            let good = Signed::parse(&changed).is_ok_and(|read| read.flaw(&profile(), "ann", NOW, false).is_none());
            prop_assert!(!good, "{name}");
        }

        #[test]
        fn any_text_is_refused_without_a_panic(text in ".{0,80}") {
            prop_assert!(Signed::parse(&text).is_err());
        }
    }
}
