//! Every file of the corpus: no panic, no hang, and either coverage that adds up or one clear sentence.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dover::import::{Collect, Imported, import};
use dover::model::{StepKind, trials_of_kinds};

use crate::support::skipped;

/// The corpus, if it is there. A missing one is said, and is a failure where nobody would read it.
pub fn corpus() -> Option<PathBuf> {
    let root = std::env::var_os("DOVER_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"),
        PathBuf::from,
    );
    if root.is_dir() {
        return Some(root);
    }
    skipped(&format!(
        "no corpus at {}; set DOVER_CORPUS",
        root.display()
    ));
    None
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> (Result<Imported, String>, Collect) {
    let mut sink = Collect::default();
    let got = import(path, &mut sink, &mut |_, _| true).map_err(|error| error.to_string());
    (got, sink)
}

fn starts(sink: &Collect) -> Vec<usize> {
    let kinds: Vec<StepKind> = sink.steps.iter().map(|step| step.kind).collect();
    trials_of_kinds(&kinds)
        .iter()
        .map(|trial| trial.start)
        .collect()
}

#[test]
fn every_file_is_read_or_refused_in_one_sentence() {
    let Some(root) = corpus() else { return };
    let mut all = Vec::new();
    files(&root, &mut all);
    assert!(!all.is_empty(), "an empty corpus proves nothing");
    for path in &all {
        let begun = Instant::now();
        let (got, sink) = read(path);
        let size = std::fs::metadata(path).unwrap().len();
        let limit = Duration::from_secs(5) + Duration::from_millis(size / 500);
        assert!(
            begun.elapsed() < limit,
            "{} took {:?}",
            path.display(),
            begun.elapsed()
        );
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        match got {
            Ok(imported) => {
                let coverage = &imported.session.coverage;
                if std::env::var_os("DOVER_CORPUS_PRINT").is_some() {
                    println!(
                        "OK  {name}: {} steps={} r={} u={} da={} dr={} orch={:?} starts={:?} ans={:?} {:?}",
                        imported.session.format,
                        imported.steps,
                        coverage.read,
                        coverage.unknown,
                        coverage.damaged,
                        coverage.dropped,
                        imported.session.orchestrator,
                        starts(&sink),
                        imported
                            .answer
                            .as_deref()
                            .map(|a| a.chars().take(40).collect::<String>()),
                        coverage.notes.first()
                    );
                }
                assert_eq!(imported.steps, sink.steps.len(), "{name}");
                assert!(
                    sink.steps
                        .iter()
                        .enumerate()
                        .all(|(i, step)| step.index == i),
                    "{name}"
                );
                assert!(coverage.read + coverage.damaged > 0, "{name}");
            }
            Err(sentence) => {
                if std::env::var_os("DOVER_CORPUS_PRINT").is_some() {
                    println!("ERR {sentence}");
                }
                assert!(
                    sentence.len() < 1200 && !sentence.contains('\n'),
                    "{name}: {sentence}"
                );
            }
        }
    }
}

/// The hand-crafted logs: JSON documents with a `history` whose product phrases mark the plans.
fn hand_crafted(root: &Path) -> Vec<(PathBuf, serde_json::Value)> {
    let mut all = Vec::new();
    files(&root.join("who_when/Who&When/Hand-Crafted"), &mut all);
    all.into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path, serde_json::from_str(&text).unwrap())
        })
        .collect()
}

/// Where the product's own words say that a plan is stated: the truth that the importer must find without them.
fn stated_plans(log: &serde_json::Value) -> Vec<usize> {
    let history = log["history"].as_array().unwrap();
    (0..history.len())
        .filter(|&i| {
            let text = history[i]["content"].as_str().unwrap();
            text.starts_with("Initial plan:") || text.starts_with("New plan:")
        })
        .collect()
}

#[test]
fn trials_of_who_and_when_start_where_the_product_says_so() {
    let Some(root) = corpus() else { return };
    // SPEC 2: published numbers of trials.
    let published = [
        ("3", 4),
        ("5", 1),
        ("9", 4),
        ("11", 4),
        ("21", 1),
        ("27", 2),
        ("37", 2),
        ("41", 2),
        ("47", 2),
        ("51", 4),
        ("7", 1),
        ("29", 1),
        ("33", 1),
        ("43", 1),
        ("45", 1),
        ("49", 1),
        ("53", 1),
    ];
    let mut counted = 0;
    for (path, log) in hand_crafted(&root) {
        let (got, sink) = read(&path);
        let got = got.unwrap();
        assert_eq!(starts(&sink), stated_plans(&log), "{}", path.display());
        assert_eq!(
            got.session.coverage.read,
            log["history"].as_array().unwrap().len()
        );
        assert_eq!(got.session.orchestrator.as_deref(), Some("Orchestrator"));
        assert_eq!(
            got.session.expected.as_deref(),
            log["ground_truth"].as_str().map(str::trim)
        );
        assert_eq!(sink.steps[0].kind, StepKind::Task);
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert_eq!(got.session.id, format!("hand-crafted-{name}"));
        if let Some((_, trials)) = published.iter().find(|(case, _)| *case == name) {
            assert_eq!(starts(&sink).len(), *trials, "case {name}");
            counted += 1;
        }
        if name == "3" {
            assert_eq!(starts(&sink), [1, 39, 66, 88]);
        }
    }
    assert_eq!(counted, published.len());
}

/// Phrases of the product and three other ways to say them.
const PHRASES: [(&str, [&str; 3]); 15] = [
    (
        "Initial plan:",
        ["First outline:", "Kick-off", "Los geht's:"],
    ),
    (
        "New plan:",
        ["Second thoughts:", "Revision", "Neuer Anlauf:"],
    ),
    (
        "We are working to address the following user request:",
        ["Somebody asked:", "The question at hand is", "Gefragt ist:"],
    ),
    (
        "To answer this request we have assembled the following team:",
        ["On board:", "Colleagues", "Dabei sind:"],
    ),
    (
        "Here is an initial fact sheet to consider:",
        ["What we know:", "Background", "Bekannt ist:"],
    ),
    (
        "Here is the plan to follow as best as possible:",
        ["How to go on:", "Route", "Vorgehen:"],
    ),
    (
        "GIVEN OR VERIFIED FACTS",
        ["SURE THINGS", "KNOWN", "SICHERES"],
    ),
    ("FACTS TO LOOK UP", ["OPEN THINGS", "UNKNOWN", "OFFENES"]),
    ("FACTS TO DERIVE", ["TO CONCLUDE", "DERIVED", "FOLGERUNGEN"]),
    ("EDUCATED GUESSES", ["HUNCHES", "MAYBE", "VERMUTUNGEN"]),
    (
        "Stalled.... Replanning...",
        ["No way on, thinking again", "Stuck.", "Es stockt."],
    ),
    ("Updated Ledger:", ["Status:", "", "Stand der Dinge:"]),
    ("Next speaker ", ["Over to ", "Turn: ", "Jetzt "]),
    ("Request satisfied.", ["All done.", "Fine.", "Erledigt."]),
    (
        "Replan counter exceeded",
        ["Too many attempts", "Enough", "Zu viele Versuche"],
    ),
];

/// List markers for each rewording: numbers, bullets.
const MARKERS: [(&str, &str); 3] = [("{})", "*"), ("Step {}:", "•"), ("({})", "–")];

fn reword(text: &str, way: usize) -> String {
    let mut text = text.to_owned();
    for (phrase, others) in PHRASES {
        text = text.replace(phrase, others[way]);
    }
    let plan = ["outline", "route", "Vorgehen"][way];
    text = text.replace("plan", plan).replace("Plan", plan);
    let (number, bullet) = MARKERS[way];
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            let bare = line.trim_start();
            let indent = &line[..line.len() - bare.len()];
            let digits: String = bare.chars().take_while(char::is_ascii_digit).collect();
            if let Some(rest) = bare.strip_prefix("- ") {
                format!("{indent}{bullet} {rest}")
            } else if let Some(rest) = bare[digits.len()..]
                .strip_prefix(". ")
                .filter(|_| !digits.is_empty())
            {
                format!("{indent}{} {rest}", number.replace("{}", &digits))
            } else {
                line.to_owned()
            }
        })
        .collect();
    lines.join("\n")
}

#[test]
fn reworded_logs_have_the_same_trials() {
    let Some(root) = corpus() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (path, mut log) in hand_crafted(&root) {
        let truth = stated_plans(&log);
        let original = log.clone();
        for way in 0..3 {
            for (i, message) in log["history"]
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .enumerate()
            {
                // The question is the user's, not the product's: it is put back where the product repeats it.
                let question = original["history"][0]["content"].as_str().unwrap();
                let text = original["history"][i]["content"].as_str().unwrap();
                if i == 0
                    || !message["role"]
                        .as_str()
                        .unwrap()
                        .starts_with("Orchestrator")
                {
                    continue;
                }
                let mark = "\u{E000}";
                let reworded = reword(&text.replace(question.trim(), mark), way)
                    .replace(mark, question.trim());
                message["content"] = reworded.into();
            }
            let file = folder.path().join("reworded.json");
            std::fs::write(&file, log.to_string()).unwrap();
            let (got, sink) = read(&file);
            got.unwrap();
            assert_eq!(starts(&sink), truth, "{} in way {way}", path.display());
        }
    }
}

#[test]
fn autogen_streams_of_all_versions_have_the_same_shape() {
    let Some(root) = corpus() else { return };
    for version in ["0.4.0", "0.4.9.3", "0.5.7", "0.6.4", "0.7.5"] {
        let folder = root.join("autogen_agentchat").join(version);
        let (got, sink) = read(&folder.join("magentic_one.stream.jsonl"));
        let got = got.unwrap();
        assert_eq!(
            got.session.orchestrator.as_deref(),
            Some("MagenticOneOrchestrator"),
            "{version}"
        );
        assert_eq!(starts(&sink), [1, 6], "{version}");
        let kinds: Vec<StepKind> = sink.steps.iter().map(|step| step.kind).collect();
        use StepKind::{Answer, Control, Instruction, Message, Plan, Task};
        assert_eq!(
            kinds,
            [
                Task,
                Plan,
                Instruction,
                Message,
                Instruction,
                Message,
                Plan,
                Instruction,
                Message,
                Answer,
                Control
            ],
            "{version}"
        );
        assert_eq!(sink.steps[2].to.as_deref(), Some("WebSurfer"));
        assert_eq!(
            got.answer.as_deref(),
            Some("Anderson's Martial Arts Academy")
        );

        let (got, sink) = read(&folder.join("selector.stream.jsonl"));
        assert_eq!(
            got.unwrap().session.orchestrator.as_deref(),
            Some("Planner"),
            "{version}"
        );
        assert_eq!(sink.steps[1].kind, Plan, "{version}");

        let (got, sink) = read(&folder.join("roundrobin_tools.stream.jsonl"));
        assert_eq!(got.unwrap().session.orchestrator, None, "{version}");
        assert_eq!(sink.effects.len(), 2, "{version}");
        let results: Vec<&str> = sink
            .steps
            .iter()
            .filter(|step| step.kind == StepKind::ToolResult)
            .map(|step| step.meta.tool.as_ref().unwrap().name.as_str())
            .collect();
        assert_eq!(results, ["calc", "broken"], "{version}");
    }
}
