//! Finding the expression that stands in a text: written in signs, in words, or in several steps of which each goes on with the last.
//!
//! Invariant: what is found is either all that the sentence does with a number, or marked as unfinished.
//! "a third more than April and May together" becomes `(april + may) + (april + may) / 3`; which names stand for what is the caller's business.

use super::arithmetic::{Names, Piece, pieces};

/// Arithmetic found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub expression: String,
    /// Whether there is more to do with its result, in words that were not understood.
    pub unfinished: bool,
}

/// The longest expression that stands in a text, written with `+ - * / ( )`. None without an operation.
pub(super) fn expression_in(text: &str) -> Option<String> {
    expression_with(text, &Names::default())
}

/// As [`expression_in`], with names that stand for values.
pub(super) fn expression_with(text: &str, names: &Names) -> Option<String> {
    expression_after(text, names, None).map(|found| found.expression)
}

/// As [`expression_with`], after an expression that "it" and "the result" stand for.
pub(super) fn expression_after(text: &str, names: &Names, last: Option<&str>) -> Option<Found> {
    let pieces = pieces(text, names);
    let mut best: Option<(usize, usize, String)> = None;
    for start in 0..pieces.len() {
        let mut parser = Parser {
            pieces: &pieces,
            at: start,
            last: last.map(str::to_owned),
            its: 0,
        };
        if let Some(found) = parser.top() {
            let len = parser.at - start;
            let works = found.contains(['+', '*', '/', '-']);
            if works && len > 1 && best.as_ref().is_none_or(|(longest, ..)| len > *longest) {
                best = Some((len, parser.at, found));
            }
        }
    }
    best.map(|(_, end, expression)| Found {
        expression,
        unfinished: goes_on(pieces.get(end..).unwrap_or_default()),
    })
}

/// Whether a text speaks of what was worked out, or written, before.
pub(super) fn refers_back(text: &str) -> bool {
    pieces(text, &Names::default()).contains(&Piece::Word("it"))
}

/// Whether the rest of a sentence does more with a result.
fn goes_on(rest: &[Piece]) -> bool {
    const STEPS: [&str; 9] = [
        "add", "subtract", "multiply", "divide", "onto", "plus", "minus", "times", "over",
    ];
    let step = |piece: &Piece| matches!(piece, Piece::Word(word) if STEPS.contains(word));
    let share = rest.windows(3).any(|three| {
        matches!(
            three,
            [Piece::Fraction(..), Piece::Word("of"), Piece::Word("it")]
                | [Piece::Fraction(..), Piece::Word("it"), _]
        )
    });
    share || rest.iter().any(step)
}

struct Parser<'a> {
    pieces: &'a [Piece],
    at: usize,
    /// What "it" stands for.
    last: Option<String>,
    /// How often "it" was said.
    its: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Piece> {
        self.pieces.get(self.at)
    }

    fn word(&mut self, kind: &'static str) -> bool {
        let there = self.peek() == Some(&Piece::Word(kind));
        self.at += usize::from(there);
        there
    }

    /// An expression and what is further done with it.
    fn top(&mut self) -> Option<String> {
        let start = self.at;
        let further = self.last.clone().and_then(|last| self.step(&last));
        let mut left = if let Some(left) = further {
            left
        } else {
            self.at = start;
            self.pair().or_else(|| self.sum())?
        };
        while let Some(next) = self.step(&left) {
            left = next;
        }
        Some(left)
    }

    /// "…, then multiply it by B": what is done with a result.
    fn step(&mut self, left: &str) -> Option<String> {
        let (start, before) = (self.at, self.last.replace(left.to_owned()));
        let mut found = None;
        for joints in 0..4 {
            self.at = start + joints;
            let linked = self.pieces.get(start..self.at).is_some_and(|joint| {
                let link = |piece: &Piece| matches!(piece, Piece::Other | Piece::Word("and"));
                joint.iter().all(link)
            });
            let its = self.its;
            let at = self.at;
            if !linked {
                break;
            }
            found = self.pair().filter(|_| self.its > its).or_else(|| {
                self.at = at;
                self.on(left)
            });
            if found.is_some() {
                return found;
            }
        }
        self.at = start;
        self.last = before;
        found
    }

    /// "divide by B", "plus B", "add B": the result itself goes without saying.
    fn on(&mut self, left: &str) -> Option<String> {
        let start = self.at;
        let kind = match self.peek()? {
            Piece::Word(kind) => *kind,
            _ => "",
        };
        let sign = match kind {
            "add" | "plus" => '+',
            "subtract" | "minus" => '-',
            "multiply" | "times" => '*',
            "divide" | "over" => '/',
            _ => {
                let right = self.sum()?;
                return self
                    .word("onto")
                    .then(|| format!("{} + {}", bracket(left), bracket(&right)));
            }
        };
        self.at = start + 1;
        if matches!(kind, "multiply" | "divide") && !self.word("by") {
            return None;
        }
        let right = self.factor()?;
        self.word("onto");
        Some(format!("{} {sign} {}", bracket(left), bracket(&right)))
    }

    /// "add A to B".
    fn pair(&mut self) -> Option<String> {
        let pairs: [(&'static str, &'static str, char, bool); 5] = [
            ("add", "to", '+', true),
            ("add", "and", '+', false),
            ("subtract", "from", '-', true),
            ("multiply", "by", '*', false),
            ("divide", "by", '/', false),
        ];
        let start = self.at;
        for (verb, joint, sign, turned) in pairs {
            self.at = start;
            if !self.word(verb) {
                continue;
            }
            let Some(a) = self.sum() else { continue };
            // "from" and "von" may be read as "of" in other places.
            if self.word(joint) || (joint == "from" && self.word("of")) {
                let Some(b) = self.factor() else { continue };
                let (a, b) = if turned { (b, a) } else { (a, b) };
                return Some(format!("{} {sign} {}", bracket(&a), bracket(&b)));
            }
        }
        self.at = start;
        None
    }

    /// What is multiplied by, or added: also a fraction of nothing in particular.
    fn factor(&mut self) -> Option<String> {
        let start = self.at;
        if let Some(sum) = self.sum() {
            return Some(sum);
        }
        self.at = start;
        let Some(Piece::Fraction(a, b)) = self.peek().cloned() else {
            return None;
        };
        self.at += 1;
        Some(format!("({a} / {b})"))
    }

    fn sum(&mut self) -> Option<String> {
        let mut left = self.product()?;
        loop {
            let back = self.at;
            let sign = match self.peek() {
                Some(Piece::Sign(c @ ('+' | '-'))) => *c,
                Some(Piece::Word("plus")) => '+',
                Some(Piece::Word("minus")) => '-',
                _ => return Some(left),
            };
            self.at += 1;
            let Some(right) = self.product() else {
                self.at = back;
                return Some(left);
            };
            left = format!("{left} {sign} {right}");
        }
    }

    fn product(&mut self) -> Option<String> {
        let mut left = self.group()?;
        loop {
            let back = self.at;
            let sign = match self.peek() {
                Some(Piece::Sign(c @ ('*' | '/'))) => *c,
                Some(Piece::Word("times")) => '*',
                Some(Piece::Word("over")) => '/',
                _ => return Some(left),
            };
            self.at += 1;
            let Some(right) = self.group() else {
                self.at = back;
                return Some(left);
            };
            left = format!("{} {sign} {}", bracket_sum(&left), bracket(&right));
        }
    }

    /// "April and May together", "the sum of April and May", or one unit.
    fn group(&mut self) -> Option<String> {
        let summed = self.word("sum");
        let first = self.unit()?;
        let mut parts = vec![first];
        let mut after_first = self.at;
        while self.word("and") {
            let Some(part) = self.unit() else { break };
            parts.push(part);
            if summed {
                after_first = self.at;
            }
        }
        if parts.len() > 1 && (self.word("together") || summed) {
            if summed {
                self.at = self.at.max(after_first);
            }
            return Some(format!("({})", parts.join(" + ")));
        }
        self.at = after_first;
        parts.into_iter().next()
    }

    fn unit(&mut self) -> Option<String> {
        let back = self.at;
        let found = self.unit_or_back();
        if found.is_none() {
            self.at = back;
        }
        found
    }

    fn unit_or_back(&mut self) -> Option<String> {
        let piece = self.peek()?.clone();
        self.at += 1;
        match piece {
            Piece::Value(value) => {
                let after = self.at;
                for (kind, sign) in [("more", '+'), ("less", '-')] {
                    if self.word(kind)
                        && let Some(base) = self.group()
                    {
                        return Some(format!("({base} {sign} {value})"));
                    }
                    self.at = after;
                }
                Some(value)
            }
            Piece::Fraction(a, b) => {
                let share = |base: &str| match (a.as_str(), b.as_str()) {
                    ("1", b) => format!("{} / {b}", bracket(base)),
                    (a, "1") => format!("{} * {a}", bracket(base)),
                    (a, b) => format!("{} * {a} / {b}", bracket(base)),
                };
                // "of it" is one word in German.
                if self.word("of") || self.peek() == Some(&Piece::Word("it")) {
                    return Some(share(&self.group()?));
                }
                let sign = if self.word("more") {
                    '+'
                } else if self.word("less") {
                    '-'
                } else {
                    return None;
                };
                let base = self.group()?;
                Some(format!("({base} {sign} {})", share(&base)))
            }
            Piece::Open => {
                let inner = self.sum()?;
                let closed = self.peek() == Some(&Piece::Close);
                self.at += usize::from(closed);
                closed.then(|| format!("({inner})"))
            }
            Piece::Sign('-') => Some(format!("-{}", self.unit()?)),
            Piece::Word("it") => {
                self.its += 1;
                self.last.as_deref().map(bracket)
            }
            _ => None,
        }
    }
}

fn whole(text: &str) -> bool {
    let mut depth = 0;
    let closes_early = text.char_indices().any(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && at + 1 < text.len()
    });
    text.starts_with('(') && text.ends_with(')') && !closes_early
}

fn bracket(text: &str) -> String {
    if whole(text) || !text.contains(' ') {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

fn bracket_sum(text: &str) -> String {
    let mut depth = 0;
    let sum = text.char_indices().any(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        let rest = text.get(at..).unwrap_or_default();
        depth == 0 && (rest.starts_with(" + ") || rest.starts_with(" - "))
    });
    if sum { bracket(text) } else { text.to_owned() }
}
#[cfg(test)]
mod tests {
    use super::super::arithmetic::{evaluate, shown};
    use super::*;

    #[test]
    fn finds_and_works_out_what_stands_in_the_text() {
        for (text, expected) in [
            ("Please compute 48 / 2.", "24"),
            ("(48 + 24) * 4 / 3", "96"),
            ("What is 48 divided by 2, plus 1?", "25"),
            ("48 plus 24", "72"),
            ("Compute half of 48.", "24"),
            ("a third more than 48 and 24 together", "96"),
            ("one third of the sum of 48 and 24", "24"),
            ("twice as many as 24", "48"),
            ("12 more than 48", "60"),
            ("5 fewer than 48", "43"),
            ("25% of 80", "20"),
            ("add 24 to 48", "72"),
            ("subtract 8 from 20", "12"),
            ("divide 48 by 2", "24"),
            ("48 × 2 − 1", "95"),
            ("ein Drittel mehr als 48 und 24 zusammen", "96"),
            ("计算 48 除以 2", "24"),
            (
                "take the sum of 48 and 24, multiply it by four and divide it by three",
                "96",
            ),
            (
                "add 48 and 24, and then add a third of that sum to the sum",
                "96",
            ),
            (
                "addiere 48 und 24 und rechne ein Drittel davon noch dazu",
                "96",
            ),
            ("multiply the sum of 48 and 24 by four thirds", "96"),
            ("48 + 24, and multiply the result by 4/3", "96"),
            ("multipliziere 72 mit 4 und teile durch 3", "96"),
            (
                "one hundred and five plus two thirds of one hundred and five",
                "175",
            ),
            ("add 48 and 24 and take away twenty two", "50"),
            ("48的一半", "none"),
            ("no numbers here", "none"),
            ("48 clips", "none"),
            ("compute 1 / 0", "none"),
        ] {
            let got = expression_in(text)
                .and_then(|e| evaluate(&e))
                .map_or("none".to_owned(), shown);
            assert_eq!(got, expected, "{text}: {:?}", expression_in(text));
        }
    }

    #[test]
    fn names_stand_for_values() {
        let name = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let names = Names::new([name("April", "{april}"), name("May", "{may}")]);
        assert_eq!(
            expression_with("a third more than April and May together", &names).unwrap(),
            "(({april} + {may}) + ({april} + {may}) / 3)"
        );
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_integer_arithmetic(a in 0i32..1000, b in 0i32..1000, c in 1i32..1000) {
            let text = format!("compute ({a} + {b}) * {c} - {b}");
            let value = evaluate(&expression_in(&text).unwrap()).unwrap();
            proptest::prop_assert_eq!(value, f64::from((a + b) * c - b));
        }
    }
}
