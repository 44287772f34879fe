//! The schema's versions. `user_version` says which one a file has; a migration is one transaction.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::error::{Fault, StoreError};

/// The migration that leads to schema i + 1, for each i. Append; never change one that was released.
const MIGRATIONS: &[&str] = &[
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
    include_str!("schema_6.sql"),
    include_str!("schema_7.sql"),
    include_str!("schema_8.sql"),
    include_str!("schema_9.sql"),
];

/// "dovr", so that a database of another program is told from an old or empty store.
const APPLICATION: i64 = 0x646f_7672;

/// Where a file stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Ready for use.
    Current,
    /// Empty, or of an older schema.
    Behind(usize),
}

/// Reads the version and refuses what this program must not touch.
pub(super) fn state(conn: &Connection, path: &Path) -> Result<State, Fault> {
    let pragma = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let version = pragma("user_version")?;
    let tables: usize =
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let empty = version == 0 && tables == 0;
    if !empty && pragma("application_id")? != APPLICATION {
        return Err(Fault::Told(StoreError::Foreign {
            path: path.to_owned(),
            what: "a database of another program",
        }));
    }
    match usize::try_from(version) {
        Ok(known) if known == MIGRATIONS.len() => Ok(State::Current),
        Ok(older) if older < MIGRATIONS.len() => Ok(State::Behind(older)),
        _ => Err(Fault::Told(StoreError::Newer {
            path: path.to_owned(),
            found: version,
            known: i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX),
        })),
    }
}

/// Brings a file up to this program's schema. Another process may have done it in the meantime.
pub(super) fn migrate(conn: &mut Connection, path: &Path) -> Result<(), Fault> {
    if state(conn, path)? == State::Current {
        return Ok(());
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if let State::Behind(version) = state(&tx, path)? {
        for sql in MIGRATIONS.iter().skip(version) {
            tx.execute_batch(sql)?;
        }
        tx.pragma_update(None, "application_id", APPLICATION)?;
        tx.pragma_update(None, "user_version", MIGRATIONS.len())?;
    }
    tx.commit()?;
    Ok(())
}
