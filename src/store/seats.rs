//! Who sits at a session. Each screen holds a file of its own beside the database (`STORE.seats/PID-N.seat`) with one line of JSON
//! that says what it shows. A seat is taken exactly as long as its process lives: there is no heartbeat and nothing to tidy up, and
//! the store itself is not written to. Only its holder writes a seat; the others read it.
//!
//! Not here: what follows from it, such as who may drive. That is the screen's.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Store;
use super::held::{self, Held};
use crate::model::Clock;

/// How the names of seats end.
const SEAT: &str = "seat";
/// More than this is no seat.
const MOST: u64 = 16 * 1024;

/// What whoever sits there does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Leads: edits, forks, runs.
    #[default]
    Driver,
    /// Looks on.
    Follower,
    /// A second one who could drive, beside the driver.
    Beside,
}

/// The name of the seat that asks, and its how manieth request it is: an answer to an earlier one is none to this.
pub type Request = (String, u32);

/// A seat, as its holder last told it. What a later version adds is passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seat {
    /// The session.
    pub session: String,
    /// The person.
    pub who: String,
    /// What they do.
    pub role: Role,
    /// When they took up the role; set by [`Seats::say`].
    pub since: String,
    /// The version of their program.
    pub version: String,
    /// The branch that they look at.
    pub branch: String,
    /// The step.
    pub step: usize,
    /// The view or pane.
    pub place: String,
    /// They ask for the driver's seat: their how manieth request it is.
    pub asks: Option<u32>,
    /// The request that the driver grants.
    pub gives: Option<Request>,
    /// The request that the driver refuses.
    pub keeps: Option<Request>,
}

/// The seats that are taken, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// One's own; none where the directory cannot be written.
    pub own: Option<(String, Seat)>,
    /// The others.
    pub others: BTreeMap<String, Seat>,
    /// The store can only be read, so that whoever sits here cannot drive.
    pub reads_only: bool,
}

/// The seats beside a store, one of which may be one's own.
pub struct Seats {
    dir: PathBuf,
    reads_only: bool,
    clock: Arc<dyn Clock>,
    own: Option<(Held, Seat)>,
    others: BTreeMap<String, Seat>,
}

impl Store {
    /// The seats beside it. Nothing is taken yet.
    #[must_use]
    pub fn seats(&self) -> Seats {
        let mut dir = self.path().as_os_str().to_owned();
        dir.push(".seats");
        Seats {
            dir: PathBuf::from(dir),
            reads_only: self.is_read_only(),
            clock: self.inner.clock.clone(),
            own: None,
            others: BTreeMap::new(),
        }
    }
}

impl Seats {
    /// Takes a seat and says what is to be seen there; none gives it back.
    ///
    /// # Errors
    /// A directory that cannot be written.
    pub fn say(&mut self, seat: Option<Seat>) -> io::Result<()> {
        let Some(mut seat) = seat else {
            self.own = None;
            return Ok(());
        };
        seat.since = self.clock.now();
        let held = if let Some((held, before)) = self.own.take() {
            if before.role == seat.role && before.session == seat.session {
                seat.since = before.since;
            }
            held
        } else {
            Held::new(&self.dir, SEAT)?
        };
        let line = format!("{}\n", serde_json::to_string(&seat)?);
        let mut file = &held.file;
        file.rewind()?;
        // A reader takes the first line, so what is left of a longer one does no harm.
        file.write_all(line.as_bytes())?;
        file.set_len(line.len() as u64)?;
        self.own = Some((held, seat));
        Ok(())
    }

    /// Looks round. Seats of those who went away are removed.
    pub fn around(&mut self) -> Around {
        let own = self
            .own
            .as_ref()
            .map(|(held, seat)| (held.name.clone(), seat.clone()));
        let mut others = BTreeMap::new();
        for name in held::names(&self.dir, SEAT) {
            if own.as_ref().is_some_and(|(own, _)| *own == name) {
                continue;
            }
            let Some(file) = self.taken(&name) else {
                continue;
            };
            // One that is being written is as it was.
            if let Some(seat) = read(file).or_else(|| self.others.get(&name).cloned()) {
                others.insert(name, seat);
            }
        }
        self.others.clone_from(&others);
        Around {
            own,
            others,
            reads_only: self.reads_only,
        }
    }

    /// The file of a seat, if somebody holds it.
    fn taken(&self, name: &str) -> Option<File> {
        let path = self.dir.join(name);
        let file = File::open(&path).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(file),
            Ok(()) => {
                let _ = std::fs::remove_file(&path);
                None
            }
            Err(TryLockError::Error(_)) => None,
        }
    }
}

fn read(file: File) -> Option<Seat> {
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text).ok()?;
    let (line, _) = text.split_once('\n')?;
    serde_json::from_str(line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SystemClock;

    fn seat(who: &str, step: usize) -> Seat {
        Seat {
            session: "s".into(),
            who: who.into(),
            step,
            ..Seat::default()
        }
    }

    #[test]
    fn a_seat_is_seen_as_long_as_it_is_held() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store.db"), Arc::new(SystemClock)).unwrap();
        let (mut ann, mut bob) = (store.seats(), store.seats());
        ann.say(Some(seat("ann with a long name", 12_345))).unwrap();
        ann.say(Some(seat("ann", 7))).unwrap();
        bob.say(Some(seat("bob", 0))).unwrap();
        let seen = bob.around();
        let told: Vec<_> = seen
            .others
            .values()
            .map(|seat| (seat.who.as_str(), seat.step))
            .collect();
        assert_eq!(told, [("ann", 7)]);
        assert_eq!(seen.own.unwrap().1.who, "bob");
        drop(ann);
        assert!(bob.around().others.is_empty());
        // A file that nobody holds, such as one of a process that was killed, is removed.
        let stale = store.seats().dir.join("1-0.seat");
        std::fs::write(&stale, "{\"who\":\"carol\",\"session\":\"s\"}\n").unwrap();
        assert!(bob.around().others.is_empty() && !stale.exists());
    }

    #[test]
    fn a_change_of_another_handle_is_seen_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let open = || Store::open(&path, Arc::new(SystemClock)).unwrap();
        let (store, other) = (open(), open());
        let mut watch = store.watch().unwrap();
        assert!(!watch.changed().unwrap());
        other.begin(crate::model::Session::default()).unwrap();
        assert!(watch.changed().unwrap());
        assert!(!watch.changed().unwrap());
    }
}
