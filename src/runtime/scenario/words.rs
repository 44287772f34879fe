//! From text to tokens: words, numbers, quotations, addresses and marks, in any script.
//!
//! Pure and without knowledge of any language: what a word means is the lexicon's business. Dates in figures come out as year, month name and day,
//! so that `2015-08-04`, `4.8.2015` and `2015年8月4日` are the same three tokens as "4 August 2015".

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::model::MONTHS;

/// A token as it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word, folded.
    Word(String),
    /// A run of Han characters, to be cut by the lexicon.
    Han(String),
    /// A whole number, or a decimal as it stands.
    Number(String),
    /// What stands between quotation marks.
    Quote(String),
    /// A web address or a path.
    Address(String),
    /// A punctuation mark, folded to ASCII where there is an equivalent.
    Mark(char),
    /// A line break.
    Break,
}

/// Lower case, without diacritics and width variants: `Ö` is `o`, `ß` is `ss`.
#[must_use]
pub(super) fn fold(text: &str) -> String {
    text.nfkd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .fold(String::new(), |mut out, c| {
            match c {
                'ß' => out.push_str("ss"),
                '’' | '‘' | 'ʼ' => out.push('\''),
                _ => out.push(c),
            }
            out
        })
}

/// Whether a character is a Han ideograph.
#[must_use]
pub(super) const fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '〇')
}

/// The name of a month by its number, 1 to 12.
fn month(number: &str) -> Option<&'static str> {
    let number: usize = number.parse().ok()?;
    MONTHS.get(number.checked_sub(1)?).copied()
}

/// Cuts a text into tokens. O(length).
#[must_use]
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut scan = Scan {
        rest: text,
        before: ' ',
        out: Vec::new(),
    };
    while scan.step() {}
    scan.out
}

struct Scan<'a> {
    rest: &'a str,
    before: char,
    out: Vec<Token>,
}

impl<'a> Scan<'a> {
    fn take(&mut self, len: usize) -> &'a str {
        let (head, tail) = self.rest.split_at(len);
        self.rest = tail;
        self.before = head.chars().next_back().unwrap_or(self.before);
        head
    }

    /// Length in bytes of the run at the beginning whose characters satisfy `keep`.
    fn run(&self, keep: impl Fn(char) -> bool) -> usize {
        self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len())
    }

    fn step(&mut self) -> bool {
        let Some(c) = self.rest.chars().next() else {
            return false;
        };
        if c == '\n' {
            self.take(1);
            self.out.push(Token::Break);
        } else if c.is_whitespace() {
            self.take(c.len_utf8());
        } else if self.address() || self.quote(c) || self.date() {
        } else if is_han(c) {
            self.han();
        } else if c.is_numeric() {
            self.number();
        } else if c.is_alphabetic() {
            self.word();
        } else {
            self.take(c.len_utf8());
            self.out.push(Token::Mark(plain_mark(c)));
        }
        true
    }

    fn address(&mut self) -> bool {
        let fresh = !self.before.is_alphanumeric() || is_han(self.before);
        let web = self.rest.starts_with("http://") || self.rest.starts_with("https://");
        let body = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&*+=%".contains(c);
        let len = self.run(body);
        let Some(candidate) = self.rest.get(..len) else {
            return false;
        };
        let candidate = candidate.trim_end_matches(['.', ':', '?', '!']);
        let slash = candidate.find('/');
        // "/2015/08" is a path, "/ 24" and "/24" are a division.
        let path = candidate.strip_prefix('/').is_some_and(|rest| {
            rest.len() > 1 && rest.contains(|c: char| c == '/' || c.is_ascii_alphabetic())
        });
        let host = slash.is_some_and(|at| {
            candidate
                .get(..at)
                .is_some_and(|host| host.contains('.') && host.starts_with(char::is_alphabetic))
        });
        let mail = candidate.contains('@') && candidate.contains('.');
        if !fresh || !(web || path || host || mail) {
            return false;
        }
        let len = candidate.len();
        let found = self.take(len).to_owned();
        self.out.push(Token::Address(found));
        true
    }

    fn quote(&mut self, open: char) -> bool {
        let close: &[char] = match open {
            '"' => &['"'],
            '“' | '„' | '”' => &['”', '“', '"'],
            '«' => &['»'],
            '»' => &['«'],
            '「' => &['」'],
            '『' => &['』'],
            '《' => &['》'],
            '`' => &['`'],
            '\'' | '‘' | '‚' if !self.before.is_alphanumeric() => &['\'', '’', '‘'],
            _ => return false,
        };
        let inner = self.rest.get(open.len_utf8()..).unwrap_or_default();
        let end = inner
            .char_indices()
            .take_while(|(_, c)| *c != '\n')
            .find(|(at, c)| {
                let after = inner.get(at + c.len_utf8()..).unwrap_or_default();
                // An apostrophe inside a word closes nothing.
                close.contains(c)
                    && (!matches!(c, '\'' | '’')
                        || !after.starts_with(|c: char| c.is_alphanumeric() && !is_han(c)))
            });
        let Some((at, mark)) = end.filter(|(at, _)| *at > 0) else {
            return false;
        };
        let whole = self.take(open.len_utf8() + at + mark.len_utf8());
        let inside = whole.get(open.len_utf8()..open.len_utf8() + at);
        self.out
            .push(Token::Quote(inside.unwrap_or_default().trim().to_owned()));
        true
    }

    /// `2015-08-04`, `2015/8/4`, `4.8.2015`.
    fn date(&mut self) -> bool {
        if !self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return false;
        }
        let len = self.run(|c| c.is_ascii_digit() || "-/.".contains(c));
        let text = self.rest.get(..len).unwrap_or_default();
        let text = text.trim_end_matches(['.', '-', '/']);
        let parts: Vec<&str> = text.split(['-', '/', '.']).collect();
        let [a, b, c] = parts[..] else { return false };
        let (year, day) = match (a.len(), c.len()) {
            (4, 1..=2) => (a, c),
            (1..=2, 4) => (c, a),
            _ => return false,
        };
        let Some(month) = month(b) else { return false };
        let numbers = [year, day].map(|n| Token::Number(plain_number(n)));
        let [year, day] = numbers;
        self.out.extend([year, Token::Word(month.to_owned()), day]);
        self.take(text.len());
        true
    }

    fn han(&mut self) {
        let digits = self.run(|c| "〇一二三四五六七八九十".contains(c));
        let after = self.rest.get(digits..).and_then(|rest| rest.chars().next());
        if digits > 0
            && matches!(after, Some('日' | '号' | '年'))
            && let Some(number) = han_number(self.rest.get(..digits).unwrap_or_default())
        {
            self.take(digits + '日'.len_utf8());
            self.out.push(Token::Number(number.to_string()));
            return;
        }
        let len = self.run(is_han);
        let text = self.take(len);
        // A date may begin inside the run.
        let cut = text
            .char_indices()
            .skip(1)
            .find(|(at, c)| "月".contains(*c) && at + c.len_utf8() < text.len())
            .map(|(at, c)| at + c.len_utf8());
        match cut {
            Some(at) if at < text.len() => {
                let (head, tail) = text.split_at(at);
                self.out.push(Token::Han(head.to_owned()));
                self.out.extend(tokens(tail));
            }
            _ => self.out.push(Token::Han(text.to_owned())),
        }
    }

    fn number(&mut self) {
        // A number at the beginning of a line is a list's.
        let line = self
            .out
            .last()
            .filter(|token| **token != Token::Break)
            .cloned();
        let len = self.run(|c| c.is_numeric() || c == ',' || c == '.');
        let text = self.rest.get(..len).unwrap_or_default();
        let text = text.trim_end_matches(['.', ',']);
        // "4,5" is a list unless the comma groups thousands.
        let grouped = text
            .split(',')
            .skip(1)
            .all(|group| group.split('.').next().unwrap_or_default().len() == 3);
        let len = if grouped {
            text.len()
        } else {
            text.find(',').unwrap_or(text.len())
        };
        let number = plain_number(self.take(len));
        for suffix in ["st", "nd", "rd", "th", "年", "日", "号"] {
            let goes_on = |rest: &str| suffix.is_ascii() && rest.starts_with(char::is_alphanumeric);
            if self
                .rest
                .strip_prefix(suffix)
                .is_some_and(|rest| !goes_on(rest))
            {
                self.take(suffix.len());
                break;
            }
        }
        // "4. August", "1. bis 7.": a point that makes a number an ordinal ends no sentence.
        if self.rest.starts_with(". ")
            && line.is_some()
            && ordinal_goes_on(self.rest.trim_start_matches('.'))
        {
            self.take(1);
        }
        if let Some(name) = month(&number).filter(|_| self.rest.starts_with('月')) {
            self.take('月'.len_utf8());
            self.out.push(Token::Word(name.to_owned()));
            return;
        }
        self.out.push(Token::Number(number));
    }

    fn word(&mut self) {
        let mut len = 0;
        let mut chars = self.rest.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().is_some_and(|(_, c)| c.is_alphabetic());
            let inner = matches!(c, '\'' | '’' | '-') && next;
            if !(c.is_alphanumeric() && !is_han(c) || c == '_' || is_combining_mark(c) || inner) {
                break;
            }
            len = at + c.len_utf8();
        }
        let word = fold(self.take(len.max(1)));
        // French elision: the article or the negation is a word of its own.
        if let Some((head, tail)) = word.split_once('\'')
            && matches!(head, "n" | "l" | "d" | "j" | "s" | "qu" | "c" | "m" | "t")
            && tail.len() > 1
        {
            self.out.push(Token::Word(format!("{head}'")));
            self.out.push(Token::Word(tail.to_owned()));
            return;
        }
        self.out.push(Token::Word(word));
    }
}

/// Whether what follows an ordinal's point belongs to it: a small letter, or a month.
fn ordinal_goes_on(rest: &str) -> bool {
    const MONTHS: [&str; 15] = [
        "jan", "feb", "mar", "apr", "may", "mai", "jun", "jul", "aug", "sep", "oct", "okt", "nov",
        "dec", "dez",
    ];
    let word = rest.trim_start();
    let start = fold(&word.chars().take(3).collect::<String>());
    word.starts_with(char::is_lowercase) || MONTHS.contains(&start.as_str())
}

const fn plain_mark(c: char) -> char {
    match c {
        '。' | '．' | '｡' => '.',
        '，' | '、' => ',',
        '；' => ';',
        '：' => ':',
        '！' => '!',
        '？' => '?',
        '（' => '(',
        '）' => ')',
        '–' | '−' | '—' | '~' | '～' => '-',
        '→' | '»' | '›' | '➜' | '⇒' => '>',
        _ => c,
    }
}

/// Without thousands separators and leading zeros.
fn plain_number(text: &str) -> String {
    let text: String = text.nfkd().filter(|c| *c != ',').collect();
    let short = text.trim_start_matches('0');
    match short.chars().next() {
        None => "0".to_owned(),
        Some('.') => format!("0{short}"),
        Some(_) => short.to_owned(),
    }
}

/// A number below 100 or a year in Chinese figures.
fn han_number(text: &str) -> Option<u32> {
    let digit = |c: char| "〇一二三四五六七八九".chars().position(|d| d == c);
    if let Some((tens, ones)) = text.split_once('十') {
        let value = |part: &str, empty: usize| match part.chars().next() {
            None => Some(empty),
            Some(c) => digit(c),
        };
        return u32::try_from(value(tens, 1)? * 10 + value(ones, 0)?).ok();
    }
    text.chars().try_fold(0u32, |sum, c| {
        sum.checked_mul(10)?
            .checked_add(u32::try_from(digit(c)?).ok()?)
    })
}

/// The form under which plural and possessive are the same as the plain word. Deliberately light: a stem too far would join what is different.
#[must_use]
pub(super) fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    let cut = |n: usize| word.get(..word.len().saturating_sub(n)).unwrap_or(word);
    if !word.is_ascii() || word.len() < 4 {
        word.to_owned()
    } else if word.ends_with("ies") && word.len() > 4 {
        format!("{}y", cut(3))
    } else if ["sses", "shes", "ches", "xes", "zes"]
        .iter()
        .any(|end| word.ends_with(end))
    {
        cut(2).to_owned()
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        cut(1).to_owned()
    } else {
        word.to_owned()
    }
}

/// Whether two words are the same but for a slip of the finger: one letter wrong, missing, doubled or swapped; two in long words.
#[must_use]
pub(super) fn close(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    // Most words differ plainly; say so before anything is counted.
    let ascii = a.is_ascii() && b.is_ascii();
    if a.chars().next() != b.chars().next() || (ascii && a.len().abs_diff(b.len()) > 2) {
        return false;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let short = a.len().min(b.len());
    if a.first() != b.first() || short < 4 || a.iter().any(char::is_ascii_digit) {
        return false;
    }
    let allowed = if short >= 9 { 2 } else { 1 };
    if a.len().abs_diff(b.len()) > allowed {
        return false;
    }
    // In four letters only a swap is a slip; anything else is another word.
    let mut sorted = (a.clone(), b.clone());
    sorted.0.sort_unstable();
    sorted.1.sort_unstable();
    (short > 4 || sorted.0 == sorted.1) && distance(&a, &b) <= allowed
}

/// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], k: usize| row.get(k).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&last, j) + usize::from(x != y))
                .min(at(&last, j + 1) + 1)
                .min(at(&row, j) + 1);
            if i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x) {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let show = |token: &Token| match token {
            Token::Word(w) | Token::Han(w) | Token::Number(w) => w.clone(),
            Token::Quote(q) => format!("<{q}>"),
            Token::Address(a) => format!("[{a}]"),
            Token::Mark(c) => c.to_string(),
            Token::Break => "/".to_owned(),
        };
        tokens(text).iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tokens_of_many_scripts() {
        for (text, expected) in [
            (
                "Don't open 'All years', please.",
                "don't open <All years> , please .",
            ),
            (
                "visit https://a.example/2015/08/04.html.",
                "visit [https://a.example/2015/08/04.html] .",
            ),
            (
                "open /2015/08/04.html, then",
                "open [/2015/08/04.html] , then",
            ),
            ("see archive.example/list", "see [archive.example/list]"),
            ("4th of August, 2015", "4 of august , 2015"),
            ("on 2015-08-04", "on 2015 august 4"),
            ("vom 1. bis 7. August. Dann", "vom 1 bis 7 august . dann"),
            ("am 4.8.2015.", "am 2015 august 4 ."),
            ("打开2015年8月4日的图片。", "打开 2015 august 4 的图片 ."),
            ("八月四日", "八月 4"),
            ("Öffne „Kalender“!", "offne <Kalender> !"),
            ("n'ouvrez pas l'archive", "n' ouvrez pas l' archive"),
            ("1,200 clips, 4,5", "1200 clips , 4 , 5"),
            ("3.5 or 3. X", "3.5 or 3 . x"),
            ("the city's name", "the city's name"),
            ("a\nb", "a / b"),
            ("点击「八月」", "点击 <八月>"),
            ("Years → 2015", "years > 2015"),
            ("mail to team@x.example.", "mail to [team@x.example] ."),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn slips_are_close_and_other_words_are_not() {
        for (a, b) in [
            ("calender", "calendar"),
            ("opne", "open"),
            ("picutre", "picture"),
            ("architetc", "architect"),
        ] {
            assert!(close(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("read", "real"),
            ("2015", "2016"),
            ("city", "cite"),
            ("press", "dress"),
            ("note", "nope"),
        ] {
            assert!(!close(a, b), "{a} {b}");
        }
    }

    #[test]
    fn plurals_and_possessives_share_a_stem() {
        for (word, expected) in [
            ("cities", "city"),
            ("archives", "archive"),
            ("city's", "city"),
            ("press", "press"),
            ("boxes", "box"),
            ("haus", "haus"),
        ] {
            assert_eq!(stem(word), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_cut(text in "\\PC*") {
            let _ = tokens(&text);
        }
    }
}
