//! Terms: tokens with what they may mean. Numbers that belong together are one term; a verb in another form knows its own.

use super::lexicon::Sense;
use super::words::stem;
use crate::model::MONTHS;

/// What a term is, beside its senses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Word,
    /// A number, or any of several.
    Numbers(Vec<String>),
    Quote,
    Address,
    Mark(char),
    Break,
}

/// One or more tokens that are read as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub raw: String,
    /// The word it is read as.
    pub word: String,
    pub form: Form,
    pub senses: Vec<Sense>,
    /// The verb or phrase it is a form of, if it stands in another form.
    pub base: Option<String>,
    /// A verb in its -ing form.
    pub gerund: bool,
    /// A verb in the third person, "opens".
    pub third: bool,
}

impl Term {
    /// A term that no lexicon knows.
    pub fn plain(raw: &str, form: Form) -> Self {
        Self {
            raw: raw.to_owned(),
            word: raw.to_owned(),
            form,
            senses: Vec::new(),
            base: None,
            gerund: false,
            third: false,
        }
    }

    pub fn month(&self) -> bool {
        is_month(self)
    }

    pub fn has(&self, sense: &Sense) -> bool {
        self.senses.contains(sense)
    }

    pub fn verb(&self) -> bool {
        self.senses.iter().any(|s| matches!(s, Sense::Verb(_)))
    }

    /// A word that carries meaning of its own.
    pub fn content(&self) -> bool {
        self.form == Form::Word
            && self
                .senses
                .iter()
                .all(|s| matches!(s, Sense::Verb(_) | Sense::Concept(_)))
    }

    pub fn mark(&self, marks: &str) -> bool {
        matches!(self.form, Form::Mark(c) if marks.contains(c))
    }
}

/// "WebSurfer opens" is a verb; in "the searches", where nobody was named before, it is the noun.
pub(super) fn settle_third_person(terms: &mut [Term]) {
    let mut named = false;
    for term in terms {
        if term.form == Form::Break || term.mark(".!?;") {
            named = false;
        }
        named |= term
            .senses
            .iter()
            .any(|sense| matches!(sense, Sense::Name(_)));
        if term.third && !named {
            term.senses
                .retain(|sense| matches!(sense, Sense::Concept(_)));
        }
    }
}

pub(super) fn finish(raw: &str, senses: Vec<Sense>) -> Term {
    let mut word = stem(raw);
    let mut form = Form::Word;
    for sense in &senses {
        match sense {
            Sense::Concept(concept) => word.clone_from(concept),
            Sense::Number(n) => form = Form::Numbers(vec![n.to_string()]),
            Sense::Span(a, b) => form = Form::Numbers((*a..=*b).map(|n| n.to_string()).collect()),
            _ => {}
        }
    }
    Term {
        word,
        senses,
        ..Term::plain(raw, form)
    }
}

/// "opening" may be "open", "using" "use", "scrolling" "scroll", "getting" "get".
pub(super) fn gerund_bases(word: &str) -> Vec<String> {
    let Some(base) = word.strip_suffix("ing").filter(|base| base.len() > 1) else {
        return Vec::new();
    };
    let mut bases = vec![base.to_owned(), format!("{base}e")];
    let mut chars = base.chars().rev();
    if let (Some(a), Some(b)) = (chars.next(), chars.next())
        && a == b
    {
        bases.push(
            base.get(..base.len() - a.len_utf8())
                .unwrap_or(base)
                .to_owned(),
        );
    }
    bases
}

/// "opens" may be "open", "searches" "search", "identifies" "identify".
pub(super) fn third_bases(word: &str) -> Vec<String> {
    let bases = [
        word.strip_suffix("ies").map(|root| format!("{root}y")),
        word.strip_suffix("es").map(str::to_owned),
        word.strip_suffix('s').map(str::to_owned),
    ];
    bases
        .into_iter()
        .flatten()
        .filter(|base| base.len() > 1)
        .collect()
}

/// "1 to 7", "1–7", "the 3rd, 4th and 5th": one term that means any of them. Years stay apart from days.
pub(super) fn join_numbers(terms: Vec<Term>) -> Vec<Term> {
    const TO: [&str; 9] = [
        "to", "-", "until", "through", "till", "bis", "到", "至", "up to",
    ];
    let mut out: Vec<Term> = Vec::new();
    let mut rest = terms.into_iter().peekable();
    while let Some(term) = rest.next() {
        let joint = term.raw.as_str();
        let span = TO.contains(&joint);
        let list = matches!(joint, "," | "and" | "und" | "和" | "或" | "or" | "oder");
        let from = if span || list { day_before(&out) } else { None };
        let Some((slot, from)) = from else {
            out.push(term);
            continue;
        };
        let before = slot.checked_sub(1).and_then(|at| out.get(at));
        let between_them = before.is_some_and(|t| matches!(t.raw.as_str(), "between" | "zwischen"));
        // "to the 7th", "to August 7": what stands between is kept if no number follows.
        let mut between = Vec::new();
        while span && between.len() < 2 && rest.peek().is_some_and(|t| is_month(t) || article(t)) {
            between.extend(rest.next());
        }
        let to = rest.peek().and_then(day).filter(|to| from < *to);
        let numbers = out.get_mut(slot).map(|term| &mut term.form);
        if let (Some(to), Some(Form::Numbers(numbers))) = (to, numbers) {
            numbers.push(to.to_string());
            if span || (joint != "," && between_them) {
                *numbers = (from..=to).map(|n| n.to_string()).collect();
            }
            rest.next();
            // The month and the year once more.
            let said: Vec<String> = out.iter().skip(slot + 1).map(|t| t.word.clone()).collect();
            while rest
                .peek()
                .is_some_and(|t| (is_month(t) || year(t)) && said.contains(&t.word))
            {
                rest.next();
            }
            let new = |t: &Term| is_month(t) && !said.contains(&t.word);
            out.extend(between.into_iter().filter(new));
        } else {
            out.push(term);
            out.extend(between);
        }
    }
    out
}

/// The day, up to 31, that the last terms speak of, though a month and a year may follow it.
fn day_before(terms: &[Term]) -> Option<(usize, u32)> {
    let later = terms
        .iter()
        .rev()
        .take_while(|t| is_month(t) || year(t))
        .count();
    let at = terms.len().checked_sub(later + 1)?;
    Some((at, day(terms.get(at)?)?))
}

/// A number that can be a day or the place in a list.
fn day(term: &Term) -> Option<u32> {
    match &term.form {
        Form::Numbers(numbers) => numbers.last()?.parse().ok().filter(|n| *n <= 31),
        _ => None,
    }
}

fn year(term: &Term) -> bool {
    matches!(&term.form, Form::Numbers(n) if day(term).is_none() && n.len() == 1)
}

fn article(term: &Term) -> bool {
    matches!(term.raw.as_str(), "the" | "den" | "dem" | "zum")
}

fn is_month(term: &Term) -> bool {
    MONTHS.contains(&term.word.as_str())
}
