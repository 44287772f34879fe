//! Every branch of a session as a lane of cells: what an overview of hundreds of steps needs of each, and nothing more.
//!
//! A lane holds its branch's own steps; the prefix is its parent's, as in the store. Pure; a cell takes four bytes.

use std::ops::Range;

use super::{BranchId, StepKind};

/// What an overview knows of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The agent's place among the session's agents; their number for one who is not named there.
    pub agent: u16,
    /// The kind.
    pub kind: StepKind,
    /// The step reports a failure.
    pub error: bool,
}

/// A branch in the overview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The branch.
    pub branch: BranchId,
    /// The lane of its parent.
    pub parent: Option<usize>,
    /// Its first own step: the fork step, 0 for `main`.
    pub from: usize,
    /// Its own steps.
    pub cells: Vec<Cell>,
    /// For each milestone the first step that reaches it.
    pub reached: Vec<Option<usize>>,
}

impl Lane {
    /// How many steps the branch has, inherited ones included.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.from + self.cells.len()
    }

    /// Whether it has no step at all.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Milestones reached at or before a step.
    #[must_use]
    pub fn reached_by(&self, step: usize) -> usize {
        let reached = self.reached.iter().flatten();
        reached.filter(|at| **at <= step).count()
    }

    /// Milestones (0-based) first reached within a range of steps.
    pub fn reached_in(&self, steps: &Range<usize>) -> impl Iterator<Item = usize> {
        let reached = self.reached.iter().enumerate();
        reached
            .filter(move |(_, at)| at.is_some_and(|at| steps.contains(&at)))
            .map(|(milestone, _)| milestone)
    }
}

/// Several steps as one cell: the agent who speaks most, the kind that tells most, failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded {
    /// What stands for them.
    pub cell: Cell,
    /// Whether all of them are the branch's own.
    pub own: bool,
}

/// Agents that are counted when steps are folded; one beyond them counts as the last.
const COUNTED: usize = 32;

/// The steps of a lane within a range as one cell; none past its end. A range that holds own steps is folded from those alone.
#[must_use]
pub fn folded(lanes: &[Lane], lane: usize, steps: &Range<usize>) -> Option<Folded> {
    let mut at = lanes.get(lane)?;
    let own = steps.end > at.from;
    if own {
        let range = steps.start.saturating_sub(at.from)..(steps.end - at.from).min(at.cells.len());
        let cells = at.cells.get(range).filter(|cells| !cells.is_empty())?;
        return fold(cells).map(|cell| Folded { cell, own });
    }
    // Each parent is an older branch, so this ends.
    while steps.start < at.from {
        at = lanes.get(at.parent?)?;
    }
    let range = steps.start - at.from..(steps.end - at.from).min(at.cells.len());
    fold(at.cells.get(range)?).map(|cell| Folded { cell, own })
}

fn fold(cells: &[Cell]) -> Option<Cell> {
    if let [one] = cells {
        return Some(*one);
    }
    let mut counts = [0_u32; COUNTED];
    let mut kind = cells.first()?.kind;
    let mut error = false;
    for cell in cells {
        if let Some(count) = counts.get_mut(usize::from(cell.agent).min(COUNTED - 1)) {
            *count += 1;
        }
        if weight(cell.kind) > weight(kind) {
            kind = cell.kind;
        }
        error |= cell.error;
    }
    let most = counts.iter().copied().max()?;
    let agent = counts.iter().position(|count| *count == most)?;
    Some(Cell {
        agent: u16::try_from(agent).unwrap_or(u16::MAX),
        kind,
        error,
    })
}

/// How much a kind tells about the course of a run.
const fn weight(kind: StepKind) -> u8 {
    match kind {
        StepKind::Answer => 7,
        StepKind::Task => 6,
        StepKind::Plan => 5,
        StepKind::Instruction => 4,
        StepKind::ToolCall => 3,
        StepKind::ToolResult => 2,
        StepKind::Message => 1,
        StepKind::Ledger | StepKind::Thought | StepKind::Control => 0,
    }
}

/// How a milestone fares over a session's branches, in the order they were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// The first lane that reaches what its parent does not.
    pub gained: Option<usize>,
    /// The first lane that does not reach what its parent does.
    pub lost: Option<usize>,
}

/// How a milestone of a lane stands beside the parent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Both reach it, or there is no parent.
    Reached,
    /// The parent does not.
    Gained,
    /// The parent does, the branch does not.
    Lost,
    /// Neither does.
    Open,
}

/// A milestone of a lane beside its parent's.
#[must_use]
pub fn beside(lanes: &[Lane], lane: usize, milestone: usize) -> Beside {
    let reached = |lane: &Lane| lane.reached.get(milestone).copied().flatten().is_some();
    let here = lanes.get(lane);
    let parent = here
        .and_then(|lane| lane.parent)
        .and_then(|at| lanes.get(at));
    match (here.is_some_and(reached), parent.map(reached)) {
        (true, Some(false)) => Beside::Gained,
        (true, _) => Beside::Reached,
        (false, Some(true)) => Beside::Lost,
        (false, _) => Beside::Open,
    }
}

/// Who first gained and who first lost a milestone. A branch that a gate refused never ran and loses nothing.
#[must_use]
pub fn fate(lanes: &[Lane], milestone: usize) -> Fate {
    let first = |wanted: Beside| {
        (0..lanes.len()).find(|at| {
            let ran = lanes.get(*at).is_some_and(|lane| !lane.cells.is_empty());
            ran && beside(lanes, *at, milestone) == wanted
        })
    };
    Fate {
        gained: first(Beside::Gained),
        lost: first(Beside::Lost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(agent: u16, kind: StepKind) -> Cell {
        Cell {
            agent,
            kind,
            error: false,
        }
    }

    fn lane(name: &str, parent: Option<usize>, from: usize, cells: Vec<Cell>) -> Lane {
        Lane {
            branch: BranchId::new("s", name),
            parent,
            from,
            cells,
            reached: Vec::new(),
        }
    }

    /// `main` of ten steps, `b1` from step 4 with two, `b2` of `b1` from step 5 with one.
    fn lanes() -> Vec<Lane> {
        use StepKind::{Answer, Message, Plan};
        vec![
            lane(
                "main",
                None,
                0,
                (0..10)
                    .map(|at| cell(at, if at == 3 { Plan } else { Message }))
                    .collect(),
            ),
            lane("b1", Some(0), 4, vec![cell(7, Message), cell(8, Answer)]),
            lane("b2", Some(1), 5, vec![cell(9, Message)]),
        ]
    }

    #[test]
    fn a_prefix_is_the_parents_and_the_rest_is_own() {
        let lanes = lanes();
        let at = |lane, step| {
            folded(&lanes, lane, &(step..step + 1)).map(|one| (one.cell.agent, one.own))
        };
        assert_eq!(at(0, 9), Some((9, true)));
        assert_eq!(at(1, 3), Some((3, false)));
        assert_eq!(at(1, 4), Some((7, true)));
        assert_eq!(at(1, 6), None, "past its end");
        // b2's step 4 is b1's, its step 3 is main's.
        assert_eq!(at(2, 4), Some((7, false)));
        assert_eq!(at(2, 3), Some((3, false)));
        assert_eq!(at(2, 5), Some((9, true)));
    }

    #[test]
    fn folded_steps_show_who_speaks_most_what_tells_most_and_any_failure() {
        let mut cells = vec![cell(1, StepKind::Message); 3];
        cells.push(cell(2, StepKind::Plan));
        cells.push(Cell {
            error: true,
            ..cell(2, StepKind::Ledger)
        });
        let lanes = [lane("main", None, 0, cells)];
        let all = folded(&lanes, 0, &(0..10)).unwrap().cell;
        assert_eq!((all.agent, all.kind, all.error), (1, StepKind::Plan, true));
        assert!(!folded(&lanes, 0, &(0..4)).unwrap().cell.error);
        // A range over the fork is the branch's own part of it.
        let lanes = self::lanes();
        let over = folded(&lanes, 1, &(0..5)).unwrap();
        assert_eq!((over.cell.agent, over.own), (7, true));
    }

    #[test]
    fn the_first_branch_that_gains_or_loses_is_named() {
        let mut lanes = lanes();
        lanes[0].reached = vec![Some(2), Some(8), None];
        lanes[1].reached = vec![Some(2), None, Some(5)];
        lanes[2].reached = vec![Some(2), None, Some(5)];
        lanes.push(Lane {
            reached: vec![None, None, Some(4)],
            ..lane("b3", Some(0), 4, vec![cell(0, StepKind::Message)])
        });
        assert_eq!(fate(&lanes, 0).lost, Some(3));
        assert_eq!(
            fate(&lanes, 1),
            Fate {
                gained: None,
                lost: Some(1)
            }
        );
        // b2 has it from b1, so b1 gained it and b2 did not.
        assert_eq!(fate(&lanes, 2).gained, Some(1));
        assert_eq!(beside(&lanes, 2, 2), Beside::Reached);
        // A refused branch has no step of its own and loses nothing.
        lanes[1].cells.clear();
        assert_eq!(fate(&lanes, 1).lost, Some(3));
    }
}
