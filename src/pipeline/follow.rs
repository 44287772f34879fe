//! A log that is still being written: whenever it grew, it is read again, and what is new becomes steps of the `main` that its
//! beginning became.
//!
//! Invariants: only whole records are read, so that a half-written one waits; a step once taken in is never changed, whatever the
//! log says of it later; a log that no longer begins with what was read of it is told, and nothing more is taken from it.
//! Not here: when to look. An idle file costs one look at its length and time.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::de::IgnoredAny;

use super::intake::{self, judged, key_in, key_paths, recorded};
use super::{PipelineError, config};
use crate::import::{self, Beside, Content, ImportError, Imported, ProfileFile, Sink};
use crate::model::{BranchId, Checkpoint, Digest, Effect, Step, StepKind};
use crate::store::{Grown, Store, StoreError};

/// Steps read in one go.
const STRIDE: usize = 2_000;

/// What each step is known by, and the kind that it is taken for.
type Marks = Vec<(Digest, StepKind)>;

/// What was found when a log was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Nothing whole is in it yet.
    Waits,
    /// It cannot be read for now, and why; it is looked for on and on.
    Gone(String),
    /// It can be read again.
    Back(String),
    /// It is in the store, as this session.
    Began(String),
    /// The session has new steps.
    Grew {
        /// The session.
        session: String,
        /// How many.
        steps: usize,
        /// How many earlier steps would be of another kind by what is known now.
        otherwise: usize,
    },
    /// It is not followed any more, and why.
    Over(String),
}

/// Follows one log.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    /// Length and time at the last look.
    stamp: Option<(u64, Option<SystemTime>)>,
    waits: bool,
    /// It was told that it cannot be read.
    gone: bool,
    /// The session, once there is one.
    session: Option<String>,
    /// What was taken in, a mark and a kind for each step.
    taken: Marks,
    /// What was whole at the last look, and its length.
    whole: (u64, Digest),
    /// Whether it was record after record, and not one document.
    records: bool,
}

impl Follower {
    /// Follows a file from now on.
    ///
    /// # Errors
    /// What is no log.
    pub fn new(path: &Path) -> Result<Self, PipelineError> {
        let refused = |why: &str| {
            let place = path.display();
            Err(PipelineError::Usage(format!(
                "{place}: {why}. --follow takes the file that a run writes its log to"
            )))
        };
        if is_stream(path) {
            return Err(no_stream(path));
        }
        if !path.exists() {
            return refused("there is no such file");
        }
        if !path.is_file() {
            return refused("this is no file that can be read again as it grows");
        }
        if import::sniff(path) != Content::Log {
            return refused("this is a world or a profile, which does not grow");
        }
        Ok(Self {
            path: path.to_owned(),
            stamp: None,
            waits: false,
            gone: false,
            session: None,
            taken: Vec::new(),
            whole: (0, Digest::ZERO),
            records: false,
        })
    }

    /// Looks whether the file changed, and takes in what is new.
    ///
    /// # Errors
    /// A log that cannot be read, or the store.
    pub fn look(&mut self, store: &Store) -> Result<Option<Growth>, PipelineError> {
        let found = self.path.metadata().and_then(|meta| {
            let stamp = (meta.len(), meta.modified().ok());
            let changed = self.gone || self.stamp != Some(stamp);
            let bytes = changed.then(|| std::fs::read(&self.path)).transpose()?;
            Ok((stamp, bytes))
        });
        let (stamp, bytes) = match found {
            Ok((_, Some(_))) if std::mem::take(&mut self.gone) => {
                self.stamp = None;
                let place = self.path.display();
                return Ok(Some(Growth::Back(format!(
                    "{place} can be read again and is followed"
                ))));
            }
            Ok((stamp, Some(bytes))) => (stamp, bytes),
            Ok((_, None)) => return Ok(None),
            // Whoever writes a whole document may take the old one away first.
            Err(error) => {
                let first = !std::mem::replace(&mut self.gone, true);
                let place = self.path.display();
                return Ok(first.then(|| {
                    Growth::Gone(format!(
                        "{place} cannot be read ({error}): it is followed again when it can"
                    ))
                }));
            }
        };
        self.stamp = Some(stamp);
        let (end, records) = whole(&bytes);
        let now = (end as u64, Digest::of(bytes.get(..end).unwrap_or_default()));
        drop(bytes);
        if self.session.is_some() {
            if now == self.whole {
                return Ok(None);
            }
            if self.records && now.0 < self.whole.0 {
                return Ok(Some(Growth::Over(self.told("was cut short"))));
            }
        }
        if end == 0 {
            let first = self.session.is_none() && !std::mem::replace(&mut self.waits, true);
            return Ok(first.then_some(Growth::Waits));
        }
        let read = self.read(now)?;
        let Some((imported, tail)) = read else {
            // It was written to meanwhile: the next look sees it as it is then.
            self.stamp = None;
            return Ok(None);
        };
        let growth = match self.session.clone() {
            Some(session) => self.add(store, session, imported, tail),
            None => self.begin(store, now.0, imported, tail).map(Some),
        };
        let growth = match growth {
            // Somebody writes for long, or follows the same log and was faster: the next look finds what they did.
            Err(PipelineError::Store(StoreError::Locked { .. } | StoreError::OutOfTurn { .. })) => {
                self.stamp = None;
                return Ok(None);
            }
            other => other?,
        };
        self.whole = now;
        self.records = records;
        Ok(growth)
    }

    fn told(&self, what: &str) -> String {
        format!(
            "{} {what}, so it is not followed any more: what was read of it stays as {}. dover open --follow begins anew",
            self.path.display(),
            self.session.as_deref().unwrap_or("it was"),
        )
    }

    /// Everything that is whole; none if it changed while it was read.
    fn read(&self, now: (u64, Digest)) -> Result<Option<(Imported, Tail)>, PipelineError> {
        let profile = ProfileFile::beside(&self.path)?;
        let mut tail = Tail {
            keys: profile.as_ref().map(key_paths).unwrap_or_default(),
            ..Tail::default()
        };
        let imported = import::import_upto(&self.path, now.0, &mut tail, &mut |_, _| true)?;
        let same = imported.session.source_digest == Some(now.1);
        Ok(same.then_some((imported, tail)))
    }

    /// Finds the session that the log's beginning is already, or makes it one.
    fn begin(
        &mut self,
        store: &Store,
        upto: u64,
        imported: Imported,
        tail: Tail,
    ) -> Result<Growth, PipelineError> {
        if let Some((session, taken)) = beginning(store, &imported, &tail)? {
            self.taken = taken;
            self.session = Some(session.clone());
            self.add(store, session.clone(), imported, tail)?;
            return Ok(Growth::Began(session));
        }
        let profile = ProfileFile::beside(&self.path)?;
        let session = intake::log(
            store,
            (&self.path, upto),
            None,
            profile.as_ref(),
            None,
            &mut |_, _| true,
        )?;
        self.taken = tail.marks();
        self.session = Some(session.clone());
        Ok(Growth::Began(session))
    }

    /// Adds what is new to the session.
    fn add(
        &mut self,
        store: &Store,
        session: String,
        imported: Imported,
        mut tail: Tail,
    ) -> Result<Option<Growth>, PipelineError> {
        let (known, marks) = (self.taken.len(), tail.marks());
        let mut both = self.taken.iter().zip(&marks);
        if marks.len() < known || both.any(|(then, now)| then.0 != now.0) {
            return Ok(Some(Growth::Over(self.told("was cut short or replaced"))));
        }
        // Another may follow the same log: what they took in is there already.
        let main = BranchId::main(&session);
        let there = store.branch(&main)?.steps;
        let theirs = marked(store, &main, known..there)?;
        let mut both = theirs.iter().zip(marks.iter().skip(known));
        if known + theirs.len() > marks.len() || both.any(|(then, now)| then.0 != now.0) {
            return Ok(Some(Growth::Over(self.told("was cut short or replaced"))));
        }
        self.taken.extend(theirs);
        let both = self.taken.iter().zip(&marks);
        let otherwise = both.filter(|(then, now)| then.1 != now.1).count();
        let new = tail.steps.split_off(self.taken.len());
        if new.is_empty() {
            return Ok((self.taken.len() > known).then(|| Growth::Grew {
                session,
                steps: self.taken.len() - known,
                otherwise,
            }));
        }
        let stored = store.session(&session)?;
        let judgement = judged(&stored, imported.answer.as_deref());
        let ending = recorded(imported.answer, judgement);
        let mut header = imported.session;
        let same = otherwise == 0;
        config::pin(&mut header, tail.tools);
        if stored.runtime.is_some() {
            header.config = stored.config;
        }
        // What an import would read otherwise is not what an import finds to be in the store already.
        header.source_digest = header.source_digest.filter(|_| same);
        store.grow(
            &session,
            &Grown {
                steps: new,
                session: header,
                answer: ending.answer,
                success: ending.success,
            },
        )?;
        let before = self.taken.len();
        self.taken.extend(marks.into_iter().skip(before));
        Ok(Some(Growth::Grew {
            session,
            steps: self.taken.len() - known,
            otherwise,
        }))
    }
}

/// Whether a path is a pipe, a device or standard input, of which nothing can be read twice.
pub(super) fn is_stream(path: &Path) -> bool {
    let kind = path.metadata().map(|meta| meta.file_type());
    path == Path::new("-") || kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir())
}

/// Why a stream is not read, and what to do instead.
pub(super) fn no_stream(path: &Path) -> PipelineError {
    PipelineError::Usage(format!(
        "{}: this is standard input, a pipe or a device, of which nothing can be read twice. Let the run write to a file and follow that: some-agent > run.jsonl & dover open run.jsonl --follow. What is written to its end is taken in by: … | dover import -",
        path.display()
    ))
}

/// How much of a log is whole, and whether it is record after record. What is no JSON is whole to the end of its last line.
fn whole(bytes: &[u8]) -> (usize, bool) {
    let mark = if bytes.starts_with(&[0xEF, 0xBB, 0xBF]) {
        3
    } else {
        0
    };
    let text = bytes.get(mark..).unwrap_or_default();
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    let (mut end, mut count) = (0, 0_usize);
    loop {
        match values.next() {
            Some(Ok(_)) => {
                end = mark + values.byte_offset();
                count += 1;
            }
            Some(Err(error)) if !error.is_eof() => {
                let lines = bytes.iter().rposition(|byte| *byte == b'\n');
                return (lines.map_or(0, |last| last + 1), true);
            }
            _ => return (end, count > 1),
        }
    }
}

/// The session that the steps of a log begin with, the longest if there are several, and what it has of them.
fn beginning(
    store: &Store,
    imported: &Imported,
    tail: &Tail,
) -> Result<Option<(String, Marks)>, PipelineError> {
    let marks = tail.marks();
    let mut found: Option<(String, Marks)> = None;
    for summary in store.sessions()? {
        let longer = found
            .as_ref()
            .is_none_or(|(_, taken)| taken.len() < summary.steps);
        let fits = summary.steps > 0 && summary.steps <= marks.len();
        if !longer || !fits || summary.session.source != imported.session.source {
            continue;
        }
        let main = BranchId::main(&summary.session.id);
        if !store.branch(&main)?.run.is_over() {
            continue;
        }
        let mut taken = Vec::new();
        while taken.len() < summary.steps {
            let at = taken.len();
            let more = marked(store, &main, at..summary.steps.min(at + STRIDE))?;
            let same = more
                .iter()
                .zip(marks.iter().skip(at))
                .all(|(a, b)| a.0 == b.0);
            if more.is_empty() || !same {
                break;
            }
            taken.extend(more);
        }
        let same = taken.iter().zip(&marks).all(|(a, b)| a.0 == b.0);
        if same && taken.len() == summary.steps {
            found = Some((summary.session.id, taken));
        }
    }
    Ok(found)
}

/// The marks of steps that the store has.
fn marked(store: &Store, branch: &BranchId, steps: Range<usize>) -> Result<Marks, PipelineError> {
    let mut marks = Marks::new();
    for start in steps.clone().step_by(STRIDE) {
        let steps = store.steps(branch, start..steps.end.min(start + STRIDE))?;
        marks.extend(steps.iter().map(mark));
    }
    Ok(marks)
}

/// What a step is known by: who says what. What kind of step it is may be seen only later.
fn mark(step: &Step) -> (Digest, StepKind) {
    let said = Digest::of_fields([step.agent.as_bytes(), step.text.as_bytes()]);
    (said, step.kind)
}

/// The steps of the original run, with what goes with each.
#[derive(Default)]
struct Tail {
    steps: Vec<(Step, Option<Checkpoint>, Vec<Effect>)>,
    /// Tools that were called.
    tools: BTreeSet<String>,
    /// Where the profile finds the operation keys of tools.
    keys: BTreeMap<String, String>,
    /// What comes now belongs to a branch, which does not grow.
    forked: bool,
}

impl Tail {
    fn marks(&self) -> Marks {
        self.steps.iter().map(|(step, ..)| mark(step)).collect()
    }
}

impl Sink for Tail {
    fn step(
        &mut self,
        step: Step,
        checkpoint: Option<Checkpoint>,
        mut effects: Vec<Effect>,
    ) -> Result<(), ImportError> {
        if self.forked {
            return Ok(());
        }
        if let Some(tool) = step.meta.tool.as_ref().filter(|tool| !tool.name.is_empty()) {
            self.tools.insert(tool.name.clone());
        }
        for effect in &mut effects {
            if let Some(key) = key_in(&self.keys, &step, effect) {
                effect.operation_key = key;
            }
        }
        self.steps.push((step, checkpoint, effects));
        Ok(())
    }

    fn reclassify(
        &mut self,
        index: usize,
        kind: StepKind,
        to: Option<&str>,
    ) -> Result<(), ImportError> {
        if let Some((step, ..)) = self.steps.get_mut(index) {
            step.kind = kind;
            step.to = to.map(str::to_owned);
        }
        Ok(())
    }

    fn beside(&mut self, beside: Beside) -> Result<(), ImportError> {
        self.forked |= matches!(beside, Beside::Branch(..));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn only_whole_records_count() {
        let table: [(&str, (usize, bool)); 9] = [
            ("", (0, false)),
            ("{\"a\":", (0, false)),
            ("{\"a\":1}\n{\"b", (7, false)),
            ("{\"a\":1}\n{\"b\":2}", (15, true)),
            ("{\"a\":1}\n{\"b\":2}\n{\"c\": \"x", (15, true)),
            ("[\n {\"a\": 1},", (0, false)),
            ("[\n {\"a\": 1}\n]\n", (13, false)),
            ("{'a': 1}\n{'b': 2}\n{'c", (18, true)),
            ("{\"a\":1}\nnot json\n{\"b", (17, true)),
        ];
        for (text, expected) in table {
            assert_eq!(whole(text.as_bytes()), expected, "{text:?}");
        }
    }
}
