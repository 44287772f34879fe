//! Whether others wrote to the store since the last look; a look reads no table.

use std::path::PathBuf;

use rusqlite::Connection;

use super::Store;
use super::connect::{Access, has_log};
use super::error::{Fault, StoreError};

/// A connection that is asked again and again whether something changed.
pub struct Watch {
    conn: Connection,
    path: PathBuf,
    access: Access,
    version: i64,
}

impl Store {
    /// Begins to watch; what is written from now on is a change.
    pub fn watch(&self) -> Result<Watch, StoreError> {
        let source = &self.inner.source;
        let begin = || {
            let conn = source.connect()?;
            let version = version(&conn)?;
            Ok(Watch {
                conn,
                path: source.path.clone(),
                access: source.access,
                version,
            })
        };
        begin().map_err(|fault: Fault| fault.at(&source.path))
    }
}

impl Watch {
    /// Whether anybody wrote since the last time this was asked.
    pub fn changed(&mut self) -> Result<bool, StoreError> {
        if !self.path.exists() {
            return Err(StoreError::Refused(format!(
                "store {}: the file is gone, so nothing new will be seen: quit and look for its copy",
                self.path.display()
            )));
        }
        if self.access == Access::Frozen && has_log(&self.path) {
            return Err(StoreError::Refused(format!(
                "store {}: nobody had it open when you came and now somebody writes to it: quit and come again to see what is new",
                self.path.display()
            )));
        }
        let now = version(&self.conn).map_err(|fault| fault.at(&self.path))?;
        let changed = now != self.version;
        self.version = now;
        Ok(changed)
    }
}

fn version(conn: &Connection) -> Result<i64, Fault> {
    Ok(conn.pragma_query_value(None, "data_version", |row| row.get(0))?)
}
