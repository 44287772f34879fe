//! The numbered and bulleted lists in a text, whatever their markers. Pure.

/// What the lists of a text look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lists {
    /// Items with a number or a bullet.
    pub items: usize,
    /// Items that are a computation.
    pub computed: usize,
    /// A list is announced as a plan by the line above it.
    pub announced: bool,
}

/// Words that announce a plan, in a few languages.
const PLAN_WORDS: [&str; 12] = [
    "plan",
    "plans",
    "strategy",
    "approach",
    "roadmap",
    "план",
    "plano",
    "piano",
    "计划",
    "計画",
    "方案",
    "estrategia",
];

/// Looks through a text outside its code blocks; each item is shown to `each`.
pub(super) fn lists(text: &str, each: &mut dyn FnMut(&str)) -> Lists {
    let mut found = Lists::default();
    let mut code = false;
    let mut above = "";
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            code = !code;
        }
        if code || line.is_empty() {
            continue;
        }
        if let Some(item) = item(line) {
            each(item);
            found.items += 1;
            found.computed += usize::from(is_computation(item));
            found.announced |= announces(above);
        }
        above = line;
    }
    found
}

fn announces(line: &str) -> bool {
    line.chars().count() <= 80 && {
        let line = line.to_lowercase();
        line.split(|c: char| !c.is_alphanumeric())
            .any(|word| PLAN_WORDS.contains(&word))
            || !line.is_ascii()
                && PLAN_WORDS
                    .iter()
                    .any(|word| !word.is_ascii() && line.contains(word))
    }
}

/// The text of a list item, if the line is one: `1.`, `1)`, `(1)`, `a)`, `-`, `*`, `•`, `Step 1:`, also in bold or as a heading.
pub(super) fn item(line: &str) -> Option<&str> {
    let line = line.trim();
    let bullet = line
        .strip_prefix(['-', '*', '•', '–', '—', '◦', '‣', '·', '+', '▪', '●'])
        .filter(|rest| rest.starts_with([' ', '\t']))
        .map(str::trim_start);
    if bullet.is_some_and(|rest| !rest.is_empty()) {
        return bullet;
    }
    let bare = line.trim_start_matches(['#', '*', '_', '>', ' ', '(']);
    numbered(bare).or_else(|| {
        // `Step 1:` in any language: one word, then a number.
        let (word, rest) = bare.split_once(' ')?;
        let word_like = word.chars().all(char::is_alphabetic) && word.chars().count() <= 12;
        word_like.then(|| numbered(rest.trim_start())).flatten()
    })
}

fn numbered(text: &str) -> Option<&str> {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let letters = text.chars().take_while(char::is_ascii_alphabetic).count();
    let (mark, loose) = match (digits, letters) {
        (1..=3, _) => (digits, true),
        (0, 1) => (1, false),
        _ => return None,
    };
    let rest = text.get(mark..)?;
    let after = if loose {
        rest.strip_prefix(['.', ')', ':', '、', '．', '-', '–'])
            .or_else(|| rest.strip_prefix(" -").or_else(|| rest.strip_prefix(" –")))?
    } else {
        rest.strip_prefix(')')?
    };
    let cjk = rest.starts_with(['、', '．']);
    let spaced = after.starts_with([' ', '\t', '*', '_']) || cjk;
    let after = after.trim_start_matches(['*', '_', ' ', '\t']);
    (spaced && !after.is_empty()).then_some(after)
}

/// Whether an item computes rather than tells somebody what to do: digits joined by operators.
fn is_computation(item: &str) -> bool {
    let dense: Vec<char> = item
        .chars()
        .filter(|c| !matches!(c, ' ' | '$' | '*' | '`'))
        .collect();
    item.contains('=') && item.contains(|c: char| c.is_ascii_digit())
        || dense.windows(3).any(|three| {
            matches!(three, [a, op, b] if a.is_ascii_digit() && b.is_ascii_digit() && matches!(op, '+' | '×' | '÷' | '/'))
        })
}
