//! How far an edit's effect reaches, and up to four branches in one table.
//!
//! Built over pairwise alignments with the first branch; pure.

use serde::Serialize;

use super::{Comparison, Pair};

/// Rows that must differ one after the other for a divergence to count as sustained.
pub const SUSTAINED: usize = 3;
/// Branches beside the first in one table.
pub const OTHERS: usize = 3;

/// What became of a difference. Rows are those of the alignment.
#[derive(Serialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The first row that differs.
    pub first: Option<usize>,
    /// The first row from which [`SUSTAINED`] rows, or all that follow, differ.
    pub sustained: Option<usize>,
    /// Rows that differ.
    pub changed: usize,
    /// The last row that differs.
    pub last: Option<usize>,
    /// Equal rows after that: the branches came together again.
    pub rejoined: usize,
}

/// How far the differences of an alignment reach.
#[must_use]
pub fn reach(pairs: &[Pair]) -> Reach {
    let differs = |pair: &Pair| !pair.same;
    let last = pairs.iter().rposition(differs);
    let mut sustained = None;
    let mut begun = None;
    for (row, pair) in pairs.iter().enumerate() {
        if pair.same {
            begun = None;
            continue;
        }
        let start = *begun.get_or_insert(row);
        if row + 1 - start >= SUSTAINED || row + 1 == pairs.len() {
            sustained = Some(start);
            break;
        }
    }
    Reach {
        first: pairs.iter().position(differs),
        sustained,
        changed: pairs.iter().filter(|pair| !pair.same).count(),
        last,
        rejoined: last.map_or(0, |last| pairs.len() - last - 1),
    }
}

/// A step of a branch beside the first branch's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The step.
    pub step: usize,
    /// Whether it equals the first branch's step of the row.
    pub same: bool,
}

/// A row of the table: the first branch's step and those that stand beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abreast {
    /// The first branch's step.
    pub first: Option<usize>,
    /// The others', in their order.
    pub others: [Option<Placed>; OTHERS],
}

impl Abreast {
    /// Whether any branch differs here from the first, of as many as are compared.
    #[must_use]
    pub fn differs(&self, others: usize) -> bool {
        let others = self.others.iter().take(others);
        others
            .clone()
            .any(|one| one.is_none_or(|placed| !placed.same))
            && (self.first.is_some() || others.flatten().count() > 0)
    }
}

/// The table of alignments with the same first branch: its steps in order, and between them what only others have.
#[must_use]
pub fn abreast(comparisons: &[Comparison]) -> Vec<Abreast> {
    let mut rests: Vec<&[Pair]> = comparisons
        .iter()
        .take(OTHERS)
        .map(|comparison| comparison.pairs.as_slice())
        .collect();
    let mut rows = Vec::new();
    loop {
        // What stands before the first branch's next step, side by side.
        loop {
            let mut row = Abreast::default();
            let mut any = false;
            for (slot, rest) in row.others.iter_mut().zip(&mut rests) {
                if let [pair, after @ ..] = *rest
                    && pair.a.is_none()
                {
                    *slot = placed(pair);
                    *rest = after;
                    any = true;
                }
            }
            if !any {
                break;
            }
            rows.push(row);
        }
        let mut row = Abreast::default();
        for (slot, rest) in row.others.iter_mut().zip(&mut rests) {
            if let [pair, after @ ..] = *rest {
                row.first = pair.a;
                *slot = placed(pair);
                *rest = after;
            }
        }
        if row.first.is_none() {
            return rows;
        }
        rows.push(row);
    }
}

fn placed(pair: &Pair) -> Option<Placed> {
    let same = pair.same;
    pair.b.map(|step| Placed { step, same })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BranchId;

    /// `=` equal, `~` changed, `-` left only, `+` right only.
    fn pairs(shape: &str) -> Vec<Pair> {
        let (mut a, mut b) = (0, 0);
        let next = |side: &mut usize| {
            *side += 1;
            Some(*side - 1)
        };
        shape
            .chars()
            .map(|c| Pair {
                a: if c == '+' { None } else { next(&mut a) },
                b: if c == '-' { None } else { next(&mut b) },
                same: c == '=',
            })
            .collect()
    }

    #[test]
    fn a_passing_difference_is_told_from_a_lasting_one() {
        let of = |shape: &str| {
            let found = reach(&pairs(shape));
            (found.first, found.sustained, found.last, found.rejoined)
        };
        assert_eq!(of("===="), (None, None, None, 0));
        // One word changed, then all is as before.
        assert_eq!(of("==~==="), (Some(2), None, Some(2), 3));
        // A passing one, then one that lasts three rows and comes together again.
        assert_eq!(of("=~==~-+=="), (Some(1), Some(4), Some(6), 2));
        // Two rows to the end last as well.
        assert_eq!(of("==~~"), (Some(2), Some(2), Some(3), 0));
        assert_eq!(reach(&pairs("=~==~-+==")).changed, 4);
    }

    #[test]
    fn several_branches_stand_in_one_table() {
        let with = |name: &str, shape: &str| Comparison {
            a: BranchId::main("s"),
            b: BranchId::new("s", name),
            common_prefix: 0,
            first_divergence: None,
            pairs: pairs(shape),
        };
        // main has three steps; b1 lacks the third, b2 has one more before the second and one at the end.
        let rows = abreast(&[with("b1", "==-"), with("b2", "=+~=+")]);
        let shown: Vec<_> = rows
            .iter()
            .map(|row| {
                let step = |n: usize| row.others[n].map(|placed| (placed.step, placed.same));
                (row.first, step(0), step(1))
            })
            .collect();
        assert_eq!(
            shown,
            [
                (Some(0), Some((0, true)), Some((0, true))),
                (None, None, Some((1, false))),
                (Some(1), Some((1, true)), Some((2, false))),
                (Some(2), None, Some((3, true))),
                (None, None, Some((4, false))),
            ]
        );
        let differs: Vec<bool> = rows.iter().map(|row| row.differs(2)).collect();
        assert_eq!(differs, [false, true, true, true, true]);
    }
}
