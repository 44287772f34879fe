//! Redaction: named values, strings shaped like keys, random strings, each replaced by a mark and counted.
//!
//! A noun is redacted as a whole, field by field and key by key, so that a secret finds no unwatched place. Equal strings get equal marks:
//! what was the same stays the same. dover's own digests, ids, words and times are no secrets and stay.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;

use regex::{Regex, RegexBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::ExportError;
use super::{secrets, spelling};

/// Fields that hold a digest, a revision or a time of dover's own.
const OWN: [&str; 18] = [
    "sha256",
    "args_sha256",
    "source_digest",
    "prefix_digest",
    "edit_digest",
    "fingerprint",
    "digest",
    "config",
    "revision",
    "created",
    "time",
    "id",
    "parent",
    "branch",
    "intervention",
    "hypothesis",
    "owners",
    "operation_key",
];

/// Bytes that the pattern of all named values may take.
const LARGEST: usize = 64 << 20;

/// Shorter values would take letters out of everything.
const LEAST: usize = 3;

/// A value that must not be taken along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// What stands in its place; none for a number.
    pub name: Option<String>,
    /// The value.
    pub value: String,
}

/// What is to be taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// Values that were named.
    pub named: Vec<Named>,
    /// Strings of a known shape.
    pub keys: bool,
    /// Strings too random to be words.
    pub entropy: bool,
}

impl Default for Redaction {
    fn default() -> Self {
        Self {
            named: Vec::new(),
            keys: true,
            entropy: true,
        }
    }
}

/// How many values of each sort were taken out, and of how many places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    sorts: BTreeMap<String, usize>,
    places: usize,
}

impl Redacted {
    /// How many different values.
    #[must_use]
    pub fn total(&self) -> usize {
        self.sorts.values().sum()
    }

    /// In how many places they stood.
    #[must_use]
    pub const fn places(&self) -> usize {
        self.places
    }

    /// The sorts with their counts.
    #[must_use]
    pub const fn sorts(&self) -> &BTreeMap<String, usize> {
        &self.sorts
    }

    /// Together with what was taken out before.
    #[must_use]
    pub(super) fn with(&self, before: BTreeMap<String, usize>) -> BTreeMap<String, usize> {
        let mut sum = before;
        for (sort, count) in &self.sorts {
            *sum.entry(sort.clone()).or_default() += count;
        }
        sum
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sorts.is_empty() {
            return f.write_str("nothing was redacted");
        }
        let count = |n: usize, noun: &str| match n {
            1 => format!("1 {noun}"),
            n => format!("{n} {noun}s"),
        };
        let (values, places) = (count(self.total(), "value"), count(self.places, "place"));
        write!(f, "redacted {values} in {places}: ")?;
        let parts: Vec<_> = self
            .sorts
            .iter()
            .map(|(sort, n)| format!("{n} {sort}"))
            .collect();
        f.write_str(&parts.join(", "))
    }
}

/// Takes secrets out of nouns.
pub struct Redactor {
    redaction: Redaction,
    /// The named values in all spellings, the longest value first, and which of them each group is.
    spellings: Option<(Regex, Vec<usize>)>,
    /// The mark of each string that was taken out.
    marks: HashMap<String, String>,
    count: Redacted,
    /// Whether what is read now was counted before.
    counted: bool,
}

impl Redactor {
    /// Prepares it.
    ///
    /// # Errors
    /// A named value that is too short.
    pub fn new(redaction: Redaction) -> Result<Self, ExportError> {
        for named in &redaction.named {
            if named.value.trim().chars().count() < LEAST {
                return Err(ExportError::Redaction(format!(
                    "'{}' is too short to be redacted: it would take letters out of everything. Name a value of at least {LEAST} characters",
                    named.value
                )));
            }
        }
        let mut order: Vec<(usize, &str)> = redaction
            .named
            .iter()
            .map(|named| named.value.trim())
            .enumerate()
            .collect();
        order.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        let groups: Vec<String> = order
            .iter()
            .map(|(_, value)| format!("({})", spelling::pattern(value)))
            .collect();
        let regex = RegexBuilder::new(&groups.join("|"))
            .size_limit(LARGEST)
            .build()
            .map_err(|error| {
                ExportError::Redaction(format!(
                    "the values to redact are too long to be looked for ({error}). Name a part of each"
                ))
            })?;
        let order = order.into_iter().map(|(at, _)| at).collect();
        Ok(Self {
            spellings: (!redaction.named.is_empty()).then_some((regex, order)),
            redaction,
            marks: HashMap::new(),
            count: Redacted::default(),
            counted: false,
        })
    }

    /// From here on everything is read once more: its places were counted.
    pub(super) const fn counted(&mut self) {
        self.counted = true;
    }

    /// What has been taken out.
    #[must_use]
    pub const fn count(&self) -> &Redacted {
        &self.count
    }

    /// Redacts a noun.
    ///
    /// # Errors
    /// A named value that is also a word of dover's own.
    pub fn noun<T: Serialize + DeserializeOwned>(&mut self, noun: T) -> Result<T, ExportError> {
        let told = |error: serde_json::Error| {
            ExportError::Redaction(format!(
                "a redacted value is also a word that dover itself needs ({error}). Redact a longer value"
            ))
        };
        let mut value = serde_json::to_value(&noun).map_err(told)?;
        if !self.value(&mut value, "", false) {
            return Ok(noun);
        }
        serde_json::from_value(value).map_err(told)
    }

    /// Redacts several.
    pub(super) fn nouns<T: Serialize + DeserializeOwned>(
        &mut self,
        nouns: Vec<T>,
    ) -> Result<Vec<T>, ExportError> {
        nouns.into_iter().map(|noun| self.noun(noun)).collect()
    }

    /// Redacts a value that stands under a key; says whether anything was taken out. `free`: the keys are not dover's own.
    fn value(&mut self, value: &mut Value, key: &str, free: bool) -> bool {
        match value {
            Value::String(text) => {
                let own = (!free && OWN.contains(&key) && is_own(text)) || is_hash(key, text);
                let new = if self.redaction.keys && secrets::secret_key(key) && !text.is_empty() {
                    self.secret_value(text, key)
                } else {
                    self.text(text, !own)
                };
                new.map(|new| *text = new).is_some()
            }
            Value::Array(items) => {
                let mut changed = false;
                for item in items {
                    changed |= self.value(item, key, free);
                }
                changed
            }
            Value::Object(map) => {
                let mut changed = false;
                // What a framework saved of itself has keys of its own.
                let free = free || key == "value";
                let owners = key == "owners" && !free;
                let mut new = Map::with_capacity(map.len());
                for (key, mut inner) in std::mem::take(map) {
                    let about = if owners { "owners" } else { key.as_str() };
                    changed |= self.value(&mut inner, about, free);
                    let name = self.text(&key, true);
                    changed |= name.is_some();
                    new.insert(name.unwrap_or(key), inner);
                }
                *map = new;
                changed
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// What stands under a key such as `password`: all of it goes, if it is a word and no sentence.
    fn secret_value(&mut self, text: &str, key: &str) -> Option<String> {
        if is_mark(text) {
            return None;
        }
        if text.split_whitespace().count() <= 5 && key != "authorization" {
            return Some(self.mark("assigned secret", text));
        }
        self.text(text, true)
    }

    /// Redacts a text; `None` if nothing is to be taken out. `looked`: shapes and randomness are looked for, not named values alone.
    fn text(&mut self, text: &str, looked: bool) -> Option<String> {
        let mut now = self.named(text);
        if !looked {
            return now;
        }
        if self.redaction.keys {
            let hits = secrets::shaped(now.as_deref().unwrap_or(text));
            now = self.replace(now, text, hits);
        }
        if self.redaction.entropy {
            let hits = secrets::random(now.as_deref().unwrap_or(text));
            let hits = hits.into_iter().map(|range| (range, secrets::RANDOM));
            now = self.replace(now, text, hits.collect());
        }
        now
    }

    fn replace(
        &mut self,
        now: Option<String>,
        text: &str,
        hits: Vec<(Range<usize>, &'static str)>,
    ) -> Option<String> {
        if hits.is_empty() {
            return now;
        }
        let before = now.as_deref().unwrap_or(text);
        let mut new = String::with_capacity(before.len());
        let mut at = 0;
        for (range, sort) in hits {
            new.push_str(before.get(at..range.start).unwrap_or_default());
            let secret = before.get(range.clone()).unwrap_or_default();
            new.push_str(&self.mark(sort, secret));
            at = range.end;
        }
        new.push_str(before.get(at..).unwrap_or_default());
        Some(new)
    }

    /// Takes out the values that were named.
    fn named(&mut self, text: &str) -> Option<String> {
        let (regex, order) = self.spellings.as_ref()?;
        let hits: Vec<(Range<usize>, usize)> = regex
            .captures_iter(text)
            .filter_map(|hit| {
                let (group, range) =
                    (1..=order.len()).find_map(|group| Some((group, hit.get(group)?.range())))?;
                Some((range, *order.get(group - 1)?))
            })
            .collect();
        if hits.is_empty() {
            return None;
        }
        let mut new = String::with_capacity(text.len());
        let mut end = 0;
        for (range, at) in hits {
            new.push_str(text.get(end..range.start).unwrap_or_default());
            let named = self.redaction.named.get(at);
            let name = named.and_then(|named| named.name.clone());
            let name = name.unwrap_or_else(|| format!("value {}", at + 1));
            // However it is spelt, it is one value.
            let key = format!("named {at}");
            new.push_str(&self.seen("named", &key, || format!("[redacted {name}]")));
            end = range.end;
        }
        new.push_str(text.get(end..).unwrap_or_default());
        Some(new)
    }

    fn mark(&mut self, sort: &str, secret: &str) -> String {
        let next = self.marks.len() + 1;
        self.seen(sort, secret, || format!("[redacted {sort} {next}]"))
    }

    /// The mark of a string. It is counted when it is seen first.
    fn seen(&mut self, sort: &str, secret: &str, mark: impl FnOnce() -> String) -> String {
        self.count.places += usize::from(!self.counted);
        if let Some(known) = self.marks.get(secret) {
            return known.clone();
        }
        let mark = mark();
        self.marks.insert(secret.to_owned(), mark.clone());
        *self.count.sorts.entry(sort.to_owned()).or_default() += 1;
        mark
    }
}

fn is_mark(text: &str) -> bool {
    text.starts_with("[redacted ") && text.ends_with(']')
}

/// Whether a key says that its value is a digest, and it is spelt as one.
fn is_hash(key: &str, text: &str) -> bool {
    let key = key.to_lowercase();
    let says = ["sha256", "digest", "fingerprint"]
        .iter()
        .any(|end| key.ends_with(end));
    says && text.len() == 64 && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// Whether a value of a field of dover's own is spelt as dover spells it: a digest, a commit, an id, a time.
fn is_own(text: &str) -> bool {
    let hex = text.chars().all(|c| c.is_ascii_hexdigit());
    let id = || {
        let name = text.rsplit('/').next().unwrap_or_default();
        name == "main"
            || name
                .strip_prefix(['b', 'i', 'h'])
                .is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let time = || {
        text.chars()
            .all(|c| c.is_ascii_digit() || "-:.+TZ".contains(c))
    };
    (hex && matches!(text.len(), 40 | 64)) || id() || time()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redactor(named: &[(&str, &str)]) -> Redactor {
        let named = named.iter().map(|(name, value)| Named {
            name: (!name.is_empty()).then(|| (*name).to_owned()),
            value: (*value).to_owned(),
        });
        Redactor::new(Redaction {
            named: named.collect(),
            ..Redaction::default()
        })
        .unwrap()
    }

    #[test]
    fn a_secret_finds_no_unwatched_place() {
        let key = "sk-proj-abcdefghijklmnop1234";
        let mut redactor = redactor(&[]);
        let noun = json!({
            "agent": format!("Ann {key}"),
            "to": key,
            "meta": { "tool": { "name": key, "arguments": format!("{{\"k\":\"{key}\"}}") }, "facts": [key] },
            key: [1, true, null],
            "keys": { "credentials": { "revision": key, "value": { "deep": [{ "x": key }] } } },
            "created": key,
        });
        let text = redactor.noun(noun).unwrap().to_string();
        assert!(!text.contains(key), "{text}");
        assert_eq!(text.matches("[redacted sk- key 1]").count(), 9, "{text}");
        assert_eq!(
            redactor.count().to_string(),
            "redacted 1 value in 9 places: 1 sk- key"
        );
    }

    #[test]
    fn digests_and_ids_of_dovers_own_stay() {
        let digest = "a092b6105400112233445566778899aabbccddeeff0011223344556677889900";
        let noun = json!({
            "fingerprint": digest,
            "prefix_digest": digest,
            "id": "night-picture/b3",
            "created": "2026-12-03T05:44:09.123456789Z",
            "profile": { "owners": { "ann": digest } },
            "value": { "schema_sha256": digest },
        });
        let mut redactor = redactor(&[]);
        assert_eq!(redactor.noun(noun.clone()).unwrap(), noun);
        assert_eq!(redactor.count().total(), 0);
        // The same digits in a text, or in what a framework saved, may be a secret.
        for noun in [
            json!({ "text": digest }),
            json!({ "value": { "config": digest } }),
        ] {
            assert!(!redactor.noun(noun).unwrap().to_string().contains(digest));
        }
    }

    #[test]
    fn a_named_value_goes_however_it_is_spelt() {
        let mut redactor = redactor(&[("CLIENT", "Müller & \"Co\""), ("", "Zurich")]);
        let noun = json!({
            "text": "for Müller & \"Co\" in Zurich",
            "arguments": "{\"to\": \"Müller & \\\"Co\\\"\"}",
            "page": "https://x.test/?q=M%C3%BCller+%26+%22Co%22",
        });
        assert_eq!(
            redactor.noun(noun).unwrap(),
            json!({
                "text": "for [redacted CLIENT] in [redacted value 2]",
                "arguments": "{\"to\": \"[redacted CLIENT]\"}",
                "page": "https://x.test/?q=[redacted CLIENT]",
            })
        );
    }

    #[test]
    fn a_named_value_goes_in_any_case_and_as_a_slug_but_not_within_a_word() {
        let mut redactor = redactor(&[("WHO", "Alice Example-Longname"), ("", "Ann")]);
        for spelt in [
            "alice example-longname",
            "ALICE  EXAMPLE-LONGNAME",
            "Alice\nExample-Longname",
            "alice-example-longname",
            "alice_example_longname",
            "Alice%20Example-Longname",
        ] {
            let noun = redactor.noun(json!({ "text": format!("by {spelt}.") }));
            assert_eq!(
                noun.unwrap(),
                json!({ "text": "by [redacted WHO]." }),
                "{spelt}"
            );
        }
        let noun = json!({ "text": "planned by Anna; ANN said so" });
        let now = redactor.noun(noun).unwrap();
        assert_eq!(
            now,
            json!({ "text": "planned by [redacted value 2]a; [redacted value 2] said so" })
        );
        assert_eq!(redactor.count().total(), 2);
        assert_eq!(redactor.count().places(), 8);
    }

    #[test]
    fn what_stands_under_a_secret_key_goes_whole() {
        let mut redactor = redactor(&[]);
        let noun =
            json!({ "value": { "password": "hunter2", "tokens": "12", "client_secret": "a b" } });
        assert_eq!(
            redactor.noun(noun).unwrap(),
            json!({ "value": {
                "password": "[redacted assigned secret 1]",
                "tokens": "12",
                "client_secret": "[redacted assigned secret 2]",
            } })
        );
    }

    #[test]
    fn what_was_redacted_once_stays_as_it_is() {
        let mut first = redactor(&[]);
        let noun =
            json!({ "text": "Bearer abcdefgh123 and password=hunter2", "password": "x1y2z3" });
        let once = first.noun(noun).unwrap();
        assert_eq!(first.count().total(), 3);
        let mut again = redactor(&[]);
        assert_eq!(again.noun(once.clone()).unwrap(), once);
        assert_eq!(again.count().total(), 0);
    }

    #[test]
    fn a_value_of_two_letters_is_refused() {
        let named = vec![Named {
            name: None,
            value: "ab".into(),
        }];
        let refused = Redactor::new(Redaction {
            named,
            ..Redaction::default()
        });
        assert!(refused.is_err_and(|error| error.to_string().contains("too short")));
    }
}
