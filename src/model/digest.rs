//! SHA-256 digests, as the store, the gates and the receipts speak of content.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 value (FIPS 180-4), written as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of an empty prefix: where every chain of steps begins.
    pub const ZERO: Self = Self([0; 32]);

    /// Hashes bytes.
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }

    /// Hashes all that a reader gives, in pieces.
    ///
    /// # Errors
    /// The reader's own.
    pub fn of_reader(mut reader: impl std::io::Read) -> std::io::Result<Self> {
        let mut hash = Sha256::new();
        std::io::copy(&mut reader, &mut hash)?;
        Ok(Self(hash.finalize().into()))
    }

    /// Hashes a list of fields, each preceded by its length as eight little-endian bytes, so that no two lists collide by concatenation.
    #[must_use]
    pub fn of_fields<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for field in fields {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field);
        }
        Self(hash.finalize().into())
    }

    /// Extends a chain by one link: `SHA-256(self ‖ link)`.
    #[must_use]
    pub fn chain(self, link: Self) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(link.0);
        Self(hash.finalize().into())
    }

    /// The 32 raw bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Takes 32 raw bytes as they are.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The first eight hex digits, enough for a person to tell two apart.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(8).collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = hex::FromHexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes)?;
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_on_abc() {
        // FIPS 180-4, example B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of("abc").to_string(), expected);
        assert_eq!(expected.parse::<Digest>().unwrap(), Digest::of("abc"));
    }

    #[test]
    fn fields_do_not_collide_by_concatenation() {
        assert_ne!(
            Digest::of_fields([b"ab".as_slice(), b"c"]),
            Digest::of_fields([b"a".as_slice(), b"bc"])
        );
    }
}
