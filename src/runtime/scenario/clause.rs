//! What a text asks for or forbids: a verb with the skills it can mean, and the words that say which thing is meant.

use serde::{Deserialize, Serialize};

use super::lexicon::Skill;
use super::terms::{Form, Term};

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
// Each says one thing of the wording, and all combinations occur.
#[allow(clippy::struct_excessive_bools)]
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
    /// A prohibition for this turn alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub brief: bool,
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
