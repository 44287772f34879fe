//! Who runs a branch. A handle that plans or runs branches holds an exclusive lock on a file of its own beside the database
//! (`STORE.owners/PID-N.lock`). The system lets go of a lock when its process dies, however it dies, so an unfinished branch
//! whose owner's lock can be taken was interrupted. Locks of live owners are never waited for.
//!
//! Files are made and removed only inside a write transaction, so that two processes cannot take each other's for stale.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, params};

use super::Store;
use super::error::{Fault, StoreError};
use super::held::{self, Held};
use super::{branches, lineage, receipts};
use crate::model::{Branch, GateStatus, RunStatus};

/// How the names of the locks end.
const LOCK: &str = "lock";
/// Why a branch is interrupted.
const WENT_AWAY: &str = "the process that ran it went away";

impl Store {
    /// This handle's name as an owner; called inside a write transaction.
    pub(super) fn owner(&self) -> Result<String, Fault> {
        let mut slot = super::guard(&self.inner.owner);
        if let Some(owner) = slot.as_ref() {
            return Ok(owner.name.clone());
        }
        let dir = self.owners_dir();
        let owner = Held::new(&dir, LOCK).map_err(|error| StoreError::Unreachable {
            path: dir,
            reason: error.to_string(),
        })?;
        let name = owner.name.clone();
        *slot = Some(owner);
        Ok(name)
    }

    /// Marks the unfinished branches of vanished processes `interrupted`; returns how many there were, or, where nothing can be
    /// written, how many processes vanished. Cheap when there are none.
    pub fn refresh_interrupted(&self) -> Result<usize, StoreError> {
        let own = super::guard(&self.inner.owner)
            .as_ref()
            .map(|owner| owner.name.clone());
        let dir = self.owners_dir();
        let mut names = self.read(|conn| Ok(unfinished_owners(conn)?))?;
        names.extend(held::names(&dir, LOCK));
        names.sort();
        names.dedup();
        names.retain(|name| Some(name) != own.as_ref());
        let dead: Vec<Dead> = names
            .into_iter()
            .filter_map(|name| Dead::find(&dir, name))
            .collect();
        if dead.is_empty() || self.is_read_only() {
            return Ok(dead.len());
        }
        self.write(|tx| {
            let mut count = 0;
            for Dead { name, .. } in &dead {
                for key in interrupt(tx, name)? {
                    count += 1;
                    self.tell(tx, key)?;
                }
                let _ = std::fs::remove_file(dir.join(name));
            }
            Ok(count)
        })
    }

    /// A branch as the next who may write will mark it: where nothing can be written, one whose owner vanished would run for ever.
    pub(super) fn as_it_went(&self, conn: &Connection, branch: Branch) -> Result<Branch, Fault> {
        if !self.is_read_only() || branch.run.is_over() {
            return Ok(branch);
        }
        let owner: Option<String> = conn
            .prepare_cached("SELECT owner FROM branch WHERE id = ?1")?
            .query_row([lineage::key(conn, &branch.id)?], |row| row.get(0))?;
        let Some(_dead) = owner.and_then(|name| Dead::find(&self.owners_dir(), name)) else {
            return Ok(branch);
        };
        Ok(Branch {
            gate: match branch.gate {
                Some(GateStatus::ReadyToResume) if branch.run == RunStatus::Running => {
                    Some(GateStatus::Unverified)
                }
                gate => gate,
            },
            run: RunStatus::Interrupted,
            reason: Some(WENT_AWAY.to_owned()),
            ..branch
        })
    }

    /// The outcome receipt of an interrupted branch. Of one that is damaged nothing can be told, and the store must open all the same.
    fn tell(&self, tx: &Transaction<'_>, key: i64) -> Result<(), Fault> {
        let told = branches::read(tx, key).and_then(|branch| receipts::ended(tx, &branch));
        match told {
            Ok(content) => self.receipt(tx, content),
            Err(fault) => match fault.at(&self.inner.source.path) {
                StoreError::Damaged { .. } => Ok(()),
                error => Err(error.into()),
            },
        }
    }

    fn owners_dir(&self) -> PathBuf {
        let mut dir = self.inner.source.path.as_os_str().to_owned();
        dir.push(".owners");
        PathBuf::from(dir)
    }
}

fn unfinished_owners(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached("SELECT DISTINCT owner FROM branch WHERE owner IS NOT NULL")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Marks an owner's unfinished branches. One that had begun has no outcome of its own, so it is unverified.
fn interrupt(tx: &Transaction<'_>, owner: &str) -> rusqlite::Result<Vec<i64>> {
    tx.prepare_cached(
        "UPDATE branch SET run = ?2, owner = NULL, reason = ?3,
                gate = CASE WHEN run = ?4 AND gate = ?5 THEN ?6 ELSE gate END
         WHERE owner = ?1 RETURNING id",
    )?
    .query_map(
        params![
            owner,
            RunStatus::Interrupted.name(),
            WENT_AWAY,
            RunStatus::Running.name(),
            GateStatus::ReadyToResume.name(),
            GateStatus::Unverified.name(),
        ],
        |row| row.get(0),
    )?
    .collect()
}

/// An owner whose lock nobody holds; it is held here until its branches are marked.
struct Dead {
    name: String,
    _lock: Option<File>,
}

impl Dead {
    /// None if the owner lives or cannot be told. An owner whose file is gone is dead.
    fn find(dir: &Path, name: String) -> Option<Self> {
        // Another user of the group may only read it.
        let lock = match File::open(dir.join(&name)) {
            Ok(file) => {
                file.try_lock().ok()?;
                Some(file)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => return None,
        };
        Some(Self { name, _lock: lock })
    }
}
