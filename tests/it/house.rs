//! The rules of the house (`src/lib.rs`), kept by reading the project's own files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every module may use those before it. `store` and `import` stand side by side: a reader may write to the store, never the other way.
const ORDER: [&str; 13] = [
    "model", "gate", "store", "import", "endpoint", "runtime", "analyst", "pipeline", "app", "ui",
    "export", "term", "cli",
];

/// What pure modules must not know.
const IMPURE: [&str; 6] = [
    "tokio",
    "ratatui",
    "rusqlite",
    "crossterm",
    "std::fs",
    "std::net",
];

const MAX_LINES: usize = 600;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty());
    found.sort();
    found
}

/// A source file without comments and without what is compiled for tests only.
fn code(path: &Path) -> String {
    if for_tests(path) {
        return String::new();
    }
    let text = fs::read_to_string(path).unwrap();
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            skip_item(&mut lines);
        } else if !line.trim_start().starts_with("//") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Whether some file beside it, or the one above, declares it under `#[cfg(test)]`.
fn for_tests(path: &Path) -> bool {
    let stem = path.file_stem().unwrap().to_string_lossy();
    let name = path.file_name().unwrap().to_string_lossy();
    let folder = path.parent().unwrap();
    let mut near: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    near.push(folder.with_extension("rs"));
    near.iter().filter(|file| file.is_file()).any(|file| {
        let text = fs::read_to_string(file).unwrap();
        text.split("#[cfg(test)]").skip(1).any(|after| {
            let item = after.split(['{', ';']).next().unwrap();
            item.contains(&format!("\"{name}\""))
                || item.trim_end().ends_with(&format!("mod {stem}"))
        })
    })
}

/// Skips one item as rustfmt lays it out: to the end of its block, or one line.
fn skip_item<'a>(lines: &mut impl Iterator<Item = &'a str>) {
    let Some(first) = lines
        .by_ref()
        .find(|line| !line.trim_start().starts_with("#["))
    else {
        return;
    };
    let indent = first.len() - first.trim_start().len();
    if first.trim_end().ends_with('{') {
        let end = format!("{}}}", " ".repeat(indent));
        lines.find(|line| *line == end);
    }
}

/// The path of a file's module, such as `["cli", "fork"]`.
fn module(path: &Path) -> Vec<String> {
    let inner = path
        .strip_prefix(root().join("src"))
        .unwrap()
        .with_extension("");
    let parts = inner.iter().map(|part| part.to_string_lossy().into_owned());
    parts.filter(|part| part != "mod").collect()
}

/// The top-level modules that a file's code names, by `crate::` or by enough `super::`.
fn uses(code: &str, depth: usize) -> BTreeSet<String> {
    let supers = "super::".repeat(depth);
    let mut found = BTreeSet::new();
    for lead in ["crate::", supers.as_str()] {
        for (at, _) in code.match_indices(lead) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let rest = &code[at + lead.len()..];
            let names = match rest.strip_prefix('{') {
                // `use crate::{a::B, c}`: each first word of the group.
                Some(group) => first_words(group),
                None => vec![word(rest)],
            };
            found.extend(names);
        }
    }
    found
}

fn word(text: &str) -> String {
    text.chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

fn first_words(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut words = vec![word(group.trim_start())];
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => words.push(word(group[at + 1..].trim_start())),
            _ => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn imports_run_one_way() {
    let rank = |name: &str| ORDER.iter().position(|other| *other == name);
    let mut wrong = Vec::new();
    for path in rust_files("src") {
        let module = module(&path);
        let Some(own) = rank(&module[0]) else {
            continue; // lib.rs and main.rs stand above all
        };
        for name in uses(&code(&path), module.len()) {
            if rank(&name).is_some_and(|other| other > own) {
                wrong.push(format!(
                    "{}: {} must not know {name}",
                    path.display(),
                    module[0]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_scan_sees_each_way_of_naming_a_module() {
    let set = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(uses("use crate::term::Guard;", 1), set(&["term"]));
    assert_eq!(
        uses("use crate::{\n    app::{A, B},\n    ui,\n};", 1),
        set(&["app", "ui"])
    );
    assert_eq!(uses("let x = crate::cli::main();", 1), set(&["cli"]));
    assert_eq!(uses("use super::super::ui::Theme;", 2), set(&["ui"]));
    assert_eq!(uses("use super::ui::Theme;", 2), set(&[]));
    assert_eq!(uses("use macrocrate::term;", 1), set(&[]));
}

#[test]
fn model_and_gate_are_pure() {
    for path in rust_files("src") {
        if !matches!(module(&path)[0].as_str(), "model" | "gate") {
            continue;
        }
        let code = code(&path);
        for word in IMPURE {
            assert!(!code.contains(word), "{} knows {word}", path.display());
        }
    }
}

#[test]
fn nothing_panics_on_purpose_outside_tests() {
    let mut found = Vec::new();
    for path in rust_files("src") {
        for line in code(&path).lines() {
            let panics = [
                ".unwrap()",
                ".expect(\"",
                "panic!(",
                "todo!(",
                "unimplemented!(",
                "unreachable!(",
            ];
            if panics.iter().any(|word| line.contains(word)) {
                found.push(format!("{}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn files_stay_short() {
    for folder in ["src", "tests"] {
        for path in rust_files(folder) {
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines <= MAX_LINES, "{} has {lines} lines", path.display());
        }
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for path in rust_files("src") {
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            for_tests(&path) || text.starts_with("//! "),
            "{} has no header",
            path.display()
        );
    }
}

#[test]
fn the_themes_are_files() {
    for name in dover::ui::theme::BUILT_IN {
        assert!(!read(format!("themes/{name}.toml")).is_empty());
    }
}

#[test]
fn the_changelog_knows_the_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        read("CHANGELOG.md").contains(&format!("## [{version}]")),
        "CHANGELOG.md lacks {version}"
    );
}

#[test]
fn the_readme_begins_with_the_two_commands_and_no_other_set_up() {
    let readme = read("README.md");
    // A first screen is 24 lines.
    let first: Vec<_> = readme.lines().take(24).collect();
    let blocks = first.join("\n");
    let shell = blocks
        .split("```")
        .nth(1)
        .expect("a block of commands in the first screen");
    let commands: Vec<_> = shell
        .lines()
        .skip(1)
        .map(|line| line.split('#').next().unwrap().trim())
        .collect();
    assert_eq!(commands, ["cargo run --release", "cargo test"]);
}

#[test]
fn ci_runs_the_readmes_test_command() {
    let ci = read(".ci/run");
    assert!(ci.lines().any(|line| line == "cargo test"));
    assert!(ci.lines().any(|line| line == "cargo fmt --check"));
    assert!(
        ci.lines()
            .any(|line| line == "cargo clippy --all-targets -- -D warnings")
    );
}

/// The texts in a source file, with a nought for every placeholder.
fn texts(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut signs = code.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign == '\'' {
            // A character, or a lifetime.
            if signs.next() == Some('\\') {
                signs.next();
            }
            signs.next_if_eq(&'\'');
        }
        if sign != '"' {
            continue;
        }
        let (mut text, mut inside) = (String::new(), false);
        while let Some(sign) = signs.next().filter(|sign| *sign != '"') {
            match sign {
                '\\' => text.extend(signs.next().map(|_| ' ')),
                '{' if signs.next_if_eq(&'{').is_none() => inside = true,
                '}' if inside => {
                    inside = false;
                    text.push('0');
                }
                _ if inside => {}
                '}' => {
                    signs.next_if_eq(&'}');
                    text.push('}');
                }
                sign => text.push(sign),
            }
        }
        found.push(text);
    }
    found
}

/// The first key of the command table that a sentence names. Keys of the editor's own text, and the one that leaves always, are no
/// command's to move.
fn key_named(text: &str) -> Option<String> {
    let keys = dover::app::command::table().iter().flat_map(|row| row.keys);
    let keys: BTreeSet<String> = keys.map(ToString::to_string).collect();
    let own = ["Ctrl-C", "Ctrl-K", "Ctrl-U", "Home", "End"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut all = words.iter().enumerate();
    let found = all.find_map(|(at, word)| {
        let bare = word.trim_matches(|c| "(),;.:…".contains(c));
        let next = words.get(at + 1).copied().unwrap_or_default();
        let article = ["a", "A"].contains(&bare);
        let sign = !bare.starts_with(|c: char| c.is_ascii_alphabetic());
        let begins = at == 0 || words[at - 1].ends_with([':', ',', ';', '…']);
        let told = match (article, sign) {
            // An article has a noun after it, a key what it does.
            (true, _) => begins && next.ends_with('s') && !next.ends_with("ss"),
            (_, true) => {
                "[]{}/?!'*&".contains(bare) && next.starts_with(|c: char| c.is_lowercase())
            }
            _ => true,
        };
        (told && keys.contains(bare) && !own.contains(&bare)).then(|| bare.to_owned())
    });
    found.filter(|_| words.len() > 1)
}

#[test]
fn texts_name_commands_and_no_keys() {
    for (text, key) in [
        ("kept: f takes it to the gates", "f"),
        ("in trial 0 yet: a has it analysed", "a"),
        ("Find it: } next failure", "}"),
        ("(Esc, then r)", "Esc"),
        ("l: level", "l"),
        ("press Enter", "Enter"),
    ] {
        assert_eq!(key_named(text).as_deref(), Some(key), "{text}");
    }
    assert_eq!(key_named("A step a branch has: a step of it"), None);
    assert_eq!(
        texts(r#"("a {b} c", '"', 'x', &'a "{{d}}")"#),
        ["a 0 c", "{d}"]
    );

    let mut wrong = Vec::new();
    let mut look = |file: &str, text: &str| {
        // A command is called so.
        if let Some(key) = key_named(text).filter(|_| text != "n steps") {
            wrong.push(format!("{file} names {key}: {text}"));
        }
        for name in dover::app::spell::named(text) {
            if dover::app::spell::command(name).is_none() {
                wrong.push(format!("{file} names no command by ‹{name}›: {text}"));
            }
        }
    };
    for folder in ["src/app", "src/ui", "src/term"] {
        // What reads keys or lessons shows what stands in their files.
        let of_keys = ["keymap.rs", "key.rs", "spell.rs", "learn/read.rs"];
        let paths = rust_files(folder).into_iter();
        for path in paths.filter(|path| !of_keys.iter().any(|file| path.ends_with(file))) {
            for text in texts(&code(&path)) {
                look(&path.display().to_string(), &text);
            }
        }
    }
    for lesson in fs::read_dir(root().join("lessons")).unwrap() {
        let path = lesson.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| !line.starts_with("done")) {
            let said = line.split_once(" = ").map_or(line, |(_, said)| said);
            look(&path.display().to_string(), said.trim_matches('"'));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
