//! From a segment to a clause: where its verb stands, what is its object, and whether its words stand in an order that a sentence can have.

use super::clause::{Clause, Object};
use super::lexicon::{Sense, Skill};
use super::segment::{Joint, Order, Segment, place_first, small};
use super::terms::{Form, Term};

/// Makes a clause of a segment, and says whether its verb is an -ing form.
pub(super) fn clause(
    segment: &Segment,
    previous: Option<&Clause>,
    order: Order,
) -> Option<(Clause, bool)> {
    let terms = &segment.terms;
    let forbids = terms.iter().any(|t| t.has(&Sense::Forbid));
    let text: Vec<&str> = terms.iter().map(|t| t.raw.as_str()).collect();
    let mut clause = Clause {
        text: text.join(" "),
        forbids,
        // "from 1 to 7 August" names each of them; "the first week" does not.
        every: terms.iter().any(|t| {
            let counted = matches!(&t.form, Form::Numbers(n) if n.len() > 1);
            t.has(&Sense::Every) || (counted && t.senses.is_empty())
        }),
        brief: forbids && terms.iter().any(|t| t.has(&Sense::Yet)),
        whole: terms.iter().any(|t| t.has(&Sense::Whole)),
        ..Clause::default()
    };
    let mut gerund = false;
    let content = terms.iter().filter(|t| !small(t)).count();
    let late_verb = order != Order::Plain;
    let goes_on = segment.joint != Joint::Sentence;
    if let Some(head) = head(terms, forbids, order, goes_on) {
        let verb = terms.get(head)?;
        gerund = verb.gerund;
        clause.verb = Some(verb.base.as_ref().unwrap_or(&verb.raw).clone());
        clause.skills = skills(verb);
        let (before, after) = (terms.get(..head)?, terms.get(head + 1..)?);
        object_zones(&mut clause, before, after, late_verb);
    } else if (segment.question() || terms.iter().any(|t| t.has(&Sense::Ask)))
        && terms
            .iter()
            .find(|t| !small(t) || t.has(&Sense::Purpose))
            .is_some_and(|t| t.has(&Sense::Purpose))
        && content > 0
        && terms
            .iter()
            .any(|t| t.has(&Sense::Is) || t.has(&Sense::Modal))
    {
        clause.verb = terms.first().map(|t| t.raw.clone());
        clause.skills = vec![Skill::Read];
        clause.object = Object::of(terms);
    } else if forbids && content > 0 {
        clause.object = Object::of(terms);
        match previous.filter(|p| segment.joint != Joint::Sentence && p.verb.is_some()) {
            Some(previous) => {
                clause.verb.clone_from(&previous.verb);
                clause.skills.clone_from(&previous.skills);
            }
            None if terms.iter().any(|t| t.has(&Sense::Avoid)) => {}
            None => return None,
        }
    } else if (segment.joint == Joint::Path || segment.end == '>') && (1..=6).contains(&content) {
        // "All years > 2015": a way through controls.
        clause.verb = Some(">".to_owned());
        clause.skills = vec![Skill::Open, Skill::Press];
        object_zones(&mut clause, &[], terms, late_verb);
    } else if segment.joint == Joint::Then && (1..=6).contains(&content) {
        // "then 2015, then August": the verb before goes on.
        let repeats = [Skill::Open, Skill::Press, Skill::Search];
        let previous = previous.filter(|p| !p.forbids && repeats.iter().any(|s| p.can(*s)))?;
        clause.verb.clone_from(&previous.verb);
        clause.skills.clone_from(&previous.skills);
        object_zones(&mut clause, &[], terms, late_verb);
    } else {
        return None;
    }
    Some((clause, gerund))
}

fn skills(verb: &Term) -> Vec<Skill> {
    verb.senses
        .iter()
        .filter_map(|s| match s {
            Sense::Verb(skill) => Some(*skill),
            _ => None,
        })
        .collect()
}

/// Sorts the words around the verb into object, place and detail.
fn object_zones(clause: &mut Clause, before: &[Term], after: &[Term], late_verb: bool) {
    // "find out who …", "see which …": the question is the object itself.
    let lead = after.iter().take_while(|t| small(t)).count();
    let detail_at = after
        .iter()
        .enumerate()
        .position(|(at, t)| at >= lead.max(1) && t.has(&Sense::Purpose) && !t.content())
        .unwrap_or(after.len());
    let (near, detail) = after.split_at(detail_at);
    let place_at = near
        .iter()
        .enumerate()
        .position(|(at, t)| at >= lead && t.has(&Sense::Place))
        .unwrap_or(near.len());
    let (main, place) = near.split_at(place_at);
    clause.object = Object::of(main);
    clause.place = Object::of(place);
    clause.detail = Object::of(detail);
    let adjunct = Object::of(before);
    if late_verb && !place_first(before) {
        clause.object = adjunct.with(&clause.object);
    } else {
        clause.place = adjunct.with(&clause.place);
    }
    let parts: Vec<Object> = main
        .split(|t| t.mark(",") || t.has(&Sense::And) || t.mark(">"))
        .map(Object::of)
        .filter(|part| !part.is_empty())
        .collect();
    if parts.len() > 1 {
        clause.parts = parts;
    }
}

/// The verb of a segment, if one stands where a verb can stand.
fn head(terms: &[Term], forbids: bool, order: Order, goes_on: bool) -> Option<usize> {
    let late_verb = order != Order::Plain;
    let purpose_first = terms
        .iter()
        .find(|t| !t.has(&Sense::Then))
        .is_some_and(|t| t.has(&Sense::Purpose) && !t.verb());
    terms.iter().enumerate().find_map(|(at, term)| {
        let before = terms.get(..at)?;
        let after = terms.get(at + 1..)?;
        let said = before.iter().filter(|t| !small(t)).count();
        let last = before
            .iter()
            .rev()
            .find(|t| !t.has(&Sense::Filler) || t.has(&Sense::Modal));
        let first_person = before
            .last()
            .is_some_and(|t| matches!(t.raw.as_str(), "i" | "we"));
        let may = said == 0
            || (said <= 3 && last.is_some_and(|t| t.has(&Sense::Modal)))
            || (place_first(before) && said <= 6)
            || (late_verb
                && said <= 8
                && !after.iter().any(|t| !small(t))
                && (before.iter().any(small)
                    || (order == Order::VerbLast && goes_on && said <= 3)))
            || (late_verb && before.iter().any(|t| matches!(t.raw.as_str(), "把" | "将")));
        let whole = !purpose_first || forbids || (late_verb && said > 0);
        (term.verb() && may && whole && !first_person).then_some(at)
    })
}

/// Whether words stand in no order that a sentence has: long rows of bare nouns, verbs without anything between, no small words at all.
pub(super) fn jumble(terms: &[Term], late_verb: bool) -> bool {
    let (mut run, mut longest) = (0, 0);
    let (mut verbs, mut content, mut smalls) = (0, 0, 0);
    for term in terms {
        if term.content() {
            content += 1;
            run += 1;
            longest = longest.max(run);
            let only_verb = term.senses.iter().all(|s| matches!(s, Sense::Verb(_))) && term.verb();
            verbs += usize::from(only_verb && !term.gerund);
        } else if term.form == Form::Word {
            smalls += 1;
            run = 0;
        } else if matches!(term.form, Form::Quote | Form::Address) || term.mark("=+*/×÷") {
            // Names and formulas hold a sentence together as small words do.
            smalls += 1;
            run = 0;
        }
    }
    let limit = if late_verb { 8 } else { 6 };
    broken(terms) || longest >= limit || (content >= limit - 1 && smalls == 0) || verbs >= 4
}

/// Whether small words stand where none can: "the of", "the and", "…, read and".
fn broken(terms: &[Term]) -> bool {
    let joins = |t: &Term| t.has(&Sense::And) || t.has(&Sense::Or);
    let after_article = |t: &Term| {
        joins(t)
            || t.has(&Sense::Place)
            || t.has(&Sense::Is)
            || t.has(&Sense::Modal)
            || t.raw == "of"
    };
    let pairs = terms.windows(2).any(|pair| match pair {
        [a, b] => a.has(&Sense::Article) && after_article(b),
        _ => false,
    });
    pairs
        || terms
            .last()
            .is_some_and(|t| joins(t) || t.has(&Sense::Article) || t.raw == "of")
}

/// Whether a segment without a request could at least be a sentence: enough small words.
pub(super) fn grammatical(terms: &[Term]) -> bool {
    // Signs hold a formula together as small words do a sentence.
    let signs = terms.iter().filter(|t| t.mark("=+*/×÷")).count();
    let smalls = terms
        .iter()
        .filter(|t| t.form == Form::Word && !t.content())
        .count()
        + signs;
    let all = terms.iter().filter(|t| t.form == Form::Word).count();
    smalls * 4 >= all
}
