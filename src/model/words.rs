//! Words: how the rules look at text when wording matters and spelling does not.
//!
//! Unicode words (UAX 29), so that a Chinese or Japanese sentence is many words and not one.
//! Not for display: case, width and the writing of numbers are folded away.

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::align::matches;

/// The months by their English names, in lower case.
pub const MONTHS: [&str; 12] = [
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

/// The words of a text, normalised: NFKC, lower case, and a number as its value (`1,000.0` is `1000`).
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let folded = text.nfkc().collect::<String>().to_lowercase();
    folded.unicode_words().map(normal).collect()
}

fn normal(word: &str) -> String {
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return word.to_owned();
    }
    let digits = word.replace(',', "");
    digits
        .parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
        .map_or(digits, |value| value.to_string())
}

/// The places where a phrase stands whole in a list of words. An empty phrase stands nowhere.
pub(crate) fn places<'a>(
    text: &'a [String],
    phrase: &'a [String],
) -> impl Iterator<Item = usize> + 'a {
    text.windows(phrase.len().max(1))
        .enumerate()
        .filter(move |(_, window)| *window == phrase)
        .map(|(place, _)| place)
}

/// One side of a word diff: the words, and which of them the other side does not have.
#[derive(Clone, Debug)]
pub struct ChangedWords {
    words: Vec<String>,
    changed: Vec<bool>,
}

impl ChangedWords {
    /// Whether a changed word stands in a phrase of this side, or at most `reach` words from it.
    #[must_use]
    pub fn touches(&self, phrase: &str, reach: usize) -> bool {
        let phrase = words(phrase);
        places(&self.words, &phrase).any(|place| {
            let near = self.changed.iter().take(place + phrase.len() + reach);
            near.skip(place.saturating_sub(reach))
                .any(|changed| *changed)
        })
    }
}

/// The word diff of two texts, as its removed and its added side.
#[must_use]
pub fn changed_words(original: &str, edited: &str) -> (ChangedWords, ChangedWords) {
    let (before, after) = (words(original), words(edited));
    let mut sides = (vec![true; before.len()], vec![true; after.len()]);
    for (i, j) in matches(&before, &after) {
        let kept = sides.0.get_mut(i).into_iter().chain(sides.1.get_mut(j));
        kept.for_each(|changed| *changed = false);
    }
    let side = |words, changed| ChangedWords { words, changed };
    (side(before, sides.0), side(after, sides.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_case_width_and_numbers() {
        let table: [(&str, &[&str]); 6] = [
            ("Click 'AUGUST'!", &["click", "august"]),
            ("$1,000.00 or 17%", &["1000", "or", "17"]),
            ("17", &["17"]),
            ("打开页面", &["打", "开", "页", "面"]),
            ("  …  ", &[]),
            ("2015-08-04", &["2015", "8", "4"]),
        ];
        for (text, expected) in table {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn a_phrase_stands_whole_or_not_at_all() {
        let text = words("the river Rhine, the old Rhine");
        let at = |phrase| places(&text, &words(phrase)).collect::<Vec<_>>();
        assert_eq!(at("rhine"), [2, 5]);
        assert_eq!(at("the old"), [3]);
        assert!(places(&text, &words("rhin")).next().is_none());
        assert!(places(&text, &words("")).next().is_none());
    }
}
