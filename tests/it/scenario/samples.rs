//! The recorded runs beside the sample worlds are what playing those worlds gives.

use dover::export::original;
use dover::model::Session;

use super::support::{record, sample};

const SAMPLES: [&str; 3] = ["night-picture", "honey-stall", "release-notes"];

#[test]
fn playing_a_world_gives_exactly_its_recorded_run() {
    for name in SAMPLES {
        let path = format!(
            "{}/sample-sessions/{name}.jsonl",
            env!("CARGO_MANIFEST_DIR")
        );
        let file = std::fs::read_to_string(&path).unwrap();
        let recorded = record(&sample(name));
        let mut session = Session::clone(&recorded.session);
        session.coverage.read = recorded.made.len();
        session.coverage.content = true;
        let world = Some(format!("{name}.toml"));
        session.runtime.as_mut().unwrap().world = world;
        let steps = recorded.made.iter();
        let steps = steps.map(|m| (&m.step, m.checkpoint.as_ref(), m.effects.as_slice()));
        let mut played = Vec::new();
        original(
            &mut played,
            &session,
            steps,
            recorded.finish.answer.as_deref(),
        )
        .unwrap();
        let played = String::from_utf8(played).unwrap();
        for (line, (a, b)) in file.lines().zip(played.lines()).enumerate() {
            assert!(
                a == b,
                "{name}.jsonl line {}: play it again with `dover run scenario sample-sessions/{name}.toml --seed 1 --out sample-sessions/{name}.jsonl`",
                line + 1
            );
        }
        assert_eq!(file.lines().count(), played.lines().count(), "{name}");
    }
}
