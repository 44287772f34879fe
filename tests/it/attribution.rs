//! The analyst by rules against labelled logs (Who&When): what counts as a log, what the figures are of, and which baselines it beats.

use std::path::Path;
use std::sync::Arc;

use dover::model::SystemClock;
use dover::pipeline::eval::attribution::{Accuracy, Attribution, Row, read, table};
use dover::store::Store;

use super::corpus::corpus;

fn over(dir: &Path) -> Attribution {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.db"), Arc::new(SystemClock)).unwrap();
    let (logs, unused) = read(&store, dir, &mut |_, _| true).unwrap();
    table(&logs, unused)
}

fn row<'a>(table: &'a Attribution, method: &str) -> &'a Row {
    let named = |row: &&Row| row.method == method;
    table.rows.iter().find(named).unwrap()
}

#[test]
fn the_analyst_by_rules_beats_guessing_on_logs_it_was_not_fitted_on() {
    let Some(root) = corpus() else { return };
    let dir = root.join("who_when/Who&When");
    let table = over(&dir);
    // The odd-numbered logs: 1 to 57 hand-crafted, 1 to 125 generated; eight of the fifteen certain numbers are odd.
    assert_eq!(table.logs, [29, 63, 8]);
    assert!(table.unused.is_empty(), "{:?}", table.unused);

    // Counted here from the files alone: in how many the label is step 12, or the last step of a shorter log.
    let logs = std::fs::read_dir(dir.join("Hand-Crafted")).unwrap();
    let twelfth: f64 = logs
        .map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap())
        .filter(|text| {
            let log: serde_json::Value = serde_json::from_str(text).unwrap();
            let last = log["history"].as_array().unwrap().len() - 1;
            log["mistake_step"].as_str() == Some(&last.min(12).to_string())
        })
        .map(|_| 1.0)
        .sum();
    let said = row(&table, "always step 12").hand_crafted.step.unwrap();
    assert!((said - twelfth / 29.0).abs() < 1e-9, "{twelfth}");

    let held_out = row(&table, "offline, cross-validated");
    let published = row(&table, "published: random");
    for (ours, random) in [
        (held_out.hand_crafted, published.hand_crafted),
        (held_out.algorithm_generated, published.algorithm_generated),
    ] {
        assert!(ours.step > random.step && ours.agent > random.agent);
    }
    // What the note says is not beaten is what a reader of the table finds.
    type Group = fn(&Row) -> Accuracy;
    type Measure = fn(Accuracy) -> Option<f64>;
    let groups: [(&str, Group); 3] = [
        ("hand-crafted", |row| row.hand_crafted),
        ("algorithm-generated", |row| row.algorithm_generated),
        ("certain GAIA", |row| row.certain_gaia),
    ];
    let measures: [(&str, Measure); 3] = [
        ("agent", |it| it.agent),
        ("step", |it| it.step),
        ("step within 3", |it| it.step_within_3),
    ];
    for (group, of_row) in groups {
        for (measure, of) in measures {
            let as_good = |row: &Row| of(of_row(row)) >= of(of_row(held_out));
            let mut baselines = table.rows.iter().filter(|row| row.kind == "baseline");
            let expected = baselines.any(as_good);
            let said = table.not_beaten.iter();
            let named = said.filter(|one| one.starts_with(&format!("{group}, {measure}:")));
            assert_eq!(named.count(), usize::from(expected), "{group}, {measure}");
        }
    }
}
