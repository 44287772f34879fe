//! From a word of the command line to a value, or to the sentence that says how to write it.

use std::time::Duration;

use crate::gate::key::{KeyError, PublicKey};
use crate::import::check_verifier;
use crate::model::{EffectClass, EffectState, Verifier};

/// `NAME=VALUE`.
pub(super) fn named(words: &str) -> Result<(String, String), String> {
    match words.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write AGENT=…, the agent's name first".to_owned()),
    }
}

pub(super) fn verifier(text: &str) -> Result<Verifier, String> {
    match text.split_once(':') {
        None if text == "answer" => Ok(Verifier::Answer),
        None if text == "math" => Ok(Verifier::Math),
        Some(("contains", part)) if !part.trim().is_empty() => {
            Ok(Verifier::Contains(part.to_owned()))
        }
        Some(("command", line)) if !line.trim().is_empty() => {
            let words = ["sh", "-c", line].map(str::to_owned);
            Ok(Verifier::Command(words.to_vec()))
        }
        Some(("file", rest)) if !rest.trim().is_empty() => {
            let (path, text) = rest
                .split_once('=')
                .map_or((rest, None), |(path, text)| (path, Some(text.to_owned())));
            let verifier = Verifier::File {
                path: path.to_owned(),
                contains: text,
                sha256: None,
            };
            check_verifier(&verifier).map(|()| verifier)
        }
        _ => Err("say answer, math, contains:TEXT, command:LINE or file:PATH[=TEXT]".to_owned()),
    }
}

/// Splits `KEY=WORD` at the last `=`, for keys may contain one.
fn pair<T: serde::de::DeserializeOwned>(text: &str, words: &str) -> Result<(String, T), String> {
    let (key, word) = text
        .rsplit_once('=')
        .filter(|(key, _)| !key.is_empty())
        .ok_or_else(|| format!("say NAME=WORD, the word being one of {words}"))?;
    let value =
        serde_json::from_value(word.into()).map_err(|_| format!("'{word}' is none of {words}"))?;
    Ok((key.to_owned(), value))
}

pub(super) fn tool(text: &str) -> Result<(String, EffectClass), String> {
    pair(
        text,
        "read_only, idempotent, compensable, permanent, unknown",
    )
}

pub(super) fn effect(text: &str) -> Result<(String, EffectState), String> {
    const WORDS: &str = "keep, reconciled, reverted";
    // "Keep, do not repeat" is the human decision about what cannot be undone.
    if let Some(key) = text.strip_suffix("=keep").filter(|key| !key.is_empty()) {
        return Ok((key.to_owned(), EffectState::Reconciled));
    }
    let (key, state) = pair(text, WORDS)?;
    match state {
        EffectState::Reconciled | EffectState::Reverted => Ok((key, state)),
        EffectState::Pending | EffectState::Irreversible => {
            Err(format!("a person can say only: {WORDS}"))
        }
    }
}

pub(super) fn owner(text: &str) -> Result<(String, PublicKey), String> {
    let (name, key) = text
        .split_once('=')
        .filter(|(name, _)| !name.trim().is_empty())
        .ok_or("say NAME=HEX, the public key in 64 hex digits")?;
    let key = key.parse().map_err(|error: KeyError| error.to_string())?;
    Ok((name.trim().to_owned(), key))
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let told = text.parse::<jiff::SignedDuration>();
    let long = told.ok().and_then(|told| Duration::try_from(told).ok());
    long.filter(|long| !long.is_zero() && *long <= Duration::from_hours(24 * 366))
        .ok_or_else(|| "say how long, such as 30m, 8h or 48h, at most a year".into())
}

pub(super) fn mark(text: &str) -> Result<(usize, usize), String> {
    let parsed = text.split_once('@').and_then(|(milestone, step)| {
        Some((
            milestone.parse::<usize>().ok()?.checked_sub(1)?,
            step.parse().ok()?,
        ))
    });
    parsed
        .ok_or_else(|| "say M@STEP, such as 2@17: milestone 2 (from 1) at step 17 (from 0)".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_values() {
        assert_eq!(
            verifier("contains:a:b"),
            Ok(Verifier::Contains("a:b".into()))
        );
        assert!(verifier("contains: ").is_err());
        for word in [
            "answer",
            "math",
            "contains:x",
            "command:test -f a=b",
            "file:a/b=c=d",
            "file:a",
        ] {
            assert_eq!(verifier(word).unwrap().to_string(), word);
        }
        for word in [
            "command: ",
            "file:",
            "file:=x",
            "file:../a",
            "file:/a",
            "file:a= ",
        ] {
            assert!(verifier(word).is_err(), "{word}");
        }
        assert!(verifier("Answer").is_err());
        assert_eq!(mark("2@17"), Ok((1, 17)));
        assert!(mark("0@17").is_err() && mark("2").is_err());
        assert_eq!(
            effect("id=7=reverted"),
            Ok(("id=7".into(), EffectState::Reverted))
        );
        assert!(effect("id=irreversible").is_err());
        assert_eq!(
            tool("send_mail=permanent"),
            Ok(("send_mail".into(), EffectClass::Permanent))
        );
        assert!(tool("=permanent").is_err() && tool("x=dangerous").is_err());
    }
}
