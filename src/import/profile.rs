//! Workflow profiles: `NAME.dover.toml` beside `NAME.jsonl`, else `dover.toml` beside it.
//!
//! A profile file is its owner's word, so it may name programs to run. A log is a stranger's: what its header says of programs and
//! directories is left out ([`tame`]). A file is read strictly: what cannot be understood is refused with its line, never passed over.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use super::ImportError;
use crate::gate::key::PublicKey;
use crate::model::{KeyProbe, Profile, Session, ToolProfile, Verifier, Workflow};

/// The JSON Schema of a profile file, as `dover schema profile` prints it.
pub const PROFILE_SCHEMA: &str = include_str!("profile.schema.json");

/// The name of a profile that holds for a whole directory; with a session's name before it, for that session alone.
const NAME: &str = "dover.toml";
/// The largest file that is read.
const LARGEST: u64 = 256 << 10;
/// The most entries of a list or table.
const MOST: usize = 256;
/// The longest text.
const LONGEST: usize = 4000;
/// The most seconds that a command may be given.
const PATIENCE: u64 = 3600;

/// A profile file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileFile {
    /// Where it is.
    pub path: PathBuf,
    profile: Profile,
    verifier: Option<Verifier>,
    expected: Option<String>,
}

/// The file as it stands.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct File {
    required_keys: Vec<String>,
    tools: BTreeMap<String, ToolProfile>,
    sensitive: Vec<String>,
    owners: BTreeMap<String, String>,
    not_the_editor: bool,
    workspace: Option<String>,
    keys: BTreeMap<String, KeyProbe>,
    verifier: Option<Verifier>,
    expected: Option<String>,
}

impl ProfileFile {
    /// Reads a profile file.
    pub fn read(path: &Path) -> Result<Self, ImportError> {
        let unreadable = |source| ImportError::Unreadable {
            file: path.to_owned(),
            source,
        };
        let refuse = |place: Option<usize>, reason: String| ImportError::Profile {
            file: path.to_owned(),
            place: place.map_or(String::new(), |line| format!(", line {line}")),
            reason,
        };
        let mut text = String::new();
        let read = std::fs::File::open(path)
            .and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text));
        match read {
            Ok(_) if text.len() as u64 > LARGEST => {
                let reason = format!("it is larger than {} KiB", LARGEST >> 10);
                return Err(refuse(None, reason));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                return Err(refuse(None, "it is not UTF-8 text".into()));
            }
            Err(error) => return Err(unreadable(error)),
        }
        let line = |at: usize| text.get(..at).unwrap_or(&text).matches('\n').count() + 1;
        let wrong = |error: toml::de::Error| {
            let reason = error.message().lines().collect::<Vec<_>>().join(", ");
            refuse(error.span().map(|span| line(span.start)), reason)
        };
        let written = DeTable::parse(&text).map_err(wrong)?;
        let file: File = toml::from_str(&text).map_err(wrong)?;
        check(&file, written.get_ref()).map_err(|fault| {
            let span = find(written.get_ref(), &fault.at);
            refuse(span.map(line), fault.reason)
        })?;
        Ok(Self {
            path: path.to_owned(),
            profile: Profile {
                required_keys: file.required_keys,
                tools: file.tools,
                sensitive: file.sensitive,
                owners: file.owners,
                not_the_editor: file.not_the_editor,
                workspace: file.workspace,
                keys: file.keys,
            },
            verifier: file.verifier,
            expected: file.expected,
        })
    }

    /// The profile file of a session's file: its own, else that of its directory. One that is there and cannot be read is an error.
    pub fn beside(session: &Path) -> Result<Option<Self>, ImportError> {
        let places = Self::places(session);
        let found = places.iter().find(|path| path.symlink_metadata().is_ok());
        found.map(|path| Self::read(path)).transpose()
    }

    /// Where the profile file of a session's file is looked for, in this order.
    #[must_use]
    pub fn places(session: &Path) -> [PathBuf; 2] {
        let mut own = session.file_stem().unwrap_or_default().to_owned();
        own.push(".");
        own.push(NAME);
        [session.with_file_name(own), session.with_file_name(NAME)]
    }

    /// The workflow of a session with this file: the profile is the file's alone, verifier and expected answer where it has them.
    #[must_use]
    pub fn over(&self, stands: &Workflow) -> Workflow {
        let verifier = self.verifier.clone();
        let expected = self.expected.clone();
        // An expected answer without a judge would judge nothing.
        let judge = || expected.as_ref().map(|_| Verifier::Answer);
        Workflow {
            profile: self.profile.clone(),
            verifier: verifier.or_else(|| stands.verifier.clone()).or_else(judge),
            expected: expected.clone().or_else(|| stands.expected.clone()),
        }
    }

    /// Puts the file's word in the place of the session's own. `home` is where its commands run, if not beside it.
    pub fn apply(&self, session: &mut Session, home: Option<&Path>) -> std::io::Result<()> {
        let workflow = self.over(&session.workflow());
        session.profile = workflow.profile;
        session.verifier = workflow.verifier;
        session.expected = workflow.expected;
        // A file named without its directory lies in the present one.
        let path = std::path::absolute(&self.path)?;
        let beside = path.parent().unwrap_or(Path::new("/"));
        session.base_dir = Some(std::path::absolute(home.unwrap_or(beside))?);
        Ok(())
    }
}

/// Whether a file is a profile by its name, and so neither a log nor a world.
#[must_use]
pub fn is_profile(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name == NAME || name.ends_with(".dover.toml")
}

/// Takes out of a header what only a profile file or a person may say: programs to run and directories to look at. Says what it was.
pub(super) fn tame(session: &mut Session) -> Option<String> {
    let mut taken = Vec::new();
    for (name, tool) in &mut session.profile.tools {
        if !std::mem::take(&mut tool.reconcile).is_empty() {
            taken.push(format!("the command of tool {name}"));
        }
    }
    for name in std::mem::take(&mut session.profile.keys).into_keys() {
        taken.push(format!("the command of state key {name}"));
    }
    if session.profile.workspace.take().is_some() {
        taken.push("the workspace".to_owned());
    }
    if session
        .verifier
        .take_if(|verifier| matches!(verifier, Verifier::Command(_)))
        .is_some()
    {
        taken.push("the verifier's command".to_owned());
    }
    // What dover itself found out is no log's to say.
    session.at_start = None;
    session.base_dir = None;
    session.evidence.clear();
    session.config = None;
    if let Some(runtime) = &mut session.runtime {
        runtime.destination = None;
    }
    (!taken.is_empty()).then(|| {
        format!(
            "a log names no commands and directories; left out: {}. A profile file beside it may name them",
            taken.join(", ")
        )
    })
}

/// What is wrong, and the keys that lead there.
struct Fault {
    at: Vec<String>,
    reason: String,
}

/// The rules that types do not say.
fn check(file: &File, written: &DeTable<'_>) -> Result<(), Fault> {
    let fault = |at: &[&str], reason: String| Fault {
        at: at.iter().map(|&key| key.to_owned()).collect(),
        reason,
    };
    for (name, len) in [
        ("required_keys", file.required_keys.len()),
        ("tools", file.tools.len()),
        ("sensitive", file.sensitive.len()),
        ("owners", file.owners.len()),
        ("keys", file.keys.len()),
    ] {
        if len > MOST {
            return Err(fault(
                &[name],
                format!("{name} has {len} entries, the most are {MOST}"),
            ));
        }
    }
    for (name, list) in [
        ("required_keys", &file.required_keys),
        ("sensitive", &file.sensitive),
    ] {
        for text in list {
            said(text).map_err(|why| fault(&[name], format!("an entry of {name} {why}")))?;
        }
    }
    for (name, tool) in &file.tools {
        let at = ["tools", name];
        said(name).map_err(|why| fault(&at, format!("a tool's name {why}")))?;
        if let Some(path) = &tool.operation_key {
            let path_at = ["tools", name, "operation_key"];
            said(path).map_err(|why| fault(&path_at, format!("operation_key {why}")))?;
        }
        let given = ["tools", name, "reconcile"];
        if find(written, &given.map(str::to_owned)).is_some() {
            command(&tool.reconcile).map_err(|why| fault(&given, format!("reconcile {why}")))?;
        }
        patience(tool.time_limit).map_err(|why| fault(&["tools", name, "time_limit"], why))?;
    }
    for (name, key) in &file.owners {
        let at = ["owners", name];
        said(name).map_err(|why| fault(&at, format!("an owner's name {why}")))?;
        key.parse::<PublicKey>().map_err(|error| {
            fault(
                &at,
                format!("owner {name}: {error}; `dover owner new` shows it"),
            )
        })?;
    }
    for (name, probe) in &file.keys {
        let at = ["keys", name, "command"];
        said(name).map_err(|why| fault(&["keys"], format!("a state key's name {why}")))?;
        command(&probe.command).map_err(|why| fault(&at, format!("command {why}")))?;
        patience(probe.time_limit).map_err(|why| fault(&["keys", name, "time_limit"], why))?;
    }
    if let Some(dir) = &file.workspace {
        said(dir).map_err(|why| fault(&["workspace"], format!("workspace {why}")))?;
    }
    if let Some(verifier) = &file.verifier {
        check_verifier(verifier).map_err(|why| fault(&["verifier"], why))?;
    }
    if let Some(text) = &file.expected {
        said(text).map_err(|why| fault(&["expected"], format!("expected {why}")))?;
    }
    Ok(())
}

/// Whether a verifier can judge at all.
pub fn check_verifier(verifier: &Verifier) -> Result<(), String> {
    match verifier {
        Verifier::Answer | Verifier::Math => Ok(()),
        Verifier::Contains(text) => said(text).map_err(|why| format!("contains {why}")),
        Verifier::Command(words) => command(words).map_err(|why| format!("command {why}")),
        Verifier::File { path, contains, .. } => {
            said(path).map_err(|why| format!("file: path {why}"))?;
            let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
            if !Path::new(path).components().all(plain) {
                return Err("file: path must be relative and stay inside the workspace".into());
            }
            contains
                .as_deref()
                .map_or(Ok(()), said)
                .map_err(|why| format!("file: contains {why}"))
        }
    }
}

fn said(text: &str) -> Result<(), String> {
    match text.trim() {
        "" => Err("is empty".into()),
        text if text.len() > LONGEST => Err(format!("is longer than {LONGEST} bytes")),
        text if text.contains('\0') => Err("has a NUL character".into()),
        _ => Ok(()),
    }
}

fn command(words: &[String]) -> Result<(), String> {
    let Some(program) = words.first() else {
        return Err("is empty; give the program and its arguments".into());
    };
    said(program).map_err(|why| format!("names a program that {why}"))?;
    if words.len() > MOST
        || words
            .iter()
            .any(|word| word.len() > LONGEST || word.contains('\0'))
    {
        return Err(format!(
            "has more than {MOST} words, or one that no program can be given"
        ));
    }
    Ok(())
}

fn patience(limit: Option<u64>) -> Result<(), String> {
    match limit {
        Some(limit) if !(1..=PATIENCE).contains(&limit) => {
            Err(format!("time_limit is {limit} s; give 1 to {PATIENCE}"))
        }
        _ => Ok(()),
    }
}

/// Where the value that some keys lead to begins, or the last one on the way.
fn find(table: &DeTable<'_>, keys: &[String]) -> Option<usize> {
    let (first, rest) = keys.split_first()?;
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    match (value.get_ref(), rest) {
        (_, []) => Some(key.span().start),
        (DeValue::Table(inner), rest) => find(inner, rest),
        _ => None,
    }
}
