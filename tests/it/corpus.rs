//! Every file of the corpus: no panic, no hang, and either coverage that adds up or one clear sentence.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dover::import::{Collect, Imported, import};
use dover::model::{StepKind, trials_of_kinds};

/// The corpus, if it is there. A missing one is said, and is a failure where nobody would read it.
fn corpus() -> Option<PathBuf> {
    let root = std::env::var_os("DOVER_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"),
        PathBuf::from,
    );
    if root.is_dir() {
        return Some(root);
    }
    eprintln!("skipped: no corpus at {}; set DOVER_CORPUS", root.display());
    assert_ne!(
        std::env::var("CI").as_deref(),
        Ok("true"),
        "the corpus is missing"
    );
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
