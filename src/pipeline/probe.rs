//! State keys that a command of the profile tells, such as credentials: asked when a session is taken in and again at a fork.
//!
//! Only the revision and a digest of the value are kept: a value may be what nobody should keep. No answer is no evidence.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use futures::future::join_all;
use serde::Deserialize;
use serde_json::Value;

use super::external;
use crate::gate::receipt::canonical_digest;
use crate::model::{Checkpoint, KeyProbe, KeyState, RestoredKey, Session};

/// The longest revision: it is shown in one line.
const LONGEST: usize = 200;

/// What a command must print, and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    revision: String,
    value: Value,
}

/// Asks every key of the profile. A key that does not answer has its reason.
pub(super) async fn ask(session: &Session) -> BTreeMap<String, Result<KeyState, String>> {
    let home = session.base_dir.as_deref();
    let asked = session
        .profile
        .keys
        .iter()
        .map(|(name, probe)| async move { (name.clone(), one(probe, home).await) });
    join_all(asked).await.into_iter().collect()
}

async fn one(probe: &KeyProbe, home: Option<&Path>) -> Result<KeyState, String> {
    let home = home.ok_or("no profile file says where its command runs")?;
    let limit = Duration::from_secs(probe.time_limit.unwrap_or(external::LIMIT));
    let ran = external::run(&probe.command, Some(home), b"", limit).await?;
    match ran.status {
        Some(0) => {}
        Some(status) => return Err(format!("its command ended with status {status}")),
        None => return Err("its command was ended by a signal".into()),
    }
    // What it printed may be a secret, so no reason repeats it.
    let told: Told = serde_json::from_slice(&ran.stdout)
        .map_err(|_| "its command did not print one object of revision and value".to_owned())?;
    if told.revision.trim().is_empty() || told.revision.len() > LONGEST {
        return Err(format!(
            "its revision is empty or longer than {LONGEST} bytes"
        ));
    }
    let fingerprint =
        canonical_digest(&told.value).map_err(|_| "its value has no canonical form".to_owned())?;
    Ok(KeyState {
        revision: told.revision,
        fingerprint,
        value: None,
    })
}

/// The evidence before a step: the checkpoint, and what the profile's commands told when the session was taken in. Where no state was
/// recorded and the profile names no keys, that little must not stand for all of it.
pub(super) fn evidence(session: &Session, checkpoint: Option<&Checkpoint>) -> Option<Checkpoint> {
    let mut all = match checkpoint {
        Some(checkpoint) => checkpoint.clone(),
        None if session.profile.required_keys.is_empty() => return None,
        None if session.evidence.is_empty() => return None,
        None => Checkpoint::default(),
    };
    all.keys.extend(session.evidence.clone());
    Some(all)
}

/// Reads the profile's keys back. They replace what a runtime says of them.
pub(super) async fn read_back(session: &Session, keys: &mut Vec<RestoredKey>) {
    for (key, answer) in ask(session).await {
        keys.retain(|read| read.key != key);
        keys.push(match answer {
            Ok(now) => RestoredKey {
                key,
                revision: Some(now.revision),
                fingerprint: Some(now.fingerprint),
                test: "its command was asked again".to_owned(),
            },
            Err(why) => RestoredKey {
                key,
                revision: None,
                fingerprint: None,
                test: why,
            },
        });
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    async fn told(script: &str) -> Result<KeyState, String> {
        let probe = KeyProbe {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            time_limit: Some(1),
        };
        one(&probe, Some(Path::new("/"))).await
    }

    #[tokio::test]
    async fn only_revision_and_digest_of_a_value_are_kept() {
        let first = told(r#"echo '{"revision":"olga, read","value":{"a":1,"b":"SECRET"}}'"#)
            .await
            .unwrap();
        assert_eq!(first.value, None);
        assert!(!format!("{first:?}").contains("SECRET"));
        let turned = told(r#"echo '{"value":{"b":"SECRET","a":1},"revision":"olga, read"}'"#);
        assert_eq!(first, turned.await.unwrap());
        let other = told(r#"echo '{"revision":"olga, read","value":{"a":2,"b":"SECRET"}}'"#);
        assert_ne!(first.fingerprint, other.await.unwrap().fingerprint);
    }

    #[tokio::test]
    async fn no_answer_is_no_evidence_and_its_reason_repeats_nothing() {
        for script in [
            "exit 3",
            "kill -9 $$",
            "sleep 60",
            "echo SECRET",
            r#"echo '{"revision":"SECRET"}'"#,
            r#"echo '{"revision":" ","value":1}'"#,
            r#"echo '{"revision":"a","value":1,"more":"SECRET"}'"#,
            r#"echo '{"revision":"a","value":1} SECRET'"#,
            r#"echo '{"revision":7,"value":1}'"#,
        ] {
            let why = told(script).await.unwrap_err();
            assert!(!why.contains("SECRET"), "{script}: {why}");
        }
    }

    #[test]
    fn a_probed_key_does_not_stand_for_a_state_that_nobody_recorded() {
        let state = KeyState::saved("1", Value::Null);
        let mut session = Session {
            evidence: BTreeMap::from([("credentials".to_owned(), state)]),
            ..Session::default()
        };
        assert_eq!(evidence(&session, None), None);
        session.profile.required_keys = vec!["credentials".to_owned()];
        assert_eq!(evidence(&session, None).unwrap().keys.len(), 1);
    }
}
