//! Reading a text: what it asks for, what it forbids, and what is no sentence at all. Pure.
//!
//! A text is cut into clauses; a clause has a polarity, a verb in a place where a verb can stand, and an object. Whether the object means
//! anything in a world is not decided here. Words in no order a sentence could have ask for nothing: meaning needs grammar, not keywords.

use serde::{Deserialize, Serialize};

use super::lexicon::{Form, Lexicon, Sense, Skill, Term};

/// Words that say which thing is meant.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(default)]
pub(super) struct Object {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Each is a number, or any of several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
}

impl Object {
    pub fn of(terms: &[Term]) -> Self {
        let mut object = Self::default();
        for (at, term) in terms.iter().enumerate() {
            match &term.form {
                // "the seven pictures": how many, not which.
                Form::Numbers(numbers) if counts(numbers, terms.get(at + 1)) => {}
                Form::Word if term.content() => object.words.push(term.word.clone()),
                Form::Numbers(numbers) => object.numbers.push(numbers.clone()),
                Form::Quote => object.quotes.push(term.raw.clone()),
                Form::Address => object.addresses.push(term.raw.clone()),
                _ => {}
            }
        }
        object
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.numbers.is_empty() && self.named().is_none()
    }

    /// A thing called by its own name: the first address or quotation.
    pub fn named(&self) -> Option<&str> {
        self.addresses
            .first()
            .or(self.quotes.first())
            .map(String::as_str)
    }

    pub fn with(&self, other: &Self) -> Self {
        let join = |a: &Vec<String>, b: &Vec<String>| a.iter().chain(b).cloned().collect();
        Self {
            words: join(&self.words, &other.words),
            numbers: self.numbers.iter().chain(&other.numbers).cloned().collect(),
            quotes: join(&self.quotes, &other.quotes),
            addresses: join(&self.addresses, &other.addresses),
        }
    }
}

/// Whether a number says how many there are of what follows.
fn counts(numbers: &[String], next: Option<&Term>) -> bool {
    let few = matches!(numbers, [n] if n.parse::<u32>().is_ok_and(|n| n <= 31));
    few && next.is_some_and(|next| next.content() && !next.month())
}

/// One thing that a text asks for or forbids.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(default)]
pub(super) struct Clause {
    /// The words as they stand, folded: also the clause's identity.
    pub text: String,
    pub forbids: bool,
    /// The verb as it stands; none forbids whatever is done with the object.
    pub verb: Option<String>,
    /// What the verb can mean.
    pub skills: Vec<Skill>,
    /// The thing meant.
    pub object: Object,
    /// Where it is to be found, if the clause says so.
    pub place: Object,
    /// Why, when or which: what follows the object.
    pub detail: Object,
    /// The parts of an enumeration, if the object is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Object>,
    pub every: bool,
    pub whole: bool,
}

impl Clause {
    pub fn can(&self, skill: Skill) -> bool {
        self.skills.contains(&skill)
    }

    /// Everything that the clause says of its object.
    pub fn full(&self) -> Object {
        self.object.with(&self.place).with(&self.detail)
    }
}

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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Joint {
    Sentence,
    Then,
    And,
    Or,
    But,
    Comma,
    Forbid,
}

/// Where a language puts its verbs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Plain,
    /// May come last, as in German.
    VerbLast,
    /// May follow its topic, as in Chinese.
    Topic,
}

struct Segment {
    joint: Joint,
    terms: Vec<Term>,
    question: bool,
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
    let mut negative: Option<(bool, bool)> = None;
    let (mut understood, mut jumbled) = (0, 0);
    let segments = cut(terms, late_verb);
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
        match clause(segment, previous.as_ref(), order) {
            Some((mut found, gerund)) if !jumble(&segment.terms, late_verb) => {
                let listed = segments
                    .get(at + 1..)
                    .unwrap_or_default()
                    .iter()
                    .take_while(|s| matches!(s.joint, Joint::Comma | Joint::Or | Joint::And))
                    .any(|s| s.joint == Joint::Or);
                let carries = match segment.joint {
                    Joint::Or => true,
                    Joint::And => true,
                    Joint::Comma => listed,
                    _ => false,
                };
                if found.forbids {
                    negative = Some((gerund, true));
                } else if carries && negative.is_some_and(|(g, _)| g == gerund) {
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

/// Cuts terms into segments that can hold one verb each.
fn cut(terms: Vec<Term>, late_verb: bool) -> Vec<Segment> {
    let mut out: Vec<Segment> = Vec::new();
    let mut current: Vec<Term> = Vec::new();
    let mut joint = Joint::Sentence;
    let mut line_start = true;
    let mut close = |current: &mut Vec<Term>, joint: Joint, question: bool| {
        if !current.is_empty() {
            out.push(Segment {
                joint,
                terms: std::mem::take(current),
                question,
            });
        }
    };
    let all = terms.as_slice();
    let mut at = 0;
    while let Some(term) = all.get(at) {
        let rest = all.get(at + 1..).unwrap_or_default();
        at += 1;
        let has_verb = current.iter().any(Term::verb);
        if term.form == Form::Break || term.mark(".!?;:") {
            close(&mut current, joint, term.mark("?"));
            joint = Joint::Sentence;
            line_start = term.form == Form::Break;
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
        line_start = false;
        if term.mark(">") {
            close(&mut current, joint, false);
            joint = Joint::Then;
        } else if term.mark("-") && has_verb && begins_verb(rest) {
            close(&mut current, joint, false);
            joint = Joint::Comma;
        } else if term.has(&Sense::Then) && current.iter().any(|t| !small(t) && !t.verb()) {
            close(&mut current, joint, false);
            joint = Joint::Then;
        } else if term.has(&Sense::But) && !current.is_empty() {
            close(&mut current, joint, false);
            joint = Joint::But;
        } else if term.has(&Sense::Forbid) && has_verb && after_verb(&current) && says_more(rest) {
            close(&mut current, joint, false);
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
            close(&mut current, joint, false);
            joint = kind;
        } else if late_verb && term.verb() && has_verb && after_verb(&current) && is_zh(term) {
            close(&mut current, joint, false);
            joint = Joint::Comma;
            current.push(term.clone());
        } else {
            current.push(term.clone());
        }
    }
    close(&mut current, joint, false);
    out
}

/// "On the calendar page, …": where, before what.
fn place_first(terms: &[Term]) -> bool {
    terms
        .iter()
        .find(|t| !t.has(&Sense::Filler) && !t.has(&Sense::Then))
        .is_some_and(|t| t.has(&Sense::Place))
}

fn is_zh(term: &Term) -> bool {
    term.raw.chars().all(super::words::is_han)
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
fn small(term: &Term) -> bool {
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

/// Makes a clause of a segment, and says whether its verb is an -ing form.
fn clause(segment: &Segment, previous: Option<&Clause>, order: Order) -> Option<(Clause, bool)> {
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
        clause.verb = Some(verb.raw.clone());
        clause.skills = skills(verb);
        let (before, after) = (terms.get(..head)?, terms.get(head + 1..)?);
        object_zones(&mut clause, before, after, late_verb);
    } else if (segment.question || terms.iter().any(|t| t.has(&Sense::Ask)))
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
    } else if matches!(segment.joint, Joint::Then) && (1..=4).contains(&content) {
        // "then 2015, then August": the verb before goes on.
        let previous =
            previous.filter(|p| !p.forbids && (p.can(Skill::Open) || p.can(Skill::Press)))?;
        clause.verb.clone_from(&previous.verb);
        clause.skills.clone_from(&previous.skills);
        object_zones(&mut clause, &[], terms, late_verb);
    } else {
        return None;
    }
    // "Try again", "go ahead": nothing is named.
    let goes = [Skill::Open, Skill::Press];
    let idle =
        !forbids && clause.full().is_empty() && clause.skills.iter().all(|s| goes.contains(s));
    (!idle).then_some((clause, gerund))
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
    if late_verb {
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
        let whole = !(purpose_first && !forbids) || (late_verb && said > 0);
        (term.verb() && may && whole && !first_person).then_some(at)
    })
}

/// Whether words stand in no order that a sentence has: long rows of bare nouns, verbs without anything between, no small words at all.
fn jumble(terms: &[Term], late_verb: bool) -> bool {
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
        } else if matches!(term.form, Form::Quote | Form::Address) {
            smalls += 1;
            run = 0;
        }
    }
    let limit = if late_verb { 8 } else { 6 };
    longest >= limit || (content >= limit - 1 && smalls == 0) || verbs >= 4
}

/// Whether a segment without a request could at least be a sentence: enough small words.
fn grammatical(terms: &[Term]) -> bool {
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

/// "click 'All years' and '2015'": one request for each name.
fn one_by_one(clause: Clause) -> Vec<Clause> {
    let names = clause.object.quotes.len() + clause.object.addresses.len();
    let visits = clause.can(Skill::Open) || clause.can(Skill::Press);
    if names < 2 || !visits || clause.can(Skill::Call) {
        return vec![clause];
    }
    let object = &clause.object;
    let quotes = object.quotes.iter().map(|q| Object {
        quotes: vec![q.clone()],
        ..Object::default()
    });
    let addresses = object.addresses.iter().map(|a| Object {
        addresses: vec![a.clone()],
        ..Object::default()
    });
    quotes
        .chain(addresses)
        .enumerate()
        .map(|(at, object)| Clause {
            text: format!("{} #{at}", clause.text),
            object,
            parts: Vec::new(),
            ..clause.clone()
        })
        .collect()
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
            ("Opne the calender", "+opne calendar"),
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
                "+open calendar; -scrolling ",
            ),
            (
                "Instead of scrolling, open the calendar.",
                "-scrolling ; +open calendar",
            ),
            (
                "Stop scrolling and open the calendar.",
                "-scrolling ; +open calendar",
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
            "日历 城市 地平线 图片 建筑师 打开 灯光 档案 八月 点击",
        ] {
            let got = shown(text);
            assert!(got == "salad" || got.is_empty(), "{text}: {got}");
        }
    }
}
