//! Alignment: which step of one branch stands beside which step of another.
//!
//! Steps before the first divergence are equal. After it, equal steps are matched in order; between two matches, steps of the
//! same agent and kind at corresponding places are paired as changed; the rest stand alone on their side.
//! Deterministic and O(n log n): no clock and no deadline, so the screen and the command line always agree.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use serde::Serialize;

use super::{BranchId, Digest, Step};

/// Two branches side by side.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Left.
    pub a: BranchId,
    /// Right.
    pub b: BranchId,
    /// How many steps from the beginning are equal.
    pub common_prefix: usize,
    /// The first step index at which they differ; none if they are equal.
    pub first_divergence: Option<usize>,
    /// Aligned steps, in order.
    pub pairs: Vec<Pair>,
}

/// One row of a comparison.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Step of the left branch.
    pub a: Option<usize>,
    /// Step of the right branch.
    pub b: Option<usize>,
    /// Whether agent, kind, recipient and text are equal.
    pub same: bool,
}

/// What alignment needs of a step, without its text in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Digest over agent, kind, recipient and text. Not over what else is known: a time stamp makes no other step.
    pub content: Digest,
    /// Digest over agent and kind.
    pub voice: Digest,
}

impl Mark {
    /// The mark of a step.
    #[must_use]
    pub fn of(step: &Step) -> Self {
        let (agent, kind) = (step.agent.as_bytes(), step.kind.name().as_bytes());
        // Nobody addressed and an empty name addressed are told apart by the number of fields.
        let to = step.to.as_deref().map(str::as_bytes);
        Self {
            content: Digest::of_fields([agent, kind, step.text.as_bytes()].into_iter().chain(to)),
            voice: Digest::of_fields([agent, kind]),
        }
    }
}

/// Aligns two branches, given the marks of all their steps in order.
#[must_use]
pub fn compare(a: BranchId, b: BranchId, left: &[Mark], right: &[Mark]) -> Comparison {
    let common_prefix = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    let equal = common_prefix == left.len() && common_prefix == right.len();
    Comparison {
        a,
        b,
        common_prefix,
        first_divergence: (!equal).then_some(common_prefix),
        pairs: align(left, right),
    }
}

/// The rows of a comparison: every step of either side once, both sides in order.
#[must_use]
pub fn align(left: &[Mark], right: &[Mark]) -> Vec<Pair> {
    let contents = |marks: &[Mark]| marks.iter().map(|mark| mark.content).collect::<Vec<_>>();
    let voices = |marks: &[Mark]| marks.iter().map(|mark| mark.voice).collect::<Vec<_>>();
    let equal = matches(&contents(left), &contents(right));
    let (left_voices, right_voices) = (voices(left), voices(right));

    let mut pairs = Vec::with_capacity(left.len().max(right.len()));
    for gap in gaps(&equal, left.len(), right.len()) {
        let inner = matches(
            left_voices.get(gap.left.clone()).unwrap_or_default(),
            right_voices.get(gap.right.clone()).unwrap_or_default(),
        );
        for between in gaps(&inner, gap.left.len(), gap.right.len()) {
            let (from_a, from_b) = (gap.left.start, gap.right.start);
            let alone_a = between.left.clone().map(|i| (Some(from_a + i), None));
            let alone_b = between.right.clone().map(|i| (None, Some(from_b + i)));
            let changed = between
                .then
                .map(|(i, j)| (Some(from_a + i), Some(from_b + j)));
            pairs.extend(alone_a.chain(alone_b).chain(changed).map(|(a, b)| Pair {
                a,
                b,
                same: false,
            }));
        }
        pairs.extend(gap.then.map(|(i, j)| Pair {
            a: Some(i),
            b: Some(j),
            same: true,
        }));
    }
    pairs
}

/// What lies between two matches, and the match that ends it.
struct Gap {
    left: Range<usize>,
    right: Range<usize>,
    then: Option<(usize, usize)>,
}

/// The gaps before, between and after matches, in order; the last one ends with none.
fn gaps(
    matches: &[(usize, usize)],
    left: usize,
    right: usize,
) -> impl Iterator<Item = Gap> + use<'_> {
    let ends = matches.iter().copied().map(Some).chain([None]);
    let mut from = (0, 0);
    ends.map(move |then| {
        let (i, j) = then.unwrap_or((left, right));
        let gap = Gap {
            left: from.0..i,
            right: from.1..j,
            then,
        };
        from = (i + 1, j + 1);
        gap
    })
}

/// How often a gap is looked at again. Each look is O(n log n) over what is left, so this bounds the whole.
const LOOKS: usize = 12;

/// Pairs equal items of two lists, in increasing order on both sides; long, though not always the longest possible.
///
/// The k-th occurrence of an item on the left is a candidate for the k-th on the right; of the candidates the longest
/// increasing chain is kept, and every gap that it leaves is looked at anew. Items that occur once are matched optimally at
/// the first look.
pub(crate) fn matches<T: Eq + Hash>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    look(left, right, (0, 0), LOOKS, &mut found);
    found
}

fn look<T: Eq + Hash>(
    left: &[T],
    right: &[T],
    from: (usize, usize),
    looks: usize,
    found: &mut Vec<(usize, usize)>,
) {
    let prefix = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    found.extend((0..prefix).map(|k| (from.0 + k, from.1 + k)));
    let (left, right) = (rest(left, prefix), rest(right, prefix));
    let from = (from.0 + prefix, from.1 + prefix);
    if left.is_empty() || right.is_empty() || looks == 0 {
        return;
    }
    let backwards = left.iter().rev().zip(right.iter().rev());
    let suffix = backwards.take_while(|(l, r)| l == r).count();
    let (kept_left, kept_right) = (left.len() - suffix, right.len() - suffix);
    let (left, right) = (
        left.get(..kept_left).unwrap_or_default(),
        right.get(..kept_right).unwrap_or_default(),
    );
    let chain = longest_increasing(&candidates(left, right));
    if !chain.is_empty() {
        for gap in gaps(&chain, left.len(), right.len()) {
            look(
                left.get(gap.left.clone()).unwrap_or_default(),
                right.get(gap.right.clone()).unwrap_or_default(),
                (from.0 + gap.left.start, from.1 + gap.right.start),
                looks - 1,
                found,
            );
            found.extend(gap.then.map(|(i, j)| (from.0 + i, from.1 + j)));
        }
    }
    found.extend((0..suffix).map(|k| (from.0 + kept_left + k, from.1 + kept_right + k)));
}

fn rest<T>(items: &[T], from: usize) -> &[T] {
    items.get(from..).unwrap_or_default()
}

/// The k-th occurrence of each item on the left with the k-th on the right, ordered by the left.
fn candidates<T: Eq + Hash>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
    let mut places: HashMap<&T, Vec<usize>> = HashMap::new();
    for (place, item) in right.iter().enumerate().rev() {
        places.entry(item).or_default().push(place);
    }
    left.iter()
        .enumerate()
        .filter_map(|(i, item)| Some((i, places.get_mut(item)?.pop()?)))
        .collect()
}

/// The longest chain that increases on the right, of pairs that increase on the left (patience sorting).
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair that ends the chain of that length with the smallest right side.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let right = |at: &usize| pairs.get(*at).map(|pair| pair.1);
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| right(end) < Some(pair.1));
        before.push(
            length
                .checked_sub(1)
                .and_then(|shorter| ends.get(shorter).copied()),
        );
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let last = ends.last().copied();
    let mut chain: Vec<_> =
        std::iter::successors(last, |at| before.get(*at).copied().flatten()).collect();
    chain.reverse();
    chain
        .iter()
        .filter_map(|at| pairs.get(*at).copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::StepKind;

    fn mark(agent: &str, kind: StepKind, text: &str) -> Mark {
        Mark::of(&Step {
            agent: agent.into(),
            kind,
            text: text.into(),
            ..Step::default()
        })
    }

    fn rows(pairs: &[Pair]) -> Vec<String> {
        let side = |place: Option<usize>| place.map_or("-".into(), |i| i.to_string());
        pairs
            .iter()
            .map(|p| {
                format!(
                    "{}{}{}",
                    side(p.a),
                    if p.same { "=" } else { "≠" },
                    side(p.b)
                )
            })
            .collect()
    }

    #[test]
    fn a_fork_is_equal_then_changed_then_one_sided() {
        use StepKind::{Instruction, Ledger, Message};
        let left = [
            mark("O", Ledger, "no progress"),
            mark("O", Instruction, "Click"),
            mark("W", Message, "no control"),
            mark("O", Ledger, "stalled"),
        ];
        let right = [
            mark("O", Ledger, "no progress"),
            mark("O", Instruction, "Open"),
            mark("W", Message, "The picture"),
            mark("F", Message, "saved"),
            mark("O", Ledger, "progress"),
        ];
        let got = compare(BranchId::main("s"), BranchId::new("s", "b1"), &left, &right);
        assert_eq!((got.common_prefix, got.first_divergence), (1, Some(1)));
        assert_eq!(rows(&got.pairs), ["0=0", "1≠1", "2≠2", "-≠3", "3≠4"]);
    }

    #[test]
    fn steps_equal_again_after_the_divergence_are_matched() {
        use StepKind::Message;
        let say = |text| mark("A", Message, text);
        let left = [say("x"), say("one"), say("end")];
        let right = [say("x"), say("two"), say("three"), say("end")];
        let got = compare(BranchId::main("s"), BranchId::main("t"), &left, &right);
        assert_eq!(got.first_divergence, Some(1));
        assert_eq!(rows(&got.pairs), ["0=0", "1≠1", "-≠2", "2=3"]);
    }

    #[test]
    fn a_longer_branch_diverges_where_the_shorter_ends_and_equal_ones_nowhere() {
        let say = |text| mark("A", StepKind::Message, text);
        let (short, long) = ([say("x")], [say("x"), say("y")]);
        let of = |l: &[Mark], r: &[Mark]| compare(BranchId::main("s"), BranchId::main("t"), l, r);
        assert_eq!(of(&short, &long).first_divergence, Some(1));
        assert_eq!(rows(&of(&long, &short).pairs), ["0=0", "1≠-"]);
        assert_eq!(of(&long, &long).first_divergence, None);
        assert_eq!(of(&[], &[]).pairs, []);
    }

    #[test]
    fn whom_a_step_addresses_is_part_of_it_and_its_time_is_not() {
        let plain = Step::default();
        let mut addressed = plain.clone();
        addressed.to = Some(String::new());
        let mut later = plain.clone();
        later.meta.time = Some("2026-01-31T12:00:00Z".into());
        assert_ne!(Mark::of(&plain), Mark::of(&addressed));
        assert_eq!(Mark::of(&plain), Mark::of(&later));
    }

    #[test]
    fn an_inserted_repetition_costs_one_row() {
        // X a X b X beside X X a X b X: five of five can be matched.
        let left = ["X", "a", "X", "b", "X"];
        let right = ["X", "X", "a", "X", "b", "X"];
        assert_eq!(matches(&left, &right).len(), 5);
    }

    #[test]
    fn a_hundred_thousand_steps_stay_near_linear() {
        // Worst shapes: nothing shared, everything repeated, everything reversed. A quadratic method would need 10^10 steps here.
        const N: u32 = 100_000;
        let up: Vec<u32> = (0..N).collect();
        let down: Vec<u32> = (0..N).rev().collect();
        let other: Vec<u32> = (N..2 * N).collect();
        let threes: Vec<u32> = (0..N).map(|i| i % 3).collect();
        let fives: Vec<u32> = (0..N).map(|i| i % 5).collect();
        assert_eq!(matches(&up, &other), []);
        assert_eq!(matches(&up, &down).len(), 1);
        assert!(matches(&threes, &fives).len() > 20_000);
    }

    proptest! {
        #[test]
        fn every_step_stands_once_in_order_and_same_means_equal(
            left in prop::collection::vec((0u8..3, 0u8..4), 0..24),
            right in prop::collection::vec((0u8..3, 0u8..4), 0..24),
        ) {
            let marks = |items: &[(u8, u8)]| items.iter()
                .map(|(agent, text)| mark(&agent.to_string(), StepKind::Message, &text.to_string()))
                .collect::<Vec<_>>();
            let (l, r) = (marks(&left), marks(&right));
            let pairs = align(&l, &r);
            prop_assert!(pairs.iter().filter_map(|p| p.a).eq(0..l.len()));
            prop_assert!(pairs.iter().filter_map(|p| p.b).eq(0..r.len()));
            for pair in &pairs {
                prop_assert!(pair.a.is_some() || pair.b.is_some());
                if let (Some(a), Some(b)) = (pair.a, pair.b) {
                    prop_assert_eq!(pair.same, l[a] == r[b]);
                    prop_assert_eq!(l[a].voice, r[b].voice);
                } else {
                    prop_assert!(!pair.same);
                }
            }
        }

        #[test]
        fn a_branch_beside_itself_is_all_equal(items in prop::collection::vec(0u8..3, 0..24)) {
            let expected: Vec<_> = (0..items.len()).map(|i| (i, i)).collect();
            prop_assert_eq!(matches(&items, &items), expected);
        }

        #[test]
        fn unique_items_are_matched_as_well_as_possible(
            left in Just((0u8..7).collect::<Vec<_>>()).prop_shuffle(),
            right in Just((2u8..9).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            prop_assert_eq!(matches(&left, &right).len(), longest_common(&left, &right));
        }
    }

    /// The textbook recursion, for small lists.
    fn longest_common(left: &[u8], right: &[u8]) -> usize {
        match (left, right) {
            ([a, l @ ..], [b, r @ ..]) if a == b => 1 + longest_common(l, r),
            ([_, l @ ..], [_, r @ ..]) => longest_common(l, right).max(longest_common(left, r)),
            _ => 0,
        }
    }
}
