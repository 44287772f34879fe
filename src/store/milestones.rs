//! Milestones of a branch: the first step that reaches each, by its check or by a person's mark.

use rusqlite::{Connection, params};

use super::columns::{Json, Named};
use super::error::{Fault, StoreError};
use super::lineage::Line;
use super::{Store, guard};
use super::{sessions, steps};
use crate::model::{BranchId, Check, Milestone, MilestoneMark, Step};

impl Store {
    /// Marks a milestone (0-based) as reached by hand at a step of a branch; a second mark replaces the first.
    pub fn mark_milestone(
        &self,
        id: &BranchId,
        milestone: usize,
        step: usize,
    ) -> Result<(), StoreError> {
        self.write(|tx| {
            let (session, header) = sessions::header(tx, id.session())?;
            let line = Line::of(tx, id)?;
            if step >= line.len {
                return Err(steps::no_step(id, step, line.len));
            }
            let marked = header.milestones.get(milestone).ok_or_else(|| {
                StoreError::Refused(format!(
                    "session {} has {} milestones: there is no number {}",
                    header.id,
                    header.milestones.len(),
                    milestone.saturating_add(1),
                ))
            })?;
            tx.prepare_cached(
                "INSERT INTO mark (branch, milestone, step) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET step = excluded.step",
            )?
            .execute(params![line.branch, marked.title, step])?;
            if *id == BranchId::main(id.session()) {
                let looked = self.looked(line.branch);
                sessions::count_reached(tx, session, &line, &header.milestones, looked)?;
            }
            Ok(())
        })
    }

    /// What people marked on the branches of a session themselves, by branch and title.
    pub fn marks(&self, session: &str) -> Result<Vec<MilestoneMark>, StoreError> {
        self.read(|conn| {
            let (key, _) = sessions::header(conn, session)?;
            let rows: rusqlite::Result<Vec<_>> = conn
                .prepare_cached(
                    "SELECT b.name, m.milestone, m.step FROM mark m JOIN branch b ON b.id = m.branch
                     WHERE b.session = ?1 ORDER BY b.id, m.milestone",
                )?
                .query_map([key], |row| {
                    Ok(MilestoneMark {
                        branch: BranchId::new(session, &row.get::<_, String>(0)?),
                        milestone: row.get(1)?,
                        step: row.get(2)?,
                    })
                })?
                .collect();
            Ok(rows?)
        })
    }

    /// For each milestone of the session the first step of the branch that reaches it, by check or by mark. Costs the steps that this
    /// handle has not looked at before.
    pub fn milestones(&self, id: &BranchId) -> Result<Vec<Option<usize>>, StoreError> {
        self.read(|conn| {
            let (_, header) = sessions::header(conn, id.session())?;
            let line = Line::of(conn, id)?;
            let mut looked = self.looked(line.branch);
            let found = reached(conn, &line, &header.milestones, &mut looked)?;
            // What was read is committed, so it stays as it is.
            guard(&self.inner.looked).insert(line.branch, looked);
            Ok(found)
        })
    }

    /// What is known of a branch's row.
    pub(super) fn looked(&self, branch: i64) -> Looked {
        let all = guard(&self.inner.looked);
        all.get(&branch).cloned().unwrap_or_default()
    }
}

/// What the checks found on a branch, and how many of its steps were looked at for it. A step never changes, so none needs to be looked at
/// twice as long as the milestones are the same.
#[derive(Clone, Default)]
pub(super) struct Looked {
    milestones: Vec<Milestone>,
    upto: usize,
    found: Vec<Option<usize>>,
}

/// The first steps of a line that reach each milestone. Contents are read only if some check asks for them, and only of steps that
/// were not looked at; what is found out is added to what is known.
pub(super) fn reached(
    conn: &Connection,
    line: &Line,
    milestones: &[Milestone],
    looked: &mut Looked,
) -> Result<Vec<Option<usize>>, Fault> {
    const TEXTS: &str = "SELECT s.idx, s.kind, s.meta, c.text
         FROM step s CROSS JOIN content c ON c.digest = s.content
         WHERE s.branch = ?1 AND s.idx >= ?2 AND s.idx < ?3 ORDER BY s.idx";
    const METAS: &str = "SELECT idx, kind, meta, '' FROM step
         WHERE branch = ?1 AND idx >= ?2 AND idx < ?3 AND meta IS NOT NULL ORDER BY idx";
    let texts = milestones.iter().any(|m| matches!(m.check, Check::Text(_)));
    let mut found = marks(conn, line, milestones)?;
    // A mark may stand after the step that the check finds, so only steps before it are of interest.
    if looked.milestones != milestones {
        *looked = Looked {
            milestones: milestones.to_vec(),
            upto: 0,
            found: vec![None; milestones.len()],
        };
    }
    let checked = &mut looked.found;
    let mut open = milestones
        .iter()
        .zip(checked.iter())
        .filter(|(m, found)| m.check != Check::Manual && found.is_none())
        .count();
    if open > 0 {
        let sql = if texts { TEXTS } else { METAS };
        line.each(conn, &(looked.upto..line.len), sql, |row| {
            let step = Step {
                index: row.get(0)?,
                kind: row.get::<_, Named<_>>(1)?.0,
                meta: row
                    .get::<_, Option<Json<_>>>(2)?
                    .map(|json| json.0)
                    .unwrap_or_default(),
                text: row.get(3)?,
                ..Step::default()
            };
            for (slot, milestone) in checked.iter_mut().zip(milestones) {
                if slot.is_none() && milestone.reached_by(&step) {
                    *slot = Some(step.index);
                    open -= 1;
                }
            }
            Ok(open > 0)
        })?;
    }
    looked.upto = line.len;
    for (slot, check) in found.iter_mut().zip(&looked.found) {
        *slot = [*slot, *check].into_iter().flatten().min();
    }
    Ok(found)
}

/// A person's marks on a line: a branch inherits those on the steps that it inherits, and its own count before them.
fn marks(
    conn: &Connection,
    line: &Line,
    milestones: &[Milestone],
) -> Result<Vec<Option<usize>>, Fault> {
    let mut found = vec![None; milestones.len()];
    let mut statement =
        conn.prepare_cached("SELECT milestone, step FROM mark WHERE branch = ?1 AND step < ?2")?;
    for segment in &line.segments {
        let mut rows = statement.query(params![segment.branch, segment.limit])?;
        while let Some(row) = rows.next()? {
            let (title, step): (String, usize) = (row.get(0)?, row.get(1)?);
            for (slot, milestone) in found.iter_mut().zip(milestones) {
                if milestone.title == title {
                    *slot = Some(step);
                }
            }
        }
    }
    Ok(found)
}
