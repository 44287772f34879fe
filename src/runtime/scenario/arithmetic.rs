//! Arithmetic as it stands in a text, in figures and in words: found, written down plainly, and really worked out.
//!
//! "a third more than April and May together" becomes `(april + may) + (april + may) / 3`; which names stand for what is the caller's business.

use std::sync::OnceLock;

use super::lexicon::built_in;
use super::words::{Token, fold, stem, tokens};

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    /// A number or a name, as it is written down.
    Value(String),
    Fraction(String, String),
    Sign(char),
    Open,
    Close,
    Word(&'static str),
    /// Anything else: an expression ends here.
    Other,
}

const KINDS: [&str; 18] = [
    "plus", "minus", "times", "over", "of", "more", "less", "and", "together", "sum", "add",
    "subtract", "multiply", "divide", "by", "to", "from", "skip",
];

/// A phrase and what it is read as.
#[derive(Clone, Debug)]
struct Phrase {
    /// Folded, for text that is not cut into words.
    folded: String,
    tokens: Vec<Token>,
    piece: Piece,
}

impl Phrase {
    fn new(text: &str, piece: Piece) -> Self {
        Self {
            folded: fold(text),
            tokens: tokens(text),
            piece,
        }
    }

    /// How many tokens of the rest it takes, if it stands at their beginning.
    fn takes(&self, rest: &[Token]) -> Option<usize> {
        let same = |(a, b): (&Token, &Token)| match (a, b) {
            (Token::Word(a), Token::Word(b)) => a == b || stem(a) == stem(b),
            (Token::Number(a), Token::Number(b)) => a == b,
            _ => false,
        };
        let len = self.tokens.len();
        (len > 0 && len <= rest.len() && self.tokens.iter().zip(rest).all(same)).then_some(len)
    }
}

/// What the lexicon knows of arithmetic, made once.
fn known() -> &'static [Phrase] {
    static KNOWN: OnceLock<Vec<Phrase>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let data = built_in();
        let fractions = data.fractions.iter().filter_map(|(fraction, words)| {
            let (a, b) = fraction.split_once('/')?;
            Some((Piece::Fraction(a.to_owned(), b.to_owned()), words))
        });
        let kinds = KINDS
            .iter()
            .filter_map(|kind| Some((Piece::Word(kind), data.arithmetic.get(*kind)?)));
        fractions
            .chain(kinds)
            .flat_map(|(piece, words)| words.iter().map(move |w| Phrase::new(w, piece.clone())))
            .collect()
    })
}

/// Names that stand for values, each with what is written for it: `{april}` for "April".
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Vec<Phrase>);

impl Names {
    pub fn new(names: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(
            names
                .into_iter()
                .map(|(name, value)| Phrase::new(&name, Piece::Value(value)))
                .collect(),
        )
    }
}

/// Cuts a run of Han characters at the words that arithmetic and the names know.
fn cut_han(text: &str, names: &Names) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let phrases = names.0.iter().chain(known());
        let fitting = phrases.filter(|p| !p.folded.is_empty() && rest.starts_with(&p.folded));
        let best = fitting.max_by_key(|p| p.folded.len());
        let len = best.map_or(c.len_utf8(), |p| p.folded.len());
        out.push(best.map_or(Piece::Other, |p| p.piece.clone()));
        rest = rest.get(len..).unwrap_or_default();
    }
    out
}

fn pieces(text: &str, names: &Names) -> Vec<Piece> {
    let all = tokens(text);
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(token) = all.get(at) {
        let rest = all.get(at..).unwrap_or_default();
        let phrases = names.0.iter().chain(known());
        let fitting = phrases.filter_map(|phrase| Some((phrase.takes(rest)?, &phrase.piece)));
        if let Some((len, piece)) = fitting.max_by_key(|(len, _)| *len) {
            at += len;
            if *piece != Piece::Word("skip") {
                out.push(piece.clone());
            }
            continue;
        }
        at += 1;
        let percent = match all.get(at) {
            Some(Token::Mark(c)) => *c == '%',
            Some(Token::Word(word)) => word == "percent" || word == "prozent",
            _ => false,
        };
        match token {
            Token::Number(n) if percent => {
                out.push(Piece::Fraction(n.clone(), "100".to_owned()));
                at += 1;
            }
            Token::Number(n) => out.push(Piece::Value(n.clone())),
            Token::Mark('(' | '[') => out.push(Piece::Open),
            Token::Mark(')' | ']') => out.push(Piece::Close),
            Token::Mark('×' | '*' | '·') => out.push(Piece::Sign('*')),
            Token::Mark('÷' | '/') => out.push(Piece::Sign('/')),
            Token::Mark(c @ ('+' | '-')) => out.push(Piece::Sign(*c)),
            Token::Word(w) if w == "x" => out.push(Piece::Sign('*')),
            Token::Han(text) => out.extend(cut_han(text, names)),
            _ => out.push(Piece::Other),
        }
    }
    out
}

/// The longest expression that stands in a text, written with `+ - * / ( )`. None without an operation.
pub(super) fn expression_in(text: &str) -> Option<String> {
    expression_with(text, &Names::default())
}

/// As [`expression_in`], with names that stand for values.
pub(super) fn expression_with(text: &str, names: &Names) -> Option<String> {
    let pieces = pieces(text, names);
    let mut best: Option<(usize, String)> = None;
    for start in 0..pieces.len() {
        let mut parser = Parser {
            pieces: &pieces,
            at: start,
        };
        if let Some(found) = parser.top() {
            let len = parser.at - start;
            let works = found.contains(['+', '*', '/', '-']);
            if works && best.as_ref().is_none_or(|(longest, _)| len > *longest) {
                best = Some((len, found));
            }
        }
    }
    best.map(|(_, found)| found)
}

struct Parser<'a> {
    pieces: &'a [Piece],
    at: usize,
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

    /// "add A to B", or a sum.
    fn top(&mut self) -> Option<String> {
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
                let Some(b) = self.sum() else { continue };
                let (a, b) = if turned { (b, a) } else { (a, b) };
                return Some(format!("{} {sign} {}", bracket(&a), bracket(&b)));
            }
        }
        self.at = start;
        self.sum()
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
                if self.word("of") {
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

/// Works an expression out. None if it is not one, or divides by nothing.
pub(super) fn evaluate(expression: &str) -> Option<f64> {
    let pieces = pieces(expression, &Names::default());
    let mut at = 0;
    let value = sum_of(&pieces, &mut at)?;
    (at == pieces.len() && value.is_finite()).then_some(value)
}

fn sum_of(pieces: &[Piece], at: &mut usize) -> Option<f64> {
    let mut left = product_of(pieces, at)?;
    while let Some(Piece::Sign(c @ ('+' | '-'))) = pieces.get(*at) {
        *at += 1;
        let right = product_of(pieces, at)?;
        left = if *c == '+' {
            left + right
        } else {
            left - right
        };
    }
    Some(left)
}

fn product_of(pieces: &[Piece], at: &mut usize) -> Option<f64> {
    let mut left = value_of(pieces, at)?;
    while let Some(Piece::Sign(c @ ('*' | '/'))) = pieces.get(*at) {
        *at += 1;
        let right = value_of(pieces, at)?;
        left = if *c == '*' {
            left * right
        } else {
            left / right
        };
    }
    Some(left)
}

fn value_of(pieces: &[Piece], at: &mut usize) -> Option<f64> {
    let piece = pieces.get(*at)?;
    *at += 1;
    match piece {
        Piece::Value(value) => value.parse().ok(),
        Piece::Sign('-') => value_of(pieces, at).map(|value| -value),
        Piece::Open => {
            let value = sum_of(pieces, at)?;
            let closed = pieces.get(*at) == Some(&Piece::Close);
            *at += 1;
            closed.then_some(value)
        }
        _ => None,
    }
}

/// A value as people write it: at most six decimals, no empty ones.
pub(super) fn shown(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_and_works_out_what_stands_in_the_text() {
        for (text, expected) in [
            ("Please compute 48 / 2.", "24"),
            ("(48 + 24) * 4 / 3", "96"),
            ("What is 48 divided by 2, plus 1?", "24"),
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
