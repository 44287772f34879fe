//! Arithmetic in figures and in words: a text cut into what arithmetic knows of it, and an expression really worked out.
//!
//! Not here: which part of a text is an expression.

use std::sync::OnceLock;

use super::lexicon::built_in;
use super::words::{Token, fold, stem, tokens};

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// A number or a name, as it is written down.
    Value(String),
    Fraction(String, String),
    /// A number in words, or a part of one.
    Count(u32),
    Sign(char),
    Open,
    Close,
    Word(&'static str),
    /// Anything else: an expression ends here.
    Other,
}

const KINDS: [&str; 20] = [
    "plus", "minus", "times", "over", "of", "more", "less", "and", "together", "sum", "add",
    "subtract", "multiply", "divide", "by", "to", "from", "skip", "it", "onto",
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
        let counts = data
            .arithmetic
            .iter()
            .filter_map(|(kind, words)| Some((Piece::Count(kind.parse().ok()?), words)));
        counts
            .chain(fractions)
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

/// A text cut into what arithmetic knows of it.
pub(super) fn pieces(text: &str, names: &Names) -> Vec<Piece> {
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
    joined(out)
}

/// "one hundred and five" is one number, "five thirds" one fraction.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for piece in pieces {
        let and = out.last() == Some(&Piece::Word("and"));
        let before = out.iter().rev().nth(usize::from(and));
        let one = match (before, &piece) {
            (Some(Piece::Count(a)), Piece::Count(b)) if fits(*a, *b, and) => {
                Some(Piece::Count(if *b == 100 { a * b } else { a + b }))
            }
            (Some(Piece::Count(a)), Piece::Fraction(n, d)) if !and && n == "1" => {
                Some(Piece::Fraction(a.to_string(), d.clone()))
            }
            (Some(Piece::Value(a)), Piece::Fraction(n, d)) if !and && n == "1" && d != "2" => {
                Some(Piece::Fraction(a.clone(), d.clone()))
            }
            _ => None,
        };
        if let Some(one) = one {
            out.truncate(out.len() - 1 - usize::from(and));
            out.push(one);
        } else {
            out.push(piece);
        }
    }
    let plain = |piece| match piece {
        Piece::Count(n) => Piece::Value(n.to_string()),
        other => other,
    };
    out.into_iter().map(plain).collect()
}

/// Whether the second number in words goes on with the first: "five hundred", "hundred and five", "twenty five".
const fn fits(a: u32, b: u32, and: bool) -> bool {
    (b == 100 && a < 10 && !and) || (a >= 100 && b < 100) || (a >= 20 && a < 100 && b < 10 && !and)
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
