//! Who runs a branch. A handle that plans or runs branches holds an exclusive lock on a file of its own beside the database
//! (`STORE.owners/PID-N.lock`). The system lets go of a lock when its process dies, however it dies, so an unfinished branch
//! whose owner's lock can be taken was interrupted. Locks of live owners are never waited for.
//!
//! Files are made and removed only inside a write transaction, so that two processes cannot take each other's for stale.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, params};

use super::Store;
use super::error::{Fault, StoreError};
use crate::model::RunStatus;

/// This handle's lock; given back when the last clone of the handle goes.
pub(super) struct Owner {
    name: String,
    path: PathBuf,
    _lock: File,
}

impl Owner {
    /// Takes a name that nobody has.
    fn new(dir: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(dir)?;
        let pid = std::process::id();
        for n in 0_u32.. {
            let name = format!("{pid}-{n}.lock");
            let path = dir.join(&name);
            let lock = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            if lock.try_lock().is_ok() {
                return Ok(Self {
                    name,
                    path,
                    _lock: lock,
                });
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A file that stays behind is removed by the next one to open the store.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Store {
    /// This handle's name as an owner; called inside a write transaction.
    pub(super) fn owner(&self) -> Result<String, Fault> {
        let mut slot = super::guard(&self.inner.owner);
        if let Some(owner) = slot.as_ref() {
            return Ok(owner.name.clone());
        }
        let dir = self.owners_dir();
        let owner = Owner::new(&dir).map_err(|error| StoreError::Unreachable {
            path: dir,
            reason: error.to_string(),
        })?;
        let name = owner.name.clone();
        *slot = Some(owner);
        Ok(name)
    }

    /// Marks the unfinished branches of vanished processes `interrupted`; returns how many there were. Cheap when there are none.
    pub fn refresh_interrupted(&self) -> Result<usize, StoreError> {
        let own = super::guard(&self.inner.owner)
            .as_ref()
            .map(|owner| owner.name.clone());
        let dir = self.owners_dir();
        let mut names = self.read(|conn| Ok(unfinished_owners(conn)?))?;
        names.extend(lock_files(&dir));
        names.sort();
        names.dedup();
        names.retain(|name| Some(name) != own.as_ref());
        let dead: Vec<Dead> = names
            .into_iter()
            .filter_map(|name| Dead::find(&dir, name))
            .collect();
        if dead.is_empty() {
            return Ok(0);
        }
        self.write(|tx| {
            let mut count = 0;
            for Dead { name, .. } in &dead {
                count += interrupt(tx, name)?;
                let _ = std::fs::remove_file(dir.join(name));
            }
            Ok(count)
        })
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

fn interrupt(tx: &Transaction<'_>, owner: &str) -> rusqlite::Result<usize> {
    tx.prepare_cached("UPDATE branch SET run = ?2, owner = NULL, reason = ?3 WHERE owner = ?1")?
        .execute(params![
            owner,
            RunStatus::Interrupted.name(),
            "the process that ran it went away"
        ])
}

fn lock_files(dir: &Path) -> Vec<String> {
    std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            Path::new(name)
                .extension()
                .is_some_and(|extension| extension == "lock")
        })
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
        let lock = match OpenOptions::new().write(true).open(dir.join(&name)) {
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
