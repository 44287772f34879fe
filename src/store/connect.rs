//! Opening the file: where it is, in which mode it can be had, and what every connection needs.
//!
//! A store that cannot be written is still opened for reading. If no write-ahead log stands beside it, nobody has it open and
//! it is read as it lies there, which leaves no files behind that would keep it read-only; else beside those who write.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};

use super::error::{Fault, StoreError};
use super::schema::{self, State};

/// How every SQLite file begins (the file format's section 1.3.1).
const SQLITE_START: &[u8; 16] = b"SQLite format 3\0";

/// How a file can be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    /// Read and written.
    Write,
    /// Read as it lies there, nobody having it open.
    Frozen,
    /// Read beside processes that may write.
    Read,
}

/// How to reach one store.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) access: Access,
    /// How long to wait for another process.
    pub(super) patience: Duration,
    /// Which file it was when it was opened; none where the system cannot tell.
    pub(super) file: Option<(u64, u64)>,
}

impl Source {
    /// Finds the best access that the file allows; makes the file, its directory and its schema where they are missing.
    pub(super) fn find(path: &Path, patience: Duration) -> Result<(Self, Connection), StoreError> {
        if path.is_dir() {
            return Err(StoreError::Directory {
                path: path.to_owned(),
            });
        }
        make_parent(path)?;
        refuse_other_files(path)?;
        let with = |access| {
            let source = Self {
                path: path.to_owned(),
                access,
                patience,
                file: None,
            };
            source.prepare().map(|conn| {
                let file = identity(path);
                (Self { file, ..source }, conn)
            })
        };
        match with(Access::Write) {
            // The first refusal says best what is wrong.
            Err(refusal) if refusal.is_no_write() => with(Access::Frozen)
                .or_else(|_| with(Access::Read))
                .map_err(|fault| if fault.is_no_write() { refusal } else { fault }),
            other => other,
        }
        .map_err(|fault| fault.at(path))
    }

    /// A first connection, with the schema checked or made.
    fn prepare(&self) -> Result<Connection, Fault> {
        if self.access == Access::Write {
            make_file(&self.path);
        }
        let mut conn = self.connect()?;
        if self.access == Access::Write {
            schema::state(&conn, &self.path)?;
            use_wal(&conn)?;
            schema::migrate(&mut conn, &self.path)?;
        } else if schema::state(&conn, &self.path)? != State::Current {
            return Err(no_write());
        }
        Ok(conn)
    }

    /// Refuses a file that was taken away, or another in its place, which those who have it open do not notice.
    pub(super) fn still_there(&self) -> Result<(), StoreError> {
        if self.path.exists() && (self.file.is_none() || identity(&self.path) == self.file) {
            return Ok(());
        }
        Err(StoreError::Refused(format!(
            "store {}: its file was removed, or another was put in its place: nothing new is seen, and nothing done here from now on is kept. Quit, put the file back and come again",
            self.path.display()
        )))
    }

    /// One more connection.
    pub(super) fn connect(&self) -> Result<Connection, Fault> {
        let base = OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = match self.access {
            Access::Write => {
                Connection::open_with_flags(&self.path, base | OpenFlags::SQLITE_OPEN_READ_WRITE)?
            }
            Access::Read => {
                Connection::open_with_flags(&self.path, base | OpenFlags::SQLITE_OPEN_READ_ONLY)?
            }
            Access::Frozen => {
                if has_log(&self.path) {
                    return Err(no_write());
                }
                Connection::open_with_flags(
                    frozen_uri(&self.path),
                    base | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
                )?
            }
        };
        // Asked before anything is read: a read would leave a log of the same permissions behind.
        if self.access == Access::Write && conn.is_readonly(MAIN_DB)? {
            return Err(no_write());
        }
        conn.busy_timeout(self.patience)?;
        conn.pragma_update(None, "foreign_keys", true)?;
        conn.pragma_update(None, "synchronous", "NORMAL")?;
        conn.set_prepared_statement_cache_capacity(64);
        Ok(conn)
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Where the store is when nothing else is said: `DOVER_STORE`, else the platform's data directory.
pub(super) fn default_path() -> Result<PathBuf, StoreError> {
    if let Some(path) = std::env::var_os("DOVER_STORE").filter(|path| !path.is_empty()) {
        return Ok(PathBuf::from(path));
    }
    directories::ProjectDirs::from("", "", "dover")
        .map(|dirs| dirs.data_dir().join("store.db"))
        .ok_or(StoreError::NoHome)
}

fn make_parent(path: &Path) -> Result<(), StoreError> {
    let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    else {
        return Ok(());
    };
    std::fs::create_dir_all(parent).map_err(|error| StoreError::Unreachable {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// Makes the file, empty, with what the umask allows: `SQLite` itself never lets a group write, whatever the umask, and gives
/// the files beside it the permissions of the first. Where it cannot be made, `SQLite` says why.
fn make_file(path: &Path) {
    let _ = File::options().write(true).create_new(true).open(path);
}

/// Refuses what is there and is no database. SQLite itself would take a file of a few bytes for an empty database and write over it.
fn refuse_other_files(path: &Path) -> Result<(), StoreError> {
    let foreign = |what| StoreError::Foreign {
        path: path.to_owned(),
        what,
    };
    match std::fs::metadata(path) {
        Ok(meta) if !meta.is_file() => return Err(foreign("not a file")),
        Ok(meta) if meta.len() > 0 => {}
        _ => return Ok(()),
    }
    let mut start = [0; SQLITE_START.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    match read {
        Ok(()) if start == *SQLITE_START => Ok(()),
        Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            Err(StoreError::Unreachable {
                path: path.to_owned(),
                reason: error.to_string(),
            })
        }
        _ => Err(foreign("not a database")),
    }
}

/// Turns the write-ahead log on. The switch does not wait for others by itself, so it is tried again while two processes make one store.
fn use_wal(conn: &Connection) -> Result<(), Fault> {
    let mut tries = 0;
    loop {
        match conn.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && tries < 20 =>
            {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return Ok(other?),
        }
    }
}

pub(super) fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    Path::new(&log).exists()
}

/// The file's address with `immutable=1`; what has a meaning in an address is escaped.
fn frozen_uri(path: &Path) -> String {
    let path = path.to_string_lossy();
    let escaped = path
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    format!("file:{escaped}?immutable=1")
}

fn no_write() -> Fault {
    let code = rusqlite::ffi::SQLITE_READONLY;
    Fault::Sql(rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(code),
        None,
    ))
}
