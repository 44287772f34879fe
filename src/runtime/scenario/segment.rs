//! Cutting terms into segments that can hold one verb each: at the ends of sentences and lines, at connectives before verbs,
//! before a prohibition in mid-sentence. Not here: what a segment means.

use super::lexicon::Sense;
use super::terms::{Form, Term};
use super::words;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Joint {
    Sentence,
    Then,
    And,
    Or,
    But,
    Comma,
    Forbid,
    /// "All years > 2015".
    Path,
}

/// Where a language puts its verbs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    Plain,
    /// May come last, as in German.
    VerbLast,
    /// May follow its topic, as in Chinese.
    Topic,
}

pub(super) struct Segment {
    pub joint: Joint,
    pub terms: Vec<Term>,
    /// The mark that ends it: `?`, `>`, or anything.
    pub end: char,
}

impl Segment {
    pub fn question(&self) -> bool {
        self.end == '?'
    }
}

/// Cuts terms into segments that can hold one verb each.
pub(super) fn cut(all: &[Term], late_verb: bool) -> Vec<Segment> {
    let mut out: Vec<Segment> = Vec::new();
    let mut current: Vec<Term> = Vec::new();
    let mut joint = Joint::Sentence;
    let mut line_start = true;
    let mut list: Option<String> = None;
    let mut close = |current: &mut Vec<Term>, joint: Joint, end: char| {
        if !current.is_empty() {
            out.push(Segment {
                joint,
                terms: std::mem::take(current),
                end,
            });
        }
    };
    let mut at = 0;
    while let Some(term) = all.get(at) {
        let rest = all.get(at + 1..).unwrap_or_default();
        at += 1;
        let has_verb = current.iter().any(Term::verb);
        // "the picture: https://…": the address is the thing named before it.
        let apposition =
            term.mark(":") && has_verb && rest.first().is_some_and(|t| t.form == Form::Address);
        if term.form == Form::Break || (term.mark(".!?;:") && !apposition) {
            close(&mut current, joint, term.raw.chars().next().unwrap_or(' '));
            joint = Joint::Sentence;
            line_start = term.form == Form::Break;
            list = None;
            continue;
        }
        // "1.", "2)", "-", "*" at the beginning of a line.
        if line_start && current.is_empty() {
            let numbered =
                matches!(term.form, Form::Numbers(_)) && rest.first().is_some_and(|t| t.mark(".)"));
            if numbered || term.mark("-*•·#>") {
                at += usize::from(numbered);
                continue;
            }
        }
        // "(1) open … (2) press …"
        if term.mark("(")
            && matches!(rest, [n, end, ..] if matches!(n.form, Form::Numbers(_)) && end.mark(")"))
        {
            close(&mut current, joint, ' ');
            joint = Joint::Sentence;
            at += 2;
            continue;
        }
        line_start = false;
        if term.mark(">") {
            close(&mut current, joint, '>');
            joint = Joint::Path;
        } else if term.mark("-") && has_verb && begins_verb(rest) {
            close(&mut current, joint, ' ');
            joint = Joint::Comma;
        } else if term.has(&Sense::Then) && current.iter().any(|t| !small(t) && !t.verb()) {
            close(&mut current, joint, ' ');
            joint = Joint::Then;
        } else if term.has(&Sense::But)
            && !current.is_empty()
            && (!has_verb || after_verb(&current) || current.iter().any(|t| t.has(&Sense::Forbid)))
        {
            close(&mut current, joint, ' ');
            joint = Joint::But;
        } else if term.has(&Sense::Forbid)
            && !term.has(&Sense::Banned)
            && has_verb
            && after_verb(&current)
            && says_more(rest)
        {
            close(&mut current, joint, ' ');
            joint = Joint::Forbid;
            current.push(term.clone());
        } else if let Some(kind) = separator(term)
            && (has_verb || (kind == Joint::Comma && !place_first(&current)))
            && (begins_verb(rest) || (late_verb && has_verb && verb_before_next(rest)))
            && !current.is_empty()
        {
            // A comma after a prohibition's last word or an opener ("Please, open …") separates nothing.
            if kind == Joint::Comma
                && current.iter().all(small)
                && !current.iter().any(|t| t.has(&Sense::Forbid))
            {
                continue;
            }
            close(&mut current, joint, ' ');
            joint = kind;
        } else if separator(term).is_some() && list_goes_on(&current, list.as_deref(), rest) {
            list = rest.first().map(|t| t.raw.clone());
            close(&mut current, joint, ' ');
            joint = Joint::Then;
        } else if late_verb && term.verb() && has_verb && after_verb(&current) && is_zh(term) {
            close(&mut current, joint, ' ');
            joint = Joint::Comma;
            current.push(term.clone());
        } else {
            current.push(term.clone());
        }
    }
    close(&mut current, joint, ' ');
    out
}

/// "On the calendar page, …": where, before what.
pub(super) fn place_first(terms: &[Term]) -> bool {
    terms
        .iter()
        .find(|t| {
            ![Sense::Filler, Sense::Then, Sense::Modal]
                .iter()
                .any(|sense| t.has(sense))
        })
        .is_some_and(|t| t.has(&Sense::Place))
}

fn is_zh(term: &Term) -> bool {
    term.raw.chars().all(words::is_han)
}

fn separator(term: &Term) -> Option<Joint> {
    if term.mark(",") {
        Some(Joint::Comma)
    } else if term.has(&Sense::And) {
        Some(Joint::And)
    } else if term.has(&Sense::Or) {
        Some(Joint::Or)
    } else {
        None
    }
}

/// A small word: it carries no meaning of its own.
pub(super) fn small(term: &Term) -> bool {
    term.form == Form::Word && !term.content() || matches!(term.form, Form::Mark(_))
}

/// Whether a verb, or a prohibition, begins within a few small words.
fn begins_verb(rest: &[Term]) -> bool {
    rest.iter()
        .take(5)
        .enumerate()
        // "…, to open" is a purpose; "…, I'd like you to open" is a request.
        .find(|(at, t)| {
            let purpose = t.has(&Sense::Purpose) && (*at == 0 || t.raw != "to");
            !small(t) || t.has(&Sense::Forbid) || purpose
        })
        .is_some_and(|(_, t)| t.verb() || t.has(&Sense::Forbid))
}

/// "search for the person, for the building and for its architects": the verb's last word again.
fn list_goes_on(current: &[Term], list: Option<&str>, rest: &[Term]) -> bool {
    let verb = current.iter().find(|t| t.verb());
    let word = verb.map_or(list, |t| t.raw.rsplit_once(' ').map(|(_, word)| word));
    let next = rest.first().filter(|t| !t.content());
    word.is_some() && next.map(|t| t.raw.as_str()) == word
}

fn verb_before_next(rest: &[Term]) -> bool {
    rest.iter()
        .take_while(|t| separator(t).is_none() && !t.mark(".!?;:") && t.form != Form::Break)
        .any(Term::verb)
}

/// Whether something is said after the segment's first verb already.
fn after_verb(current: &[Term]) -> bool {
    current
        .iter()
        .skip_while(|t| !t.verb())
        .skip(1)
        .any(|t| !small(t))
}

/// Whether anything follows before the sentence or list goes on.
fn says_more(rest: &[Term]) -> bool {
    rest.iter()
        .take_while(|t| separator(t).is_none() && !t.mark(".!?;:") && t.form != Form::Break)
        .any(|t| !small(t))
}
