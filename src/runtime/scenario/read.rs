//! Reading a text: what it asks for, what it forbids, and what is no sentence at all. Pure.
//!
//! A text is cut into clauses; a clause has a polarity, a verb in a place where a verb can stand, and an object. Whether the object means
//! anything in a world is not decided here. Words in no order a sentence could have ask for nothing: meaning needs grammar, not keywords.

use super::clause::{Clause, Object};
use super::grammar::{clause, grammatical, jumble};
use super::lexicon::{Lexicon, Sense, Skill};
use super::segment::{Joint, Order, cut};
use super::terms::{Form, Term};
use super::world::Agent;

/// What a text says.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Reading {
    /// The language's code; none if no known language is spoken.
    pub language: Option<String>,
    /// What is asked and forbidden, in order.
    pub clauses: Vec<Clause>,
    /// Most of the text is words in no order.
    pub salad: bool,
}

impl Reading {
    pub fn asks(&self) -> impl Iterator<Item = &Clause> {
        self.clauses.iter().filter(|clause| !clause.forbids)
    }
}

impl Agent {
    /// Whether the agent follows the language that a text is written in.
    pub(super) fn follows(&self, reading: &Reading) -> bool {
        let language = reading.language.as_ref();
        language.is_some_and(|language| self.languages.contains(language))
    }
}

/// Reads a text. O(terms²) in one sentence at worst.
pub(super) fn read(text: &str, lexicon: &Lexicon) -> Reading {
    let language = lexicon.detect(text);
    let terms = lexicon.terms(text, language);
    let code = language.map(|l| lexicon.code(l).to_owned());
    let order = match code.as_deref() {
        Some("de") => Order::VerbLast,
        Some("zh") => Order::Topic,
        _ => Order::Plain,
    };
    let late_verb = order != Order::Plain;
    let mut clauses: Vec<Clause> = Vec::new();
    let mut sentence_start = 0;
    let mut negative: Option<bool> = None;
    let mut named: Option<Object> = None;
    let (mut understood, mut jumbled) = (0, 0);
    let segments = cut(&terms, late_verb);
    for (at, segment) in segments.iter().enumerate() {
        if segment.joint == Joint::Sentence {
            sentence_start = clauses.len();
            negative = None;
        }
        if matches!(segment.joint, Joint::Then | Joint::But) {
            negative = None;
        }
        let content = segment.terms.iter().filter(|t| t.content()).count();
        let previous = clauses
            .get(sentence_start..)
            .and_then(|c| c.last())
            .cloned();
        let found = clause(segment, previous.as_ref(), order).and_then(|(found, gerund)| {
            Some((stand_in(found, &segment.terms, named.as_ref())?, gerund))
        });
        let quoted: Vec<Term> = segment
            .terms
            .iter()
            .filter(|t| matches!(t.form, Form::Quote | Form::Address))
            .cloned()
            .collect();
        match &found {
            // "search the archive for the picture and open it": the picture.
            Some((found, _)) if found.can(Skill::Search) && !found.detail.is_empty() => {
                named = Some(found.detail.clone());
            }
            Some((found, _)) if !found.object.is_empty() => named = Some(found.object.clone()),
            None if !quoted.is_empty() => named = Some(Object::of(&quoted)),
            _ => {}
        }
        match found {
            Some((mut found, gerund)) if !jumble(&segment.terms, late_verb) => {
                let listed = segments
                    .get(at + 1..)
                    .unwrap_or_default()
                    .iter()
                    .take_while(|s| matches!(s.joint, Joint::Comma | Joint::Or | Joint::And))
                    .any(|s| s.joint == Joint::Or);
                let carries = match segment.joint {
                    Joint::Or | Joint::And => true,
                    Joint::Comma => listed,
                    _ => false,
                };
                if found.forbids {
                    negative = Some(gerund);
                } else if carries && negative == Some(gerund) {
                    found.forbids = true;
                } else {
                    negative = None;
                }
                understood += content.max(1);
                clauses.extend(one_by_one(found));
            }
            Some(_) => jumbled += content,
            None => {
                if content >= 3
                    && (jumble(&segment.terms, late_verb) || !grammatical(&segment.terms))
                {
                    jumbled += content;
                }
            }
        }
    }
    let salad = jumbled > understood;
    if salad {
        clauses.clear();
    }
    Reading {
        language: code,
        clauses,
        salad,
    }
}

/// "open it": what was named before. "try again", "go ahead": nothing is named, so nothing is asked.
fn stand_in(mut clause: Clause, terms: &[Term], named: Option<&Object>) -> Option<Clause> {
    let goes = [Skill::Open, Skill::Press];
    if clause.forbids
        || !clause.full().is_empty()
        || !clause.skills.iter().any(|s| goes.contains(s))
    {
        return Some(clause);
    }
    if let Some(named) = named.filter(|_| terms.iter().any(|t| t.has(&Sense::Pronoun))) {
        clause.object = named.clone();
        return Some(clause);
    }
    clause
        .skills
        .iter()
        .any(|s| !goes.contains(s))
        .then_some(clause)
}

/// "click 'All years' and '2015'": one request for each name.
fn one_by_one(clause: Clause) -> Vec<Clause> {
    let visits = clause.can(Skill::Open) || clause.can(Skill::Press);
    let (full, own) = (clause.full(), &clause.object);
    let named = if own.named().is_some() { own } else { &full };
    if named.quotes.len() + named.addresses.len() < 2 || !visits || clause.can(Skill::Call) {
        return vec![clause];
    }
    let quotes = named.quotes.iter().map(|quote| Object {
        quotes: vec![quote.clone()],
        ..Object::default()
    });
    let addresses = named.addresses.iter().map(|address| Object {
        addresses: vec![address.clone()],
        ..Object::default()
    });
    let each = quotes
        .chain(addresses)
        .enumerate()
        .map(|(at, object)| Clause {
            text: format!("{} #{at}", clause.text),
            object,
            place: Object::default(),
            detail: Object::default(),
            parts: Vec::new(),
            ..clause.clone()
        });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::LexiconData;
    use super::*;

    fn shown(text: &str) -> String {
        let reading = read(text, &Lexicon::new(&LexiconData::default()));
        if reading.salad {
            return "salad".to_owned();
        }
        let show = |c: &Clause| {
            let full = c.full();
            let mut words = full.words.clone();
            words.extend(full.numbers.iter().map(|n| n.join("|")));
            words.extend(full.quotes.iter().map(|q| format!("<{q}>")));
            words.extend(full.addresses.iter().cloned());
            let sign = if c.forbids { "-" } else { "+" };
            format!(
                "{sign}{} {}",
                c.verb.as_deref().unwrap_or("*"),
                words.join(" ")
            )
        };
        reading
            .clauses
            .iter()
            .map(show)
            .collect::<Vec<_>>()
            .join("; ")
    }

    #[test]
    fn requests_in_many_wordings() {
        for (text, expected) in [
            ("Open the calendar.", "+open calendar"),
            (
                "Please open the calendar and click '2015'.",
                "+open calendar; +click <2015>",
            ),
            (
                "You should go to the calendar, then choose August.",
                "+go to calendar; +choose august",
            ),
            (
                "Could you visit /2015/08/04.html?",
                "+visit /2015/08/04.html",
            ),
            (
                "WebSurfer, I'd like you to open the archive",
                "+open archive",
            ),
            (
                "1. Open the calendar\n2. Click on '2015'\n3. Read the page",
                "+open calendar; +click on <2015>; +read page",
            ),
            (
                "Click 'All years' and '2015'.",
                "+click <All years>; +click <2015>",
            ),
            (
                "On the calendar page, press August.",
                "+press august calendar page",
            ),
            ("Which city is on the horizon?", "+which city horizon"),
            ("Opne the calender", "+open calendar"),
            ("Don't forget to open the calendar.", "+open calendar"),
            (
                "Öffne den Kalender und klicke auf „2015“.",
                "+offne calendar; +klicke <2015>",
            ),
            (
                "Bitte den Kalender öffnen und dann August auswählen.",
                "+offnen calendar; +auswahlen august",
            ),
            (
                "请打开日历，然后点击“2015”。",
                "+打开 calendar; +点击 <2015>",
            ),
            (
                "Ouvrez le calendrier puis cliquez sur « 2015 ».",
                "+ouvrez calendar; +cliquez <2015>",
            ),
            ("The calendar is better than the list.", ""),
            ("I opened the calendar.", ""),
            (
                "Go to the calendar: All years > 2015 > August",
                "+go to calendar; +> year; +> 2015; +> august",
            ),
            (
                "Find the calendar, open it and read it.",
                "+find calendar; +open calendar; +read ",
            ),
            (
                "Search for the city, for the building and for its architects.",
                "+search for city; +search for building; +search for architect",
            ),
            (
                "Open the picture: https://a.example/b.html",
                "+open picture https://a.example/b.html",
            ),
            (
                "Check out each night from the 1st to the 7th of August",
                "+check out night august 1|2|3|4|5|6|7",
            ),
            ("Try again.", ""),
            (
                "(1) Open the calendar (2) press August",
                "+open calendar; +press august",
            ),
            (
                "Open each night from 1 August 2015 to 7 August 2015",
                "+open night august 1|2|3|4|5|6|7 2015",
            ),
            (
                "Open the nights between 1 and 3 August",
                "+open night august 1|2|3",
            ),
            (
                "Search the archive for the picture and open it.",
                "+search archive picture; +open picture",
            ),
            ("Öffne stattdessen den Kalender.", "+offne calendar"),
            ("Open the searches.", "+open search"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn prohibitions_in_many_wordings() {
        for (text, expected) in [
            ("Do not open the calendar.", "-open calendar"),
            ("Never click '2015'.", "-click <2015>"),
            (
                "Open the calendar without scrolling.",
                "+open calendar; -scroll ",
            ),
            (
                "Instead of scrolling, open the calendar.",
                "-scroll ; +open calendar",
            ),
            (
                "Stop scrolling and open the calendar.",
                "-scroll ; +open calendar",
            ),
            (
                "Don't scroll; open the calendar.",
                "-scroll ; +open calendar",
            ),
            (
                "Do not open the calendar or click 2015.",
                "-open calendar; -click 2015",
            ),
            (
                "Do not open the calendar and read August.",
                "-open calendar; -read august",
            ),
            (
                "Open the calendar, not the archive.",
                "+open calendar; -open archive",
            ),
            ("You must not open the archive.", "-open archive"),
            ("Avoid the archive.", "-* archive"),
            ("Öffne den Kalender nicht.", "-offne calendar"),
            ("Klicke nicht auf „2015“.", "-klicke <2015>"),
            ("不要打开日历。", "-打开 calendar"),
            ("N'ouvrez pas le calendrier.", "-ouvrez calendar"),
            ("There is no control named '2015'.", ""),
            ("Opening the calendar is not allowed.", "-open calendar"),
            ("Den Kalender zu öffnen ist verboten.", "-offnen calendar"),
            (
                "Do not scroll but open the calendar.",
                "-scroll ; +open calendar",
            ),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn keywords_in_no_order_ask_for_nothing() {
        for text in [
            "August 2015 picture city horizon open calendar archive lights architect",
            "city horizon picture calendar open August click night lights archive",
            "click open read scroll calendar city",
            "open calendar city picture horizon architect night lights",
            "calendar, city, horizon, lights, architect, building, open",
            "open 4 the August of picture 2015 horizon city the on read and",
            "the calendar open of and archive to the press",
            "日历 城市 地平线 图片 建筑师 打开 灯光 档案 八月 点击",
        ] {
            let got = shown(text);
            assert!(got == "salad" || got.is_empty(), "{text}: {got}");
        }
    }
}
