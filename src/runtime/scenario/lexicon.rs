//! What words mean to the agents: built-in data (`lexicon.toml`), extended by a world with its own words and names.
//!
//! Knows no world and no grammar; [`super::read`] makes sense of the order of the terms.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::terms::{
    Form, Term, finish, gerund_bases, join_numbers, settle_third_person, third_bases,
};
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
    /// Stands for what was named before.
    Pronoun,
    /// What stands before it must not be done; is a prohibition too.
    Banned,
    /// Limits a prohibition to its turn; is a small word too.
    Yet,
    /// A thing must follow it; is a small word too.
    Article,
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
    pronoun: Vec<String>,
    banned: Vec<String>,
    yet: Vec<String>,
    article: Vec<String>,
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
    /// Cardinal numbers in words.
    pub(super) cardinals: BTreeMap<String, Vec<String>>,
}

impl LanguageData {
    fn entries(&self) -> impl Iterator<Item = (&str, Sense)> {
        let lists = [
            (&self.forbid, Sense::Forbid),
            (&self.avoid, Sense::Avoid),
            (&self.ask, Sense::Ask),
            (&self.pronoun, Sense::Pronoun),
            (&self.banned, Sense::Banned),
            (&self.banned, Sense::Forbid),
            (&self.article, Sense::Article),
            (&self.yet, Sense::Yet),
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
        settle_third_person(&mut terms);
        join_numbers(terms)
    }

    fn term(&self, token: &Token, rest: &[Token], language: Option<usize>) -> (Term, usize) {
        let plain = Term::plain;
        match token {
            Token::Quote(text) => (plain(text, Form::Quote), 1),
            Token::Address(text) => (plain(text, Form::Address), 1),
            Token::Mark(c) => (plain(&c.to_string(), Form::Mark(*c)), 1),
            Token::Break => (plain("\n", Form::Break), 1),
            Token::Number(n) => (plain(n, Form::Numbers(vec![n.clone()])), 1),
            Token::Han(text) => {
                let senses = self.han.get(text).into_iter().flatten();
                let senses = senses.filter(|(l, _)| l.is_none() || *l == language);
                (finish(text, senses.map(|(_, s)| s.clone()).collect()), 1)
            }
            Token::Word(word) => self.word(word, rest, language),
        }
    }

    fn word(&self, word: &str, rest: &[Token], language: Option<usize>) -> (Term, usize) {
        let (senses, used) = self.longest(word, rest, language);
        if !senses.is_empty() {
            let raw: Vec<&str> = rest.iter().take(used).map(token_text).collect();
            return (finish(&raw.join(" "), senses), used);
        }
        if self.english(language) {
            let inflected = gerund_bases(word).into_iter().map(|base| (base, true));
            let mut inflected =
                inflected.chain(third_bases(word).into_iter().map(|base| (base, false)));
            let found = inflected
                .find_map(|(base, gerund)| Some((self.verb(&base, rest, language)?, gerund)));
            if let Some(((term, used), gerund)) = found {
                return (
                    Term {
                        gerund,
                        third: !gerund,
                        ..term
                    },
                    used,
                );
            }
        }
        let root = stem(word);
        let (mut senses, _) = self.longest(&root, &[Token::Word(root.clone())], language);
        senses.retain(|sense| matches!(sense, Sense::Concept(_) | Sense::Filler));
        if senses.is_empty()
            && !self.own.contains(&root)
            && !self.own.contains(word)
            && let Some(known) = self.slip(word, language)
        {
            return self.verb(&known, rest, language).unwrap_or_else(|| {
                let (senses, _) = self.longest(&known, &[Token::Word(known.clone())], language);
                (finish(word, senses), 1)
            });
        }
        (finish(&root, senses), 1)
    }

    fn english(&self, language: Option<usize>) -> bool {
        language.is_some_and(|at| self.code(at) == "en")
    }

    /// A verb, or a phrase that begins with it, that stands in the text in another form than its own.
    fn verb(&self, base: &str, rest: &[Token], language: Option<usize>) -> Option<(Term, usize)> {
        let mut tokens = rest.to_vec();
        *tokens.first_mut()? = Token::Word(base.to_owned());
        let (senses, used) = self.longest(base, &tokens, language);
        let text = |tokens: &[Token]| {
            tokens
                .iter()
                .take(used)
                .map(token_text)
                .collect::<Vec<_>>()
                .join(" ")
        };
        let verb = senses.iter().any(|sense| matches!(sense, Sense::Verb(_)));
        verb.then(|| {
            (
                Term {
                    base: Some(text(&tokens)),
                    ..finish(&text(rest), senses)
                },
                used,
            )
        })
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
