//! Which thing do these words mean? Overlap with the names of all candidates, weighted by how much a word tells them apart,
//! above a threshold and with a margin over the second best. Pure.

use super::clause::Object;
use super::lexicon::Lexicon;
use super::terms::Form;
use super::words::{close, fold};

/// A name, ready to be compared.
#[derive(Clone, Debug)]
pub(super) struct Name {
    folded: String,
    words: Vec<String>,
    numbers: Vec<String>,
}

/// A thing with its names.
#[derive(Clone, Debug)]
pub(super) struct Candidate<T> {
    pub key: T,
    pub names: Vec<Name>,
}

/// What words came to mean.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Match<T> {
    /// One thing, and whether it was called by its name or number.
    One(T, bool),
    /// Several that fit as well as each other.
    Several(Vec<T>),
    None,
}

/// Least share of the words said that the thing's name must explain.
const EXPLAINED: f64 = 0.45;
/// Least score.
const SCORE: f64 = 0.4;
/// Least distance to the second best.
const MARGIN: f64 = 0.06;
/// Words for any page, control or name tell nothing about which.
const GENERIC: [&str; 3] = ["page", "link", "name"];

impl Name {
    pub fn of(text: &str, lexicon: &Lexicon) -> Self {
        let mut name = Self {
            folded: fold(text.trim()),
            words: Vec::new(),
            numbers: Vec::new(),
        };
        for term in lexicon.terms(text, lexicon.detect(text)) {
            match term.form {
                Form::Word if term.content() => name.words.push(term.word),
                Form::Numbers(numbers) => name.numbers.extend(numbers),
                Form::Quote => name.words.extend(Self::of(&term.raw, lexicon).words),
                _ => {}
            }
        }
        name
    }

    fn has_word(&self, word: &str) -> bool {
        self.words.iter().any(|w| close(w, word))
    }

    fn has_number(&self, numbers: &[String]) -> bool {
        numbers.iter().any(|n| self.numbers.contains(n))
    }
}

/// Finds what an object means. O(candidates × words).
pub(super) fn resolve<T: Clone + PartialEq>(
    object: &Object,
    candidates: &[Candidate<T>],
    lexicon: &Lexicon,
) -> Match<T> {
    if let Some(quote) = object.quotes.first() {
        return by_quote(quote, candidates, lexicon);
    }
    choose(candidates, false, |name| score(object, name, candidates))
}

fn by_quote<T: Clone + PartialEq>(
    quote: &str,
    candidates: &[Candidate<T>],
    lexicon: &Lexicon,
) -> Match<T> {
    let said = Name::of(quote, lexicon);
    if let Some(exact) = candidates
        .iter()
        .find(|c| c.names.iter().any(|name| name.folded == said.folded))
    {
        return Match::One(exact.key.clone(), true);
    }
    // A shortened or mistyped name still has every word of the quotation.
    choose(candidates, true, |name| {
        let words = said.words.iter().filter(|w| name.has_word(w)).count();
        let numbers = said
            .numbers
            .iter()
            .filter(|n| name.numbers.contains(n))
            .count();
        let all = said.words.len() + said.numbers.len();
        (all > 0 && words + numbers == all).then_some(0.5)
    })
}

fn choose<T: Clone + PartialEq>(
    candidates: &[Candidate<T>],
    named: bool,
    score: impl Fn(&Name) -> Option<f64>,
) -> Match<T> {
    let mut scored: Vec<(f64, T)> = Vec::new();
    for candidate in candidates {
        let best = candidate
            .names
            .iter()
            .filter_map(&score)
            .fold(0.0, f64::max);
        if best >= SCORE {
            match scored.iter_mut().find(|(_, key)| *key == candidate.key) {
                Some(slot) => slot.0 = slot.0.max(best),
                None => scored.push((best, candidate.key.clone())),
            }
        }
    }
    let top = scored.iter().map(|(s, _)| *s).fold(0.0, f64::max);
    let mut near = scored
        .into_iter()
        .filter(|(s, _)| top - s < MARGIN)
        .map(|(_, key)| key);
    match (near.next(), near.next()) {
        (None, _) => Match::None,
        (Some(key), None) => Match::One(key, named || top >= 0.95),
        (Some(a), Some(b)) => Match::Several([a, b].into_iter().chain(near).collect()),
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    number(part) / number(whole.max(1))
}

fn score<T>(object: &Object, name: &Name, candidates: &[Candidate<T>]) -> Option<f64> {
    // How much a word tells the candidates apart, within limits; none has it: a constant.
    let weight = |unknown: f64, hit: &dyn Fn(&Name) -> bool| {
        let having = candidates
            .iter()
            .filter(|c| c.names.iter().any(hit))
            .count();
        if having == 0 {
            unknown
        } else {
            (1.0 + ratio(candidates.len(), having)).ln().min(1.2)
        }
    };
    let (mut said, mut met, mut told) = (0.0, 0.0, false);
    for word in &object.words {
        let known = name.has_word(word);
        let generic = GENERIC.contains(&word.as_str());
        let weight = if generic {
            0.1
        } else {
            weight(0.8, &|n: &Name| n.has_word(word))
        };
        said += weight;
        if known {
            met += weight;
            told |= !generic;
        }
    }
    for numbers in &object.numbers {
        let known = name.has_number(numbers);
        // A number that some candidate has rules out those that have it not.
        if !known
            && candidates
                .iter()
                .any(|c| c.names.iter().any(|n| n.has_number(numbers)))
        {
            return None;
        }
        let weight = weight(1.1, &|n: &Name| n.has_number(numbers));
        said += weight;
        if known {
            met += weight;
            told = true;
        }
    }
    let own: f64 = name
        .words
        .iter()
        .map(|w| weight(0.8, &|n: &Name| n.has_word(w)))
        .sum::<f64>()
        + name
            .numbers
            .iter()
            .map(|x| weight(1.1, &|n: &Name| n.numbers.contains(x)))
            .sum::<f64>();
    let explained = met / f64::max(said, 0.01);
    let covered = f64::min(1.0, met / f64::max(own, 0.01));
    (told && explained >= EXPLAINED).then_some(0.6 * explained + 0.4 * covered)
}

/// Whether an address as typed means this page's: the same but for scheme, letter case and a final slash, or its path alone.
pub(super) fn same_address(typed: &str, address: &str) -> bool {
    let plain = |text: &str| {
        let text = text.to_lowercase();
        let text = text
            .trim_start_matches("https://")
            .trim_start_matches("http://");
        text.trim_start_matches("www.")
            .trim_end_matches(['/', '.', ','])
            .to_owned()
    };
    let (typed, address) = (plain(typed), plain(address));
    typed == address || (typed.starts_with('/') && typed.len() > 1 && address.ends_with(&typed))
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::LexiconData;
    use super::super::read::read;
    use super::*;

    const NIGHTS: [&str; 8] = [
        "1 August 2015: Rain of Perseids",
        "2 August 2015: Green Flash",
        "3 August 2015: Milky Way over the Dome",
        "4 August 2015: Harbour Lights",
        "5 August 2016: Harbour Fog",
        "Calendar: August 2015",
        "All years",
        "About the archive",
    ];

    fn meant(text: &str) -> String {
        let lexicon = Lexicon::new(&LexiconData::default());
        let candidates: Vec<_> = NIGHTS
            .iter()
            .map(|name| Candidate {
                key: *name,
                names: vec![Name::of(name, &lexicon)],
            })
            .collect();
        let reading = read(text, &lexicon);
        match resolve(&reading.clauses[0].full(), &candidates, &lexicon) {
            Match::One(key, _) => key.to_owned(),
            Match::Several(keys) => format!("{} of them", keys.len()),
            Match::None => "none".to_owned(),
        }
    }

    #[test]
    fn words_find_what_they_mean() {
        for (text, expected) in [
            ("Open the picture of 4 August 2015", NIGHTS[3]),
            ("Open the night picture of August 4th, 2015", NIGHTS[3]),
            ("open 2015-08-04", NIGHTS[3]),
            ("Open 'Harbour Lights'", NIGHTS[3]),
            ("open harbor lights", NIGHTS[3]),
            ("Open the harbour lights picture", NIGHTS[3]),
            ("打开2015年8月4日的图片", NIGHTS[3]),
            ("Öffne das Bild vom 4. August 2015", NIGHTS[3]),
            ("Open the calendar for August 2015", NIGHTS[5]),
            ("Click 'All years'", NIGHTS[6]),
            ("Open the first week of August 2015", "4 of them"),
            ("Open the pictures from 1 to 3 August 2015", "3 of them"),
            ("Click '2015'", "5 of them"),
            ("Click '2014'", "none"),
            // Where the night is not listed, its month is the nearest.
            ("Open the picture of 9 August 2015", NIGHTS[5]),
            ("Open the weather report", "none"),
        ] {
            assert_eq!(meant(text), expected, "{text}");
        }
    }

    #[test]
    fn addresses_may_be_short() {
        assert!(same_address(
            "/2015/08/04.html",
            "https://nights.example/2015/08/04.html"
        ));
        assert!(same_address(
            "http://NIGHTS.example/",
            "https://nights.example"
        ));
        assert!(!same_address(
            "/08/05.html",
            "https://nights.example/2015/08/04.html"
        ));
    }
}
