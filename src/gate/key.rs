//! Ed25519 keys (RFC 8032) that sign receipts and approvals. Pure: the caller brings the seed and keeps the private part.
//!
//! Verification is strict: weak keys and signatures that can be bent into another valid form are refused.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

/// The part that signs. It has no way to be printed.
#[derive(Clone)]
pub struct PrivateKey(SigningKey);

/// The part that anybody may have, written as 64 lower-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// Why a key or a signature is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not the bytes of a key.
    #[error("this is no Ed25519 key of 64 lower-case hex digits")]
    NoKey,
    /// A key under which somebody else's signature could pass.
    #[error("this key is weak, so anybody could sign under it")]
    Weak,
    /// The signature is not that of these bytes by this key.
    #[error("the signature does not fit")]
    Signature,
}

impl PrivateKey {
    /// A key from 32 random bytes.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// A key as it stands in its file: the seed in hex.
    pub fn from_text(text: &str) -> Result<Self, KeyError> {
        Ok(Self::from_seed(&bytes(text.trim()).ok_or(KeyError::NoKey)?))
    }

    /// Its other part.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs bytes; the signature in hex.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> String {
        hex::encode(self.0.sign(message).to_bytes())
    }
}

impl PublicKey {
    /// Checks a signature in hex.
    pub fn verify(&self, message: &[u8], signature: &str) -> Result<(), KeyError> {
        let signature = bytes(signature).ok_or(KeyError::Signature)?;
        self.0
            .verify_strict(message, &Signature::from_bytes(&signature))
            .map_err(|_| KeyError::Signature)
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bytes = bytes(text).ok_or(KeyError::NoKey)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| KeyError::NoKey)?;
        if key.is_weak() {
            return Err(KeyError::Weak);
        }
        Ok(Self(key))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0.as_bytes()))
    }
}

/// Exactly N bytes from hex, of which there is one spelling only.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let plain = !text.contains(|c: char| c.is_ascii_uppercase());
    (plain && hex::decode_to_slice(text, &mut bytes).is_ok()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, section 7.1, test 2.
    const SEED: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
    const PUBLIC: &str = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
    const SIGNATURE: &str = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
                             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

    #[test]
    fn agrees_with_the_standard() {
        let key = PrivateKey::from_text(SEED).unwrap();
        assert_eq!(key.public().to_string(), PUBLIC);
        assert_eq!(key.sign(&[0x72]), SIGNATURE);
        let public: PublicKey = PUBLIC.parse().unwrap();
        assert_eq!(public.verify(&[0x72], SIGNATURE), Ok(()));
        assert_eq!(public.verify(&[0x73], SIGNATURE), Err(KeyError::Signature));
    }

    #[test]
    fn weak_keys_and_bent_signatures_are_refused() {
        // The neutral element and a point of order 8 (RFC 8032 decodes both).
        let weak = [
            "01".to_owned() + &"00".repeat(31),
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a".into(),
        ];
        for key in weak {
            assert_eq!(key.parse::<PublicKey>(), Err(KeyError::Weak), "{key}");
        }
        let public: PublicKey = PUBLIC.parse().unwrap();
        // S + L is the same scalar in another spelling (RFC 8032, section 8.4).
        let order: [u8; 32] =
            bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010").unwrap();
        let mut bent: [u8; 64] = bytes(SIGNATURE).unwrap();
        let mut carry = 0_u16;
        for (byte, add) in bent[32..].iter_mut().zip(order) {
            carry += u16::from(*byte) + u16::from(add);
            *byte = carry.to_le_bytes()[0];
            carry >>= 8;
        }
        for signature in [
            hex::encode(bent),
            SIGNATURE.to_uppercase(),
            SIGNATURE[..126].into(),
            String::new(),
        ] {
            assert_eq!(public.verify(&[0x72], &signature), Err(KeyError::Signature));
        }
        assert_eq!(
            PUBLIC.to_uppercase().parse::<PublicKey>(),
            Err(KeyError::NoKey)
        );
    }
}
