//! What words mean to the agents: built-in data (`lexicon.toml`), extended by a world with its own words and names.
//!
//! Knows no world and no grammar; [`super::read`] makes sense of the order of the terms.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::words::{self, Token, close, fold, is_han, stem};

/// What an agent can be able to do.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum Skill {
    /// Goes to a page by address, title or link.
    Open,
    /// Presses a control of the page shown.
    Press,
    /// Moves down the page.
    Scroll,
    /// Returns to the page before.
    Back,
    /// Asks the search engine.
    Search,
    /// Reads the page shown and says what it states.
    Read,
    /// Says what it believes without looking.
    Guess,
    /// Evaluates arithmetic.
    Compute,
    /// Calls its tools.
    Call,
}

/// What a word may be in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    Verb(Skill),
    Forbid,
    /// Forbids a thing that is named without a verb.
    Avoid,
    /// Introduces a question to somebody.
    Ask,
    Then,
    And,
    Or,
    But,
    Every,
    Whole,
    Place,
    Purpose,
    Modal,
    Is,
    Filler,
    /// An agent's name.
    Name(String),
    /// The word that it is read as.
    Concept(String),
    /// A number in words.
    Number(u32),
    /// Any of these numbers.
    Span(u32, u32),
}

/// The lists of one language, as the file has them.
#[derive(Deserialize, Clone, Debug, Default, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct LanguageData {
    /// ISO 639-1 code.
    pub code: String,
    forbid: Vec<String>,
    avoid: Vec<String>,
    ask: Vec<String>,
    then: Vec<String>,
    and: Vec<String>,
    or: Vec<String>,
    but: Vec<String>,
    every: Vec<String>,
    whole: Vec<String>,
    place: Vec<String>,
    purpose: Vec<String>,
    modal: Vec<String>,
    is: Vec<String>,
    filler: Vec<String>,
    verbs: BTreeMap<Skill, Vec<String>>,
}

/// Lexicon data: the built-in file, or a world's additions.
#[derive(Deserialize, Clone, Debug, Default, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct LexiconData {
    language: Vec<LanguageData>,
    concepts: BTreeMap<String, Vec<String>>,
    numbers: BTreeMap<String, Vec<String>>,
    spans: BTreeMap<String, Vec<String>>,
    /// Arithmetic in words, by what it does.
    pub(super) arithmetic: BTreeMap<String, Vec<String>>,
    /// Fractions and multiples in words, by numerator and denominator.
    pub(super) fractions: BTreeMap<String, Vec<String>>,
}

impl LanguageData {
    fn entries(&self) -> impl Iterator<Item = (&str, Sense)> {
        let lists = [
            (&self.forbid, Sense::Forbid),
            (&self.avoid, Sense::Avoid),
            (&self.ask, Sense::Ask),
            (&self.then, Sense::Then),
            (&self.and, Sense::And),
            (&self.or, Sense::Or),
            (&self.but, Sense::But),
            (&self.every, Sense::Every),
            (&self.whole, Sense::Whole),
            (&self.place, Sense::Place),
            (&self.purpose, Sense::Purpose),
            (&self.modal, Sense::Modal),
            (&self.is, Sense::Is),
            (&self.filler, Sense::Filler),
        ];
        let verbs = self
            .verbs
            .iter()
            .map(|(skill, words)| (words, Sense::Verb(*skill)));
        lists
            .into_iter()
            .chain(verbs)
            .flat_map(|(words, sense)| words.iter().map(move |word| (word.as_str(), sense.clone())))
    }
}

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
    /// A verb in its -ing form.
    pub gerund: bool,
}

impl Term {
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

#[derive(Clone, Debug)]
struct Entry {
    tokens: Vec<String>,
    language: Option<usize>,
    sense: Sense,
}

/// The index over all that is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Lexicon {
    codes: Vec<String>,
    entries: HashMap<String, Vec<Entry>>,
    han: HashMap<String, Vec<(Option<usize>, Sense)>>,
    longest_han: usize,
    /// Words of the world's own names, which are no slips of other words.
    own: HashSet<String>,
}

/// The built-in data. A damaged file would be a fault of the build; a test reads it.
#[must_use]
pub(super) fn built_in() -> LexiconData {
    toml::from_str(include_str!("lexicon.toml")).unwrap_or_default()
}

impl Lexicon {
    /// The built-in lexicon with a world's additions. The built-in part is made once.
    pub fn new(extra: &LexiconData) -> Self {
        static BUILT_IN: OnceLock<Lexicon> = OnceLock::new();
        let mut lexicon = BUILT_IN
            .get_or_init(|| Self::default().with(&built_in()))
            .clone();
        if *extra != LexiconData::default() {
            lexicon = lexicon.with(extra);
        }
        lexicon
    }

    fn with(self, data: &LexiconData) -> Self {
        let mut lexicon = self;
        {
            for language in &data.language {
                let at = lexicon.language(&language.code);
                for (text, sense) in language.entries() {
                    lexicon.add(text, Some(at), sense);
                }
            }
            for (word, synonyms) in &data.concepts {
                for text in synonyms {
                    lexicon.add(text, None, Sense::Concept(word.clone()));
                }
            }
            for (number, texts) in &data.numbers {
                for text in texts {
                    if let Ok(number) = number.parse() {
                        lexicon.add(text, None, Sense::Number(number));
                    }
                }
            }
            for (span, texts) in &data.spans {
                let ends = span
                    .split_once('-')
                    .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                for text in texts {
                    if let Some((a, b)) = ends {
                        lexicon.add(text, None, Sense::Span(a, b));
                    }
                }
            }
        }
        lexicon
    }

    fn language(&mut self, code: &str) -> usize {
        self.codes
            .iter()
            .position(|c| c == code)
            .unwrap_or_else(|| {
                self.codes.push(code.to_owned());
                self.codes.len() - 1
            })
    }

    /// Adds a word or phrase; without a language it belongs to all.
    pub fn add(&mut self, text: &str, language: Option<usize>, sense: Sense) {
        let elided = text.ends_with(['\'', '’']).then(|| fold(text));
        let tokens: Vec<String> = elided
            .map_or_else(|| words::tokens(text), |word| vec![Token::Word(word)])
            .into_iter()
            .filter_map(|token| match token {
                Token::Word(w) | Token::Han(w) | Token::Number(w) => Some(w),
                Token::Mark(c) => Some(c.to_string()),
                Token::Quote(q) => Some(fold(&q)),
                Token::Address(_) | Token::Break => None,
            })
            .collect();
        if !text.is_empty() && text.chars().all(is_han) {
            self.longest_han = self.longest_han.max(text.chars().count());
            self.han
                .entry(text.to_owned())
                .or_default()
                .push((language, sense));
        } else if let Some(first) = tokens.first().cloned() {
            self.entries.entry(first).or_default().push(Entry {
                tokens,
                language,
                sense,
            });
        }
    }

    /// Takes note of the words in a name of the world.
    pub fn own(&mut self, name: &str) {
        for token in words::tokens(name) {
            if let Token::Word(word) = token {
                self.own.insert(stem(&word));
                self.own.insert(word);
            }
        }
    }

    /// The language a text is written in: that whose small words and verbs it uses most. None if it uses no known ones.
    pub fn detect(&self, text: &str) -> Option<usize> {
        let mut letters = 0usize;
        let mut han = 0usize;
        for c in text.chars().filter(|c| c.is_alphabetic()) {
            letters += 1;
            han += usize::from(is_han(c));
        }
        // A Han character says about as much as four letters.
        if han > 0 && han * 4 >= letters - han {
            return self.codes.iter().position(|code| code == "zh");
        }
        let mut hits = vec![0usize; self.codes.len()];
        for token in words::tokens(text) {
            if let Token::Word(word) = token {
                let mut seen = HashSet::new();
                for entry in self.entries.get(&word).into_iter().flatten() {
                    if let Some(at) = entry
                        .language
                        .filter(|at| entry.tokens.len() == 1 && seen.insert(*at))
                        && let Some(hit) = hits.get_mut(at)
                    {
                        *hit += 1;
                    }
                }
            }
        }
        let best = *hits.iter().max()?;
        (best > 0).then(|| hits.iter().position(|hit| *hit == best))?
    }

    /// A language's code.
    pub fn code(&self, language: usize) -> &str {
        self.codes.get(language).map_or("", String::as_str)
    }

    /// The terms of a text in one language. O(tokens × entries of a word); a word nobody knows is compared with all.
    pub fn terms(&self, text: &str, language: Option<usize>) -> Vec<Term> {
        let tokens = self.cut_han(words::tokens(text), language);
        let mut terms: Vec<Term> = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let (term, used) = self.term(token, tokens.get(at..).unwrap_or_default(), language);
            at += used;
            terms.push(term);
        }
        join_numbers(terms)
    }

    fn term(&self, token: &Token, rest: &[Token], language: Option<usize>) -> (Term, usize) {
        let plain = |raw: &str, form| Term {
            raw: raw.to_owned(),
            word: raw.to_owned(),
            form,
            senses: Vec::new(),
            gerund: false,
        };
        match token {
            Token::Quote(text) => (plain(text, Form::Quote), 1),
            Token::Address(text) => (plain(text, Form::Address), 1),
            Token::Mark(c) => (plain(&c.to_string(), Form::Mark(*c)), 1),
            Token::Break => (plain("\n", Form::Break), 1),
            Token::Number(n) => (plain(n, Form::Numbers(vec![n.clone()])), 1),
            Token::Han(text) => {
                let senses = self.han.get(text).into_iter().flatten();
                let senses = senses.filter(|(l, _)| l.is_none() || *l == language);
                (
                    finish(text, senses.map(|(_, s)| s.clone()).collect(), false),
                    1,
                )
            }
            Token::Word(word) => self.word(word, rest, language),
        }
    }

    fn word(&self, word: &str, rest: &[Token], language: Option<usize>) -> (Term, usize) {
        let (senses, used) = self.longest(word, rest, language);
        if !senses.is_empty() {
            let raw: Vec<&str> = rest.iter().take(used).map(token_text).collect();
            return (finish(&raw.join(" "), senses, false), used);
        }
        if self
            .codes
            .get(language.unwrap_or_default())
            .is_some_and(|c| c == "en")
            && let Some(base) = gerund_base(word).into_iter().find_map(|base| {
                let (senses, _) = self.longest(&base, &[Token::Word(base.clone())], language);
                senses
                    .iter()
                    .any(|s| matches!(s, Sense::Verb(_)))
                    .then_some((base, senses))
            })
        {
            let mut senses = base.1;
            // "going to", "looking at": the phrase's verb.
            let mut tokens = rest.to_vec();
            if let Some(first) = tokens.first_mut() {
                *first = Token::Word(base.0.clone());
            }
            let (phrase, used) = self.longest(&base.0, &tokens, language);
            if used > 1 {
                senses = phrase;
            }
            return (finish(word, senses, true), used.max(1));
        }
        let root = stem(word);
        let (senses, _) = self.longest(&root, &[Token::Word(root.clone())], language);
        let senses: Vec<Sense> = senses
            .into_iter()
            .filter(|s| matches!(s, Sense::Concept(_)))
            .collect();
        if senses.is_empty()
            && !self.own.contains(&root)
            && !self.own.contains(word)
            && let Some(known) = self.slip(word, language)
        {
            let (senses, _) = self.longest(&known, &[Token::Word(known.clone())], language);
            return (finish(word, senses, false), 1);
        }
        (finish(&root, senses, false), 1)
    }

    /// All senses of the longest phrase that begins here.
    fn longest(&self, first: &str, rest: &[Token], language: Option<usize>) -> (Vec<Sense>, usize) {
        let mut found: (Vec<Sense>, usize) = (Vec::new(), 1);
        for entry in self.entries.get(first).into_iter().flatten() {
            if entry.language.is_some() && entry.language != language {
                continue;
            }
            let len = entry.tokens.len();
            let same = len == 1
                || (rest.len() >= len
                    && entry
                        .tokens
                        .iter()
                        .zip(rest)
                        .skip(1)
                        .all(|(a, b)| a == token_text(b)));
            if same && len >= found.1 {
                if len > found.1 {
                    found = (Vec::new(), len);
                }
                found.0.push(entry.sense.clone());
            }
        }
        found
    }

    fn slip(&self, word: &str, language: Option<usize>) -> Option<String> {
        let mut known: Vec<&String> = self
            .entries
            .iter()
            .filter(|(first, entries)| {
                close(word, first)
                    && entries.iter().any(|e| {
                        e.tokens.len() == 1 && (e.language.is_none() || e.language == language)
                    })
            })
            .map(|(first, _)| first)
            .collect();
        known.sort();
        known.first().map(|word| (*word).clone())
    }

    /// Cuts runs of Han characters by longest match; what nobody knows stands alone, a character each.
    fn cut_han(&self, tokens: Vec<Token>, language: Option<usize>) -> Vec<Token> {
        let mut out = Vec::new();
        for token in tokens {
            let Token::Han(text) = token else {
                out.push(token);
                continue;
            };
            let chars: Vec<char> = text.chars().collect();
            let mut at = 0;
            while at < chars.len() {
                let longest = (1..=self.longest_han.max(1)).rev().find_map(|len| {
                    let word: String = chars.get(at..at + len)?.iter().collect();
                    let known = self.han.get(&word)?;
                    known
                        .iter()
                        .any(|(l, _)| l.is_none() || *l == language)
                        .then_some(word)
                });
                let word = longest
                    .unwrap_or_else(|| chars.get(at).map(char::to_string).unwrap_or_default());
                at += word.chars().count().max(1);
                out.push(Token::Han(word));
            }
        }
        out
    }
}

fn token_text(token: &Token) -> &str {
    match token {
        Token::Word(w) | Token::Han(w) | Token::Number(w) => w,
        Token::Mark(c) => match c {
            ',' => ",",
            '=' => "=",
            '&' => "&",
            _ => "",
        },
        Token::Quote(_) | Token::Address(_) | Token::Break => "",
    }
}

fn finish(raw: &str, senses: Vec<Sense>, gerund: bool) -> Term {
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
        raw: raw.to_owned(),
        word,
        form,
        senses,
        gerund,
    }
}

/// "opening" may be "open", "using" "use", "scrolling" "scroll", "getting" "get".
fn gerund_base(word: &str) -> Vec<String> {
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

/// "1 to 7", "1–7", "the 3rd, 4th and 5th": one term that means any of them. Years stay apart from days.
fn join_numbers(terms: Vec<Term>) -> Vec<Term> {
    const TO: [&str; 8] = ["to", "-", "until", "through", "bis", "到", "至", "till"];
    let small = |term: &Term| match &term.form {
        Form::Numbers(numbers) => numbers.last()?.parse::<u32>().ok().filter(|n| *n <= 31),
        _ => None,
    };
    let mut out: Vec<Term> = Vec::new();
    let mut month: Option<Term> = None;
    let mut rest = terms.into_iter().peekable();
    while let Some(term) = rest.next() {
        let joint = term.raw.as_str();
        let span = TO.contains(&joint);
        let list = matches!(joint, "," | "and" | "und" | "和" | "或" | "or" | "oder");
        // A month may stand between: "1 August to 7 August".
        let month_last = out.last().is_some_and(is_month);
        let before = out.len().checked_sub(if month_last { 2 } else { 1 });
        let from = before.and_then(|at| out.get(at)).and_then(small);
        let between = before
            .and_then(|at| at.checked_sub(1))
            .and_then(|at| out.get(at))
            .is_some_and(|t| matches!(t.raw.as_str(), "between" | "zwischen"));
        if (span || list)
            && let Some(from) = from
        {
            if rest.peek().is_some_and(is_month) && span {
                month = rest.next();
            }
            if let Some(to) = rest.peek().and_then(small)
                && from < to
                && let Some(slot) = before.and_then(|at| out.get_mut(at))
                && let Form::Numbers(numbers) = &mut slot.form
            {
                if span || (between && joint != ",") {
                    *numbers = (from..=to).map(|n| n.to_string()).collect();
                } else {
                    numbers.push(to.to_string());
                }
                rest.next();
                if rest.peek().is_some_and(|t| is_month(t) && month_last) {
                    rest.next();
                }
                out.extend(month.take());
                continue;
            }
        }
        out.push(term);
        out.extend(month.take());
    }
    out
}

impl Term {
    pub fn month(&self) -> bool {
        is_month(self)
    }
}

fn is_month(term: &Term) -> bool {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    MONTHS.contains(&term.word.as_str())
}
