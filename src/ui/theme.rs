//! Themes: files that give every [`Role`] a style, brought down to what the terminal can show when they are loaded.
//!
//! A file names styles by role, may `inherits` another theme and may name colours in `[palette]`; the palette is applied
//! after inheritance, so a theme may be another one with other colours. Invariants: a loaded theme has every role; at
//! [`Depth::None`] it has no colour at all. Non-goals: finding and reading files (the caller's lookup does), and glyphs.

use std::collections::{BTreeMap, HashMap};

use ratatui::style::{Color, Modifier, Style};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::colour::Depth;
use super::role::Role;

/// The names of the themes that are always there; the first is the default.
pub const BUILT_IN: [&str; 6] = [
    "ansi",
    "dark",
    "light",
    "high-contrast",
    "colour-blind",
    "mono",
];

/// The text of an embedded theme.
#[must_use]
pub fn built_in(name: &str) -> Option<&'static str> {
    match name {
        "ansi" => Some(include_str!("../../themes/ansi.toml")),
        "dark" => Some(include_str!("../../themes/dark.toml")),
        "light" => Some(include_str!("../../themes/light.toml")),
        "high-contrast" => Some(include_str!("../../themes/high-contrast.toml")),
        "colour-blind" => Some(include_str!("../../themes/colour-blind.toml")),
        "mono" => Some(include_str!("../../themes/mono.toml")),
        _ => None,
    }
}

/// Why a theme cannot be used.
#[derive(Error, Debug, PartialEq, Eq)]
pub enum ThemeError {
    /// There is no theme of that name.
    #[error(
        "no theme {name:?}; there are {}, and the files in the configuration directory's themes/",
        BUILT_IN.join(", ")
    )]
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// The file is not TOML.
    #[error("theme {name}, line {line}: {reason}")]
    Syntax {
        /// The theme.
        name: String,
        /// 1-based.
        line: usize,
        /// What the parser found.
        reason: String,
    },
    /// A key or its value means nothing here.
    #[error("theme {name}, line {line}, {key}: {reason}")]
    Entry {
        /// The theme.
        name: String,
        /// 1-based.
        line: usize,
        /// The key as it would be written with dots.
        key: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A role has no style.
    #[error("theme {name} has no {role}; add it, or inherits = \"ansi\" for all that is missing")]
    Missing {
        /// The theme.
        name: String,
        /// The first role without a style.
        role: String,
    },
    /// A theme inherits itself.
    #[error("theme {name} inherits itself by way of {through}; take out one inherits line")]
    Circle {
        /// The theme.
        name: String,
        /// The last one before it comes round.
        through: String,
    },
}

/// A style for every role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    name: String,
    styles: HashMap<Role, Style>,
}

impl Theme {
    /// Loads a theme by name. `lookup` gives the text of a person's own file of that name, which goes before the embedded one.
    pub fn load(
        name: &str,
        depth: Depth,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ThemeError> {
        let text = lookup(name)
            .or_else(|| built_in(name).map(str::to_owned))
            .ok_or_else(|| ThemeError::Unknown {
                name: name.to_owned(),
            })?;
        Self::parse(name, &text, depth, lookup)
    }

    /// Reads a theme's text. A theme that inherits its own name builds on the embedded one.
    pub fn parse(
        name: &str,
        text: &str,
        depth: Depth,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ThemeError> {
        let mut chain = vec![Source::read(name, text)?];
        while let Some((heir, wanted)) = chain
            .last()
            .and_then(|last| Some((last.name.clone(), last.inherits.clone()?)))
        {
            let own = if wanted == heir {
                None
            } else {
                lookup(&wanted)
            };
            let text = own
                .or_else(|| built_in(&wanted).map(str::to_owned))
                .ok_or_else(|| ThemeError::Unknown {
                    name: wanted.clone(),
                })?;
            // Twice is allowed once: a person's `dark` over the embedded `dark`.
            if chain.iter().filter(|seen| seen.name == wanted).count() > usize::from(wanted == heir)
            {
                return Err(ThemeError::Circle {
                    name: wanted,
                    through: heir,
                });
            }
            chain.push(Source::read(&wanted, &text)?);
        }
        merge(name, &chain, depth)
    }

    /// An embedded theme that cannot fail, for tests and as the last resort: the default, or plain text if even that is broken.
    #[must_use]
    pub fn fallback(depth: Depth) -> Self {
        Self::load("ansi", depth, |_| None).unwrap_or_else(|_| Self {
            name: "ansi".to_owned(),
            styles: HashMap::new(),
        })
    }

    /// The name it was loaded by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The style of a role, to be laid over what is below it.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(&role).copied().unwrap_or_default()
    }
}

/// One file as read, before inheritance.
struct Source {
    name: String,
    inherits: Option<String>,
    palette: BTreeMap<String, Entry>,
    styles: BTreeMap<String, Entry>,
}

/// A value and where it stands.
#[derive(Clone)]
struct Entry {
    text: String,
    line: usize,
}

impl Source {
    fn read(name: &str, text: &str) -> Result<Self, ThemeError> {
        let line_of =
            |offset: usize| 1 + text.get(..offset).unwrap_or_default().matches('\n').count();
        let table = DeTable::parse(text).map_err(|error| ThemeError::Syntax {
            name: name.to_owned(),
            line: line_of(error.span().map_or(0, |span| span.start)),
            reason: error.message().to_owned(),
        })?;
        let mut source = Self {
            name: name.to_owned(),
            inherits: None,
            palette: BTreeMap::new(),
            styles: BTreeMap::new(),
        };
        let mut flat = BTreeMap::new();
        flatten(table.get_ref(), "", &mut flat).map_err(|(key, offset)| ThemeError::Entry {
            name: name.to_owned(),
            line: line_of(offset),
            key,
            reason: "must be a text such as \"cyan bold\"".to_owned(),
        })?;
        for (key, (text, offset)) in flat {
            let entry = Entry {
                text,
                line: line_of(offset),
            };
            if key == "inherits" {
                source.inherits = Some(entry.text);
            } else if let Some(colour) = key.strip_prefix("palette.") {
                source.palette.insert(colour.to_owned(), entry);
            } else if Role::all().any(|role| role.to_string() == key) {
                source.styles.insert(key, entry);
            } else {
                return Err(ThemeError::Entry {
                    name: name.to_owned(),
                    line: entry.line,
                    key,
                    reason: "is no role; themes/ansi.toml has them all".to_owned(),
                });
            }
        }
        Ok(source)
    }

    fn entry_error(&self, key: &str, line: usize, reason: String) -> ThemeError {
        ThemeError::Entry {
            name: self.name.clone(),
            line,
            key: key.to_owned(),
            reason,
        }
    }
}

/// Tables become dotted keys; each value keeps its offset. The error is a key whose value is neither text nor table.
fn flatten(
    table: &DeTable<'_>,
    prefix: &str,
    flat: &mut BTreeMap<String, (String, usize)>,
) -> Result<(), (String, usize)> {
    for (key, value) in table {
        let key = format!("{prefix}{}", key.get_ref());
        let offset = Spanned::span(value).start;
        match value.get_ref() {
            DeValue::String(text) => {
                flat.insert(key, (text.to_string(), offset));
            }
            DeValue::Table(inner) => flatten(inner, &format!("{key}."), flat)?,
            _ => return Err((key, offset)),
        }
    }
    Ok(())
}

/// Joins a theme with those it inherits, nearest first.
fn merge(name: &str, chain: &[Source], depth: Depth) -> Result<Theme, ThemeError> {
    let mut palette = BTreeMap::new();
    for source in chain.iter().rev() {
        for (colour, entry) in &source.palette {
            let value = entry.text.parse::<Color>().map_err(|_| {
                let reason = format!("{:?} is no colour; write \"#rrggbb\"", entry.text);
                source.entry_error(&format!("palette.{colour}"), entry.line, reason)
            })?;
            palette.insert(colour.as_str(), value);
        }
    }
    let mut styles = HashMap::new();
    for role in Role::all() {
        let key = role.to_string();
        let (source, entry) = chain
            .iter()
            .find_map(|source| Some((source, source.styles.get(&key)?)))
            .ok_or_else(|| ThemeError::Missing {
                name: name.to_owned(),
                role: key.clone(),
            })?;
        let style = parse_style(&entry.text, &palette)
            .map_err(|reason| source.entry_error(&key, entry.line, reason))?;
        styles.insert(role, reduce(role, style, depth));
    }
    Ok(Theme {
        name: name.to_owned(),
        styles,
    })
}

/// Reads `COLOUR on COLOUR MODIFIER…`.
fn parse_style(text: &str, palette: &BTreeMap<&str, Color>) -> Result<Style, String> {
    let mut style = Style::new();
    let mut ground = false;
    for word in text.split_whitespace() {
        let modifier = match word {
            "on" => {
                ground = true;
                continue;
            }
            "bold" => Modifier::BOLD,
            "dim" => Modifier::DIM,
            "italic" => Modifier::ITALIC,
            "underline" => Modifier::UNDERLINED,
            "reverse" => Modifier::REVERSED,
            "strike" => Modifier::CROSSED_OUT,
            _ => {
                let colour = palette
                    .get(word)
                    .copied()
                    .or_else(|| word.parse().ok())
                    .ok_or_else(|| {
                        format!("{word:?} is neither a colour nor a modifier; see the head of themes/ansi.toml")
                    })?;
                style = if std::mem::take(&mut ground) {
                    style.bg(colour)
                } else {
                    style.fg(colour)
                };
                continue;
            }
        };
        style = style.add_modifier(modifier);
    }
    if ground {
        return Err("\"on\" needs a colour after it".to_owned());
    }
    Ok(style)
}

/// Brings a style down to the terminal's depth. Where a ground cannot be trusted to differ from the text on it (16 colours
/// or none), it becomes reverse video.
fn reduce(role: Role, style: Style, depth: Depth) -> Style {
    let mut reduced = style;
    if let Some(ground) = style.bg {
        reduced.bg = Some(depth.reduce(ground));
        if role != Role::Text && depth <= Depth::Ansi16 {
            reduced.bg = None;
            reduced = reduced.add_modifier(Modifier::REVERSED);
        }
    }
    reduced.fg = style.fg.map(|colour| depth.reduce(colour));
    if depth == Depth::None {
        (reduced.fg, reduced.bg) = (None, None);
    }
    reduced
}

#[cfg(test)]
#[path = "theme_tests.rs"]
mod tests;
