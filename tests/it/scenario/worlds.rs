//! The format of worlds: its description is complete and true, and what is wrong in a world is named.

use std::collections::{BTreeMap, BTreeSet};

use dover::runtime::scenario::parse;

use super::support::{Recorded, record, sample};

fn file(path: &str) -> String {
    std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The fenced blocks of the description whose fence says this.
fn blocks<'a>(readme: &'a str, says: &str) -> Vec<(&'a str, &'a str)> {
    let odd = readme.split("\n```").skip(1).step_by(2);
    odd.filter_map(|block| {
        let (fence, text) = block.split_once('\n')?;
        Some((fence.strip_prefix(says)?.trim(), text))
    })
    .collect()
}

fn example(readme: &str) -> &str {
    let found = blocks(readme, "toml");
    assert_eq!(found.len(), 1, "one block with a whole world");
    found[0].1
}

fn reached(recorded: &Recorded) -> usize {
    recorded.milestones(&recorded.steps())
}

#[test]
fn the_example_fails_and_each_edit_that_the_text_names_repairs_it() {
    let readme = file("sample-sessions/README.md");
    let recorded = record(example(&readme));
    assert!(!recorded.success(&recorded.finish));
    let unedited = recorded.fork(6, None, 5);
    assert!(!recorded.success(&unedited.finish));
    let edits = blocks(&readme, "edit step");
    assert_eq!(edits.len(), 2);
    for (at, text) in edits {
        let at: usize = at.parse().unwrap();
        for seed in 1..=9 {
            let branch = recorded.fork(at, Some(text), seed);
            assert!(recorded.success(&branch.finish), "step {at} seed {seed}");
            assert!(recorded.milestones(&branch.steps) > reached(&recorded));
        }
    }
}

/// The keys of each struct that a world file is read into.
fn keys_in_code() -> BTreeMap<String, BTreeSet<String>> {
    let code = file("src/runtime/scenario/world.rs");
    let mut found = BTreeMap::new();
    for part in code.split("\npub struct ").skip(1) {
        let (name, rest) = part.split_once(" {").unwrap();
        let (body, _) = rest.split_once("\n}").unwrap();
        let keys = body.lines().filter_map(|line| {
            let (key, _) = line.trim().strip_prefix("pub ")?.split_once(':')?;
            Some(key.to_owned())
        });
        found.insert(name.to_owned(), keys.collect());
    }
    found
}

/// The keys in the table under a heading of the description.
fn keys_under(readme: &str, heading: &str) -> BTreeSet<String> {
    let (_, rest) = readme
        .split_once(&format!("\n### {heading}\n"))
        .unwrap_or_else(|| panic!("no heading {heading}"));
    let part = rest.split("\n##").next().unwrap();
    let rows = part.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split_once('`').unwrap().0.to_owned())
        .collect()
}

#[test]
fn every_key_is_described_and_every_described_key_is_there() {
    let readme = file("sample-sessions/README.md");
    let headings = [
        ("World", "The file: keys at the top, before any table"),
        ("Agent", "`[[agent]]`"),
        ("Orchestrator", "`[orchestrator]`"),
        ("Dialogue", "`[dialogue]`"),
        ("Line", "`[[dialogue.line]]`"),
        ("Fact", "`[[fact]]`"),
        ("Page", "`[[page]]`"),
        ("Link", "`page.link`"),
        ("Statement", "`page.states` and `tool.states`"),
        ("Tool", "`[[tool]]`"),
        ("Approval", "`[[approval]]`"),
    ];
    let code = keys_in_code();
    assert_eq!(code.len(), headings.len(), "{:?}", code.keys());
    for (name, heading) in headings {
        assert_eq!(keys_under(&readme, heading), code[name], "{heading}");
    }
}

/// What is put into a world for what, and what the error must name.
type Wrong = (&'static str, &'static str, &'static [&'static str]);

fn refused(world: &str, table: &[Wrong]) {
    parse(world).unwrap();
    for (old, new, names) in table {
        assert!(world.contains(old), "{old:?} is not there");
        let error = match parse(&world.replacen(old, new, 1)) {
            Ok(_) => panic!("{new:?} was accepted"),
            Err(error) => error.to_string(),
        };
        for name in *names {
            assert!(error.contains(name), "{new:?}: {name:?} is not in {error}");
        }
    }
}

#[test]
fn what_is_wrong_is_named_with_its_table_and_key() {
    let readme = file("sample-sessions/README.md");
    refused(
        example(&readme),
        &[
            (
                "{shelf}",
                "{shelve}",
                &["key answer", "{shelve} is no fact"],
            ),
            (
                "on shelf {shelf}.",
                "somewhere.",
                &["key answer", "names no fact"],
            ),
            (
                "contains = \"shelf K7\"",
                "contains = \"shelf K8\"",
                &["key verifier", "'It stands on shelf K7.'"],
            ),
            (
                "contains = \"shelf K7\"",
                "contains = \" \"",
                &["key verifier", "empty"],
            ),
            (
                "2. Clerk:",
                "2. Clark:",
                &["[orchestrator], plan 1", "'Clark: …'", "Clerk, Helper"],
            ),
            (
                "asks = [\"Clerk:",
                "asks = [\"Desk:",
                &["fact 'shelf', asks", "'Desk: …'"],
            ),
            (
                "name = \"Desk\"",
                "name = \"clerk\"",
                &["[[agent]], name", "there twice"],
            ),
            (
                "stall_limit = 2",
                "stall_limit = 0",
                &["[orchestrator], stall_limit", "at least 1"],
            ),
            (
                "skills = [\"guess\"]",
                "vague = 1.5",
                &["agent 'Helper', vague", "1.5", "from 0"],
            ),
            (
                "skills = [\"guess\"]",
                "clear = -0.1",
                &["agent 'Helper', clear", "-0.1"],
            ),
            (
                "skills = [\"guess\"]",
                "vague = nan",
                &["agent 'Helper', vague", "NaN"],
            ),
            (
                "[\"en\", \"de\"]",
                "[\"en\", \"english\"]",
                &["agent 'Clerk', languages", "'english'", "de, en, fr, zh"],
            ),
            (
                "[\"en\", \"de\"]",
                "[]",
                &["agent 'Clerk', languages", "none"],
            ),
            (
                "skills = [\"guess\"]",
                "tools = [\"stamp\"]",
                &["agent 'Helper', tools", "no tool 'stamp'"],
            ),
            (
                "skills = [\"guess\"]",
                "skils = [\"guess\"]",
                &["line", "skils"],
            ),
            (
                "check = { fact = \"branch\" }",
                "check = { fact = \"twig\" }",
                &["milestone 'The branch is known', check", "no fact 'twig'"],
            ),
            (
                "check = { fact = \"branch\" }",
                "check = { page = \"x\" }",
                &["milestone", "no page 'x'"],
            ),
            (
                "check = { fact = \"branch\" }",
                "check = { tool = \"x\" }",
                &["milestone", "no tool 'x'"],
            ),
            (
                "start = \"https://library.example/\"",
                "start = \"x\"",
                &["key start", "no page 'x'"],
            ),
            (
                "start = \"https://library.example/\"",
                "required_keys = [\"database\"]",
                &[
                    "key required_keys",
                    "'database'",
                    "agent_memory, browser, tool_registry",
                ],
            ),
            (
                "needs = [\"branch\"]",
                "needs = [\"shelf\"]",
                &["fact 'shelf', needs", "circle"],
            ),
            (
                "\"die Zweigstelle\"",
                "\"\"",
                &["fact 'branch', also", "empty"],
            ),
            (
                "guess = \"Millpond\"",
                "guess = \"\"",
                &["fact 'branch', guess", "empty"],
            ),
            (
                "to = \"https://library.example/returns\"",
                "to = \"x\"",
                &["link 'Returns of today'", "no page 'x'"],
            ),
            (
                "to = \"https://library.example/returns\"",
                "screen = 1, to = \"https://library.example/returns\"",
                &["link 'Returns of today'", "screen 1"],
            ),
            (
                "states = [{ fact = \"branch\" }]",
                "states = [{ fact = \"branch\", screen = 3 }]",
                &["states", "screen 3"],
            ),
            (
                "given = { branch =",
                "given = { twig =",
                &[
                    "page 'https://library.example/millpond', states",
                    "no fact 'twig'",
                ],
            ),
        ],
    );
}

#[test]
fn what_is_wrong_with_tools_and_approvals_is_named() {
    refused(
        &sample("release-notes"),
        &[
            (
                "build = \"{build}\"",
                "build = \"{bild}\"",
                &["tool 'update_notes', args.build", "{bild}"],
            ),
            (
                "sent to {to}.",
                "sent to {too}.",
                &["tool 'send_mail', result", "{too}", "{to}"],
            ),
            (
                "Build {build}\\n",
                "Build {bild}\\n",
                &["tool 'update_notes', writes 'notes.md'", "{bild}"],
            ),
            (
                "queued = \"Queued",
                "refusal = \"Queued",
                &["tool 'publish_notes', queued", "go together"],
            ),
            (
                "grants = \"A-7\"",
                "grants = \"A-8\"",
                &["tool 'sign_off', grants", "no approval 'A-8'"],
            ),
            (
                "operation_key = \"message_id\"",
                "operation_key = \"id\"",
                &["tool 'send_mail', operation_key", "no argument 'id'"],
            ),
            (
                "about = \"the editor's sign-off of",
                "state = \"maybe\"\nabout = \"the editor's sign-off of",
                &["approval 'A-7', state", "'maybe'"],
            ),
            (
                "tools = [\"sign_off\"]",
                "",
                &["tool 'sign_off'", "no agent"],
            ),
            (
                "verbs = [\"publish\", \"release\", \"put online\", \"veröffentliche\"]",
                "verbs = []",
                &["tool 'publish_notes', verbs", "none"],
            ),
        ],
    );
}

#[test]
fn what_is_wrong_with_dialogues_and_words_is_named() {
    refused(
        &sample("honey-stall"),
        &[
            (
                "calculator = \"Calculator\"",
                "calculator = \"Abacus\"",
                &["[dialogue], calculator", "no agent 'Abacus'"],
            ),
            (
                "calculator = \"Calculator\"",
                "calculator = \"Solver\"",
                &["[dialogue], calculator", "two agents"],
            ),
            (
                "seeks = \"sunday\"",
                "seeks = \"monday\"",
                &["dialogue.line for 'monday', seeks", "no fact"],
            ),
            (
                "{price} euros",
                "{prize} euros",
                &["dialogue.line for 'takings', say", "{prize}"],
            ),
            (
                "habit = \"{total} * {price}\"",
                "habit = \"{total} * {prize}\"",
                &["dialogue.line for 'takings', habit", "{prize}"],
            ),
            (
                "habit = \"{total} * {price}\"",
                "habit = \"{total} times\"",
                &["dialogue.line for 'takings', habit", "280 times"],
            ),
            (
                "compute {expression}",
                "compute that",
                &[
                    "dialogue.line for 'saturday', say",
                    "{expression} is missing",
                ],
            ),
            (
                "[dialogue]",
                "[lexicon.fractions]\nhalf = [\"half\"]\n[dialogue]",
                &["[lexicon.fractions]", "'half'"],
            ),
            (
                "[dialogue]",
                "[lexicon.spans]\nweek = [\"week\"]\n[dialogue]",
                &["[lexicon.spans]", "'week'"],
            ),
            (
                "[dialogue]",
                "[lexicon.numbers]\ndozen = [\"dozen\"]\n[dialogue]",
                &["[lexicon.numbers]", "'dozen'"],
            ),
            (
                "[dialogue]",
                "[lexicon.arithmetic]\nadds = [\"add\"]\n[dialogue]",
                &["[lexicon.arithmetic]", "'adds'"],
            ),
        ],
    );
}

#[test]
fn what_is_no_mistake_is_accepted() {
    let readme = file("sample-sessions/README.md");
    let world = example(&readme);
    for (old, new) in [
        ("languages = [\"en\", \"de\"]", "languages = [\"it\"]"),
        ("1. Helper: guess", "Note the order: Helper: guess"),
        ("2. Clerk: search", "2. clerk: search"),
        (
            "2. Clerk: search",
            "2. Open https://library.example/ and search",
        ),
    ] {
        assert!(world.contains(old), "{old}");
        let mut text = world.replacen(old, new, 1);
        text += "\n[[lexicon.language]]\ncode = \"it\"\n";
        parse(&text).unwrap();
    }
}
