//! All branches of a session for an overview: a few bytes a step, no contents.

use rusqlite::params;

use super::columns::Named;
use super::error::StoreError;
use super::lineage::Line;
use super::{Store, milestones, sessions};
use crate::model::{BranchId, Cell, Lane};

impl Store {
    /// The lanes of a session's branches, `main` first, then in the order they were made. Costs the steps of the session, each once.
    pub fn lanes(&self, session: &str) -> Result<Vec<Lane>, StoreError> {
        self.read(|conn| {
            let (key, header) = sessions::header(conn, session)?;
            let mut lanes: Vec<Lane> = Vec::new();
            let mut keys: Vec<i64> = Vec::new();
            let mut branches = conn.prepare_cached(
                "SELECT id, name, parent, coalesce(fork_step, 0) FROM branch WHERE session = ?1 ORDER BY id",
            )?;
            let mut steps = conn.prepare_cached(
                "SELECT agent, kind, error FROM step WHERE branch = ?1 ORDER BY idx",
            )?;
            let mut rows = branches.query([key])?;
            while let Some(row) = rows.next()? {
                let (branch, name): (i64, String) = (row.get(0)?, row.get(1)?);
                let parent: Option<i64> = row.get(2)?;
                let mut cells = Vec::new();
                let mut found = steps.query(params![branch])?;
                while let Some(step) = found.next()? {
                    let agent = step.get_ref(0)?.as_str().unwrap_or_default();
                    let place = header.agents.iter().position(|known| known.name == agent);
                    cells.push(Cell {
                        agent: u16::try_from(place.unwrap_or(header.agents.len()))
                            .unwrap_or(u16::MAX),
                        kind: step.get::<_, Named<_>>(1)?.0,
                        error: step.get(2)?,
                    });
                }
                lanes.push(Lane {
                    branch: BranchId::new(session, &name),
                    // A parent is older than its children.
                    parent: parent.and_then(|parent| keys.iter().position(|key| *key == parent)),
                    from: row.get(3)?,
                    cells,
                    reached: milestones::reached(
                        conn,
                        &Line::of_key(conn, branch)?,
                        &header.milestones,
                        &mut self.looked(branch),
                    )?,
                });
                keys.push(branch);
            }
            Ok(lanes)
        })
    }
}
