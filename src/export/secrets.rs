//! What looks like a secret: strings of a known shape, and strings too random to be words.
//!
//! Shapes are those that issuers document for their keys, as scanners such as gitleaks list them. Randomness is measured as TruffleHog
//! does (its README, "How it works"): Shannon entropy of every run of more than 20 characters of the base64 or the hexadecimal set,
//! above 4.5 and 3.0 bits a character. English words and code identifiers stay below that; random keys of 32 characters lie above.
//! Beyond that a run of the base64 set must have capitals, small letters and digits, which keeps most paths and addresses.
//! Non-goals: passwords in plain prose, secrets that were encoded or cut in pieces.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Runs of this length and less are not measured.
const LEAST: usize = 20;
/// Bits a character.
const BASE64: f64 = 4.5;
const HEX: f64 = 3.0;

/// What a found secret is, in a word or two.
pub(super) const RANDOM: &str = "high entropy";

/// A shape: its name, its pattern, and which group of it is the secret.
struct Shape {
    name: &'static str,
    pattern: Regex,
}

/// Name and pattern; the secret is the group `s`, or the whole match.
const SHAPES: [(&str, &str); 17] = [
    (
        "PEM block",
        // Cut off, it goes as far as its lines do. Line feeds may stand as JSON has them.
        r"-----BEGIN [A-Z0-9 ]+-----(?:[A-Za-z0-9+/=\s:,-]|\\[nr])*?(?:-----END [A-Z0-9 ]+-----|\z)|-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s]|\\[nr])*",
    ),
    (
        "JWT",
        r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*",
    ),
    ("sk- key", r"\bsk-[A-Za-z0-9_-]{16,}"),
    (
        "GitHub token",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    ),
    (
        "GitLab token",
        r"\bgl(?:pat|ptt|rt|dt|cbt)-[A-Za-z0-9_.-]{20,}",
    ),
    ("AWS key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    (
        "Google key",
        r"\b(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,})",
    ),
    ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{20,}"),
    ("Stripe key", r"\b[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    (
        "bearer or basic credential",
        r"(?i)\b(?:bearer|authorization[\x22']?\s*[:=]\s*[\x22']?(?:basic|token|digest|apikey))\s+(?P<s>[A-Za-z0-9._~+/-]{8,}=*)",
    ),
    (
        "password in an address",
        r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@\x22'<>]*:(?P<s>[^\s/@\x22'<>]{3,})@",
    ),
    // What is in quotation marks goes whole, spaces included.
    (
        "assigned secret",
        r"(?i)[\w-]*(?:api[_-]?key|access[_-]?key|private[_-]?key|secret|passwd|password|passphrase|pwd|token)[\x22']?\s*[:=]\s*\x22(?P<s>(?:[^\x22\\\n]|\\.){3,})",
    ),
    (
        "assigned secret",
        r"(?i)[\w-]*(?:api[_-]?key|access[_-]?key|private[_-]?key|secret|passwd|password|passphrase|pwd|token)[\x22']?\s*[:=]\s*'(?P<s>[^'\n]{3,})",
    ),
    (
        "assigned secret",
        // Within JSON within JSON.
        r"(?i)[\w-]*(?:api[_-]?key|access[_-]?key|private[_-]?key|secret|passwd|password|passphrase|pwd|token)(?:\\+[\x22'])?\s*[:=]\s*\\+\x22(?P<s>[^\x22\\\n]{3,})",
    ),
    (
        "assigned secret",
        // Without quotation marks, as in `token=…` or `secret: …`: a word with a digit in it, which prose has not.
        r"(?i)(?:\b|[\w-]*[_-])(?:api[_-]?key|access[_-]?key|private[_-]?key|secret|passwd|password|passphrase|pwd|token)\s*[:=]\s*(?P<s>[^\s\x22'\\,;&<>{}\[\]()]*[0-9][^\s\x22'\\,;&<>{}\[\]()]*)",
    ),
    (
        "assigned secret",
        // As a program or JSON has it; within JSON within JSON the marks are escaped.
        r"(?i)[\w-]*(?:api[_-]?key|apikey|access[_-]?key|private[_-]?key|secret|passwd|password|pwd|auth[_-]?token|access[_-]?token|refresh[_-]?token|x-api-key)[\w-]*(?:\\*[\x22']\s*[:=]\s*\\*[\x22']|\s*=\s*\\*[\x22']?|:\s*\\*[\x22'])(?P<s>[^\s\x22'\\,;&<>{}\[\]]{6,})",
    ),
];

static PATTERNS: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let shape = |(name, pattern): (&'static str, &str)| {
        let pattern = Regex::new(pattern).ok()?;
        Some(Shape { name, pattern })
    };
    SHAPES.into_iter().filter_map(shape).collect()
});

/// Whether a key of JSON says that its value is a secret.
static SECRET_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(?:.*[_-])?(?:api[_-]?key|apikey|access[_-]?key|private[_-]?key|secret|client[_-]?secret|passwd|password|pwd|auth[_-]?token|access[_-]?token|refresh[_-]?token|token|passphrase|authorization|x-api-key|cookie)$",
    )
    .ok()
});

/// Whether a key of a JSON object says that what it holds is a secret.
pub(super) fn secret_key(key: &str) -> bool {
    SECRET_KEY.as_ref().is_some_and(|it| it.is_match(key))
}

/// Where a text has strings of a known shape, in order and apart from each other, and of which.
pub(super) fn shaped(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let mut found: Vec<(Range<usize>, &'static str)> = Vec::new();
    for shape in PATTERNS.iter() {
        for hit in shape.pattern.captures_iter(text) {
            let Some(secret) = hit.name("s").or_else(|| hit.get(0)) else {
                continue;
            };
            // What was taken out before stands there in brackets.
            if !secret.as_str().starts_with("[redacted") {
                found.push((secret.range(), shape.name));
            }
        }
    }
    // Of two that overlap the one that begins first, and of those the longer one.
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut end = 0;
    found.retain(|(range, _)| {
        let apart = range.start >= end;
        if apart {
            end = range.end;
        }
        apart
    });
    found
}

/// Where a text has strings too random to be words.
pub(super) fn random(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes
            .iter()
            .skip(at)
            .take_while(|byte| in_set(**byte))
            .count();
        if let Some(part) = text.get(at..at + run).filter(|part| is_random(part)) {
            found.push(at..at + part.len());
        }
        at += run.max(1);
    }
    found
}

/// The base64 set in both spellings.
const fn in_set(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

fn is_random(run: &str) -> bool {
    if run.len() <= LEAST {
        return false;
    }
    let has = |test: fn(&u8) -> bool| run.bytes().any(|byte| test(&byte));
    if run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return entropy(run) > HEX && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    }
    entropy(run) > BASE64
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
}

/// Shannon entropy in bits a character.
fn entropy(run: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in run.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let len = f64::from(u32::try_from(run.len()).unwrap_or(u32::MAX));
    let part = |count: &u32| {
        let share = f64::from(*count) / len;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(&str, &str)> {
        let hit = |(range, name): (Range<usize>, &'static str)| (text.get(range).unwrap(), name);
        shaped(text).into_iter().map(hit).collect()
    }

    #[test]
    fn every_shape_compiles() {
        assert_eq!(PATTERNS.len(), SHAPES.len());
        assert!(SECRET_KEY.is_some());
    }

    #[test]
    fn known_shapes_are_found_where_they_stand() {
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc+/=\nqq\n-----END RSA PRIVATE KEY-----";
        let table: [(&str, &str, &str); 20] = [
            (
                "use sk-proj-abcdefghijklmnop1234 now",
                "sk-proj-abcdefghijklmnop1234",
                "sk- key",
            ),
            (
                "ghp_0123456789abcdefghijABCDEFGHIJ012345.",
                "ghp_0123456789abcdefghijABCDEFGHIJ012345",
                "GitHub token",
            ),
            ("id AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE", "AWS key"),
            (
                "t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_9",
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_9",
                "JWT",
            ),
            (
                "Authorization: Bearer abcdefgh123",
                "abcdefgh123",
                "bearer or basic credential",
            ),
            (
                "authorization: basic dXNlcjpwYXNz",
                "dXNlcjpwYXNz",
                "bearer or basic credential",
            ),
            (
                "postgres://ann:hunter2@db/x",
                "hunter2",
                "password in an address",
            ),
            ("{\"password\": \"hunter2\"}", "hunter2", "assigned secret"),
            (
                "{\\\"api_key\\\":\\\"hunter2\\\"}",
                "hunter2",
                "assigned secret",
            ),
            ("DB_PASSWORD=hunter2 run", "hunter2", "assigned secret"),
            ("?token=tok_12345678&x=1", "tok_12345678", "assigned secret"),
            (
                "{\"token\":\"abc123def456\"}",
                "abc123def456",
                "assigned secret",
            ),
            (
                "secret: topsecretvalue1",
                "topsecretvalue1",
                "assigned secret",
            ),
            (
                "PASSWORD: \"pw with space\"",
                "pw with space",
                "assigned secret",
            ),
            ("{'pwd': 'a \"b\" c'}", "a \"b\" c", "assigned secret"),
            (
                "{\\\"token\\\":\\\"abc def\\\"}",
                "abc def",
                "assigned secret",
            ),
            (pem, pem, "PEM block"),
            (
                "xoxb-123456789012-abc",
                "xoxb-123456789012-abc",
                "Slack token",
            ),
            (
                "hf_abcdefghijklmnopqrstuvwx",
                "hf_abcdefghijklmnopqrstuvwx",
                "Hugging Face token",
            ),
            (
                "-----BEGIN PRIVATE KEY-----\\nMIIB\\nabc\\n-----END PRIVATE KEY-----",
                "-----BEGIN PRIVATE KEY-----\\nMIIB\\nabc\\n-----END PRIVATE KEY-----",
                "PEM block",
            ),
        ];
        for (text, secret, name) in table {
            assert_eq!(names(text), [(secret, name)], "{text}");
        }
    }

    #[test]
    fn a_key_that_is_cut_off_is_taken_as_far_as_it_goes() {
        let text = "-----BEGIN PRIVATE KEY-----\nMIIBVwIBADANBg";
        assert_eq!(names(text), [(text, "PEM block")]);
        let talk = "-----BEGIN PRIVATE KEY-----\nMIIB\n\nThat is all: see below!";
        assert!(names(talk)[0].0.contains("MIIB"));
    }

    #[test]
    fn prose_is_no_secret() {
        for text in [
            "The password: please ask the secretary.",
            "Tokens used: 1234. The bearer of this letter",
            "prompt_tokens: 1234, max_tokens=4096",
            "the secret: nobody knows it",
            "task-force and risk-averse",
            "https://example.org/a:b/c@d",
            "secret = ",
        ] {
            assert_eq!(names(text), [], "{text}");
        }
    }

    /// Entropies by hand: 32 characters each once are log2 32 = 5 bits; 16 hexadecimal digits twice each are 4.
    #[test]
    fn random_strings_are_told_from_words() {
        let key = "aB3dE5gH7jK9mN1pQ4rS6tV8wX0yZcFi";
        assert!((entropy(key) - 5.0).abs() < 1e-9);
        let hex = "0123456789abcdef0123456789abcdef";
        assert!((entropy(hex) - 4.0).abs() < 1e-9);
        let text = format!("key {key}, sum {hex}.");
        let found: Vec<_> = random(&text)
            .into_iter()
            .map(|r| text.get(r).unwrap())
            .collect();
        assert_eq!(found, [key, hex]);
        for text in [
            "FunctionExecutionResultMessage",
            "internationalization-of-everything",
            "/usr/local/lib/python3/site-packages/autogen_agentchat/teams",
            "123e4567-e89b-12d3-a456-426614174000",
            "11111111111111111111111111111111",
            "20150804123456789012345",
            "aB3dE5gH7jK9mN1pQ4rS",
        ] {
            assert!(random(text).is_empty(), "{text}");
        }
    }
}
