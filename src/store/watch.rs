//! Whether others wrote to the store since the last look; a look reads no table.

use rusqlite::Connection;

use super::Store;
use super::connect::{Access, Source, has_log};
use super::error::{Fault, StoreError};

/// A connection that is asked again and again whether something changed.
pub struct Watch {
    conn: Connection,
    source: Source,
    version: i64,
}

impl Store {
    /// Refuses a store whose file was taken away, or replaced, while it was open.
    pub fn still_there(&self) -> Result<(), StoreError> {
        self.inner.source.still_there()
    }

    /// Begins to watch; what is written from now on is a change.
    pub fn watch(&self) -> Result<Watch, StoreError> {
        let source = &self.inner.source;
        let begin = || {
            let conn = source.connect()?;
            let version = version(&conn)?;
            Ok(Watch {
                conn,
                source: source.clone(),
                version,
            })
        };
        begin().map_err(|fault: Fault| fault.at(&source.path))
    }
}

impl Watch {
    /// Whether anybody wrote since the last time this was asked.
    pub fn changed(&mut self) -> Result<bool, StoreError> {
        self.source.still_there()?;
        let path = &self.source.path;
        if self.source.access == Access::Frozen && has_log(path) {
            return Err(StoreError::Refused(format!(
                "store {}: nobody had it open when you came and now somebody writes to it: quit and come again to see what is new",
                path.display()
            )));
        }
        let now = version(&self.conn).map_err(|fault| fault.at(path))?;
        let changed = now != self.version;
        self.version = now;
        Ok(changed)
    }
}

fn version(conn: &Connection) -> Result<i64, Fault> {
    Ok(conn.pragma_query_value(None, "data_version", |row| row.get(0))?)
}
