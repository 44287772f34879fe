//! The bytes of a file: counted, hashed, decoded. Knows what is not text and says so.

use std::fs::File;
use std::io::{BufReader, Read, Take};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::ImportError;
use super::error::KNOWN;
use crate::model::Digest;

/// How much is looked at to tell what a file is.
const HEAD: usize = 4096;

/// How the content of a pickle is had as JSON.
const PICKLED: &str = "Save it as JSON instead: of AGDebugger while it runs, `curl http://HOST:PORT/api/getSessionHistory`; of AutoGen, \
     `json.dump(await team.save_state(), file)`; of AG2, `json.dump(groupchat.messages, file)`";

/// Whether the first bytes are a pickle's: a protocol from 2 on says so itself, the older ones begin with a list, a dictionary or a class.
fn is_pickle(head: &[u8]) -> bool {
    const OLD: [&[u8]; 6] = [b"(lp", b"(dp", b"(ip", b"]q\0", b"}q\0", b"ccopy_reg\n"];
    matches!(head, [0x80, 2..=5, ..]) || OLD.iter().any(|begin| head.starts_with(begin))
}

/// What the first bytes of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8, with so many bytes of a byte order mark.
    Utf8(usize),
    Utf16Le,
    Utf16Be,
}

/// Opens a file for the fast path; refuses what is no text.
pub(super) fn open(path: &Path) -> Result<(File, Encoding, u64), ImportError> {
    let unreadable = |source| ImportError::Unreadable {
        file: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let meta = file.metadata().map_err(unreadable)?;
    let unknown = |reason: &str, mend: &str| ImportError::Unknown {
        file: path.to_owned(),
        place: "byte 0".to_owned(),
        reason: reason.to_owned(),
        mend: mend.to_owned(),
    };
    if meta.is_dir() {
        return Err(unknown("a directory, not a file", "Name one log inside it"));
    }
    let mut head = Vec::new();
    file.by_ref()
        .take(HEAD as u64)
        .read_to_end(&mut head)
        .map_err(unreadable)?;
    let encoding = match head.as_slice() {
        [0xEF, 0xBB, 0xBF, ..] => Encoding::Utf8(3),
        [0xFF, 0xFE, ..] | [b'{' | b'[', 0, ..] => Encoding::Utf16Le,
        [0xFE, 0xFF, ..] | [0, b'{' | b'[', ..] => Encoding::Utf16Be,
        [0x1F, 0x8B, ..] => {
            return Err(unknown(
                "compressed by gzip",
                "Unpack it first: gunzip FILE",
            ));
        }
        [b'P', b'K', 3, 4, ..] => {
            return Err(unknown("a zip archive", "Unpack it first: unzip FILE"));
        }
        [0x28, 0xB5, 0x2F, 0xFD, ..] => {
            return Err(unknown(
                "compressed by zstd",
                "Unpack it first: unzstd FILE",
            ));
        }
        [b'S', b'Q', b'L', b'i', b't', b'e', ..] => {
            return Err(unknown("an SQLite database", KNOWN));
        }
        head if is_pickle(head) => {
            return Err(unknown(
                "a Python pickle, which can run code and is never loaded",
                PICKLED,
            ));
        }
        _ if head.iter().all(u8::is_ascii_whitespace) && meta.len() <= HEAD as u64 => {
            return Err(unknown("empty", "Export the log again"));
        }
        _ => Encoding::Utf8(0),
    };
    let file = File::open(path).map_err(unreadable)?;
    Ok((file, encoding, meta.len()))
}

/// A reader that counts and hashes what goes through it.
pub(super) struct Tap {
    inner: BufReader<Take<File>>,
    hash: Sha256,
    /// Bytes read so far.
    pub read: std::rc::Rc<std::cell::Cell<u64>>,
}

impl Tap {
    /// Reads so many bytes of a file, from its beginning.
    pub(super) fn new(file: File, upto: u64) -> Self {
        Self {
            inner: BufReader::with_capacity(1 << 16, file.take(upto)),
            hash: Sha256::new(),
            read: std::rc::Rc::default(),
        }
    }

    /// Reads what is left and gives the digest of all bytes.
    pub(super) fn digest(mut self) -> std::io::Result<Digest> {
        let mut rest = [0; 1 << 14];
        while self.read(&mut rest)? > 0 {}
        Ok(Digest::from_bytes(self.hash.finalize().into()))
    }
}

impl Read for Tap {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hash.update(buffer.get(..count).unwrap_or_default());
        self.read.set(self.read.get() + count as u64);
        Ok(count)
    }
}

/// All bytes as text. What is not valid is replaced by U+FFFD, and the offsets of the replacements are told.
pub(super) fn decode(bytes: &[u8], encoding: Encoding) -> (String, Vec<usize>) {
    let units = |read: fn([u8; 2]) -> u16| -> Vec<u16> {
        bytes
            .as_chunks::<2>()
            .0
            .iter()
            .map(|pair| read(*pair))
            .collect()
    };
    let mut text = String::new();
    let mut replaced = Vec::new();
    let mut push = |text: &mut String, c: Option<char>| {
        if c.is_none() {
            replaced.push(text.len());
        }
        if c != Some('\u{FEFF}') || !text.is_empty() {
            text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    };
    match encoding {
        Encoding::Utf8(skip) => {
            for chunk in bytes.get(skip..).unwrap_or_default().utf8_chunks() {
                text.push_str(chunk.valid());
                if !chunk.invalid().is_empty() {
                    push(&mut text, None);
                }
            }
        }
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let units = units(if encoding == Encoding::Utf16Le {
                u16::from_le_bytes
            } else {
                u16::from_be_bytes
            });
            for c in char::decode_utf16(units) {
                push(&mut text, c.ok());
            }
        }
    }
    (text, replaced)
}
